"""Confidence in documents: fit on half A of ContractNLI dev, reported on half B and elsewhere."""

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench_data import ENGINES, cache_folder, opened
from bench_quality import _document
from lexichord import SyncLexichord
from lexichord.db import evidence, search
from lexichord.retrieve.judge.in_documents import (
    COVERAGE_HITS,
    JUDGED_HITS,
    MAX_RELATIVE_EVIDENCE,
    MIN_DOCUMENT_CONFIDENCE,
    WITH_VECTOR,
    WORDS_ONLY,
    DocumentSignals,
    document_probability,
    find_signals,
    relative_evidence,
)
from lexichord.types import Question, Scope

SAMPLES = Path(__file__).parents[1] / "samples"
BINS = 10
KEPT = 0.9  # of half A's answerable pairs: the criterion of the abstain border
RIDGE = 0.1
FOLDS = 5  # of the hypotheses

type Floats = NDArray[np.float64]
type ScopedQuery = tuple[str, tuple[str, ...]]  # a question, and the documents in its scope


@dataclass
class Sets:
    """Signals by set; `answerable`, `half` and `hypothesis` belong to `pairs`."""

    pairs: list[DocumentSignals]
    answerable: NDArray[np.bool_]
    half: NDArray[np.int64]
    hypothesis: NDArray[np.int64]
    elsewhere: dict[str, list[DocumentSignals]]


def collect(data: Path, engine: str, server: str | None, with_vector: bool) -> Sets:
    nli = json.loads((data / "contractnli/dev.json").read_text())
    claims = {key: label["hypothesis"] for key, label in nli["labels"].items()}
    code = _lines(data / "codebase/evaluation_set.jsonl")
    questions = [
        each for each in _lines(SAMPLES / "questions.jsonl") if each.get("answerable", True)
    ]
    invented = _lines(SAMPLES / "unanswerable.jsonl")
    queries = [question["query"] for question in code]
    elsewhere: dict[str, list[DocumentSignals]] = {}
    with opened("contractnli-dev", engine, server) as lexichord:
        ids = _fill_nli(lexichord, nli["documents"])
        pairs = [(claim, (ids[n],)) for n in range(len(ids)) for claim in claims.values()]
        signals = _ask(lexichord, pairs, with_vector)
        elsewhere["code questions of the NDAs"] = _ask(lexichord, _all(queries), with_vector)
    with opened("codebase", engine, server) as lexichord:
        files = json.loads((data / "codebase/codebase_chunks.json").read_text())
        lexichord.ingest(documents=map(_document, files))
        elsewhere["code questions"] = _ask(lexichord, _all(queries), with_vector)
        foreign = _all(list(claims.values()))
        elsewhere["NDA hypotheses of the code"] = _ask(lexichord, foreign, with_vector)
    with opened("samples", engine, server) as lexichord:
        lexichord.ingest([SAMPLES / "agreements", SAMPLES / "policies"])
        own = _all([question["query"] for question in questions])
        elsewhere["sample questions"] = _ask(lexichord, own, with_vector)
        for kind in ("near", "far"):
            none = _all([each["query"] for each in invented if each["kind"] == kind])
            elsewhere[f"unanswerable, {kind}"] = _ask(lexichord, none, with_vector)
        for name, inside in (("right files", True), ("other files", False)):
            scoped = [_scoped(lexichord, question, inside) for question in questions]
            elsewhere[f"sample questions, {name}"] = _ask(lexichord, scoped, with_vector)
    answers = [
        document["annotation_sets"][0]["annotations"][key]["choice"] != "NotMentioned"
        for document in nli["documents"]
        for key in claims
    ]
    half = np.repeat(np.arange(len(ids)) % 2, len(claims))
    hypothesis = np.tile(np.arange(len(claims)), len(ids))
    return Sets(signals, np.array(answers), half, hypothesis, elsewhere)


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def _all(queries: Sequence[str]) -> list[ScopedQuery]:
    return [(query, ()) for query in queries]


