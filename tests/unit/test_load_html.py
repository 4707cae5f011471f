"""Reading web pages: main text, headings, lists, tables, what is refused."""

from pathlib import Path

import pytest

from lexichord.errors import IngestError
from lexichord.ingest.chunk.splitter import split
from lexichord.ingest.load import load
from lexichord.types import LoadedText
from tests.documents import bare
from tests.wordings import worded


def page(tmp_path: Path, content: str | bytes) -> LoadedText:
    file = tmp_path / "some_lease.html"
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return load(file)


def test_headings_are_found_where_they_stand(tmp_path: Path) -> None:
    loaded = page(
        tmp_path,
        "<title>A &amp; B</title><h1>Office <b>Lease</b></h1>Intro<h2>1. Term</h2><p>Five<br>"
        "years.</p><div><h3>\n Start </h3></div><p>Now</p><h2> </h2>",
    )
    assert loaded.text == "Office Lease\n\nIntro\n\n1. Term\n\nFive\nyears.\n\nStart\n\nNow"
    assert [(mark.name, mark.level) for mark in loaded.headings] == [
        ("Office Lease", 1),
        ("1. Term", 2),
        ("Start", 3),
    ]
    assert all(loaded.text[mark.start : mark.end] == mark.name for mark in loaded.headings)
    assert loaded.title == "A & B"


def test_the_title_may_be_a_heading_or_the_name(tmp_path: Path) -> None:
    assert page(tmp_path, "<title> </title><h1>Office\nLease</h1>x").title == "Office Lease"
    assert page(tmp_path, "<h2>Office Lease</h2>x").title == "some lease"


def test_only_the_main_text_is_read(tmp_path: Path) -> None:
    main = "<h1>Lease</h1><p>" + "The rent is due. " * 9 + "</p>"
    loaded = page(
        tmp_path,
        "<head><style>p{}</style></head><body><header>Site</header><nav><a>Home</a></nav>"
        f"<main>{main}<aside>See also</aside><script>alert()</script><p hidden>no</p>"
        '<p style="display: none">no</p></main><footer>Imprint</footer></body>',
    )
    assert loaded.text == "Lease\n\n" + ("The rent is due. " * 9).strip()


def test_a_headline_above_the_main_text_is_kept(tmp_path: Path) -> None:
    header = (
        "<header><ul><li><p>Menu</p></ul><p>Acme</p><h1>Outage</h1><p>By <time>J. Roe</time></p>"
        "<ul><li><p>Share</p></ul></header>"
    )
    body = "The database stopped at noon. " * 9
    loaded = page(tmp_path, f"<body>{header}<article>{body}</article></body>")
    assert loaded.text == f"Outage\n\nBy J. Roe\n\n{body.strip()}"
    assert [(mark.name, mark.level) for mark in loaded.headings] == [("Outage", 1)]
    assert loaded.title == "Outage"
    own = page(tmp_path, f"<body>{header}<main><h1>Lease</h1><p>{body}</main></body>")
    assert own.text == f"Lease\n\n{body.strip()}"
    alone = page(tmp_path, f"<body><h1>Lease</h1><main><p>{body}</main><h1>More</h1></body>")
    assert alone.text == own.text
    site = page(tmp_path, f"<title>Ports | Outage</title><body>{header}<main>{body}</main></body>")
    assert site.text == body.strip()


def test_lines_below_several_headlines_stand_once_and_in_order(tmp_path: Path) -> None:
    names = ["One", "Two", "Three"]
    header = "".join(f"<h1>{name}</h1><p>by {name}</p>" for name in names)
    main = f"<main><p>{'word ' * 30}</p>mid<p>short</p>end</main>"
    for content in (f"<header>{header}</header>{main}", f"<header>{header}{main}</header>"):
        text = page(tmp_path, content).text
        assert text.startswith("".join(f"{name}\n\nby {name}\n\n" for name in names) + "word ")
        assert text.endswith("word\n\nmid\n\nshort\n\nend")


