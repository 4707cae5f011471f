"""A life of a vector store through OpenAI's own client, against a server on real Postgres."""

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
import pytest

from lexichord import SyncLexichord
from lexichord.db import schema
from lexichord.providers.embed.local import LocalEmbedder
from tests.conftest import SAMPLES, new_database
from tests.http.served import Keys, Served, serve

LEASE = b"# Lease\n\nThe rent of Saltpan House is due on the first day of each quarter."
SLOW = b"The rent is due on each first day. " * 700_000  # to read, some seconds


@pytest.fixture(scope="module")
def served(embedded_dsn: str, home: Path, embedder: LocalEmbedder) -> Iterator[Served]:
    keys: Keys = {"all": {"writes": True, "deletes": True}, "narrow": {"datasets": ["narrow"]}}
    with new_database(embedded_dsn) as dsn:
        schema.prepare(dsn, schema.Choice())
        with SyncLexichord(dsn=dsn, home=home) as lexichord:
            lexichord.ingest([next((SAMPLES / "policies").glob("data-*.md"))], dataset="narrow")
        with serve(dsn, keys, home=home) as served:
            yield served


def client_of(served: Served, key: str) -> openai.OpenAI:
    secret = served.keys.get(key, key)
    return openai.OpenAI(api_key=secret, base_url=f"{served.url}/v1", max_retries=0)


@pytest.fixture(scope="module")
def client(served: Served) -> Iterator[openai.OpenAI]:
    with client_of(served, "all") as client:
        yield client


@pytest.fixture(scope="module")
def narrow(served: Served) -> Iterator[openai.OpenAI]:
    """A client that only reads, and one dataset."""
    with client_of(served, "narrow") as client:
        yield client


def named(name: str, content: bytes = LEASE) -> io.BytesIO:
    file = io.BytesIO(content)
    file.name = name
    return file


def sent(client: openai.OpenAI, *names: str) -> list[str]:
    files = [named(name, f"# {name}\n\nzebra {name}".encode()) for name in names]
    return [client.files.create(file=each, purpose="assistants").id for each in files]


def test_a_batch_is_polled_and_its_files_are_listed(client: openai.OpenAI) -> None:
    store = client.vector_stores.create()
    assert store.id.startswith("vs_")
    good, bad = sent(client, "good.md", "bad.xyz")
    empty = client.files.create(file=named("none.md", b"\0\0"), purpose="user_data").id
    files: Any = [
        {"file_id": good, "attributes": {"kind": "good"}},
        {"file_id": empty, "attributes": {"kind": "empty"}},
    ]
    batch = client.vector_stores.file_batches.create_and_poll(store.id, files=files)
    counts = batch.file_counts
    assert (batch.status, counts.completed, counts.failed) == ("completed", 1, 1)
    listed = list(client.vector_stores.file_batches.list_files(batch.id, vector_store_id=store.id))
    assert {each.id: each.status for each in listed} == {good: "completed", empty: "failed"}
    (failed,) = client.vector_stores.files.list(store.id, filter="failed")
    assert failed.last_error is not None
    assert failed.last_error.message
    assert failed.attributes == {"kind": "empty"}
    both: Any = [named("a.md", b"# A\n\nyak"), named("b.md", b"# B\n\ngnu")]
    uploaded = client.vector_stores.file_batches.upload_and_poll(
        store.id, files=both, file_ids=[bad]
    )
    assert uploaded.file_counts.total == 3
    for nothing in ("vsfb_99999", "batch"):
        with pytest.raises(openai.NotFoundError):
            client.vector_stores.file_batches.retrieve(nothing, vector_store_id=store.id)
        with pytest.raises(openai.NotFoundError):
            client.vector_stores.file_batches.list_files(nothing, vector_store_id=store.id)


def test_a_batch_that_is_cancelled_says_so_of_its_files(client: openai.OpenAI) -> None:
    slow = client.files.create(file=named("slow.txt", SLOW), purpose="assistants")
    store = client.vector_stores.create(name="cancelled")
    batches = client.vector_stores.file_batches
    begun = batches.create(store.id, file_ids=[slow.id])
    assert begun.status == "in_progress"
    batches.cancel(begun.id, vector_store_id=store.id)
    ended = batches.poll(begun.id, vector_store_id=store.id)
    assert (ended.status, ended.file_counts.cancelled) == ("cancelled", 1)
    (file,) = batches.list_files(begun.id, vector_store_id=store.id, filter="cancelled")
    assert (file.id, file.status) == (slow.id, "cancelled")
    counts = client.vector_stores.retrieve(store.id).file_counts
    assert (counts.cancelled, counts.total) == (1, 1)


