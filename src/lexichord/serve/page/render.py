"""Templates filled in, and sent with what keeps a browser from doing anything else with them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, get_args

from fastapi import Request, Response
from fastapi.responses import HTMLResponse
from fastapi.staticfiles import StaticFiles
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from lexichord.errors import ConfigError
from lexichord.serve.access import Door, Limited
from lexichord.serve.errors import Problem, public_line
from lexichord.serve.page.results import file_name
from lexichord.types import IntentKind, Mode

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


def query_options(form: Form) -> dict[str, Any]:
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
    return {**said, "mode": form.mode, "k": int(form.k), "answer": form.answer == "1"}


COOKIE = "lexichord_key"


async def visitor(request: Request) -> Limited:
    """Give the application as who looks at a page may use it. Raises AccessError.

    Only pages read the cookie: of the other routes none can be called by a page elsewhere. Where no
    key is needed it is not looked at, for a browser sends those of other ports as well.
    """
    door: Door = request.app.state.door
    given = request.headers.get("authorization")
    if given is None and door.needs_key and (key := request.cookies.get(COOKIE)):
        given = f"Bearer {key}"
    return await door.enter(given)


def comes_from_here(request: Request) -> bool:
    """Tell whether a form was sent by a page of this server: what browsers say that cannot lie.

    They name the origin at each POST, and the kind of site where the connection is safe.
    """
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    origin = request.headers.get("origin", "").partition("://")[2]
    return bool(origin) and origin == request.headers.get("host")


def keep(response: Response, request: Request, key: str) -> None:
    """Have the browser keep a key until it is closed, where no script can read it."""
    origin = request.headers.get("origin", "")
    is_safe = request.url.scheme == "https" or origin.startswith("https:")  # a proxy's, in front
    response.set_cookie(COOKIE, key, httponly=True, samesite="strict", secure=is_safe)


def forget(response: Response) -> None:
    """Have the browser forget the key."""
    response.delete_cookie(COOKIE, httponly=True, samesite="strict")


def local(address: str) -> str:
    """Give an address to go to, if it is one of this server."""
    is_ours = address.startswith("/") and not address.startswith(("//", "/\\"))
    return address if is_ours and address.isprintable() else "/"


HERE = Path(__file__).parent
# Nothing but this server's own files may act, and no other site may show the page in a frame.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    # Questions stand in addresses: they go to no other site. Under "no-referrer" a browser would
    # not say either, at a POST, where it comes from.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",  # nothing is left behind after signing out
}
TITLES = {
    401: "An API key, please",
    404: "Not there",
    503: "Not available",
    504: "It took too long",
}

templates = Environment(
    loader=FileSystemLoader(HERE / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
templates.filters |= {
    "file_name": file_name,
    "as_they_are": lambda values: [(value, value) for value in values],
    "public": public_line,
    "in_words": lambda values: [(value, value.replace("_", " ")) for value in values],
}
templates.globals |= {
    "INTENTS": get_args(IntentKind),
    "LONGEST": LONGEST,
    "MODES": get_args(Mode),
    "MOST": MOST,
}
static = StaticFiles(directory=HERE / "static")


def page(request: Request, template: str, status: int = 200, **shown: Any) -> HTMLResponse:  # noqa: ANN401
    """Give a template filled in; all that is shown is escaped."""
    needs_key = request.app.state.door.needs_key
    signed_in = needs_key and COOKIE in request.cookies and status != 401
    text = templates.get_template(template).render(signed_in=signed_in, **shown)
    return HTMLResponse(text, status, HEADERS)


def problem_page(request: Request, problem: Problem) -> HTMLResponse:
    """Say what went wrong; where a key is needed, ask for it."""
    if problem.status == 401:
        url = request.url
        answer = key_page(request, url.path + f"?{url.query}" * bool(url.query))
        # From a link elsewhere a browser brings no strict cookie: it is to come once more, from
        # here. Framed, or by a form, the page would get nowhere either.
        if request.headers.get("sec-fetch-site") == "cross-site":
            answer.headers["refresh"] = "0"
        return answer
    title = TITLES.get(problem.status, "That did not work")
    form = read_form(request.query_params) if request.url.path == "/" else Form()
    return page(
        request,
        "error.html",
        problem.status,
        problem=problem,
        title=title,
        form=form,
        datasets=names_of(form),
    )


def key_page(request: Request, back: str, message: str = "") -> HTMLResponse:
    """Ask for an API key, to go on at the address `back`."""
    answer = page(request, "login.html", 401, back=back, message=message)
    answer.headers["www-authenticate"] = "Bearer"
    return answer


def names_of(form: Form, datasets: Sequence[str] = ()) -> list[str]:
    """Give the datasets to choose from, the chosen one among them."""
    return sorted({*datasets, *filter(None, [form.dataset])})