@pytest.mark.parametrize(
    "content",
    [
        "<form><p>The whole page is a form.</p></form>",
        "<body><nav>Menu</nav><p>The page has no structure.</p></body>",
        "<article>First.</article><article>Second.</article>",
        "<main>little</main><div>" + "Most of it stands elsewhere. " * 9 + "</div>",
    ],
)
def test_the_text_is_never_lost(tmp_path: Path, content: str) -> None:
    text = page(tmp_path, content).text
    for sentence in ("whole page", "no structure", "Second.", "Most of"):
        assert (sentence in text) == (sentence in content)


def test_lists_have_their_markers(tmp_path: Path) -> None:
    loaded = page(
        tmp_path,
        "<ul><li>a<li><p>b</p></ul><ol start=3><li>c<li value=9>d<li>e</ol>"
        '<ol type=a><li>f<ol style="list-style-type: lower-roman"><li>g<li>h</ol></ol>',
    )
    expected = ["• a", "• b", "3. c", "9. d", "10. e", "a. f", "i. g", "ii. h"]
    assert [line for line in loaded.text.split("\n") if line] == expected


def test_a_table_is_a_line_a_row(tmp_path: Path) -> None:
    rows = "A\tB\none two\t\n\tthree & four"
    loaded = page(
        tmp_path,
        "<p>Before</p><table><caption>Fees</caption><tr><th>A<th>B</tr><tr><td>one<br>two<td>"
        "</tr><tr></tr><tr><td><td><p>three</p> &amp; four</tr></table><p>After</p>",
    )
    assert loaded.text == f"Before\n\nFees\n\n{rows}\n\nAfter"
    (table,) = loaded.tables
    assert loaded.text[table.start : table.end] == rows
    assert loaded.text[table.start : table.header_end] == "A\tB\n"


def test_a_table_s_head_may_have_several_rows(tmp_path: Path) -> None:
    head = "<thead><tr><td>a<td>b</tr><tr><td>c<td>d</tr></thead>"
    loaded = page(tmp_path, f"<table>{head}<tr><td>1<td>2</tr></table>")
    assert loaded.text[: loaded.tables[0].header_end] == "a\tb\nc\td\n"


def test_a_table_that_only_sets_out_the_page_is_unwrapped(tmp_path: Path) -> None:
    loaded = page(
        tmp_path,
        "<table><tr><td><h2>Left</h2><p>text</p></td><td><table><tr><td>1<td>2</tr><tr><td>3"
        "<td>4</tr></table></td></tr></table><table><tr><td>(a)</td><td>clause</td></tr></table>",
    )
    assert loaded.text == "Left\n\ntext\n\n1\t2\n3\t4\n\n(a) clause"
    assert [mark.name for mark in loaded.headings] == ["Left"]
    (table,) = loaded.tables
    assert loaded.text[table.start : table.end] == "1\t2\n3\t4"


@worded("content", "rows")
def test_a_table_with_lists_in_its_cells_keeps_its_rows(
    tmp_path: Path, content: str, rows: str
) -> None:
    loaded = page(tmp_path, f"<p>So</p><table>{content}</table><p>End</p>")
    assert len(loaded.tables) == 1
    assert loaded.text[loaded.tables[0].start : loaded.tables[0].end] == rows


@pytest.mark.parametrize(
    "content",
    [
        "<tr><th>a<th>b<tr><td><h2>Part</h2>c<td>d",
        "<tr><td>a<td><ul><li>c</ul><tr><td colspan=2>d",
        "<tr><td>a<td><h4>c</h4><tr><td>b<td>d",
        "<tr><th>a<th>b<tr><td>c<td><ul><li>" + "d " * 300 + "</ul>",
        "<tr><th>a<th>b<tr><td>c<td><pre>1\n2\n3\n4\n5</pre>",
        "<tr><th>a<tr><td><ul><li>c</ul>",
    ],
)
def test_a_table_whose_cells_hold_a_page_s_parts_is_unwrapped(tmp_path: Path, content: str) -> None:
    assert not page(tmp_path, f"<p>So</p><table>{content}</table><p>End</p>").tables


