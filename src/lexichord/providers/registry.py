"""Which provider serves a space, and which one a setting names."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from pydantic import SecretStr

from lexichord.errors import ConfigError
from lexichord.providers import cohere
from lexichord.providers.base import Embedder, Generator, Reranker
from lexichord.providers.embed import gemini, openai
from lexichord.providers.embed.batching import BatchedEmbedder, Service
from lexichord.providers.embed.local import INT8, SPACE, LocalEmbedder, find_model
from lexichord.providers.http import checked_url, find_key, has_library, host
from lexichord.providers.rerank import http
from lexichord.settings import Settings
from lexichord.types import EmbeddingSpace

NO_LIBRARIES = "no embedder: by words only; run: pip install 'lexichord[local]'"
NO_MODEL = "no embedding model: by words only; run: lexichord models fetch"
VENDORS_KEYS = {"cohere": ("CO_API_KEY", "COHERE_API_KEY"), "jina": ("JINA_API_KEY",)}


@dataclass(frozen=True, slots=True)
class Vendor:
    """An embedding service: its own address and variables, and what it needs.

    `make` takes the space, the key and the address. With `needs_key` it needs a key at any address,
    else only at its own.
    """

    make: Callable[[EmbeddingSpace, SecretStr, str], Service]
    url: str
    library: str
    extra: str
    variables: tuple[str, ...]
    needs_key: bool = True


VENDORS = {
    "gemini": Vendor(
        gemini.GeminiEmbeddings, gemini.URL, "google.genai", "gemini", ("GEMINI_API_KEY",)
    ),
    "cohere": Vendor(
        cohere.CohereEmbeddings, cohere.URL, "cohere", "cohere", VENDORS_KEYS["cohere"]
    ),
    "openai": Vendor(
        openai.OpenAIEmbeddings, openai.URL, "httpx", "openai", ("OPENAI_API_KEY",), False
    ),
    "jina": Vendor(
        openai.OpenAIEmbeddings, openai.JINA_URL, "httpx", "openai", VENDORS_KEYS["jina"], False
    ),
}


def find_embedder(settings: Settings, space: str) -> tuple[Embedder | None, list[str]]:
    """Give the embedder of the database's space, or the reason why there is none.

    Raises ConfigError for an address or a key that cannot be one.
    """
    if space.partition("/")[0] in VENDORS:
        return _find_service(settings, EmbeddingSpace.parse(space))
    bound = next((each for each in (SPACE, INT8) if str(each) == space), None)
    if bound is None:
        return None, [f"no embedder for {space}: by words only"]
    if not (has_library("onnxruntime") and has_library("tokenizers")):
        return None, [NO_LIBRARIES]
    if find_model(settings.model_dir, settings.home) is None:
        return None, [NO_MODEL]
    return LocalEmbedder(settings.home, settings.model_dir, bound), []


def _find_service(
    settings: Settings, space: EmbeddingSpace
) -> tuple[BatchedEmbedder | None, list[str]]:
    vendor = VENDORS[space.provider]
    meant = settings.embedding is None or settings.embedding.startswith(f"{space.provider}/")
    url, key = embedding_access(settings, space.provider, meant)
    if lacking := missing(vendor, url, key):
        return None, [f"no embedder for {space}: by words only; {lacking[0]}"]
    price = settings.prices.get(f"{space.provider}/{space.model}")
    # A server of one's own may want no key.
    service = vendor.make(space, key or SecretStr(""), url or vendor.url)
    return BatchedEmbedder(
        service,
        per_minute=settings.embedding_requests_per_minute,
        at_once=settings.embedding_concurrency,
        timeout=settings.embedding_timeout,
        price=None if price is None else price.input,
    ), []


def embedding_access(
    settings: Settings, provider: str, in_use: bool = True
) -> tuple[str | None, SecretStr | None]:
    """Give the address that the settings name, if any, and the key. Raises ConfigError.

    Those of the settings belong to the provider in use; others have their own variables alone.
    """
    given = settings if in_use else Settings.model_construct()
    url = checked_url("embedding_base_url", given.embedding_base_url)
    variables = VENDORS[provider].variables
    return url, find_key("the embedder", given.embedding_api_key, url, variables)


def missing(vendor: Vendor, url: str | None, key: SecretStr | None) -> list[str]:
    """Say what must be done before an embedding service can be asked."""
    lacking = []
    if not has_library(vendor.library):
        lacking.append(f"run: pip install 'lexichord[{vendor.extra}]'")
    if key is None and (vendor.needs_key or url is None):
        own = "" if url else "".join(f" or {name}" for name in vendor.variables)
        lacking.append(f"set LEXICHORD_EMBEDDING_API_KEY{own}")
    return lacking


def find_reranker(settings: Settings) -> Reranker | None:
    """Give the reranker that the settings name; None where they name none. Raises ConfigError."""
    if not settings.reranker:
        return None
    provider, _, model = settings.reranker.partition("/")
    url = checked_url("reranker_base_url", settings.reranker_base_url)
    variables = VENDORS_KEYS.get(provider, ())
    key = find_key("the reranker", settings.reranker_api_key, url, variables)
    match provider, bool(model):
        case "cohere", True:
            _need_library("cohere", "cohere")
            if key is None:
                raise ConfigError("reranker cohere needs a key: set LEXICHORD_RERANKER_API_KEY")
            return cohere.CohereReranker(model, key, url or cohere.URL)
        case "jina", True:
            _need_library("httpx", "rerank")
            return http.JinaReranker(model, key, url or http.JINA_URL)
        case "tei", False:
            _need_library("httpx", "rerank")
            if url is None:
                raise ConfigError("reranker tei needs an address: set LEXICHORD_RERANKER_BASE_URL")
            return http.TeiReranker(url, key)
    there = "cohere/MODEL, jina/MODEL, tei"
    raise ConfigError(f"there is no reranker {settings.reranker}: {there}")


def find_generator(settings: Settings) -> Generator | None:
    """Give the language model that the settings name; None where they name none.

    Raises ConfigError. Loading DSPy takes about a second.
    """
    if not settings.llm:
        return None
    if not has_library("dspy"):
        raise ConfigError("llm needs dspy: pip install 'lexichord[llm]'")
    # Else DSPy fetches a list of models and prices from the network; it brings one along.
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "true"
    from lexichord.providers.llm.generator import DspyGenerator

    return DspyGenerator(settings)


def _need_library(library: str, extra: str) -> None:
    if not has_library(library):
        raise ConfigError(f"the reranker needs {library}: pip install 'lexichord[{extra}]'")


# Rerankers' own addresses, if they have one, libraries and extras.
RERANKERS = {
    "cohere": (cohere.URL, "cohere", "cohere"),
    "jina": (http.JINA_URL, "httpx", "rerank"),
    "tei": (None, "httpx", "rerank"),
}


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider as it is listed; with nothing `missing` it can be used as it is.

    `address` is where texts are sent to, None for this machine or what no setting names yet.
    """

    kind: Literal["embedder", "reranker", "language model"]
    name: str
    needs: str
    missing: list[str]
    in_use: bool
    address: str | None = None


