"""The commands for tenants."""

from typing import TYPE_CHECKING, Annotated

import typer

from lexichord.cli.deferred import render
from lexichord.cli.help import command_group
from lexichord.cli.options import Invocation, command
from lexichord.types.base import counted

if TYPE_CHECKING:
    from lexichord.types import Tenant

tenants_app = command_group("Tenants, who share a database and see nothing of each other.")


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
        invocation.show_list("tenants", lexichord.list_tenants(), _list)


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


def _list(tenants: "list[Tenant]") -> None:
    for each in tenants:
        datasets = ", ".join(each.datasets) or "no dataset"
        roles = f"  roles {', '.join(each.roles)}" if each.roles else ""
        keys = counted(each.keys, "key")
        render.out.print(render.printable(f"{each.tenant}  {datasets}  {keys}{roles}"))
