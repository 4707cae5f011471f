"""The language of the page: its texts, all out of one file, and how it writes numbers and dates.

What is spoken is said around each request; where nobody says so it is English. How numbers are
written and which plural forms there are is known of each language by Babel, from CLDR, as browsers
know it: the scripts choose the same forms.
"""

import logging
import re
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import date, datetime
from functools import cache
from pathlib import Path
from typing import Any

from babel import Locale, UnknownLocaleError
from babel.dates import format_date, format_datetime
from babel.numbers import format_decimal, get_decimal_symbol
from babel.units import format_unit
from markupsafe import Markup
from starlette.types import ASGIApp, Receive, Scope, Send

from lexichord.errors import ConfigError
from lexichord.types.base import MISSING

log = logging.getLogger("lexichord")

FOLDER = Path(__file__).parent / "languages"
FIRST_CODE = "en"  # the language that others are translations of
PLACEHOLDER = re.compile(r"\{(\w+)\}")
COUNT = "count"  # the placeholder whose number chooses among the forms of a text
ANY_FORM = "other"  # CLDR's name of the form that each text has, and most have alone
BYTE_UNITS = ("byte", "kilobyte", "megabyte", "gigabyte")
SHOWN_FAULTS = 3

# A text in its plural forms, by CLDR's names of them; {name} stands for what is put in.
type Forms = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Language:
    """A language: what CLDR knows of it, and the page's texts by their keys, SECTION.NAME."""

    locale: Locale
    texts: Mapping[str, Forms]

    @property
    def code(self) -> str:
        """The name that browsers know it by."""
        return str(self.locale).replace("_", "-")

    @property
    def direction(self) -> str:
        """To where it is written: ltr or rtl."""
        return str(self.locale.text_direction)

    @property
    def plural_forms(self) -> set[str]:
        """The forms that a text with a number has."""
        return {*self.locale.plural_form.tags, ANY_FORM}

    def say(self, key: str, /, **values: object) -> str:
        """Return a text with values put in: markup, if one of these is, else plain.

        Whole numbers are written as the language groups them.
        """
        forms = self.texts[key]
        count = values.get(COUNT)
        form = self.locale.plural_form(count) if isinstance(count, int) else ANY_FORM
        written = {name: self._written(value) for name, value in values.items()}
        parts = PLACEHOLDER.split(forms.get(form, forms[ANY_FORM]))
        is_markup = any(isinstance(value, Markup) for value in written.values())
        blank = Markup() if is_markup else ""
        return blank.join(written[part] if at % 2 else part for at, part in enumerate(parts))

    def term(self, section: str, value: str) -> str:
        """Return what is said for a value of the program's; one without a text as it is."""
        key = f"{section}.{value.replace(' ', '_')}"
        return self.say(key) if key in self.texts else value.replace("_", " ")

    def section(self, name: str) -> dict[str, Forms]:
        """Return the texts of a section by their names in it, for a script."""
        start = f"{name}."
        texts = self.texts.items()
        return {key.removeprefix(start): forms for key, forms in texts if key.startswith(start)}

    def number(self, value: int) -> str:
        """Write a whole number."""
        return format_decimal(value, locale=self.locale)

    def figure(self, value: float | None, digits: int) -> str:
        """Write a number with so many digits behind the sign, or that it is missing."""
        if value is None:
            return MISSING
        pattern = f"0.{'0' * digits}" if digits else "0"
        return format_decimal(round(value, digits), pattern, self.locale)

    def score(self, value: float | None) -> str:
        """Write the four digits that say most of a number, or that it is missing."""
        if value is None:
            return MISSING
        return f"{value:.4g}".replace(".", get_decimal_symbol(self.locale))

    def size(self, count: int) -> str:
        """Write an amount of bytes."""
        power = min((len(str(count)) - 1) // 3, len(BYTE_UNITS) - 1)
        shown, pattern = count / 1000**power, "0.0" if power else "0"
        unit = f"digital-{BYTE_UNITS[power]}"
        return format_unit(shown, unit, length="short", format=pattern, locale=self.locale)

    def day(self, value: date) -> str:
        """Write a date."""
        return format_date(value, self.say("dates.day"), self.locale)

    def moment(self, value: datetime) -> str:
        """Write a date and a time of the day."""
        return format_datetime(value, self.say("dates.moment"), locale=self.locale)

    def second(self, value: datetime) -> str:
        """Write a date and a time of the day with its seconds."""
        return format_datetime(value, self.say("dates.second"), locale=self.locale)

    def _written(self, value: object) -> str:
        if isinstance(value, int):
            return self.number(value)
        return value if isinstance(value, str) else str(value)


@cache
def _first() -> Language:
    return Language(Locale(FIRST_CODE), _read(FOLDER / f"{FIRST_CODE}.toml"))


def load_language(name: str) -> Language:
    """Return a language by its code, or out of a file of one's own, CODE.toml.

    Raises ConfigError for one that is not there, and for texts that cannot be shown. What a
    translation lacks is said in English, and in the log.
    """
    if name == FIRST_CODE:
        return _first()
    file = Path(name).expanduser() if name.endswith(".toml") else FOLDER / f"{name}.toml"
    if not name.endswith(".toml") and name not in language_codes():
        known = ", ".join(language_codes())
        raise ConfigError(
            f"page_language: there is no '{name}': give {known}, or a file of yours, CODE.toml"
        )
    language = Language(_locale(file), _read(file))
    if faults := translation_faults(language):
        raise ConfigError(f"page_language: '{file}': {'; '.join(faults[:SHOWN_FAULTS])}")
    _log_differences(file, language)
    return Language(language.locale, {**_first().texts, **language.texts})


def language_codes() -> list[str]:
    """Return the languages that are there."""
    return sorted(file.stem for file in FOLDER.glob("*.toml"))


def _locale(file: Path) -> Locale:
    try:
        return Locale.parse(file.stem.replace("_", "-"), sep="-")
    except (UnknownLocaleError, ValueError):
        raise ConfigError(
            f"page_language: '{file.name}' names no language: call it as de.toml or pt-BR.toml"
        ) from None


def _read(file: Path) -> dict[str, Forms]:
    """Return the texts of a file. Raises ConfigError."""
    try:
        return dict(_texts(tomllib.loads(file.read_text("utf-8"))))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, TypeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise ConfigError(f"page_language: '{file}' cannot be read: {reason}") from None


def _texts(sections: Mapping[str, Any]) -> Iterator[tuple[str, Forms]]:
    """Yield each text by its key. Raises TypeError for what is none."""
    for section, texts in sections.items():
        if not isinstance(texts, Mapping):
            raise TypeError(f"{section} stands in no section")
        for name, text in texts.items():
            forms = text if isinstance(text, Mapping) else {ANY_FORM: text}
            if not all(isinstance(form, str) for form in forms.values()):
                raise TypeError(f"{section}.{name} is no text")
            yield f"{section}.{name}", forms


def translation_faults(language: Language) -> list[str]:
    """Return, a line each, the texts that lack forms or have placeholders of their own."""
    first = _first().texts
    return [
        fault
        for key, forms in language.texts.items()
        if key in first and (fault := _fault(key, forms, first[key], language.plural_forms))
    ]


def _fault(key: str, forms: Forms, first: Forms, plural_forms: set[str]) -> str:
    expected = plural_forms if len(first) > 1 else {ANY_FORM}
    if set(forms) != expected:
        return f"{key} needs the forms {', '.join(sorted(expected))}"
    placeholders = _placeholders(first[ANY_FORM])
    for form, text in forms.items():
        own = _placeholders(text)
        may_lack = {COUNT} if form != ANY_FORM else set()  # "a file" says its number by itself
        if own - placeholders or placeholders - own - may_lack:
            wanted = ", ".join(f"{{{name}}}" for name in sorted(placeholders)) or "none"
            return f"{key} needs the placeholders {wanted}"
    return ""


def _placeholders(text: str) -> set[str]:
    return set(PLACEHOLDER.findall(text))


def _log_differences(file: Path, language: Language) -> None:
    first, own = set(_first().texts), set(language.texts)
    for keys, what in (
        (first - own, "lacks texts, which are shown in English"),
        (own - first, "has texts that are shown nowhere"),
    ):
        if keys:
            log.warning("'%s' %s: %s", file, what, ", ".join(sorted(keys)))


_spoken: ContextVar[Language | None] = ContextVar("spoken", default=None)


def spoken() -> Language:
    """Return the language of the page that is being made."""
    return _spoken.get() or _first()


@contextmanager
def speaking(language: Language) -> Iterator[None]:
    """Have the pages that the block makes be in a language."""
    token = _spoken.set(language)
    try:
        yield
    finally:
        _spoken.reset(token)


def say(key: str, /, **values: object) -> str:
    """See `Language.say`, of the language that is spoken."""
    return spoken().say(key, **values)


def term(section: str, value: str) -> str:
    """See `Language.term`, of the language that is spoken."""
    return spoken().term(section, value)


class LanguageMiddleware:
    """An ASGI application in front of another, whose pages are in a language."""

    def __init__(self, app: ASGIApp, language: Language) -> None:
        self._app, self._language = app, language

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Have it answered in the language."""
        with speaking(self._language):
            await self._app(scope, receive, send)
