"""Workers keep indexed tables in sync: what is found is what the rows are, whoever was killed."""

import asyncio
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from multiprocessing.process import BaseProcess
from operator import itemgetter
from random import Random
from typing import Any, LiteralString

import psycopg
import pytest
from psycopg import sql

from lexichord.db.pool import Database
from lexichord.db.tables import CHANGES, Listener
from lexichord.errors import ProviderError
from lexichord.ingest import table_rows, table_worker
from lexichord.ingest.table_rows import ROW_RECIPE
from lexichord.ingest.table_worker import TableWorker, WorkerReport
from lexichord.providers import Embedder
from tests.conftest import new_database
from tests.end_to_end.hashing import Hashing
from tests.end_to_end.killed import SERVER, STATE, unit_vectors
from tests.sql.corpus import Connection, call, value
from tests.sql.test_reader import member

SPACE = "test/tiny/4"
ARTICLE = (
    "create table article (id bigint generated always as identity primary key, "
    "author text not null default 'ann', title text, body text, views integer default 0, "
    "published boolean not null default true)"
)
INDEX = (
    "select lexichord.index_table('public.article', text => '{title,body}', title => 'title', "
    "metadata => '{author}', context => '{author}', filter => 'published')"
)
INSERT = "insert into article (title, body, author) values (%s, %s, %s)"
WORDS = [
    *("parcel", "delivery", "late", "refund", "invoice"),
    *("customer", "warehouse", "driver", "weather", "order"),
]


@pytest.fixture
def fresh(dsn: str) -> Iterator[Connection]:
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(ARTICLE.encode())
        yield connection


def follow_with(embedder: Embedder | None) -> Callable[[], Any]:
    async def follow() -> tuple[Embedder | None, str]:
        return embedder, SPACE

    return follow


def work(dsn: str, embedder: Embedder | None = None) -> WorkerReport:
    """Work until no change waits."""

    async def run() -> WorkerReport:
        async with Database(dsn, size=4) as database:
            follow = follow_with(embedder or Hashing(SPACE))
            return await TableWorker(database, follow).run(until_idle=True)

    return asyncio.run(run())


def stored(connection: Connection) -> list[Any]:
    return connection.execute(
        "select r.key, d.title, d.text, d.metadata ->> 'author' from lexichord_data.table_row r "
        "join lexichord_data.document d on d.id = r.document_id order by r.key"
    ).fetchall()


def test_rows_come_change_and_go(fresh: Connection, dsn: str) -> None:
    fresh.execute("insert into article (title, body) values ('Late', 'by a day'), ('Early', null)")
    fresh.execute(INDEX.encode())
    heard: list[str] = []
    embedder = Hashing(SPACE, heard.extend)
    assert work(dsn, embedder).stored == 2
    assert stored(fresh) == [
        ("1", "Late", "Late\n\nby a day", "ann"),
        ("2", "Early", "Early", "ann"),
    ]
    assert sorted(heard) == ["ann\nEarly", "ann\nLate\n\nby a day"]

    fresh.execute(
        "update article set views = 5; update article set body = 'by a week' where id = 1"
    )
    fresh.execute("update article set published = false where id = 2")
    fresh.execute("insert into article (title) values ('New')")
    heard.clear()
    report = work(dsn, embedder)
    assert (report.stored, report.deleted, report.embedded) == (2, 1, 2)
    assert sorted(heard) == ["ann\nLate\n\nby a week", "ann\nNew"]
    assert [row[0] for row in stored(fresh)] == ["1", "3"]

    fresh.execute("truncate article")
    work(dsn, embedder)
    assert stored(fresh) == []
    assert call(fresh, "find_problems") == []


def test_a_change_of_metadata_alone_embeds_nothing(fresh: Connection, dsn: str) -> None:
    fresh.execute("insert into article (title, body) values ('Late', 'by a day')")
    fresh.execute(INDEX.replace(", context => '{author}'", "").encode())
    work(dsn)
    fresh.execute("update article set author = 'bob'")
    report = work(dsn)
    assert (report.kept, report.stored, report.embedded) == (1, 0, 0)
    assert stored(fresh) == [("1", "Late", "Late\n\nby a day", "bob")]


