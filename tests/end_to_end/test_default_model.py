"""The model that an empty database takes: the best on the machine for the first documents."""

from pathlib import Path

import numpy as np
import pytest

from lexichord import SyncLexichord
from lexichord.db import schema
from lexichord.display.record_text import to_text
from lexichord.types import EmbeddingSpace
from tests.conftest import new_database
from tests.end_to_end.processes import run_cli
from tests.providers.tiny_models import node, save_graph, save_tokenizer

ENGLISH = (
    "The lease ends after two years, unless the tenant and the landlord agree on another term."
)
GERMAN = "Der Mietvertrag endet nach zwei Jahren, wenn Mieter und Vermieter nichts anderes wollen."
MINILM, E5, MULTILINGUAL = (
    f"local/{name}/384" for name in ("all-MiniLM-L6-v2", "e5-small-v2", "multilingual-e5-small")
)


def put_model(home: Path, space: str) -> None:
    """Put a small graph where the model of a space would be."""
    folder = home / "models" / space.split("/")[1]
    save_tokenizer(folder, ["[PAD]", "[UNK]", "lease"], ("[PAD]",), single="$A")
    table = np.random.default_rng(5).normal(size=(3, 384)).astype(np.float32)
    gather = node("Gather", "table input_ids", "last_hidden_state")
    shape: list[str | int] = ["batch", "tokens", 384]
    save_graph(folder / "model.onnx", [gather], {"last_hidden_state": shape}, {"table": table})


@pytest.mark.parametrize(
    ("here", "text", "taken"),
    [
        ((), ENGLISH, MINILM),
        ((E5, MULTILINGUAL), ENGLISH, E5),
        ((E5, MULTILINGUAL), GERMAN, MULTILINGUAL),
    ],
)
def test_the_first_ingest_takes_the_best_model_here(
    bare_home: Path, here: tuple[str, ...], text: str, taken: str
) -> None:
    for space in here:
        put_model(bare_home, space)
    with SyncLexichord(home=bare_home) as lexichord:
        report = lexichord.ingest(documents=[{"uri": "lease.txt", "text": text}])
        language = "en" if text == ENGLISH else "de"
        told = f"{taken}: the best here for documents in {language}"
        assert report.model == (None if taken == MINILM else told)
        assert (lexichord.status().space, report.embedded) == (taken, 1)
        assert lexichord.search(text, mode="dense").hits
        other = lexichord.ingest(documents=[{"uri": "other.txt", "text": GERMAN + ENGLISH}])
        assert (lexichord.status().space, other.model) == (taken, None)


def test_a_space_that_somebody_named_stays(bare_home: Path) -> None:
    put_model(bare_home, E5)
    with SyncLexichord(home=bare_home, embedding=MINILM):
        pass
    with SyncLexichord(home=bare_home) as lexichord:
        report = lexichord.ingest(documents=[{"uri": "lease.txt", "text": ENGLISH}])
        assert (lexichord.status().space, report.model) == (MINILM, None)


def test_a_model_that_cannot_be_used_is_not_taken(bare_home: Path) -> None:
    put_model(bare_home, E5)
    (bare_home / "models/e5-small-v2/model.onnx").write_bytes(b"cut off")
    with SyncLexichord(home=bare_home) as lexichord:
        report = lexichord.ingest(documents=[{"uri": "lease.txt", "text": ENGLISH}])
        assert (lexichord.status().space, report.embedded, report.model) == (MINILM, 1, None)
        (reason,) = report.degraded
        assert reason.startswith(f"{E5} is not taken: ")


def test_a_model_that_cannot_be_chosen_is_not_opened(bare_home: Path) -> None:
    """Each later ingest would open it in vain, and tell of it."""
    with SyncLexichord(home=bare_home) as lexichord:
        lexichord.ingest(documents=[{"uri": "lease.txt", "text": ENGLISH}])
        put_model(bare_home, E5)
        (bare_home / "models/e5-small-v2/model.onnx").write_bytes(b"cut off")
        report = lexichord.ingest(documents=[{"uri": "other.txt", "text": ENGLISH}])
        assert (report.inserted, report.degraded) == (1, [])


def test_doctor_warns_that_there_is_no_embedder(bare: str, tmp_path: Path) -> None:
    missing = f"no embedder for {E5}: by words only; run: lexichord models fetch e5-small-v2"
    with new_database(bare) as dsn:
        schema.prepare(dsn, schema.Choice(space=EmbeddingSpace.parse(E5)))
        done = run_cli(dsn, tmp_path, "doctor")
        assert (done.exit_code, done.stderr) == (0, "")
        assert done.stdout.endswith(f"\nwarning: {missing}\nhealthy, with 1 warning\n")
        with SyncLexichord(dsn=dsn, home=tmp_path) as lexichord:
            text = to_text(lexichord.doctor())
        assert text.startswith(f"degraded: {missing}\n")
        assert text.endswith("\nhealthy, with 1 warning")
        put_model(tmp_path, E5)
        assert run_cli(dsn, tmp_path, "doctor").stdout.endswith("\nhealthy\n")
