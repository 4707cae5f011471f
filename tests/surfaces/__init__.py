"""One question through every surface."""
