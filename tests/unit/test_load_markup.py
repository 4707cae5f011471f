"""reStructuredText, Org, AsciiDoc, notebooks, books, OpenDocument, RTF and feeds."""

import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexichord.errors import IngestError
from lexichord.ingest.chunk.splitter import split
from lexichord.ingest.load import load
from lexichord.ingest.load.markup import MARKUP_READERS
from lexichord.types import LoadedText

NOTEBOOK = {
    "nbformat": 4,
    "cells": [
        {"cell_type": "markdown", "source": ["# Harbour\n", "\n", "Words."]},
        {
            "cell_type": "code",
            "source": "def moor():\n    return 1",
            "outputs": [
                {"output_type": "stream", "text": ["moored\n"]},
                {"output_type": "execute_result", "data": {"text/plain": "1", "image/png": "x"}},
                {"output_type": "error", "ename": "ValueError", "evalue": "no rope"},
            ],
        },
        {"cell_type": "markdown", "source": "## Boats\n\n| a | b |\n|---|---|\n| 1 | 2 |"},
        {"cell_type": "raw", "source": "raw words"},
    ],
}
PAGES = Path(__file__).with_name("pages")
ODF = "urn:oasis:names:tc:opendocument:xmlns:"
SPACES = " ".join(f'xmlns:{name}="{ODF}{name}:1.0"' for name in ("office", "text", "table", "meta"))
ODT = f"""<office:document-content {SPACES}><office:body><office:text>
<text:tracked-changes>gone</text:tracked-changes>
<text:h text:outline-level="1">Mooring</text:h>
<text:p>Bring<text:s text:c="2"/>a rope<text:note><text:note-citation>1</text:note-citation>
<text:note-body><text:p>A long one.</text:p></text:note-body></text:note>.</text:p>
<text:list><text:list-item><text:p>Canoe</text:p><text:list><text:list-item><text:p>Red</text:p>
</text:list-item></text:list></text:list-item></text:list>
<table:table><table:table-header-rows><table:table-row><table:table-cell><text:p>Boat</text:p>
</table:table-cell><table:table-cell><text:p>Fee</text:p></table:table-cell></table:table-row>
</table:table-header-rows><table:table-row table:number-rows-repeated="1000000"><table:table-cell
 table:number-columns-repeated="16000"/></table:table-row><table:table-row><table:table-cell/>
<table:table-cell><text:p>3</text:p></table:table-cell></table:table-row></table:table>
<text:section><text:h text:outline-level="2">Boats</text:h><text:p>Deep.</text:p></text:section>
</office:text></office:body></office:document-content>"""
RTF = (
    r"{\rtf1\ansi\ansicpg1252{\info{\title Harbour \'e5r}{\author Ada}}\pard Mooring\par"
    r"\par Bring a \b rope\b0  for the \'e5.\par}"
)
RSS = """<?xml version="1.0"?><rss version="2.0"><channel><title>Harbour</title>
<description>News.</description><item><title>Mooring</title><pubDate>2 Feb 2027</pubDate>
<link>https://example.com/1</link><description>&lt;p&gt;Bring a &lt;b&gt;rope&lt;/b&gt;.&lt;/p&gt;
</description></item></channel></rss>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><title>Harbour</title><entry>
<title>Mooring</title><updated>2027-02-02</updated><author><name>Ada</name></author>
<link href="https://example.com/1"/><summary>Bring a rope.</summary></entry></feed>"""


def write(file: Path, content: str | bytes) -> Path:
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return file


def levels(loaded: LoadedText) -> list[tuple[int, str]]:
    for chunk in split(loaded):
        assert loaded.text[chunk.start : chunk.end] == chunk.content
    return [(heading.level, heading.name) for heading in loaded.headings]


def test_restructured_text_keeps_what_unknown_directives_hold() -> None:
    loaded = load(PAGES / "harbour.rst")
    assert loaded.title == "Harbour"
    names = [(1, "Harbour"), (2, "Mooring"), (3, "Depth"), (2, "Tides")]
    assert levels(loaded) == names
    for kept in (
        *("See the pier, rope and the site.\nOn today boats.", "Note: Bring a\nrope."),
        *(
            "Sail\n\nSails are *red*:\n\n```\n1. not a clause\n```",
            "```\ndef moor():\n    return 1\n```",
        ),
        "| Boat | Fee |\n| --- | --- |\n| Canoe | 3 EUR |",
        "| Town | Depth |\n| --- | --- |\n| Lund | 9 |\n| Malmö |  |",
    ):
        assert kept in loaded.text
    for mark in ("..", "::", "`", "|today|", "nobody", "a.png", "linenos", "====", "_start"):
        assert mark not in loaded.text.replace("```", "")


