"""To vechord and back: its own library makes the tables, searches them, and we read them again."""

import sys
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pytest
from vechord.registry import VechordRegistry
from vechord.spec import (
    DefaultDocument,
    create_chunk_with_dim,
)

from lexichord import SyncLexichord
from lexichord.db import schema
from lexichord.errors import ConfigError, EngineUnsupportedError
from lexichord.providers.embed.local import LocalEmbedder
from tests.conftest import SAMPLES, SPACE, new_database
from tests.end_to_end.client import document, documents, uri
from tests.end_to_end.processes import wait_until

PATH = "?options=-c%20search_path%3Dpublic,bm25_catalog,tokenizer_catalog"
# Both find the same chunk first for 18 of the 29 sample questions, by vector for all: vechord's
# tokenizer neither stems nor drops stop words. These are among the 18.
QUESTIONS = [
    "What notice is needed to terminate the master services agreement for convenience?",
    "Which contract sends disputes to arbitrators in Gothenburg?",
    "How long is the CCTV footage from the doors stored?",
    "Which agreement provides for escrow of source code?",
    "Can a client poach the vendor's developers once the contract is over?",
]


@pytest.fixture(scope="module")
def server(vectorchord_dsn: str) -> str:
    """One that has all three of vechord's extensions."""
    with new_database(vectorchord_dsn) as dsn, psycopg.connect(dsn) as connection:
        try:
            connection.execute("create extension pg_tokenizer")
        except psycopg.Error as error:
            pytest.skip(f"no pg_tokenizer on the server: {error.diag.message_primary}")
    return vectorchord_dsn


@pytest.fixture
def dsn(server: str) -> Iterator[str]:
    with new_database(server) as dsn:
        schema.prepare(dsn, schema.Choice("vectorchord", "english", SPACE))
        yield dsn


@pytest.fixture(scope="module")
def samples(
    server: str, embedder: LocalEmbedder, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SyncLexichord]:
    """The sample corpus with real vectors, exported as `demo`."""
    with new_database(server) as dsn:
        schema.prepare(dsn, schema.Choice("vectorchord"))
        with SyncLexichord(dsn=dsn, home=tmp_path_factory.mktemp("home")) as lexichord:
            lexichord.ingest([SAMPLES / "agreements", SAMPLES / "policies"], dataset="own")
            lexichord.export_vechord("demo", ["own"])
            yield lexichord


@pytest.fixture
async def registry(samples: SyncLexichord) -> AsyncIterator[VechordRegistry]:
    tables = [DefaultDocument, create_chunk_with_dim(384)]
    url = f"{samples.core.settings.dsn}{PATH}"
    async with VechordRegistry("demo", url, tables=tables) as registry:
        yield registry


@pytest.mark.parametrize("question", QUESTIONS)
async def test_its_library_finds_the_same(
    samples: SyncLexichord, registry: VechordRegistry, embedder: LocalEmbedder, question: str
) -> None:
    chunk = registry.tables[1]
    ours = samples.search(question, mode="dense", k=10).hits
    vector = np.array(embedder.embed([question], "query")[0], dtype=np.float32)
    theirs: Any = await registry.search_by_vector(chunk, vector, topk=10)
    assert theirs[0].text == ours[0].content
    assert len({hit.text for hit in theirs} & {hit.content for hit in ours}) >= 9
    ours = samples.search(question, mode="keyword", k=1).hits
    theirs = await registry.search_by_keyword(chunk, question, topk=1)
    assert theirs[0].text == ours[0].content


def test_it_comes_back_as_it_went(samples: SyncLexichord) -> None:
    report = samples.import_vechord("demo", dataset="back")
    assert (report.inserted, report.embedded, report.failed) == (13, 0, {})
    every = "select d.title, d.text, c.ordinal, c.content, c.embedding::text from "
    joined = "lexichord_data.chunk c join lexichord_data.document d on d.id = c.document_id "
    rows = []
    with psycopg.connect(str(samples.core.settings.dsn)) as connection:
        for dataset in ("own", "back"):
            only = "join lexichord_data.dataset s on s.id = d.dataset_id where s.name = %s "
            query = every + joined + only + "order by 1, 2, 3"
            rows.append(connection.execute(query.encode(), [dataset]).fetchall())
    assert rows[0] == rows[1]
    assert len(rows[0]) > 100
    assert samples.import_vechord("demo", dataset="back").skipped == 13


