"""Requests over HTTP in, the application's results out as JSON."""