def test_org_is_read_without_its_marks() -> None:
    loaded = load(PAGES / "harbour.org")
    assert (loaded.title, loaded.metadata) == ("Harbour", {"author": "Ada"})
    assert levels(loaded) == [(1, "Mooring"), (2, "Boats")]
    assert loaded.text == (
        "Mooring\n\nSee the site and rope.\n\nBoats\n\n| Boat | Fee |\n| --- | --- |\n"
        "| Canoe | 3 |\n\n```\ndef moor():\n    return 1\n```\n\nSlowly."
    )


def test_attributes_of_asciidoc_are_what_they_say(tmp_path: Path) -> None:
    content = (
        "= {product} guide\n:product: ACMEDB\n:full: {product} \\\n server\n:lang: en\n\n"
        "Start {Full} with `{product}`, {nothing}, \\{product}.\n\n:product: Acme 2\n\n"
        "== Use {product}\n\n|===\n|{product} |b\n|c |d\n|===\n\n----\n{product}\n----\n\n"
        ":!product:\n\n{product}\n"
    )
    loaded = load(write(tmp_path / "a.adoc", content))
    assert (loaded.title, loaded.metadata) == ("ACMEDB guide", {"language": "en"})
    assert loaded.text.split("\n\n") == [
        *("ACMEDB guide", "Start ACMEDB server with `ACMEDB`, {nothing}, {product}."),
        *(
            "Use Acme 2",
            "| Acme 2 | b |\n| --- | --- |\n| c | d |",
            "```\n{product}\n```",
            "{product}",
        ),
    ]


def test_attributes_of_asciidoc_do_not_grow_without_end(tmp_path: Path) -> None:
    doubled = "".join(f":a{place}: {{a{place - 1}}}{{a{place - 1}}}\n" for place in range(1, 99))
    loaded = load(write(tmp_path / "a.adoc", f":a0: ab\n{doubled}\n{{a2}} {{a98}}\n"))
    assert loaded.text.startswith("abababab ")
    assert len(loaded.text) < 10_000
    many = f":a: {'b ' * 2000}\n\n{'{a}' * 9000}\n"
    loaded = load(write(tmp_path / "b.adoc", many))
    assert len(loaded.text) < 1_100_000
    assert loaded.text.endswith("{a}")


def test_asciidoc_is_read_without_its_marks() -> None:
    loaded = load(PAGES / "harbour.adoc")
    flags = ["other.adoc was not read: includes are not taken in"]
    assert (loaded.title, loaded.metadata) == ("Harbour", {"author": "Ada", "flags": flags})
    assert levels(loaded) == [(1, "Harbour"), (2, "Mooring"), (3, "Boats")]
    assert loaded.text == (
        "Harbour\n\nAda\n\nMooring\n\nNOTE: Bring a rope. See the boats and the site.\n\n"
        "```\ndef moor():\n    return 1\n```\n\nFees\n\n"
        "| Boat | Fee |\n| --- | --- |\n| Canoe | 3 |\n\n"
        "Slowly.\n\nBoats\n\nDeep."
    )


@pytest.mark.parametrize("kind", MARKUP_READERS)
@given(lines=st.lists(st.text(alphabet="ab |=-~*+.:_#[]`<>/{}0\\\t", max_size=12), max_size=30))
@pytest.mark.timeout(120)
def test_any_lines_are_read_and_cut(kind: str, lines: list[str]) -> None:
    page = MARKUP_READERS[kind](lines)
    page.end()
    built = page.built
    marks = tuple(built.headings), tuple(built.tables)
    text = LoadedText(built.text, kind, "", *marks)
    letters = "".join(chunk.content for chunk in split(text))
    assert "".join(letters.split()) == "".join(built.text.split())
    levels(text)


