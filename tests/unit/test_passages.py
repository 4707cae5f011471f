"""How other programs' questions are asked."""

import pytest

from lexichord.client.passages import passage_options
from lexichord.errors import ConfigError


def test_as_many_hits_are_asked_for_as_the_confidence_is_told_by() -> None:
    assert [passage_options({"k": k})["k"] for k in (1, 10, 11)] == [10, 10, 11]
    assert passage_options({})["k"] == 10
    for k in (0, -1):
        with pytest.raises(ConfigError, match=f"k must be at least 1, not {k}"):
            passage_options({"k": k})


def test_nothing_is_made_that_would_be_thrown_away_unless_asked_for() -> None:
    assert passage_options({})["intent"] == "general"
    assert passage_options({"intent": "comparison", "hint": "x"})["intent"] == "comparison"
    assert passage_options({"hint": "x"})["hint"] == "x"
