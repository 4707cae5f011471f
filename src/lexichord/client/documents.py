"""What is stored: listed, shown, compared, deleted; and how a caller names it.

And how it comes in: files, folders, pages, documents, the tables of others; and read once more.
"""

import re
from collections.abc import AsyncGenerator, Collection, Iterable, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Unpack, cast

from lexichord.client.space import SpaceMethods
from lexichord.db import catalogue, files, search, store
from lexichord.db.pool import Database
from lexichord.errors import MOST_NAMES, ConfigError, NotFoundError, likeness
from lexichord.ingest.load.marks import load_options
from lexichord.ingest.options import IngestOptions, RereadCallbacks
from lexichord.ingest.report import Report
from lexichord.settings import Settings
from lexichord.types import (
    Documents,
    Excerpt,
    Facet,
    FilesResult,
    Json,
    Original,
    PageBox,
    PageSize,
    Scope,
    ScopeOptions,
    SearchOptions,
    ShownDocument,
)
from lexichord.types.base import ID_PATTERN, check_name, unknown_id
from lexichord.types.query_options import (
    ScopeArguments,
    describe,
    no_other_options,
    read_datasets,
    read_metadata,
    read_number,
    several,
)
from lexichord.types.questions import check_filter

if TYPE_CHECKING:
    from lexichord.ingest.pipeline import IngestPipeline

URI_PARTS = 3  # of a document's uri that an error names


def _passage(shown: ShownDocument, mark: tuple[int, int]) -> str:
    """Return a stretch of a document's text. Raises ConfigError."""
    start, end = mark
    if not 0 <= start <= end <= len(shown.text):
        raise ConfigError(f"mark: the text has {len(shown.text)} characters, from 0")
    return shown.text[start:end]


def _some_documents(found: Sequence[tuple[str, str]]) -> str:
    """Return a few documents for an error's line, each by its id and the end of its uri."""
    few = [f"{id} ({'/'.join(uri.split('/')[-URI_PARTS:])})" for id, uri in found[:MOST_NAMES]]
    more = len(found) - len(few)
    return ", ".join(few) + (f" and {more} more" if more else "")


