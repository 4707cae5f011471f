"""Quality through SQL with all defaults: Pass@k on code, document@1 and recall on contracts."""

import argparse
import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import mean
from typing import Any

import semchunk

from common import ENGINES, fill_windows, opened
from lexichord import SyncLexichord
from lexichord.ingest.chunk.splitter import MAX_CHUNK_CHARS
from lexichord.types import Mode, Response, SearchResult

KS = (5, 10, 20)
BUDGETS = (1000, 2000, 4000)  # characters
PUBLISHED = """\
  published for this set (Pass@5/10), by its first article's models: vectors 80.71 85.74, contextual
  vectors 84.04 88.07, keywords 70.03 75.77, contextual keywords 80.33 85.63"""
# A question of the set is "which document; what": raw asks it whole, hint tells the parts apart.
HOW: dict[str, Callable[[str], tuple[str, str | None]]] = {
    "raw": lambda query: (query, None),
    "hint": lambda query: (query.split("; ", 1)[1], query.split("; ", 1)[0]),
}
MODES: tuple[Mode, ...] = ("dense", "keyword", "hybrid")

type Find = Callable[..., SearchResult | Response]
type Opening = Callable[[str], SyncLexichord]  # a database by its name


def codebase(data: Path, opening: Opening, every: int) -> None:
    """Anthropic's contextual-retrieval set in its own chunks; halves by the golden document."""
    documents = json.loads((data / "codebase/codebase_chunks.json").read_text())
    with (data / "codebase/evaluation_set.jsonl").open() as lines:
        queries = [json.loads(line) for line in lines][::every]
    numbers = {document["original_uuid"]: n for n, document in enumerate(documents)}
    parity = [numbers[query["golden_doc_uuids"][0]] % 2 for query in queries]
    with opening("codebase") as lexichord:
        lexichord.ingest(documents=map(_document, documents))
        starts = {
            (document.uri, chunk.start): chunk.ordinal
            for document in lexichord.list()
            for chunk in lexichord.show(document.document_id).chunks
        }
        print(f"codebase, {len(queries)} queries, Pass@5/10/20: all | half A | half B")
        ways: dict[str, Find] = {mode: partial(lexichord.search, mode=mode) for mode in MODES}
        for name, find in (ways | {"query": lexichord.query}).items():
            scores = [_passes(find, query, starts) for query in queries]
            halves = [[s for s, p in zip(scores, parity, strict=True) if p == n] for n in (0, 1)]
            print(f"  {name:8}", " | ".join(map(_row, (scores, *halves))))
        print(PUBLISHED)


def _document(document: dict[str, Any]) -> dict[str, Any]:
    chunks = [{"content": chunk["content"]} for chunk in document["chunks"]]
    return {"uri": document["original_uuid"], "text": document["content"], "chunks": chunks}


def _passes(find: Find, query: dict[str, Any], starts: dict[tuple[str, int], int]) -> list[float]:
    hits = find(query["query"], k=max(KS)).hits
    places = [(hit.uri, starts[hit.uri, hit.start]) for hit in hits]
    golden = [(uri, index) for uri, index in query["golden_chunk_uuids"]]
    return [mean(place in places[:k] for place in golden) for k in KS]


def _row(scores: Sequence[Sequence[float]]) -> str:
    return " ".join(f"{100 * mean(column):6.2f}" for column in zip(*scores, strict=True))


def documents(data: Path, opening: Opening, every: int) -> None:
    """Document @1 of every LegalBench-RAG question among 95 NDAs and 462 other contracts."""
    tests = _legal_tests(data)[::every]
    with opening("windows") as lexichord:
        fill_windows(lexichord, data)
        print(f"documents, {len(tests)} questions, 557 documents, document @1")
        _report_files(lexichord, tests, data)


