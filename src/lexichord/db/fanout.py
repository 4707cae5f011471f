"""A call of an SQL function over shards, and the ways to ask that most functions share."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lexichord.db.pool import Row
from lexichord.types.base import IdKind

if TYPE_CHECKING:
    from lexichord.db.shards import Shards

type Rule = Callable[["Call"], Awaitable[list[Row]]]

HOME = 0
CUT_OFF = "the shards are not of one embedding space: a change was cut off between them"
FINISH = "run lexichord reembed, or, where it was to change back, lexichord reembed --rollback"
SPACES_DIFFER = f"{CUT_OFF}: {FINISH}"
SCOPE = ("datasets", "documents", "uri_prefix", "filter")


@dataclass(frozen=True, slots=True)
class Call:
    """A call of an SQL function; `how` is the method of `Database` that it came by."""

    shards: "Shards"
    how: str
    function: str
    arguments: dict[str, Any]
    deleted: list[int] = field(default_factory=list)  # by each attempt

    def is_done(self, rows: Sequence[Row]) -> bool:
        """Return whether a write found all that it was to change."""
        if self.function == "delete_documents":
            return sum(self.deleted) == len(set(self.arguments["documents"]))
        if self.function == "keep_original":
            return bool(rows[0]["keep_original"])
        if self.function in ("set_vectors", "delete_dataset"):  # they do not say what was there
            return False
        return self.how == "write"

    async def ask(
        self, arguments: Mapping[int, Mapping[str, Any]], function: str | None = None
    ) -> dict[int, list[Row]]:
        """Ask shards for this function's rows, or another's."""
        return await self.shards.ask(self.how, function or self.function, arguments)

    async def ask_in_scope(
        self, function: str | None = None, **others: object
    ) -> dict[int, list[Row]]:
        """Ask the shards where the scope's documents may be; `others` replace arguments."""
        arguments = self.arguments | others
        documents = arguments.get("documents")
        if documents is None:
            return await self.ask(dict.fromkeys(self.shards.numbers, arguments), function)
        parted = await self.shards.by_shard("doc", documents)
        own = {number: arguments | {"documents": ids} for number, ids in parted.items()}
        return await self.ask(own, function)

    def scope(self) -> dict[str, Any]:
        """Return the arguments that say where to look."""
        return {name: self.arguments[name] for name in SCOPE if name in self.arguments}

    def take(self, name: str) -> Any:  # noqa: ANN401
        """Return an argument, or what the SQL function takes in its place."""
        value = self.arguments.get(name)
        return self.shards.defaults[name] if value is None else value


def joined(answers: Mapping[int, Sequence[Row]]) -> list[Row]:
    """Return the rows of all shards, by their numbers, as those of ids are in order."""
    return [row for number in sorted(answers) for row in answers[number]]


async def of_home(call: Call) -> list[Row]:
    """Ask the home alone."""
    return (await call.ask({HOME: call.arguments}))[HOME]


async def of_all(call: Call) -> list[Row]:
    """Ask all, and join what they answer."""
    return joined(await call.ask(dict.fromkeys(call.shards.numbers, call.arguments)))


async def of_each(call: Call) -> list[Row]:
    """Do on all what each answers alike."""
    return (await of_all(call))[:1]


def by_document(name: str = "document") -> Rule:
    """Ask the shard of the document that an argument names."""

    async def rule(call: Call) -> list[Row]:
        (number,) = await call.shards.by_shard("doc", [call.arguments[name]])
        return (await call.ask({number: call.arguments}))[number]

    return rule


def by_ids(name: str, kind: IdKind, ordered_by: str | None = None) -> Rule:
    """Part an argument of ids; put rows in its order by a column, or in that of the shards."""

    async def rule(call: Call) -> list[Row]:
        ids = call.arguments[name]
        parted = await call.shards.by_shard(kind, ids) or {HOME: []}
        asked = {number: call.arguments | {name: own} for number, own in parted.items()}
        rows = joined(await call.ask(asked))
        if ordered_by is None:
            return rows
        places = {text: place for place, text in reversed(list(enumerate(ids)))}
        return sorted(rows, key=lambda row: places[row[ordered_by]])

    return rule
