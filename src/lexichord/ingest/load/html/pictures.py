"""What a web page says of its pictures to those who do not see them."""

from lxml.etree import _Element

from lexichord.ingest.load.marks import described, picture, within

CLOSING_SIGNS = ".,;:!?)]"  # before which no blank stands; "" is among them
DECORATION_ROLES = ("none", "presentation")


def set_labels_apart(root: _Element) -> None:
    """Make pictures of the labels of what only says by its role that it is one."""
    for item in list(root.iter()):
        if item.get("role") == "img" and item.get("aria-label") and item.tag not in ("img", "svg"):
            label = item.makeelement("img", {"alt": str(item.attrib.pop("aria-label"))})
            label.tail, item.text = item.text, None
            item.insert(0, label)


def describe_pictures(root: _Element) -> None:
    """Put what is said of each picture in its place: a block where no words stand beside it.

    A description that the picture's caption repeats is left to the caption.
    """
    pictures = list(root.iter("img", "svg"))
    blocks = [_block(item) for item in pictures]
    alone = {block: _is_wordless(block) for block in set(blocks)}
    for item, block in zip(pictures, blocks, strict=True):
        said = _said(item)
        if any(map(str.isalnum, said)) and said not in _captions(item):
            _describe(item, said, alone[block])
        elif said and not said.isascii():  # an emoji
            item.tail = f"{said}{item.tail or ''}"


def _block(item: _Element) -> _Element:
    """Return what a picture stands in."""
    return next(over for over in item.iterancestors() if over.tag != "picture")


def _is_wordless(block: _Element) -> bool:
    """Return whether no words stand beside the pictures and blocks in a block."""
    return not any(str(piece or "").strip() for piece in (block.text, *(c.tail for c in block)))


def _said(item: _Element) -> str:
    """Return a picture's description; "" of one that only decorates."""
    if item.get("aria-hidden") == "true" or item.get("role") in DECORATION_ROLES:
        return ""
    label = item.get("aria-label") or item.get("alt")
    if label is None and item.tag == "svg":
        label = item.findtext("{*}title") or item.findtext("{*}desc")
    return described(label or "")


def _captions(item: _Element) -> list[str]:
    figure = next(item.iterancestors("figure"), None)
    captions = [] if figure is None else figure.iterfind("figcaption")
    return [" ".join("".join(map(str, caption.itertext())).split()) for caption in captions]


def _describe(item: _Element, said: str, is_alone: bool) -> None:
    """Write the description; what was the picture is no element of its own."""
    tail = item.tail or ""
    if not is_alone:
        apart = "" if tail[:1].isspace() or tail[:1] in CLOSING_SIGNS else " "
        item.tail = f" {within(picture(said))}{apart}{tail}"
        return
    item.clear()
    item.tag, item.text, item.tail = "div", picture(said), tail
