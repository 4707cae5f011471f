"""Try to read across tenants at random, as a server and as SQL roles of tenants: leaked is to be 0.

Six tenants have documents whose texts, titles, uris and metadata bear the tenant's mark. Each
attempt calls a function that readers may call, or asks a table, as one tenant, with arguments drawn
from others' ids, datasets, folders, metadata and words, and settings that claim to be another. What
comes back must hold no mark and no id of another's. An error counts as an answer: its text is
looked through, too. Errors of other kinds than expected are counted by kind. Exits with 1 if
something leaked, or if no attempt was answered with anything, which would show nothing.

python scripts/break/tenants_attempts.py --server DSN [--attempts N] [--engine plain] [--seed N]
"""

import argparse
import os
import random
import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NoReturn

import psycopg
from psycopg import ClientCursor, Connection
from psycopg.types.json import Jsonb

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.conftest import new_database
from tests.sql.calls import READS
from tests.sql.corpus import put, random_lines, random_vectors, small_segments

from lexichord.db.schema import Choice, prepare
from lexichord.types import EmbeddingSpace

SPACE = EmbeddingSpace("test", "tiny", 4)
TENANTS = [f"tenant{number}" for number in range(6)]
DOCUMENTS = 30  # of each
SCOPED = ["hybrid_search", "variant_candidates", "feedback_chunks", "discover_files"]
SCOPED += ["relevance_feedback", "list_documents", "count_documents", "scope_documents"]
SCOPED += ["search_variants", "link_documents"]
TABLES = ["document", "chunk", "keyword", "card_term", "dataset", "dataset_count", "term_count"]
TABLES += ["original", "corpus", "term_statistics", "term_dataset", "corpus_statistics", "run"]
TABLES += ["query_vector", "indexed_table", "table_row", "worker", "index_build"]
BATCH = 25  # attempts sent together
TRIED = """
create function public.tried(tenant text, statement text) returns jsonb
language plpgsql set search_path = pg_catalog, lexichord_data, public as $$
declare
    answer jsonb;
    detail text;
begin
    perform set_config('lexichord.tenant', tenant, true);
    execute format('select coalesce(jsonb_agg(to_jsonb(t)), %L) from (%s) as t', '[]', statement)
    into answer;
    return answer;
exception when others then
    get stacked diagnostics detail = pg_exception_detail;
    return jsonb_build_array(
        jsonb_build_object('sqlstate', sqlstate, 'text', sqlerrm, 'detail', detail));
end $$
"""
MARK = re.compile(r"mark(\d)")


def fill(connection: Connection[Any], rng: random.Random) -> None:
    small_segments(connection)
    for number, name in enumerate(TENANTS):
        for each in range(DOCUMENTS):
            lines = [f"mark{number} {line}" for line in random_lines(rng, 4, 40, 12)]
            put(
                connection,
                f"{name}/mark{number}-{each}.md",
                lines,
                random_vectors(rng, 4),
                dataset=name,
                title=f"The tale of mark{number} {each}",
                metadata={f"key-mark{number}": each, "year": 2000 + each},
            )
    connection.execute("select lexichord.build_indexes()")
    connection.execute("select lexichord.turn_tenants_on()")
    connection.execute(TRIED)
    for name in TENANTS:
        connection.execute("select lexichord.add_tenant(%s, array[%s])", [name, name])


