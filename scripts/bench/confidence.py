"""Confidence on ContractNLI dev, the samples and code: sets that it was not fitted on."""

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from common import ENGINES, cache_folder, opened
from lexichord import SyncLexichord
from lexichord.db import search
from lexichord.retrieve.confidence import (
    JUDGED_HITS,
    MAX_DENIED_CONFIDENCE,
    MIN_CONFIDENCE,
    evidence_confidence,
)
from lexichord.retrieve.evidence.relevance import EmbedSentences
from lexichord.types import Question, Scope
from quality import _document

SAMPLES = Path(__file__).parents[2] / "samples"
BINS = 10

type Floats = NDArray[np.float64]
type ScopedQuery = tuple[str, tuple[str, ...]]  # a question, and the documents in its scope


@dataclass
class Sets:
    """Confidences by set; `answerable` and `half` belong to `pairs`."""

    pairs: Floats
    answerable: NDArray[np.bool_]
    half: NDArray[np.int64]
    elsewhere: dict[str, Floats]


def collect(data: Path, engine: str, server: str | None, with_vector: bool, every: int) -> Sets:
    nli = json.loads((data / "contractnli/dev.json").read_text())
    claims = {key: label["hypothesis"] for key, label in nli["labels"].items()}
    code = _lines(data / "codebase/evaluation_set.jsonl")[::every]
    questions = [
        each for each in _lines(SAMPLES / "questions.jsonl") if each.get("answerable", True)
    ]
    invented = _lines(SAMPLES / "unanswerable.jsonl")
    queries = [question["query"] for question in code]
    elsewhere: dict[str, Floats] = {}
    with opened("contractnli-dev", engine, server) as lexichord:
        nli["documents"] = nli["documents"][::every]
        ids = _fill_nli(lexichord, nli["documents"])
        pairs = [(claim, (ids[n],)) for n in range(len(ids)) for claim in claims.values()]
        confidences = _ask(lexichord, pairs, with_vector)
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
    return Sets(confidences, np.array(answers), half, elsewhere)


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


def _ask(lexichord: SyncLexichord, queries: Sequence[ScopedQuery], with_vector: bool) -> Floats:
    texts = sorted({query for query, _ in queries})
    vectors: dict[str, list[float]] = {}
    if with_vector:
        assert lexichord.core.embedder is not None
        rows = lexichord.core.embedder.embed(texts, "query").tolist()
        vectors = dict(zip(texts, rows, strict=True))
    return lexichord.run(_confidences(lexichord, queries, vectors, _kept(lexichord)))


def _kept(lexichord: SyncLexichord) -> EmbedSentences:
    """Return what embeds sentences, each once."""
    known: dict[str, NDArray[np.float32]] = {}
    embedder = lexichord.core.embedder
    assert embedder is not None

    def embed(texts: Sequence[str]) -> NDArray[np.float32]:
        new = [text for text in dict.fromkeys(texts) if text not in known]
        known.update(zip(new, embedder.embed(new, "document") if new else (), strict=True))
        return np.array([known[text] for text in texts], np.float32)

    return embed


async def _confidences(
    lexichord: SyncLexichord,
    queries: Sequence[ScopedQuery],
    vectors: dict[str, list[float]],
    embed: EmbedSentences,
) -> Floats:
    database, confidences = lexichord.core.database, []
    for query, documents in queries:
        scope = Scope(documents=documents)
        question = Question(query, vectors.get(query), scope=scope, k=JUDGED_HITS)
        hits = await search.hybrid_search(database, question)
        confidences.append(await evidence_confidence(database, question, hits, embed))
    return np.array(confidences)


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


def report(sets: Sets) -> None:
    scores = sets.pairs
    for name, number in (("A", 0), ("B", 1)):
        own, truth = scores[sets.half == number], sets.answerable[sets.half == number]
        table = reliability(own, truth)
        error = sum(count * abs(mean - share) for count, mean, share in table) / len(own)
        print(f"  half {name}: {len(own)} pairs, AUROC {auroc(own, truth):.3f}, ECE {error:.3f},")
        missed, caught = (own[truth] < MIN_CONFIDENCE).mean(), (own[~truth] < MIN_CONFIDENCE).mean()
        print(f"    abstains on {missed:.1%} of the answerable, {caught:.1%} of the others")
        denied = own < MAX_DENIED_CONFIDENCE
        print(
            f"    says of {denied.sum()} that they do not say, rightly of {(~truth[denied]).sum()}"
        )
        for count, mean, share in table:
            print(f"    {count:4} {mean:.2f} {share:.2f}")
    print("  elsewhere: abstains; confidence at 5, 10, 25, 50, 90 %")
    for name, confidences in sets.elsewhere.items():
        places = " ".join(
            f"{place:.2f}" for place in np.percentile(confidences, [5, 10, 25, 50, 90])
        )
        refused = (confidences < MIN_CONFIDENCE).sum()
        print(f"    {name:32} {refused:3} of {len(confidences):3}  {places}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the public sets")
    parser.add_argument("--engine", choices=ENGINES, default="plain")
    parser.add_argument("--server", help="a server's DSN; by default the embedded one")
    parser.add_argument("--every", type=int, default=1, help="agreements and code questions")
    arguments = parser.parse_args()
    for name, with_vector in (("with a vector", True), ("by words alone", False)):
        print(name)
        report(
            collect(
                arguments.data, arguments.engine, arguments.server, with_vector, arguments.every
            )
        )


if __name__ == "__main__":
    main()
