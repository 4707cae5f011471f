"""Front matter: YAML between lines of ---, or TOML between lines of +++, at the top of a file."""

import re
import tomllib
from collections.abc import Mapping
from datetime import date, datetime, time
from math import isfinite
from typing import Any

from lexichord.ingest.load.text import storable_text

FRONT_MATTER = re.compile(
    r"\A\ufeff?(?P<fence>---|\+\+\+)[ \t]*\r?\n(?P<facts>.{0,65536}?)^(?:(?P=fence)|\.\.\.)"
    r"[ \t]*\r?(?:\n|\Z)",
    re.MULTILINE | re.DOTALL,
)
MAX_DEPTH = 20  # values in values


def split_front_matter(content: str) -> tuple[dict[str, Any], str]:
    """Return what a text says of itself, and the rest; nothing and all of it where it says nothing.

    What cannot be read as keys with values is text.
    """
    match = FRONT_MATTER.match(content)
    if match is None:
        return {}, content
    facts = _parsed(match["facts"], is_toml=match["fence"] == "+++")
    if not isinstance(facts, Mapping):
        return {}, content
    try:
        return _plain(facts, 0), content[match.end() :].lstrip("\r\n")
    except ValueError:
        return {}, content


def _parsed(text: str, is_toml: bool) -> object:
    import yaml

    class Loader(yaml.SafeLoader):  # type: ignore[misc]
        """Refuses references, by which a short text becomes a long one."""

        def compose_node(self, parent: Any, index: Any) -> Any:  # noqa: ANN401
            if self.check_event(yaml.AliasEvent):
                raise yaml.YAMLError("references are not read")
            return super().compose_node(parent, index)

    try:
        return tomllib.loads(text.replace("\r\n", "\n")) if is_toml else yaml.load(text, Loader)  # noqa: S506
    except (yaml.YAMLError, ValueError, TypeError, RecursionError, OverflowError):
        return None


def _plain(value: object, depth: int) -> Any:  # noqa: ANN401
    """Return a value as JSON has it: dates as text, keys as text. Raises ValueError."""
    if depth > MAX_DEPTH:
        raise ValueError
    if isinstance(value, Mapping):
        return {storable_text(str(key)): _plain(one, depth + 1) for key, one in value.items()}
    if isinstance(value, list | tuple | set):
        return [_plain(one, depth + 1) for one in value]
    if isinstance(value, date | datetime | time):
        return value.isoformat()
    if value is None or isinstance(value, bool | int) or _is_number(value):
        return value
    return storable_text(str(value))


def _is_number(value: object) -> bool:
    return isinstance(value, float) and isfinite(value)
