"""vechord's tables: read through the catalog, created and indexed by its own library.

This is the one module that knows the library, and only to export.
"""

import re
from collections.abc import Sequence
from typing import Any

from psycopg.conninfo import conninfo_to_dict, make_conninfo

from lexichord.db.pool import Database, Row, call
from lexichord.db.session import translate_errors
from lexichord.db.store import REPEATABLE_READ
from lexichord.errors import ConfigError

# vechord writes a namespace unquoted into foreign keys, and names indexes up to 33 letters longer.
VECHORD_NAMESPACE = re.compile(r"[a-z_][a-z0-9_]{0,29}")
VECHORD_SEARCH_PATH = "public,bm25_catalog,tokenizer_catalog"
SEARCH_PATH_HINT = (
    "vechord's own programs will not find their functions: run in this database: alter database "
    'NAME set search_path to "$user", public, bm25_catalog, tokenizer_catalog'
)


async def vechord_tables(database: Database, namespace: str) -> list[Row]:
    """See sql/vechord/vechord_tables.sql."""
    return await database.call("vechord_tables", namespace=namespace)


async def vechord_digests(
    database: Database, namespace: str, chunk_table: str, after: str | None, batch: int
) -> list[Row]:
    """See sql/vechord/vechord_digests.sql."""
    return await database.call(
        "vechord_digests", namespace=namespace, chunk_table=chunk_table, after=after, batch=batch
    )


async def read_vechord(
    database: Database, namespace: str, chunk_table: str, keys: Sequence[str]
) -> tuple[list[Row], list[Row]]:
    """Return documents and their chunks, of one moment.

    See sql/vechord/vechord_documents.sql and vechord_chunks.sql.
    """
    scope = {"namespace": namespace, "chunk_table": chunk_table, "keys": list(keys)}
    async with database.transaction() as connection:
        await connection.execute(REPEATABLE_READ)
        documents = await call(connection, "vechord_documents", **scope)
        chunks = await call(connection, "vechord_chunks", **scope)
    return documents, chunks


async def vechord_orphans(database: Database, namespace: str, chunk_table: str) -> int:
    """See sql/vechord/vechord_orphans.sql."""
    rows = await database.call("vechord_orphans", namespace=namespace, chunk_table=chunk_table)
    return int(rows[0]["vechord_orphans"])


async def export_vechord(database: Database, namespace: str, datasets: Sequence[str]) -> Row:
    """Write datasets, by default all, as a new vechord namespace.

    Returns its name, what was written of each kind, and what is `degraded`. Raises ConfigError,
    EngineUnsupportedError, DatabaseError.
    """
    if not VECHORD_NAMESPACE.fullmatch(namespace):
        raise ConfigError(
            f"'{namespace}' is no namespace that vechord can query: take up to 30 small letters, "
            "digits and _, no digit first"
        )
    vechord = _library()
    scope = {"namespace": namespace, "datasets": list(datasets) or None}
    target = (await database.call("prepare_vechord", **scope))[0]
    tables = [vechord.DefaultDocument, vechord.create_chunk_with_dim(target["dimension"])]
    await _register(vechord, database.dsn, namespace, tables, False)
    written = (await database.call("write_vechord", **scope))[0]
    await _register(vechord, database.dsn, namespace, tables, True)
    degraded = [] if target["finds_functions"] else [SEARCH_PATH_HINT]
    return {"namespace": namespace, **written, "degraded": degraded}


def _library() -> Any:  # noqa: ANN401
    try:
        import vechord
    except ImportError:
        raise ConfigError("vechord is not installed: pip install 'lexichord[vechord]'") from None
    return vechord


async def _register(
    vechord: Any,  # noqa: ANN401
    dsn: str,
    namespace: str,
    tables: Sequence[type],
    create_index: bool,
) -> None:
    """Let the library create what is missing: the tables, then, once filled, the indexes.

    A keyword index packs only what is there when it is built.
    """
    options = f"{conninfo_to_dict(dsn).get('options') or ''} -c search_path={VECHORD_SEARCH_PATH}"
    url = make_conninfo(dsn, options=options.strip())
    with translate_errors():
        async with vechord.VechordRegistry(
            namespace, url, tables=tables, create_index=create_index
        ):
            pass
