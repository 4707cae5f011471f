"""The HTTP API, its bodies and shapes."""