def test_the_same_text_is_embedded_once(fresh: Connection, dsn: str) -> None:
    fresh.execute("insert into article (title) select 'the same' from generate_series(1, 700)")
    fresh.execute(INDEX.encode())
    heard: list[str] = []
    work(dsn, Hashing(SPACE, heard.extend))
    fresh.execute("insert into article (title) values ('the same')")
    fresh.execute("update article set title = 'other' where id = 1")
    fresh.execute("update article set title = 'the same' where id = 1")
    work(dsn, Hashing(SPACE, heard.extend))
    assert heard.count("ann\nthe same") <= 2  # two batches at once
    assert value(fresh, "select count(*) from lexichord_data.chunk where embedding is null") == 0
    assert value(fresh, "select count(*) from lexichord_data.chunk") == 701


def test_a_row_that_cannot_be_stored_stops_no_other(fresh: Connection, dsn: str) -> None:
    fresh.execute(INDEX.replace("published'", "100 / views > 1'").encode())
    fresh.execute(
        "insert into article (title, views) values ('good', 1), (null, 1), ('divides', 0), "
        "('fine', 2)"
    )
    work(dsn)
    assert [row[0] for row in stored(fresh)] == ["1", "4"]
    reasons = {row["key"]: row["reason"] for row in call(fresh, "list_table_failures")}
    assert reasons == {"2": "its text is empty", "3": "division by zero"}
    fresh.execute("update article set views = 1, title = 'mended' where id in (2, 3)")
    work(dsn)
    assert [row[0] for row in stored(fresh)] == ["1", "2", "3", "4"]
    assert call(fresh, "list_table_failures") == []


def test_a_row_whose_context_is_long_stops_no_other(fresh: Connection, dsn: str) -> None:
    """It would stand before each of its chunks: 400,000 characters over as many are 100 million."""
    fresh.execute(INDEX.encode())
    put = "insert into article (title, body, author) values (%s, %s, %s)"
    fresh.execute(put.encode(), ["long", "a text. " * 50_000, "c" * 400_000])
    fresh.execute(put.encode(), ["good", "a text", "ann"])
    work(dsn)
    assert [row[0] for row in stored(fresh)] == ["2"]
    (failure,) = call(fresh, "list_table_failures")
    assert failure["reason"] == "its context is longer than 10,000 characters"


def test_a_uri_of_two_rows_is_said(fresh: Connection, dsn: str) -> None:
    fresh.execute(
        INDEX.replace("metadata", "uri => 'https://example.com/{title}', metadata").encode()
    )
    fresh.execute(
        "insert into article (title, body) values ('one', 'a'), ('one', 'b'), ('two', 'c')"
    )
    work(dsn)
    assert len(stored(fresh)) == 2
    (failure,) = call(fresh, "list_table_failures", source="public.article")
    assert "its uri is another row's" in failure["reason"]
    fresh.execute(
        "update article set title = 'three' where id in (1, 2) and id::text = %s", [failure["key"]]
    )
    work(dsn)
    assert len(stored(fresh)) == 3
    assert call(fresh, "list_table_failures") == []


