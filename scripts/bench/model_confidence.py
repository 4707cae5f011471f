"""Confidence of several models, each by a sample of what is stored, beside words alone.

python scripts/bench/model_confidence.py --data DIR [--models SPACE ...] [KIND ...]

Of each kind of `bench/kinds.py` questions are asked of what the default model's database holds, of
the same without the passages that answer, and questions of another kind. All models judge the same
passages. Each model's constants are compared: those of the default model on its cosines as they
are, on where a sample says that they lie, and words.
"""

import argparse
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from common import opened
from kinds import KINDS
from kinds import Question as Asked
from lexichord import Lexichord
from lexichord.db import catalogue, search
from lexichord.providers import Embedder
from lexichord.providers.registry import find_embedder
from lexichord.retrieve.confidence import (
    JUDGED_HITS,
    MIN_CONFIDENCE,
    SAMPLE_SENTENCES,
    WITH_VECTOR,
    calibration_by,
    measure_evidence,
    measure_scale,
    probability,
)
from lexichord.settings import load_settings
from lexichord.types import ChunkHit, Question, Scope
from lexichord.types.state import Calibration

QUESTIONS, SEED, DEPTH = 50, 20261127, 60
FOREIGN = {"XQuAD en": "policy, pinned", "XQuAD de": "policy, pinned"}  # else of XQuAD en
SETS = ("answered", "near", "foreign")  # of a case: its evidence answers, nearly does, is not of it

type Scores = NDArray[np.float64]


@dataclass(frozen=True)
class Case:
    """A question, the passages that are judged, and which of `SETS` it is of."""

    text: str
    hits: Sequence[ChunkHit]
    of: str


async def cases(app: Lexichord, asked: Sequence[Asked], foreign: Sequence[str]) -> list[Case]:
    """Search for each question; one whose evidence does not answer is a near miss."""
    ids = {document.uri: document.document_id for document in await app.list()}
    found: list[Case] = []
    for one in asked:
        documents = (ids[one.file],) if one.file else ()
        hits = await _search(app, one.text, documents)
        best = hits[:JUDGED_HITS]
        answered = any(_holds(hit, one) for hit in best)
        found.append(Case(one.text, best, "answered" if answered else "near"))
        without = [hit for hit in hits if not _holds(hit, one)][:JUDGED_HITS]
        found.append(Case(one.text, without, "near"))
    for text, one in zip(foreign, asked, strict=False):
        documents = (ids[one.file],) if one.file else ()
        found.append(Case(text, (await _search(app, text, documents))[:JUDGED_HITS], "foreign"))
    return [case for case in found if case.hits]


async def _search(app: Lexichord, text: str, documents: Sequence[str]) -> list[ChunkHit]:
    assert app.embedder is not None
    vector = app.embedder.embed([text], "query")[0].tolist()
    question = Question(text, vector, scope=Scope(documents=tuple(documents)), k=DEPTH)
    return await search.hybrid_search(app.database, question)


def _holds(hit: ChunkHit, asked: Asked) -> bool:
    return any(
        hit.uri.endswith(uri) and (end == 0 or (hit.start < end and hit.end > start))
        for uri, start, end in asked.gold
    )


async def score(
    app: Lexichord, found: Sequence[Case], embedder: Embedder | None, calibration: Calibration
) -> Scores:
    """Return the confidence of each case; by words without an embedder."""
    scores = []
    for case in found:
        vector = None if embedder is None else embedder.embed([case.text], "query")[0].tolist()
        embed = None if embedder is None else partial(embedder.embed, kind="document")
        question = Question(case.text, vector)
        signals = await measure_evidence(
            app.database, question, case.hits, embed, calibration=calibration
        )
        scores.append(probability(signals, calibration))
    return np.array(scores)


