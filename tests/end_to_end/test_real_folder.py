"""A folder of real files, asked through every surface: what is read has its place, all a name."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import openai
import psycopg
import pytest

from lexichord import SyncLexichord
from lexichord.db import schema
from lexichord.providers.embed.local import LocalEmbedder
from lexichord.types import ChunkHit
from mcp import Client
from tests.conftest import ROOT, SPACE, new_database
from tests.http.server import Server
from tests.mcp.serving import Place, call, over_stdio

FILES = (ROOT.parent / "shared" / "data" / "real-files").resolve()
CHOSEN = (
    "unstructured/stanley-cups.xlsx",
    "unstructured/2023-half-year-analyses-by-segment.xlsx",
    "unstructured/tests-example.xls",
    "unstructured/table-multi-row-column-cells-actual.csv",
    "unstructured/simple.pptx",
    "unstructured/sample-presentation.pptx",
    "unstructured/science-exploration-1p.pptx",
    "unstructured/eml/family-day.eml",
    "unstructured/eml/mime-html-only.eml",
    "unstructured/eml/email-replace-mime-encodings-error-1.eml",
    "unstructured/fake-email-attachment.msg",
    "unstructured/pdf/single_table.pdf",
    "unstructured/pdf/reliance.pdf",
    "unstructured/img/DA-1p.png",
    "unstructured/fake.doc",
    "unstructured/empty.txt",
)
SHEET, PDF = "vnd.openxmlformats-officedocument.spreadsheetml.sheet", "application/pdf"
SHEET_TYPE = f"application/{SHEET}"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not FILES.is_dir(), reason=f"no files in {FILES}"),
]
scanning = pytest.mark.skipif(not shutil.which("tesseract"), reason="no tesseract on PATH")


@dataclass(frozen=True)
class Office:
    """A folder that was ingested by the command line, and what that said."""

    dsn: str
    home: Path
    folder: Path
    report: dict[str, Any]

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return lexichord_cli(self.dsn, self.home, *arguments)

    def names(self, uris: Any) -> set[str]:
        return {Path(uri).name for uri in uris}


def lexichord_cli(dsn: str, home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "lexichord", *arguments, "--dsn", dsn]
    environment = os.environ | {"LEXICHORD_HOME": str(home), "COLUMNS": "400"}
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=900
    )


@pytest.fixture(scope="module")
def office(
    embedded_dsn: str, embedder: LocalEmbedder, home: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Office]:
    folder = tmp_path_factory.mktemp("office")
    for name in CHOSEN:
        shutil.copy(FILES / name, folder)
    ocr = ["--ocr", "tesseract/eng"] if shutil.which("tesseract") else []
    with new_database(embedded_dsn) as dsn:
        schema.prepare(dsn, schema.Choice())
        done = lexichord_cli(dsn, home, "ingest", str(folder), "--json", *ocr)
        assert done.returncode == 1, done.stderr  # a text without words is among them
        yield Office(dsn, home, folder, json.loads(done.stdout))


@pytest.fixture(scope="module")
def lexichord(office: Office) -> Iterator[SyncLexichord]:
    with SyncLexichord(dsn=office.dsn, home=office.home) as lexichord:
        yield lexichord


def best(lexichord: SyncLexichord, question: str) -> ChunkHit:
    """The first hit, by the whole pipeline, of a question to all documents."""
    return lexichord.query(question).hits[0]


def test_a_question_to_a_sheet_finds_its_sheet_and_rows(lexichord: SyncLexichord) -> None:
    hit = best(lexichord, "How many Stanley Cups did the Maple Leafs win since 1967?")
    assert hit.uri.endswith("/stanley-cups.xlsx")
    assert re.fullmatch(r"Sheet Stanley Cups( Since 67)? › rows \d–\d", hit.heading)
    assert "Maple Leafs" in hit.content
    hit = best(lexichord, "What does the abbreviation FIB_PLUS stand for in a Blackboard test?")
    assert hit.heading == "Sheet Format Abbr. › rows 4–22"
    hit = best(lexichord, "How accurate were participants with low vision?")
    assert (hit.heading, hit.uri.rpartition("/")[2]) == ("rows 1–6", CHOSEN[3].rpartition("/")[2])


def test_a_question_to_a_slide_finds_its_slide(lexichord: SyncLexichord) -> None:
    hit = best(lexichord, "Where have all the flowers gone?")
    assert (hit.uri.rpartition("/")[2], hit.page) == ("simple.pptx", 2)
    assert hit.heading == "Slide 2: Things to think about"
    hit = best(lexichord, "Which code is the Solar System Exploration Division?")
    assert (hit.uri.rpartition("/")[2], hit.page) == ("science-exploration-1p.pptx", 1)


def test_a_question_to_a_mail_finds_the_message_and_what_is_attached(
    lexichord: SyncLexichord,
) -> None:
    hit = best(lexichord, "What will there be at the first annual family day?")
    assert hit.uri.endswith("/family-day.eml")
    assert "petting zoo" in hit.content
    assert lexichord.show(hit.document_id).document.metadata["author"].startswith("Mallori Harrell")
    hit = best(lexichord, "What does the fake attachment of the mail with attachment hold?")
    assert "/fake-email-attachment.msg" in hit.uri
    attached = [row.uri for row in lexichord.list() if "attachment.msg/" in row.uri]
    assert [uri.rpartition("/")[2] for uri in attached] == ["fake-attachment.txt"]


@scanning
def test_a_question_to_a_scanned_page_finds_its_page(lexichord: SyncLexichord) -> None:
    scan = lexichord.show("single_table.pdf").document
    assert 0.5 < scan.metadata["ocr_confidence"]["1"] <= 1
    words = lexichord.show(scan.document_id).text
    hit = best(lexichord, "How many total chunks does processing by Base 128 give?")
    assert (hit.document_id, hit.page) == (scan.document_id, 1), words


def test_offsets_are_exact_for_every_kind(lexichord: SyncLexichord, office: Office) -> None:
    stored = lexichord.list()
    assert len(stored) >= len(CHOSEN) - 4
    for row in stored:
        shown = lexichord.show(row.document_id)
        for chunk in shown.chunks:
            assert shown.text[chunk.start : chunk.end] == chunk.content, row.uri


def test_filters_and_counts_are_the_same_on_every_surface(
    lexichord: SyncLexichord, office: Office
) -> None:
    sheets = {"stanley-cups.xlsx", Path(CHOSEN[1]).name}
    wanted = {"media_type": SHEET_TYPE}
    counted = {facet.value: facet.documents for facet in lexichord.count_by("media_type")}
    assert (counted[SHEET_TYPE], counted["message/rfc822"]) == (2, 3)
    shown = office.run("metadata", "count", "media_type", "--json")
    assert {row["value"]: row["documents"] for row in json.loads(shown.stdout)["facets"]} == counted
    found = office.run("search", "sales", "--filter", json.dumps(wanted), "--json")
    assert office.names(hit["uri"] for hit in json.loads(found.stdout)["hits"]) <= sheets
    with psycopg.connect(office.dsn) as connection:
        rows = connection.execute(
            "select value #>> '{}', documents_with from lexichord.count_by('media_type')"
        ).fetchall()
        assert dict(rows) == counted
        rows = connection.execute(
            "select uri from lexichord.hybrid_search('sales', filter => %s)", [json.dumps(wanted)]
        ).fetchall()
        assert office.names(row[0] for row in rows) <= sheets


def test_http_and_its_foreign_shapes_filter_and_count(office: Office) -> None:
    sheets = {"stanley-cups.xlsx", Path(CHOSEN[1]).name}
    with Server(office.dsn, office.home) as server, server.client() as client:
        counted = client.get("/v1/documents:count", params={"by": "media_type"}).json()["facets"]
        assert {"value": SHEET_TYPE, "documents": 2} in counted
        body = {"query": "Zone EUR sales", "filter": {"media_type": SHEET_TYPE}}
        hits = client.post("/v1/search", json=body).json()["hits"]
        assert office.names(hit["uri"] for hit in hits) <= sheets
        assert all(hit["heading"].startswith("Sheet ") for hit in hits)
        condition = {"name": "media_type", "comparison_operator": "is", "value": SHEET_TYPE}
        asked: dict[str, Any] = {"knowledge_id": "default", "query": "Zone EUR sales"}
        asked |= {"metadata_condition": {"conditions": [condition]}}
        records = client.post("/retrieval", json=asked).json()["records"]
        assert records
        for record in records:
            assert record["metadata"]["media_type"] == SHEET_TYPE
            assert record["metadata"]["folder"] == str(office.folder)
            assert record["metadata"]["heading"].startswith("Sheet ")
        with openai.OpenAI(api_key=_key(office), base_url=f"{server.url}/v1") as other:
            compared: Any = {"type": "eq", "key": "media_type", "value": SHEET_TYPE}
            page = other.vector_stores.search("default", query="Zone EUR sales", filters=compared)
            results = list(page)
        assert results
        assert {str((each.attributes or {})["media_type"]) for each in results} == {SHEET_TYPE}
        assert {each.filename for each in results} <= sheets


async def test_mcp_filters_and_counts(office: Office) -> None:
    wanted = {"media_type": SHEET_TYPE}
    async with over_stdio(Place(office.dsn, office.home)) as client:
        await _check_tools(client, wanted)


async def _check_tools(client: Client, wanted: dict[str, str]) -> None:
    counted = await call(client, "file_count", by="media_type")
    assert {"value": SHEET_TYPE, "documents": 2} in counted["facets"]
    found = await call(client, "retriever", query="Zone EUR sales", filter=wanted)
    assert {hit["heading"][:6] for hit in found["result"]} == {"Sheet "}
    listed = await call(client, "file_lister", filter=wanted)
    assert listed["total_files"] == 2


def test_a_whole_run_ends_by_naming_every_file_not_read(embedded_dsn: str, tmp_path: Path) -> None:
    """Without vectors, which take most of the time and change nothing of what is read."""
    with new_database(embedded_dsn) as dsn:
        schema.prepare(dsn, schema.Choice("plain", None, SPACE))
        done = lexichord_cli(dsn, tmp_path, "ingest", str(FILES))
        assert done.returncode == 1  # some of these files are broken, and that is said
        said = done.stderr[done.stderr.index("not read, failed: ") :]
        with SyncLexichord(dsn=dsn, home=tmp_path) as lexichord:
            stored = {row.uri for row in lexichord.list()}
    files = {path.as_posix() for path in FILES.rglob("*") if path.is_file()}
    passed = {name for name in files - stored if f"{name}, " in said or f"{name}\n" in said}
    containers = {name for name in files if name.endswith(".zip")}  # their files are documents
    assert files - stored - passed - containers == set()
    assert len(stored & files) > 200


def _key(office: Office) -> str:
    with SyncLexichord(dsn=office.dsn, home=office.home) as lexichord:
        return lexichord.create_key("test").secret
