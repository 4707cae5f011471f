"""The page at / of the server: templates filled in, and sent so that a browser does no more."""

import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, get_args

from fastapi import Request, Response
from fastapi.responses import HTMLResponse
from fastapi.staticfiles import StaticFiles
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException

from lexichord.errors import ConfigError, ForbiddenError
from lexichord.serve.access import AccessPolicy, ScopedClient
from lexichord.serve.errors import PublicError, public_line
from lexichord.serve.limits import MAX_PAGE_HITS, MAX_PAGE_QUERY_CHARS
from lexichord.serve.page.form import SearchForm, chips, read_form
from lexichord.serve.page.language import say, spoken, term
from lexichord.serve.page.reading import show_heading
from lexichord.types import IntentKind, Mode, Rights
from lexichord.types.base import document_name, file_name

KEY_COOKIE = "lexichord_key"


async def page_caller(request: Request) -> ScopedClient:
    """Return the application as who looks at a page may use it. Raises AccessError.

    Only pages read the cookie: of the other routes none can be called by a page elsewhere. Where no
    key is needed it is not looked at, for a browser sends those of other ports as well.
    """
    policy: AccessPolicy = request.app.state.policy
    authorization = request.headers.get("authorization")
    if authorization is None and policy.needs_key and (key := request.cookies.get(KEY_COOKIE)):
        authorization = f"Bearer {key}"
    scoped = await policy.authorize(authorization)
    request.state.rights = scoped.rights
    return scoped


def comes_from_here(request: Request) -> bool:
    """Return whether a form was sent by a page of this server: what browsers say that cannot lie.

    They name the origin at each POST, and the kind of site where the connection is safe.
    """
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    origin = request.headers.get("origin", "").partition("://")[2]
    return bool(origin) and origin == request.headers.get("host")


async def own_form(request: Request) -> dict[str, str]:
    """Read the texts of a form of ours. Raises as `own_form_data` does."""
    form = await own_form_data(request, 0)
    return {name: value for name, value in form.items() if isinstance(value, str)}


async def own_form_data(request: Request, max_files: int) -> FormData:
    """Read a form of ours. Raises ForbiddenError for another site's, ConfigError for none."""
    if not comes_from_here(request):
        raise ForbiddenError(say("error.foreign_form"))
    try:
        return await request.form(max_files=max_files)
    except HTTPException as error:
        if "Too many files" in error.detail:
            raise ConfigError(say("error.too_many_files", count=max_files)) from None
        raise ConfigError(say("error.unread_form")) from error


def set_key_cookie(response: Response, request: Request, key: str) -> None:
    """Have the browser keep a key until it is closed, where no script can read it."""
    origin = request.headers.get("origin", "")
    is_safe = request.url.scheme == "https" or origin.startswith("https:")  # a proxy's, in front
    response.set_cookie(KEY_COOKIE, key, httponly=True, samesite="strict", secure=is_safe)


def delete_key_cookie(response: Response) -> None:
    """Have the browser forget the key."""
    response.delete_cookie(KEY_COOKIE, httponly=True, samesite="strict")


def local_address(address: str) -> str:
    """Return an address to go to, if it is one of this server."""
    is_ours = address.startswith("/") and not address.startswith(("//", "/\\"))
    return address if is_ours and address.isprintable() else "/"


NO_RIGHTS = Rights(reads=False, writes=False, deletes=False)  # of who is not known yet
PAGE_FOLDER = Path(__file__).parent
# Nothing but this server's own files may act, and no other site may show the page in a frame.
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
PAGE_HEADERS = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "x-content-type-options": "nosniff",
    # Questions stand in addresses: they go to no other site. Under "no-referrer" a browser would
    # not say either, at a POST, where it comes from.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",  # nothing is left behind after signing out
}
ERROR_TITLES = {  # keys of texts
    404: "error.not_there",
    503: "error.not_available",
    504: "error.took_too_long",
}


def _element(value: object, tag: str, **attributes: str) -> Markup:
    """Return a value within an element, to be put in a text."""
    written = Markup().join(Markup(' {}="{}"').format(*each) for each in attributes.items())
    return Markup("<{0}{1}>{2}</{0}>").format(tag, written, value)


def _written(name: str) -> Callable[..., str]:
    """Return the filter that writes a value by this method of the language that is spoken."""
    return lambda value, *options: str(getattr(spoken(), name)(value, *options))


templates = Environment(
    loader=FileSystemLoader(PAGE_FOLDER / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
templates.filters |= {
    "file_name": file_name,
    "as_they_are": lambda values: [(value, value) for value in values],
    "public": public_line,
    "shell_word": shlex.quote,
    "document_name": document_name,
    "element": _element,
    "show_heading": show_heading,
    "terms": lambda values, section: [(value, term(section, value)) for value in values],
    **{name: _written(name) for name in ("number", "figure", "score", "size")},
    **{name: _written(name) for name in ("day", "moment", "second")},
}
templates.globals |= {
    "INTENTS": get_args(IntentKind),
    "MAX_QUERY_CHARS": MAX_PAGE_QUERY_CHARS,
    "MODES": get_args(Mode),
    "MAX_HITS": MAX_PAGE_HITS,
    "say": say,
    "spoken": spoken,
    "term": term,
}
static_files = StaticFiles(directory=PAGE_FOLDER / "static")


def page(request: Request, template: str, status: int = 200, **values: Any) -> HTMLResponse:  # noqa: ANN401
    """Answer with a template filled in."""
    needs_key = request.app.state.policy.needs_key
    signed_in = needs_key and KEY_COOKIE in request.cookies and status != 401
    rights = getattr(request.state, "rights", NO_RIGHTS)
    has_model = bool(request.app.state.policy.settings.llm)
    shown = {"signed_in": signed_in, "rights": rights, "has_model": has_model, **values}
    return HTMLResponse(fill(template, **shown), status, PAGE_HEADERS)


def fill(template: str, **values: Any) -> str:  # noqa: ANN401
    """Return a template filled in, or a part of one; all that is shown is escaped."""
    return templates.get_template(template).render(values)


def sentence(error: Exception) -> str:
    """Return an error's line as a sentence."""
    line = str(error)
    return f"{line[:1].upper()}{line[1:]}."


def error_page(request: Request, error: PublicError, reason: str = "") -> HTMLResponse:
    """Return a page that says what went wrong; where a key is needed, ask for it: the `reason`."""
    if error.status == 401:
        url = request.url
        response = key_page(request, url.path + f"?{url.query}" * bool(url.query), reason)
        # From a link elsewhere a browser brings no strict cookie: it is to come once more, from
        # here. Framed, or by a form, the page would get nowhere either.
        if request.headers.get("sec-fetch-site") == "cross-site":
            response.headers["refresh"] = "0"
        return response
    title = say(ERROR_TITLES.get(error.status, "error.failed"))
    form = read_form(request.query_params) if request.url.path == "/" else SearchForm()
    response = page(
        request,
        "error.html",
        error.status,
        error=error,
        title=title,
        form=form,
        chips=chips(form),
        datasets=dataset_names(form),
    )
    response.headers.update(error.headers)
    return response


def key_page(request: Request, back: str, message: str = "") -> HTMLResponse:
    """Ask for an API key, to go on at the address `back`."""
    response = page(request, "login.html", 401, back=back, message=message)
    response.headers["www-authenticate"] = "Bearer"
    return response


def dataset_names(form: SearchForm, datasets: Sequence[str] = ()) -> list[str]:
    """Return the datasets to choose from, the chosen one among them."""
    return sorted({*datasets, *filter(None, [form.dataset])})
