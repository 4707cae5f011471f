"""Speed and recall of the SQL functions over 100k chunks, side by side in one run.

python scripts/bench/search.py --data DIR [--rounds N]
python scripts/bench/search.py --data DIR --server DSN --engine textsearch vectorchord
"""

import argparse
import random
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import fmean, median, pstdev
from typing import Any

import psycopg
from psycopg import Connection, sql

from common import ENGINES, fill_windows, opened, questions, windows_home
from lexichord.providers.embed.local import LocalEmbedder

type Case = Callable[[Connection, str, str], object]

DEPTH = 100
SCOPES = (1, 10, 200)  # documents
PLAIN = """
    select id, -score from (
        select chunk_id as id,
               keyword_text <@> to_bm25query({}, 'lexichord_data.keyword_bm25') as score
        from lexichord_data.keyword order by score limit 100) as c"""
HANDED_OUT = """
    select chunk_id, -bm25_get_current_score() from lexichord_data.keyword
    order by keyword_text <@> to_bm25query({}, 'lexichord_data.keyword_bm25') limit 100"""


def function(name: str, **extra: object) -> Case:
    """A call of one of our functions with the question and its vector."""
    names = sql.SQL("").join(
        sql.SQL(", {} => {}").format(sql.Identifier(key), sql.Literal(value))
        for key, value in extra.items()
    )
    statement = sql.SQL("select * from lexichord.{}(%s, %s{})").format(sql.Identifier(name), names)
    return lambda connection, text, vector: connection.execute(statement, (text, vector)).fetchall()


def keyword_leg(connection: Connection, text: str, vector: str) -> object:
    return connection.execute("select * from lexichord.keyword_candidates(%s)", (text,)).fetchall()


def dense_leg(connection: Connection, text: str, vector: str) -> object:
    return connection.execute("select * from lexichord.dense_candidates(%s)", (vector,)).fetchall()


class InPython:
    """The same two queries from a client that fuses them itself and then fetches ten chunks.

    `handed_out`: the score is the one that the index hands out, not the operator's value, which
    is how one would write it.
    """

    def __init__(
        self, connection: Connection, texts: Sequence[str], *, literal: bool, handed_out: bool
    ) -> None:
        self.literal = literal
        self.statement = HANDED_OUT if handed_out else PLAIN
        # The client is given the analysed terms for nothing.
        row = "select lexichord_data.lexeme_text(lexichord.lexemes(%s))"
        self.terms = {text: _value(connection, row, text) for text in texts}

    def __call__(self, connection: Connection, text: str, vector: str) -> object:
        terms = sql.Literal(self.terms[text]) if self.literal else sql.Placeholder()
        keyword = sql.SQL(self.statement).format(terms)
        values = () if self.literal else (self.terms[text],)
        dense = (
            "select id, 1 - (embedding <=> %s::halfvec) from lexichord_data.chunk "
            "order by embedding <=> %s::halfvec limit 100"
        )
        by_words = connection.execute(keyword, values).fetchall()
        by_meaning = connection.execute(dense, (vector, vector)).fetchall()
        best = _fuse(by_meaning, by_words)[:10]
        rows = "select id, content from lexichord_data.chunk where id = any(%s)"
        return connection.execute(rows, (best,)).fetchall()


def _fuse(dense: list[Any], keyword: list[Any]) -> list[int]:
    fused: dict[int, float] = {}
    for weight, rows in ((0.35, dense), (0.65, keyword)):
        scores = [score for _, score in rows]
        mean, spread = fmean(scores), pstdev(scores) or 1.0
        lowest = (min(scores) - mean) / spread
        for chunk, score in rows:
            gained = weight * ((score - mean) / spread - lowest)
            fused[chunk] = fused.get(chunk, 0.0) + gained
    return sorted(fused, key=lambda chunk: -fused[chunk])


def _value(connection: Connection, statement: str, *values: object) -> Any:  # noqa: ANN401
    row = connection.execute(statement.encode(), values).fetchone()
    assert row is not None
    return row[0]


def time_cases(
    cases: dict[str, dict[str, Case]], questions: Sequence[tuple[str, str]]
) -> dict[str, dict[str, float]]:
    """Median milliseconds of each server's cases; all take turns on every question."""
    spent: dict[tuple[str, str], list[float]] = {
        (dsn, name): [] for dsn, named in cases.items() for name in named
    }
    with ExitStack() as stack:
        connections = {
            dsn: stack.enter_context(psycopg.connect(dsn, autocommit=True)) for dsn in cases
        }
        for connection in connections.values():
            connection.execute("set hnsw.ef_search = 100")  # for the queries in Python
        for number, (text, vector) in enumerate(questions):
            for (dsn, name), times in spent.items():
                started = time.perf_counter()
                cases[dsn][name](connections[dsn], text, vector)
                if number >= len(questions) // 10:  # the first tenth warms up
                    times.append((time.perf_counter() - started) * 1000)
    return {dsn: {name: median(spent[dsn, name]) for name in named} for dsn, named in cases.items()}


