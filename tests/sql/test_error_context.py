"""What is told of an error: in psql two lines of CONTEXT at most, elsewhere one line in all."""

from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from lexichord.db.session import translate_errors
from lexichord.errors import DatabaseError
from tests.sql.corpus import Connection, call

SEARCHES = ("hybrid_search", "discover_files")
SCOPED = ("list_documents", "count_documents", "link_documents", "complete_word")
OWN: dict[str, dict[str, Any]] = {
    **{name: {"query": "w0"} for name in SEARCHES},
    "similar_documents": {"source": 1},
    "link_documents": {"words": ["w0"]},
    "complete_word": {"beginning": "w"},
    "count_by": {"key": "kind"},
}
SCOPES: list[dict[str, Any]] = [
    {"datasets": ["nort"]},
    {"documents": [987654321]},
    {"filter": Jsonb({"and": [{"or": [{"kindd": 1}]}]})},
    {"filter": Jsonb({"key": "kind", "op": "~", "value": 1})},
    {"filter": Jsonb([1])},
]
WRONG: list[tuple[str, dict[str, Any]]] = [
    *((name, scope) for name in (*SEARCHES, "similar_documents", *SCOPED) for scope in SCOPES),
    *(("count_by", scope) for scope in [*SCOPES, {"key": "kindd"}]),
    *((name, wrong) for name in SEARCHES for wrong in ({"k": 0}, {"query": " "}, {"depth": 1})),
    ("hybrid_search", {"weights": [0, 0]}),
    ("hybrid_search", {"query_vector": "[1]"}),
    ("similar_documents", {"source": 987654321}),
    ("similar_documents", {"k": 0}),
    ("list_documents", {"page_size": -1}),
]


@pytest.mark.parametrize(("function", "wrong"), WRONG, ids=str)
def test_an_error_passes_two_functions_at_most(
    library: Connection, function: str, wrong: dict[str, Any]
) -> None:
    with pytest.raises(psycopg.Error) as caught:
        call(library, function, **(OWN.get(function, {}) | wrong))
    context = caught.value.diag.context
    assert context is not None
    assert len(context.splitlines()) <= 2, context


def test_what_another_server_said_stands_in_the_line(library: Connection) -> None:
    """As libpq tells a coordinator of a worker that refuses it."""
    said = r"do $$ begin raise exception E'worker: refused\n\tDoes it run?'; end $$"
    with (
        pytest.raises(DatabaseError, match=r"^worker: refused; Does it run\?$"),
        translate_errors(),
    ):
        library.execute(said.encode())
