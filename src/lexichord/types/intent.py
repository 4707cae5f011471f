"""What a query wants, and which documents it names."""

from dataclasses import dataclass
from typing import Literal

from lexichord.types.json import Shaped

IntentKind = Literal["clause_lookup", "comparison", "list_all", "summary", "general"]


@dataclass(frozen=True, slots=True)
class Intent(Shaped):
    """What a query wants.

    `hint` says in words which documents are meant, `question` what in them; `documents` are the
    ids that the hint was linked to, best first. `sub_questions` is empty unless there are several.
    `domain` is what the linked documents agree on, "" if nothing. `reason` is for people.
    """

    kind: IntentKind
    question: str
    hint: str | None = None
    documents: tuple[int, ...] = ()
    entities: tuple[str, ...] = ()
    sub_questions: tuple[str, ...] = ()
    domain: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Link:
    """A word of a query, counted from 0, that a document's title, file name or card holds.

    `initials`: it is made of the title's initials. `rare`: few cards hold it. `title_terms` and
    `file_terms` count the different terms of the title and of the file's name.
    """

    document_id: int
    title: str
    domain: str
    word: int
    in_title: bool
    in_file: bool
    initials: bool
    rare: bool
    title_terms: int
    file_terms: int

    @property
    def named(self) -> bool:
        """Tell whether the title or the file's name holds the word, not only the card."""
        return self.in_title or self.in_file or self.initials
