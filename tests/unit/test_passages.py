"""How other programs' questions are asked."""

import pytest

from lexichord.client.passages import for_passages
from lexichord.errors import ConfigError


def test_as_many_hits_are_asked_for_as_the_confidence_is_told_by() -> None:
    assert [for_passages({"k": k})["k"] for k in (1, 10, 11)] == [10, 10, 11]
    assert for_passages({})["k"] == 10
    for k in (0, -1):
        with pytest.raises(ConfigError, match=f"k must be at least 1, not {k}"):
            for_passages({"k": k})


def test_nothing_is_made_that_would_be_thrown_away_unless_asked_for() -> None:
    assert for_passages({})["intent"] == "general"
    assert for_passages({"intent": "comparison", "hint": "x"})["intent"] == "comparison"
    assert for_passages({"hint": "x"})["hint"] == "x"
