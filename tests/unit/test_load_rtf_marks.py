"""RTF: headers, footers, notes, comments, hidden passages, descriptions of pictures."""

from pathlib import Path
from typing import Any

import pytest

from lexichord.ingest.load import load
from lexichord.ingest.load.marks import LoadOptions
from lexichord.types import LoadedText

HEAD = r"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0\fswiss\fcharset0 Arial;}}"
DAY = (2026 - 1900) << 20 | 3 << 16 | 4 << 11


def written(tmp_path: Path, body: str, **options: Any) -> LoadedText:
    (tmp_path / "a.rtf").write_bytes(f"{HEAD}{body}}}".encode("latin-1"))
    return load(tmp_path / "a.rtf", LoadOptions(**options))


def test_headers_and_footers_stand_once(tmp_path: Path) -> None:
    margins = r"{\header \pard Berth 12 \'e5\par}{\footer Harbour\par}{\footerf 7\par}"
    body = rf"\sectd{margins}\pard One year.\par\sect\sectd{margins}Two years.\par"
    assert written(tmp_path, body).text.split("\n\n") == [
        *("Header: Berth 12 å", "One year.", "Two years.", "Footer: Harbour")
    ]


def test_a_comment_follows_its_line_and_a_note_stands_in_it(tmp_path: Path) -> None:
    said = (
        rf"{{\*\atnid AB}}{{\*\atnauthor Ada B\'f6}}\chatn{{\*\annotation{{\*\atndate {DAY}}}"
        r"\pard Why {\b so} short?\par}"
    )
    note = r"{\super\chftn}{\footnote \pard Monthly.\par}"
    body = rf"One {said}year{note}.\par Two.\par"
    marked = written(tmp_path, body).text
    assert marked == "One year [Monthly.].\n\nComment by Ada Bö, 2026-03-04: Why so short?\n\nTwo."
    dropped = written(tmp_path, body, comments="drop")
    assert dropped.text == "One year [Monthly.].\nTwo."
    assert dropped.metadata["flags"] == ["left out: 1 comment"]


@pytest.mark.parametrize(
    ("body", "shown", "flags"),
    [
        (r"Rent is 9{\v  but may fall}.\par", "Rent is 9.", ["left out: 1 hidden passage"]),
        (r"Rent \v is low\v0  now\par", "Rent  now", ["left out: 1 hidden passage"]),
        (r"Rent {\b\v1 is\par low}\par", "Rent", ["left out: 2 hidden passages"]),
        (r"Rent{\v  is{\footnote Low.}}\par", "Rent", ["left out: 2 hidden passages"]),
        (
            r"{\trowd\cellx9\cellx99\v\intbl Rent\cell 9\cell\row}End\par",
            "End",
            ["left out: 2 hidden passages"],
        ),
        (r"Rent{\v{\xe boat}}\viewkind4\par", "Rent", []),
    ],
)
def test_hidden_words_are_left_out_and_counted(
    tmp_path: Path, body: str, shown: str, flags: list[str]
) -> None:
    for choice in ("mark", "drop"):
        loaded = written(tmp_path, body, hidden=choice)
        assert loaded.text.rstrip() == shown
        assert loaded.metadata.get("flags", []) == flags
    kept = written(tmp_path, body, hidden="keep")
    assert "hidden" not in kept.text
    assert (len(kept.text.rstrip()) > len(shown), kept.metadata) == (bool(flags), {})


def test_what_is_said_of_a_picture_is_text(tmp_path: Path) -> None:
    said = r"{\*\picprop{\sp{\sn wzDescription}{\sv Map of berths}}}"
    body = rf"See{{\*\shppict{{\pict{said}\pngblip 0a0b}}}} and {{\pict\pngblip 0a}}go.\par"
    assert written(tmp_path, body).text == "See [Picture: Map of berths] and go."


