"""What the form on the page asks, as it stands in the address."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, cast

from lexichord.errors import ConfigError
from lexichord.types import QueryOptions

LONGEST = 2000  # characters of a question; with 8 KB, proxies begin to refuse an address
MOST = 100  # hits that a page shows


@dataclass(frozen=True, slots=True)
class Form:
    """The fields of the form, as texts; `answer`, `rewrite` and `reflect` are 1 or 0."""

    q: str = ""
    dataset: str = ""
    folder: str = ""
    document: str = ""
    hint: str = ""
    intent: str = ""
    mode: str = "hybrid"
    k: str = "10"
    answer: str = "1"
    rewrite: str = "0"
    reflect: str = "0"

    @property
    def is_plain(self) -> bool:
        """Tell whether nothing was set but the question."""
        return self == Form(q=self.q)


def read_form(given: Mapping[str, str]) -> Form:
    """Read the fields; one that is empty counts as not given."""
    texts = {field.name: given.get(field.name, "").strip() for field in fields(Form)}
    return Form(**{name: text for name, text in texts.items() if text})


def query_options(form: Form) -> QueryOptions:
    """Give the options as the application takes them. Raises ConfigError."""
    if len(form.q) > LONGEST:
        raise ConfigError(f"a question has at most {LONGEST:,} characters, not {len(form.q):,}")
    if not (form.k.isascii() and form.k.isdigit() and 1 <= int(form.k[:9]) <= MOST):
        raise ConfigError(f"the number of hits is 1 to {MOST}")
    given: dict[str, Any] = {
        "hint": form.hint,
        "intent": form.intent,
        "uri_prefix": form.folder,
        "datasets": [form.dataset] * bool(form.dataset),
        "documents": [form.document] * bool(form.document),
        "rewrite": form.rewrite == "1",
        "reflect": form.reflect == "1",
    }
    said = {name: value for name, value in given.items() if value}
    shape = {**said, "mode": form.mode, "k": int(form.k), "answer": form.answer == "1"}
    return cast(QueryOptions, shape)
