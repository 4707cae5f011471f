"""What is stored: listed, shown, compared, deleted; and how a caller names it."""

from collections.abc import Iterable, Sequence

from lexichord.db import search, store
from lexichord.db.pool import Database
from lexichord.errors import ConfigError, NotFoundError
from lexichord.types import (
    Documents,
    Excerpt,
    FilesResult,
    Json,
    Mode,
    Scope,
    SearchOptions,
    ShownDocument,
)
from lexichord.types.options import no_single_text, only_known_options


class InStore:
    """What reads and deletes the documents of its database."""

    database: Database
    degraded: list[str]

    @only_known_options
    async def similar(
        self,
        document: int | str,
        *,
        k: int = 10,
        depth: int = 100,
        mode: Mode = "hybrid",
        datasets: Sequence[str] = (),
        documents: Sequence[int | str] = (),
        uri_prefix: str | None = None,
        filter: Json | None = None,
        dense_share: float | None = None,
    ) -> FilesResult:
        """Find the k documents most like a stored one, by its vectors.

        `document` is an id, a uri or the end of one. Options are those of `search`, of which
        `mode`, `depth` and `dense_share` change nothing.
        """
        options = SearchOptions.select(locals())
        source = await self.resolve(document, datasets)
        scope = await self.scope(options)
        files = await search.similar_documents(self.database, source, scope, k)
        return FilesResult(str(document), files, self.degraded)

    @only_known_options
    async def list(
        self,
        *,
        limit: int | None = None,
        offset: int = 0,
        k: int = 10,
        depth: int = 100,
        mode: Mode = "hybrid",
        datasets: Sequence[str] = (),
        documents: Sequence[int | str] = (),
        uri_prefix: str | None = None,
        filter: Json | None = None,
        dense_share: float | None = None,
    ) -> Documents:
        """List the documents in scope, by dataset and uri; a list, which notebooks draw.

        `limit` documents after the first `offset`, by default all. Options are those of `search`,
        of which only those that say where to look change anything.
        """
        scope = await self.scope(SearchOptions.select(locals()))
        return Documents(await search.list_documents(self.database, scope, limit, offset))

    @only_known_options
    async def count(
        self,
        *,
        k: int = 10,
        depth: int = 100,
        mode: Mode = "hybrid",
        datasets: Sequence[str] = (),
        documents: Sequence[int | str] = (),
        uri_prefix: str | None = None,
        filter: Json | None = None,
        dense_share: float | None = None,
    ) -> int:
        """Count the documents in scope; options are those of `list`."""
        scope = await self.scope(SearchOptions.select(locals()))
        return await search.count_documents(self.database, scope)

    async def show(self, document: int | str, datasets: Iterable[str] = ()) -> ShownDocument:
        """Give a document with its text and chunks. Raises NotFoundError."""
        found = await self.resolve(document, datasets)
        (row,) = await search.list_documents(self.database, Scope(documents=(found,)))
        text = await search.document_text(self.database, found)
        return ShownDocument(row, text, await search.list_chunks(self.database, found))

    async def expand(
        self, chunk: int, *, neighbours: int = 1, whole_section: bool = False
    ) -> Excerpt:
        """Give a chunk with the text around it. Raises NotFoundError."""
        found = await search.expand_context(self.database, [chunk], neighbours, whole_section)
        if not found:
            raise NotFoundError(f"there is no chunk {chunk}")
        return found[0]

    async def delete(self, documents: Sequence[int | str], datasets: Iterable[str] = ()) -> int:
        """Delete documents with all that hangs on them; give their number."""
        found = [await self.resolve(document, datasets) for document in documents]
        return await store.delete_documents(self.database, found)

    async def resolve(self, document: int | str, datasets: Iterable[str] = ()) -> int:
        """Give the id that an id, a uri or the end of a uri means, in these datasets or any.

        Raises NotFoundError; ConfigError where it may mean several.
        """
        no_single_text(datasets=datasets)
        within = set(datasets)
        rows = await search.find_documents(self.database, str(document))
        rows = [row for row in rows if not within or row["dataset"] in within]
        if len(rows) == 1:
            return int(rows[0]["document_id"])
        if not rows:
            raise NotFoundError(f"there is no document {document}: see lexichord list")
        some = ", ".join(f"{row['document_id']} ({row['uri']})" for row in rows[:3])
        raise ConfigError(f"{document} may mean {len(rows)} documents: {some}; give the id")

    async def scope(self, options: SearchOptions) -> Scope:
        """Return where a search is to look. Raises ConfigError."""
        datasets = tuple(options.datasets)
        found = [await self.resolve(each, datasets) for each in options.documents]
        return Scope(datasets, tuple(found), options.uri_prefix, options.filter)
