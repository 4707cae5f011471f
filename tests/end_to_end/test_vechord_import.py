"""Tables as programs of the vechord library make them, taken over on both engines."""

import json
import math
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lexichord import SyncLexichord
from lexichord.cli.commands import app
from lexichord.db import schema
from lexichord.errors import ConfigError, EngineUnsupportedError
from tests.conftest import SPACE, new_database
from tests.end_to_end.vechord_rows import execute, stored

LEASE = "The lease begins in May. Rent is due monthly. It ends in June."
NDA = "Keep it secret. For two years."
CHUNKS = [  # document, index, content, context; not in their order
    ("b", 1, "For two years.", "The term of the NDA."),
    ("a", 0, "The lease begins in May.", "The start of the lease."),
    ("a", 2, "It ends in June.", "The end of the lease."),
    ("a", 1, "Rent is due monthly.", "What the lease costs."),
    ("b", 0, "Keep it secret.", ""),
]


def vector(number: int) -> list[float]:
    return [math.cos(number), math.sin(number), 0.5, 0.25]


def fill(dsn: str, name: str, dimension: int = SPACE.dimension) -> None:
    """As examples/anthropic.py of vechord: the key is a unique column, the index another one."""
    columns = (
        "uid bigint generated always as identity primary key, "
        'doc_uuid text references {document} (uuid) on delete cascade, "index" bigint, content text'
    )
    execute(
        dsn,
        "create table {document} (uid bigint generated always as identity primary key, "
        "uuid text unique, content text)",
        f"create table {{chunk}} ({columns}, vector vector({dimension}))",
        f"create table {{contextualchunk}} ({columns}, context text, vector vector({dimension}))",
        "create table {query} (uid bigint primary key, content text, answer text, "
        f"doc_uuids text[], vector vector({dimension}))",
        name=name,
    )
    add = "insert into {document} (uuid, content) values (%s, %s)"
    for key, text in (("b", NDA), ("a", LEASE)):
        execute(dsn, add, name=name, values=[key, text])
    for number, row in enumerate(CHUNKS):
        values = [*row, str(vector(number)[:1] * (dimension - 4) + vector(number)[:dimension])]
        add = (
            'insert into {contextualchunk} (doc_uuid, "index", content, context, vector) '
            "values (%s, %s, %s, %s, %s)"
        )
        execute(dsn, add, name=name, values=values)


def small(dsn: str, name: str = "s") -> None:
    """One document in two chunks, with few columns."""
    execute(
        dsn,
        "create table {document} (uid bigint primary key, title text, text text)",
        "create table {chunk} (doc bigint references {document}, text text, vec vector(4))",
        "insert into {document} values (1, 'One', 'Alpha. Beta.'), (2, null, 'Gamma.')",
        "insert into {chunk} values (1, 'Alpha.', '[1,0,0,0]'), (1, 'Beta.', '[0,1,0,0]'), "
        "(2, 'Gamma.', '[0,0,1,0]')",
        name=name,
    )


def test_all_goes_over_in_its_order(plain: SyncLexichord, dsn: str) -> None:
    fill(dsn, "anthropic")
    report = plain.import_vechord("anthropic", dataset="taken")
    assert (report.inserted, report.chunks, report.embedded, report.failed) == (2, 5, 0, {})
    rows = stored(dsn)
    wanted = sorted((f"vechord:anthropic/{key}", index) for key, index, _, _ in CHUNKS)
    by_place = {(f"vechord:anthropic/{row[0]}", row[1]): at for at, row in enumerate(CHUNKS)}
    for (uri, content, context, embedding), place in zip(rows, wanted, strict=True):
        number = by_place[place]
        assert (uri, content, context) == (place[0], *CHUNKS[number][2:])
        assert embedding == pytest.approx(vector(number), abs=1e-3)
    shown = plain.show("vechord:anthropic/a")
    assert (shown.text, shown.document.dataset, shown.document.title) == (LEASE, "taken", LEASE)
    assert [chunk.start for chunk in shown.chunks] == [0, 25, 46]
    assert [chunk.metadata["index"] for chunk in shown.chunks] == [0, 1, 2]
    assert shown.document.metadata == {"uid": 2, "language": "en"}
    assert plain.search("secret", mode="keyword").hits[0].uri == "vechord:anthropic/b"
    assert plain.status().runs[0].source == "vechord:anthropic"


def test_what_is_there_is_skipped_and_what_changed_replaced(plain: SyncLexichord, dsn: str) -> None:
    fill(dsn, "ns")
    plain.import_vechord("ns")
    again = plain.import_vechord("ns")
    assert (again.inserted, again.skipped, again.chunks) == (0, 2, 0)
    execute(dsn, "update {contextualchunk} set context = 'New.' where uid = 1", name="ns")
    report = plain.import_vechord("ns")
    assert (report.replaced, report.skipped) == (1, 1)
    assert [row[2] for row in stored(dsn)[-2:]] == ["", "New."]
    change = "update {contextualchunk} set vector = '[1,2,3,4]' where uid = 2"
    execute(dsn, change, name="ns")
    assert (plain.import_vechord("ns").replaced, stored(dsn)[0][3]) == (1, [1, 2, 3, 4])


def test_what_changes_while_it_is_imported_is_known_by_what_was_read(
    plain: SyncLexichord, dsn: str
) -> None:
    """And not by what it was when it was listed, or it would stay as it is for good."""
    fill(dsn, "ns")

    def change(*values: str) -> None:
        for table in ("{document}", "{contextualchunk}"):
            statement = f"update {table} set content = replace(content, %s, %s)"
            execute(dsn, statement, name="ns", values=values)

    plain.import_vechord("ns", on_run=lambda _: change("May", "July"))
    assert "July" in plain.show("vechord:ns/a").text
    change("July", "May")
    report = plain.import_vechord("ns")
    assert (report.replaced, report.skipped) == (1, 1)
    assert plain.show("vechord:ns/a").text == LEASE


