"""Indexed tables in SQL: what is refused, and which statements queue which keys."""

from typing import Any

import psycopg
import pytest
from psycopg import errors

from tests.sql.corpus import Connection, call, value
from tests.sql.test_reader import member

ARTICLE = """
create table article (
    id bigint generated always as identity primary key, author text not null default 'ann',
    title text, body text, views integer not null default 0, published boolean default true)"""
INDEX = (
    "select lexichord.index_table('public.article', text => '{title,body}', title => 'title', "
    "metadata => '{author}', filter => 'published', uri => 'https://example.com/{id}')"
)

QUEUE_FUNCTIONS = "select count(*) from pg_proc where proname like 'queue\\_changes%%'"
UUID = "7d444840-9dc0-11d1-b245-5ffdce74fad2"
TRIGGERS = "select count(*) from pg_trigger where tgname like 'zz\\_lexichord%%'"


@pytest.fixture
def article(connection: Connection) -> Connection:
    """An indexed table of three rows, whose changes are all done."""
    return index_article(connection)


@pytest.fixture
def committed(fresh: Connection) -> Connection:
    """The same where other sessions see it."""
    return index_article(fresh)


def index_article(connection: Connection) -> Connection:
    connection.execute(ARTICLE.encode())
    connection.execute(
        "insert into article (title, body) select 't' || i, 'b' from generate_series(1, 3) i"
    )
    connection.execute(INDEX.encode())
    connection.execute("delete from lexichord_data.table_change")
    return connection


def queued(connection: Connection) -> list[str]:
    """Take the keys of the changes that wait."""
    rows = connection.execute("delete from lexichord_data.table_change returning keys").fetchall()
    return sorted(key for (keys,) in rows for key in keys)


def test_what_cannot_be_indexed_is_said_and_leaves_nothing(connection: Connection) -> None:
    connection.execute(ARTICLE.encode())
    connection.execute(
        "create table keyless (a text); create table image (id int primary key, data bytea); "
        "create table point (at float8 primary key, a text); create view recent as select "
        "'x' as a; "
        "insert into lexichord_data.dataset (name) values ('taken')"
    )
    title = "'public.article', text => '{title}'"
    for arguments, message in {
        "'public.none', text => '{a}'": "does not exist",
        "'public.article', text => '{a,b}'": 'no column "a", "b"',
        "'public.article', text => '{}'": "name the columns",
        f"{title}, title => 'x'": '"x"',
        f"{title}, uri => 'a/{{x}}'": '"x"',
        f"{title}, metadata => '{{x}}'": '"x"',
        f"{title}, key => '{{title}}'": "unique",
        f"{title}, filter => 'x = 1'": "filter: ",
        f"{title}, filter => 'title'": "filter: ",
        f"{title}, dataset => 'taken'": "taken",
        f"{title}, dataset => ' '": "the dataset needs a name",
        "'public.keyless', text => '{a}'": "no primary key",
        "'public.image', text => '{data}'": '"data" (bytea) has no text',
        "'public.point', text => '{a}'": "cannot be part of a key",
        "'public.recent', text => '{a}'": "no table whose rows",
        "'lexichord_data.document', text => '{text}'": "no table",
    }.items():
        refuse(connection, f"select lexichord.index_table({arguments})", message)
    for function in ("drop_index_table", "alter_index_table", "retry_table_failures"):
        refuse(connection, f"select lexichord.{function}('public.article')", "is not indexed")
    search = "select * from lexichord.search_table({}, 'a')"
    refuse(connection, search.format("null::article"), "is not indexed")
    refuse(connection, search.format("1"), "null::public.article")
    assert call(connection, "list_indexed_tables") == []
    assert value(connection, TRIGGERS) == 0
    assert value(connection, "select count(*) from lexichord_data.table_change") == 0


def refuse(connection: Connection, statement: str, message: str) -> None:
    with pytest.raises(psycopg.Error) as raised, connection.transaction():
        connection.execute(statement.encode())
    assert message in str(raised.value)


def test_a_table_is_indexed_once(article: Connection) -> None:
    with pytest.raises(errors.DuplicateObject, match="alter_index_table"), article.transaction():
        article.execute(INDEX.encode())


