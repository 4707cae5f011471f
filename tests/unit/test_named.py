"""Where a document is named, only what speaks of it is evidence."""

from dataclasses import replace

import pytest

from lexichord.retrieve.judged_hits import filter_to_named, named_first, unnamed, without_names
from lexichord.types.questions import Intent
from tests.builders import scored_hit

OWN = scored_hit("chunk_a", 0.5)
OTHER = replace(scored_hit("chunk_b", 0.9), document_id="doc_2", content="Fees are due in June.")
QUOTING = replace(OTHER, chunk_id="chunk_c", content="Unlike Velmora, we charge no fees.")
NAMED = Intent(
    "clause_lookup", "when are fees due", hint="the Velmora terms", documents=(OWN.document_id,)
)
BY_NAME = replace(NAMED, hint="Velmora")


def test_what_others_say_is_no_evidence_of_it() -> None:
    assert filter_to_named(NAMED, [OTHER, OWN]) == [OWN]
    assert filter_to_named(NAMED, [OTHER]) == []


def test_another_document_that_says_the_name_is_evidence_where_its_own_says_nothing() -> None:
    assert filter_to_named(BY_NAME, [OTHER, QUOTING, OWN]) == [OWN]
    assert filter_to_named(BY_NAME, [OTHER, QUOTING]) == [QUOTING]


@pytest.mark.parametrize(
    ("question", "hint", "judged"),
    [
        ("when does the lease start", "lease", "when does it start"),
        ("who signs the Velmora terms?", "Velmora terms", "who signs it?"),
        ("what are the lease's terms", "lease", "what are the lease's terms"),
    ],
)
def test_sentences_of_a_document_are_not_judged_by_its_name(
    question: str, hint: str, judged: str
) -> None:
    assert unnamed(replace(NAMED, question=question, hint=hint)) == judged


def test_without_a_name_all_is_evidence() -> None:
    hits = [OTHER, OWN]
    assert filter_to_named(replace(NAMED, documents=(), hint=None), hits) == hits
    assert filter_to_named(replace(NAMED, kind="comparison"), hits) == hits


@pytest.mark.parametrize(
    ("question", "hint", "judged"),
    [
        ("which law applies to the Velmora terms?", "Velmora terms", "which law applies ?"),
        ("who pays (see the Velmora terms)?", "Velmora terms", "who pays (see )?"),
        ("how do I configure CORS", "CORS", "how do I configure CORS"),
        ("the lease", "lease", "the lease"),
        ("how do I use it in the lease?", "lease", "how do I use it ?"),
        ("what do we do in the lease?", "lease", "what do we do in the lease?"),
    ],
)
def test_what_only_leads_to_a_document_is_not_judged(question: str, hint: str, judged: str) -> None:
    assert without_names(replace(NAMED, question=question, hint=hint)) == judged


def test_hits_of_the_named_document_come_first() -> None:
    assert named_first(NAMED, [OTHER, QUOTING, OWN]) == [OWN, OTHER, QUOTING]
    assert named_first(replace(NAMED, documents=()), [OTHER, OWN]) == [OTHER, OWN]
