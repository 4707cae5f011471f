"""What is done before an application opens: prepare databases, run the server, fetch models."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lexichord.db import server
from lexichord.providers import registry
from lexichord.providers.embed.local import fetch_model, find_model
from lexichord.settings import Settings, load_settings, origins, shown


def initialise(settings: Settings) -> None:
    """Prepare the database that the settings name, or bring it up to date."""
    server.initialise(settings)


def start_server(settings: Settings) -> str:
    """Start the embedded server so that it outlives this process; return its address."""
    return server.start_server(settings)


def stop_server(settings: Settings) -> bool:
    """Stop the embedded server, whoever uses it; return whether it ran."""
    return server.stop_server(settings)


def server_address(settings: Settings) -> str:
    """Return the address that other programs can use now."""
    return server.server_address(settings)


def fetch_models(settings: Settings) -> Path:
    """Download the local embedder's model from its public address; return its folder."""
    return fetch_model(settings.home)


def find_models(settings: Settings) -> Path | None:
    """Return the folder that holds the local embedder's model, if any does."""
    return find_model(settings.model_dir, settings.home)


def list_settings(**arguments: object) -> Sequence[dict[str, Any]]:
    """Return each setting's name, value and source; of keys only whether they are set."""
    settings = load_settings(**arguments)
    sources, values = origins(**arguments), shown(settings)
    for name, file in values.items():
        if name.endswith("_api_key_file") and file is not None:
            sources[name.removesuffix("_file")] = sources[name]  # it was read from there
    return [{"name": name, "value": values[name], "source": sources[name]} for name in values]


def list_providers(settings: Settings) -> Sequence[registry.Provider]:
    """List what embedders, rerankers and language model need, and which are in use here."""
    return registry.list_providers(settings, server.bound_space(settings))
