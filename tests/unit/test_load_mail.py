"""Mails: their headers, their words, and what is attached to them."""

from email import policy
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest

from lexichord.errors import IngestError
from lexichord.ingest.load import load, mail
from lexichord.ingest.load.containers import Unpacker, list_parts
from lexichord.ingest.load.text import TextBuilder

PLAIN = "Dear Bo,\n\nthe ferry leaves at 9.\n"
PAGE = "<html><body><h2>Ferry</h2><p>It leaves at <b>nine</b>.</p></body></html>"


def make_mail() -> EmailMessage:
    mail = EmailMessage()
    mail["From"] = "Ada Løv <ada@example.com>"
    mail["To"] = "bo@example.com, cy@example.com"
    mail["Date"] = "Tue, 02 Feb 2027 10:00:00 +0100"
    mail["Subject"] = "Fähre – times"
    mail["Message-ID"] = "<1@example.com>"
    mail.set_content(PLAIN)
    return mail


def write(file: Path, mail: EmailMessage | bytes) -> Path:
    file.write_bytes(mail if isinstance(mail, bytes) else mail.as_bytes())
    return file


def test_who_wrote_what_to_whom_is_kept(tmp_path: Path) -> None:
    loaded = load(write(tmp_path / "a.eml", make_mail()))
    assert loaded.title == "Fähre – times"
    assert loaded.text.startswith("From: Ada Løv <ada@example.com>\nTo: bo@example.com, cy@")
    assert loaded.text.endswith("Dear Bo,\n\nthe ferry leaves at 9.")
    assert loaded.metadata == {
        "author": "Ada Løv <ada@example.com>",
        "to": "bo@example.com, cy@example.com",
        "created": "2027-02-02T10:00:00+01:00",
        "message_id": "<1@example.com>",
    }


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252"])
def test_headers_are_read_whose_letters_are_not_encoded(tmp_path: Path, encoding: str) -> None:
    mail = (
        "From: Jürgen Mühlbauer <jm@example.com>\nSubject: Prüfung für Müller\nMIME-Version: 1.0\n"
        'Content-Type: multipart/mixed; boundary="b"\n\n--b\nContent-Type: text/plain\n\nAhoi\n'
        '--b\nContent-Type: text/plain\nContent-Disposition: attachment; filename="Übersicht.txt"'
        "\n\nOne.\n--b--\n"
    )
    file = write(tmp_path / "a.eml", mail.encode(encoding))
    loaded = load(file)
    assert loaded.metadata["author"] == "Jürgen Mühlbauer <jm@example.com>"
    assert loaded.title == "Prüfung für Müller"
    assert [part.name for part in list_parts(file, tmp_path)] == ["Übersicht.txt"]


def test_of_alternatives_the_plain_text_is_read(tmp_path: Path) -> None:
    mail = make_mail()
    mail.add_alternative(PAGE, subtype="html")
    loaded = load(write(tmp_path / "a.eml", mail))
    assert "at 9." in loaded.text
    assert "nine" not in loaded.text


def test_a_page_alone_is_read_with_its_headings(tmp_path: Path) -> None:
    mail = make_mail()
    mail.set_content(PAGE, subtype="html", charset="iso-8859-1")
    loaded = load(write(tmp_path / "a.eml", mail))
    assert loaded.text.endswith("Ferry\n\nIt leaves at nine.")
    assert [(heading.level, heading.name) for heading in loaded.headings] == [(3, "Ferry")]


def attached() -> EmailMessage:
    mail = make_mail()
    mail.add_attachment("a;b\n1;2\n", filename="prices.csv", subtype="csv")
    mail.add_attachment(b"# Terms\n\nPay in 9 days.", "text", "markdown", filename="../terms")
    mail.add_attachment(b"\x89PNG", "image", "png", filename="logo.png")
    mail.add_attachment(make_mail())
    mail.add_attachment("more\n", filename="prices.csv")
    return mail


