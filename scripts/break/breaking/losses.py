"""Servers that are lost amid searches and ingests: a primary, its standby, shards.

A trial is one number: which server is lost, how, when and for how long. Where the primary stays
away its standby is promoted, and it comes back as the standby of that; all else comes back as it
was. Then everything that was reported as stored is there.
"""

import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from tests.end_to_end.test_rebalance import FAULTS as COUNTED
from tests.end_to_end.test_rebalance import SPACE
from tests.end_to_end.test_shards import stopped

from breaking.bench import Bench, bench, wait_until
from breaking.traffic import Reader, Traffic, uri
from lexichord import SyncLexichord
from lexichord.db import replica, shards
from lexichord.db.schema import Choice, prepare

DATABASE = "store"
RETRY_SECONDS = 0.5  # instead of 5, so that a trial need not wait for it
MAX_BEFORE_SECONDS, MAX_AWAY_SECONDS = 1.5, 1.5
FOLLOWS = "select from pg_stat_replication where sync_state = 'sync'"
CONTENTS = "select content from lexichord_data.chunk"
URIS = "select uri from lexichord_data.document"


END_ALL = """
select pg_terminate_backend(pid) from pg_stat_activity
where application_name = 'lexichord' and datname = %s
"""


@dataclass
class Pair:
    """A primary and its standby, which has whatever is reported as stored."""

    primary: Bench
    standby: Bench
    random: Random
    traffic: Traffic = field(init=False)

    @property
    def servers(self) -> list[Bench]:
        """Those that have all there is."""
        return [self.primary]

    def dsn(self, wanted: str) -> str:
        hosts = f"{self.primary.server.folder},{self.standby.server.folder}"
        return f"postgresql://postgres@/{DATABASE}?host={hosts}&target_session_attrs={wanted}"

    def pause(self) -> None:
        time.sleep(self.random.uniform(0, MAX_AWAY_SECONDS))

    def follow(self) -> None:
        """Make the standby anew, of the primary."""
        self._report(of="")
        data = self.standby.server.folder / "data"
        self.standby.kill_postmaster()
        shutil.rmtree(data, ignore_errors=True)
        self.primary.copy_to(self.standby.server)
        self._rejoin()

    def _rejoin(self) -> None:
        self.standby.recover()
        self._report(of="*")
        with self.primary.connected("postgres") as connection:
            wait_until(lambda: bool(connection.execute(FOLLOWS).fetchall()))

    def _report(self, of: str) -> None:
        with self.primary.connected("postgres") as connection:
            Bench.await_standbys(connection, of)

    def fail_over(self) -> None:
        """Let the standby be the primary, and in the end a new one follow it."""
        self.pause()
        self.standby.server.run("promote", "-w")
        self.primary, self.standby = self.standby, self.primary
        self.pause()
        self.follow()

    def kill_primary(self) -> None:
        self.primary.kill_postmaster()
        self.fail_over()

    def crash_primary(self) -> None:
        self.primary.server.crash()
        self.fail_over()

    def stop_primary(self) -> None:
        self.primary.server.run("stop", "-m", "fast")
        self.fail_over()

    def promote_beside(self) -> None:
        """The old primary goes on for a while: without a standby it reports nothing."""
        self.fail_over()

    def restart_primary(self) -> None:
        self.primary.kill_postmaster()
        self.pause()
        self.primary.recover()

    def kill_backend(self) -> None:
        self.primary.kill_backend(DATABASE)
        self.primary.recover()

    def lose_standby(self) -> None:
        self.standby.kill_postmaster()
        self.pause()
        self._report(of="")
        self.pause()
        self._rejoin()


@dataclass
class Shards:
    """Three databases as one, each with a server of its own; the first is the home."""

    servers: list[Bench]
    random: Random
    traffic: Traffic = field(init=False)
    places: dict[str, int] = field(init=False)

    def is_marked(self, number: int, notes: Sequence[str]) -> bool:
        """Return whether notes name the shard that has a document."""
        reason = shards.DOWN.format(number=self.places[uri(number)])
        return shards.MISSING.format(reason=reason) in notes

    def victim(self) -> Bench:
        return self.random.choice(self.servers)

    def pause(self) -> None:
        time.sleep(self.random.uniform(0, MAX_AWAY_SECONDS))

    def kill(self) -> None:
        server = self.victim()
        server.kill_postmaster()
        self.pause()
        server.recover()

    def stop(self) -> None:
        server = self.victim()
        server.server.run("stop", "-m", self.random.choice(("fast", "immediate")))
        self.pause()
        server.recover()

    def refuse(self) -> None:
        with stopped(self.victim().dsn(DATABASE)):
            self.pause()

    def kill_backend(self) -> None:
        server = self.victim()
        server.kill_backend(DATABASE)
        server.recover()

    def end_backends(self) -> None:
        with self.victim().connected("postgres") as connection:
            connection.execute(END_ALL, [DATABASE])


type Scene = Pair | Shards

