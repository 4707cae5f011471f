"""The pages that take files, delete and describe documents: for whom, of what, in which words."""

import json
import re
from collections.abc import Generator, Iterator
from html import unescape
from pathlib import Path
from typing import Any

import httpx
import pytest

from lexichord.db import store
from lexichord.serve.limits import MAX_WATCHED_JOBS
from lexichord.serve.page.manage import metadata_changes
from tests.end_to_end.processes import wait_until
from tests.http.pages import HOSTILE, LEASE, LICENCE, OWN_SCRIPTS, Elements, words
from tests.http.served import Keys, Served, new_client, serve, serve_documents
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
    data = {
        "new-dataset": {"dataset": "made"},
        "rename-dataset": {"dataset": dataset, "new_name": "renamed"},
        "move": {"document": document, "dataset": dataset},
        "reread": {"document": document},
        "fetch": {"urls": "http://127.0.0.1/", "dataset": dataset},
        "delete": {"document": document},
        "delete-dataset": {"dataset": dataset},
        "metadata": {"document": document, "metadata": '{"a": 1}'},
    }
    upload = {"files": {"files": ("a.txt", b"gnu")}, "data": {"dataset": dataset}}
    forms = {f"/documents/{name}": {"data": fields} for name, fields in data.items()}
    return {**forms, "/documents/upload": upload}


POSTS = posts("open", "lease.txt")
MAX_BODY = 200_000
KEYS: Keys = {
    "reads": {},
    "writes": {"writes": True},
    "deletes": {"deletes": True},
    "all": {"writes": True, "deletes": True},
    "narrow": {"datasets": ["open"], "writes": True, "deletes": True},
}


@pytest.fixture(scope="module")
def managed(bare: str) -> Iterator[Served]:
    documents = {"open": [LEASE, LICENCE], "closed": [LICENCE]}
    with serve_documents(bare, documents, KEYS, max_body=MAX_BODY) as served:
        yield served


@pytest.fixture
def client(managed: Served) -> httpx.Client:
    return managed.by("all")


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


def refused(answer: httpx.Response, message: str, status: int = 400) -> None:
    assert (answer.status_code, message in words(answer.text)) == (status, True), answer.text


def outcomes(page: str) -> dict[str, str]:
    """Give what became of each file, by its name as it is shown."""
    rows = re.findall(r"<li><b class=\"\w+\">([^<]*)</b> <bdi>(.*?)</bdi>(.*?)</li>", page, re.S)
    return {unescape(name): words(f"{word} {more}") for word, name, more in rows}


