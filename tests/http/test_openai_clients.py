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
from contextlib import ExitStack
from pathlib import Path
from time import monotonic
from typing import Any

import httpx
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


@pytest.fixture
def sharded(
    embedded_dsn: str, home: Path, embedder: LocalEmbedder
) -> Iterator[tuple[str, SyncLexichord]]:
    """The address of a server whose documents are on three databases, and what it serves."""
    with ExitStack() as stack:
        dsns = [stack.enter_context(new_database(embedded_dsn)) for _ in range(3)]
        model = stack.enter_context(chat_server(replying(clauses=clauses)))
        named: Any = {"llm": "openai/any", "llm_base_url": model.url, "llm_api_key": KEY}
        schema.prepare(dsns[0], schema.Choice())
        with SyncLexichord(dsn=dsns[0], home=home) as alone:
            for dsn in dsns[1:]:
                alone.add_shard(dsn)
        lexichord = stack.enter_context(SyncLexichord(dsn=dsns[0], home=home, **named))
        yield stack.enter_context(serving(lexichord)) + "/v1", lexichord


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


def test_over_shards_it_is_the_same(sharded: tuple[str, SyncLexichord]) -> None:
    url, lexichord = sharded
    outcomes = by_python(url)
    assert written() == table(outcomes), "\n".join(table(outcomes))
    client = openai.OpenAI(api_key=KEY, base_url=url, max_retries=0)
    files, stores = client.files, client.vector_stores
    names = ("a.md", "b.md", "c.md")
    sent = {files.create(file=file(name), purpose="assistants").id for name in names}
    store = stores.create(name="mixed", file_ids=[*sent])
    for number in range(9):
        document = {"uri": f"other/{number}", "text": f"other {number}"}
        body = {"dataset": "mixed", "documents": [document]}
        httpx.post(f"{url}/documents", json=body, timeout=SECONDS).raise_for_status()
    end = monotonic() + SECONDS
    while stores.retrieve(store.id).file_counts.completed < 12:
        assert monotonic() < end
    assert lexichord.rebalance_shards().documents == 0  # what was sent stays where its file is
    for order in ("asc", "desc"):
        pages = list(stores.files.list(store.id, limit=3, order=order))
        assert len({each.id for each in pages}) == len(pages) == 12
        times = [each.created_at for each in pages]
        assert times == sorted(times, reverse=order == "desc")
        assert {each.id for each in pages if each.id.startswith("file-")} == sent
    assert [each.id for each in stores.list() if each.name == "mixed"] == [store.id]
    assert [files.delete(each).deleted for each in sent] == [True] * 3
    assert stores.retrieve(store.id).file_counts.total == 9
    assert stores.delete(store.id).deleted
    assert "mixed" not in {each.id for each in stores.list()}


@pytest.mark.client(
    "OpenAI, npm", "search", "k", "filters", "answer", "stream", "store", "delete", "async"
)
def test_the_table_is_what_the_npm_client_meets(url: str) -> None:
    outcomes = by_npm(url)
    states = dict(line.strip("| ").split(" | ", 1) for line in written()[2:])
    assert {f"`{operation}`": outcome for operation, outcome in outcomes.items()} == states
