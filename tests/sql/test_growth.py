"""Nothing takes time by the square: by pages looked at, or by the shortest of three times.

Of times eight times as much may cost 32 times as much, for the machine is busy; the square is 64.
"""

from collections.abc import Sequence
from hashlib import sha256
from time import perf_counter

import pytest

from tests.sql.corpus import Connection, call, put, value

TIMES = 8
FILTER = "jsonb_build_object('key', 'uri', 'op', 'contains', 'value', repeat('a.b_', {n}))"
PATH = "jsonb_build_object('key', repeat('a.b_', {n}), 'op', 'empty')"
CONDITION = """'{"key": "uri", "op": "start with", "value": "a"}'"""
CONDITIONS = (
    "jsonb_build_object('and', (select jsonb_agg({each}) from generate_series(1, {n} / 8)))"
)
WORDS = "(select string_agg('w' || i, ' ') from generate_series(1, {n} / 10) as i)"
CHUNKS = "array(select id from lexichord_data.chunk)"
STATEMENTS = {
    "text": "select lexichord.keyword_text(repeat('a.b_', {n}))",
    "lexemes": "select lexichord.lexemes(repeat('a.b_', {n}), 'pg_catalog.english')",
    "value": f"select lexichord.scope_documents(filter => {FILTER})",
    "folder": "select lexichord.scope_documents(uri_prefix => repeat('a.b_', {n}))",
    "conditions": f"select lexichord.scope_documents(filter => {CONDITIONS})",
    "marks": "select lexichord.normal_form('e' || repeat(U&'\\0301\\0316', {n}))",
    "accents": "select lexichord.fold_accents('e' || repeat(U&'\\0301\\0316', {n}))",
    "words": f"select count(*) from lexichord.question_coverage({WORDS}, {CHUNKS})",
    "path": f"select lexichord.filter_matches('{{{{}}}}', {PATH})",
}


def seconds(connection: Connection, statement: str) -> float:
    times = []
    for _ in range(3):
        started = perf_counter()
        connection.execute(statement.encode())
        times.append(perf_counter() - started)
    return min(times)


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_long_argument_costs_by_its_length(connection: Connection, name: str) -> None:
    put(connection, "a", ["w1"])
    few, many = (
        STATEMENTS[name].format(n=n, each=f"{CONDITION}::jsonb") for n in (5000, 5000 * TIMES)
    )
    assert seconds(connection, many) < 4 * TIMES * seconds(connection, few)


def pages(connection: Connection, function: str, *arguments: Sequence[int]) -> int:
    """Give how many pages a call looks at, which no other program changes."""
    call = f"lexichord.{function}({', '.join(f"'{{{','.join(map(str, a))}}}'" for a in arguments)})"
    connection.execute(f"select {call}".encode())
    plan = value(connection, f"explain (analyze, buffers, format json) select {call}")[0]["Plan"]
    return int(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"])


@pytest.fixture
def long(connection: Connection) -> int:
    """A text that is stored in many pages, in 5,000 chunks."""
    lines = [sha256(b"%d" % number).hexdigest() + " x" for number in range(5000)]
    return int(put(connection, "long", lines)["document_id"])


def test_many_spans_are_read_from_pieces_of_a_text(connection: Connection, long: int) -> None:
    read = []
    for count in (200, 200 * TIMES):
        starts = [number * 300_000 // count for number in range(count)]
        ends = [start + 50 for start in starts]
        read.append(pages(connection, "read_spans", [long] * count, starts, ends))
    assert read[1] < TIMES / 2 * read[0]


@pytest.mark.parametrize("counted", [True, False], ids=["counted", "counted-while-empty"])
@pytest.mark.parametrize("function", ["expand_context", "chunk_places", "read_hits"])
def test_many_chunks_are_looked_at_by_their_number(
    connection: Connection, long: int, function: str, counted: bool
) -> None:
    if counted:
        connection.execute("analyze lexichord_data.chunk, lexichord_data.document")
    else:  # as autovacuum leaves it where a load is taken back: pages, and no row in them
        connection.execute(
            "update pg_class set reltuples = 0, relpages = 500"
            " where oid in ('lexichord_data.chunk'::regclass, 'lexichord_data.document'::regclass)"
        )
    chunks = [row["chunk_id"] for row in call(connection, "list_chunks", document=long)][::-1]
    assert pages(connection, function, chunks[:2000]) < 10 * 2000


def test_spans_that_cross_pieces_are_whole(connection: Connection, long: int) -> None:
    text = value(connection, "select text from lexichord_data.document where id = %s", long)
    places = [(n * 1000, n * 2000) for n in range(150)] + [(0, len(text)), (len(text), len(text))]
    starts, ends = (list(column) for column in zip(*places, strict=True))
    rows = call(connection, "read_spans", documents=[long] * 152, starts=starts, ends=ends)
    assert [row["content"] for row in rows] == [text[start:end] for start, end in places]
