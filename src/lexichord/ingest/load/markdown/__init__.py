"""Markdown and MDX: the text without what is for the program that lays it out.

What stands at the top of a file about the file, its front matter, becomes metadata: see
`front_matter`; anchors, includes, admonitions' fences, tags and comments are taken out in `clean`.
"""

from pathlib import Path

from lexichord.ingest.load.includes import nearby_files
from lexichord.ingest.load.kinds import MARKDOWN_TYPE
from lexichord.ingest.load.markdown.clean import clean_markdown
from lexichord.ingest.load.markdown.directives import without_comments
from lexichord.ingest.load.markdown.front_matter import split_front_matter
from lexichord.ingest.load.markdown.includes import with_myst_includes
from lexichord.ingest.load.markdown.indented import fence_indented
from lexichord.ingest.load.markdown.references import resolve_references, substitute
from lexichord.ingest.load.text import read_text
from lexichord.ingest.markdown import OPENING_HEADING, heading_name
from lexichord.types import LoadedText


def load(file: Path, named: str, place: Path) -> LoadedText:
    """Read a file of Markdown that stands in a place. Raises IngestError."""
    content, metadata = read_text(file)
    facts, body = split_front_matter(content)
    files = nearby_files(place)
    body = with_myst_includes(body, files, (place,))
    is_mdx = file.suffix.lower() == ".mdx"
    body = substitute(resolve_references(without_comments(body)), facts)
    text = clean_markdown(body if is_mdx else fence_indented(body), is_mdx)
    title = facts.pop("title", None)
    if not isinstance(title, str) or not title.strip():
        opening = OPENING_HEADING.search(text)
        title = heading_name(opening[1]) if opening else named
    flags = {"flags": files.flags()} if files.refused else {}
    return LoadedText(text, MARKDOWN_TYPE, title.strip(), metadata={**facts, **metadata, **flags})
