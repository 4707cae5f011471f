"""Which documents of a folder have lost their files."""

import asyncio
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path

from lexichord.db import store
from lexichord.db.pool import Database
from lexichord.errors import ConfigError
from lexichord.ingest.find import storable
from lexichord.ingest.sources import CHUNKED, file_of, is_gone


async def find_gone(
    database: Database, dataset: str, folders: Sequence[Path], found: AbstractSet[str]
) -> list[str]:
    """Give the uris under `folders` that are not among the `found` ones and name no file any more.

    Documents that came with their chunks never were files. Raises ConfigError for a folder that
    lost all it had: more likely its disk is not mounted.
    """
    gone = set[str]()
    for folder in folders:
        name = storable(folder.as_posix())
        rows = await store.documents_under(database, dataset, name)
        uris = [row["uri"] for row in rows if not row["recipe"].startswith(CHUNKED)]
        lost = await asyncio.to_thread(_lost, [uri for uri in uris if uri not in found])
        if lost and not any(uri.startswith(f"{name.rstrip('/')}/") for uri in found):
            raise ConfigError(
                f"{name} holds no files now, {len(lost)} documents would be deleted: "
                "if that is right, delete them with lexichord rm"
            )
        gone.update(lost)
    return sorted(gone)


def _lost(uris: Iterable[str]) -> list[str]:
    return [uri for uri in uris if is_gone(file_of(uri))]
