"""Mails as Outlook keeps them: bodies of all forms, recipients, and what is attached."""

import struct
from collections.abc import Mapping
from pathlib import Path

import pytest

from lexichord.errors import IngestError
from lexichord.ingest.load import load
from lexichord.ingest.load.containers import Unpacker, list_parts
from lexichord.ingest.load.outlook import unpacked_rtf
from tests.compound import Folder, write_compound

type Values = Mapping[str, str | bytes | int]

PROPERTIES = "__properties_version1.0"


def properties(header: int, values: Values) -> dict[str, bytes]:
    """Return the streams of properties, each named by its number and kind, and their list."""
    streams, listed = {}, b""
    for name, value in values.items():
        if isinstance(value, int):
            listed += struct.pack("<HHIII", 3, int(name, 16), 6, value, 0)
            continue
        kind = 0x1F if isinstance(value, str) else 0x102
        data = value.encode("utf-16-le") if isinstance(value, str) else value
        streams[f"__substg1.0_{name}{kind:04X}"] = data
        listed += struct.pack("<HHIII", kind, int(name, 16), 6, len(data), 0)
    return {PROPERTIES: bytes(header) + listed, **streams}


OUTLOOK: Folder = {
    **properties(
        32,
        {
            "001A": "IPM.Note",
            "0037": "Ferry times",
            "007D": "From: ada@example.com\r\nTo: bo@example.com\r\n\r\n",
            "1000": "The ferry leaves at 9.\r\n",
        },
    ),
    "__attach_version1.0_#00000000": properties(
        8, {"3707": "prices.csv", "3701": b"town,price\nLund,7\n", "3705": 1}
    ),
}


def test_outlooks_mails_are_read_too(tmp_path: Path) -> None:
    file = tmp_path / "a.msg"
    file.write_bytes(write_compound(OUTLOOK))
    loaded = load(file)
    assert loaded.title == "Ferry times"
    assert loaded.text.endswith("The ferry leaves at 9.")
    assert "From: ada@example.com" in loaded.text
    parts = list_parts(file, tmp_path)
    assert [part.name for part in parts] == ["prices.csv"]
    with Unpacker(tmp_path).unpacked(file, parts[0]) as inner:
        assert load(inner).text == "| town | price |\n| --- | --- |\n| Lund | 7 |"


def write(file: Path, values: Values, folders: Folder | None = None) -> Path:
    """Write a mail that was never sent."""
    file.write_bytes(write_compound({**properties(32, values), **(folders or {})}))
    return file


def plain_rtf(source: bytes) -> bytes:
    return struct.pack("<II4sI", len(source) + 12, len(source), b"MELA", 0) + source


# Of Microsoft's description of the format.
PACKED = {
    "letters": (
        "2d000000 2b000000 4c5a4675 f1c5c7a7 03000a00 72637067 31323542 320af320 68656c09 00206277 "
        "05b06c64 7d0a800f a0",
        b"{\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n",
    ),
    "repeats": (
        "1a000000 1c000000 4c5a4675 e2d44b51 41000420 5758595a 0d6e7d01 0eb0",
        b"{\\rtf1 WXYZWXYZWXYZWXYZWXYZ}",
    ),
}


@pytest.mark.parametrize(("packed", "source"), PACKED.values(), ids=PACKED)
def test_compressed_rtf_is_unpacked(packed: str, source: bytes) -> None:
    assert unpacked_rtf(bytes.fromhex(packed)) == source


@pytest.mark.parametrize("packed", [b"\x20" * 16, bytes(8) + b"LZFu", b"\xff" * 40])
def test_rtf_that_cannot_be_unpacked_is_said(tmp_path: Path, packed: bytes) -> None:
    file = write(tmp_path / "a.msg", {"0037": "Ferry", "1009": packed})
    with pytest.raises(IngestError, match=r"^is no mail, or a broken one: save it again$"):
        load(file)


def test_a_body_that_is_compressed_rtf_alone_is_read(tmp_path: Path) -> None:
    packed = bytes.fromhex(PACKED["letters"][0])
    loaded = load(write(tmp_path / "a.msg", {"0037": "Ferry", "1009": packed}))
    assert loaded.text == "Subject: Ferry\n\nhello world"
    source = rb"{\rtf1\ansi\trowd\cellx9\cellx99\intbl town\cell price\cell\row}"
    loaded = load(write(tmp_path / "a.msg", {"0037": "Ferry", "1009": plain_rtf(source)}))
    assert loaded.text.endswith("| town | price |")
    blank = write(tmp_path / "a.msg", {"0037": "Ferry", "1009": plain_rtf(rb"{\rtf1\ansi\par}")})
    assert load(blank).text == "Subject: Ferry"
    plain: Values = {"0037": "Ferry", "1000": "It leaves at 9.", "1009": packed}
    assert load(write(tmp_path / "a.msg", plain)).text.endswith("\n\nIt leaves at 9.")


