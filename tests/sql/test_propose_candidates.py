"""Candidates that are made once: what takes them gives what it gives by a search of its own."""

from typing import Any

import pytest
from psycopg.types.json import Jsonb

from tests.alike import differences
from tests.sql.calls import FILTER, VECTOR
from tests.sql.corpus import SPACE, Connection, Row, call

PROPOSED = "propose_candidates"
ASKED: dict[str, Any] = {
    **{"query": "w1 w2 w7", "query_vector": VECTOR, "query_space": SPACE, "depth": 100},
    **dict.fromkeys(("datasets", "documents", "uri_prefix", "filter")),
    "weights": [0.35, 0.65],
}
TAKERS: dict[str, Row] = {
    "feedback_chunks": {},
    "relevance_feedback": {},
    "discover_files": {},
    "variant_candidates": {"boost": {"3": 0.5}},
}


@pytest.mark.parametrize(
    "own",
    [
        {},
        {"depth": 200},
        {"datasets": ["north"], "filter": FILTER},
        {"documents": [1, 2, 3, 4]},
        {"weights": [1.0, 0.0]},
        {"weights": [0.0, 1.0]},
        {"query_vector": None},
        {"query": "nowhere"},
        {"datasets": []},
    ],
    ids=str,
)
@pytest.mark.parametrize("function", TAKERS)
def test_what_takes_candidates_gives_what_it_finds_itself(
    library: Connection, function: str, own: Row
) -> None:
    asked = ASKED | own
    (made,) = call(library, "propose_candidates", **asked)
    known = call(library, function, **asked, **TAKERS[function], candidates=made[PROPOSED])
    assert differences(known, call(library, function, **asked, **TAKERS[function])) == []


TERMS = {"variant_candidates": "terms"}  # which takes others' as well


@pytest.mark.parametrize("own", [{}, {"documents": [1, 2, 3, 4]}, {"query": "nowhere"}], ids=str)
@pytest.mark.parametrize("function", ["propose_candidates", *TAKERS])
def test_what_takes_terms_gives_what_it_gives_by_its_own(
    library: Connection, function: str, own: Row
) -> None:
    asked = ASKED | own
    scope = {key: asked[key] for key in ("query", "documents")}
    (terms,) = call(library, "question_terms", **scope)
    given = {TERMS.get(function, "question_terms"): Jsonb(terms["question_terms"])}
    own_way = asked | TAKERS.get(function, {})
    known = call(library, function, **own_way, **given)
    assert differences(known, call(library, function, **own_way)) == []


def test_terms_take_the_place_of_the_querys_words(library: Connection) -> None:
    (others,) = call(library, "question_terms", query="w30")
    asked = ASKED | {"query_vector": None}
    by_others = call(
        library, "discover_files", **asked, question_terms=Jsonb(others["question_terms"])
    )
    own = call(library, "discover_files", **asked)
    assert by_others == call(library, "discover_files", **asked | {"query": "w30"}) != own


def test_candidates_are_not_searched_for_again(library: Connection) -> None:
    (others,) = call(library, "propose_candidates", **ASKED | {"query": "w30"})
    by_others = call(library, "feedback_chunks", **ASKED, candidates=others[PROPOSED])
    own = call(library, "feedback_chunks", **ASKED)
    assert by_others == call(library, "feedback_chunks", **ASKED | {"query": "w30"}) != own
