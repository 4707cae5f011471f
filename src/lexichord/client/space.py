"""The space that a database is bound to: changed here, followed when another process does."""

from collections.abc import Callable, Coroutine, Sequence
from functools import wraps
from typing import Any, Concatenate, Unpack

from lexichord.db import catalogue
from lexichord.db.pool import Database
from lexichord.errors import ConfigError, EmbeddingMismatchError, ProviderError
from lexichord.ingest.flow import INGEST_LIMITS, IngestLimits
from lexichord.ingest.vectors import Reembed, Reembedded, ReembedOptions
from lexichord.providers import Embedder, EmbedKind, RemoteEmbedder, Vectors
from lexichord.providers.registry import find_embedder
from lexichord.retrieve.cache import QueryCache
from lexichord.settings import Settings
from lexichord.types.query_options import no_other_options, several
from lexichord.work import in_thread

# Else texts and key would go to the wrong one.
EMBEDDING_PROVIDER_UNCLEAR = (
    "embedding_base_url and embedding_api_key are one provider's: "
    "say whose by LEXICHORD_EMBEDDING=provider/model/dimension"
)

type FindEmbedder = Callable[[Settings, str], tuple[Embedder | None, list[str]]]


class SpaceMethods:
    """The methods of `Lexichord` for its database's space.

    `find_embedder` may be the caller's own; `ingest_limits` bound how much is done at once.
    """

    settings: Settings
    database: Database
    space: str = ""
    embedder: Embedder | None
    degraded: list[str]
    cache: QueryCache
    find_embedder: FindEmbedder = staticmethod(find_embedder)
    ingest_limits: IngestLimits = INGEST_LIMITS

    async def embed(self, texts: Sequence[str], kind: EmbedKind = "document") -> Vectors:
        """Embed texts in the database's space: an array of float32, a row of length 1 for each.

        Questions are embedded as `kind` query. Raises ConfigError without an embedder;
        ProviderError.
        """
        texts = [*several(texts)]
        if kind not in ("query", "document"):
            raise ConfigError(f"kind is query or document, not '{kind}'")
        embedder, space = await self._follow()
        if embedder is None:
            raise ConfigError(f"nothing embeds in {space}: {self.degraded[0]}")
        return await in_thread(embedder.embed, [*texts], kind)

    async def reembed(
        self,
        to: str | None = None,
        *,
        rollback: bool = False,
        drop: bool = False,
        **options: Unpack[ReembedOptions],
    ) -> Reembedded:
        """Change to the embeddings of another model, `to` = provider/model/dimension.

        Searches and ingests go on meanwhile. Without `to` it goes on where it was interrupted. The
        old vectors are kept: `rollback` changes back to them, `drop` deletes what is not in use.
        """
        no_other_options(options, ReembedOptions.__annotations__)
        if (to is not None) + rollback + drop > 1:
            raise ConfigError("to, rollback and drop each go alone")
        change = Reembed(
            self.database,
            self._embedder_of,
            limits=self.ingest_limits,
            measure=self._measure_new,
            **options,
        )
        work = change.drop() if drop else change.roll_back() if rollback else change.run(to)
        done = await work
        await self._follow()
        return done

    async def _measure(self) -> list[str]:
        """Measure the space's cosines where that is due, so that no query waits for it.

        A service is left to the first query: an ingest asks it for its chunks alone. Returns why
        it failed, if it did: the next query tries again.
        """
        from lexichord.retrieve.confidence import ensure_scale

        try:
            if self.embedder is not None and not isinstance(self.embedder, RemoteEmbedder):
                await ensure_scale(self.database, self.embedder, self.cache.scales)
        except ProviderError as error:
            return [f"confidence is by words until a query measures the model: {error}"]
        return []

    async def _measure_new(self, embedder: Embedder) -> None:
        """Measure the cosines of the space that the database changes to."""
        from lexichord.retrieve.confidence import renew_scale

        await renew_scale(self.database, embedder, self.cache.scales)

    async def _follow(self) -> tuple[Embedder | None, str]:
        """Take the space that the database is bound to now, and its embedder."""
        space = (await catalogue.configuration(self.database))["space"]
        if space != self.space:
            self.embedder, self.degraded = self.find_embedder(self.settings, space)
            self.space = space
        return self.embedder, self.space

    def _embedder_of(self, space: str) -> tuple[Embedder | None, list[str]]:
        """Return the embedder of any space, or the reason why there is none."""
        if self.embedder and space == self.space:
            return self.embedder, []
        settings = self.settings
        is_shared = settings.embedding_base_url or settings.embedding_api_key
        services = {each.partition("/")[0] for each in (space, self.space)} - {"local"}
        if is_shared and not settings.embedding and len(services) > 1:
            return None, [EMBEDDING_PROVIDER_UNCLEAR]
        return self.find_embedder(settings, space)


def in_current_space[S: SpaceMethods, **P, R](
    method: Callable[Concatenate[S, P], Coroutine[Any, Any, R]],
) -> Callable[Concatenate[S, P], Coroutine[Any, Any, R]]:
    """Retry once where the database has left the space in which the question was embedded.

    The database refuses a vector of another space, so no result is made of two.
    """

    @wraps(method)
    async def retry(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        space = self.space
        try:
            return await method(self, *args, **kwargs)
        except EmbeddingMismatchError:
            await self._follow()
            if self.space == space:
                raise
            return await method(self, *args, **kwargs)

    return retry
