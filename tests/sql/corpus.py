"""Documents for the tests of the SQL functions, and the way in which tests call these."""

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

import psycopg
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from lexichord.db.schema import FOLDERS
from lexichord.db.search import vector_text
from lexichord.types import Json
from lexichord.types.base import Ids
from tests.conftest import ROOT

SPACE = "test/tiny/4"
MOST = {"key": "part", "op": "≠", "value": 0}  # of the wide documents
# What a function of pg_proc p gives; a row type of ours by its columns, as callers see it.
RESULT = """coalesce((
    select format('TABLE(%s)', string_agg(
        a.attname || ' ' || format_type(a.atttypid, a.atttypmod), ', ' order by a.attnum))
    from pg_type t join pg_attribute a on a.attrelid = t.typrelid and a.attnum > 0
    where t.oid = p.prorettype and t.typnamespace = 'lexichord'::regnamespace
    having count(*) > 0), pg_get_function_result(p.oid))"""
KINDS = ["law", "code", "letter"]
# As an earlier version stored it: other lexemes everywhere, its number on every document.
OUTDATED = """
update lexichord_data.chunk set lexemes = '''old'':1', token_count = 1;
delete from lexichord_data.card_term;
update lexichord_data.document set analyzer_version = 1, card_length = 0;
select lexichord.recount()"""

type Connection = psycopg.Connection[Any]
type Row = dict[str, Any]
type Vector = Sequence[float]


def call(
    connection: Connection, function: str, schema: str = "lexichord", /, **arguments: object
) -> list[Row]:
    """Run `select * from lexichord.function(name => value, ...)`; dicts go as jsonb."""
    named = ", ".join(f"{name} => %({name})s" for name in arguments)
    values = {
        name: Jsonb(argument) if isinstance(argument, dict) else argument
        for name, argument in arguments.items()
    }
    statement = f"select * from {schema}.{function}({named})"
    with connection.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(statement.encode(), values).fetchall()


def value(connection: Connection, statement: str, *arguments: object) -> Any:
    """Give the first column of the first row."""
    row = connection.execute(statement.encode(), arguments).fetchone()
    assert row is not None
    return row[0]


def ids_of(connection: Connection) -> Ids:
    """Give what writes and reads the ids of a database."""
    return Ids(value(connection, "select lexichord.id_secret()").bytes)


def put(
    connection: Connection,
    uri: str,
    contents: Sequence[str],
    vectors: Sequence[Vector | None] = (),
    *,
    headings: Sequence[str] = (),
    dataset: str = "library",
    title: str = "x1",
    metadata: Json | None = None,
    recipe: str = "test",
    twin: int | None = None,
    text_config: str | None = None,
    media_type: str = "text/plain",
    analyzed: tuple[str | None] | None = None,
    then: str = "",
) -> Row:
    """Store a document whose chunks are its lines; give the row of store_document.

    `analyzed`: under which text configuration they are analyzed before, `then` a statement after.
    """
    text = "\n".join(contents)
    with connection.transaction():
        call(connection, "stage_chunks")
        start = 0
        for number, line in enumerate(contents):
            connection.execute(
                "insert into staged_chunk values (%s, %s, %s, %s, null, %s, '', '', '{}', %s)",
                [
                    number,
                    headings[number] if headings else "",
                    start,
                    start + len(line),
                    line,
                    vector_text(vectors[number]) if vectors else None,
                ],
            )
            start += len(line) + 1
        if analyzed is not None:
            call(connection, "analyze_staged", text_config=analyzed[0])
            connection.execute(then.encode())
        return call(
            connection,
            "store_document",
            dataset=dataset,
            uri=uri,
            title=title,
            media_type=media_type,
            sha256=hashlib.sha256(text.encode()).hexdigest(),
            recipe=recipe,
            content=text,
            metadata=dict(metadata or {}),
            twin=twin,
            text_config=text_config,
        )[0]


def library(connection: Connection) -> None:
    """Store 42 documents of 122 chunks in two datasets: more chunks than the least depth."""
    small_segments(connection)
    random = Random(1)
    for number in range(40):
        name = f"w{number}"
        put(
            connection,
            f"{'north' if number % 2 else 'south'}/{number}.md",
            [f"{name} {line}" for line in random_lines(random, 3, words=30, longest=12)],
            random_vectors(random, 3),
            headings=["Start", "Middle", "Middle"],
            dataset="north" if number % 2 else "south",
            title=f"The tale of animal{number}",
            metadata={"kind": KINDS[number % 3], "year": 2000 + number, "odd": bool(number % 2)},
        )
    keys = {"a": 1, "b": "two", "c": [3]}
    put(connection, "south/one.md", ["w1 alone"], [[1, 1, 0, 0]], dataset="south", metadata=keys)
    put(connection, "south/unembedded.md", ["w1 w2 unembedded"], dataset="south")
    call(connection, "build_indexes")


def wide_documents() -> Iterator[tuple[str, list[str], list[list[float]]]]:
    """Give 111 documents of 32 chunks; the last one is far from [1, 0, 0, 0] and poor in w0."""
    random = Random(7)
    for number in range(110):
        lines = list(random_lines(random, 32, words=500, longest=160))
        yield f"wide/{number}.md", lines, random_vectors(random, 32)
    filler = " ".join(f"w{number}" for number in range(100, 300))
    yield "wide/far.md", [f"w0 {filler}"] * 32, [[-1.0, 0.01 * n, 0.0, 0.0] for n in range(32)]


