"""What LaTeX's commands and environments are for: which print nothing, which print what they take.

How many things a command takes is written with a sign each: "*" a star, "o" something in brackets,
"-" something in braces that is not printed, "+" something in braces that is.
"""

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
