"""Markdown and MDX: the text without what is for the program that lays it out.

What stands at the top of a file about the file, its front matter, becomes metadata: see
`front_matter`; anchors, includes, admonitions' fences, tags and comments are taken out in `clean`.
"""

from pathlib import Path

from lexichord.ingest.load.kinds import MARKDOWN_TYPE
from lexichord.ingest.load.markdown.clean import clean_markdown
from lexichord.ingest.load.markdown.front_matter import split_front_matter
from lexichord.ingest.load.text import read_text
from lexichord.ingest.markdown import CLOSING_HASHES, OPENING_HEADING
from lexichord.types import LoadedText


def load(file: Path, named: str) -> LoadedText:
    """Read a file of Markdown. Raises IngestError."""
    content, metadata = read_text(file)
    facts, body = split_front_matter(content)
    text = clean_markdown(body, is_mdx=file.suffix.lower() == ".mdx")
    title = facts.pop("title", None)
    if not isinstance(title, str) or not title.strip():
        opening = OPENING_HEADING.search(text)
        title = CLOSING_HASHES.sub("", opening[1].strip()) if opening else named
    return LoadedText(text, MARKDOWN_TYPE, title.strip(), metadata={**facts, **metadata})
