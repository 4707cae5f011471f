"""The words of diagrams in Office files, SmartArt: they stand in parts of their own."""

from collections.abc import Iterator
from typing import Any

from lxml.etree import _Element

from lexichord.ingest.load.archive import parse_xml
from lexichord.ingest.load.text import storable_text

LINK = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}dm"


def diagram_lines(part: Any, element: _Element) -> Iterator[str]:  # noqa: ANN401
    """Yield the words of each shape in the diagrams that an element of a part shows."""
    for shown in element.iter("{*}relIds"):
        link = part.rels.get(shown.get(LINK, ""))
        if link is None or link.is_external:
            continue
        for shape in parse_xml(link.target_part.blob).iter("{*}pt"):
            text = "".join(piece.text or "" for piece in shape.iter("{*}t"))
            if line := " ".join(storable_text(text).split()):
                yield line
