"""The tools and prompts of `lexichord mcp`, as agents are told of them."""

import asyncio
from typing import Any

from fastmcp import FastMCP

from lexichord.serve.mcp.server import create_mcp_server
from reference.markdown import code, page, table
from reference.schema import Schema, default, kind


async def _refuse() -> Any:  # noqa: ANN401
    """Stand for the caller: a description needs none."""
    raise NotImplementedError


def server() -> FastMCP:
    """Return the server; it can describe itself, not answer."""
    return create_mcp_server(_refuse)


def markdown() -> str:
    """Return what stands below the page's beginning."""
    return asyncio.run(_markdown())


async def _markdown() -> str:
    described = server()
    tools = [each.to_mcp_tool() for each in await described.list_tools()]
    prompts = [each.to_mcp_prompt() for each in await described.list_prompts()]
    templates = await described.list_resource_templates()
    resources = [(code(str(each.uri_template)), each.description or "") for each in templates]
    return page(
        "## Tools\n",
        *(_tool(each.name, each.description or "", each.input_schema) for each in tools),
        "## Prompts\n",
        table(("prompt", "what for"), [(code(p.name), p.description or "") for p in prompts]),
        "## Resources\n",
        table(("resource", "what it holds"), resources),
    )


def _tool(name: str, description: str, schema: Schema) -> str:
    needed = schema.get("required", ())
    rows = [
        (
            code(field) + (" (required)" if field in needed else ""),
            kind(each),
            default(each),
            str(each.get("description", "")),
        )
        for field, each in schema.get("properties", {}).items()
    ]
    heads = ("argument", "type", "default", "meaning")
    return page(f"### {name}\n", f"{description}\n", table(heads, rows))
