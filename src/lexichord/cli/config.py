"""The commands for the settings, the providers, and models that run on this machine."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from lexichord.cli.options import (
    CHECK_PANEL,
    Invocation,
    YesOption,
    command,
    command_group,
    confirm_deletion,
    render,
)
from lexichord.errors import LexichordError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from lexichord.cli.render import ResultRow
    from lexichord.settings import Settings

config_app = typer.Typer()
config_commands = command_group("The settings.")
config_app.add_typer(config_commands, name="config", rich_help_panel=CHECK_PANEL)

models_app = command_group("Models that run on this machine: fetched once, on request.")

NameArgument = Annotated[
    str, typer.Argument(help="Of the list, or OWNER/NAME.", show_default=False)
]


@command(config_commands)
def show(invocation: Invocation) -> None:
    """Show each setting with its source; of keys only whether they are set."""
    from lexichord.settings import list_settings

    invocation.show({"settings": list_settings(**invocation.arguments)}, _settings)


@command(config_app, panel=CHECK_PANEL)
def providers(invocation: Invocation) -> None:
    """List embedders, rerankers, readers and language model: what they need, what is missing."""
    from lexichord.db.server import bound_space
    from lexichord.providers.registry import list_providers

    space = bound_space(invocation.settings)
    providers = [asdict(provider) for provider in list_providers(invocation.settings, space)]
    invocation.show({"providers": providers}, _providers)


def _settings(row: "ResultRow") -> None:
    """Print a line for each setting."""
    from rich.text import Text

    for setting in row["settings"]:
        value = "-" if setting["value"] is None else str(setting["value"])
        source = Text(f"  ({setting['source']})", "dim")
        render.out.print(Text(f"{setting['name']}: ") + render.printable(value) + source)


def _providers(row: "ResultRow") -> None:
    """Print a line for each provider, and what it lacks."""
    from rich.text import Text

    for provider in row["providers"]:
        use = "in use, " if provider["in_use"] else ""
        state = f"{use}{'there' if not provider['missing'] else 'lacks something'}"
        address = f" at {provider['address']}" if provider["address"] else ""
        line = Text(f"{provider['kind']} ") + render.printable(
            f"{provider['name']}{address}: {state}"
        )
        render.out.print(line + Text(f"; needs {provider['needs']}", "dim"))
        for step in provider["missing"]:
            render.out.print(
                render.printable(f"  {step}"), style="red" if provider["in_use"] else "yellow"
            )


@command(models_app, "list")
def list_models(invocation: Invocation) -> None:
    """List the models that have a name, and others in the home: what they are, whether here."""
    from lexichord.providers.model_folders import list_models

    invocation.show({"models": list_models(invocation.settings)}, render.models)


@command(models_app, examples=("lexichord models info multilingual-e5-small",))
def info(invocation: Invocation, name: NameArgument) -> None:
    """Show all that is known of a model, and how to use it."""
    from lexichord.providers.model_folders import find_listed, usage

    listed, model = find_listed(invocation.settings, name)
    facts = asdict(model) if model else {}
    invocation.show(facts | listed.to_dict() | {"use": usage(listed)}, render.model)


@command(
    models_app,
    examples=(
        "lexichord models fetch multilingual-e5-small",
        "lexichord models fetch onnx-community/bge-small-en-v1.5-ONNX",
    ),
)
def fetch(invocation: Invocation, name: NameArgument) -> None:
    """Download a model from the Hugging Face hub, or what is missing of it."""
    from lexichord.providers.hub import fetch_model
    from lexichord.providers.model_folders import find_listed, usage

    settings = invocation.settings
    folder = fetch_model(settings.home, name, render.fetching)
    listed, _ = find_listed(settings, name)
    made = {"name": listed.name, "folder": str(folder), "setting": listed.setting}
    invocation.show(made | {"use": usage(listed)}, render.fetched)


@command(models_app, examples=("lexichord models remove bge-small-en-v1.5 --yes",))
def remove(invocation: Invocation, name: NameArgument, yes: YesOption = False) -> None:
    """Delete a model's folder in the home, and what was made of it."""
    from lexichord.providers import model_folders

    settings = invocation.settings
    removable = model_folders.find_removable(settings, name)
    what = f"{name}, {_sizes(removable)}"
    if model_folders.is_named(settings, name):
        what += ", which the settings name"
    what += _need(settings, removable)
    confirm_deletion(what, yes)
    model_folders.remove(settings.home, removable)
    invocation.show(
        {"removed": removable}, lambda _: render.out.print(render.printable(f"{what}: deleted"))
    )


def _sizes(removable: "Sequence[Path]") -> str:
    """Say how much is in each folder, and in all files beside them."""
    from lexichord.providers.model_folders import megabytes

    files = [each for each in removable if each.is_file()]
    held = [f"{megabytes(each)} MB in '{each}'" for each in removable if each.is_dir()]
    made = [f"{megabytes(*files)} MB of graphs made of it"] if files else []
    return " and ".join(held + made)


def _need(settings: "Settings", removable: "Sequence[Path]") -> str:
    """Say what becomes of the database, where it embeds by a model that is to go."""
    from lexichord.db.server import find_bound_space
    from lexichord.providers.model_folders import is_embedder_of

    try:
        space = find_bound_space(settings)
    except LexichordError as error:  # nobody is kept from making room on the disk by that
        return f", and whether the database needs it cannot be told ({error})"
    if space is None or not any(is_embedder_of(settings, each, space) for each in removable):
        return ""
    then = "without it searches and ingests go by words only"
    return f", which the database's space {space} needs ({then})"
