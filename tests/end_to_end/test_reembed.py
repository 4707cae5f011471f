"""Another embedding model while searches and ingests go on, kill -9 or not."""

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from signal import SIGKILL
from typing import Any

import numpy as np
import psycopg
import pytest
from typer.testing import CliRunner

from lexichord import SyncLexichord
from lexichord.cli.commands import app
from lexichord.client.lexichord import Lexichord
from lexichord.db import schema
from lexichord.errors import ConfigError, EmbeddingMismatchError, LexichordError
from lexichord.ingest.flow import IngestLimits
from lexichord.ingest.vectors import embedding_text
from lexichord.types import EmbeddingSpace, SpaceChange
from tests.conftest import new_database
from tests.end_to_end.hashing import NEW, OLD, SAME, SLICE, Hashing, application, finder, start
from tests.end_to_end.processes import PATIENCE, run_cli

CHUNKS = """
select c.context, c.content, c.embedding::text, c.id from lexichord_data.chunk c order by c.id
"""
TOLERANCE = 2e-3  # of a halfvec's number


def document(number: int) -> dict[str, Any]:
    words = [f"w{number}", f"v{number % 7}", "clause"]
    return {
        "uri": f"doc/{number:03}",
        "chunks": [{"content": " ".join([*words, f"part{part}"])} for part in range(3)],
    }


def ingest(lexichord: SyncLexichord, first: int, last: int) -> None:
    lexichord.ingest(documents=[document(number) for number in range(first, last)], context="none")


@pytest.fixture(scope="module")
def _filled(template: str) -> Iterator[str]:
    with new_database(template, copy_of=template) as dsn:
        with application(dsn) as lexichord:
            ingest(lexichord, 0, 30)
        yield dsn


@pytest.fixture
def dsn(_filled: str) -> Iterator[str]:
    """A database with 90 chunks in 30 documents, embedded in the old space."""
    with new_database(_filled, copy_of=_filled) as fresh:
        yield fresh


@pytest.fixture
def stocked(dsn: str) -> Iterator[SyncLexichord]:
    with application(dsn) as lexichord:
        yield lexichord


def assert_all_of(dsn: str, space: str, count: int) -> None:
    """Each chunk has the one vector that the space's embedder makes of it."""
    embedder = Hashing(space)
    with psycopg.connect(dsn) as connection:
        rows = connection.execute(CHUNKS).fetchall()
    assert len(rows) == count
    for context, content, vector, _ in rows:
        expected = embedder.vector(embedding_text(context, content))
        assert vector is not None
        assert np.allclose(json.loads(vector), expected, atol=TOLERANCE), content


def dense(lexichord: SyncLexichord, query: str, space: str) -> None:
    """Ask by meaning alone, and compare the scores with those of one space."""
    embedder = Hashing(space)
    for hit in lexichord.search(query, mode="dense", k=5).hits:
        pair = embedder.vector(query), embedder.vector(embedding_text(hit.context, hit.content))
        assert hit.scores.dense == pytest.approx(np.dot(*pair), abs=TOLERANCE)


def space(lexichord: SyncLexichord) -> str:
    return lexichord.status().space


def change(lexichord: SyncLexichord) -> SpaceChange:
    latest = lexichord.status().reembed
    assert latest is not None
    return latest


@pytest.mark.parametrize("target", [SAME, NEW])
def test_swap_roll_back_and_drop(stocked: SyncLexichord, dsn: str, target: str) -> None:
    done = stocked.reembed(target)
    assert (done.space, done.kept, done.embedded, done.missing) == (target, OLD, 90, 0)
    assert done.comparison is not None
    assert done.comparison["queries"] == 50
    assert 0 < done.comparison["overlap"] < 1
    assert change(stocked).comparison == done.comparison
    assert_all_of(dsn, target, 90)
    dense(stocked, "w3 clause", target)
    assert stocked.doctor().problems == []

    ingest(stocked, 30, 33)
    assert_all_of(dsn, target, 99)
    back = stocked.reembed(rollback=True)
    assert (back.space, back.kept, back.embedded, back.missing) == (OLD, target, 9, 0)
    assert_all_of(dsn, OLD, 99)
    dense(stocked, "w3 clause", OLD)

    again = stocked.reembed()
    assert (again.space, again.embedded) == (target, 0)
    assert_all_of(dsn, target, 99)
    assert stocked.reembed(drop=True).dropped == OLD
    with pytest.raises(ConfigError, match="nothing to roll back"):
        stocked.reembed(rollback=True)
    assert change(stocked).state == "dropped"


