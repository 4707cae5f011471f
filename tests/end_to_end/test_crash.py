"""What was reported as done is there after anything was killed, found by both legs, and once."""

from collections import Counter
from pathlib import Path

import psycopg
import pytest

from lexichord import SyncLexichord
from lexichord.db.search import vector_text
from lexichord.types import Health
from tests.end_to_end.client import CHUNKS, documents, uri, vectors, word
from tests.end_to_end.conftest import STORED
from tests.end_to_end.processes import Client, kill_backend, kill_postmaster

KILLED_AFTER = 40  # documents
LAST = 200

BY_WORD = """
select w.word, d.uri, count(*)
from unnest(%s::text[]) as w (word), lateral lexichord.keyword_candidates(w.word, 100) as k
join lexichord_data.document d on d.id = k.document_id
group by w.word, d.uri
"""
BY_VECTOR = """
select n.uri, count(*)
from unnest(%s::text[], %s::text[]) as n (uri, vector),
     lateral lexichord.dense_candidates(n.vector::public.halfvec, 100) as k
join lexichord_data.document d on d.id = k.document_id
where d.uri = n.uri and k.score > 0.99999
group by n.uri
"""


def kill(victim: str, home: Path, client: Client) -> None:
    if "client" in victim:
        client.kill()
    if "postmaster" in victim:
        kill_postmaster(home)
    if "backend" in victim:
        kill_backend(home)


def assert_found(lexichord: SyncLexichord, numbers: list[int]) -> None:
    """Each document by its word and by its vectors, with each of its chunks once."""
    uris, words = [uri(n) for n in numbers], [word(n) for n in numbers]
    with psycopg.connect(lexichord.core.database.dsn) as connection:
        by_word = connection.execute(BY_WORD, [words]).fetchall()
        assert sorted(by_word) == [(word(n), uri(n), CHUNKS) for n in numbers]
        for part in range(CHUNKS):
            points = [vector_text(vectors(n)[part]) for n in numbers]
            by_vector = connection.execute(BY_VECTOR, [uris, points]).fetchall()
            assert sorted(by_vector) == [(name, 1) for name in uris]


def assert_sound(lexichord: SyncLexichord) -> Health:
    """No document half there or twice, statistics exact; gives the doctor's findings."""
    listed = lexichord.list()
    assert {row.chunks for row in listed} == {CHUNKS}
    assert max(Counter(row.uri for row in listed).values()) == 1
    report = lexichord.doctor()
    assert {fault.amount for fault in report.faults} == {0}
    assert report.documents == len(listed)
    assert report.chunks == len(listed) * CHUNKS
    return report


def crash(home: Path, first: int, victim: str) -> list[int]:
    """Ingest in another process, kill in mid-run; give what was reported until the end."""
    with Client(home, "ingest", str(first), str(LAST)) as client:
        reported = client.lines(KILLED_AFTER)
        kill(victim, home, client)
        reported += client.rest()
        assert client.process.returncode != 0, "it was killed too late to tell anything"
    outcomes = [line.split() for line in reported]
    assert {status for _, status in outcomes} == {"inserted"}
    return sorted(int(name.removeprefix("doc/")) for name, _ in outcomes)


def assert_recovers(home: Path, first: int, reported: list[int]) -> None:
    before = list(range(first))
    with SyncLexichord(home=home) as lexichord:
        assert_sound(lexichord)
        assert_found(lexichord, before + reported)
        report = lexichord.ingest(documents=documents(first, LAST))
        assert report.skipped >= len(reported)
        assert (report.replaced, report.failed) == (0, {})
        assert report.skipped + report.inserted == LAST - first
        assert_found(lexichord, list(range(LAST)))
        findings = assert_sound(lexichord)
        assert all(index.used for index in findings.indexes if index.plan)
    with SyncLexichord(home=home) as lexichord:  # after a clean stop as well
        assert_found(lexichord, list(range(LAST)))


@pytest.mark.parametrize("victim", ["client", "backend", "client and postmaster"])
def test_an_indexed_table_keeps_what_was_reported(victim: str, stocked_home: Path) -> None:
    """New rows come into existing indexes, and segments are made and merged meanwhile."""
    reported = crash(stocked_home, STORED, victim)
    assert_recovers(stocked_home, STORED, reported)
