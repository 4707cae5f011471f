"""OpenDocument text: headers, footers, annotations, hidden text, pictures, merged cells."""

import zipfile
from pathlib import Path
from typing import Any

import pytest

from lexichord.ingest.load import load
from lexichord.ingest.load.marks import LoadOptions
from lexichord.types import LoadedText

ODF = "urn:oasis:names:tc:opendocument:xmlns:"
SPACES = " ".join(
    [
        *(f'xmlns:{name}="{ODF}{name}:1.0"' for name in ("office", "text", "table", "style")),
        f'xmlns:draw="{ODF}drawing:1.0" xmlns:svg="{ODF}svg-compatible:1.0"',
        'xmlns:dc="http://purl.org/dc/elements/1.1/"',
    ]
)
CONTENT = (
    "<office:document-content {spaces}><office:automatic-styles>"
    '<style:style style:name="P1" style:parent-style-name="Plain" style:master-page-name="Annex"/>'
    '<style:style style:name="T1"><style:text-properties text:display="none"/></style:style>'
    '<style:style style:name="T2" style:parent-style-name="T1"/>'
    "</office:automatic-styles><office:body><office:text>{body}</office:text></office:body>"
    "</office:document-content>"
)
PAGES = (
    "<office:document-styles {spaces}><office:master-styles>"
    '<style:master-page style:name="Standard" style:next-style-name="Later">'
    "<style:header><text:p>Berth<text:tab/>12</text:p><text:p>____</text:p></style:header>"
    "<style:footer><text:p>7</text:p></style:footer></style:master-page>"
    '<style:master-page style:name="Later"><style:header><text:p>Berth 12</text:p></style:header>'
    "<style:footer><text:p>Harbour</text:p></style:footer></style:master-page>"
    '<style:master-page style:name="Annex"><style:header><text:p>Annex</text:p></style:header>'
    '<style:footer style:display="false"><text:p>Old crest</text:p></style:footer>'
    '</style:master-page><style:master-page style:name="Envelope"><style:header>'
    "<text:p>Stamp</text:p></style:header></style:master-page></office:master-styles>"
    "</office:document-styles>"
)


def written(tmp_path: Path, body: str, pages: str = "", **options: Any) -> LoadedText:
    with zipfile.ZipFile(tmp_path / "a.odt", "w") as archive:
        archive.writestr("META-INF/manifest.xml", "<manifest/>")
        archive.writestr("content.xml", CONTENT.format(spaces=SPACES, body=body))
        if pages:
            archive.writestr("styles.xml", pages.format(spaces=SPACES))
    return load(tmp_path / "a.odt", LoadOptions(**options))


def test_headers_and_footers_stand_once_where_their_pages_are(tmp_path: Path) -> None:
    body = (
        '<text:h text:outline-level="1">Lease</text:h><text:p>One year.</text:p>'
        '<text:p text:style-name="P1">Two years.</text:p><text:p>Three.</text:p>'
    )
    assert written(tmp_path, body, PAGES).text.split("\n\n") == [
        *("Lease", "Header: Berth 12", "One year.", "Footer: Harbour"),
        *("Header: Annex", "Two years.", "Three.", "Footer: Old crest (hidden)"),
    ]


