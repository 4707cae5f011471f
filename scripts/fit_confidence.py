"""Fit confidence on everyday questions, each kind judged by what the others teach.

python scripts/fit_confidence.py QUESTIONS --dsn DSN [--write]

QUESTIONS is the file of chosen kinds that everyday.py lays out, DSN a database that holds all its
documents. Comparisons, summaries and questions that name a document are left out: they are not
judged so. Prints coefficients and what they do on the kind left out; --write stores the scores of
kinds left out for `--risk`.
"""

import argparse
import asyncio
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lexichord import Lexichord
from lexichord.evaluate.answers import holds
from lexichord.evaluate.datasets.native import NativeQuestion
from lexichord.evaluate.datasets.reading import read_json_lines
from lexichord.retrieve.judge import border
from lexichord.retrieve.judge.border import find_border
from lexichord.retrieve.judge.confidence import (
    JUDGED_HITS,
    ConfidenceSignals,
    measure_evidence,
)
from lexichord.types import ChunkHit, Question

NOT_JUDGED = {"comparison", "summary"}
RIDGE = 1.0
KEPT = 0.92  # of answerable questions, by the border
RISKS = (0.05, 0.1, 0.2)

type Floats = NDArray[np.float64]
type Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Judged:
    """A question with its signals, with vectors and by words, and whether its evidence answers."""

    question: NativeQuestion
    meaning: ConfidenceSignals
    words: ConfidenceSignals
    holds: bool

    @property
    def kind(self) -> str:
        """The kind of document: spans of articles are articles."""
        return self.question.kind.removesuffix("-spans")


async def judge(lexichord: Lexichord, question: NativeQuestion) -> Judged | None:
    """Ask a question and measure its evidence; None for one that names a document, or without."""
    response = await lexichord.query(question.query, intent="clause_lookup")
    hits = response.hits[:JUDGED_HITS]
    if not hits or response.intent.documents:
        return None
    assert lexichord.embedder is not None
    text = response.intent.question
    vector = lexichord.embedder.embed([text], "query")[0].tolist()
    asked = partial(measure_evidence, lexichord.database, hits=hits)
    embed = partial(lexichord.embedder.embed, kind="document")
    meaning = await asked(Question(text, vector), embed=embed)
    words = await asked(Question(text))
    return Judged(question, meaning, words, any(_answers(question, hit) for hit in hits))


def _answers(question: NativeQuestion, hit: ChunkHit) -> bool:
    parts = [*(span.quote for span in question.relevant_spans), *question.first]
    right = question.answerable and hit.uri.endswith(tuple(question.files))
    return right and any(part and holds(hit.content, part) for part in parts)


async def collect(questions: Sequence[NativeQuestion], dsn: str) -> list[Judged]:
    async with Lexichord(dsn=dsn) as lexichord:
        found = [await judge(lexichord, question) for question in questions]
    return [each for each in found if each is not None]


def rows_of(judged: Sequence[Judged], name: str) -> Floats:
    """Return what is fitted: the constant's column first."""
    if name == "meaning":
        return np.array([(1, each.meaning.cosine or 0, each.meaning.passage) for each in judged])
    return np.array([(1, each.words.sentence, each.words.passage) for each in judged])


def logistic(rows: Floats, truth: Floats) -> Floats:
    """Return the coefficients of maximum likelihood with a small ridge on scaled columns."""
    scale = np.array([1, *rows[:, 1:].std(axis=0)])
    scaled, weights = rows / scale, np.zeros(rows.shape[1])
    penalty = RIDGE * np.array([0, *[1] * (rows.shape[1] - 1)])
    for _ in range(50):
        share = shares(scaled, weights)
        slope = scaled.T @ (truth - share) - penalty * weights
        curve = (scaled * (share * (1 - share))[:, None]).T @ scaled + np.diag(penalty)
        weights = weights + np.linalg.solve(curve, slope)
    return np.asarray(weights / scale)


def shares(rows: Floats, weights: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-(rows @ weights))))


def left_out(rows: Floats, truth: Floats, kinds: NDArray[np.str_]) -> Floats:
    """Return each question's probability by the other kinds' coefficients."""
    scores = np.zeros(len(rows))
    for kind in np.unique(kinds):
        own = kinds == kind
        scores[own] = shares(rows[own], logistic(rows[~own], truth[~own]))
    return scores


