"""PDF: what people said about pages, and what is said of pictures."""

from pathlib import Path
from typing import Any

from reportlab.pdfbase.pdfdoc import PDFDictionary, PDFName, PDFString
from reportlab.pdfgen.canvas import Canvas

from lexichord.ingest.load import load
from lexichord.ingest.load.marks import LoadOptions
from lexichord.types import LoadedText


def annotate(canvas: Canvas, kind: str, text: str, **more: Any) -> None:
    entries = {
        "Type": PDFName("Annot"),
        "Subtype": PDFName(kind),
        "Contents": PDFString(text),
        "Rect": "[10 10 30 30]",
        **more,
    }
    canvas._addAnnotation(PDFDictionary(entries))


def written(canvas: Canvas, **options: Any) -> LoadedText:
    canvas.save()
    return load(Path(canvas._filename), LoadOptions(**options))


def draw(canvas: Canvas) -> None:
    """Draw three pages, the first with comments; its last sentence goes on on the second."""
    signed = {"T": PDFString("Ada Berg"), "M": PDFString("D:20260304100000Z")}
    canvas.drawString(60, 700, "The berth is let for")
    annotate(canvas, "Text", "Why so long?\r\nAsk Bo.", **signed)
    annotate(canvas, "Highlight", "Check this.")
    annotate(canvas, "FreeText", "The berth")
    annotate(canvas, "Text", "Old remark", F=2)
    annotate(canvas, "Link", "to the map")
    annotate(canvas, "Popup", "Why so long?")
    canvas.showPage()
    canvas.drawString(60, 700, "one year.")
    canvas.showPage()
    canvas.drawString(60, 700, "Signed.")


COMMENTS = [
    "Comment by Ada Berg, 2026-03-04: Why so long?\nAsk Bo.",
    "Comment: Check this.",
    "Comment: Old remark (hidden)",
]


def test_comments_follow_the_text_of_their_page(canvas: Canvas) -> None:
    draw(canvas)
    loaded = written(canvas)
    pages = ["The berth is let for", *COMMENTS, "one year.", "Signed."]
    assert loaded.text.split("\n\n") == pages
    assert [loaded.text[start:].split()[0] for start in loaded.pages] == ["The", "one", "Signed."]


def test_comments_may_be_left_out(canvas: Canvas) -> None:
    draw(canvas)
    loaded = written(canvas, comments="drop")
    assert loaded.text == "The berth is let for\none year.\n\nSigned."
    assert loaded.metadata["flags"] == ["left out: 3 comments"]


def test_comments_on_a_form_are_read_once(canvas: Canvas) -> None:
    canvas.drawString(60, 700, "Name of the boat")
    canvas.acroForm.textfield(name="boat", value="Gull", x=60, y=640, width=200, height=20)
    annotate(canvas, "Text", "Which one?")
    text = written(canvas).text
    assert "Gull" in text
    assert text.endswith("\n\nComment: Which one?")
    assert text.count("Which one?") == 1


def tagged(file: Path) -> Path:
    """Write a page with a picture that its structure describes."""
    stream = b"BT /F 12 Tf 60 700 Td (See below.) Tj ET /Figure <</MCID 0>> BDC 9 9 9 9 re f EMC"
    objects = [
        b"<</Type/Catalog/Pages 2 0 R/MarkInfo<</Marked true>>/StructTreeRoot 6 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/StructParents 0"
        b"/Resources<</Font<</F 5 0 R>>>>>>",
        b"<</Length %d>>stream\n%s\nendstream" % (len(stream), stream),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        b"<</Type/StructTreeRoot/K 7 0 R/ParentTree<</Nums[0[8 0 R]]>>>>",
        b"<</Type/StructElem/S/Document/P 6 0 R/K 8 0 R>>",
        b"<</Type/StructElem/S/Figure/P 7 0 R/Pg 3 0 R/K 0/Alt(Map of the berths)>>",
    ]
    content, places = b"%PDF-1.7\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(content))
        content += b"%d 0 obj%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size, end = len(objects) + 1, len(content)
    content += b"xref\n0 %d\n0000000000 65535 f \n%s" % (size, table)
    content += b"trailer<</Size %d/Root 1 0 R>>startxref\n%d\n" % (size, end)
    file.write_bytes(content + b"%%EOF")
    return file


def test_what_a_tagged_page_says_of_a_picture_is_text(tmp_path: Path) -> None:
    assert load(tagged(tmp_path / "a.pdf")).text == "See below.\n\nPicture: Map of the berths"