@pytest.mark.parametrize(
    "change",
    [
        "truncate article; insert into article (title, views) select 'p' || i, i "
        "from generate_series(1, 50) i",
        "delete from article; insert into article (title, views) select 'p' || i, i "
        "from generate_series(1, 50) i",
        "update article set views = case views when 3 then 700 else 3 end where views in (3, 700)",
        "update article set views = views + 1",
        "update article set views = 700 where views = 1; update article set views = 1, title = 'x' "
        "where id = 700",
        "update article set published = false where views < 9; "
        "insert into article (title, views) select 'q', i from generate_series(1, 8) i",
    ],
)
def test_a_uri_passes_from_row_to_row(
    fresh: Connection, dsn: str, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_worker, "LANES", 1)  # in the order of the changes
    fresh.execute(
        "insert into article (title, views) select 'p' || i, i from generate_series(1, 700) i"
    )
    fresh.execute(
        INDEX.replace("metadata", "uri => 'https://example.com/{views}', metadata").encode()
    )
    work(dsn)
    with fresh.transaction():
        fresh.execute(change.encode())
    work(dsn)
    assert call(fresh, "list_table_failures") == []
    expected = fresh.execute(
        "select id::text, 'https://example.com/' || views, title from article where published "
        "order by 1"
    ).fetchall()
    assert expected == fresh.execute(
        "select r.key, d.uri, d.title from lexichord_data.table_row r "
        "join lexichord_data.document d on d.id = r.document_id order by 1"
    ).fetchall()  # fmt: skip
    assert call(fresh, "find_problems") == []


def test_rows_that_change_places_are_not_embedded_again(fresh: Connection, dsn: str) -> None:
    fresh.execute(
        "insert into article (title, views) select 'p' || i, i from generate_series(1, 700) i"
    )
    fresh.execute(
        INDEX.replace("metadata", "uri => 'https://example.com/{views}', metadata").encode()
    )
    work(dsn)
    fresh.execute("update article set views = views + 1")
    assert work(dsn).embedded == 0


def test_rows_are_read_as_many_as_may_be_held(
    fresh: Connection, dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_rows, "MAX_TEXT_BYTES", 100)
    fresh.execute(INDEX.encode())
    for title in ["a" * 60, "b" * 60, "c" * 30, "d" * 101, "e" * 97]:
        fresh.execute("insert into article (title) values (%s)", [title])
    asked = {"table_id": 1, "keys": [*"12345"], "recipe": ROW_RECIPE, "max_characters": 100}
    rows = sorted(call(fresh, "changed_rows", **asked), key=itemgetter("key"))
    assert [bool(row["content"]) for row in rows] == [True, False, False, False, False]
    assert [row["characters"] for row in rows] == [63, 63, 33, 104, 100]  # with "ann"
    assert work(dsn).stored == 4
    (failure,) = call(fresh, "list_table_failures", source="public.article")
    assert failure["key"] == "4"
    assert sorted(row[2][0] for row in stored(fresh)) == ["a", "b", "c", "e"]


def test_a_table_that_no_longer_fits_does_not_hold_up_the_rest(
    fresh: Connection, dsn: str, caplog: pytest.LogCaptureFixture
) -> None:
    fresh.execute("create table note (id uuid primary key default gen_random_uuid(), body text)")
    fresh.execute(INDEX.encode())
    fresh.execute("select lexichord.index_table('public.note', text => '{body}')")
    fresh.execute("alter table article drop column body")
    fresh.execute(
        "insert into article (title) values ('waits'); insert into note (body) values ('goes on')"
    )
    with caplog.at_level(logging.WARNING):
        work(dsn)
    assert 'public.article: column "body" is gone' in caplog.text
    assert [row[2] for row in stored(fresh)] == ["goes on"]
    fresh.execute("select lexichord.alter_index_table('public.article', text => '{title}')")
    work(dsn)
    assert sorted(row[2] for row in stored(fresh)) == ["goes on", "waits"]
    fresh.execute("drop table note")
    work(dsn)
    assert [row[2] for row in stored(fresh)] == ["waits"]


def test_another_definition_keeps_what_is_the_same(fresh: Connection, dsn: str) -> None:
    fresh.execute("insert into article (title, body) values ('a', 'b'), ('c', 'd')")
    fresh.execute(INDEX.encode())
    work(dsn)
    fresh.execute(
        "select lexichord.alter_index_table('public.article', filter => '', metadata => '{views}')"
    )
    assert (report := work(dsn)).embedded == 0
    assert report.kept == 2
    fresh.execute("select lexichord.alter_index_table('public.article', text => '{body}')")
    assert work(dsn).embedded == 2
    assert [row[2] for row in stored(fresh)] == ["b", "d"]


