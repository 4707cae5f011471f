"""Questions that name a document, by search and by query: its name is not what passages are for."""

import pytest

from lexichord import SyncLexichord
from lexichord.types.query_options import Mode

ACME = """Acme privacy policy

Acme takes privacy seriously. This privacy policy of Acme tells what Acme does; Acme may change it.

Photos that you upload are shown to the friends whom you have chosen, and to nobody else.

Acme's privacy policy is part of Acme's terms. Write to Acme about the privacy policy of Acme.
"""
BETA = """Beta privacy policy

Photos that you upload are public: whoever knows the address can see them.

Beta's privacy policy is part of Beta's terms.
"""
QUESTION = "who can see the photos that I upload?"
WORDINGS = (
    "Consider Acme's privacy policy; {question}",
    "Regarding the Acme policy: {question}",
    "In the Acme privacy policy, {question}",
    "Acme privacy policy - {question}",
)


@pytest.fixture(scope="module")
def policies(embedding: SyncLexichord) -> SyncLexichord:
    documents = [
        {
            "uri": f"{name}.txt",
            "title": f"{name} privacy policy",
            "text": text,
            "chunks": parts(text),
        }
        for name, text in (("Acme", ACME), ("Beta", BETA))
    ]
    embedding.ingest(documents=documents, dataset="policies", context="none")
    return embedding


def parts(text: str) -> list[dict[str, object]]:
    return [{"content": part, "start": text.find(part)} for part in text.strip().split("\n\n")]


@pytest.mark.parametrize("wording", WORDINGS)
@pytest.mark.parametrize("mode", ["hybrid", "keyword"])
def test_its_passage_comes_first(policies: SyncLexichord, wording: str, mode: Mode) -> None:
    asked = wording.format(question=QUESTION)
    for find in (policies.search, policies.query):
        first = find(asked, datasets=["policies"], mode=mode).hits[0]
        assert (first.uri, first.content.split()[0]) == ("Acme.txt", "Photos"), find


def test_what_is_asked_is_told_as_it_was_asked(policies: SyncLexichord) -> None:
    asked = WORDINGS[0].format(question=QUESTION)
    assert policies.search(asked, datasets=["policies"]).query == asked


def test_the_share_of_meaning_is_told(policies: SyncLexichord) -> None:
    def told(**options: object) -> object:
        trace = policies.query(QUESTION, datasets=["policies"], **options).trace  # type: ignore[arg-type]
        return next(step.made for step in trace if step.stage == "candidates")

    assert told() == {"dense_share": 0.4, "reason": "by the model of the vectors"}
    assert told(mode="keyword") == {"dense_share": 0.0, "reason": "mode keyword"}


@pytest.mark.parametrize(("wording", "is_ahead"), [("{question}", True), (WORDINGS[0], False)])
def test_candidates_are_searched_beside_the_intent_that_leaves_a_question(
    policies: SyncLexichord, wording: str, is_ahead: bool
) -> None:
    response = policies.query(wording.format(question=QUESTION), datasets=["policies"])
    assert (response.intent.question == response.query) is is_ahead
    given = next(step.given for step in response.trace if step.stage == "candidates")
    assert ("ahead_ms" in given) is is_ahead


def test_letters_that_the_model_does_not_read_are_searched_by_words(
    policies: SyncLexichord,
) -> None:
    text = "保密协议在合同终止后仍然有效。"
    policies.ingest(documents=[{"uri": "保密.txt", "text": text}], dataset="contracts")
    for query in ("保密协议", "Ποιος βλέπει", "кто видит фотографии"):
        by_default = policies.search(query, datasets=["contracts", "policies"])
        by_words = policies.search(query, datasets=["contracts", "policies"], mode="keyword")
        assert [hit.chunk_id for hit in by_default.hits] == [hit.chunk_id for hit in by_words.hits]
        assert any("knows English only" in reason for reason in by_default.degraded)
    assert policies.search("保密协议", datasets=["contracts"]).hits
    for query in ("Qui voit les photos", "photos 照片", "42"):
        assert not any("English" in r for r in policies.search(query).degraded)
    assert not policies.search("保密协议", mode="dense").degraded
