"""Connections, and the one way in which Python calls an SQL function."""

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from contextvars import ContextVar
from functools import cache, partial
from time import monotonic
from typing import Any, Self

import psycopg
from pgvector.psycopg.halfvec import register_halfvec_info
from psycopg import AsyncConnection, errors, sql
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import DictRow, dict_row
from psycopg.types import TypeInfo
from psycopg_pool import AsyncConnectionPool, PoolTimeout, TooManyRequests

from lexichord.db.replica import (
    AWAIT_SECONDS,
    AWAIT_STEP_SECONDS,
    CONNECT_SECONDS,
    LOST,
    MISSED,
    Address,
    Awaited,
    Replica,
    Replicas,
    position_number,
    position_text,
)
from lexichord.db.session import (
    call_settings,
    current_asker,
    is_cut,
    is_timeout,
    translate_errors,
    with_numbers,
    with_texts,
)
from lexichord.errors import ConfigError
from lexichord.types.base import Ids, unknown_id
from lexichord.work import in_thread, of_many

log = logging.getLogger("lexichord")

type Row = dict[str, Any]


class Conn(AsyncConnection[DictRow]):
    """A connection that knows how its database writes ids."""

    ids: Ids


class Pool(AsyncConnectionPool[Conn]):
    """Connections to one server, of which `lent` are in use."""

    lent = 0

    async def getconn(self, timeout: float | None = None) -> Conn:  # noqa: ASYNC109 - as it is there
        """Raise TooManyRequests where others keep all, PoolTimeout where the server is silent."""
        try:
            connection = await super().getconn(timeout)
        except PoolTimeout as error:
            if self.lent:
                raise TooManyRequests(ALL_LENT.format(size=self.max_size)) from error
            raise
        self.lent += 1
        return connection

    async def putconn(self, conn: Conn) -> None:
        """Take one back."""
        self.lent -= 1
        await super().putconn(conn)


CONNECT_TIMEOUT_SECONDS = 30
ALL_LENT = "all {size} connections to the database are in use: try again, or raise pool_size"
# For statements that name more than functions of ours: a role that may create in a schema of the
# session's own path could put something there that fits better than what is meant. Connections of
# the pool keep their own path, for pg_textsearch looks its names up by it; what they run is
# qualified.
SEARCH_PATH = "pg_catalog, pg_temp"
# Nothing is prepared in the server: a pooler that lends its connections for a transaction brings
# the next one to another server process. Our functions keep their plans themselves. Texts are
# UTF-8, whatever encoding the environment names for other programs.
SESSION_OPTIONS: dict[str, Any] = {"prepare_threshold": None, "client_encoding": "UTF8"}
# A server that is gone without a word (a host without power, a firewall that forgot the connection)
# is noticed within half a minute, not after the two hours of the system's own settings.
TCP_OPTIONS = {
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}
CONNECTION_OPTIONS: dict[str, Any] = SESSION_OPTIONS | {
    "row_factory": dict_row,
    "autocommit": True,
    "application_name": "lexichord",
}

# What the server rolled back for the sake of others, as VACUUM FULL or REINDEX, is done again.
ROLLED_BACK = (errors.DeadlockDetected, errors.SerializationFailure)
MAX_ROLLED_BACK = 3  # times; each has waited a second before
CANCEL_SECONDS = 5.0  # for the server to take what cancels a call
CANCEL_AGAIN_SECONDS = 0.1  # it may have come before the call did

OTHER_DATABASE = "LEXICHORD_READ_DSN leads to another database than the DSN: name a standby of it"
_awaited: ContextVar[Awaited | None] = ContextVar("awaited", default=None)


def check_dsn(dsn: str, name: str = "the DSN") -> None:
    """Raise ConfigError for a DSN that cannot be read, without repeating what may be a password."""
    try:
        parts = conninfo_to_dict(dsn)
    except psycopg.ProgrammingError:
        parts = {"port": "unknown"}
    port, host = str(parts.get("port") or ""), str(parts.get("host") or "")
    if not re.fullmatch(r"[\d,]*", port) or "@" in host[1:]:  # "@name" is a socket
        raise ConfigError(
            f"{name} cannot be read: write postgresql://user:password@host/database, and signs "
            "such as @ and / in the password as %40 and %2F"
        )