def test_a_text_that_the_new_embedder_refuses_is_left_without_a_vector(dsn: str) -> None:
    """Three times as many as a call has: none is asked for again, and the others have theirs."""
    with application(dsn, heard=(texts := list[Sequence[str]]()).append, refused="v6") as lexichord:
        lexichord.core.ingest_limits = IngestLimits(slice_chunks=SLICE)
        done = lexichord.reembed(NEW)
        assert (done.space, done.embedded, done.missing) == (NEW, 78, 12)
        (said,) = done.degraded
        assert said.startswith("12 chunks without a vector, for the embedder refuses the text: chu")
        assert done.comparison
        assert 0 < done.comparison["queries"] < 50
        assert max(Counter(text for call in texts for text in call).values()) == 1
        assert lexichord.search("w20 part2", mode="keyword").hits[0].uri == "doc/020"
        assert {hit.uri for hit in lexichord.search("v5", mode="dense").hits}
        back = lexichord.reembed(rollback=True)
        assert (back.missing, back.degraded) == (0, [])
        assert_all_of(dsn, OLD, 90)


def test_readers_of_the_old_space_go_on_after_the_swap(stocked: SyncLexichord, dsn: str) -> None:
    with application(dsn) as reader:
        dense(reader, "w3 clause", OLD)
        stocked.reembed(SAME)
        dense(reader, "w3 clause", SAME)
        assert reader.core.space == SAME
        stocked.reembed(rollback=True)
        assert reader.files("w3 clause", hint="doc 3").files
        assert reader.core.space == OLD
        stocked.reembed()
        response = reader.query("w3 clause", reflect=True, answer=True)
        assert response.hits
        assert reader.core.space == SAME
        assert reader.similar("doc/003").files


def test_a_reader_without_the_new_embedder_goes_on_by_words(
    stocked: SyncLexichord, dsn: str
) -> None:
    with application(dsn, OLD) as reader:
        reader.search("w3 clause")
        stocked.reembed(NEW)
        result = reader.search("w3 clause")
        assert result.hits[0].uri == "doc/003"
        assert result.degraded == [f"no embedder for {NEW}: by words only"]


def test_searches_go_on_all_the_time(stocked: SyncLexichord, dsn: str) -> None:
    with searching(dsn) as tell:
        stocked.reembed(SAME)
        tell()
        stocked.reembed(rollback=True)
        tell()
        stocked.reembed()
        tell()
        stocked.reembed(drop=True)
    assert_all_of(dsn, SAME, 90)


@contextmanager
def searching(dsn: str) -> Iterator[Callable[[], None]]:
    """Search in two threads, each result of one space; give what waits until both have searched."""
    seekers = [Seeker(dsn), Seeker(dsn)]

    def tell() -> None:
        goals = [seeker.count + 5 for seeker in seekers]
        while any(s.is_alive() and s.count < goal for s, goal in zip(seekers, goals, strict=True)):
            time.sleep(0.01)

    for seeker in seekers:
        seeker.start()
    try:
        tell()
        yield tell
        tell()
    finally:
        for seeker in seekers:
            seeker.stop.set()
            seeker.join()
    assert [seeker.problem for seeker in seekers] == ["", ""]


class Seeker(threading.Thread):
    """Searches until it is told to stop, or a search is refused or of two spaces."""

    def __init__(self, dsn: str) -> None:
        super().__init__()
        self.dsn, self.count, self.problem = dsn, 0, ""
        self.stop = threading.Event()

    def run(self) -> None:
        spaces = [Hashing(OLD), Hashing(SAME)]
        with application(self.dsn) as lexichord:
            while not self.stop.is_set() and not self.problem:
                query = f"w{self.count % 30} clause"
                try:
                    hits = lexichord.search(query, mode="dense", k=5).hits
                except LexichordError as error:
                    self.problem = f"refused: {error}"
                else:
                    if not any(all(_is_of(each, query, hit) for hit in hits) for each in spaces):
                        self.problem = f"mixed: {[hit.scores for hit in hits]}"
                self.count += 1


