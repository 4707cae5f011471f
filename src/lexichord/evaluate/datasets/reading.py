"""Reading that the formats share: lines with their places, JSON that is checked, folders."""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, Field, TypeAdapter, ValidationError

from lexichord.errors import ConfigError, IngestError
from lexichord.ingest.chunked import explain
from lexichord.ingest.load import load
from lexichord.ingest.load.text import UNSTORABLE
from lexichord.ingest.sources import find_files, storable
from lexichord.types import Json
from lexichord.types.evaluation import EvalQuery


def keep_places(text: str) -> str:
    """Put U+FFFD for what Postgres cannot store, so that spans stay where they are."""
    return UNSTORABLE.sub("\ufffd", text)


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("is empty")
    return text


Text = Annotated[str, AfterValidator(keep_places)]
Named = Annotated[Text, AfterValidator(_not_blank)]


@dataclass(frozen=True, slots=True)
class Documents:
    """Documents that are read anew each time they are gone through: a scratch database each."""

    read: Callable[[], Iterator[Json]]

    def __iter__(self) -> Iterator[Json]:
        return self.read()


def lines(file: Path) -> Iterator[tuple[str, str]]:
    """Give each line that is not blank with its place, "file:number". Raises ConfigError."""
    try:
        with file.open(encoding="utf-8-sig") as stream:
            for number, line in enumerate(stream, 1):
                if line.strip():
                    yield f"{file}:{number}", line.rstrip("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise _unreadable(file, error) from None


def json_lines[T: BaseModel](file: Path, shape: type[T]) -> Iterator[tuple[str, T]]:
    """Give what each line of JSON holds with its place. Raises ConfigError."""
    checker = TypeAdapter(shape)
    for place, line in lines(file):
        yield place, _checked(checker, line, place)


def json_file[T](file: Path, shape: type[T]) -> T:
    """Read a file of JSON. Raises ConfigError."""
    return _checked(TypeAdapter(shape), text_of(file).removeprefix("\ufeff"), str(file))


def text_of(file: Path) -> str:
    """Read a file's text as `open` gives it, line ends and all. Raises ConfigError."""
    try:
        return keep_places(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise _unreadable(file, error) from None


def files_below(root: Path, folders: Iterable[Path]) -> dict[str, Path]:
    """Map uris, which are paths from `root`, to the files of known kinds in its folders."""
    start, found = root.resolve(), {}
    for file in find_files(folders):
        if not file.is_relative_to(start):
            raise ConfigError(f"{file} is linked to from {root} but does not lie there: copy it")
        found[storable(file.relative_to(start).as_posix())] = file
    return found


def read_files(files: Iterable[tuple[str, Path]]) -> Documents:
    """Give files, each with its uri, as documents that wait to be cut."""
    known = tuple(files)
    return Documents(lambda: (read_file(uri, file) for uri, file in known))


def read_file(uri: str, file: Path) -> Json:
    """Read a file as `ingest` does. Raises ConfigError."""
    try:
        loaded = load(file)
    except IngestError as error:
        raise ConfigError(f"{file} {error}") from None
    return {
        "uri": uri,
        "text": loaded.text,
        "title": loaded.title,
        "media_type": loaded.media_type,
        "metadata": loaded.metadata,
    }


def _checked[T](checker: TypeAdapter[T], text: str, place: str) -> T:
    try:
        return checker.validate_json(text)
    except ValidationError as error:
        raise ConfigError(f"{place}: {explain(error)}") from None


def _unreadable(file: Path, error: OSError | UnicodeDecodeError) -> ConfigError:
    reason = "is no UTF-8" if isinstance(error, UnicodeDecodeError) else error.strerror
    return ConfigError(f"{file} cannot be read: {reason}")


log = logging.getLogger("lexichord")


class GivenQuery(BaseModel):
    """A line of queries.jsonl."""

    id: Named = Field(alias="_id")
    text: Named


type Judgments = dict[str, dict[str, int]]  # by query and by document; above 0 is relevant


def collect(rows: Iterable[tuple[str, str, str, str]]) -> Judgments:
    """Gather rows of (place, query, document, grade). Raises ConfigError."""
    judgments: Judgments = {}
    for place, query, document, written in rows:
        try:
            grade = int(written)
        except ValueError:
            raise ConfigError(f"{place}: the grade '{written}' is no whole number") from None
        if judgments.setdefault(query, {}).setdefault(document, grade) != grade:
            raise ConfigError(f"{place}: {document} had another grade for query {query} before")
    return judgments


def queries(
    texts: Mapping[str, str], judgments: Judgments, documents: Iterable[Json], place: Path
) -> tuple[EvalQuery, ...]:
    """Give the queries that have judgments. Raises ConfigError if there is nothing to measure.

    Relevant documents that the corpus lacks stay judged, as trec_eval has it: they lower recall,
    so they are told of.
    """
    judged = {query: judgments[query] for query in texts if query in judgments}
    relevant = {uri for grades in judged.values() for uri, grade in grades.items() if grade > 0}
    if not relevant:
        raise ConfigError(f"{place} holds no relevant document for any of the queries")
    missing = relevant.difference(document["uri"] for document in documents)
    if missing == relevant:
        raise ConfigError(f"{place} names no document of the corpus, for example {min(missing)}")
    _tell(f"{place}: relevant documents that the corpus lacks", missing)
    _tell(f"{place}: judged queries without a text", judgments.keys() - texts.keys())
    return tuple(EvalQuery(id=id, text=texts[id], grades=grades) for id, grades in judged.items())


def query_texts(file: Path) -> dict[str, str]:
    """Read queries by id: lines of JSON as BEIR's, or "id<tab>text". Raises ConfigError."""
    texts: dict[str, str] = {}
    for place, query, text in _json_rows(file) if file.suffix == ".jsonl" else _tab_rows(file):
        if query in texts:
            raise ConfigError(f"{place}: the query {query} was there before")
        texts[query] = text
    return texts


def _json_rows(file: Path) -> Iterator[tuple[str, str, str]]:
    for place, query in json_lines(file, GivenQuery):
        yield place, query.id, query.text


def _tab_rows(file: Path) -> Iterator[tuple[str, str, str]]:
    for place, line in lines(file):
        query, tab, text = line.partition("\t")
        if not (query and tab and text.strip()):
            raise ConfigError(f"{place}: has to be an id, a tab and the query's text")
        yield place, query, text


def _tell(what: str, which: Iterable[str]) -> None:
    if names := sorted(which):
        log.warning("%s: %d, for example %s", what, len(names), names[0])
