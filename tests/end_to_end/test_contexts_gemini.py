"""A document that Gemini holds while its chunks are asked for, through the real google-genai."""

from collections.abc import Iterator
from typing import Any

import pytest

from lexichord.ingest.flow import INGEST_LIMITS, IngestLimits
from tests.end_to_end.context_server import (
    about,
    chunks,
    contexts,
    numbered,
    opened,
    passages,
    quick_limits,
    requested_chunks,
)
from tests.providers.chat_servers import ChatServer, Prompt, gemini_server

LONG, SHORT = numbered("a", 26), numbered("a", 10)  # of 19,000 and 7,300 characters
KEY = "gemini-key"


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with gemini_server(lambda prompt: contexts(prompt, about)) as server:
        yield server


def ingest(
    dsn: str,
    server: ChatServer,
    source: dict[str, Any],
    limits: IngestLimits | None = None,
    **settings: object,
) -> Any:
    model = {"llm": "gemini/any", "llm_api_key": KEY}
    with opened(dsn, server, **(model | settings)) as lexichord:
        lexichord.core.ingest_limits = limits or quick_limits()
        report = lexichord.ingest(documents=[source], context="llm")
        complete = all(c["metadata"] for c in chunks(lexichord, "a"))
        assert complete == (not report.llm.failed)  # type: ignore[union-attr]
        return report.llm


def test_a_long_document_is_sent_once_and_its_cache_deleted(dsn: str, server: ChatServer) -> None:
    report = ingest(dsn, server, LONG)
    assert (report.chunks, report.requests, report.input_tokens) == (26, 4, 4 * 120)
    ((name, cache),) = server.caches.items()
    assert server.deleted == [name]
    assert (cache["model"], cache["ttl"]) == ("models/any", "300s")
    assert all(prompt.body["cachedContent"] == name for prompt in server.requests)
    assert all(prompt.headers["x-goog-api-key"] == KEY for prompt in server.requests)
    assert "025 of a" in str(cache["contents"])
    for prompt in server.requests:
        assert "systemInstruction" not in prompt.body
        assert len(passages(prompt)) in (8, 2)
        assert len(str(prompt.body)) < 9000
    assert sorted(requested_chunks(server)) == [chunk["content"] for chunk in LONG["chunks"]]


def test_what_is_held_and_what_is_asked_make_the_prompt_that_dspy_sends(
    dsn: str, server: ChatServer
) -> None:
    ingest(dsn, server, LONG)
    server.holds = False
    held = {whole(prompt) for prompt in server.requests}
    server.requests.clear()
    with opened(dsn, server, llm="gemini/any") as lexichord:
        lexichord.delete(["a"])
    ingest(dsn, server, LONG)
    assert held == {whole(prompt) for prompt in server.requests}


def whole(prompt: Prompt) -> str:
    (_, system), *turns = prompt.messages
    return f"{system}\n{'\n\n'.join(text for _, text in turns)}"


@pytest.mark.parametrize("why", ["windows", "short", "refused", "lost"])
def test_without_a_cache_it_is_asked_as_ever(dsn: str, server: ChatServer, why: str) -> None:
    server.holds, server.loses = why != "refused", why == "lost"
    settings: dict[str, Any] = {"llm_window": 8000} if why == "windows" else {}
    report = ingest(dsn, server, SHORT if why == "short" else LONG, **settings)
    assert report.failed == {}
    assert not any("cachedContent" in prompt.body for prompt in server.requests)
    assert len(server.caches) == len(server.deleted) == (why == "lost")


def test_the_cache_is_deleted_after_failures_too(dsn: str, server: ChatServer) -> None:
    server.mode = "broken"
    report = ingest(dsn, server, LONG)
    assert len(report.failed) == 26
    assert "failed (500)" in next(iter(report.failed.values()))
    assert len(server.caches) == len(server.deleted) == 1


def test_few_documents_are_held_at_once(dsn: str, server: ChatServer) -> None:
    documents = [numbered(f"d{number:02}", 26) for number in range(20)]
    with opened(dsn, server, llm="gemini/any") as lexichord:
        report = lexichord.ingest(documents=documents, context="llm")
    assert report.llm is not None
    assert report.llm.chunks == 20 * 26
    assert len(server.caches) == len(server.deleted) == 20
    assert 1 < max(server.held) <= INGEST_LIMITS.max_context_calls


def test_with_a_budget_nothing_is_held_uncounted(dsn: str, server: ChatServer) -> None:
    prices = {"gemini/any": {"input": 1, "output": 1}}
    with opened(dsn, server, llm="gemini/any", prices=prices) as lexichord:
        lexichord.ingest(documents=[LONG])
        assert lexichord.contextualize(budget=1).llm.chunks == 26
    assert (server.caches, len(server.requests)) == ({}, 4)
