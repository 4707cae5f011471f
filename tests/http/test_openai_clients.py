"""OpenAI's two clients live the life of a store; the documentation's table says what each can do.

Node is needed for the second; its package is fetched once, as tests/http/node/package-lock.json
names it.
"""

import io
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import openai
import pytest

from lexichord import SyncLexichord
from lexichord.db import schema
from lexichord.providers.embed.local import LocalEmbedder
from tests.conftest import ROOT, new_database
from tests.end_to_end.llm_replies import KEY, replying
from tests.http.served import serving
from tests.http.test_responses import clauses
from tests.providers.chat_servers import chat_server

FOLDER = Path(__file__).parent / "node"
PAGE = ROOT / "docs/integrations/openai.md"
SECONDS = 240
QUESTION = "When is the rent due?"
TEXT = b"# Lease\n\nThe rent of Saltpan House is due on the first day of each quarter."

type Outcomes = dict[str, str]


@pytest.fixture(scope="module")
def url(embedded_dsn: str, home: Path, embedder: LocalEmbedder) -> Iterator[str]:
    with new_database(embedded_dsn) as dsn, chat_server(replying(clauses=clauses)) as model:
        schema.prepare(dsn, schema.Choice())
        named: Any = {"llm": "openai/any", "llm_base_url": model.url, "llm_api_key": KEY}
        with SyncLexichord(dsn=dsn, home=home, **named) as lexichord, serving(lexichord) as url:
            yield f"{url}/v1"


def file(name: str) -> io.BytesIO:
    stream = io.BytesIO(TEXT)
    stream.name = name
    return stream


class Life:
    """Operations tried one after the other, and what became of each."""

    def __init__(self) -> None:
        self.outcomes: Outcomes = {}

    def attempt[R](self, operation: str, work: Callable[[], R]) -> R | None:
        try:
            result = work()
            if isinstance(result, Sequence) and not result:
                raise AssertionError("empty")
        except openai.APIStatusError as error:
            self.outcomes[operation] = error.body["message"]  # type: ignore[index]
            return None
        self.outcomes[operation] = "works"
        return result


def by_python(url: str) -> Outcomes:
    life, attempt = Life(), None
    attempt = life.attempt
    with openai.OpenAI(api_key="any", base_url=url, max_retries=0) as client:
        stores = client.vector_stores
        store = attempt("vector_stores.create", lambda: stores.create(name="python"))
        assert store
        own = store.id
        weekly: Any = {"anchor": "last_active_at", "days": 7}
        attempt(
            "vector_stores.create(expires_after=…)", lambda: stores.create(expires_after=weekly)
        )
        attempt("vector_stores.retrieve", lambda: stores.retrieve(own))
        attempt("vector_stores.list", lambda: list(stores.list(limit=1)))
        attempt("vector_stores.update", lambda: stores.update(own, metadata={"team": "legal"}))
        files(life, client, own)
        models(life, client, own)
        sent = [each.id for each in client.files.list()]
        attempt(
            "vector_stores.files.delete", lambda: stores.files.delete(sent[0], vector_store_id=own)
        )
        attempt("files.delete", lambda: client.files.delete(sent[0]))
        attempt("vector_stores.delete", lambda: stores.delete(own))
    return life.outcomes


