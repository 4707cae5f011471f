"""Which words are rare: counted over a sample of the documents, new and stored."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from operator import itemgetter

from lexichord.db import search, store
from lexichord.db.pool import Database
from lexichord.errors import IngestError
from lexichord.ingest.contextualize import Reference
from lexichord.ingest.sources import Prepared, Source

REFERENCE = 300  # texts at most that tell what is rare
ROOM = 2**26  # characters of text kept from the sample until their turn comes


@dataclass
class Sample:
    """The reference, and the documents that were read for it."""

    database: Database
    dataset: str
    reference: Reference = field(default_factory=Reference)
    kept: dict[str, Prepared] = field(default_factory=dict)
    room: int = ROOM

    async def count(self, todo: Sequence[Source]) -> None:
        """Count words over the REFERENCE documents of the smallest digests.

        These are the same whichever documents an earlier, interrupted run has stored already.
        """
        uris = [source.uri for source in todo]
        stored = await store.sample_documents(self.database, self.dataset, REFERENCE, uris)
        known = [(row["sha256"], row["uri"], row["document_id"]) for row in stored]
        new = [(source.sha256, source.uri, source) for source in todo if source.sha256]
        for _, _, item in sorted([*known, *new], key=itemgetter(0, 1))[:REFERENCE]:
            if isinstance(item, Source):
                await asyncio.to_thread(self._add, item)
            else:
                self.reference.add(await search.document_text(self.database, item))

    def read(self, source: Source) -> Prepared:
        """Give what was kept of a document, else read it. Raises IngestError."""
        return self.kept.pop(source.uri, None) or source.read()

    def _add(self, source: Source) -> None:
        with suppress(IngestError):  # said when its turn comes
            prepared = source.read()
            text = prepared.document.text
            self.reference.add(text)
            if len(text) <= self.room:
                self.room -= len(text)
                self.kept[source.uri] = prepared
