"""Replace the functions of schema `lexichord`; what others built on the old ones goes on.

An old function that cannot be replaced, but that a view of somebody's uses, is moved to schema
`lexichord_former`, where it asks the new one for the columns that it had.
"""

from collections.abc import Mapping
from typing import Any

import psycopg
from psycopg import Connection, errors

from lexichord.errors import DatabaseError

type Rows = list[tuple[Any, ...]]

FUNCTIONS = """
select p.oid, p.xmin::text from pg_proc p join pg_namespace n on n.oid = p.pronamespace
where n.nspname = %s and (%s::text is null or p.proname = %s)
"""

# What it takes to give a new function of the same name the rights that an old one grants.
GRANTS = """
select p.oid, p.proname, format(s.statement, p.proname, s.grantee)
from pg_proc p cross join lateral (
    select 'revoke all on routine lexichord.%I from public' as statement, '' as grantee
    union all
    select 'grant execute on routine lexichord.%I to %s'
               || case when a.is_grantable then ' with grant option' else '' end,
           case a.grantee when 0 then 'public' else a.grantee::regrole::text end
    from aclexplode(p.proacl) as a where a.grantee <> p.proowner
) as s
where p.pronamespace = 'lexichord'::regnamespace and p.proacl is not null
order by p.oid, 3 desc
"""


def replace_functions(connection: Connection, definitions: Mapping[str, str]) -> None:
    """Run each function's definition, by name; drop or retire those that have none.

    Raises DatabaseError if others use a function that the new ones cannot stand in for.
    """
    connection.execute("set local check_function_bodies = off")  # they name each other in any order
    before = set(_functions(connection, "lexichord"))
    grants = connection.execute(GRANTS).fetchall()
    if before:
        for name, definition in definitions.items():
            _replace(connection, name, definition)
    else:  # nothing stands in the way: all at once
        connection.execute("\n".join(definitions.values()))
    for oid, _ in before.intersection(_functions(connection, "lexichord")):  # not written anew
        _remove(connection, oid)
    kept = {oid for oid, _ in _functions(connection, "lexichord")}
    for oid, name, statement in grants:
        if oid not in kept and name in definitions:
            connection.execute(statement)
    connection.execute("set local check_function_bodies = on")
    _redirect_former(connection)


def _functions(connection: Connection, schema: str, name: str | None = None) -> Rows:
    """Return the functions, all or of one name, with the transactions that wrote them."""
    return connection.execute(FUNCTIONS, [schema, name, name]).fetchall()


def _replace(connection: Connection, name: str, definition: str) -> None:
    """Run one definition; remove the old function first only if it cannot be replaced."""
    try:
        with connection.transaction():
            connection.execute(definition)
    except errors.InvalidFunctionDefinition:
        for oid, _ in _functions(connection, "lexichord", name):
            _remove(connection, oid)
        connection.execute(definition)


def _remove(connection: Connection, oid: int) -> None:
    """Drop a function, or retire it if others use it."""
    if (dependents := _drop(connection, oid)) is None:
        return
    name = _signature(connection, oid)
    connection.execute("create schema if not exists lexichord_former")
    try:
        with connection.transaction():
            connection.execute(f"alter routine {name} set schema lexichord_former")
    except errors.DuplicateFunction:
        raise _in_use(name, dependents) from None


def _redirect_former(connection: Connection) -> None:
    """Have each retired function ask the new one of its name; drop those that nobody uses now."""
    for oid, _ in _functions(connection, "lexichord_former"):
        if (dependents := _drop(connection, oid)) is None:
            continue
        try:
            with connection.transaction():
                definition = "select lexichord.redirection(%s)"
                connection.execute(connection.execute(definition, [oid]).fetchall()[0][0])
        except psycopg.Error:
            name = _signature(connection, oid).replace("lexichord_former.", "lexichord.", 1)
            raise _in_use(name, dependents) from None
    if not _functions(connection, "lexichord_former"):
        connection.execute("drop schema if exists lexichord_former")


def _drop(connection: Connection, oid: int) -> str | None:
    """Drop a function; return what depends on it if something does."""
    try:
        with connection.transaction():
            connection.execute(f"drop routine {_signature(connection, oid)}")
    except errors.DependentObjectsStillExist as error:
        return (error.diag.message_detail or "").replace("\n", "; ")
    return None


def _signature(connection: Connection, oid: int) -> str:
    return str(connection.execute("select %s::regprocedure::text", [oid]).fetchall()[0][0])


def _in_use(name: str, dependents: str) -> DatabaseError:
    return DatabaseError(
        f"{name} changes in this version, but other objects depend on it ({dependents}): "
        "drop them, run lexichord init, make them again"
    )
