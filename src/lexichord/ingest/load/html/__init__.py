"""HTML: the main text as a browser lays it out, with its headings; lists and tables in `blocks`."""

import re
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from itertools import islice, takewhile
from pathlib import Path
from typing import Any

from inscriptis.css_profiles import CSS_PROFILES
from inscriptis.html_engine import Inscriptis
from inscriptis.html_properties import Display, WhiteSpace
from inscriptis.model.config import ParserConfig
from inscriptis.model.html_document_state import HtmlDocumentState
from inscriptis.model.html_element import HtmlElement
from inscriptis.model.tag import CustomHtmlTagHandlerMapping
from lxml.etree import ErrorTypes, LxmlError, ParserError, _Element, strip_elements, strip_tags
from lxml.html import HTMLParser, document_fromstring

from lexichord.errors import IngestError
from lexichord.ingest.load import HTML_TYPE
from lexichord.ingest.load.equations import MATHS_TAGS, NOTE_ATTRIBUTE, write_maths
from lexichord.ingest.load.html.blocks import (
    DATA_TABLE_TAG,
    MARKER_ATTRIBUTE,
    describe_pictures,
    fence_code,
    flatten_tables,
    mark_items,
    set_labels_apart,
)
from lexichord.ingest.load.text import DROPPED_FLAG, decode, read_bytes, storable_text
from lexichord.types import Heading, LoadedText, Table

HIDDEN_TAGS = (
    *("script", "style", "template", "noscript", "svg", "iframe", "object", "head"),
    *("audio", "video", "canvas"),  # what they hold is for browsers that do not know them
)
BOILERPLATE_TAGS = ("nav", "footer", "aside", "form", "button", "select", "textarea", "dialog")
TYPE_ATTRIBUTE = "{http://www.idpf.org/2007/ops}type"
MIN_MAIN_TEXT_SHARE = 0.3  # of the text: where less would be left, all of it is main text


def main_text(root: _Element) -> _Element:
    """Find the element that holds the page's own text; leave out what surrounds it."""
    strip_elements(root, *HIDDEN_TAGS, with_tail=False)
    min_length = MIN_MAIN_TEXT_SHARE * _length(root)
    around = [
        item for item in root.iter(*BOILERPLATE_TAGS) if item is not root and not _is_note(item)
    ]
    if _length(root) - sum(map(_length, around)) >= min_length:
        _drop(around)
    for path in (".//main", ".//*[@role='main']", ".//article"):
        candidates = root.findall(path)
        if len(candidates) == 1 and _length(candidates[0]) >= min_length:
            return candidates[0]
    return root


def _is_note(item: _Element) -> bool:
    """Return whether an element holds notes to the text, as books have them in asides."""
    return any("note" in item.get(name, "") for name in ("epub:type", "role", TYPE_ATTRIBUTE))


def _length(item: _Element) -> int:
    return sum(len(str(piece).strip()) for piece in item.itertext())


def _drop(items: list[_Element]) -> None:
    """Take elements out, and leave the text that follows them."""
    tails = dict[tuple[_Element, _Element | None], list[str]]()
    for item in items:
        parent = item.getparent()
        if parent is not None:
            tails.setdefault((parent, item.getprevious()), []).append(item.tail or "")
            parent.remove(item)
    for (parent, before), texts in tails.items():
        if before is not None:
            before.tail = " ".join([before.tail or "", *texts])
        else:
            parent.text = " ".join([parent.text or "", *texts])


