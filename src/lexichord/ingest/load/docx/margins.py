"""What stands above and below the pages of a Word file's sections, each text once."""

from collections.abc import Callable, Iterable, Iterator

from docx.oxml.ns import qn
from docx.parts.document import DocumentPart
from lxml.etree import _Element

from lexichord.ingest.load.docx.content import is_on, part_root, root_of
from lexichord.ingest.load.marks import Marks

HEADER, FOOTER = "w:headerReference", "w:footerReference"
KINDS = {HEADER: "Header", FOOTER: "Footer"}


class Margins:
    """The headers and footers of a document, section after section."""

    def __init__(self, part: DocumentPart, marks: Marks, read: Callable[[_Element], str]) -> None:
        self._part, self._marks, self._read = part, marks, read
        settings = part_root(part, "settings")
        parted = None if settings is None else settings.find(qn("w:evenAndOddHeaders"))
        self._parts_even_pages = is_on(parted)
        self._linked = dict[tuple[str, str], str]()
        self._texts = dict[str, str]()
        self._seen = set[str]()

    def of(self, section: _Element) -> tuple[list[str], list[str]]:
        """Return a section's headers and footers that no section before it had."""
        for kind in KINDS:
            for reference in section.iterfind(qn(kind)):
                pages = reference.get(qn("w:type"), "default")
                self._linked[kind, pages] = reference.get(qn("r:id"), "")
        has_first = is_on(section.find(qn("w:titlePg")))
        shown = {"first": has_first, "default": True, "even": self._parts_even_pages}
        names = [name for name, is_shown in shown.items() if is_shown]
        return list(self._shown(HEADER, names)), list(self._shown(FOOTER, names))

    def never_shown(self) -> Iterator[str]:
        """Yield the headers and footers that no page shows."""
        for (kind, _), link in self._linked.items():
            if any(map(str.isalpha, text := self._text(link))) and text not in self._seen:
                self._seen.add(text)
                if marked := self._marks.hidden(text, KINDS[kind].lower()):
                    yield f"{KINDS[kind]}: {marked}"

    def _shown(self, kind: str, pages: Iterable[str]) -> Iterator[str]:
        for text in (self._text(self._linked.get((kind, each), "")) for each in pages):
            if any(map(str.isalpha, text)) and text not in self._seen:
                self._seen.add(text)
                yield f"{KINDS[kind]}: {text}"

    def _text(self, link: str) -> str:
        """Return the text of a header or footer, read once."""
        relation = self._part.rels.get(link)
        if link not in self._texts and relation is not None and not relation.is_external:
            self._texts[link] = self._read(root_of(relation.target_part)).strip()
        return self._texts.get(link, "")
