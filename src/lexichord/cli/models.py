"""The commands for models that run on this machine."""

from dataclasses import asdict
from typing import Annotated

import typer

from lexichord.cli.deferred import render
from lexichord.cli.help import command_group
from lexichord.cli.options import Invocation, YesOption, command, confirm_deletion

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
    """Delete a model's folder in the home."""
    from lexichord.providers import model_folders

    settings = invocation.settings
    folders = model_folders.find_removable(settings, name)
    held = (f"{model_folders.megabytes(folder)} MB in '{folder}'" for folder in folders)
    what = f"{name}, {' and '.join(held)}"
    if model_folders.is_named(settings, name):
        what += ", which the settings name"
    confirm_deletion(what, yes)
    model_folders.remove_folders(settings.home, folders)
    invocation.show(
        {"removed": folders}, lambda _: render.out.print(render.printable(f"{what}: deleted"))
    )
