"""Slides: hidden ones and hidden shapes, descriptions of pictures, comments, merged cells."""

from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from pptx import Presentation
from pptx.opc.constants import RELATIONSHIP_TYPE
from pptx.opc.package import Part
from pptx.opc.packuri import PackURI
from pptx.oxml import parse_xml
from pptx.util import Inches

from lexichord.ingest.load import load
from lexichord.ingest.load.marks import LoadOptions
from lexichord.types import LoadedText

BOX = (Inches(1), Inches(1), Inches(4), Inches(2))
OLD = 'xmlns="http://schemas.openxmlformats.org/presentationml/2006/main"'
NEW = (
    'xmlns="http://schemas.microsoft.com/office/powerpoint/2018/8/main" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
)
NEW_KIND = "http://schemas.microsoft.com/office/2018/10/relationships/"


@pytest.fixture
def deck() -> Any:
    return Presentation()


def written(tmp_path: Path, deck: Any, **options: Any) -> LoadedText:
    deck.save(str(tmp_path / "a.pptx"))
    return load(tmp_path / "a.pptx", LoadOptions(**options))


def add_slide(deck: Any, text: str) -> Any:
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    slide.shapes.add_textbox(*BOX).text_frame.text = text
    return slide


def test_a_hidden_slide_says_so_in_its_text(tmp_path: Path, deck: Any) -> None:
    add_slide(deck, "shown")
    for title in ("Harbour", ""):
        hidden = deck.slides.add_slide(deck.slide_layouts[5])
        hidden.shapes.title.text = title
        hidden.shapes.add_textbox(*BOX).text_frame.text = "dark"
        hidden.element.set("show", "0")
    loaded = written(tmp_path, deck)
    assert loaded.text == ("shown\n\nSlide 2 (hidden): Harbour\n\ndark\n\nSlide 3 (hidden)\n\ndark")
    assert len(loaded.pages) == 3
    kept = written(tmp_path, deck, hidden="keep")
    assert kept.text == "shown\n\nHarbour\n\ndark\n\ndark"
    dropped = written(tmp_path, deck, hidden="drop")
    assert (dropped.text, len(dropped.pages)) == ("shown", 3)
    assert dropped.metadata["flags"] == ["left out: 2 hidden slides"]


def test_pictures_and_hidden_shapes_are_told(tmp_path: Path, deck: Any) -> None:
    stream = BytesIO()
    Image.new("RGB", (4, 4)).save(stream, "PNG")
    slide = add_slide(deck, "shown")
    for described in ("Map of the\nberths", "map.png", ""):
        shape = slide.shapes.add_picture(stream, *BOX[:2])
        shape._element._nvXxPr.cNvPr.set("descr", described)
    for text in ("secret", ""):
        box = slide.shapes.add_textbox(*BOX)
        box.text_frame.text = text
        box.name = "Box"
        box._element._nvXxPr.cNvPr.set("hidden", "1")
    group = slide.shapes.add_group_shape()
    group._element._nvXxPr.cNvPr.set("descr", "Two boats")
    group.shapes.add_textbox(*BOX).text_frame.text = "grouped"
    group._element._nvXxPr.cNvPr.set("hidden", "1")
    frame = slide.shapes.add_table(1, 2, *BOX)
    frame.name = "Rents"
    frame.table.cell(0, 0).text, frame.table.cell(0, 1).text = "Gull", "9"
    frame._element._nvXxPr.cNvPr.set("hidden", "1")
    parts = ["shown", "Picture: Map of the berths", "secret (hidden)"]
    parts += ["Picture: Two boats (hidden)", "grouped (hidden)", "Rents (hidden)"]
    assert written(tmp_path, deck).text.split("\n\n") == [*parts, "| Gull | 9 |"]
    kept = written(tmp_path, deck, hidden="keep").text.split("\n\n")
    assert kept == [*parts[:2], "secret", "Picture: Two boats", "grouped", "| Gull | 9 |"]
    assert written(tmp_path, deck, hidden="drop").text.split("\n\n") == parts[:2]


