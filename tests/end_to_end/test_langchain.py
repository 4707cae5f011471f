"""The LangChain retriever, alone and in a chain, inside a running event loop and outside."""

import json
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.language_models.fake_chat_models import ParrotFakeChatModel
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import Runnable, RunnablePassthrough

from lexichord import SyncLexichord
from lexichord.errors import ConfigError
from lexichord.langchain import LexichordRetriever

QUESTION = "How long do the confidentiality obligations survive under the clinical study agreement?"
DOCUMENTS: list[dict[str, Any]] = [
    {"uri": "old", "metadata": {"year": 2019}, "chunks": [{"content": "The zebra was striped."}]},
    {"uri": "new", "metadata": {"year": 2024}, "chunks": [{"content": "The zebra is striped."}]},
    {"uri": "bare", "chunks": [{"content": "A zebra without a year."}]},
]


def chain(retriever: LexichordRetriever) -> Runnable[str, str]:
    """Retrieve, fill a prompt, and have a model repeat it."""

    def join(documents: list[Document]) -> str:
        return "\n".join(f"[{each.metadata['title']}] {each.page_content}" for each in documents)

    prompt = ChatPromptTemplate.from_template("By {context} answer: {question}")
    filled = {"context": retriever | join, "question": RunnablePassthrough()} | prompt
    return filled | ParrotFakeChatModel() | StrOutputParser()


@pytest.mark.client("LangChain", "answer")
def test_a_chain_answers_by_what_is_stored(samples: SyncLexichord) -> None:
    answer = chain(LexichordRetriever(lexichord=samples, search_kwargs={"k": 2})).invoke(QUESTION)
    assert "ten (10) years" in answer
    assert "[one way nda clinical study]" in answer
    assert answer.endswith(QUESTION)


def test_a_document_has_its_place_and_scores(samples: SyncLexichord) -> None:
    documents = LexichordRetriever(lexichord=samples).invoke(QUESTION)
    assert len(documents) == 10
    for document in documents:
        meta = document.metadata
        assert document.id == meta["chunk_id"]
        text = samples.show(meta["document_id"]).text
        assert text[meta["start"] : meta["end"]] == document.page_content
        assert 0 <= meta["score"] <= 1
        assert {"dense", "keyword"} <= set(meta["scores"])
        json.dumps(meta)
    scores = [document.metadata["score"] for document in documents]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] > 0.5


@pytest.mark.client("LangChain", "search", "k", "filters")
def test_options_are_those_of_query_and_those_of_a_call_go_first(plain: SyncLexichord) -> None:
    plain.ingest(documents=DOCUMENTS, dataset="zoo")
    kwargs = {"mode": "keyword", "datasets": ["zoo"], "filter": {"year": 2024}}
    retriever = LexichordRetriever(lexichord=plain, search_kwargs=kwargs)
    (document,) = retriever.invoke("zebra")
    assert document.metadata["uri"] == "new"
    assert document.metadata["year"] == 2024
    not_new = {"key": "year", "op": "ne", "value": 2024}
    others = retriever.invoke("zebra", filter=not_new)
    assert {each.metadata["uri"] for each in others} == {"old", "bare"}
    assert len(retriever.invoke("zebra", filter=None, k=1)) == 1
    for wrong in ({"k": 0}, {"top_k": 3}, {"filter": {"colour": "red"}}, {"datasets": "zoo"}):
        with pytest.raises(ConfigError):
            retriever.invoke("zebra", **wrong)


def test_what_a_document_says_of_itself_cannot_pass_for_its_place(plain: SyncLexichord) -> None:
    liar = {"uri": "elsewhere", "score": 1e9, "kind": "lie"}
    plain.ingest(documents=[{**DOCUMENTS[2], "metadata": liar}])
    (document,) = LexichordRetriever(lexichord=plain).invoke("zebra")
    assert document.metadata["uri"] == "bare"
    assert document.metadata["kind"] == "lie"
    assert document.metadata["score"] <= 1
