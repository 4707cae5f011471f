import pytest

from lexichord.db import search
from lexichord.db.pool import Database
from lexichord.retrieve.confidence import confidence
from lexichord.types import Question
from tests.sql.corpus import Connection, call, put, value

RELATIVE = "select lexichord.relative_evidence(%s, %s, %s)"


def clauses(connection: Connection, count: int = 6) -> None:
    """Documents that all say the same of rent, and one that does not."""
    for number in range(count):
        lines = [f"rent is due in advance quarterly w{number}", f"parking cats w{number}"]
        put(connection, f"{number}", lines, [[1, 0.1 * number, 0, 0], [0, 0, 1, 0.1 * number]])
    put(connection, "other", ["rent boats", "parking"], [[0.5, 0, 1, 0], [0, 1, 0, 0]])
    call(connection, "build_indexes")


@pytest.mark.parametrize("vector", [None, "[1,0,0,0]"])
def test_is_near_one_for_what_the_best_say_and_less_for_others(
    connection: Connection, vector: str | None
) -> None:
    clauses(connection)
    said = value(connection, RELATIVE, "when is rent due", [1], vector)
    beside = value(connection, RELATIVE, "when is rent due", [13], vector)
    nothing = value(connection, RELATIVE, "when is rent due", [2], vector)
    assert said > 0.95
    assert said > 1.5 * beside > 0
    assert nothing < beside


def test_the_best_of_the_chunks_counts(connection: Connection) -> None:
    clauses(connection)
    alone = value(connection, RELATIVE, "rent due", [1], None)
    assert value(connection, RELATIVE, "rent due", [2, 1, 13], None) == alone


def test_nothing_that_matches_is_null_and_no_chunks_are_zero(connection: Connection) -> None:
    clauses(connection)
    assert value(connection, RELATIVE, "flibber", [1], None) is None
    assert value(connection, RELATIVE, "rent", [], None) == 0


def test_a_query_that_only_its_vector_knows(connection: Connection) -> None:
    clauses(connection)
    assert value(connection, RELATIVE, "flibber", [1], "[1,0,0,0]") > 0


def test_an_empty_database_has_nothing_to_compare(connection: Connection) -> None:
    assert value(connection, RELATIVE, "rent", [1], "[1,0,0,0]") is None


def test_a_model_weighs_its_terms_to_one(connection: Connection) -> None:
    clauses(connection)
    rows = call(
        connection, "relevance_model", query="rent due", chunk_ids=[1, 3], weights=[1.0, 0.5]
    )
    found = {row["lexeme"]: row["weight"] for row in rows}
    assert sum(found.values()) == pytest.approx(1)
    assert {"rent", "due", "advanc", "quarter"} <= found.keys()
    assert found["w0"] == pytest.approx(2 * found["w1"])
    assert "park" not in found


def test_scores_are_bm25_with_the_given_weights(library: Connection) -> None:
    exact = call(library, "exact_keyword_candidates", query="w1 w2", depth=200)
    idf = {
        row["lexeme"]: row["idf"]
        for row in call(library, "question_coverage", question="w1 w2", chunk_ids=[])
    }
    scores = call(
        library,
        "score_chunks",
        chunk_ids=[row["chunk_id"] for row in exact],
        lexemes=list(idf),
        weights=list(idf.values()),
    )
    assert {row["chunk_id"]: row["score"] for row in scores} == pytest.approx(
        {row["chunk_id"]: row["score"] for row in exact}
    )


def test_a_chunk_without_the_terms_scores_nothing(library: Connection) -> None:
    rows = call(library, "score_chunks", chunk_ids=[1], lexemes=["flibber"], weights=[1.0])
    assert [(row["chunk_id"], row["score"]) for row in rows] == [(1, 0)]


async def test_confidence_of_an_answer_and_of_none(fresh: Connection, database: Database) -> None:
    clauses(fresh)
    question = Question("when is rent due", k=3)
    hits = await search.hybrid_search(database, question)
    good = await confidence(database, question.text, hits)
    poor = await confidence(database, "who may keep parrots and flibber", hits)
    assert 0 <= poor < good <= 1
    assert await confidence(database, question.text, []) == 0
