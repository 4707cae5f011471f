"""Where a document is named, only what speaks of it is evidence."""

from dataclasses import replace

from lexichord.retrieve.judge.named import hold_to_named
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
    assert hold_to_named(NAMED, [OTHER, OWN]) == [OWN]
    assert hold_to_named(NAMED, [OTHER]) == []


def test_another_document_may_say_the_name() -> None:
    assert hold_to_named(BY_NAME, [OTHER, QUOTING, OWN]) == [QUOTING, OWN]


def test_without_a_name_all_is_evidence() -> None:
    hits = [OTHER, OWN]
    assert hold_to_named(replace(NAMED, documents=(), hint=None), hits) == hits
    assert hold_to_named(replace(NAMED, kind="comparison"), hits) == hits