def files(life: Life, client: openai.OpenAI, own: str) -> None:
    attempt, stores = life.attempt, client.vector_stores
    sent = attempt(
        "files.create", lambda: client.files.create(file=file("lease.md"), purpose="assistants")
    )
    assert sent
    hourly: Any = {"anchor": "created_at", "seconds": 3600}
    attempt(
        "files.create(expires_after=…)",
        lambda: client.files.create(file=file("x.md"), purpose="assistants", expires_after=hourly),
    )
    attempt("files.wait_for_processing", lambda: client.files.wait_for_processing(sent.id))
    attempt("files.retrieve", lambda: client.files.retrieve(sent.id))
    attempt("files.list", lambda: list(client.files.list()))
    assert attempt("files.content", lambda: client.files.content(sent.id).read()) == TEXT
    done = attempt(
        "vector_stores.files.create_and_poll",
        lambda: stores.files.create_and_poll(
            sent.id, vector_store_id=own, attributes={"year": 2024}
        ),
    )
    assert done
    assert done.status == "completed"
    static: Any = {
        "type": "static",
        "static": {"max_chunk_size_tokens": 400, "chunk_overlap_tokens": 100},
    }
    attempt(
        "vector_stores.files.create(chunking_strategy=static)",
        lambda: stores.files.create(own, file_id=sent.id, chunking_strategy=static),
    )
    other = attempt(
        "vector_stores.files.upload_and_poll",
        lambda: stores.files.upload_and_poll(vector_store_id=own, file=file("other.md")),
    )
    assert other
    attempt(
        "vector_stores.files.retrieve", lambda: stores.files.retrieve(sent.id, vector_store_id=own)
    )
    attempt("vector_stores.files.list", lambda: list(stores.files.list(own, limit=1, order="asc")))
    attempt(
        "vector_stores.files.update",
        lambda: stores.files.update(sent.id, vector_store_id=own, attributes={"year": 2025}),
    )
    attempt(
        "vector_stores.files.content",
        lambda: list(stores.files.content(sent.id, vector_store_id=own)),
    )
    year: Any = {"type": "eq", "key": "year", "value": 2025}
    found = attempt(
        "vector_stores.search", lambda: list(stores.search(own, query=QUESTION, filters=year))
    )
    assert found
    assert found[0].file_id == sent.id
    batch = attempt(
        "vector_stores.file_batches.create_and_poll",
        lambda: stores.file_batches.create_and_poll(own, file_ids=[sent.id, other.id]),
    )
    assert batch
    attempt(
        "vector_stores.file_batches.upload_and_poll",
        lambda: stores.file_batches.upload_and_poll(own, files=[file("a.md")]),
    )
    attempt(
        "vector_stores.file_batches.retrieve",
        lambda: stores.file_batches.retrieve(batch.id, vector_store_id=own),
    )
    attempt(
        "vector_stores.file_batches.list_files",
        lambda: list(stores.file_batches.list_files(batch.id, vector_store_id=own)),
    )
    attempt(
        "vector_stores.file_batches.cancel",
        lambda: stores.file_batches.cancel(batch.id, vector_store_id=own),
    )


def models(life: Life, client: openai.OpenAI, own: str) -> None:
    attempt = life.attempt
    listed = attempt("models.list", lambda: list(client.models.list()))
    assert listed
    space = listed[0].id
    attempt("models.retrieve", lambda: client.models.retrieve(space))
    attempt("embeddings.create", lambda: client.embeddings.create(model=space, input=QUESTION))
    tool: Any = {"type": "file_search", "vector_store_ids": [own]}
    asked: Any = {"model": "openai/any", "input": QUESTION, "tools": [tool]}
    attempt("responses.create, with file_search", lambda: client.responses.create(**asked))
    attempt(
        "responses.create(stream=True)",
        lambda: list(client.responses.create(**asked, stream=True)),
    )
    attempt(
        "responses.create(instructions=…)",
        lambda: client.responses.create(**asked, instructions="Be brief."),
    )


def by_npm(url: str) -> Outcomes:
    if shutil.which("npm") is None:
        pytest.skip("no npm")
    if not (FOLDER / "node_modules").is_dir():
        done = node("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
        if done.returncode:
            pytest.skip(f"npm could not install: {done.stderr[-200:]}")
    done = node("node", "life.mjs", url, "any", "openai/any")
    assert done.returncode == 0, done.stderr
    outcomes: Outcomes = json.loads(done.stdout)
    return outcomes


def node(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*command],
        cwd=FOLDER,
        env={**os.environ, "NO_PROXY": "127.0.0.1"},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


def table(outcomes: Outcomes) -> list[str]:
    rows = [f"| `{operation}` | {outcome} |" for operation, outcome in outcomes.items()]
    return ["| operation | state |", "| --- | --- |", *rows]


def written() -> list[str]:
    lines = PAGE.read_text().split("\n")
    start = lines.index("| operation | state |")
    return lines[start : lines.index("", start)]


@pytest.mark.client("OpenAI, Python", "search", "filters", "answer", "stream", "store", "delete")
def test_the_table_is_what_the_python_client_meets(url: str) -> None:
    outcomes = by_python(url)
    assert written() == table(outcomes), "\n".join(table(outcomes))


@pytest.mark.client(
    "OpenAI, npm", "search", "k", "filters", "answer", "stream", "store", "delete", "async"
)
def test_the_table_is_what_the_npm_client_meets(url: str) -> None:
    outcomes = by_npm(url)
    states = dict(line.strip("| ").split(" | ", 1) for line in written()[2:])
    assert {f"`{operation}`": outcome for operation, outcome in outcomes.items()} == states
