"""scripts/break/soak.py says so when an index, an impact or a statistic is wrong."""

import importlib
from random import Random
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.sql.corpus import Connection, call, engine_of, put, small_segments

QUESTIONS = [
    (" ".join(words), depth) for words in (["w1"], ["w2", "w3", "w9"]) for depth in (5, 40)
]


@pytest.fixture
def soak(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(ROOT / "scripts/break")
    return importlib.import_module("soak")


@pytest.fixture
def filled(soak: Any, fresh: Connection) -> Connection:
    """More chunks than plain reads anyway."""
    small_segments(fresh)
    random = Random(5)
    for number in range(17):
        lines = [" ".join(soak.words(random, random.randint(3, 12))) for _ in range(130)]
        put(fresh, f"{number}.md", lines)
    call(fresh, "build_indexes")
    return fresh


def ask(soak: Any, connection: Connection) -> Any:
    return soak.ask(connection, soak.Oracle(soak.WORDS + 1), QUESTIONS)[0]


def test_nothing_is_wrong(soak: Any, filled: Connection) -> None:
    counts = ask(soak, filled)
    assert counts["clear hits"] > 10
    assert {name for name, amount in counts.items() if amount} == {"clear hits"}


def test_a_chunk_that_no_search_knows_is_lost(soak: Any, filled: Connection) -> None:
    chunk = call(filled, "keyword_candidates", query="w1", depth=1)[0]["chunk_id"]
    filled.execute("delete from lexichord_data.keyword where chunk_id = %s", [chunk])
    assert ask(soak, filled)["lost of the first ten"] > 0


def test_block_maxima_that_are_gone_are_lost(soak: Any, filled: Connection) -> None:
    if engine_of(filled) != "plain":
        pytest.skip("this engine has no block maxima")
    filled.execute(
        "delete from lexichord_data.block_maximum p using lexichord_data.term t "
        "where t.id = p.term_id and t.lexeme = 'w1'"
    )
    assert ask(soak, filled)["lost of the first ten"] > 0


def test_a_wrong_frequency_makes_wrong_scores(soak: Any, filled: Connection) -> None:
    filled.execute(
        "insert into lexichord_data.term_change select t.id, s.id, -100 "
        "from lexichord_data.term t, lexichord_data.dataset s where t.lexeme = 'w1'"
    )
    assert ask(soak, filled)["wrong scores"] > 0
