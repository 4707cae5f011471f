"""What requests meet: access, limits, HTTP, MCP, the page, and shapes of other makers."""
