"""Several databases as one, of one server or a Citus cluster: the same answers as from one."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from random import Random
from time import monotonic
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict
from typer.testing import CliRunner

from lexichord import SyncLexichord
from lexichord.cli.commands import app
from lexichord.db import schema, search
from lexichord.errors import ConfigError, DatabaseError, NotFoundError
from lexichord.ingest.report import Report
from lexichord.retrieve.stages import Stages
from lexichord.types import (
    ChunkHit,
    EmbeddingSpace,
    Intent,
    Json,
    Question,
    Scope,
    StoredDocument,
)
from tests.conftest import at, new_cluster, new_database

SPACE = EmbeddingSpace("test", "tiny", 8)
SECONDS = 60.0  # for what comes by itself
WORDS = [f"w{number}" for number in range(300)]


def document(number: int) -> Json:
    random = Random(number)
    chunks = [
        {
            "content": " ".join(
                random.choices(WORDS, weights=range(300, 0, -1), k=random.randint(15, 60))
            ),
            "vector": [random.gauss(0, 1) for _ in range(8)],
        }
        for _ in range(random.randint(1, 4))
    ]
    title = f"{random.choice(WORDS)} {random.choice(WORDS)}"
    about = {"title": title, "metadata": {"number": number}}
    return {"uri": f"doc/{number:03d}", "chunks": chunks, "space": str(SPACE), **about}


DOCUMENTS = [document(number) for number in range(120)]


def ingest(lexichord: SyncLexichord) -> list[Report]:
    return [
        lexichord.ingest(documents=DOCUMENTS[:80], dataset="most"),
        lexichord.ingest(documents=DOCUMENTS[80:], dataset="rest"),
    ]


@dataclass
class Stored:
    """The same documents in one database, and in three that are shards of one another."""

    one: SyncLexichord
    many: SyncLexichord
    dsns: list[str]


SERVERS = {
    "plain": "embedded_dsn",
    "textsearch": "textsearch_dsn",
    "vectorchord": "vectorchord_dsn",
}


@pytest.fixture(scope="module", params=[*SERVERS, "citus"])
def stored(request: pytest.FixtureRequest) -> Iterator[Stored]:
    """Shards of each engine on one server, and those of a Citus cluster."""
    with ExitStack() as stack:
        if request.param == "citus":
            nodes = request.getfixturevalue("citus_nodes")
            yield stack.enter_context(filled(stack.enter_context(new_cluster(nodes[:3])), "plain"))
        else:
            server = request.getfixturevalue(SERVERS[request.param])
            dsns = [stack.enter_context(new_database(server)) for _ in range(3)]
            yield stack.enter_context(filled(dsns, request.param))


@contextmanager
def filled(dsns: Sequence[str], engine: str) -> Iterator[Stored]:
    """Store the documents in a new database of the first one's server, and in all of these."""
    home, *others = dsns
    with new_database(home) as one:
        for dsn in (one, home):
            schema.prepare(dsn, schema.Choice(engine, "english", SPACE))
        with SyncLexichord(dsn=home) as lexichord:
            lexichord.ingest(documents=DOCUMENTS[:20], dataset="most")
            assert [lexichord.add_shard(dsn) for dsn in others] == [1, 2]
        with SyncLexichord(dsn=one) as alone, SyncLexichord(dsn=home) as many:
            for lexichord in (alone, many):
                ingest(lexichord)
            yield Stored(alone, many, [*dsns])


def test_documents_are_on_all_shards(stored: Stored) -> None:
    shards = stored.many.list_shards()
    assert [(shard.number, shard.documents >= 20) for shard in shards] == [(1, True), (2, True)]
    reports = ingest(stored.many)
    assert [(report.skipped, report.failed) for report in reports] == [(80, {}), (40, {})]


SCOPES: list[dict[str, Any]] = [
    {},
    {"datasets": ("rest",)},
    {"filter": {"key": "number", "op": "gt", "value": 60}},
    {"uris": ("doc/003", "doc/050", "doc/099")},
]
ALL = (
    500  # more than there are chunks: of equal scores at the end of a shorter list any may be in it
)
type Hit = tuple[str, int]


