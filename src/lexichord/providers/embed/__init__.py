"""Embedding providers: texts in, vectors out."""
