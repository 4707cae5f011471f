"""What row-level security costs a search of one tenant: policies that lexichord does not have yet.

Tenants of 10, 1,000 and 50,000 chunks of made-up words and vectors, in one database. Each question
is asked in turn by the tables' owner, who names the tenant's dataset, and by a reader under each
kind of policy, who names it as well (`named`) or nothing (`all in reach`). The policies are made
here, and gone with the database.

python scripts/bench_tenants.py --server DSN [--rounds N] [--engine plain]

The server has to run on this machine, under Linux: what is measured is its processor time.
"""

import argparse
import os
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import psycopg
from psycopg import Connection
from tests.conftest import new_database

from lexichord.db.schema import Choice, prepare
from lexichord.types import EmbeddingSpace

DIMENSION = 64
SPACE = EmbeddingSpace("test", "random", DIMENSION)
SIZES = {"t10": 10, "t1000": 1_000, "t50000": 50_000, "others": 14_000}
WORDS = 5_000
CONTENTS = ("document", "chunk", "card_term", "keyword")  # what these searches read of a tenant's
# What the policies read, beside each row: by the document's id they would have to look it up. Of
# documents a tenth are shown to one principal alone.
BESIDE = """
alter table lexichord_data.keyword add column dataset_id bigint;
update lexichord_data.keyword k set dataset_id = c.dataset_id
from lexichord_data.chunk c where c.id = k.chunk_id;
alter table lexichord_data.card_term add column dataset_id bigint;
update lexichord_data.card_term t set dataset_id = d.dataset_id
from lexichord_data.document d where d.id = t.document_id;
alter table lexichord_data.document add column principals text[];
alter table lexichord_data.chunk add column principals text[];
alter table lexichord_data.keyword add column principals text[];
alter table lexichord_data.card_term add column principals text[];
update lexichord_data.document d set principals = '{us}' where d.id % 10 = 0;
update lexichord_data.chunk c set principals = '{us}' where c.document_id % 10 = 0;
update lexichord_data.keyword k set principals = '{us}' where k.document_id % 10 = 0;
create function lexichord_data.own_datasets() returns bigint[]
language sql stable security definer set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select coalesce(array_agg(d.id), '{}') from dataset d
    where d.name = any(string_to_array(current_setting('lexichord.datasets', true), ','))
$$;
create function lexichord_data.is_own(dataset bigint) returns boolean
language sql stable security definer set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select exists (select from dataset d where d.id = dataset
                   and d.name = any(
                       string_to_array(current_setting('lexichord.datasets', true), ',')))
$$;
"""
OWN = "dataset_id = any ((select lexichord_data.own_datasets())::bigint[])"
SAID = "dataset_id = any ((select current_setting('lexichord.dataset_ids')::bigint[])::bigint[])"
PRINCIPALS = "(principals is null or principals && (select array['us', 'all']))"
POLICIES = {
    "looked up": OWN,  # by the datasets' names, once a statement
    "said": SAID,  # the datasets' ids are a setting of the transaction
    "principals": f"{SAID} and {PRINCIPALS}",
    "by row": "lexichord_data.is_own(dataset_id)",
}
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
                  'w' || floor(random() ^ 2 * %(words)s + 0 * (g + n + d.id))::int)) as lexemes
              from generate_series(1, 30) as g) as l