def test_polling_ends_when_a_file_is_stored_anew(client: openai.OpenAI) -> None:
    store = client.vector_stores.create(name="anew")
    (file_id,) = sent(client, "anew.md")
    for year in (2025.0, 2026.0):
        stored = client.vector_stores.files.create_and_poll(
            file_id, vector_store_id=store.id, attributes={"year": year}
        )
        assert stored.attributes is not None
        assert stored.attributes["year"] == year
        only: Any = {"type": "eq", "key": "year", "value": year}
        assert len(list(client.vector_stores.search(store.id, query="zebra", filters=only))) == 1


def test_a_store_begins_with_files(client: openai.OpenAI) -> None:
    ids = sent(client, "x.md", "y.md")
    store = client.vector_stores.create(name="with files", file_ids=ids)
    assert (store.file_counts.total, store.status) == (2, "in_progress")
    for file_id in ids:
        client.vector_stores.files.poll(file_id, vector_store_id=store.id)
    assert client.vector_stores.retrieve(store.id).file_counts.completed == 2
    count = len(list(client.vector_stores.list()))
    with pytest.raises(openai.NotFoundError):
        client.vector_stores.create(name="half", file_ids=[ids[0], "file-" + "0" * 24])
    assert len(list(client.vector_stores.list())) == count


def test_lists_come_in_pages_both_ways(client: openai.OpenAI) -> None:
    store = client.vector_stores.create(name="pages")
    ids = sent(client, *(f"p{number}.md" for number in range(5)))
    for file_id in ids:
        client.vector_stores.files.create_and_poll(file_id, vector_store_id=store.id)
    page = client.vector_stores.files.list(store.id, limit=2)
    assert [each.id for each in page.data] == [ids[4], ids[3]]
    assert (page.has_more, page.model_dump()["first_id"]) == (True, ids[4])
    assert [each.id for each in page] == ids[::-1]  # the client follows
    forwards = client.vector_stores.files.list(store.id, limit=2, order="asc", after=ids[0])
    assert [each.id for each in forwards.data] == ids[1:3]
    before = client.vector_stores.files.list(store.id, limit=2, order="asc", before=ids[3])
    assert [each.id for each in before.data] == ids[1:3]
    assert before.has_more
    last = client.vector_stores.files.list(store.id, limit=2, order="asc", after=ids[2])
    assert ([each.id for each in last.data], last.has_more) == (ids[3:], False)
    recent = [each.id for each in client.files.list(limit=3, order="desc").data]
    assert recent == ids[:1:-1]
    stores = [each.id for each in client.vector_stores.list(limit=1)]
    assert stores[0] == "pages"
    assert {"pages", "narrow"} <= set(stores)
    wrongs: list[Any] = [{"after": "file-none"}, {"after": ids[0], "before": ids[1]}, {"limit": 0}]
    for wrong in wrongs:
        with pytest.raises(openai.APIStatusError):
            client.vector_stores.files.list(store.id, **wrong)


def test_names_that_are_taken_or_no_address_get_an_id(client: openai.OpenAI) -> None:
    ids = [client.vector_stores.create(name=name).id for name in ("same", "same", "a/b", "..")]
    assert ids[0] == "same"
    assert all(each.startswith("vs_") for each in ids[1:])
    assert [client.vector_stores.retrieve(each).name for each in ids[1:]] == ["same", "a/b", ".."]


def test_documents_that_came_otherwise_are_files_too(client: openai.OpenAI, served: Served) -> None:
    (file,) = client.vector_stores.files.list("narrow")
    (row,) = served.lexichord.list(datasets=["narrow"])
    assert (file.id, file.status) == (row.document_id, "completed")
    (found, *_) = client.vector_stores.search("narrow", query="How long are logs kept?")
    assert found.file_id == file.id
    assert client.files.retrieve(file.id).filename == row.uri.rpartition("/")[2]
    assert client.files.content(file.id).read() == Path(row.uri).read_bytes()
    changed = client.vector_stores.files.update(
        file.id, vector_store_id="narrow", attributes={"kind": "policy"}
    )
    assert changed.attributes == {"kind": "policy", "language": "en"}
    client.vector_stores.files.update(file.id, vector_store_id="narrow", attributes=None)
    assert "kind" not in served.lexichord.show(row.document_id).document.metadata


