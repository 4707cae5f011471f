"""Fit what stands beside a reader's weights: how its judgement counts, and what it is worth.

python scripts/bench/fit_reader.py --data DIR --everyday FOLDER --reader FOLDER
    [--questions N] [--write]

DIR holds the public sets, --everyday is what everyday.py laid out, of which the chosen kinds are
asked. Each question is asked twice: of all that is found, and without the passages that answer it,
a near miss; questions of another kind are asked as well. Each kind is scored by what the others
teach; --write stores reader.json, fitted on all of them. Of policies another passage often answers
as well: there nothing is called a near miss.
"""

import argparse
import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from common import opened
from kinds import KINDS, contracts, kept_back, xquad_placed
from kinds import Question as Placed
from lexichord import SyncLexichord
from lexichord.evaluate.calibrate import fit_logistic
from lexichord.evaluate.datasets import NativeQuestion
from lexichord.evaluate.datasets.reading import read_json_lines
from lexichord.evaluate.metrics import holds
from lexichord.evaluate.statistics import auroc
from lexichord.providers.reader import FIT_FILE, FolderReader
from lexichord.retrieve.evidence.relevance import coverage, weigh_texts
from lexichord.retrieve.evidence.sentences import LEAST, QueryReader, log_odds, probability_of
from lexichord.retrieve.judged_hits import unnamed
from lexichord.retrieve.stages import Stages
from lexichord.retrieve.trace import Trace
from lexichord.types import ChunkHit, Question, Response
from lexichord.types.evidence import Quote
from lexichord.types.questions import (
    ConfidenceWeights,
    Intent,
    ReaderFit,
    RightWeights,
    SentenceWeights,
)

ANSWERED = 3  # questions that are answered for one that is not
STEPS, RATE = 400, 0.5  # of the descent

type Floats = NDArray[np.float64]
type IsPlace = Callable[[Quote], bool]


@dataclass(frozen=True)
class Asked:
    """A question; `answers` tells of a sentence, `holds` of a passage."""

    text: str
    document: str | None
    answers: IsPlace
    holds: IsPlace
    is_answerable: bool = True


@dataclass(frozen=True)
class Read:
    """What was read for a question, in log odds: of the likeliest passage, by words and vectors.

    `signals` are those of SentenceWeights, of shape (sentences, 4).
    """

    here: float
    vectors: float
    signals: Floats
    right: NDArray[np.bool_]
    holds: bool


def placed(question: Placed) -> Asked:
    def shared(quote: Quote) -> Iterator[tuple[int, int]]:
        for uri, start, end in question.gold:
            if uri == quote.uri:
                yield min(end, quote.end) - max(start, quote.start), end - start

    def answers(quote: Quote) -> bool:
        size = quote.end - quote.start
        return any(part > 0 and part >= min(whole, size) / 2 for part, whole in shared(quote))

    return Asked(
        question.text,
        question.file,
        answers,
        lambda quote: any(part > 0 for part, _ in shared(quote)),
    )


def foreign(other: Asked, own: Asked) -> Asked:
    """Return a question of another kind, asked where one's own is."""
    return Asked(other.text, own.document, lambda _: False, lambda _: False, False)


def everyday(question: NativeQuestion) -> Asked:
    quotes = [span.quote for span in question.relevant_spans if span.quote]

    def is_of(quote: Quote, parts: Sequence[str]) -> bool:
        return quote.uri.endswith(question.files) and any(holds(quote.text, p) for p in parts)

    return Asked(
        question.query,
        None,
        lambda quote: is_of(quote, question.first or quotes),
        lambda quote: is_of(quote, [*question.first, *quotes]),
        question.answerable,
    )