async def judge(
    app: Lexichord, found: Sequence[Case], spaces: Sequence[str]
) -> Mapping[str, Scores]:
    """Return the confidences by words, and of each model as it is and by a sample."""
    sentences = await catalogue.sample_sentences(app.database, SAMPLE_SENTENCES)
    scored = {"words": await score(app, found, None, WITH_VECTOR)}
    for space in spaces:
        embedder, reasons = find_embedder(load_settings(home=app.settings.home), space)
        assert embedder is not None, reasons
        scale = measure_scale(embedder, sentences)
        assert scale is not None
        name = space.split("/")[-2]
        scored[f"{name}, as it is"] = await score(app, found, embedder, WITH_VECTOR)
        scored[f"{name}, sampled"] = await score(app, found, embedder, calibration_by(scale))
        print(f"    {name}: unlike {scale.unlike:.3f}, alike {scale.alike:.3f}", flush=True)
    return scored


def lines(scored: Mapping[str, Scores], sets: NDArray[np.str_]) -> Iterator[str]:
    """Yield a line a judge: AUROC, calibration error, and what is refused of each set."""
    for name, scores in scored.items():
        yes, near, foreign = (scores[sets == one] for one in SETS)
        refused = "/".join(f"{(own < MIN_CONFIDENCE).mean():.2f}" for own in (yes, near, foreign))
        error = calibration_error(scores, sets == SETS[0])
        yield (
            f"  {name:36} AUROC {auroc(yes, scores[sets != SETS[0]]):.3f}, near "
            f"{auroc(yes, near):.3f}, foreign {auroc(yes, foreign):.3f}; error {error:.3f}; "
            f"refused {refused}"
        )


def auroc(yes: Scores, no: Scores) -> float:
    return float((yes[:, None] > no).mean() + (yes[:, None] == no).mean() / 2)


def calibration_error(scores: Scores, truth: NDArray[np.bool_], bins: int = 10) -> float:
    """Return the expected calibration error, answered cases weighed as much as all others."""
    weights = np.where(truth, 0.5 / truth.mean(), 0.5 / (1 - truth.mean())) / len(truth)
    places = np.minimum((scores * bins).astype(int), bins - 1)
    parts = ((places == n, weights[places == n]) for n in np.unique(places))
    return float(sum(abs((scores[own] - truth[own]) @ weight) for own, weight in parts))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", nargs="*", help=f"of {', '.join(KINDS)}; by default five")
    parser.add_argument("--data", type=Path, required=True, help="folder of the public sets")
    parser.add_argument("--models", nargs="*", default=["local/all-MiniLM-L6-v2/384"])
    parser.add_argument("--questions", type=int, default=QUESTIONS, help="of each kind")
    options = parser.parse_args()
    kinds = options.kinds or ["XQuAD en", "code", "policy, pinned", "documentation", "XQuAD de"]
    pooled: dict[str, list[Scores]] = {}
    all_sets: list[str] = []
    for name in kinds:
        chance = random.Random(SEED)
        asked = list({one.text: one for one in KINDS[name].questions(options.data)}.values())
        others = KINDS[FOREIGN.get(name, "XQuAD en")].questions(options.data)
        texts = chance.sample(sorted({one.text for one in others}), options.questions // 2)
        with opened(KINDS[name].database, "plain", None) as lexichord:
            chosen = chance.sample(asked, min(options.questions, len(asked)))
            found = lexichord.run(cases(lexichord.core, chosen, texts))
            print(f"{name}: {len(found)} cases", flush=True)
            scored = lexichord.run(judge(lexichord.core, found, options.models))
        sets = [case.of for case in found]
        print("\n".join(lines(scored, np.array(sets))), flush=True)
        all_sets += sets
        for judged_by, scores in scored.items():
            pooled.setdefault(judged_by, []).append(scores)
    print("all")
    whole = {judged_by: np.concatenate(scores) for judged_by, scores in pooled.items()}
    print("\n".join(lines(whole, np.array(all_sets))))


if __name__ == "__main__":
    main()
