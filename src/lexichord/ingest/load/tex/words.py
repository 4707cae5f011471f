"""TeX's names of letters, signs and accents, as pylatexenc knows them."""

import re
import unicodedata
from functools import cache
from types import MappingProxyType

_FUNCTIONS = "arg argmax argmin det dim gcd hom ker Pr deg sec csc cot mod sgn"
# Beside pylatexenc's, or in another form.
OWN_SYMBOLS = MappingProxyType(
    {
        **{f"\\{sign}": sign for sign in "%&#$_{}|"},
        **dict.fromkeys(("\\ ", "\\,", "\\;", "\\:", "\\>", "\\quad", "\\qquad", "\\space"), " "),
        **dict.fromkeys(("\\enspace", "\\enskip", "\\thinspace", "\\nobreakspace"), " "),
        **dict.fromkeys(("\\!", "\\/", "\\-", "\\@", "\\today", "\\relax", "\\displaystyle"), ""),
        **dict.fromkeys(("\\limits", "\\nolimits", "\\textstyle", "\\scriptstyle"), ""),
        **dict.fromkeys(("\\S", "\\textsection"), "§"),
        **dict.fromkeys(("\\P", "\\textparagraph"), "¶"),
        **dict.fromkeys(("\\euro", "\\texteuro", "\\EUR"), "€"),
        **dict.fromkeys(("\\degree", "\\textdegree"), "°"),
        "\\pounds": "£",
        "\\copyright": "©",
        "\\iff": "⟺",
        "\\TeX": "TeX",
        "\\LaTeX": "LaTeX",
        "\\LaTeXe": "LaTeX2e",
        "\\BibTeX": "BibTeX",
        "\\slash": "/",
        "\\colon": ":",
        "\\lbrack": "[",
        "\\rbrack": "]",
        "\\textasciitilde": "~",
        "\\textasciicircum": "^",
        "\\textbackslash": "\\",
        "\\micro": "µ",
        "\\percent": "%",
        **{f"\\{name}": name for name in _FUNCTIONS.split()},
    }
)
ACCENTS = MappingProxyType(
    {
        **{"\\'": "\u0301", "\\`": "\u0300", '\\"': "\u0308", "\\^": "\u0302", "\\~": "\u0303"},
        **{"\\=": "\u0304", "\\.": "\u0307", "\\u": "\u0306", "\\v": "\u030c", "\\H": "\u030b"},
        **{"\\c": "\u0327", "\\k": "\u0328", "\\r": "\u030a", "\\b": "\u0331", "\\d": "\u0323"},
        **{"\\hat": "\u0302", "\\tilde": "\u0303", "\\bar": "\u0304", "\\vec": "\u20d7"},
        **{"\\dot": "\u0307", "\\ddot": "\u0308", "\\check": "\u030c", "\\breve": "\u0306"},
        **{"\\acute": "\u0301", "\\grave": "\u0300", "\\widehat": "\u0302"},
        **{"\\widetilde": "\u0303", "\\overline": "\u0304"},
    }
)
DOTLESS = MappingProxyType({"\u0131": "i", "\u0237": "j"})
DASHES = re.compile(r"---|--|``|''|\?`|!`")
DASH_SIGNS = {"---": "—", "--": "–", "``": "“", "''": "”", "?`": "¿", "!`": "¡"}


def symbol(command: str) -> str | None:
    """Return what a command prints that takes nothing; None where it is no such."""
    own = OWN_SYMBOLS.get(command)
    return _symbols().get(command) if own is None else own


@cache
def _symbols() -> dict[str, str]:
    from pylatexenc.latex2text import get_default_latex_context_db

    shown = {
        f"\\{spec.macroname}": spec.simplify_repl
        for spec in get_default_latex_context_db().iter_macro_specs()
    }
    return {
        name: sign
        for name, sign in shown.items()
        if isinstance(sign, str) and "%" not in sign and not sign.startswith("<")
    }


def accented(command: str, text: str) -> str:
    """Return a text with an accent on its first letter, or the accent's name where it has none."""
    letter, rest = text[:1], text[1:]
    if len(text) > 1 and command[1:].isalpha() and len(command) > 2:  # of mathematics
        return f"{command[1:]}({text})"
    if not letter.strip():
        return text
    return unicodedata.normalize("NFC", DOTLESS.get(letter, letter) + ACCENTS[command]) + rest


def printed(text: str) -> str:
    """Return a run of text with its dashes and quotation marks as they are printed."""
    return DASHES.sub(lambda match: DASH_SIGNS[match[0]], text)
