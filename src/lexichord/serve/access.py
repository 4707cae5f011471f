"""The application as one caller may use it: within the datasets, and the rights, of a key."""

from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from ipaddress import ip_address
from typing import Any, Concatenate, Self, TypedDict, Unpack, cast

from lexichord.client.lexichord import Lexichord
from lexichord.db import catalogue
from lexichord.db.pool import Row
from lexichord.errors import AccessError, ConfigError, ForbiddenError, NotFoundError
from lexichord.ingest.pipeline import IngestOptions
from lexichord.ingest.report import Report
from lexichord.serve.errors import public_line
from lexichord.types import (
    Excerpt,
    FilesResult,
    Json,
    KeywordSets,
    Reflection,
    Response,
    Rights,
    SearchResult,
    ShownDocument,
)
from lexichord.types.state import IngestRun

ALL = Rights()


class _Within(TypedDict, total=False):
    datasets: Sequence[str]


def _scoped[**P, R](
    method: Callable[Concatenate[Lexichord, P], Coroutine[Any, Any, R]],
) -> "Callable[Concatenate[Limited, P], Coroutine[Any, Any, R]]":
    """Keep a method within reach of the rights, and from its result what is not for others."""

    @wraps(method)
    async def call(self: "Limited", /, *args: P.args, **kwargs: P.kwargs) -> R:
        given = cast(dict[str, Any], kwargs)
        within = self._within(given.get("datasets", ()))
        result = await method(self.core, *args, **cast(Any, {**given, **within}))
        return cast(R, _public(result))

    return call


@dataclass(frozen=True, slots=True)
class Limited:
    """The methods of `Lexichord` that other programs may call, of the same names and results.

    A dataset that the rights do not reach raises ForbiddenError, whether it is there or not; a
    document of one is not there, NotFoundError.
    """

    core: Lexichord
    rights: Rights = ALL

    search = _scoped(Lexichord.search)
    files = _scoped(Lexichord.files)
    keywords = _scoped(Lexichord.keywords)
    query = _scoped(Lexichord.query)
    similar = _scoped(Lexichord.similar)
    list = _scoped(Lexichord.list)
    count = _scoped(Lexichord.count)

    async def show(self, document: int | str, datasets: Sequence[str] = ()) -> ShownDocument:
        """See `Lexichord.show`."""
        return await self.core.show(document, **self._within(datasets))

    async def expand(
        self, chunk: int, *, neighbours: int = 1, whole_section: bool = False
    ) -> Excerpt:
        """See `Lexichord.expand`."""
        found = await self.core.expand(chunk, neighbours=neighbours, whole_section=whole_section)
        try:
            await self.core.resolve(found.document_id, **self._within())
        except NotFoundError:
            raise NotFoundError(f"there is no chunk {chunk}") from None
        return found

    async def delete(self, documents: Sequence[int | str], datasets: Sequence[str] = ()) -> int:
        """See `Lexichord.delete`."""
        self.check_writes()
        return await self.core.delete(documents, **self._within(datasets))

    async def ingest(
        self,
        paths: Iterable[Any] = (),
        *,
        documents: Iterable[Any] = (),
        **options: Unpack[IngestOptions],
    ) -> Report:
        """See `Lexichord.ingest`."""
        self.check_writes(options.get("dataset", "default"))
        return await self.core.ingest(paths, documents=documents, **options)

    async def datasets(self) -> Sequence[dict[str, Any]]:
        """List the datasets that are there and in reach, with their documents and chunks."""
        reach = self.rights.datasets
        found = await self.core.datasets()
        return [each.to_dict() for each in found if reach is None or each.dataset in reach]

    async def jobs(self, latest: int = 20, datasets: Sequence[str] = ()) -> Sequence[IngestRun]:
        """List the latest ingests in reach, newest first."""
        within = self._within(datasets).get("datasets")
        return [_job(row) for row in await catalogue.list_runs(self.core.database, latest, within)]

    async def job(self, job: int) -> IngestRun:
        """Give an ingest. Raises NotFoundError."""
        within = self._within().get("datasets")
        rows = await catalogue.list_runs(self.core.database, 1, within, [job])
        if not rows:
            raise NotFoundError(f"there is no job {job}")
        return _job(rows[0])

    def check_writes(self, dataset: str | None = None) -> None:
        """Raise ForbiddenError unless documents may be written, into this dataset."""
        if not self.rights.writes:
            raise ForbiddenError("the API key may only read: make one with --write")
        if dataset is not None:
            self._within([dataset])

    def _within(self, asked: Sequence[str] = ()) -> _Within:
        """Give the datasets to look in: those asked for, else all in reach."""
        reach = self.rights.datasets
        if reach is None:
            return {"datasets": asked} if asked else {}
        if isinstance(asked, str):
            return {"datasets": asked}  # refused further down, as everywhere
        if beyond := set(asked).difference(reach):
            raise ForbiddenError(f"the API key does not reach dataset {', '.join(sorted(beyond))}")
        return {"datasets": asked or reach}


