"""The pages that take files, delete and describe documents: for whom, of what, in which words."""

import json
import re
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any

import httpx
import pytest

from lexichord import SyncLexichord
from lexichord.db import schema, store
from lexichord.serve.limits import MAX_WATCHED_JOBS
from lexichord.serve.page.manage import metadata_changes
from tests.conftest import SPACE, new_database
from tests.end_to_end.processes import wait_until
from tests.http.served_page import HOSTILE, LEASE, LICENCE, OWN_SCRIPTS, served
from tests.http.test_page import Elements
from tests.unit.test_containers import packed
from tests.unit.test_web import Site, site

__all__ = ["site"]

GETS = (
    *("/documents", "/documents?dataset=open", "/documents/runs/1", "/documents/runs/1/events"),
    *("/documents/delete?document=lease.txt", "/documents/delete-dataset?dataset=open"),
    *("/documents/metadata?document=lease.txt", "/documents/rename-dataset?dataset=open"),
    *("/documents/move?document=lease.txt", "/documents/reread?document=lease.txt"),
)


def posts(dataset: str, document: str) -> dict[str, dict[str, Any]]:
    """Give a form of each kind, by its address."""
    return {
        "/documents/upload": {"files": {"files": ("a.txt", b"gnu")}, "data": {"dataset": dataset}},
        "/documents/new-dataset": {"data": {"dataset": "made"}},
        "/documents/rename-dataset": {"data": {"dataset": dataset, "new_name": "renamed"}},
        "/documents/move": {"data": {"document": document, "dataset": dataset}},
        "/documents/reread": {"data": {"document": document}},
        "/documents/fetch": {"data": {"urls": "http://127.0.0.1/", "dataset": dataset}},
        "/documents/delete": {"data": {"document": document}},
        "/documents/delete-dataset": {"data": {"dataset": dataset}},
        "/documents/metadata": {"data": {"document": document, "metadata": '{"a": 1}'}},
    }


POSTS = posts("open", "lease.txt")
MAX_BODY = 200_000


@dataclass(frozen=True)
class Managed:
    """A server that needs keys, and their secrets by what they may do."""

    address: str
    core: SyncLexichord
    keys: dict[str, str]

    def client(self, key: str) -> httpx.Client:
        headers = {"authorization": f"Bearer {self.keys[key]}", "origin": self.address}
        return httpx.Client(base_url=self.address, headers=headers, timeout=60)


@pytest.fixture(scope="module")
def managed(embedded_dsn: str) -> Iterator[Managed]:
    with new_database(embedded_dsn) as dsn:
        schema.prepare(dsn, schema.Choice("plain", "english", SPACE))
        with SyncLexichord(dsn=dsn) as core:
            core.ingest(documents=[LEASE, LICENCE], dataset="open")
            core.ingest(documents=[LICENCE], dataset="closed")
            keys = {
                "reads": core.create_key("r"),
                "writes": core.create_key("w", writes=True),
                "deletes": core.create_key("d", deletes=True),
                "all": core.create_key("a", writes=True, deletes=True),
                "narrow": core.create_key("n", datasets=["open"], writes=True, deletes=True),
            }
            secrets = {name: key.secret for name, key in keys.items()}
            with served(dsn, allowed_hosts="search.example.com", max_body=MAX_BODY) as address:
                yield Managed(address, core, secrets)


@pytest.fixture
def client(managed: Managed) -> Iterator[httpx.Client]:
    with managed.client("all") as client:
        yield client


def bring(
    client: httpx.Client, *files: tuple[str, bytes], dataset: str = "new", **data: str
) -> httpx.Response:
    parts = [("files", file) for file in files]
    return client.post("/documents/upload", files=parts, data={"dataset": dataset, **data})


def watched(client: httpx.Client, answer: httpx.Response) -> str:
    """Give the page of an ingest once it is done."""
    assert answer.status_code == 303, answer.text
    pages: list[str] = []

    def is_done() -> bool:
        pages.append(client.get(answer.headers["location"]).text)
        return "data-events" not in pages[-1]

    wait_until(is_done)
    return pages[-1]


