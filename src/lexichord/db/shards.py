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
from itertools import chain
from time import monotonic
from typing import Any, Self

from psycopg.conninfo import conninfo_to_dict, make_conninfo

from lexichord.db import gather
from lexichord.db.fanout import HOME, SPACES_DIFFER, Call, Rule
from lexichord.db.moves import Moves, await_switch, end_switch, read_moves
from lexichord.db.pool import Conn, Database, Row, call, check_dsn
from lexichord.db.replica import MAX_LAG_SECONDS
from lexichord.db.session import current_asker, is_denied, is_gone, is_unknown, keys_known
from lexichord.errors import (
    ConfigError,
    DatabaseError,
    EmbeddingMismatchError,
    NotFoundError,
    UnknownDatasetError,
)
from lexichord.types.base import IdKind, shard_of

CONNECT_SECONDS = 2.0  # for a connection to a shard
MAX_DRIFT = 0.02  # of the chunks, and of their mean length, by which what shards were told is off
COUNTS = ("chunk_count", "token_count", "document_count", "card_token_count")
LISTS = ("lexemes", "dfs", "cards")
RETRY_SECONDS = 5.0  # before one that did not answer is asked again
UNDISTURBED_TRIES = 3  # of an answer, before moves have to wait for it
JOIN_WRITERS = "select lexichord_data.join_writers()"
NO_SHARD = "there is no shard {number}: see lexichord shards list"
DOWN = "shard {number} does not answer"
OUTDATED = (
    "shard {number} was prepared by another version of lexichord: run lexichord init with the DSN "
    "that lexichord shards list shows"
)
NOT_THERE = (
    "over shards this is not there ({function}): do it on the database of each, where lexichord "
    "shards list says they are"
)
CUT_OFF = (
    "a move of documents between shards was cut off, and this role may not end it: run lexichord "
    "shards rebalance"
)
NOTHING_HELD = ("held_numbers", {"kind": "doc", "numbers": []})  # what every shard can answer
UNLIKE_HOME = (
    "shard {number} does not hold this role to its tenant as the first database does: start this "
    "program again, see lexichord tenants list on both, and make the role on the shard's server"
)
MISSING = "{reason}: what it holds is missing"

_missing: ContextVar[dict[int, str] | None] = ContextVar("missing", default=None)


def check_shard_dsn(dsn: str) -> None:
    """Raise ConfigError for a DSN that cannot be read, or has a password: it is stored."""
    check_dsn(dsn)
    if conninfo_to_dict(dsn).get("password"):
        raise ConfigError(
            "the DSN of a shard is stored, and so has no password: put it into libpq's password "
            "file, or PGPASSWORD"
        )


def as_role_of(dsn: str, other: str) -> str:
    """Return the address of another database with the role and password of the first DSN."""
    asker = {name: conninfo_to_dict(dsn).get(name) for name in ("user", "password")}
    return make_conninfo("", **(conninfo_to_dict(other) | asker))


@contextmanager
def noting_missing() -> Iterator[None]:
    """Let answers of the block go without a shard that is down, and `notes` say which."""
    token = _missing.set({})
    try:
        yield
    finally:
        _missing.reset(token)


