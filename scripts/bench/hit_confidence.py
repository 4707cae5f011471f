"""The score of a single hit: fit on the documents of half A, reported on half B and elsewhere.

python scripts/bench/hit_confidence.py --data DIR [--fit]

A hit of the code set is right if it is a golden chunk, one of a contract if it shares half of the
evidence, or of itself, with the evidence. Questions asked of the other corpus have no right hit.
"""

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from common import opened
from confidence import Floats, auroc, reliability
from lexichord import SyncLexichord
from lexichord.retrieve.confidence import RANK_DECAY, RANK_EXPONENT, hit_confidences
from lexichord.types import ChunkHit, Mode
from quality import HOW, SPLITTERS, _document, _legal_tests, _uri

K = 10
EVERY = 2  # of the contracts' questions
THRESHOLDS = (0.05, 0.1, 0.2, 0.3, 0.5)
MODES: tuple[Mode, ...] = ("hybrid", "keyword")
RIDGE = 0.1

type IsRight = Callable[[ChunkHit], bool]


@dataclass(frozen=True)
class JudgedQuery:
    """What a question found: its half, its confidence, and which of the hits are right."""

    half: int
    confidence: float
    scores: Floats
    right: Floats


def nothing(_: ChunkHit) -> bool:
    return False


def collect(data: Path, mode: Mode) -> dict[str, list[JudgedQuery]]:
    sets: dict[str, list[JudgedQuery]] = {}
    contracts, code = _legal_tests(data)[::EVERY], _code_tests(data)
    with opened("codebase", "plain", None) as lexichord:
        files = json.loads((data / "codebase/codebase_chunks.json").read_text())
        lexichord.ingest(documents=map(_document, files))
        sets["code"] = [_ask(lexichord, mode, *each) for each in _code(lexichord, code)]
        texts = list(dict.fromkeys(test["query"].split("; ", 1)[1] for test in contracts))
        sets["contract questions of the code"] = [
            _ask(lexichord, mode, number % 2, text, None, nothing)
            for number, text in enumerate(texts)
        ]
    with opened("contracts-clauses", "plain", None) as lexichord:
        SPLITTERS["clauses"](lexichord, data / "legalbenchrag/corpus/contractnli")
        for how in HOW:
            questions = [_ask(lexichord, mode, *each) for each in _contracts(contracts, data, how)]
            sets[f"contracts, {how}"] = questions
        sets["code questions of the contracts"] = [
            _ask(lexichord, mode, number % 2, test["query"], None, nothing)
            for number, test in enumerate(code)
        ]
    return sets


def _code_tests(data: Path) -> list[dict[str, Any]]:
    lines = (data / "codebase/evaluation_set.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def _code(
    lexichord: SyncLexichord, tests: Sequence[dict[str, Any]]
) -> Iterator[tuple[int, str, None, IsRight]]:
    ordinals = {
        (document.uri, chunk.start): chunk.ordinal
        for document in lexichord.list()
        for chunk in lexichord.show(document.document_id).chunks
    }
    names = sorted({test["golden_doc_uuids"][0] for test in tests})
    for test in tests:
        golden = {(uri, index) for uri, index in test["golden_chunk_uuids"]}

        def is_right(hit: ChunkHit, golden: set[tuple[str, int]] = golden) -> bool:
            return (hit.uri, ordinals[hit.uri, hit.start]) in golden

        yield names.index(test["golden_doc_uuids"][0]) % 2, test["query"], None, is_right


def _contracts(
    tests: Sequence[dict[str, Any]], data: Path, how: str
) -> Iterator[tuple[int, str, str | None, IsRight]]:
    names = sorted({test["snippets"][0]["file_path"] for test in tests})
    for test in tests:
        spans = [(_uri(snippet, data), *snippet["span"]) for snippet in test["snippets"]]

        def is_right(hit: ChunkHit, spans: list[tuple[str, int, int]] = spans) -> bool:
            return any(
                hit.uri == uri
                and 2 * (min(hit.end, end) - max(hit.start, start))
                >= min(hit.end - hit.start, end - start)
                for uri, start, end in spans
            )

        yield names.index(test["snippets"][0]["file_path"]) % 2, *HOW[how](test["query"]), is_right


