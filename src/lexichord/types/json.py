"""JSON values, and records as such."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime
from html import escape
from typing import Any

Json = Mapping[str, Any]


@dataclass(slots=True)
class Renderers:
    """What writes records for people; `lexichord.display` puts itself here."""

    text: Callable[[object], str] = repr
    html: Callable[[object], str] = lambda record: f"<pre>{escape(repr(record))}</pre>"


renderers = Renderers()


class Shaped:
    """A record whose JSON shape is its fields; `lexichord.display` writes it as text."""

    __slots__ = ()

    def __str__(self) -> str:
        return renderers.text(self)

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON shape: a member for each field; times are in ISO 8601."""
        return shape_of(self)


class Shown(Shaped):
    """A record that notebooks show as HTML, which `lexichord.display` writes."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return renderers.html(self)


def shape_of(record: object) -> dict[str, Any]:
    """Give a dataclass's fields by name, as JSON has them."""
    assert is_dataclass(record)
    return {field.name: plain(getattr(record, field.name)) for field in fields(record)}


def plain(value: object) -> Any:  # noqa: ANN401
    """Give a value as JSON has it: records and mappings as objects, sequences as lists."""
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if is_dataclass(value):
        return shape_of(value)
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [plain(each) for each in value]
    return value