def test_what_is_attached_are_documents_of_their_own(tmp_path: Path) -> None:
    file = write(tmp_path / "a.eml", attached())
    assert "9 days" not in load(file).text
    parts = list_parts(file, tmp_path)
    assert [(part.name, part.unread) for part in parts] == [
        ("prices.csv", ""),
        ("_terms.md", ""),
        ("logo.png", ".png"),
        ("attached mail.eml", ""),
        ("5-prices.csv", ""),
    ]
    with Unpacker(tmp_path).unpacked(file, parts[1]) as inner:
        assert load(inner).title == "Terms"
    with Unpacker(tmp_path).unpacked(file, parts[3]) as inner:
        assert load(inner).title == "Fähre – times"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is no mail"),
        (b"\x00\x01\x02" * 100, "is no mail"),
        (b"just words", "is no mail"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"x" * 900, "is no mail"),
        (b"From: a@b\nContent-Type: multipart/encrypted; boundary=x\n\n--x\n", "is encrypted"),
        (b"Content-Type: text/plain\n\n   \n", "holds no text"),
    ],
)
def test_what_cannot_be_read_is_refused_with_the_reason(
    tmp_path: Path, content: bytes, reason: str
) -> None:
    for name in ("a.eml", "a.msg") if reason == "is no mail" else ("a.eml",):
        with pytest.raises(IngestError, match=reason):
            load(write(tmp_path / name, content))


@pytest.mark.parametrize(
    "content",
    [
        b"From: =?utf-8?B?////?= <a@b\nDate: 99 Foo\nSubject: [\x80\xff(\n\n\xe9t\xe9",
        b"From: a@b\nContent-Type: text/plain; charset=nonsense\n\nwords",
        b"From: a@b\nContent-Type: text/plain; charset=idna\n\nw\xf6rds" + b"x" * 20_000,
        b"From: a@b\nContent-Type: multipart/mixed; boundary=x\n\n--x\n\nwords\n",
        b"From: a@b\nContent-Transfer-Encoding: base64\n\nd29yZH M=???",
        b"From: " + b"a@b, " * 5000 + b"\n\nwords",
        b"From: a@b\nContent-Type: multipart/mixed\n\n--x\n\nwords of a part\n--x--\n",
    ],
)
@pytest.mark.timeout(30)
def test_broken_mails_are_read_as_far_as_they_go(tmp_path: Path, content: bytes) -> None:
    text = load(write(tmp_path / "a.eml", content)).text
    assert text
    assert ("words of a part" in text) == (b"words of a part" in content)


@pytest.mark.timeout(30)
def test_parts_without_end_are_refused(tmp_path: Path) -> None:
    lines = [f"Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n" for n in range(80)]
    with pytest.raises(IngestError, match="holds parts more than 50 deep"):
        load(write(tmp_path / "a.eml", ("From: a@b\n" + "".join(lines) + "\nwords").encode()))


@pytest.mark.timeout(30)
def test_mails_in_mails_without_end_are_refused(tmp_path: Path) -> None:
    nested = "Content-Type: message/rfc822\n\n" * 20_000
    with pytest.raises(IngestError, match="holds parts more than 50 deep"):
        load(write(tmp_path / "a.eml", f"From: a@b\n{nested}".encode()))


@pytest.mark.parametrize(
    ("head", "part"),
    [
        ("Content-Type: message/rfc822\n\nFrom: c@d\n\nthe ferry\n", "attached mail.eml"),
        ('Content-Type: text/plain; name="times.txt"\n\nthe ferry\n', "times.txt"),
        ("Content-Disposition: attachment; filename=a.csv\n\nthe,ferry\n", "a.csv"),
    ],
)
def test_a_mail_may_be_nothing_but_what_it_brings(tmp_path: Path, head: str, part: str) -> None:
    file = write(tmp_path / "a.eml", f"From: a@b\n{head}".encode())
    (brought,) = list_parts(file, tmp_path)
    assert brought.name == part
    with Unpacker(tmp_path).unpacked(file, brought) as inner:
        assert "ferry" in load(inner).text