ENCLOSING = rb"""{\rtf1\ansi\ansicpg1252\fromhtml1 \deff0{\fonttbl{\f0\fswiss Arial;}
{\f1\fswiss\fcharset204 Arial;}}{\colortbl\red0\green0\blue0;}
{\*\htmltag19 <html>}{\*\htmltag34 <head>}{\*\htmltag241 <title>not shown</title>}
{\*\htmltag41 </head>}{\*\htmltag50 <body>}
{\*\htmltag64 <h2>}\htmlrtf {\b\f1\htmlrtf0 \'c6\'e8\'eb\htmlrtf\par}\htmlrtf0
{\*\htmltag72 </h2>}{\*\htmltag64 <ul><li>}\htmlrtf \'b7\tab\htmlrtf0 nine {\*\mhtmltag1 x}
{\*\htmltag84 <b>}\htmlrtf {\b \htmlrtf0 hundred\htmlrtf }\htmlrtf0 {\*\htmltag92 </b>}
\htmlrtf\f1\htmlrtf0  \f0
cr\'f6wns{\*\htmltag72 </li></ul>}{\*\htmltag58 </body>}{\*\htmltag27 </html>}}"""


def test_rtf_that_encloses_a_page_gives_the_page(tmp_path: Path) -> None:
    values: Values = {"0037": "Fine", "1009": plain_rtf(ENCLOSING)}
    loaded = load(write(tmp_path / "a.msg", values))
    assert loaded.text == "Subject: Fine\n\nЖил\n\n• nine hundred cröwns"
    assert [(heading.level, heading.name) for heading in loaded.headings] == [(3, "Жил")]


def recipient(name: str, address: str, kind: int) -> dict[str, bytes]:
    return properties(8, {"3001": name, "39FE": address, "0C15": kind})


def test_recipients_are_told_apart_where_no_headers_do(tmp_path: Path) -> None:
    people: Folder = {
        "__recip_version1.0_#00000000": recipient("Bo", "bo@example.com", 1),
        "__recip_version1.0_#00000001": recipient("Cy", "cy@example.com", 2),
        "__recip_version1.0_#00000002": recipient("Di", "", 3),
        "__recip_version1.0_#00000003": recipient("Ed", "ed@example.com", 1),
    }
    loaded = load(write(tmp_path / "a.msg", {"0C1A": "Ada", "0037": "Ferry"}, people))
    assert loaded.text == (
        "From: Ada\nTo: Bo <bo@example.com>, Ed <ed@example.com>\nCc: Cy <cy@example.com>\n"
        "Bcc: Di\nSubject: Ferry"
    )
    assert loaded.metadata == {
        "author": "Ada",
        "to": "Bo <bo@example.com>, Ed <ed@example.com>",
        "cc": "Cy <cy@example.com>",
    }


def test_a_mail_that_is_attached_is_a_document_of_its_own(tmp_path: Path) -> None:
    inner: Folder = {**OUTLOOK, PROPERTIES: outlook_list(24)}
    how = properties(8, {"3705": 5, "3707": "Ferry no. 5"})
    outer: Folder = {
        "__attach_version1.0_#00000000": {**how, "__substg1.0_3701000D": inner},
        "__attach_version1.0_#00000001": {**properties(8, {"3705": 5}), "__substg1.0_3701000D": {}},
    }
    file = write(tmp_path / "a.msg", {"0037": "Outer", "1000": "See below."}, outer)
    parts = list_parts(file, tmp_path)
    assert [(part.name, part.error) for part in parts] == [
        ("Ferry no. 5.eml", ""),
        ("Ferry no. 5.eml/prices.csv", ""),
        ("attached mail.eml", "is no mail, or a broken one: save it again"),
    ]
    with Unpacker(tmp_path).unpacked(file, parts[0]) as mail:
        loaded = load(mail)
    assert loaded.title == "Ferry times"
    assert loaded.text.endswith("The ferry leaves at 9.")
    with Unpacker(tmp_path).unpacked(file, parts[1]) as prices:
        assert load(prices).text == "| town | price |\n| --- | --- |\n| Lund | 7 |"


