"""What a scope names, and that every search stays inside it."""

from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.sql.corpus import KINDS, MOST, SPACE, Connection, call, ids, value

SCOPES: list[dict[str, Any]] = [
    {"datasets": ["north"]},
    {"uri_prefix": "south/1"},
    {"filter": {"kind": "law"}},
    {"filter": {"or": [{"key": "year", "op": "≥", "value": 2030}, {"a": 1}]}},
    {"datasets": ["north", "south"], "filter": {"odd": True}, "uri_prefix": "north/3"},
]
VECTOR = "[1,0,0,0]"
BY_VECTOR = {"query_vector": VECTOR, "query_space": SPACE}
SEARCHES: list[tuple[str, dict[str, Any]]] = [
    ("hybrid_search", {"query": "w0 w1", "k": 100, **BY_VECTOR}),
    ("hybrid_search", {"query": "w0 w1", "k": 100}),
    ("discover_files", {"query": "w0 tale", "k": 100, **BY_VECTOR}),
    ("feedback_chunks", {"query": "w0 w1", "feedback_documents": 100}),
    ("variant_candidates", {"query": "w0 w1", **BY_VECTOR}),
    ("link_documents", {"words": ["tale", "animal7"], "depth": 100}),
    ("list_documents", {}),
]


def scoped(connection: Connection, **scope: object) -> list[int]:
    return value(  # type: ignore[no-any-return]
        connection, f"select lexichord.scope_documents({named(scope)})", *scope.values()
    )


def named(scope: dict[str, Any]) -> str:
    return ", ".join(f"{name} => %s" for name in scope)


def uris(connection: Connection, documents: list[int]) -> list[str]:
    rows = connection.execute(
        "select uri from lexichord_data.document where id = any(%s) order by id", [documents]
    )
    return [uri for (uri,) in rows]


def test_no_condition_is_null_not_a_list_of_all(library: Connection) -> None:
    assert scoped(library) is None


def test_conditions_hold_all_at_once(library: Connection) -> None:
    ids = scoped(library, datasets=["north"], filter=Jsonb({"kind": "law"}), uri_prefix="north/1")
    wanted = [number for number in range(1, 40, 2) if number % 3 == 0 and str(number)[0] == "1"]
    assert uris(library, ids) == [f"north/{number}.md" for number in wanted]
    assert KINDS[0] == "law"


def test_a_prefix_is_no_pattern(library: Connection) -> None:
    assert scoped(library, uri_prefix="%") == []
    assert scoped(library, uri_prefix="sout_") == []
    assert len(scoped(library, uri_prefix="")) == 42


def test_documents_that_do_not_fit_the_rest_are_left_out(library: Connection) -> None:
    north, south = (
        value(library, "select id from lexichord_data.document where uri = %s", uri)
        for uri in ("north/1.md", "south/0.md")
    )
    assert scoped(library, datasets=["north"], documents=[north, south]) == [north]


def test_a_document_may_lack_a_key_that_others_in_scope_have(library: Connection) -> None:
    """As one of those does that a query finds, and then searches by itself."""
    one = value(library, "select id from lexichord_data.document where not metadata ? 'a' limit 1")
    absent = Jsonb({"key": "a", "op": "ne", "value": 1})
    assert scoped(library, documents=[one], filter=absent) == [one]
    assert scoped(library, documents=[one], filter=Jsonb({"a": 1})) == []
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="no document in scope"):
        scoped(library, documents=[one], filter=Jsonb({"nobody": 1}))


def test_an_empty_list_names_nothing(library: Connection) -> None:
    assert scoped(library, documents=[]) == []
    assert call(library, "hybrid_search", query="w0", documents=[]) == []


@pytest.mark.parametrize(
    ("scope", "message"),
    [
        ({"datasets": ["north", "o'ther"]}, "there is no dataset 'o''ther'"),
        ({"documents": [1, 987654321]}, "there is no such document\nDETAIL:  document 987654321"),
        ({"filter": {"nobody": 1}}, 'no document in scope has the key "nobody"'),
        ({"filter": {"key": "kind", "op": "like", "value": 1}}, "unknown operator 'like'"),
    ],
)
@pytest.mark.parametrize(("function", "arguments"), [*SEARCHES, ("similar_documents", {})])
def test_an_unknown_name_is_an_error_in_every_search(
    library: Connection,
    function: str,
    arguments: dict[str, Any],
    scope: dict[str, Any],
    message: str,
) -> None:
    source = {"source": 1} if function == "similar_documents" else {}
    refused = (psycopg.errors.InvalidParameterValue, psycopg.errors.NoDataFound)
    with pytest.raises(refused, match=message):
        call(library, function, **arguments, **source, **scope)