def test_what_a_mail_is_made_of_is_its_own(tmp_path: Path) -> None:
    mail = b"From: a@b\nContent-Disposition: attachment\n" + many_parts(2, opening="")
    assert "pier 1" in load(write(tmp_path / "a.eml", mail)).text


def test_of_a_mail_whose_plain_form_says_little_the_other_is_read(tmp_path: Path) -> None:
    mail = EmailMessage()
    mail["From"] = "a@x.example"
    mail.set_content("Your program shows no HTML.")
    mail.add_alternative(f"<p>The pier is {'very ' * 20}wet.</p>", subtype="html")
    (tmp_path / "a.eml").write_bytes(mail.as_bytes())
    text = load(tmp_path / "a.eml").text
    assert "very wet." in text
    assert "no HTML" not in text


def many_parts(amount: int, kind: str = "mixed", opening: str = "From: a@b\n") -> bytes:
    parts = (f"--b\nContent-Type: text/html\n\n<p>pier {n}</p>\n" for n in range(amount))
    head = f"{opening}Content-Type: multipart/{kind}; boundary=b\n\n"
    return f"{head}{''.join(parts)}--b--\n".encode()


def test_more_parts_than_mails_have_are_refused(tmp_path: Path) -> None:
    file = write(tmp_path / "a.eml", many_parts(mail.MAX_MAIL_PARTS))
    for read in (load, lambda file: list(mail.eml_attachments(file))):
        with pytest.raises(IngestError, match=r"^holds more than 2,000 parts: save them apart$"):
            read(file)
    assert "pier 99" in load(write(file, many_parts(100))).text


def test_parts_are_refused_before_all_are_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = list[mail.Part]()

    class CountedPart(mail.Part):
        def __init__(self, **options: Any) -> None:
            made.append(self)
            super().__init__(**options)

    monkeypatch.setattr(mail, "Part", CountedPart)
    with pytest.raises(IngestError, match="holds more than"):
        load(write(tmp_path / "a.eml", many_parts(30_000)))
    assert len(made) == mail.MAX_MAIL_PARTS + 1  # one to see whether it can be made


def test_a_part_in_alternatives_in_each_other_is_laid_out_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once to count its words and once to be read: each alternative counted them anew."""
    laid_out = list[bytes]()
    add_page = mail.add_page

    def count_page(built: TextBuilder, data: bytes, charset: str | None) -> None:
        laid_out.append(data)
        add_page(built, data, charset)

    monkeypatch.setattr(mail, "add_page", count_page)
    opening = "From: a@b\n" + "".join(
        f"Content-Type: multipart/alternative; boundary=o{n}\n\n--o{n}\n"
        f"Content-Type: text/html\n\n<p>{n}</p>\n--o{n}\n"
        for n in range(20)
    )
    loaded = load(write(tmp_path / "a.eml", many_parts(30, opening=opening)))
    assert loaded.text.count("pier") == 30
    assert len(laid_out) == 20 + 2 * 30


def test_no_more_of_a_header_is_parsed_than_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is parsed takes the square of its length."""
    parsed = list[int]()
    make = policy.default.header_factory

    def count_letters(name: str, value: str) -> Any:
        parsed.append(len(value))
        return make(name, value)

    monkeypatch.setattr(mail, "parse_header", count_letters)
    people = ", ".join(f'"Løv, Ada {n}" <a{n}@example.com>' for n in range(10_000))
    subject = " ".join(["=?utf-8?q?F=C3=A4hre?="] * 10_000)
    content = f"From: {people}\nTo: {people}\nTo: {people}\nSubject: {subject}\n\nwords\n"
    loaded = load(write(tmp_path / "a.eml", content.encode()))
    assert max(parsed) <= mail.MAX_RAW_HEADER_CHARS
    assert len(loaded.metadata["to"]) == mail.MAX_HEADER_CHARS
    assert loaded.metadata["to"].startswith('"Løv, Ada 0" <a0@example.com>, "Løv, Ada 1" <a1@')
    assert loaded.title == "Fähre" * (mail.MAX_HEADER_CHARS // len("Fähre"))
