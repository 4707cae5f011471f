"""OpenAI's two clients live the life of a store; the documentation's table says what each can do.

Node is needed for the second; its package is fetched once, as tests/http/node/package-lock.json
names it.
"""

import io
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest

from lexichord import SyncLexichord
from lexichord.db import schema
from lexichord.providers.embed.local import LocalEmbedder
from tests.conftest import ROOT, new_database
from tests.end_to_end.llm_replies import KEY, replying
from tests.end_to_end.processes import wait_until
from tests.http.served import serving
from tests.http.test_responses import clauses
from tests.providers.chat_servers import chat_server

FOLDER = Path(__file__).parent / "node"
PAGE = ROOT / "docs/integrations/openai.md"
SECONDS = 240
QUESTION = "When is the rent due?"
TEXT = b"# Lease\n\nThe rent of Saltpan House is due on the first day of each quarter."
STATIC: Any = {
    "type": "static",
    "static": {"max_chunk_size_tokens": 400, "chunk_overlap_tokens": 100},
}
YEAR: Any = {"type": "eq", "key": "year", "value": 2025}

type Outcomes = dict[str, str]


@pytest.fixture(scope="module")
def url(embedded_dsn: str, home: Path, embedder: LocalEmbedder) -> Iterator[str]:
    """The address of a server with a database and a model."""
    with new_database(embedded_dsn) as dsn, chat_server(replying(clauses=clauses)) as model:
        schema.prepare(dsn, schema.Choice())
        named: Any = {"llm": "openai/any", "llm_base_url": model.url, "llm_api_key": KEY}
        with SyncLexichord(dsn=dsn, home=home, **named) as lexichord, serving(lexichord) as url:
            yield f"{url}/v1"


def file(name: str) -> io.BytesIO:
    stream = io.BytesIO(TEXT)
    stream.name = name
    return stream


def by_python(url: str) -> Outcomes:
    outcomes: Outcomes = {}
    with openai.OpenAI(api_key="any", base_url=url, max_retries=0) as client:
        for operation, work in life(client):
            try:
                assert work() not in (False, []), operation
                outcomes[operation] = "works"
            except openai.APIStatusError as error:
                outcomes[operation] = error.body["message"]  # type: ignore[index]
    return outcomes


