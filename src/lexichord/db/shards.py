"""Several databases as one: whose documents are where, and what becomes of each call.

A shard is a complete database of ours. Calls of SQL functions pass here by name: `db/gather.py`
says for each of them which shards are asked and how their rows become one answer. One that it does
not name is refused, so that nothing is answered in part unsaid.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from hashlib import blake2b
from itertools import chain
from time import monotonic
from typing import Any, Self

from psycopg.conninfo import conninfo_to_dict

from lexichord.db import gather
from lexichord.db.call_settings import keys_known
from lexichord.db.fanout import HOME, Call
from lexichord.db.pool import Conn, Database, Row, check_dsn, is_gone
from lexichord.errors import ConfigError, DatabaseError, NotFoundError
from lexichord.types.ids import shard_of

CONNECT_SECONDS = 2.0  # for a connection to a shard
MAX_DRIFT = 0.02  # of the chunks, and of their mean length, by which what shards were told is off
COUNTS = ("chunk_count", "token_count", "document_count", "card_token_count")
LISTS = ("lexemes", "dfs", "cards")
RETRY_SECONDS = 5.0  # before one that did not answer is asked again
DOWN = "shard {number} does not answer: {error}"
NOT_THERE = (
    "over shards this is not there ({function}): do it on the database of each, where lexichord "
    "shards list says they are"
)
MISSING = "shard {number} does not answer: what it holds is missing"

_missing: ContextVar[set[int] | None] = ContextVar("missing", default=None)


def check_shard_dsn(dsn: str) -> None:
    """Raise ConfigError for a DSN that cannot be read, or has a password: it is stored."""
    check_dsn(dsn)
    if conninfo_to_dict(dsn).get("password"):
        raise ConfigError(
            "the DSN of a shard is stored, and so has no password: put it into libpq's password "
            "file, or PGPASSWORD"
        )


@contextmanager
def noting_missing() -> Iterator[None]:
    """Let answers of the block go without a shard that is down, and `notes` say which."""
    token = _missing.set(set())
    try:
        yield
    finally:
        _missing.reset(token)


class Shards(Database):
    """The home, which lists the others, and these, by number.

    With `is_partial` an answer that can say so goes without a shard that is down; else it fails.
    """

    def __init__(
        self, home: Database, dsns: Mapping[int, str], size: int, *, is_partial: bool
    ) -> None:
        self.home, self.is_partial = home, is_partial
        self.dsn, self.replica = home.dsn, home.replica
        self.others = {
            number: Database(dsn, size, patience=CONNECT_SECONDS) for number, dsn in dsns.items()
        }
        self._down: dict[int, float] = {}
        self.defaults: Row = {}

    @property
    def numbers(self) -> Sequence[int]:
        """The numbers of all shards, the home's first."""
        return [HOME, *self.others]

    def shard(self, number: int) -> Database:
        """Return a shard. Raises NotFoundError."""
        if number == HOME:
            return self.home
        if number not in self.others:
            raise NotFoundError(f"there is no shard {number}: see lexichord shards list")
        return self.others[number]

    async def __aenter__(self) -> Self:
        self.ids = self.home.ids
        for database in self.others.values():
            database.ids = self.ids
            await database.connect()
        self.defaults = await gather.read_defaults(self.home)
        return self

    async def __aexit__(self, *_: object) -> None:
        for database in self.others.values():
            await database.__aexit__()

    def connections(self) -> dict[str, int]:
        """Count the connections of all shards; see `Database.connections`."""
        counts = [self.shard(number).connections() for number in self.numbers]
        return {name: sum(count[name] for count in counts) for name in counts[0]}

    def notes(self) -> list[str]:
        """Return what answers should say: of the home's replica, and of shards that are down."""
        missing = sorted(_missing.get() or ())
        return self.home.notes() + [MISSING.format(number=number) for number in missing]

    def home_of(self, document: str) -> Database:
        """Return the shard that has a document, by its id. Raises NotFoundError."""
        return self.shard(shard_of(self.ids.read("doc", document)))

    async def place(self, dataset: str, uri: str) -> Database:
        """Return the shard that has a document, or else is to get it, by hash."""
        rows = await self.call("document_digests", dataset=dataset, uris=[uri])
        if rows:
            return self.home_of(rows[0]["document_id"])
        digest = blake2b(f"{dataset}\0{uri}".encode(errors="replace"), digest_size=8).digest()
        return self.shard(self.numbers[int.from_bytes(digest) % len(self.numbers)])

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Conn]:
        """Raise ConfigError: a transaction is one database's; see `place` and `home_of`."""
        raise ConfigError(NOT_THERE.format(function="a transaction"))
        yield

    async def call(self, function: str, **arguments: object) -> list[Row]:
        """See `Database.call`; of all shards."""
        return await self._gather("call", function, arguments)

    async def write(self, function: str, **arguments: object) -> list[Row]:
        """See `Database.write`; of all shards."""
        return await self._gather("write", function, arguments)

    async def read(self, function: str, **arguments: object) -> list[Row]:
        """See `Database.read`; of all shards."""
        return await self._gather("read", function, arguments)

    async def _gather(self, how: str, function: str, arguments: dict[str, Any]) -> list[Row]:
        rule = gather.RULES.get(function)
        if rule is None:
            raise ConfigError(NOT_THERE.format(function=function))
        return await rule(Call(self, how, function, arguments))

    async def ask(
        self, how: str, function: str, arguments: Mapping[int, Mapping[str, Any]]
    ) -> dict[int, list[Row]]:
        """Call a function on shards at once, each with its arguments; return their rows by shard.

        What one of them has nothing of, another may: a dataset, a key of a filter.
        """
        asked = [self._ask(number, how, function, own) for number, own in arguments.items()]
        results = await asyncio.gather(*asked, return_exceptions=True)
        answers = dict(zip(arguments, results, strict=True))
        refused = {n: error for n, error in answers.items() if isinstance(error, ConfigError)}
        if refused and len(refused) == len(arguments):
            if own := await self._with_known_datasets(arguments):
                return await self.ask(how, function, own)
        elif refused:
            again = [self._ask_without(n, how, function, arguments[n]) for n in refused]
            answers |= dict(zip(refused, await asyncio.gather(*again), strict=True))
        for answer in answers.values():
            if isinstance(answer, BaseException):
                raise answer
        return {number: rows for number, rows in answers.items() if isinstance(rows, list)}

    async def _with_known_datasets(
        self, arguments: Mapping[int, Mapping[str, Any]]
    ) -> dict[int, dict[str, Any]]:
        """Narrow what all refused to the datasets of each shard; {} where that is not why."""
        known = {number: await self._datasets(number) for number in arguments}
        wanted = {name for each in arguments.values() for name in each.get("datasets") or ()}
        if not wanted or not wanted <= set(chain(*known.values())):
            return {}
        narrowed = {
            number: {**each, "datasets": own}
            for number, each in arguments.items()
            if (own := [name for name in each["datasets"] if name in known[number]])
        }
        return {} if narrowed == arguments else narrowed

    async def _datasets(self, number: int) -> set[str]:
        return {
            row["dataset"] for row in await self._ask(number, "call", "list_datasets", {}) or ()
        }

    async def _ask(
        self, number: int, how: str, function: str, arguments: Mapping[str, Any]
    ) -> list[Row] | None:
        """Return None for a shard that is down where the answer may go without it."""
        missing, error = _missing.get(), "it did not a moment ago"
        if self._down.get(number, 0.0) <= monotonic():
            try:
                return await getattr(self.shard(number), how)(function, **arguments)  # type: ignore[no-any-return]
            except DatabaseError as raised:
                if number == HOME or not is_gone(raised):
                    raise
                self._down[number], error = monotonic() + RETRY_SECONDS, str(raised)
        if missing is None or not self.is_partial:
            raise DatabaseError(DOWN.format(number=number, error=error))
        missing.add(number)
        return None

    async def _ask_without(
        self, number: int, how: str, function: str, arguments: Mapping[str, Any]
    ) -> list[Row] | None:
        """Ask a shard that refused what others know for what it has of it."""
        own = dict(arguments)
        if own.get("datasets"):
            known = await self._datasets(number)
            own["datasets"] = [name for name in own["datasets"] if name in known]
            if not own["datasets"]:
                return []
        with keys_known():
            return await self._ask(number, how, function, own)

    async def share_statistics(self) -> bool:
        """Tell each shard what the others hold, if that is off by then; return whether it was."""
        own = {n: (await self.shard(n).call("shard_statistics"))[0] for n in self.numbers}
        total = sum(row["chunk_count"] for row in own.values())
        off = [abs(total - row["chunk_count"] - row["elsewhere_chunks"]) for row in own.values()]
        if max(off) <= MAX_DRIFT * total:
            return False
        terms = {n: (await self.shard(n).call("shard_terms"))[0] for n in self.numbers}
        for number in self.numbers:
            others = [n for n in self.numbers if n != number]
            sums = {name: sum(own[n][name] for n in others) for name in COUNTS}
            lists = {name: list(chain(*(terms[n][name] for n in others))) for name in LISTS}
            await self.shard(number).write("set_elsewhere", **sums, **lists)
        lengths = [row["average_length"] for row in own.values() if row["average_length"]]
        is_apart = max(lengths) > (1 + MAX_DRIFT) * min(lengths)
        for number in self.numbers:
            await self.shard(number).write("refresh_impacts", anyway=is_apart)
        return True

    def by_shard(self, kind: Any, ids: Iterable[str]) -> dict[int, list[str]]:  # noqa: ANN401
        """Part ids by the shards that they name. Raises NotFoundError."""
        parted = defaultdict[int, list[str]](list)
        for text in ids:
            parted[shard_of(self.ids.read(kind, text))].append(text)
        return dict(parted)
