"""ContractNLI (Koreeda & Manning, 2021, arXiv 2110.01799): the evidence of a hypothesis."""

from pathlib import Path

from pydantic import BaseModel

from lexichord.errors import ConfigError
from lexichord.evaluate.datasets.reading import (
    NonBlankText,
    SetFormat,
    StorableText,
    read_json,
)
from lexichord.ingest.load import title
from lexichord.types import Json
from lexichord.types.evaluation import EvalQuery, EvalSet, EvidenceSpan


class ContractNliLabel(BaseModel):
    """A hypothesis, which is asked of every document."""

    hypothesis: NonBlankText


class ContractNliAnnotation(BaseModel):
    """The evidence: numbers of the document's spans, none where it says nothing."""

    spans: list[int]


class ContractNliAnnotationSet(BaseModel):
    """One annotator's view of a document, by label."""

    annotations: dict[str, ContractNliAnnotation]


class ContractNliDocument(BaseModel):
    """A contract; `spans` are (start, end) in characters of its text."""

    id: int
    file_name: NonBlankText
    text: StorableText
    spans: list[tuple[int, int]]
    annotation_sets: list[ContractNliAnnotationSet]


class ContractNliFile(BaseModel):
    """One part of the set: train, dev or test."""

    documents: list[ContractNliDocument]
    labels: dict[str, ContractNliLabel]


def fits(path: Path) -> bool:
    """Return whether this is a folder with the development part, or a file of any part."""
    if path.is_dir():
        return (path / "dev.json").is_file()
    return path.suffix == ".json" and not (path.resolve().parent.parent / "corpus").is_dir()


def load(path: Path) -> EvalSet:
    """Read a part. A question is asked `within` one document: which one is no question.

    Raises ConfigError.
    """
    file = path / "dev.json" if path.is_dir() else path
    part = read_json(file, ContractNliFile)
    queries = tuple(
        _query(document, key, label.hypothesis, file)
        for document in part.documents
        for key, label in part.labels.items()
    )
    documents = tuple(map(_document, part.documents))
    return EvalSet(f"contractnli-{file.stem}", documents, queries)


def _query(document: ContractNliDocument, key: str, hypothesis: str, file: Path) -> EvalQuery:
    place = f"{file}: document {document.id}, {key}"
    try:
        # the set has one annotator a document
        evidence = document.annotation_sets[0].annotations[key].spans
        places = [document.spans[number] for number in evidence]
    except (IndexError, KeyError):
        raise ConfigError(f"{place}: its annotation or a span of it is missing") from None
    if not all(0 <= start < end <= len(document.text) for start, end in places):
        raise ConfigError(f"{place}: a span does not lie in the text")
    uri = _uri(document)
    spans = (EvidenceSpan(uri, start, end) for start, end in places)
    return EvalQuery(
        id=f"{document.id}/{key}",
        text=hypothesis,
        within=(uri,),
        # one span of the set is a single blank, which no chunk holds
        spans=tuple(span for span in spans if document.text[span.start : span.end].strip()),
        answerable=bool(places),
    )


def _document(document: ContractNliDocument) -> Json:
    heading = title(document.file_name, document.text, "text/plain")
    return {"uri": _uri(document), "title": heading, "text": document.text}


def _uri(document: ContractNliDocument) -> str:
    return f"{document.id}/{document.file_name}"


CONTRACTNLI_FORMAT = SetFormat(
    "ContractNLI (a folder with dev.json, or a .json file with documents and labels)", fits, load
)
