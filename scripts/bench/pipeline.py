"""The whole pipeline as a user gets it, and with each stage switched off in turn.

python scripts/bench/pipeline.py --data DIR [contracts everything codebase] [--every N] [--ways …]

The product has no options for this: a stage is switched off by a function in its place that does
nothing.
"""

import argparse
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from statistics import mean
from typing import Any
from unittest.mock import patch

import numpy as np

from common import opened
from lexichord import SyncLexichord
from lexichord.evaluate.strategies import (
    WITHOUT_BOOST,
    WITHOUT_DISCOVERY,
    WITHOUT_JOINING,
    WITHOUT_LINKING,
    WITHOUT_VARIANTS,
)
from lexichord.retrieve.evidence.answer import format_context
from lexichord.retrieve.search import FEEDBACK_WEIGHT, VariantSet, make_variants
from lexichord.retrieve.stages import STAGES, Stages
from lexichord.types import ChunkHit, ContextSource, Json, QueryOptions
from quality import HOW, KS, _document, _legal_tests, _uri

FILL = 30  # hits, so that the context of a question to contracts is full
RESAMPLES = 2000
SEED = 20261121

type Numbers = np.ndarray[Any, np.dtype[Any]]


async def _feedback_everywhere(**arguments: Any) -> VariantSet:  # noqa: ANN401
    """Search the words of the feedback in the whole scope, too, in place of the third file."""
    variants = await make_variants(**arguments)
    original, *inside = variants.variants
    if not inside:
        return variants
    everywhere = replace(inside[0], name="feedback", weight=FEEDBACK_WEIGHT, documents=None)
    return replace(variants, variants=(original, everywhere, *inside[:2]))


async def _as_if_alike(**arguments: Any) -> VariantSet:  # noqa: ANN401
    return replace(await make_variants(**arguments), coherence=None)


async def _variants_always(**arguments: Any) -> VariantSet:  # noqa: ANN401
    return await make_variants(**arguments, always=True)


@dataclass(frozen=True)
class Way:
    """A way of asking: `query` with options or other stages, or plain `search`."""

    name: str
    options: Json = field(default_factory=dict)
    stages: Stages = STAGES
    plain: bool = False


WAYS = (
    Way("all defaults"),
    Way("without linking", stages=WITHOUT_LINKING),
    Way("without discovery", stages=WITHOUT_DISCOVERY),
    Way(
        "without linking and discovery",
        stages=replace(WITHOUT_LINKING, discover=WITHOUT_DISCOVERY.discover),
    ),
    Way("without the boost of files", stages=WITHOUT_BOOST),
    Way("always with the boost", stages=Stages(make_variants=_as_if_alike)),
    Way("variants also where files differ", stages=Stages(make_variants=_variants_always)),
    Way("with feedback everywhere", stages=Stages(make_variants=_feedback_everywhere)),
    Way("without variants", stages=WITHOUT_VARIANTS),
    Way(
        "without linking and variants",
        stages=WITHOUT_LINKING.over(WITHOUT_VARIANTS),
    ),
    Way("without joining neighbours", stages=WITHOUT_JOINING),
    Way("with reflect", {"reflect": True}),
    Way("plain search", plain=True),
)


@dataclass(frozen=True)
class Result:
    """What a way found; `files` are uris, None where it looks for none."""

    files: Sequence[str] | None
    hits: Sequence[ChunkHit]
    sources: Sequence[ContextSource]
    variants: int = 1
    abstained: bool = False


@dataclass(frozen=True)
class Case:
    """A question, the number of the document that answers it, and its judge: measures, 0 to 1."""

    question: str
    hint: str | None
    document: int
    judge: Callable[[Result], list[float]]


def find(lexichord: SyncLexichord, way: Way, case: Case, k: int) -> Result:
    """Ask a question in one way."""
    if way.plain:
        hits = lexichord.search(case.question, hint=case.hint, k=k).hits
        return Result(None, hits, format_context(hits)[1])
    options = {"hint": case.hint, "k": k, **way.options}
    lexichord.core.stages = way.stages
    response = lexichord.query(case.question, **options)
    searched = [step for step in response.trace if step.stage == "search"]
    variant_count = len(searched[-1].given["variants"])
    files = [file.uri for file in response.files]
    return Result(files, response.hits, response.sources, variant_count, response.abstained)


@contextmanager
def embedding_once(lexichord: SyncLexichord) -> Iterator[None]:
    """Keep the vectors of texts: all ways ask the same questions."""
    embedder = lexichord.core.embedder
    assert embedder is not None
    embed = cache(embedder.embed)
    with patch.object(embedder, "embed", lambda texts, kind: embed(tuple(texts), kind)):
        yield


def report(
    lexichord: SyncLexichord,
    ways: Sequence[Way],
    cases: Sequence[Case],
    measures: Sequence[str],
    k: int,
) -> None:
    """Print a row a way: each measure over all, half A, half B, and its difference to the first."""
    print("| | " + " | ".join([*measures, "variants", "abstains"]) + " |")
    print("|---" * (3 + len(measures)) + "|")
    documents = np.array([case.document for case in cases])
    first: Numbers | None = None
    for way in ways:
        results = [find(lexichord, way, case, k) for case in cases]
        judged = [case.judge(one) for one, case in zip(results, cases, strict=True)]
        scores = 100 * np.array(judged)
        first = scores if first is None else first
        cells = [
            _halves(column, documents) + _difference(column - before, documents)
            for column, before in zip(scores.T, first.T, strict=True)
        ]
        cells.append(f"{mean(one.variants for one in results):.2f}")
        cells.append(f"{100 * mean(one.abstained for one in results):.1f}")
        print(f"| {way.name} | " + " | ".join(cells) + " |", flush=True)


