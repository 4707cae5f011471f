"""What is stored: files, folders, pages, documents, the tables of others; and read once more."""

from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Unpack, cast

from lexichord.client.documents import DocumentMethods
from lexichord.client.space import SpaceMethods
from lexichord.db.catalogue import list_documents
from lexichord.ingest.options import IngestOptions, RereadCallbacks
from lexichord.ingest.report import Report
from lexichord.types import Json, Scope
from lexichord.types.options import no_other_options, several

if TYPE_CHECKING:
    from lexichord.ingest.pipeline import IngestPipeline


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
        `documents` are shaped like the lines; see `ingest.chunked.GivenDocument`. `prune` deletes
        what was stored from the folders among `paths` and is no longer there.
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
        (row,) = await list_documents(self.database, Scope(documents=(document_id,)))
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
            await self.database.share_statistics()
            report.degraded += await self._measure()
            report.position = await self.database.position()
        return report
