"""What a language model wrote of chunks: kept, found under any name, gone with the document."""

from typing import Any

from lexichord.db import store
from lexichord.db.pool import Database
from lexichord.types import Chunk
from tests.sql.corpus import SPACE, Connection, call, put, value, vectors


def keep(connection: Connection, uri: str, dataset: str = "library", **fields: str) -> None:
    keys, texts = list(fields), list(fields.values())
    call(connection, "keep_contexts", dataset=dataset, uri=uri, keys=keys, contexts=texts)


def known(connection: Connection, *keys: str) -> dict[str, str]:
    rows = call(connection, "known_contexts", keys=list(keys))
    return {row["key"]: row["context"] for row in rows}


def test_known_contexts_are_found_by_their_key(connection: Connection) -> None:
    keep(connection, "a", k1="one", k2="two")
    keep(connection, "b", k3="three")
    assert known(connection, "k1", "k3", "k9") == {"k1": "one", "k3": "three"}
    assert known(connection) == {}


def test_the_first_text_of_a_key_stays(connection: Connection) -> None:
    keep(connection, "a", k1="first")
    keep(connection, "a", k1="second")
    assert known(connection, "k1") == {"k1": "first"}


def test_they_go_with_the_document_and_with_it_only(connection: Connection) -> None:
    put(connection, "a", ["w1"])
    put(connection, "b", ["w1"])
    put(connection, "a", ["w1"], dataset="other")
    keep(connection, "a", shared="s", own="o")
    keep(connection, "b", shared="s")
    keep(connection, "a", dataset="other", elsewhere="e")
    call(connection, "delete_documents", documents=[1])
    assert known(connection, "shared", "own", "elsewhere") == {"shared": "s", "elsewhere": "e"}
    call(connection, "delete_documents", documents=[2, 3])
    assert known(connection, "shared", "own", "elsewhere") == {}


def test_they_outlive_another_version_of_the_document(connection: Connection) -> None:
    put(connection, "a", ["w1"])
    keep(connection, "a", k1="one")
    put(connection, "a", ["w2"])
    assert known(connection, "k1") == {"k1": "one"}


def test_pruned_documents_take_them_along(connection: Connection) -> None:
    put(connection, "a", ["w1"])
    keep(connection, "a", k1="one")
    (run,) = call(connection, "start_run", dataset="library", source="x", total=1)
    call(connection, "prune_documents", run_id=run["start_run"], uris=["a"])
    assert known(connection, "k1") == {}


def test_they_may_be_kept_before_the_document_is_stored(connection: Connection) -> None:
    keep(connection, "new", dataset="not there yet", k1="one")
    assert known(connection, "k1") == {"k1": "one"}
    put(connection, "new", ["w1"], dataset="not there yet")
    assert value(connection, "select count(*) from lexichord_data.dataset") >= 1


def test_document_recipes_are_those_of_the_datasets(connection: Connection) -> None:
    put(connection, "a", ["w1"], recipe="r1")
    put(connection, "b", ["w1"], dataset="other", recipe="r2")
    rows = call(connection, "document_recipes")
    assert [(row["uri"], row["recipe"]) for row in rows] == [("a", "r1"), ("b", "r2")]
    (row,) = call(connection, "document_recipes", datasets=["other"])
    assert (row["document_id"], row["uri"]) == (2, "b")
    assert call(connection, "document_recipes", datasets=[]) == []


def test_is_unchanged_until_somebody_replaces_it(fresh: Connection) -> None:
    put(fresh, "a", ["w1"])
    (row,) = call(fresh, "document_recipes")
    asks: dict[str, Any] = {"document": 1, "updated_at": row["updated_at"]}
    assert call(fresh, "is_unchanged", **asks) == [{"is_unchanged": True}]
    put(fresh, "a", ["w1"])
    assert call(fresh, "is_unchanged", **asks) == [{"is_unchanged": False}]
    call(fresh, "delete_documents", documents=[1])
    assert call(fresh, "is_unchanged", **asks) == [{"is_unchanged": False}]


