from math import log

import pytest

from lexichord.db import search
from lexichord.db.pool import Database
from lexichord.retrieve.reflection import measure_coverage
from lexichord.types import Question
from tests.sql.corpus import Connection, call, put


def test_terms_with_their_words_statistics_and_passages(connection: Connection) -> None:
    put(connection, "a", ["tenants pay rents", "the landlord shall pay", "nothing"])
    rows = call(
        connection,
        "question_coverage",
        question="Shall the tenant, or tenants, pay all flibber?",
        chunk_ids=[1, 2],
    )
    terms = {row["lexeme"]: (row["words"], row["times"], row["df"], row["chunks"]) for row in rows}
    assert terms == {
        "flibber": (["flibber"], 1, 0, []),
        "pay": (["pay"], 1, 2, [1, 2]),
        "shall": (["Shall"], 1, 1, [2]),
        "tenant": (["tenant", "tenants"], 2, 1, [1]),
    }
    assert {row["lexeme"]: row["idf"] for row in rows} == pytest.approx(
        {
            "flibber": log(8),
            "pay": log(1.6),
            "shall": log(1 + 2.5 / 1.5),
            "tenant": log(1 + 2.5 / 1.5),
        }
    )


def test_contexts_do_not_count(connection: Connection) -> None:
    put(connection, "a", ["pay"], headings=["Rent"], title="Lease")
    rows = call(connection, "question_coverage", question="rent of a lease", chunk_ids=[1])
    assert [(row["lexeme"], row["chunks"]) for row in rows] == [("leas", []), ("rent", [])]


@pytest.mark.parametrize("question", ["", "the of", "?"])
def test_a_question_without_lexemes_has_no_rows(library: Connection, question: str) -> None:
    assert call(library, "question_coverage", question=question, chunk_ids=[1]) == []


def test_unknown_chunks_hold_nothing(library: Connection) -> None:
    rows = call(library, "question_coverage", question="w1", chunk_ids=[-1])
    assert [row["chunks"] for row in rows] == [[]]


async def test_coverage_counts_terms_entities_and_parts(
    fresh: Connection, database: Database
) -> None:
    put(fresh, "a", ["Orrin pays rent", "a dog barks"], title="Lease")
    call(fresh, "build_indexes")
    hits = await search.hybrid_search(database, Question("rent"))
    coverage = await measure_coverage(
        database, "rent cat", hits, ["Orrin", "Orr"], ["who pays rent?", "has the cat fleas?"]
    )
    assert coverage.missing_terms == ("cat",)
    assert coverage.missing_entities == ("Orr",)
    assert coverage.uncovered_sub_questions == ("has the cat fleas?",)
    rent, cat = (
        await search.question_coverage(database, "rent", [hits[0].chunk_id]),
        log(1 + 2.5 / 0.5),
    )
    assert coverage.score == pytest.approx((rent[0].idf / (rent[0].idf + cat) + 0.5 + 0.5) / 3)


async def test_no_hits_cover_nothing(database: Database) -> None:
    coverage = await measure_coverage(database, "rent", [])
    assert coverage.score == 0
    assert coverage.missing_terms == ("rent",)
