"""The recipes for frameworks in docs/guides/tables.md, as they stand there, on a real table."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from psycopg.conninfo import conninfo_to_dict
from sqlalchemy import MetaData, create_engine

from tests.conftest import ROOT
from tests.docs.blocks import read_blocks
from tests.end_to_end.test_tables import stored, work
from tests.sql.corpus import Connection, value
from tests.sql.test_reader import member

PAGE = ROOT / "docs" / "guides" / "tables.md"
DJANGO_SETTINGS = """
DATABASES = {{"default": {{"ENGINE": "django.db.backends.postgresql", {database}}}}}
INSTALLED_APPS = ["shop"]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
SECRET_KEY = "for a test"
USE_TZ = True
"""
DJANGO_FIND = """
from shop.models import Article
for article in Article.objects.search("late parcel", k=1):
    print(article.pk, article.title, article.score > 0, "three days" in article.passage)
"""


def recipe(language: str, holding: str) -> str:
    """Return the page's block of code that holds some words."""
    (text,) = (
        block.text
        for block in read_blocks(PAGE)
        if block.language == language and holding in block.text
    )
    return text


def test_django_migrates_and_searches(connection: Connection, dsn: str, tmp_path: Path) -> None:
    pytest.importorskip("django", reason="a development dependency")
    shop = tmp_path / "shop"
    (shop / "migrations").mkdir(parents=True)
    for empty in ("__init__.py", "migrations/__init__.py"):
        (shop / empty).touch()
    parts = conninfo_to_dict(dsn)
    names = {"host": "HOST", "port": "PORT", "user": "USER", "password": "PASSWORD"}
    place: dict[str, Any] = {names[key]: parts[key] for key in names if key in parts}
    place["NAME"] = parts["dbname"]
    database = ", ".join(f"{key!r}: {str(given)!r}" for key, given in place.items())
    (tmp_path / "site_settings.py").write_text(DJANGO_SETTINGS.format(database=database))
    (shop / "models.py").write_text(recipe("python", "class SearchManager"))

    def run(*arguments: str) -> str:
        path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
        environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "site_settings", "PYTHONPATH": path}
        command = [sys.executable, "-m", "django", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        assert done.returncode == 0, done.stderr
        return done.stdout

    run("makemigrations", "shop")
    (shop / "migrations" / "0002_index.py").write_text(recipe("python", "migrations.RunSQL"))
    run("migrate")
    fill = (
        "from shop.models import Article\n"
        "Article.objects.create(title='Opening hours', body='From six to eight.')\n"
        "Article.objects.create(title='Late parcels', body='After three days it is free.')"
    )
    run("shell", "-c", fill)
    work(dsn)
    assert run("shell", "-c", DJANGO_FIND).splitlines()[-1] == "2 Late parcels True True"
    run("migrate", "shop", "0001")
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
