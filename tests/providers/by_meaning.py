"""Documents of one word, stored and asked for by words of the same meaning."""

from collections.abc import Mapping
from pathlib import Path

from lexichord import SyncLexichord
from lexichord.db import schema
from lexichord.types import EmbeddingSpace
from tests.conftest import new_database


def first_hits(server: str, model: Path, asked: Mapping[str, str], home: Path) -> dict[str, str]:
    """Return the first hit for each question; the questions lead to what is to be stored."""
    space = EmbeddingSpace("local", str(model), 4)
    with new_database(server) as dsn:
        schema.prepare(dsn, schema.Choice(space=space))
        with SyncLexichord(dsn=dsn, home=home) as lexichord:
            documents = [{"uri": word, "text": word} for word in asked.values()]
            report = lexichord.ingest(documents=documents)
            assert (report.embedded, report.degraded) == (len(asked), [])
            return {question: lexichord.search(question, k=1).hits[0].uri for question in asked}
