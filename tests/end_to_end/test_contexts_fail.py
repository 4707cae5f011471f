"""What stops a language model from writing contexts: each failure costs what it must, no more."""

from collections import Counter
from collections.abc import Iterator

import psycopg
import pytest

from lexichord import SyncLexichord
from lexichord.errors import ConfigError
from lexichord.ingest.flow import INGEST_LIMITS
from lexichord.ingest.llm_context import writer
from tests.end_to_end.context_server import (
    about,
    chunks,
    context_server,
    contexts,
    document,
    numbered,
    opened,
    passages,
    requested_chunks,
)
from tests.providers.chat_servers import ChatServer, Mode, Prompt, chat_server
from tests.sql.corpus import value

CALLS, TRIES = INGEST_LIMITS.max_context_calls, INGEST_LIMITS.context_retry.max_tries


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with context_server() as server:
        yield server


@pytest.fixture
def lexichord(dsn: str, server: ChatServer) -> Iterator[SyncLexichord]:
    with opened(dsn, server) as lexichord:
        yield lexichord


def situated(lexichord: SyncLexichord, uri: str) -> list[bool]:
    return ["Situated" in chunk["context"] for chunk in chunks(lexichord, uri)]


def test_a_mismatch_falls_back_to_one_chunk_a_call(dsn: str) -> None:
    names = ("few", "swapped", "void", "double")

    def reply(prompt: Prompt) -> dict[str, object]:
        good = contexts(prompt, about)["contexts"]
        assert isinstance(good, list)
        if len(good) == 1:
            return {"contexts": good}
        wrong = {
            "few": good[:-1],
            "swapped": [good[1], good[0], *good[2:]],
            "void": [*good[:-1], {"number": len(good), "context": " \u202e "}],
            "double": [*good, good[0]],
        }
        (wrong_contexts,) = (wrong[name] for name in names if f"of {name}." in passages(prompt)[0])
        return {"contexts": wrong_contexts}

    with chat_server(reply) as server, opened(dsn, server) as lexichord:
        report = lexichord.ingest(documents=[numbered(name, 10) for name in names], context="llm")
        for chunk in (chunk for name in names for chunk in chunks(lexichord, name)):
            assert about(chunk["content"]) in chunk["context"]
    sizes = Counter(len(passages(prompt)) for prompt in server.requests)
    assert sizes == {1: 40, 2: 4, 8: 4}
    assert report.llm is not None
    assert report.llm.requests == 48


def test_one_chunk_that_fails_keeps_its_structural_context_and_is_named(dsn: str) -> None:
    faults = ["004"]

    def reply(prompt: Prompt) -> dict[str, object]:
        if any(text[:3] in faults for text in passages(prompt)):
            return {"contexts": []}
        return contexts(prompt, about)

    with chat_server(reply) as server, opened(dsn, server) as lexichord:
        report = lexichord.ingest(documents=[numbered("a", 10)], context="llm")
        assert report.llm is not None
        assert list(report.llm.failed) == ["a chunk 4"]
        assert "gave no context" in report.llm.failed["a chunk 4"]
        assert (report.failed, report.llm.chunks, report.llm.stopped) == ({}, 9, "")
        assert [n for n, good in enumerate(situated(lexichord, "a")) if not good] == [4]
        bad = chunks(lexichord, "a")[4]
        assert (bad["context"], bad["metadata"]) == ("Title of a", {})

        server.requests.clear()
        again = lexichord.contextualize()
        assert {text[:3] for text in requested_chunks(server)} == {"004"}
        assert again.documents == 0
        faults.clear()
        assert lexichord.contextualize().documents == 1
        assert all(situated(lexichord, "a"))
        server.requests.clear()
        assert lexichord.ingest(documents=[numbered("a", 10)], context="llm").skipped == 1
        assert lexichord.contextualize().documents == 0
        assert server.requests == []


def test_a_passing_failure_is_asked_again(lexichord: SyncLexichord, server: ChatServer) -> None:
    server.retry_after = "0"
    cases: list[list[Mode]] = [["broken"], ["limited"], ["drop"], ["broken", "drop"] * 2]
    for number, failures in enumerate(cases):
        server.modes = list(failures)
        server.requests.clear()
        report = lexichord.ingest(documents=[numbered(f"d{number}", 5)], context="llm")
        assert report.llm is not None
        assert (report.llm.failed, report.llm.chunks) == ({}, 5)
        assert len(server.requests) == len(failures) + 1


