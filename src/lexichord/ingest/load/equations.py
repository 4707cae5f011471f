"""Equations in a line, so that no value changes: Word's and MathML's; ½ is 1/2, not 12."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

from lxml.etree import QName, _Element

from lexichord.ingest.load.archive import FALLBACK_TAG

ROOTS = MappingProxyType({"2": "√", "3": "∛", "4": "∜"})


def is_bracketed(text: str) -> bool:
    """Return whether one pair of parentheses holds all of a part."""
    depth = 0
    for place, sign in enumerate(text, 1):
        depth += (sign == "(") - (sign == ")")
        if not depth:
            return sign == ")" and place == len(text)
    return False


MATH_NAMESPACE = "http://schemas.openxmlformats.org/officeDocument/2006/math"
EQUATION_TAGS = {f"{{{MATH_NAMESPACE}}}{name}" for name in ("oMath", "oMathPara")}
VALUE = f"{{{MATH_NAMESPACE}}}val"
EDGE = "\x00"  # stands, while all is put together, where what follows must not run into the rest
TOUCHING = re.compile(rf"(?<=[\w)\]}}]){EDGE}+(?=[\w(\[{{√∛∜])")
ONE_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+|\W|")
SEVERAL_TERMS = re.compile(r"[-+\u2212±∓=<>≤≥]")
MACRON = "\u0304"

type Words = Callable[[_Element], str]  # the words of a run


def equation(element: _Element, words: Words) -> str:
    """Return an equation, or a paragraph of them, in a line, with signs at its edges."""
    return _Equation(words).read(element)


def set_apart(text: str) -> str:
    """Put a blank where an equation or a part of one would run into a word or number."""
    return TOUCHING.sub(" ", text).replace(EDGE, "")


class _Equation:
    """Reads the elements of equations by their names."""

    def __init__(self, words: Words) -> None:
        self._words = words

    def read(self, element: _Element) -> str:
        """Return an element of an equation as text; of one that is unknown what it holds."""
        name = QName(element).localname
        if name in FORMS:
            return FORMS[name](self, element)
        if name == "r":
            return self._words(element)
        if element.tag == FALLBACK_TAG or name.endswith("Pr") or name in ("del", "moveFrom"):
            return ""
        edge = "" if name in PLAIN else EDGE
        return f"{edge}{self._inside(element)}{edge}"

    def _inside(self, element: _Element) -> str:
        return "".join(map(self.read, element.iterchildren("{*}*")))

    def _part(self, element: _Element, name: str) -> str:
        """Return what stands in a part; "" where the element has none."""
        part = element.find(f"{{*}}{name}")
        return "" if part is None else set_apart(self._inside(part)).strip()

    def _parts(self, element: _Element, name: str) -> list[str]:
        return [set_apart(self._inside(part)).strip() for part in element.iterfind(f"{{*}}{name}")]

    def paragraph(self, element: _Element) -> str:
        """Write equations of a paragraph line by line."""
        return "\n".join(map(self._inside, element.iterfind("{*}oMath")))

    def fraction(self, element: _Element) -> str:
        """Write a/b; what only stands one above the other has another sign between."""
        sign = "¦" if _said(element, "fPr", "type", "bar") == "noBar" else "/"
        over, under = self._part(element, "num"), self._part(element, "den")
        return f"{EDGE}{_one(over)}{sign}{_one(under)}{EDGE}"

    def script(self, element: _Element) -> str:
        """Write x_1^2; without a base it belongs to what stands before it."""
        base = _one(self._part(element, "e"))
        return f"{EDGE if base else ''}{base}{self._scripts(element)}{EDGE}"

    def before(self, element: _Element) -> str:
        """Write what stands below and above in front of its base, as of isotopes."""
        return f"{EDGE}{self._scripts(element)} {_one(self._part(element, 'e'))}{EDGE}"

    def _scripts(self, element: _Element) -> str:
        below = self._part(element, "sub") or self._limit(element, "limLow")
        above = self._part(element, "sup") or self._limit(element, "limUpp")
        return f"{below and f'_{_one(below)}'}{above and f'^{_one(above)}'}"

    def _limit(self, element: _Element, name: str) -> str:
        return self._part(element, "lim") if QName(element).localname == name else ""

    def root(self, element: _Element) -> str:
        """Write √2, or x^(1/n) for a root that has no sign."""
        degree, base = self._part(element, "deg") or "2", _one(self._part(element, "e"))
        if degree in ROOTS:
            return f"{EDGE}{ROOTS[degree]}{base}{EDGE}"
        return f"{EDGE}{base}^(1/{_one(degree)}){EDGE}"

    def large(self, element: _Element) -> str:
        """Write a sum, a product, an integral with its limits."""
        sign = _said(element, "naryPr", "chr", "∫")
        body = _term(self._part(element, "e"))
        return f"{EDGE}{sign}{self._scripts(element)} {body}{EDGE}"

    def brackets(self, element: _Element) -> str:
        """Write what stands between brackets with them."""
        opening = _said(element, "dPr", "begChr", "(")
        closing = _said(element, "dPr", "endChr", ")")
        between = _said(element, "dPr", "sepChr", "|")
        return f"{opening}{between.join(self._parts(element, 'e'))}{closing}"

    def function(self, element: _Element) -> str:
        """Write sin x."""
        name, of = self._part(element, "fName"), _term(self._part(element, "e"))
        return f"{EDGE}{name}{'' if of.startswith('(') else ' '}{of}{EDGE}"

    def accent(self, element: _Element) -> str:
        """Write an accent behind what it stands above."""
        return f"{self._part(element, 'e')}{_said(element, 'accPr', 'chr', '\u0302')}"

    def bar(self, element: _Element) -> str:
        """Write a mean's bar; a line below only sets off."""
        is_above = _said(element, "barPr", "pos", "bot") == "top"
        return f"{self._part(element, 'e')}{MACRON if is_above else ''}"

    def matrix(self, element: _Element) -> str:
        """Write the rows of a matrix one after another."""
        rows = (", ".join(self._parts(row, "e")) for row in element.iterfind("{*}mr"))
        return f"{EDGE}{'; '.join(rows)}{EDGE}"

    def lines(self, element: _Element) -> str:
        """Write lines that stand below each other, without the signs that align them."""
        return f"{EDGE}{'; '.join(self._parts(element, 'e')).replace('&', '')}{EDGE}"


