"""kill -9 in the midst of contextualize: it goes on, and pays again for what was under way only."""

import time
from collections import Counter
from random import Random
from signal import SIGKILL
from typing import Any

import psycopg
import pytest

from lexichord import SyncLexichord
from lexichord.ingest.llm_context.prompt import MAX_CHUNKS_PER_CALL
from tests.conftest import new_database
from tests.end_to_end.context_server import (
    about,
    context_server,
    numbered,
    requested_chunks,
)
from tests.end_to_end.killed import CLIENTS, Scattered, assert_same, end, finish, start
from tests.end_to_end.processes import wait_until
from tests.providers.chat_servers import ChatServer
from tests.sql.corpus import value

pytestmark = pytest.mark.faults

KILLS = 3
SEED = 3


def test_what_was_killed_goes_on_and_repeats_only_the_calls_under_way(
    template: str, dsn: str
) -> None:
    random = Random(SEED)
    documents = [numbered(f"d{number}", 60) for number in range(4)]
    with new_database(template, copy_of=template) as other, context_server(slow) as server:
        fill(other, documents)
        fill(dsn, documents)
        killed = [kill_within(random, dsn, server) for _ in range(KILLS)]
        finish(dsn, "contextualize", server.url)
        times = Counter(requested_chunks(server))
        server.requests.clear()
        finish(other, "contextualize", server.url)
        assert_same(dsn, other)
    assert sum(killed) >= 2
    assert times.keys() == Counter(requested_chunks(server)).keys()
    repeated = times.total() - len(times)
    print(f"{sum(killed)} kills, {repeated} chunks asked for again")
    assert 0 < repeated <= sum(killed) * 2 * MAX_CHUNKS_PER_CALL  # two calls at once, see killed.py
    with psycopg.connect(dsn) as connection:
        assert value(connection, "select count(*) from lexichord_data.chunk_context") == len(times)
        lacking = "select count(*) from lexichord_data.chunk where not metadata ? 'context_by'"
        assert value(connection, lacking) == 0


def kill_within(random: Random, dsn: str, server: ChatServer) -> bool:
    """Kill a run after some of its calls; tell whether it was in time."""
    process, pipe = start(dsn, "contextualize", server.url)
    calls = len(server.requests) + random.randrange(1, 10)
    wait_until(lambda: len(server.requests) >= calls or not process.is_alive())
    time.sleep(random.uniform(0, 0.1))
    process.kill()
    end(process, pipe)
    wait_until(lambda: clients(dsn) == 0)
    return process.exitcode == -SIGKILL


def slow(text: str) -> str:
    """Leave time for a kill within a call."""
    time.sleep(0.01)
    return about(text)


def fill(dsn: str, documents: list[dict[str, Any]]) -> None:
    with SyncLexichord(dsn=dsn) as lexichord:
        lexichord.core.embedder = Scattered()
        lexichord.ingest(documents=documents)


def clients(dsn: str) -> int:
    with psycopg.connect(dsn) as connection:
        return int(value(connection, CLIENTS))