def test_an_unknown_dataset_is_told_with_five_that_are_there(connection: Connection) -> None:
    def told() -> str | None:
        with pytest.raises(psycopg.errors.NoDataFound) as caught, connection.transaction():
            scoped(connection, datasets=["nowhere"])
        return caught.value.diag.message_hint

    assert told() == "Nothing is stored yet"
    for name in "bacfed":
        call(connection, "define_dataset", dataset=name)
    assert told() == "Take one of 'a', 'b', 'c', 'd', 'e' and 1 more"


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize(("function", "arguments"), SEARCHES)
def test_every_search_finds_all_of_the_scope_and_nothing_else(
    library: Connection, function: str, arguments: dict[str, Any], scope: dict[str, Any]
) -> None:
    everywhere = set(ids(call(library, function, **arguments), "document_id"))
    inside = set(ids(call(library, "list_documents", **scope), "document_id"))
    document_ids = set(ids(call(library, function, **arguments, **scope), "document_id"))
    assert document_ids <= inside
    assert document_ids >= everywhere & inside
    assert document_ids


@pytest.mark.parametrize("scope", [{}, *SCOPES])
def test_the_pages_of_a_list_are_the_list_and_are_counted(
    library: Connection, scope: dict[str, Any]
) -> None:
    listed = call(library, "list_documents", **scope)
    assert [row["uri"] for row in listed] == sorted(row["uri"] for row in listed)
    (counted,) = call(library, "count_documents", **scope)
    assert counted == {"count_documents": len(listed)}
    pages = [
        call(library, "list_documents", **scope, page_size=3, page_offset=offset)
        for offset in range(0, len(listed) + 1, 3)
    ]
    assert [row for page in pages for row in page] == listed
    assert max(map(len, pages)) <= 3
    assert call(library, "list_documents", **scope, page_offset=len(listed)) == []


@pytest.mark.parametrize("scope", SCOPES)
def test_similar_documents_stay_in_scope(library: Connection, scope: dict[str, Any]) -> None:
    inside = ids(call(library, "list_documents", **scope), "document_id")
    similar = ids(call(library, "similar_documents", source=1, k=50, **scope), "document_id")
    without_vectors = value(
        library, "select id from lexichord_data.document where uri = 'south/unembedded.md'"
    )
    assert set(similar) == {*inside} - {1, without_vectors}


@pytest.mark.parametrize("exact", ["", "exact_"])
def test_candidates_of_wide_and_narrow_scopes(wide: Connection, exact: str) -> None:
    check_candidates(wide, f"{exact}dense_candidates", query_vector=VECTOR)
    check_candidates(wide, f"{exact}keyword_candidates", query="w0 w7")


def check_candidates(wide: Connection, function: str, **query: str) -> None:
    most = ids(call(wide, "list_documents", filter=MOST), "document_id")
    for scope, narrow in ((most, False), (most[:3], True), ([], True)):
        assert value(wide, "select lexichord.is_narrow(%s)", scope) is narrow
        candidates = call(wide, function, **query, depth=200, documents=scope)
        assert set(ids(candidates, "document_id")) <= set(scope)
        assert [row["rank"] for row in candidates] == list(range(1, len(candidates) + 1))
        assert len(candidates) <= 200 if narrow else len(candidates) == 200
        assert bool(candidates) is bool(scope)


def test_a_scope_is_narrow_among_more_chunks_than_among_few(wide: Connection) -> None:
    most = ids(call(wide, "list_documents", filter=MOST), "document_id")
    narrow = "select lexichord.is_narrow(%s)"
    assert not value(wide, narrow, most)
    with wide.transaction(force_rollback=True):
        wide.execute("set transaction read write")
        wide.execute("update lexichord_data.corpus set chunk_count = 1000000")
        assert value(wide, narrow, most)


def test_a_scope_reaches_chunks_that_the_whole_list_cuts_off(wide: Connection) -> None:
    """wide/far.md comes last for this vector: only a scope, and nothing after it, finds it."""
    far = ids(call(wide, "list_documents", uri_prefix="wide/far"), "document_id")
    everywhere = call(wide, "dense_candidates", query_vector=VECTOR, depth=100)
    assert far[0] not in ids(everywhere, "document_id")
    hits = call(wide, "hybrid_search", query="w0", documents=far, k=50)
    assert len(hits) == 32
