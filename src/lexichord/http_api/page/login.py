"""A key in a cookie, for those who come with a browser."""

from fastapi import Request, Response

from lexichord.guard.door import Door
from lexichord.guard.limited import Limited

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