def _fill_nli(lexichord: SyncLexichord, documents: list[dict[str, Any]]) -> list[str]:
    folder = cache_folder() / "contractnli-dev-texts"
    folder.mkdir(parents=True, exist_ok=True)
    for document in documents:
        (folder / f"{document['id']}.txt").write_text(document["text"], newline="")
    lexichord.ingest([folder])
    ids = {Path(row.uri).stem: row.document_id for row in lexichord.list()}
    return [ids[str(document["id"])] for document in documents]


def _scoped(lexichord: SyncLexichord, question: dict[str, Any], inside: bool) -> ScopedQuery:
    files = tuple(question["relevant_files"])
    rows = [row for row in lexichord.list() if row.uri.endswith(files) == inside]
    return question["query"], tuple(row.document_id for row in rows)


def _ask(
    lexichord: SyncLexichord, queries: Sequence[ScopedQuery], with_vector: bool
) -> list[DocumentSignals]:
    texts = sorted({query for query, _ in queries})
    vectors: dict[str, list[float]] = {}
    if with_vector:
        assert lexichord.core.embedder is not None
        rows = lexichord.core.embedder.embed(texts, "query").tolist()
        vectors = dict(zip(texts, rows, strict=True))
    return lexichord.run(_signals(lexichord, queries, vectors))


async def _signals(
    lexichord: SyncLexichord, queries: Sequence[ScopedQuery], vectors: dict[str, list[float]]
) -> list[DocumentSignals]:
    database, signals = lexichord.core.database, []
    for query, documents in queries:
        vector = vectors.get(query)
        question = Question(query, vector, scope=Scope(documents=documents), k=JUDGED_HITS)
        hits = await search.hybrid_search(database, question)
        best = [hit.chunk_id for hit in hits[:COVERAGE_HITS]]
        terms = await evidence.question_coverage(database, query, best)
        relative = await relative_evidence(database, question, hits)
        signals.append(find_signals(hits, terms, relative, vector is not None))
    return signals


