"""What helps to find beside the pages themselves: comparisons to take away."""

from fastapi import APIRouter, Request, Response

from lexichord.errors import NotFoundError
from lexichord.serve.page.comparison import comparison_csv, comparison_markdown
from lexichord.serve.page.form import query_options, read_form
from lexichord.serve.page.render import PAGE_HEADERS, page_caller
from lexichord.serve.page.routes import PAGE_METHODS, PageRoute
from lexichord.types import Comparison

BYTE_ORDER_MARK = "\ufeff"  # by which spreadsheets read UTF-8

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.api_route("/comparison.csv", methods=PAGE_METHODS)
async def as_csv(request: Request) -> Response:
    """Return the table of a comparison for a spreadsheet."""
    _, table = await _compare(request)
    return _file(f"{BYTE_ORDER_MARK}{comparison_csv(table)}", "comparison.csv", "text/csv")


@router.api_route("/comparison.md", methods=PAGE_METHODS)
async def as_markdown(request: Request) -> Response:
    """Return the table of a comparison as Markdown."""
    question, table = await _compare(request)
    return _file(comparison_markdown(question, table), "comparison.md", "text/markdown")


async def _compare(request: Request) -> tuple[str, Comparison]:
    """Return a question and its table. Raises NotFoundError where it compares nothing."""
    form, caller = read_form(request.query_params), await page_caller(request)
    response = await caller.query(form.q, **query_options(form))
    if response.comparison is None:
        raise NotFoundError("this question compares nothing")
    return form.q, response.comparison


def _file(text: str, name: str, media_type: str) -> Response:
    """Return a text as a file to keep."""
    disposition = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(text, headers=PAGE_HEADERS | disposition, media_type=media_type)