SMALL_SEGMENTS = """
create or replace function lexichord.sealing(
    out least_chunks bigint, out tail_chunks bigint, out segments_a_tier integer,
    out is_allowed boolean)
language sql immutable parallel safe set search_path = pg_catalog, pg_temp
as 'select 100, 40, 2, true'
"""


def small_segments(connection: Connection) -> None:
    """Give a small corpus the segments, and the merges of them, that large ones have."""
    if value(connection, "select to_regproc('lexichord.sealing') is not null"):
        connection.execute(SMALL_SEGMENTS.encode())


def wide(connection: Connection) -> None:
    """Store so many chunks that the planner wants its indexes, also for most of them (MOST)."""
    small_segments(connection)
    for number, (uri, lines, vectors) in enumerate(wide_documents()):
        dataset = "odd" if number % 2 else "even"
        put(connection, uri, lines, vectors, dataset=dataset, metadata={"part": number % 10})
    call(connection, "build_indexes")


def engine_of(connection: Connection) -> str:
    return str(value(connection, "select engine from lexichord.configuration()"))


def vectors(connection: Connection, document: int) -> list[str | None]:
    """Return the vectors of a document's chunks, in order."""
    statement = (
        "select embedding::text from lexichord_data.chunk where document_id = %s order by ordinal"
    )
    return [vector for (vector,) in connection.execute(statement, [document]).fetchall()]


def random_lines(random: Random, count: int, words: int, longest: int) -> Iterator[str]:
    """Give lines of words that no analyzer changes, w0 the most frequent."""
    names = [f"w{number}" for number in range(words)]
    weights = [1 / (number + 1) for number in range(words)]
    for _ in range(count):
        yield " ".join(random.choices(names, weights, k=random.randint(4, longest)))


def random_vectors(random: Random, count: int) -> list[list[float]]:
    return [[round(random.gauss(0, 1), 3) for _ in range(4)] for _ in range(count)]


def ids(rows: list[Row], column: str = "chunk_id") -> list[int]:
    return [row[column] for row in rows]


VECTOR = "[0.3,-1,0.5,0.2]"
BY_VECTOR = {"query_vector": VECTOR, "query_space": SPACE}


def counter(connection: Connection, index: str) -> int:
    """Give how often this session has begun to read an index, or how many pages of it it read.

    VectorChord's indexes do not count the former.
    """
    vectorchord = value(connection, "select engine from lexichord.configuration()") == "vectorchord"
    kind = "blocks_fetched" if vectorchord else "numscans"
    name = f"lexichord_data.{index}"
    return int(value(connection, f"select pg_stat_get_xact_{kind}(%s::regclass)", name))


def scans(connection: Connection, index: str, before: int) -> int:
    """Give how often an index was read since the counter was at `before`."""
    since = counter(connection, index) - before
    if value(connection, "select engine from lexichord.configuration()") != "vectorchord":
        return since
    return int(since > 10)  # planning reads fewer pages than that


def all_settings(connection: Connection) -> dict[str, str]:
    return dict(connection.execute("select name, setting from pg_settings").fetchall())


SIGNATURES = f"""
    select proname, pg_get_function_arguments(oid), coalesce({RESULT}, '')
    from pg_proc p where pronamespace = 'lexichord'::regnamespace"""
OF_AN_ENGINE = {
    *("dense_candidates", "keyword_index", "keyword_plan", "keyword_proposals"),
    *("most_dimensions", "named_extensions", "seal_keywords", "unseal_keywords"),
    *("unsealed_keywords", "vector_index", "vector_tables", "index_faults"),
}
# The workers of a Citus cluster know the owner alone; these ask themselves who the caller is.
OF_WORKERS = {"near_chunks", "index_faults", "index_use"}
NO_FUNCTIONS = {"extensions", "index"}  # of an engine's files
APART = {"engine", "state", "types"}  # folders of what not all engines share, or is no function
SHARED = [
    path
    for path in sorted((ROOT / "sql").rglob("*.sql"))
    if path.relative_to(ROOT / "sql").parts[0] not in APART
]


def offered(engine: str) -> dict[str, str]:
    """The functions of an engine's folders, each with its arguments and result."""
    return {
        path.stem: declared(path)
        for folder in FOLDERS[engine]
        for path in (ROOT / "sql/engine" / folder).glob("*.sql")
        if path.stem not in NO_FUNCTIONS
    }


def declared(path: Path) -> str:
    """The arguments and the result of a file's function."""
    return " ".join(path.read_text().partition("create or")[2].partition("language")[0].split())


def signatures(connection: Connection) -> dict[str, tuple[str, str]]:
    """Return what others may call, by name: the arguments with their defaults, and the result."""
    rows = connection.execute(SIGNATURES.encode()).fetchall()
    inner = inner_functions(connection)
    return {name: (given, result) for name, given, result in rows if name not in inner}


def inner_functions(connection: Connection) -> set[str]:
    """The functions that are nobody's to call: their comments say so."""
    rows = connection.execute(
        "select proname from pg_proc where pronamespace = 'lexichord'::regnamespace "
        "and obj_description(oid, 'pg_proc') like '% Internal.%'"
    )
    return {name for (name,) in rows}