class Attempts:
    """Asks as one of the tenants, and looks for what is others'."""

    def __init__(self, owner: Connection[Any], rng: random.Random) -> None:
        self.rng, self.leaked, self.kinds = rng, list[str](), Counter[str]()
        self.ids = {
            kind: [[row[0] for row in owner.execute(statement, [name])] for name in TENANTS]
            for kind, statement in {
                "document_id": "select d.id from lexichord_data.document d join "
                "lexichord_data.dataset s on s.id = d.dataset_id where s.name = %s",
                "chunk_id": "select c.id from lexichord_data.chunk c join "
                "lexichord_data.dataset s on s.id = c.dataset_id where s.name = %s",
            }.items()
        }
        present = owner.execute(
            "select p.proname, p.pronamespace::regnamespace::text from pg_proc p "
            "where p.pronamespace in ('lexichord'::regnamespace, 'lexichord_data'::regnamespace)"
        )
        # fuse_candidates reads nothing: it gives back the ids that it is given.
        names = READS.keys() - {"fuse_candidates"}
        self.schemas = {name: where for name, where in present if name in names}

    def draw_ids(self, kind: str) -> list[int]:
        of_one = self.rng.choice(self.ids[kind])
        return self.rng.choices([*of_one, 10**12], k=self.rng.randint(1, 3))

    def draw_scope(self) -> dict[str, Any]:
        number = self.rng.randrange(len(TENANTS))
        scopes: Sequence[dict[str, Any]] = [
            {},
            {"documents": self.draw_ids("document_id")},
            {"datasets": [TENANTS[number]]},
            {"uri_prefix": f"{TENANTS[number]}/"},
            {"filter": {"key": "dataset", "op": "eq", "value": TENANTS[number]}},
            {"filter": {"key": f"key-mark{number}", "op": "not empty"}},
        ]
        return self.rng.choice(scopes)

    def draw_call(self) -> tuple[str, dict[str, Any]]:
        """Return a function and arguments for it."""
        name = (
            self.rng.choice(SCOPED) if self.rng.random() < 0.6 else self.rng.choice([*self.schemas])
        )
        arguments = {**READS.get(name, {})}
        if name in SCOPED:
            arguments = {
                key: arguments[key]
                for key in arguments
                if key not in ("uri_prefix", "filter", "datasets")
            }
            arguments |= self.draw_scope()
        words = f"w{self.rng.randint(0, 39)} mark{self.rng.randrange(len(TENANTS))}"
        for key, given in arguments.items():
            if key in ("query", "question"):
                arguments[key] = words
            elif key in ("chunk_ids", "chunks") and isinstance(given, list):
                arguments[key] = self.draw_ids("chunk_id")
            elif key in ("documents", "files", "scope") and isinstance(given, list):
                arguments[key] = self.draw_ids("document_id")
            elif key in ("document", "source") and isinstance(given, int):
                arguments[key] = self.draw_ids("document_id")[0]
            elif key == "dataset":
                arguments[key] = self.rng.choice(TENANTS)
        return name, arguments

    def attempt(self, asker: Connection[Any], own: int, *, is_server: bool) -> None:
        """Make some attempts as one tenant, in one transaction."""
        tried = [self.draw_statement(asker) for _ in range(BATCH)]
        claimed = [own if is_server else self.rng.randrange(len(TENANTS)) for _ in tried]
        rows = asker.execute(
            "select public.tried(t.tenant, t.statement) "
            "from unnest(%s::text[], %s::text[]) as t (tenant, statement)",
            [[TENANTS[each] for each in claimed], tried],
        ).fetchall()
        for statement, (answer,) in zip(tried, rows, strict=True):
            kind = answer[0].get("sqlstate", "answered") if answer else "empty"
            self.kinds[kind] += 1
            for problem in self.problems(statement, answer, own):
                self.leaked.append(f"{statement}: {problem}")

    def draw_statement(self, asker: Connection[Any]) -> str:
        if self.rng.random() < 0.1:
            return f"select * from lexichord_data.{self.rng.choice(TABLES)}"
        name, arguments = self.draw_call()
        values = {k: Jsonb(v) if isinstance(v, dict) else v for k, v in arguments.items()}
        named = ", ".join(f"{key} => %({key})s" for key in arguments)
        statement = f"select * from {self.schemas[name]}.{name}({named})"
        return ClientCursor(asker).mogrify(statement.encode(), values)

    def problems(self, statement: str, rows: Sequence[Mapping[str, Any]], own: int) -> list[str]:
        """Say what an answer holds of others' beyond the words that were asked for."""
        found = [
            f"a mark of {mark} for {own}: {row}"
            for row in rows
            for mark in set(MARK.findall(str(row))) - set(MARK.findall(statement)) - {str(own)}
        ]
        for kind, ids in self.ids.items():
            others = {
                each for number, all_ids in enumerate(ids) if number != own for each in all_ids
            }
            found += [
                f"{kind} of another for {own}: {row}" for row in rows if row.get(kind) in others
            ]
        return found


def main() -> None:
    arguments = parsed()
    rng = random.Random(arguments.seed)
    with new_database(arguments.server) as dsn, ExitStack() as stack:
        prepare(dsn, Choice(arguments.engine, "english", SPACE))
        owner = stack.enter_context(psycopg.connect(dsn, autocommit=True))
        fill(owner, rng)
        askers = connect(owner, dsn, stack)
        attempts = Attempts(owner, rng)
        while attempts.kinds.total() < arguments.attempts:
            own = rng.randrange(len(TENANTS))
            is_server = rng.random() < 0.5
            attempts.attempt(askers[-1 if is_server else own], own, is_server=is_server)
            if (made := attempts.kinds.total()) % 10_000 == 0:
                print(f"{made:,} attempts, leaked {len(attempts.leaked)}", flush=True)
    report(arguments.seed, attempts)


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server", required=True, help="a server's DSN, of a superuser")
    parser.add_argument("--attempts", type=int, default=100_000)
    parser.add_argument("--engine", default="plain")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    if arguments.attempts < 1:
        parser.error("--attempts must be at least 1: without any, nothing is shown")
    return arguments


def report(seed: int, attempts: Attempts) -> NoReturn:
    made, leaked = attempts.kinds.total(), len(attempts.leaked)
    kinds = ", ".join(f"{kind} {number:,}" for kind, number in attempts.kinds.most_common())
    print(f"seed {seed}: {made:,} attempts ({kinds})")
    print("\n".join(attempts.leaked[:20]))
    if not attempts.kinds["answered"]:
        raise SystemExit("no attempt was answered with anything: nothing is shown")
    print(f"leaked {leaked} in {made:,} attempts")
    raise SystemExit(bool(leaked))


def connect(owner: Connection[Any], dsn: str, stack: ExitStack) -> list[Connection[Any]]:
    """Connect as a role of each tenant, and last as the server."""
    askers = []
    for number, group in enumerate([*["lexichord_reader"] * len(TENANTS), "lexichord_server"]):
        role = f"attempts{os.getpid()}_{number}"
        owner.execute(f"create role {role} login password '{role}' in role {group}".encode())
        stack.callback(owner.execute, f"drop owned by {role}; drop role {role}".encode())
        if group == "lexichord_reader":
            owner.execute(
                "select lexichord.add_tenant(%s, roles => array[%s])", [TENANTS[number], role]
            )
        connection: Connection[Any] = psycopg.connect(
            dsn,
            user=role,
            password=role,
            autocommit=True,
            prepare_threshold=None,
        )
        askers.append(stack.enter_context(connection))
    return askers


if __name__ == "__main__":
    main()