def report(judged: Sequence[Judged], name: str) -> Floats:
    """Print what kinds left out get, and return their scores."""
    rows = rows_of(judged, name)
    truth = np.array([each.holds for each in judged], float)
    kinds = np.array([each.kind for each in judged])
    answerable = np.array([each.question.answerable for each in judged])
    near = np.array([each.question.type == "near-miss" for each in judged])
    scores = left_out(rows, truth, kinds)
    print(name, "coefficients:", logistic(rows, truth).round(2).tolist())
    print(f"  border that keeps {KEPT:.0%}: {np.quantile(scores[answerable], 1 - KEPT):.3f}")
    print(f"  AUROC against near misses {auroc(scores[answerable], scores[near]):.3f}", end=", ")
    print(f"calibration error {calibration_error(scores, truth):.3f}")
    for line in by_kind(scores, kinds, answerable, near):
        print("  " + line)
    for risk in RISKS:
        print("  " + by_risk(rows, truth, kinds, risk))
    return scores


def by_kind(scores: Floats, kinds: NDArray[np.str_], yes: Bools, near: Bools) -> Iterator[str]:
    """Yield a line a kind: what a border set on the other kinds refuses."""
    refused: dict[str, list[Bools]] = {"answerable": [], "near misses": []}
    for kind in np.unique(kinds):
        own = kinds == kind
        least = np.quantile(scores[yes & ~own], 1 - KEPT)
        parts = []
        for what, chosen in (("answerable", yes & own), ("near misses", near & own)):
            refused[what].append(scores[chosen] < least)
            parts.append(f"{what} refused {refused[what][-1].mean():.0%} of {chosen.sum()}")
        area = auroc(scores[yes & own], scores[near & own])
        yield f"{kind}: {', '.join(parts)}, AUROC {area:.2f}, border {least:.2f}"
    total = (f"{what} {np.concatenate(each).mean():.1%}" for what, each in refused.items())
    yield f"all, refused: {', '.join(total)}"


def by_risk(rows: Floats, truth: Floats, kinds: NDArray[np.str_], risk: float) -> str:
    """Return coverage and error on each kind of a border that the others set."""
    parts, answered, wrong = [], 0, 0
    for kind in np.unique(kinds):
        own = kinds == kind
        known = left_out(rows[~own], truth[~own], kinds[~own])
        there = truth[~own] > 0
        least = find_border(known[there].tolist(), known[~there].tolist(), risk)
        scores = shares(rows[own], logistic(rows[~own], truth[~own]))
        taken = scores >= least
        count, errors = int(taken.sum()), int((truth[own][taken] == 0).sum())
        answered, wrong = answered + count, wrong + errors
        parts.append(f"{kind} {taken.mean():.0%}, {errors / max(1, count):.1%}")
    whole = f"coverage {answered / len(rows):.0%}, error {wrong / max(1, answered):.1%}"
    return f"risk {risk}: {whole} ({'; '.join(parts)})"


def auroc(yes: Floats, no: Floats) -> float:
    return float((yes[:, None] > no).mean() + (yes[:, None] == no).mean() / 2)


def calibration_error(scores: Floats, truth: Floats, bins: int = 10) -> float:
    place = np.minimum((scores * bins).astype(int), bins - 1)
    parts = [place == n for n in np.unique(place)]
    errors = (abs(scores[own].mean() - truth[own].mean()) * own.mean() for own in parts)
    return float(sum(errors))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("questions", type=Path)
    parser.add_argument("--dsn", required=True, help="a database with all the documents")
    parser.add_argument("--write", action="store_true", help="store the scores for --risk")
    options = parser.parse_args()
    read = (question for _, question in read_json_lines(options.questions, NativeQuestion))
    questions = [question for question in read if question.type not in NOT_JUDGED]
    judged = asyncio.run(collect(questions, options.dsn))
    there = np.array([each.holds for each in judged])
    scores = {name: report(judged, name).round(3) for name in ("meaning", "words")}["meaning"]
    if options.write:
        kept = {"holds": sorted(scores[there].tolist()), "lacks": sorted(scores[~there].tolist())}
        file = Path(border.__file__).with_name(border.CALIBRATION)
        file.write_text(json.dumps(kept) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
