"""A backup restores all that was stored, on any engine, or nothing."""

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import psycopg
import pytest
from typer.testing import CliRunner

from lexichord import SyncLexichord
from lexichord.cli.commands import app
from lexichord.db import backup, dumps, schema
from lexichord.db.embedded import PROGRAMS
from lexichord.db.schema import Choice, prepare
from lexichord.errors import ConfigError, DatabaseError
from lexichord.types import EmbeddingSpace
from tests.conftest import new_database
from tests.end_to_end.client import CHUNKS, documents, word
from tests.end_to_end.conftest import SERVERS, Servers, stocked
from tests.end_to_end.killed import assert_same
from tests.end_to_end.processes import wait_until
from tests.faults.earlier import CHUNKS as CHUNK_ROWS
from tests.faults.earlier import fill_earlier
from tests.migrations.conftest import UNRELEASED

SPACE = EmbeddingSpace("test", "tiny", 4)
STORED = 30
ARTICLE = "create table public.article (id integer primary key, body text)"


@pytest.fixture(scope="module")
def _stocked(embedded_dsn: str) -> Iterator[str]:
    with stocked("plain", embedded_dsn, STORED) as dsn:
        yield dsn


@pytest.fixture
def source(_stocked: str) -> Iterator[str]:
    with new_database(_stocked, copy_of=_stocked) as dsn:
        yield dsn


@pytest.fixture
def target(server: Servers) -> Iterator[str]:
    with new_database(server("plain")) as dsn:
        yield dsn


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "all.backup"


def run(dsn: str, statement: str) -> list[tuple[object, ...]]:
    with psycopg.connect(dsn, autocommit=True) as connection:
        cursor = connection.execute(statement.encode())
        return cursor.fetchall() if cursor.description else []


def is_prepared(dsn: str) -> bool:
    return run(dsn, "select to_regclass('lexichord_data.migration') is not null") == [(True,)]


@pytest.mark.parametrize("one", SERVERS)
@pytest.mark.parametrize("other", SERVERS)
def test_a_backup_restores_all_on_any_engine(
    server: Servers, file: Path, one: str, other: str
) -> None:
    with stocked(one, server(one), STORED) as source, new_database(server(other)) as target:
        made = backup.backup(source, file)
        assert (made.documents, made.chunks, made.engine) == (STORED + 1, 31 * CHUNKS, one)
        restored = backup.restore(target, file, other, trust=True)
        assert (restored.documents, restored.engine) == (STORED + 1, other)
        assert_same(target, source)
        keys = "select name, digest, datasets from lexichord_data.api_key"
        assert run(target, keys) == run(source, keys) != []
        with SyncLexichord(dsn=target) as lexichord:
            assert not lexichord.doctor().problems
            for number in (0, STORED - 1, 90):
                found = lexichord.search(word(number), mode="keyword", k=CHUNKS).hits
                assert {hit.uri for hit in found} == {f"doc/{number:04d}"}
            lexichord.ingest(documents=documents(95, 96))
            assert lexichord.search(word(95), mode="keyword").hits[0].uri == "doc/0095"


@pytest.mark.parametrize("engine", SERVERS)
def test_what_an_earlier_version_stored_restores_too(
    server: Servers, target: str, file: Path, engine: str
) -> None:
    with new_database(server(engine)) as source:
        fill_earlier(engine)(source)
        stored = run(source, CHUNK_ROWS)
        backup.backup(source, file)
    backup.restore(target, file, trust=True)
    assert run(target, CHUNK_ROWS) == stored != []
    with SyncLexichord(dsn=target) as lexichord:
        (problem,) = lexichord.doctor().problems
        assert problem.remedy == "run lexichord reindex"
        lexichord.reindex()
        assert not lexichord.doctor().problems


def test_what_is_older_than_any_release_restores_nothing(
    source: str, target: str, file: Path
) -> None:
    for statement in UNRELEASED:
        run(source, statement)
    run(source, "delete from lexichord_data.migration where number > 20")
    backup.backup(source, file)
    with pytest.raises(DatabaseError, match=r"^nothing was restored: .*before 1\.0\.0: .*anew$"):
        backup.restore(target, file, trust=True)
    assert not is_prepared(target)


