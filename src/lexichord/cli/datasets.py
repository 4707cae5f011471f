"""The commands for datasets."""

from typing import Annotated

import typer

from lexichord.cli.deferred import render
from lexichord.cli.help import command_group
from lexichord.cli.options import (
    Invocation,
    ReferencesArgument,
    YesOption,
    command,
    confirm_deletion,
)

datasets_app = command_group("Datasets, each a named set of documents.")


@command(datasets_app, "list")
def list_datasets(invocation: Invocation) -> None:
    """List the datasets, with how many documents and chunks each holds."""
    with invocation.open() as lexichord:
        invocation.show_list("datasets", lexichord.datasets(), render.datasets)


@command(datasets_app, examples=("lexichord datasets delete contracts --yes",))
def delete(
    invocation: Invocation,
    dataset: Annotated[str, typer.Argument(help="Of the list.", show_default=False)],
    yes: YesOption = False,
) -> None:
    """Delete a dataset with its documents and all that belongs to them."""
    with invocation.open() as lexichord:
        held = [str(each) for each in lexichord.datasets() if each.dataset == dataset]
        for line in held:  # of one that is not there the application says so
            confirm_deletion(line, yes)
        documents = lexichord.delete_dataset(dataset)
    invocation.show(
        {"deleted": documents}, lambda _: render.out.print(f"{', '.join(held)} deleted")
    )


@command(datasets_app, examples=("lexichord datasets rename contracts agreements",))
def rename(
    invocation: Invocation,
    dataset: Annotated[str, typer.Argument(help="Its name until now.", show_default=False)],
    new_name: Annotated[str, typer.Argument(help="One that no dataset has.", show_default=False)],
) -> None:
    """Give a dataset another name; API keys and an indexed table that name it follow."""
    with invocation.open() as lexichord:
        lexichord.rename_dataset(dataset, new_name)
    row = {"dataset": new_name}
    invocation.show(
        row, lambda _: render.out.print(render.printable(f"{dataset} is {new_name} now"))
    )


@command(datasets_app, examples=("lexichord datasets move lease.pdf nda.pdf --to archive",))
def move(
    invocation: Invocation,
    references: ReferencesArgument,
    to: Annotated[str, typer.Option(help="A dataset; one that is not there is made.")],
) -> None:
    """Move documents into a dataset, with all that belongs to them; nothing is embedded again."""
    with invocation.open() as lexichord:
        moved = lexichord.move(references, to)
    invocation.show({"moved": moved}, lambda row: render.out.print(f"{row['moved']} moved"))