META_CHARSET = re.compile(
    rb"""<meta[^>]{0,200}?charset\s*=\s*(?:["']\s*)?([\w.:-]+)""", re.IGNORECASE
)
XML_CONTROL_CHARACTERS = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
HEADING_TAGS = ("h1", "h2", "h3", "h4", "h5", "h6")
MAX_META_CHARS = 1000  # characters of what a page says of itself
MAX_ELEMENT_DEPTH = 400  # elements in elements; the library's calls nest with them
TOO_DEEP = f"holds elements nested more than {MAX_ELEMENT_DEPTH} deep: save it as text"
# What has no bearing on lines; old pages leave thousands of them open, each in the last.
INLINE_TAGS = ("font", "span", "b", "i", "u", "em", "strong", "small", "big", "a", "tt", "abbr")
LOOK_TAG = re.compile(rb"</?(?:font|b|i|u|em|strong|small|big|tt)(?:\s[^<>]*)?>", re.IGNORECASE)
BLOCK_TAGS = ("details", "summary", "fieldset", "legend", "dialog", "search", "menu", "center")
LAYOUT_CSS = {
    **CSS_PROFILES["strict"],
    "ul": HtmlElement(display=Display.block),  # not set in
    "ol": HtmlElement(display=Display.block),
    "section": HtmlElement(display=Display.block),
    "dt": HtmlElement(display=Display.block),
    "dd": HtmlElement(display=Display.block),
    **dict.fromkeys(BLOCK_TAGS, HtmlElement(display=Display.block)),
    DATA_TABLE_TAG: HtmlElement(
        display=Display.block, margin_before=1, margin_after=1, whitespace=WhiteSpace.pre
    ),
}
# Put together once, for a feed has a page an entry, and to copy it takes longer than most of them.
ANNOTATED_CSS = ParserConfig(
    css=LAYOUT_CSS, annotation_rules={tag: [tag] for tag in (*HEADING_TAGS, DATA_TABLE_TAG)}
).css


def load(file: Path, named: str) -> LoadedText:
    """Read a web page. Raises IngestError."""
    return read_page(read_bytes(file), named)


def read_page(data: bytes, named: str, charset: str | None = None) -> LoadedText:
    """Read a web page, in the charset that it came with or that it names. Raises IngestError."""
    declared = META_CHARSET.search(data[:4096])
    content, encoding = decode(data, declared[1].decode("ascii") if declared else charset)
    try:
        page = _parseable(content)
        root = _parsed(page)
        if root is None:
            root = _parsed(LOOK_TAG.sub(b"", page))
    except ParserError:  # nothing in it
        raise IngestError("holds no text") from None
    except (LxmlError, ValueError):
        raise IngestError("is no HTML, or a broken page: save it again") from None
    if root is None:
        raise IngestError(TOO_DEEP)
    metadata: dict[str, Any] = {} if encoding == "utf-8" else {"encoding": encoding}
    if "\0" in content:
        metadata["flags"] = [DROPPED_FLAG]
    return _loaded(root, named, metadata)


def _parsed(page: bytes) -> _Element | None:
    """Parse a page; None where it is so deep that the parser leaves out all that follows."""
    parser = HTMLParser(encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True)
    root = document_fromstring(page, parser=parser)
    is_cut = any(entry.type == ErrorTypes.ERR_RESOURCE_LIMIT for entry in parser.error_log)
    return None if is_cut else root


def _parseable(content: str) -> bytes:
    """Encode as UTF-8, whatever the page declares; leave out what the parser cannot take."""
    content = content.replace("\0", "").replace("\r\n", "\n")
    return content.encode()


def _loaded(root: _Element, named: str, metadata: dict[str, Any]) -> LoadedText:
    _clean(root)
    drop_copies(root)
    _drop([item for item in root.iter() if is_hidden(item)])
    set_labels_apart(root)
    strip_tags(root, *INLINE_TAGS)
    if _depth(root) > MAX_ELEMENT_DEPTH:
        raise IngestError(TOO_DEEP)
    write_maths(root)
    describe_pictures(root)
    title = " ".join(root.findtext(".//title", "").split())
    metadata = {**_described(root), **metadata}
    for word in root.iter("rt"):
        _bracket(word)
    main = main_text(root)
    take_headline(root, main, title)
    mark_items(main)
    heads = flatten_tables(main)
    fence_code(main)
    text, annotations = _rendered(main)
    headings = [
        Heading(start, end, int(label[1]), " ".join(text[start:end].split()))
        for start, end, label in annotations
        if label in HEADING_TAGS
    ]
    places = [(start, end) for start, end, label in annotations if label == DATA_TABLE_TAG]
    tables = [
        Table(start, end, min(start + head, end))
        for (start, end), head in zip(places, heads, strict=True)
    ]
    title = title or next((heading.name for heading in headings if heading.level == 1), named)
    return LoadedText(text, HTML_TYPE, title, tuple(headings), tuple(tables), metadata=metadata)


