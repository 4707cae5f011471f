"""Ids at the border of `lexichord.db`: each that the SQL functions take or give is converted."""

import re
from collections.abc import Iterator
from typing import NamedTuple

import pytest
from psycopg.types.json import Jsonb

from lexichord.db import catalogue, search
from lexichord.db.pool import Database
from lexichord.db.session import (
    ID_ARGUMENTS,
    ID_COLUMNS,
    JSON_ARGUMENTS,
    OTHER_ARGUMENTS,
    OTHER_COLUMNS,
    with_numbers,
    with_texts,
)
from lexichord.errors import ConfigError, NotFoundError
from lexichord.types import Question
from lexichord.types.base import ID_EXAMPLE, Ids
from tests.sql.corpus import RESULT, Connection, call, inner_functions, put

IDS = Ids(b"of a test".ljust(16))
# Numbers that are no document's and no chunk's: of runs, queries, evaluations and keys, and counts.
NO_IDS = """
    a amount b byte_count bytes cancelled card_token_count changes characters chunk_count chunks
    chunks_without_vector completed datasets deleted dense_rank df document_count documents
    documents_with done effective_cache_size embedded evaluation evaluation_id failed
    from_changes hits in_progress index_bytes inserted key key_id keys keyword_rank
    maintenance_work_mem max_characters missing most number outdated_documents page_offset
    page_size queries query_id rank reembed_id renews replaced room rows_failed rows_stored
    rows_waiting run_id runs shared_buffers skipped stored stored_bytes token_count total vectors
    worker
"""
OTHER_NUMBERS = {*NO_IDS.split()}
# Python does not call these; who calls them in SQL has the numbers.
IN_SQL_ONLY = {("feedback_terms", "chunks"), ("feedback_vector", "chunks")}
NO_IDS_IN_JSON = """
    attributes calls changes comparison counts details filter in_progress metadata qps queries
    question_terms phrase refused results settings stages terms
"""
OTHER_JSON = {*NO_IDS_IN_JSON.split()}


class Part(NamedTuple):
    function: str
    name: str
    type: str

    @property
    def place(self) -> tuple[str, str]:
        return self.function, self.name


def parts(connection: Connection, what: str) -> Iterator[Part]:
    """Give the arguments or columns of all functions that are somebody's to call."""
    rows = connection.execute(
        f"select proname, {what} from pg_proc p "
        "where pronamespace = 'lexichord'::regnamespace".encode()
    )
    inner = inner_functions(connection)
    for function, text in rows.fetchall():
        text = re.sub(r"^TABLE\((.*)\)$", r"\1", text or "")  # a procedure has no result
        for part in text.split(", ") if function not in inner else ():
            name, _, kind = part.removeprefix("OUT ").partition(" ")
            yield Part(function, name, kind)


def is_number(part: Part) -> bool:
    return part.type in ("bigint", "bigint[]")


def test_every_argument_is_known_to_be_an_id_or_not(library: Connection) -> None:
    arguments = list(parts(library, "pg_get_function_identity_arguments(oid)"))
    assert len(arguments) > 200
    converted = {
        each.place
        for each in arguments
        if each.name in ID_ARGUMENTS and each.place not in OTHER_ARGUMENTS
    }
    numbers = {each.place for each in arguments if is_number(each)}
    assert converted <= numbers  # nothing else is taken for an id
    left = {place for place in numbers - converted - IN_SQL_ONLY if place[1] not in OTHER_NUMBERS}
    assert left == set()
    named = {each.place for each in arguments if each.name in ID_ARGUMENTS}
    assert named - numbers == OTHER_ARGUMENTS
    assert named & IN_SQL_ONLY == set()


def test_every_column_is_known_to_be_an_id_or_not(library: Connection) -> None:
    columns = [part for part in parts(library, RESULT) if is_number(part)]
    converted = {
        each.place for each in columns if each.name in ID_COLUMNS or each.place in OTHER_COLUMNS
    }
    assert converted >= OTHER_COLUMNS.keys()
    assert {each.name for each in columns if each.place in converted} >= ID_COLUMNS.keys()
    left = {each for each in columns if each.place not in converted | {("take_changes", "changes")}}
    assert {each for each in left if each.name not in OTHER_NUMBERS} == set()
    assert {each for each in left if each.type == "bigint[]"} == set()  # a count is one number