def test_a_notebook_keeps_words_code_and_what_it_printed(tmp_path: Path) -> None:
    loaded = load(write(tmp_path / "a.ipynb", json.dumps(NOTEBOOK)))
    assert loaded.title == "Harbour"
    assert levels(loaded) == [
        (1, "Harbour"),
        (8, "Cell 2"),
        (8, "Cell 2, output"),
        (2, "Boats"),
        (8, "Cell 4"),
    ]
    assert "def moor():\n    return 1\n\nmoored\n1\nValueError: no rope\n\n## Boats" in loaded.text


def test_cells_of_a_notebook_that_hold_nothing_stop_no_other(tmp_path: Path) -> None:
    cells = [
        {"cell_type": "code", "source": None, "outputs": None},
        {"cell_type": "code", "outputs": [{"output_type": "stream", "data": None}]},
        {"cell_type": "code", "outputs": [{"data": {"text/plain": None}}]},
        {"cell_type": "markdown", "source": "good words"},
    ]
    notebook = json.dumps({"nbformat": 4, "cells": cells})
    assert load(write(tmp_path / "a.ipynb", notebook)).text == "good words"


@pytest.mark.parametrize(("level", "marks"), [(-1, "#"), (2, "##"), (1_000_000, "######")])
def test_a_heading_of_a_notebook_is_of_one_of_six_levels(
    tmp_path: Path, level: int, marks: str
) -> None:
    cells = [{"cell_type": "heading", "level": level, "source": "hello"}]
    loaded = load(write(tmp_path / "a.ipynb", json.dumps({"cells": cells})))
    assert (loaded.text, loaded.headings[0].level) == (f"{marks} hello", len(marks))


def make_epub(file: Path, spoil: Any = lambda parts: parts) -> Path:
    parts = {
        "META-INF/container.xml": '<container xmlns="c"><rootfiles>'
        '<rootfile full-path="O/b.opf"/></rootfiles></container>',
        "O/b.opf": '<package xmlns="p" xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata>'
        "<dc:title>Harbour</dc:title><dc:creator>Ada</dc:creator></metadata><manifest>"
        '<item id="n" href="n.xhtml" media-type="application/xhtml+xml" properties="nav"/>'
        '<item id="b" href="t/b.xhtml" media-type="application/xhtml+xml"/>'
        '<item id="a" href="a%20a.xhtml" media-type="application/xhtml+xml"/></manifest>'
        '<spine><itemref idref="n"/><itemref idref="b"/><itemref idref="a"/></spine></package>',
        "O/n.xhtml": "<html><body><p>Contents</p></body></html>",
        "O/t/b.xhtml": "<html><body><h1>Mooring</h1><p>Bring a rope.</p></body></html>",
        "O/a a.xhtml": "<html><body><h1>Boats</h1><p>Deep.</p></body></html>",
    }
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in spoil(parts).items():
            archive.writestr(name, content)
    return file


def test_a_book_is_read_in_its_order(tmp_path: Path) -> None:
    loaded = load(make_epub(tmp_path / "a.epub"))
    assert (loaded.title, loaded.metadata) == ("Harbour", {"author": "Ada"})
    assert loaded.text == "Mooring\n\nBring a rope.\n\nBoats\n\nDeep."
    assert levels(loaded) == [(2, "Mooring"), (2, "Boats")]


def test_a_page_that_a_book_names_again_is_read_once(tmp_path: Path) -> None:
    def name_again(parts: dict[str, str]) -> dict[str, str]:
        named = '<itemref idref="a"/><itemref idref="b"/>'
        package = parts["O/b.opf"].replace("</spine>", f"{named * 3}</spine>")
        same = '<item id="c" href="t/../t/b.xhtml" media-type="application/xhtml+xml"/></manifest>'
        package = package.replace("</manifest>", same).replace(named, '<itemref idref="c"/>', 1)
        return {**parts, "O/b.opf": package}

    loaded = load(make_epub(tmp_path / "a.epub", name_again))
    assert loaded.text == "Mooring\n\nBring a rope.\n\nBoats\n\nDeep."


def test_an_encrypted_book_is_refused(tmp_path: Path) -> None:
    lock = '<e xmlns:x="x"><x:CipherReference URI="O/t/b.xhtml"/></e>'
    file = make_epub(tmp_path / "a.epub", lambda parts: {**parts, "META-INF/encryption.xml": lock})
    with pytest.raises(IngestError, match="is encrypted"):
        load(file)
    file = make_epub(tmp_path / "b.epub", lambda parts: {"mimetype": "application/epub+zip"})
    with pytest.raises(IngestError, match="is no EPUB, or a broken one"):
        load(file)


