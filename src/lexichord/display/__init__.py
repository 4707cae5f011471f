"""Records as people see them: as text, and as HTML for notebooks.

Importing it makes `str(record)` and notebooks show records so; the client does.
"""

from lexichord.display.html import to_html
from lexichord.display.text import to_text
from lexichord.types.base import renderers

__all__ = ["to_html", "to_text"]

renderers.text, renderers.html = to_text, to_html
