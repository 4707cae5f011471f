"""TeX: what the reader of the printed page sees is text, and what is not read is named."""

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexichord.ingest.chunk.splitter import split
from lexichord.ingest.files import FileSources
from lexichord.ingest.load import load
from lexichord.ingest.load.tex.reader import taken_in_by_tex
from lexichord.ingest.sandbox import Sandbox
from lexichord.types import LoadedText
from tests.wordings import worded


def read(folder: Path, content: str, name: str = "tide_tables.tex") -> LoadedText:
    (folder / name).write_bytes(content.encode())
    return load(folder / name)


def body(content: str) -> str:
    return f"\\documentclass{{article}}\n\\begin{{document}}\n{content}\n\\end{{document}}\n"


PAPER = r"""\documentclass{article} % nobody reads this
\usepackage[utf8]{inputenc}
\hypersetup{pdfauthor={not printed}}
\title{Ropes of \emph{hemp}\thanks{Paid for by the guild.}}
\author{Ada Berg\\ Lund \and Bo Carl}
\date{May 2024}
\begin{document}
\maketitle
\begin{abstract}Hemp holds.\end{abstract}
\section[Short]{How we \textbf{pulled}}\label{sec:pull}
A rope -- dry -- held 40\,kg.\footnote{At noon.} It
went on. % but for how long?

\subsection*{Results}
\begin{table}\caption[short]{Loads by rope.}
\begin{tabular}{@{}lr@{}}\toprule
Rope & Load \\ \midrule
\multirow{2}{*}{Hemp} & 40 \\ & 45\footnote{Wet.} \\
\multicolumn{2}{c}{none broke} \\ \bottomrule
\end{tabular}\end{table}
\begin{itemize}\item First \item[b)] Second\end{itemize}
\begin{verbatim}
  % kept: \textbf{as it is}
\end{verbatim}
See \citep[see][p.~5]{berg,carl}.
\begin{thebibliography}{9}\bibitem{berg} Berg, A. On ropes.\end{thebibliography}
\end{document}
What follows is not printed.
"""


def test_a_paper_is_read_as_it_is_printed(tmp_path: Path) -> None:
    loaded = read(tmp_path, PAPER)
    assert loaded.text == (
        "Ropes of hemp\n\nAda Berg, Lund, Bo Carl\n\nMay 2024\n\nPaid for by the guild.\n\n"
        "Abstract\n\nHemp holds.\n\nHow we pulled\n\n"
        "A rope – dry – held 40 kg.[1] It went on.\n\n[1] At noon.\n\nResults\n\n"
        "Table: Loads by rope.\n\n| Rope | Load |\n| --- | --- |\n| Hemp | 40 |\n"
        "| Hemp | 45[2] |\n| none broke |  |\n\n[2] Wet.\n\n- First\nb) Second\n\n"
        "% kept: \\textbf{as it is}\n\nSee [see berg, carl, p. 5].\n\n"
        "References\n\n[berg] Berg, A. On ropes."
    )
    assert (loaded.title, loaded.media_type) == ("Ropes of hemp", "application/x-tex")
    assert loaded.metadata == {"author": "Ada Berg, Lund, Bo Carl", "created": "May 2024"}
    assert [(heading.level, heading.name) for heading in loaded.headings] == [
        (1, "Ropes of hemp"),
        (2, "Abstract"),
        (2, "How we pulled"),
        (3, "Results"),
        (2, "References"),
    ]
    assert [loaded.text[table.start : table.header_end] for table in loaded.tables] == [
        "| Rope | Load |\n| --- | --- |\n",
        "",
    ]


@worded("written", "text")
def test_commands_become_words(tmp_path: Path, written: str, text: str) -> None:
    loaded = read(tmp_path, body(written))
    assert (loaded.text, loaded.metadata) == (text, {})


def test_what_is_given_before_the_document_is_printed_with_the_title(tmp_path: Path) -> None:
    front = (
        r"\documentclass{a}\title{Ropes}\subtitle{Of hemp}\author{Ada}\affil[1]{Lund\\ Sweden}"
        r"\abstract{They hold.\footnote{Dry.}}\keywords{rope, hemp}\unknown{no}\begin{document}"
    )
    loaded = read(tmp_path, front + r"\maketitle Text. \email{a@x.example}\end{document}")
    assert loaded.text == (
        "Ropes\n\nAda\n\nOf hemp\n\nLund, Sweden\n\nAbstract\n\nThey hold.[1]\n\n[1] Dry.\n\n"
        "Keywords: rope, hemp\n\nText.\n\na@x.example"
    )
    assert loaded.metadata == {"author": "Ada", "keywords": "rope, hemp"}
    assert read(tmp_path, r"\documentclass{a}\author{Ada}\begin{document}x").text == "Ada\n\nx"


