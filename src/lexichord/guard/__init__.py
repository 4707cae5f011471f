"""Requests from other programs in; those that may be answered out, with what they may see."""