def _public(result: object) -> object:
    """Return a result without what only who runs the server may see."""
    if not isinstance(result, SearchResult | FilesResult | KeywordSets | Response):
        return result
    shown = replace(result, degraded=[public_line(line) for line in result.degraded])
    if isinstance(shown, Response):
        trace = [_public_step(step) for step in shown.trace]
        return replace(shown, trace=trace, reflection=_public_rounds(shown.reflection))
    return shown


def _public_step(step: Json) -> Json:
    made = step.get("made")
    if not isinstance(made, dict) or not made.get("error"):
        return step
    return {**step, "made": {**made, "error": public_line(made["error"])}}


def _public_rounds(reflection: Reflection | None) -> Reflection | None:
    if reflection is None:
        return None
    rounds = [
        replace(each, error=each.error and public_line(each.error)) for each in reflection.rounds
    ]
    errors = [public_line(error) for error in reflection.errors]
    return replace(reflection, rounds=tuple(rounds), errors=tuple(errors))


def _job(row: Row) -> IngestRun:
    failures = {uri: public_line(reason) for uri, reason in row["failures"].items()}
    return IngestRun(**{**row, "failures": failures})


HERE = ("localhost", "127.0.0.1", "[::1]", "::1")  # names that reach nobody but this machine


@dataclass(frozen=True, slots=True)
class Door:
    """Where a server listens, and whether those who come need a key.

    They need none where only this machine can reach it and only by its own names: a page elsewhere
    that has its name point here, or a proxy in front, comes by another (DNS rebinding).
    """

    core: Lexichord
    host: str
    hosts: tuple[str, ...]
    needs_key: bool

    @classmethod
    async def open(cls, core: Lexichord, host: str) -> Self:
        """Raise ConfigError where a key is needed and there is none."""
        others = tuple(core.settings.allowed_hosts)
        needs_key = not is_loopback(host) or bool(others)
        if needs_key and not any(key.revoked_at is None for key in await core.list_keys()):
            raise ConfigError(
                f"whoever reaches {', '.join(others) or host} could read everything: make a key "
                "with lexichord keys create NAME, or listen on 127.0.0.1"
            )
        # A name is checked to keep off pages that point theirs here; with a key they get nowhere.
        hosts = (*HERE, *others) if others or is_loopback(host) else ("*",)
        return cls(core, host, hosts, needs_key)

    async def enter(self, authorization: str | None) -> Limited:
        """Give what the sender of an Authorization header may use. Raises AccessError."""
        if authorization is None and not self.needs_key:
            return Limited(self.core)
        kind, _, secret = (authorization or "").partition(" ")
        if kind.lower() != "bearer" or not secret.strip():
            raise AccessError("send an API key: Authorization: Bearer KEY")
        return Limited(self.core, await self.core.check_key(secret.strip()))


def is_loopback(host: str) -> bool:
    """Tell whether an address to listen on is reached from this machine alone."""
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"
