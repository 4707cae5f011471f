"""Load a file: its text, headings and tables. One module or folder a format.

A format's library is imported when its first file is loaded.
"""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from urllib.parse import unquote

from lexichord.errors import IngestError
from lexichord.ingest.load import kinds, text
from lexichord.ingest.load.marks import LEFT_OUT, LoadOptions
from lexichord.ingest.load.text import OPENING_HEADING, heading_name
from lexichord.types import LoadedText

type Loader = Callable[[Path, str], LoadedText]
type MarkingLoader = Callable[[Path, str, LoadOptions], LoadedText]
type TakingLoader = Callable[[Path, str, Path], LoadedText]

# Which may take in other files.
TAKING_TYPES = (
    kinds.MARKDOWN_TYPE,
    kinds.RST_TYPE,
    kinds.ORG_TYPE,
    kinds.ASCIIDOC_TYPE,
    kinds.TEX_TYPE,
)
# The functions that load what is not plain text, by kind, in their modules.
LOADERS: Mapping[str, str] = MappingProxyType(
    {
        kinds.PDF_TYPE: "pdf.load",
        kinds.DOCX_TYPE: "docx.load",
        kinds.PPTX_TYPE: "slides.load",
        **dict.fromkeys((kinds.XLSX_TYPE, kinds.XLS_TYPE, kinds.ODS_TYPE), "sheets.load"),
        **dict.fromkeys((kinds.CSV_TYPE, kinds.TSV_TYPE), "tables.load_delimited"),
        kinds.HTML_TYPE: "html.load",
        kinds.NOTEBOOK_TYPE: "books.load_notebook",
        kinds.EPUB_TYPE: "books.load_epub",
        **dict.fromkeys((kinds.EML_TYPE, kinds.MSG_TYPE), "mail.load"),
        kinds.ODT_TYPE: "odf.load_odt",
        kinds.ODP_TYPE: "odf.load_odp",
        kinds.RTF_TYPE: "rtf.load",
        kinds.MARKDOWN_TYPE: "markdown.load",
        **dict.fromkeys((kinds.RST_TYPE, kinds.ORG_TYPE, kinds.ASCIIDOC_TYPE), "markup.load"),
        kinds.TEX_TYPE: "tex.load",
        kinds.NDJSON_TYPE: "tables.load_records",
        kinds.XML_TYPE: "books.load_xml",
    }
)

# What programs keep for themselves, and what they also save it as.
SAVED_AS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys((".pages", ".doc", ".wpd"), ".docx"),
        **dict.fromkeys((".key", ".ppt"), ".pptx"),
        ".numbers": ".xlsx",
    }
)


def load(
    file: Path,
    options: LoadOptions = LoadOptions(),  # noqa: B008 - frozen
    place: Path | None = None,
) -> LoadedText:
    """Read a file of a known kind. Raises IngestError.

    `place` is where it stands, and may take others in from, where it is read by another path.
    """
    kind = media_type(file)
    if file.exists() and not file.is_file():
        raise IngestError("is no file")  # opening a pipe would wait for ever
    try:
        loaded = _load(file, kind, options, place or file.resolve())
    except ModuleNotFoundError as error:
        needed = f"needs {error.name}: pip install 'lexichord[files]'"
        raise IngestError(f"a file such as this {needed}") from error
    if not loaded.text.strip("\ufeff \t\r\n\f"):
        left_out = (f for f in loaded.metadata.get("flags", ()) if f.startswith(LEFT_OUT))
        raise IngestError("; ".join(["holds no text", *left_out]))
    if len(loaded.text) > text.MAX_TEXT_BYTES:
        raise text.too_long_error()
    return _flagged(loaded)


def _load(file: Path, kind: str, options: LoadOptions, place: Path) -> LoadedText:
    """Leave the file to the loader of its kind, whose library is imported when it is needed."""
    uri = os.fsencode(file).decode(errors="backslashreplace")  # a name may be no UTF-8
    if kind in kinds.ARCHIVE_TYPES:
        raise IngestError("is an archive: its files are documents, it is none itself")
    named = title(uri, "", kind)
    if kind in LOADERS:
        module, _, name = LOADERS[kind].rpartition(".")
        function = getattr(import_module(f"{__name__}.{module}"), name)
        if kind in kinds.MARKED_TYPES:
            marking: MarkingLoader = function
            return marking(file, named, options)
        if kind in TAKING_TYPES:
            taking: TakingLoader = function
            return taking(file, named, place)
        loader: Loader = function
        return loader(file, named)
    content, metadata = text.read_text(file)
    return LoadedText(content, kind, title(uri, content, kind), metadata=metadata)


def _flagged(loaded: LoadedText) -> LoadedText:
    flags = [*loaded.metadata.get("flags", ()), *text.invisible_flags(loaded.text)]
    return replace(loaded, metadata={**loaded.metadata, "flags": flags}) if flags else loaded


def media_type(file: Path) -> str:
    """Return the media type. Raises IngestError."""
    kind = kinds.kind_of_file(file)
    if kind is None:
        if instead := SAVED_AS.get(file.suffix.lower()):
            raise IngestError(f"'{file.suffix}' cannot be read: save it as {instead} or .pdf")
        known = "text, .md, .pdf, .docx, .pptx, .xlsx, .csv, .html, .eml, .epub and source code"
        raise IngestError(f"'{file.suffix}' is no kind that can be read: {known} are")
    return kind


def title(uri: str, text: str, kind: str) -> str:
    """Return the heading that a Markdown file opens with, else the file's name in words."""
    if kind == kinds.MARKDOWN_TYPE and (match := OPENING_HEADING.search(text)):
        return heading_name(match[1])
    name = Path(unquote(uri))
    stem = name.stem if kinds.kind_of(f"a{name.suffix}") else name.name
    return re.sub(r"[\s_-]+", " ", stem).strip() or uri
