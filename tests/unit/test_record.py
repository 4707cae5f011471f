"""What is recorded of a response: never a word of the question, unless its text is to be kept."""

import json
from dataclasses import replace
from typing import Any

from lexichord.db.catalogue import query_record
from lexichord.types import HitScores, Question, Response, Scope, Step
from lexichord.types.evidence import ContextSource, Quote
from lexichord.types.questions import Intent
from lexichord.types.response import Coverage, Reflection, Round
from tests.builders import FILE, HIT

WORD = "zanzibar"  # of the question
ODD: Any = {"odd": WORD}  # no number, whatever the records' types say
SAID = replace(
    HIT,
    **dict.fromkeys(("title", "heading", "content", "context"), WORD),  # type: ignore[arg-type]
    scores=HitScores(0.5, None, 1.2, contributions={"original": 0.1, **ODD}),
    ranks={"dense": 1, "keyword": None, **ODD},
)
INTENT = Intent("general", WORD, WORD, ("doc_2",), (WORD,), (WORD,), WORD, WORD)
COVERAGE = Coverage(0.5, (WORD,), (WORD,), (WORD,))
RESPONSE = Response(
    query=WORD,
    intent=INTENT,
    files=[replace(FILE, title=WORD)],
    hits=[SAID],
    context=WORD,
    sources=[ContextSource(1, WORD, "a.md", 0, 4, None, "chunk_1", "doc_2", 0.5)],
    quotes=[Quote.of(SAID)],
    answer=WORD,
    confidence=0.25,
    reflection=Reflection(COVERAGE, WORD, (Round(WORD, WORD, 1.0, 0.5, WORD),), (WORD,), (WORD,)),
    degraded=[WORD, WORD],
    trace=[
        Step("intent", {"query": WORD}, {"reason": WORD}, ms=1.0),
        Step("search", {}, [WORD, WORD], [WORD], ms=2.5),
    ],
)
QUESTION = Question(
    WORD, hint=WORD, space="a/b/4", scope=Scope(("d",), ("doc_2",), WORD, {"k": WORD})
)


def test_no_word_of_the_question_is_recorded() -> None:
    record = query_record(RESPONSE, QUESTION, keep_text=False)
    assert WORD not in json.dumps(record)
    assert (record["query"], record["hint"], record["hinted"]) == (None, None, True)


def test_what_is_recorded_instead() -> None:
    record = query_record(RESPONSE, QUESTION, keep_text=False)
    assert record["stages"] == [
        {"stage": "intent", "ms": 1.0},
        {"stage": "search", "ms": 2.5, "made": 2, "dropped": 1},
    ]
    assert record["counts"] == {"files": 1, "quotes": 1, "degraded": 2, "rounds": 1}
    assert record["hits"] == [
        {
            **{"chunk_id": "chunk_1", "dataset": "default", "uri": "a/lease.md"},
            **{"char_start": 10, "char_end": 14},
            "score": 0.5,
            "scores": {
                **{"dense": 0.5, "keyword": None, "fused": 1.2},
                "contributions": {"original": 0.1},
            },
            "ranks": {"dense": 1, "keyword": None},
        }
    ]
    assert (record["space"], record["datasets"], record["narrowed"]) == ("a/b/4", ["d"], True)
    assert (record["coverage"], record["confidence"]) == (0.5, 0.25)


def test_the_text_is_recorded_where_it_is_to_be_kept() -> None:
    with_text = query_record(RESPONSE, QUESTION, keep_text=True)
    without = query_record(RESPONSE, QUESTION, keep_text=False)
    assert with_text == {**without, "query": WORD, "hint": WORD}


def test_what_was_not_done_is_not_recorded_as_done() -> None:
    plain = replace(RESPONSE, intent=Intent("general", WORD), reflection=None)
    record = query_record(plain, Question(WORD, space="a/b/4", mode="keyword"), keep_text=True)
    assert (record["coverage"], record["counts"]["rounds"]) == (None, 0)
    assert (record["space"], record["datasets"], record["narrowed"]) == (None, [], False)
    assert (record["hint"], record["hinted"]) == (None, False)