class DocumentMethods:
    """The methods of `Lexichord` that read, change and delete what its database holds."""

    database: Database
    settings: Settings
    degraded: list[str]

    async def similar(
        self,
        document: str,
        *,
        k: int = 10,
        **options: Unpack[ScopeArguments],
    ) -> FilesResult:
        """Find the k documents most like a stored one, by its vectors.

        `document` is an id, a uri or the end of one. Options say where to look, as those of
        `search`.
        """
        place = ScopeOptions.read(options, "similar")
        k = describe(SearchOptions)["k"].read(k)
        source = await self.resolve(document, place.datasets)
        scope = await self.scope(place)
        files = await search.similar_documents(self.database, source, scope, k)
        return FilesResult(document, files, self.degraded)

    async def list(
        self,
        *,
        limit: int | None = None,
        offset: int = 0,
        **options: Unpack[ScopeArguments],
    ) -> Documents:
        """List the documents in scope, by dataset and uri; a list, which notebooks draw.

        `limit` documents after the first `offset`, by default all. Options say where to look, as
        those of `search`.
        """
        place = ScopeOptions.read(options, "list", ("limit", "offset"))
        limit = None if limit is None else read_number("limit", limit, 0)
        offset = read_number("offset", offset, 0)
        scope = await self.scope(place)
        return Documents(await catalogue.list_documents(self.database, scope, limit, offset))

    async def count(
        self,
        **options: Unpack[ScopeArguments],
    ) -> int:
        """Count the documents in scope; options are those of `list`."""
        scope = await self.scope(ScopeOptions.read(options, "count"))
        return await catalogue.count_documents(self.database, scope)

    async def show(self, document: str, datasets: Iterable[str] | None = None) -> ShownDocument:
        """Return a document with its text and chunks. Raises NotFoundError."""
        document_id = await self.resolve(document, datasets)
        scope = Scope(documents=(document_id,))
        (row,) = await catalogue.list_documents(self.database, scope)
        text = await catalogue.document_text(self.database, document_id)
        return ShownDocument(row, text, await catalogue.list_chunks(self.database, document_id))

    async def count_by(
        self,
        key: str,
        **options: Unpack[ScopeArguments],
    ) -> Sequence[Facet]:
        """Count the documents in scope by the values of a metadata key, the commonest first.

        `dataset`, `uri`, `title`, `media_type` and `folder` are keys, too. Of a list each element
        counts. Options say where to look, as those of `search`.
        """
        scope = await self.scope(ScopeOptions.read(options, "count_by"))
        return await catalogue.count_by(self.database, key, scope)

    async def complete(
        self,
        beginning: str,
        **options: Unpack[ScopeArguments],
    ) -> Sequence[str]:
        """Return phrases, words and headings of documents in scope with a word that begins so.

        Options say where to look, as those of `search`.
        """
        scope = await self.scope(ScopeOptions.read(options, "complete"))
        return await catalogue.complete_word(self.database, beginning, scope)

    async def set_metadata(
        self, document: str, changes: Json, datasets: Iterable[str] | None = None
    ) -> Json:
        """Set keys of a document's metadata, take away those that are None; return all of it.

        Nothing is embedded again. They stay until the document itself changes.
        """
        changes = read_metadata(changes)
        return await store.set_metadata(
            self.database, await self.resolve(document, datasets), changes
        )

    async def page_image(
        self,
        document: str,
        page: int,
        *,
        mark: tuple[int, int] | None = None,
        datasets: Iterable[str] | None = None,
    ) -> bytes:
        """Return a PDF's page as PNG, drawn from its file, the text from `mark` to its end marked.

        Raises NotFoundError where the file is not there as it was read, nor kept; ConfigError.
        """
        from lexichord.ingest.files import check_pages, draw_page, look, opened_original

        shown = await self.show(document, datasets)
        passage = _passage(shown, mark or (0, 0))
        check_pages(shown.document)
        options = load_options(self.settings)
        async with opened_original(self.database, shown.document) as original:
            return await look(draw_page, original, page, passage, options)

    async def boxes(
        self, document: str, start: int, end: int, *, datasets: Iterable[str] | None = None
    ) -> Sequence[PageBox]:
        """Return where a passage of a PDF's text, such as a hit's, stands on its pages.

        A box a line; none for what was recognized by OCR. Raises as `page_image` does.
        """
        from lexichord.ingest.files import check_pages, find_boxes, look, opened_original

        shown = await self.show(document, datasets)
        passage = _passage(shown, (start, end))
        check_pages(shown.document)
        pages = [chunk.page for chunk in shown.chunks if chunk.start <= start and chunk.page]
        options = load_options(self.settings)
        async with opened_original(self.database, shown.document) as original:
            page = max(pages, default=1)
            return await look(find_boxes, original, page, passage, options)

    async def page_sizes(
        self, document: str, *, datasets: Iterable[str] | None = None
    ) -> Sequence[PageSize]:
        """Return how large the pages of a PDF are. Raises as `page_image` does."""
        from lexichord.ingest.files import check_pages, look, opened_original, read_page_sizes

        document_id = await self.resolve(document, datasets)
        (row,) = await catalogue.list_documents(self.database, Scope(documents=(document_id,)))
        check_pages(row)
        options = load_options(self.settings)
        async with opened_original(self.database, row) as original:
            return await look(read_page_sizes, original, options)

    async def original(self, document: str, datasets: Iterable[str] | None = None) -> Original:
        """Return the bytes that a document was read from.

        Raises NotFoundError where its file is not there as it was read, nor kept.
        """
        from lexichord.ingest.files import look, opened_original, read_original

        document_id = await self.resolve(document, datasets)
        (row,) = await catalogue.list_documents(self.database, Scope(documents=(document_id,)))
        async with opened_original(self.database, row) as original:
            return await look(read_original, original, row)

    async def expand(
        self, chunk: str, *, neighbours: int = 1, whole_section: bool = False
    ) -> Excerpt:
        """Return a chunk with the text around it. Raises NotFoundError."""
        excerpts = await search.expand_context(self.database, [chunk], neighbours, whole_section)
        if not excerpts:
            raise NotFoundError(unknown_id("chunk", chunk))
        return excerpts[0]

    async def delete(self, documents: Sequence[str], datasets: Iterable[str] | None = None) -> int:
        """Delete documents with all that hangs on them; return their number."""
        ids = [await self.resolve(document, datasets) for document in several(documents)]
        return await store.delete_documents(self.database, ids)

    async def move(
        self, documents: Sequence[str], dataset: str, datasets: Iterable[str] | None = None
    ) -> int:
        """Move documents into a dataset with all that hangs on them; return how many it had not.

        They are those of `datasets`, or any. Nothing is embedded again, ids stay. Raises
        NotFoundError; ConfigError, as where one of the same uri is there.
        """
        check_name("the dataset", dataset)
        ids = [await self.resolve(document, datasets) for document in several(documents)]
        return await store.move_documents(self.database, ids, dataset)

    async def rename_dataset(self, dataset: str, new_name: str) -> None:
        """Give a dataset another name, which none has; what names it, as API keys do, follows.

        Raises NotFoundError; ConfigError, also while something is being stored in it.
        """
        check_name("the dataset", new_name)
        await files.rename_dataset(self.database, dataset, new_name)

    async def delete_dataset(self, dataset: str) -> int:
        """Delete a dataset with all that hangs on it; return how many documents it had.

        Raises NotFoundError; ConfigError while something is being stored in it, and where it is an
        indexed table's.
        """
        await catalogue.check_datasets(self.database, [dataset])
        return await files.delete_dataset(self.database, dataset) or 0

    async def resolve(self, document: str, datasets: Iterable[str] | None = None) -> str:
        """Return the id that an id, a uri or the end of a uri means, in these datasets or any.

        Raises NotFoundError; ConfigError where it may mean several.
        """
        within = set(read_datasets(datasets))
        rows = await catalogue.find_documents(self.database, document)
        rows = [row for row in rows if not within or row["dataset"] in within]
        if len(rows) == 1:
            return str(rows[0]["document_id"])
        if not rows:
            raise NotFoundError(await self._unknown(document, within))
        rows.sort(key=lambda row: -likeness(document, row["uri"]))
        some = _some_documents([(row["document_id"], row["uri"]) for row in rows])
        raise ConfigError(f"{document} may mean {len(rows)} documents: {some}; give the id")

    async def _unknown(self, document: str, datasets: Collection[str]) -> str:
        """Return the line that there is no such document, with those whose names are like it."""
        near: Sequence[tuple[str, str]] = ()
        if not re.fullmatch(ID_PATTERN["doc"], document):
            near = await catalogue.similar_uris(self.database, document, sorted(datasets))
        return unknown_id("doc", document, f"take one of {_some_documents(near)}" if near else "")

    async def scope(self, options: ScopeOptions) -> Scope:
        """Return where a search is to look. Raises ConfigError."""
        check_filter(options.filter, self.settings.max_conditions)
        ids = [
            await self.resolve(document, options.datasets) for document in options.documents or ()
        ]
        return Scope(tuple(options.datasets or ()), tuple(ids), options.uri_prefix, options.filter)