def life(client: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Give the operations that are tried one after the other."""
    stores, files = client.vector_stores, client.files
    made: dict[str, Any] = {}

    def keep(name: str, result: Any) -> Any:
        made[name] = result.id
        return result

    def create() -> bool:
        store = keep("store", stores.create(name="python", metadata={"team": "legal"}))
        return bool((store.id, store.name, store.file_counts.total) == ("python", "python", 0))

    yield "vector_stores.create", create
    own, weekly = {"vector_store_id": made["store"]}, {"anchor": "last_active_at", "days": 7}
    yield "vector_stores.create(expires_after=…)", lambda: stores.create(expires_after=weekly)
    yield "vector_stores.retrieve", lambda: stores.retrieve(**own)
    yield "vector_stores.list", lambda: list(stores.list(limit=1))
    new = {**own, "name": "Leases", "metadata": {}}
    yield "vector_stores.update", lambda: stores.update(**new).name == "Leases"
    yield from life_of_files(client, own, keep, made)
    yield "models.list", lambda: keep("model", next(iter(client.models.list())))
    space = made["model"]
    yield "models.retrieve", lambda: client.models.retrieve(space)
    yield "embeddings.create", lambda: client.embeddings.create(model=space, input=QUESTION)
    tool = {"type": "file_search", "vector_store_ids": [made["store"]]}
    asked: Any = {"model": "openai/any", "input": QUESTION, "tools": [tool]}
    respond = client.responses.create
    yield "responses.create, with file_search", lambda: respond(**asked)
    yield "responses.create(stream=True)", lambda: list(respond(**asked, stream=True))
    brief = {**asked, "instructions": "Be brief."}
    yield "responses.create(instructions=…)", lambda: respond(**brief)
    gone, other = made["file"], made["other"]
    yield "vector_stores.files.delete", lambda: stores.files.delete(gone, **own).deleted
    assert files.retrieve(gone).filename == "lease.md"  # the file itself stays
    yield "files.delete", lambda: files.delete(other).deleted
    assert {gone, other}.isdisjoint(each.id for each in stores.files.list(**own))
    yield "vector_stores.delete", lambda: stores.delete(**own).deleted
    assert own["vector_store_id"] not in {each.id for each in stores.list()}


def life_of_files(
    client: Any, own: dict[str, str], keep: Callable[[str, Any], Any], made: dict[str, str]
) -> Iterator[tuple[str, Callable[[], Any]]]:
    files, stored, batches = client.files, client.vector_stores.files, "vector_stores.file_batches"
    new: Any = {"file": file("lease.md"), "purpose": "assistants"}
    hourly: Any = {"anchor": "created_at", "seconds": 3600}
    yield "files.create", lambda: keep("file", files.create(**new))
    sent = made["file"]
    late = {**new, "file": file("x.md"), "expires_after": hourly}
    yield "files.create(expires_after=…)", lambda: files.create(**late)
    yield "files.wait_for_processing", lambda: files.wait_for_processing(sent)
    yield "files.retrieve", lambda: files.retrieve(sent)
    yield "files.list", lambda: list(files.list())
    yield "files.content", lambda: files.content(sent).read() == TEXT

    def store() -> bool:
        attributes = {"kind": "lease", "year": 2024, "open": True}
        done = stored.create_and_poll(sent, **own, attributes=attributes)
        told = (done.id, done.status, done.last_error)
        return told == (sent, "completed", None) and attributes.items() <= done.attributes.items()

    yield "vector_stores.files.create_and_poll", store
    cut = {**own, "file_id": sent, "chunking_strategy": STATIC}
    yield "vector_stores.files.create(chunking_strategy=static)", lambda: stored.create(**cut)
    other: Any = {**own, "file": file("other.md")}
    upload = "vector_stores.files.upload_and_poll"
    yield upload, lambda: keep("other", stored.upload_and_poll(**other))
    yield "vector_stores.files.retrieve", lambda: stored.retrieve(sent, **own)
    yield "vector_stores.files.list", lambda: list(stored.list(**own, limit=1, order="asc"))
    changes: Any = {**own, "attributes": {"year": 2025}}

    def update() -> bool:
        attributes = stored.update(sent, **changes).attributes
        return attributes["year"] == 2025 and "kind" not in attributes

    yield "vector_stores.files.update", update
    text = "vector_stores.files.content"
    yield text, lambda: next(iter(stored.content(sent, **own))).text == TEXT.decode()
    found = {**own, "query": QUESTION, "filters": YEAR}
    search = client.vector_stores.search
    yield "vector_stores.search", lambda: [each.file_id for each in search(**found)] == [sent]
    both = {**own, "file_ids": [sent, made["other"]]}
    of_batches = client.vector_stores.file_batches
    yield f"{batches}.create_and_poll", lambda: keep("batch", of_batches.create_and_poll(**both))
    more: Any = {**own, "files": [file("a.md")]}
    yield f"{batches}.upload_and_poll", lambda: of_batches.upload_and_poll(**more)
    batch = made["batch"]
    yield f"{batches}.retrieve", lambda: of_batches.retrieve(batch, **own)
    yield f"{batches}.list_files", lambda: list(of_batches.list_files(batch, **own))
    yield f"{batches}.cancel", lambda: of_batches.cancel(batch, **own)


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
    environment = {**os.environ, "NO_PROXY": "127.0.0.1"}
    how: Any = {"cwd": FOLDER, "env": environment, "timeout": SECONDS, "text": True}
    return subprocess.run([*command], capture_output=True, check=False, **how)


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


def test_a_store_lists_what_was_sent_and_what_was_stored_otherwise(url: str) -> None:
    client = openai.OpenAI(api_key=KEY, base_url=url, max_retries=0)
    files, stores = client.files, client.vector_stores
    names = ("a.md", "b.md", "c.md")
    sent = {files.create(file=file(name), purpose="assistants").id for name in names}
    store = stores.create(name="mixed", file_ids=[*sent])
    for number in range(9):
        document = {"uri": f"other/{number}", "text": f"other {number}"}
        body = {"dataset": "mixed", "documents": [document]}
        httpx.post(f"{url}/documents", json=body, timeout=SECONDS).raise_for_status()
    wait_until(lambda: stores.retrieve(store.id).file_counts.completed == 12)
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
