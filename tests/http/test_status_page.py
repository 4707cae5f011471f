"""The page of how the database is: for whom, and how much of it."""

from collections.abc import Iterator

import psycopg
import pytest

from tests.http.pages import LEASE, LICENCE, words
from tests.http.served import Documents, Keys, Served, serve_documents

KEYS: Keys = {
    "reads": {},
    "all": {"writes": True, "deletes": True},
    "narrow": {"datasets": ["open"], "writes": True},
    "writes": {"reads": False, "writes": True},
}


@pytest.fixture(scope="module")
def watched(bare: str) -> Iterator[Served]:
    """A database with an indexed table and a fault, and keys that reach all of it or a part."""
    documents: Documents = {"open": [LEASE, LICENCE], "closed": [{"uri": "torn", "chunks": []}]}
    with serve_documents(bare, documents, KEYS) as served:
        with psycopg.connect(served.dsn, autocommit=True) as connection:
            connection.execute("create table public.note (id bigint primary key, body text)")
            connection.execute("insert into public.note values (1, 'A zebra.'), (2, 'A gnu.')")
            connection.execute(
                "select lexichord.index_table('public.note', '{body}', dataset => 'notes')"
            )
        yield served


def shown(served: Served, key: str, path: str = "/status") -> str:
    answer = served.by(key).get(path)
    assert answer.status_code == 200, answer.text
    return words(answer.text)


def test_it_says_what_status_and_tables_say(watched: Served) -> None:
    page, status = shown(watched, "all"), watched.lexichord.status()
    for line in (f"Engine {status.engine}", f"Space {status.space}", "open 2 4"):
        assert line in page
    assert f"Migration {status.migration}" in page
    (table,) = watched.lexichord.tables()
    row = f"{table.source} notes {table.rows_stored} {table.rows_waiting} {table.rows_failed}"
    assert row in page
    assert "Healthy" not in page


def test_a_check_says_what_doctor_says(watched: Served) -> None:
    page, health = shown(watched, "all", "/status?check=1"), watched.lexichord.doctor()
    assert ("Healthy" in page) == (not health.problems)
    with psycopg.connect(watched.dsn, autocommit=True) as connection:
        connection.execute("delete from lexichord_data.keyword")
    page, health = shown(watched, "all", "/status?check=1"), watched.lexichord.doctor()
    said = [f"{part.name} {part.version}" for part in health.server]
    said += [f"Index {index.index_name}" for index in health.indexes]
    said += [fault.problem for fault in health.extension_faults]
    said += [f"problem {each.problem} {each.remedy}" for each in health.problems]
    assert [line for line in said if line not in page] == []
    assert health.problems
    assert "Healthy" not in page


def test_a_reading_key_sees_the_state_and_has_nothing_checked(watched: Served) -> None:
    page = shown(watched, "reads")
    assert "Engine plain" in page
    assert "Check it" not in page
    assert watched.by("reads").get("/status?check=1").status_code == 403
    assert "/documents" not in watched.by("reads").get("/status").text


def test_a_key_of_one_dataset_sees_nothing_of_others(watched: Served) -> None:
    for path in ("/status", "/status?check=1"):
        page = shown(watched, "narrow", path)
        assert "open 2 4" in page
        assert "This key reaches some datasets only" in page
        hidden = {"closed", "notes", "note", "Engine", "Migration", "vector"}
        assert not hidden.intersection(page.split())


def test_who_may_not_read_sees_none_of_it(watched: Served) -> None:
    assert [watched.by(key).get("/status").status_code for key in ("writes", None)] == [403, 401]
