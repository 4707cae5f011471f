"""Fit confidence on everyday questions, each kind judged by what the others teach.

python scripts/bench/fit_confidence.py QUESTIONS --dsn DSN [--limit N] [--write]

QUESTIONS is the file of chosen kinds that everyday.py lays out, DSN a database that holds all its
documents. Each question is asked as it stands, of its own document by name, and of another of the
same kind, by name as well, where nothing answers it. Comparisons and summaries are left out: they
are not judged so. Prints coefficients and what they do on the kind left out; --write stores the
scores of kinds left out, of questions that name nothing, for `--risk`.
"""

import argparse
import asyncio
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lexichord import Lexichord
from lexichord.evaluate.calibrate import answers, fit_logistic, measure, shares, shares_left_out
from lexichord.evaluate.datasets import NativeQuestion
from lexichord.evaluate.datasets.reading import read_json_lines
from lexichord.retrieve import confidence
from lexichord.retrieve.confidence import (
    JUDGED_HITS,
    ConfidenceSignals,
    find_threshold,
    measure_evidence,
)
from lexichord.retrieve.judged_hits import filter_to_named, without_names
from lexichord.types import ChunkHit, Question, StoredDocument

NOT_JUDGED = {"comparison", "summary"}
KEPT = 0.92  # of answerable questions, by the border
RISKS = (0.05, 0.1, 0.2)
DENIALS = (0.15, 0.2, 0.25, 0.3)
SEED = 20261122

type Floats = NDArray[np.float64]
type Bools = NDArray[np.bool_]


WORDINGS = (  # in which people name a document; {first} is the question with a small letter
    "{question} according to the {title}?",
    "Under the {title}, {first}?",
    "{question} in {title}?",
    "What does the {title} say: {first}?",
    "In the {title}, {first}?",
    "{question} (see the {title})?",
)
# Others of these kinds say the same: a lease that is not the one meant has a term as well.
ALIKE = {"ndas"}


@dataclass(frozen=True)
class Case:
    """A question as it is asked, and the document that it names; None where it names none."""

    question: NativeQuestion
    text: str
    document: StoredDocument | None = None

    @property
    def answerable(self) -> bool:
        """Whether what is asked of holds an answer."""
        files = tuple(self.question.files)
        return self.question.answerable and (
            self.document is None or self.document.uri.endswith(files)
        )


@dataclass(frozen=True)
class Judged:
    """A case with its signals, with vectors and by words, and whether its evidence answers."""

    case: Case
    meaning: ConfidenceSignals
    words: ConfidenceSignals
    holds: bool

    @property
    def kind(self) -> str:
        """The kind of document: spans of articles are articles."""
        return self.case.question.kind.removesuffix("-spans")


def cases_of(
    questions: Sequence[NativeQuestion], documents: Sequence[StoredDocument]
) -> Iterator[Case]:
    """Yield each question as it stands, by its document's name, and by another's."""
    chance = random.Random(SEED)
    for number, question in enumerate(questions):
        yield Case(question, question.query)
        kind = question.kind.removesuffix("-spans")
        own = [each for each in documents if each.uri.startswith(f"{kind}/")]
        right = [each for each in own if each.uri.endswith(tuple(question.files))]
        if question.type in ("named", "foreign"):
            continue
        if question.answerable and len(right) == 1:
            yield Case(question, named(question.query, right[0], number), right[0])
        others = [each for each in own if each not in right]
        if others and not (question.answerable and kind in ALIKE):
            other = chance.choice(others)
            yield Case(question, named(question.query, other, number), other)


def named(question: str, document: StoredDocument, number: int) -> str:
    """Return a question with the name of a document, in one of the wordings in turn."""
    plain = question.strip(" ?.")
    title = document.title.partition(" {")[0]
    first = plain if plain[1:2].isupper() else plain[:1].lower() + plain[1:]
    wording = WORDINGS[number % len(WORDINGS)]
    return wording.format(question=plain, first=first, title=title)


async def judge(lexichord: Lexichord, case: Case) -> Judged | None:
    """Ask a question and measure its evidence; None without any.

    A title that several documents have names none: the document is given then.
    """
    asked_of = case.document and [case.document.document_id]
    response = await lexichord.query(case.text, intent="clause_lookup")
    if asked_of and list(response.intent.documents) != asked_of:
        response = await lexichord.query(
            case.question.query, intent="clause_lookup", documents=asked_of
        )
    hits = filter_to_named(response.intent, response.hits)[:JUDGED_HITS]
    if not hits:
        return None
    meaning = await measure(lexichord, replace(response, query=case.text), hits)
    about = Question(without_names(response.intent))
    words = await measure_evidence(lexichord.database, about, hits)
    return Judged(case, meaning, words, any(_answers(case, hit) for hit in hits))


