"""The MCP server: tools, prompts and resources."""
