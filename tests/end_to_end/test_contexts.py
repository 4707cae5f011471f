"""Contexts by a language model, from its reply to the stored chunk; what each failure costs."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from lexichord import SyncLexichord
from lexichord.errors import ConfigError
from lexichord.ingest import llm_context
from lexichord.ingest.flow import INGEST_LIMITS
from tests.conftest import new_database
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
from tests.end_to_end.killed import Scattered
from tests.providers.chat_servers import ChatServer, Mode, Prompt, chat_server
from tests.sql.corpus import value

IDS = b"select id, uri from lexichord_data.document order by id"


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with context_server() as server:
        yield server


@pytest.fixture
def lexichord(dsn: str, server: ChatServer) -> Iterator[SyncLexichord]:
    with opened(dsn, server) as lexichord:
        yield lexichord


def test_each_chunk_gets_its_context_below_the_title(
    lexichord: SyncLexichord, server: ChatServer
) -> None:
    report = lexichord.ingest(documents=[numbered("a", 20)], context="llm")
    assert report.llm is not None
    assert (report.failed, report.llm.failed, report.llm.chunks) == ({}, {}, 20)
    for chunk in chunks(lexichord, "a"):
        assert chunk["context"] == f"Title of a\n{about(chunk['content'])}"
        assert chunk["metadata"] == {"context_by": "openai/any/1"}
    assert len(server.requests) == 3
    assert (report.llm.requests, report.llm.input_tokens) == (3, 3 * 120)
    assert sorted(requested_chunks(server)) == [c["content"] for c in chunks(lexichord, "a")]


def test_a_second_ingest_and_a_copy_ask_nothing(
    lexichord: SyncLexichord, server: ChatServer
) -> None:
    lexichord.ingest(documents=[numbered("a", 10)], context="llm")
    before = len(server.requests)
    again = lexichord.ingest(documents=[numbered("a", 10)], context="llm")
    assert again.skipped == 1
    same = numbered("a", 10) | {"uri": "copy"}
    copied = lexichord.ingest(documents=[same], dataset="other", context="llm")
    assert copied.llm is not None
    assert (copied.llm.chunks, copied.llm.cached, copied.llm.dollars) == (10, 10, 0.0)
    lexichord.ingest(documents=[numbered("a", 10)], context="none")
    lexichord.ingest(documents=[numbered("a", 10)], context="llm")
    assert len(server.requests) == before
    assert {c["context"] for c in chunks(lexichord, "copy")} == {
        c["context"] for c in chunks(lexichord, "a")
    }


def test_of_a_changed_document_only_what_is_near_the_change_is_asked_for(
    lexichord: SyncLexichord, server: ChatServer
) -> None:
    source = numbered("a", 20)
    lexichord.ingest(documents=[source], context="llm")
    server.requests.clear()
    source["chunks"][10]["content"] += " changed"
    report = lexichord.ingest(documents=[source], context="llm")
    # Chunks have 732 characters: the end of one is within 500 of the next one only.
    assert [text[:3] for text in requested_chunks(server)] == ["010", "011"]
    assert report.llm is not None
    assert report.llm.cached == 18


def test_the_same_clause_in_another_document_gets_its_own_context(
    lexichord: SyncLexichord, server: ChatServer
) -> None:
    for name in ("Acme", "Zenith"):
        source = document(name, f"Agreement of {name}. " + "x " * 600, "The fee is due monthly.")
        lexichord.ingest(documents=[source], context="llm")
    assert requested_chunks(server).count("The fee is due monthly.") == 2


def test_a_model_s_text_is_one_short_line_without_control_characters(
    dsn: str,
) -> None:
    with (
        context_server(
            lambda text: "A\x1b[31m line\n\nand\u202e more\0 " + "word " * 300
        ) as server,
        opened(dsn, server) as lexichord,
    ):
        lexichord.ingest(documents=[document("a", "One.")], context="llm")
        (chunk,) = chunks(lexichord, "a")
    context = chunk["context"].removeprefix("Title of a\n")
    assert context.startswith("A[31m line and more word")
    assert "\n" not in context
    assert 380 < len(context) <= 400


def test_a_chunk_that_brings_a_context_keeps_it(
    lexichord: SyncLexichord, server: ChatServer
) -> None:
    source = document("a", "One.", "Two.")
    source["chunks"][0]["context"] = "Mine."
    report = lexichord.ingest(documents=[source], context="llm")
    assert report.llm is not None
    assert (requested_chunks(server), report.llm.chunks) == (["Two."], 1)
    assert chunks(lexichord, "a")[0]["context"] == "Mine."
    assert lexichord.ingest(documents=[source], context="llm").skipped == 1
    later = lexichord.contextualize()
    assert (later.documents, later.brought) == (0, 0)


def test_a_long_document_is_shown_in_stretches_with_its_head(dsn: str, server: ChatServer) -> None:
    with opened(dsn, server, llm_window=8000) as lexichord:
        lexichord.ingest(documents=[numbered("a", 40)], context="llm")
        assert all(chunk["metadata"] for chunk in chunks(lexichord, "a"))
    for prompt in server.requests:
        shown = prompt.inputs["document"]
        assert len(shown) < 8000 + 200
        assert "000 of a" in shown
        for text in (t.strip() for t in passages(prompt)):
            assert text in shown
    assert sorted(requested_chunks(server)) == sorted(
        c["content"] for c in numbered("a", 40)["chunks"]
    )
    assert len({prompt.inputs["document"] for prompt in server.requests}) == 8


def stored(connection: psycopg.Connection) -> list[Any]:
    statement = """
        select d.uri, c.ordinal, c.content, c.context, c.keyword_context, c.lexemes::text,
               c.metadata, c.embedding::text, d.recipe
        from lexichord_data.chunk c join lexichord_data.document d on d.id = c.document_id
        order by d.uri, c.ordinal"""
    return connection.execute(statement.encode()).fetchall()


@pytest.mark.parametrize("before", ["structural", "llm"])
def test_contextualize_leaves_what_an_ingest_would_have_stored(
    template: str, dsn: str, server: ChatServer, before: Any
) -> None:
    documents = [
        numbered("a", 20),
        document("b", "Only one."),
        document("c", "def f():\n    return 1"),
    ]
    with new_database(template, copy_of=template) as other:
        with opened(other, server) as ingested:
            ingested.core.embedder = Scattered()
            ingested.ingest(documents=documents, context="llm")
        with context_server(str.upper) as older, opened(dsn, older, llm="openai/old") as lexichord:
            lexichord.core.embedder = Scattered()
            lexichord.ingest(documents=documents, context=before)
        with opened(dsn, server) as lexichord, psycopg.connect(dsn) as connection:
            ids = connection.execute(IDS).fetchall()
            lexichord.core.embedder = Scattered()
            report = lexichord.contextualize(["default"])
            assert (report.documents, report.embedded, report.changed) == (3, 22, [])
            assert lexichord.doctor().problems == []
            rows = stored(connection)
            assert ids == connection.execute(IDS).fetchall()
        with psycopg.connect(other) as connection:
            assert rows == stored(connection)


def test_contexts_are_not_put_where_vectors_cannot_follow(
    lexichord: SyncLexichord, server: ChatServer
) -> None:
    lexichord.core.embedder = Scattered()
    lexichord.ingest(documents=[document("a", "One.")])
    lexichord.core.embedder = None
    with pytest.raises(ConfigError, match="contexts need vectors made anew"):
        lexichord.contextualize()
    assert server.requests == []


def test_a_document_that_is_replaced_meanwhile_is_left_alone(dsn: str) -> None:
    with SyncLexichord(dsn=dsn) as other:
        other.ingest(documents=[document("a", "One.")])

        def write(text: str) -> str:
            if text == "One.":
                other.ingest(documents=[document("a", "Two.")])
            return about(text)

        with context_server(write) as server, opened(dsn, server) as lexichord:
            report = lexichord.contextualize()
            assert (report.documents, report.changed) == (0, ["a"])
            assert chunks(lexichord, "a")[0]["context"] == "Title of a"
            assert lexichord.contextualize().documents == 1
            (chunk,) = chunks(lexichord, "a")
            assert chunk["context"] == f"Title of a\n{about('Two.')}"


def test_only_the_datasets_that_are_named(lexichord: SyncLexichord, server: ChatServer) -> None:
    lexichord.ingest(documents=[document("a", "One.")], dataset="one")
    lexichord.ingest(documents=[document("b", "Two.")], dataset="two")
    assert lexichord.contextualize(["two"]).documents == 1
    assert requested_chunks(server) == ["Two."]
    with pytest.raises(ConfigError, match="there is no dataset 'three'"):
        lexichord.contextualize(["three"])


def test_a_reader_never_sees_a_context_without_its_vector_and_words(
    dsn: str, template: str
) -> None:
    """A reader looks while a context is written, and after each document."""
    seen: list[list[Any]] = []
    with psycopg.connect(dsn, autocommit=True) as connection:

        def write(text: str) -> str:
            seen.append(stored(connection))
            return f"zebra {text[:6]}"

        with context_server(write) as server, opened(dsn, server) as lexichord:
            lexichord.core.embedder = Scattered()
            lexichord.ingest(documents=[numbered(f"d{number}", 9) for number in range(3)])
            lexichord.contextualize(listener=lambda *_: seen.append(stored(connection)))
    assert len(seen) == 27 + 3
    for rows in seen:
        for uri, _, content, context, _, lexemes, metadata, vector, recipe in rows:
            has = "zebra" in context
            assert ("'zebra'" in lexemes, "context_by" in metadata, "llm=" in recipe) == (has,) * 3
            embedded = Scattered().embed([f"{context}\n{content}"], "document")[0]
            stored_vector = [float(number) for number in vector.strip("[]").split(",")]
            assert stored_vector == pytest.approx(embedded.tolist(), abs=0.01), uri
    assert [sum("zebra" in row[3] for row in rows) for rows in seen[-3:]] == [9, 18, 27]


CALLS, TRIES = INGEST_LIMITS.max_context_calls, INGEST_LIMITS.context_retry.max_tries


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
    assert len(server.requests) <= TRIES * (llm_context.MAX_FAILED_CALLS + CALLS)
    assert not any(situated(lexichord, "d00"))
    server.mode = "good"
    assert lexichord.contextualize().documents == 30


def test_without_a_model_or_a_price_nothing_starts(dsn: str, lexichord: SyncLexichord) -> None:
    with SyncLexichord(dsn=dsn) as plain:
        for asks in (
            lambda: plain.ingest(documents=[document("a", "One.")], context="llm"),
            plain.contextualize,
        ):
            with pytest.raises(ConfigError, match="set LEXICHORD_LLM"):
                asks()
        assert plain.list() == []
    with pytest.raises(ConfigError, match=r"lexichord\.toml"):
        lexichord.contextualize(budget=1.0)


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
