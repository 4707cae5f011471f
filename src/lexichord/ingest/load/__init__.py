"""Load a file: its kind, its text, headings and tables. One module or folder a format.

Kinds are told by names and, where these tell none, by what a file holds; those of programming
languages are text/x-…. A format's library is imported when its first file is loaded.
"""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import import_module
from mimetypes import MimeTypes
from pathlib import Path, PurePath
from types import MappingProxyType
from urllib.parse import unquote

from lexichord.errors import IngestError
from lexichord.ingest.load import text
from lexichord.ingest.load.marks import LEFT_OUT, LoadOptions
from lexichord.ingest.load.text import (
    HEAD_BYTES,
    OPENING_HEADING,
    heading_name,
    is_text,
    open_regular,
)
from lexichord.types import LoadedText
from lexichord.types.base import LANGUAGE_ENDINGS

PDF_TYPE = "application/pdf"
DOCX_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
PPTX_TYPE = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
XLSX_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
XLS_TYPE = "application/vnd.ms-excel"
ODS_TYPE = "application/vnd.oasis.opendocument.spreadsheet"
ODP_TYPE = "application/vnd.oasis.opendocument.presentation"
ODT_TYPE = "application/vnd.oasis.opendocument.text"
HTML_TYPE = "text/html"
MARKDOWN_TYPE = "text/markdown"
CSV_TYPE = "text/csv"
TSV_TYPE = "text/tab-separated-values"
NOTEBOOK_TYPE = "application/x-ipynb+json"
EPUB_TYPE = "application/epub+zip"
EML_TYPE = "message/rfc822"
MSG_TYPE = "application/vnd.ms-outlook"
RTF_TYPE = "application/rtf"
RST_TYPE = "text/prs.fallenstein.rst"
ORG_TYPE = "text/org"
ASCIIDOC_TYPE = "text/asciidoc"
TEX_TYPE = "application/x-tex"
NDJSON_TYPE = "application/x-ndjson"
XML_TYPE = "application/xml"
ZIP_TYPE = "application/zip"
GZIP_TYPE = "application/gzip"
# The first ending of a type is the one that a file sent under that type alone is given.
ENDINGS = {
    "text/plain": ".txt .text .log .ini .cfg .conf .properties",
    MARKDOWN_TYPE: ".md .markdown .mdx",
    PDF_TYPE: ".pdf",
    DOCX_TYPE: ".docx",
    PPTX_TYPE: ".pptx .pptm",
    XLSX_TYPE: ".xlsx .xlsm .xlsb",
    XLS_TYPE: ".xls",
    ODS_TYPE: ".ods",
    ODP_TYPE: ".odp",
    ODT_TYPE: ".odt",
    HTML_TYPE: ".html .htm .xhtml",
    CSV_TYPE: ".csv",
    TSV_TYPE: ".tsv .tab",
    NOTEBOOK_TYPE: ".ipynb",
    EPUB_TYPE: ".epub",
    EML_TYPE: ".eml",
    MSG_TYPE: ".msg",
    RTF_TYPE: ".rtf",
    RST_TYPE: ".rst .rest",
    ORG_TYPE: ".org",
    ASCIIDOC_TYPE: ".adoc .asciidoc",
    TEX_TYPE: ".tex .ltx .latex",
    "text/css": ".css",
    "application/json": ".json",
    NDJSON_TYPE: ".ndjson .jsonl",
    "application/toml": ".toml",
    XML_TYPE: ".xml .rss .atom",
    "application/yaml": ".yaml .yml",
    ZIP_TYPE: ".zip",
    GZIP_TYPE: ".gz",
    **{f"text/x-{language}": endings for language, endings in LANGUAGE_ENDINGS.items()},
}
MEDIA_TYPES: Mapping[str, str] = MappingProxyType(
    {ending: kind for kind, endings in ENDINGS.items() for ending in endings.split()}
)
# Files that are known by their names: their stems, in small letters.
PLAIN_NAMES = (
    "readme license licence copying notice authors contributors contributing maintainers "
    "changelog changes history news install todo thanks credits patents version codeowners"
)
KNOWN_NAMES: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(PLAIN_NAMES.split(), "text/plain"),
        **dict.fromkeys(("dockerfile", "containerfile"), "text/x-dockerfile"),
        **dict.fromkeys(("makefile", "gnumakefile"), "text/x-makefile"),
        **dict.fromkeys(("gemfile", "rakefile", "vagrantfile"), "text/x-ruby"),
        "jenkinsfile": "text/x-groovy",
        "procfile": "text/plain",
    }
)
# Other names under which types are sent.
TYPE_ALIASES: Mapping[str, str] = MappingProxyType(
    {
        "application/x-zip-compressed": ZIP_TYPE,
        "application/x-gzip": GZIP_TYPE,
        "application/x-pdf": PDF_TYPE,
        "application/xhtml+xml": HTML_TYPE,
        "application/rss+xml": XML_TYPE,
        "application/atom+xml": XML_TYPE,
        "application/csv": CSV_TYPE,
        "application/x-yaml": "application/yaml",
        "application/x-jupyter-notebook": NOTEBOOK_TYPE,
        "application/jsonl": NDJSON_TYPE,
        "text/json": "application/json",
        "text/xml": XML_TYPE,
        "text/rtf": RTF_TYPE,
        "text/x-markdown": MARKDOWN_TYPE,
        "text/x-rst": RST_TYPE,
        **dict.fromkeys(("application/x-latex", "text/x-tex", "text/x-latex"), TEX_TYPE),
        "text/yaml": "application/yaml",
    }
)
# Which may hide something, or hold comments, and mark it.
MARKED_TYPES = (
    *(PDF_TYPE, DOCX_TYPE, PPTX_TYPE, XLSX_TYPE, XLS_TYPE),
    *(ODS_TYPE, ODT_TYPE, ODP_TYPE, RTF_TYPE),
)
ARCHIVE_TYPES = (ZIP_TYPE, GZIP_TYPE)  # which are no documents themselves
CONTAINER_TYPES = (*ARCHIVE_TYPES, EML_TYPE, MSG_TYPE)  # which hold files that are documents
TEXT_TYPE = "text/plain"
KNOWN_ENDINGS = MimeTypes(filenames=())  # of the standard library, whatever the system has
BINARY_TYPES = ("image/", "audio/", "video/", "font/", "application/octet-stream")


