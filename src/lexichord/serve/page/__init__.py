"""The page at / of the server."""
