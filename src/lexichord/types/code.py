"""Programming languages, by the endings of their files' names."""

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
CODE_ENDINGS = tuple(" ".join(LANGUAGE_ENDINGS.values()).split())


def is_code_file(uri: str) -> bool:
    """Return whether a uri's ending is that of a programming language."""
    return uri.lower().endswith(CODE_ENDINGS)
