"""A retriever and a document store for Haystack."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Any, Self

from haystack import Document, component, default_from_dict, default_to_dict
from haystack.document_stores.errors import DuplicateDocumentError
from haystack.document_stores.types import DuplicatePolicy
from haystack.errors import FilterError

from lexichord.client.lexichord import Lexichord
from lexichord.client.passages import (
    Client,
    ScoredPassage,
    StoredText,
    TextDataset,
    arun,
    query_passages,
    run,
)
from lexichord.client.sync import SyncLexichord
from lexichord.errors import ConfigError
from lexichord.types import Json


@component
class LexichordRetriever:
    """The passages that `Lexichord.query` finds, best first, each a Haystack document.

    The options are those of `query`, such as datasets, hint, mode; `filters` are Haystack's. Its
    `score` is the probability, 0 to 1, that a passage holds an answer; `meta` is the document's,
    with the passage's place and the raw `scores` and `ranks`. Without a `lexichord`, as in a
    pipeline that is loaded from a file, it opens one by the settings.
    """

    def __init__(
        self,
        lexichord: Client | None = None,
        top_k: int = 10,
        filters: Json | None = None,
        **options: Any,
    ) -> None:
        self.lexichord, self.top_k, self.filters, self.options = lexichord, top_k, filters, options

    @component.output_types(documents=list[Document])
    def run(
        self, query: str, filters: Json | None = None, top_k: int | None = None
    ) -> dict[str, list[Document]]:
        """Return the passages for a query; arguments go before those of the class."""
        self.lexichord = opened(self.lexichord)
        return run(self.lexichord, lambda core: self._retrieve(core, query, filters, top_k))

    @component.output_types(documents=list[Document])
    async def run_async(
        self, query: str, filters: Json | None = None, top_k: int | None = None
    ) -> dict[str, list[Document]]:
        """Return the passages for a query; arguments go before those of the class."""
        self.lexichord = opened(self.lexichord)
        return await arun(self.lexichord, lambda core: self._retrieve(core, query, filters, top_k))

    def to_dict(self) -> dict[str, Any]:
        """Return what `from_dict` takes; the application stays behind."""
        return default_to_dict(self, top_k=self.top_k, filters=self.filters, **self.options)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Return a retriever that opens an application by the settings."""
        return default_from_dict(cls, data)

    async def _retrieve(
        self, core: Lexichord, query: str, filters: Json | None, top_k: int | None
    ) -> dict[str, list[Document]]:
        chosen = {**self.options, "k": self.top_k if top_k is None else top_k}
        if (wanted := self.filters if filters is None else filters) is not None:
            chosen["filter"] = search_filter(wanted)
        return {"documents": [_passage(each) for each in await query_passages(core, query, chosen)]}


def _passage(passage: ScoredPassage) -> Document:
    hit, meta = passage.hit, dict(passage.describe())
    return Document(id=hit.chunk_id, content=hit.content, meta=meta, score=passage.score)