def test_tries_have_an_end_and_so_has_a_service_that_is_down(
    lexichord: SyncLexichord, server: ChatServer
) -> None:
    server.mode = "broken"
    documents = [numbered(f"d{number:02}", 3) for number in range(30)]
    report = lexichord.ingest(documents=documents, context="llm")
    assert (report.inserted, report.failed) == (30, {})
    assert report.llm is not None
    assert "20 calls failed one after another" in report.llm.stopped
    assert report.llm.left + len(report.llm.failed) == 90
    assert report.llm.left > 0
    assert len(server.requests) <= TRIES * (writer.MAX_FAILED_CALLS + CALLS)
    assert not any(situated(lexichord, "d00"))
    server.mode = "good"
    assert lexichord.contextualize().documents == 30


def test_a_key_that_is_refused_is_not_tried_on_every_chunk(
    lexichord: SyncLexichord, server: ChatServer
) -> None:
    server.mode = "unauthorized"
    documents = [numbered(f"d{number:02}", 3) for number in range(30)]
    report = lexichord.ingest(documents=documents, context="llm")
    assert report.llm is not None
    assert "refuses the key" in report.llm.stopped
    assert len(server.requests) <= CALLS
    assert report.inserted == 30


def test_without_a_model_nothing_starts(dsn: str) -> None:
    with SyncLexichord(dsn=dsn) as lexichord:
        for asks in (
            lambda: lexichord.ingest(documents=[document("a", "One.")], context="llm"),
            lexichord.contextualize,
        ):
            with pytest.raises(ConfigError, match="set LEXICHORD_LLM"):
                asks()
        assert lexichord.list() == []


def prices(output: float) -> dict[str, dict[str, float]]:
    return {"openai/any": {"input": 0.0, "output": output}}


@pytest.mark.parametrize("tokens", [(120, 30), (120, 4000)])
def test_a_budget_is_not_passed_and_what_is_done_stays(
    dsn: str, server: ChatServer, tokens: tuple[int, int]
) -> None:
    server.tokens = tokens
    per_call = tokens[1] / 100  # dollars, at 10,000 a million tokens
    budget = 8 * per_call + 20
    with opened(dsn, server, prices=prices(10_000)) as lexichord:
        documents = [numbered(f"d{number:02}", 16) for number in range(20)]
        lexichord.ingest(documents=documents)
        report = lexichord.contextualize(budget=budget)
        assert report.llm.dollars == pytest.approx(per_call * len(server.requests))
        assert report.llm.dollars is not None
        assert 0 < report.llm.dollars <= budget
        assert "would be passed" in report.llm.stopped
        assert report.llm.left == 320 - report.llm.chunks > 0
        asked_before = requested_chunks(server)
        assert sum(sum(situated(lexichord, one["uri"])) for one in documents) == len(asked_before)
        server.requests.clear()
        rest = lexichord.contextualize()
        assert sorted(requested_chunks(server) + asked_before) == sorted(
            chunk["content"] for one in documents for chunk in one["chunks"]
        )
        assert rest.llm.stopped == ""


def test_a_budget_needs_a_price(lexichord: SyncLexichord) -> None:
    with pytest.raises(ConfigError, match=r"lexichord\.toml"):
        lexichord.contextualize(budget=1.0)


def test_a_dry_run_says_what_it_would_take_and_asks_nobody(
    dsn: str, server: ChatServer, connection: psycopg.Connection
) -> None:
    with opened(dsn, server, prices=prices(1.0)) as lexichord:
        lexichord.ingest(documents=[numbered("a", 20), numbered("b", 5)])
        lexichord.ingest(documents=[numbered("a", 20) | {"uri": "copy"}])
        expected = lexichord.contextualize(dry_run=True)
        assert server.requests == []
        assert value(connection, "select count(*) from lexichord_data.chunk_context") == 0
        llm = expected.llm
        assert (expected.documents, llm.chunks, llm.cached, llm.requests) == (3, 45, 20, 4)
        assert llm.output_tokens == 4 * 40 + 25 * 100
        assert llm.dollars == pytest.approx(llm.output_tokens / 1_000_000)

        lexichord.contextualize()
        sent = sum(len(prompt.text) for prompt in server.requests)
        assert len(server.requests) == 4
        assert llm.input_tokens == pytest.approx(sent / 4, rel=0.05)
        done = lexichord.contextualize(dry_run=True)
        assert (done.documents, done.llm.requests, done.llm.dollars) == (0, 0, 0.0)
