"""Vendors' embedders in the whole: local servers in their place, a real database behind."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, LiteralString

import psycopg
import pytest

from lexichord import SyncLexichord
from lexichord.db import schema
from lexichord.errors import ProviderError
from lexichord.providers.embed import EmbeddingTiming
from lexichord.providers.registry import find_embedder
from lexichord.settings import load_settings
from lexichord.types import EmbeddingSpace, Json
from lexichord.types.questions import Usage
from tests.conftest import new_database
from tests.http_server import Reply
from tests.providers.embed_servers import (
    SHAPES,
    SPACES,
    EmbedServer,
    Request,
    Shape,
    embed_server,
    patience,
    quick_timing,
)

KEY = "sk-very-secret"
QUICK = quick_timing()


@contextmanager
def database(embedded_dsn: str, shape: Shape) -> Iterator[str]:
    with new_database(embedded_dsn) as dsn:
        schema.prepare(dsn, schema.Choice(space=EmbeddingSpace.parse(SPACES[shape])))
        yield dsn


@pytest.fixture(scope="module")
def _openai(embedded_dsn: str) -> Iterator[str]:
    with database(embedded_dsn, "openai") as dsn:
        yield dsn


@pytest.fixture
def dsn(_openai: str) -> Iterator[str]:
    """A database whose space is of an OpenAI-compatible server."""
    with new_database(_openai, copy_of=_openai) as dsn:
        yield dsn


def opened(
    dsn: str,
    home: Path,
    server: EmbedServer,
    timing: EmbeddingTiming = QUICK,
    **settings: object,
) -> SyncLexichord:
    """Not open yet."""
    arguments = {
        "dsn": dsn,
        "home": home,
        "embedding_base_url": server.url,
        "embedding_api_key": KEY,
    }
    lexichord = SyncLexichord(load_settings(**arguments, **settings))
    lexichord.core.find_embedder = partial(find_embedder, timing=timing)
    return lexichord


def documents(count: int, chunks: int) -> list[Json]:
    return [
        {"uri": f"doc {number}", "chunks": [{"content": clause(number, n)} for n in range(chunks)]}
        for number in range(count)
    ]


def clause(document: int, chunk: int) -> str:
    return f"Clause n{document}p{chunk} says what it says."


def rows(dsn: str, query: LiteralString) -> list[tuple[Any, ...]]:
    with psycopg.connect(dsn) as connection:
        return connection.execute(query).fetchall()


def failing(share: float) -> Callable[[Request], Reply | None]:
    """Fail so often, in one of the three ways that pass."""
    chance = Random(316)  # falls on the silent one once: that takes time
    ways = [Reply(429, headers={"Retry-After": "0"}), Reply(500), Reply(manner="silent")]
    return lambda request: chance.choice(ways) if chance.random() < share else None


@pytest.mark.parametrize("shape", SHAPES)
def test_every_chunk_gets_its_vector_once_however_often_calls_fail(
    embedded_dsn: str, home: Path, shape: Shape
) -> None:
    sources = documents(10, 10)
    with (
        database(embedded_dsn, shape) as dsn,
        embed_server(shape, failing(0.3)) as server,
        opened(dsn, home, server, embedding_timeout=patience(shape)) as lexichord,
    ):
        heard: list[Usage] = []
        report = lexichord.ingest(documents=sources, context="none", on_usage=heard.append)
        contents = [chunk["content"] for document in sources for chunk in document["chunks"]]
        assert (report.chunks, report.embedded, report.refused) == (100, 100, [])
        assert report.usage is not None
        assert report.usage.requests == len(server.requests)
        assert heard[-1] == report.usage
        assert report.usage.input_tokens == 700
        assert dict(server.embedded) == dict.fromkeys(contents, 1)
        counts = "select content, count(*), count(embedding) from lexichord_data.chunk group by 1"
        assert sorted(rows(dsn, counts)) == sorted((content, 1, 1) for content in contents)
        server.fail = lambda request: None
        (hit,) = lexichord.search(clause(7, 3), mode="dense", k=1).hits
        assert hit.content == clause(7, 3)


def test_a_chunk_that_is_refused_is_stored_and_named(dsn: str, home: Path) -> None:
    refused = clause(1, 1)
    with (
        embed_server("openai", lambda a: Reply(400) if refused in a.texts else None) as server,
        opened(dsn, home, server) as lexichord,
    ):
        report = lexichord.ingest(documents=documents(2, 3), context="none")
        assert (report.chunks, report.embedded) == (6, 5)
        assert report.refused == ["doc 1: chunk 1"]
        assert lexichord.search(refused, mode="keyword", k=1).hits[0].content == refused
        assert lexichord.status().chunks_without_vector == 1
        request_count = len(server.requests)
        again = lexichord.ingest(documents=documents(2, 3), context="none")
        assert (again.skipped, again.vectors_filled) == (2, 0)
        assert len(again.refused) == 1
        assert len(server.requests) == request_count + 1
        server.fail = lambda request: None
        assert lexichord.ingest().vectors_filled == 1
        assert lexichord.status().chunks_without_vector == 0


DOWN = {
    "429": Reply(429, headers={"Retry-After": "3600"}),
    "refused": Reply(400),
    "key": Reply(401),
    "silent": Reply(manner="silent"),
}


@pytest.mark.parametrize("name", DOWN)
def test_a_query_whose_embedding_fails_is_answered_by_words(
    dsn: str, home: Path, name: str
) -> None:
    # A busy machine may need more than what a silent server is waited for: another reason.
    timing = quick_timing(0.2) if name == "silent" else quick_timing()
    with embed_server("openai") as server, opened(dsn, home, server, timing) as lexichord:
        lexichord.ingest(documents=documents(3, 3))
        server.fail = lambda request: DOWN[name]
        query = "what does clause n2p1 say"
        results: list[Any] = [
            lexichord.search(query),
            lexichord.search(query, hint="doc 1"),
            lexichord.files(query),
            lexichord.query(query, answer=True),
            lexichord.query("list all clauses", answer=True),
            lexichord.query("summarise the clauses", answer=True, intent="summary"),
            lexichord.query("compare doc 1 and doc 2: clause", intent="comparison"),
        ]
        for result in results:
            (reason,) = result.degraded
            assert reason.startswith("no vectors, by words only: the embedder ")
            assert KEY not in reason
        assert all(result.hits for result in (*results[:2], results[3]))
        assert lexichord.search(query, mode="keyword").degraded == []
        with pytest.raises(ProviderError, match="the embedder"):
            lexichord.search(query, mode="dense")


def test_an_embedder_that_fails_in_the_middle_of_a_query_leaves_words(dsn: str, home: Path) -> None:
    """The question has its vector by then; the sentences do not get theirs."""
    query = "compare what doc 1 and doc 2 say on clauses"
    with embed_server("openai") as server:
        with opened(dsn, home, server) as lexichord:
            lexichord.ingest(documents=documents(3, 3))
            assert lexichord.query(query, answer=True).degraded == []
        request_count = len(server.requests)
        left = [None]
        server.fail = lambda request: left.pop() if left else Reply(404)
        with opened(dsn, home, server) as lexichord:  # which has no vector of a sentence yet
            response = lexichord.query(query, answer=True, intent="summary")
        assert len(server.requests) > request_count + 1
        assert response.hits
        assert response.degraded[0].startswith("no vectors, by words only: the embedder at")


def test_a_service_that_is_down_ends_the_run_and_the_next_goes_on(dsn: str, home: Path) -> None:
    with (
        embed_server("openai", lambda request: Reply(503)) as server,
        opened(dsn, home, server) as lexichord,
    ):
        with pytest.raises(ProviderError, match=r"failed \(503\): try later"):
            lexichord.ingest(documents=documents(2, 2))
        server.fail = lambda request: None
        assert lexichord.ingest(documents=documents(2, 2)).embedded == 4


def test_three_thousand_dimensions_are_stored_and_indexed(embedded_dsn: str, home: Path) -> None:
    space = EmbeddingSpace("openai", "text-embedding-3-large", 3072)
    with new_database(embedded_dsn) as dsn, embed_server("openai") as server:
        schema.prepare(dsn, schema.Choice(space=space))
        with opened(dsn, home, server) as lexichord:
            assert lexichord.ingest(documents=documents(2, 2), context="none").embedded == 4
            (hit,) = lexichord.search(clause(1, 0), mode="dense", k=1).hits
            assert hit.content == clause(1, 0)
            assert lexichord.doctor().indexes[0].plan


def test_from_a_model_of_this_machine_a_servers_address_leads_there_and_back(
    embedded_dsn: str, home: Path
) -> None:
    """A model of this machine needs neither address nor key, so they are the other one's."""
    with new_database(embedded_dsn) as dsn, embed_server("openai") as server:
        schema.prepare(dsn, schema.Choice())
        with opened(dsn, home, server) as lexichord:
            lexichord.ingest(documents=documents(1, 2))
            assert lexichord.reembed(SPACES["openai"]).space == SPACES["openai"]
            assert lexichord.status().chunks_without_vector == 0
            assert lexichord.reembed(rollback=True).space == str(schema.DEFAULT_SPACE)