def questions() -> list[str]:
    random = Random(7)
    return [" ".join(random.choices(WORDS, k=3)) for _ in range(8)]


def ask(lexichord: SyncLexichord, query: str, number: int) -> tuple[list[Hit], list[float]]:
    """Return what a question with a vector finds, chunks and then files."""
    random = Random(query)
    vector = [random.gauss(0, 1) for _ in range(8)]
    options = dict(SCOPES[number])
    documents = [lexichord.run(lexichord.core.resolve(uri)) for uri in options.pop("uris", ())]
    scope = Scope(**options, documents=tuple(documents))
    question = Question(query=query, vector=vector, space=str(SPACE), scope=scope, depth=ALL)
    hits = lexichord.run(search.hybrid_search(lexichord.core.database, question))
    files = lexichord.run(search.discover_files(lexichord.core.database, question))
    found = [(hit.uri, hit.start) for hit in hits] + [(file.uri, 0) for file in files]
    return found, [hit.score for hit in hits] + [file.score for file in files]


@pytest.mark.parametrize("number", range(len(SCOPES)))
def test_a_search_gives_what_one_database_gives(stored: Stored, number: int) -> None:
    for question in questions():
        one, many = ask(stored.one, question, number), ask(stored.many, question, number)
        assert many[0] == one[0]
        assert many[1] == pytest.approx(one[1])


type Ask = Callable[[SyncLexichord], object]
SOME = questions()[:4]


def linked(lexichord: SyncLexichord) -> list[tuple[int, str, bool, bool, bool]]:
    """Return which words of some titles the titles and cards of documents hold."""
    words = [word for each in DOCUMENTS[::20] for word in str(each["title"]).split()]
    links = lexichord.run(search.link_documents(lexichord.core.database, words, Scope()))
    return sorted((link.word, link.title, link.in_title, link.in_file, link.rare) for link in links)


SURFACES: dict[str, Ask] = {
    "files by hint": lambda one: [f.uri for q in SOME for f in one.files(q, hint=q).files],
    "similar": lambda one: [f.uri for n in range(4) for f in one.similar(f"doc/{n:03d}").files],
    "page": lambda one: [row.uri for row in one.list(limit=10, offset=35)],
    "counts": lambda one: (one.count(), one.count(datasets=["rest"]), one.count_by("dataset")),
    "datasets": lambda one: one.datasets(),
    "show": lambda one: [chunk.content for chunk in one.show("doc/050").chunks],
    "hits": lambda one: [hit.uri for q in SOME for hit in one.query(q).hits],
    "rounds": lambda one: [hit.uri for q in SOME for hit in one.query(q, reflect=True).hits],
    "confidence": lambda one: [one.query(q).confidence for q in SOME],
    "answer": lambda one: [one.query(q, answer=True).answer for q in SOME],
    "linking": linked,
    "keywords": lambda one: one.keywords(SOME[0]).sets,
    "context": lambda one: [one.expand(hit.chunk_id).content for hit in one.search(SOME[0]).hits],
    "metadata": lambda one: one.set_metadata("doc/007", {"shelf": 1}),
    "mistyped": lambda one: one.search("w1", filter={"shelf": "1"}).degraded,
    "filtered": lambda one: [row.uri for row in one.list(filter={"shelf": 1})],
    "status": lambda one: (one.status().documents, one.status().chunks),
    "doctor": lambda one: (one.doctor().problems, one.doctor().faults),
}
REFUSED: dict[str, Ask] = {
    "document": lambda one: one.show("doc/999"),
    "dataset": lambda one: one.search("w1", datasets=["most", "nowhere"]),
    "key": lambda one: one.search("w1", filter={"nothing": 1}),
    "depth": lambda one: one.search("w1", depth=1),
}


@pytest.mark.parametrize("ask", [*SURFACES.values(), *REFUSED.values()], ids=[*SURFACES, *REFUSED])
def test_every_surface_gives_what_one_database_gives(stored: Stored, ask: Ask) -> None:
    assert outcome(ask, stored.many) == outcome(ask, stored.one)


def outcome(ask: Ask, lexichord: SyncLexichord) -> object:
    try:
        return ask(lexichord)
    except ConfigError as refusal:
        return str(refusal)


