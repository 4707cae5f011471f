"""keep_original, read_original and list_originals: the bytes that a document was read from."""

import hashlib

from tests.sql.corpus import Connection, call, put, value

CONTENT = b"w1"  # of which `put` takes the digest
KEEP = "select lexichord.keep_original(%s, %s)"
KEPT = "select lexichord.read_original(%s)"
COUNT = "select count(*) from lexichord_data.original"


def test_bytes_are_kept_of_the_document_that_was_read_from_them(connection: Connection) -> None:
    put(connection, "a.pdf", ["w1"], dataset="zoo")
    assert value(connection, KEPT, 1) is None
    assert value(connection, KEEP, 1, CONTENT)
    assert value(connection, KEPT, 1) == CONTENT
    (row,) = call(connection, "list_originals", dataset="zoo")
    assert (row["uri"], row["sha256"]) == ("a.pdf", hashlib.sha256(CONTENT).hexdigest())
    assert call(connection, "list_originals", dataset="none") == []


def test_other_bytes_and_other_documents_are_refused(connection: Connection) -> None:
    put(connection, "a.pdf", ["w1"])
    assert not value(connection, KEEP, 1, b"\x00other")
    assert not value(connection, KEEP, 99, CONTENT)
    assert value(connection, KEPT, 1) is None
    assert value(connection, KEPT, 99) is None


def test_they_go_with_the_document_and_with_its_version(connection: Connection) -> None:
    put(connection, "a.pdf", ["w1"])
    assert value(connection, KEEP, 1, CONTENT)
    put(connection, "a.pdf", ["w1"], recipe="other")
    assert value(connection, KEPT, 1) == CONTENT
    put(connection, "a.pdf", ["w2"])
    assert value(connection, COUNT) == 0
    assert value(connection, KEEP, 1, b"w2")
    call(connection, "delete_documents", documents=[1])
    assert value(connection, COUNT) == 0
