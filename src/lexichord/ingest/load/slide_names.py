"""How slides are named, in all formats that have them."""

from lexichord.ingest.load.marks import HIDDEN, Marks
from lexichord.ingest.load.text import TextBuilder

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
