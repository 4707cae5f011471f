from typing import Any

import pytest

from lexichord.db import search
from lexichord.db.pool import Database
from lexichord.retrieve.understand.intent import rewrite
from lexichord.types import ChunkHit, HitScores, Scope
from tests.sql.corpus import Connection, call, put

LINES = ["Rent and deposits are due", "A deposit secures rent", "the deposit, the keys", "keys"]


def test_words_that_chunks_share_and_the_question_lacks(connection: Connection) -> None:
    put(connection, "a", LINES)
    rows = call(connection, "related_words", question="rents", chunk_ids=[1, 2, 3])
    assert [(row["word"], row["lexeme"], row["chunks"]) for row in rows] == [
        ("deposit", "deposit", 3)
    ]


def test_most_cuts_the_list(connection: Connection) -> None:
    put(connection, "a", ["one cat dog", "two cat dog", "two"])
    arguments = {"question": "x", "chunk_ids": [1, 2, 3]}
    assert len(call(connection, "related_words", **arguments)) == 3
    assert len(call(connection, "related_words", most=1, **arguments)) == 1


def test_definitions_are_between_quotes_or_brackets(connection: Connection) -> None:
    lines = [
        "the Data Protection Officer (DPO) decides",
        '"DPO" means an officer',
        "our DPO is here",
        "a “dpo” it is",
        "ADPO (ADPO)",
    ]
    put(connection, "a", lines)
    rows = call(connection, "find_definitions", terms=["DPO", "XYZ", "the"])
    definitions = {row["chunk_id"]: (row["term"], row["before"], row["after"]) for row in rows}
    assert definitions == {
        1: ("DPO", "the Data Protection Officer ", " decides"),
        2: ("DPO", "", " means an officer"),
        4: ("DPO", "a ", " it is"),
    }


@pytest.mark.parametrize("term", ["C++", "a(b", "x|y", "$1", "\\", "[z]"])
def test_a_term_is_no_pattern(connection: Connection, term: str) -> None:
    put(connection, "a", [f'cb "{term}" means', "a b x y 1 z c"])
    rows = call(connection, "find_definitions", terms=[term])
    assert all(row["chunk_id"] == 1 and row["after"] == " means" for row in rows)


def test_scope(connection: Connection) -> None:
    for name in "ab":
        put(connection, name, [f'"DPO" means {name}'], dataset=f"of {name}")
    for scope in ({"documents": [2]}, {"datasets": ["of b"]}, {"uri_prefix": "b"}):
        rows = call(connection, "find_definitions", terms=["DPO"], **scope)
        assert [row["after"] for row in rows] == [" means b"]


def hits(database: Database, *chunks: int) -> list[ChunkHit]:
    place: tuple[Any, ...] = (
        database.ids.write("doc", 1),
        "d",
        "a",
        "a",
        "",
        0,
        1,
        None,
        "",
        "",
        1.0,
        HitScores(None, None, None),
        {},
    )
    return [ChunkHit(database.ids.write("chunk", chunk), *place) for chunk in chunks]


async def test_another_tenants_definitions_expand_nothing(
    fresh: Connection, database: Database
) -> None:
    put(fresh, "a", ["the data protection officer (DPO) decides"], dataset="theirs")
    put(fresh, "b", ["our DPO decides"], dataset="ours")
    call(fresh, "build_indexes")
    ours = await rewrite(
        database, "the DPO", hits(database, 2), Scope(datasets=("ours",)), kind="expansion"
    )
    assert (ours.kind, ours.text) == ("none", "the DPO")
    all_of_them = await rewrite(database, "the DPO", hits(database, 2), Scope(), kind="expansion")
    assert all_of_them.text == "the DPO data protection officer"


async def test_a_rewrite_is_chosen_by_what_is_missing(
    fresh: Connection, database: Database
) -> None:
    put(fresh, "a", ["the data protection officer (DPO) decides", *LINES])
    call(fresh, "build_indexes")
    relaxed = await rewrite(database, "flibber rent of deposits", hits(database, 2, 3), Scope())
    assert (relaxed.kind, relaxed.text) == ("relaxation", "rent of deposits")
    expanded = await rewrite(database, "the DPO", hits(database, 1), Scope())
    assert (expanded.kind, expanded.text) == ("expansion", "the DPO data protection officer")
    forced = await rewrite(
        database, "flibber rent", hits(database, 2, 3), Scope(), kind="expansion"
    )
    assert (forced.kind, forced.text) == ("expansion", "flibber rent deposit")
    found = [hit.chunk_id for hit in hits(database, 2, 3)]
    words = await search.related_words(database, "rent", found)
    assert words == ["deposit"]
