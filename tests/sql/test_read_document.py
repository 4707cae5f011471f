"""read_document and read_chunks give what store_document and its staged chunks take."""

from tests.sql.corpus import Connection, call, put, value

SIGNATURE = """
select a.name, a.type::regtype::text from pg_proc p,
       unnest(p.proargnames, p.proallargtypes, p.proargmodes) with ordinality
       as a (name, type, mode, number)
where p.oid = %s::regproc and a.mode = %s order by a.number
"""
STAGED = """
select attname, atttypid::regtype::text from pg_attribute
where attrelid = 'staged_chunk'::regclass and attnum > 0 order by attnum
"""


def test_a_column_is_an_argument_of_store_document(connection: Connection) -> None:
    columns = connection.execute(SIGNATURE, ["lexichord.read_document", "t"]).fetchall()
    taken = connection.execute(SIGNATURE, ["lexichord.store_document", "i"]).fetchall()
    arguments = [
        name
        for name, _ in taken
        if name not in ("twin", "space", "chunk_ids", "unless_stored", "rereads", "sent_file")
    ]
    assert [name for name, _ in columns] == arguments


def test_a_row_is_one_of_the_staged_chunks(connection: Connection) -> None:
    call(connection, "stage_chunks")
    columns = connection.execute(SIGNATURE, ["lexichord.read_chunks", "t"]).fetchall()
    assert columns == connection.execute(STAGED).fetchall()


def test_a_document_as_it_is_stored(connection: Connection) -> None:
    put(connection, "a/b.md", ["w1", "w2 w2"], title="T", dataset="zoo", metadata={"n": 1})
    change = """update lexichord_data.document set metadata = '{"n": 1.10}'"""
    connection.execute(change.encode())
    (row,) = call(connection, "read_document", document=1)
    assert row.pop("sha256") == value(connection, "select sha256 from lexichord_data.document")
    assert row == {
        "dataset": "zoo",
        "uri": "a/b.md",
        "title": "T",
        "media_type": "text/plain",
        "recipe": "test",
        "content": "w1\nw2 w2",
        "metadata": '{"n": 1.10}',
        "text_config": None,
    }
    assert call(connection, "read_document", document=99) == []


def test_chunks_with_their_vectors_in_order(connection: Connection) -> None:
    put(connection, "a", ["w1", "w2"], [[1, 0.5, -0.25, 0], None], headings=["H", "I"])
    connection.execute("update lexichord_data.chunk set ordinal = 7 where ordinal = 0")
    rows = call(connection, "read_chunks", document=1)
    assert [row["ordinal"] for row in rows] == [1, 7]
    assert [row["heading"] for row in rows] == ["I", "H"]
    assert [str(row["embedding"]) for row in rows] == ["None", "[1,0.5,-0.25,0]"]
    assert (rows[1]["char_start"], rows[1]["char_end"], rows[1]["page"]) == (0, 2, None)
    assert (rows[1]["content"], rows[1]["context"], rows[1]["metadata"]) == ("w1", "", {})
    assert call(connection, "read_chunks", document=99) == []
