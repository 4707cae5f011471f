"""What the set formats share: lines with their places, validated JSON, folders, qrels."""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, Field, TypeAdapter, ValidationError

from lexichord.errors import ConfigError, IngestError
from lexichord.ingest.load import load
from lexichord.ingest.load.marks import load_options
from lexichord.ingest.load.text import UNSTORABLE_CHARACTERS
from lexichord.ingest.sources import LEADS_OUT, FileSearch, storable_name
from lexichord.settings import load_settings
from lexichord.types import Json
from lexichord.types.base import explain_invalid
from lexichord.types.evaluation import EvalQuery, EvalSet


def replace_unstorable(text: str) -> str:
    """Replace what Postgres cannot store by U+FFFD, so that spans stay where they are."""
    return UNSTORABLE_CHARACTERS.sub("\ufffd", text)


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("is empty")
    return text


StorableText = Annotated[str, AfterValidator(replace_unstorable)]
NonBlankText = Annotated[StorableText, AfterValidator(_not_blank)]


@dataclass(frozen=True, slots=True)
class SetFormat:
    """A format of sets: `layout` says in words what `fits` looks for, `load` raises ConfigError."""

    layout: str
    fits: Callable[[Path], bool]
    load: Callable[[Path], EvalSet]


@dataclass(frozen=True, slots=True)
class LazyDocuments:
    """Documents that are read again on each iteration: once for each scratch database."""

    read: Callable[[], Iterator[Json]]

    def __iter__(self) -> Iterator[Json]:
        return self.read()


def read_lines(file: Path) -> Iterator[tuple[str, str]]:
    """Yield each line that is not blank after its place, "file:number". Raises ConfigError."""
    try:
        with file.open(encoding="utf-8-sig") as stream:
            for number, line in enumerate(stream, 1):
                if line.strip():
                    yield f"{file}:{number}", line.rstrip("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise _unreadable(file, error) from None


def read_json_lines[T: BaseModel](file: Path, shape: type[T]) -> Iterator[tuple[str, T]]:
    """Yield the record of each line of JSON after its place. Raises ConfigError."""
    adapter = TypeAdapter(shape)
    for place, line in read_lines(file):
        yield place, _validate(adapter, line, place)


def read_json[T](file: Path, shape: type[T]) -> T:
    """Read a JSON file. Raises ConfigError."""
    return _validate(TypeAdapter(shape), read_text(file).removeprefix("\ufeff"), str(file))


def read_text(file: Path) -> str:
    """Read a file's text as `open` gives it, line ends and all. Raises ConfigError."""
    try:
        return replace_unstorable(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise _unreadable(file, error) from None


def map_files(root: Path, folders: Iterable[Path]) -> dict[str, Path]:
    """Map uris, which are paths from `root`, to the files of known kinds in its folders."""
    start, files, search = root.resolve(), {}, FileSearch()
    for file in search.find(folders):
        if not file.is_relative_to(start):
            raise ConfigError(f"{file} is linked to from {root} but does not lie there: copy it")
        files[storable_name(file.relative_to(start).as_posix())] = file
    for name, why in search.left_out.items():
        if why == LEADS_OUT:
            raise ConfigError(f"{name} is {why}: copy what it leads to")
    return files


def read_documents(files: Iterable[tuple[str, Path]]) -> LazyDocuments:
    """Return files, each with its uri, as documents that are not yet chunked."""
    pairs = tuple(files)
    return LazyDocuments(lambda: (read_document(uri, file) for uri, file in pairs))


def read_document(uri: str, file: Path) -> Json:
    """Read a file as `ingest` does, by the settings. Raises ConfigError."""
    try:
        loaded = load(file, load_options(load_settings()))
    except IngestError as error:
        raise ConfigError(f"{file} {error}") from None
    return {
        "uri": uri,
        "text": loaded.text,
        "title": loaded.title,
        "media_type": loaded.media_type,
        "metadata": loaded.metadata,
    }


def _validate[T](adapter: TypeAdapter[T], text: str, place: str) -> T:
    try:
        return adapter.validate_json(text)
    except ValidationError as error:
        raise ConfigError(f"{place}: {explain_invalid(error)}") from None


def _unreadable(file: Path, error: OSError | UnicodeDecodeError) -> ConfigError:
    reason = "it is not valid UTF-8" if isinstance(error, UnicodeDecodeError) else error.strerror
    return ConfigError(f"{file} cannot be read: {reason}")


log = logging.getLogger("lexichord")


class QueryLine(BaseModel):
    """A line of queries.jsonl."""

    id: NonBlankText = Field(alias="_id")
    text: NonBlankText


type Qrels = dict[str, dict[str, int]]  # by query and by document; above 0 is relevant


def collect_qrels(rows: Iterable[tuple[str, str, str, str]]) -> Qrels:
    """Collect rows of (place, query, document, grade). Raises ConfigError."""
    qrels: Qrels = {}
    for place, query, document, grade_text in rows:
        try:
            grade = int(grade_text)
        except ValueError:
            raise ConfigError(f"{place}: the grade '{grade_text}' is not a whole number") from None
        if qrels.setdefault(query, {}).setdefault(document, grade) != grade:
            raise ConfigError(f"{place}: {document} had another grade for query {query} before")
    return qrels


def make_queries(
    texts: Mapping[str, str], qrels: Qrels, documents: Iterable[Json], place: Path
) -> tuple[EvalQuery, ...]:
    """Return the queries that have judgments. Raises ConfigError if there is nothing to measure.

    Relevant documents that the corpus lacks stay judged, as trec_eval has it: they lower recall,
    so a warning names one.
    """
    judged = {query: qrels[query] for query in texts if query in qrels}
    relevant = {uri for grades in judged.values() for uri, grade in grades.items() if grade > 0}
    if not relevant:
        raise ConfigError(f"{place} holds no relevant document for any of the queries")
    missing = relevant.difference(document["uri"] for document in documents)
    if missing == relevant:
        raise ConfigError(f"{place} names no document of the corpus, for example {min(missing)}")
    _warn_of(f"{place}: relevant documents that the corpus lacks", missing)
    _warn_of(f"{place}: judged queries without a text", qrels.keys() - texts.keys())
    return tuple(EvalQuery(id=id, text=texts[id], grades=grades) for id, grades in judged.items())


def read_query_texts(file: Path) -> dict[str, str]:
    """Read queries by id: lines of JSON as BEIR's, or "id<tab>text". Raises ConfigError."""
    texts: dict[str, str] = {}
    for place, query, text in _json_rows(file) if file.suffix == ".jsonl" else _tab_rows(file):
        if query in texts:
            raise ConfigError(f"{place}: the query {query} was there before")
        texts[query] = text
    return texts


def _json_rows(file: Path) -> Iterator[tuple[str, str, str]]:
    for place, query in read_json_lines(file, QueryLine):
        yield place, query.id, query.text


def _tab_rows(file: Path) -> Iterator[tuple[str, str, str]]:
    for place, line in read_lines(file):
        query, tab, text = line.partition("\t")
        if not (query and tab and text.strip()):
            raise ConfigError(f"{place}: has to be an id, a tab and the query's text")
        yield place, query, text


def _warn_of(problem: str, which: Iterable[str]) -> None:
    if names := sorted(which):
        log.warning("%s: %d, for example %s", problem, len(names), names[0])
