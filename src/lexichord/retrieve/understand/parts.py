"""The parts of a comparison's lists, by the signs and words that part them."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from lexichord.retrieve.understand.cues import Cues
from lexichord.retrieve.understand.linking import Mention, QueryWord

LIST_SIGN = re.compile(r"\s*[,;\u3001]\s*|\s&\s")
FRAME_SIGN = re.compile(r"[:?!¿¡\n\uff0c\uff1a\uff1f\uff01\uff1b\u3002]|\.\s|\s[-–—]+\s")
LIST_BEFORE_SIGN = re.compile(r"[^:?\n]{2,200}?(?=:\s|\s[-–—]+\s)")
PREPOSITIONS = frozenset(["in", "on", "under", "about", "across", "bei", "im", "en", "sur", "sous"])


class NamePart(NamedTuple):
    """Words `first` to `last` of a question, between the joints of list number `group`."""

    group: int
    first: int
    last: int

    @property
    def place(self) -> range:
        """The numbers of its words."""
        return range(self.first, self.last + 1)


def cut_words(query: str, words: Iterable[QueryWord], cues: Cues) -> list[QueryWord]:
    """Return words that no blanks part, as Chinese has them, cut where a list or its frame does."""
    if cues.cut is None:
        return list(words)
    cut: list[QueryWord] = []
    for word in words:
        start = word.start
        for match in cues.cut.finditer(query, word.start, word.end):
            for first, last, parts in ((start, match.start(), False), (*match.span(), True)):
                if first < last:
                    text = query[first:last]
                    cut.append(replace(word, text=text, start=first, end=last, parts=parts))
            start = match.end()
        if start < word.end:
            cut.append(replace(word, text=query[start : word.end], start=start))
    return cut


def split_parts(
    query: str,
    words: Sequence[QueryWord],
    cues: Cues,
    whole: Iterable[Mention] = (),
) -> list[NamePart]:
    """Return the parts of a comparison's lists; the words of its frame stand between lists.

    Titles that are there as a `whole` are not parted, whatever they hold.
    """
    inside = {number for each in whole for number in range(each.first + 1, each.last + 1)}
    frame = _frame(query, words, cues) - inside
    parting = cues.parting.search(query) if cues.parting else None
    parted_at = parting.start(parting.lastindex or 0) if parting else -1
    parts: list[NamePart] = []
    group, first = 0, None
    for number, word in enumerate(words):
        gap = query[words[number - 1].end : word.start] if number not in inside | {0} else ""
        opens_frame = _ends_list(gap, words[number - 1])
        is_frame = number in frame
        is_joint = number not in inside and (
            word.lower in cues.joint_words or word.start == parted_at
        )
        if first is not None and (opens_frame or is_frame or is_joint or LIST_SIGN.search(gap)):
            parts.append(NamePart(group, first, number - 1))
            first = None
        group += opens_frame or is_frame
        if first is None and not (is_frame or is_joint):
            first = number
    return parts if first is None else [*parts, NamePart(group, first, len(words) - 1)]


def _ends_list(gap: str, before: QueryWord) -> bool:
    """Return whether a sign between words ends a list; the dot of "v." and of initials does not."""
    is_short = len(before.text) == 1 and gap.startswith(".")
    return bool(FRAME_SIGN.search(gap)) and not is_short


def _frame(query: str, words: Sequence[QueryWord], cues: Cues) -> set[int]:
    """Return which words are of the frame.

    Before a colon or a dash, where none but prepositions would be, names are listed, and
    prepositions belong to these: "shifts at sea vs sleep in summer: participants".
    """
    frame = {
        number
        for number, word in enumerate(words)
        if (word.lower in cues.frame_words and not word.text.isupper())
        or (word.parts and word.lower not in cues.joint_words)
    }
    opening = LIST_BEFORE_SIGN.match(query)
    listed = {number for number in frame if opening and words[number].end <= opening.end()}
    are_names = all(words[number].lower in PREPOSITIONS for number in listed)
    return frame - listed if are_names else frame
