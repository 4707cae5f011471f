"""A document's blocks become chunks: where each section begins, and the cuts between them."""
