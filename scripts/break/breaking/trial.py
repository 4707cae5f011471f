"""Random faults in random steps: after each, all that was reported is there; then the step is done.

A trial is one number, which decides everything but the machine's own timing.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection as Pipe
from multiprocessing.process import BaseProcess
from random import Random
from signal import SIGKILL
from typing import Any

import psycopg
from tests.end_to_end.context_server import about
from tests.end_to_end.hashing import NEW
from tests.end_to_end.killed import DONE
from tests.end_to_end.test_tables import INDEX, act
from tests.faults.earlier import CHUNKS
from tests.sql.corpus import call

from breaking import corpus, steps
from breaking.bench import Connection, find_faketime
from breaking.breakage import FAULTS, Hit, Place, Way
from breaking.stage import Stage

STUCK_SECONDS = 200.0
MAX_NEWS, MAX_PAUSE_SECONDS = 12, 0.15  # before a step is hit
ONCE = ("clock jump", "promotion of a standby")  # a trial: they take long to set up
# Names without digits: a word and a number are one more word, which the oracle knows nothing of.
ROWS = """
insert into article (title, body) select 'row ' || name, 'late parcel ' || name
from generate_series(1, 60) i, translate(i::text, '0123456789', 'bcdfghjkmn') name
"""
ROW_TEXTS = """
select id::text, concat_ws(E'\n\n', nullif(title, ''), nullif(body, '')) from article
where published and concat(title, body) ~ '\\S'
"""
STORED_ROW_TEXTS = """
select r.key, d.text from lexichord_data.table_row r
join lexichord_data.document d on d.id = r.document_id
"""


def unfit_faults(stage: Stage) -> dict[str, str]:
    """Return the faults that are not possible here, with the reasons."""
    unfit = {}
    if not stage.bench.is_bounded:
        unfit["full disk"] = "no file system of a bounded size may be mounted here"
    if find_faketime() is None:
        unfit["clock jump"] = "libfaketime is not installed"
    return unfit


@dataclass
class Trial:
    """One step, and one kind of fault that hits it some times."""

    stage: Stage
    seed: int
    random: Random = field(init=False)
    step: str = field(init=False)
    fault: str = field(init=False)
    strikes: int = field(init=False)
    hits: int = field(init=False, default=0)  # strikes before the step was over
    database: str = field(init=False, default="")
    target: str = field(init=False, default="")  # of a copy
    versions: corpus.Versions = field(init=False, default_factory=corpus.as_stored)
    copied: corpus.Versions = field(init=False, default_factory=dict)
    before: list[Any] = field(init=False, default_factory=list)  # what a migration must keep
    refused: list[str] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        self.random = Random(f"fault {self.seed}")
        self.step = self.random.choice([*steps.STEPS])
        unfit = unfit_faults(self.stage)
        self.fault = self.random.choice([name for name in FAULTS if name not in unfit])
        self.strikes = 1 if self.fault in ONCE else self.random.randint(1, 3)

    def __str__(self) -> str:
        return f"seed {self.seed}: {self.fault} amid {self.step}"

    def run(self) -> None:
        """Raise AssertionError where something was lost, is wrong or does not end."""
        with self._databases():
            self._begin()
            for _ in range(self.strikes):
                self._strike()
                self.stage.bench.recover()
                for database in filter(None, (self.database, self.target)):
                    self.stage.bench.rest(database)
                self._check()
            self._finish()

    @contextmanager
    def _databases(self) -> Iterator[None]:
        with ExitStack() as stack:
            template = "earlier" if self.step == "migrate" else "stocked"
            self.database = stack.enter_context(self.stage.database(template))
            if self.step == "copy":
                self.target = stack.enter_context(self.stage.database("empty"))
            yield

    def _begin(self) -> None:
        if self.step == "ingest":
            for number in steps.INGESTED:
                self.versions.setdefault(number, {None}).add(1)
        elif self.step == "delete":
            for number in steps.DELETED:
                self.versions[number].add(None)
        elif self.step == "copy":
            self.copied = {number: {None, 0} for number in corpus.STORED}
        with self.stage.bench.connected(self.database) as connection:
            if self.step == "work":
                connection.execute(ROWS.encode())
                connection.execute(INDEX.encode())
            elif self.step == "migrate":
                self.before = connection.execute(CHUNKS.encode()).fetchall()

    def _strike(self) -> None:
        place = Place(self.stage.bench, self.database, self.random)
        with contextmanager(FAULTS[self.fault])(place) as (way, hit):
            number = 2 if self.fault == "two at once" else 1
            started = [self._start(way) for _ in range(number)]
            try:
                is_running = self._hit(started[0], hit)
                for process, pipe in started if is_running else started[1:]:
                    self._listen(process, pipe)
            finally:
                for process, pipe in started:
                    process.kill()
                    process.join()
                    pipe.close()

    def _start(self, way: Way) -> tuple[BaseProcess, Pipe]:
        reach = self.stage.bench.dsn
        place = reach(self.target, way.options, way.port) if self.target else self.stage.llm
        return steps.start(self.step, reach(self.database, way.options, way.port), place)

    def _hit(self, started: tuple[BaseProcess, Pipe], hit: Hit) -> bool:
        """Hit a step after some of its news; return whether there may be more of them."""
        process, pipe = started
        is_running = self._listen(process, pipe, self.random.randrange(MAX_NEWS))
        if self.step == "work":
            self._change_rows()
        time.sleep(self.random.uniform(0, MAX_PAUSE_SECONDS))
        if is_running:
            self.hits += 1
            hit(process)
        return is_running

    def _change_rows(self) -> None:
        with suppress(psycopg.Error), self.stage.bench.connected(self.database) as connection:
            for _ in range(10):
                act(connection, self.random)

    def _listen(self, process: BaseProcess, pipe: Pipe, most: int | None = None) -> bool:
        """Note news, all or so many; return whether there may be more."""
        deadline = time.monotonic() + STUCK_SECONDS
        heard = 0
        while most is None or heard < most:
            assert pipe.poll(max(0.0, deadline - time.monotonic())), "stuck"
            try:
                line = pipe.recv()
            except EOFError:
                process.join()
                assert process.exitcode == -SIGKILL, f"it ended with {process.exitcode}"
                return False
            if line == DONE:
                return False
            self._note(line)
            heard += 1
        return True

    def _note(self, line: str) -> None:
        kind, _, name = line.partition(" ")
        assert kind != "broken", name
        if kind == "refused":
            self.refused.append(name)
        if not name.startswith("doc/") or kind == "failed":
            return
        number = int(name.removeprefix("doc/"))
        if self.step == "ingest":
            self.versions[number] = {1}
        elif self.step == "delete":
            self.versions[number] = {None}
        elif self.step == "copy":
            self.copied[number] = {0}

    def _check(self) -> None:
        with self.stage.bench.connected(self.database) as connection:
            if self.step == "migrate":
                assert connection.execute(CHUNKS.encode()).fetchall() == self.before
            else:
                corpus.check(connection, self.versions)
        if self.target:
            with self.stage.bench.connected(self.target) as connection:
                corpus.check(connection, self.copied)

    def _finish(self) -> None:
        """Take the step to its end, undisturbed."""
        self.refused.clear()
        process, pipe = self._start(Way())
        try:
            self._listen(process, pipe)
        finally:
            process.kill()
            process.join()
            pipe.close()
        assert not self.refused, f"refused: {self.refused}"
        self._expect_end()
        self._check()
        for database in filter(None, (self.database, self.target)):
            with self.stage.bench.connected(database) as connection:
                self._check_end(connection)
                problems = [row["problem"] for row in call(connection, "find_problems")]
                assert not problems, f"problems: {problems}"

    def _expect_end(self) -> None:
        ends: dict[str, tuple[corpus.Versions, Sequence[int], int | None]] = {
            "ingest": (self.versions, steps.INGESTED, 1),
            "delete": (self.versions, steps.DELETED, None),
            "copy": (self.copied, corpus.STORED, 0),
        }
        if self.step in ends:
            versions, numbers, end = ends[self.step]
            versions.update((number, {end}) for number in numbers)

    def _check_end(self, connection: Connection) -> None:
        ends: dict[str, Callable[[Connection], None]] = {
            "work": check_rows,
            "migrate": corpus.check_found_by_themselves,
            "contextualize": check_contexts,
            "reembed": check_space,
        }
        if self.step in ends:
            ends[self.step](connection)


def check_rows(connection: Connection) -> None:
    """What is stored of a table is what its rows are, and no row but an empty one was refused."""
    living = connection.execute(ROW_TEXTS.encode()).fetchall()
    assert sorted(connection.execute(STORED_ROW_TEXTS.encode()).fetchall()) == sorted(living)
    refused = {row["reason"] for row in call(connection, "list_table_failures")}
    assert refused <= {"its text is empty"}
    connection.execute("delete from lexichord_data.table_failure")


def check_contexts(connection: Connection) -> None:
    for chunk in corpus.read(connection):
        assert chunk.context.split() == about(chunk.content).split()


def check_space(connection: Connection) -> None:
    assert all(chunk.embedding for chunk in corpus.read(connection))
    row = connection.execute("select space from lexichord.configuration()").fetchone()
    assert row == (NEW,)