def test_a_schema_of_its_own_for_the_vectors_types(source: str, target: str, file: Path) -> None:
    backup.backup(source, file)
    run(target, "create schema extensions; create extension vector schema extensions")
    backup.restore(target, file)
    assert_same(target, source)


def test_what_is_there_is_not_overwritten(source: str, target: str, file: Path) -> None:
    backup.backup(source, file)
    before = file.read_bytes()
    with pytest.raises(ConfigError, match="exists: name another file"):
        backup.backup(source, file)
    assert file.read_bytes() == before
    prepare(target, Choice())  # nothing is stored there
    run(target, "create view public.mine as select * from lexichord.list_datasets()")
    with pytest.raises(ConfigError, match=r"drop them first \(.*mine\)"):
        backup.restore(target, file)
    run(target, "drop view public.mine")
    backup.restore(target, file)
    with pytest.raises(ConfigError, match="not empty, it has rows in api_key,"):
        backup.restore(target, file)
    run(target, "truncate lexichord_data.document, lexichord_data.api_key cascade")
    with pytest.raises(ConfigError, match=r"not empty, it has rows in .*: restore into another"):
        backup.restore(target, file)


def rewritten(file: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """Give a backup whose manifest says something else."""
    other = file.with_name("other.backup")
    with ZipFile(file) as old, ZipFile(other, "w", ZIP_STORED) as new:
        manifest = json.loads(old.read(backup.MANIFEST))
        change(manifest)
        new.writestr(backup.MANIFEST, json.dumps(manifest))
        new.writestr(backup.STATE, old.read(backup.STATE))
    return other


def test_what_is_not_whole_restores_nothing(source: str, target: str, file: Path) -> None:
    backup.backup(source, file)

    def one_more(manifest: dict[str, object]) -> None:
        manifest["tables"]["chunk"][0] += 1  # type: ignore[index]

    def another_sum(manifest: dict[str, object]) -> None:
        manifest["tables"]["document"][1] = "7"  # type: ignore[index]

    def no_tables(manifest: dict[str, object]) -> None:
        manifest["tables"] = {}

    for change in (one_more, another_sum, no_tables):
        with pytest.raises(
            DatabaseError, match=r"nothing was restored: .*(has not the|counts none)"
        ):
            backup.restore(target, rewritten(file, change))
        assert not is_prepared(target)
    other = rewritten(file, lambda manifest: manifest.update(format=2, version="1.0.0"))
    with pytest.raises(ConfigError, match=r"only lexichord 1\.0\.0 is known to read: restore it"):
        backup.restore(target, other)
    half = file.with_name("half")
    half.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    none = file.with_name("none")
    none.write_text("no backup")
    for wrong in (half, none):
        with pytest.raises(ConfigError, match="is no backup, or not whole"):
            backup.restore(target, wrong)
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        backup.restore(target, file.with_name("nowhere"))
    assert not is_prepared(target)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "should be an object"),
        ("[" * 100_000, "recursion"),
        ("{", "EOF while"),
        ("{}", "lacks"),
    ],
)
def test_a_manifest_that_none_wrote_is_told_in_words(
    target: str, file: Path, text: str, message: str
) -> None:
    with ZipFile(file, "w", ZIP_STORED) as archive:
        archive.writestr(backup.MANIFEST, text)
        archive.writestr(backup.STATE, b"")
    with pytest.raises(ConfigError, match=message) as raised:
        backup.restore(target, file)
    assert len(str(raised.value)) < 300
    assert "indices" not in str(raised.value)


def test_a_dump_cut_short_restores_nothing(source: str, target: str, file: Path) -> None:
    backup.backup(source, file)
    cut = file.with_name("cut.backup")
    with ZipFile(file) as old, ZipFile(cut, "w") as new:
        new.writestr(backup.MANIFEST, old.read(backup.MANIFEST))
        new.writestr(backup.STATE, old.read(backup.STATE)[:-5000])
    with pytest.raises(DatabaseError, match="nothing was restored"):
        backup.restore(target, cut)
    assert not is_prepared(target)


