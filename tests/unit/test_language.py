"""The page's texts: all in the file of a language, each one used, and alike in every language."""

import ast
import logging
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

import pytest
from babel import Locale
from jinja2 import nodes
from markupsafe import Markup

import lexichord
from lexichord.display.record_text import status_rows
from lexichord.errors import ConfigError
from lexichord.serve.page import templates
from lexichord.serve.page.language import (
    COUNT,
    FIRST_CODE,
    PLACEHOLDER,
    Language,
    language_codes,
    load_language,
    say,
    speaking,
    spoken,
    translation_faults,
)
from lexichord.types.query_options import IntentKind, Mode
from lexichord.types.state import ChangeState, JobFile, RunState, Status
from tests.read_page import read_texts, words

PAGE = Path(lexichord.__file__).parent / "serve" / "page"
TEMPLATES = sorted((PAGE / "templates").iterdir())
# What the module of languages says itself is said in the terminal, when the server is started;
# that of questions asks in the languages of documents.
OTHERS = {"language.py", "questions.py"}
MODULES = [path for path in sorted(PAGE.glob("*.py")) if path.name not in OTHERS]
SCRIPTS = sorted((PAGE / "static").glob("*.js"))
ENGLISH = load_language(FIRST_CODE)
SECTIONS = {key.partition(".")[0] for key in ENGLISH.texts}

FILLED = "□"  # in the place of what a template puts in
ATTRIBUTE = re.compile(r" [a-z]+")  # as " checked"
TWO_WORDS = re.compile(r"[^\W\d_]{2,} [^\W\d_]{2,}")
KEY = re.compile(rf"(?:{'|'.join(sorted(SECTIONS))})\.\w+")
# What is no text though it has two words: an operator of filters, and what Starlette says.
OTHERS_WORDS = {"start with", "Too many files"}


def drawn(tree: nodes.Template) -> str:
    """Return the HTML of a template, FILLED in the place of what is put in."""
    return "".join(
        part.data if isinstance(part, nodes.TemplateData) else FILLED
        for output in tree.find_all(nodes.Output)
        for part in output.nodes
    )


def shown_constants(expression: nodes.Node) -> Iterator[str]:
    """Yield the texts that an expression may become."""
    if isinstance(expression, nodes.Const) and isinstance(expression.value, str):
        yield expression.value
    elif isinstance(expression, nodes.Call) and isinstance(expression.node, nodes.Name):
        if expression.node.name not in ("say", "term"):  # a macro of the template
            values = [each.value for each in expression.args if isinstance(each, nodes.Const)]
            yield from (each for each in values if re.search(r"[A-Z ]", str(each)))
    elif isinstance(expression, nodes.CondExpr | nodes.Or | nodes.Concat | nodes.Add):
        for child in expression.iter_child_nodes(exclude=("test",)):
            yield from shown_constants(child)
    elif isinstance(expression, nodes.Filter) and expression.node is not None:
        yield from shown_constants(expression.node)


def visible_texts(source: str) -> list[str]:
    """Return the words that a template has of its own."""
    tree = templates.parse(source)
    filled: list[nodes.Node] = [
        part for output in tree.find_all(nodes.Output) for part in output.nodes
    ]
    filled += [each.node for each in tree.find_all(nodes.Assign)]
    constants = [text for part in filled for text in shown_constants(part)]
    return words(
        [*read_texts(drawn(tree)), *(one for one in constants if not ATTRIBUTE.fullmatch(one))]
    )


@pytest.mark.parametrize("file", TEMPLATES, ids=lambda path: path.name)
def test_no_template_has_a_text_of_its_own(file: Path) -> None:
    assert visible_texts(file.read_text()) == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("<p>Read me</p>", ["Read", "me"]),
        ('<a aria-label="Quote {{ n }}" title="here">{{ n }}</a>', ["Quote", "here"]),
        ('<input placeholder="words"><img alt="A page">', ["words", "A", "page"]),
        (
            '<input type="submit" value="Go"><button name="a" value="b">Come</button>',
            ["Go", "Come"],
        ),
        ('<b>{{ "passed" if good else "not passed" }}</b>', ["passed", "not", "passed"]),
        ('{{ turn(1, "← Before") }}{% set x = "later" %}', ["Before", "later"]),
        ('<p class="dim">{{ say("shared.none") }} – lexichord <kbd>j</kbd></p>', []),
        ('<option{{ " selected" if x == "Yes" }}>{{ turn("k", say("form.hits")) }}</option>', []),
    ],
)
def test_a_text_in_a_template_would_be_found(source: str, found: list[str]) -> None:
    assert visible_texts(source) == found