def test_every_json_is_known_to_hold_ids_or_not(library: Connection) -> None:
    arguments = parts(library, "pg_get_function_identity_arguments(oid)")
    names = {part.name for part in arguments if part.type == "jsonb"}
    assert names == JSON_ARGUMENTS.keys() | OTHER_JSON


def test_arguments_become_numbers() -> None:
    document, chunk = IDS.write("doc", 7), IDS.write("chunk", 7)
    cases: list[tuple[str, dict[str, object], dict[str, object] | None]] = [
        ("list_chunks", {"document": document}, {"document": 7}),
        ("read_hits", {"chunk_ids": [chunk]}, {"chunk_ids": [7]}),
        ("list_documents", {"documents": None, "uri_prefix": "a"}, None),
        ("sample_documents", {"documents": 3}, None),
        ("start_run", {"source": "a folder", "total": 3}, None),
        ("list_runs", {"runs": [1]}, None),
    ]
    for function, text, number in cases:
        assert with_numbers(IDS, function, text) == (text if number is None else number), function


def test_what_json_holds_becomes_numbers() -> None:
    document, chunk = IDS.write("doc", 7), IDS.write("chunk", 8)
    arguments = {
        "boost": {document: 0.5},
        "variants": [{"name": "a", "documents": None}, {"name": "b", "documents": [document]}],
        "hits": [{"chunk_id": chunk, "uri": "a"}],
    }
    numbers = with_numbers(IDS, "any", arguments)
    assert {name: value.obj for name, value in numbers.items() if isinstance(value, Jsonb)} == {
        "boost": {"7": 0.5},
        "variants": [{"name": "a", "documents": None}, {"name": "b", "documents": [7]}],
        "hits": [{"chunk_id": 8, "uri": "a"}],
    }


def test_columns_become_texts() -> None:
    row = {"document_id": 7, "chunk_ids": [8, 9], "current_chunk_id": None, "chunks": 3, "rank": 1}
    (texts,) = with_texts(IDS, "any", [row])
    assert texts == {
        "document_id": IDS.write("doc", 7),
        "chunk_ids": [IDS.write("chunk", 8), IDS.write("chunk", 9)],
        "current_chunk_id": None,
        "chunks": 3,
        "rank": 1,
    }
    held = with_texts(IDS, "question_coverage", [{"chunks": [8]}])
    assert held == [{"chunks": [IDS.write("chunk", 8)]}]
    assert with_texts(IDS, "any", []) == []


async def test_texts_go_in_and_come_out(fresh: Connection, database: Database) -> None:
    put(fresh, "a", ["w1", "w2"])
    put(fresh, "b", ["w1"])
    rows = call(fresh, "list_documents")
    documents = await catalogue.list_documents(database, Question("").scope)
    assert [database.ids.read("doc", each.document_id) for each in documents] == [
        row["document_id"] for row in rows
    ]
    chunks = await catalogue.list_chunks(database, documents[0].document_id)
    assert [chunk.content for chunk in chunks] == ["w1", "w2"]
    (around,) = await search.expand_context(database, [chunks[1].chunk_id], 0, False)
    assert (around.content, around.document_id) == ("w2", documents[0].document_id)


async def test_what_no_database_has_written_is_not_there(database: Database) -> None:
    for document in (ID_EXAMPLE["doc"], "7", database.ids.write("chunk", 1)):
        with pytest.raises(NotFoundError, match=f"^there is no document {document}: "):
            await catalogue.list_chunks(database, document)
    for chunk in (ID_EXAMPLE["chunk"], "7", database.ids.write("doc", 1)):
        with pytest.raises(NotFoundError, match=f"^there is no chunk {chunk}: "):
            await search.expand_context(database, [chunk], 0, False)


async def test_errors_name_no_numbers(fresh: Connection, database: Database) -> None:
    number = put(fresh, "a", ["w1"])["document_id"]
    document = database.ids.write("doc", number)
    for points in ("many", True, None):  # no boost
        with pytest.raises(ConfigError, match=f"not {document}: "):
            await search.hybrid_search(database, Question("w1"), {document: points})
    with pytest.raises(ConfigError, match=r"^the document has no vectors yet: ingest again"):
        await search.similar_documents(database, document, Question("").scope, 3)
    call(fresh, "delete_documents", documents=[number])
    with pytest.raises(NotFoundError, match=r"^there is no such document$"):
        await search.similar_documents(database, document, Question("").scope, 3)