def enclosed(name: str, mail: Folder) -> Folder:
    how = properties(8, {"3705": 5, "3707": name})
    return {"__attach_version1.0_#00000001": {**how, "__substg1.0_3701000D": mail}}


def test_a_mail_in_an_attached_mail_keeps_its_letters(tmp_path: Path) -> None:
    values: Values = {"0037": "Fähre", "1000": "Um neun, Ørsted.", "0C1A": "Åsa"}
    prices = {name: value for name, value in OUTLOOK.items() if name.startswith("__attach")}
    middle = {**properties(24, {"0037": "Weiter"}), **prices}
    middle |= enclosed("Fähre", {**properties(24, values)})
    file = write(tmp_path / "a.msg", {"0037": "a"}, enclosed("ä", middle))
    parts = list_parts(file, tmp_path)
    assert [part.name for part in parts] == ["ä.eml", "ä.eml/prices.csv", "ä.eml/Fähre.eml"]
    with Unpacker(tmp_path).unpacked(file, parts[2]) as mail:
        assert load(mail).text == "From: Åsa\nSubject: Fähre\n\nUm neun, Ørsted."


def test_an_attached_mail_names_whom_it_went_to_as_one_that_is_not_attached(tmp_path: Path) -> None:
    people = {
        f"__recip_version1.0_#{n:08X}": recipient(f"Äda{n}, B", f"a{n}@example.com", 1)
        for n in range(60)
    }
    values: Values = {"0037": "Fähre", "0C1A": "Müller, Änne", "1000": "Um neun."}
    alone = load(write(tmp_path / "alone.msg", values, {**people}))
    inner: Folder = {**properties(24, values), **people}
    file = write(tmp_path / "a.msg", {"0037": "a"}, enclosed("in", inner))
    with Unpacker(tmp_path).unpacked(file, list_parts(file, tmp_path)[0]) as mail:
        loaded = load(mail)
    assert loaded.text == alone.text
    assert loaded.metadata == alone.metadata
    assert loaded.text.count("@example.com") == 60


def test_what_cannot_be_read_in_an_attached_mail_is_told_of_by_itself(tmp_path: Path) -> None:
    prices = {name: value for name, value in OUTLOOK.items() if name.startswith("__attach")}
    secret = enclosed("secret", {**properties(24, {"001A": "IPM.Note.Encrypted"})})
    values: Values = {"0037": "Fähre", "1009": plain_rtf(b"no RTF")}
    inner: Folder = {**properties(24, values), **prices, **secret}
    file = write(tmp_path / "a.msg", {"0037": "a"}, enclosed("in", inner))
    parts = list_parts(file, tmp_path)
    read = dict[str, str]()
    for part in parts:
        with Unpacker(tmp_path).unpacked(file, part) as inner_file:
            try:
                read[part.name] = load(inner_file).text
            except IngestError as error:
                read[part.name] = str(error)
    assert read == {
        "in.eml": "Subject: Fähre",
        "in.eml/body.rtf": "is no RTF, or a broken one: open it and save it again",
        "in.eml/prices.csv": "| town | price |\n| --- | --- |\n| Lund | 7 |",
        "in.eml/secret.eml": "is no mail, or a broken one: save it again",
    }


def outlook_list(header: int) -> bytes:
    """Return the list of the mail's properties as one has it that is attached."""
    listed = OUTLOOK[PROPERTIES]
    assert isinstance(listed, bytes)
    return bytes(header) + listed[32:]


def test_streams_that_share_their_bytes_are_refused_before_they_are_read(tmp_path: Path) -> None:
    names = [f"__substg1.0_{n:04X}0102" for n in range(100, 200)]
    file = write(
        tmp_path / "a.msg", {"0037": "Ferry", "1009": b"x" * 4000}, dict.fromkeys(names, b"y")
    )
    data = bytearray(file.read_bytes())
    shared = entry(data, "__substg1.0_10090102")
    for name in names:
        at = entry(data, name)
        data[at + 116 : at + 128] = data[shared + 116 : shared + 128]
    file.write_bytes(data)
    for read in (load, lambda file: list_parts(file, tmp_path)):
        with pytest.raises(IngestError, match=r"^is no mail, or a broken one: save it again$"):
            read(file)


def entry(data: bytes | bytearray, name: str) -> int:
    """Return where a compound file says where a stream begins, and its size."""
    return data.index(name.encode("utf-16-le").ljust(64, b"\0"))
