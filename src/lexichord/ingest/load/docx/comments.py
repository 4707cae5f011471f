"""What people said about the text of a Word file, by the ids under which the text names it."""

from docx.oxml.ns import qn
from lxml.etree import _Element

from lexichord.ingest.load.marks import Marks


def read_comments(root: _Element | None, marks: Marks) -> dict[str, str]:
    """Return the comments by their ids, marked; those that are left out are not among them."""
    comments = [] if root is None else root.findall(qn("w:comment"))
    marked = {each.get(qn("w:id"), ""): _marked(each, marks) for each in comments}
    return {name: text for name, text in marked.items() if text}


def _marked(comment: _Element, marks: Marks) -> str:
    paragraphs = (
        "".join(text.text or "" for text in paragraph.iter(qn("w:t")))
        for paragraph in comment.iter(qn("w:p"))
    )
    author, day = comment.get(qn("w:author"), ""), comment.get(qn("w:date"), "")
    return marks.comment("\n".join(filter(str.strip, paragraphs)), author, day)
