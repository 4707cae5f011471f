"""A question in; files and fused hits out."""
