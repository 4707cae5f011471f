"""Queries that are recorded: only if that is set, with their words only if that is set, too."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from lexichord import SyncLexichord
from lexichord.db.session import with_texts
from tests.conftest import SAMPLES, new_database
from tests.end_to_end.processes import run_cli
from tests.sql.corpus import Connection, Row, call, ids_of

FILES = [
    SAMPLES / "agreements" / "office-lease-saltpan-house.md",
    SAMPLES / "policies" / "data-retention-policy.md",
    SAMPLES / "policies" / "remote-work-policy.md",
]
QUERY = "How long are support logs kept, and who supervises the doctors of Mars?"
HINT = "the policy on retention"
ROWS = (
    "select q::text from lexichord_data.query q union all "
    "select h::text from lexichord_data.query_hit h"
)


@pytest.fixture(scope="module")
def stored(embedding_template: str, home: Path) -> Iterator[str]:
    """Three samples, embedded by the real model."""
    with new_database(embedding_template, copy_of=embedding_template) as dsn:
        with SyncLexichord(dsn=dsn, home=home) as lexichord:
            lexichord.ingest(FILES)
        yield dsn


@pytest.fixture
def records(stored: str) -> Iterator[Connection]:
    """None at first."""
    with psycopg.connect(stored, autocommit=True) as connection:
        connection.execute("truncate lexichord_data.query cascade")
        yield connection


def hits_of(connection: Connection, query: int | None) -> list[Row]:
    """Give what a recorded query found, with ids as a response has them."""
    rows = call(connection, "query_hits", query_id=query)
    return with_texts(ids_of(connection), "query_hits", rows)


def ask(dsn: str, home: Path, record: str | None = None) -> Row:
    """Ask with all that could leave words behind."""
    with SyncLexichord(dsn=dsn, home=home, record=record) as lexichord:
        return lexichord.query(QUERY, hint=HINT, rewrite=True, reflect=True, answer=True).to_dict()


def test_nothing_is_recorded_by_default(stored: str, home: Path, records: Connection) -> None:
    assert ask(stored, home)["query_id"] is None
    assert ask(stored, home, "off")["query_id"] is None
    assert records.execute(ROWS).fetchall() == []


def test_no_word_is_kept_unless_asked_for(stored: str, home: Path, records: Connection) -> None:
    response = ask(stored, home, "on")
    uris = " ".join(hit["uri"] for hit in response["hits"]).casefold()
    rows = " ".join(row for (row,) in records.execute(ROWS)).casefold()
    query_words = set(re.findall(r"\w+", f"{QUERY} {HINT}".casefold()))
    words = {word for word in query_words if not re.search(rf"\b{word}\b", uris)}
    assert {"logs", "kept", "doctors", "mars", "on"} <= words
    assert {word for word in words if re.search(rf"\b{word}\b", rows)} == set()
    (listed,) = call(records, "list_queries")
    assert (listed["query"], listed["hint"], listed["hinted"]) == (None, None, True)


def test_what_is_read_back_is_the_response(stored: str, home: Path, records: Connection) -> None:
    response = ask(stored, home, "on")
    (listed,) = call(records, "list_queries")
    assert listed["intent"] == response["intent"]["kind"]
    for name in ("confidence", "abstained"):
        assert listed[name] == response[name]
    assert listed["coverage"] == response["reflection"]["coverage"]["score"]
    assert listed["counts"]["rounds"] == len(response["reflection"]["rounds"])
    assert [s["stage"] for s in listed["stages"]] == [s["stage"] for s in response["trace"]]
    assert listed["ms"] > max(stage["ms"] for stage in listed["stages"])
    assert listed["hits"] == len(response["hits"]) > 5
    rows = hits_of(records, response["query_id"])
    same = ("chunk_id", "dataset", "uri", "score", "scores", "ranks")
    assert [[row[n] for n in same] for row in rows] == [
        [h[n] for n in same] for h in response["hits"]
    ]
    places = [(row["char_start"], row["char_end"]) for row in rows]
    assert places == [(hit["start"], hit["end"]) for hit in response["hits"]]
    assert [row["current_chunk_id"] for row in rows] == [
        hit["chunk_id"] for hit in response["hits"]
    ]


def test_a_server_that_only_reads_says_so(plain: SyncLexichord, tmp_path: Path, dsn: str) -> None:
    reading = f"{dsn}{'&' if '?' in dsn else '?'}options=-c%20default_transaction_read_only%3Don"
    with SyncLexichord(dsn=reading, home=tmp_path / "home", record="on") as lexichord:
        response = lexichord.query("notice period")
    assert response.query_id is None
    assert response.degraded[-1].startswith("the query was not recorded: ")
    assert response.degraded[-1].endswith("in a read-only transaction")


def test_the_command_line_records(stored: str, home: Path, records: Connection) -> None:
    def run(*options: str, **environment: str) -> int | None:
        asked = ("query", "Who pays the rent?", "--json")
        done = run_cli(stored, home, *asked, *options, **environment)
        query_id: int | None = json.loads(done.stdout)["query_id"]
        return query_id

    assert run() is None
    quiet, loud = run("--record", "on"), run(LEXICHORD_RECORD="text")
    assert run("--record", "off", LEXICHORD_RECORD="text") is None
    listed = {row["query_id"]: row["query"] for row in call(records, "list_queries")}
    assert listed == {quiet: None, loud: "Who pays the rent?"}
