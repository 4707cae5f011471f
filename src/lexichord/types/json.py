"""JSON values, records as such, and what writes records for people."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime
from html import escape
from typing import TYPE_CHECKING, Any

from lexichord.errors import ConfigError

if TYPE_CHECKING:
    import pandas

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
        """Return the JSON shape: a member for each field; times are in ISO 8601."""
        return shape_of(self)


class Sparse(Shaped):
    """A record whose JSON shape leaves out the fields that are None by default and still are."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON shape: a member for each field that was set."""
        assert is_dataclass(self)
        optional = {field.name for field in fields(self) if field.default is None}
        unset = {name for name in optional if getattr(self, name) is None}
        return {name: value for name, value in shape_of(self).items() if name not in unset}


class Shown(Shaped):
    """A record that notebooks show as HTML, which `lexichord.display` writes."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return renderers.html(self)


def shape_of(record: object) -> dict[str, Any]:
    """Return a dataclass's fields by name, as JSON has them."""
    assert is_dataclass(record)
    return {field.name: plain(getattr(record, field.name)) for field in fields(record)}


def frame_of(kind: type, records: Iterable[Shaped]) -> "pandas.DataFrame":
    """Return records of a kind as a frame, a row each; `scores.dense` is a member of `scores`.

    Raises ConfigError where pandas is not there.
    """
    try:
        import pandas
    except ModuleNotFoundError:
        raise ConfigError("to_frame needs pandas: pip install pandas") from None
    rows = [record.to_dict() for record in records]
    if rows:
        return pandas.json_normalize(rows)
    return pandas.DataFrame(columns=[field.name for field in fields(kind)])


def plain(value: object) -> Any:  # noqa: ANN401
    """Return a value as JSON has it: records and mappings as objects, sequences as lists."""
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if is_dataclass(value):
        return shape_of(value)
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [plain(item) for item in value]
    return value
