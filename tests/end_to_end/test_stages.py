"""A caller's own stages: in their place, in the trace under their names, and in evaluations."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import pytest

from lexichord import Stages, SyncLexichord
from lexichord.db.pool import Database
from lexichord.db.store import delete_documents
from lexichord.errors import NotFoundError
from lexichord.providers import Reranker
from lexichord.retrieve import stages as documented
from lexichord.retrieve.search import discover
from lexichord.retrieve.trace import Trace
from lexichord.types import ChunkHit, Explanation, FileHit, Question, Scope
from lexichord.types.evidence import Evidence
from lexichord.types.questions import Intent
from lexichord.types.response import Rewrite, Wording
from tests.conftest import SAMPLES, new_database

type Open = Callable[[Stages], AbstractContextManager[SyncLexichord]]
QUERY = "In the lease for Saltpan House, who insures the building?"


async def keep_insurance(
    *, question: Question, intent: Intent, hits: Sequence[ChunkHit]
) -> list[ChunkHit]:
    return [hit for hit in hits if "insur" in hit.content.casefold()]


async def keep_nothing(
    *, question: Question, intent: Intent, hits: Sequence[ChunkHit]
) -> list[ChunkHit]:
    return []


async def keep_landlord(*, question: Question, intent: Intent, evidence: Evidence) -> Evidence:
    quotes = tuple(quote for quote in evidence.quotes if "landlord" in quote.text.casefold())
    return replace(evidence, quotes=quotes)


async def ask_for_cover(
    *,
    database: Database,
    question: str,
    hits: Sequence[ChunkHit],
    scope: Scope,
    kind: Wording | None,
) -> Rewrite:
    return Rewrite("expansion", f"{question} insurance cover", "it is one")


class ReadTitles:
    """A stage that is an object, with what it needs."""

    async def __call__(
        self, *, database: Database, query: str, hint: str | None, scope: Scope
    ) -> Intent:
        return Intent("clause_lookup", query, hint or "software licence", reason="by title")


class DeleteWhatIsFound:
    """A stage that finds the files, and deletes the best before it is read, so many times."""

    def __init__(self, most: int) -> None:
        self.most, self.deleted = most, 0

    async def __call__(
        self,
        *,
        database: Database,
        question: Question,
        trace: Trace,
        limit: int,
        reranker: Reranker | None,
    ) -> list[FileHit]:
        files = await discover(database, question, trace, limit, reranker)
        if self.deleted < self.most:
            self.deleted += await delete_documents(database, [files[0].document_id])
        return files


@pytest.fixture
def opened(samples: SyncLexichord, home: Path) -> Open:
    """The sample corpus, with stages of the test's."""
    dsn = samples.core.database.dsn

    @contextmanager
    def open_with(stages: Stages) -> Iterator[SyncLexichord]:
        with SyncLexichord(dsn=dsn, home=home, stages=stages) as lexichord:
            yield lexichord

    return open_with


def test_hits_are_selected_after_each_search(samples: SyncLexichord, opened: Open) -> None:
    plain = samples.query(QUERY)
    with opened(Stages(select_hits=keep_insurance, rewrite=ask_for_cover)) as lexichord:
        explained = lexichord.explain(lexichord.query(QUERY, rewrite=True))
    kept = explained.response
    assert 0 < len(kept.hits) < len(plain.hits)
    assert all("insur" in hit.content.casefold() for hit in kept.hits)
    assert {quote.chunk_id for quote in kept.quotes} <= {hit.chunk_id for hit in kept.hits}
    names = [step.stage for step in explained.steps]
    assert names.count("keep_insurance") == names.count("search") == 2
    step = next(step for step in explained.steps if step.stage == "keep_insurance")
    assert step.given["hits"] == step.made["hits"] + len(step.dropped or ())
    assert "keep_insurance" in str(explained)
    assert "keep_insurance" in kept.timings_ms


@pytest.mark.parametrize("most", [1, 2])
def test_a_document_that_is_deleted_amid_a_query_does_not_fail_it(
    corpus: str, home: Path, most: int
) -> None:
    stages = Stages(discover=DeleteWhatIsFound(most))
    with (
        new_database(corpus, copy_of=corpus) as dsn,
        SyncLexichord(dsn=dsn, home=home, stages=stages) as lexichord,
    ):
        documents = {row.document_id for row in lexichord.list()}
        found = lexichord.query(QUERY, answer=True)
        gone = documents - {row.document_id for row in lexichord.list()}
        assert found.hits
        assert len(gone) == most
        assert not gone & {hit.document_id for hit in found.hits}
        assert [step.stage for step in found.trace].count("intent") == 1
        with pytest.raises(NotFoundError, match="there is no document"):
            lexichord.query(QUERY, documents=[*gone])


def test_evidence_is_selected_before_it_is_shown(opened: Open) -> None:
    with opened(Stages(select_evidence=keep_landlord)) as lexichord:
        found = lexichord.query(QUERY, answer=True)
    assert found.quotes
    assert all("landlord" in quote.text.casefold() for quote in found.quotes)
    assert len(found.sources) <= len(found.quotes)
    (step,) = [step for step in found.trace if step.stage == "keep_landlord"]
    assert step.given["quotes"] == len(found.quotes) + len(step.dropped or ())


def test_a_stage_in_anothers_place_is_named_in_its_step(opened: Open) -> None:
    with opened(Stages(find_intent=ReadTitles())) as lexichord:
        explained = Explanation(lexichord.query("Which law governs?"))
    assert explained.response.intent.reason == "by title"
    (intent,) = [step for step in explained.steps if step.stage == "intent"]
    assert intent.given["by"] == "ReadTitles"
    assert all("by" not in step.given for step in explained.steps if step.stage != "intent")


def test_an_evaluation_compares_with_and_without(dsn: str, tmp_path: Path) -> None:
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "rent.md").write_text(
        "# Lease\n\nThe rent of the mill is 900 euros a month."
    )
    span = {"file": "texts/rent.md", "quote": "The rent of the mill is 900 euros a month."}
    question = {"id": "q", "query": "What is the rent of the mill?", "relevant_spans": [span]}
    (tmp_path / "questions.jsonl").write_text(json.dumps(question))
    stages = Stages(select_hits=keep_nothing)
    names = ["pipeline", "pipeline-without-keep_nothing", "pipeline-without-linking"]
    with SyncLexichord(dsn=dsn, home=tmp_path / "home", stages=stages) as lexichord:
        runs = lexichord.evaluate(tmp_path, strategies=names).runs
    assert [run.strategy for run in runs] == names
    assert [run.means["pass@5"] for run in runs] == [0.0, 1.0, 0.0]
    assert [run.settings["stages"] for run in runs] == [{"select_hits": "keep_nothing"}] * 3


def test_the_documented_example_runs(embedding_dsn: str, home: Path, tmp_path: Path) -> None:
    (tmp_path / "contracts").mkdir()
    shutil.copy(SAMPLES / "agreements" / "office-lease-saltpan-house.md", tmp_path / "contracts")
    assert documented.__doc__ is not None
    example = documented.__doc__.partition("\n\n    ")[2]
    done = subprocess.run(
        [sys.executable, "-c", dedent(f"    {example}")],
        cwd=tmp_path,
        env=os.environ | {"LEXICHORD_DSN": embedding_dsn, "LEXICHORD_HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert "keep_insurance" in done.stdout
