"""Requests of a browser in, pages of HTML out."""