def test_a_failing_service_loses_nothing(fresh: Connection, dsn: str) -> None:
    class Failing(Hashing):
        def embed(self, texts: Sequence[str], kind: Any) -> Any:
            raise ProviderError("the service is down")

    fresh.execute(INDEX.encode())
    fresh.execute("insert into article (title) values ('waits')")
    with pytest.raises(ProviderError):
        work(dsn, Failing(SPACE))
    # Another batch may have found it among the rows of before: then it waits twice.
    assert call(fresh, "list_indexed_tables")[0]["rows_waiting"] in (1, 2)
    assert call(fresh, "list_table_failures") == []
    work(dsn)
    assert len(stored(fresh)) == 1


def test_rows_come_back_typed_and_as_they_are(fresh: Connection, dsn: str) -> None:
    fresh.execute(
        "insert into article (title, body, author) select 'late delivery ' || i, "
        "repeat('parcel ' || i || '. ', 200), "
        "case i % 2 when 0 then 'bob' else 'ann' end from generate_series(1, 20) i"
    )
    fresh.execute(INDEX.encode())
    work(dsn)
    search = "from lexichord.search_table(null::article, 'late delivery 7', k => 3{}) as h"
    rows = fresh.execute(
        f"select (h.item).id, (h.item).author, h.rank, h.content {search.format('')}".encode()
    ).fetchall()
    assert rows[0][:3] == (7, "ann", 1)
    assert "7" in rows[0][3]
    assert [row[2] for row in rows] == [1, 2, 3]
    assert len({row[0] for row in rows}) == 3  # a row with several chunks is found once
    hits = f"select (h.item).id, h.score {search.format('')}"
    joined = f"select a.*, h.score from ({hits}) as h join article a using (id)"
    assert len(fresh.execute(joined.encode()).fetchall()) == 3
    wanted = ", condition => $$author = 'bob' and article.id > 10$$"
    rows = fresh.execute(f"select (h.item).id {search.format(wanted)}".encode()).fetchall()
    assert rows
    assert {row[0] for row in rows} <= set(range(12, 21, 2))
    with pytest.raises(psycopg.errors.UndefinedColumn):  # no column of a table of ours
        fresh.execute(f"select {search.format(', condition => $$document_id > 0$$')}".encode())
    fresh.execute("delete from article where id = 7")  # no worker has seen it
    rows = fresh.execute(f"select (h.item).id {search.format('')}".encode()).fetchall()
    assert 7 not in {row[0] for row in rows}


@pytest.mark.parametrize("is_indexed", [False, True])
def test_a_hidden_row_shows_nowhere(fresh: Connection, dsn: str, is_indexed: bool) -> None:
    """Hidden after it was indexed, search_table knows at once, the rest once a worker looked."""
    with member(fresh) as ann:
        name = ann.info.user
        hide = "alter table article enable row level security; "
        hide += "create policy own on article using (author = current_user)"
        if not is_indexed:
            fresh.execute(hide.encode())
        fresh.execute(f"grant select on article to {name}".encode())
        # More than a search is deep: hidden ones would leave no place for what may be seen.
        fresh.execute(
            "insert into article (title) select 'secret delivery ' || i from "
            "generate_series(1, 130) i"
        )
        fresh.execute("insert into article (title, author) values ('a delivery', %s)", [name])
        fresh.execute(INDEX.encode())
        work(dsn)
        if is_indexed:
            fresh.execute(hide.encode())
        assert value(fresh, "select count(*) from lexichord.hybrid_search('delivery')") == 10
        found = ann.execute(
            "select (h.item).id from lexichord.search_table(null::article, 'secret delivery') as h"
        )
        assert found.fetchall() == [(131,)]
        work(dsn)
        for arguments in ({}, {"datasets": ["article"]}):
            rows = call(ann, "hybrid_search", query="secret delivery", **arguments)
            assert [row["uri"] for row in rows] == ["public.article/131"]
            (file,) = call(ann, "discover_files", query="secret delivery", **arguments)
            assert file["uri"] == "public.article/131"
        assert call(ann, "count_by", key="author") == [{"value": name, "documents_with": 1}]
        assert call(ann, "count_documents") == [{"count_documents": 1}]
        assert len(call(ann, "list_documents")) == 1
        for table in ("document", "chunk"):
            assert value(ann, f"select count(*) from lexichord_data.{table}") == 1
        fresh.execute("update article set author = 'ann' where id = 131")
        assert call(ann, "hybrid_search", query="delivery") == []
        fresh.execute(f"revoke select on article from {name}".encode())
        assert call(ann, "hybrid_search", query="delivery") == []
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            ann.execute("select lexichord.search_table(null::article, 'delivery')")


