"""Readers: a question and passages in, what answers it out."""
