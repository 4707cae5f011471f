"""Which arguments and columns of the SQL functions are ids: texts above, numbers in the database.

Nothing else converts them. `tests/sql/test_ids.py` holds this against the functions themselves.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from psycopg.types.json import Jsonb

from lexichord.errors import ConfigError
from lexichord.types import Json
from lexichord.types.base import IdKind, Ids

ID_ARGUMENTS: Mapping[str, IdKind] = {
    **dict.fromkeys(("document", "documents", "files", "source", "twin"), "doc"),
    **dict.fromkeys(("chunk_ids", "after"), "chunk"),
}
ID_COLUMNS: Mapping[str, IdKind] = {
    "document_id": "doc",
    **dict.fromkeys(("chunk_id", "current_chunk_id", "chunk_ids"), "chunk"),
}
TABLE_FUNCTIONS = (  # whose `source` is a table of the user's
    *("index_table", "alter_index_table", "drop_index_table", "search_table"),
    *("list_table_failures", "retry_table_failures"),
)
# Of these functions the names mean something else.
OTHER_ARGUMENTS = {
    ("sample_documents", "documents"),  # how many
    ("start_run", "source"),  # a folder
    *((function, "source") for function in TABLE_FUNCTIONS),
    ("vechord_digests", "after"),  # a key of vechord's
}
OTHER_COLUMNS: Mapping[tuple[str, str], IdKind] = {
    ("question_coverage", "chunks"): "chunk",  # elsewhere how many
}


def with_numbers(ids: Ids, function: str, arguments: Mapping[str, object]) -> dict[str, object]:
    """Return a function's arguments as the database takes them. Raises NotFoundError."""
    return {name: _argument(ids, function, name, value) for name, value in arguments.items()}


def _argument(ids: Ids, function: str, name: str, value: Any) -> object:  # noqa: ANN401
    if value is None or (function, name) in OTHER_ARGUMENTS:
        return value
    if name in JSON_ARGUMENTS:
        return Jsonb(JSON_ARGUMENTS[name](ids, value))
    kind = ID_ARGUMENTS.get(name)
    if kind is None:
        return value
    return ids.read(kind, value) if isinstance(value, str) else [ids.read(kind, v) for v in value]


def with_texts(ids: Ids, function: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a function's rows as others may see them."""
    names = rows[0] if rows else ()
    kinds = {name: kind for name in names if (kind := _column(function, name)) is not None}
    return [
        row | {name: _text(ids, kind, row[name]) for name, kind in kinds.items()} for row in rows
    ]


def _column(function: str, name: str) -> IdKind | None:
    return ID_COLUMNS.get(name) or OTHER_COLUMNS.get((function, name))


def _text(ids: Ids, kind: IdKind, value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, list):
        return [ids.write(kind, number) for number in value]
    return None if value is None else ids.write(kind, value)


def _boost(ids: Ids, boost: Json) -> Json:
    """Read points by document id. Raises ConfigError, as SQL's check would with numbers."""
    for document, points in boost.items():
        if isinstance(points, bool) or not isinstance(points, int | float):
            raise ConfigError(f"boost must be points by document id, not {document}: {points!r}")
    return {str(ids.read("doc", document)): points for document, points in boost.items()}


def _variants(ids: Ids, variants: Sequence[Json]) -> Sequence[Json]:
    return [
        {**variant, "documents": [ids.read("doc", document) for document in variant["documents"]]}
        if variant["documents"] is not None
        else variant
        for variant in variants
    ]


def _hits(ids: Ids, hits: Sequence[Json]) -> Sequence[Json]:
    return [{**hit, "chunk_id": ids.read("chunk", hit["chunk_id"])} for hit in hits]


JSON_ARGUMENTS: Mapping[str, Callable[[Ids, Any], object]] = {
    "boost": _boost,
    "variants": _variants,
    "hits": _hits,
}