def test_a_key_reaches_what_its_datasets_hold_and_what_it_sent(
    client: openai.OpenAI, narrow: openai.OpenAI, served: Served
) -> None:
    (file_id,) = sent(client, "secret.md")
    for ask in (narrow.files.retrieve, narrow.files.content):
        with pytest.raises(openai.NotFoundError):
            ask(file_id)
    assert file_id not in [each.id for each in narrow.files.list()]
    client.vector_stores.files.create_and_poll(file_id, vector_store_id="narrow")
    assert narrow.files.retrieve(file_id).filename == "secret.md"
    secret = served.lexichord.create_key("w", datasets=["narrow"], writes=True).secret
    with client_of(served, secret) as writer:
        (own,) = sent(writer, "own.md")
        assert narrow.files.retrieve(own).id == own
        with pytest.raises(openai.PermissionDeniedError):
            writer.vector_stores.create(name="another")
        with pytest.raises(openai.PermissionDeniedError):
            writer.files.delete(own)
    assert client.files.delete(file_id).deleted


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("a/../../x.txt", {}, r"without \.\."),
        ("..", {}, r"without \.\."),
        ("x" * 300 + ".txt", {}, "longer than 200 bytes"),
        ("a.md", {"purpose": "batch"}, "purpose"),
    ],
)
def test_a_file_that_cannot_be_kept_is_refused(
    client: openai.OpenAI, name: str, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(openai.BadRequestError, match=message):
        client.files.create(file=(name, LEASE), **{"purpose": "assistants", **arguments})


def test_a_name_is_data(client: openai.OpenAI) -> None:
    store = client.vector_stores.create(name="names")
    for name in ("/etc/passwd.txt", "$(id).txt", "<b>ü 日.txt", "x.meta.json", "-rf.md"):
        file = client.files.create(file=(name, b"a zebra"), purpose="assistants")
        assert file.filename == name.rpartition("/")[2]
        done = client.vector_stores.files.create_and_poll(file.id, vector_store_id=store.id)
        assert done.status == "completed", done


def test_what_does_not_exist_here_is_not_found(client: openai.OpenAI) -> None:
    """What else is refused by its name, the table of the documentation says."""
    store, (file_id,) = client.vector_stores.create(name="refusals"), sent(client, "z.md")
    with pytest.raises(openai.NotFoundError, match="there is no file file-none"):
        client.vector_stores.files.create(store.id, file_id="file-none")
    with pytest.raises(openai.NotFoundError):
        client.vector_stores.files.create("nowhere", file_id=file_id)
    assert "nowhere" not in [each.id for each in client.vector_stores.list()]


def test_models_and_embeddings_are_those_of_the_space(
    client: openai.OpenAI, served: Served
) -> None:
    (model,) = client.models.list()
    assert model.id == "local/all-MiniLM-L6-v2/384"
    assert client.models.retrieve(model.id) == model
    vectors = client.embeddings.create(input=["zebra", "gnu"], model="all-MiniLM-L6-v2")
    floats = client.embeddings.create(input="gnu", model=model.id, encoding_format="float")
    assert vectors.data[1].embedding == pytest.approx(floats.data[0].embedding, abs=1e-6)
    assert sum(number**2 for number in floats.data[0].embedding) == pytest.approx(1, abs=1e-3)
    with pytest.raises(openai.NotFoundError, match="there is no model text-embedding-3-small here"):
        client.embeddings.create(input="gnu", model="text-embedding-3-small")
    with pytest.raises(openai.BadRequestError, match="384"):
        client.embeddings.create(input="gnu", model=model.id, dimensions=256)
    tokens: Any = [[1, 2, 3]]
    with pytest.raises(openai.UnprocessableEntityError):
        client.embeddings.create(input=tokens, model=model.id)


def test_a_file_downloads_by_its_document(client: openai.OpenAI, served: Served) -> None:
    store = client.vector_stores.create(name="originals")
    (file_id,) = sent(client, "kept.md")
    client.vector_stores.files.create_and_poll(file_id, vector_store_id=store.id)
    (row,) = served.lexichord.list(datasets=["originals"])
    answer = served.by("all").get(f"/v1/documents/{row.document_id}/original")
    assert answer.content == b"# kept.md\n\nzebra kept.md"


def test_of_an_archive_as_much_is_read_at_once_as_a_request_may_send(
    fresh: str, home: Path
) -> None:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(3):
            archive.writestr(f"{number}.txt", f"The rent of house {number} is due. " * 30)
    with serve(fresh, home=home, max_body=2000) as served:
        client = client_of(served, "none")
        store = client.vector_stores.create(name="leases").id
        own: Any = {"vector_store_id": store}
        kept = client.files.create(file=named("a.zip", content.getvalue()), purpose="assistants")
        done = client.vector_stores.files.create_and_poll(kept.id, **own)
        assert (done.status, done.last_error) == ("completed", None)
        with pytest.raises(openai.BadRequestError, match="in 3 documents, and at most 2,000"):
            client.vector_stores.files.content(kept.id, **own)