def _halves(column: Numbers, documents: Numbers) -> str:
    if np.isnan(column).any():
        return "–"
    parts = (column, column[documents % 2 == 0], column[documents % 2 == 1])
    return ", ".join(f"{part.mean():.2f}" for part in parts)


def _difference(change: Numbers, documents: Numbers) -> str:
    """Give the mean paired difference and its 95 % interval by bootstrap, bold if 0 is outside.

    Whole documents are drawn, because questions to one document are not independent.
    """
    if not np.nan_to_num(change).any():
        return ""
    _, groups = np.unique(documents, return_inverse=True)
    sums, counts = np.bincount(groups, change), np.bincount(groups)
    drawn = np.random.default_rng(SEED).integers(len(sums), size=(RESAMPLES, len(sums)))
    means = sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    bold = "**" if low > 0 or high < 0 else ""
    return f"; {bold}{change.mean():+.2f}{bold} ({low:+.2f} to {high:+.2f})"


def contracts(data: Path, every: int, ways: Sequence[Way]) -> None:
    """95 NDAs."""
    _contracts(data, every, ways, "contracts-clauses", "legalbenchrag/corpus/contractnli")


def everything(data: Path, every: int, ways: Sequence[Way]) -> None:
    """The same questions with the CUAD contracts beside the NDAs."""
    _contracts(data, every, ways, "contracts-all", "legalbenchrag/corpus")


def _contracts(data: Path, every: int, ways: Sequence[Way], home: str, folder: str) -> None:
    tests = _legal_tests(data)
    files = sorted({test["snippets"][0]["file_path"] for test in tests})
    with opened(home, "plain", None) as lexichord:
        lexichord.ingest([data / folder])
        held = lexichord.status().documents
        for how in HOW:
            cases = [_contract_case(test, how, files, data) for test in tests[::every]]
            print(f"\n{held} documents, {len(cases)} questions, {how}\n")
            measures = ("context", "hits", "document @1 by files", "document @1 by hits")
            with embedding_once(lexichord):
                report(lexichord, ways, cases, measures, FILL)


def _contract_case(test: dict[str, Any], how: str, files: Sequence[str], data: Path) -> Case:
    question, hint = HOW[how](test["query"])
    gold = {(_uri(s, data), place) for s in test["snippets"] for place in range(*s["span"])}
    uri = _uri(test["snippets"][0], data)

    def judge(result: Result) -> list[float]:
        """Evidence in the context, and in the hits' first characters; the document, by both."""
        shown = {place for each in result.sources for place in _places(each)}
        ranked = [place for hit in result.hits for place in _places(hit)]
        by_files = math.nan if result.files is None else float(result.files[:1] == [uri])
        by_hits = float([hit.uri for hit in result.hits[:1]] == [uri])
        shares = [
            len(gold.intersection(each)) / len(gold)
            for each in (shown, ranked[: QueryOptions.max_length])
        ]
        return [*shares, by_files, by_hits]

    return Case(question, hint, files.index(test["snippets"][0]["file_path"]), judge)


def _places(passage: ChunkHit | ContextSource) -> list[tuple[str, int]]:
    return [(passage.uri, place) for place in range(passage.start, passage.end)]


def codebase(data: Path, every: int, ways: Sequence[Way]) -> None:
    """Anthropic's contextual-retrieval set in its own chunks."""
    documents = json.loads((data / "codebase/codebase_chunks.json").read_text())
    with (data / "codebase/evaluation_set.jsonl").open() as lines:
        queries = [json.loads(line) for line in lines][::every]
    numbers = {document["original_uuid"]: n for n, document in enumerate(documents)}
    with opened("codebase", "plain", None) as lexichord:
        lexichord.ingest(documents=map(_document, documents))
        starts = {
            (document.uri, chunk.start): chunk.ordinal
            for document in lexichord.list()
            for chunk in lexichord.show(document.document_id).chunks
        }
        cases = [_code_case(query, starts, numbers) for query in queries]
        print(f"\ncodebase, {len(cases)} questions\n")
        with embedding_once(lexichord):
            report(lexichord, ways, cases, [f"Pass@{k}" for k in KS], max(KS))


def _code_case(
    query: dict[str, Any], starts: Mapping[tuple[str, int], int], numbers: Mapping[str, int]
) -> Case:
    golden = [(uri, index) for uri, index in query["golden_chunk_uuids"]]

    def judge(result: Result) -> list[float]:
        places = [(hit.uri, starts[hit.uri, hit.start]) for hit in result.hits]
        return [mean(place in places[:k] for place in golden) for k in KS]

    return Case(query["query"], None, numbers[query["golden_doc_uuids"][0]], judge)


SETS: dict[str, Callable[[Path, int, Sequence[Way]], None]] = {
    "contracts": contracts,
    "everything": everything,
    "codebase": codebase,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the public sets")
    parser.add_argument("sets", nargs="*", default=list(SETS), help=", ".join(SETS))
    parser.add_argument("--every", type=int, default=1, help="ask every N-th question")
    names = [way.name for way in WAYS]
    parser.add_argument("--ways", nargs="+", choices=names, default=names, metavar="WAY")
    arguments = parser.parse_args()
    ways = [way for way in WAYS if way.name in arguments.ways]
    for name in arguments.sets:
        SETS[name](arguments.data.resolve(), arguments.every, ways)


if __name__ == "__main__":
    main()
