"""Which provider serves a space, and which one a setting names."""

import os
from importlib.util import find_spec
from urllib.parse import urlsplit

from pydantic import SecretStr

from lexichord.errors import ConfigError
from lexichord.providers import cohere, rerank_http
from lexichord.providers.base import Embedder, Generator, Reranker
from lexichord.providers.local import SPACE, LocalEmbedder, find_model
from lexichord.settings import Settings

NO_LIBRARIES = "no embedder: by words only; run: pip install 'lexichord[local]'"
NO_MODEL = "no embedding model: by words only; run: lexichord models fetch"
VENDORS_KEYS = {"cohere": ("CO_API_KEY", "COHERE_API_KEY"), "jina": ("JINA_API_KEY",)}


def find_embedder(settings: Settings, space: str) -> tuple[Embedder | None, list[str]]:
    """Give the embedder of the database's space, or the reason why there is none."""
    if space != str(SPACE):
        return None, [f"no embedder for {space}: by words only"]
    if find_spec("onnxruntime") is None or find_spec("tokenizers") is None:
        return None, [NO_LIBRARIES]
    if find_model(settings.model_dir, settings.home) is None:
        return None, [NO_MODEL]
    return LocalEmbedder(settings.home, settings.model_dir), []


def find_reranker(settings: Settings) -> Reranker | None:
    """Give the reranker that the settings name; None where they name none. Raises ConfigError."""
    if not settings.reranker:
        return None
    provider, _, model = settings.reranker.partition("/")
    url, key = _reranker_url(settings), _reranker_key(settings, provider)
    match provider, bool(model):
        case "cohere", True:
            _need_library("cohere", "cohere")
            if key is None:
                raise ConfigError("reranker cohere needs a key: set LEXICHORD_RERANKER_API_KEY")
            return cohere.CohereReranker(model, key, url or cohere.URL)
        case "jina", True:
            _need_library("httpx", "rerank")
            return rerank_http.JinaReranker(model, key, url or rerank_http.JINA_URL)
        case "tei", False:
            _need_library("httpx", "rerank")
            if url is None:
                raise ConfigError("reranker tei needs an address: set LEXICHORD_RERANKER_BASE_URL")
            return rerank_http.TeiReranker(url, key)
    there = "cohere/MODEL, jina/MODEL, tei"
    raise ConfigError(f"there is no reranker {settings.reranker}: {there}")


def find_generator(settings: Settings) -> Generator | None:
    """Give the language model that the settings name; None where they name none.

    Raises ConfigError. Loading DSPy takes about a second.
    """
    if not settings.llm:
        return None
    if find_spec("dspy") is None:
        raise ConfigError("llm needs dspy: pip install 'lexichord[llm]'")
    # Else DSPy fetches a list of models and prices from the network; it brings one along.
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "true"
    from lexichord.providers.llm import DspyGenerator

    return DspyGenerator(settings)


def _reranker_url(settings: Settings) -> str | None:
    if not settings.reranker_base_url:
        return None
    url = settings.reranker_base_url.rstrip("/")
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise ConfigError("reranker_base_url is no address like http://localhost:8000/v1")
    return url


def _reranker_key(settings: Settings, provider: str) -> SecretStr | None:
    """Give the key; a vendor's own variable counts only where the vendor itself is asked."""
    key = settings.reranker_api_key.get_secret_value() if settings.reranker_api_key else ""
    if not key and not settings.reranker_base_url:
        names = VENDORS_KEYS.get(provider, ())
        key = next(filter(None, (os.environ.get(name) for name in names)), "")
    if not (key.isascii() and key.isprintable()) or key != key.strip():
        raise ConfigError("the reranker's key holds characters that no key has: copy it anew")
    return SecretStr(key) if key else None


def _need_library(library: str, extra: str) -> None:
    if find_spec(library) is None:
        raise ConfigError(f"the reranker needs {library}: pip install 'lexichord[{extra}]'")
