"""Services that a request names in its headers: asked only where the settings allow it."""

import re
from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from typing import NamedTuple

from lexichord.errors import ConfigError, ForbiddenError
from lexichord.providers.registry import find_reranker
from lexichord.serve.access import Limited
from lexichord.settings import Settings

LLM_URL, LLM_MODEL = "X-LLM-API-URL", "X-LLM-MODEL"
RERANK_URL, RERANK_MODEL = "X-RERANK-URL", "X-RERANK-MODEL"
NAMING = (LLM_URL, LLM_MODEL, RERANK_URL, RERANK_MODEL)

# Nothing that two parsers could read differently: no user or password, no backslash, escape, query
# or space. A dot at the host's end makes another name, which must be allowed by itself.
ADDRESS = re.compile(
    r"(https?)://(\[[0-9a-f:.]+\]|[a-z0-9.-]+)(?::([0-9]{1,5}))?(?:/[\w.~/-]*)?", re.I | re.A
)
MODEL = re.compile(r"[\w.:/@+-]{1,200}", re.A)
PORTS = {"http": 80, "https": 443}

type Changes = dict[str, object]


class Origin(NamedTuple):
    """Where a service is: what must be the same for an address to be allowed."""

    scheme: str
    host: str
    port: int


def origin(url: str) -> Origin | None:
    """Give the origin of an address; None for what is none, or could be read in two ways."""
    found = ADDRESS.fullmatch(url)
    if found is None:
        return None
    scheme, host = found[1].lower(), found[2].lower()
    port = int(found[3]) if found[3] else PORTS[scheme]
    return Origin(scheme, host, port) if 0 < port < 65536 else None


def allowed_origins(settings: Settings) -> set[Origin]:
    """Give the origins that the settings allow. Raises ConfigError for one that is none."""
    allowed = {address: origin(address) for address in settings.allowed_addresses}
    if wrong := [address for address, found in allowed.items() if found is None]:
        raise ConfigError(
            f"allowed_addresses: '{wrong[0]}' is no address like http://localhost:11434"
        )
    return {found for found in allowed.values() if found is not None}


def with_named_services(limited: Limited, headers: Mapping[str, str]) -> Limited:
    """Give the application as it asks the services that a request's headers name.

    The one that was given stays as it is, and is given back where nothing is named. A service that
    is named gets no key of ours. Raises ForbiddenError, ConfigError.
    """
    given = {name: headers[name].strip() for name in NAMING if headers.get(name, "").strip()}
    settings = limited.core.settings
    changes = _llm(settings, given) | _reranker(settings, given)
    if not changes:
        return limited
    core = copy(limited.core)  # shares the database and the embedder
    core.settings = settings.model_copy(update=changes)
    if "reranker" in changes:
        core.reranker = find_reranker(core.settings)
    return replace(limited, core=core)


def without_reranker(limited: Limited) -> Limited:
    """Give the application as it answers without one."""
    core = copy(limited.core)
    core.reranker = None
    return replace(limited, core=core)


def _llm(settings: Settings, given: Mapping[str, str]) -> Changes:
    named = _named(settings, given, LLM_URL, LLM_MODEL, settings.llm)
    return _changes("llm", f"openai/{named[1]}", "llm_base_url", named[0]) if named else {}


def _reranker(settings: Settings, given: Mapping[str, str]) -> Changes:
    named = _named(settings, given, RERANK_URL, RERANK_MODEL, settings.reranker)
    return _changes("reranker", f"jina/{named[1]}", "reranker_base_url", named[0]) if named else {}


def _changes(name: str, model: str, base_url: str, url: str) -> Changes:
    return {name: model, base_url: url, f"{name}_api_key": None, f"{name}_api_key_file": None}


def _named(
    settings: Settings, given: Mapping[str, str], url_name: str, model_name: str, own: str | None
) -> tuple[str, str] | None:
    """Give the address and the model that are named, None where none is or it is ours anyway."""
    url, model = given.get(url_name), given.get(model_name)
    if url is None and model is None:
        return None
    if model is not None and not MODEL.fullmatch(model):
        raise ConfigError(f"{model_name} is no name of a model")
    if url is None:
        if own is not None and model in (own, own.partition("/")[2]):
            return None
        raise ForbiddenError(
            f"{model_name} names a model that this server is not set to: "
            f"name its address in {url_name} as well, or leave the header out"
        )
    if model is None:
        raise ConfigError(f"{url_name} says where, but not which model: send {model_name} as well")
    if origin(url) not in allowed_origins(settings):
        raise ForbiddenError(
            f"{url_name} names an address that this server may not ask: whoever runs it can list "
            "it in allowed_addresses (LEXICHORD_ALLOWED_ADDRESSES), or leave the header out"
        )
    return url, model
