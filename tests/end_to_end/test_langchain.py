"""The retriever and the vector store for LangChain, by its own tests and in a chain."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.indexing import IndexingResult, InMemoryRecordManager, index
from langchain_core.language_models.fake_chat_models import ParrotFakeChatModel
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnablePassthrough
from langchain_core.vectorstores import VectorStore
from langchain_tests.integration_tests import (
    RetrieversIntegrationTests,
    VectorStoreIntegrationTests,
)

from lexichord import Lexichord, SyncLexichord
from lexichord.errors import ConfigError
from lexichord.langchain import LexichordRetriever, LexichordVectorStore

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
    assert len(LexichordRetriever(lexichord=plain, k=3).invoke("zebra", k=1)) == 1
    for wrong in ({"k": 0}, {"top_k": 3}, {"filter": {"colour": "red"}}, {"datasets": 3}):
        with pytest.raises(ConfigError):
            retriever.invoke("zebra", **wrong)


def test_what_a_document_says_of_itself_cannot_pass_for_its_place(plain: SyncLexichord) -> None:
    liar = {"uri": "elsewhere", "score": 1e9, "kind": "lie"}
    plain.ingest(documents=[{**DOCUMENTS[2], "metadata": liar}])
    (document,) = LexichordRetriever(lexichord=plain).invoke("zebra")
    assert document.metadata["uri"] == "bare"
    assert document.metadata["kind"] == "lie"
    assert document.metadata["score"] <= 1


TEXTS = [
    "The zebra is striped and eats grass.",
    "The zebra is striped and eats grass, they say.",
    "Refunds are paid within thirty days.",
]
METADATAS: list[dict[str, Any]] = [{"year": 2019}, {"year": 2024}, {"year": 2024, "kind": "policy"}]


class TestRetriever(RetrieversIntegrationTests):
    @pytest.fixture(autouse=True)
    def _samples(self, samples: SyncLexichord) -> None:
        self.application = samples

    @property
    def retriever_constructor(self) -> type[BaseRetriever]:
        return LexichordRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"lexichord": self.application}

    @property
    def retriever_query_example(self) -> str:
        return "When is the rent due?"


@pytest.mark.client("LangChain", "store", "delete")
class TestVectorStore(VectorStoreIntegrationTests):
    @pytest.fixture
    def vectorstore(self, embedding: SyncLexichord) -> Iterator[VectorStore]:
        store = LexichordVectorStore(embedding)
        yield store
        store.delete()


@pytest.fixture
def store(embedding: SyncLexichord) -> Iterator[LexichordVectorStore]:
    store = LexichordVectorStore.from_texts(
        TEXTS, None, METADATAS, ids=["a", "b", "c"], lexichord=embedding, dataset="zoo"
    )
    yield store
    store.delete()


def ids(documents: list[Document]) -> list[str | None]:
    return [document.id for document in documents]


def test_options_are_those_of_search(store: LexichordVectorStore) -> None:
    assert ids(store.similarity_search("striped zebra", k=1, filter={"year": 2024})) == ["b"]
    found = store.similarity_search("grass", k=3, mode="keyword")
    assert sorted(map(str, ids(found))) == ["a", "b"]
    assert found[0].metadata in METADATAS
    with pytest.raises(ConfigError, match="colour"):
        store.similarity_search("grass", filter={"colour": "red"})


def test_scores_order_and_relevance_is_the_cosine(store: LexichordVectorStore) -> None:
    scores = [score for _, score in store.similarity_search_with_score("repayment", k=3)]
    assert scores == sorted(scores, reverse=True)
    relevant = store.similarity_search_with_relevance_scores("when are refunds paid", k=3)
    assert ids([relevant[0][0]]) == ["c"]
    assert all(0 <= score <= 1 for _, score in relevant)
    some = store.similarity_search_with_relevance_scores("refunds paid", score_threshold=0.5)
    assert ids([document for document, _ in some]) == ["c"]


def test_marginal_relevance_takes_what_differs(store: LexichordVectorStore) -> None:
    assert set(ids(store.similarity_search("striped zebra eats grass", k=2))) == {"a", "b"}
    diverse = store.max_marginal_relevance_search("striped zebra eats grass", 2, lambda_mult=0.1)
    assert "c" in ids(diverse)
    retriever = store.as_retriever(search_type="mmr", search_kwargs={"k": 2, "lambda_mult": 0.1})
    assert retriever.invoke("striped zebra eats grass") == diverse


def test_what_cannot_be_stored_is_refused(embedding: SyncLexichord) -> None:
    store = LexichordVectorStore(embedding)
    with pytest.raises(ConfigError, match="as many"):
        store.add_texts(["one", "two"], [{}])
    with pytest.raises(ConfigError, match="its own space"):
        LexichordVectorStore.from_texts(
            ["one"], DeterministicFakeEmbedding(size=6), lexichord=embedding
        )
    with pytest.raises(Exception, match="NUL"):
        store.add_texts(["one", "t\0wo"])


def test_langchains_index_keeps_a_store_in_step(store: LexichordVectorStore) -> None:
    manager = InMemoryRecordManager("zoo")
    manager.create_schema()

    def sources(*texts: str) -> list[Document]:
        return [Document(page_content=text, metadata={"source": "x"}) for text in texts]

    def keep(*texts: str) -> IndexingResult:
        options: dict[str, Any] = {"cleanup": "full", "key_encoder": "sha256"}
        return index(sources(*texts), manager, store, **options)

    assert keep("one", "two")["num_added"] == 2
    again = keep("two", "three")
    assert (again["num_added"], again["num_deleted"], again["num_skipped"]) == (1, 1, 1)


@pytest.mark.client("LangChain", "async")
async def test_the_asynchronous_application_serves_the_asynchronous_methods(
    embedding: SyncLexichord,
) -> None:
    async with Lexichord(embedding.core.settings) as core:
        store = await LexichordVectorStore.afrom_texts(
            TEXTS, None, METADATAS, ids=["a", "b", "c"], lexichord=core, dataset="own"
        )
        assert ids(await store.asimilarity_search("refunds", k=1)) == ["c"]
        assert ids(await store.aget_by_ids(["c", "a", "z"])) == ["c", "a"]
        assert len(await store.amax_marginal_relevance_search("zebra", k=2)) == 2
        assert await store.asimilarity_search_with_relevance_scores("zebra", k=1)
        assert await store.adelete(["c"])
        assert await store.aget_by_ids(["c"]) == []
        with pytest.raises(ConfigError, match="asynchronous"):
            store.similarity_search("zebra")
