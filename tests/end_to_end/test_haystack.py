"""Haystack's own tests of document stores, the retriever, and both in a pipeline."""

import os
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from lexichord import Lexichord, SyncLexichord
from lexichord.errors import ConfigError

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"  # read when it is imported
pytest.importorskip("haystack", reason="the extra haystack")

from haystack import Document, Pipeline
from haystack.components.writers import DocumentWriter
from haystack.document_stores.errors import DuplicateDocumentError
from haystack.document_stores.types import DocumentStore, DuplicatePolicy
from haystack.errors import FilterError
from haystack.testing.document_store import DocumentStoreBaseTests
from haystack.testing.document_store_async import (
    CountDocumentsAsyncTest,
    DeleteDocumentsAsyncTest,
    FilterDocumentsAsyncTest,
    WriteDocumentsAsyncTest,
)

from lexichord.haystack import LexichordDocumentStore, LexichordRetriever

QUESTION = "How long do the confidentiality obligations survive under the clinical study agreement?"


class Standard:
    """What the standard tests leave to a store: its order, and that embeddings are its own."""

    @pytest.fixture
    def document_store(self, embedding: SyncLexichord) -> Iterator[LexichordDocumentStore]:
        store = LexichordDocumentStore(embedding, dataset="standard")
        yield store
        store.delete_documents([document.id for document in store.filter_documents()])

    @staticmethod
    def assert_documents_are_equal(received: list[Document], expected: list[Document]) -> None:
        plain = [replace(document, embedding=None) for document in expected]
        assert sorted(received, key=lambda one: one.id) == sorted(plain, key=lambda one: one.id)


@pytest.mark.client("Haystack", "store", "delete")
class TestStore(Standard, DocumentStoreBaseTests):
    def test_write_documents(self, document_store: DocumentStore) -> None:
        document = Document(content="test doc", meta={"a": [1, {"b": None}]})
        assert document_store.write_documents([document]) == 1
        assert document_store.filter_documents() == [document]
        with pytest.raises(DuplicateDocumentError):
            document_store.write_documents([document])


class TestStoreAsync(
    Standard,
    CountDocumentsAsyncTest,
    DeleteDocumentsAsyncTest,
    FilterDocumentsAsyncTest,
    WriteDocumentsAsyncTest,
):
    async def test_write_documents_async(self, document_store: LexichordDocumentStore) -> None:
        document = Document(content="test doc")
        assert await document_store.write_documents_async([document]) == 1
        with pytest.raises(DuplicateDocumentError):
            await document_store.write_documents_async([document])


@pytest.fixture
def store(embedding: SyncLexichord) -> Iterator[LexichordDocumentStore]:
    store = LexichordDocumentStore(embedding, dataset="animals")
    documents = [
        Document(id="a", content="The zebra is striped.", meta={"year": 2019}),
        Document(id="b", content="A zebra eats grass.", meta={"year": 2024}),
        Document(id="c", content="Nobody saw the zebra."),
    ]
    pipeline = Pipeline()
    pipeline.add_component("writer", DocumentWriter(store, policy=DuplicatePolicy.OVERWRITE))
    written = pipeline.run({"writer": {"documents": documents}})["writer"]
    assert written == {"documents_written": 3}
    yield store
    store.delete_documents(["a", "b", "c"])


@pytest.mark.client("Haystack", "filters")
@pytest.mark.parametrize(
    ("filter", "ids"),
    [
        ({"field": "meta.year", "operator": ">", "value": 2019}, "b"),
        ({"field": "id", "operator": "in", "value": ["a", "z"]}, "a"),
        (
            {
                "operator": "NOT",
                "conditions": [{"field": "meta.year", "operator": ">", "value": 2019}],
            },
            "ac",
        ),
        (
            {
                "operator": "NOT",
                "conditions": [{"field": "year", "operator": "==", "value": None}],
            },
            "ab",
        ),
    ],
)
def test_filters(
    store: LexichordDocumentStore, embedding: SyncLexichord, filter: dict[str, Any], ids: str
) -> None:
    assert [document.id for document in store.filter_documents(filter)] == [*ids]
    retriever = LexichordRetriever(embedding, datasets=["animals"])
    found = retriever.run("zebra", filters=filter)["documents"]
    assert sorted(document.meta["uri"] for document in found) == [*ids]


def test_wrong_filters_and_documents_are_refused(store: LexichordDocumentStore) -> None:
    for wrong in (
        {"field": "meta.colour", "operator": "==", "value": "red"},
        {"field": "meta.year", "operator": "like", "value": 2},
    ):
        with pytest.raises(FilterError):
            store.filter_documents(wrong)
    with pytest.raises(ValueError, match="needs a text"):
        store.write_documents([Document(content=None, meta={"a": 1})])


@pytest.mark.client("Haystack", "search", "k")
def test_the_retriever_takes_k_filters_and_options(samples: SyncLexichord) -> None:
    retriever = LexichordRetriever(samples, top_k=3)
    documents = retriever.run(QUESTION)["documents"]
    assert len(documents) == 3
    assert "ten (10) years" in str(documents[0].content)
    scores = [document.score or 0.0 for document in documents]
    assert scores == sorted(scores, reverse=True)
    assert 0.5 < scores[0] <= 1
    assert len(retriever.run(QUESTION, top_k=1)["documents"]) == 1
    title = {"field": "title", "operator": "==", "value": "Data Retention Policy"}
    narrowed = LexichordRetriever(samples, filters=title).run(QUESTION)["documents"]
    assert {document.meta["title"] for document in narrowed} == {"Data Retention Policy"}
    with pytest.raises(ConfigError):
        retriever.run(QUESTION, top_k=0)


def test_a_pipeline_is_written_down_and_read_again(
    samples: SyncLexichord, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipeline = Pipeline()
    pipeline.add_component("find", LexichordRetriever(samples, top_k=2, mode="keyword"))
    here = pipeline.run({"find": {"query": QUESTION}})
    monkeypatch.setenv("LEXICHORD_DSN", samples.core.database.dsn)
    again = Pipeline.loads(pipeline.dumps(), allowed_modules=["lexichord.haystack"])
    assert again.run({"find": {"query": QUESTION}}) == here
    read = again.get_component("find")
    assert isinstance(read, LexichordRetriever)
    assert isinstance(read.lexichord, SyncLexichord)
    read.lexichord.close()
    assert LexichordDocumentStore.from_dict(
        LexichordDocumentStore(dataset="x").to_dict()
    ).dataset == ("x")


@pytest.mark.client("Haystack", "async")
async def test_an_asynchronous_pipeline(embedding: SyncLexichord) -> None:
    async with Lexichord(embedding.core.settings) as core:
        store = LexichordDocumentStore(core, dataset="own")
        await store.write_documents_async([Document(content="The zebra is striped.")])
        pipeline = Pipeline()
        pipeline.add_component("find", LexichordRetriever(core, datasets=["own"]))
        reply = await pipeline.run_async({"find": {"query": "zebra"}})
        assert reply["find"]["documents"][0].content == "The zebra is striped."
        with pytest.raises(ConfigError, match="asynchronous"):
            store.count_documents()
