"""Templates filled in, and sent with what keeps a browser from doing anything else with them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

from fastapi import Request
from fastapi.responses import HTMLResponse
from fastapi.staticfiles import StaticFiles
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from lexichord.guard.public import Problem, public_line
from lexichord.http_api.page.form import LONGEST, MOST, Form, read_form
from lexichord.http_api.page.login import COOKIE
from lexichord.http_api.page.results import file_name
from lexichord.types import IntentKind, Mode

HERE = Path(__file__).parents[1]
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