def read_all(
    name: str,
    fill: Callable[[SyncLexichord, Path], object],
    source: Path,
    questions: Sequence[Asked],
    reader: Path,
) -> list[Read]:
    """Ask a kind's questions, each with and without the passages that answer."""
    gone: list[IsPlace] = [lambda _: False]

    async def leave(
        *, question: Question, intent: Intent, hits: Sequence[ChunkHit]
    ) -> Sequence[ChunkHit]:
        return [hit for hit in hits if not gone[0](Quote.of(hit))]

    found: list[Read] = []
    with opened(name, "plain", None) as lexichord:
        fill(lexichord, source)
        lexichord.core.stages, lexichord.core.reader = Stages(select_hits=leave), None
        model = FolderReader(reader)
        for asked in questions:
            for place in (None, asked.holds) if asked.is_answerable else (None,):
                gone[0] = place or (lambda _: False)
                scope = None if asked.document is None else [asked.document]
                response = lexichord.query(asked.text, documents=scope)
                if response.intent.wants_one_thing and response.quotes:
                    is_full = place is None and asked.is_answerable
                    found += lexichord.run(_read(lexichord, response, model, asked, is_full))
    return found


async def _read(
    lexichord: SyncLexichord, response: Response, model: FolderReader, asked: Asked, is_full: bool
) -> list[Read]:
    question = unnamed(response.intent)
    database = lexichord.core.database
    read = await QueryReader(model, Trace(), database).read(question, response.quotes)
    if read is None:
        return []
    listed = [(passage, one) for passage in read.passages for one in passage.sentences]
    texts = [one.quote.text for _, one in listed]
    known, *terms = await weigh_texts(database, [question, *texts])
    signals = [
        (
            log_odds(passage.here),
            np.log(max(one.share, LEAST)),
            coverage(known, words),
            1 / (1 + passage.number),
        )
        for (passage, one), words in zip(listed, terms, strict=True)
    ]
    right = np.array([is_full and asked.answers(one.quote) for _, one in listed])
    here = max(log_odds(passage.here) for passage in read.passages)
    return [
        Read(
            here,
            log_odds(response.confidence),
            np.array(signals),
            right,
            is_full and any(map(asked.holds, response.quotes)),
        )
    ]


def fit_sentences(kinds: Sequence[Sequence[Read]]) -> Floats:
    """Fit weights so that right sentences get the larger share (ListNet), each kind alike."""
    lists = [
        (one.signals, one.right, 1 / len(kind)) for kind in kinds for one in kind if one.right.any()
    ]
    weights = np.full(4, 0.1)
    total = sum(share for *_, share in lists)
    for _ in range(STEPS):
        slope = np.zeros(4)
        for signals, right, share in lists:
            likely = np.exp(signals @ weights - (signals @ weights).max())
            wanted = likely * right
            gap = wanted / wanted.sum() - likely / likely.sum()
            slope += share / total * (gap @ signals)
        weights += RATE * slope
    return weights


def shares(one: Read, weights: Floats) -> Floats:
    likely = np.exp(one.signals @ weights - (one.signals @ weights).max())
    return np.asarray(likely / likely.sum())


def weighed(rows: Sequence[Sequence[float]], truth: Sequence[bool]) -> Floats:
    """Fit a logistic model where ANSWERED times as many are true as are not."""
    repeated = [n for n, is_true in enumerate(truth) for _ in range(ANSWERED if is_true else 1)]
    matrix, known = np.array(rows)[repeated], np.array(truth, float)[repeated]
    return fit_logistic(matrix, known)


def fit(kinds: Mapping[str, Sequence[Read]]) -> ReaderFit:
    sentence = fit_sentences(list(kinds.values()))
    judged = [one for name, kind in kinds.items() if "policies" not in name for one in kind]
    rows = [(1.0, one.here, one.vectors) for one in judged]
    confidence = weighed(rows, [one.holds for one in judged])
    likely = [shares(one, sentence) for one in judged]
    told = [
        (1.0, float(confidence @ row), float(np.log(share.max())))
        for row, share in zip(np.array(rows), likely, strict=True)
    ]
    truth = [bool(one.right[share.argmax()]) for one, share in zip(judged, likely, strict=True)]
    right = weighed(told, truth)
    return ReaderFit(
        sentence=SentenceWeights(*sentence.round(2).tolist()),
        confidence=ConfidenceWeights(*confidence.round(2).tolist()),
        right=RightWeights(*right.round(2).tolist()),
    )


