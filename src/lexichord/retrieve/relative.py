"""Evidence judged by what the rest of the database says on the same question, sentence by sentence.

How a sentence would read that answers is learnt from the best sentence of each of the best
documents anywhere: relevance feedback (RM3; Abdul-Jaleel et al., 2004) with sentences as documents.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lexichord.db import evidence, search
from lexichord.db.evidence import Terms
from lexichord.db.pool import Database
from lexichord.retrieve.sentences import split_sentences
from lexichord.types import ChunkHit, Question

type Floats = NDArray[np.float64]

# Whether a document answers: ContractNLI dev, AUROC on half A with a vector / by words, .821 / .814
# as it is. With whole passages in place of sentences .798, with windows of 50 words .793, with two
# sentences .799, cut at every line and stop .808 (those from a prototype where sentences had .821).
DEPTH = 100  # chunks of the whole database among which the rivals are
DOCUMENTS = 10  # rivals; 8, 15: .821 / .805, .815 / .808
PASSAGES = 2  # of each; 1, 3: .816 / .809, .821 / .814
ROUNDS = 5  # 2, 3: .816 / .806, .818 / .810
LEARNT = 5  # documents; 3, 4, 7: .827 / .799, .824 / .798, .819 / .814
TERMS = 30  # 20, 40: .818 / .807, .820 / .810
FEEDBACK = 0.8  # share of what is learnt in the model; .7, .9: .817 / .813, .822 / .806
MEANING = 0.2  # of the passage's cosine in ranking the sentences; .1, .3: .821 / .816, .821 / .809
LEAST = 0.05  # weight of a learnt sentence; with equal weights .813 / .805
K1, B = 0.9, 0.4  # of BM25; b 0, .75: .818 / .798, .816 / .811


async def relative_evidence(
    database: Database, question: Question, hits: Sequence[ChunkHit]
) -> float:
    """Compare the hits' best sentence with the best ones of the whole scope, beyond its documents.

    About 1 or more if nothing better is stored, near 0 if others say it and the hits do not, 0 if
    nothing matches the question at all.
    """
    found = await search.hybrid_search(database, _anywhere(question))
    rivals = [(hit, text) for hit in _rivals(found) for text in _sentences(hit)]
    own = [text for hit in hits for text in _sentences(hit)]
    if not rivals:
        return 0.0
    asked, *terms = await evidence.weigh_terms(
        database, [question.text, *(text for _, text in rivals), *own]
    )
    documents = [hit.document_id for hit, _ in rivals]
    cosines = [hit.scores["dense"] for hit, _ in rivals]
    return compare(asked, terms, documents, cosines)


def _anywhere(question: Question) -> Question:
    """Ask it of all documents, but never of another dataset: that may be another tenant's."""
    scope = replace(question.scope, documents=())
    text, vector, space = question.text, question.vector, question.space
    return Question(text, vector, space=space, scope=scope, k=DEPTH)


def _rivals(found: Sequence[ChunkHit]) -> list[ChunkHit]:
    """Give the best chunks of the first documents."""
    by_document: dict[int, list[ChunkHit]] = {}
    for hit in found:
        by_document.setdefault(hit.document_id, []).append(hit)
    return [hit for own in list(by_document.values())[:DOCUMENTS] for hit in own[:PASSAGES]]


def _sentences(hit: ChunkHit) -> list[str]:
    return [hit.content[start:end] for start, end, _ in split_sentences(hit.content)]


def compare(
    asked: Terms,
    sentences: Sequence[Terms],
    documents: Sequence[int],
    cosines: Sequence[float | None],
) -> float:
    """Compare the best of the last sentences with those that the first ones teach.

    All texts are {lexeme: (frequency, idf)}. The first sentences are rivals, each with its document
    and the cosine of its passage.
    """
    matches, idf, share = _weigh(sentences)
    count = len(documents)
    query = np.array([asked[name][0] if name in asked else 0.0 for name in idf]) * [*idf.values()]
    query /= query.sum() or 1.0
    lowest = min((cosine for cosine in cosines if cosine is not None), default=0.0)
    meaning = _scaled(np.array([lowest if cosine is None else cosine for cosine in cosines]))
    model = query
    for _ in range(ROUNDS):
        ranking = MEANING * meaning + (1 - MEANING) * _scaled(matches[:count] @ model)
        best = _best(ranking, documents)
        learnt = np.maximum(ranking[best], LEAST) @ share[best]
        learnt[np.argsort(-learnt, kind="stable")[TERMS:]] = 0
        model = (1 - FEEDBACK) * query + FEEDBACK * learnt / (learnt.sum() or 1.0)
    reference = float((matches[best] @ model).mean())
    return float((matches[count:] @ model).max(initial=0.0)) / reference if reference else 0.0


def _weigh(sentences: Sequence[Terms]) -> tuple[Floats, dict[str, float], Floats]:
    """Give BM25's part of each lexeme in each sentence without idf; idf; frequencies x idf."""
    idf = {name: weight for terms in sentences for name, (_, weight) in terms.items()}
    column = {name: number for number, name in enumerate(idf)}
    counts = np.zeros((len(sentences), len(idf)))
    for row, terms in enumerate(sentences):
        for name, (frequency, _) in terms.items():
            counts[row, column[name]] = frequency
    length = np.maximum(counts.sum(axis=1, keepdims=True), 1)
    matches = counts * (K1 + 1) / (counts + K1 * (1 - B + B * length / length.mean()))
    return matches, idf, counts / length * [*idf.values()]


def _scaled(scores: Floats) -> Floats:
    return (scores - scores.mean()) / (scores.std() or 1.0)


def _best(ranking: Floats, documents: Sequence[int]) -> list[int]:
    """Give the best sentence of each of the best documents."""
    first: dict[int, int] = {}
    for number in np.argsort(-ranking, kind="stable").tolist():
        first.setdefault(documents[number], number)
    return list(first.values())[:LEARNT]