@pytest.mark.parametrize(
    "change",
    [
        "drop table article",
        "alter table article drop column id",
        "create schema aside; alter table article set schema aside",
    ],
)
def test_a_guarded_table_out_of_reach_hides_its_own_rows_alone(
    fresh: Connection, dsn: str, change: str
) -> None:
    fresh.execute("create table note (id int primary key, body text)")
    fresh.execute("insert into note values (1, 'a late delivery')")
    fresh.execute("select lexichord.index_table('public.note', text => '{body}')")
    fresh.execute(INDEX.encode())
    fresh.execute("alter table article enable row level security")
    fresh.execute("create policy all_rows on article using (true)")
    fresh.execute("insert into article (title) values ('a delivery')")
    with member(fresh) as ann:
        fresh.execute(f"grant select on article to {ann.info.user}".encode())
        work(dsn)
        assert len(call(ann, "hybrid_search", query="delivery")) == 2
        fresh.execute(change.encode())
        (hit,) = call(ann, "hybrid_search", query="delivery")
        assert hit["uri"] == "public.note/1"


async def test_a_worker_that_rests_has_loaded_its_model_and_is_woken(
    fresh: Connection, dsn: str
) -> None:
    fresh.execute(INDEX.encode())
    heard: list[str] = []
    async with Database(dsn, size=4) as database:
        worker = TableWorker(database, follow_with(Hashing(SPACE, heard.extend)))
        async with worker.in_background():
            resting = "select count(*) from lexichord.list_workers() where is_resting"
            started = time.monotonic()
            while not value(fresh, resting):
                assert time.monotonic() - started < 30
                await asyncio.sleep(0.05)
            assert len(heard) == 1
            fresh.execute("insert into article (title) values ('now')")
            while not stored(fresh):
                assert time.monotonic() - started < 60
                await asyncio.sleep(0.01)
    assert value(fresh, "select count(*) from lexichord.list_workers()") == 0


async def test_only_a_resting_worker_is_notified(fresh: Connection, dsn: str) -> None:
    fresh.execute(INDEX.encode())
    async with Listener(dsn, CHANGES) as listener:
        assert not await listener.hear(0.01)
        fresh.execute("insert into article (title) values ('nobody rests')")
        assert not await listener.hear(0.2)
        worker = value(fresh, "select lexichord.start_worker('here')")
        call(fresh, "rest_worker", worker=worker, seconds=60)
        fresh.execute("insert into article (title) values ('now somebody does')")
        assert await listener.hear(10)
        call(fresh, "rest_worker", worker=worker, seconds=0)
        fresh.execute("insert into article (title) values ('nobody again')")
        assert not await listener.hear(0.2)


