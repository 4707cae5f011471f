"""Load a file: its text, headings and tables. One module or folder a format: text, pdf, docx, html.

A format's library is imported when its first file is loaded.
"""

import os
import re
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

from lexichord.errors import IngestError
from lexichord.ingest.load import text
from lexichord.ingest.load.kinds import (
    DOCX_TYPE,
    HTML_TYPE,
    MEDIA_TYPES,
    PDF_TYPE,
)
from lexichord.ingest.load.options import LoadOptions
from lexichord.types import LoadedText

MARKDOWN_TITLE = re.compile(r"\A\ufeff?\s*# +(\S[^\n]{0,200})$", re.MULTILINE)
CLOSING_HASHES = re.compile(r"[ \t]+#+$")  # of a Markdown heading


def load(file: Path, options: LoadOptions = LoadOptions()) -> LoadedText:  # noqa: B008 - frozen
    """Read a file of a known kind. Raises IngestError."""
    kind = media_type(file)
    if file.exists() and not file.is_file():
        raise IngestError("is no file")  # opening a pipe would wait for ever
    try:
        loaded = _load(file, kind, options)
    except ModuleNotFoundError as error:
        needed = f"needs {error.name}: pip install 'lexichord[files]'"
        raise IngestError(f"a file such as this {needed}") from error
    if not loaded.text.strip("\ufeff \t\r\n\f"):
        raise IngestError("holds no text")
    if len(loaded.text) > text.MAX_TEXT_BYTES:
        raise text.too_long_error()
    return _flagged(loaded)


def _load(file: Path, kind: str, options: LoadOptions) -> LoadedText:
    """Leave the file to the loader of its kind, whose library is imported when it is needed."""
    uri = os.fsencode(file).decode(errors="backslashreplace")  # a name may be no UTF-8
    named = title(uri, "", kind)
    if kind == PDF_TYPE:
        from lexichord.ingest.load import pdf

        return pdf.load(file, named, options)
    if kind == DOCX_TYPE:
        from lexichord.ingest.load import docx

        return docx.load(file, named)
    if kind == HTML_TYPE:
        from lexichord.ingest.load import html

        return html.load(file, named)
    content, metadata = text.read_text(file)
    return LoadedText(content, kind, title(uri, content, kind), metadata=metadata)


def _flagged(loaded: LoadedText) -> LoadedText:
    flags = [*loaded.metadata.get("flags", ()), *text.invisible_flags(loaded.text)]
    return replace(loaded, metadata={**loaded.metadata, "flags": flags}) if flags else loaded


def media_type(file: Path) -> str:
    """Return the media type by the name's ending. Raises IngestError."""
    try:
        return MEDIA_TYPES[file.suffix.lower()]
    except KeyError:
        known = ".txt, .md, .pdf, .docx, .html and source code"
        raise IngestError(f"'{file.suffix}' is no kind that can be read: {known} are") from None


def title(uri: str, text: str, kind: str) -> str:
    """Return the heading that a Markdown file opens with, else the file's name in words."""
    if kind == "text/markdown" and (match := MARKDOWN_TITLE.search(text)):
        return CLOSING_HASHES.sub("", match[1].strip())
    stem = Path(unquote(uri)).stem
    return re.sub(r"[\s_-]+", " ", stem).strip() or uri
