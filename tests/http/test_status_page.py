"""The page of how the database is: for whom, and how much of it."""

from collections.abc import Iterator

import httpx
import psycopg
import pytest

from lexichord import SyncLexichord
from lexichord.db import schema
from tests.conftest import SPACE, new_database
from tests.http.served_page import LEASE, LICENCE, served
from tests.http.test_manage import Managed, words


@pytest.fixture(scope="module")
def watched(embedded_dsn: str) -> Iterator[Managed]:
    """A database with an indexed table, and keys that reach all of it or a part."""
    with new_database(embedded_dsn) as dsn:
        schema.prepare(dsn, schema.Choice("plain", "english", SPACE))
        with psycopg.connect(dsn, autocommit=True) as connection:
            connection.execute("create table public.note (id bigint primary key, body text)")
            connection.execute("insert into public.note values (1, 'A zebra.'), (2, 'A gnu.')")
            connection.execute(
                "select lexichord.index_table('public.note', '{body}', dataset => 'notes')"
            )
        with SyncLexichord(dsn=dsn) as core:
            core.ingest(documents=[LEASE, LICENCE], dataset="open")
            core.ingest(documents=[{"uri": "torn", "chunks": []}], dataset="closed")
            keys = {
                "reads": core.create_key("r"),
                "all": core.create_key("a", writes=True, deletes=True),
                "narrow": core.create_key("n", datasets=["open"], writes=True),
                "writes": core.create_key("w", reads=False, writes=True),
            }
            secrets = {name: key.secret for name, key in keys.items()}
            with served(dsn, allowed_hosts="search.example.com") as address:
                yield Managed(address, core, secrets)


def shown(managed: Managed, key: str, path: str = "/status") -> str:
    with managed.client(key) as client:
        answer = client.get(path)
    assert answer.status_code == 200, answer.text
    return words(answer.text)


def test_it_says_what_status_and_tables_say(watched: Managed) -> None:
    page, status = shown(watched, "all"), watched.core.status()
    assert f"Engine {status.engine}" in page
    assert f"Space {status.space}" in page
    assert f"Migration {status.migration}" in page
    assert "open 2 4" in page
    (table,) = watched.core.tables()
    row = f"{table.source} notes {table.rows_stored} {table.rows_waiting} {table.rows_failed}"
    assert row in page
    assert "Healthy" not in page


def test_a_check_says_what_doctor_says(watched: Managed) -> None:
    page, health = shown(watched, "all", "/status?check=1"), watched.core.doctor()
    for part in health.server:
        assert f"{part.name} {part.version}" in page
    for index in health.indexes:
        assert f"Index {index.index_name}" in page
    for fault in health.extension_faults:
        assert fault.problem in page
    for problem in health.problems:
        assert problem.problem in page
    assert ("Healthy" in page) == (not health.problems)


def test_a_problem_is_told_with_its_remedy(embedded_dsn: str) -> None:
    with new_database(embedded_dsn) as dsn:
        schema.prepare(dsn, schema.Choice("plain", "english", SPACE))
        with SyncLexichord(dsn=dsn) as core:
            core.ingest(documents=[LEASE], dataset="open")
            with psycopg.connect(dsn, autocommit=True) as connection:
                connection.execute("delete from lexichord_data.keyword")
            (problem, *_) = core.doctor().problems
            with served(dsn) as address:
                page = words(httpx.get(f"{address}/status?check=1", timeout=60).text)
    assert f"problem {problem.problem} {problem.remedy}" in page
    assert "Healthy" not in page


def test_a_reading_key_sees_the_state_and_has_nothing_checked(watched: Managed) -> None:
    page = shown(watched, "reads")
    assert "Engine plain" in page
    assert "Check it" not in page
    with watched.client("reads") as client:
        assert client.get("/status?check=1").status_code == 403
        assert "/documents" not in client.get("/status").text


def test_a_key_of_one_dataset_sees_nothing_of_others(watched: Managed) -> None:
    for path in ("/status", "/status?check=1"):
        page = shown(watched, "narrow", path)
        assert "open 2 4" in page
        assert "This key reaches some datasets only" in page
        for hidden in ("closed", "notes", "note", "Engine", "Migration", "vector"):
            assert hidden not in page.split()


def test_who_may_not_read_sees_none_of_it(watched: Managed) -> None:
    with watched.client("writes") as client:
        assert client.get("/status").status_code == 403
    assert httpx.get(f"{watched.address}/status").status_code == 401
