"""Kinds of files, by their names. Those of programming languages are text/x-…."""

from collections.abc import Mapping
from pathlib import PurePath
from types import MappingProxyType

PDF_TYPE = "application/pdf"
DOCX_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
PPTX_TYPE = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
XLSX_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
XLS_TYPE = "application/vnd.ms-excel"
ODS_TYPE = "application/vnd.oasis.opendocument.spreadsheet"
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
NDJSON_TYPE = "application/x-ndjson"
XML_TYPE = "application/xml"
ZIP_TYPE = "application/zip"
LANGUAGE_ENDINGS = {
    "c": ".c .h",
    "c++": ".cpp .cc .cxx .hpp .hh",
    "clojure": ".clj",
    "csharp": ".cs",
    "dart": ".dart",
    "elixir": ".ex .exs",
    "erlang": ".erl",
    "go": ".go",
    "groovy": ".groovy",
    "haskell": ".hs",
    "java": ".java",
    "javascript": ".js .jsx .mjs .cjs",
    "julia": ".jl",
    "kotlin": ".kt .kts",
    "lua": ".lua",
    "objective-c": ".m",
    "ocaml": ".ml",
    "perl": ".pl .pm",
    "php": ".php",
    "powershell": ".ps1",
    "python": ".py .pyi",
    "r": ".r",
    "ruby": ".rb",
    "rust": ".rs",
    "scala": ".scala",
    "shellscript": ".sh .bash .zsh",
    "sql": ".sql",
    "swift": ".swift",
    "typescript": ".ts .tsx",
    "zig": ".zig",
}
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
    "text/css": ".css",
    "application/json": ".json",
    NDJSON_TYPE: ".ndjson .jsonl",
    "application/toml": ".toml",
    XML_TYPE: ".xml .rss .atom",
    "application/yaml": ".yaml .yml",
    ZIP_TYPE: ".zip",
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
        "text/yaml": "application/yaml",
    }
)
CONTAINER_TYPES = (ZIP_TYPE, EML_TYPE, MSG_TYPE)  # which hold files that are documents themselves


def kind_of(name: str) -> str | None:
    """Return the media type of a file by its name; None where its kind cannot be read."""
    path = PurePath(name)
    ending = path.suffix.lower()
    if ending in MEDIA_TYPES:
        return MEDIA_TYPES[ending]
    stem = path.name.partition(".")[0].lower()
    is_named = not ending or KNOWN_NAMES.get(stem, "").startswith("text/x-")  # Dockerfile.dev
    return KNOWN_NAMES.get(stem) if is_named else None


def unread_kind(name: str) -> str:
    """Name the kind of a file that cannot be read: its ending, or that it has none."""
    return PurePath(name).suffix.lower() or "without an ending"


def named_by_type(name: str, media_type: str) -> str:
    """Return a name of a known kind: its own or, if that is of none, with its type's ending."""
    plain = media_type.partition(";")[0].strip().lower()
    endings = ENDINGS.get(TYPE_ALIASES.get(plain, plain), "").split()
    return f"{name}{endings[0]}" if endings and kind_of(name) is None else name
