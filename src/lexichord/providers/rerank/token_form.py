"""ColBERT's form: what a folder says of how its model reads questions and passages.

ColBERT writes it to artifact.metadata, PyLate to config_sentence_transformers.json, and its export
to ONNX to onnx_config.json; the names differ, what they say does not.
"""

from collections.abc import Mapping
from pathlib import Path
from string import punctuation
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, Field, ValidationError

from lexichord.errors import plain_reason
from lexichord.providers.onnx_folder import read_settings

PYLATE_NAMES = {
    name: name
    for name in (
        *("query_prefix", "document_prefix", "query_length", "document_length"),
        *("do_query_expansion", "attend_to_expansion_tokens", "skiplist_words", "embedding_dim"),
    )
}
COLBERT_NAMES = {
    "query_prefix": "query_token_id",
    "document_prefix": "doc_token_id",
    "query_length": "query_maxlen",
    "document_length": "doc_maxlen",
    "attend_to_expansion_tokens": "attend_to_mask_tokens",
    "skiplist_words": "mask_punctuation",
    "embedding_dim": "dim",
}
# What the export says comes first: it was written with the graph.
FORM_FILES: dict[str, Mapping[str, str]] = {
    "onnx_config.json": PYLATE_NAMES,
    "config_sentence_transformers.json": PYLATE_NAMES,
    "artifact.metadata": COLBERT_NAMES,
}
FEWEST_TOKENS = 8  # of a length: what encloses a text, its marker and a few words


def _skipped(value: object) -> object:
    """Read ColBERT's yes or no about punctuation as the words that PyLate lists."""
    if isinstance(value, bool):
        return tuple(punctuation) if value else ()
    return value


class TokenForm(BaseModel, frozen=True):
    """How a model of token vectors reads texts, in PyLate's names.

    A prefix is a token of its own after the first one; empty: there is none. Lengths are in tokens,
    all counted. With `do_query_expansion` a question is filled with mask tokens, whose vectors
    count; the others see them with `attend_to_expansion_tokens`. Passages' `skiplist_words` do not
    count. `embedding_dim` is what a vector has, where the folder says it.
    """

    query_prefix: str
    document_prefix: str
    query_length: int = Field(ge=FEWEST_TOKENS)
    document_length: int = Field(ge=FEWEST_TOKENS)
    do_query_expansion: bool = True
    attend_to_expansion_tokens: bool = False
    skiplist_words: Annotated[tuple[str, ...], BeforeValidator(_skipped)] = tuple(punctuation)
    embedding_dim: int | None = None


def find_token_form(folder: Path) -> TokenForm | None:
    """Return what a folder says of ColBERT's form; None where it says nothing.

    Raises ValueError, with the file's name, if it says only a part, or what cannot be, and OSError.
    """
    for file, names in FORM_FILES.items():
        said = read_settings(folder / file)
        if any(names[needed] in said for needed in TokenForm.model_fields if _is_needed(needed)):
            form = _read(file, {name: said[own] for name, own in names.items() if own in said})
            return form.model_copy(
                update={"embedding_dim": form.embedding_dim or _projection(folder)}
            )
    return None


def _is_needed(name: str) -> bool:
    return TokenForm.model_fields[name].is_required()


def _read(file: str, said: Mapping[str, object]) -> TokenForm:
    try:
        return TokenForm.model_validate(said)
    except ValidationError as error:
        first = error.errors()[0]
        name = FORM_FILES[file][str(first["loc"][0])]
        raise ValueError(f"{file}: {name}: {plain_reason(first['msg'])}") from error


def _projection(folder: Path) -> int | None:
    """Return the numbers of a vector after the last of PyLate's projections, if there is one."""
    files = sorted(folder.glob("*_Dense/config.json"))
    return read_settings(files[-1]).get("out_features") if files else None