def test_keys_that_repeat_are_imported_once(plain: SyncLexichord, dsn: str) -> None:
    """In a table that inherits: a unique key is each table's own."""
    small(dsn)
    execute(dsn, "create table more () inherits (s_document)")
    execute(dsn, "insert into more values (1, 'Again', 'Alpha. Beta.')")
    report = plain.import_vechord("s")
    assert report.failed == {}
    assert {row.uri for row in plain.list()} == {"vechord:s/1", "vechord:s/2"}


def test_another_dimension_is_refused(plain: SyncLexichord, dsn: str) -> None:
    fill(dsn, "wide", 5)
    with pytest.raises(ConfigError, match="have 5 numbers, the database is bound to test/tiny/4"):
        plain.import_vechord("wide")
    assert plain.status().runs == []


@pytest.mark.parametrize("name", ['we"ird', "o'clock", "Großes %s {0} $q$", "a; drop table x; --"])
def test_odd_names_are_quoted(plain: SyncLexichord, dsn: str, name: str) -> None:
    fill(dsn, name)
    report = plain.import_vechord(name)
    assert (report.inserted, report.failed) == (2, {})
    assert plain.list()[0].uri == f"vechord:{name}/a"


def test_a_name_is_never_a_statement(plain: SyncLexichord, dsn: str) -> None:
    small(dsn)
    for name in ('s_chunk"; drop table s_chunk; --', "s'; drop table s_chunk; --", "s\\", ""):
        with pytest.raises(ConfigError, match="no tables of a vechord namespace"):
            plain.import_vechord(name)
        with pytest.raises(ConfigError, match="chunk table"):
            plain.import_vechord("s", table=name)
        with pytest.raises(ConfigError, match="no namespace that vechord can query"):
            plain.export_vechord(name)
    assert plain.import_vechord("s").chunks == 3


def test_of_several_chunk_tables_one_is_named(plain: SyncLexichord, dsn: str) -> None:
    small(dsn)
    copy = "create table s_entity (like s_chunk, foreign key (doc) references s_document)"
    execute(dsn, copy, "insert into s_entity values (1, 'Beta.', '[0,1,0,0]')")
    with pytest.raises(ConfigError, match=r"name one, --table: public.s_chunk, public.s_entity"):
        plain.import_vechord("s")
    report = plain.import_vechord("s", table="entity")
    assert (report.inserted, report.chunks) == (1, 1)
    assert list(report.failed) == ["vechord:s/2"]


def test_a_chunk_that_is_not_in_its_text_loses_nothing(plain: SyncLexichord, dsn: str) -> None:
    small(dsn)
    execute(dsn, "update s_chunk set text = 'Rewritten.' where text = 'Beta.'")
    report = plain.import_vechord("s")
    assert (report.inserted, report.failed) == (2, {})
    assert any("1 document with its chunks one below" in line for line in report.degraded)
    assert plain.show("vechord:s/1").text == "Alpha.\n\nRewritten."
    assert plain.show("vechord:s/1").document.title == "One"


def test_a_bad_document_stops_no_other(plain: SyncLexichord, dsn: str) -> None:
    small(dsn)
    execute(
        dsn,
        "insert into s_document values (3, 'Empty', 'Nothing.'), (4, '', 'Zero.'), (5, '', 'Half')",
        "insert into s_chunk values (4, 'Zero.', '[0,0,0,0]'), (5, 'Ha', '[1,1,1,1]'), "
        "(5, 'lf', null), (null, 'Orphan.', '[1,1,1,1]'), (1, '', '[1,1,1,1]')",
    )
    report = plain.import_vechord("s")
    assert (report.inserted, report.chunks) == (2, 3)
    assert {uri[-1]: reason.split(":")[0] for uri, reason in report.failed.items()} == {
        "3": "has no chunks",
        "4": "chunks.0.vector",
        "5": "some chunks have a vector and some have none",
    }
    assert "1 chunk of public.s_chunk without a document: left out" in report.degraded


def test_an_export_needs_the_other_engine(embedded_dsn: str, tmp_path: Path) -> None:
    with new_database(embedded_dsn) as dsn:
        schema.prepare(dsn, schema.Choice("plain", "english", SPACE))
        with (
            SyncLexichord(dsn=dsn, home=tmp_path) as lexichord,
            pytest.raises(EngineUnsupportedError, match=r"engine vectorchord.*: run lexichord"),
        ):
            lexichord.export_vechord("ns")


def test_the_commands_say_what_they_did(dsn: str, tmp_path: Path) -> None:
    small(dsn)
    environment = {"LEXICHORD_DSN": dsn, "LEXICHORD_HOME": str(tmp_path)}
    arguments = ["import", "--from-vechord", "s", "--dataset", "taken", "--json"]
    done = CliRunner().invoke(app, arguments, env=environment)
    assert done.exit_code == 0
    report = json.loads(done.stdout)
    assert (report["inserted"], report["chunks"]) == (2, 3)
    execute(dsn, "insert into s_document values (3, 'Empty', 'Nothing.')")
    done = CliRunner().invoke(app, arguments, env=environment)
    failed = {"vechord:s/3": "has no chunks"}
    assert (done.exit_code, json.loads(done.stdout)["failed"]) == (1, failed)
    done = CliRunner().invoke(app, ["import", "--from-vechord", "none"], env=environment)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("lexichord: this database has no tables")
    done = CliRunner().invoke(app, ["export", "--to-vechord", "No"], env=environment)
    assert (done.exit_code, done.stdout) == (2, "")
