"""Which provider serves a space."""

from importlib.util import find_spec

from lexichord.providers.base import Embedder
from lexichord.providers.local import SPACE, LocalEmbedder, find_model
from lexichord.settings import Settings

NO_LIBRARIES = "no embedder: by words only; run: pip install 'lexichord[local]'"
NO_MODEL = "no embedding model: by words only; run: lexichord models fetch"


def find_embedder(settings: Settings, space: str) -> tuple[Embedder | None, list[str]]:
    """Give the embedder of the database's space, or the reason why there is none."""
    if space != str(SPACE):
        return None, [f"no embedder for {space}: by words only"]
    if find_spec("onnxruntime") is None or find_spec("tokenizers") is None:
        return None, [NO_LIBRARIES]
    if find_model(settings.model_dir, settings.home) is None:
        return None, [NO_MODEL]
    return LocalEmbedder(settings.home, settings.model_dir), []
