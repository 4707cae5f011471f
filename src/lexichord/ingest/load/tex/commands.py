"""What LaTeX's commands and environments are for; the names of letters, signs and accents."""

import re
import unicodedata
from functools import cache
from types import MappingProxyType

HEADING_LEVELS = MappingProxyType(
    {
        "\\part": 2,
        **dict.fromkeys(("\\chapter", "\\addchap"), 3),
        **dict.fromkeys(("\\section", "\\addsec"), 4),
        "\\subsection": 5,
        "\\subsubsection": 6,
        **dict.fromkeys(("\\paragraph", "\\frametitle", "\\minisec"), 7),
        "\\subparagraph": 8,
    }
)
TITLE_LEVEL, SECTION_LEVEL, FRAME_LEVEL = 1, 4, 7
_TAKES = {
    "*": "\\newpage \\hfill",
    "o": (
        "\\linebreak \\nolinebreak \\pagebreak \\nopagebreak \\printbibliography \\listoftodos "
        "\\toprule \\midrule \\bottomrule \\printglossary \\pause \\allowdisplaybreaks "
        "\\addlinespace"
    ),
    "-": (
        "\\label \\index \\pagestyle \\thispagestyle \\bibliographystyle \\pagenumbering \\phantom "
        "\\hypersetup \\graphicspath \\nocite \\linespread \\hyphenation \\newcounter \\vphantom "
        "\\stepcounter \\refstepcounter \\usetikzlibrary \\pgfplotsset \\tikzset \\lstset \\cline "
        "\\selectlanguage \\hphantom \\newlength \\newsavebox \\usetheme \\usecolortheme \\sisetup "
        "\\usefonttheme \\captionsetup \\theoremstyle \\geometry \\urlstyle \\addbibresource "
        "\\enlargethispage \\includeonly \\glsadd \\setmainfont \\setsansfont \\setmonofont "
        "\\fontfamily \\fontseries \\fontshape \\newgeometry \\markright \\AtBeginDocument"
    ),
    "*-": "\\vspace \\hspace \\addvspace",
    "o-": ("\\color \\pagecolor \\rowcolor \\cellcolor \\columncolor"),
    "--": (
        "\\setlength \\addtolength \\setcounter \\addtocounter \\settowidth \\numberwithin "
        "\\fontsize \\markboth \\PassOptionsToPackage \\counterwithin \\DeclareUnicodeCharacter "
        "\\colorlet"
    ),
    "o--": "\\rule \\pdfbookmark",
    "---": "\\definecolor \\addcontentsline",
    "+-": "\\texorpdfstring",
    "-+": "\\foreignlanguage \\hypertarget \\hyperlink",
    "o-+": "\\textcolor \\colorbox",
    "*--+": "\\resizebox",
    "-o+": "\\scalebox",
    "o--+": "\\fcolorbox",
    "o-o+": "\\rotatebox",
    "ooo-+": "\\parbox",
    "-oo+": "\\raisebox",
    "oo+": "\\makebox \\framebox",
    "o+": (
        "\\hyperref \\gls \\Gls \\glspl \\Glspl \\acrshort \\acrlong \\acrfull \\ac \\num \\si "
        "\\unit \\ang \\todo"
    ),
    "o++": "\\SI \\qty",
    "++": "\\numrange \\stackrel \\overset \\underset",
}
TAKES = MappingProxyType({name: takes for takes, names in _TAKES.items() for name in names.split()})
# Which print what they take, or change how what follows looks, and nothing else.
_PLAIN = (
    "\\textbf \\textit \\emph \\texttt \\textsc \\textrm \\textsf \\textsl \\textup \\textmd "
    "\\textnormal \\underline \\uline \\sout \\st \\hl \\fbox \\vbox \\mathrm "
    "\\mathbf \\mathit \\mathsf \\mathtt \\mathcal \\mathbb \\mathfrak \\mathscr \\mathnormal "
    "\\boldsymbol \\bm \\operatorname \\ensuremath \\protect \\left \\right \\middle \\big \\Big "
    "\\bigg \\Bigg \\bigl \\bigr \\Bigl \\Bigr \\biggl \\biggr \\bf \\it \\em \\rm \\sf \\tt \\sc "
    "\\sl \\bfseries \\itshape \\ttfamily \\sffamily \\rmfamily \\scshape \\upshape \\mdseries "
    "\\slshape \\normalfont \\tiny \\scriptsize \\footnotesize \\small \\normalsize \\large "
    "\\Large \\LARGE \\huge \\Huge \\centering \\raggedright \\raggedleft \\noindent \\indent "
    "\\appendix \\clearpage \\cleardoublepage \\smallskip \\medskip \\bigskip \\vfill \\hfil "
    "\\vfil \\hss \\vss \\frontmatter \\mainmatter \\backmatter \\tableofcontents \\listoffigures "
    "\\listoftables \\makeindex \\printindex \\onecolumn \\twocolumn \\sloppy \\fussy \\null "
    "\\leavevmode \\nobreak \\break \\unskip \\ignorespaces \\nonumber \\notag "
    "\\displaystyle \\long \\global \\outer \\expandafter \\noexpand \\begingroup \\endgroup "
    "\\bgroup \\egroup \\nonfrenchspacing \\frenchspacing \\onehalfspacing \\doublespacing "
    "\\singlespacing \\balance \\strut \\smash \\boxed \\lefteqn \\centerline "
    "\\footnotemark \\justifying \\underbrace \\overbrace \\hfuzz "
    "\\newblock \\bigbreak \\medbreak \\smallbreak \\goodbreak \\filbreak "
    "\\mathstrut \\mathop \\mathbin \\mathrel \\mathord \\mathopen \\mathclose \\rmdefault "
    "\\onlyinclude \\phantomsection "
    "\\institution \\city \\country \\nopagecolor \\selectfont \\restoregeometry "
    "\\scriptscriptstyle"
)
PLAIN = frozenset(_PLAIN.split())
# Of these and of `TAKES` those that part words.
_SPACES = (
    "\\hfill \\hfil \\vfill \\vfil \\hspace \\vspace \\addvspace \\linebreak \\pagebreak \\newpage "
    "\\clearpage \\smallskip \\medskip \\bigskip \\smallbreak \\medbreak \\bigbreak \\break"
)
SPACES = frozenset(_SPACES.split())
RULES = ("\\hline", "\\midrule", "\\cline", "\\cmidrule", "\\specialrule")
_MATHS = (
    "math displaymath equation align gather multline eqnarray flalign alignat aligned gathered "
    "alignedat split cases dcases matrix pmatrix bmatrix vmatrix Vmatrix Bmatrix smallmatrix array "
    "subequations IEEEeqnarray dmath"
)
MATHS = frozenset(_MATHS.split())
DISPLAYED = MATHS - {"math", "split", "aligned", "gathered", "alignedat", "cases", "dcases"}
TABLES = MappingProxyType(
    {
        "tabular": "o-",
        "tabular*": "-o-",
        "tabularx": "-o-",
        "tabulary": "-o-",
        "tabu": "-",
        "longtable": "o-",
        "supertabular": "-",
        "xtabular": "-",
        "longtabu": "o-",
        "tblr": "o-",
    }
)
LISTS = MappingProxyType(
    {
        **dict.fromkeys(("itemize", "compactitem", "trivlist", "itemize*"), "- "),
        **dict.fromkeys(("enumerate", "compactenum", "enumerate*", "questions"), "1"),
        **dict.fromkeys(("description", "compactdesc"), ""),
    }
)
_CODE = "verbatim verbatim* Verbatim BVerbatim lstlisting minted alltt code"
CODE = frozenset(_CODE.split())
ENVIRONMENTS_TAKE = MappingProxyType(
    {
        **dict.fromkeys(LISTS, "o"),
        "list": "--",
        "minipage": "ooo-",
        "multicols": "-",
        "thebibliography": "-",
        "wrapfigure": "o-o-",
        "wraptable": "o-o-",
        "figure": "o",
        "table": "o",
        "figure*": "o",
        "table*": "o",
        "sidewaystable": "o",
        "subfigure": "oo-",
        "subtable": "oo-",
        "adjustbox": "-",
        "threeparttable": "o",
        "tablenotes": "o",
        "tcolorbox": "o",
        "spacing": "-",
        "array": "o-",
        "alignat": "-",
        "alignedat": "-",
        "letter": "-",
        "column": "o-",
        "columns": "o",
        "otherlanguage": "-",
    }
)
_PICTURES = "tikzpicture pgfpicture picture pspicture axis circuitikz tikzcd"
PICTURES = frozenset(_PICTURES.split())
_LEFT_OUT = "comment CCSXML filecontents filecontents*"
LEFT_OUT = frozenset(_LEFT_OUT.split())
THEOREMS = MappingProxyType({"proof": ("Proof",)})
CAPTIONED = MappingProxyType({"figure": "Figure", "wrapfigure": "Figure", "subfigure": "Figure"})
_CITING = (
    "\\cite \\citep \\citet \\citealp \\citealt \\parencite \\textcite \\autocite \\footcite "
    "\\citeauthor \\citeyear \\citeyearpar \\Citet \\Citep \\onlinecite \\fullcite \\smartcite "
    "\\supercite \\Cite \\Textcite \\Parencite \\Autocite \\shortcite \\citenum"
)
CITING = frozenset(_CITING.split())
_REFERRING = "\\ref \\eqref \\pageref \\autoref \\cref \\Cref \\nameref \\vref \\subref \\cpageref"
REFERRING = frozenset(_REFERRING.split())


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