def test_ids_name_their_shards_and_what_is_deleted_is_gone_there(stored: Stored) -> None:
    for dsn in stored.dsns[1:]:
        with SyncLexichord(dsn=dsn) as one:
            for row in one.list():
                assert stored.many.show(row.document_id).document.uri == row.uri
    with pytest.raises(NotFoundError):
        stored.many.show(stored.one.list()[0].document_id)
    gone = ["doc/010", "doc/011", "doc/100"]
    assert stored.many.delete(gone) == len(gone)
    assert not {row.uri for row in stored.many.list()} & set(gone)
    assert [report.inserted for report in ingest(stored.many)] == [2, 1]


@contextmanager
def stopped(dsn: str) -> Iterator[None]:
    """Let nobody connect to a database, as if its server were down."""
    name = conninfo_to_dict(dsn)["dbname"]
    with psycopg.connect(at(dsn, "postgres"), autocommit=True) as admin:
        admin.execute(f"alter database {name} allow_connections false".encode())
        ended = "select pg_terminate_backend(pid) from pg_stat_activity where datname = %s"
        admin.execute(ended, (name,))
        yield
        admin.execute(f"alter database {name} allow_connections true".encode())


def test_a_shard_that_is_down_fails_the_answer_or_is_named(stored: Stored) -> None:
    with SyncLexichord(dsn=stored.dsns[0], partial_answers=True) as partial:
        with stopped(stored.dsns[2]):
            for ask in (stored.many.search, stored.many.query, stored.many.files):
                with pytest.raises(DatabaseError, match="shard 2 does not answer"):
                    ask("w1")
            for ask in (partial.search, partial.query, partial.files):
                line = "shard 2 does not answer: what it holds is missing"
                assert ask("w1").degraded.count(line) == 1
            with pytest.raises(DatabaseError, match="shard 2 does not answer"):
                partial.count()
        end = monotonic() + SECONDS
        while [line for line in partial.search("w1").degraded if "shard" in line]:
            assert monotonic() < end


def test_a_shard_that_is_lost_amid_a_query_is_named(stored: Stored) -> None:
    with ExitStack() as until_asked:

        async def lose_a_shard(
            *, question: Question, intent: Intent, hits: Sequence[ChunkHit]
        ) -> Sequence[ChunkHit]:
            until_asked.enter_context(stopped(stored.dsns[2]))
            return hits

        stages = Stages(select_hits=lose_a_shard)
        with SyncLexichord(dsn=stored.dsns[0], partial_answers=True, stages=stages) as partial:
            response = partial.query("Which documents mention w1?")
    assert response.degraded.count("shard 2 does not answer: what it holds is missing") == 1
    held = {row.uri for dsn in stored.dsns[:2] for row in listed(dsn)}
    quoted = {quote.uri for quote in response.quotes}
    assert quoted
    assert quoted <= held


def listed(dsn: str) -> list[StoredDocument]:
    with SyncLexichord(dsn=dsn) as one:
        return [*one.list()]


def command(dsn: str, *arguments: str) -> Any:
    result = CliRunner().invoke(app, ["shards", *arguments, "--dsn", dsn, "--json"])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_a_shard_begins_empty_and_ends_empty(stored: Stored) -> None:
    many, home = stored.many, stored.dsns[0]
    with pytest.raises(ConfigError, match="move all to the others by lexichord shards"):
        many.remove_shard(1)
    for dsn, refusal in (
        (stored.dsns[1], "is a shard already"),
        (stored.one.core.database.dsn, "is not empty"),
        ("postgresql://me:secret@localhost/x", "has no password"),  # pragma: allowlist secret
    ):
        with pytest.raises(ConfigError, match=refusal):
            many.add_shard(dsn)
    with pytest.raises(NotFoundError, match="there is no shard 7"):
        many.remove_shard(7)
    with new_database(home) as fourth:
        assert command(home, "add", fourth) == {"number": 3}
        listed = command(home, "list")["shards"]
        assert [row["documents"] > 0 for row in listed] == [True, True, False]
        assert command(home, "remove", "3") == {"removed": 3}
    assert [shard.number for shard in many.list_shards()] == [1, 2]
