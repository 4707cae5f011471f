"""Words that tell what readers see otherwise than as text: hidden, in a margin, said about it."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lexichord.ingest.load.text import TextBuilder, storable_text
from lexichord.types.query_options import Marking

if TYPE_CHECKING:
    from lexichord.settings import Settings


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """The password of those that are encrypted, and what recognizes the text of scans.

    `ocr` is tesseract or, with the languages that it shall expect, tesseract/eng+deu; or rapidocr.
    What is `hidden`, and `comments`, are kept as text, marked as what they are, or dropped. Words
    that are hidden amid the text are kept where all is, else dropped.
    """

    password: str | None = None
    ocr: str | None = None
    hidden: Marking = "mark"
    comments: Marking = "mark"


def load_options(settings: "Settings") -> LoadOptions:
    """Return how files are loaded by the settings."""
    secret = settings.file_password
    password = secret.get_secret_value() if secret else None
    return LoadOptions(password, settings.ocr, settings.hidden, settings.comments)


HIDDEN = "(hidden)"
LEFT_OUT = "left out: "  # so begins a flag
PASSAGE = "passage"  # words amid the text that no reader sees: these are not marked, but left out
UNKNOWN_SYMBOL = "\ufffd"
DAY_CHARS = len("2026-11-26")  # of a comment's date, with which formats have the time as well
LINE_END = re.compile(r"""(?<=\w\w)[.!?。！？]["'”)\]]?\Z""")
SENTENCE_END = re.compile(rf"{LINE_END.pattern}|{LINE_END.pattern[:-2]}(?=\s+[^\W\da-z_])")
MAX_DESCRIBED_CHARS = 5000  # of a picture: more is no description
SAYING_NOTHING = re.compile(  # the name of a file, or of the kind of thing
    r"\S+\.(png|jpe?g|gif|bmp|svg|webp|tiff?|emf|wmf)"
    r"|((image|picture|photo|graphic|icon|logo|thumbnail|cover|arrow|bullet|spacer)\s*)+",
    re.IGNORECASE,
)


def named_hidden(text: str) -> str:
    """Mark what is hidden, sentence by sentence, for it may be cut into chunks, or quoted."""
    return "\n".join(_marked_line(line) if line.strip() else line for line in text.split("\n"))


def _marked_line(line: str) -> str:
    line = line.rstrip()
    marked = SENTENCE_END.sub(rf" {HIDDEN}\g<0>", line)
    return marked if LINE_END.search(line) else f"{marked} {HIDDEN}"


def picture(described: str) -> str:
    """Mark what is said of a picture for those who do not see it."""
    return f"Picture: {described}"


def described(words: str) -> str:
    """Return what is said of a picture in a line; "" where that says nothing but that it is one."""
    line = " ".join(storable_text(words).split())
    return "" if SAYING_NOTHING.fullmatch(line) else line[:MAX_DESCRIBED_CHARS]


def within(mark: str) -> str:
    """Set a mark off from the text in whose midst it stands."""
    return f"[{mark}]"


class Marks:
    """Marks what one document hides and what was said about it, as the options ask for it."""

    def __init__(self, options: LoadOptions) -> None:
        self._hidden, self._comments = options.hidden, options.comments
        self._left_out = Counter[str]()

    def flagged(self, metadata: Mapping[str, Any]) -> dict[str, Any]:
        """Return a document's metadata with flags that tell what was left out, and how much."""
        flags = [
            f"{LEFT_OUT}{amount} {name}{'' if amount == 1 else 's'}"
            for name, amount in self._left_out.items()
        ]
        if not flags:
            return dict(metadata)
        return {**metadata, "flags": [*metadata.get("flags", ()), *flags]}

    def keeps_hidden(self, kind: str, amount: int = 1) -> bool:
        """Return whether what is hidden stays; count what does not, so many hidden KINDs."""
        is_kept = self._hidden == "keep" or (self._hidden == "mark" and kind != PASSAGE)
        if not is_kept and amount:
            self._left_out[f"hidden {kind}"] += amount
        return is_kept

    def hidden(self, text: str, kind: str) -> str:
        """Return what is hidden as a whole, marked; "" where it is left out."""
        if not text.strip():
            return text
        if not self.keeps_hidden(kind):
            return ""
        return named_hidden(text) if self._hidden == "mark" else text

    def hidden_row(self, cells: Sequence[str]) -> list[str]:
        """Return the cells of a hidden row, the last one with words marked; "" if left out."""
        last = max((place for place, cell in enumerate(cells) if cell.strip()), default=None)
        if last is None:
            return list(cells)
        marked = self.hidden(cells[last], "row")
        return [*cells[:last], marked, *cells[last + 1 :]] if marked else [""] * len(cells)

    def passage(self, text: str) -> str:
        """Return hidden words amid a text where all is kept; else what keeps the others apart."""
        if not text.strip() or self.keeps_hidden(PASSAGE):
            return text
        return " " if text[0].isspace() and text[-1].isspace() else ""

    def unknown_symbol(self) -> str:
        """Return what stands for a sign of which only its font knows what it is; count it."""
        self._left_out["symbol"] += 1
        return UNKNOWN_SYMBOL

    def comment(self, text: str, author: str = "", day: str = "", kind: str = "Comment") -> str:
        """Return what somebody said about the text, with name and day; "" where it is left out.

        `author` and `day` are as the file has them.
        """
        if not text.strip():
            return ""
        if self._comments == "drop":
            self._left_out["comment"] += 1
            return ""
        author, day = storable_text(author.strip()), storable_text(day[:DAY_CHARS])
        by = f" by {author}" if author else ""
        on = f", {day}" if day else ""
        return text if self._comments == "keep" else f"{kind}{by}{on}: {text}"


MAX_SLIDE_TITLE_CHARS = 200  # characters: more are no title


def titled(title: str) -> str:
    """Return what a slide is named by; "" of words that are no title."""
    return title if len(title) <= MAX_SLIDE_TITLE_CHARS else ""


def begin_slide(built: TextBuilder, marks: Marks, number: int, title: str, is_hidden: bool) -> bool:
    """Begin a slide's page; return whether the slide stays.

    Its name stands in the text where it says that it is hidden.
    """
    built.page()
    name = f"Slide {number}"
    if is_hidden:
        name = marks.hidden(name, "slide")
    if not name:
        return False
    named = f"{name}: {title}" if title else name
    built.place(2, named if titled(title) else name, apart=True)
    if opening := named if HIDDEN in name else title:
        built.paragraph(opening)
    return True


def add_speaker_notes(built: TextBuilder, text: str) -> None:
    """Add what the speaker notes, under a heading."""
    if text:
        built.paragraph("Speaker notes", 3)
        built.paragraph(text)
