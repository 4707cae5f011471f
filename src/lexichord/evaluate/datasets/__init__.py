"""Evaluation sets: the format is recognised by what is there."""

from pathlib import Path

from lexichord.db.schema import folder
from lexichord.errors import ConfigError
from lexichord.evaluate.datasets import native
from lexichord.evaluate.datasets.native import CASES_FORMAT
from lexichord.evaluate.datasets.public import (
    BEIR_FORMAT,
    CODEBASE_FORMAT,
    CONTRACTNLI_FORMAT,
    LEGALBENCH_FORMAT,
    TREC_FORMAT,
)
from lexichord.types.evaluation import EvalSet

SAMPLE_SET = "sample"  # the one set that comes with the program

SET_FORMATS = (
    CODEBASE_FORMAT,
    CASES_FORMAT,
    BEIR_FORMAT,
    TREC_FORMAT,
    LEGALBENCH_FORMAT,
    CONTRACTNLI_FORMAT,
    native.NATIVE_FORMAT,
)


def load_set(path_or_name: str | Path) -> EvalSet:
    """Read a set: the sample by its name, else a file or folder.

    Its documents are read from their files on each iteration, one by one. Raises ConfigError, in
    one line that names the file and line at fault.
    """
    if path_or_name == SAMPLE_SET:
        return native.load(folder("samples") / native.QUESTIONS_FILE, SAMPLE_SET)
    path = Path(path_or_name)
    if not path.exists():
        raise ConfigError(
            f"there is no file or folder {path}, and '{SAMPLE_SET}' is the only set with a name"
        )
    for set_format in SET_FORMATS:
        if set_format.fits(path):
            return set_format.load(path)
    layouts = "; ".join(set_format.layout for set_format in SET_FORMATS)
    raise ConfigError(f"{path} is not a set of questions: what can be read is {layouts}")