def _bracket(word: _Element) -> None:
    """Put what stands above a word in small letters in brackets, unless the page does."""
    ruby = word.getparent()
    if ruby is None or next(ruby.iter("rp"), None) is not None:
        return
    word.text = f" ({word.text or ''}"
    if len(word):
        word[-1].tail = f"{word[-1].tail or ''})"
    else:
        word.text += ")"


# The keys of metadata, by the names under which pages tell them.
META_KEYS = {
    "author": "author",
    "article:published_time": "created",
    "date": "created",
    "article:modified_time": "modified",
    "keywords": "keywords",
}


def _described(root: _Element) -> dict[str, Any]:
    """Return what the page says of itself."""
    facts: dict[str, Any] = {}
    for meta in root.iter("meta"):
        key = META_KEYS.get((meta.get("name") or meta.get("property") or "").lower())
        content = storable_text(" ".join(meta.get("content", "").split()))
        if key and content:
            facts.setdefault(key, content[:MAX_META_CHARS])
    if language := storable_text(root.get("lang", "").strip()):
        facts["language"] = language[:MAX_META_CHARS]
    return facts


def _clean(root: _Element) -> None:
    """Leave out control characters, which the parser passes on and its tree refuses."""
    for item in root.iter():
        if item.text and XML_CONTROL_CHARACTERS.search(item.text):
            item.text = XML_CONTROL_CHARACTERS.sub("", item.text)
        if item.tail and XML_CONTROL_CHARACTERS.search(item.tail):
            item.tail = XML_CONTROL_CHARACTERS.sub("", item.tail)
        for name, value in item.items():
            if XML_CONTROL_CHARACTERS.search(str(value)):
                item.set(name, XML_CONTROL_CHARACTERS.sub("", str(value)))


def _depth(root: _Element) -> int:
    """Count how deep elements are nested, without calls that nest as deep."""
    deepest, level = 0, [root]
    while level:
        deepest += 1
        level = [child for item in level for child in item]
    return deepest


def _rendered(root: _Element) -> tuple[str, list[tuple[int, int, str]]]:
    """Lay the page out; return its text, and the places of headings and tables, in order."""
    for item in root.iter():
        item.attrib.pop("style", "")  # margins and the like
        # the library reads &lt; once more, after the parser
        item.text, item.tail = _escaped(item.text), _escaped(item.tail)
    root.tail = None
    config = ParserConfig(
        css={**ANNOTATED_CSS, "body": deepcopy(ANNOTATED_CSS["body"])},  # which the page fills
        custom_html_tag_handler_mapping=CustomHtmlTagHandlerMapping({"li": _open_item}, {}),
    )
    page = Inscriptis(root, config)
    text = storable_text(page.get_text().rstrip())
    places = [
        (*_trimmed(text, note.start, note.end), note.metadata) for note in page.get_annotations()
    ]
    return text, sorted(place for place in places if place[0] < place[1])


def _escaped(text: str | None) -> str | None:
    return text.replace("&", "&amp;") if text else text


