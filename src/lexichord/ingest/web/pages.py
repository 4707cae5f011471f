"""Pages of the web as sources of an ingest: what has not changed is not read again."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from lexichord.db import catalogue, store
from lexichord.db.pool import Database, Row
from lexichord.errors import IngestError, NotFoundError
from lexichord.ingest.files import FileSources
from lexichord.ingest.load.kinds import ENDINGS, TYPE_ALIASES, kind_of, unread_kind
from lexichord.ingest.sources import IngestSource, refused_source
from lexichord.ingest.web.crawl import Crawl, WebPage
from lexichord.ingest.web.fetch import Validators, WebLimits
from lexichord.ingest.web.reach import Reach
from lexichord.types import Scope

MAX_PAGE_NAME_CHARS = 60
ETAG, LAST_MODIFIED = "etag", "last_modified"  # keys of a page's metadata
GENERAL_TYPES = ("", "text/plain", "application/octet-stream", "binary/octet-stream")


@dataclass(frozen=True, slots=True)
class WebSources:
    """Fetches pages into a folder, and makes sources of them."""

    files: FileSources
    folder: Path
    limits: WebLimits
    reach: Reach

    async def find(self, database: Database, urls: Sequence[str]) -> list[IngestSource]:
        """Return the pages that addresses lead to, in the order in which they were found."""
        stored = await self._stored(database)
        validators = {url: _validators(row["metadata"]) for url, row in stored.items()}
        search = self.files.search
        crawl = Crawl(validators, self.limits, self.reach, search.left_out, search.dead_links)
        return await asyncio.to_thread(self._sources, crawl, urls, stored)

    async def _stored(self, database: Database) -> dict[str, Row]:
        """Return the digests and metadata of the pages that are stored as they would be now."""
        try:
            scope = Scope(datasets=(self.files.dataset,), uri_prefix="http")
            listed = await catalogue.list_documents(database, scope)
        except NotFoundError:  # no such dataset as yet
            return {}
        uris = [row.uri for row in listed]
        digests = await store.document_digests(database, self.files.dataset, uris)
        return {
            row.uri: {**digests[row.uri], "metadata": row.metadata}
            for row in listed
            if row.uri in digests
            and digests[row.uri]["recipe"] == self._recipe(row.uri, row.media_type)
        }

    def _recipe(self, url: str, media_type: str) -> str:
        return self.files.recipe(file_name(url, media_type), self.files.metadata)

    def _sources(
        self, crawl: Crawl, urls: Sequence[str], stored: Mapping[str, Row]
    ) -> list[IngestSource]:
        return [
            source
            for number, page in enumerate(crawl.pages(urls))
            if (source := self._source(number, page, stored))
        ]

    def _source(self, number: int, page: WebPage, stored: Mapping[str, Row]) -> IngestSource | None:
        fetched = page.fetched
        if fetched is None:
            return refused_source(page.url, page.error or IngestError("was not fetched"))
        if fetched.is_unchanged:
            row = stored[page.url]
            same = refused_source(page.url, IngestError("changed meanwhile: ingest it again"))
            return replace(same, sha256=row["sha256"], recipe=row["recipe"])
        name = file_name(page.url, fetched.media_type)
        if kind_of(name) is None:
            self.files.search.unread[page.url] = fetched.media_type or unread_kind(name)
            return None
        file = self.folder / str(number) / name
        file.parent.mkdir()
        file.write_bytes(fetched.content)
        version = {ETAG: fetched.validators.etag, LAST_MODIFIED: fetched.validators.last_modified}
        known = {key: value for key, value in version.items() if value}
        return self.files.source(file, page.url, known)


def file_name(url: str, media_type: str) -> str:
    """Return a name for what an address gave, whose ending tells the kind that the server says.

    A site's first page is named by the host, its title where it says none itself.
    """
    parts = urlsplit(url)
    last = PurePosixPath(unquote(parts.path)).name
    named = last or parts.hostname or ""
    kept = "".join(sign if sign.isalnum() or sign in "-_. " else "_" for sign in named)
    name = kept.strip(". ")[-MAX_PAGE_NAME_CHARS:] or "index"
    kind = TYPE_ALIASES.get(media_type, media_type)
    told = kind_of(name) if last else None  # what a host ends with tells nothing
    if told and kind in (*GENERAL_TYPES, told):
        return name
    ending = ENDINGS.get(kind, "").partition(" ")[0] or f".{kind.rpartition('/')[2]}"
    return f"{PurePosixPath(name).stem if last else name}{ending}"


def _validators(metadata: Mapping[str, object]) -> Validators:
    etag, last_modified = metadata.get(ETAG), metadata.get(LAST_MODIFIED)
    return Validators(str(etag or ""), str(last_modified or ""))
