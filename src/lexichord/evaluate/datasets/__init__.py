"""Sets of questions and their answers: one module a format; what is there tells which one it is."""

from pathlib import Path
from typing import Protocol

from lexichord.db.schema import folder
from lexichord.errors import ConfigError
from lexichord.evaluate.datasets import beir, codebase, contractnli, legalbench, native, trec
from lexichord.types.evaluation import EvalSet

SAMPLE = "sample"  # the one set that comes with the program


class Format(Protocol):
    """What each module of this package has. `LAYOUT` says in words what `fits` looks for."""

    LAYOUT: str

    def fits(self, path: Path) -> bool:
        """Tell whether a file or folder is of this format."""

    def load(self, path: Path) -> EvalSet:
        """Read it. Raises ConfigError."""


FORMATS: tuple[Format, ...] = (codebase, beir, trec, legalbench, contractnli, native)


def load_set(path_or_name: str | Path) -> EvalSet:
    """Read a set: one of the names that the program knows, else a file or folder.

    Its documents are read from their files each time they are gone through, one by one. Raises
    ConfigError, in one line that names the file and line at fault.
    """
    if path_or_name == SAMPLE:
        return native.load(folder("samples") / native.FILE, SAMPLE)
    path = Path(path_or_name)
    if not path.exists():
        raise ConfigError(
            f"there is no file or folder {path}, and '{SAMPLE}' is the only set with a name"
        )
    for known in FORMATS:
        if known.fits(path):
            return known.load(path)
    layouts = "; ".join(known.LAYOUT for known in FORMATS)
    raise ConfigError(f"{path} is no set of questions: what can be read is {layouts}")
