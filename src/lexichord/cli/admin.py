"""The commands for whoever runs a server: settings, providers, models, API keys and tenants."""

import sys
from collections.abc import Sequence
from dataclasses import asdict
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from lexichord.cli import check_output
from lexichord.cli.options import (
    CHECK_PANEL,
    Invocation,
    YesOption,
    command,
    command_group,
    confirm_deletion,
    render,
    say_error,
)
from lexichord.errors import ConfigError, LexichordError
from lexichord.types.base import counted

if TYPE_CHECKING:
    from pathlib import Path

    from lexichord.cli.render import ResultRow
    from lexichord.client.sync import SyncLexichord
    from lexichord.settings import Settings
    from lexichord.types import ApiCall, ApiKey, NewApiKey, Tenant

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


OVERLAP_HOURS = 24  # as the library has it

keys_app = command_group("API keys for HTTP and MCP.")

tenants_app = command_group("Tenants, who share a database and see nothing of each other.")


@command(keys_app, examples=("lexichord keys create agents --dataset contracts --days 90",))
def create(
    invocation: Invocation,
    name: Annotated[str, typer.Argument(help="Whose it is.", show_default=False)],
    dataset: Annotated[
        list[str] | None, typer.Option(help="It reaches only this; repeatable. By default all.")
    ] = None,
    write: Annotated[bool, typer.Option("--write", help="It may store documents, too.")] = False,
    delete: Annotated[bool, typer.Option("--delete", help="It may delete documents, too.")] = False,
    no_read: Annotated[bool, typer.Option("--no-read", help="It may not read.")] = False,
    days: Annotated[
        int | None, typer.Option(help="It expires after so many; by default never.", min=1)
    ] = None,
    requests_per_minute: Annotated[
        int | None, typer.Option(help="It may send so many; by default any number.", min=1)
    ] = None,
    tenant: Annotated[
        str | None, typer.Option(help="It sees what is this tenant's; it only reads.")
    ] = None,
    principal: Annotated[
        list[str] | None, typer.Option(help="It sees documents for this; repeatable.")
    ] = None,
) -> None:
    """Create a key and print it, once."""
    check_output()
    with invocation.open() as lexichord:
        key = lexichord.create_key(
            name,
            datasets=dataset or None,
            writes=write,
            deletes=delete,
            reads=not no_read,
            lasts=None if days is None else _span("days", days),
            requests_per_minute=requests_per_minute,
            tenant=tenant,
            principals=principal or (),
        )
        _show_secret(invocation, lexichord, key)


@command(keys_app, examples=("lexichord keys rotate 3 --overlap-hours 48",))
def rotate(
    invocation: Invocation,
    number: Annotated[int, typer.Argument(help="Of the list.")],
    overlap_hours: Annotated[
        int, typer.Option(help="For so long the old key is valid beside the new one.", min=0)
    ] = OVERLAP_HOURS,
) -> None:
    """Create a key for what another may do, print it, once, and let the other one expire."""
    check_output()
    with invocation.open() as lexichord:
        key = lexichord.rotate_key(number, overlap=_span("hours", overlap_hours))
        _show_secret(invocation, lexichord, key)


@command(keys_app, "list")
def list_keys(invocation: Invocation) -> None:
    """List the keys, without their secrets."""
    with invocation.open() as lexichord:
        invocation.show_list("keys", lexichord.list_keys(), _print_keys)


@command(keys_app, examples=("lexichord keys calls --key 3 --latest 50",))
def calls(
    invocation: Invocation,
    key: Annotated[int | None, typer.Option(help="Only this key's, by its number.")] = None,
    latest: Annotated[int, typer.Option(help="So many of the latest.", min=1)] = 20,
) -> None:
    """List what keys were used for, newest first; a running server writes it down after seconds."""
    with invocation.open() as lexichord:
        invocation.show_list("calls", lexichord.list_calls(latest, key=key), _print_calls)


@command(keys_app, examples=("lexichord keys revoke 3",))
def revoke(
    invocation: Invocation, number: Annotated[int, typer.Argument(help="Of the list.")]
) -> None:
    """Revoke a key, for good."""
    with invocation.open() as lexichord:
        lexichord.revoke_key(number)
    invocation.show(
        {"revoked": number}, lambda row: render.out.print(f"key {row['revoked']} is revoked")
    )


def _span(unit: str, amount: int) -> timedelta:
    """Return a length of time. Raises ConfigError for one that cannot be told."""
    try:
        return timedelta(**{unit: amount})
    except OverflowError:
        raise ConfigError(f"{amount} {unit} is more than can be counted") from None