async def test_a_query_is_embedded_from_sql(fresh: Connection, dsn: str) -> None:
    fresh.execute("insert into article (title) values ('late delivery'), ('warehouse')")
    fresh.execute(INDEX.encode())
    embedder = Hashing(SPACE)
    query = "select query_vector_source from lexichord.query_vector_source('late parcel')"
    with pytest.raises(psycopg.Error, match=r"call lexichord.prepare_query\('late parcel'\)"):
        fresh.execute("select lexichord.embed('late parcel')")
    with pytest.raises(psycopg.Error, match="no worker has embedded the query within 20 ms"):
        fresh.execute("call lexichord.prepare_query('late parcel', 20)")
    assert value(fresh, query) == "centroid"
    async with (
        Database(dsn, size=4) as database,
        TableWorker(database, follow_with(embedder)).in_background(),
    ):
        statement = b"call lexichord.prepare_query('late parcel', 30000)"
        for _ in range(2):
            await asyncio.to_thread(fresh.execute, statement)
        await TableWorker(database, follow_with(embedder)).run(until_idle=True)
    assert value(fresh, query) == "prepared"
    own = embedder.vector("late parcel")
    made = value(fresh, "select lexichord.embed('late parcel')::real[]")
    assert made == pytest.approx(own, abs=1e-3)
    hits = call(fresh, "hybrid_search", query="late parcel")
    assert hits == call(fresh, "hybrid_search", query="late parcel", query_vector=str(own))
    (dense,) = fresh.execute(
        "select max(dense_score) from lexichord.hybrid_search('late parcel')"
    ).fetchone() or (0,)
    assert dense


async def test_a_query_that_cannot_be_embedded_says_why(fresh: Connection, dsn: str) -> None:
    async with (
        Database(dsn, size=4) as database,
        TableWorker(database, follow_with(None)).in_background(),
    ):
        with pytest.raises(psycopg.Error, match="the worker has no embedder"):
            await asyncio.to_thread(fresh.execute, b"call lexichord.prepare_query('a', 30000)")


# Random operations, with and without kills.


def act(connection: Connection, random: Random) -> None:
    change(connection, random)
    if random.random() < 0.005:
        connection.execute("truncate article")


def change(connection: Connection, random: Random) -> None:
    text = " ".join(random.choices(WORDS, k=random.randrange(1, 12)))
    row = random.randrange(1, 120)
    author = random.choice(["ann", "bob"])
    operations: list[tuple[str, list[Any]]] = [
        (INSERT, [text[:20], text, author]),
        (INSERT, [text[:9], text, author]),
        ("update article set body = %s where id = %s", [text, row]),
        ("update article set body = %s where id %% 17 = %s", [text, row % 17]),
        ("update article set author = %s where id = %s", [author, row]),
        ("update article set published = not published where id = %s", [row]),
        ("update article set views = views + 1 where id > %s", [row]),
        ("delete from article where id = %s", [row]),
        ("update article set id = default where id = %s", [row]),
        ("update article set title = null, body = '' where id = %s", [row]),
    ]
    statement, values = random.choice(operations)
    connection.execute(statement.encode(), values)
    if random.random() < 0.02:
        connection.execute("alter table article rename body to words")
        connection.execute("update article set words = words || '!' where id = %s", [row])
        connection.execute("alter table article rename words to body")


def fresh_index_of(dsn: str, server: str, template: str) -> Iterator[str]:
    """The same rows in a database of their own, indexed once."""
    with new_database(server, copy_of=template) as other:
        with psycopg.connect(dsn) as source, psycopg.connect(other) as target:
            target.execute(ARTICLE.replace("generated always as identity ", "").encode())
            with (
                source.cursor().copy("copy article to stdout") as out,
                target.cursor().copy("copy article from stdin") as into,
            ):
                for data in out:
                    into.write(data)
            target.execute(INDEX.encode())
        work(other)
        yield other


COMPARED = {name: statement for name, statement in STATE.items() if name not in ("corpus",)}
FAILED = "select key, reason from lexichord_data.table_failure order by key"


def assert_same_index(dsn: str, other: str) -> None:
    with psycopg.connect(dsn) as mine, psycopg.connect(other) as expected:
        for name, statement in [*COMPARED.items(), ("refused", FAILED)]:
            rows = [each.execute(statement.encode()).fetchall() for each in (mine, expected)]
            assert rows[0] == rows[1], name
    cosines = (unit_vectors(dsn) * unit_vectors(other)).sum(axis=1)
    assert cosines.min() > 0.9999


