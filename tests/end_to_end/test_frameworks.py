"""The recipes for frameworks in docs/guides/tables.md, as they stand there, on a real table."""

import sys
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import MetaData, create_engine

from tests.conftest import ROOT
from tests.docs.blocks import read_blocks
from tests.end_to_end.test_tables import stored, work
from tests.sql.corpus import Connection, value
from tests.sql.test_reader import member

PAGE = ROOT / "docs" / "guides" / "tables.md"


def recipe(language: str, holding: str) -> str:
    """Return the page's block of code that holds some words."""
    (text,) = (
        block.text
        for block in read_blocks(PAGE)
        if block.language == language and holding in block.text
    )
    return text


def test_what_django_is_given_indexes_and_searches(
    connection: Connection, dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without Django: the statements that its manager and migration run, and their arguments."""

    class Manager:
        model = SimpleNamespace(_meta=SimpleNamespace(db_table="shop_article"))

        def raw(self, statement: str, values: list[Any]) -> list[Any]:
            return connection.execute(statement.encode(), values).fetchall()

    def anything(*_: object, **__: object) -> None: ...

    models = SimpleNamespace(
        **{"Manager": Manager, "Model": object, "CharField": anything, "TextField": anything},
        query=SimpleNamespace(RawQuerySet=list),
    )
    names = SimpleNamespace(ops=SimpleNamespace(quote_name='"{}"'.format))
    migrations = SimpleNamespace(Migration=object, RunSQL=lambda *statements: statements)
    django = SimpleNamespace(models=models, connection=names, migrations=migrations)
    monkeypatch.setitem(sys.modules, "django.db", django)
    made: dict[str, Any] = {"__name__": "shop.models"}
    for holding in ("class SearchManager", "migrations.RunSQL"):
        exec(recipe("python", holding), made)
    (forward, back), *_ = made["Migration"].operations
    connection.execute(
        "create table shop_article (id bigint generated always as identity primary key, "
        "title varchar(200) not null, body text not null)"
    )
    connection.execute(
        "insert into shop_article (title, body) values ('Opening hours', 'From six to eight.'), "
        "('Late parcels', 'After three days it is free.')"
    )
    connection.execute(forward.encode())
    work(dsn)
    ((number, title, _, score, passage),) = made["Article"].objects.search("late parcel", k=1)
    assert (number, title, score > 0, "three days" in passage) == (2, "Late parcels", True, True)
    connection.execute(back.encode())
    assert value(connection, "select count(*) from lexichord.list_indexed_tables()") == 0


def test_alembic_indexes_and_takes_back(connection: Connection, dsn: str) -> None:
    names = ("autogenerate", "migration", "operations")
    autogenerate, migration, operations = (
        pytest.importorskip(f"alembic.{name}", reason="a development dependency") for name in names
    )
    configure, in_context = migration.MigrationContext.configure, operations.Operations.context
    revision: dict[str, Any] = {}
    exec(recipe("python", "def upgrade()"), revision)
    connection.execute("create table note (id bigint primary key, body text)")
    connection.execute("insert into note values (1, 'The parcel came late.')")
    engine = create_engine(dsn.replace("postgresql://", "postgresql+psycopg://"))
    metadata = MetaData()
    metadata.reflect(engine)
    with engine.begin() as bound:
        context = configure(bound)
        with in_context(context):
            revision["upgrade"]()
        assert autogenerate.compare_metadata(context, metadata) == []
    work(dsn)
    assert stored(connection) == [("1", "", "The parcel came late.", None)]
    with engine.begin() as bound, in_context(configure(bound)):
        revision["downgrade"]()
    assert stored(connection) == []
    engine.dispose()


def test_a_remote_procedure_finds_what_its_caller_may_see(connection: Connection, dsn: str) -> None:
    connection.execute(
        "create table article (id bigint primary key, author text, title text, body text)"
    )
    with member(connection) as caller:
        name = caller.info.user
        connection.execute("alter table article enable row level security")
        connection.execute("create policy own on article using (author = current_user)")
        connection.execute(f"grant select on article to {name}".encode())
        connection.execute(
            "insert into article values (1, %s, 'Mine', 'A late parcel.'), "
            "(2, 'ann', 'Hers', 'Another late parcel.')",
            [name],
        )
        connection.execute(
            "select lexichord.index_table('public.article', text => '{title,body}', "
            "title => 'title')"
        )
        work(dsn)
        connection.execute(
            recipe("sql", "create function find_articles").split("select title")[0].encode()
        )
        call = b"select title from find_articles('late parcel') order by title"
        assert connection.execute(call).fetchall() == [("Hers",), ("Mine",)]
        assert caller.execute(call).fetchall() == [("Mine",)]
