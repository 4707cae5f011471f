"""Entity cases, as a post on context-aware retrieval over ContractNLI lists them for its answers.

A JSON list; each case has a `query`, its answer's `clause` verbatim, the `source_file` that holds
it, `entities` by type and `critical_types` among them. A file is named by its uri or the end of it.
"""

import re
from collections.abc import Iterable
from pathlib import Path

from pydantic import Field, model_validator

from lexichord.errors import ConfigError
from lexichord.evaluate.datasets.native import (
    Entities,
    NativeCorpus,
    StrictRecord,
    check_critical_types,
    cut_quote,
    read_corpus,
)
from lexichord.evaluate.datasets.reading import NonBlankText, SetFormat, read_json
from lexichord.evaluate.extract import EntityType
from lexichord.types.evaluation import EvalQuery, EvalSet, EvidenceSpan

CASES_FILE = "cases.json"


class EntityCase(StrictRecord):
    """A question, the clause that answers it, and what an answer should name."""

    id: NonBlankText | None = None
    query: NonBlankText
    clause: NonBlankText | None = None
    source_file: NonBlankText | None = None
    entities: Entities = Field(min_length=1)
    critical_types: list[EntityType] = Field(default=[])

    @model_validator(mode="after")
    def _agrees(self) -> "EntityCase":
        if self.clause is not None and self.source_file is None:
            raise ValueError("a clause needs the source_file that holds it")
        check_critical_types(self.critical_types, self.entities)
        return self


def fits(path: Path) -> bool:
    """Return whether this is a file of cases, or a folder with one."""
    if path.is_dir():
        return (path / CASES_FILE).is_file()
    return path.suffix == ".json" and path.stem.endswith("cases")


def load(path: Path) -> EvalSet:
    """Read cases, whose documents lie beside them as those of our own format do.

    A clause is found in its document whatever its line ends and blanks. Raises ConfigError.
    """
    file = path / CASES_FILE if path.is_dir() else path
    cases = read_json(file, list[EntityCase])
    if not cases:
        raise ConfigError(f"{file} holds no case")
    names = {case.source_file for case in cases if case.source_file is not None}
    corpus = read_corpus(file.parent, lambda uri: any(_is_named(uri, name) for name in names))
    queries = tuple(
        _query(case, case.id or f"test_{number:03}", corpus, file)
        for number, case in enumerate(cases, 1)
    )
    _check_ids(queries, file)
    return EvalSet(file.resolve().parent.name, corpus.documents, queries)


def _is_named(uri: str, name: str) -> bool:
    return uri == name or uri.endswith(f"/{name}")


def _check_ids(queries: Iterable[EvalQuery], file: Path) -> None:
    seen = set[str]()
    for query in queries:
        if query.id in seen:
            raise ConfigError(f"{file}: the id {query.id} is there twice")
        seen.add(query.id)


def _query(case: EntityCase, name: str, corpus: NativeCorpus, file: Path) -> EvalQuery:
    place = f"{file}: {name}"
    uri = None if case.source_file is None else _uri(case.source_file, corpus, place)
    spans = () if uri is None or case.clause is None else (_span(uri, case.clause, corpus, place),)
    return EvalQuery(
        id=name,
        text=case.query,
        files=() if uri is None else (uri,),
        spans=spans,
        entities={str(kind): variants for kind, variants in case.entities.items()},
        critical=tuple(case.critical_types),
    )


def _uri(name: str, corpus: NativeCorpus, place: str) -> str:
    uris = [name] if name in corpus.texts else [u for u in corpus.texts if _is_named(u, name)]
    if len(uris) != 1:
        found = f"several are: {', '.join(sorted(uris)[:3])}" if uris else "none is"
        raise ConfigError(f"{place}: one document should be {name}, {found}")
    return uris[0]


def _span(uri: str, clause: str, corpus: NativeCorpus, place: str) -> EvidenceSpan:
    words = r"\s+".join(map(re.escape, clause.split()))
    match = re.search(words, corpus.texts[uri])
    if match is None:
        raise ConfigError(f"{place}: {uri} does not hold the clause {cut_quote(clause)!r}")
    return EvidenceSpan(uri, match.start(), match.end())


CASES_FORMAT = SetFormat(
    f"entity cases (a folder with {CASES_FILE}, or a file ...cases.json, beside folders of files "
    "or documents.jsonl)",
    fits,
    load,
)
