from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from lexichord.db import search
from lexichord.db.pool import Database
from lexichord.retrieve.evidence.sentences import EMBEDDED_SENTENCES
from lexichord.retrieve.judge.confidence import (
    FIRST_EMBEDDED,
    evidence_confidence,
    measure_evidence,
)
from lexichord.retrieve.judge.in_documents import document_confidence, relative_evidence
from lexichord.types import ChunkHit, Question, Scope
from tests.sql.corpus import Connection, call, put


def clauses(connection: Connection, count: int = 6) -> None:
    """Documents that all say the same of rent, and one that does not."""
    for number in range(count):
        lines = [f"rent is due in advance quarterly w{number}", f"parking cats w{number}"]
        put(connection, f"{number}", lines, [[1, 0.1 * number, 0, 0], [0, 0, 1, 0.1 * number]])
    put(connection, "other", ["rent boats", "parking"], [[0.5, 0, 1, 0], [0, 1, 0, 0]])
    call(connection, "build_indexes")


async def hits_of(database: Database, text: str, *chunks: int) -> list[ChunkHit]:
    hits = {hit.chunk_id: hit for hit in await search.hybrid_search(database, Question(text, k=50))}
    return [hits[database.ids.write("chunk", chunk)] for chunk in chunks]


@pytest.mark.parametrize("vector", [None, [1.0, 0.0, 0.0, 0.0]])
async def test_is_near_one_for_what_the_best_say_and_less_for_others(
    fresh: Connection, database: Database, vector: list[float] | None
) -> None:
    clauses(fresh)
    answering, nothing, beside = await hits_of(database, "rent parking", 1, 2, 13)
    good = await relative_evidence(database, Question("when is rent due", vector), [answering])
    some = await relative_evidence(database, Question("when is rent due", vector), [beside])
    none = await relative_evidence(database, Question("when is rent due", vector), [nothing])
    assert good > 0.95
    assert good > 1.5 * some > 0
    assert none < some


async def test_the_best_of_the_hits_counts(fresh: Connection, database: Database) -> None:
    clauses(fresh)
    answering, nothing, beside = await hits_of(database, "rent parking", 1, 2, 13)
    alone = await relative_evidence(database, Question("rent due"), [answering])
    together = await relative_evidence(database, Question("rent due"), [nothing, answering, beside])
    assert together == pytest.approx(alone, rel=0.05)


async def test_nothing_that_matches_and_no_hits_are_no_evidence(
    fresh: Connection, database: Database
) -> None:
    assert await relative_evidence(database, Question("rent", [1.0, 0.0, 0.0, 0.0]), []) == 0
    clauses(fresh)
    assert (
        await relative_evidence(database, Question("flibber"), await hits_of(database, "rent", 1))
        == 0
    )
    assert await relative_evidence(database, Question("rent"), []) == 0


async def test_a_query_that_only_its_vector_knows(fresh: Connection, database: Database) -> None:
    clauses(fresh)
    hits = await hits_of(database, "rent", 1)
    relative = await relative_evidence(database, Question("flibber", [1.0, 0.0, 0.0, 0.0]), hits)
    assert relative > 0


async def test_confidence_of_an_answer_and_of_none(fresh: Connection, database: Database) -> None:
    clauses(fresh)
    question = Question("when is rent due", k=3)
    hits = await search.hybrid_search(database, question)
    other = Question("who may keep parrots and flibber")
    for judge in (document_confidence, evidence_confidence):
        assert 0 <= await judge(database, other, hits) < await judge(database, question, hits) <= 1
        assert await judge(database, question, []) == 0


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


async def test_other_datasets_are_no_rivals_but_other_documents_are(
    fresh: Connection, database: Database
) -> None:
    clauses(fresh)
    put(fresh, "theirs", ["rent is due when the moon is full"], [[1, 0, 0, 0]], dataset="theirs")
    scope = Scope(datasets=("theirs",))
    (hit,) = await search.hybrid_search(database, Question("rent", scope=scope))
    alone = await relative_evidence(database, Question("rent moon", scope=scope), [hit])
    assert alone == pytest.approx(1)
    pinned = Scope(datasets=("library",), documents=(database.ids.write("doc", 1),))
    answering, nothing = await hits_of(database, "rent parking", 1, 2)
    judged = [
        await relative_evidence(database, Question("rent due", scope=pinned), [each])
        for each in (answering, nothing)
    ]
    assert judged[0] > 0.9 > judged[1]