class Shards(Database):
    """The home, which lists the others, and these, by number.

    With `is_partial` an answer that can say so goes without a shard that is down; else it fails.
    """

    _moves: Moves

    def __init__(
        self, home: Database, dsns: Mapping[int, str], size: int, *, is_partial: bool
    ) -> None:
        self.home, self.is_partial = home, is_partial
        self.dsn, self.replica, self.size = home.dsn, home.replica, size
        self._dsns = dict(dsns)
        self.others: dict[int, Database] = {}
        self.tenancy: Row = {}
        self._holds_tenants: set[int] = set()
        self._primary_until = 0.0
        self._down: dict[int, float] = {}
        self.defaults: Row = {}

    async def _connect(self, number: int, dsn: str) -> None:
        """Begin to connect; whom tenants' policies bind at the home, by the same role."""
        if self.tenancy["is_bound"]:
            dsn = as_role_of(self.dsn, dsn)
        database = Database(dsn, self.size, patience=CONNECT_SECONDS)
        database.ids = self.ids
        self.others[number] = database
        self._holds_tenants.discard(number)
        await database.connect()

    @property
    def numbers(self) -> Sequence[int]:
        """The numbers of all shards, the home's first."""
        return [HOME, *self.others]

    def shard(self, number: int) -> Database:
        """Return a shard. Raises NotFoundError."""
        if number == HOME:
            return self.home
        if number not in self.others:
            raise NotFoundError(NO_SHARD.format(number=number))
        return self.others[number]

    async def __aenter__(self) -> Self:
        self.ids = self.home.ids
        (self.tenancy,) = await self.home.call("tenancy")
        for number, dsn in self._dsns.items():
            await self._connect(number, dsn)
        self._primary_until = monotonic() + MAX_LAG_SECONDS  # it may lack what moved just before
        await self._look(await read_moves(self.home))
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
        reasons = [reason for _, reason in sorted((_missing.get() or {}).items())]
        return self.home.notes() + [MISSING.format(reason=reason) for reason in reasons]

    async def home_of(self, document: str) -> Database:
        """Return the shard that has a document, by its id. Raises NotFoundError."""
        await self.moves()
        (number,) = await self.by_shard("doc", [document])
        await self._check_tenancy(number)
        return self.shard(number)

    def place_of(self, dataset: str, uri: str) -> int:
        """Return the number of the shard on which a document belongs, by hash."""
        return self._moves.place(dataset, uri, HOME)

    async def moves(self) -> Moves:
        """Return what holds of moves between shards, when no switch is under way."""
        if not self._moves.is_quiet:
            while (await self._look(await await_switch(self.home))).documents:
                if not await self.settle():
                    break  # one of the two is down, so that no answer has a document of both
        return self._moves

    async def settle(self) -> bool:
        """End a switch of documents that was cut off, if there is one.

        Returns False for one with a shard that is down, where the answer may go without it.
        """
        moves = await self._look(await read_moves(self.home))
        if not moves.documents:
            return True
        numbers = (moves.from_shard, moves.to_shard)
        if None in [await self._ask(number, "call", *NOTHING_HELD) for number in numbers]:
            return False
        source, target = map(self.shard, numbers)
        try:
            await end_switch(self.home, source, target, moves)
        except DatabaseError as error:
            raise DatabaseError(CUT_OFF) if is_denied(error) else error from None
        return True

    async def each(self) -> Sequence[Database]:
        """Return all shards, the home first. Raises DatabaseError if one does not answer."""
        await self._look(await read_moves(self.home))
        await self.check_all()
        return [self.shard(number) for number in self.numbers]

    async def check_all(self) -> None:
        """Raise DatabaseError, which names it, if a shard does not answer."""
        function, nothing = NOTHING_HELD
        await self.ask("call", function, dict.fromkeys(self.numbers, nothing))

    async def end_switch(self) -> None:
        """Say that the switch that is under way is over."""
        await self.home.write("end_switch", switches=(await read_moves(self.home)).switches)

    async def _look(self, moves: Moves) -> Moves:
        """Take notice of what holds now: shards that were added or removed, too."""
        if moves.is_moving:
            self._primary_until = monotonic() + MAX_LAG_SECONDS
        if set(moves.numbers) != set(self.others):
            await self._take_in()
        self._moves = moves
        return moves

    async def _take_in(self) -> None:
        dsns = {row["number"]: row["dsn"] for row in await self.home.call("list_shards")}
        for number in self.others.keys() - dsns.keys():
            await self.others.pop(number).__aexit__()
        for number in sorted(dsns.keys() - self.others.keys()):
            await self._connect(number, dsns[number])

    async def _is_as_before(self, before: Moves, connection: Conn | None = None) -> bool:
        """Return whether no document was switched since."""
        if before.is_quiet:
            return True
        return (await read_moves(connection or self.home)).switches == before.switches

    @asynccontextmanager
    async def storing(self, dataset: str, uri: str) -> AsyncIterator[tuple[Database, Conn]]:
        """Yield the shard that has a document, or else is to get it by hash, in a transaction.

        The document is not moved until that ends.
        """
        while True:
            before = await self.moves()
            place = self.shard(await self._place(dataset, uri))
            try:
                async with place.transaction() as connection:
                    await connection.execute(JOIN_WRITERS)
                    if await self._is_as_before(before, connection if place is self.home else None):
                        yield place, connection
                        return
            except EmbeddingMismatchError as error:
                raise await self._explained(error) from error

    async def _place(self, dataset: str, uri: str) -> int:
        asked = {"dataset": dataset, "uris": [uri]}
        answers = await self.ask("call", "document_digests", dict.fromkeys(self.numbers, asked))
        having = [number for number, rows in answers.items() if rows]
        return having[0] if having else self.place_of(dataset, uri)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Conn]:
        """Raise ConfigError: a transaction is one database's; see `storing` and `home_of`."""
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
        asked = Call(self, how, function, arguments)
        if rule in gather.WHEREVER:
            return await rule(asked)
        return await self._undisturbed(asked, rule)

    async def _undisturbed(self, asked: Call, rule: Rule) -> list[Row]:
        """Ask again while documents were switched meanwhile.

        What writes found its document, or is to look for it where it is now; it waits for whoever
        moves it, so that it cannot have these wait for it.
        """
        tries = 0
        while asked.how == "write" or tries < UNDISTURBED_TRIES:
            before, tries = await self.moves(), tries + 1
            try:
                rows = await rule(asked)
                if asked.is_done(rows) or await self._is_as_before(before):
                    return rows
            except ConfigError:  # what is refused may be elsewhere now
                if await self._is_as_before(before):
                    raise
        async with self._answers_held():
            return await rule(asked)

    @asynccontextmanager
    async def _answers_held(self) -> AsyncIterator[None]:
        """Have no document switched in the block; on a connection that the block does not need."""
        async with Database(self.dsn, 1) as apart, apart.transaction() as connection:
            await call(connection, "hold_answers", shared=True)
            await self.moves()
            yield

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
            is_why = any(isinstance(error, UnknownDatasetError) for error in refused.values())
            if is_why and (own := await self._with_known_datasets(arguments)):
                return await self.ask(how, function, own)
        elif refused:
            again = [self._ask_without(n, how, function, arguments[n]) for n in refused]
            answers |= dict(zip(refused, await asyncio.gather(*again), strict=True))
        for answer in answers.values():
            if isinstance(answer, EmbeddingMismatchError):
                raise await self._explained(answer)
            if isinstance(answer, BaseException):
                raise answer
        return {number: rows for number, rows in answers.items() if isinstance(rows, list)}

    async def is_cut_off(self) -> bool:
        """Return whether shards are of different spaces: a change was cut off between them."""
        answers = await self.ask("call", "configuration", {number: {} for number in self.numbers})
        return len({rows[0]["space"] for rows in answers.values()}) > 1

    async def _explained(self, error: EmbeddingMismatchError) -> EmbeddingMismatchError:
        """Return what is wrong where it is not the vector's space but the shards'."""
        return EmbeddingMismatchError(SPACES_DIFFER) if await self.is_cut_off() else error

    async def _with_known_datasets(
        self, arguments: Mapping[int, Mapping[str, Any]]
    ) -> dict[int, dict[str, Any]]:
        """Narrow what all refused to the datasets of each shard; {} where that is not why.

        Raises UnknownDatasetError for what none of them has.
        """
        wanted = {name for each in arguments.values() for name in each.get("datasets") or ()}
        if not wanted:
            return {}
        known = {number: await self._datasets(number) for number in self.numbers}
        reached = set(chain(*known.values()))
        if missing := wanted - reached:
            raise UnknownDatasetError.among(missing, reached)
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
        """Return None for a shard that cannot answer where the answer may go without it."""
        missing, error = _missing.get(), "it did not a moment ago"
        if how == "read" and monotonic() < self._primary_until:
            how = "call"
        reason = DOWN.format(number=number)
        if self._down.get(number, 0.0) <= monotonic():
            try:
                await self._check_tenancy(number)
                return await getattr(self.shard(number), how)(function, **arguments)  # type: ignore[no-any-return]
            except DatabaseError as raised:
                if number == HOME or not (is_gone(raised) or is_unknown(raised)):
                    raise
                error = str(raised)
                if is_gone(raised):
                    self._down[number] = monotonic() + RETRY_SECONDS
                else:
                    reason = OUTDATED.format(number=number)
        if missing is None or not self.is_partial:
            raise DatabaseError(f"{reason}: {error}")
        missing[number] = reason
        return None

    async def _check_tenancy(self, number: int) -> None:
        """Raise ConfigError where a shard would not hold this program to its tenant."""
        is_held = self.tenancy["is_bound"] or current_asker() is not None
        if number != HOME and is_held and number not in self._holds_tenants:
            (row,) = await self.shard(number).call("tenancy")
            if row != self.tenancy:
                raise ConfigError(UNLIKE_HOME.format(number=number))
            self._holds_tenants.add(number)

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
        """Tell each shard what the others hold, if that is off by then; return whether it was.

        A tenant's datasets each by itself and exactly, so that no other's ingest changes a score.
        """
        tenants = await self.home.call("list_tenants")
        datasets = [name for row in tenants for name in row["datasets"]]
        off = [await self._share(name, 0.0) for name in datasets]
        (tenancy,) = await self.home.call("tenancy")
        return await self._share(None, MAX_DRIFT, fits=not tenancy["has_tenants"]) or any(off)

    async def _share(self, dataset: str | None, drift: float, *, fits: bool = False) -> bool:
        """See `share_statistics`; where it `fits` impacts follow the mean length."""
        asked = {"dataset": dataset}
        own = {n: (await self.shard(n).call("shard_statistics", **asked))[0] for n in self.numbers}
        total = sum(row["chunk_count"] for row in own.values())
        off = [abs(total - row["chunk_count"] - row["elsewhere_chunks"]) for row in own.values()]
        if max(off) <= drift * total:
            return False
        terms = {n: (await self.shard(n).call("shard_terms", **asked))[0] for n in self.numbers}
        for number, row in own.items():  # a word stored since is in no more chunks than there are
            row["chunk_count"] = max(row["chunk_count"], *terms[number]["dfs"], 0)
            row["document_count"] = max(row["document_count"], *terms[number]["cards"], 0)
        for number in self.numbers:
            others = [n for n in self.numbers if n != number]
            sums = {name: sum(own[n][name] for n in others) for name in COUNTS}
            lists = {name: list(chain(*(terms[n][name] for n in others))) for name in LISTS}
            await self.shard(number).write("set_elsewhere", **sums, **lists, **asked)
        if fits:
            await self._refresh_impacts(own)
        return True

    async def _refresh_impacts(self, own: Mapping[int, Row]) -> None:
        """Weigh by one mean length of chunks; by what `own` has where these are far apart."""
        lengths = [row["average_length"] for row in own.values() if row["average_length"]]
        is_apart = max(lengths) > (1 + MAX_DRIFT) * min(lengths)
        for number in self.numbers:
            await self.shard(number).write("refresh_impacts", anyway=is_apart)

    async def by_shard(self, kind: IdKind, ids: Iterable[str]) -> dict[int, list[str]]:
        """Part ids by the shards that have what they name. Raises NotFoundError."""
        numbers = {text: self.ids.read(kind, text) for text in ids}
        where = await self.where(kind, list(numbers.values()))
        parted = defaultdict[int, list[str]](list)
        for text, number in numbers.items():
            parted[where[number]].append(text)
        return dict(parted)

    async def where(self, kind: IdKind, numbers: Sequence[int]) -> dict[int, int]:
        """Return the shards of documents or chunks: those that made them, until some were moved."""
        made = {number: shard_of(number) for number in numbers}
        if not self._moves.switches or not numbers:
            return made
        asked = {"kind": kind, "numbers": list(made)}
        answers = await self.ask("call", "held_numbers", dict.fromkeys(self.numbers, asked))
        held = {n: shard for shard, rows in answers.items() for n in rows[0]["held_numbers"]}
        return {
            n: held.get(n, shard if shard in self.others else HOME) for n, shard in made.items()
        }