def _is_of(embedder: Hashing, query: str, hit: Any) -> bool:
    pair = embedder.vector(query), embedder.vector(embedding_text(hit.context, hit.content))
    return bool(abs(hit.scores.dense - np.dot(*pair)) < TOLERANCE)


def test_what_is_ingested_meanwhile_has_the_new_vectors(dsn: str) -> None:
    """By an application that was opened before, while others fill and swap."""
    with application(dsn) as other, application(dsn, seconds=0.01) as lexichord:
        swapped = threading.Event()
        stored, failed = [30], list[object]()

        def store() -> None:
            last = False
            while not failed and not last:
                last = swapped.is_set()
                some = [document(number) for number in range(stored[0], stored[0] + 4)]
                failed.extend(other.ingest(documents=some, context="none").failed)
                stored[0] += 4

        thread = threading.Thread(target=store)
        thread.start()
        lexichord.reembed(SAME)
        swapped.set()
        thread.join()
        assert failed == []
        assert other.core.space == SAME
        assert stored[0] > 38
        assert_all_of(dsn, SAME, 3 * stored[0])


def test_an_ingest_in_the_middle_of_a_swap(stocked: SyncLexichord, dsn: str) -> None:
    """What it has embedded already, in the space before, is stored and embedded again."""

    def swap(texts: object) -> None:
        if stocked.core.space == OLD:
            stocked.reembed(SAME)

    with application(dsn, heard=swap) as other:
        report = other.ingest(documents=[document(90), document(91)], context="none")
    assert (report.failed, report.inserted, report.vectors_filled) == ({}, 2, 6)
    assert_all_of(dsn, SAME, 96)


def test_killed_while_filling(stocked: SyncLexichord, dsn: str, tmp_path: Path) -> None:
    """Each chunk is embedded once, but for the call that was in flight at each kill."""
    random, log = Random(1), tmp_path / "log"
    log.touch()
    kills = 0
    for _ in range(8):
        process, pipe = start(dsn, NEW, log)
        calls = random.randrange(1, 4)
        while calls and (news := pipe.recv()) != "end":
            calls -= news == "call"
        time.sleep(random.uniform(0, 0.02))
        process.kill()
        process.join()
        kills += process.exitcode == -SIGKILL
    dense(stocked, "w3 clause", OLD)
    finish(dsn, None, log)
    assert kills >= 5
    embedded = Counter(log.read_text().splitlines())
    assert len(embedded) == 90
    assert sum(embedded.values()) - 90 <= kills * SLICE
    assert_all_of(dsn, NEW, 90)
    assert change(stocked).embedded == 90


def test_status_tells_one_that_runs_from_one_that_was_cut_off(dsn: str, tmp_path: Path) -> None:
    process, pipe = start(dsn, NEW, tmp_path / "log", "build_reembed_indexes done")
    while pipe.recv() != "build_reembed_indexes done":
        pass
    filled = f"reembed to {NEW}: 0 of 90 chunks; "
    running = run_cli(dsn, tmp_path, "status").stdout
    process.kill()
    process.join()
    assert f"{filled}it runs\n" in running
    for _ in range(PATIENCE):
        if "it runs" not in (shown := run_cli(dsn, tmp_path, "status").stdout):
            break
        time.sleep(1)
    assert f"{filled}run it again to go on\n" in shown


@pytest.mark.parametrize("step", ["start_reembed done", "swap_spaces", "swap_spaces done"])
def test_killed_at_a_step(stocked: SyncLexichord, dsn: str, tmp_path: Path, step: str) -> None:
    log = tmp_path / "log"
    log.touch()
    process, pipe = start(dsn, NEW, log, step)
    while pipe.recv() != step:
        pass
    process.kill()
    process.join()
    assert process.exitcode == -SIGKILL
    if step == "swap_spaces done":
        assert space(stocked) == NEW
        dense(stocked, "w3 clause", NEW)
    else:
        assert space(stocked) == OLD
        dense(stocked, "w3 clause", OLD)
        finish(dsn, NEW, log)
    assert len(log.read_text().splitlines()) == 90
    assert_all_of(dsn, NEW, 90)
    dense(stocked, "w3 clause", NEW)
    assert stocked.doctor().problems == []


