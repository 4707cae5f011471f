"""What people said about a slide: comments as PowerPoint wrote them until 2021, and since."""

from collections.abc import Iterator, Mapping
from typing import Any

from lxml.etree import _Element

from lexichord.ingest.load.archive import parse_xml
from lexichord.ingest.load.marks import Marks
from lexichord.ingest.load.text import storable_text

PEOPLE = ("commentAuthors", "authors")  # of the old ones, and of the new


def read_people(presentation: Any) -> dict[str, str]:  # noqa: ANN401
    """Return the names of a presentation's commenters, by their ids."""
    return {
        author.get("id", ""): author.get("name", "")
        for kind in PEOPLE
        for root in _related(presentation.part, kind)
        for author in root
    }


def slide_comments(slide: Any, people: Mapping[str, str], marks: Marks) -> Iterator[str]:  # noqa: ANN401
    """Yield the comments on a slide, and the replies to each, marked."""
    for root in _related(slide.part, "comments"):
        for said in root.iter("{*}cm", "{*}reply"):
            author = people.get(said.get("authorId", ""), "")
            day = said.get("dt") or said.get("created") or ""
            if marked := marks.comment(_text(said), author, day):
                yield marked


def _text(said: _Element) -> str:
    """Return a comment's words, without those of its replies."""
    own = said.findtext("{*}text")
    words = said.iterfind("{*}txBody//{*}t") if own is None else []
    text = own if own is not None else " ".join(word.text or "" for word in words)
    return " ".join(storable_text(text).split())


def _related(part: Any, kind: str) -> Iterator[_Element]:  # noqa: ANN401
    """Yield the roots of the parts of a kind that a part names."""
    for link in part.rels.values():
        if not link.is_external and link.reltype.endswith(f"/{kind}"):
            yield parse_xml(link.target_part.blob)
