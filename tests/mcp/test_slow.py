"""Time: progress while a tool works, a partial result when it runs out, never nothing too late."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import TextContent

from lexichord import SyncLexichord
from lexichord.db import schema
from lexichord.types import EmbeddingSpace
from mcp import Client
from tests.conftest import new_database
from tests.end_to_end.llm_replies import replying
from tests.http_server import Reply
from tests.mcp.serving import Place, call, inside, over_http, over_stdio, read, refused
from tests.providers.chat_servers import chat_server
from tests.providers.embed_servers import SPACES, EmbedServer, embed_server

QUESTION = "how long are customer support logs kept"
SILENT = Reply(manner="silent")


async def test_a_model_that_hangs_is_done_without_in_time(place: Place) -> None:
    """Over standard input and output: the settings' own model."""
    with chat_server(replying()) as slow:
        settings = {"LEXICHORD_LLM": "openai/any", "LEXICHORD_LLM_BASE_URL": slow.url}
        notes: list[tuple[float, float | None, str | None]] = []

        async def note(progress: float, total: float | None, message: str | None) -> None:
            notes.append((progress, total, message))

        async with over_stdio(replace(place, settings=settings)) as client:
            asked = {"query": QUESTION, "enable_query_rewriting": True, "verbose": True}
            await call(client, "assistant", **asked)  # a first search loads what it needs
            slow.mode = "hang"
            slow.requests.clear()
            asked["timeout_seconds"] = 12
            started = time.monotonic()
            result = await client.call_tool("assistant", asked, progress_callback=note)
            spent = time.monotonic() - started
    reply = read(result)
    assert not result.is_error
    assert spent < 30
    assert reply["status"] == "timeout"
    assert reply["timeout_seconds"] == 12
    assert reply["suggestions"]
    assert "months" in reply["answer"]  # in the documents' own words
    assert reply["total_candidates"] > 0
    assert any(line.startswith("answer without the model") for line in reply["degraded"])
    assert len(slow.requests) == 2
    assert len(notes) >= 2
    values = [done for done, *_ in notes]
    assert values == sorted(set(values))
    assert all(total == 12 and message for _, total, message in notes)


@pytest.fixture
def embeddings() -> Iterator[EmbedServer]:
    with embed_server("openai") as server:
        yield server


@pytest.fixture
def stocked(embedded_dsn: str, home: Path, embeddings: EmbedServer) -> Iterator[Place]:
    """A document in a database whose embedder is a service."""
    settings = {
        "LEXICHORD_EMBEDDING": SPACES["openai"],
        "LEXICHORD_EMBEDDING_BASE_URL": embeddings.url,
        "LEXICHORD_EMBEDDING_TIMEOUT": "2",
    }
    documents = [{"uri": "logs.md", "chunks": [{"content": "logs are kept a year"}]}]
    with new_database(embedded_dsn) as dsn:
        schema.prepare(dsn, schema.Choice(None, "english", EmbeddingSpace.parse(SPACES["openai"])))
        url = embeddings.url
        with SyncLexichord(dsn=dsn, home=home, embedding_base_url=url) as lexichord:
            lexichord.ingest(documents=documents)
        yield Place(dsn, home, settings)


@asynccontextmanager
async def stuck(place: Place, embeddings: EmbedServer, **settings: str) -> AsyncIterator[Client]:
    """Connect to a server whose embedder never answers any more, after a first search."""
    with inside(replace(place, settings={**place.settings, **settings})) as server:
        async with over_http(server.url) as client:
            while (await call(client, "retriever", query="a year"))["status"] != "ok":
                pass  # a first search loads what it needs, which may take longer than it has
            embeddings.fail = lambda _: SILENT
            yield client


async def test_what_words_find_is_given_when_time_runs_out(
    stocked: Place, embeddings: EmbedServer
) -> None:
    async with stuck(stocked, embeddings) as client:
        started = time.monotonic()
        tools = ("assistant", "retriever", "file_discover")
        asked = (call(client, tool, query="logs kept", timeout_seconds=3) for tool in tools)
        results = await asyncio.gather(*asked)
        assert time.monotonic() - started < 30
        for result in results:
            assert result["status"] == "timeout"
            assert result["timeout_seconds"] == 3
            assert result["suggestions"]
            assert "logs.md" in str(result)
        error = await refused(client, "keyword_generator", query="logs kept", timeout_seconds=1)
    assert error.keys() == {"error", "status", "message", "timeout_seconds", "suggestions"}
    assert (error["error"], error["status"]) == ("Request timeout", "timeout")


async def test_what_is_no_tool_takes_no_longer_either(place: Place) -> None:
    limited = replace(place, settings={**place.settings, "LEXICHORD_REQUEST_TIMEOUT": "2"})
    with inside(limited) as server, psycopg.connect(place.dsn) as holder:
        holder.execute("lock table lexichord_data.document in access exclusive mode")
        async with over_http(server.url) as client:
            with pytest.raises(MCPError, match="it took too long"):
                await client.read_resource("datasets://all")
            (message,) = (await client.get_prompt("dataset_setup_guide")).messages
    assert isinstance(message.content, TextContent)
    assert message.content.text.startswith("it took too long")


async def test_the_servers_own_limit_counts_as_well(
    stocked: Place, embeddings: EmbedServer
) -> None:
    async with stuck(stocked, embeddings, LEXICHORD_REQUEST_TIMEOUT="3") as client:
        said = await call(client, "retriever", query="logs kept")
        assert said["status"] == "timeout"
        assert said["timeout_seconds"] == 3
        error = await refused(client, "keyword_generator", query="logs kept")
        assert error["timeout_seconds"] == 3
