"""Texts, questions and cached vectors that the benchmarks share."""

import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import numpy as np
import platformdirs
import psycopg
from psycopg import sql

from lexichord import SyncLexichord
from lexichord.db.server import initialise
from lexichord.providers import Vectors
from lexichord.providers.embed.local import LocalEmbedder
from lexichord.settings import load_settings

ENGINES = ("plain", "textsearch", "vectorchord")
WINDOW, STRIDE = 800, 265  # characters; about 100k chunks over CUAD and the NDAs


@dataclass(frozen=True)
class Text:
    path: Path
    text: str

    def windows(self) -> list[tuple[int, str]]:
        starts = range(0, max(1, len(self.text) - WINDOW + STRIDE), STRIDE)
        return [(start, self.text[start : start + WINDOW]) for start in starts]


def texts(folder: Path) -> Iterator[Text]:
    for path in sorted(folder.rglob("*.txt")):
        yield Text(path, path.read_text(encoding="utf-8").replace("\0", ""))


def questions(data: Path) -> list[str]:
    """The distinct question parts of the LegalBench-RAG queries over the NDAs, in file order."""
    tests = json.loads((data / "legalbenchrag/benchmarks/contractnli.json").read_text())["tests"]
    return list(dict.fromkeys(test["query"].split("; ", 1)[1] for test in tests))


def cached_vectors(pieces: list[str], embedder: LocalEmbedder) -> Vectors:
    """Vectors of one document's pieces, kept by their digest in the user's cache folder."""
    digest = hashlib.sha256("\0".join([str(embedder.space), *pieces]).encode()).hexdigest()
    file = cache_folder() / f"{digest}.npy"
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_suffix(f".{os.getpid()}.npy")
        np.save(part, embedder.embed(pieces, "document").astype(np.float16))
        part.replace(file)
    return np.load(file).astype(np.float32)  # type: ignore[no-any-return]


def cache_folder() -> Path:
    chosen = os.environ.get("LEXICHORD_BENCH_CACHE")
    return Path(chosen) if chosen else platformdirs.user_cache_path("lexichord-bench")


def windows_home() -> Path:
    return cache_folder() / "windows"


def opened(name: str, engine: str, server: str | None) -> SyncLexichord:
    """Open a database of the benchmarks: an embedded one, or one on a server, made if need be."""
    home = cache_folder() / name
    if server is None:
        return SyncLexichord(home=home)
    dsn = _database(server, f"bench_{engine}_{name.replace('-', '_')}")
    initialise(load_settings(dsn=dsn, engine=engine))
    return SyncLexichord(dsn=dsn, home=home)


def _database(server: str, name: str) -> str:
    """Return the DSN of a server's database, made if need be."""
    with psycopg.connect(server, autocommit=True) as admin:
        row = "select from pg_database where datname = %s"
        if not admin.execute(row, (name,)).rowcount:
            admin.execute(sql.SQL("create database {}").format(sql.Identifier(name)))
    return urlunsplit(urlsplit(server)._replace(path=f"/{name}"))


def fill_windows(lexichord: SyncLexichord, data: Path) -> None:
    """Store the windows of CUAD and the NDAs with their cached vectors, unless they are there."""
    corpus = list(texts(data / "legalbenchrag/corpus"))
    if lexichord.status().documents == len(corpus):
        return
    embedder = LocalEmbedder(windows_home())
    lexichord.ingest(documents=(_document(text, embedder) for text in corpus), context="none")


def _document(text: Text, embedder: LocalEmbedder) -> dict[str, object]:
    pieces = text.windows()
    vectors = cached_vectors([content for _, content in pieces], embedder)
    chunks = [
        {"content": content, "start": start, "vector": vector.tolist()}
        for (start, content), vector in zip(pieces, vectors, strict=True)
    ]
    uri = text.path.as_posix()
    return {"uri": uri, "text": text.text, "space": str(embedder.space), "chunks": chunks}
