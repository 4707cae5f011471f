"""Words as people write them, with the real model: each case finds what it names, before the rest.

`tests/words.jsonl` has a case a line: documents, a query, which of them must come first in which
modes; null is none at all. Cases of the same shape beside the checkout are asked, too.
"""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pytest

from lexichord import SyncLexichord
from lexichord.retrieve.trace import NO_WORDS
from tests.conftest import ROOT
from tests.sql.corpus import OUTDATED, call, value

OWN = ROOT / "tests/words.jsonl"
OTHERS = ROOT.parent / "shared/data/cases/words.jsonl"

type Case = dict[str, Any]


def cases(path: Path) -> list[Case]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def ask(lexichord: SyncLexichord, dataset: str, path: Path) -> list[str]:
    """Store each case's documents in a folder of its own and ask there; return what went wrong."""
    asked = list(enumerate(cases(path)))
    documents = [
        {"uri": f"{number}/{uri}", "text": text}
        for number, case in asked
        for uri, text in case["docs"].items()
    ]
    lexichord.ingest(documents=documents, dataset=dataset)
    wrong = []
    for number, case in asked:
        for mode in case["modes"]:
            result = lexichord.search(
                case["query"], mode=mode, datasets=[dataset], uri_prefix=f"{number}/"
            )
            found = [hit.uri.partition("/")[2] for hit in result.hits]
            if case["first"] is None:
                as_expected = not found and result.degraded == [NO_WORDS]
            else:
                as_expected = found[:1] == [case["first"]] and not result.degraded
            if not as_expected:
                wrong.append(f"{case['query']!r} {mode}: {found[:3]} {result.degraded}")
    return wrong


def test_each_case_is_found(embedding: SyncLexichord) -> None:
    assert ask(embedding, "own", OWN) == []


@pytest.mark.skipif(not OTHERS.exists(), reason="no cases beside the checkout")
def test_each_case_of_others_is_found(embedding: SyncLexichord) -> None:
    assert ask(embedding, "others", OTHERS) == []


def test_each_case_is_found_in_a_table(embedding: SyncLexichord) -> None:
    """Rows are analyzed as documents are, and asked as these are."""
    asked = list(enumerate(cases(OWN)))
    rows = [(number, uri, text) for number, case in asked for uri, text in case["docs"].items()]
    wrong = []
    with psycopg.connect(embedding.core.database.dsn, autocommit=True) as connection:
        connection.execute(
            "create table written (number int, name text, body text, primary key (number, name))"
        )
        with connection.cursor() as cursor:
            cursor.executemany("insert into written values (%s, %s, %s)", rows)
        connection.execute("select lexichord.index_table('public.written', text => '{body}')")
        embedding.index_changes()
        for number, case in asked:
            found = connection.execute(
                "select (s.item).name from lexichord.search_table(null::written, %s, "
                "condition => format('number = %%s', %s::integer), weights => '{0,1}') as s",
                (case["query"], number),
            ).fetchall()
            first = [name for (name,) in found[:1]]
            if "keyword" in case["modes"] and first != [case["first"]] * bool(case["first"]):
                wrong.append(f"{case['query']!r}: {first}")
    assert wrong == []


@pytest.mark.parametrize("query", ["!!!", "the of and"])
def test_files_and_queries_of_nothing_find_nothing(embedding: SyncLexichord, query: str) -> None:
    assert embedding.files(query).files == []
    assert embedding.files(query).degraded == [NO_WORDS]
    response = embedding.query(query)
    assert (response.hits, response.context) == ([], "")
    assert NO_WORDS in response.degraded


def test_an_identifier_that_nothing_holds_is_named(embedding: SyncLexichord) -> None:
    embedding.ingest(
        documents=[{"uri": "notes", "text": "Release v2.1.10 has a dark mode."}], dataset="notes"
    )
    for find in (embedding.search, embedding.files, embedding.query):
        result = find("what is new in v2.1.1", datasets=["notes"])
        assert any("no text in scope holds v2.1.1" in reason for reason in result.degraded)
        assert not any(
            "v2.1.1" in reason for reason in find("v2.1.10", datasets=["notes"]).degraded
        )


def test_words_are_indexed_anew_while_others_search_and_ingest(dsn: str, tmp_path: Path) -> None:
    def opened() -> SyncLexichord:
        return SyncLexichord(dsn=dsn, home=tmp_path)

    def store(first: int) -> None:
        with opened() as lexichord:
            for number in range(first, first + 12):
                text = f"The plug-in of part{number} is sold."
                lexichord.ingest(documents=[{"uri": f"{number}.txt", "text": text}])

    def search() -> None:
        with opened() as lexichord:
            for number in range(80):
                hits = lexichord.search(f"plugin part{number % 36}", mode="keyword").hits
                assert all(hit.content.startswith("The plug-in of part") for hit in hits)

    for first in (0, 12, 24):
        store(first)
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(OUTDATED)
        with opened() as lexichord, ThreadPoolExecutor(3) as pool:
            others = [pool.submit(store, 30), pool.submit(store, 6), pool.submit(search)]
            lexichord.reindex()
            for other in others:
                other.result()
            lexichord.reindex()
            assert lexichord.status().outdated_documents == 0
            found = lexichord.search("plugin", mode="keyword", k=100).hits
            assert {hit.uri for hit in found} == {f"{number}.txt" for number in range(42)}
        assert {row["amount"] for row in call(connection, "count_faults")} == {0}
        assert value(connection, "select count(*) from lexichord_data.chunk") == 42