def test_annotations_follow_their_paragraph_item_or_table(tmp_path: Path) -> None:
    said = (
        "<office:annotation><dc:creator>Ada</dc:creator><dc:date>2026-03-04T10:00:00</dc:date>"
        "<text:p>Why?</text:p><text:list><text:list-item><text:p>So short</text:p>"
        "</text:list-item></text:list></office:annotation>"
    )
    cell = f"<table:table-cell><text:p>Rent{said}</text:p></table:table-cell>"
    body = (
        f"<text:p>One year{said}.</text:p><text:list><text:list-item><text:p>Boat{said}</text:p>"
        f"</text:list-item></text:list><table:table><table:table-row>{cell}</table:table-row>"
        "</table:table>"
    )
    comment = "Comment by Ada, 2026-03-04: Why?\nSo short"
    assert written(tmp_path, body).text.split("\n\n") == [
        *("One year.", comment, "• Boat", comment, "| Rent |", comment)
    ]
    dropped = written(tmp_path, body, comments="drop")
    assert dropped.text == "One year.\n\n• Boat\n\n| Rent |"
    assert dropped.metadata["flags"] == ["left out: 3 comments"]


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        (
            '<text:p>Rent <text:span text:style-name="T2">may fall</text:span>.</text:p>',
            "Rent .",
        ),
        (
            '<text:section text:display="none"><text:p>Secret.</text:p><text:list><text:list-item>'
            "<text:p>Boat</text:p></text:list-item></text:list></text:section><text:p>Now</text:p>",
            "Now",
        ),
        (
            '<text:p><text:hidden-paragraph text:is-hidden="true"/>Secret.</text:p>'
            "<text:p>Now</text:p>",
            "Now",
        ),
        (
            '<text:p>Rent<text:hidden-text text:string-value=" is low"/>.</text:p>',
            "Rent.",
        ),
    ],
)
def test_hidden_words_are_left_out_and_counted(tmp_path: Path, body: str, shown: str) -> None:
    for choice in ("mark", "drop"):
        loaded = written(tmp_path, body, hidden=choice)
        assert loaded.text == shown
        assert loaded.metadata["flags"][0].startswith("left out: ")
    kept = written(tmp_path, body, hidden="keep")
    assert kept.metadata == {}
    assert len(kept.text) > len(shown)
    assert "hidden" not in kept.text


def test_pictures_and_boxes_are_read(tmp_path: Path) -> None:
    frame = "<draw:frame><draw:image/><svg:title>Map</svg:title>{}</draw:frame>"
    said = frame.format("<svg:desc>Map of\nthe berths</svg:desc>")
    box = "<draw:frame><draw:text-box><text:p>Boxed</text:p></draw:text-box></draw:frame>"
    body = (
        f"<text:p>See {said}below.</text:p>{frame.format('')}{box}<table:table><table:table-row>"
        f"<table:table-cell><text:p>Crest {said}</text:p></table:table-cell></table:table-row>"
        "</table:table>"
    )
    assert written(tmp_path, body).text.split("\n\n") == [
        *("See below.", "Picture: Map of the berths", "Picture: Map", "Boxed"),
        "| Crest [Picture: Map of the berths] |",
    ]


def test_merged_cells_hold_in_each_row(tmp_path: Path) -> None:
    cell = "<table:table-cell{}><text:p>{}</text:p></table:table-cell>"
    covered = "<table:covered-table-cell/>"
    spans = ' table:number-rows-spanned="2" table:number-columns-spanned="1"'
    rows = (
        cell.format("", "Coast") + cell.format("", "Boat"),
        cell.format(spans, "North") + cell.format("", "Gull"),
        covered + cell.format("", "Tern"),
    )
    body = "".join(f"<table:table-row>{row}</table:table-row>" for row in rows)
    assert written(tmp_path, f"<table:table>{body}</table:table>").text == (
        "| Coast | Boat |\n| --- | --- |\n| North | Gull |\n| North | Tern |"
    )


def test_all_that_lists_and_indexes_hold_is_read(tmp_path: Path) -> None:
    table = (
        "<table:table><table:table-row><table:table-cell><text:p>Gull</text:p></table:table-cell>"
        "</table:table-row></table:table>"
    )
    body = (
        "<text:list><text:list-header><text:p>Of boats</text:p></text:list-header><text:list-item>"
        f"<text:p>One</text:p>{table}<text:list><text:list-item><text:p>Two</text:p>"
        "</text:list-item></text:list></text:list-item></text:list><text:bibliography>"
        "<text:index-body><text:index-title><text:p>Works</text:p></text:index-title>"
        "</text:index-body></text:bibliography><text:numbered-paragraph><text:p>Three</text:p>"
        "</text:numbered-paragraph>"
    )
    assert written(tmp_path, body).text.split("\n\n") == [
        *("Of boats", "• One", "| Gull |", "  • Two", "Works", "Three")
    ]
