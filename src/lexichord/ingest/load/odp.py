"""OpenDocument presentations: a section and a page each slide, with the speaker's notes."""

import zipfile
from pathlib import Path

from lxml.etree import _Element

from lexichord.errors import IngestError
from lexichord.ingest.load.kinds import ODP_TYPE
from lexichord.ingest.load.marks import Marks
from lexichord.ingest.load.odf import OdfReader, open_document, paragraphs_in
from lexichord.ingest.load.odf_styles import attribute
from lexichord.ingest.load.options import LoadOptions
from lexichord.ingest.load.properties import open_document_properties
from lexichord.ingest.load.slide_names import add_speaker_notes, begin_slide, titled
from lexichord.types import LoadedText

BROKEN_ODP = "is no ODP, or a broken one: open it and save it again"


def load(file: Path, named: str, options: LoadOptions) -> LoadedText:
    """Read a presentation. Raises IngestError."""
    marks = Marks(options)
    with open_document(file, BROKEN_ODP) as archive:
        deck = _Deck(archive, marks)
    properties = open_document_properties(file)
    return LoadedText(
        deck.built.text,
        ODP_TYPE,
        properties.pop("title", "") or next(filter(None, deck.titles), named),
        headings=tuple(deck.built.headings),
        tables=tuple(deck.built.tables),
        pages=deck.built.pages,
        metadata=marks.flagged(properties),
    )


class _Deck(OdfReader):
    """The text of a presentation, and the titles of its slides."""

    def __init__(self, archive: zipfile.ZipFile, marks: Marks) -> None:
        super().__init__(archive, marks)
        self.titles = list[str]()
        deck = self.content.find("{*}body/{*}presentation")
        if deck is None:
            raise IngestError(BROKEN_ODP)
        for number, slide in enumerate(deck.iterfind("{*}page"), 1):
            self._add_slide(slide, number)

    def _add_slide(self, slide: _Element, number: int) -> None:
        heading = next((frame for frame in slide if _class(frame) == "title"), None)
        title = "" if heading is None else " ".join(self._words(heading).split())
        is_hidden = self.styles.hides_slide(attribute(slide, "drawing", "style-name"))
        if begin_slide(self.built, self.marks, number, title, is_hidden):
            self.titles.append(titled(title))
            notes = [part for part in slide if part.tag.endswith("}notes")]
            for part in [*notes, *([] if heading is None else [heading])]:
                slide.remove(part)
            self.add_gathered()
            self.add(slide)
            for note in notes:
                frames = (frame for frame in note if _class(frame) == "notes")
                add_speaker_notes(self.built, "\n".join(map(self._words, frames)).strip())
        self.built.drop_place()

    def _words(self, frame: _Element) -> str:
        """Return the lines of a frame."""
        lines = (self.text(line).strip() for line in paragraphs_in(frame))
        return "\n".join(filter(None, lines))


def _class(frame: _Element) -> str:
    return attribute(frame, "presentation", "class")