def test_merged_cells_hold_in_each_row_below_their_column(tmp_path: Path) -> None:
    def row(cells: str, *edges: str) -> str:
        ends = "".join(f"\\{edge.replace(' ', '')}" for edge in edges)
        return rf"\trowd{ends}\pard\intbl {cells.replace('/', chr(92) + 'cell ')}\cell\row"

    body = (
        r"Berths\par"
        + row("Coast/Boats", "cellx1000", "cellx3000")
        + row("/old/new", "cellx1010", "cellx2000", "cellx3000")
        + row(r"North\par side/1|2/caf\u233?", r"clvmgf\cellx1000", "cellx2000", "cellx3000")
        + row("/3/4", r"clvmrg\cellx1000", "cellx2000", "cellx3000")
        + row("closed//", r"clmgf\cellx1000", r"clmrg\cellx2000", r"clmrg\cellx3000")
        + r"\pard End.\par\trowd\cellx900\intbl\cell\row "
    )
    lines = written(tmp_path, body).text.split("\n")
    assert lines == [
        *("Berths", "", "| Coast | Boats |  |", "| --- | --- | --- |", "|  | old | new |"),
        *("| North side | 1\\|2 | café |", "| North side | 3 | 4 |", "| closed |  |  |"),
        *("", "End."),
    ]


def test_tracked_deletions_are_left_out(tmp_path: Path) -> None:
    body = r"Rent {\b\deleted\revauthdel1 was {\i 7} and }is \deleted was 8 \deleted0 9.\par"
    assert written(tmp_path, body).text == "Rent is 9."


def test_a_note_in_a_cell_stands_in_it_and_a_comment_below_the_table(tmp_path: Path) -> None:
    said = r"{\*\atnauthor Ada}\chatn{\*\annotation Why?}"
    note = r"{\footnote Monthly.}"
    body = rf"\trowd\cellx900\cellx1800\intbl Rent{said}\cell 9{note}{{\v 8}}\cell\row End\par"
    loaded = written(tmp_path, body)
    assert loaded.text.split("\n\n") == ["| Rent | 9 [Monthly.] |", "Comment by Ada: Why?", "End"]
    assert len(loaded.tables) == 1


def test_groups_that_never_end_take_no_time(tmp_path: Path) -> None:
    assert written(tmp_path, "One.\\par" + r"{\header {\v " * 50_000).text == "One."


def test_the_text_and_the_picture_of_a_shape_are_read(tmp_path: Path) -> None:
    said = r"{\sp{\sn wzDescription}{\sv Map of berths}}"
    shape = rf"{{\shp{{\*\shpinst{said}{{\shptxt \pard Boxed {{\b in}}\par}}}}{{\shprslt x}}}}"
    text = written(tmp_path, rf"See {shape}below.\par End\column Next\par").text
    assert text == "See  [Picture: Map of berths]below.\n\nBoxed in\n\nEnd\nNext"


@pytest.mark.parametrize(
    "fonts",
    [
        r"{\f0\fnil Arial;}{\f1\fnil\fcharset204 Arial CYR;}",
        r"{\f0 Arial;}{\f1\fcharset204 Arial CYR;}{\f10 Last;}",
        r"\f0\fnil Arial;\f1\fcharset204 Arial CYR;",
    ],
)
def test_a_font_without_a_character_set_takes_no_other_s(tmp_path: Path, fonts: str) -> None:
    source = (
        rf"{{\rtf1\ansi\ansicpg1252\deff0{{\fonttbl{fonts}}}\f1 \'cf\'f0\'e8\'e2\'e5\'f2\f0  "
        r"caf\'e9\par{\header\f1 \'cf\'e8\'f0\f0  \'e9}}"
    )
    (tmp_path / "b.rtf").write_text(source, encoding="latin-1")
    greeting, pier = "\u041f\u0440\u0438\u0432\u0435\u0442 café", "\u041f\u0438\u0440 é"
    assert load(tmp_path / "b.rtf").text == f"{greeting}\n\nHeader: {pier}"