def test_a_part_of_a_paper_is_text_from_its_first_line_on(tmp_path: Path) -> None:
    loaded = read(tmp_path, "\ufeff\\chapter{Knots}\r\nOne.\r\n\r\nTwo.\r\n")
    assert (loaded.text, loaded.title) == ("Knots\n\nOne.\n\nTwo.", "tide tables")


def test_a_command_that_nothing_defines_leaves_its_words_and_is_named(tmp_path: Path) -> None:
    loaded = read(tmp_path, body(r"\ourtool is \marked{very}{good}."))
    assert loaded.text == "ourtool is very good."
    told = "commands that nothing here defines, shown by their words: \\ourtool, \\marked"
    assert loaded.metadata == {"flags": [told]}


def test_a_drawing_leaves_its_labels_and_is_named(tmp_path: Path) -> None:
    drawing = r"\begin{tikzpicture}\node (a) at (0,0) {Quay}; \draw (0,0);\end{tikzpicture}"
    loaded = read(tmp_path, body(f"See {drawing}"))
    assert loaded.text == "See Quay;"
    assert loaded.metadata == {"flags": ["no text but the labels in it: tikzpicture"]}


def test_files_of_the_folder_stand_where_they_are_taken_in(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts/one.tex").write_text("\\section{One}\nFirst \\own.\n\\input{parts/two}\n")
    (tmp_path / "parts/two.tex").write_text("Second.\\endinput never")
    (tmp_path / "house.sty").write_text("\\newcommand\\own{house@rule}\\def\\my@x{no}")
    (tmp_path / "main.bbl").write_text(
        "\\begin{thebibliography}{1}\\bibitem{k} Kept.\n\\end{thebibliography}"
    )
    main = "\\documentclass{a}\\usepackage{house,graphicx}\\begin{document}" \
        "\\include{parts/one} End. \\bibliography{refs}\\end{document}"  # fmt: skip
    loaded = read(tmp_path, main, "main.tex")
    assert loaded.text == "One\n\nFirst house@rule. Second. End.\n\nReferences\n\n[k] Kept."
    assert loaded.metadata == {}


def test_a_preamble_may_stand_in_another_file(tmp_path: Path) -> None:
    whole = "\\documentclass{book}\\odd{PRE}\\begin{document}In.\\end{document}"
    (tmp_path / "whole.tex").write_text(whole)
    assert read(tmp_path, "\\def\\size{a4}\\input{whole}").text == "In."
    assert read(tmp_path, "\\documentclass{book}\nNever begun.").text == "Never begun."


def test_what_leads_out_of_the_folder_is_not_followed_but_named(tmp_path: Path) -> None:
    (tmp_path / "secret.tex").write_text("SECRET")
    folder = tmp_path / "paper"
    folder.mkdir()
    (folder / "link.tex").symlink_to(tmp_path / "secret.tex")
    (folder / "self.tex").write_text("Again \\input{self}")
    (folder / ".ssh").mkdir()
    (folder / ".ssh/id.tex").write_text("SECRET")
    (folder / "key.pem").write_text("SECRET")
    hidden = (".ssh/id", "key.pem")
    taken = ("../secret", "/etc/passwd", "link", "self", "nowhere", *hidden, "x" * 300)
    written = "".join(f"\\input{{{name}}} " for name in taken)
    loaded = read(folder, body(f"Text {written}"))
    assert loaded.text == "Text Again"
    reasons = ["leads out of the folder"] * 3 + ["takes itself in", "is not there"]
    reasons += ["is of another kind, or hidden"] * 2
    named = [f"{name} was not read: it {told}" for name, told in zip(taken, reasons, strict=False)]
    assert loaded.metadata["flags"][:7] == named


def test_a_changed_chapter_changes_how_a_paper_is_read(tmp_path: Path) -> None:
    main, chapter = tmp_path / "main.tex", tmp_path / "one.tex"
    main.write_text("\\usepackage[a]{b,own}\\input{one}\\input{../x}\\input{main}")
    assert taken_in_by_tex(main) == ""
    chapter.write_text("\\include{two}")
    seen = [taken_in_by_tex(main)]
    recipe = FileSources("papers", "context=none", Sandbox()).source(main).recipe
    assert f" with={seen[0][:16]} " in recipe
    for name in ("two.tex", "own.sty", "main.bbl", "two.tex"):
        (tmp_path / name).write_text(f"{len(seen)}")
        seen.append(taken_in_by_tex(main))
    assert len({*seen, ""}) == 6
    (tmp_path / "three.tex").write_text("not taken in")
    assert taken_in_by_tex(main) == seen[-1]


@pytest.mark.parametrize(
    "taking",
    [
        "\\newcommand{\\chap}[1]{\\input{parts/#1}}\\chap{one}",
        "\\def\\folder{parts}\\input{\\folder/one}",
        "\\def\\file{parts/one}\\input\\file",
        "\\newcommand{\\in}[1]{parts/#1}\\def\\again{\\in{one}}\\input{\\again}",
        "\\let\\take\\input \\take{parts/one}",
    ],
)
def test_a_chapter_that_a_macro_names_is_taken_in_and_looked_at(
    tmp_path: Path, taking: str
) -> None:
    chapter = tmp_path / "parts/one.tex"
    chapter.parent.mkdir()
    chapter.write_text("Hemp holds.")
    text = read(tmp_path, body(taking), "main.tex").text
    seen = taken_in_by_tex(tmp_path / "main.tex")
    assert text.strip() == "Hemp holds."
    chapter.write_text("Hemp breaks.")
    assert taken_in_by_tex(tmp_path / "main.tex") != seen


def test_a_talk_is_read_without_its_overlays(tmp_path: Path) -> None:
    talk = (
        "\\begin{frame}<1>{Ropes}\n\\begin{block}<2->{Hemp}It holds.\\end{block}\n"
        "\\begin{itemize}\n\\item<1-> wet\n\\item<2>[b] dry\n\\end{itemize}\n"
        "\\only<2>{Much} \\alert<3->{more}\\end{frame}\n$1 <2> 3$"
    )
    text = read(tmp_path, body(talk)).text
    assert " ".join(text.split()) == "Ropes Hemp It holds. - wet b dry Much more 1 <2> 3"


def test_a_note_in_a_heading_stands_below_it(tmp_path: Path) -> None:
    text = read(
        tmp_path,
        body("Before.\\footnote{One.}\n\\section{How\\footnote{Two.}}\nSo.\\footnote{Three.}"),
    ).text
    assert text.split("\n\n") == [
        *("Before.[1]", "[1] One.", "How[2]", "[2] Two.", "So.[3]", "[3] Three.")
    ]


WORDS = st.text("abcdefghijklmnoprstuvwyz", min_size=2, max_size=8)
INLINE = [
    "{}",
    "\\textbf{{{}}}",
    "{{\\em {}}}",
    "\\textcolor{{red}}{{{}}}",
    "\\own{{{}}}",
    "\\unknown{{{}}}",
    "\\footnote{{{}}}",
    "\\cite{{{}}}",
    "$ {} $",
    "\\verb|{}|",
    "\\href{{http://x.example}}{{{}}}",
    "\\parbox{{3cm}}{{{}}}",
]
BLOCKS = [
    "\\section{{{}}}\n",
    "\\subsection*{{{}}}\n",
    "\\begin{{itemize}}\n\\item {}\n\\end{{itemize}}\n",
    "\\begin{{tabular}}{{ll}}\nx & y \\\\ \\hline\n{} & z \\\\\n\\end{{tabular}}\n",
    "\\begin{{verbatim}}\n{}\n\\end{{verbatim}}\n",
    "\\begin{{figure}}\\caption{{{}}}\\end{{figure}}\n",
    "\\begin{{quote}}{}\\end{{quote}}\n",
    "\\begin{{mine}}{}\\end{{mine}}\n",
    "\\begin{{nobodys}}{}\\end{{nobodys}}\n",
    "\\[ {} \\]\n",
    "\n\n{}\n\n",
]
HIDDEN = [
    "% {}\n",
    "\\iffalse {} \\fi ",
    "\\label{{{}}}",
    "\\begin{{comment}}\n{}\n\\end{{comment}}\n",
    "\\vspace{{{}}}",
]
PARTS = st.lists(
    st.tuples(st.sampled_from([*INLINE, *BLOCKS, *HIDDEN]), WORDS), min_size=1, max_size=12
)
PREAMBLE = (
    "\\documentclass{article}\n\\newcommand{\\own}[1]{\\emph{#1}}\n"
    "\\newenvironment{mine}{\\begin{center}}{\\end{center}}\n% PREAMBLE\n"
    "\\lstset{PREAMBLE}\\begin{document}\nBegun "
)


@given(PARTS)
def test_all_that_is_written_is_found_and_nothing_hidden_is(
    tmp_path_factory: pytest.TempPathFactory, parts: list[tuple[str, str]]
) -> None:
    named = [(form, f"{word}{number}q") for number, (form, word) in enumerate(parts)]
    written = " ".join(form.format(word) for form, word in named)
    loaded = read(
        tmp_path_factory.mktemp("tex"), f"{PREAMBLE}{written}\n\\end{{document}} PREAMBLE"
    )
    for form, word in named:
        assert loaded.text.count(word) == (form not in HIDDEN), (form, word)
    assert "PREAMBLE" not in loaded.text
    assert "\\" not in loaded.text
    headings = [word for form, word in named if "section" in form]
    assert [heading.name for heading in loaded.headings] == headings
    for heading in loaded.headings:
        assert loaded.text[heading.start : heading.end].strip() == heading.name
    assert all(loaded.text[piece.start : piece.end] == piece.content for piece in split(loaded))


@given(st.lists(st.sampled_from(
    [*"{}$&~#%^_*[]\\ \n", "\n\n", "a", "\\a", "\\def", "\\begin", "{tabular}", "\\end", "\\item",
     "\\newcommand", "{\\a}", "#1", "[1]", "\\section", "\\\\", "\\if", "\\iffalse", "\\fi", "\\[",
     "\\else", "\\verb", "\\frac", "\\footnote", "\\input", "\\caption", "\\multirow",
     "{equation}", "\\newenvironment", "{x}", "\\begin{x}", "\\end{x}", "\\let", "\\hat", "\\("]
), max_size=60))  # fmt: skip
def test_any_text_is_read_to_its_end(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[str]
) -> None:
    loaded = read(tmp_path_factory.mktemp("tex"), f"Begun. {''.join(pieces)}")
    assert loaded.text.startswith("Begun.")


NAMES = "abcdefghijkl"
LAUGHS = "".join(f"\\def\\{a}{{{f'\\{b}' * 10}}}" for a, b in pairwise(NAMES))


@pytest.mark.timeout(120)
@pytest.mark.parametrize(
    "content",
    [
        "{" * 300_000,
        "\\footnote{" * 30_000,
        "$\\frac{" * 30_000,
        "\\section{" * 30_000,
        "\\begin{tabular}{l}a&" * 10_000,
        "\\begin{verbatim}" * 20_000,
        "\\item[" * 30_000,
        "\\newcommand{\\g}[1]{#1}" + "\\g{" * 20_000 + "}" * 20_000,
        "\\def\\a{\\a\\a}\\a",
        "\\def\\a{x\\a}\\a",
        "\\newcommand{\\a}[1]{\\a{#1#1}}\\a{x}",
        "\\newenvironment{q}{\\begin{q}x}{\\end{q}}\\begin{q}y\\end{q}",
        f"{LAUGHS}\\def\\l{{lol}}\\a",
        "\\begin{tabular}{l}" + "a&" * 3000 + "\\\\" + "a\\\\" * 30_000 + "\\end{tabular}",
        "\\begin{tikzpicture}" + "\\node{" * 30_000 + "\\end{tikzpicture}",
        "\\url{" * 30_000,
        "\\iffalse " * 30_000,
    ],
)
def test_hostile_text_takes_no_time(tmp_path: Path, content: str) -> None:
    assert read(tmp_path, f"Begun.\n\n{content}").text.startswith("Begun.")


def test_space_that_is_only_width_parts_words(tmp_path: Path) -> None:
    written = (
        r"\textbf{Acme}\hfill2019 Engineer\hspace{1cm}Berlin\linebreak Second\vspace*{2mm}Oslo"
    )
    assert read(tmp_path, body(written)).text.split() == [
        *("Acme", "2019", "Engineer", "Berlin", "Second", "Oslo")
    ]


def test_the_feet_of_a_long_table_stand_once_at_its_end(tmp_path: Path) -> None:
    table = r"""\begin{longtable}{lr}
Rope & Load \\ \hline \endhead
Turn over & \\ \endfoot
All dry & \\ \endlastfoot
Hemp & 40 \\ Flax & 30 \\
\end{longtable}"""
    rows = [line for line in read(tmp_path, body(table)).text.splitlines() if "|" in line]
    words = ["Rope", "---", "Hemp", "Flax", "Turn", "All"]
    assert [row.strip("| ").split()[0].strip("-") or "---" for row in rows] == words