def test_after_random_operations_the_index_equals_a_fresh_one(
    fresh: Connection, dsn: str, template: str
) -> None:
    random = Random(7)
    fresh.execute(INDEX.encode())
    for number in range(600):
        act(fresh, random)
        if number % 100 == 99:
            work(dsn)
    work(dsn)
    for other in fresh_index_of(dsn, template, template):
        assert_same_index(dsn, other)


def run_worker(dsn: str) -> None:
    async def run() -> None:
        async with Database(dsn, size=4) as database:
            worker = TableWorker(database, follow_with(Hashing(SPACE, seconds=0.01)))
            await worker.run()

    asyncio.run(run())


@contextmanager
def started(dsn: str) -> Iterator[BaseProcess]:
    process = SERVER.Process(target=run_worker, args=(dsn,))
    process.start()
    try:
        yield process
    finally:
        process.kill()
        process.join()


@pytest.mark.parametrize("workers", [1, 3])
def test_workers_that_are_killed_lose_nothing(
    fresh: Connection, dsn: str, template: str, workers: int
) -> None:
    random = Random(11 + workers)
    fresh.execute(
        "insert into article (title, body) select 'row ' || i, 'delivery ' || i from "
        "generate_series(1, 400) i"
    )
    fresh.execute(INDEX.encode())
    for _ in range(8 // workers):
        with ExitStack() as stack:
            for _ in range(workers):
                stack.enter_context(started(dsn))
            until = time.monotonic() + random.uniform(0.3, 1)
            while time.monotonic() < until:
                act(fresh, random)
                time.sleep(0.01)
    fresh.execute("insert into article (title) values ('last')")  # alone after a truncate
    work(dsn)
    for other in fresh_index_of(dsn, template, template):
        assert_same_index(dsn, other)


NAMES = [
    'a"b', "it's", "back\\slash", "100%s %I %L %1$s", "$$ $body$", "new\nline\ttab", "ü漢字👩",
    "n" * 63, "select", "user", "Upper lower", "x); drop table article; --",
    'x"; drop table article; --', "/* x */", "{braces},{}", "a.b", "null", ":name", "\u202e",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_any_name_is_nothing_but_a_name(fresh: Connection, dsn: str, name: str) -> None:
    """Of a schema, a table in it, a column of its text and one of its key."""
    key = f"k{name}".encode()[:63].decode(errors="ignore")
    table = sql.Identifier(name, name)
    parts = {"schema": sql.Identifier(name), "table": table}
    parts |= {"text": sql.Identifier(name), "key": sql.Identifier(key)}

    def run(statement: LiteralString, *values: object) -> list[Any]:
        cursor = fresh.execute(sql.SQL(statement).format(**parts), values or None)
        return cursor.fetchall() if cursor.description else []

    run("create schema {schema}")
    run("create table {table} ({key} int primary key, {text} text)")
    run("insert into {table} values (1, 'a zebra'), (2, 'a gnu')")
    run(
        "select lexichord.index_table(%s::regclass, text => %s, title => %s, metadata => %s)",
        *(table.as_string(fresh), [name], name, [name]),
    )
    assert work(dsn).stored == 2
    run("update {table} set {text} = 'a quagga' where {key} = 2")
    run("delete from {table} where {key} = 1")
    work(dsn)
    assert [row[:3] for row in stored(fresh)] == [("2", "a quagga", "a quagga")]
    found = run("select * from lexichord.search_table(null::{table}, 'quagga')")
    assert len(found) == 1
    run("select lexichord.drop_index_table(%s::regclass)", table.as_string(fresh))
    assert stored(fresh) == []
    assert value(fresh, "select count(*) from article") == 0
    assert call(fresh, "find_problems") == []
