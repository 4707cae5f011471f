"""Rows of the user's tables: how they become chunks, and the worker that keeps them in sync."""
