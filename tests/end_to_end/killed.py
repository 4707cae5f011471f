"""A client to kill: forked from a process that has imported everything, it starts in no time."""

import multiprocessing
import time
from collections.abc import Sequence
from hashlib import sha256
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from random import Random
from signal import SIGKILL
from typing import Any

import numpy as np
import psycopg

from lexichord import SyncLexichord
from lexichord.ingest.flow import IngestLimits
from lexichord.providers import EmbedKind, Vectors
from lexichord.types import EmbeddingSpace

DONE = "done"
SMALL = IngestLimits(group_chunks=8, prune_batch_documents=2, max_context_calls=2)

SERVER = multiprocessing.get_context("forkserver")
SERVER.set_forkserver_preload([__name__])


class Scattered:
    """A vector for each text, far from that of any other text."""

    space = EmbeddingSpace("test", "tiny", 4)

    def embed(self, texts: Sequence[str], kind: EmbedKind) -> Vectors:
        time.sleep(0.001 * len(texts))
        seeds = (Random(sha256(text.encode()).digest()) for text in texts)
        return np.array([[seed.gauss(0, 1) for _ in range(4)] for seed in seeds], np.float32)


def start(*arguments: str) -> tuple[BaseProcess, Connection]:
    """Start `run` in a process; give it and the end of the pipe where its news arrive."""
    receiver, sender = SERVER.Pipe(duplex=False)
    process = SERVER.Process(target=run, args=(sender, *arguments))
    process.start()
    sender.close()
    return process, receiver


def run(pipe: Connection, dsn: str, step: str, place: str) -> None:
    """Take a step, in small groups, so that there is more to be cut off; tell all but skips.

    `place` is a folder, for a copy the target's DSN, for contexts the address of a model.
    """

    def tell(uri: str, status: str, reason: str) -> None:
        if status != "skipped":
            pipe.send(f"{Path(uri).name} {status}")

    model: dict[str, Any] = (
        {"llm": "openai/any", "llm_base_url": place} if step == "contextualize" else {}
    )
    with SyncLexichord(dsn=dsn, **model) as lexichord:
        lexichord.core.embedder = Scattered()
        lexichord.core.ingest_limits = SMALL
        pipe.send("open")
        if step == "retry":
            lexichord.retry_failed(listener=tell)
        elif step == "copy":
            lexichord.copy_to(place, listener=tell)
        elif step == "contextualize":
            lexichord.contextualize(listener=tell)
        else:
            lexichord.ingest([place], prune=step == "prune", listener=tell)
    pipe.send(DONE)


def finish(*arguments: str) -> list[str]:
    """Take a step to its end; give the news."""
    process, pipe = start(*arguments)
    news = []
    while (line := pipe.recv()) != DONE:
        news.append(line)
    end(process, pipe)
    return news


def kill(random: Random, *arguments: str) -> bool:
    """Kill a step after some of its news; tell whether it was in time."""
    process, pipe = start(*arguments)
    try:
        for _ in range(random.randrange(9)):
            if pipe.recv() == DONE:
                return False
        time.sleep(random.uniform(0, 0.04))
        process.kill()
        process.join()
        return process.exitcode == -SIGKILL
    finally:
        end(process, pipe)


def end(process: BaseProcess, pipe: Connection) -> None:
    process.join()
    pipe.close()


STATE = {
    "documents": "select uri, title, media_type, sha256, recipe, text, metadata, card_length "
    "from lexichord_data.document order by uri",
    "chunks": "select d.uri, c.ordinal, c.heading, c.char_start, c.char_end, c.page, c.content, "
    "c.context, c.keyword_context, c.lexemes::text, c.token_count, c.metadata, c.content_hash "
    "from lexichord_data.chunk c join lexichord_data.document d on d.id = c.document_id "
    "order by d.uri, c.ordinal",
    "terms": "select lexeme, df from lexichord_data.term where df <> 0 order by lexeme",
    "cards": "select d.uri, c.lexeme, c.tf, c.card_length from lexichord_data.card_term c "
    "join lexichord_data.document d on d.id = c.document_id order by d.uri, c.lexeme",
    "corpus": "select to_jsonb(c) from lexichord_data.corpus c",
    "failed": "select * from lexichord.failed_files('default')",
    "faults": "select * from lexichord.count_faults() where amount > 0",
    "problems": "select * from lexichord.find_problems()",
}
VECTORS = """
select c.embedding::real[] from lexichord_data.chunk c
join lexichord_data.document d on d.id = c.document_id order by d.uri, c.ordinal
"""
CLIENTS = "select count(*) from pg_stat_activity where application_name = 'lexichord' "
CLIENTS += "and datname = current_database()"


def state(dsn: str) -> dict[str, list[Any]]:
    with psycopg.connect(dsn) as connection:
        return {
            name: connection.execute(statement.encode()).fetchall()
            for name, statement in STATE.items()
        }


def unit_vectors(dsn: str) -> Any:
    with psycopg.connect(dsn) as connection:
        rows = np.array([row for (row,) in connection.execute(VECTORS).fetchall()])
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def assert_same(one: str, other: str) -> None:
    expected = state(other)
    assert state(one) == expected
    assert expected["documents"]
    assert expected["faults"] == expected["problems"] == []
    cosines = (unit_vectors(one) * unit_vectors(other)).sum(axis=1)
    assert cosines.min() > 0.9999