def test_a_backup_is_for_its_owner_and_leaves_no_part_behind(
    source: str, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backup.backup(source, file)
    assert file.stat().st_mode & 0o777 == 0o600
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(dumps, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match="there is no pg_dump"):
        backup.backup(source, file.with_name("next"))
    assert list(file.parent.iterdir()) == [file]
    with pytest.raises(ConfigError, match="cannot be written: No such file"):
        backup.backup(source, file.parent / "none" / "file")


def test_an_indexed_table_is_followed_again_where_it_is_there(
    source: str, server: Servers, file: Path
) -> None:
    run(source, ARTICLE)
    run(source, "insert into public.article values (1, 'late parcel')")
    run(source, "select lexichord.index_table('public.article', text => '{body}')")
    with SyncLexichord(dsn=source, embedding="test/tiny/4") as lexichord:
        lexichord.index_changes()
    made = backup.backup(source, file)
    assert made.documents == STORED + 2
    with new_database(server("plain")) as without, new_database(server("plain")) as target:
        with pytest.raises(ConfigError, match="follows tables of its database"):
            backup.restore(without, file)
        restored = backup.restore(without, file, trust=True)
        assert restored.left_out == (
            "indexed table public.article: the table is gone, documents deleted: 1",
        )
        run(target, ARTICLE)
        run(target, "insert into public.article values (1, 'late parcel'), (2, 'early bird')")
        assert backup.restore(target, file, trust=True).left_out == ()
        run(target, "insert into public.article values (3, 'a cart')")
        with SyncLexichord(dsn=target) as lexichord:
            lexichord.index_changes()
        assert run(target, "select key from lexichord_data.table_row order by key") == [
            ("1",),
            ("2",),
            ("3",),
        ]


@pytest.mark.parametrize("engine", SERVERS)
def test_what_postgres_dumps_itself_restores_too(
    server: Servers, tmp_path: Path, engine: str
) -> None:
    dump = str(tmp_path / "dump")
    with stocked(engine, server(engine), STORED) as source, new_database(server(engine)) as target:
        for program, arguments in [
            ("pg_dump", ["-Fc", f"--file={dump}", f"--dbname={source}"]),
            ("pg_restore", ["--exit-on-error", f"--dbname={target}", dump]),
        ]:
            subprocess.run([str(PROGRAMS / program), *arguments], check=True)
        prepare(target, Choice())
        assert_same(target, source)
        with SyncLexichord(dsn=target) as lexichord:
            assert not lexichord.doctor().problems
            assert lexichord.search(word(7), mode="keyword").hits[0].uri == "doc/0007"


def test_the_command_line(source: str, target: str, file: Path) -> None:
    def lexichord(*arguments: str) -> str:
        result = CliRunner().invoke(app, [*arguments, "--json"])
        assert result.exit_code == 0, result.output
        return result.stdout

    made = json.loads(lexichord("backup", str(file), "--dsn", source))
    assert (made["documents"], made["engine"]) == (STORED + 1, "plain")
    restored = json.loads(lexichord("restore", str(file), "--dsn", target))
    assert restored == made
    empty = CliRunner().invoke(app, ["backup", str(file.with_name("x")), "--dsn", f"{target}x"])
    assert empty.exit_code == 1
    assert "Traceback" not in empty.output


def tampered(file: Path, change: Callable[[psycopg.Connection], object], source: str) -> Path:
    """Give a backup of a database in which somebody changed something first."""
    with new_database(source, copy_of=source) as other:
        with psycopg.connect(other, autocommit=True) as connection:
            change(connection)
        backup.backup(other, file)
    return file


@pytest.mark.parametrize(
    "planted",
    [
        "create function lexichord_data.f() returns int language sql as 'select 1'",
        "alter table lexichord_data.dataset alter name set default pg_read_file('/etc/hostname')",
        "create view lexichord_data.own as select rolname from pg_roles",
        "create table lexichord_data.loot (line text default current_user)",
        "create index on lexichord_data.dataset (upper(name))",
        "create rule r as on insert to lexichord_data.dataset do also select 1",
        "comment on table lexichord_data.dataset is 'planted'",
    ],
)
def test_sql_of_others_is_run_by_trust_alone(
    source: str, target: str, file: Path, planted: str
) -> None:
    tampered(file, lambda connection: connection.execute(planted.encode()), source)
    with pytest.raises(ConfigError, match=r"holds SQL that lexichord \S+ does not write here"):
        backup.restore(target, file)
    assert not is_prepared(target)
    backup.restore(target, file, trust=True)
    assert_same(target, source)


@pytest.mark.parametrize(
    "dropped",
    ["trigger count_inserted on lexichord_data.chunk", "index lexichord_data.document_uri"],
)
def test_what_lacks_a_part_restores_nothing(
    source: str, target: str, file: Path, dropped: str
) -> None:
    tampered(file, lambda connection: connection.execute(f"drop {dropped}".encode()), source)
    with pytest.raises(ConfigError, match=r"^nothing was restored: the backup lacks "):
        backup.restore(target, file)
    assert not is_prepared(target)


@pytest.mark.parametrize("last", [1, 2**63 - 1])
def test_numbers_that_would_be_given_twice_or_soon_end_restore_nothing(
    source: str, target: str, file: Path, last: int
) -> None:
    change = f"select setval('lexichord_data.chunk_id_seq', {last})"
    tampered(file, lambda connection: connection.execute(change.encode()), source)
    told = rf"^the backup's numbers of chunk go on after {last}, "
    for trust in (False, True):
        with pytest.raises(ConfigError, match=told):
            backup.restore(target, file, trust=trust)
    assert not is_prepared(target)


def test_rows_that_no_backup_holds_restore_nothing(
    source: str, target: str, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No sum is kept of them, so that anybody could have put them there."""
    kept = tuple(name for name in backup.DERIVED_ROWS if name != "function_release")
    with monkeypatch.context() as patched:
        patched.setattr(backup, "DERIVED_ROWS", kept)
        backup.backup(source, file)
    crafted = rewritten(file, lambda manifest: manifest["tables"].pop("function_release"))
    for trust in (False, True):
        with pytest.raises(DatabaseError, match="rows of function_release, of which its manifest"):
            backup.restore(target, crafted, trust=trust)
    assert not is_prepared(target)


def test_what_is_not_taken_on_leaves_nothing(
    source: str, target: str, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backup.backup(source, file)

    def fail(dsn: str, choice: Choice) -> None:
        raise DatabaseError("the disk is full")

    monkeypatch.setattr(schema, "prepare", fail)
    with pytest.raises(DatabaseError, match=r"^nothing was restored: the disk is full$"):
        backup.restore(target, file, trust=True)
    assert not is_prepared(target)


def test_a_manifest_names_no_index_of_ours(source: str, target: str, file: Path) -> None:
    """What it names is left out, for engines make it anew."""
    backup.backup(source, file)
    names = ["document_uri", "chunk_document"]
    with pytest.raises(ConfigError, match=r"^nothing was restored: the backup lacks "):
        backup.restore(target, rewritten(file, lambda manifest: manifest["indexes"].extend(names)))


def test_what_was_restored_is_backed_up_and_restored(
    source: str, target: str, file: Path, tmp_path: Path
) -> None:
    backup.backup(source, file)
    backup.restore(target, file)
    backup.backup(target, again := tmp_path / "again")
    with new_database(target) as third:
        backup.restore(third, again)
        assert_same(third, source)


def test_what_is_stored_meanwhile_stays(
    source: str, target: str, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another restore, or an ingest, may begin while the SQL is compared."""
    backup.backup(source, file)

    def prepare_and_store(dsn: str, choice: Choice) -> None:
        prepare(dsn, choice)
        run(dsn, "insert into lexichord_data.dataset (name) values ('meanwhile')")

    monkeypatch.setattr(schema, "prepare", prepare_and_store)
    with pytest.raises(ConfigError, match="is not empty"):
        backup.restore(target, file)
    assert run(target, "select name from lexichord_data.dataset") == [("meanwhile",)]


def test_what_is_being_stored_stays(source: str, target: str, file: Path) -> None:
    """Its transaction is open as the restore looks for something to lose."""
    backup.backup(source, file)
    prepare(target, Choice())
    with psycopg.connect(target) as writer, ThreadPoolExecutor(1) as pool:
        writer.execute("insert into lexichord_data.dataset (name) values ('meanwhile')")
        restoring = pool.submit(backup.restore, target, file)
        waits = (
            "select pid from pg_locks where not granted and database = (select oid from pg_database"
        )
        waits += " where datname = current_database())"
        wait_until(lambda: run(target, waits) != [])
        writer.commit()
        with pytest.raises(ConfigError, match="is not empty, it has rows in dataset"):
            restoring.result()
    assert run(target, "select name from lexichord_data.dataset") == [("meanwhile",)]


def test_what_stands_in_a_comment_is_not_run() -> None:
    """A comment ends at a carriage return, too."""
    text = b"--\n-- Name: x\rdrop table a;\n--\n\ncreate table b ();\n\n\n--\n-- Name: y\n--\n"
    assert [*dumps.parts_of(text)] == [b"create table b ();"]


def test_types_are_told_as_they_are_run() -> None:
    parts = b"create table a (b \xc3\xa9.vector(3)); create table c (d x.vector(3));"
    types = dumps.vector_types("x")
    assert types.findall(parts) == [(b"vector", b"(3)")]
    assert dumps.normal_form(parts, "x") == types.sub(rb"\1", parts)


@pytest.mark.parametrize("name", ["a; drop", "é (a int)", '"a" b', ""])
def test_a_schema_has_a_name(source: str, target: str, file: Path, name: str) -> None:
    backup.backup(source, file)
    with pytest.raises(ConfigError, match="is no backup, or not whole"):
        backup.restore(
            target, rewritten(file, lambda manifest: manifest.update(vector_schema=name))
        )


def manifest(**parts: object) -> bytes:
    whole = {"format": 1, "version": "1", "engine": "plain", "vector_schema": "public"}
    return json.dumps(whole | {"indexes": [], "tables": {}} | parts).encode()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b" " * (backup.MAX_MANIFEST_BYTES + 1), "its manifest.json is too large"),
        (b"[" * 100_000, "not whole: .*recursion"),
        (b"{}", "it lacks 'format'"),
        (b"[]", "not whole: "),
        (manifest(tables=[]), "not whole: .*tables"),
        (manifest(indexes=["a" * 400_000] * 10), "not whole: .*indexes"),
        (manifest(format=True), "not whole: .*format"),
    ],
    ids=["blanks", "deep", "empty", "list", "tables", "indexes", "format"],
)
def test_a_crafted_manifest_is_refused_in_a_line(
    target: str, file: Path, content: bytes, reason: str
) -> None:
    with ZipFile(file, "w") as archive:
        archive.writestr(backup.MANIFEST, content)
        archive.writestr(backup.STATE, b"")
    with pytest.raises(ConfigError, match=reason) as caught:
        backup.restore(target, file)
    assert "\n" not in str(caught.value)


