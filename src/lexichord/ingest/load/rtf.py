"""RTF: its text, with the cells of tables parted by bars."""

import re
from codecs import BOM_UTF8
from pathlib import Path

from striprtf.striprtf import rtf_to_text

from lexichord.errors import IngestError
from lexichord.ingest.load.kinds import RTF_TYPE
from lexichord.ingest.load.text import TextBuilder, read_bytes, storable_text
from lexichord.types import LoadedText

BROKEN_RTF = "is no RTF, or a broken one: open it and save it again"
INFO = re.compile(r"\{\\(title|author|subject)(?: |(?=\\))([^{}]{1,1000})\}")


def load(file: Path, named: str) -> LoadedText:
    """Read an RTF file. Raises IngestError."""
    content = read_bytes(file).removeprefix(BOM_UTF8).decode("latin-1")  # all else is escaped
    if not content.lstrip().startswith("{\\rtf"):
        raise IngestError(BROKEN_RTF)
    try:
        text = _plain(content)
        info = {
            key: " ".join(_plain("{\\rtf1 " + value + "}").split())
            for key, value in INFO.findall(content)
        }
    except (ValueError, LookupError, TypeError, AttributeError):
        raise IngestError(BROKEN_RTF) from None
    built = TextBuilder()
    for paragraph in re.split(r"\n\s*\n", text):
        if paragraph.strip():
            built.paragraph(paragraph.strip("\n"))
    title = info.pop("title", "") or named
    return LoadedText(built.text, RTF_TYPE, title, metadata={k: v for k, v in info.items() if v})


def _plain(content: str) -> str:
    return storable_text(rtf_to_text(content, errors="replace"))  # type: ignore[no-untyped-call]
