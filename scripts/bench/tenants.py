"""What tenants cost a search of one of them: the same scope with row-level security and without.

Tenants of 10, 1,000 and 50,000 chunks of made-up words and vectors in one database, and a copy of
it where tenants are on. Each question is asked in turn by the tables' owner in the first, who names
the tenant's dataset, and in the second by a server for the tenant, who names it as well (`named`)
or nothing (`all in reach`). Statistics are the tenant's own there, so that scores differ; that
every hit is the tenant's, and as many as without, is asserted.

python scripts/bench/tenants.py --server DSN [--rounds N] [--engine plain]

The server has to run on this machine, under Linux: what is measured is its processor time.
"""

import argparse
import os
import random
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import psycopg
from psycopg import Connection

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.conftest import new_database

from lexichord.db.schema import Choice, prepare
from lexichord.types import EmbeddingSpace

DIMENSION = 64
SPACE = EmbeddingSpace("test", "random", DIMENSION)
SIZES = {"t10": 10, "t1000": 1_000, "t50000": 50_000, "others": 14_000}
WORDS = 5_000
LETTERS: Mapping[str, str] = {}
INDEXES = {  # what a search asks an index for, as the reader
    "nearest": "select id from lexichord_data.chunk where embedding is not null "
    "order by embedding <=> array_fill(0.1, array[64])::halfvec(64) limit 100",
    "impacts of documents": "select chunk_id from lexichord_data.keyword "
    "where document_id = any('{1,2,3}')",
    "chunks of documents": "select id from lexichord_data.chunk where document_id = any('{1,2,3}')",
    "one document": "select id from lexichord_data.document where id = 3",
    "a folder": "select id from lexichord_data.document where starts_with(uri, 't10/1')",
    "metadata": """select id from lexichord_data.document where metadata @> '{"year": 2001}'""",
    "a name's cards": "select document_id from lexichord_data.card_term where lexeme = 'w1'",
}
FILL = """
insert into lexichord_data.document
    (dataset_id, uri, title, media_type, sha256, recipe, text, metadata, card_length)
select d.id, d.name || '/' || i, 'document ' || i, 'text/plain', repeat('0', 64), 'r', 'text',
       jsonb_build_object('year', 2000 + i %% 20), 3
from lexichord_data.dataset d, generate_series(1, greatest(%(chunks)s / 10, 1)) as i
where d.name = %(name)s;
insert into lexichord_data.chunk
    (dataset_id, document_id, ordinal, char_start, char_end, content, lexemes, token_count,
     content_hash, embedding)
select d.dataset_id, d.id, n, 0, 0, 'text', l.lexemes, 30, 'h',
       (select array_agg(random() - 0.5 + 0 * (g + n + d.id))
        from generate_series(1, %(dimension)s) as g)::halfvec
from lexichord_data.document d join lexichord_data.dataset s on s.id = d.dataset_id,
     generate_series(1, 10) as n,
     lateral (select array_to_tsvector(array_agg(distinct
                  (%(letters)s::text[])[1 + g %% cardinality(%(letters)s)]
                  || floor(random() ^ 2 * %(words)s + 0 * (g + n + d.id))::int)) as lexemes
              from generate_series(1, 30) as g) as l
where s.name = %(name)s
"""


def fill(
    connection: Connection, sizes: Mapping[str, int] = SIZES, letters: Mapping[str, str] = LETTERS
) -> None:
    """Store so many chunks of each name, of words that begin with its letters, or with "w"."""
    for name, chunks in sizes.items():
        connection.execute("insert into lexichord_data.dataset (name) values (%s)", [name])
        values: dict[str, object] = {"name": name, "chunks": chunks, "dimension": DIMENSION}
        values |= {"words": WORDS, "letters": [*letters.get(name, "w")]}
        for statement in FILL.split(";"):
            connection.execute(statement.encode(), values)
    connection.execute("select lexichord.fold_statistics()")
    connection.execute("select lexichord.build_indexes()")
    connection.execute("vacuum analyze")


@contextmanager
def serving(owner: Connection) -> Iterator[Connection]:
    """Turn tenants on, and connect as a server does: as a login role of lexichord_server."""
    owner.execute("select lexichord.turn_tenants_on()")
    for (name,) in owner.execute("select name from lexichord_data.dataset").fetchall():
        owner.execute("select lexichord.add_tenant(%s, array[%s])", [name, name])
    role = f"bench_server_{os.getpid()}_{owner.info.backend_pid}"
    owner.execute(f"create role {role} login in role lexichord_server".encode())
    try:
        dsn = owner.info.dsn
        with psycopg.connect(dsn, user=role, autocommit=True, prepare_threshold=None) as server:
            yield server
    finally:
        owner.execute(f"drop owned by {role}; drop role {role}".encode())


