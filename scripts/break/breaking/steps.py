"""What is done when something breaks: each step runs in a process of its own and tells its news."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

import psycopg
from tests.end_to_end.hashing import NEW, OLD, SAME, Hashing, finder
from tests.end_to_end.killed import DONE, SERVER, SMALL
from tests.end_to_end.test_tables import follow_with
from tests.migrations.conftest import ANOTHER_VERSION, run_statements

from breaking.corpus import STORED, documents, lines, uri, word
from lexichord import SyncLexichord
from lexichord.db.pool import Database
from lexichord.db.schema import Choice, prepare
from lexichord.errors import LexichordError
from lexichord.ingest.table_worker import TableWorker

SERVER.set_forkserver_preload(["lexichord.ingest.table_worker", "lexichord.providers.llm"])
INGESTED = range(20, 60)  # some of the stored ones are replaced
DELETED = range(0, len(STORED), 2)
RELEASES, REBUILDS, SEARCHES = 2, 4, 60

type Tell = Callable[[str], None]


def start(step: str, dsn: str, place: str) -> tuple[BaseProcess, Connection]:
    """Start a step in a process; return it and the end of the pipe where its news arrive."""
    receiver, sender = SERVER.Pipe(duplex=False)
    process = SERVER.Process(target=run, args=(sender, step, dsn, place))
    process.start()
    sender.close()
    return process, receiver


def run(pipe: Connection, step: str, dsn: str, place: str) -> None:
    """Take a step; what is refused in words is news, anything else is broken."""
    logging.disable()
    try:
        STEPS[step](pipe.send, dsn, place)
    except LexichordError as error:
        pipe.send(f"refused {error}" if "\n" not in str(error) else f"broken {error!r}")
    except BaseException as error:
        pipe.send(f"broken {type(error).__name__}: {error}")
    pipe.send(DONE)


def opened(dsn: str, **settings: Any) -> SyncLexichord:  # noqa: ANN401
    """Not open yet; with small groups, so that there is more to be cut off."""
    lexichord = SyncLexichord(dsn=dsn, pool_size=4, **settings)
    lexichord.core.find_embedder = finder(OLD, SAME, NEW)
    lexichord.core.ingest_limits = SMALL
    return lexichord


def ingest(tell: Tell, dsn: str, place: str) -> None:
    with opened(dsn) as lexichord:
        lexichord.ingest(
            documents=documents(INGESTED, 1),
            context="none",
            listener=lambda name, status, _: tell(f"{status} {name}"),
        )


def delete(tell: Tell, dsn: str, place: str) -> None:
    with opened(dsn) as lexichord:
        there = {row.uri for row in lexichord.list()}
        for name in filter(there.__contains__, map(uri, DELETED)):
            lexichord.delete([name])
            tell(f"deleted {name}")


def contextualize(tell: Tell, dsn: str, place: str) -> None:
    with opened(dsn, llm="openai/any", llm_base_url=place) as lexichord:
        lexichord.contextualize(listener=lambda name, status, _: tell(f"{status} {name}"))


def reembed(tell: Tell, dsn: str, place: str) -> None:
    with opened(dsn) as lexichord:
        lexichord.core.find_embedder = finder(OLD, NEW, heard=lambda _: tell("call"))
        if lexichord.status().space != NEW:
            lexichord.reembed(NEW)


def copy(tell: Tell, dsn: str, place: str) -> None:
    with opened(dsn) as lexichord:
        lexichord.copy_to(place, listener=lambda name, status, _: tell(f"{status} {name}"))


def reindex(tell: Tell, dsn: str, place: str) -> None:
    with opened(dsn) as lexichord:
        for _ in range(REBUILDS):
            lexichord.reindex()
            tell("reindexed")


def work(tell: Tell, dsn: str, place: str) -> None:
    """Index what changes in a table, until nothing waits."""

    async def index() -> None:
        async with Database(dsn, size=4) as database:
            hashing = Hashing(OLD, lambda _: tell("call"), seconds=0.01)
            await TableWorker(database, follow_with(hashing)).run(until_idle=True)

    asyncio.run(index())


def rebuild(tell: Tell, dsn: str, place: str) -> None:
    """Replace the functions by those of another version, which are the same."""
    for _ in range(RELEASES):
        with suppress(psycopg.Error):  # it is ours, not the program's
            run_statements(dsn, ANOTHER_VERSION)
        tell("outdated")
        prepare(dsn, Choice())
        tell("prepared")


def migrate(tell: Tell, dsn: str, place: str) -> None:
    tell("begun")
    prepare(dsn, Choice())
    with opened(dsn) as lexichord:
        lexichord.reindex()  # the words of an earlier version


def search(tell: Tell, dsn: str, place: str) -> None:
    """Search for what nothing changes."""
    with opened(dsn) as lexichord:
        for number in list(STORED) * (SEARCHES // len(STORED)):
            hits = lexichord.search(word(number), mode="keyword", k=50).hits
            told = sorted(hit.content for hit in hits)
            assert told == sorted(lines(number, 0)), f"{uri(number)} is not found as it is"
            assert lexichord.search(lines(number, 0)[0], k=1).hits[0].uri == uri(number)
            tell("found")


STEPS: dict[str, Callable[[Tell, str, str], None]] = {
    "ingest": ingest,
    "delete": delete,
    "contextualize": contextualize,
    "reembed": reembed,
    "copy": copy,
    "reindex": reindex,
    "work": work,
    "rebuild": rebuild,
    "migrate": migrate,
    "search": search,
}