def _ask(
    lexichord: SyncLexichord, mode: Mode, half: int, text: str, hint: str | None, right: IsRight
) -> JudgedQuery:
    response = lexichord.query(text, hint=hint, k=K, mode=mode, intent="general")
    scores = hit_confidences(response)[:K]
    truth = [float(right(hit)) for hit in response.hits[:K]]
    return JudgedQuery(half, response.confidence, np.array(scores), np.array(truth))


def fit(questions: Sequence[JudgedQuery]) -> tuple[float, float]:
    """Give fall and steepness: maximum likelihood of confidence x logistic(of log rank)."""
    rows = np.array([(1, np.log(1 + n)) for each in questions for n in range(len(each.right))])
    gates = np.array([each.confidence for each in questions for _ in each.right])
    constant, slope = _logistic(rows, np.concatenate([each.right for each in questions]), gates)
    return float(np.exp(-constant)), float(-slope)


def report(name: str, questions: Sequence[JudgedQuery]) -> None:
    scores = np.concatenate([each.scores for each in questions])
    truth = np.concatenate([each.right for each in questions])
    table = reliability(scores, truth > 0)
    error = sum(count * abs(mean - share) for count, mean, share in table) / len(scores)
    line = f"  {name}: {len(questions)} questions, {len(scores)} hits, ECE {error:.3f}"
    if truth.sum() > 0:
        sure = np.clip(scores, 1e-9, 1 - 1e-9)
        loss = -np.mean(truth * np.log(sure) + (1 - truth) * np.log(1 - sure))
        line += f", log loss {loss:.3f}, AUROC {auroc(scores, truth > 0):.3f}"
    print(line)
    for least in THRESHOLDS:
        kept = [int((each.scores >= least).sum()) for each in questions]
        held = truth[scores >= least].sum() / max(1, truth.sum())
        none = np.mean([count == 0 for count in kept])
        print(
            f"    >= {least}: {np.mean(kept):.2f} hits a question, {held:.0%} of the right ones; "
            f"none for {none:.0%}"
        )


def _logistic(rows: Floats, truth: Floats, gates: Floats) -> Floats:
    """Maximum likelihood of gate x logistic with a small ridge, by Fisher scoring."""
    weights = np.zeros(rows.shape[1])
    penalty = RIDGE * np.array([0, *[1] * (rows.shape[1] - 1)])
    for _ in range(100):
        good = 1 / (1 + np.exp(-(rows @ weights)))
        product = np.clip(good * gates, 1e-9, 1 - 1e-9)
        change = gates * good * (1 - good)
        spread = product * (1 - product)
        slope = rows.T @ ((truth - product) / spread * change) - penalty * weights
        curve = (rows * (change**2 / spread)[:, None]).T @ rows + np.diag(penalty)
        weights = weights + 0.5 * np.linalg.solve(curve, slope)
    return weights


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the public sets")
    parser.add_argument("--fit", action="store_true", help="also print fitted constants")
    arguments = parser.parse_args()
    for mode in MODES:
        sets = collect(arguments.data.resolve(), mode)
        print(f"{mode}: fall {RANK_DECAY}, steepness {RANK_EXPONENT}")
        if arguments.fit:
            every = [each for questions in sets.values() for each in questions if each.half == 0]
            print("  fitted: fall {:.2f}, steepness {:.2f}".format(*fit(every)))
        for name, questions in sets.items():
            report(name, [each for each in questions if each.half == 1])
        report("all", [each for questions in sets.values() for each in questions if each.half == 1])
        print("    mean score, share right, hits:")
        everything = [each for questions in sets.values() for each in questions if each.half == 1]
        scores = np.concatenate([each.scores for each in everything])
        right = np.concatenate([each.right for each in everything]) > 0
        for count, mean, share in reliability(scores, right):
            print(f"    {mean:.2f} {share:.2f} {count:5}")


if __name__ == "__main__":
    main()