def kind_of(name: str) -> str | None:
    """Return the media type of a file by its name; None where its kind cannot be read."""
    path = PurePath(name)
    ending = path.suffix.lower()
    if ending in MEDIA_TYPES:
        return MEDIA_TYPES[ending]
    stem = path.name.partition(".")[0].lower()
    is_named = not ending or KNOWN_NAMES.get(stem, "").startswith("text/x-")  # Dockerfile.dev
    return KNOWN_NAMES.get(stem) if is_named else None


def kind_of_file(file: Path) -> str | None:
    """Return the media type of a file by its name, or as a text if it holds one.

    None where it cannot be read.
    """
    return kind_of_content(file.name, lambda: _head(file))


def kind_of_content(name: str, head: Callable[[], bytes]) -> str | None:
    """Return the media type by the name or, where it tells none, by what the content begins with.

    Pictures, sounds and the like are none even if they are written in letters.
    """
    kind = kind_of(name)
    if kind is None and not (KNOWN_ENDINGS.guess_type(name)[0] or "").startswith(BINARY_TYPES):
        return TEXT_TYPE if is_text(head()) else None
    return kind


def _head(file: Path) -> bytes:
    """Return how a file begins; nothing of what is no file, or cannot be opened."""
    try:
        with open_regular(file) as stream:
            return stream.read(HEAD_BYTES)
    except (OSError, IngestError):
        return b""


def unread_kind(name: str) -> str:
    """Name the kind of a file that cannot be read: its ending, or that it has none."""
    return PurePath(name).suffix.lower() or "without an ending"


def named_by_type(name: str, media_type: str) -> str:
    """Return a name of a known kind: its own or, if that is of none, with its type's ending."""
    plain = media_type.partition(";")[0].strip().lower()
    endings = ENDINGS.get(TYPE_ALIASES.get(plain, plain), "").split()
    return f"{name}{endings[0]}" if endings and kind_of(name) is None else name


type Loader = Callable[[Path, str], LoadedText]
type MarkingLoader = Callable[[Path, str, LoadOptions], LoadedText]
type TakingLoader = Callable[[Path, str, Path], LoadedText]

# Which may take in other files.
TAKING_TYPES = (
    MARKDOWN_TYPE,
    RST_TYPE,
    ORG_TYPE,
    ASCIIDOC_TYPE,
    TEX_TYPE,
)
# The functions that load what is not plain text, by kind, in their modules.
LOADERS: Mapping[str, str] = MappingProxyType(
    {
        PDF_TYPE: "pdf.load",
        DOCX_TYPE: "docx.load",
        PPTX_TYPE: "slides.load",
        **dict.fromkeys((XLSX_TYPE, XLS_TYPE, ODS_TYPE), "sheets.load"),
        **dict.fromkeys((CSV_TYPE, TSV_TYPE), "tables.load_delimited"),
        HTML_TYPE: "html.load",
        NOTEBOOK_TYPE: "books.load_notebook",
        EPUB_TYPE: "books.load_epub",
        EML_TYPE: "mail.load",
        MSG_TYPE: "outlook.load",
        ODT_TYPE: "odf.load_odt",
        ODP_TYPE: "odf.load_odp",
        RTF_TYPE: "rtf.load",
        MARKDOWN_TYPE: "markdown.load",
        **dict.fromkeys((RST_TYPE, ORG_TYPE, ASCIIDOC_TYPE), "markup.load"),
        TEX_TYPE: "tex.load",
        NDJSON_TYPE: "tables.load_records",
        XML_TYPE: "books.load_xml",
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
    if kind in ARCHIVE_TYPES:
        raise IngestError("is an archive: its files are documents, it is none itself")
    named = title(uri, "", kind)
    if kind in LOADERS:
        module, _, name = LOADERS[kind].rpartition(".")
        function = getattr(import_module(f"{__name__}.{module}"), name)
        if kind in MARKED_TYPES:
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
    kind = kind_of_file(file)
    if kind is None:
        if instead := SAVED_AS.get(file.suffix.lower()):
            raise IngestError(f"'{file.suffix}' cannot be read: save it as {instead} or .pdf")
        known = "text, .md, .pdf, .docx, .pptx, .xlsx, .csv, .html, .eml, .epub and source code"
        raise IngestError(f"'{file.suffix}' is no kind that can be read: {known} are")
    return kind


def title(uri: str, text: str, kind: str) -> str:
    """Return the heading that a Markdown file opens with, else the file's name in words."""
    if kind == MARKDOWN_TYPE and (match := OPENING_HEADING.search(text)):
        return heading_name(match[1])
    name = Path(unquote(uri))
    stem = name.stem if kind_of(f"a{name.suffix}") else name.name
    return re.sub(r"[\s_-]+", " ", stem).strip() or uri