class IngestMethods(SpaceMethods, DocumentMethods):
    """The methods of `Lexichord` that read and store documents."""

    async def ingest(
        self,
        paths: Iterable[Path | str] | Path | str = (),
        *,
        documents: Iterable[Json] | Json = (),
        chunked_file: Path | str | None = None,
        prune: bool = False,
        **options: Unpack[IngestOptions],
    ) -> Report:
        """Store files, folders, pages, `documents`, lines of `chunked_file` with their chunks.

        Of `paths`, what begins with http:// or https:// is a page or a sitemap of the web; with
        s3://, gs://, az://, sftp:// or another name that fsspec knows a bucket or a folder there.
        What is stored already, unchanged, is skipped; of what changed only new chunks are embedded.
        `documents` are shaped like the lines; see `ingest.given_documents.GivenDocument`.
        `prune` deletes what was stored from the folders among `paths` and is no longer there.
        """
        from lexichord.ingest import jobs

        run, files = self._ingest(options), [str(path) for path in several(paths)]
        chunked = None if chunked_file is None else Path(chunked_file)
        given = several(documents)
        return await self._completed(await jobs.ingest(run, files, given, chunked, prune))

    async def retry_failed(self, **options: Unpack[IngestOptions]) -> Report:
        """Take up again the files of a dataset that failed; `run_id` is 0 if there are none."""
        from lexichord.ingest import jobs

        return await self._completed(await jobs.retry_failed(self._ingest(options)))

    async def watch(
        self,
        paths: Iterable[Path | str] | Path | str,
        *,
        prune: bool = False,
        **options: Unpack[IngestOptions],
    ) -> AsyncGenerator[Report]:
        """Ingest, and again after each batch of changes, for ever; yield each one's report.

        What changes in buckets and on servers is asked for each `watch_seconds` of the settings.
        """
        from lexichord.ingest import jobs

        files, home = [str(path) for path in several(paths)], self.settings.home
        watched = jobs.watch(
            *(lambda: self._ingest(options), files, prune, home, self.settings.watch_seconds),
            follow_links=options.get("follow_links", False),
        )
        async with aclosing(watched) as reports:
            async for report in reports:
                yield await self._completed(report)

    async def reread(
        self,
        document: str,
        datasets: Iterable[str] | None = None,
        **callbacks: Unpack[RereadCallbacks],
    ) -> Report:
        """Read a document again from the bytes that it was read from, with today's readers.

        Its context is made as it was, metadata that it has stay, and chunks that come out the same
        are not embedded again. Raises NotFoundError where those bytes are neither kept nor at
        their place.
        """
        from lexichord.ingest.jobs import reread, reread_options

        document_id = await self.resolve(document, datasets)
        (row,) = await catalogue.list_documents(self.database, Scope(documents=(document_id,)))
        options, recipe = await reread_options(self.database, row)
        run = self._ingest(cast(IngestOptions, options | callbacks))
        return await self._completed(await reread(run, row, recipe))

    async def import_vechord(
        self, namespace: str, *, table: str | None = None, **options: Unpack[IngestOptions]
    ) -> Report:
        """Take over a vechord namespace of the same database; nothing is embedded again.

        `table` holds the chunks, if several do; vectors are taken to be of the database's space.
        """
        from lexichord.ingest import jobs

        options["context"] = "given"
        return await self._completed(
            await jobs.import_vechord(self._ingest(options), namespace, table)
        )

    def _ingest(self, options: IngestOptions) -> "IngestPipeline":
        from lexichord.ingest.pipeline import IngestPipeline

        no_other_options(options, IngestOptions.__annotations__)
        for name in ("without", "include", "exclude"):
            if name in options:
                options[name] = [*several(options[name])]
        place = (self.database, self.embedder, self.space, self.settings)
        return IngestPipeline(*place, follow=self._follow, limits=self.ingest_limits, **options)

    async def _completed(self, report: Report) -> Report:
        report.degraded += self.degraded
        if report.run_id:
            report.degraded += await self._measure()
            report.position = await self.database.position()
        return report
