import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexichord.retrieve.understand.intent import (
    MAX_EXPANDED_CHARS,
    MAX_RELAXED_CHARS,
    expand,
    find_short_forms,
    relax,
)
from lexichord.types.response import Definition, Rewrite, Term

WORDS = st.lists(st.text("abcdef", min_size=1, max_size=9), max_size=60)


def term(word: str, df: int = 5, idf: float = 1.0, chunks: tuple[str, ...] = ("chunk_1",)) -> Term:
    return Term(word.lower(), (word,), 1, df, idf, chunks)


def test_a_short_form_its_long_form_and_what_it_means_are_added() -> None:
    definitions = [Definition("NDA", "chunk_1", "This non-disclosure agreement ", " binds all.")]
    rewritten = expand("How long does the NDA last?", definitions)
    assert rewritten.text == "How long does the NDA last? non-disclosure agreement"
    assert rewritten.reason == "added 'non-disclosure agreement': what NDA is short for"
    definitions = [Definition("DPO", "chunk_1", "the Data Protection Officer ", " decides")]
    assert expand("the data protection officer", definitions).text.endswith("officer DPO")
    meaning = " means the times in which faults are mended. Next"
    rewritten = expand("Is the SLA met?", [Definition("SLA", "chunk_1", "", meaning)])
    assert rewritten.text.endswith("the times in which faults are mended")


@pytest.mark.parametrize(
    ("before", "after"),
    [("the annual fee ", " is due"), ("Non Disclosure, Agreement: ", " x"), ("", "")],
)
def test_what_is_no_long_form_is_not_taken_for_one(before: str, after: str) -> None:
    assert (
        expand("How long is the NDA", [Definition("NDA", "chunk_1", before, after)]).kind == "none"
    )


def test_related_words_are_added_once_and_only_new_ones() -> None:
    rewritten = expand("rent of the office", [], ["office", "deposit", "Deposit", "landlord"])
    assert rewritten.text == "rent of the office deposit landlord"


@given(WORDS, WORDS)
def test_an_expansion_keeps_the_question_and_its_limit(words: list[str], more: list[str]) -> None:
    question = " ".join(words)
    rewritten = expand(question, [], more)
    assert rewritten.text.startswith(question)
    assert len(rewritten.text) <= max(MAX_EXPANDED_CHARS, len(question))
    assert (rewritten.kind == "none") == (rewritten.text == question)


def test_unknown_words_are_dropped_first() -> None:
    terms = [term("notice"), term("flibber", df=0, chunks=()), term("lease"), term("rent")]
    rewritten = relax("Which flibber notice has the lease for rent?", terms)
    assert rewritten == Rewrite(
        "relaxation", "Which notice has the lease for rent?", "dropped 'flibber': in no document"
    )


def test_then_the_rarest_that_the_passages_lack() -> None:
    terms = [term("a1"), term("b1", idf=2, chunks=()), term("c1", idf=5, chunks=()), term("d1")]
    assert relax("a1 b1 c1 d1", terms).text == "a1 b1 d1"


def test_words_are_dropped_whole_and_qualifiers_go() -> None:
    terms = [term("all", df=0, chunks=()), term("shall"), term("pay"), term("rent")]
    assert relax("who shall pay all rent", terms).text == "who shall pay rent"
    rewritten = relax("fees (including tax) and costs", [term("fees"), term("costs")])
    assert rewritten.text == "fees and costs"
    assert "'(including tax)': a qualifier" in rewritten.reason


@given(WORDS, st.data())
def test_a_relaxation_keeps_half_of_the_terms_and_its_limit(
    words: list[str], data: st.DataObject
) -> None:
    terms = [
        term(word, df, 1.0, ("a",) if df and data.draw(st.booleans()) else ())
        for word in dict.fromkeys(words)
        for df in (data.draw(st.integers(0, 2)),)
    ]
    rewritten = relax(" ".join(words), terms)
    if rewritten.kind == "none":
        assert rewritten.text == " ".join(words)
        return
    assert 0 < len(rewritten.text) <= MAX_RELAXED_CHARS
    assert set(rewritten.text.split()) <= set(words)
    dropped = len(re.findall(r"'\w+': ", rewritten.reason))
    assert len(terms) - dropped >= min(len(terms), max(2, len(terms) / 2))


def test_nothing_to_drop_is_said() -> None:
    assert relax("rent", [term("rent")]) == Rewrite("none", "rent", "nothing can be dropped")
    assert relax("(all)", []).kind == "none"


def test_short_forms_are_abbreviations_and_initials() -> None:
    assert find_short_forms("Does the NDA bind staff?")[0] == "NDA"
    assert "DPO" in find_short_forms("data protection officer")
    assert find_short_forms("") == []