def list_providers(settings: Settings, space: str) -> list[Provider]:
    """List all providers; `space` is the database's. Nothing is sent anywhere.

    What the settings say of address and key counts for the one in use. Raises ConfigError for a
    setting that is wrong.
    """
    embedder, reranker = space.partition("/")[0], (settings.reranker or "").partition("/")[0]
    return [
        _local(settings, embedder == "local"),
        *(_embedder(settings, name, embedder == name) for name in VENDORS),
        *(_reranker(settings, name, reranker == name) for name in RERANKERS),
        _model(settings),
    ]


def _local(settings: Settings, in_use: bool) -> Provider:
    try:
        lacking = find_embedder(settings, str(SPACE))[1]
    except ConfigError as error:
        lacking = [str(error)]
    short = [reason.rpartition("; ")[2] for reason in lacking]
    return Provider("embedder", "local", "lexichord[local] and its model (91 MB)", short, in_use)


def _embedder(settings: Settings, name: str, in_use: bool) -> Provider:
    vendor = VENDORS[name]
    url, key = embedding_access(settings, name, in_use)
    needs = f"lexichord[{vendor.extra}], a key (LEXICHORD_EMBEDDING_API_KEY, {vendor.variables[0]})"
    if not vendor.needs_key:
        needs += " or the address of your own server (LEXICHORD_EMBEDDING_BASE_URL)"
    lacking = missing(vendor, url, key)
    return Provider("embedder", name, needs, lacking, in_use, host(url or vendor.url))


def _reranker(settings: Settings, name: str, in_use: bool) -> Provider:
    own, library, extra = RERANKERS[name]
    given = settings if in_use else Settings.model_construct()
    url = checked_url("reranker_base_url", given.reranker_base_url)
    variables = VENDORS_KEYS.get(name, ())
    key = find_key("the reranker", given.reranker_api_key, url, variables)
    lacking = [] if has_library(library) else [f"run: pip install 'lexichord[{extra}]'"]
    if not (own or url):
        lacking.append("set LEXICHORD_RERANKER_BASE_URL")
    if own and key is None and (url is None or name == "cohere"):
        named = "".join(f" or {variable}" for variable in variables if not url)
        lacking.append(f"set LEXICHORD_RERANKER_API_KEY{named}")
    what = f"a key (LEXICHORD_RERANKER_API_KEY, {variables[0]})" if own else "its address"
    address = url or own
    needs = f"lexichord[{extra}], {what}"
    return Provider("reranker", name, needs, lacking, in_use, address and host(address))


def _model(settings: Settings) -> Provider:
    lacking = [] if has_library("dspy") else ["run: pip install 'lexichord[llm]'"]
    if not settings.llm:
        lacking.append("set LEXICHORD_LLM to vendor/model")
    url = checked_url("llm_base_url", settings.llm_base_url)
    needs = "lexichord[llm], its key (LEXICHORD_LLM_API_KEY, the vendor's) or your own server"
    name = settings.llm or "none"
    return Provider("language model", name, needs, lacking, bool(settings.llm), url and host(url))
