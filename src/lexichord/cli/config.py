"""What is set, and what could be."""

from dataclasses import asdict

import typer
from rich.text import Text

from lexichord.cli.options import Invocation, command
from lexichord.cli.render import Row, out, printable

app = typer.Typer()
config = typer.Typer(help="The settings.", no_args_is_help=True)
app.add_typer(config, name="config")


@command(config)
def show(invocation: Invocation) -> None:
    """Show each setting with its source; of keys only whether they are set."""
    from lexichord.client.setup import list_settings

    invocation.show({"settings": list_settings(**invocation.arguments)}, _settings)


@command(app)
def providers(invocation: Invocation) -> None:
    """List embedders, rerankers and language model: what they need, and what is missing."""
    from lexichord.client.setup import list_providers

    found = [asdict(provider) for provider in list_providers(invocation.settings)]
    invocation.show({"providers": found}, _providers)


def _settings(row: Row) -> None:
    """Print a line a setting."""
    for setting in row["settings"]:
        value = "-" if setting["value"] is None else str(setting["value"])
        source = Text(f"  ({setting['source']})", "dim")
        out.print(Text(f"{setting['name']}: ") + printable(value) + source)


def _providers(row: Row) -> None:
    """Print a line a provider, and what it still wants."""
    for each in row["providers"]:
        use = "in use, " if each["in_use"] else ""
        state = f"{use}{'there' if not each['missing'] else 'lacks something'}"
        address = f" at {each['address']}" if each["address"] else ""
        line = Text(f"{each['kind']} ") + printable(f"{each['name']}{address}: {state}")
        out.print(line + Text(f"; needs {each['needs']}", "dim"))
        for step in each["missing"]:
            out.print(printable(f"  {step}"), style="red" if each["in_use"] else "yellow")
