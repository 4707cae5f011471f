"""Reading that the formats share: lines with their places, JSON that is checked, folders."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, TypeAdapter, ValidationError

from lexichord.errors import ConfigError, IngestError
from lexichord.ingest.chunked import explain
from lexichord.ingest.find import find_files, storable
from lexichord.ingest.load import load
from lexichord.ingest.load.storable import UNSTORABLE
from lexichord.types import Json


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
