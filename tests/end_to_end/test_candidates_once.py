"""Candidates that are made once serve the question that they were made for, and no other."""

from dataclasses import replace
from typing import Any

import pytest

from lexichord import SyncLexichord
from lexichord.db.search import discover_files, propose_candidates, relevance_feedback
from lexichord.types import Question, Scope

ASKED = Question("how long are customer support logs kept", depth=100)
OTHER = "Which agreement provides for escrow of source code?"


def asked(samples: SyncLexichord, question: Question) -> tuple[Any, Any]:
    database = samples.core.database
    found = samples.run(discover_files(database, question))
    return found, samples.run(relevance_feedback(database, question, None))


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"query": OTHER},
        {"scope": Scope(uri_prefix="nowhere")},
        {"mode": "keyword"},
        {"dense_share": 0.9},
        {"depth": 200},
        {"hint": "data retention policy"},
    ],
    ids=str,
)
def test_a_question_that_is_another_is_searched_for(
    samples: SyncLexichord, change: dict[str, Any]
) -> None:
    database, embedder = samples.core.database, samples.core.embedder
    assert embedder is not None
    vectors = dict(
        zip((ASKED.query, OTHER), embedder.embed([ASKED.query, OTHER], "query"), strict=True)
    )
    question = replace(ASKED, vector=vectors[ASKED.query].tolist(), space=str(embedder.space))
    known = samples.run(propose_candidates(database, question))
    assert known.candidates is not None
    changed = replace(question, **change)
    changed = replace(changed, vector=vectors[changed.query].tolist())
    given = replace(changed, candidates=known.candidates)
    assert asked(samples, given) == asked(samples, changed)