def outcomes(page: str) -> dict[str, str]:
    """Give what became of each file, by its name as it is shown."""
    rows = re.findall(r"<li><b class=\"\w+\">([^<]*)</b> <bdi>(.*?)</bdi>(.*?)</li>", page, re.S)
    return {unescape(name): words(f"{word} {more}") for word, name, more in rows}


def words(page: str) -> str:
    return " ".join(Elements(page).text.split())


def test_files_are_stored_and_each_is_accounted_for(client: httpx.Client) -> None:
    packet = packed({"in.md": "# Okapi", "x.png": b"\x89"})
    first = watched(
        client,
        bring(
            client,
            *(("a.txt", b"zebra"), ("sub/b.md", b"# Gnu"), ("pack.zip", packet)),
            *(("c.png", b"\x89PNG"), ("empty.txt", b"")),
        ),
    )
    told = outcomes(first)
    assert told.pop("c.png").startswith("failed '.png' is no kind")
    assert told.pop("empty.txt") == "failed holds no text"
    assert told == {
        "pack.zip/x.png": "left out of no kind that can be read: .png",
        "a.txt": "stored 1 chunk",
        "sub/b.md": "stored 1 chunk",
        "pack.zip/in.md": "stored 1 chunk",
    }
    assert "Done: 3 stored, 2 failed, 1 left out" in words(first)
    again = outcomes(watched(client, bring(client, ("a.txt", b"zebra"), ("sub/b.md", b"# Yak"))))
    assert again == {"a.txt": "unchanged", "sub/b.md": "stored anew 1 chunk"}
    listed = client.get("/documents", params={"dataset": "new"}).text
    assert "new 3 3 Rename Delete" in words(listed)
    assert "Yak" in words(listed)


def test_the_bytes_are_kept_where_that_is_wanted(client: httpx.Client, managed: Managed) -> None:
    for keep, status in (({}, 404), ({"keep": "1"}, 200)):
        watched(client, bring(client, ("kept.txt", b"gnu"), dataset="kept", **keep))
        (row,) = managed.core.list(datasets=["kept"])
        assert client.get(f"/v1/documents/{row.document_id}/original").status_code == status


@pytest.mark.parametrize(
    ("files", "dataset", "message"),
    [
        ([("../x.txt", b"gnu")], "new", "without .."),
        ([("x" * 300 + ".txt", b"gnu")], "new", "longer than 200 bytes"),
        ([("a.txt", b"gnu"), ("./a.txt", b"yak")], "new", "Two files have the same name"),
        ([("", b"")], "new", "Choose a file first"),
        ([("a.txt", b"gnu")], " ", "The dataset needs a name"),
        ([("a.txt", b"gnu")], "a\0b", "The dataset needs a name"),
        ([("a.txt", b"gnu")], "x" * 1_001, "The dataset needs a name"),
    ],
)
def test_what_cannot_be_taken_is_said_beside_the_form(
    client: httpx.Client, files: list[tuple[str, bytes]], dataset: str, message: str
) -> None:
    answer = bring(client, *files, dataset=dataset)
    assert answer.status_code == 400
    page = Elements(answer.text)
    assert message in page.text
    assert "files" in [each.get("name") for each in page.all("input")]


def test_names_of_files_and_datasets_do_nothing(client: httpx.Client) -> None:
    name = f"{HOSTILE[:60].replace('/', '')}.txt"
    page = watched(client, bring(client, (name, b"gnu"), dataset=HOSTILE.replace("\u202e", "")))
    assert "Done: 1 stored" in words(page)
    for text in (page, client.get("/documents", params={"dataset": HOSTILE[:-5]}).text):
        elements = Elements(text)
        assert {each.get("src") for each in elements.all("script")} <= OWN_SCRIPTS
        assert not elements.all("img")
    listed = client.get("/documents").text
    assert "<script>alert" not in listed
    assert "<script>alert(1)" in unescape(listed)


