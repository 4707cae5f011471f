"""Maths of a web page in a line: MathML as it would be typed, powers that stand after numbers."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from lxml.etree import _Element

from lexichord.ingest.load.html.hidden import is_hidden
from lexichord.ingest.load.linear_maths import ROOTS, is_bracketed

MATHS_TAGS = ("math", "m:math", "mml:math")
LEFT_OUT_TAGS = ("annotation", "annotation-xml", "mphantom", "none", "mprescripts")
MAX_MATHS_DEPTH = 100  # elements in elements; the calls nest with them
PRIMES = frozenset("\u2032\u2033\u2034'°*")
FUNCTION_APPLIED = re.compile("\u2061(?=[(\\[])")
INVISIBLE_SIGNS = str.maketrans({"\u2061": " ", "\u2062": "", "\u2063": "", "\u2064": ""})
NUMBER = re.compile(r"\d[\d.,]*")
RAISED_NUMBER = re.compile(r"[-+\u2212]?\d[\d.,]*")
FRACTION_BARS = ("/", "\u2044")
NOTE_ATTRIBUTE = "is-note"  # of a raised number that leads to a note


def drop_copies(root: _Element) -> None:
    """Empty what shows formulas once more than their MathML; show MathML that a picture repeats.

    KaTeX, MathJax and MediaWiki write each formula twice: for screen readers and as it looks.
    """
    copies = list[_Element]()
    for maths in root.iter(*MATHS_TAGS):
        for holder in _holders(maths):
            beside = [*holder.itersiblings(), *holder.itersiblings(preceding=True)]
            copies += [item for item in beside if item.get("aria-hidden") == "true"]
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
    if holder is None or len(holder) > 1:
        return
    if not ((holder.text or "").strip() or (maths.tail or "").strip()):
        yield holder


def _is_linked(item: _Element) -> bool:
    over = item.getparent()
    return over is not None and over.tag == "a"


def write_maths(root: _Element) -> None:
    """Write each formula in a line, and mark powers, so that no number runs into another."""
    for maths in list(root.iter(*MATHS_TAGS)):
        written = FUNCTION_APPLIED.sub("", _written(maths, MAX_MATHS_DEPTH))
        line = " ".join(written.translate(INVISIBLE_SIGNS).split()) or maths.get("alttext", "")
        tag, tail = "div" if maths.get("display") == "block" else "span", maths.tail
        maths.clear()
        maths.tag, maths.text, maths.tail = tag, line, tail
    for script in root.iter("sup", "sub"):
        _set_apart(script)


def _set_apart(script: _Element) -> None:
    """Mark a raised or lowered number after a number: 10², read as 102, is another number.

    Others stay as they are, for m2, H2O and 1st are found as people write them.
    """
    before = _text_before(script)
    if len(script) or not before[-1:].isdigit():
        return
    if not RAISED_NUMBER.fullmatch((script.text or "").strip()):
        return
    if script.tag == "sub":
        sign = "_"
    elif script.get(NOTE_ATTRIBUTE) is not None:
        sign = " "
    else:
        sign = " " if (script.tail or "").startswith(FRACTION_BARS) else "^"
    script.text = f"{sign}{(script.text or '').strip()}"


def _text_before(item: _Element) -> str:
    previous, parent = item.getprevious(), item.getparent()
    if previous is not None:
        return previous.tail or ""
    return "" if parent is None else parent.text or ""


def _written(item: _Element, room: int) -> str:
    name = str(item.tag).rpartition(":")[2]
    if name in LEFT_OUT_TAGS:
        return ""
    if name == "mspace":
        return " "
    if not len(item) or not room:
        return " ".join(str(piece) for piece in item.itertext())
    parts = [_Part(child, room - 1) for child in item]
    if name in WRITERS and len(parts) >= WRITERS[name][0]:
        return WRITERS[name][1](item, parts)
    return _row(part.text for part in (parts[:1] if name in ("semantics", "maction") else parts))


class _Part:
    """A part of a formula, and what it is within another."""

    def __init__(self, item: _Element, room: int) -> None:
        self.item, self.text = item, _written(item, room).strip()

    @property
    def whole(self) -> str:
        """The part in parentheses, where it is more than one sign, number or word."""
        tokens = sum(1 for leaf in self.item.iter() if not len(leaf) and (leaf.text or "").strip())
        is_one = tokens < 2 and " " not in self.text
        return self.text if is_one or is_bracketed(self.text) else f"({self.text})"


def _row(texts: Iterable[str]) -> str:
    row = last = ""
    for text in filter(None, texts):
        row += f" {text}" if _run_together(last, text) else text
        last = text
    return row


def _run_together(left: str, right: str) -> bool:
    """Return whether two parts side by side would be read as another number, name or fraction."""
    is_closed = left[-1:].isalnum() or ("/" in left and left.endswith(")"))
    if not (is_closed and right[0].isalnum()):
        return False
    is_factor = len(left) == 1 or NUMBER.fullmatch(left) is not None
    is_word = right.isalpha() and len(right) > 1
    return right[0].isdigit() or not is_factor or is_word


def _fraction(item: _Element, parts: Sequence[_Part]) -> str:
    is_barred = not item.get("linethickness", "").startswith("0")
    return f"{parts[0].whole}{'/' if is_barred else ' choose '}{parts[1].whole}"


def _above(base: _Part, script: _Part) -> str:
    is_sign = set(script.text) <= PRIMES
    return f"{base.whole}{'' if is_sign else '^'}{script.whole}"


def _over(item: _Element, parts: Sequence[_Part]) -> str:
    base, script = parts[:2]
    if len(script.text) == 1 and not script.text.isalnum():  # an accent
        return f"{base.whole}{script.text}"
    return _above(base, script)


def _both(item: _Element, parts: Sequence[_Part]) -> str:
    low, high = (part.whole for part in parts[1:3])
    return f"{parts[0].whole}{f'_{low}' if low else ''}{f'^{high}' if high else ''}"


def _root(item: _Element, parts: Sequence[_Part]) -> str:
    index = parts[1].text
    sign = ROOTS.get(index, f"√[{index}]")
    return f"{sign}{parts[0].whole}"


def _square_root(item: _Element, parts: Sequence[_Part]) -> str:
    text = _row(part.text for part in parts)
    is_one = len(parts) == 1 and parts[0].whole == text
    return f"√{text}" if is_one else f"√({text})"


def _fenced(item: _Element, parts: Sequence[_Part]) -> str:
    signs = item.get("separators", ",").replace(" ", "")
    row = parts[0].text
    for place, part in enumerate(parts[1:]):
        row += f"{signs[min(place, len(signs) - 1)] if signs else ''}{part.text}"
    return f"{item.get('open', '(')}{row}{item.get('close', ')')}"


def _scripts(item: _Element, parts: Sequence[_Part]) -> str:
    """Write a sign with scripts behind it and before it, as isotopes have them."""
    names = [str(part.item.tag).rpartition(":")[2] for part in parts]
    middle = names.index("mprescripts") if "mprescripts" in names else len(parts)
    before = _script_pairs(parts[middle + 1 :])
    behind = _script_pairs(parts[1:middle])
    return f"{before}{' ' if before else ''}{parts[0].whole}{behind}"


def _script_pairs(parts: Sequence[_Part]) -> str:
    marked = zip(parts, "_^" * len(parts), strict=False)
    return "".join(f"{sign}{part.whole}" for part, sign in marked if part.text)


# How elements are written, and how many parts they have at least.
WRITERS: dict[str, tuple[int, Callable[[_Element, Sequence[_Part]], str]]] = {
    "mfrac": (2, _fraction),
    "msup": (2, lambda item, parts: _above(parts[0], parts[1])),
    "msub": (2, lambda item, parts: f"{parts[0].whole}_{parts[1].whole}"),
    "munder": (2, lambda item, parts: f"{parts[0].whole}_{parts[1].whole}"),
    "mover": (2, _over),
    "msubsup": (3, _both),
    "munderover": (3, _both),
    "mmultiscripts": (1, _scripts),
    "msqrt": (1, _square_root),
    "mroot": (2, _root),
    "mfenced": (1, _fenced),
    "mtr": (1, lambda item, parts: ", ".join(part.text for part in parts)),
    "mtable": (1, lambda item, parts: "; ".join(part.text for part in parts)),
}