def key(connection: Connection, chunk: Chunk) -> str:
    statement = "select lexichord.vector_key(%s, %s, %s::jsonb)"
    metadata = '{"context_by": "m"}' if chunk.metadata else '{"other": 1}'
    return str(value(connection, statement, chunk.content, chunk.context, metadata))


def test_vector_key_is_the_same_in_sql_and_python(connection: Connection) -> None:
    plain = [Chunk(0, 0, "É 🎉", context=context) for context in ("", "one", "two")]
    written = [Chunk(0, 0, "É 🎉", context=c, metadata={"context_by": "m"}) for c in ("1", "2")]
    keys = [key(connection, chunk) for chunk in (*plain, *written)]
    assert keys == [store.vector_key(chunk) for chunk in (*plain, *written)]
    assert len(set(keys)) == 3  # what stands there by structure does not count


def stage(connection: Connection, context: str, recipe: str, vector: str | None) -> None:
    """Store document a with one chunk whose context a model wrote."""
    with connection.transaction():
        call(connection, "stage_chunks")
        connection.execute(
            "insert into staged_chunk values (0, '', 0, 2, null, 'w1', %s, '', "
            """'{"context_by": "m"}', %s)""",
            [context, vector],
        )
        fields = {"dataset": "library", "uri": "a", "title": "t", "media_type": "text/plain"}
        fields |= {"sha256": "0" * 64, "recipe": recipe, "content": "w1", "metadata": "{}"}
        call(connection, "store_document", **fields)


def test_a_vector_is_kept_under_the_same_written_context_only(connection: Connection) -> None:
    stage(connection, "one", "r llm=m/1", "[1,0,0,0]")
    stage(connection, "one", "r llm=partly:m/1", None)
    assert vectors(connection, 1) == ["[1,0,0,0]"]
    stage(connection, "two", "r llm=m/1", None)
    assert vectors(connection, 1) == [None]


def test_whoever_has_no_written_context_keeps_a_vector_beside_those_that_do(
    connection: Connection,
) -> None:
    put(connection, "a", ["w1", "w2"], [[1, 0, 0, 0], [0, 1, 0, 0]], recipe="r")
    put(connection, "a", ["w1", "w2"], recipe="r llm=partly:m/1")
    assert vectors(connection, 1) == ["[1,0,0,0]", "[0,1,0,0]"]
    put(connection, "a", ["w1", "w2"], recipe="s llm=partly:m/1")
    assert vectors(connection, 1) == [None, None]


def test_added_metadata_and_ocr_take_no_vector_from_a_chunk_that_stays(
    connection: Connection,
) -> None:
    put(connection, "a", ["w1"], [[1, 0, 0, 0]], recipe="r context=none")
    put(connection, "a", ["w1"], recipe="r ocr=tesseract/eng metadata=0a context=none llm=m/1")
    assert vectors(connection, 1) == ["[1,0,0,0]"]
    put(connection, "a", ["w1"], recipe="r2 ocr=tesseract/eng metadata=0a context=none")
    assert vectors(connection, 1) == [None]


async def test_replace_contexts_does_nothing_to_what_was_replaced(
    database: Database, fresh: Connection
) -> None:
    put(fresh, "a", ["w1"], [[1, 0, 0, 0]])
    (row,) = await store.document_recipes(database, None)
    stored = await store.read_document(database, row["document_id"])
    assert stored is not None
    document, chunks = stored
    put(fresh, "a", ["w2"], [[0, 1, 0, 0]])
    replacement = (document, chunks, [None], SPACE)
    assert not await store.replace_contexts(
        database, row["document_id"], row["updated_at"], *replacement
    )
    assert value(fresh, "select content from lexichord_data.chunk") == "w2"
    assert await store.read_document(database, database.ids.write("doc", 99)) is None