where s.name = %(name)s
"""


def fill(connection: Connection) -> None:
    for name, chunks in SIZES.items():
        connection.execute("insert into lexichord_data.dataset (name) values (%s)", [name])
        values = {"name": name, "chunks": chunks, "dimension": DIMENSION, "words": WORDS}
        for statement in FILL.split(";"):
            connection.execute(statement.encode(), values)
    connection.execute("select lexichord.fold_statistics()")
    connection.execute("select lexichord.build_indexes()")
    connection.execute(BESIDE.encode())
    connection.execute("vacuum analyze")


@contextmanager
def reading(connection: Connection) -> Iterator[str]:
    role = f"bench_tenant_{os.getpid()}"
    connection.execute(f"create role {role} in role lexichord_reader".encode())
    try:
        yield role
    finally:
        connection.execute(f"drop role {role}".encode())


def set_policies(connection: Connection, condition: str | None) -> None:
    """Have the tables of contents shown by this condition alone, or no longer guarded."""
    for table in CONTENTS:
        name = f"lexichord_data.{table}"
        switch = "disable" if condition is None else "enable"
        connection.execute(f"alter table {name} {switch} row level security".encode())
        connection.execute(f"drop policy if exists seen on {name}".encode())
        if condition is not None:
            statement = f"create policy seen on {name} for select using ({condition})"
            connection.execute(statement.encode())


def milliseconds(
    connection: Connection, tenant: str, query: str, vector: str, named: bool
) -> tuple[float, list[tuple[object, ...]]]:
    """Search in one transaction with its settings, sent together as a server would.

    Returns the processor time of the session's process, which other programs do not lengthen.
    """
    started = processor_seconds(connection)
    with connection.pipeline():
        connection.execute(
            "select set_config('lexichord.datasets', %s, true), "
            "set_config('lexichord.dataset_ids', '{' || %s || '}', true)",
            [tenant, str(1 + [*SIZES].index(tenant))],
        )
        cursor = connection.execute(
            "select chunk_id, round(score::numeric, 6) from lexichord.hybrid_search("
            "%s, %s::halfvec, k => 10, datasets => %s)",
            [query, vector, [tenant] if named else None],
        )
        rows = cursor.fetchall()
    return 1000 * (processor_seconds(connection) - started), rows


def processor_seconds(connection: Connection) -> float:
    nanoseconds, *_ = Path(f"/proc/{connection.info.backend_pid}/schedstat").read_text().split()
    return int(nanoseconds) / 1e9


def measure(
    owner: Connection, reader: Connection, rounds: int
) -> Mapping[tuple[str, str], Sequence[float]]:
    """Return the times by tenant and case; the same hits are asserted.

    Policies change between blocks of questions, cases alternate in each.
    """
    times: dict[tuple[str, str], list[float]] = {}
    rng = random.Random(5)
    for block in range(4):
        for kind, condition in POLICIES.items():
            set_policies(owner, condition)
            for tenant in ("t10", "t1000", "t50000"):
                cases = [(f"without ({kind})", owner, True), (f"{kind}, named", reader, True)]
                cases += [(f"{kind}, all in reach", reader, False)]
                for _, who, named in cases:  # plans are made anew after a change of the policies
                    milliseconds(who, tenant, "w1 w2", _vector(rng), named)
                for _ in range(rounds // 4):
                    words = " ".join(f"w{int(rng.random() ** 2 * WORDS)}" for _ in range(6))
                    vector, found = _vector(rng), []
                    for label, who, named in rng.sample(cases, len(cases)):
                        ms, rows = milliseconds(who, tenant, words, vector, named)
                        times.setdefault((tenant, label), []).append(ms)
                        found.append(rows)
                    assert found[0] == found[1] == found[2], (tenant, block)
    return times


def show_plans(owner: Connection, reader: Connection) -> None:
    """Print which index each question is given, without a policy and under one."""
    set_policies(owner, SAID)
    for name, statement in INDEXES.items():
        plans = []
        for who in (owner, reader):
            with who.transaction():
                who.execute("set local search_path = pg_catalog, public")
                who.execute("set local lexichord.dataset_ids = '{1}'")
                who.execute("set local enable_seqscan = off")
                rows = who.execute(f"explain (costs off) {statement}".encode()).fetchall()
                conditions = [line.strip() for (line,) in rows if "Index Cond" in line]
                ordered = [line.strip() for (line,) in rows if "Order By" in line]
                plans.append((ordered or conditions or ["none"])[0][:70])
        print(f"{name:22} owner: {plans[0]}\n{'':22} reader: {plans[1]}", flush=True)


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
        with psycopg.connect(dsn, autocommit=True, prepare_threshold=None) as connection:
            started = time.perf_counter()
            fill(connection)
            print(f"filled in {time.perf_counter() - started:.0f} s", flush=True)
            # A session of its own: one that changes its role makes all its plans anew.
            with reading(connection) as role, psycopg.connect(dsn, autocommit=True) as reader:
                reader.prepare_threshold = None
                reader.execute(f"set role {role}".encode())
                show_plans(connection, reader)
                times = measure(connection, reader, arguments.rounds)
    for (tenant, label), values in sorted(times.items()):
        base = median(times[tenant, f"without ({label.partition(',')[0]})"]) if "," in label else 0
        ratio = f"{median(values) / base:6.2f}" if base else ""
        print(f"{tenant:8} {label:26} p50 {median(values):8.2f} ms {ratio}")


if __name__ == "__main__":
    main()
