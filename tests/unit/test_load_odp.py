"""OpenDocument presentations: slides, hidden ones, notes, comments, pictures, tables."""

import zipfile
from pathlib import Path
from typing import Any

import pytest

from lexichord.errors import IngestError
from lexichord.ingest.load import load
from lexichord.ingest.load.marks import LoadOptions
from lexichord.types import LoadedText
from tests.unit.test_load_odt_marks import ODF, SPACES

CONTENT = (
    f'<office:document-content {SPACES} xmlns:presentation="{ODF}presentation:1.0">'
    '<office:automatic-styles><style:style style:name="dp2"><style:drawing-page-properties'
    ' presentation:visibility="hidden"/></style:style></office:automatic-styles><office:body>'
    "<office:presentation>{}</office:presentation></office:body></office:document-content>"
)
SLIDES = (
    "<draw:page><draw:frame><draw:text-box><text:list><text:list-item><text:p>Boats</text:p>"
    "</text:list-item></text:list></draw:text-box></draw:frame>"
    '<draw:frame presentation:class="title"><draw:text-box><text:p>Pier</text:p>'
    "<text:p>Two</text:p></draw:text-box></draw:frame><draw:g><draw:custom-shape><text:p>Depth</text:p>"
    "<text:p>9 m</text:p></draw:custom-shape></draw:g><draw:frame><table:table>"
    "<table:table-row><table:table-cell>"
    "<text:p>Gull</text:p></table:table-cell></table:table-row></table:table><draw:image/>"
    "</draw:frame><draw:frame><draw:image/><svg:desc>Map of berths</svg:desc></draw:frame>"
    "<office:annotation><dc:creator>Ada</dc:creator><dc:date>2026-03-04T10:00:00</dc:date>"
    "<text:p>Why?</text:p></office:annotation><presentation:notes><draw:page-thumbnail/>"
    '<draw:frame presentation:class="notes"><draw:text-box><text:p>Say it.</text:p></draw:text-box>'
    '</draw:frame></presentation:notes></draw:page><draw:page draw:style-name="dp2">'
    "<draw:frame><draw:text-box>"
    "<text:p>Old berth</text:p></draw:text-box></draw:frame></draw:page>"
)


def written(tmp_path: Path, slides: str, **options: Any) -> LoadedText:
    with zipfile.ZipFile(tmp_path / "a.odp", "w") as archive:
        archive.writestr("META-INF/manifest.xml", "<manifest/>")
        archive.writestr("content.xml", CONTENT.format(slides))
    return load(tmp_path / "a.odp", LoadOptions(**options))


def test_slides_are_read_with_all_that_stands_on_them(tmp_path: Path) -> None:
    loaded = written(tmp_path, SLIDES)
    assert loaded.text.split("\n\n") == [
        *("Pier Two", "• Boats", "Depth", "9 m", "| Gull |", "Picture: Map of berths"),
        *("Comment by Ada, 2026-03-04: Why?", "Speaker notes", "Say it."),
        *("Slide 2 (hidden)", "Old berth"),
    ]
    names = [heading.name for heading in loaded.headings]
    assert names == ["Slide 1: Pier Two", "Speaker notes", "Slide 2 (hidden)"]
    assert (loaded.title, len(loaded.pages), len(loaded.tables)) == ("Pier Two", 2, 1)
    dropped = written(tmp_path, SLIDES, hidden="drop")
    assert "Old berth" not in dropped.text
    assert dropped.metadata["flags"] == ["left out: 1 hidden slide"]


@pytest.mark.parametrize("content", ["<x/>", "<office:document-content {}/>", "<a>" * 300])
def test_what_is_no_presentation_is_named(tmp_path: Path, content: str) -> None:
    with zipfile.ZipFile(tmp_path / "a.odp", "w") as archive:
        archive.writestr("META-INF/manifest.xml", "<manifest/>")
        archive.writestr("content.xml", content.format(SPACES))
    with pytest.raises(IngestError, match="is no ODP, or a broken one"):
        load(tmp_path / "a.odp")


@pytest.mark.parametrize("form", ["{}<text:p>Gull</text:p>{}", "<text:p>{}Gull{}</text:p>"])
def test_shapes_in_each_other_are_read_as_deep_as_xml_is(tmp_path: Path, form: str) -> None:
    shapes = form.format("<draw:g>" * 248, "</draw:g>" * 248)
    assert written(tmp_path, f"<draw:page>{shapes}</draw:page>").text == "Gull"
    with pytest.raises(IngestError, match="broken"):
        written(tmp_path, f"<draw:page>{'<draw:g>' * 5000}{'</draw:g>' * 5000}</draw:page>")


@pytest.mark.parametrize(
    ("name", "instead"), [("a.pages", ".docx"), ("a.KEY", ".pptx"), ("a.doc", ".docx")]
)
def test_what_programs_keep_for_themselves_says_what_to_save_it_as(
    tmp_path: Path, name: str, instead: str
) -> None:
    (tmp_path / name).write_bytes(b"PK\x03\x04\0")
    with pytest.raises(IngestError, match=f"cannot be read: save it as {instead} or .pdf"):
        load(tmp_path / name)
