"""Bodies of which every value is wrong: said of the first, not of each."""

import json

import pytest
from pydantic import ValidationError

from lexichord.errors import ConfigError
from lexichord.ingest.given_documents import GivenChunk, GivenDocument
from lexichord.serve.compat.dify import MetadataCondition, compile_conditions
from lexichord.serve.errors import MAX_BODY_VALUES, MAX_OBJECT_MEMBERS, find_invalid_value

MEMBERS = "an object has more than 1,000 members"
VALUES = "the body has more than 600,000 values"


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({"documents": [{"chunks": [{}] * (MAX_BODY_VALUES + 1)}]}, VALUES),
        ([[[0] * 1000] * 700], VALUES),
        ({"metadata": {str(n): [] for n in range(MAX_OBJECT_MEMBERS + 1)}}, MEMBERS),
        ({str(n): n for n in range(MAX_OBJECT_MEMBERS + 1)}, MEMBERS),
    ],
)
def test_a_body_of_too_many_values_is_refused(value: object, reason: str) -> None:
    found = find_invalid_value(json.dumps(value).encode(), value)
    assert found is not None
    assert found.message.startswith(reason)


@pytest.mark.parametrize(
    "value",
    [
        {"text": "a,b\n" * 400_000},
        {"chunks": [{"vector": [0.5] * 384}] * 1000},
        {"metadata": {str(n): n for n in range(MAX_OBJECT_MEMBERS)}},
    ],
)
def test_a_large_body_is_not_for_its_commas(value: object) -> None:
    assert find_invalid_value(json.dumps(value).encode(), value) is None


def test_of_a_list_of_wrong_members_the_first_is_named() -> None:
    wrongs: list[object] = [{}, 0]
    for wrong in wrongs:
        with pytest.raises(ValidationError) as caught:
            GivenDocument.model_validate({"uri": "a", "chunks": [wrong] * 1000})
        assert caught.value.error_count() == 1
    with pytest.raises(ValidationError) as caught:
        GivenChunk.model_validate({"content": "a", "vector": [""] * 1000})
    assert caught.value.error_count() == 1


@pytest.mark.parametrize(
    ("operator", "value"), [("in", "1," * 200), ("before", ["1"] * 100), ("is", ["1"] * 100)]
)
def test_names_times_values_are_counted_before_conditions_are_made(
    operator: str, value: object
) -> None:
    one = {"name": [f"k{n}" for n in range(100)], "comparison_operator": operator, "value": value}
    given = MetadataCondition.model_validate({"conditions": [one] * 2})
    with pytest.raises(ConfigError, match="at most 10,000 values, each counted for each name"):
        compile_conditions(given)