def test_what_holds_rows_is_not_overwritten(plain: SyncLexichord, dsn: str) -> None:
    plain.ingest(documents=documents(0, 3), context="given", dataset="one")
    plain.ingest(documents=documents(3, 5), context="given", dataset="two")
    first = plain.export_vechord("ns", ["two"])
    assert (first.documents, first.chunks) == (2, 4)
    with pytest.raises(ConfigError, match="table ns_defaultdocument holds rows already"):
        plain.export_vechord("ns")
    assert plain.export_vechord("other").chunks == 10
    with psycopg.connect(dsn) as connection:
        assert connection.execute("select count(*) from ns_defaultchunk").fetchone() == (4,)
        indexes = connection.execute(
            "select indexdef from pg_indexes where tablename = 'ns_defaultchunk' order by indexname"
        )
        definitions = " ".join(row[0] for row in indexes)
        assert "USING bm25 (keyword " in definitions
        assert "USING vchordrq (vec " in definitions


def test_texts_and_chunks_are_of_one_moment(plain: SyncLexichord, dsn: str) -> None:
    plain.ingest(documents=documents(0, 1), context="given")
    plain.export_vechord("ns")  # makes the tables
    with psycopg.connect(dsn, autocommit=True) as connection, ThreadPoolExecutor(1) as pool:
        connection.execute("truncate ns_defaultdocument, ns_defaultchunk")
        connection.execute(
            "create function public.wait() returns trigger language plpgsql as "
            "'begin perform pg_advisory_xact_lock(7); return null; end'"
        )
        connection.execute(
            "create trigger wait after insert on ns_defaultdocument "
            "for each statement execute function public.wait()"
        )
        with connection.transaction():
            connection.execute("select pg_advisory_xact_lock(7)")
            export = pool.submit(plain.export_vechord, "ns")
            waits = "select from pg_locks where locktype = 'advisory' and not granted"
            wait_until(lambda: connection.execute(waits).rowcount > 0)
            with SyncLexichord(dsn=dsn, home=plain.core.settings.home) as other:
                other.ingest(documents=[{**document(1), "uri": uri(0)}], context="given")
        export.result()
        texts = (
            "select d.text like '%' || c.text || '%' from ns_defaultdocument d, ns_defaultchunk c"
        )
        assert connection.execute(texts).fetchall() == [(True,)] * 2


def test_a_server_without_pg_tokenizer_is_told_what_to_do(
    vectorchord_dsn: str, tmp_path: Path
) -> None:
    with new_database(vectorchord_dsn) as dsn:
        schema.prepare(dsn, schema.Choice("vectorchord", "english", SPACE))
        with psycopg.connect(dsn) as connection:
            try:
                connection.execute("create extension pg_tokenizer")
                pytest.skip("the server has pg_tokenizer")
            except psycopg.Error:
                pass
        with (
            SyncLexichord(dsn=dsn, home=tmp_path) as lexichord,
            pytest.raises(EngineUnsupportedError, match=r"pg_tokenizer.*: install it, name it"),
        ):
            lexichord.export_vechord("ns")


def test_without_the_library_it_is_named(
    plain: SyncLexichord, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "vechord", None)
    with pytest.raises(ConfigError, match=r"pip install 'lexichord\[vechord\]'"):
        plain.export_vechord("ns")


@pytest.mark.parametrize("name", ["", "Caps", "a b", 'a"b', "a(uid); drop table x; --", "x" * 31])
def test_a_name_that_vechord_would_not_quote_is_refused(plain: SyncLexichord, name: str) -> None:
    with pytest.raises(ConfigError, match="no namespace that vechord can query"):
        plain.export_vechord(name)