def contracts(data: Path, opening: Opening, every: int) -> None:
    """The same over the NDAs alone, and how much evidence comes first, by kind of splitter."""
    tests = _legal_tests(data)[::every]
    for splitter, fill in SPLITTERS.items():
        with opening(f"contracts-{splitter}") as lexichord:
            fill(lexichord, data / "legalbenchrag/corpus/contractnli")
            chunks = [
                len(chunk.content)
                for document in lexichord.list()
                for chunk in lexichord.show(document.document_id).chunks
            ]
            print(f"contracts by {splitter}, {len(tests)} questions, 95 documents, document @1")
            _report_files(lexichord, tests, data)
            print(f"  {len(chunks)} chunks, {mean(chunks):.0f} characters on average")
            print(f"  evidence recall within {'/'.join(map(str, BUDGETS))} characters and at 8")
            _report_evidence(lexichord, tests, data)


def _fill_by_clauses(lexichord: SyncLexichord, folder: Path) -> None:
    lexichord.ingest([folder])


def _fill_by_sentences(lexichord: SyncLexichord, folder: Path) -> None:
    """As a recursive splitter cuts, with no eye for clauses, under the same limit."""
    documents = []
    for file in sorted(folder.glob("*.txt")):
        text = file.read_text()
        _, spans = semchunk.chunk(text, MAX_CHUNK_CHARS, len, offsets=True, memoize=False)
        chunks = [{"content": text[start:end], "start": start} for start, end in spans]
        documents.append({"uri": file.resolve().as_posix(), "text": text, "chunks": chunks})
    lexichord.ingest(documents=documents)


SPLITTERS = {"clauses": _fill_by_clauses, "sentences": _fill_by_sentences}


def _report_evidence(lexichord: SyncLexichord, tests: list[dict[str, Any]], data: Path) -> None:
    """Print all questions, and the halves by the parity of the document."""
    files = sorted({test["snippets"][0]["file_path"] for test in tests})
    parity = [files.index(test["snippets"][0]["file_path"]) % 2 for test in tests]
    for name, asks in HOW.items():
        shares = [_evidence(lexichord, *asks(test["query"]), test, data) for test in tests]
        halves = [[s for s, p in zip(shares, parity, strict=True) if p == n] for n in (0, 1)]
        print(f"  {name:8}", " | ".join(map(_row, (shares, *halves))))


def _report_files(lexichord: SyncLexichord, tests: list[dict[str, Any]], data: Path) -> None:
    for name, asks in HOW.items():
        right = [
            lexichord.files(question, hint=hint, k=1).files[0].uri
            == _uri(test["snippets"][0], data)
            for test in tests
            for question, hint in [asks(test["query"])]
        ]
        print(f"  {name:8} {100 * mean(right):6.2f}")


def _evidence(
    lexichord: SyncLexichord, question: str, hint: str | None, test: dict[str, Any], data: Path
) -> list[float]:
    """The share of the gold characters in the hits' first characters, and in the first 8 hits."""
    hits = lexichord.query(question, hint=hint, k=30).hits
    gold = {(_uri(s, data), place) for s in test["snippets"] for place in range(*s["span"])}
    places = [(hit.uri, place) for hit in hits for place in range(hit.start, hit.end)]
    eighth = sum(hit.end - hit.start for hit in hits[:8])
    return [len(gold.intersection(places[:room])) / len(gold) for room in (*BUDGETS, eighth)]


def _legal_tests(data: Path) -> list[dict[str, Any]]:
    file = data / "legalbenchrag/benchmarks/contractnli.json"
    return list(json.loads(file.read_text())["tests"])


def _uri(snippet: dict[str, Any], data: Path) -> str:
    return Path(data, "legalbenchrag/corpus", snippet["file_path"]).resolve().as_posix()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the public sets")
    parser.add_argument("sets", nargs="*", default=list(SETS), help=", ".join(SETS))
    parser.add_argument("--engine", choices=ENGINES, default="plain")
    parser.add_argument("--server", help="a server's DSN; by default the embedded one")
    parser.add_argument("--every", type=int, default=1, help="question of a set is asked")
    arguments = parser.parse_args()
    for name in arguments.sets:
        SETS[name](
            arguments.data.resolve(),
            lambda name: opened(name, arguments.engine, arguments.server),
            arguments.every,
        )


SETS = {"codebase": codebase, "documents": documents, "contracts": contracts}


if __name__ == "__main__":
    main()
