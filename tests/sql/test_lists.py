"""What is stored, listed; each function on a small database of its own."""

from typing import Any

import psycopg
import pytest

from tests.sql.corpus import SPACE, Connection, Row, call, engine_of, put, value


@pytest.fixture
def stored(connection: Connection) -> Connection:
    put(connection, "b/two.md", ["w1", "w2 w2"], dataset="zoo", metadata={"kind": "law", "n": 1})
    put(connection, "a/one.md", ["w1"], [[1, 0, 0, 0]], dataset="zoo", metadata={"n": None})
    put(connection, "c/two.md", ["w3"], dataset="ark")
    return connection


def column(rows: list[Row], name: str) -> list[Any]:
    return [row[name] for row in rows]


def test_datasets_with_their_numbers(stored: Connection) -> None:
    assert call(stored, "list_datasets") == [
        {"dataset": "ark", "documents": 1, "chunks": 1},
        {"dataset": "zoo", "documents": 2, "chunks": 3},
    ]
    call(stored, "delete_documents", documents=[3])
    assert call(stored, "list_datasets")[0] == {"dataset": "ark", "documents": 0, "chunks": 0}


def test_documents_by_dataset_and_uri(stored: Connection) -> None:
    rows = call(stored, "list_documents")
    assert column(rows, "uri") == ["c/two.md", "a/one.md", "b/two.md"]
    assert rows[2] == {
        "document_id": 1,
        "dataset": "zoo",
        "uri": "b/two.md",
        "title": "x1",
        "media_type": "text/plain",
        "characters": 8,
        "chunks": 2,
        "metadata": {"kind": "law", "n": 1},
        "updated_at": rows[2]["updated_at"],
    }


def test_keys_with_their_numbers(stored: Connection) -> None:
    assert call(stored, "list_keys") == [
        {"key": "kind", "documents": 1},
        {"key": "n", "documents": 2},
    ]


def test_chunks_in_order(stored: Connection) -> None:
    rows = call(stored, "list_chunks", document=1)
    assert column(rows, "content") == ["w1", "w2 w2"]
    assert column(rows, "ordinal") == [0, 1]
    assert call(stored, "list_chunks", document=99) == []


def test_the_text_of_a_document(stored: Connection) -> None:
    assert value(stored, "select lexichord.document_text(1)") == "w1\nw2 w2"
    assert value(stored, "select lexichord.document_text(99)") is None


def test_documents_that_a_reference_means(stored: Connection) -> None:
    found = {"b/two.md": [1], "two.md": [1, 3]}
    for reference in (*found, "wo.md", "B/two.md", "b/%.md", "1", ""):
        rows = call(stored, "find_documents", reference=reference)
        assert column(rows, "document_id") == found.get(reference, []), reference


def test_an_id_means_its_document_whatever_the_reference(stored: Connection) -> None:
    put(stored, "docs/1", ["w1"])
    assert column(call(stored, "find_documents", reference="1"), "uri") == ["docs/1"]
    rows = call(stored, "find_documents", reference="1", document=1)
    assert column(rows, "uri") == ["b/two.md"]
    assert call(stored, "find_documents", reference="docs/1", document=99) == []


def test_samples_are_the_same_every_time(stored: Connection) -> None:
    def sample(**arguments: Any) -> list[str]:
        return column(call(stored, "sample_documents", dataset="zoo", **arguments), "uri")

    ordered = "select uri from lexichord_data.document d join lexichord_data.dataset s "
    ordered += "on s.id = d.dataset_id where s.name = 'zoo' order by sha256"
    uris = [uri for (uri,) in stored.execute(ordered.encode()).fetchall()]
    assert len(uris) > 1
    assert sample(documents=9, without=[]) == uris
    assert sample(documents=1, without=[]) == uris[:1]
    assert sample(documents=9, without=[uris[0], "none"]) == uris[1:]