def test_files_are_stored_and_each_is_accounted_for(client: httpx.Client) -> None:
    packet = packed({"in.md": "# Okapi", "x.png": b"\x89"})
    files = ("a.txt", b"zebra"), ("sub/b.md", b"# Gnu"), ("pack.zip", packet)
    first = watched(client, bring(client, *files, ("c.png", b"\x89PNG"), ("empty.txt", b"")))
    told = outcomes(first)
    assert told.pop("c.png").startswith("failed '.png' is no kind")
    assert told == {
        "empty.txt": "failed holds no text",
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


@pytest.mark.parametrize(
    ("files", "dataset", "message"),
    [
        ([("../x.txt", b"gnu")], "new", "without .."),
        ([("x" * 300 + ".txt", b"gnu")], "new", "longer than 200 bytes"),
        ([("a.txt", b"gnu"), ("./a.txt", b"yak")], "new", "Two files have the same name"),
        ([("", b"")], "new", "Choose a file first"),
        ([(f"{n}", b"") for n in range(1_001)], "new", "At most 1,000 files at once"),
        ([("a.txt", b"gnu")], " ", "The dataset needs a name"),
        ([("a.txt", b"gnu")], "a\0b", "The dataset needs a name"),
        ([("a.txt", b"gnu")], "\u200c", "The dataset needs a name"),
        ([("a.txt", b"gnu")], "x" * 1_001, "The dataset needs a name"),
    ],
)
def test_what_cannot_be_taken_is_said_beside_the_form(
    client: httpx.Client, files: list[tuple[str, bytes]], dataset: str, message: str
) -> None:
    answer = bring(client, *files, dataset=dataset)
    refused(answer, message)
    assert "files" in [each.get("name") for each in Elements(answer.text).all("input")]


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


def test_a_body_that_is_too_large_is_refused(managed: Served) -> None:
    large = ("large.txt", b"x" * MAX_BODY)
    refused(bring(managed.by("all"), large), "200,000 bytes", 413)
    with new_client(
        managed.url, managed.keys["all"], origin=managed.url, accept="text/html,*/*;q=0.8"
    ) as browser:
        page = bring(browser, large)
        assert "200.0 kB" in browser.get("/documents").text  # the form said so before
    assert page.headers["content-type"].startswith("text/html")
    assert "At most 200,000 bytes" in words(page.text)
    assert page.headers["content-security-policy"] == "default-src 'none'"


@pytest.mark.parametrize("path", GETS)
def test_a_reading_key_has_none_of_it(managed: Served, path: str) -> None:
    refused(managed.by("reads").get(path), "the API key may only read", 403)
    assert managed.by().get(path).status_code == 401


@pytest.mark.parametrize("path", POSTS)
def test_what_a_key_may_not_change_stays(managed: Served, path: str) -> None:
    before = [row.to_dict() for row in managed.lexichord.list()]
    (closed,) = managed.lexichord.list(datasets=["closed"])
    form, own = posts("closed", closed.document_id)[path], POSTS[path]
    statuses = [managed.by(key).post(path, **form).status_code for key in ("reads", "narrow")]
    assert (statuses[0], statuses[1] in (403, 404)) == (403, True)
    for sent in (
        {"origin": "https://evil.example"},  # a form of another site
        {"origin": ""},
        {"sec-fetch-site": "cross-site"},
    ):
        assert managed.by("all").post(path, headers=sent, **own).status_code == 403
    assert [row.to_dict() for row in managed.lexichord.list()] == before


def test_to_write_and_to_delete_are_two_rights(managed: Served) -> None:
    deletes = {"/documents/delete", "/documents/delete-dataset"}
    forms = {"writes": deletes | {"/documents/move"}, "deletes": POSTS.keys() - deletes}
    shown = {"writes": {"upload", "metadata?"}, "deletes": {"delete?"}}
    for key, denied in forms.items():
        client = managed.by(key)
        page = client.get("/documents?dataset=open").text
        for name in ("upload", "metadata?", "delete?", "rename-dataset?"):
            if key == "deletes" or name != "rename-dataset?":
                assert (f"/documents/{name}" in page) == (name in shown[key]), (key, name)
        for path in denied:
            assert client.post(path, **POSTS[path]).status_code == 403
            if path not in ("/documents/upload", "/documents/new-dataset", "/documents/fetch"):
                got = client.get(path, params={"document": "lease.txt", "dataset": "open"})
                assert got.status_code == 403
    assert "/documents/move" not in managed.by("writes").get("/documents?dataset=open").text


def test_a_key_of_one_dataset_sees_and_fills_that_one(managed: Served) -> None:
    client, narrow = managed.by("all"), managed.by("narrow")
    assert "closed" not in words(narrow.get("/documents").text)
    for path in ("/documents", "/documents/delete-dataset"):
        assert narrow.get(path, params={"dataset": "closed"}).status_code == 403
    assert bring(narrow, ("a.txt", b"gnu"), dataset="closed").status_code == 403
    assert narrow.post("/documents/new-dataset", data={"dataset": "mine"}).status_code == 403
    assert "mine" not in {row.dataset for row in managed.lexichord.datasets()}
    for page in ("/", "/document/lease.txt", "/?q=zebra"):
        assert "/documents" in narrow.get(page).text
        assert "/documents" not in managed.by("reads").get(page).text
    (job,) = client.get("/v1/jobs?dataset=closed").json()["jobs"]
    for path in (f"/documents/runs/{job['job_id']}", f"/documents/runs/{job['job_id']}/events"):
        assert (client.get(path).status_code, narrow.get(path).status_code) == (200, 404)


def test_a_document_goes_after_it_was_asked_for(client: httpx.Client, managed: Served) -> None:
    managed.lexichord.ingest(documents=[LEASE, LICENCE], dataset="gone")
    (row, _) = managed.lexichord.list(datasets=["gone"])
    asked = words(client.get("/documents/delete", params={"document": row.document_id}).text)
    assert "Delete Office Lease?" in asked
    assert f"{row.characters} characters, its 3 chunks" in asked
    assert managed.lexichord.count(datasets=["gone"]) == 2
    data = {"document": row.document_id, "dataset": "gone"}
    answer = client.post("/documents/delete", data=data)
    assert (answer.status_code, answer.headers["location"]) == (303, "/documents?dataset=gone")
    assert "Office Lease" not in client.get(answer.headers["location"]).text
    assert client.post("/documents/delete", data=data).status_code == 404
    asked = words(client.get("/documents/delete-dataset?dataset=gone").text)
    assert "1 document with 1 chunk," in asked
    answer = client.post("/documents/delete-dataset", data={"dataset": "gone"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/documents")
    assert client.get("/documents/delete-dataset?dataset=gone").status_code == 404
    assert client.post("/documents/delete-dataset", data={"dataset": "gone"}).status_code == 404


def test_a_dataset_gets_another_name(client: httpx.Client, managed: Served) -> None:
    watched(client, bring(client, ("a.txt", b"gnu"), dataset="old"))
    page = Elements(client.get("/documents/rename-dataset?dataset=old").text)
    assert [each["value"] for each in page.all("input")] == ["old", "old"]
    data, new = {"dataset": "old", "new_name": " <b>new & old</b> "}, "<b>new & old</b>"
    listed = client.get(client.post("/documents/rename-dataset", data=data).headers["location"])
    assert f"Documents of {new}" in words(listed.text)
    (row,) = managed.lexichord.list(datasets=[new])
    assert row.uri == f"upload://{new}/a.txt"
    assert client.get("/documents/rename-dataset?dataset=old").status_code == 404
    for name, message in (("open", "There is a dataset open already"), (" ", "needs a name")):
        data = {"dataset": new, "new_name": name}
        refused(client.post("/documents/rename-dataset", data=data), message)
    for status in (303, 404):  # it has gone then
        data = {"dataset": new, "new_name": "b"}
        assert client.post("/documents/rename-dataset", data=data).status_code == status


def test_a_document_is_read_again_from_its_kept_bytes(
    client: httpx.Client, managed: Served
) -> None:
    for name, keep in (("kept.txt", {"keep": "1"}), ("gone.txt", {})):
        watched(client, bring(client, (name, b"zebra"), dataset="again", **keep))
    gone, kept = (row.document_id for row in managed.lexichord.list(datasets=["again"]))
    for document, status in ((kept, 200), (gone, 404)):
        assert client.get(f"/v1/documents/{document}/original").status_code == status
    assert "/documents/reread?" in client.get(f"/document/{kept}").text
    assert client.get(f"/documents/reread?document={kept}").status_code == 200
    answer = client.post("/documents/reread", data={"document": kept})
    assert outcomes(watched(client, answer)) == {"kept.txt": "stored anew 1 chunk"}
    answer = client.post("/documents/reread", data={"document": gone})
    refused(answer, "it was not kept; ingest its file again")
    job = client.post(f"/v1/documents/{kept}/reread")
    assert (job.status_code, job.json()["dataset"]) == (202, "again")


def test_addresses_are_fetched_of_the_hosts_that_are_named(
    managed: Served, client: httpx.Client, site: Site
) -> None:
    site.put("/a.html", "<title>Quokkas</title><p>Of the quokka.</p>")
    data = {"urls": f"{site.url}/a.html\n {site.url}/none", "dataset": "web", "keep": "1"}
    refused(client.post("/documents/fetch", data=data), "name hosts in LEXICHORD_FETCH_HOSTS")
    assert "/documents/fetch" not in client.get("/documents").text
    place = site.url.removeprefix("http://")
    with serve(managed.dsn, {"fetches": KEYS["all"]}, fetch_hosts=place) as other:
        asker = other.by("fetches")
        assert f"of {place}" in words(asker.get("/documents").text)
        done = watched(asker, asker.post("/documents/fetch", data=data))
        told = {"a.html": "stored 1 chunk", "none": "failed the server answers 404"}
        assert outcomes(done) == told
        sent = {"urls": [f"{site.url}/a.html"], "dataset": "web"}
        job = asker.post("/v1/documents:upload", data=sent)
        assert job.status_code == 202, job.text
        place = job.headers["location"]
        wait_until(lambda: asker.get(place).json()["state"] == "finished")
        assert asker.get(place).json()["skipped"] == 1
        for urls, message in (
            ("https://example.com/", "example.com is not among LEXICHORD_FETCH_HOSTS"),
            ("http://127.0.0.1:1/", "127.0.0.1:1 is not among LEXICHORD_FETCH_HOSTS"),
            ("file:///etc/passwd", "is no address of http or https"),
            ("s3://bucket/key", "is no address of http or https"),
            ("memory::sftp://host/key", "is no address of http or https"),
            (" ", "Send a file"),
        ):
            refused(asker.post("/documents/fetch", data={**data, "urls": urls}), message)
    (row,) = managed.lexichord.list(datasets=["web"])
    assert (row.uri, row.title) == (f"{site.url}/a.html", "Quokkas")
    assert managed.lexichord.reread(row.document_id).replaced == 1
    (reread,) = managed.lexichord.list(datasets=["web"])
    assert (reread.title, reread.metadata) == (row.title, row.metadata)


def test_a_document_moves_into_another_dataset(client: httpx.Client, managed: Served) -> None:
    for dataset, name in (("here", "a.txt"), ("here", "b.txt"), ("there", "b.txt")):
        watched(client, bring(client, (name, b"gnu"), dataset=dataset, keep="1"))
    one, two = (row.document_id for row in managed.lexichord.list(datasets=["here"]))
    page = client.get(f"/documents/move?document={one}").text
    assert {"here", "there"} <= {each.get("value") for each in Elements(page).all("option")}
    assert "/documents/move?" in client.get(f"/document/{one}").text
    answer = client.post("/documents/move", data={"document": one, "dataset": " there "})
    assert (answer.status_code, answer.headers["location"]) == (303, "/documents?dataset=there")
    assert "a.txt" in client.get(answer.headers["location"]).text
    assert client.get(f"/v1/documents/{one}/original").content == b"gnu"
    for name, message in (("there", "b.txt is in there already"), (" ", "needs a name")):
        data = {"document": two, "dataset": name}
        refused(client.post("/documents/move", data=data), message)
    assert client.post("/documents/move", data={**data, "document": "none"}).status_code == 404


def test_metadata_are_changed_and_what_others_changed_stays(
    client: httpx.Client, managed: Served
) -> None:
    core, lease = managed.lexichord, {**LEASE, "metadata": {"year": 2019, "team": "hr"}}
    core.ingest(documents=[lease], dataset="described")
    (row,) = core.list(datasets=["described"])
    form = Elements(client.get(f"/documents/metadata?document={row.document_id}").text)
    (before,) = (each["value"] for each in form.all("input") if each.get("name") == "before")
    core.set_metadata(row.document_id, {"seen": True})
    text = (before or "").replace("2019", "2024").replace('"hr"', "null")
    data = {"document": row.document_id, "before": before or "", "metadata": text}
    answer = client.post("/documents/metadata", data=data)
    assert answer.headers["location"] == f"/document/{row.document_id}"
    (row,) = core.list(datasets=["described"])
    assert row.metadata == {"language": "en", "year": 2024, "seen": True}
    for wrong in ("[1]", "{", '{"a": NaN}', '{"a": "\\ud800"}', "x" * 100_001):
        answer = client.post("/documents/metadata", data={**data, "metadata": wrong})
        refused(answer, "etadata")
    assert wrong in answer.text  # it can be mended


def test_changes_are_what_differs() -> None:
    before = {"a": 1, "b": [1], "c": None}
    assert metadata_changes(before, {"a": 1, "b": [2], "d": 4}) == {"b": [2], "c": None, "d": 4}
    assert metadata_changes(before, before) == {}


def test_a_dataset_is_shown_a_page_at_a_time(client: httpx.Client, managed: Served) -> None:
    many = [{"uri": f"{n:03}.txt", "chunks": [{"content": f"gnu {n}"}]} for n in range(120)]
    managed.lexichord.ingest(documents=many, dataset="many")
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
        refused(client.get(path), "Not there", 404)


def sections(client: httpx.Client, path: str) -> Generator[str]:
    """Give an ingest's part of the page from each event of one stream."""
    with client.stream("GET", path) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        assert answer.headers["cache-control"] == "no-store"
        for line in answer.iter_lines():
            if line.startswith("data: "):
                yield json.loads(line.removeprefix("data: "))["section"]


def test_an_ingest_tells_how_far_it_is_until_it_ends(client: httpx.Client) -> None:
    many = [(f"{n}.txt", b"A zebra has stripes. " * 2_000) for n in range(4)]
    place = bring(client, *many, dataset="told").headers["location"]
    told: list[str] = []
    while not told or "data-events" in told[-1]:  # one stream may end before the ingest does
        told += sections(client, f"{place}/events")
    assert "4 stored" in words(told[-1])
    assert len(outcomes(told[-1])) == 4
    assert told[-1] in client.get(place).text


def running_ingest(managed: Served) -> int:
    """Begin an ingest of a process that never says anything more of it."""
    core = managed.lexichord
    return core.run(store.start_run(core.core.database, "open", "elsewhere", 3))


def test_an_event_is_sent_only_when_something_changed(managed: Served) -> None:
    """And watching is one call on record."""
    run, core = running_ingest(managed), managed.lexichord
    made = core.create_key("watcher", writes=True)
    told = sections(managed.by(made.secret), f"/documents/runs/{run}/events")
    assert "0 of 3 files so far" in words(next(told))
    record = store.record_files(core.core.database, run, ["a.txt"], "failed", reason="is torn")
    core.run(record)
    second = next(told)
    assert "1 of 3 files so far: 1 failed" in words(second)
    assert outcomes(second) == {"a.txt": "failed is torn"}
    told.close()

    def kinds() -> list[str]:
        return [call.kind for call in core.list_calls() if call.key_id == made.key.key_id]

    wait_until(lambda: bool(kinds()))
    assert kinds() == ["job"]


def test_where_many_watch_each_is_told_once_and_asks_again(
    client: httpx.Client, managed: Served
) -> None:
    path = f"/documents/runs/{running_ingest(managed)}/events"
    watching = [sections(client, path) for _ in range(MAX_WATCHED_JOBS)]
    for each in watching:
        next(each)
    crowded = client.get(path).text  # it ends by itself
    assert crowded.startswith("retry: 2000")
    assert crowded.count("event: run") == 1
    for each in watching:
        each.close()


def test_how_what_failed_is_taken_up_again_is_said(
    client: httpx.Client, managed: Served, tmp_path: Path
) -> None:
    answer = bring(client, ("empty.txt", b""), dataset="torn")
    assert '<a href="/documents?dataset=torn">bring it again</a>' in watched(client, answer)
    link = f'<a href="{answer.headers["location"]}">Which, and why</a>'
    assert link in client.get("/").text
    first = managed.by("reads").get("/").text
    assert "Of the latest ingest 1 failed." in words(first)
    assert "Which, and why" not in first
    (tmp_path / "empty.txt").write_text("")
    report = managed.lexichord.ingest([tmp_path], dataset="it's mine")
    page = client.get(f"/documents/runs/{report.run_id}").text
    assert "lexichord ingest --retry-failed --dataset 'it'\"'\"'s mine'" in words(page)
    assert "bring it again" not in page


def test_an_empty_dataset_is_made_once(client: httpx.Client) -> None:
    answer = client.post("/documents/new-dataset", data={"dataset": " box "})
    assert (answer.status_code, answer.headers["location"]) == (303, "/documents?dataset=box")
    assert "box 0 0 Rename Delete" in words(client.get(answer.headers["location"]).text)
    names = dict.fromkeys(("", " ", "a\0b", "x" * 1_001), "The dataset needs a name")
    for name, message in {**names, "box": "There is a dataset of this name already"}.items():
        refused(client.post("/documents/new-dataset", data={"dataset": name}), message)
