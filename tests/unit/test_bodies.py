"""Whole numbers in bodies of requests, as clients write them."""

import pytest
from pydantic import ValidationError

from lexichord.serve.http.bodies import QueryBody


@pytest.mark.parametrize("written", [3, 3.0, "3"])
def test_a_whole_number_is_read_however_it_is_written(written: object) -> None:
    body = QueryBody.model_validate({"query": "3", "k": written, "max_length": written})
    assert (body.query, body.k, body.max_length) == ("3", 3, 3)


@pytest.mark.parametrize(
    ("name", "written"),
    [
        *(("k", wrong) for wrong in ("3.5", "three", "", " 3", "1e1", "0", 3.5, True, None, "٣")),
        *(("answer", wrong) for wrong in ("1", 1)),
        ("dense_share", "1"),
    ],
)
def test_what_is_none_is_refused_by_name(name: str, written: object) -> None:
    with pytest.raises(ValidationError, match=name):
        QueryBody.model_validate({"query": "a", name: written})
