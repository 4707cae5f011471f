"""Statements on vechord tables, and the rows that are stored of them."""

from collections.abc import Sequence
from typing import Any

import psycopg
from psycopg import sql


def execute(dsn: str, *statements: str, name: str = "", values: Sequence[Any] = ()) -> list[Any]:
    """Run statements in which {name_x} stands for a quoted table."""
    classes = ("document", "chunk", "contextualchunk", "query", "entity")
    if values:
        name = name.replace("%", "%%")  # else a placeholder
    tables = {each: sql.Identifier(f"{name}_{each}") for each in classes}
    with psycopg.connect(dsn, autocommit=True) as connection:
        for statement in statements:
            cursor = connection.execute(sql.SQL(statement).format(**tables), values or None)
        return cursor.fetchall() if cursor.description else []


def stored(dsn: str) -> list[tuple[Any, ...]]:
    return execute(
        dsn,
        "select d.uri, c.content, c.context, c.embedding::real[] from lexichord_data.chunk c "
        "join lexichord_data.document d on d.id = c.document_id order by d.uri, c.ordinal",
    )
