"""Workbooks before 2007, written record by record: sizes, names and numbers that are none."""

import struct
from collections.abc import Sequence
from pathlib import Path

import pytest

from lexichord.errors import IngestError
from lexichord.ingest.load import load
from lexichord.ingest.sandbox import Sandbox
from tests.compound import write_compound

BROKEN = r"^is no spreadsheet, or a broken one: open it and save it again$"


def record(kind: int, data: bytes = b"") -> bytes:
    return struct.pack("<HH", kind, len(data)) + data


def opening(kind: int) -> bytes:
    return record(0x809, struct.pack("<HHHHII", 0x600, kind, 0x0DBB, 0x07CC, 0, 6))


def number(row: int, column: int, value: float, style: int = 0) -> bytes:
    return record(0x203, struct.pack("<HHHd", row, column, style, value))


def label(row: int, column: int, text: str) -> bytes:
    head = struct.pack("<HHHHB", row, column, 0, len(text), 1)
    return record(0x204, head + text.encode("utf-16-le"))


def size(first: int, rows: int, columns: int) -> bytes:
    return record(0x200, struct.pack("<IIHHH", first, rows, 0, columns, 0))


def place(name: str, offset: int) -> bytes:
    return record(0x85, struct.pack("<IBBBB", offset, 0, 0, len(name), 0) + name.encode())


def write(file: Path, sheets: Sequence[tuple[str, bytes]], shared: int = 1) -> Path:
    file.write_bytes(write_compound({"Workbook": book(sheets, shared)}))
    return file


def book(sheets: Sequence[tuple[str, bytes]], shared: int = 1) -> bytes:
    """Return a workbook's stream, the first sheet named as often as it is shared."""
    day = record(0x41E, struct.pack("<HHB", 200, 10, 0) + b"yyyy-mm-dd")
    styles = b"".join(record(0xE0, struct.pack("<HH16x", 0, form)) for form in (0, 200))
    head = opening(5) + record(0x42, struct.pack("<H", 1200)) + day + styles
    names = [f"{name}{n or ''}" for name, _ in sheets[:1] for n in range(shared)]
    names += [name for name, _ in sheets[1:]]
    offset = len(head) + sum(len(place(name, 0)) for name in names) + len(record(0xA))
    places, bodies = b"", b""
    for name in names[: shared - 1]:
        places += place(name, offset)
    for name, (_, cells) in zip(names[shared - 1 :], sheets, strict=True):
        places += place(name, offset + len(bodies))
        bodies += opening(0x10) + cells + record(0xA)
    return head + places + record(0xA) + bodies


CELLS = size(0, 2, 2) + label(0, 0, "Item") + label(0, 1, "Cost") + label(1, 0, "Boat")


def test_sheets_are_read(tmp_path: Path) -> None:
    file = write(tmp_path / "a.xls", [("Fleet", CELLS + number(1, 1, 12.5)), ("Empty", b"")])
    loaded = load(file)
    assert loaded.text == "Sheet Fleet\n\n| Item | Cost |\n| --- | --- |\n| Boat | 12.5 |"
    assert loaded.metadata == {}


@pytest.mark.parametrize(("row", "column"), [(65_535, 255), (65_535, 65_535)])
def test_cells_far_from_the_rest_are_said_before_there_is_room_for_all(
    tmp_path: Path, row: int, column: int
) -> None:
    far = [(f"S{n}", CELLS + number(row, column, 1)) for n in range(4)]
    which = "its sheets together reach" if column == 255 else "sheet 1 reaches"
    with pytest.raises(IngestError, match=f"^{which} over more than 20 million cells: split it"):
        load(write(tmp_path / "a.xls", far))


def test_numbers_in_one_record_reach_as_far_as_its_last(tmp_path: Path) -> None:
    numbers = struct.pack("<HH", 65_535, 0) + struct.pack("<HI", 0, 2) * 2
    far = [("Far", CELLS + record(0xBD, numbers + struct.pack("<H", 400)))]
    with pytest.raises(IngestError, match=r"^sheet 1 reaches over more than 20 million cells"):
        load(write(tmp_path / "a.xls", far))


def test_sheets_that_lie_in_each_other_are_refused(tmp_path: Path) -> None:
    assert "Boat" in load(write(tmp_path / "a.xls", [("Fleet", CELLS)])).text
    with pytest.raises(IngestError, match=BROKEN):
        load(write(tmp_path / "a.xls", [("Fleet", CELLS * 10)], shared=100))


def test_a_workbook_within_another_is_not_taken_for_it(tmp_path: Path) -> None:
    far = book([(name, CELLS + number(65_535, 255, 1)) for name in "abcd"])
    own = book([("Fleet", CELLS)])
    file = tmp_path / "a.xls"
    file.write_bytes(write_compound({"Workbook": own, "MBD0017CD1E": {"Workbook": far}}))
    assert "Boat" in load(file).text


@pytest.mark.parametrize("said", [(0, 2**32 - 1, 0xFFFF), (9, 2, 2)])
def test_a_size_that_no_sheet_has_is_said(tmp_path: Path, said: tuple[int, int, int]) -> None:
    file = write(tmp_path / "a.xls", [("Fleet", size(*said) + CELLS)])
    with Sandbox() as sandbox, pytest.raises(IngestError, match=BROKEN):
        sandbox.read(file)


def test_a_sheet_that_is_named_as_another_is_flagged(tmp_path: Path) -> None:
    other = CELLS.replace("Boat".encode("utf-16-le"), "Ship".encode("utf-16-le"))
    loaded = load(write(tmp_path / "a.xls", [("Fleet", CELLS), ("Fleet", other), ("B", CELLS)]))
    assert loaded.text.count("Sheet Fleet\n\n") == 1
    flag = "left out: 1 sheet that another has the name of: give each its own"
    assert loaded.metadata["flags"] == [flag]


def test_a_number_that_is_none_is_no_day(tmp_path: Path) -> None:
    nan = float("nan")
    cells = CELLS + number(1, 1, 44_000, 1) + label(2, 0, "Raft") + number(2, 1, nan, 1)
    loaded = load(write(tmp_path / "a.xls", [("Fleet", cells + number(3, 1, nan))]))
    assert loaded.text.endswith("| Boat | 2020-06-18 |\n| Raft |  |")