def test_a_body_that_is_too_large_is_refused(client: httpx.Client) -> None:
    answer = bring(client, ("large.txt", b"x" * MAX_BODY))
    assert answer.status_code == 413
    assert "200,000 bytes" in answer.text
    client.headers["accept"] = "text/html,*/*;q=0.8"
    page = bring(client, ("large.txt", b"x" * MAX_BODY))
    assert page.headers["content-type"].startswith("text/html")
    assert "At most 200,000 bytes" in Elements(page.text).text
    assert page.headers["content-security-policy"] == "default-src 'none'"
    assert "200.0 kB" in client.get("/documents").text  # the form said so before


def test_more_files_than_a_form_takes_are_refused(client: httpx.Client) -> None:
    answer = bring(client, *((f"{n}", b"") for n in range(1_001)))
    assert answer.status_code == 400
    assert "At most 1,000 files at once" in Elements(answer.text).text


@pytest.mark.parametrize("path", GETS)
def test_a_reading_key_has_none_of_it(managed: Managed, path: str) -> None:
    with managed.client("reads") as client:
        answer = client.get(path)
        assert answer.status_code == 403
        assert "the API key may only read" in answer.text
        for page in ("/", "/document/lease.txt", "/?q=zebra"):
            assert "/documents" not in client.get(page).text
    assert httpx.get(f"{managed.address}{path}").status_code == 401


@pytest.mark.parametrize("path", POSTS)
@pytest.mark.parametrize(("key", "statuses"), [("reads", (403,)), ("narrow", (403, 404))])
def test_what_a_key_may_not_change_stays(
    managed: Managed, path: str, key: str, statuses: tuple[int, ...]
) -> None:
    before = [row.to_dict() for row in managed.core.list(datasets=["closed"])]
    with managed.client(key) as client:
        answer = client.post(path, **posts("closed", before[0]["document_id"])[path])
    assert answer.status_code in statuses, answer.text
    assert [row.to_dict() for row in managed.core.list(datasets=["closed"])] == before


@pytest.mark.parametrize("path", POSTS)
@pytest.mark.parametrize(
    "sent", [{"origin": "https://evil.example"}, {"origin": ""}, {"sec-fetch-site": "cross-site"}]
)
def test_a_form_of_another_site_changes_nothing(
    client: httpx.Client, managed: Managed, path: str, sent: dict[str, str]
) -> None:
    before = [row.to_dict() for row in managed.core.list()]
    assert client.post(path, headers=sent, **POSTS[path]).status_code == 403
    assert [row.to_dict() for row in managed.core.list()] == before


def test_to_write_and_to_delete_are_two_rights(managed: Managed) -> None:
    with managed.client("writes") as writer:
        page = writer.get("/documents?dataset=open").text
        assert "/documents/upload" in page
        assert "/documents/metadata?" in page
        assert "/documents/delete" not in page
        assert "/documents/move" not in page
        for path in ("/documents/delete", "/documents/delete-dataset", "/documents/move"):
            assert writer.get(f"{path}?document=lease.txt&dataset=open").status_code == 403
            assert writer.post(path, **POSTS[path]).status_code == 403
    with managed.client("deletes") as deleter:
        page = deleter.get("/documents?dataset=open").text
        assert "/documents/delete?" in page
        assert "/documents/upload" not in page
        assert "/documents/metadata?" not in page
        assert deleter.get("/documents/metadata?document=lease.txt").status_code == 403
        assert "/documents/rename-dataset?" not in page
        for path in POSTS.keys() - {"/documents/delete", "/documents/delete-dataset"}:
            assert deleter.post(path, **POSTS[path]).status_code == 403