def _show_secret(invocation: Invocation, lexichord: "SyncLexichord", key: "NewApiKey") -> None:
    """Print a key; revoke it where that fails, for nobody has its secret then."""
    try:
        invocation.show(key, lambda _: typer.echo(key.secret))
        sys.stdout.flush()
    except BaseException:
        renewed = f"; key {key.key.renews} ends as was said: rotate it again, or create another"
        say_error(
            f"key {key.key.key_id} could not be printed, and is revoked"
            f"{renewed if key.key.renews else ''}"
        )
        lexichord.revoke_key(key.key.key_id)
        raise
    if not invocation.as_json:
        render.err.print(render.printable("keep it: it is not shown again"))


def _print_keys(keys: "list[ApiKey]") -> None:
    for key in keys:
        deeds = {"read": key.reads, "write": key.writes, "delete": key.deletes}
        mode = "+".join(name for name, allowed in deeds.items() if allowed)
        parts = [
            *(f"{key.key_id:>4}", key.name, f"{mode} {_reach(key.datasets)}"),
            *([f"tenant {key.tenant}"] if key.tenant else []),
            *([f"for {', '.join(key.principals)}"] if key.principals else []),
            *([f"{key.requests_per_minute}/min"] if key.requests_per_minute else []),
            *(f"{key.created_at:%Y-%m-%d}", _state(key)),
            f"last used {key.last_used_at:%Y-%m-%d %H:%M}" if key.last_used_at else "never used",
        ]
        render.out.print(render.printable("  ".join(parts)))


def _state(key: "ApiKey") -> str:
    renews = f", renews {key.renews}" if key.renews else ""
    if key.revoked_at:
        return f"revoked {key.revoked_at:%Y-%m-%d}{renews}"
    if key.expires_at:
        return (
            f"{'valid until' if key.valid else 'expired'} {key.expires_at:%Y-%m-%d %H:%M}{renews}"
        )
    return f"valid{renews}"


def _print_calls(calls: "list[ApiCall]") -> None:
    for call in calls:
        when, query = f"{call.called_at:%Y-%m-%d %H:%M:%S}", f"  {call.query}" if call.query else ""
        who = f"{call.key_id:>4}  {call.name}"
        line = f"{when}  {who}  {call.kind}  {call.status}  {_reach(call.datasets)}{query}"
        render.out.print(render.printable(line))


def _reach(datasets: Sequence[str] | None) -> str:
    return "all datasets" if datasets is None else ", ".join(datasets)


@command(tenants_app)
def on(invocation: Invocation) -> None:
    """Turn tenants on, for good: only the owner sees what is not of a tenant of its own."""
    with invocation.open() as lexichord:
        lexichord.turn_tenants_on()
    invocation.show({"tenants": "on"}, lambda _: _turned_on())


@command(tenants_app, examples=("lexichord tenants add acme --dataset contracts",))
def add(
    invocation: Invocation,
    name: Annotated[str, typer.Argument(help="What it is called.", show_default=False)],
    dataset: Annotated[
        list[str] | None, typer.Option(help="It is the tenant's from here on; repeatable.")
    ] = None,
    role: Annotated[
        list[str] | None, typer.Option(help="This SQL role asks for the tenant; repeatable.")
    ] = None,
    principal: Annotated[
        list[str] | None, typer.Option(help="The roles see documents for this; repeatable.")
    ] = None,
) -> None:
    """Add a tenant, or datasets and SQL roles to one."""
    with invocation.open() as lexichord:
        is_new = lexichord.add_tenant(
            name, datasets=dataset or (), roles=role or (), principals=principal or ()
        )
    row = {"tenant": name, "created": is_new}
    invocation.show(
        row,
        lambda _: render.out.print(
            render.printable(f"{name} is {'added' if is_new else 'changed'}")
        ),
    )


@command(tenants_app, "list")
def list_tenants(invocation: Invocation) -> None:
    """List the tenants."""
    with invocation.open() as lexichord:
        invocation.show_list("tenants", lexichord.list_tenants(), _print_tenants)


@command(tenants_app, examples=("lexichord tenants drop acme",))
def drop(
    invocation: Invocation,
    name: Annotated[str, typer.Argument(help="Of the list.", show_default=False)],
) -> None:
    """Forget a tenant and revoke its keys; its datasets stay, for the owner alone to see."""
    with invocation.open() as lexichord:
        lexichord.drop_tenant(name)
    invocation.show(
        {"dropped": name}, lambda _: render.out.print(render.printable(f"{name} is dropped"))
    )


def _turned_on() -> None:
    from lexichord.client.admin import SERVE_AS

    render.out.print("tenants are on")
    render.err.print(
        f"to serve them, {SERVE_AS}; restart what serves now", highlight=False, markup=False
    )


def _print_tenants(tenants: "list[Tenant]") -> None:
    for each in tenants:
        datasets = ", ".join(each.datasets) or "no dataset"
        roles = f"  roles {', '.join(each.roles)}" if each.roles else ""
        keys = counted(each.keys, "key")
        render.out.print(render.printable(f"{each.tenant}  {datasets}  {keys}{roles}"))
