"""The commands that show the settings and the providers."""

from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

from lexichord.cli.deferred import render
from lexichord.cli.help import command_group
from lexichord.cli.options import CHECK_PANEL, Invocation, command

if TYPE_CHECKING:
    from lexichord.cli.render import ResultRow

config_app = typer.Typer()
config_commands = command_group("The settings.")
config_app.add_typer(config_commands, name="config", rich_help_panel=CHECK_PANEL)


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
