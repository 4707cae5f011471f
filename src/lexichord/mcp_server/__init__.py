"""Calls by the Model Context Protocol in, the application's results out as tool results."""
