from collections.abc import Sequence
from math import log

import numpy as np
import pytest
from numpy.typing import NDArray

from lexichord.db import search
from lexichord.db.pool import Database
from lexichord.db.search import LEAST_CHUNKS, weigh_terms
from lexichord.retrieve.confidence import FIRST_EMBEDDED, evidence_confidence, measure_evidence
from lexichord.retrieve.evidence.sentences import EMBEDDED_SENTENCES
from lexichord.types import Question
from tests.sql.corpus import Connection, call, put


def clauses(connection: Connection, count: int = 6) -> None:
    """Documents that all say the same of rent, and one that does not."""
    for number in range(count):
        lines = [f"rent is due in advance quarterly w{number}", f"parking cats w{number}"]
        put(connection, f"{number}", lines, [[1, 0.1 * number, 0, 0], [0, 0, 1, 0.1 * number]])
    put(connection, "other", ["rent boats", "parking"], [[0.5, 0, 1, 0], [0, 1, 0, 0]])
    call(connection, "build_indexes")


async def test_confidence_of_an_answer_and_of_none(fresh: Connection, database: Database) -> None:
    clauses(fresh)
    question = Question("when is rent due", k=3)
    hits = await search.hybrid_search(database, question)
    other = Question("who may keep parrots and flibber")
    some = await evidence_confidence(database, other, hits)
    assert 0 <= some < await evidence_confidence(database, question, hits) <= 1
    assert await evidence_confidence(database, question, []) == 0


async def test_sentences_are_embedded_until_there_is_no_doubt(
    fresh: Connection, database: Database
) -> None:
    lines = ". ".join(f"Rent {number} is due" for number in range(30))
    put(fresh, "rent", [lines], [[1, 0, 0, 0]])
    call(fresh, "build_indexes")
    question = Question("when is rent due", [1.0, 0.0, 0.0, 0.0])
    hits = await search.hybrid_search(database, question)
    counts = []
    for cosine in (1.0, 0.0):
        asked: set[str] = set()

        def embed(
            texts: Sequence[str], cosine: float = cosine, asked: set[str] = asked
        ) -> NDArray[np.float32]:
            asked.update(texts)
            return np.array([[cosine, 0, 0, (1 - cosine**2) ** 0.5]] * len(texts), np.float32)

        signals = await measure_evidence(database, question, hits, embed)
        assert signals.cosine == pytest.approx(cosine)
        assert signals.passage == pytest.approx(1, abs=0.4)
        counts.append(len(asked))
    assert counts == [FIRST_EMBEDDED, EMBEDDED_SENTENCES]


async def test_in_a_tiny_collection_an_unheard_word_weighs_little_more(
    fresh: Connection, database: Database
) -> None:
    put(fresh, "rent", ["rent is due"], [[1, 0, 0, 0]])
    one = {each.lexeme: each.idf for each in await weigh_terms(database, ["rent boats"])}
    assert 1 < one["boat"] / one["rent"] < 1.3
    lines = [f"cats {number}" for number in range(LEAST_CHUNKS)]
    put(fresh, "cats", lines, [[0, 1, 0, 0]] * LEAST_CHUNKS)
    many = {each.lexeme: each.idf for each in await weigh_terms(database, ["rent boats cats"])}
    assert many["rent"] == pytest.approx(log((LEAST_CHUNKS + 2) / 1.5))
    assert many["cat"] < 0.01