def _said(element: _Element, properties: str, name: str, otherwise: str) -> str:
    said = element.find(f"{{*}}{properties}/{{*}}{name}")
    return otherwise if said is None else said.get(VALUE, "")


def _one(text: str) -> str:
    """Return a part in parentheses, unless it is a number, a word, a sign or has them."""
    return text if ONE_TOKEN.fullmatch(text) or is_bracketed(text) else f"({text})"


def _term(text: str) -> str:
    """Return a part in parentheses where it is more than what is multiplied."""
    return f"({text})" if SEVERAL_TERMS.search(text) and not is_bracketed(text) else text


PLAIN = ("oMath", "ins", "moveTo", "box", "borderBox", "phant", "groupChr", "e", "AlternateContent")
FORMS: Mapping[str, Callable[[_Equation, _Element], str]] = MappingProxyType(
    {
        "oMathPara": _Equation.paragraph,
        "f": _Equation.fraction,
        **dict.fromkeys(("sSub", "sSup", "sSubSup", "limLow", "limUpp"), _Equation.script),
        "sPre": _Equation.before,
        "rad": _Equation.root,
        "nary": _Equation.large,
        "d": _Equation.brackets,
        "func": _Equation.function,
        "acc": _Equation.accent,
        "bar": _Equation.bar,
        "m": _Equation.matrix,
        "eqArr": _Equation.lines,
    }
)


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
