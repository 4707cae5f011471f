"""A folder of real files: what is read has its place, and all that is not has a name."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from lexichord import SyncLexichord
from lexichord.db import schema
from lexichord.types import ChunkHit
from tests.conftest import ROOT, SPACE, new_database
from tests.end_to_end.processes import run_cli

FILES = (ROOT.parent / "shared" / "data" / "real-files").resolve()
LEFT_OUT = ("*.pdf", "*.png", "*.jpg")  # most of the time goes into these

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not FILES.is_dir(), reason=f"no files in {FILES}"),
]


@pytest.fixture(scope="module")
def lexichord(
    embedded_dsn: str, home: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SyncLexichord]:
    """Without vectors, which change nothing of what is read."""
    folder = tmp_path_factory.mktemp("office") / "files"
    shutil.copytree(FILES, folder, ignore=shutil.ignore_patterns(*LEFT_OUT))
    with new_database(embedded_dsn) as dsn:
        schema.prepare(dsn, schema.Choice("plain", None, SPACE))
        done = run_cli(dsn, home, "ingest", str(folder))
        assert done.exit_code == 1  # some of these files are broken, and that is said
        said = done.stderr[done.stderr.index("not read, failed: ") :]
        with SyncLexichord(dsn=dsn, home=home) as lexichord:
            stored = {row.uri for row in lexichord.list()}
            files = {path.as_posix() for path in folder.rglob("*") if path.is_file()}
            named = {each for each in files if f"{each}, " in said or f"{each}\n" in said}
            containers = {each for each in files if each.endswith(".zip")}  # documents are in them
            assert files - stored - named - containers == set()
            assert len(stored & files) > 100
            yield lexichord


def best(lexichord: SyncLexichord, words: str, name: str) -> ChunkHit:
    (uri,) = [row.uri for row in lexichord.list() if row.uri.endswith(f"/{name}")]
    return lexichord.search(words, documents=[uri], mode="keyword", k=1).hits[0]


def test_a_hit_says_where_it_stands(lexichord: SyncLexichord) -> None:
    hit = best(lexichord, "Maple Leafs", "stanley-cups.xlsx")
    assert re.fullmatch(r"Sheet Stanley Cups( Since 67)? › rows \d–\d", hit.heading)
    hit = best(lexichord, "low vision", "table-multi-row-column-cells-actual.csv")
    assert hit.heading == "rows 1–6"
    hit = best(lexichord, "Where have all the flowers gone", "simple.pptx")
    assert (hit.heading, hit.page) == ("Slide 2: Things to think about", 2)
    hit = best(lexichord, "petting zoo", "family-day.eml")
    assert lexichord.show(hit.document_id).document.metadata["author"].startswith("Mallori Harrell")
    assert any("attachment.msg/fake-attachment.txt" in row.uri for row in lexichord.list())


def test_offsets_are_exact_for_every_kind(lexichord: SyncLexichord) -> None:
    for row in lexichord.list():
        shown = lexichord.show(row.document_id)
        for chunk in shown.chunks:
            assert shown.text[chunk.start : chunk.end] == chunk.content, row.uri
