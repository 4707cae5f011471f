"""A folder of files that nobody would wish for, and questions nobody should ask."""

from pathlib import Path

import pytest
from reportlab.lib import pdfencrypt

from lexichord import SyncLexichord
from tests.documents import draw_pdf

SIGNS = "".join(map(chr, range(33, 127)))
QUESTIONS = [
    "the of and to",
    "notice " * 15_000,
    "'; drop table lexichord_data.chunk; --",
    'term AND (notice OR "period") NOT w:* & | ! <->',
    SIGNS,
    "契約の期間は何年ですか",
    "🎉 👩‍👩‍👧 ☃",
    "\u202enotice\u200b period\u2066",
    "%s %(name)s {0} $1",
]


@pytest.mark.parametrize("question", QUESTIONS, ids=range(len(QUESTIONS)))
def test_any_question_gets_an_answer(question: str, samples: SyncLexichord) -> None:
    for ask in (samples.search, samples.files, samples.query):
        ask(question)
    if "notice" in question:
        assert samples.search(question, mode="keyword").hits


def test_each_bad_file_says_why_and_the_good_one_is_stored(
    prepared_home: Path, tmp_path: Path
) -> None:
    bad = {
        "empty.txt": (b"", "holds no text"),
        "blank.md": (b" \n\t ", "holds no text"),
        "binary.txt": (bytes(range(256)) * 20, "is binary"),
        "nul.txt": (b"a\0b", "NUL"),
        "garbage.pdf": (b"not a PDF at all", "is no PDF"),
        "old.docx": (bytes.fromhex("D0CF11E0A1B11AE1") + b"x" * 600, "is encrypted or an old .doc"),
        "broken.docx": (b"PK\x03\x04 not a zip", "is no DOCX"),
        "none.html": (b"<html><body></body></html>", "holds no text"),
    }
    for name, (content, _) in bad.items():
        (tmp_path / name).write_bytes(content)
    lock = pdfencrypt.StandardEncryption("secret", strength=128)
    draw_pdf(tmp_path / "secret.pdf", [[(60, 700, "Nobody may read this.")]], encrypt=lock)
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "nowhere.txt").symlink_to(tmp_path / "missing")
    good = tmp_path / 'it\'s "good"\n%41.txt'
    good.write_bytes("Caf\u00e9 \u202eterm\u200b".encode())
    with SyncLexichord(home=prepared_home) as lexichord:
        report = lexichord.ingest([tmp_path])
        stored = lexichord.show(good.as_posix())
    assert report.inserted == 1
    assert stored.text == "Caf\u00e9 \u202eterm\u200b"
    assert stored.document.metadata["flags"] == [
        "zero-width characters",
        "bidirectional characters",
    ]
    reasons = {Path(uri).name: reason for uri, reason in report.failed.items()}
    for name, (_, reason) in bad.items():
        assert reason in reasons.pop(name)
    assert "is encrypted" in reasons.pop("secret.pdf")
    assert "cannot be read" in reasons.pop("missing")
    assert not reasons