def constants(tree: ast.Module) -> Iterator[str]:
    """Yield the texts of a module but its docstrings."""
    said = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said:
            yield node.value


def raised_texts(tree: ast.Module) -> Iterator[str]:
    """Yield the messages that a module gives to errors by itself."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            for each in node.exc.args:
                if isinstance(each, ast.Constant | ast.JoinedStr):
                    yield ast.unparse(each)


@pytest.mark.parametrize("file", MODULES, ids=lambda path: path.name)
def test_no_module_of_the_page_has_a_text_of_its_own(file: Path) -> None:
    tree = ast.parse(file.read_text())
    assert [*raised_texts(tree)] == []
    shown = [text for text in constants(tree) if not re.search(r"[\\<|;]|\(\?", text)]
    assert {text for text in shown if TWO_WORDS.search(text)} <= OTHERS_WORDS
    assert [text for text in constants(tree) if re.search(r'(?:aria-label|title)="\w', text)] == []


@pytest.mark.parametrize("file", SCRIPTS, ids=lambda path: path.name)
def test_no_script_has_a_text_of_its_own(file: Path) -> None:
    code = re.sub(r"^\s*//.*$|\s// .*$", "", file.read_text(), flags=re.MULTILINE)
    quoted = re.findall(r'"([^"\n]*)"|`([^`]*)`', code)
    literals = {re.sub(r"\$\{[^}]*\}", FILLED, one or other) for one, other in quoted}
    keys_and_modes = {"use strict", "Escape", "POST"}
    shown = [text for text in literals - keys_and_modes if not re.match(r"[.#\[]", text)]
    assert [text for text in shown if TWO_WORDS.search(text)] == []
    assert [text for text in shown if re.fullmatch(r"[A-Z][a-z]+", text)] == []


def used_keys() -> set[str]:
    """Return what is written like a key in what makes the page."""
    sources = [path.read_text() for path in (*TEMPLATES, *MODULES, PAGE / "language.py")]
    quoted = (text for source in sources for text in re.findall(r"[\"']([\w.]+)[\"']", source))
    keys = {text for text in quoted if KEY.fullmatch(text)}
    return keys - {path.name for path in TEMPLATES}


def script_names() -> set[str]:
    source = (PAGE / "static" / "manage.js").read_text()
    return {f"script.{name}" for name in re.findall(r'\bword\("(\w+)"', source)}


TERMS: dict[str, Iterable[str]] = {
    "intents": get_args(IntentKind),
    "modes": get_args(Mode),
    "run_states": get_args(RunState),
    "space_changes": get_args(ChangeState),
    "outcomes": get_args(JobFile.__annotations__["status"]),
}


def status_names() -> set[str]:
    values: dict[str, Any] = dict.fromkeys(Status.__dataclass_fields__) | {
        "bytes": 1,
        "outdated_documents": 1,
    }
    status = Status(**values)
    return {name.replace(" ", "_") for name, _ in status_rows(status)}


def test_every_text_is_used_and_every_used_one_is_there() -> None:
    terms = {f"{section}.{value}" for section, values in TERMS.items() for value in values}
    terms |= {f"status_facts.{name}" for name in status_names()}
    assert used_keys() | script_names() | terms == set(ENGLISH.texts)


def test_a_text_with_a_count_has_its_forms_and_no_other_has() -> None:
    for key, forms in ENGLISH.texts.items():
        has_count = COUNT in PLACEHOLDER.findall(forms["other"])
        assert set(forms) == (ENGLISH.plural_forms if has_count else {"other"}), key


@pytest.mark.parametrize("code", language_codes())
def test_a_language_that_is_there_has_all_texts(code: str) -> None:
    language = load_language(code)
    assert language.texts.keys() == ENGLISH.texts.keys()
    assert translation_faults(language) == []
    assert language.code == code


def translated(folder: Path, name: str, text: str) -> Language:
    file = folder / name
    file.write_text(text)
    return load_language(str(file))


def test_a_text_has_the_form_of_its_number(tmp_path: Path) -> None:
    assert say("counts.documents", count=1) == "1 document"
    assert say("counts.documents", count=2_000) == "2,000 documents"
    forms = 'one = "{count} plik", few = "{count} pliki", many = "{count} plików", other = "—"'
    polish = translated(
        tmp_path, "pl.toml", f"[script]\nfiles = {{ {forms.replace('—', '{count} pliku')} }}\n"
    )
    shown = [polish.say("script.files", count=count) for count in (1, 3, 5, 22)]
    assert shown == ["1 plik", "3 pliki", "5 plików", "22 pliki"]


def test_numbers_and_dates_are_written_as_the_language_has_them(tmp_path: Path) -> None:
    when = datetime(2026, 3, 1, 14, 5, 9, tzinfo=UTC)
    german = translated(tmp_path, "de.toml", '[dates]\nday = "d. MMMM yyyy"\n')
    assert (german.number(1_234_567), ENGLISH.number(1_234_567)) == ("1.234.567", "1,234,567")
    assert (german.figure(0.125, 2), ENGLISH.figure(0.125, 2)) == ("0,12", "0.12")
    assert (german.score(0.00123456), ENGLISH.score(None)) == ("0,001235", "–")
    assert (german.size(50_000_000), ENGLISH.size(50_000_000)) == ("50,0 MB", "50.0 MB")
    assert (german.day(when), ENGLISH.day(when)) == ("1. März 2026", "2026-03-01")
    assert ENGLISH.moment(when) == "2026-03-01 14:05"
    assert ENGLISH.second(when) == "2026-03-01 14:05:09"


@pytest.mark.parametrize("value", [0.0, 1.005, 2.675, 1234.5])
def test_figures_in_english_are_those_of_python(value: float) -> None:
    for digits in (0, 1, 2, 4):
        assert ENGLISH.figure(value, digits) == f"{value:.{digits}f}"


def test_what_is_put_in_is_markup_only_if_it_was() -> None:
    plain = say("shared.delete_name", name="<b>")
    assert (plain, isinstance(plain, Markup)) == ("Delete <b>", False)
    shown = say("run.heading", dataset=Markup("<bdi>a</bdi>"))
    assert (shown, isinstance(shown, Markup)) == ("Ingest into <bdi>a</bdi>", True)


def test_a_value_without_a_text_is_shown_as_it_is() -> None:
    assert ENGLISH.term("intents", "list_all") == "list all"
    assert ENGLISH.term("intents", "a_new_one") == "a new one"


def test_the_language_is_that_of_the_block() -> None:
    arabic = Language(Locale("ar"), ENGLISH.texts)
    with speaking(arabic):
        assert (spoken().code, spoken().direction) == ("ar", "rtl")
    assert (spoken().code, spoken().direction) == ("en", "ltr")


def test_what_a_translation_lacks_is_said_in_english(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        german = translated(tmp_path, "de.toml", '[shared]\nask = "Fragen"\nold = "Alt"\n')
    assert german.say("shared.ask") == "Fragen"
    assert german.say("shared.copy") == "Copy"
    lacks, unused = caplog.messages
    assert "lacks texts, which are shown in English: api.document" in lacks
    assert unused.endswith("has texts that are shown nowhere: shared.old")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("de.toml", "[shared\n", "cannot be read"),
        ("de.toml", 'ask = "Fragen"\n', "ask stands in no section"),
        ("de.toml", "[shared]\nask = 3\n", "shared.ask is no text"),
        ("klingon.toml", "", "'klingon.toml' names no language"),
        ("de.toml", '[shared]\nquote_number = "Zitat"\n', "quote_number needs the placeholders"),
        ("de.toml", '[shared]\nask = "Fragen {x}"\n', "shared.ask needs the placeholders none"),
        ("de.toml", '[shared]\nask = { one = "a", other = "b" }\n', "needs the forms other"),
        ("pl.toml", '[counts]\nhits = "{count}"\n', "counts.hits needs the forms few, many, one"),
        *((name, None, "") for name in ("xx", "../en", "/nowhere/de.toml")),
    ],
)
def test_a_file_that_cannot_be_shown_is_refused_in_words(
    tmp_path: Path, name: str, text: str | None, message: str
) -> None:
    with pytest.raises(ConfigError, match=rf"^page_language: .*{re.escape(message)}"):
        load_language(name) if text is None else translated(tmp_path, name, text)
