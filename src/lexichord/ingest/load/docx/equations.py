"""Word's equations in a line of text, so that no value changes: ½ is 1/2, not 12.

Parts of more than a number or a word stand in parentheses: (a+b)/2, x^(n-1), √(2x).
"""

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

from lxml.etree import QName, _Element

from lexichord.ingest.load.docx.content import FALLBACK_TAG
from lexichord.ingest.load.linear_maths import ROOTS, is_bracketed

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
