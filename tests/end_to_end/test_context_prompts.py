"""Contexts to another prompt than ours: one by name, one in a file, from the command line too."""

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from lexichord import SyncLexichord
from lexichord.errors import ConfigError
from lexichord.ingest.llm_context.prompt import find_template
from tests.end_to_end.context_server import chunks, document, opened
from tests.end_to_end.processes import run_cli
from tests.providers.chat_servers import BARE, ChatServer, Prompt, chat_server

# As it stands in "Optimize RAG with Contextual Retrieval in PostgreSQL".
PUBLISHED = (
    "<document>\n{whole_document}\n</document>"
    "Here is the chunk we want to situate within the whole document \n"
    "<chunk>\n{chunk}\n</chunk>\n"
    "Please give a short succinct context to situate this chunk within "
    "the overall document for the purposes of improving search retrieval "
    "of the chunk. Answer only with the succinct context and nothing else."
)
TREATY = document("treaty", "The treaty was signed in {chunk}.", "It ended the hostilities.")


def situate(prompt: Prompt) -> dict[str, object]:
    return {BARE: f"  Situated\nby {len(prompt.text)} characters. "}


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with chat_server(situate) as server:
        yield server


def sent(server: ChatServer) -> list[list[tuple[str, str]]]:
    return [request.messages for request in server.requests]


def test_the_published_prompt_is_sent_as_it_stands(dsn: str, server: ChatServer) -> None:
    with opened(dsn, server, context_prompt="anthropic") as lexichord:
        lexichord.ingest(documents=[TREATY])
        report = lexichord.contextualize()
        assert not report.llm.failed
        stored = chunks(lexichord, "treaty")
        whole = "\n\n".join(chunk["content"] for chunk in stored)
        expected = [
            PUBLISHED.format(whole_document=whole, chunk=chunk["content"]) for chunk in stored
        ]
        assert sorted(sent(server)) == sorted([("user", text)] for text in expected)
        assert (report.llm.chunks, report.llm.requests, report.llm.input_tokens) == (2, 2, 240)
        for chunk, prompt in zip(stored, expected, strict=True):
            own = f"Situated by {len(prompt)} characters."
            assert chunk["context"] == f"Title of treaty\n{own}"
            assert chunk["metadata"] == {"context_by": "openai/any/anthropic"}
        assert lexichord.contextualize().llm.chunks == 0
        assert lexichord.ingest(documents=[TREATY], context="llm").skipped == 1
    assert len(server.requests) == 2


def test_a_file_of_the_users_replaces_what_another_prompt_wrote(
    dsn: str, server: ChatServer, tmp_path: Path
) -> None:
    file = tmp_path / "prompt.txt"
    file.write_text("Of {whole_document}: where is {chunk}?", encoding="utf-8")
    with opened(dsn, server, context_prompt="anthropic") as lexichord:
        lexichord.ingest(documents=[TREATY], context="llm")
        before = chunks(lexichord, "treaty")
    server.requests.clear()
    with opened(dsn, server, context_prompt=str(file)) as lexichord:
        assert lexichord.contextualize().documents == 1
        after = chunks(lexichord, "treaty")
    assert all(messages[0][1].startswith("Of The treaty") for messages in sent(server))
    label = find_template(str(file)).label  # type: ignore[union-attr]
    assert {chunk["metadata"]["context_by"] for chunk in after} == {f"openai/any/{label}"}
    assert [chunk["context"].count("\n") for chunk in after] == [1, 1]
    assert [chunk["context"] for chunk in after] != [chunk["context"] for chunk in before]


def test_the_command_takes_a_name(dsn: str, server: ChatServer, tmp_path: Path) -> None:
    model = {"LEXICHORD_LLM": "openai/any", "LEXICHORD_LLM_BASE_URL": server.url}
    contextualize = partial(run_cli, dsn, tmp_path, "contextualize", **model)
    with SyncLexichord(dsn=dsn) as lexichord:
        lexichord.ingest(documents=[TREATY])
    planned = contextualize("--prompt", "anthropic", "--dry-run", "--json")
    assert json.loads(planned.stdout)["llm"]["requests"] == 2
    assert contextualize("--prompt", "anthropic").exit_code == 0
    assert {message[0] for messages in sent(server) for message in messages} == {"user"}
    refused = contextualize("--prompt", "antropic")
    assert (refused.exit_code, len(refused.stderr.splitlines())) == (2, 1)
    assert "anthropic" in refused.stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [("Where is {chunk}?", "lacks {whole_document}"), ("{whole_document}", "lacks {chunk}")],
)
def test_a_file_without_both_places_is_refused(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "prompt.txt"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as refused:
        find_template(str(file))
    assert said in str(refused.value)
    file.write_bytes(b"\xff")
    with pytest.raises(ConfigError) as refused:
        find_template(str(file))
    assert "UTF-8" in str(refused.value)