def _open_item(state: HtmlDocumentState, attributes: Mapping[str, str]) -> None:
    """Put the list item's marker before its text."""
    state.tags[-1].list_bullet = attributes.get(MARKER_ATTRIBUTE, "")


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Take line ends and blanks off a place; a tab at the start of a table is an empty cell."""
    place = text[start:end]
    return start + len(place) - len(place.lstrip("\n ")), start + len(place.rstrip("\n "))


HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden")


def is_hidden(item: _Element) -> bool:
    """Return whether an element says by itself that it is not shown."""
    return item.get("hidden") is not None or HIDDEN_STYLE.search(item.get("style", "")) is not None


# Headings, who wrote it, and when; menus are lists of links.
TOP_TAGS = (*HEADING_TAGS, "p", "address", "time")
MAX_BYLINE_CHARS = 300


def take_headline(root: _Element, main: _Element, title: str) -> None:
    """Put the headline before the main text, if that has none, with what its header says of it.

    Where a page's title ends with it, as in "Buffers | Node.js", it is the name of the whole site.
    """
    if next(main.iter("h1"), None) is not None:
        return
    above = takewhile(lambda item: item is not main, root.iter(main.tag, *TOP_TAGS))
    parts = list(_headlines(above, title.casefold()))
    for part in reversed(parts):
        part.tail = None
        main.insert(0, part)
    if parts:
        parts[-1].tail, main.text = main.text, None


def _headlines(above: Iterable[_Element], title: str) -> Iterator[_Element]:
    """Yield each headline, and the headings and short lines that follow one in its header."""
    headers = set[_Element]()
    for part in above:
        if part.tag == "h1":
            if _is_of_page(part, title):
                yield part
                headers.update(islice(part.iterancestors("header"), 1))
        elif not headers.isdisjoint(part.iterancestors("header")) and _is_byline(part):
            yield part


def _is_of_page(headline: _Element, title: str) -> bool:
    name = _text(headline).casefold()
    return name != "" and (name == title or not title.endswith(name))


def _text(item: _Element) -> str:
    return " ".join("".join(map(str, item.itertext())).split())


def _is_byline(part: _Element) -> bool:
    """Return whether a heading or a paragraph is short, and within no other and no list."""
    is_within = next(part.iterancestors(*TOP_TAGS, "li"), None) is not None
    return not is_within and 0 < len(_text(part)) <= MAX_BYLINE_CHARS


def drop_copies(root: _Element) -> None:
    """Empty what shows formulas once more than their MathML; show MathML that a picture repeats.

    KaTeX, MathJax and MediaWiki write each formula twice: for screen readers and as it looks.
    """
    holders = [holder for maths in root.iter(*MATHS_TAGS) for holder in _holders(maths)]
    copies = list(_hidden_beside(holders))
    for holder in holders:
        picture = holder.getnext()
        if picture is not None and picture.tag == "img" and is_hidden(holder):
            holder.attrib.pop("style", "")
            copies.append(picture)
    for copy in copies:
        tail = copy.tail
        copy.clear()
        copy.tag, copy.tail = "span", tail
    for raised in root.iter("sup"):
        if next(raised.iter("a"), None) is not None or _is_linked(raised):
            raised.set(NOTE_ATTRIBUTE, "")


def _holders(maths: _Element) -> Iterator[_Element]:
    """Yield a formula and the element that holds nothing else."""
    yield maths
    holder = maths.getparent()
    if holder is None or maths.getprevious() is not None or maths.getnext() is not None:
        return
    if not ((holder.text or "").strip() or (maths.tail or "").strip()):
        yield holder


def _hidden_beside(holders: Iterable[_Element]) -> Iterator[_Element]:
    """Yield what screen readers pass over beside formulas, once for those of the same parent."""
    formulas = dict[_Element, set[_Element]]()
    for holder in holders:
        parent = holder.getparent()
        if parent is not None:
            formulas.setdefault(parent, set()).add(holder)
    for parent, own in formulas.items():
        for item in parent:
            if item.get("aria-hidden") == "true" and own != {item}:
                yield item


def _is_linked(item: _Element) -> bool:
    over = item.getparent()
    return over is not None and over.tag == "a"