def make_odt(file: Path, content: str = ODT, manifest: str = "<manifest/>") -> Path:
    meta = (
        f'<office:document-meta {SPACES} xmlns:dc="http://purl.org/dc/elements/1.1/"><office:meta>'
        "<dc:title>Harbour</dc:title><dc:creator>Ada</dc:creator></office:meta>"
        "</office:document-meta>"
    )
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("META-INF/manifest.xml", manifest)
        archive.writestr("content.xml", content)
        archive.writestr("meta.xml", meta)
    return file


def test_open_document_text_keeps_headings_lists_tables_and_notes(tmp_path: Path) -> None:
    loaded = load(make_odt(tmp_path / "a.odt"))
    assert (loaded.title, loaded.metadata) == ("Harbour", {"author": "Ada"})
    assert levels(loaded) == [(1, "Mooring"), (2, "Boats")]
    assert loaded.text == (
        "Mooring\n\nBring  a rope [A long one.].\n\n• Canoe\n\n  • Red\n\n"
        "| Boat | Fee |\n| --- | --- |\n|  | 3 |\n\nBoats\n\nDeep."
    )


def test_an_encrypted_open_document_is_refused(tmp_path: Path) -> None:
    locked = '<m xmlns:m="m"><m:encryption-data/></m>'
    with pytest.raises(IngestError, match="is encrypted"):
        load(make_odt(tmp_path / "a.odt", manifest=locked))
    with pytest.raises(IngestError, match="is no ODT"):
        load(make_odt(tmp_path / "b.odt", content=ODT[: len(ODT) // 2]))


def test_rtf_is_read_with_its_properties(tmp_path: Path) -> None:
    loaded = load(write(tmp_path / "a.rtf", RTF))
    assert (loaded.title, loaded.metadata) == ("Harbour år", {"author": "Ada"})
    assert loaded.text.endswith("Mooring\n\nBring a rope for the å.")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        *(("a.rtf", content) for content in ("", "words", "{\\rtf2")),
        *(("a.ipynb", content) for content in ("{", "[]", '{"cells": [1]}', '{"cells": 3}')),
        ("a.ipynb", "[" * 99999),
        (
            "a.ipynb",
            '{"cells": [{"cell_type": "heading", "level": Infinity, "source": "hello"}]}',
        ),
        *((f"a.{kind}", "words") for kind in ("epub", "odt")),
        *((f"a.{kind}", b"\xff\xfe\x00\xd8") for kind in ("rst", "org", "adoc", "csv", "xml")),
    ],
)
def test_what_is_broken_is_refused_with_the_reason(
    tmp_path: Path, name: str, content: str | bytes
) -> None:
    with pytest.raises(IngestError, match=r"broken one|holds no text|unknown encoding"):
        load(write(tmp_path / name, content))


@pytest.mark.parametrize(
    ("content", "facts"),
    [
        (RSS, "News.\n\nMooring\n\n2 Feb 2027 · https://example.com/1\n\nBring a rope."),
        (ATOM, "Mooring\n\n2027-02-02 · Ada · https://example.com/1\n\nBring a rope."),
    ],
)
def test_an_entry_of_a_feed_is_a_section(tmp_path: Path, content: str, facts: str) -> None:
    loaded = load(write(tmp_path / "a.xml", content))
    assert (loaded.title, loaded.text) == ("Harbour", facts)
    assert levels(loaded) == [(2, "Mooring")]


@pytest.mark.timeout(20)
def test_other_xml_stays_as_it_is_and_no_entity_is_expanded(tmp_path: Path) -> None:
    lines = [f'<!ENTITY e{n + 1} "{f"&e{n};" * 10}">' for n in range(9)]
    bomb = f'<!DOCTYPE rss [<!ENTITY e0 "ha">{"".join(lines)}]>'
    plain = load(write(tmp_path / "a.xml", "<a><b>x</b></a>"))
    assert plain.text == "<a><b>x</b></a>"
    entry = "<rss><channel><item><title>t</title><description>&e9;</description></item></channel>"
    assert len(load(write(tmp_path / "b.xml", f"{bomb}{entry}</rss>")).text) < 5000
    outside = '<!DOCTYPE rss [<!ENTITY e SYSTEM "file:///etc/passwd">]>'
    leaking = f"{outside}<rss><item><title>t &e;</title></item></rss>"
    assert "root:" not in load(write(tmp_path / "c.xml", leaking)).text


def test_of_a_site_in_rst_titles_and_substituted_words_are_text(tmp_path: Path) -> None:
    shutil.copy(PAGES / "site.rst", tmp_path / "index.rst")
    assert load(tmp_path / "index.rst").text == (
        "- How to moor\n\nIn Old Lund and sea.\n\nAdded in version 2.1:\nRopes.\n\n"
        "Deprecated since version 2.2\n\nSee also: knots\n\nFees\n\n| Boat | Fee |\n| --- | --- |\n"
        "| Canoe, small | 3 |\n\n| Town | Depth |\n| --- | --- |\n| Lund, old | 9 |"
    )


def test_an_escaped_blank_joins_words_and_an_escaped_sign_is_one(tmp_path: Path) -> None:
    (tmp_path / "chem.rst").write_text(
        "H\\ :sub:`2`\\ O and CO\\ :sub:`2` boil\\*; the folder is ``C:\\ old``.\n"
    )
    assert load(tmp_path / "chem.rst").text.strip() == (
        "H2O and CO2 boil*; the folder is C:\\ old."
    )


GRID = """\
+-------+-------+------+
| Pier  | Boats        |
|       +-------+------+
|       | old   | new  |
+=======+=======+======+
| North | 1     | 2    |
|       +-------+------+
|       | 3     | 4 |  |
|       |       | 5    |
+-------+-------+------+
| 码头  | closed       |
+-------+-------+------+
"""
SIMPLE = """\
=====  ===========  =====
   Boats of         Fee
------------------  -----
Name   Harbour      Euro
=====  ===========  =====
Gull   North        9
       and East
Tern                8
=====  ===========  =====
"""


@pytest.mark.parametrize(
    ("written", "rows"),
    [
        (
            GRID,
            ["Pier/Boats", "---/---/---", "old/new", "North/1/2", "North/3/4 \\| 5", "码头/closed"],
        ),
        (
            SIMPLE,
            [
                *("Boats of//Fee", "---/---/---", "Name/Harbour/Euro"),
                *("Gull/North and East/9", "Tern//8"),
            ],
        ),
    ],
)
def test_cells_of_drawn_tables_span_rows_and_columns(
    tmp_path: Path, written: str, rows: list[str]
) -> None:
    (tmp_path / "a.rst").write_text(written)
    lines = load(tmp_path / "a.rst").text.split("\n")
    assert [line.strip("| ").replace(" |  | ", "//").replace(" | ", "/") for line in lines] == rows


def test_directives_in_each_other_end_as_lines(tmp_path: Path) -> None:
    notes = "".join(f"{'   ' * depth}.. note::\n\n" for depth in range(400))
    (tmp_path / "a.rst").write_text(f"{notes}{'   ' * 400}Wet.\n\nEnd.\n")
    text = load(tmp_path / "a.rst").text
    assert text.endswith("Wet.\n\nEnd.")


def test_pictures_and_quotes_of_asciidoc_say_what_they_are(tmp_path: Path) -> None:
    (tmp_path / "a.adoc").write_text(
        'image::a.png["A boat, small",300]\n\nSee image:b.png[alt=Gull] here.\n\n'
        "image::c.png[width=3]\n\n[quote, Ada Berg, Letters]\n____\nIt holds.\n____\n"
    )
    assert load(tmp_path / "a.adoc").text.split("\n\n") == [
        *("Picture: A boat, small", "See [Picture: Gull] here.", "Ada Berg, Letters", "It holds.")
    ]


def test_an_include_of_org_is_flagged(tmp_path: Path) -> None:
    (tmp_path / "a.org").write_text('* Pier\n#+INCLUDE: "other.org"\nWet.\n')
    flags = ['"other.org" was not read: includes are not taken in']
    assert load(tmp_path / "a.org").metadata == {"flags": flags}


def test_a_badly_drawn_table_loses_no_word(tmp_path: Path) -> None:
    (tmp_path / "a.rst").write_text("+----+----+\n| one and more | two |\n+----+----+\n")
    assert load(tmp_path / "a.rst").text == "| one and more | two |"
