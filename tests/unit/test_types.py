"""The records that cross module borders, and the shapes of their JSON."""

import json
from dataclasses import FrozenInstanceError, fields
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexichord.db.replica import position_number
from lexichord.errors import ConfigError, some_names
from lexichord.types import EmbeddingSpace, FilesResult, Response, SearchResult
from lexichord.types.evidence import ContextSource, Quote
from lexichord.types.questions import Intent
from lexichord.types.text import one_line
from tests.builders import FILE, HIT

no_slash = st.text(st.characters(exclude_characters="/", codec="utf-8"), min_size=1)


@given(no_slash, st.text(min_size=1), st.integers(1, 10**6))
def test_a_space_reads_what_it_writes(provider: str, model: str, dimension: int) -> None:
    space = EmbeddingSpace(provider, model, dimension)
    assert EmbeddingSpace.parse(str(space)) == space


def test_a_models_name_may_hold_slashes() -> None:
    assert EmbeddingSpace.parse("hub/intfloat/e5-small/384") == EmbeddingSpace(
        "hub", "intfloat/e5-small", 384
    )


@pytest.mark.parametrize(
    "text",
    ["", "local/384", "local//384", "/model/384", "a/b/", "a/b/x", "a/b/0", "a/b/-4", "a/b/²"],
)
def test_what_is_no_space_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="write provider/model/dimension"):
        EmbeddingSpace.parse(text)


def test_a_hit_has_the_promised_keys() -> None:
    shape = HIT.to_dict()
    assert list(shape) == [
        *("chunk_id", "document_id", "dataset", "uri", "title", "heading", "start", "end"),
        *("page", "content", "context", "score", "scores", "ranks"),
    ]
    assert shape["scores"] == {"dense": 0.9, "keyword": None, "fused": 0.5}


def test_a_file_has_the_promised_keys() -> None:
    shape = FILE.to_dict()
    assert list(shape) == ["document_id", "dataset", "uri", "title", "score", "scores", "hits"]
    assert shape["scores"] == {"chunks": 0.6, "card": None}


@pytest.mark.parametrize(
    ("result", "keys"),
    [
        (SearchResult("q", [HIT], ["no embedder"]), {"query", "hits", "degraded"}),
        (FilesResult("q", [FILE], []), {"query", "files", "degraded"}),
        (
            Response(
                "q",
                Intent("general", "q"),
                [FILE],
                [HIT],
                "[1] Lease",
                [ContextSource.of(1, Quote.of(HIT))],
            ),
            {field.name for field in fields(Response)},
        ),
    ],
)
def test_a_result_survives_json(result: Any, keys: set[str]) -> None:
    shape = result.to_dict()
    assert set(shape) == keys
    assert json.loads(json.dumps(shape)) == shape


def test_records_do_not_change() -> None:
    with pytest.raises(FrozenInstanceError):
        HIT.score = 1.0  # type: ignore[misc]


def test_a_line_is_no_longer_than_its_place() -> None:
    assert [one_line(text, 4) for text in ("abcd", "abcde", "a\nb")] == ["abcd", "abc…", "a b"]


def test_names_that_are_not_listed_are_counted() -> None:
    assert some_names("abcde").endswith("'e'")
    assert some_names("abcdefg").endswith("'e' and 2 more")


def test_positions_are_in_the_order_of_the_log() -> None:
    written = ["0/FFFFFFFF", "1/0", "1/FF", "10/0"]
    assert [hex(position_number(one)) for one in written] == [
        *("0xffffffff", "0x100000000", "0x1000000ff", "0x1000000000"),
    ]