def refuse_pooler(number: int, server_process: object) -> None:
    """Raise ConfigError where a session's number is not its server process's: a pooler's own."""
    if number != server_process:
        raise ConfigError(
            "the DSN leads through a connection pooler, and this needs a session of its own: "
            "give the address of the server itself"
        )


class Database:
    """Connections to a prepared database, and the `ids` of what is in it.

    What is only read, by `read`, comes from a replica where there is one; `replica` says how it is.
    """

    ids: Ids
    replica: Replicas | None = None

    def __init__(
        self,
        dsn: str,
        size: int,
        restart: Callable[[], None] | None = None,
        read_dsn: str | None = None,
    ) -> None:
        """Raise ConfigError for a `read_dsn` that cannot be read.

        `restart` starts the server again where that is ours to do.
        """
        self.dsn = dsn
        self._restart = restart
        self._pool = _make_pool(dsn, size, CONNECT_TIMEOUT_SECONDS)
        self._size, self._ingests = size, 0
        self._writes, self._awaited_writes = 0, 0
        self._looking = asyncio.Lock()
        if read_dsn:
            check_dsn(read_dsn, "LEXICHORD_READ_DSN")
            self.replica = Replicas()
            self._replica_pool = _make_pool(read_dsn, size, CONNECT_SECONDS)

    async def __aenter__(self) -> Self:
        with translate_errors():
            await self._pool.open(wait=True, timeout=CONNECT_TIMEOUT_SECONDS)
            try:
                async with self._pool.connection() as connection:
                    self.ids = await read_ids(connection)
                if self.replica is not None:
                    await self._replica_pool.open()  # it may come later, or go and come back
            except BaseException:
                await self._pool.close()
                raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._pool.close()
        if self.replica is not None:
            await self._replica_pool.close()

    def connections(self) -> dict[str, int]:
        """Count the connections, open and lent, and the requests that wait for one."""
        stats = self._pool.get_stats()
        waiting = stats.get("requests_waiting", 0)
        return {"open": stats["pool_size"], "lent": self._pool.lent, "waiting": waiting}

    @contextmanager
    def ingesting(self) -> Iterator[None]:
        """Count an ingest while the block lasts."""
        self._ingests += 1
        try:
            yield
        finally:
            self._ingests -= 1

    @property
    def may_stage_ahead(self) -> bool:
        """Whether an ingest may hold a second connection: one seals, and others need one, too."""
        return self._ingests == 1 and self._size > 3

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Conn]:
        """Yield a connection inside a transaction."""
        with translate_errors(), self._writing():
            async with self._lend(self._pool) as connection, connection.transaction():
                if (asker := current_asker()) is not None:
                    await connection.execute(*_set(asker.settings()))
                yield connection

    async def call(self, function: str, **arguments: object) -> list[Row]:
        """Run `select * from lexichord.function(name => value, ...)` and return its rows.

        Connections that a crash of the server cut are replaced once. Raises DatabaseError;
        ConfigError for arguments that the function refuses.
        """
        return await self._ask_primary(function, arguments)

    async def write(self, function: str, **arguments: object) -> list[Row]:
        """Do as `call` does, of a function that stores what is read afterwards."""
        with self._writing():
            return await self._ask_primary(function, arguments)

    async def read(self, function: str, **arguments: object) -> list[Row]:
        """Do as `call` does, of a function that only reads: on the replica where that is fit.

        What this program wrote before is there, or the primary is asked. So it is after an error,
        if it answers: a replica may lack what others wrote, or end a search for what it replays.
        """
        if self.replica is not None and not self.replica.is_lost:
            with translate_errors():
                try:
                    async with self._lend(self._replica_pool) as connection:
                        if await self._is_asked(self.replica, connection):
                            return await _call_with_settings(connection, function, arguments)
                except psycopg.Error as error:
                    if is_cut(error):
                        self.replica.lose()
                    elif is_timeout(error) or await self._written_position() is None:
                        raise
        return await self._ask_primary(function, arguments)

    async def position(self) -> str:
        """Return the position after all that was written before, for others to read after it."""
        rows = await self.call("written_position")
        return self.ids.write("position", position_number(rows[0]["written_position"]))

    @contextmanager
    def reading_after(self, position: str) -> Iterator[None]:
        """Read in the block what holds all that was written up to a position. Raises ConfigError.

        The replica is waited for, then the primary asked; where that does not answer, notes say so.
        """
        number = self.ids.find("position", position)
        if number is None:
            raise ConfigError(unknown_id("position", position))
        token = _awaited.set(Awaited(position_text(number)))
        try:
            yield
        finally:
            _awaited.reset(token)

    def notes(self) -> list[str]:
        """Return what answers should say of the replica that they come from, if anything."""
        if self.replica is None:
            return []
        awaited = _awaited.get()
        return self.replica.notes() + ([awaited.note] if awaited and awaited.note else [])

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Count a write when it is over: a read amid it finds a position that lacks it."""
        try:
            yield
        finally:
            self._writes += 1

    async def _is_asked(self, replicas: Replicas, connection: Conn) -> bool:
        """Return whether the standby to which a connection leads may answer, by what it has."""
        info = connection.info
        address = (info.host, info.hostaddr, info.port)
        replica = replicas.at(address)
        if self._is_look_due(replica):
            async with self._looking:  # one look serves all who ask meanwhile
                if self._is_look_due(replica):
                    await self._await_writes(replicas)
                if replica.is_due:
                    await self._look_at(replica, connection)
        replica.answered = monotonic()
        return replica.is_fit and await self._has_awaited(address, connection)

    def _is_look_due(self, replica: Replica) -> bool:
        has_written = self._writes != self._awaited_writes
        return replica.is_due or (has_written and not replica.may_miss)

    async def _has_awaited(self, address: Address, connection: Conn) -> bool:
        """Return whether it has what the caller wrote elsewhere, or is all that there is."""
        awaited = _awaited.get()
        if awaited is None:
            return True
        async with awaited.waiting:  # who was not in time is not asked for the rest
            if not awaited.from_primary and address not in awaited.reached:
                awaited.from_primary = not await self._await_replica(awaited, connection)
                awaited.reached.add(address)
        return not awaited.from_primary

    async def _await_replica(self, awaited: Awaited, connection: Conn) -> bool:
        asked: dict[str, object] = {"position": awaited.position}
        end = monotonic() + AWAIT_SECONDS
        while not (await call(connection, "replica_state", **asked))[0]["reached"]:
            if monotonic() >= end:
                break
            await asyncio.sleep(AWAIT_STEP_SECONDS)
        else:
            return True
        written = await self._written_position()
        if written is None:
            awaited.note = MISSED
        elif position_number(written) < position_number(awaited.position):
            awaited.note = LOST
        return written is None

    async def _await_writes(self, replicas: Replicas) -> None:
        writes = self._writes
        if writes == self._awaited_writes:
            return
        if (position := await self._written_position()) is None:
            for replica in replicas.known.values():
                replica.miss()
            return
        replicas.await_position(position)
        self._awaited_writes = writes

    async def _written_position(self) -> str | None:
        """Return None where the primary does not answer."""
        with suppress(psycopg.OperationalError, TimeoutError):
            async with asyncio.timeout(CONNECT_SECONDS):
                rows = await self._call(self._pool, "written_position", {})
            return str(rows[0]["written_position"])
        return None

    async def _look_at(self, replica: Replica, connection: Conn) -> None:
        (state,) = await call(connection, "replica_state", position=replica.awaited)
        if not self._are_own_ids(state):
            raise ConfigError(OTHER_DATABASE)
        replica.judge(state)

    def _are_own_ids(self, state: Row) -> bool:
        return Ids(state["id_secret"].bytes).write("doc", 1) == self.ids.write("doc", 1)

    async def _ask_primary(self, function: str, arguments: dict[str, object]) -> list[Row]:
        with translate_errors():
            for _ in range(MAX_ROLLED_BACK):
                with suppress(*ROLLED_BACK):
                    return await self._ask_living(function, arguments)
            return await self._ask_living(function, arguments)

    async def _ask_living(self, function: str, arguments: dict[str, object]) -> list[Row]:
        """Call a function of the primary, which is started again where that is ours to do."""
        try:
            return await self._call(self._pool, function, arguments)
        except psycopg.OperationalError as error:
            if not is_cut(error):
                raise
            if self._restart is not None:
                await in_thread(self._restart)
            await self._pool.check()
            return await self._call(self._pool, function, arguments)

    async def _call(self, pool: Pool, function: str, arguments: dict[str, object]) -> list[Row]:
        async with self._lend(pool) as connection:
            return await _call_with_settings(connection, function, arguments)

    @asynccontextmanager
    async def _lend(self, pool: Pool) -> AsyncIterator[Conn]:
        async with pool.connection() as connection:
            connection.ids = self.ids
            yield connection


async def _call_with_settings(
    connection: Conn, function: str, arguments: dict[str, object]
) -> list[Row]:
    settings = call_settings()
    if not settings:
        return await call(connection, function, **arguments)
    return await _to_its_end(connection, _call_under(connection, settings, function, arguments))


async def _call_under(
    connection: Conn, settings: Mapping[str, str], function: str, arguments: dict[str, object]
) -> list[Row]:
    # Sent together these are one transaction, and the settings end with it.
    async with connection.pipeline():
        await connection.execute(*_set(settings))
        return await call(connection, function, **arguments)


async def _to_its_end(connection: Conn, calling: Coroutine[object, object, list[Row]]) -> list[Row]:
    """Return what a call in a pipeline gives; who is cancelled has the server end it, and waits.

    psycopg 3.3 leaves the pipeline, or its transaction, open where it is cancelled on the way into
    the one or out of it, and what the connection is used for next is inside.
    """
    task = asyncio.create_task(calling)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        while not task.done():
            with suppress(asyncio.CancelledError, psycopg.Error):
                await connection.cancel_safe(timeout=CANCEL_SECONDS)
            with suppress(asyncio.CancelledError):
                await asyncio.wait([task], timeout=CANCEL_AGAIN_SECONDS)
        if not task.cancelled():
            task.exception()  # looked at, or asyncio reports it
        raise


def _set(settings: Mapping[str, str]) -> tuple[bytes, list[str]]:
    """Return the statement, and its values, that makes settings of the transaction."""
    made = ", ".join("pg_catalog.set_config(%s, %s, true)" for _ in settings)
    return f"select {made}".encode(), [text for pair in settings.items() for text in pair]


def _make_pool(dsn: str, size: int, seconds: float) -> Pool:
    """Return a pool of up to `size` connections, to wait so many seconds for one."""
    return Pool(
        dsn,
        connection_class=Conn,
        kwargs=CONNECTION_OPTIONS | tcp_options(dsn),
        min_size=1,
        max_size=size,
        timeout=seconds,
        configure=register_vectors,
        open=False,
    )


def tcp_options(dsn: str) -> dict[str, Any]:
    """Return those of TCP_OPTIONS that a DSN does not set itself."""
    return {name: value for name, value in TCP_OPTIONS.items() if name not in conninfo_to_dict(dsn)}


async def read_ids(connection: Conn) -> Ids:
    """See sql/operation/id_secret.sql; how the database writes ids."""
    cursor = await connection.execute("select * from lexichord.id_secret()")
    (row,) = await cursor.fetchall()
    return Ids(row["id_secret"].bytes)


async def register_vectors(connection: Conn) -> None:
    """Let vectors travel in pgvector's binary form, whatever the schema of its types."""
    async with connection.transaction():
        await connection.execute(f"set local search_path = {SEARCH_PATH}".encode())
        cursor = await connection.execute(
            "select n.nspname from pg_extension e join pg_namespace n on n.oid = e.extnamespace "
            "where e.extname = 'vector'"
        )
        if row := await cursor.fetchone():
            info = await TypeInfo.fetch(connection, sql.Identifier(row["nspname"], "halfvec"))
            if info is not None:
                register_halfvec_info(connection, info)


async def call(connection: Conn, function: str, **arguments: object) -> list[Row]:
    """Call a function as `Database.call` does, on the caller's connection.

    Ids are numbers in the database and texts here; JSON is given as it is.
    """
    values = with_numbers(connection.ids, function, arguments)
    cursor = await connection.execute(_statement(function, tuple(arguments)), values)
    as_seen = partial(with_texts, connection.ids, function)
    return await of_many(as_seen, await cursor.fetchall())


@cache
def _statement(function: str, names: tuple[str, ...]) -> bytes:
    """Return the statement that calls a function with arguments of these names."""
    named = [
        sql.SQL("{} => {}").format(sql.Identifier(name), sql.Placeholder(name)) for name in names
    ]
    statement = sql.SQL("select * from lexichord.{}({})").format(
        sql.Identifier(function), sql.SQL(", ").join(named)
    )
    return statement.as_bytes()
