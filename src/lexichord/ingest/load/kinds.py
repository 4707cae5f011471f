"""Kinds of files, by the ending of their names, and characters that are flagged or dropped.

The media types of programming languages are text/x-….
"""

import re

INVISIBLE_CHARACTERS = {
    # zero-width joiners are part of emoji and of Indic and Persian words, so they are not flagged
    "zero-width characters": re.compile("[\u200b\u2060\u180e]|(?<!^)\ufeff"),
    "bidirectional characters": re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"),
}
SURROGATE_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
UNSTORABLE = re.compile("[\0\ud800-\udfff]")
DROPPED_FLAG = "characters that cannot be stored were dropped"


def invisible_flags(text: str) -> list[str]:
    """Name the kinds of invisible characters that a text holds."""
    return [name for name, pattern in INVISIBLE_CHARACTERS.items() if pattern.search(text)]


def storable_text(text: str) -> str:
    """Put halves of characters together, drop those that stay alone, and NUL."""
    return UNSTORABLE.sub("", SURROGATE_PAIR.sub(_whole, text))


def _whole(pair: re.Match[str]) -> str:
    return pair[0].encode("utf-16", "surrogatepass").decode("utf-16")


PDF_TYPE = "application/pdf"
DOCX_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
HTML_TYPE = "text/html"
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
MEDIA_TYPES = {
    ".txt": "text/plain",
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".pdf": PDF_TYPE,
    ".docx": DOCX_TYPE,
    ".html": HTML_TYPE,
    ".htm": HTML_TYPE,
    ".xhtml": HTML_TYPE,
    ".css": "text/css",
    ".json": "application/json",
    ".toml": "application/toml",
    ".xml": "application/xml",
    ".yaml": "application/yaml",
    ".yml": "application/yaml",
    **{
        ending: f"text/x-{language}"
        for language, endings in LANGUAGE_ENDINGS.items()
        for ending in endings.split()
    },
}
