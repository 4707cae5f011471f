"""Evaluation on a tiny set: what is measured, what fails, and that nothing is left behind."""

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from signal import SIGINT, SIGKILL

import psycopg
import pytest

from lexichord import SyncLexichord
from lexichord.errors import ConfigError
from lexichord.evaluate.strategies import STRATEGIES
from lexichord.types import Ranked
from lexichord.types.evaluation import EvalQuery, ExpectedAnswer
from tests.builders import WORDS, small_set, word_query, word_text, word_uri
from tests.end_to_end.processes import run_cli, run_strategies, start_cli
from tests.sql.corpus import value


def scratch_databases(dsn: str, pid: int) -> int:
    statement = "select count(*) from pg_database where datname like %s"
    with psycopg.connect(dsn) as connection:
        return int(value(connection, statement, f"lexichord\\_scratch\\_%\\_{pid}\\_%"))


@pytest.fixture
def folder_of_set(folder: Path) -> Path:
    """The same set as files."""
    lines = []
    (folder / "texts").mkdir()
    for word in WORDS:
        (folder / word_uri(word)).write_text(word_text(word))
        span = {"file": word_uri(word), "quote": f"the {word} is told of nowhere else"}
        shape = {"id": f"q-{word}", "query": word_query(word).text, "relevant_spans": [span]}
        lines.append(json.dumps(shape))
    (folder / "questions.jsonl").write_text("\n".join(lines))
    return folder


def test_a_perfect_run_scores_one(plain: SyncLexichord) -> None:
    (run,) = run_strategies(plain, small_set(), "keyword")
    for metric in ("pass@5", "mrr", "char_recall@5", "evidence@4000", "document@1"):
        assert run.metrics[metric] == [1.0] * len(WORDS)
    assert [outcome.error for outcome in run.outcomes] == [None] * len(WORDS)
    first = run.outcomes[0].passages[0]
    assert (first.uri, first.number, first.start) == (word_uri(WORDS[0]), 0, 0)
    assert WORDS[0] in run.outcomes[0].answer


def test_plain_strategies_have_an_ingest_without_context(plain: SyncLexichord) -> None:
    documents = [{"uri": f"texts/{word}.txt", "text": "No word of it here.\n"} for word in WORDS]
    queries = [EvalQuery("q", "the walrus", files=(word_uri("walrus"),))]
    by_name, without = run_strategies(
        plain, small_set(queries, documents), "keyword", "keyword-plain"
    )
    assert (by_name.settings["context"], without.settings["context"]) == ("structural", "none")
    assert by_name.metrics["document@1"] == [1.0]
    assert without.outcomes[0].passages == ()


class Overlap:
    """Scores a text by the words that it shares with the query."""

    def __init__(self) -> None:
        self.seen: list[int] = []

    async def rerank(self, query: str, texts: Sequence[str], top_n: int) -> list[Ranked]:
        self.seen.append(len(texts))
        words = set(re.findall(r"\w+", query.lower()))
        shared = [len(words.intersection(re.findall(r"\w+", text.lower()))) for text in texts]
        return [Ranked(index, score) for index, score in enumerate(shared)]


def test_the_baselines_of_the_seed(embedding_dsn: str, home: Path) -> None:
    names = [
        f"{name}{plain}"
        for plain in ("", "-plain")
        for name in ("vector", "keyword", "hybrid-fuse", "hybrid-rerank")
    ]
    with SyncLexichord(dsn=embedding_dsn, home=home) as lexichord:
        reranker = lexichord.core.reranker = Overlap()
        runs = run_strategies(lexichord, small_set(), *names)
    assert [each.strategy for each in runs] == names
    for each in runs:
        assert [outcome.error for outcome in each.outcomes] == [None] * len(WORDS)
        assert each.metrics["mrr"] == [1.0] * len(WORDS), each.strategy
    indexed = [each for each in runs if "ann_recall@10" in each.metrics]
    assert [each.strategy for each in indexed] == ["vector", "vector-plain"]
    assert indexed[0].metrics["ann_recall@10"] == [1.0] * len(WORDS)
    fused, reranked = runs[2].outcomes[0], runs[3].outcomes[0]
    assert fused.passages[0].score == pytest.approx(1 / 61)  # the first of both, half each
    assert reranked.passages[0].score == 3  # is, the, ember
    assert len(reranker.seen) == 2 * (1 + len(WORDS))


def test_every_stage_can_be_off(plain: SyncLexichord) -> None:
    names = [
        name for name, each in STRATEGIES.items() if name.startswith("pipeline") and not each.needs
    ]
    runs = run_strategies(plain, small_set(), *names, "files")
    assert [each.strategy for each in runs] == [*names, "files"]
    assert len(names) == 6
    for each in runs:
        assert [outcome.error for outcome in each.outcomes] == [None] * len(WORDS)
        assert each.metrics["document@1"] == [1.0] * len(WORDS)
    assert set(runs[-1].metrics) == {"document@1", "document@5", "document@10", "document@20"}


def test_runs_are_recorded_where_the_application_is(plain: SyncLexichord, dsn: str) -> None:
    (run,) = run_strategies(plain, small_set(), "keyword", ks=(1, 3))
    with psycopg.connect(dsn) as connection:
        statement = "select set_name, means->>'pass@3', ks from lexichord.list_evaluations()"
        assert connection.execute(statement).fetchall() == [("small", "1", [1, 3])]
        assert run.id == value(connection, "select max(id) from lexichord_data.evaluation")
        assert value(connection, "select count(*) from lexichord_data.document") == 0


