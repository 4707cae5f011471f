"""Prompts for a chunk's context in other words than ours: one by name, or a file of the user's.

They are sent as they stand, one chunk a call, and the whole reply is the context.
"""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from lexichord.errors import ConfigError

PLACEHOLDER = re.compile(r"\{(whole_document|chunk)\}")

# Anthropic's "Contextual Retrieval" (2024), as VectorChord's article on it gives it.
ANTHROPIC_TEMPLATE = (
    "<document>\n{whole_document}\n</document>"
    "Here is the chunk we want to situate within the whole document \n"
    "<chunk>\n{chunk}\n</chunk>\n"
    "Please give a short succinct context to situate this chunk within "
    "the overall document for the purposes of improving search retrieval "
    "of the chunk. Answer only with the succinct context and nothing else."
)


@dataclass(frozen=True, slots=True)
class ContextTemplate:
    """A prompt with places for the document and a chunk; `label` tells it from others."""

    label: str
    text: str

    def fill(self, document: str, chunk: str) -> str:
        """Return the prompt; a placeholder that stands in a document stays what it is."""
        values = {"whole_document": document, "chunk": chunk}
        return PLACEHOLDER.sub(lambda match: values[match[1]], self.text)


NAMED_TEMPLATES = {"anthropic": ContextTemplate("anthropic", ANTHROPIC_TEMPLATE)}


def find_template(name: str | None) -> ContextTemplate | None:
    """Return the prompt of a name or a file, None for our own. Raises ConfigError."""
    if not name or name in NAMED_TEMPLATES:
        return NAMED_TEMPLATES.get(name or "")
    try:
        text = Path(name).expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "no text in UTF-8"
        names = ", ".join(NAMED_TEMPLATES)
        raise ConfigError(
            f"context_prompt '{name}' is no prompt's name ({names}), and as a file it cannot be "
            f"read: {reason}"
        ) from None
    if lacking := {"whole_document", "chunk"}.difference(PLACEHOLDER.findall(text)):
        raise ConfigError(
            f"context_prompt: '{name}' lacks {{{min(lacking)}}}: write {{whole_document}} and "
            "{chunk} where they belong"
        )
    return ContextTemplate(f"prompt-{hashlib.sha256(text.encode()).hexdigest()[:12]}", text)
