"""Documents and files that are sent: stored by jobs that can be looked up; names are data."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from reportlab.lib import pdfencrypt

from lexichord.serve.limits import MAX_JOBS_OF_KEY
from tests.conftest import SAMPLES
from tests.documents import draw_pdf
from tests.end_to_end.processes import wait_until
from tests.http.conftest import Keyed
from tests.http.served import serve
from tests.http.server import Server, finished
from tests.unit.test_containers import packed

LEAVE = {
    "uri": "hr/leave.md",
    "text": "# Leave\n\nEverybody has 30 zebra days a year.",
    "media_type": "text/markdown",
    "metadata": {"year": 2026},
}


@pytest.fixture
def own(fresh: str, home: Path) -> Iterator[httpx.Client]:
    """A client of an empty server."""
    with serve(fresh, home=home) as served:
        yield served.by()


def send(client: httpx.Client, *documents: Any, dataset: str = "default") -> dict[str, Any]:
    answer = client.post("/v1/documents", json={"dataset": dataset, "documents": documents})
    assert answer.status_code == 202, answer.text
    assert answer.headers["location"] == f"/v1/jobs/{answer.json()['job_id']}"
    return finished(client, answer.json())


def upload(
    client: httpx.Client, *files: tuple[str, bytes], dataset: str = "default"
) -> httpx.Response:
    sent = [("files", file) for file in files]
    return client.post("/v1/documents:upload", files=sent, data={"dataset": dataset})


def uris(client: httpx.Client) -> list[str]:
    return [row["uri"] for row in client.get("/v1/documents").json()["documents"]]


def outcome(job: dict[str, Any]) -> tuple[int, int, int, int]:
    return job["inserted"], job["replaced"], job["skipped"], job["failed"]


def test_a_text_is_cut_stored_found_replaced_and_deleted(own: httpx.Client) -> None:
    assert outcome(send(own, LEAVE)) == (1, 0, 0, 0)
    body = {"query": "zebra days", "mode": "keyword", "filter": {"year": 2026}}
    (hit,) = own.post("/v1/search", json=body).json()["hits"]
    assert (hit["uri"], hit["title"], hit["dataset"]) == ("hr/leave.md", "Leave", "default")
    assert outcome(send(own, LEAVE)) == (0, 0, 1, 0)
    assert outcome(send(own, {**LEAVE, "metadata": {"year": 2027}})) == (0, 1, 0, 0)
    path = f"/v1/documents/{hit['document_id']}"
    assert own.get(path).json()["metadata"] == {"year": 2027, "language": "en"}
    assert own.delete(path).json() == {"deleted": 1}
    assert own.delete(path).status_code == 404
    assert uris(own) == []


def test_who_sends_an_encrypted_file_is_not_told_of_a_command(
    own: httpx.Client, tmp_path: Path
) -> None:
    encrypt = pdfencrypt.StandardEncryption("secret", strength=128)
    file = draw_pdf(tmp_path / "a.pdf", [[(60.0, 700.0, "The rent.")]], encrypt=encrypt)
    (reason,) = finished(own, upload(own, ("a.pdf", file.read_bytes())).json())["failures"].values()
    assert reason == (
        "is encrypted: save it without a password, or set LEXICHORD_FILE_PASSWORD where lexichord "
        "runs"
    )


def test_a_document_may_come_with_its_chunks(own: httpx.Client) -> None:
    source = {"uri": "a", "title": "A", "chunks": [{"content": "yak"}, {"content": "gnu"}]}
    assert outcome(send(own, source, dataset="zoo")) == (1, 0, 0, 0)
    (row,) = own.get("/v1/documents", params={"dataset": "zoo"}).json()["documents"]
    shown = own.get(f"/v1/documents/{row['document_id']}").json()
    assert (shown["text"], len(shown["chunks"])) == ("yak\n\ngnu", 2)


def test_what_is_wrong_with_a_document_is_said_before_or_in_the_job(own: httpx.Client) -> None:
    for wrong in ({"uri": "a"}, {"uri": "a", "text": " "}, {"uri": "a", "txt": "b"}, {"text": "b"}):
        answer = own.post("/v1/documents", json={"documents": [wrong]})
        assert answer.status_code in (400, 422)
        assert answer.json()["error"]["param"].startswith("documents.0")
    misplaced = {"uri": "b", "text": "gnu", "chunks": [{"content": "yak"}]}
    job = send(own, LEAVE, misplaced)
    assert outcome(job) == (1, 0, 0, 1)
    assert "does not stand in the text" in job["failures"]["b"]


def test_a_file_sent_again_replaces_the_one_of_its_name(own: httpx.Client) -> None:
    policy = next(SAMPLES.glob("policies/data-*.md")).read_bytes()
    answer = upload(own, ("data.md", policy), ("notes.txt", b"zebra"), dataset="hb")
    assert answer.status_code == 202
    assert outcome(finished(own, answer.json())) == (2, 0, 0, 0)
    assert uris(own) == ["upload://hb/data.md", "upload://hb/notes.txt"]
    again = upload(own, ("data.md", policy), ("notes.txt", b"yak"), dataset="hb").json()
    assert outcome(finished(own, again)) == (0, 1, 1, 0)
    rows = own.get("/v1/documents").json()["documents"]
    shown = [own.get(f"/v1/documents/{row['document_id']}").json() for row in rows]
    assert shown[0]["text"] == policy.decode()
    assert (shown[1]["title"], shown[1]["text"]) == ("notes", "yak")


def test_a_name_is_data_and_leads_nowhere(own: httpx.Client) -> None:
    for name in ("../x.txt", "a/../../x.txt", "..\\x.txt", "..", "x" * 300 + ".txt"):
        answer = upload(own, (name, b"zebra"))
        assert answer.status_code == 400, (name, answer.text)
    odd = ["<b>ü 日.txt", "-rf.txt", "$(id).txt", ".txt.md"]
    names = ["/etc/passwd.txt", "a/b.txt", "c:\\d\\e.txt", *odd]
    answer = upload(own, *((name, f"zebra {name}".encode()) for name in names))
    job = finished(own, answer.json())
    assert outcome(job) == (len(names), 0, 0, 0), job
    expected = ["etc/passwd.txt", "a/b.txt", "e.txt", *odd]
    assert sorted(uris(own)) == sorted(f"upload://default/{name}" for name in expected)
    assert upload(own, ("a.txt", b"x"), ("./a.txt", b"y")).status_code == 400


def test_a_file_that_cannot_be_read_fails_in_its_job_alone(own: httpx.Client) -> None:
    files = ("a.xyz", b"\0"), ("b.pdf", b"no pdf"), ("c.txt", b"zebra"), ("d.txt", b"")
    job = finished(own, upload(own, *files).json())
    assert outcome(job) == (1, 0, 0, 3)
    failed = {f"upload://default/{name}" for name in ("a.xyz", "b.pdf", "d.txt")}
    assert set(job["failures"]) == failed
    assert "/tmp" not in json.dumps(job)
    assert uris(own) == ["upload://default/c.txt"]


def test_what_was_taken_is_stored_before_the_server_stops(
    fresh: str, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is left of sent files, and a job outlives the server that ran it."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    many = [{"uri": f"d{number}", "text": f"zebra {number}. " * 20} for number in range(150)]
    with Server(fresh, home) as server, server.client() as client:
        job = finished(client, upload(client, ("a.txt", b"zebra"), ("b.bin", b"\0")).json())
        assert outcome(job) == (1, 0, 0, 1)
        wait_until(lambda: not [*tmp_path.glob("lex*")])  # soon after the job has ended
        answer = client.post("/v1/documents", json={"documents": many})
        assert answer.json()["done"] < len(many)
        assert server.end() == 0
        assert "waiting up to" in server.log()
    with serve(fresh, home=home) as other:
        assert other.lexichord.count() == len(many) + 1
        assert other.lexichord.status().runs[0].state == "finished"
        assert other.by().get(f"/v1/jobs/{job['job_id']}").json() == job


def test_more_ingests_than_places_wait_for_one(own: httpx.Client) -> None:
    def one(number: int) -> int:
        document = {"uri": f"d{number}", "text": f"zebra {number}"}
        return own.post("/v1/documents", json={"documents": [document]}).status_code

    with ThreadPoolExecutor(6) as pool:
        assert [*pool.map(one, range(6))] == [202] * 6
    wait_until(lambda: len(uris(own)) >= 6)


def test_a_key_sees_the_jobs_of_its_datasets_only(keyed: Keyed) -> None:
    ann, cy = keyed.by("everything"), keyed.by("writer")
    closed = send(ann, {"uri": "closed/x", "text": "x"}, dataset="closed")
    opened = send(cy, {"uri": "open/x", "text": "x"}, dataset="open")
    assert {job["dataset"] for job in cy.get("/v1/jobs").json()["jobs"]} == {"open"}
    assert cy.get(f"/v1/jobs/{closed['job_id']}").status_code == 404
    assert cy.get("/v1/jobs", params={"dataset": "closed"}).status_code == 403
    assert ann.get(f"/v1/jobs/{closed['job_id']}").json() == closed
    latest = ann.get("/v1/jobs", params={"limit": 2}).json()["jobs"]
    assert [job["job_id"] for job in latest] == [opened["job_id"], closed["job_id"]]


def test_metadata_come_with_files_are_changed_and_counted(own: httpx.Client) -> None:
    files: list[tuple[str, Any]] = [
        ("files", ("notes", b"# Zebra", "text/markdown")),
        ("files", ("a.png", b"\x89")),
    ]
    data = {"metadata": '{"year": 2026}'}
    answer = own.post("/v1/documents:upload", files=files, data=data)
    job = finished(own, answer.json())
    assert (job["inserted"], job["unread"]) == (1, {})
    assert job["failures"]["upload://default/a.png"].startswith("'.png' is no kind")
    (row,) = own.get("/v1/documents", params={"filter": '{"title": "Zebra"}'}).json()["documents"]
    assert (row["uri"], row["metadata"]) == ("upload://default/notes", {"year": 2026})
    path = f"/v1/documents/{row['document_id']}"
    changed = own.patch(path, json={"metadata": {"year": None, "team": "hr"}})
    assert changed.json() == {"metadata": {"team": "hr"}}
    counted = own.get("/v1/documents:count", params={"by": "media_type"}).json()
    assert counted == {"facets": [{"value": "text/markdown", "documents": 1}]}
    wrong = own.post("/v1/documents:upload", files=files, data={"metadata": "[1]"})
    assert wrong.status_code == 400
    assert own.get("/v1/documents:count", params={"by": "colour"}).status_code == 400


def test_a_field_of_an_upload_that_nobody_reads_is_refused(own: httpx.Client) -> None:
    sent = {"files": ("a.md", b"# A")}
    answer = own.post("/v1/documents:upload", files=sent, data={"datset": "hr"})
    assert answer.status_code == 422
    assert answer.json()["error"]["message"] == "datset: there is no such field here"
    assert uris(own) == []


def test_a_job_names_the_kinds_of_an_archive_that_were_not_read(own: httpx.Client) -> None:
    data = packed({"a.md": "# Zebra", "b.png": b"x", "c.bin": b"x"})
    job = finished(own, upload(own, ("all.zip", data)).json())
    assert (job["inserted"], job["unread"]) == (1, {".png": 1, ".bin": 1})
    assert uris(own) == ["upload://default/all.zip/a.md"]


def test_a_job_that_is_cancelled_ends_amid_a_file(
    own: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lexichord.ingest.flow.RUN_HEARTBEAT_SECONDS", 0.2)
    slow = b"The rent is due on each first day. " * 700_000  # takes seconds, and hundreds of MB
    jobs = [upload(own, ("slow.txt", slow)).json() for _ in range(MAX_JOBS_OF_KEY)]
    for job in jobs:
        cancelled = own.delete(f"/v1/jobs/{job['job_id']}")
        assert (cancelled.status_code, cancelled.json()["state"]) == (200, "running")
    body = {"documents": [LEAVE]}  # has a place, for they have given back theirs
    wait_until(lambda: own.post("/v1/documents", json=body).status_code == 202)
    wait_until(lambda: uris(own) == ["hr/leave.md"])
    for job in jobs:
        ended = own.get(f"/v1/jobs/{job['job_id']}").json()
        assert (ended["state"], *outcome(ended)) == ("interrupted", 0, 0, 0, 0)


def test_a_job_that_has_ended_stays_as_it_is(own: httpx.Client) -> None:
    job = send(own, LEAVE)
    assert own.delete(f"/v1/jobs/{job['job_id']}").json()["state"] == "finished"
    assert own.delete("/v1/jobs/99999").status_code == 404