def fit(sets: Sets, taken: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """First the subject, by every second code question and the pairs taken; then the rest."""
    first = taken & sets.answerable
    yes = [*sets.elsewhere["code questions"][::2]]
    yes += [signals for signals, taken in zip(sets.pairs, first, strict=True) if taken]
    no = [*sets.elsewhere["code questions of the NDAs"][::2]]
    no += sets.elsewhere["NDA hypotheses of the code"]
    subject = _logistic(
        _on_subject([*yes, *no]), np.repeat([1.0, 0.0], [len(yes), len(no)]), np.ones(len(yes + no))
    )
    gates = _share(_on_subject(sets.pairs) @ subject)
    rows, truth = _against_others(sets.pairs), sets.answerable.astype(float)
    return _logistic(rows[taken], truth[taken], gates[taken]), subject


def _on_subject(signals: Sequence[DocumentSignals]) -> Floats:
    model = WORDS_ONLY if signals[0].cosine is None else WITH_VECTOR
    return np.array([(1, each.cosine or 0, min(each.held, model.max_held)) for each in signals])


def _against_others(signals: Sequence[DocumentSignals]) -> Floats:
    return np.array([(1, min(each.relative, MAX_RELATIVE_EVIDENCE)) for each in signals])


def _share(values: Floats) -> Floats:
    return 1 / (1 + np.exp(-values))


def held_out(sets: Sets) -> Floats:
    """Confidence by models that saw only half A, and not the hypothesis that they judge."""
    scores = np.zeros(len(sets.pairs))
    for fold in range(FOLDS):
        own = sets.hypothesis % FOLDS == fold
        relative, subject = fit(sets, (sets.half == 0) & ~own)
        good = _share(_against_others(sets.pairs) @ relative)
        scores[own] = (good * _share(_on_subject(sets.pairs) @ subject))[own]
    return scores


def _logistic(rows: Floats, truth: Floats, gates: Floats) -> Floats:
    """Maximum likelihood of gate x logistic with a small ridge, by Fisher scoring."""
    weights = np.zeros(rows.shape[1])
    penalty = RIDGE * np.array([0, *[1] * (rows.shape[1] - 1)])
    for _ in range(100):
        good = _share(rows @ weights)
        product = np.clip(good * gates, 1e-9, 1 - 1e-9)
        change = gates * good * (1 - good)
        spread = product * (1 - product)
        slope = rows.T @ ((truth - product) / spread * change) - penalty * weights
        curve = (rows * (change**2 / spread)[:, None]).T @ rows + np.diag(penalty)
        weights = weights + 0.5 * np.linalg.solve(curve, slope)
    return weights


def auroc(scores: Floats, truth: NDArray[np.bool_]) -> float:
    """The share of (answerable, not answerable) pairs in the right order; ties count half."""
    yes, no = scores[truth][:, None], scores[~truth]
    return float((yes > no).mean() + (yes == no).mean() / 2)


def reliability(scores: Floats, truth: NDArray[np.bool_]) -> list[tuple[int, float, float]]:
    """By bin of equal width: how many, mean confidence, share of answerable."""
    bins = np.minimum((scores * BINS).astype(int), BINS - 1)
    return [
        (int((bins == n).sum()), scores[bins == n].mean(), truth[bins == n].mean())
        for n in np.unique(bins)
    ]


def report(sets: Sets, border: float) -> None:
    scores = np.array(list(map(document_probability, sets.pairs)))
    for name, number in (("A", 0), ("B", 1)):
        own, truth = scores[sets.half == number], sets.answerable[sets.half == number]
        table = reliability(own, truth)
        error = sum(count * abs(mean - share) for count, mean, share in table) / len(own)
        print(f"  half {name}: {len(own)} pairs, AUROC {auroc(own, truth):.3f}, ECE {error:.3f},")
        missed, caught = (own[truth] < border).mean(), (own[~truth] < border).mean()
        print(f"    abstains on {missed:.1%} of the answerable, {caught:.1%} of the others")
        for count, mean, share in table:
            print(f"    {count:4} {mean:.2f} {share:.2f}")
    unseen = held_out(sets)
    for name, number in (("A", 0), ("B", 1)):
        there = sets.half == number
        area = auroc(unseen[there], sets.answerable[there])
        print(f"  half {name}, hypotheses not fitted on: AUROC {area:.3f}")
    print("  elsewhere: abstains; confidence at 5, 10, 25, 50, 90 %")
    for name, signals in sets.elsewhere.items():
        confidences = np.array(list(map(document_probability, signals)))
        places = " ".join(
            f"{place:.2f}" for place in np.percentile(confidences, [5, 10, 25, 50, 90])
        )
        print(f"    {name:32} {(confidences < border).sum():3} of {len(confidences):3}  {places}")
    yes, unheld = sets.elsewhere["code questions"][1::2], sets.elsewhere["sample questions"]
    for name, signals in (("code questions, not fitted on", yes), ("sample questions", unheld)):
        share = np.mean([document_probability(each) < border for each in signals])
        print(f"    answerable, {name}: abstains on {share:.1%}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the public sets")
    parser.add_argument("--engine", choices=ENGINES, default="plain")
    parser.add_argument("--server", help="a server's DSN; by default the embedded one")
    parser.add_argument("--fit", action="store_true", help="also print fitted coefficients")
    arguments = parser.parse_args()
    for name, model in (("with a vector", WITH_VECTOR), ("by words alone", WORDS_ONLY)):
        with_vector = model is WITH_VECTOR
        sets = collect(arguments.data, arguments.engine, arguments.server, with_vector)
        print(f"{name}: {model}")
        if arguments.fit:
            relative, subject = fit(sets, sets.half == 0)
            print("  fitted:", relative.round(2).tolist(), subject.round(2).tolist())
        own = np.array(list(map(document_probability, sets.pairs)))[
            (sets.half == 0) & sets.answerable
        ]
        print(f"  border that keeps {KEPT:.0%} of half A: {np.quantile(own, 1 - KEPT):.2f}")
        report(sets, MIN_DOCUMENT_CONFIDENCE)


if __name__ == "__main__":
    main()
