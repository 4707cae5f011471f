"""What stands in a Word file's text without being text: symbols of fonts, fields of forms."""

from collections.abc import Iterator

from docx.oxml.ns import qn
from lxml.etree import _Element

from lexichord.ingest.load.docx.content import is_on
from lexichord.ingest.load.docx.styles import property_value
from lexichord.ingest.load.symbols import symbol

SYMBOL_TAG, FORM_TAG = qn("w:sym"), qn("w:ffData")
FIELD_TAG, FIELD_TYPE = qn("w:fldChar"), qn("w:fldCharType")
CHECKED, UNCHECKED = "☑", "☐"


def read_symbol(element: _Element) -> str | None:
    """Return a symbol; None where nobody knows what its font shows."""
    try:
        number = int(element.get(qn("w:char"), ""), 16)
    except ValueError:
        return None
    return symbol(element.get(qn("w:font"), ""), number)


def form_field(form: _Element) -> str:
    """Return a field's choice or check mark; "" where text shows it, as that of other fields."""
    box, choices = form.find(qn("w:checkBox")), form.find(qn("w:ddList"))
    if (box is None and choices is None) or any(map(str.strip, _result(form))):
        return ""
    return _choice(choices) if choices is not None else _check_mark(form)


def _check_mark(form: _Element) -> str:
    checked = form.find(f"{qn('w:checkBox')}/{qn('w:checked')}")
    if checked is None:
        checked = form.find(f"{qn('w:checkBox')}/{qn('w:default')}")
    return CHECKED if is_on(checked) else UNCHECKED


def _choice(choices: _Element) -> str:
    chosen = property_value(choices, "w:result") or property_value(choices, "w:default") or "0"
    entries = [entry.get(qn("w:val"), "") for entry in choices.iterfind(qn("w:listEntry"))]
    is_there = chosen.isdecimal() and int(chosen) < len(entries)
    return entries[int(chosen)] if is_there else ""


def _result(form: _Element) -> Iterator[str]:
    """Yield the words that a field shows: those up to its end."""
    run = next(form.iterancestors(qn("w:r")), None)
    for other in () if run is None else run.itersiblings():
        if any(mark.get(FIELD_TYPE) == "end" for mark in other.iter(FIELD_TAG)):
            return
        yield from (words.text or "" for words in other.iter(qn("w:t")))
