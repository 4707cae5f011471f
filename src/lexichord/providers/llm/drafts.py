"""The words of an answer out of a reply that is still being written.

A reply holds its texts as JSON: of each object one field is what the answer says.
"""

import dataclasses
import json
import re
from collections.abc import Mapping
from typing import Any

from lexichord.providers.base import OnDraft
from lexichord.types.questions import Task

DRAFTED: Mapping[Task, str] = {"clauses": "quote", "summary": "text"}  # by task, the field
# What is there of a string, up to an escape that is not there whole; surrogates come in pairs.
STRING = re.compile(
    r'(?:[^"\\]|\\["\\/bfnrt]|\\u(?![dD][89abAB])[0-9a-fA-F]{4}'
    r"|\\u[dD][89abAB][0-9a-fA-F]{2}(?:\\u[0-9a-fA-F]{4}|(?=[^\\]|\\[^u])))*"
)
MAX_OPENING_CHARS = 50  # of a field's name up to its text


@dataclasses.dataclass(frozen=True, slots=True)
class Drafts:
    """The drafts of one task: one a reply, each with a request of its own."""

    field: str
    on_draft: OnDraft
    streams: list["DraftStream"] = dataclasses.field(default_factory=list)

    def reading(self) -> "DraftStream":
        """Return what DSPy sends the pieces of the next reply to."""
        self.streams.append(DraftStream(self))
        return self.streams[-1]

    @property
    def have_begun(self) -> bool:
        """Whether any piece of a reply has come."""
        return any(stream.has_begun for stream in self.streams)


class DraftStream:
    """Takes the pieces of a reply as DSPy sends them."""

    def __init__(self, drafts: Drafts) -> None:
        self._tell, self._reader, self._length = drafts.on_draft, DraftReader(drafts.field), 0
        self.has_begun = False

    async def send(self, chunk: Any) -> None:  # noqa: ANN401 - as DSPy makes it
        """Tell what a piece adds to the draft."""
        self.has_begun = True
        added = self._reader.read(chunk.choices[0].delta.get("content") or "")
        if added:
            self._tell(self._length, added)
            self._length += len(added)


class DraftReader:
    """Reads the texts of a field, a line each, while the JSON around them is written."""

    def __init__(self, field: str) -> None:
        self._opening = re.compile(rf'"{field}"\s*:\s*"')
        self._unread, self._is_inside = "", False

    def read(self, piece: str) -> str:
        """Return what a piece adds."""
        self._unread += piece
        added = ""
        while self._is_inside or self._enter():
            string = STRING.match(self._unread)
            assert string is not None
            self._unread = self._unread[string.end() :]
            added += json.loads(f'"{string[0]}"', strict=False)
            if not self._unread.startswith('"'):  # it goes on in the next piece
                break
            self._is_inside = False
            added += "\n"
        return added.encode(errors="replace").decode()

    def _enter(self) -> bool:
        """Go to the beginning of the next text, if it is there."""
        opening = self._opening.search(self._unread)
        self._is_inside = opening is not None
        start = -MAX_OPENING_CHARS if opening is None else opening.end()
        self._unread = self._unread[start:]
        return self._is_inside
