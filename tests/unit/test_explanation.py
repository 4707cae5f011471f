"""How a response came about, in one object."""

import json
from dataclasses import replace

from lexichord.types import Explanation, HitScores, Part, Step
from tests.builders import HIT, RESPONSE

FOUND = replace(
    HIT,
    chunk_id="chunk_7",
    scores=HitScores(0.91234, None, 0.5, 0.03, {"original": 0.02, "file 2": 0.01}),
    ranks={"dense": 1, "keyword": None, "original": 1, "file 2": 4},
)
OTHER = replace(FOUND, chunk_id="chunk_8", ranks={**HIT.ranks, "rewrite": 2}, scores=HIT.scores)
TRACE = [
    Step("intent", {"query": "q", "hint": None}, {"kind": "x"}, ms=2.04),
    Step("min_score", {"dense": 0.5}, dropped=["chunk_9", "chunk_10"], ms=0.0),
    Step("search", {"hint": None}, [{"chunk_id": "chunk_7", "ranks": {"dense": 1}}], ms=3),
    Step("confidence", {}, 0.0, ms=1.0),
]
EXPLAINED = Explanation(replace(RESPONSE, hits=[FOUND, OTHER], trace=TRACE))


def test_each_list_tells_rank_and_score_of_a_hit() -> None:
    assert EXPLAINED.parts(FOUND) == [
        Part("dense", 1, 0.91234),
        Part("keyword", None, None),
        Part("original", 1, 0.02),
        Part("file 2", 4, 0.01),
        Part("rewrite", None, None),
    ]
    assert EXPLAINED.lists == ["dense", "keyword", "original", "file 2", "rewrite"]
    shape = EXPLAINED.to_dict()["hits"][0]["lists"]
    assert shape["file 2"] == {"rank": 4, "score": 0.01}


def test_a_step_leaves_out_what_it_does_not_say_but_in_an_explanation() -> None:
    response, explanation = EXPLAINED.response.to_dict(), EXPLAINED.to_dict()
    assert json.dumps(response["trace"][:2]) == (
        '[{"stage": "intent", "given": {"query": "q", "hint": null}, "made": {"kind": "x"}, '
        '"ms": 2.04}, '
        '{"stage": "min_score", "given": {"dense": 0.5}, "dropped": ["chunk_9", "chunk_10"], '
        '"ms": 0.0}]'
    )
    assert json.dumps(explanation["steps"][:2]) == (
        '[{"stage": "intent", "ms": 2.04, "given": {"query": "q", "hint": null}, '
        '"made": {"kind": "x"}, "dropped": []}, '
        '{"stage": "min_score", "ms": 0.0, "given": {"dense": 0.5}, "made": null, '
        '"dropped": ["chunk_9", "chunk_10"]}]'
    )
    assert Step("answer", {}, dropped=[], ms=1.0).to_dict()["dropped"] == []


def test_scores_leave_out_what_the_search_does_not_make() -> None:
    searched, queried = HitScores(0.9, None, 0.5), replace(FOUND.scores, rerank=0.7)
    assert json.dumps(searched.to_dict()) == '{"dense": 0.9, "keyword": null, "fused": 0.5}'
    assert json.dumps(queried.to_dict()) == (
        '{"dense": 0.91234, "keyword": null, "fused": 0.5, "variants": 0.03, '
        '"contributions": {"original": 0.02, "file 2": 0.01}, "rerank": 0.7}'
    )


def test_it_reads_as_lines() -> None:
    assert str(EXPLAINED).splitlines() == [
        "Stages",
        "     2.0 ms  intent",
        "             given: query: q",
        "             made: kind: x",
        "     0.0 ms  min_score",
        "             given: dense: 0.5",
        "             dropped: chunk_9, chunk_10",
        "     3.0 ms  search",
        "             made: chunk_id chunk_7",
        "     1.0 ms  confidence",
        "             made: 0",
        "Hits: rank (score) in each list",
        "  1. 0.5  chunk_7  Lease › Rent",
        "     dense: 1 (0.9123); keyword: –; original: 1 (0.02); file 2: 4 (0.01); rewrite: –",
        "  2. 0.5  chunk_8  Lease › Rent",
        "     dense: 1 (0.9); keyword: –; original: –; file 2: –; rewrite: 2",
    ]


def test_what_a_document_says_does_not_reach_the_terminal() -> None:
    hostile = replace(FOUND, title="\x1b[2J", heading="a\nb")
    assert "chunk_7  \ufffd[2J › a b" in str(Explanation(replace(RESPONSE, hits=[hostile])))
