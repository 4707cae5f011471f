"""Confidence fitted by a command: by a sample before it, by the user's questions from then on."""

import json
from pathlib import Path

import pytest

from lexichord import SyncLexichord
from lexichord.db import schema
from lexichord.errors import ConfigError
from lexichord.types import EmbeddingSpace
from tests.conftest import new_database
from tests.end_to_end.hashing import finder

MODEL = "test/hashing/64"
THINGS = 60  # half of them have a rule of their own


def rules() -> list[dict[str, str]]:
    return [
        {"uri": f"rules/{n}.md", "text": f"The cart{n} of the yard is washed by crew{n} on day{n}."}
        for n in range(0, THINGS, 2)
    ]


def write_questions(file: Path) -> Path:
    lines = [
        {
            "id": str(n),
            "query": f"the cart{n} of the yard is washed by which crew{n}",
            "answerable": n % 2 == 0,
            "relevant_files": [f"rules/{n}.md"] if n % 2 == 0 else [],
            "first": [f"crew{n}"] if n % 2 == 0 else [],
        }
        for n in range(THINGS)
    ]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


def judged_by(lexichord: SyncLexichord) -> str:
    steps = lexichord.query("the cart2 of the yard is washed by whom").trace
    return next(str(step.given["judged_by"]) for step in steps if step.stage == "confidence")


def test_a_model_without_constants_is_fitted_on_own_questions(
    embedded_dsn: str, tmp_path: Path
) -> None:
    questions = write_questions(tmp_path / "questions.jsonl")
    with new_database(embedded_dsn) as dsn:
        schema.prepare(dsn, schema.Choice(space=EmbeddingSpace.parse(MODEL)))
        lexichord = SyncLexichord(dsn=dsn, home=tmp_path / "home", reader="none")
        lexichord.core.find_embedder = finder(MODEL)
        with lexichord:
            lexichord.ingest(documents=rules())
            sampled = f"by a sample of {THINGS // 2} sentences"
            assert sampled in lexichord.status().confidence
            unsure = lexichord.query("the cart2 of the yard is washed by which crew2", risk=0.2)
            assert any(line.startswith("risk is not heeded") for line in unsure.degraded)
            done = lexichord.calibrate(questions)
            assert (done.space, done.holds, done.lacks) == (MODEL, THINGS // 2, THINGS // 2)
            assert done.auroc > 0.9
            assert "60 questions of yours" in lexichord.status().confidence
            assert judged_by(lexichord) == "meaning"
            known = lexichord.query("the cart2 of the yard is washed by which crew2", risk=0.2)
            assert not known.degraded
            assert not known.abstained
            assert lexichord.query("the cart3 of the yard is washed by which crew3").abstained


def test_without_an_embedder_or_a_file_it_says_so(plain: SyncLexichord, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="needs an embedder"):
        plain.calibrate(tmp_path / "none.jsonl")
