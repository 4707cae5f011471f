"""Every provider: what it needs, what of that is missing, whether it is in use."""

from dataclasses import dataclass
from typing import Literal

from lexichord.errors import ConfigError
from lexichord.providers import cohere, rerank_http
from lexichord.providers.access import checked_url, find_key, has_library
from lexichord.providers.http import host
from lexichord.providers.local import SPACE
from lexichord.providers.registry import (
    VENDORS,
    VENDORS_KEYS,
    embedding_access,
    find_embedder,
    missing,
)
from lexichord.settings import Settings

# Rerankers' own addresses, if they have one, libraries and extras.
RERANKERS = {
    "cohere": (cohere.URL, "cohere", "cohere"),
    "jina": (rerank_http.JINA_URL, "httpx", "rerank"),
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
