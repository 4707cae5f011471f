"""One document that is replaced and deleted at once, beside searches, is whole or gone."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import psycopg

from lexichord import SyncLexichord
from lexichord.errors import NotFoundError
from tests.sql.corpus import call

ROUNDS = 40
URI = "contested"


def replace(dsn: str, writer: str) -> None:
    with SyncLexichord(dsn=dsn) as lexichord:
        for number in range(ROUNDS):
            words = f"zebra {writer}{number}"
            chunks = [{"content": f"{words} part {part}"} for part in range(1 + number % 4)]
            lexichord.ingest(documents=[{"uri": URI, "chunks": chunks}])


def delete(dsn: str) -> None:
    with SyncLexichord(dsn=dsn) as lexichord:
        for _ in range(ROUNDS):
            with suppress(NotFoundError):
                lexichord.delete([URI])


def search(dsn: str) -> None:
    with SyncLexichord(dsn=dsn) as lexichord:
        for _ in range(ROUNDS):
            hits = lexichord.search("zebra", mode="keyword").hits
            assert len({hit.content.split(" part ")[0] for hit in hits}) <= 1


def test_a_document_replaced_and_deleted_at_once_is_whole_or_gone(dsn: str) -> None:
    replace(dsn, "first")
    with ThreadPoolExecutor(5) as pool:
        each = [pool.submit(replace, dsn, writer) for writer in ("one", "two")]
        each += [pool.submit(work, dsn) for work in (delete, delete, search)]
        for one in each:
            one.result()
    with psycopg.connect(dsn) as connection:
        faults = call(connection, "count_faults")
        left = connection.execute(
            "select split_part(content, ' part ', 1), count(*), max(d.uri) "
            "from lexichord_data.chunk c left join lexichord_data.document d "
            "on d.id = c.document_id group by 1"
        ).fetchall()
    assert {fault["amount"] for fault in faults} == {0}
    assert len(left) <= 1
    for words, amount, uri in left:
        number = int("".join(filter(str.isdigit, words)))
        assert (amount, uri) == (1 + number % 4, URI)
