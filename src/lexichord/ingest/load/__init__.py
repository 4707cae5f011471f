"""Files in, text and what the format says about it out: one module a format."""

import re
from pathlib import Path
from urllib.parse import unquote

from lexichord.errors import IngestError
from lexichord.ingest.load import text
from lexichord.types import LoadedText

MEDIA_TYPES = {".txt": "text/plain", ".md": "text/markdown", ".markdown": "text/markdown"}
TITLE = re.compile(r"\A\ufeff?\s*# +(\S[^\n]{0,200})$", re.MULTILINE)
CLOSING = re.compile(r"[ \t]+#+$")  # of a Markdown heading


def load(file: Path) -> LoadedText:
    """Read a file of a known kind. Raises IngestError."""
    kind = media_type(file)
    content = text.read_text(file)
    return LoadedText(content, kind, title(file.as_posix(), content, kind))


def media_type(file: Path) -> str:
    """Tell the kind from the name's ending. Raises IngestError."""
    try:
        return MEDIA_TYPES[file.suffix.lower()]
    except KeyError:
        known = ", ".join(MEDIA_TYPES)
        raise IngestError(f"'{file.suffix}' is no kind that can be read: {known}") from None


def title(uri: str, text: str, kind: str) -> str:
    """Give the heading that a Markdown file opens with, else the file's name in words."""
    if kind == "text/markdown" and (match := TITLE.search(text)):
        return CLOSING.sub("", match[1].strip())
    stem = Path(unquote(uri)).stem
    return re.sub(r"[\s_-]+", " ", stem).strip() or uri