def report(name: str, kind: Sequence[Read], others: Mapping[str, Sequence[Read]]) -> list[float]:
    """Print what weights of other kinds make of one; return its confidences."""
    found = fit(others)
    weights = np.array([*asdict(found.sentence).values()])
    held = [one for one in kind if one.holds]
    first = [bool(one.right[shares(one, weights).argmax()]) for one in held]
    confidence = np.array([*asdict(found.confidence).values()])
    scores = [probability_of(float(confidence @ (1.0, one.here, one.vectors))) for one in kind]
    truth = [one.holds for one in kind]
    refused = np.mean(
        [score < 0.5 for score, is_held in zip(scores, truth, strict=True) if is_held]
    )
    rest = [score < 0.5 for score, is_held in zip(scores, truth, strict=True) if not is_held]
    print(
        f"{name:30} {len(held):4} whose passages hold the answer: first sentence right "
        f"{np.mean(first):.3f}, refused {refused:.3f}; {len(rest)} near misses: refused "
        f"{np.mean(rest):.3f}; AUROC {auroc(scores, truth) or 0:.3f}",
        flush=True,
    )
    return scores


def kinds_of(data: Path, laid_out: Path, most: int, reader: Path) -> dict[str, list[Read]]:
    sets = {
        "XQuAD en": xquad_placed(data),
        "contracts, named": contracts(data),
        "Natural Questions, kept back": kept_back(data, "qed_nq.en"),
        "papers, kept back": kept_back(data, "covidqa.en"),
        "policies, kept back": kept_back(data, "policyqa_dev.en", pinned=True),
    }
    found = {}
    drawn_of = {name: drawn(map(placed, questions), most) for name, questions in sets.items()}
    for name, other in zip(sets, [*list(sets)[1:], *list(sets)[:1]], strict=True):
        kind, own = KINDS[name], drawn_of[name]
        asked = [*own, *map(foreign, drawn_of[other][: most // 2], own)]
        found[name] = read_all(kind.database, kind.fill, data, asked, reader)
    by_kind: dict[str, list[Asked]] = {}
    for _, question in read_json_lines(laid_out / "chosen.jsonl", NativeQuestion):
        by_kind.setdefault(question.kind, []).append(everyday(question))
    for name, asked in by_kind.items():
        if (folder := laid_out / name).is_dir():
            found[name] = read_all(f"everyday-{name}", SyncLexichord.ingest, folder, asked, reader)
    return found


def drawn[T](questions: Iterator[T], most: int) -> list[T]:
    every = list(questions)
    random.Random(7).shuffle(every)
    return every[:most]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--everyday", type=Path, required=True)
    parser.add_argument("--reader", type=Path, required=True)
    parser.add_argument("--questions", type=int, default=120, help="of a public set")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    kinds = kinds_of(options.data, options.everyday, options.questions, options.reader)
    holding, lacking = list[float](), list[float]()
    for name, kind in kinds.items():
        scores = report(name, kind, {key: each for key, each in kinds.items() if key != name})
        if "policies" not in name:
            holding += [score for score, one in zip(scores, kind, strict=True) if one.holds]
            lacking += [score for score, one in zip(scores, kind, strict=True) if not one.holds]
    made = asdict(fit(kinds))
    made |= {"holds": np.round(sorted(holding), 3).tolist()}
    fewer = sorted(lacking)[:: max(1, ANSWERED * len(lacking) // len(holding))]
    made |= {"lacks": np.round(fewer, 3).tolist()}
    print(json.dumps({key: made[key] for key in ("sentence", "confidence", "right")}))
    if options.write:
        (options.reader / FIT_FILE).write_text(json.dumps(made) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
