"""The page /docs: the operations of the HTTP API, shown and tried by Swagger UI.

Like the OpenAPI document that it reads, it needs no key and shows nothing of what is stored.
"""

from importlib.resources import files

from fastapi import APIRouter, Request, Response
from fastapi.staticfiles import StaticFiles

from lexichord.serve.page.render import CONTENT_SECURITY_POLICY, page

# Swagger UI as it was released; of the package only its files are used.
swagger_files = StaticFiles(directory=str(files("fastapi_swagger") / "resources"))
# The icons stand in its style sheet. It styles elements by script, not by attributes in the text.
SWAGGER_POLICY = CONTENT_SECURITY_POLICY.replace("img-src 'self'", "img-src 'self' data:")

router = APIRouter(include_in_schema=False)


@router.api_route("/docs", methods=["GET", "HEAD"])
async def show_api(request: Request) -> Response:
    """Show the operations."""
    response = page(request, "api.html")
    response.headers["content-security-policy"] = SWAGGER_POLICY
    return response
