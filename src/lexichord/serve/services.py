"""Services that a request names in its headers: asked only where the settings allow it."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from lexichord.errors import ConfigError, ForbiddenError
from lexichord.serve.access import ScopedClient
from lexichord.settings import Settings

LLM_URL_HEADER, LLM_MODEL_HEADER = "X-LLM-API-URL", "X-LLM-MODEL"
RERANK_URL_HEADER, RERANK_MODEL_HEADER = "X-RERANK-URL", "X-RERANK-MODEL"
SERVICE_HEADERS = (LLM_URL_HEADER, LLM_MODEL_HEADER, RERANK_URL_HEADER, RERANK_MODEL_HEADER)

# Nothing that two parsers could read differently: no user or password, no backslash, escape, query
# or space. A dot at the host's end makes another name, which must be allowed by itself.
SERVICE_ADDRESS = re.compile(
    r"(https?)://(\[[0-9a-f:.]+\]|[a-z0-9.-]+)(?::([0-9]{1,5}))?(?:/[\w.~/-]*)?", re.I | re.A
)
SERVICE_MODEL_NAME = re.compile(r"[\w.:/@+-]{1,200}", re.A)
DEFAULT_PORTS = {"http": 80, "https": 443}

type SettingsChanges = dict[str, object]


class ServiceOrigin(NamedTuple):
    """Where a service is: what must be the same for an address to be allowed."""

    scheme: str
    host: str
    port: int


def parse_origin(url: str) -> ServiceOrigin | None:
    """Return the origin of an address; None for what is none, or could be read in two ways."""
    match = SERVICE_ADDRESS.fullmatch(url)
    if match is None:
        return None
    scheme, host = match[1].lower(), match[2].lower()
    port = int(match[3]) if match[3] else DEFAULT_PORTS[scheme]
    return ServiceOrigin(scheme, host, port) if 0 < port < 65536 else None


def allowed_origins(settings: Settings) -> set[ServiceOrigin]:
    """Return the origins that the settings allow. Raises ConfigError for one that is none."""
    origins = {address: parse_origin(address) for address in settings.allowed_addresses}
    if wrong := [address for address, parsed in origins.items() if parsed is None]:
        raise ConfigError(
            f"allowed_addresses: '{wrong[0]}' is no address like http://localhost:11434"
        )
    return {parsed for parsed in origins.values() if parsed is not None}


def with_named_services(
    scoped: ScopedClient, headers: Mapping[str, str]
) -> tuple[ScopedClient, list[str]]:
    """Return the client as it asks the services that a request's headers name, and what it lacks.

    It is returned as it is where nothing is named. A service that is named gets no key of ours; one
    that may not be asked is left out, and a line says so. Raises ConfigError.
    """
    named = {
        name: headers[name].strip() for name in SERVICE_HEADERS if headers.get(name, "").strip()
    }
    changes: SettingsChanges = {}
    left_out = []
    for read in (_llm, _reranker):
        try:
            changes |= read(scoped.settings, named)
        except ForbiddenError as error:
            left_out.append(str(error))
    return (scoped.with_models(changes) if changes else scoped), left_out


def _llm(settings: Settings, named: Mapping[str, str]) -> SettingsChanges:
    service = _service(settings, named, LLM_URL_HEADER, LLM_MODEL_HEADER, settings.llm)
    if service is None:
        return {}
    return _changes("llm", f"openai/{service[1]}", "llm_base_url", service[0])


def _reranker(settings: Settings, named: Mapping[str, str]) -> SettingsChanges:
    own = settings.reranker
    service = _service(settings, named, RERANK_URL_HEADER, RERANK_MODEL_HEADER, own)
    if service is None:
        return {}
    return _changes("reranker", f"jina/{service[1]}", "reranker_base_url", service[0])


def _changes(name: str, model: str, base_url: str, url: str) -> SettingsChanges:
    return {name: model, base_url: url, f"{name}_api_key": None, f"{name}_api_key_file": None}


def _service(
    settings: Settings, named: Mapping[str, str], url_name: str, model_name: str, own: str | None
) -> tuple[str, str] | None:
    """Return the address and the model that are named, None where none is or it is ours anyway."""
    url, model = named.get(url_name), named.get(model_name)
    if url is None and model is None:
        return None
    if model is not None and not SERVICE_MODEL_NAME.fullmatch(model):
        raise ConfigError(f"{model_name} is no name of a model")
    if url is None:
        if own is not None and model in (own, own.partition("/")[2]):
            return None
        raise ForbiddenError(
            f"{model_name} names a model that this server is not set to: "
            f"it was not asked; name its address in {url_name} as well"
        )
    if model is None:
        raise ConfigError(f"{url_name} says where, but not which model: send {model_name} as well")
    if parse_origin(url) not in allowed_origins(settings):
        raise ForbiddenError(
            f"{url_name} names an address that this server may not ask: it was not asked; whoever "
            "runs the server can list it in allowed_addresses (LEXICHORD_ALLOWED_ADDRESSES)"
        )
    return url, model