@pytest.mark.parametrize(
    ("statement", "keys"),
    [
        ("insert into article (title) values ('x'), ('y')", ["4", "5"]),
        ("update article set body = 'new' where id = 2", ["2"]),
        ("update article set author = 'bob' where id = 2", ["2"]),
        ("update article set published = false where id = 2", ["2"]),
        ("update article set views = views + 1", []),
        ("update article set title = title, body = body, views = 1", []),
        ("update article set body = 'new' where id > 9", []),
        ("delete from article where id <> 2", ["1", "3"]),
        ("update article set id = default where id = 2", ["2", "4"]),
        ("insert into article (id, title) overriding system value values (2, 'x') "
         "on conflict (id) do update set title = excluded.title", ["2"]),
        ("insert into article (id, title) overriding system value values (2, 't2') "
         "on conflict (id) do update set title = excluded.title", []),
        ("merge into article a using (values (2), (7)) as v (id) on a.id = v.id "
         "when matched then update set body = 'm' when not matched then insert (title) "
         "values ('n')",
         ["2", "4"]),
        ("with gone as (delete from article where id = 1) insert into article (title) values ('z')",
         ["1", "4"]),
    ],
)  # fmt: skip
def test_a_statement_queues_the_rows_that_it_changes(
    article: Connection, statement: str, keys: list[str]
) -> None:
    article.execute(statement.encode())
    assert queued(article) == keys


def test_what_is_undone_queues_nothing(article: Connection) -> None:
    with article.transaction(force_rollback=True):
        article.execute("update article set body = 'new'")
    assert queued(article) == []


def test_a_bulk_update_is_one_change(article: Connection) -> None:
    article.execute("insert into article (title) select i::text from generate_series(1, 2000) i")
    article.execute("update article set body = 'new'")
    rows = article.execute("select cardinality(keys) from lexichord_data.table_change order by id")
    assert [amount for (amount,) in rows.fetchall()] == [2000, 2003]


def test_a_truncated_table_is_looked_at_as_a_whole(article: Connection) -> None:
    article.execute("truncate article")
    rows = article.execute("select keys, after from lexichord_data.table_change").fetchall()
    assert rows == [(None, None)]


def test_what_a_trigger_changes_is_seen(article: Connection) -> None:
    article.execute(
        "create function slug() returns trigger language plpgsql as "
        "$$ begin new.title := 'views ' || new.views; return new; end $$; "
        "create trigger slug before update on article for each row execute function slug()"
    )
    article.execute("update article set views = 7 where id = 1")
    assert queued(article) == ["1"]


def test_a_statement_within_a_statement_hides_no_other(article: Connection) -> None:
    article.execute(
        "create function count_up() returns trigger language plpgsql as "
        "$$ begin update article set views = views + 1 where id = new.id; return null; end $$; "
        "create trigger count_up after update of body on article for each row execute "
        "function count_up()"
    )
    article.execute("update article set body = 'new' where id = 1")
    assert queued(article) == ["1"]


def test_generated_columns_change_with_what_they_are_made_of(connection: Connection) -> None:
    connection.execute(
        "create table article (id int primary key, a text, n int default 0, "
        "both_ text generated always as (a || '!') stored); insert into article values (1, 'a')"
    )
    connection.execute("select lexichord.index_table('public.article', text => '{both_}')")
    queued_first = connection.execute("delete from lexichord_data.table_change")
    assert queued_first.rowcount == 1
    connection.execute("update article set n = 1")
    assert queued(connection) == []
    connection.execute("update article set a = 'b'")
    assert queued(connection) == ["1"]


@pytest.mark.parametrize(
    ("columns", "row", "key"),
    [
        ("id uuid primary key", f"'{UUID.upper()}'", UUID),
        ("id text primary key", "'a/\"b'", 'a/"b'),
        ("id int, part text, primary key (part, id)", "1, 'x,y'", '["x,y", "1"]'),
        ("id numeric primary key", "1.50", "1.50"),
        ("id date primary key", "'2026-01-31'", "2026-01-31"),
        ("id timestamptz primary key", "'2026-01-31 12:00:00.5+02'", "2026-01-31T10:00:00.500000Z"),
        ("id timestamp primary key", "'2026-01-31 12:00'", "2026-01-31T12:00:00.000000"),
        ("id timestamptz primary key", "'infinity'", "infinity"),
        ("id date, n int, primary key (id, n)", "'-infinity', 1", '["-infinity", "1"]'),
        ("id date primary key", "'0044-03-15 BC'", "0044-03-15 BC"),
        ("id timestamptz primary key", "'0044-03-15Z BC'", "0044-03-15T00:00:00.000000Z BC"),
        ("id char(2) primary key", "'DE'", "DE"),
        ("id char(26), n int, primary key (n, id)", "'01ABC', 1", '["1", "01ABC"]'),
        ("id mood primary key", "'good'", "good"),
        ("id positive primary key", "7", "7"),
        ('"Big Id" int primary key', "7", "7"),
    ],
)  # fmt: skip
def test_keys_of_any_type_are_written_the_same_in_every_session(
    connection: Connection, columns: str, row: str, key: str
) -> None:
    connection.execute(
        "create type mood as enum ('good', 'bad'); create domain positive as int check (value > 0)"
    )
    connection.execute(f"create table article ({columns}, body text)".encode())
    connection.execute("select lexichord.index_table('public.article', text => '{body}')")
    connection.execute("delete from lexichord_data.table_change")
    connection.execute(f"insert into article values ({row}, 'text')".encode())
    connection.execute("set timezone = 'Asia/Tokyo'; set datestyle = 'SQL, DMY'")
    connection.execute("update article set body = 'other'")
    assert queued(connection) == [key, key]
    for after, keys in ((None, [key]), (key, [])):
        assert value(connection, "select lexichord.next_keys(1, %s, 5)", after) == keys
    (found,) = call(connection, "read_rows", table_id=1, keys=[key])
    assert (found["key"], found["content"]) == (key, "other")


