"""The dataset that is meant, asked of the user where a name is none but fits some."""

from collections.abc import Sequence
from typing import Any

from fastmcp.server.context import Context
from fastmcp.tools.base import InputRequiredToolResult
from mcp_types import (
    ClientCapabilities,
    ElicitationCapability,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequests,
    InputRequiredResult,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from lexichord.errors import NotFoundError, likeness, nearest_first, some_names
from lexichord.serve.access import ScopedClient

DATASET_ARGUMENTS = ("dataset_id", "resource_id")
DATASET_FIELD = "dataset"
CAN_BE_ASKED = ClientCapabilities(elicitation=ElicitationCapability())


async def choose_dataset(
    context: Context, scoped: ScopedClient, arguments: dict[str, Any]
) -> dict[str, Any] | InputRequiredToolResult | None:
    """Return a failed call's arguments with the dataset that its user chose; None: it was not that.

    A client of the protocol's present version is sent what to ask, and calls again. Raises
    NotFoundError where nobody can be asked, or nothing was chosen.
    """
    named = next((name for name in DATASET_ARGUMENTS if arguments.get(name)), None)
    fitting = await _fitting_datasets(scoped, arguments[named]) if named else []
    if named is None or not fitting:
        return None
    question = f"There is no dataset '{arguments[named]}'. Which one is meant?"
    answer = await _answer(context, question, fitting)
    if isinstance(answer, InputRequiredToolResult):
        return answer
    if answer not in fitting:
        names = some_names(fitting, [arguments[named]])
        raise NotFoundError(f"there is no dataset '{arguments[named]}': take one of {names}")
    return {**arguments, named: answer}


async def _fitting_datasets(scoped: ScopedClient, name: str) -> list[str]:
    """Return the datasets in reach that a name which is none of theirs may mean."""
    names = [row["dataset"] for row in await scoped.datasets()]
    part = name.casefold()
    if name in names:
        return []
    near = nearest_first(names, [name])
    return [each for each in near if part in each.casefold() or likeness(name, each)]


async def _answer(
    context: Context, question: str, names: Sequence[str]
) -> str | InputRequiredToolResult | None:
    """Return what the user chose, None where that is nothing or nobody can be asked."""
    if not context.session.check_client_capability(CAN_BE_ASKED):
        return None
    choice = {"type": "string", "title": "Dataset", "enum": list(names)}
    schema = {"type": "object", "properties": {DATASET_FIELD: choice}, "required": [DATASET_FIELD]}
    request = context.request_id
    spoken = context.request_context and context.request_context.protocol_version
    if spoken not in MODERN_PROTOCOL_VERSIONS:
        result = await context.session.elicit_form(question, schema, related_request_id=request)
        return _chosen(result)
    if (answers := context.input_responses) is not None:
        return _chosen(answers.get(DATASET_FIELD))
    form = ElicitRequestFormParams(message=question, requested_schema=schema)
    asked: InputRequests = {DATASET_FIELD: ElicitRequest(params=form)}
    return InputRequiredToolResult(InputRequiredResult(input_requests=asked))


def _chosen(result: object) -> str | None:
    if not isinstance(result, ElicitResult) or result.action != "accept":
        return None
    return str((result.content or {}).get(DATASET_FIELD))
