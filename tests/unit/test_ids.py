"""The texts of ids: a keyed permutation that any other key, kind or spelling does not read."""

import re
from itertools import pairwise
from typing import get_args
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexichord.errors import NotFoundError
from lexichord.types.base import ID_EXAMPLE, ID_PATTERN, NUMBERS, IdKind, Ids

KINDS: tuple[IdKind, ...] = get_args(IdKind)
SECRET = UUID("6ba7b810-9dad-41d1-80b4-00c04fd430c8").bytes
IDS = Ids(SECRET)

kinds = st.sampled_from(KINDS)
numbers = st.integers(1, NUMBERS - 1)
secrets = st.binary(min_size=16, max_size=16)


@given(secrets, kinds, numbers)
def test_what_is_written_is_read(secret: bytes, kind: IdKind, number: int) -> None:
    ids = Ids(secret)
    text = ids.write(kind, number)
    assert re.fullmatch(ID_PATTERN[kind], text)
    assert ids.read(kind, text) == number
    assert Ids(secret).write(kind, number) == text  # also by another process, in another year


def test_numbers_in_a_row_have_texts_that_are_in_none() -> None:
    texts = [IDS.write("doc", number) for number in range(1, 5001)]
    assert len(set(texts)) == 5000
    for place in range(len("doc_"), len(texts[0])):  # no letter tells that one follows another
        letters = [text[place] for text in texts]
        assert 20 <= len(set(letters)) <= 32
        same = sum(one == other for one, other in pairwise(letters))
        assert same < 5000 / 32 * 1.5


def test_what_another_database_wrote_is_no_id_here() -> None:
    other = Ids(b"another".ljust(16))
    read = [IDS.find("chunk", other.write("chunk", number)) for number in range(1, 2001)]
    assert [number for number in read if number is not None] == []


def test_a_document_is_no_chunk() -> None:
    for number in range(1, 501):
        letters = IDS.write("doc", number).removeprefix("doc_")
        assert IDS.find("chunk", f"doc_{letters}") is None
        assert IDS.find("chunk", f"chunk_{letters}") is None


def test_one_wrong_letter_is_noticed() -> None:
    text = IDS.write("doc", 12)
    for place in range(len("doc_"), len(text)):
        for letter in "abcdefghijklmnopqrstuvwxyz234567":
            typed = text[:place] + letter + text[place + 1 :]
            assert IDS.find("doc", typed) == (12 if typed == text else None)


@pytest.mark.parametrize(
    "text",
    [
        *("", "12", "doc_", "doc_12", "chunk_12", "doc_" + "a" * 15, "doc_" + "a" * 17),
        *("doc_" + "é" * 16, "doc_" + "1" * 16),
        *(IDS.write("doc", 1).upper(), IDS.write("doc", 1) + "\n", IDS.write("chunk", 1)),
    ],
)
def test_what_is_not_even_alike_is_no_id(text: str) -> None:
    assert IDS.find("doc", text) is None
    with pytest.raises(NotFoundError, match=r"(?s)there is no document .*: see lexichord list$"):
        IDS.read("doc", text)


def test_an_unknown_chunk_says_where_to_find_one() -> None:
    with pytest.raises(NotFoundError, match=r"^there is no chunk 12: take the id of a hit$"):
        IDS.read("chunk", "12")


@pytest.mark.parametrize("kind", KINDS)
def test_examples_look_like_ids(kind: IdKind) -> None:
    assert re.fullmatch(ID_PATTERN[kind], ID_EXAMPLE[kind])