def test_text_is_read_as_a_browser_shows_it(tmp_path: Path) -> None:
    content = "<p>x &lt; y &amp;lt; z&nbsp;é <!-- no -->and<?php no ?> on</p><pre>a\n  b</pre>"
    assert page(tmp_path, content).text == "x < y &lt; z é and on\n\na\n  b"


def test_half_characters_and_nul_are_not_stored(tmp_path: Path) -> None:
    loaded = page(tmp_path, "<p>a&#xD800;b\0c &#x1F600;</p>")
    assert loaded.text == "a\ufffdbc 😀"  # a browser shows the same sign
    assert loaded.metadata == {"flags": ["characters that cannot be stored were dropped"]}


def test_control_characters_do_no_harm(tmp_path: Path) -> None:
    content = (
        "<title>a\x01</title><p>b\x1b\x0c &#2;c&#xFFFE;<br>\x05d &amp;</p><table><tr><td>\x06e"
    )
    assert bare(page(tmp_path, content).text) == "bcd&e"
    pictures = (
        "<p>f <img alt='g\x01h'> <span role=img aria-label='i\x02j'>k</span></p>"
        "<svg aria-label='l\x03'>"
    )
    assert [word in page(tmp_path, pictures).text for word in ("gh", "ij", "l")] == [True] * 3


@pytest.mark.parametrize(
    ("head", "encoding", "metadata"),
    [
        ("", "utf-8", {}),
        ('<meta charset="windows-1252">', "cp1252", {"encoding": "cp1252"}),
        ('<meta content="text/html; charset=Shift_JIS">', "shift_jis", {"encoding": "shift_jis"}),
        ('<meta charset="utf-8">', "cp1252", {"encoding": "cp1252"}),
        ('<meta charset="no-such">', "cp1252", {"encoding": "cp1252"}),
        ("", "utf-16", {"encoding": "utf-16"}),
    ],
)
def test_an_encoding_may_be_declared(
    tmp_path: Path, head: str, encoding: str, metadata: dict[str, str]
) -> None:
    text = "本契約は秘密保持に関する" if encoding == "shift_jis" else "café où créé"
    loaded = page(tmp_path, f"{head}<p>{text}</p>".encode(encoding))
    assert (loaded.text, loaded.metadata) == (text, metadata)


@pytest.mark.parametrize("content", ["<p> </p>", "<frameset></frameset>"])
def test_an_empty_page_holds_no_text(tmp_path: Path, content: str) -> None:
    with pytest.raises(IngestError, match=r"^holds no text$"):
        page(tmp_path, content)


@pytest.mark.timeout(20)
def test_deep_nesting_is_read_or_refused(tmp_path: Path) -> None:
    assert page(tmp_path, "<div>" * 300 + "text").text == "text"
    assert page(tmp_path, "<font>line<br>" * 1000).text.count("line") == 1000
    with pytest.raises(IngestError, match=r"^holds elements nested more than 400 deep"):
        page(tmp_path, "<div>" * 100_000 + "text")


@pytest.mark.parametrize("tag", ["font", "b", "FONT size=2"])
def test_tags_that_old_pages_leave_open_by_thousands_take_nothing_along(
    tmp_path: Path, tag: str
) -> None:
    text = page(tmp_path, f"<{tag}>Item<br>" * 3000 + "<p>The <b>last</b> clause.").text
    assert (text.count("Item"), text[-16:]) == (3000, "The last clause.")


def test_what_the_parser_would_leave_out_is_refused(tmp_path: Path) -> None:
    with pytest.raises(IngestError, match=r"^holds elements nested more than 400 deep"):
        page(tmp_path, "Words." + "<span>" * 3000 + "inner</span><p>The last clause.")


@worded("content", "text")
def test_what_is_said_of_a_picture_is_text(tmp_path: Path, content: str, text: str) -> None:
    assert page(tmp_path, content).text == text


def test_a_picture_above_the_title_leaves_it_the_title(tmp_path: Path) -> None:
    content = f"<h1>Lease</h1><h2>Term</h2><p>{'It is one year. ' * 100}"
    expected = [chunk.heading for chunk in split(page(tmp_path, content))]
    loaded = page(tmp_path, f"<div><img alt='A gull over a boat'></div>{content}")
    assert loaded.text.startswith("Picture: A gull over a boat\n\nLease")
    assert [chunk.heading for chunk in split(loaded)] == ["", *expected]
    assert expected[-1] == "Term"