def test_a_packed_backup_is_refused_before_it_is_unpacked(
    source: str, target: str, file: Path
) -> None:
    """A gigabyte of its contents' one name made 1.3 MB of a file, and 4 GB of memory."""
    backup.backup(source, file)
    packed = file.with_suffix(".packed")
    with ZipFile(file) as old, ZipFile(packed, "w", ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, old.read(name))
    with pytest.raises(ConfigError, match="lexichord packs no part of one"):
        backup.restore(target, packed)


def test_a_backup_of_more_entries_than_any_has_is_refused(
    source: str, target: str, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backup.backup(source, file)
    monkeypatch.setattr(backup, "MAX_SQL_BYTES", 2000)
    with pytest.raises(ConfigError, match="more entries than lexichord writes"):
        backup.restore(target, file)
    monkeypatch.undo()
    assert backup.restore(target, file).documents


def test_what_is_no_file_is_no_backup(target: str, file: Path) -> None:
    file.symlink_to("/dev/zero")
    with pytest.raises(ConfigError, match="is no backup: it is no file"):
        backup.restore(target, file)


def test_a_damaged_byte_is_said_in_a_line(
    source: str, target: str, file: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    backup.backup(source, file)
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    with pytest.raises(ConfigError, match="is no backup, or not whole: Bad CRC-32"):
        backup.restore(target, file)
    assert "Traceback" not in capfd.readouterr().err
    assert not is_prepared(target)


def test_triggers_of_all_engines_go_with_an_engine_that_is_left() -> None:
    made = re.compile(r"create or replace trigger (\w+) [^;]*? on lexichord_data\.chunk\s")
    files = (schema.folder("sql") / "engine").glob("*/index.sql")
    triggers = {name for file in files for name in made.findall(file.read_text())}
    assert triggers == set(re.findall(r"exists (\w+) on", backup.LEAVE_ENGINE))
