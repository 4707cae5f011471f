"""Servers that are lost amid searches and ingests: a primary, its standby.

A trial is one number: which server is lost, how, when and for how long. Where the primary stays
away its standby is promoted, and it comes back as the standby of that; else both come back as they
were. Then everything that was reported as stored is there.
"""

import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from breaking.bench import Bench, bench, wait_until
from breaking.traffic import SPACE, Reader, Traffic
from lexichord import SyncLexichord
from lexichord.db import replica
from lexichord.db.schema import Choice, prepare

DATABASE = "store"
RETRY_SECONDS = 0.5  # instead of 5, so that a trial need not wait for it
MAX_BEFORE_SECONDS, MAX_AWAY_SECONDS = 1.5, 1.5
FOLLOWS = "select from pg_stat_replication where sync_state = 'sync'"
CONTENTS = "select content from lexichord_data.chunk"
COUNTED = "select * from lexichord.count_faults() where amount > 0"


@dataclass
class Pair:
    """A primary and its standby, which has whatever is reported as stored."""

    primary: Bench
    standby: Bench
    random: Random
    traffic: Traffic = field(init=False)

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


LOSSES: dict[str, Callable[[Pair], None]] = {
    "kill -9 of a primary, promotion": Pair.kill_primary,
    "crash of a primary, promotion": Pair.crash_primary,
    "stop of a primary, promotion": Pair.stop_primary,
    "promotion beside a primary": Pair.promote_beside,
    "kill -9 of a primary, restart": Pair.restart_primary,
    "kill -9 of a primary's backend": Pair.kill_backend,
    "kill -9 of a standby": Pair.lose_standby,
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
def pair(pg_ctl: Path, preload: str, engine: str) -> Iterator[Pair]:
    """Make a primary with its standby, and clients that look again soon."""
    make, seconds = Make(pg_ctl, preload, engine), replica.RETRY_SECONDS
    replica.RETRY_SECONDS = RETRY_SECONDS
    try:
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
            made.traffic = Traffic(own, readers)
            made.traffic.fill()
            yield made
    finally:
        replica.RETRY_SECONDS = seconds


def is_of_replica(notes: Sequence[str]) -> bool:
    """Return whether notes say that what was stored last may be missing."""
    return any(note == replica.MISSED or note == replica.ALONE for note in notes)


@dataclass
class Loss:
    """One server that is lost, in one way."""

    pair: Pair
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
        pair = self.pair
        pair.random = self.random
        with pair.traffic.going(self.random):
            time.sleep(self.random.uniform(0, MAX_BEFORE_SECONDS))
            LOSSES[self.fault](pair)
            self.hits += 1
        with pair.primary.connected(DATABASE) as connection:
            contents = [text for (text,) in connection.execute(CONTENTS).fetchall()]
            faults = connection.execute(COUNTED).fetchall()
        assert not faults, f"faults: {faults}"
        pair.traffic.ledger.check_stored(contents)
