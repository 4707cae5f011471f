"""Embedders of any space that need no model, and a reembed in a process that can be killed."""

import asyncio
import time
from collections.abc import Callable, Sequence
from hashlib import sha256
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path

import numpy as np

from lexichord import SyncLexichord
from lexichord.db import reembed as db
from lexichord.ingest.flow import IngestLimits
from lexichord.providers import Embedder, EmbedKind, Vectors
from lexichord.settings import Settings
from lexichord.types import EmbeddingSpace
from tests.end_to_end.killed import SERVER

OLD, SAME, NEW = "test/tiny/4", "test/same/4", "test/other/6"
SLICE = 4  # chunks of a call


class Hashing:
    """Feature hashing: each word adds a direction that the space's name and the word decide.

    `heard` hears of each call's texts before they are embedded; those with `refused` are refused.
    """

    def __init__(
        self,
        space: str,
        heard: Callable[[Sequence[str]], None] = lambda texts: None,
        seconds: float = 0,
        refused: str | None = None,
    ) -> None:
        self._space = EmbeddingSpace.parse(space)
        self._heard, self._seconds, self._refused = heard, seconds, refused

    @property
    def space(self) -> EmbeddingSpace:
        return self._space

    def embed(self, texts: Sequence[str], kind: EmbedKind) -> Vectors:
        if kind == "document":
            self._heard(texts)
        time.sleep(self._seconds)
        rows = np.array([self.vector(text) for text in texts], np.float32)
        rows[[self._refused in text.split() for text in texts]] = np.nan
        return rows.reshape(len(texts), self._space.dimension)

    def vector(self, text: str) -> list[float]:
        total = np.zeros(self._space.dimension)
        for word in text.lower().split():
            seed = int.from_bytes(sha256(f"{self._space}{word}".encode()).digest()[:8])
            total += np.random.default_rng(seed).normal(size=self._space.dimension)
        return [float(value) for value in total / max(np.linalg.norm(total), 1e-9)]


class Counting:
    """Another embedder, and the texts of each call, by kind."""

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder
        self.calls: dict[str, list[list[str]]] = {"query": [], "document": []}

    @property
    def space(self) -> EmbeddingSpace:
        return self.embedder.space

    def embed(self, texts: Sequence[str], kind: EmbedKind) -> Vectors:
        self.calls[kind].append([*texts])
        return self.embedder.embed(texts, kind)

    def taken(self) -> list[str]:
        """Give the texts of documents since it was asked last."""
        calls, self.calls["document"] = self.calls["document"], []
        return [text for call in calls for text in call]


def finder(
    *known: str,
    heard: Callable[[Sequence[str]], None] = lambda texts: None,
    seconds: float = 0,
    refused: str | None = None,
) -> Callable[[Settings, str], tuple[Embedder | None, list[str]]]:
    """What finds an embedder of the known spaces, as the application's own does."""

    def find(settings: Settings, space: str) -> tuple[Embedder | None, list[str]]:
        if space not in known:
            return None, [f"no embedder for {space}: by words only"]
        return Hashing(space, heard, seconds, refused if space != OLD else None), []

    return find


def application(dsn: str, *known: str, **options: object) -> SyncLexichord:
    """Not open yet."""
    lexichord = SyncLexichord(dsn=dsn)
    lexichord.core.find_embedder = finder(*(known or (OLD, SAME, NEW)), **options)  # type: ignore[arg-type]
    return lexichord


def _wait_for(file: Path) -> None:
    while not file.exists():
        time.sleep(0.01)


def start(dsn: str, to: str | None, log: Path, stop_at: str = "") -> tuple[BaseProcess, Connection]:
    """Start a reembed in a process; it logs the texts of each call and tells what it reaches."""
    receiver, sender = SERVER.Pipe(duplex=False)
    process = SERVER.Process(target=run, args=(sender, dsn, to, log, stop_at))
    process.start()
    sender.close()
    return process, receiver


def run(pipe: Connection, dsn: str, to: str | None, log: Path, stop_at: str) -> None:
    """Reembed in small calls; at `stop_at`, wait until log.go is there."""

    def heard(texts: Sequence[str]) -> None:
        with log.open("a") as file:
            file.write("".join(f"{text!r}\n" for text in texts))
        pipe.send("call")

    def halting(name: str) -> None:
        original = getattr(db, name)

        async def step(*args: object, **kwargs: object) -> object:
            pipe.send(name)
            if stop_at == name:
                await asyncio.to_thread(_wait_for, log.with_suffix(".go"))
            result = await original(*args, **kwargs)
            pipe.send(f"{name} done")
            if stop_at == f"{name} done":
                await asyncio.to_thread(_wait_for, log.with_suffix(".go"))
            return result

        setattr(db, name, step)

    for name in ("start_reembed", "build_reembed_indexes", "swap_spaces"):
        halting(name)
    with application(dsn, heard=heard, seconds=0.002) as lexichord:
        lexichord.core.ingest_limits = IngestLimits(slice_chunks=SLICE)
        lexichord.reembed(to)
    pipe.send("end")