def test_merged_cells_hold_in_each_row(tmp_path: Path, deck: Any) -> None:
    table = add_slide(deck, "shown").shapes.add_table(3, 3, *BOX).table
    for at, text in enumerate(("Coast", "Boats", "", "North", "Gull", "1", "", "Tern", "2")):
        table.cell(at // 3, at % 3).text = text
    table.cell(0, 1).merge(table.cell(0, 2))
    table.cell(1, 0).merge(table.cell(2, 0))
    rows = "| Coast | Boats |  |\n| --- | --- | --- |\n| North | Gull | 1 |\n| North | Tern | 2 |"
    assert written(tmp_path, deck).text.endswith(rows)


def relate(part: Any, kind: str, name: str, content: str) -> None:
    target = Part(PackURI(f"/ppt/{name}"), "application/xml", part.package, content.encode())
    part.relate_to(target, kind)


@pytest.mark.parametrize("is_new", [False, True])
def test_comments_follow_their_slide(tmp_path: Path, deck: Any, is_new: bool) -> None:
    slide = add_slide(deck, "shown")
    add_slide(deck, "last")
    words = "<txBody><a:p><a:r><a:t>{}</a:t></a:r></a:p></txBody>"
    day = "2026-03-04T10:00:00"
    if is_new:
        reply = f'<reply id="r" authorId="2" created="{day}">{words.format("Yes")}</reply>'
        said = f'<cm id="c" authorId="1" created="{day}"><replyLst>{reply}</replyLst>'
        said = f"<cmLst {NEW}>{said}{words.format('Too dark?')}</cm></cmLst>"
        people = (
            f'<authorLst {NEW}><author id="1" name="Ada"/><author id="2" name="Bo"/></authorLst>'
        )
        relate(deck.part, f"{NEW_KIND}authors", "authors.xml", people)
        relate(slide.part, f"{NEW_KIND}comments", "comments/a.xml", said)
    else:
        said = '<cm authorId="{}" dt="' + day + '"><text>{}</text></cm>'
        both = said.format(1, "Too dark?") + said.format(2, "Yes")
        people = '<cmAuthor id="1" name="Ada"/><cmAuthor id="2" name="Bo"/>'
        people = f"<cmAuthorLst {OLD}>{people}</cmAuthorLst>"
        relate(deck.part, RELATIONSHIP_TYPE.COMMENT_AUTHORS, "commentAuthors.xml", people)
        comments = f"<cmLst {OLD}>{both}</cmLst>"
        relate(slide.part, RELATIONSHIP_TYPE.COMMENTS, "comments/a.xml", comments)
    assert written(tmp_path, deck).text.split("\n\n") == [
        "shown",
        "Comment by Ada, 2026-03-04: Too dark?",
        "Comment by Bo, 2026-03-04: Yes",
        "last",
    ]
    dropped = written(tmp_path, deck, comments="drop")
    assert dropped.text == "shown\n\nlast"
    assert dropped.metadata["flags"] == ["left out: 2 comments"]


def test_the_words_of_a_diagram_are_read(tmp_path: Path) -> None:
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    spaces = (
        'xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram"'
        ' xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
        ' xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
        ' xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
    )
    words = "<a:p><a:r><a:t>{}</a:t></a:r><a:r><a:t> {}</a:t></a:r></a:p>"
    point = f"<dgm:pt><dgm:t>{words}</dgm:t></dgm:pt>"
    points = point.format("Buy", "rope") + "<dgm:pt/>" + point.format("Moor", "boat")
    content = f"<dgm:dataModel {spaces}><dgm:ptLst>{points}</dgm:ptLst></dgm:dataModel>"
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/diagramData"
    name = PackURI("/ppt/diagrams/data1.xml")
    data = Part(name, "application/xml", deck.part.package, content.encode())
    link = slide.part.relate_to(data, kind)
    frame = (
        f"<p:graphicFrame {spaces}><p:nvGraphicFramePr><p:cNvPr id='9' name='d'/>"
        "<p:cNvGraphicFramePr/><p:nvPr/></p:nvGraphicFramePr><p:xfrm/><a:graphic>"
        "<a:graphicData uri='http://schemas.openxmlformats.org/drawingml/2006/diagram'>"
        f"<dgm:relIds r:dm='{link}'/></a:graphicData></a:graphic></p:graphicFrame>"
    )
    slide.shapes._spTree.append(parse_xml(frame))
    deck.save(str(tmp_path / "a.pptx"))
    assert load(tmp_path / "a.pptx").text == "Buy rope\nMoor boat"
