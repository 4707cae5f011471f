"""Hits in, evidence out, by intent: verbatim quotes, a table, a context, an answer."""