def test_a_partition_is_written_to_by_itself(connection: Connection) -> None:
    connection.execute(
        "create table article (id int, part int, body text, n int, primary key (id, part)) "
        "partition by list (part); create table article_1 partition of article for values in (1); "
        "create table article_2 (n int, body text, part int not null, id int not null, "
        "primary key (id, part))"
    )
    connection.execute("select lexichord.index_table('public.article', text => '{body}')")
    connection.execute("alter table article attach partition article_2 for values in (2)")
    connection.execute("delete from lexichord_data.table_change")
    connection.execute("insert into article values (1, 1, 'a'), (2, 2, 'b')")
    connection.execute("insert into article_2 (id, part, body) values (3, 2, 'c')")
    assert queued(connection) == ['["1", "1"]', '["2", "2"]', '["3", "2"]']
    connection.execute("update article set n = 1")
    assert queued(connection) == []
    connection.execute(
        "update article_2 set body = 'x' where id = 3; update article set part = 2 where id = 1"
    )
    assert queued(connection) == ['["1", "1"]', '["1", "2"]', '["3", "2"]']
    connection.execute("delete from article_2")
    assert queued(connection) == ['["1", "2"]', '["2", "2"]', '["3", "2"]']


def test_who_writes_needs_no_right_on_ours(committed: Connection) -> None:
    with member(committed) as writer:
        committed.execute(
            f"grant insert, update, delete, select on article to {writer.info.user}".encode()
        )
        committed.execute(f"revoke lexichord_reader from {writer.info.user}".encode())
        writer.execute("insert into article (title) values ('x')")
        writer.execute("update article set body = 'y' where id = 1")
        assert queued(committed) == ["1", "4"]
        with pytest.raises(errors.InsufficientPrivilege):
            writer.execute("select * from lexichord_data.table_change")


def test_a_renamed_column_goes_on(article: Connection) -> None:
    article.execute(
        "alter table article rename body to words; alter table article rename id to number"
    )
    article.execute(
        "alter table article rename author to writer; alter table article rename to post"
    )
    article.execute("update post set words = 'new' where number = 2")
    assert queued(article) == ["2"]
    assert call(article, "follow_tables") == []
    (listed,) = call(article, "list_indexed_tables")
    assert (listed["source"], listed["dataset"]) == ("public.post", "article")
    (row,) = call(article, "read_rows", table_id=1, keys=["2"])
    assert (row["content"], row["metadata"]) == ("t2\n\nnew", {"writer": "ann"})
    assert row["uri"] == "https://example.com/2"
    assert article.execute("select keys from lexichord_data.table_change").fetchall() == [(None,)]
    article.execute("delete from lexichord_data.table_change")
    article.execute("update post set words = 'newer', views = 3 where number = 2")
    article.execute("update post set views = 4; delete from post where number = 3")
    assert queued(article) == ["2", "3"]