class LexichordDocumentStore:
    """Haystack's documents in a dataset of their own, each whole, under its id.

    The database embeds them in its own space: their own embeddings are not kept. What stands in it
    `LexichordRetriever(datasets=[…])` finds. Without a `lexichord`, as in a pipeline that is loaded
    from a file, it opens one by the settings.
    """

    def __init__(self, lexichord: Client | None = None, dataset: str = "haystack") -> None:
        self.lexichord, self.dataset, self._texts = lexichord, dataset, TextDataset(dataset)

    def to_dict(self) -> dict[str, Any]:
        """Return what `from_dict` takes; the application stays behind."""
        return default_to_dict(self, dataset=self.dataset)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Return a store that opens an application by the settings."""
        return default_from_dict(cls, data)

    def count_documents(self) -> int:
        """Count the documents."""
        return self._run(self._texts.count)

    async def count_documents_async(self) -> int:
        """Count the documents."""
        return await self._arun(self._texts.count)

    def filter_documents(self, filters: dict[str, Any] | None = None) -> list[Document]:
        """Return the documents that pass the filters, by default all. Raises FilterError."""
        return self._run(lambda core: self._filtered(core, filters))

    async def filter_documents_async(self, filters: dict[str, Any] | None = None) -> list[Document]:
        """Return the documents that pass the filters, by default all. Raises FilterError."""
        return await self._arun(lambda core: self._filtered(core, filters))

    def write_documents(
        self, documents: list[Document], policy: DuplicatePolicy = DuplicatePolicy.NONE
    ) -> int:
        """Store documents and return how many; by default those of a known id are refused.

        Raises DuplicateDocumentError, and ValueError for what is no document with a text.
        """
        given = _stored(documents)
        return self._run(lambda core: self._write(core, given, policy))

    async def write_documents_async(
        self, documents: list[Document], policy: DuplicatePolicy = DuplicatePolicy.NONE
    ) -> int:
        """Store documents and return how many; by default those of a known id are refused.

        Raises DuplicateDocumentError, and ValueError for what is no document with a text.
        """
        given = _stored(documents)
        return await self._arun(lambda core: self._write(core, given, policy))

    def delete_documents(self, document_ids: list[str]) -> None:
        """Delete the documents of ids; ids that are not there are no error."""
        self._run(lambda core: self._texts.delete(core, document_ids))

    async def delete_documents_async(self, document_ids: list[str]) -> None:
        """Delete the documents of ids; ids that are not there are no error."""
        await self._arun(lambda core: self._texts.delete(core, document_ids))

    def _run[R](self, work: Callable[[Lexichord], Awaitable[R]]) -> R:
        self.lexichord = opened(self.lexichord)
        return run(self.lexichord, work)

    async def _arun[R](self, work: Callable[[Lexichord], Awaitable[R]]) -> R:
        self.lexichord = opened(self.lexichord)
        return await arun(self.lexichord, work)

    async def _filtered(self, core: Lexichord, filters: Json | None) -> list[Document]:
        filter = search_filter(filters) if filters else None
        try:
            texts = await self._texts.all(core, filter)
        except ConfigError as error:
            raise FilterError(str(error)) from None
        return [Document(id=each.id, content=each.text, meta=each.metadata) for each in texts]

    async def _write(
        self, core: Lexichord, given: Sequence[StoredText], policy: DuplicatePolicy
    ) -> int:
        new = given
        if policy != DuplicatePolicy.OVERWRITE:
            known = {text.id for text in await self._texts.get(core, [each.id for each in given])}
            if known and policy != DuplicatePolicy.SKIP:
                raise DuplicateDocumentError(f"stored already: {', '.join(sorted(known))}")
            new = [each for each in given if each.id not in known]
        await self._texts.put(core, new)
        return len(new)


def opened(lexichord: Client | None) -> Client:
    """Return an application: the one that is given, else one by the settings."""
    return SyncLexichord().open() if lexichord is None else lexichord


def _stored(documents: object) -> list[StoredText]:
    if not isinstance(documents, list) or not all(isinstance(one, Document) for one in documents):
        raise ValueError("documents: give a list of Haystack's documents")
    if any(not document.content for document in documents):
        raise ValueError("documents: each needs a text in content; there is nothing else to search")
    return [StoredText(each.id, each.content, each.meta) for each in documents]


COMPARISONS = {">": "gt", ">=": "gte", "<": "lt", "<=": "lte"}
NEGATED = {"eq": "ne", "in": "nin", "empty": "not empty", "gt": "lte", "gte": "lt"}
NEGATED |= {new: old for old, new in NEGATED.items()}
MATCH_NONE: Json = {"or": []}


def search_filter(filters: Json) -> Json:
    """Return what `search` takes for filters of Haystack's. Raises FilterError."""
    if "field" in filters:
        return _comparison(filters)
    operator, conditions = filters.get("operator"), filters.get("conditions")
    if operator not in ("AND", "OR", "NOT") or not isinstance(conditions, list):
        raise FilterError(
            "filters: an operator AND, OR or NOT with conditions, or a field with one"
        )
    parts = [search_filter(condition) for condition in conditions]
    if operator == "NOT":
        return {"or": [_negation(part) for part in parts]}
    return {operator.lower(): parts}


def _comparison(filter: Json) -> Json:
    if "operator" not in filter or "value" not in filter:
        raise FilterError(f"filters: {filter['field']} needs an operator and a value")
    field, operator, value = filter["field"], filter["operator"], filter["value"]
    key = "uri" if field == "id" else field.removeprefix("meta.")
    if operator in ("==", "!="):
        names = ("empty", "not empty") if value is None else ("eq", "ne")
        condition: Json = {"key": key, "op": names[operator == "!="]}
        return condition if value is None else {**condition, "value": value}
    if operator in ("in", "not in"):
        if not isinstance(value, list):
            raise FilterError(f"filters: {operator} needs a list")
        return {"key": key, "op": "in" if operator == "in" else "nin", "value": value}
    if operator not in COMPARISONS:
        raise FilterError(f"filters: there is no operator {operator}")
    if value is None:
        return MATCH_NONE
    _check_comparable(operator, value)
    return {"key": key, "op": COMPARISONS[operator], "value": value}


def _check_comparable(operator: str, value: object) -> None:
    try:
        if isinstance(value, str):
            datetime.fromisoformat(value)
        elif not isinstance(value, int | float):
            raise ValueError
    except ValueError:
        raise FilterError(f"filters: {operator} needs a number or an ISO date") from None


def _negation(filter: Json) -> Json:
    """Return the filter that holds where this one does not; without the key no comparison does."""
    for form, other in (("and", "or"), ("or", "and")):
        if form in filter:
            return {other: [_negation(part) for part in filter[form]]}
    negated = {**filter, "op": NEGATED[filter["op"]]}
    if filter["op"] not in COMPARISONS.values():
        return negated
    return {"or": [negated, {"key": filter["key"], "op": "empty"}]}
