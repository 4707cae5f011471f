"""What the words of a query say: its kind, its names, its parts, in any wording."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexichord.retrieve.understand import (
    LANGUAGES,
    MAX_READ_CHARS,
    find_cues,
    find_listed,
    load_cues,
)
from lexichord.retrieve.understand.intent import read_intent
from lexichord.retrieve.understand.linking import (
    QUERY_WORD,
    Mention,
    QueryWord,
    find_mentions,
    keep_certain,
    make_hint,
    remove_mentions,
    remove_naming_clauses,
    says_which,
    split_words,
)
from lexichord.types.questions import Link
from tests.conftest import SAMPLES
from tests.wordings import worded


@worded("kind", "query")
def test_kind(kind: str, query: str) -> None:
    intent = read_intent(query)
    assert intent.kind == kind
    assert (intent.question, intent.hint, intent.documents) == (query, None, ())
    assert intent.reason.startswith(kind)


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_language_has_every_kind(language: str) -> None:
    kinds = [kind for kind, _, _ in load_cues(language).kinds]
    assert kinds == ["comparison", "list_all", "summary", "general", "clause_lookup"]


@worded("query")
def test_words_that_sound_like_another_kind(query: str) -> None:
    assert read_intent(query).kind == "clause_lookup"


@pytest.mark.parametrize("half", ["A", "B"])
def test_nine_of_ten_written_questions_are_read_right(half: str) -> None:
    with (SAMPLES / "intents.jsonl").open() as lines:
        tests = [test for line in lines if (test := json.loads(line))["half"] == half]
    right = [read_intent(test["query"]).kind == test["kind"] for test in tests]
    assert len(right) == 40
    assert sum(right) >= 36


@worded("query", "entities")
def test_entities(query: str, entities: list[str]) -> None:
    assert read_intent(query).entities == tuple(entities)


@worded("query", "parts")
def test_sub_questions(query: str, parts: list[str]) -> None:
    assert read_intent(query).sub_questions == tuple(parts)


PIECES = ["who ", "list ", "and ", "is ", "in ", "compare ", "the ", "Name ", '"', "'", "“", "„"]
PIECES += [*"?.,;:-_() \n\t1aA🎉ßİſ", "1.2", "\0"]


@given(st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=60).map("".join)))
def test_anything_is_read(query: str) -> None:
    intent = read_intent(query)
    assert intent.question == query
    assert all(part and part in query for part in intent.sub_questions)
    assert len(intent.sub_questions) != 1
    assert all(entity and entity in query for entity in intent.entities)


@given(st.text(max_size=50), st.text(max_size=50))
def test_of_long_text_only_the_ends_are_read(first: str, last: str) -> None:
    """So that time grows with the length, whatever the patterns do."""
    ends = first.ljust(MAX_READ_CHARS, "x"), last.rjust(MAX_READ_CHARS, "x")
    longest = read_intent(ends[0] + " And Compare All Things " * 5000 + ends[1])
    longer = read_intent(ends[0] + " And Compare All Things " + ends[1])
    assert (longest.kind, longest.entities, longest.sub_questions) == (
        longer.kind,
        longer.entities,
        longer.sub_questions,
    )


@pytest.mark.parametrize("query", ["Compare the two: {}", "{} Compare the two."])
def test_an_instruction_may_stand_at_either_end_of_a_long_text(query: str) -> None:
    assert read_intent(query.format("Lorem ipsum. " * 9000)).kind == "comparison"


def linked(query: str, *documents: str) -> tuple[list[QueryWord], list[Link]]:
    """Link a query's words to titles as the database does with plain words."""
    words = split_words(query, read_intent(query).entities)
    titles = [title.lower().split() for title in documents]
    counts = {word: sum(word in title for title in titles) for title in titles for word in title}
    links = [
        Link(
            str(number),
            documents[number],
            "",
            place,
            True,
            False,
            False,
            counts[word] <= 1,
            size,
            9,
        )
        for number, title in enumerate(titles)
        for place, word in enumerate(token.lower for token in words)
        for size in [len(title)]
        if word in title and word not in ("for", "of")
    ]
    return words, links