def test_documents_under_a_folder_end_where_its_name_does(connection: Connection) -> None:
    uris = ["/a/b/1", "/a/b/c/2", "/a/bc/3", "/a/b", "/a_b/4", "/a%/5", "/x/b/6"]
    for uri in uris:
        put(connection, uri, ["w1"], dataset="zoo")
    put(connection, "/a/b/7", ["w1"], dataset="other")
    for folder, expected in [
        ("/a/b", ["/a/b/1", "/a/b/c/2"]),
        ("/a/b/", ["/a/b/1", "/a/b/c/2"]),
        ("/a", ["/a/b", "/a/b/1", "/a/b/c/2", "/a/bc/3"]),
        ("/a_b", ["/a_b/4"]),
        ("/a%", ["/a%/5"]),
        ("/", uris),
        ("b", []),
    ]:
        rows = call(connection, "documents_under", dataset="zoo", folder=folder)
        assert column(rows, "uri") == sorted(expected)


def test_twins_are_of_the_same_bytes_and_dataset(connection: Connection) -> None:
    for uri, line, dataset in [("b", "w1", "zoo"), ("a", "w1", "zoo"), ("c", "w2", "zoo")]:
        put(connection, uri, [line], dataset=dataset)
    put(connection, "d", ["w1"], dataset="other")
    sha256 = value(connection, "select sha256 from lexichord_data.document where uri = 'd'")
    rows = call(connection, "document_twins", dataset="zoo", sha256s=[sha256, "none"])
    assert column(rows, "uri") == ["a", "b"]
    assert set(column(rows, "sha256")) == {sha256}


def test_digests_tell_what_is_stored(stored: Connection) -> None:
    rows = call(stored, "document_digests", dataset="zoo", uris=["a/one.md", "c/two.md"])
    assert column(rows, "uri") == ["a/one.md"]
    assert rows[0]["recipe"] == "test"
    assert call(stored, "document_digests", dataset="none", uris=["a/one.md"]) == []


def test_the_status_counts_everything(stored: Connection) -> None:
    status = call(stored, "database_status")[0]
    engine = value(stored, "select engine from lexichord_data.configuration")
    assert status.pop("bytes") > 1_000_000
    assert status == {
        "engine": engine,
        "text_config": "english",
        "space": SPACE,
        "migration": value(stored, "select max(number) from lexichord_data.migration"),
        "datasets": 2,
        "documents": 3,
        "chunks": 4,
        "chunks_without_vector": 3,
        "outdated_documents": 0,
    }
    configured = call(stored, "configuration")
    fixed = {"engine": engine, "text_config": "english", "space": SPACE, "by_document": False}
    assert configured == [fixed]


def test_versions_of_the_server_and_its_extensions(stored: Connection) -> None:
    versions = {row["name"]: row["version"] for row in call(stored, "server_versions")}
    engine = value(stored, "select engine from lexichord_data.configuration")
    needed = {"textsearch": "pg_textsearch", "vectorchord": "vchord_bm25"}.get(engine, "vector")
    assert {"postgres", "vector", needed} <= versions.keys()
    assert all(version[0].isdigit() for version in versions.values())


def test_problems_come_with_a_remedy(stored: Connection) -> None:
    remedies = {row["problem"]: row["remedy"] for row in call(stored, "find_problems")}
    missing = {problem: remedy for problem, remedy in remedies.items() if "is missing" in problem}
    assert len(missing) == (2 if engine_of(stored) == "textsearch" else 1)
    assert set(missing.values()) == {"select lexichord.build_indexes();"}
    assert remedies["chunks without a vector: 3"] == "ingest again with an embedder"
    stored.execute("select lexichord.build_indexes()")
    stored.execute("update lexichord_data.chunk set embedding = '[1,0,0,0]'")
    assert call(stored, "find_problems") == []


def test_there_are_no_fewer_than_none(stored: Connection) -> None:
    latest = [(f"list_{name}", "latest") for name in ("queries", "runs", "evaluations")]
    pages = [("list_documents", "page_size"), ("list_documents", "page_offset")]
    for function, argument in latest + pages:
        assert call(stored, function, **{argument: None}) is not None
        told = f"^{argument} must be at least 0, not -1"
        with pytest.raises(psycopg.DataError, match=told), stored.transaction():
            call(stored, function, **{argument: -1})
