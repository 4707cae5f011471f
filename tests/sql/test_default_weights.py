"""How much meaning counts by default: by the model of the vectors, and changed with it."""

import pytest

from tests.sql.calls import BY_VECTOR
from tests.sql.corpus import Connection, call, put, value


@pytest.mark.parametrize(
    ("space", "weights"),
    [
        ("local/all-MiniLM-L6-v2/384", [0.4, 0.6]),
        ("local/all-MiniLM-L6-v2-int8/384", [0.4, 0.6]),
        ("local//srv/models/all-MiniLM-L6-v2/384", [0.4, 0.6]),
        ("local/e5-small-v2/384", [0.45, 0.55]),
        ("local/e5-small-v2-int8/384", [0.45, 0.55]),
        ("openai/sentence-transformers/all-MiniLM-L6-v2/384", [0.4, 0.6]),
        ("local/nobody-measured-it/384", [0.4, 0.6]),
    ],
)
def test_a_search_weighs_by_the_model(
    connection: Connection, space: str, weights: list[float]
) -> None:
    put(connection, "a", ["w1 x", "w2 y"], [[0.3, -1, 0.5, 0.2], [0.3, -1, 0.5, 0.9]])
    provider, _, rest = space.partition("/")
    connection.execute(
        "update lexichord_data.embedding_space set provider = %s, model = %s",
        (provider, rest.rpartition("/")[0]),
    )
    assert value(connection, "select lexichord.default_weights()") == weights
    question = BY_VECTOR | {"query_space": None}
    by_default, given = (
        [row["score"] for row in call(connection, "hybrid_search", **question, **others)]
        for others in ({}, {"weights": weights})
    )
    assert by_default == given
