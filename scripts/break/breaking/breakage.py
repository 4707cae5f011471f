"""What breaks in the midst of a step. Each fault yields how the step reaches its database, and what
is done to it at a moment of its run; in the end all is mended that was not the step's to mend.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from random import Random

from tests.migrations.conftest import ANOTHER_VERSION, run_statements

from breaking.bench import Bench, Locker, Wire
from lexichord.db.schema import Choice, prepare

OFFSETS = ("+3d", "-3d", "+2h", "-1h", "+90s", "-90s", "+0")
TIMEOUTS_MS = (10, 20, 50, 100, 200, 400)

type Hit = Callable[[BaseProcess], None]


@dataclass(frozen=True)
class Way:
    """How a step reaches its databases."""

    options: str = ""
    port: int | None = None


@dataclass(frozen=True)
class Place:
    """Where a fault happens."""

    bench: Bench
    database: str
    random: Random


type Fault = Callable[[Place], Iterator[tuple[Way, Hit]]]


def kill_client(place: Place) -> Iterator[tuple[Way, Hit]]:
    yield Way(), lambda process: process.kill()


def kill_backend(place: Place) -> Iterator[tuple[Way, Hit]]:
    yield Way(), lambda _: place.bench.kill_backend(place.database)


def end_backend(place: Place) -> Iterator[tuple[Way, Hit]]:
    yield Way(), lambda _: place.bench.end_backend(place.database)


def kill_postmaster(place: Place) -> Iterator[tuple[Way, Hit]]:
    def hit(_: BaseProcess) -> None:
        place.bench.kill_postmaster()
        place.bench.recover()

    yield Way(), hit


def cut_wire(place: Place) -> Iterator[tuple[Way, Hit]]:
    """Amid whatever goes there after so many bytes: most of what does is COPY."""
    wire = Wire(place.bench.server.folder, cut_after=round(2 ** place.random.uniform(10, 17)))
    try:
        yield Way(port=wire.port), lambda _: None
    finally:
        wire.close()


def end_statements(place: Place) -> Iterator[tuple[Way, Hit]]:
    timeout = place.random.choice(TIMEOUTS_MS)
    yield Way(f"-c statement_timeout={timeout}"), lambda _: None


def refuse_locks(place: Place) -> Iterator[tuple[Way, Hit]]:
    with locks(place):
        yield Way(f"-c lock_timeout={place.random.choice(TIMEOUTS_MS)}"), lambda _: None


def entangle_locks(place: Place) -> Iterator[tuple[Way, Hit]]:
    """Postgres ends one of two sessions that wait for each other."""
    with locks(place):
        yield Way(), lambda _: None


@contextmanager
def locks(place: Place) -> Iterator[None]:
    locker = Locker(place.bench.dsn(place.database), place.random)
    try:
        yield
    finally:
        locker.close()


def fill_disk(place: Place) -> Iterator[tuple[Way, Hit]]:
    def hit(_: BaseProcess) -> None:
        with place.bench.full_disk(place.random.choice((0, 2**14, 2**17, 2**20))):
            time.sleep(place.random.uniform(0.2, 2))
        place.bench.recover()

    yield Way(), hit


def turn_clock(place: Place) -> Iterator[tuple[Way, Hit]]:
    with place.bench.other_clock() as turn:

        def hit(_: BaseProcess) -> None:
            for offset in place.random.sample(OFFSETS, 2):
                turn(offset)
                time.sleep(place.random.uniform(0, 0.3))

        yield Way(), hit


def upgrade(place: Place) -> Iterator[tuple[Way, Hit]]:
    """Another version of the program replaces the functions that the step calls."""
    dsn = place.bench.dsn(place.database)

    def hit(_: BaseProcess) -> None:
        run_statements(dsn, ANOTHER_VERSION)
        prepare(dsn, Choice())

    yield Way(), hit


def promote_standby(place: Place) -> Iterator[tuple[Way, Hit]]:
    with place.bench.standby() as promote:

        def hit(process: BaseProcess) -> None:
            promote()
            process.kill()

        yield Way(), hit


def run_twice(place: Place) -> Iterator[tuple[Way, Hit]]:
    """Two of the step at once."""
    yield Way(), lambda _: None


FAULTS: dict[str, Fault] = {
    "kill -9 of the client": kill_client,
    "kill -9 of a backend": kill_backend,
    "end of a backend": end_backend,
    "kill -9 of the postmaster": kill_postmaster,
    "cut of the connections": cut_wire,
    "statement time-out": end_statements,
    "lock time-out": refuse_locks,
    "deadlock": entangle_locks,
    "full disk": fill_disk,
    "clock jump": turn_clock,
    "upgrade": upgrade,
    "promotion of a standby": promote_standby,
    "two at once": run_twice,
}
