"""Rerankers: a question and texts in, an order out."""