def test_no_database_is_left_behind(plain: SyncLexichord, dsn: str) -> None:
    run_strategies(plain, small_set(), "keyword", "keyword-plain")
    assert scratch_databases(dsn, os.getpid()) == 0
    with pytest.raises(ConfigError, match="1 of 1 document not stored, document 1: uri: "):
        run_strategies(plain, small_set(documents=[{"uri": "", "text": "ember"}]), "keyword")
    assert scratch_databases(dsn, os.getpid()) == 0

    def fail(what: str, done: int, total: int) -> None:
        assert scratch_databases(dsn, os.getpid()) == 1
        raise OSError("nobody listens")

    with pytest.raises(OSError, match="nobody listens"):
        run_strategies(plain, small_set(), "keyword", on_progress=fail)
    assert scratch_databases(dsn, os.getpid()) == 0


@pytest.mark.parametrize(("sent", "code", "left"), [(SIGINT, 130, 0), (SIGKILL, -SIGKILL, 1)])
def test_nor_after_an_interrupt_nor_for_long_after_a_kill(
    plain: SyncLexichord, dsn: str, folder_of_set: Path, sent: int, code: int, left: int
) -> None:
    with (folder_of_set / "questions.jsonl").open("a") as lines:
        for number in range(4_000):  # more than are asked before the signal
            lines.write(f'\n{{"id": "{number}", "query": "where is the ember?"}}')
    process = start_cli("eval", str(folder_of_set), "--strategies", "keyword", "--dsn", dsn)
    assert process.stderr is not None
    while "keyword" not in (line := process.stderr.readline()):
        assert line, "it ended before it asked"
    assert scratch_databases(dsn, process.pid) == 1
    run_strategies(plain, small_set(), "keyword")  # leaves alone what is in use
    assert scratch_databases(dsn, process.pid) == 1
    process.send_signal(sent)
    _, stderr = process.communicate(timeout=60)
    assert (process.returncode, scratch_databases(dsn, process.pid)) == (code, left), stderr
    run_strategies(plain, small_set(), "keyword")
    assert scratch_databases(dsn, process.pid) == 0


def test_the_command_line(dsn: str, folder_of_set: Path, home: Path) -> None:
    arguments = (str(folder_of_set), "--strategies", "keyword,hybrid", "--k", "1,5")
    done = run_cli(dsn, home, "eval", *arguments, "--gate", "pass@1>=1")
    assert "| pass@1 | 1.0000 | 1.0000 |" in done.stdout
    assert "| failed | 0 of 8 | 0 of 8 |" in done.stdout
    degraded = "lexichord: hybrid: no embedder for test/tiny/4: by words only"
    assert degraded in done.stderr
    assert done.exit_code == 1  # hybrid is not what it is called


def test_a_gate_that_is_not_kept_fails_the_command(
    dsn: str, folder_of_set: Path, home: Path
) -> None:
    arguments = (str(folder_of_set), "--strategies", "keyword")
    kept = run_cli(dsn, home, "eval", *arguments, "--gate", "pass@5>=1")
    assert (kept.exit_code, "gate" in kept.stderr) == (0, False), kept.stderr
    failed = run_cli(
        dsn, home, "eval", *arguments, "--gate", "precision@5>=0.9", "--gate", "mrr>=1"
    )
    assert failed.exit_code == 1
    (reason,) = [line for line in failed.stderr.splitlines() if "gate" in line]
    assert reason.startswith("lexichord: keyword: gate precision@5>=0.9 failed: precision@5 is 0.2")
    assert "| pass@5 | 1.0000 |" in failed.stdout


def test_questions_by_kind(folder: Path, dsn: str, home: Path) -> None:
    (folder / "leave").mkdir()
    (folder / "leave" / "leave.txt").write_text("Everybody has 30 days of leave a year.\n")
    span = {"file": "leave/leave.txt", "quote": "30 days of leave"}
    lines = [
        {"id": "1", "kind": "leave", "type": "look-up", "query": "who has 30 days of leave a year"}
        | {"relevant_spans": [span], "first": ["30 days"]},
        {"id": "2", "kind": "leave", "type": "foreign", "query": "who won", "answerable": False},
        {"id": "3", "kind": "other", "type": "foreign", "query": "?", "answerable": False},
    ]
    (folder / "questions.jsonl").write_text("\n".join(map(json.dumps, lines)))
    records = folder / "records.jsonl"
    options = ["--kinds", "leave", "--by", "kind", "--records", str(records)]
    run = run_cli(dsn, home, "eval", str(folder), "--strategies", "pipeline", *options)
    assert "pipeline: no embedder" in run.stderr
    assert "| answerable |  | questions | evidence@4000 | first hit's document |" in run.stdout
    assert "| leave | pipeline | 1 | 100.0 (100–100) | 100.0 (100–100) |" in run.stdout
    kept = [json.loads(line) for line in records.read_text().splitlines()]
    assert [record["id"] for record in kept] == ["1", "2"]
    assert kept[0]["first_sentence"] == "Everybody has 30 days of leave a year."


def test_an_answer_is_written_only_where_one_is_expected(samples: SyncLexichord) -> None:
    text = "Which law governs the Saltpan House lease?"
    expected = ExpectedAnswer("samples", "look-up", ("Ireland",))
    text_of_lease = "# Saltpan House lease\n\nThis lease is governed by Irish law.\n"
    documents = [{"uri": "lease.md", "text": text_of_lease}]
    queries = [EvalQuery("a", text, expected=expected), EvalQuery("b", text)]
    (run,) = run_strategies(samples, small_set(queries, documents), "pipeline")
    assert ["governed" in outcome.written for outcome in run.outcomes] == [True, False]