def names(query: str, *documents: str) -> tuple[list[str], str, str]:
    """Give ids, hint and question."""
    words, links = linked(query, *documents)
    mentions = find_mentions(words, links)
    ids = [mention.document_id for mention in mentions]
    return ids, make_hint(query, words, mentions), remove_mentions(query, words, mentions)


LEASE, TRAVEL, SECURITY = "Lease of Saltpan House", "Travel Policy", "Information Security Policy"
FILED = [LEASE, TRAVEL, SECURITY, "Kerber Agreement", "Seeed Agreement", "Researcher Agreement"]


@worded("query", "ids", "hint", "question")
def test_what_is_named_becomes_the_hint(
    query: str, ids: list[int], hint: str, question: str
) -> None:
    assert names(query, *FILED) == ([str(number) for number in ids], hint, question)


@worded("query", "ids")
def test_what_a_question_asks_for_names_nothing(query: str, ids: list[str]) -> None:
    """As "Which environment variable sets the port?", whatever a page is called."""
    assert names(query, *FILED)[0] == ids


@worded("query", "question")
def test_what_introduces_a_document_leaves_the_question(query: str, question: str) -> None:
    """In whatever words it does; what says more of the document stays."""
    words, links = linked(query, *FILED)
    mentions = find_mentions(words, links)
    assert remove_naming_clauses(query, words, mentions) == question


@worded("query", "certain")
def test_of_several_titles_those_are_named_that_can_be_nothing_else(
    query: str, certain: list[str]
) -> None:
    words, links = linked(query, *FILED)
    mentions = keep_certain(words, find_mentions(words, links), find_cues(query))
    assert [query[words[one.first].start : words[one.last].end] for one in mentions] == certain


@pytest.mark.parametrize(
    ("query", "named"),
    [("What does the document say?", False), ("Is rent in Document, the lease?", True)],
)
def test_what_any_document_is_called_names_none(query: str, named: bool) -> None:
    words, links = linked(query, "Document")
    mentions = find_mentions(words, links)
    assert [says_which(words, one, find_cues(query)) for one in mentions] == [named]


@worded("query", "title", "is_named")
def test_another_word_of_the_same_stem_is_another_name(
    query: str, title: str, is_named: bool
) -> None:
    words = split_words(query, read_intent(query).entities)
    first = next(number for number, word in enumerate(words) if word.name)
    links = [Link("0", title, "", first, True, True, False, True, 2, 2)]
    assert bool(find_mentions(words, links)) == is_named


def test_a_word_with_a_point_and_an_identifier_stay_in_the_question() -> None:
    _, _, question = names("Under the lease for Saltpan House, who may read .env files?", LEASE)
    assert question == "who may read .env files?"
    parsed = names("where is FooParser parsed", "fooparser")
    assert parsed == (["0"], "FooParser", "where is FooParser parsed")


@given(st.lists(st.sampled_from([*PIECES, "Kerber ", "Saltpan ", "lease ", "Agreement "])))
def test_words_are_only_taken_away(pieces: list[str]) -> None:
    query = "".join(pieces)
    ids, hint, question = names(query, *FILED)
    remaining = iter(QUERY_WORD.findall(query))
    assert all(word in remaining for word in QUERY_WORD.findall(question))  # in their order
    assert question == query or ids
    assert bool(ids) == bool(hint)


@worded("query", "listed")
def test_what_a_list_is_to_hold(query: str, listed: str) -> None:
    assert find_listed(query) == listed


def test_what_follows_a_name_may_be_no_word() -> None:
    mention = Mention("doc_1", "Acme", "", 4, 4, frozenset([4]), frozenset([4]), by_initials=False)
    for query, left in {"my Acme (": "my Acme (", "my Acme account": "my account"}.items():
        asked, expected = f"who may use {query}", f"who may use {left}"
        assert remove_naming_clauses(asked, split_words(asked, ["Acme"]), [mention]) == expected


@pytest.mark.parametrize(
    ("question", "said"),
    [("Can two workers run?", "'Can'"), ("How many are there?", "'How'")],
)
def test_the_reason_of_a_kind_shows_whole_words(question: str, said: str) -> None:
    assert read_intent(question).reason == f"clause_lookup: {said}"
