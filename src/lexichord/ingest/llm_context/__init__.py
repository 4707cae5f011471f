"""What a language model writes about where a chunk belongs in its document.

`prompt` holds what it is shown, `budget` what that may cost, `writer` makes the calls of an ingest,
`backfill` those for documents that are stored.
"""
