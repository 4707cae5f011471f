"""Parameters that several tools have, and those that are taken but have no effect."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import BeforeValidator, Field

from lexichord.guard.limits import LONGEST


def _text(value: object) -> object:
    """Read what agents send for a text that they leave out, or for an id."""
    return "" if value is None else str(value) if isinstance(value, int) else value


Text = Annotated[str, BeforeValidator(_text)]
Query = Annotated[str, Field(min_length=1, max_length=LONGEST, description="In plain words.")]
Custom = Annotated[
    str | None,
    Field(max_length=LONGEST, description="What else to heed; its words are searched as well."),
]
DatasetId = Annotated[Text, Field(description="A dataset's name; all in reach by default.")]
ResourceId = Annotated[Text, Field(description="The same as dataset_id, by its newer name.")]
DocumentName = Annotated[
    Text,
    Field(
        description="Only this document: its name as in other results, its id or its uri; "
        "else all whose file names hold this."
    ),
]
Folder = Annotated[
    Text,
    Field(
        description="Only this folder: what uris begin with, or whole folder names inside them, "
        "such as contracts/2024."
    ),
]
Share = Annotated[float, Field(ge=0, le=1)]
Backend = Annotated[str | None, Field(description="Has no effect: there is one backend, Postgres.")]

BACKEND = {"backend_type": "documents are in this server's own database"}


def without_effect(reasons: Mapping[str, str], **given: object) -> dict[str, str]:
    """Say of what was given, and has no effect, why."""
    return {name: reasons[name] for name, value in given.items() if value not in (None, False)}