def test_a_key_of_one_dataset_sees_and_fills_that_one(managed: Managed) -> None:
    with managed.client("narrow") as client:
        page = client.get("/documents").text
        assert "closed" not in words(page)
        assert client.get("/documents?dataset=closed").status_code == 403
        assert client.get("/documents/delete-dataset?dataset=closed").status_code == 403
        assert bring(client, ("a.txt", b"gnu"), dataset="closed").status_code == 403
    with managed.client("all") as client, managed.client("narrow") as narrow:
        (job,) = client.get("/v1/jobs?dataset=closed").json()["jobs"]
        for path in (f"/documents/runs/{job['job_id']}", f"/documents/runs/{job['job_id']}/events"):
            assert (client.get(path).status_code, narrow.get(path).status_code) == (200, 404)


def test_a_document_goes_after_it_was_asked_for(client: httpx.Client, managed: Managed) -> None:
    managed.core.ingest(documents=[LEASE, LICENCE], dataset="gone")
    (row, _) = managed.core.list(datasets=["gone"])
    asked = words(client.get("/documents/delete", params={"document": row.document_id}).text)
    assert "Delete Office Lease?" in asked
    assert f"{row.characters} characters, its 3 chunks" in asked
    assert managed.core.count(datasets=["gone"]) == 2
    data = {"document": row.document_id, "dataset": "gone"}
    answer = client.post("/documents/delete", data=data)
    assert (answer.status_code, answer.headers["location"]) == (303, "/documents?dataset=gone")
    assert "Office Lease" not in client.get(answer.headers["location"]).text
    assert client.post("/documents/delete", data=data).status_code == 404
    asked = words(client.get("/documents/delete-dataset?dataset=gone").text)
    assert "1 document with 1 chunk," in asked
    answer = client.post("/documents/delete-dataset", data={"dataset": "gone"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/documents")
    for method in ("get", "post"):
        options = {"params" if method == "get" else "data": {"dataset": "gone"}}
        again = client.request(method, "/documents/delete-dataset", **options)  # type: ignore[arg-type]
        assert again.status_code == 404


def test_a_dataset_gets_another_name(client: httpx.Client, managed: Managed) -> None:
    watched(client, bring(client, ("a.txt", b"gnu"), dataset="old"))
    page = Elements(client.get("/documents/rename-dataset?dataset=old").text)
    assert [each["value"] for each in page.all("input")] == ["old", "old"]
    data = {"dataset": "old", "new_name": " <b>new & old</b> "}
    answer = client.post("/documents/rename-dataset", data=data)
    assert answer.status_code == 303
    listed = client.get(answer.headers["location"])
    assert "Documents of <b>new & old</b>" in words(listed.text)
    assert [row.uri for row in managed.core.list(datasets=["<b>new & old</b>"])] == [
        "upload://<b>new & old</b>/a.txt"
    ]
    assert client.get("/documents/rename-dataset?dataset=old").status_code == 404
    for name, message in (("open", "There is a dataset open already"), (" ", "needs a name")):
        data = {"dataset": "<b>new & old</b>", "new_name": name}
        refused = client.post("/documents/rename-dataset", data=data)
        assert refused.status_code == 400
        assert message in Elements(refused.text).text
    assert client.post("/documents/rename-dataset", data={**data, "new_name": "b"}).is_redirect
    again = client.post("/documents/rename-dataset", data={**data, "new_name": "b"})
    assert again.status_code == 404


def test_a_document_is_read_again_from_its_kept_bytes(
    client: httpx.Client, managed: Managed
) -> None:
    files = (("kept.txt", b"zebra"), ("gone.txt", b"gnu"))
    for (name, content), keep in zip(files, ({"keep": "1"}, {}), strict=True):
        watched(client, bring(client, (name, content), dataset="again", **keep))
    gone, kept = managed.core.list(datasets=["again"])
    assert "/documents/reread?" in client.get(f"/document/{kept.document_id}").text
    assert client.get(f"/documents/reread?document={kept.document_id}").status_code == 200
    answer = client.post("/documents/reread", data={"document": kept.document_id})
    assert outcomes(watched(client, answer)) == {"kept.txt": "stored anew 1 chunk"}
    refused = client.post("/documents/reread", data={"document": gone.document_id})
    assert refused.status_code == 400
    assert "it was not kept; ingest its file again" in Elements(refused.text).text
    job = client.post(f"/v1/documents/{kept.document_id}/reread")
    assert (job.status_code, job.json()["dataset"]) == (202, "again")


def test_addresses_are_fetched_of_the_hosts_that_are_named(
    managed: Managed, client: httpx.Client, site: Site
) -> None:
    site.put("/a.html", "<title>Quokkas</title><p>Of the quokka.</p>")
    data = {"urls": f"{site.url}/a.html\n {site.url}/none", "dataset": "web", "keep": "1"}
    refused = client.post("/documents/fetch", data=data)
    assert refused.status_code == 400
    assert "name hosts in LEXICHORD_FETCH_HOSTS" in Elements(refused.text).text
    assert "/documents/fetch" not in client.get("/documents").text
    dsn = managed.core.core.database.dsn
    names = {"allowed_hosts": "search.example.com", "fetch_hosts": "127.0.0.1"}
    with served(dsn, **names) as address:
        other = Managed(address, managed.core, managed.keys)
        with other.client("all") as asker:
            assert "of 127.0.0.1" in words(asker.get("/documents").text)
            done = watched(asker, asker.post("/documents/fetch", data=data))
            assert outcomes(done) == {
                "a.html": "stored 1 chunk",
                "none": "failed the server answers 404",
            }
            sent = {"urls": [f"{site.url}/a.html"], "dataset": "web"}
            job = asker.post("/v1/documents:upload", data=sent)
            assert job.status_code == 202, job.text
            place = job.headers["location"]
            wait_until(lambda: asker.get(place).json()["state"] == "finished")
            assert asker.get(place).json()["skipped"] == 1
            for urls, message in (
                ("https://example.com/", "example.com is not among LEXICHORD_FETCH_HOSTS"),
                ("file:///etc/passwd", "is no address of http or https"),
                (" ", "Send a file"),
            ):
                again = asker.post("/documents/fetch", data={**data, "urls": urls})
                assert again.status_code == 400
                assert message in Elements(again.text).text
    (row,) = managed.core.list(datasets=["web"])
    assert (row.uri, row.title) == (f"{site.url}/a.html", "Quokkas")
    assert managed.core.reread(row.document_id).replaced == 1
    (reread,) = managed.core.list(datasets=["web"])
    assert (reread.title, reread.metadata) == (row.title, row.metadata)


def test_a_document_moves_into_another_dataset(client: httpx.Client, managed: Managed) -> None:
    for dataset, name in (("here", "a.txt"), ("here", "b.txt"), ("there", "b.txt")):
        watched(client, bring(client, (name, b"gnu"), dataset=dataset, keep="1"))
    one, two = managed.core.list(datasets=["here"])
    page = client.get(f"/documents/move?document={one.document_id}").text
    assert {"here", "there"} <= {each.get("value") for each in Elements(page).all("option")}
    assert "/documents/move?" in client.get(f"/document/{one.document_id}").text
    data = {"document": one.document_id, "dataset": " there "}
    answer = client.post("/documents/move", data=data)
    assert (answer.status_code, answer.headers["location"]) == (303, "/documents?dataset=there")
    assert "a.txt" in client.get(answer.headers["location"]).text
    assert client.get(f"/v1/documents/{one.document_id}/original").content == b"gnu"
    for name, message in (("there", "b.txt is in there already"), (" ", "needs a name")):
        data = {"document": two.document_id, "dataset": name}
        refused = client.post("/documents/move", data=data)
        assert refused.status_code == 400
        assert message in Elements(refused.text).text
    assert client.post("/documents/move", data={**data, "document": "none"}).status_code == 404


def test_metadata_are_changed_and_what_others_changed_stays(
    client: httpx.Client, managed: Managed
) -> None:
    managed.core.ingest(
        documents=[{**LEASE, "metadata": {"year": 2019, "team": "hr"}}], dataset="described"
    )
    (row,) = managed.core.list(datasets=["described"])
    form = Elements(client.get(f"/documents/metadata?document={row.document_id}").text)
    (before,) = (each["value"] for each in form.all("input") if each.get("name") == "before")
    managed.core.set_metadata(row.document_id, {"seen": True})
    text = (before or "").replace("2019", "2024").replace('"hr"', "null")
    data = {"document": row.document_id, "before": before or "", "metadata": text}
    answer = client.post("/documents/metadata", data=data)
    assert answer.headers["location"] == f"/document/{row.document_id}"
    (row,) = managed.core.list(datasets=["described"])
    assert row.metadata == {"language": "en", "year": 2024, "seen": True}
    for wrong in ("[1]", "{", '{"a": NaN}', '{"a": "\\ud800"}', "x" * 100_001):
        refused = client.post("/documents/metadata", data={**data, "metadata": wrong})
        assert refused.status_code == 400
        assert "etadata" in Elements(refused.text).text
    assert wrong in refused.text  # it can be mended


def test_changes_are_what_differs() -> None:
    before = {"a": 1, "b": [1], "c": None}
    assert metadata_changes(before, {"a": 1, "b": [2], "d": 4}) == {"b": [2], "c": None, "d": 4}
    assert metadata_changes(before, before) == {}


def test_a_dataset_is_shown_a_page_at_a_time(client: httpx.Client, managed: Managed) -> None:
    many = [{"uri": f"{n:03}.txt", "chunks": [{"content": f"gnu {n}"}]} for n in range(120)]
    managed.core.ingest(documents=many, dataset="many")
    first = client.get("/documents?dataset=many").text
    assert "page 1 of 3" in words(first)
    assert len(first.encode()) < 150_000
    third = client.get("/documents?dataset=many&page=3").text
    assert ("119.txt" in third, "099.txt" in third, "Next" in third) == (True, False, False)
    for odd in ("0", "-1", "x", "9" * 30, "4", "²"):
        assert client.get(f"/documents?dataset=many&page={odd}").status_code == 200


@pytest.mark.parametrize("run", ["0", "x", "9" * 18, "9" * 40, "-1"])
def test_an_ingest_that_is_not_there_is_a_page(client: httpx.Client, run: str) -> None:
    for path in (f"/documents/runs/{run}", f"/documents/runs/{run}/events"):
        answer = client.get(path)
        assert answer.status_code == 404
        assert "Not there" in answer.text


def sections(client: httpx.Client, path: str) -> Generator[str]:
    """Give an ingest's part of the page from each event of one stream."""
    with client.stream("GET", path) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        assert answer.headers["cache-control"] == "no-store"
        for line in answer.iter_lines():
            if line.startswith("data: "):
                yield json.loads(line.removeprefix("data: "))["section"]


def test_an_ingest_tells_how_far_it_is_until_it_ends(
    client: httpx.Client,
) -> None:
    many = [(f"{n}.txt", b"A zebra has stripes. " * 2_000) for n in range(4)]
    answer = bring(client, *many, dataset="told")
    path = answer.headers["location"] + "/events"
    told: list[str] = []
    while not told or "data-events" in told[-1]:  # one stream may end before the ingest does
        told += sections(client, path)
    assert "4 stored" in words(told[-1])
    assert len(outcomes(told[-1])) == 4
    assert told[-1] in client.get(answer.headers["location"]).text


def running_ingest(managed: Managed, dataset: str) -> int:
    """Begin an ingest of a process that never says anything more of it."""
    core = managed.core
    return core.run(store.start_run(core.core.database, dataset, "elsewhere", 3))


def test_an_event_is_sent_only_when_something_changed(
    client: httpx.Client, managed: Managed
) -> None:
    run = running_ingest(managed, "open")
    core = managed.core
    told = sections(client, f"/documents/runs/{run}/events")
    assert "0 of 3 files so far" in words(next(told))
    record = store.record_files(core.core.database, run, ["a.txt"], "failed", reason="is torn")
    core.run(record)
    second = next(told)
    assert "1 of 3 files so far: 1 failed" in words(second)
    assert outcomes(second) == {"a.txt": "failed is torn"}
    told.close()


def test_where_many_watch_each_is_told_once_and_asks_again(
    client: httpx.Client, managed: Managed
) -> None:
    run = running_ingest(managed, "open")
    path = f"/documents/runs/{run}/events"
    watching = [sections(client, path) for _ in range(MAX_WATCHED_JOBS)]
    for each in watching:
        next(each)
    crowded = client.get(path).text  # it ends by itself
    assert crowded.startswith("retry: 2000")
    assert crowded.count("event: run") == 1
    for each in watching:
        each.close()


def test_watching_is_one_call_on_record(managed: Managed) -> None:
    run = running_ingest(managed, "open")
    secret = managed.core.create_key("watcher", writes=True)
    headers = {"authorization": f"Bearer {secret.secret}"}
    with httpx.Client(base_url=managed.address, headers=headers, timeout=60) as client:
        told = sections(client, f"/documents/runs/{run}/events")
        next(told)
        core = managed.core
        core.run(store.record_files(core.core.database, run, ["a.txt"], "inserted"))
        next(told)
        told.close()

    def kinds() -> list[str]:
        calls = managed.core.list_calls()
        return [call.kind for call in calls if call.key_id == secret.key.key_id]

    wait_until(lambda: bool(kinds()))
    assert kinds() == ["job"]


def test_how_what_failed_is_taken_up_again_is_said(
    client: httpx.Client, managed: Managed, tmp_path: Path
) -> None:
    sent = watched(client, bring(client, ("empty.txt", b""), dataset="torn"))
    assert '<a href="/documents?dataset=torn">bring it again</a>' in sent
    (tmp_path / "empty.txt").write_text("")
    report = managed.core.ingest([tmp_path], dataset="it's mine")
    page = client.get(f"/documents/runs/{report.run_id}").text
    assert "lexichord ingest --retry-failed --dataset 'it'\"'\"'s mine'" in words(page)
    assert "bring it again" not in page


def test_what_failed_last_is_one_click_from_the_first_page(
    client: httpx.Client, managed: Managed
) -> None:
    answer = bring(client, ("empty.txt", b""), dataset="torn")
    watched(client, answer)
    link = f'<a href="{answer.headers["location"]}">Which, and why</a>'
    assert link in client.get("/").text
    reading = {"authorization": f"Bearer {managed.core.create_key('reads only').secret}"}
    with httpx.Client(base_url=managed.address, headers=reading, timeout=60) as reader:
        first = reader.get("/").text
        assert "Of the latest ingest 1 failed." in words(first)
        assert "Which, and why" not in first


def test_an_empty_dataset_is_made_once(client: httpx.Client, managed: Managed) -> None:
    answer = client.post("/documents/new-dataset", data={"dataset": " box "})
    assert (answer.status_code, answer.headers["location"]) == (303, "/documents?dataset=box")
    assert "box 0 0 Rename Delete" in words(client.get(answer.headers["location"]).text)
    again = client.post("/documents/new-dataset", data={"dataset": "box"})
    assert again.status_code == 400
    assert "There is a dataset of this name already" in Elements(again.text).text
    for name in ("", " ", "a\0b", "x" * 1_001):
        refused = client.post("/documents/new-dataset", data={"dataset": name})
        assert refused.status_code == 400
        assert "The dataset needs a name" in Elements(refused.text).text
    with managed.client("narrow") as narrow:
        answer = narrow.post("/documents/new-dataset", data={"dataset": "mine"})
        assert answer.status_code == 403
    assert "mine" not in {row.dataset for row in managed.core.datasets()}
