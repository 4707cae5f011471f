"""The commands for models that run on this machine."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from lexichord.cli.deferred import render
from lexichord.cli.help import command_group
from lexichord.cli.options import Invocation, YesOption, command, confirm_deletion
from lexichord.errors import LexichordError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from lexichord.settings import Settings

models_app = command_group("Models that run on this machine: fetched once, on request.")

NameArgument = Annotated[
    str, typer.Argument(help="Of the list, or OWNER/NAME.", show_default=False)
]


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
