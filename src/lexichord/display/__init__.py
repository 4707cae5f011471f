"""Records as people see them: as text, and as HTML for notebooks.

Nothing is imported here: what reads files needs `plain_text` alone, and starts in half the time.
"""