def _answers(case: Case, hit: ChunkHit) -> bool:
    return case.answerable and answers(case.question, hit)


async def collect(questions: Sequence[NativeQuestion], dsn: str) -> list[Judged]:
    async with Lexichord(dsn=dsn) as lexichord:
        cases = list(cases_of(questions, await lexichord.list()))
        found = [await judge(lexichord, case) for case in cases]
    return [each for each in found if each is not None]


def spread(questions: Sequence[NativeQuestion], limit: int) -> list[NativeQuestion]:
    """Return up to `limit` questions of each kind, evenly."""
    kinds = dict.fromkeys(question.kind for question in questions)
    each = [[question for question in questions if question.kind == kind] for kind in kinds]
    return [
        own[place * len(own) // min(limit, len(own))]
        for own in each
        for place in range(min(limit, len(own)))
    ]


def rows_of(judged: Sequence[Judged], name: str) -> Floats:
    """Return what is fitted: the constant's column first."""
    if name == "meaning":
        return np.array([(1, each.meaning.cosine or 0, each.meaning.passage) for each in judged])
    return np.array([(1, each.words.sentence, each.words.passage) for each in judged])


def report(judged: Sequence[Judged], name: str) -> Floats:
    """Print what kinds left out get, and return their scores."""
    rows = rows_of(judged, name)
    truth = np.array([each.holds for each in judged], float)
    kinds = np.array([each.kind for each in judged])
    named_one = np.array([each.case.document is not None for each in judged])
    answerable = np.array([each.case.answerable for each in judged])
    foreign = np.array([each.case.question.type == "foreign" for each in judged])
    near = ~answerable & ~foreign
    scores = shares_left_out(rows, truth, kinds)
    print(name, "coefficients:", fit_logistic(rows, truth).round(2).tolist())
    for what, own in (("all", ~named_one), ("a document that is named", named_one)):
        some = [part[own] for part in (scores, kinds, answerable, near)]
        print(f"  asked of {what}: border that keeps {KEPT:.0%}:", end=" ")
        print(f"{np.quantile(scores[own & answerable], 1 - KEPT):.3f}", end=", ")
        print(f"AUROC {auroc(scores[own & answerable], scores[own & near]):.3f}", end=", ")
        print(f"calibration error {calibration_error(scores[own], truth[own]):.3f}")
        for line in by_kind(*some):
            print("    " + line)
    for least in DENIALS:
        print("  " + by_denial(scores[named_one], truth[named_one], kinds[named_one], least))
    for risk in RISKS:
        print("  " + by_risk(rows, truth, kinds, risk))
    return scores


def by_denial(scores: Floats, truth: Floats, kinds: NDArray[np.str_], border: float) -> str:
    """Return how often it is right that a document does not say, said below a border."""
    denied = scores < border
    right = (truth[denied] == 0).mean() if denied.any() else 0
    parts = (
        f"{kind} {int((truth[own] == 0).sum())} of {own.sum()}"
        for kind in np.unique(kinds)
        if (own := denied & (kinds == kind)).any()
    )
    return (
        f"“does not say” below {border}: right {right:.1%} of {denied.sum()} ({', '.join(parts)})"
    )


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
        known = shares_left_out(rows[~own], truth[~own], kinds[~own])
        there = truth[~own] > 0
        least = find_threshold(known[there].tolist(), known[~there].tolist(), risk)
        scores = shares(rows[own], fit_logistic(rows[~own], truth[~own]))
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
    parser.add_argument("--limit", type=int, default=1000, help="questions of each kind")
    parser.add_argument("--write", action="store_true", help="store the scores for --risk")
    options = parser.parse_args()
    read = (question for _, question in read_json_lines(options.questions, NativeQuestion))
    questions = [question for question in read if question.type not in NOT_JUDGED]
    judged = asyncio.run(collect(spread(questions, options.limit), options.dsn))
    there = np.array([each.holds for each in judged])
    whole = np.array([each.case.document is None for each in judged])
    scores = {name: report(judged, name).round(3) for name in ("meaning", "words")}["meaning"]
    if options.write:
        kept = {
            "holds": sorted(scores[whole & there].tolist()),
            "lacks": sorted(scores[whole & ~there].tolist()),
        }
        file = Path(confidence.__file__).with_name(confidence.CALIBRATION_SCORES)
        file.write_text(json.dumps(kept) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