def test_no_words_are_joined_across_blocks(tmp_path: Path) -> None:
    content = "<details><summary>When it blows</summary>close the hatch<p>Now</p></details>"
    assert page(tmp_path, content).text.split("\n") == [
        *("When it blows", "close the hatch", "", "Now")
    ]
    for tag in ("fieldset", "legend", "menu", "center", "search"):
        assert page(tmp_path, f"one<{tag}>two</{tag}>three").text.split() == ["one", "two", "three"]


def test_what_a_cell_spans_stands_in_each_row(tmp_path: Path) -> None:
    loaded = page(
        tmp_path,
        "<table><thead><tr><th rowspan=2>Coast<th colspan=2>Boats<tr><th>old<th>new</thead>"
        "<tr><td rowspan=2>North<td>1<td>2<tr><td>3<td>4<tr><td colspan=2>South<td>5"
        "<tr><td rowspan=0>East<td>6<tr><td>7</table>",
    )
    assert loaded.text.split("\n") == [
        *("Coast\tBoats", "\told\tnew", "North\t1\t2", "North\t3\t4", "South\t\t5"),
        *("East\t6", "East\t7"),
    ]


@pytest.mark.timeout(30)
def test_cells_that_claim_to_span_too_much_are_refused(tmp_path: Path) -> None:
    steps = "<tr><td rowspan=65000>q</td></tr>" * 2000
    with pytest.raises(IngestError, match=r"whose \d+ cells span more than \d+ places"):
        page(tmp_path, f"<table>{steps}</table>")
    wide = f"<td rowspan=65534>{'x' * 10000}" + "<tr><td>a" * 9000
    with pytest.raises(IngestError, match="of text: split it"):
        page(tmp_path, f"<table><tr><td>head<tr>{wide}</table>")
    assert page(tmp_path, "<table><tr><td colspan=99999999>a<tr><td colspan=-2>b</table>").tables


def test_a_word_within_a_line_may_be_hidden(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        "<p>Rent <span hidden>was 7</span><b style='display:none'>was 8</b> is 9.</p>"
    )
    assert load(tmp_path / "a.html").text == "Rent is 9."


@worded("maths", "written")
def test_maths_is_written_in_a_line(tmp_path: Path, maths: str, written: str) -> None:
    assert page(tmp_path, f"<p>So <math>{maths}</math>.</p>").text == f"So {written}."


def test_a_formula_that_pages_write_twice_is_read_once(tmp_path: Path) -> None:
    maths = "<math><msup><mi>x</mi><mn>2</mn></msup></math>"
    katex = (
        f'<span class="katex"><span class="katex-mathml">{maths}</span>'
        '<span class="katex-html" aria-hidden="true"><span>x</span><span>2</span></span></span>'
    )
    wiki = f'<span><span style="display: none">{maths}</span><img src="x.svg" alt="x^{{2}}"></span>'
    assert page(tmp_path, f"<p>A {katex}, {wiki} end</p>").text == "A x^2, x^2 end"


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("10<sup>2</sup> m, <b>10</b><sup>-3</sup>", "10^2 m, 10^-3"),
        ("101<sub>2</sub>", "101_2"),
        ("1<sup>1</sup>/<sub>2</sub> kg", "1 1/2 kg"),
        ('in 2023<sup><a href="#n">4</a></sup>.', "in 2023 4."),
        ("5 m<sup>2</sup> H<sub>2</sub>O, 1<sup>st</sup>", "5 m2 H2O, 1st"),
    ],
)
def test_a_raised_number_does_not_run_into_another(tmp_path: Path, content: str, text: str) -> None:
    assert page(tmp_path, f"<p>{content}</p>").text == text


@worded("code", "text")
def test_code_stands_between_fences(tmp_path: Path, code: str, text: str) -> None:
    loaded = page(tmp_path, f"<p>Type:</p>{code}<p>Done.</p>")
    assert loaded.text == f"Type:\n\n{text}\n\nDone."