def test_columns_that_change_their_names_with_each_other_go_on(article: Connection) -> None:
    article.execute(
        "alter table article add notes text; alter table article rename title to old; "
        "alter table article rename notes to title; alter table article rename old to notes"
    )
    for _ in range(2):  # before and after a worker has looked
        article.execute("update article set title = 'not indexed' where id = 1")
        assert queued(article) == []
        article.execute("update article set notes = notes || '!' where id = 2")
        assert queued(article) == ["2"]
        call(article, "follow_tables")
        article.execute("delete from lexichord_data.table_change")


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ("alter table article drop column body", 'column "body" is gone'),
        ("alter table article rename published to visible", "cannot be read as it was indexed"),
        ("drop trigger zz_lexichord_truncate on article", "its triggers are gone"),
        ("alter table article disable trigger user", "its triggers are gone"),
    ],
)
def test_a_table_that_no_longer_fits_waits_and_says_so(
    article: Connection, change: str, fault: str
) -> None:
    article.execute(change.encode())
    article.execute("insert into article (title) values ('goes on')")
    (told,) = call(article, "follow_tables")
    assert fault in told["remark"]
    assert call(article, "follow_tables") == []
    assert call(article, "take_changes", most=5) == []
    assert fault in call(article, "list_indexed_tables")[0]["fault"]
    arguments: dict[str, Any] = {"text": ["title"], "filter": ""}
    call(article, "alter_index_table", source="public.article", **arguments)
    assert call(article, "list_indexed_tables")[0]["fault"] is None


def test_a_dropped_table_takes_its_documents_along(article: Connection) -> None:
    article.execute("drop table article")
    assert call(article, "list_indexed_tables")[0]["fault"] == "the table is gone"
    (told,) = call(article, "follow_tables")
    assert told["remark"] == "the table is gone, documents deleted: 0"
    assert call(article, "list_indexed_tables") == []


def test_a_table_that_queues_its_changes_is_not_forgotten(article: Connection) -> None:
    with (
        pytest.raises(psycopg.errors.ObjectInUse, match="article still queues its changes: end"),
        article.transaction(),
    ):
        call(article, "forget_table", table_id=1)
    assert [row["fault"] for row in call(article, "list_indexed_tables")] == [None]


def test_its_dataset_goes_with_the_index_alone(connection: Connection) -> None:
    connection.execute("create table page (id int primary key, words text)")
    connection.execute(
        "select lexichord.index_table('page', text => '{words}', dataset => 'texts')"
    )
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="texts is an indexed table's"):
        call(connection, "delete_dataset", dataset="texts")


def test_dropping_the_index_leaves_the_table(article: Connection) -> None:
    call(article, "drop_index_table", source="public.article")
    article.execute("update article set body = 'new'")
    assert queued(article) == []
    assert value(article, TRIGGERS) == 0
    assert value(article, QUEUE_FUNCTIONS) == 0
    article.execute(INDEX.encode())


def test_two_workers_take_different_changes(committed: Connection) -> None:
    committed.execute("update article set body = 'a' where id = 1")
    committed.execute("update article set body = 'c' where id = 2")
    with psycopg.connect(committed.info.dsn) as other, committed.transaction():
        assert call(committed, "take_changes", most=1)[0]["keys"] == ["1"]
        assert call(other, "take_changes", most=1)[0]["keys"] == ["2"]


def test_small_changes_are_taken_together_up_to_the_next_that_does_not_fit(
    article: Connection,
) -> None:
    article.execute(
        "insert into lexichord_data.table_change (table_id, keys, priority) values "
        "(1, '{1}', 0), (1, '{2,1}', 0), (1, '{3,4,5}', 0), (1, '{6}', 0), (1, null, 1)"
    )
    sizes = []
    with article.transaction():
        while (taken := call(article, "take_changes", most=5)[0])["keys"]:
            sizes.append((len(taken["changes"]), sorted(taken["keys"])))
            call(article, "finish_changes", changes=taken["changes"])
    assert sizes == [(2, ["1", "2"]), (2, ["3", "4", "5", "6"])]


def test_large_changes_are_parted(article: Connection) -> None:
    article.execute("insert into article (title) select i::text from generate_series(1, 25) i")
    assert call(article, "take_changes", most=10)[0]["keys"] == []
    sizes = article.execute("select cardinality(keys) from lexichord_data.table_change order by id")
    assert sizes.fetchall() == [(10,), (10,), (5,)]
    assert len(call(article, "take_changes", most=10)[0]["keys"]) == 10


def test_fresh_changes_go_before_the_background(article: Connection) -> None:
    call(article, "alter_index_table", source="public.article")
    article.execute("update article set body = 'now' where id = 3")
    assert call(article, "take_changes", most=10)[0]["keys"] == ["3"]


def test_rows_are_stored_only_where_some_were_staged(article: Connection) -> None:
    with pytest.raises(
        errors.ObjectNotInPrerequisiteState, match="no rows are staged: call stage_rows"
    ):
        call(article, "store_rows", table_id=1, keys=[], recipe="", space=None)
