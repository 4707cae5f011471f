"""The databases that trials begin with, on a bench: stocked, empty, of an earlier version."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count

from tests.end_to_end.context_server import context_server
from tests.end_to_end.hashing import OLD
from tests.end_to_end.test_tables import ARTICLE
from tests.sql.corpus import small_segments

from breaking import corpus, steps
from breaking.bench import Bench, Connection
from lexichord.db.schema import Choice, prepare
from lexichord.types import EmbeddingSpace

NUMBERS = count()

type Fill = Callable[[str], None]


@dataclass(frozen=True)
class Stage:
    """`llm` is the address of a model that writes contexts."""

    bench: Bench
    engine: str
    llm: str

    def make(self, fill_earlier: Fill) -> None:
        with self.bench.connected("postgres") as admin:
            for name in ("stocked", "empty", "earlier"):
                admin.execute(f"create database {name} {_locale(admin)}".encode())
        for name in ("stocked", "empty"):
            choice = Choice(self.engine, "simple", EmbeddingSpace.parse(OLD))
            prepare(self.bench.dsn(name), choice)
        with self.bench.connected("stocked") as connection:
            small_segments(connection)
            connection.execute(ARTICLE.encode())
        with steps.opened(self.bench.dsn("stocked")) as lexichord:
            lexichord.ingest(documents=corpus.documents(corpus.STORED, 0), context="none")
        fill_earlier(self.bench.dsn("earlier"))

    @contextmanager
    def database(self, template: str) -> Iterator[str]:
        """Yield the name of a copy of a template, which is gone in the end."""
        name = f"t{next(NUMBERS)}"
        with self.bench.connected("postgres") as admin:
            admin.execute(f"create database {name} template {template}".encode())
            # Else sequences go back in a crash: Postgres takes what was logged of the template's
            # for what was logged of the copy's.
            admin.execute("checkpoint")
        try:
            yield name
        finally:
            self.bench.recover()
            with self.bench.connected("postgres") as admin:
                admin.execute(f"drop database {name} with (force)".encode())


def _locale(admin: Connection) -> str:
    if admin.info.server_version >= 170000:
        provider = "locale_provider builtin builtin_locale 'C.UTF-8'"
        return f"template template0 encoding 'utf8' locale 'C' {provider}"
    return "template template0 encoding 'utf8' locale 'C.UTF-8'"


@contextmanager
def stage(bench: Bench, engine: str, fill_earlier: Fill) -> Iterator[Stage]:
    """Make the databases; `fill_earlier` fills that of an earlier version."""
    with context_server() as server:
        made = Stage(bench, engine, server.url)
        made.make(fill_earlier)
        yield made
