"""The records that cross module borders, and the shapes of their JSON."""

from dataclasses import FrozenInstanceError

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexichord.db.replica import position_number
from lexichord.errors import ConfigError, some_names
from lexichord.types import EmbeddingSpace
from lexichord.types.base import counted, one_line
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


def test_a_hit_and_a_file_have_the_promised_keys() -> None:
    shape = HIT.to_dict()
    assert list(shape) == [
        *("chunk_id", "document_id", "dataset", "uri", "title", "heading", "start", "end"),
        *("page", "content", "context", "score", "scores", "ranks"),
    ]
    assert shape["scores"] == {"dense": 0.9, "keyword": None, "fused": 0.5}
    shape = FILE.to_dict()
    assert list(shape) == ["document_id", "dataset", "uri", "title", "score", "scores", "hits"]
    assert shape["scores"] == {"chunks": 0.6, "card": None}


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


def test_amounts_are_written_in_words() -> None:
    written = [counted(1, "query"), counted(0, "query"), counted(2, "key"), counted(1, "chunk")]
    assert written == ["1 query", "0 queries", "2 keys", "1 chunk"]
    assert counted(1_200, "chunk", ",") == "1,200 chunks"
