"""Graphs that are made here once and kept in the home: built from weights, or put into 8 bits."""

import re
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from lexichord.providers.embed.minilm import save_graph
from lexichord.providers.models import INT8


def kept_graph(cached: Path, build: Callable[[], bytes]) -> Path | bytes:
    """Return the path of a kept graph, built before if need be, or the graph if none can be kept.

    What it is made of is part of the name `cached`. Raises what `build` raises.
    """
    if _is_untouched(cached):
        return cached
    graph = build()
    try:
        _store(graph, cached)
    except OSError:
        return graph  # a home that cannot be written to costs each start the build, no more
    return cached


def made_of(folder: Path, models: Path) -> list[Path]:
    """Return the files of graphs that were made of a folder's model, of earlier weights too.

    They are told by the folder's name: another owner's model of that name, too, has its graph made
    anew when it is next opened.
    """
    name = rf"{re.escape(folder.name)}({INT8})?-[0-9a-f]{{12}}-\d+\.(onnx|weights|stamp)"
    files = models.iterdir() if models.is_dir() else ()
    return sorted(file for file in files if re.fullmatch(name, file.name) and file.is_file())


def _store(graph: bytes, cached: Path) -> None:
    cached.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=cached.parent) as scratch:
        save_graph(graph, Path(scratch, cached.name), _weights_file(cached).name)
        for file in (_weights_file(cached), cached):
            Path(scratch, file.name).replace(file)
    _stamp_file(cached).write_bytes(_stamp(cached))


def _is_untouched(cached: Path) -> bool:
    # Only a whole graph, built from checked weights, ever gets this name. That it is still that
    # one is seen by its files' sizes and times: hashing 90 MB would cost each start 60 ms.
    try:
        return _stamp_file(cached).read_bytes() == _stamp(cached)
    except OSError:
        return False


def _stamp_file(cached: Path) -> Path:
    return cached.with_suffix(".stamp")


def _weights_file(cached: Path) -> Path:
    return cached.with_suffix(".weights")


def _stamp(cached: Path) -> bytes:
    stats = (file.stat() for file in (cached, _weights_file(cached)))
    return "".join(f"{stat.st_size} {stat.st_mtime_ns}\n" for stat in stats).encode()
