"""The application as a program or a notebook uses it: open, ask, explain, measure."""

import json
from pathlib import Path
from typing import Any

import pytest

from lexichord import LexichordError, SyncLexichord
from lexichord.client.lexichord import Lexichord
from lexichord.errors import ConfigError
from lexichord.retrieve.judged_hits import READ_WEIGHT
from lexichord.types import StoredDataset
from lexichord.types.evaluation import EvalQuery, EvalSet
from tests.builders import WORDS, small_set, word_query, word_text, word_uri
from tests.end_to_end.client import documents

NOTICE = "how much notice ends the mutual non-disclosure agreement"


def test_it_is_open_from_one_call_to_another(dsn: str, tmp_path: Path) -> None:
    lexichord = SyncLexichord(dsn=dsn, home=tmp_path)
    with pytest.raises(ConfigError, match=r"use it inside `with`, or call open\(\) first"):
        lexichord.list()
    assert lexichord.open() is lexichord.open() is lexichord
    lexichord.ingest(documents=documents(0, 2))
    assert lexichord.datasets() == [StoredDataset("default", 2, 4)]
    lexichord.close()
    lexichord.close()
    with pytest.raises(ConfigError, match="not open"):
        lexichord.list()
    with lexichord:  # and again
        assert len(lexichord.list()) == 2


async def test_without_a_thread_as_well(dsn: str, tmp_path: Path) -> None:
    lexichord = Lexichord(dsn=dsn, home=tmp_path)
    for asked in (lexichord.status(), lexichord.search("a"), lexichord.search("a", mode="dense")):
        with pytest.raises(ConfigError, match="Lexichord is not open: use it inside `async with`"):
            await asked
    assert await lexichord.open() is lexichord
    assert (await lexichord.status()).documents == 0
    await lexichord.close()
    await lexichord.close()
    with pytest.raises(LexichordError, match="not open"):
        await lexichord.status()


def test_a_reader_sees_all_but_the_ingests(plain: SyncLexichord, dsn: str, tmp_path: Path) -> None:
    plain.ingest(documents=documents(0, 2))
    mine = plain.status()
    as_reader = f"{dsn}{'&' if '?' in dsn else '?'}options=-c%20role%3Dlexichord_reader"
    with SyncLexichord(dsn=as_reader, home=tmp_path / "home") as lexichord:
        for found in (lexichord.status(), lexichord.doctor()):
            *others, told = found.degraded
            assert others == mine.degraded
            assert told.startswith("the latest ingests are not shown: permission denied")
            assert (found.documents, found.by_dataset) == (mine.documents, mine.by_dataset)
            assert (len(mine.runs), found.runs) == (1, [])


def test_a_part_of_a_list_and_its_length(plain: SyncLexichord) -> None:
    plain.ingest(documents=documents(0, 3))
    assert plain.list(limit=1, offset=1) == plain.list()[1:2]
    assert plain.count() == 3
    assert plain.count(uri_prefix=plain.list()[0].uri) == 1
    with pytest.raises(ConfigError, match="limit must be at least 0, not -1"):
        plain.list(limit=-1)
    with pytest.raises(ConfigError, match="there is no dataset 'a'"):
        plain.count(datasets=["a"])


def test_an_explanation_is_what_a_query_does(samples: SyncLexichord) -> None:
    found = samples.explain(samples.query(NOTICE, k=5))
    plain = samples.query(NOTICE, k=5)
    assert found.response.hits == plain.hits
    assert [step.stage for step in found.steps] == [step.stage for step in plain.trace]
    assert {"intent", "discover", "variants", "search", "answer"} <= {
        step.stage for step in found.steps
    }
    assert found.lists[:3] == ["dense", "keyword", "original"]
    for hit in plain.hits:
        parts = {part.name: part for part in found.parts(hit)}
        assert parts["dense"].score == hit.scores.dense
        ways = [part.score or 0 for name, part in parts.items() if name in found.lists[2:]]
        assert sum(ways) + READ_WEIGHT * (hit.scores.read or 0) == pytest.approx(hit.score)


def test_an_evaluation_says_what_the_command_says(plain: SyncLexichord) -> None:
    told: list[str] = []
    lines: list[str] = []
    found = plain.evaluate(
        small_set(),
        strategies=["keyword", "vector"],
        ks=[5, 1],
        gates=["pass@1>=1", "precision@5>=0.9", "ndcg@7>0"],
        on_progress=lambda what, done, total: told.append(f"{what} {done}/{total}"),
        on_warning=lines.append,
    )
    (run,) = found.runs
    assert run.means["pass@1"] == found.means["keyword"]["pass@1"] == 1
    assert run.ks == (1, 5)
    assert found.warnings == tuple(lines)
    assert lines[0].startswith("vector is not run: no embedder")
    assert f"keyword {len(WORDS)}/{len(WORDS)}" in told
    broken, unknown = found.failures
    assert broken.startswith("keyword: gate precision@5>=0.9 failed: precision@5 is 0.2")
    assert unknown.startswith("keyword: gate ndcg@7>0: no metric 'ndcg@7' in this run")
    assert [*found.to_dict()] == ["runs", "comparisons", "warnings", "failures"]
    assert json.loads(json.dumps(found.to_dict()))["runs"][0]["means"] == run.means
    assert "<table>" in found._repr_html_()


def test_an_evaluation_is_compared_to_an_earlier_one(plain: SyncLexichord) -> None:
    before = plain.evaluate(small_set(), strategies=["keyword"]).runs[0].id
    found = plain.evaluate(small_set(), strategies=["keyword"], compare=before)
    assert {change.before for change in found.comparisons} == {before}
    assert all(change.difference.is_noise for change in found.comparisons)
    assert "| keyword | mrr | +0.0000 | +0.0000 to +0.0000 | noise |" in str(found)
    other = EvalSet(
        "other", [{"uri": word_uri("ember"), "text": word_text("ember")}], (word_query("ember"),)
    )
    found = plain.evaluate(other, strategies=["keyword"], compare=before)
    assert (len(found.runs), found.comparisons) == (1, ())
    assert found.warnings


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"strategies": "magic"}, "there is no strategy 'magic': vector, keyword"),
        ({"strategies": []}, "name at least one of ks and of strategies"),
        ({"ks": []}, "name at least one of ks and of strategies"),
        ({"ks": [5, 0]}, "ks are numbers from 1, not 0"),
        ({"ks": ["5"]}, "ks are numbers from 1, not '5'"),
        ({"extract": "magic"}, "there is no extractor magic: rules, llm"),
        ({"clients": [-1]}, "clients are numbers from 1, not -1"),
        ({"gates": ["good"]}, "not a gate: 'good'"),
        ({"compare": 1234}, "there is no evaluation 1234"),
    ],
)
def test_what_cannot_be_evaluated_is_said_at_once(
    options: dict[str, Any], reason: str, plain: SyncLexichord
) -> None:
    told: list[str] = []
    with pytest.raises(ConfigError, match=reason):
        plain.evaluate(
            small_set(),
            **options,
            on_progress=lambda *_: told.append("asked"),
        )
    assert told == []


def test_a_set_is_named_or_a_path(plain: SyncLexichord, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no file or folder"):
        plain.evaluate(tmp_path / "none.jsonl")
    with pytest.raises(ConfigError, match="has no questions"):
        plain.evaluate(EvalSet("empty", [], ()))
    asked = [EvalQuery("q", "  ", files=(word_uri("ember"),)), word_query("lagoon")]
    found = plain.evaluate(small_set(asked), strategies=["keyword"])
    assert found.failures == ("keyword: 1 of 2 questions failed, q: the query is empty",)
