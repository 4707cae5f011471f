"""Evaluation with a language model, through the real client: as a strategy, and as extractor."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from lexichord import SyncLexichord
from lexichord.errors import ConfigError
from lexichord.types.evaluation import EvalQuery
from tests.builders import WORDS, small_set, word_query, word_text, word_uri
from tests.end_to_end.processes import run_cli, run_strategies
from tests.providers.chat_servers import ChatServer, Prompt, chat_server
from tests.sql.corpus import value

MODEL = "openai/any"
RIDDLES = {  # in words that no document has
    "a piece of burning coal": "ember",
    "a shallow stretch of seawater": "lagoon",
    "a crystal in granite": "quartz",
}
# "the ember" and "told" stand in the answer, "5 years" does not.
MARKED = {"TIME": ["5 years"], "ORGANIZATION": ["the ember"], "ACTION": ["told"], "MOOD": ["told"]}
JUDGED = word_query("ember", entities={"ORGANIZATION": ["ember"], "ACTION": ["is told|tells"]})


def knowing(prompt: Prompt) -> dict[str, object]:
    """Do each task of the pipeline by the gold."""
    inputs = prompt.inputs
    word = next((w for riddle, w in RIDDLES.items() if riddle in str(inputs)), "nothing")
    if "kind" in prompt.fields:
        return {
            "kind": "clause_lookup",
            "domain": "",
            "entities": [],
            "hint": f"the text {word}",
            "question": f"where is the {word}?",
            "sub_questions": [],
            "reason": "it asks for a place",
        }
    if "keyword_sets" in prompt.fields:
        return {"keyword_sets": [[word, "stands"]]}
    quote = re.search(r"All about the \w+ stands here", inputs["sources"])
    return {"clauses": [{"quote": quote[0] if quote else "", "source": 1}], "answer": "There."}


def marking(prompt: Prompt) -> dict[str, object]:
    return {"entities": MARKED}


@pytest.fixture
def riddles() -> list[EvalQuery]:
    return [
        EvalQuery(f"q-{word}", f"Where is {riddle} mentioned?", spans=word_query(word).spans)
        for riddle, word in RIDDLES.items()
    ]


@pytest.fixture
def known() -> Iterator[ChatServer]:
    with chat_server(knowing) as server:
        yield server


@pytest.fixture
def marks() -> Iterator[ChatServer]:
    with chat_server(marking) as server:
        yield server


def opened(dsn: str, home: Path, server: ChatServer) -> SyncLexichord:
    return SyncLexichord(dsn=dsn, home=home, llm=MODEL, llm_base_url=server.url)


def test_the_pipeline_is_measured_with_a_model_and_without(
    dsn: str, home: Path, known: ChatServer, riddles: list[EvalQuery]
) -> None:
    with opened(dsn, home, known) as lexichord:
        (without,) = run_strategies(lexichord, small_set(riddles), "pipeline")
        assert known.requests == []
        (with_model,) = run_strategies(lexichord, small_set(riddles), "pipeline-llm")
    assert [outcome.error for outcome in with_model.outcomes] == [None] * 3
    assert without.metrics["evidence@4000"] == [0.0] * 3
    assert with_model.metrics["evidence@4000"] == [1.0] * 3
    for outcome, word in zip(with_model.outcomes, RIDDLES.values(), strict=True):
        assert f"All about the {word} stands here" in outcome.answer
        assert "of nowhere else" not in outcome.answer  # the model's quote, not the evidence
    fields = {frozenset(prompt.fields) for prompt in known.requests}
    assert {"keyword_sets"} in fields
    assert {"clauses", "answer"} in fields
    assert with_model.settings["llm"] == MODEL
    assert with_model.settings["llm_stages"] == ["intent", "boost", "answer"]
    assert "llm" not in without.settings


def test_without_a_model_it_is_said_not_run(plain: SyncLexichord) -> None:
    lines: list[str] = []
    runs = run_strategies(plain, small_set(), "pipeline-llm", "keyword", on_warning=lines.append)
    assert [each.strategy for each in runs] == ["keyword"]
    assert lines == ["pipeline-llm is not run: no language model is configured"]
    with pytest.raises(ConfigError, match="none is configured: set LEXICHORD_LLM"):
        run_strategies(plain, small_set(), "keyword", extract="llm")


def test_what_rules_did_for_a_model_is_not_counted_as_its_work(
    dsn: str, home: Path, known: ChatServer
) -> None:
    known.mode = "broken"
    with opened(dsn, home, known) as lexichord:
        (run,) = run_strategies(lexichord, small_set([word_query("ember")]), "pipeline-llm")
    assert run.outcomes[0].error == f"{MODEL} failed: try again later (500)"
    assert run.metrics["document@1"] == [0.0]


def test_a_models_entities_are_judged_in_all_types(dsn: str, home: Path, marks: ChatServer) -> None:
    with opened(dsn, home, marks) as lexichord:
        (by_rules,) = run_strategies(lexichord, small_set([JUDGED]), "keyword")
        assert marks.requests == []
        (run,) = run_strategies(lexichord, small_set([JUDGED]), "keyword", extract="llm")
    assert by_rules.metrics["entity_precision"] == [0.0]
    assert by_rules.metrics["entity_f1"] == [0.0]
    assert run.metrics["entity_llm_precision"] == [1.0]  # the ember; told, which is told twice
    assert run.metrics["entity_llm_recall"] == [1.0]
    assert run.metrics["entity_llm_f1"] == [1.0]
    assert run.settings["entities"] == {"by": MODEL, "failed": 0, "not_in_answer": 2}
    assert "entities" not in by_rules.settings
    entities = run.outcomes[0].entities
    assert entities is not None
    spans_by_type = {kind: spans for kind, spans in entities.items() if spans}
    assert spans_by_type == {"ORGANIZATION": ["the ember"], "ACTION": ["told"]}
    with psycopg.connect(dsn) as connection:
        stored = "select settings->'entities'->>'by' from lexichord_data.evaluation where id = %s"
        assert value(connection, stored, run.id) == MODEL


def test_an_extraction_that_fails_is_told_and_scores_nothing(
    dsn: str, home: Path, marks: ChatServer
) -> None:
    marks.modes = ["broken"]
    again = EvalQuery("again", JUDGED.text, entities=JUDGED.entities)
    lines: list[str] = []
    with opened(dsn, home, marks) as lexichord:
        eval_set = small_set([JUDGED, again, word_query("lagoon")])
        (run,) = run_strategies(
            lexichord, eval_set, "keyword", extract="llm", on_warning=lines.append
        )
    assert len(lines) == 1
    warning = (
        rf"keyword: entities of 1 of 3 answers are not extracted, (q-ember|again): {MODEL} fail"
    )
    assert re.match(warning, lines[0])
    assert sorted(filter(None, run.metrics["entity_llm_f1"])) == [1.0]
    assert sorted(v for v in run.metrics["entity_llm_precision"] if v is not None) == [0.0, 1.0]
    assert run.metrics["entity_llm_f1"][2] is None
    assert [outcome.error for outcome in run.outcomes] == [None] * 3
    assert [bool(outcome.entities) for outcome in run.outcomes].count(True) == 1
    assert None not in [outcome.entities for outcome in run.outcomes]  # else rules would extract
    assert run.settings["entities"]["failed"] == 1
    assert len(marks.requests) == 2  # the third question has no entities to find


def test_the_command_line_asks_a_model_and_fails_where_it_does(
    dsn: str, home: Path, folder: Path, marks: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "texts").mkdir()
    for word in WORDS:
        (folder / word_uri(word)).write_text(word_text(word))
    shape = {"id": "q", "query": JUDGED.text, "entities": JUDGED.entities}
    (folder / "questions.jsonl").write_text(json.dumps(shape))
    monkeypatch.setenv("LEXICHORD_LLM_BASE_URL", marks.url)
    arguments = (str(folder), "--strategies", "keyword", "--extract", "llm")
    missing = run_cli(dsn, home, "eval", *arguments)
    assert (missing.exit_code, missing.stdout) == (2, "")
    assert missing.stderr.splitlines()[-1].endswith("none is configured: set LEXICHORD_LLM")
    done = run_cli(dsn, home, "eval", *arguments, "--llm", MODEL)
    assert (done.exit_code, "| entity_llm_f1 | 1.0000 |" in done.stdout) == (0, True), done.stderr
    marks.mode = "broken"
    failed = run_cli(dsn, home, "eval", *arguments, "--llm", MODEL)
    assert (failed.exit_code, "| entity_llm_f1 | 0.0000 |" in failed.stdout) == (1, True)
    assert "lexichord: keyword: entities of 1 of 1 answers are not extracted, q: " in failed.stderr