LOSSES: dict[str, Callable[[Any], None]] = {
    "kill -9 of a primary, promotion": Pair.kill_primary,
    "crash of a primary, promotion": Pair.crash_primary,
    "stop of a primary, promotion": Pair.stop_primary,
    "promotion beside a primary": Pair.promote_beside,
    "kill -9 of a primary, restart": Pair.restart_primary,
    "kill -9 of a primary's backend": Pair.kill_backend,
    "kill -9 of a standby": Pair.lose_standby,
    "kill -9 of a shard": Shards.kill,
    "stop of a shard": Shards.stop,
    "a shard that refuses connections": Shards.refuse,
    "kill -9 of a shard's backend": Shards.kill_backend,
    "end of a shard's backends": Shards.end_backends,
}


@dataclass(frozen=True)
class Make:
    """What servers are made of, and the engine of the databases in them."""

    pg_ctl: Path
    preload: str
    engine: str

    def empty(self) -> AbstractContextManager[Bench]:
        return bench(self.pg_ctl, self.preload)

    @contextmanager
    def prepared(self) -> Iterator[Bench]:
        """Yield a server with an empty database of ours."""
        with self.empty() as made:
            with made.connected("postgres") as admin:
                admin.execute(f"create database {DATABASE}".encode())
            prepare(made.dsn(DATABASE), Choice(self.engine, "english", SPACE))
            yield made


@contextmanager
def pair(make: Make) -> Iterator[Pair]:
    with ExitStack() as stack:
        primary = stack.enter_context(make.prepared())
        standby = stack.enter_context(make.empty())
        made = Pair(primary, standby, Random(0))
        made.follow()
        writing, reading = made.dsn("read-write"), made.dsn("prefer-standby")
        own, other = (
            stack.enter_context(SyncLexichord(dsn=writing, read_dsn=reading)) for _ in range(2)
        )
        readers = [Reader(own, is_of_replica), Reader(other, is_of_replica, waits=True)]
        made.traffic = Traffic(own, readers, names_positions=True)
        made.traffic.fill()
        yield made


@contextmanager
def three_shards(make: Make) -> Iterator[Shards]:
    with ExitStack() as stack:
        made = Shards([stack.enter_context(make.prepared()) for _ in range(3)], Random(0))
        home, *others = [server.dsn(DATABASE) for server in made.servers]
        with SyncLexichord(dsn=home) as lexichord:
            for dsn in others:
                lexichord.add_shard(dsn)
        strict = stack.enter_context(SyncLexichord(dsn=home))
        partial = stack.enter_context(SyncLexichord(dsn=home, partial_answers=True))
        readers = [Reader(strict, lambda *_: False), Reader(partial, made.is_marked)]
        made.traffic = Traffic(strict, readers, names_positions=False)
        made.traffic.fill()
        made.places = {}
        for number, server in enumerate(made.servers):
            with server.connected(DATABASE) as connection:
                uris = connection.execute(URIS).fetchall()
            made.places |= dict.fromkeys((name for (name,) in uris), number)
        yield made


@contextmanager
def scenes(pg_ctl: Path, preload: str, engine: str) -> Iterator[dict[type, Scene]]:
    """Make both: a primary with its standby, and three shards; clients look again soon."""
    waits = replica.RETRY_SECONDS, shards.RETRY_SECONDS
    replica.RETRY_SECONDS = shards.RETRY_SECONDS = RETRY_SECONDS
    try:
        make = Make(pg_ctl, preload, engine)
        with pair(make) as two, three_shards(make) as three:
            yield {Pair: two, Shards: three}
    finally:
        replica.RETRY_SECONDS, shards.RETRY_SECONDS = waits


def is_of_replica(_: int, notes: Sequence[str]) -> bool:
    """Return whether notes say that what was stored last may be missing."""
    return any(note == replica.MISSED or note == replica.ALONE for note in notes)


@dataclass
class Loss:
    """One server that is lost, in one way."""

    scenes: dict[type, Scene]
    seed: int
    fault: str = field(init=False)
    hits: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self.random = Random(f"loss {self.seed}")
        self.fault = self.random.choice([*LOSSES])

    def __str__(self) -> str:
        return f"seed {self.seed}: {self.fault}"

    def run(self) -> None:
        """Raise AssertionError where something was lost, is wrong unmarked or does not recover."""
        lose = LOSSES[self.fault]
        scene = self.scenes[Pair if lose in vars(Pair).values() else Shards]
        scene.random = self.random
        with scene.traffic.going(self.random):
            time.sleep(self.random.uniform(0, MAX_BEFORE_SECONDS))
            lose(scene)
            self.hits += 1
        contents = list[str]()
        for server in scene.servers:
            with server.connected(DATABASE) as connection:
                contents += [text for (text,) in connection.execute(CONTENTS).fetchall()]
                faults = connection.execute(COUNTED.encode()).fetchall()
                assert not faults, f"faults: {faults}"
        scene.traffic.ledger.check_stored(contents)