def finish(dsn: str, to: str | None, log: Path) -> None:
    process, pipe = start(dsn, to, log)
    while pipe.recv() != "end":
        pass
    process.join()
    assert process.exitcode == 0


def test_roll_back_without_the_old_embedder_says_what_lacks(
    stocked: SyncLexichord, dsn: str
) -> None:
    stocked.reembed(NEW)
    ingest(stocked, 30, 32)
    with application(dsn, NEW) as other:
        back = other.reembed(rollback=True)
        assert (back.space, back.missing, back.embedded) == (OLD, 6, 0)
        assert back.degraded == [
            f"no embedder for {OLD}: by words only",
            "6 chunks without a vector: an ingest with an embedder makes it",
        ]
        assert other.search("w31").hits[0].uri == "doc/031"
    assert stocked.ingest().vectors_filled == 6
    assert_all_of(dsn, OLD, 96)


def test_what_is_wrong_is_said_in_a_line(stocked: SyncLexichord, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.touch()
    wrong: list[tuple[dict[str, Any], str]] = [
        ({}, "nothing is under way: name the new space"),
        ({"to": "nonsense"}, "no embedding space: write provider/model/dimension"),
        ({"to": "test/unknown/8"}, "cannot change to test/unknown/8: no embedder for test/unknown"),
        ({"to": OLD}, f"the database's vectors are of {OLD} already"),
        ({"rollback": True}, "nothing to roll back"),
        ({"drop": True}, "there are no other vectors to drop"),
        ({"to": NEW, "rollback": True}, "each go alone"),
        ({"to": NEW, "sample": empty}, "holds no query"),
        ({"to": NEW, "sample": tmp_path / "none"}, "cannot be read"),
        ({"to": NEW, "min_overlap": 1.0}, "nothing is swapped: the overlap is"),
        ({"to": SAME}, f"a change to {NEW} is under way: finish it"),
    ]
    for arguments, message in wrong:
        with pytest.raises(ConfigError, match=message) as raised:
            stocked.reembed(**arguments)
        assert "\n" not in str(raised.value)
        assert space(stocked) == OLD


def test_the_setting_of_before_is_no_contradiction(
    stocked: SyncLexichord, dsn: str, template: str
) -> None:
    """A server that is opened with the space that its database was made with goes on."""
    stocked.reembed(NEW)
    schema.prepare(dsn, schema.Choice(space=EmbeddingSpace.parse(OLD)))
    with pytest.raises(ConfigError, match=f"is {NEW}: for {SAME}, use another database or"):
        schema.prepare(dsn, schema.Choice(space=EmbeddingSpace.parse(SAME)))


def test_the_search_of_a_space_is_asked_for_once_more_only(
    stocked: SyncLexichord, dsn: str
) -> None:
    """Who finds an embedder of the wrong space for the new one, too, is told so."""
    with application(dsn, OLD) as reader:
        stocked.reembed(NEW)
        calls: list[str] = []

        def find(settings: object, space: str) -> tuple[Hashing, list[str]]:
            calls.append(space)
            return Hashing(SAME), []

        reader.core.find_embedder = find
        with pytest.raises(EmbeddingMismatchError):
            reader.search("w3")
        assert calls == [NEW]


def test_the_command(stocked: SyncLexichord, dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Lexichord, "find_embedder", staticmethod(finder(OLD, NEW)))

    def call(*arguments: str) -> Any:
        return CliRunner().invoke(app, [*arguments, "--dsn", dsn])

    refused = call("reembed", "--drop")
    assert (refused.exit_code, refused.stderr.strip()) == (
        2,
        "lexichord: the vectors that are not in use: say --yes to delete for good",
    )
    done = call("reembed", "--to", NEW)
    assert done.exit_code == 0, done.stderr
    assert "of the 10 nearest to 50 queries the same: " in done.stdout
    assert f"space: {NEW}, 90 chunks embedded\nkept: vectors of {OLD}" in done.stdout
    assert "90 of 90 chunks" in done.stderr
    assert f"kept beside: vectors of {OLD}" in call("status").stdout
    back = call("reembed", "--rollback", "--json")
    assert json.loads(back.stdout)["space"] == OLD
    assert "90 of 90 chunks; run it again" in call("status").stdout
    assert call("reembed", "--drop", "--yes").stdout == f"dropped: vectors of {NEW}\n"
