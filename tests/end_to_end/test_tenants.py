"""Tenants by the command line, and what a backup and an upgrade make of them."""

import json
import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import psycopg
import pytest

from lexichord import SyncLexichord
from lexichord.db import backup, schema
from lexichord.errors import ConfigError, NotFoundError
from tests.conftest import SPACE, new_database
from tests.end_to_end.processes import run_cli
from tests.sql.corpus import BY_VECTOR, call, put
from tests.sql.test_tenants import of_tenant

SEARCH = {"query": "w1", **BY_VECTOR}


@pytest.fixture
def prepared(embedded_dsn: str) -> Iterator[str]:
    with new_database(embedded_dsn) as dsn:
        schema.prepare(dsn, schema.Choice("plain", "english", SPACE))
        yield dsn


def test_the_commands_say_what_they_do(prepared: str, home: Path) -> None:
    run = partial(run_cli, prepared, home)
    off = run("tenants", "add", "acme")
    assert off.exit_code != 0
    assert "tenants are off: turn them on by lexichord tenants on" in off.stderr
    turned = run("tenants", "on")
    assert turned.exit_code == 0, turned.stderr
    assert "make a login role" in turned.stderr
    assert run("tenants", "add", "acme", "--dataset", "a").stdout == "acme is added\n"
    again = run("tenants", "add", "acme", "--dataset", "b", "--json")
    assert json.loads(again.stdout) == {"tenant": "acme", "created": False}
    assert run("keys", "create", "k", "--tenant", "acme", "--principal", "p").stdout
    listed = run("tenants", "list")
    assert listed.stdout == "acme  a, b  1 key\n"
    assert "tenant acme  for p" in run("keys", "list").stdout
    assert run("tenants", "drop", "acme").stdout == "acme is dropped\n"
    gone = run("tenants", "drop", "acme")
    assert "there is no tenant acme: see lexichord tenants list" in gone.stderr
    nobodys = run("keys", "create", "k", "--tenant", "acme")
    assert "there is no tenant acme: lexichord tenants add acme" in nobodys.stderr


def test_what_is_wrong_is_said(prepared: str, home: Path) -> None:
    with SyncLexichord(dsn=prepared, home=home) as lexichord:
        lexichord.turn_tenants_on()
        lexichord.add_tenant("acme", datasets=["a"])
        with pytest.raises(ConfigError, match="dataset a is of tenant acme"):
            lexichord.add_tenant("bolt", datasets=["a"])
        with pytest.raises(ConfigError, match="principals are of roles"):
            lexichord.add_tenant("acme", principals=["p"])
        with pytest.raises(ConfigError, match="principals are of a tenant's keys"):
            lexichord.create_key("k", principals=["p"])
        with pytest.raises(NotFoundError, match="there is no tenant nobody"):
            lexichord.create_key("k", tenant="nobody")
        key = lexichord.create_key("k", tenant="acme", principals=["p"])
        renewed = lexichord.rotate_key(key.key.key_id).key
        assert (renewed.tenant, renewed.principals) == ("acme", ("p",))


def test_a_backup_keeps_them(prepared: str, embedded_dsn: str, tmp_path: Path) -> None:
    with psycopg.connect(prepared, autocommit=True) as owner:
        call(owner, "turn_tenants_on")
        for name in ("north", "south"):
            put(owner, f"{name}/1.md", ["w1"], [[1, 0, 0, 0]], dataset=name)
            call(owner, "add_tenant", name=name, datasets=[name])
        put(owner, "north/2.md", ["w1"], dataset="north", metadata={"principals": "p"})
    backup.backup(prepared, tmp_path / "file")
    with new_database(embedded_dsn) as other:
        backup.restore(other, tmp_path / "file")
        with (
            psycopg.connect(other, autocommit=True) as owner,
            of_tenant(owner, "north") as plain,
            of_tenant(owner, "north", "p") as chosen,
        ):
            assert call(owner, "reader_gaps") == []
            for asker, uris in ((plain, {"north/1.md"}), (chosen, {"north/1.md", "north/2.md"})):
                assert {row["uri"] for row in call(asker, "hybrid_search", **SEARCH)} == uris
                assert {row["uri"] for row in call(asker, "list_documents")} == uris
            put(owner, "north/3.md", ["w1"], dataset="north", metadata={"principals": []})
            assert "north/3.md" not in {row["uri"] for row in call(chosen, "list_documents")}


def test_an_owner_that_is_no_superuser_guards_them_as_well(prepared: str) -> None:
    name = f"plain_owner_{os.getpid()}"
    with psycopg.connect(prepared, autocommit=True) as admin:
        admin.execute(f"create role {name} login password '{name}'".encode())
        try:
            for (statement,) in admin.execute(OWN_ALL.format(name).encode()).fetchall():
                admin.execute(statement.encode())
            admin.execute(
                "do $$ begin if to_regrole('lexichord_server') is null then "
                "create role lexichord_server nologin; end if; end $$"
            )
            admin.execute("grant lexichord_reader to lexichord_server")
            with psycopg.connect(prepared, user=name, password=name, autocommit=True) as owner:
                call(owner, "turn_tenants_on")
                for each in ("north", "south"):
                    put(owner, f"{each}/1.md", ["w1"], [[1, 0, 0, 0]], dataset=each)
                    call(owner, "add_tenant", name=each, datasets=[each])
                assert len(call(owner, "hybrid_search", **SEARCH)) == 2
            with of_tenant(admin, "north") as tenant:
                assert {r["uri"] for r in call(tenant, "hybrid_search", **SEARCH)} == {"north/1.md"}
                assert {r["uri"] for r in call(tenant, "list_documents")} == {"north/1.md"}
        finally:
            admin.execute(f"reassign owned by {name} to current_user; drop role {name}".encode())


OWN_ALL = """
select format('alter schema %I owner to {0}', n.nspname) from pg_namespace n
where n.nspname in ('lexichord', 'lexichord_data')
union all
select format('alter table %s owner to {0}', c.oid::regclass) from pg_class c
where c.relnamespace = 'lexichord_data'::regnamespace and c.relkind in ('r', 'v')
union all
select format('alter routine %s owner to {0}', p.oid::regprocedure) from pg_proc p
where p.pronamespace::regnamespace::text in ('lexichord', 'lexichord_data')
"""