def throughput(
    dsn: str, questions: Sequence[tuple[str, str]], clients: int, seconds: float
) -> float:
    """Hybrid queries a second with so many clients at once."""
    done = [0] * clients
    until = time.perf_counter() + seconds

    def client(number: int) -> None:
        search = function("hybrid_search")
        with psycopg.connect(dsn, autocommit=True) as connection:
            while time.perf_counter() < until:
                search(connection, *questions[(done[number] * clients + number) % len(questions)])
                done[number] += 1

    threads = [threading.Thread(target=client, args=(number,)) for number in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(done) / seconds


def recall(dsn: str, questions: Sequence[tuple[str, str]], documents: list[int] | None) -> float:
    """Mean recall@10 of the vector index against comparing every vector."""
    shares = []
    with psycopg.connect(dsn, autocommit=True) as connection:
        for _, vector in questions:
            indexed, exact = (
                {
                    row[0]
                    for row in connection.execute(
                        sql.SQL("select chunk_id from lexichord.{}(%s, 100, %s) limit 10").format(
                            sql.Identifier(name)
                        ),
                        (vector, documents),
                    )
                }
                for name in ("dense_candidates", "exact_dense_candidates")
            )
            shares.append(len(indexed & exact) / len(exact))
    return fmean(shares)


def documents(dsn: str) -> list[int]:
    """The same documents in every database, in an order that has no meaning."""
    with psycopg.connect(dsn) as connection:
        statement = "select array_agg(id order by md5(uri)) from lexichord_data.document"
        return list(_value(connection, statement))


def in_sql(dsn: str) -> dict[str, Case]:
    ids = documents(dsn)
    scoped = {
        f"hybrid_search, {n} documents": function("hybrid_search", documents=ids[:n])
        for n in SCOPES
    }
    return {
        "keyword leg": keyword_leg,
        "dense leg": dense_leg,
        "hybrid_search": function("hybrid_search"),
        "discover_files": function("discover_files"),
        **scoped,
    }


def in_python(dsn: str, questions: Sequence[tuple[str, str]]) -> dict[str, Case]:
    texts = [text for text, _ in questions]
    with psycopg.connect(dsn) as connection:
        return {
            f"in Python, {terms}, {score}": InPython(
                connection, texts, literal=terms == "literal", handed_out=score != "operator"
            )
            for terms in ("literal", "bound")
            for score in ("index's score", "operator")
        }


def report(dsns: dict[str, str], questions: list[tuple[str, str]]) -> None:
    """Print a column an engine."""
    cases = {dsn: in_sql(dsn) for dsn in dsns.values()}
    if "textsearch" in dsns:
        cases[dsns["textsearch"]] |= in_python(dsns["textsearch"], questions)
    timings = time_cases(cases, questions)
    print(f"{len(questions)} questions; milliseconds p50, ratio to hybrid_search")
    print(f"  {'':34}", *(f"{engine:>16}" for engine in dsns))
    for name in max(cases.values(), key=len):
        print(f"  {name:34}", *(_cell(timings[dsn], name) for dsn in dsns.values()))
    for engine, dsn in dsns.items():
        times = timings[dsn]
        ratio = times["hybrid_search"] / (times["keyword leg"] + times["dense leg"])
        print(f"{engine}: hybrid_search / sum of its legs {ratio:.2f}")
        report_more(dsn, questions)


def _cell(times: dict[str, float], name: str) -> str:
    if name not in times:
        return f"{'-':>16}"
    return f"{times[name]:8.2f} {times[name] / times['hybrid_search']:7.2f}"


def report_more(dsn: str, questions: list[tuple[str, str]]) -> None:
    ids = documents(dsn)
    unscoped, filtered = (
        recall(dsn, questions[:60], scope) for scope in (None, ids[: len(ids) // 10])
    )
    print(f"  vector recall@10: {unscoped:.4f}, {filtered:.4f} in a tenth of the documents")
    one, four = (throughput(dsn, questions, clients, 5) for clients in (1, 4))
    print(f"  queries/s: {one:.0f} with 1 client, {four:.0f} with 4, ratio {four / one:.2f}")
    with psycopg.connect(dsn, autocommit=True) as connection:
        started = time.perf_counter()
        connection.execute("select lexichord.rebuild_indexes()")
        spent = time.perf_counter() - started
        sizes = connection.execute(
            "select index_name, pg_relation_size('lexichord_data.' || index_name) "
            "from lexichord.index_use()"
        )
        shown = ", ".join(f"{name} {size / 2**20:.0f} MiB" for name, size in sizes)
    print(f"  indexes built in {spent:.1f} s: {shown}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the public sets")
    parser.add_argument("--rounds", type=int, default=120, help="questions asked of each case")
    parser.add_argument("--engine", nargs="+", choices=ENGINES, default=["plain"])
    parser.add_argument("--server", help="a server's DSN; by default the embedded one")
    arguments = parser.parse_args()
    texts = questions(arguments.data)
    vectors = LocalEmbedder(windows_home()).embed(texts, "query").tolist()
    pairs = [(text, str(vector)) for text, vector in zip(texts, vectors, strict=True)]
    random.Random(7).shuffle(pairs)
    pairs = (pairs * (arguments.rounds // len(pairs) + 1))[: arguments.rounds]
    with ExitStack() as stack:
        dsns = {}
        for engine in arguments.engine:
            lexichord = stack.enter_context(opened("windows", engine, arguments.server))
            fill_windows(lexichord, arguments.data)
            dsns[engine] = lexichord.core.database.dsn
        report(dsns, pairs)


if __name__ == "__main__":
    main()