def milliseconds(
    connection: Connection, tenant: str, query: str, vector: str, named: bool
) -> tuple[float, list[tuple[object, ...]]]:
    """Search in one transaction with its settings, sent together as a server does.

    Returns the processor time of the session's process, which other programs do not lengthen.
    """
    started = processor_seconds(connection)
    with connection.pipeline():
        connection.execute(
            "select set_config('statement_timeout', '30000', true), "
            "set_config('lexichord.tenant', %s, true)",
            [tenant],
        )
        cursor = connection.execute(
            "select dataset, chunk_id, score from lexichord.hybrid_search("
            "%s, %s::halfvec, k => 10, datasets => %s)",
            [query, vector, [tenant] if named else None],
        )
        rows = cursor.fetchall()
    return 1000 * (processor_seconds(connection) - started), rows


def processor_seconds(connection: Connection) -> float:
    nanoseconds, *_ = Path(f"/proc/{connection.info.backend_pid}/schedstat").read_text().split()
    return int(nanoseconds) / 1e9


def measure(
    owner: Connection, server: Connection, rounds: int
) -> Mapping[tuple[str, str], Sequence[float]]:
    """Return the times by tenant and case; cases alternate within a question."""
    times: dict[tuple[str, str], list[float]] = {}
    rng = random.Random(5)
    cases = [("without", owner, True), ("named", server, True), ("all in reach", server, False)]
    for _ in range(4):
        for tenant in ("t10", "t1000", "t50000"):
            for _, who, named in cases:
                milliseconds(who, tenant, "w1 w2", _vector(rng), named)
            for _ in range(rounds // 4):
                words = " ".join(f"w{int(rng.random() ** 2 * WORDS)}" for _ in range(6))
                vector, found = _vector(rng), []
                for label, who, named in rng.sample(cases, len(cases)):
                    ms, rows = milliseconds(who, tenant, words, vector, named)
                    times.setdefault((tenant, label), []).append(ms)
                    found.append(rows)
                    assert {row[0] for row in rows} == {tenant}, (tenant, rows)
                assert len({len(rows) for rows in found}) == 1, (tenant, found)
    return times


def show_plans(owner: Connection, server: Connection) -> None:
    """Print which index each question is given, without a policy and under one."""
    for name, statement in INDEXES.items():
        plans = []
        for who in (owner, server):
            with who.transaction():
                who.execute("set local search_path = pg_catalog, public")
                who.execute("set local lexichord.tenant = 't10'")
                who.execute("set local enable_seqscan = off")
                rows = who.execute(f"explain (costs off) {statement}".encode()).fetchall()
                conditions = [line.strip() for (line,) in rows if "Index Cond" in line]
                ordered = [line.strip() for (line,) in rows if "Order By" in line]
                plans.append((ordered or conditions or ["none"])[0][:70])
        print(f"{name:22} owner: {plans[0]}\n{'':22} server: {plans[1]}", flush=True)


def _vector(rng: random.Random) -> str:
    return "[" + ",".join(f"{rng.random() - 0.5:.4f}" for _ in range(DIMENSION)) + "]"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server", required=True, help="a server's DSN, of a superuser")
    parser.add_argument("--rounds", type=int, default=60, help="questions asked of each case")
    parser.add_argument("--engine", default="plain")
    arguments = parser.parse_args()
    with new_database(arguments.server) as dsn:
        prepare(dsn, Choice(arguments.engine, "english", SPACE))
        with psycopg.connect(dsn, autocommit=True) as connection:
            started = time.perf_counter()
            fill(connection)
            print(f"filled in {time.perf_counter() - started:.0f} s", flush=True)
        with new_database(arguments.server, copy_of=dsn) as shared:
            times = compare(dsn, shared, arguments.rounds)
    for (tenant, label), values in sorted(times.items()):
        ratio = median(values) / median(times[tenant, "without"])
        print(f"{tenant:8} {label:14} p50 {median(values):8.2f} ms {ratio:6.2f}")


def compare(dsn: str, shared: str, rounds: int) -> Mapping[tuple[str, str], Sequence[float]]:
    with (
        psycopg.connect(dsn, autocommit=True, prepare_threshold=None) as owner,
        psycopg.connect(shared, autocommit=True, prepare_threshold=None) as other,
        serving(other) as server,
    ):
        show_plans(owner, server)
        return measure(owner, server, rounds)


if __name__ == "__main__":
    main()
