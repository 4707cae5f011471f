"""Which files can be read, by the ending of their names. Programming languages are text/x-…"""

PDF = "application/pdf"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
HTML = "text/html"
LANGUAGES = {
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
    ".pdf": PDF,
    ".docx": DOCX,
    ".html": HTML,
    ".htm": HTML,
    ".xhtml": HTML,
    ".css": "text/css",
    ".json": "application/json",
    ".toml": "application/toml",
    ".xml": "application/xml",
    ".yaml": "application/yaml",
    ".yml": "application/yaml",
    **{
        ending: f"text/x-{language}"
        for language, endings in LANGUAGES.items()
        for ending in endings.split()
    },
}
