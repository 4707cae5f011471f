"""How cost grows with the number of chunks, as a picture: what bench/scale.py printed, by engine.

python scripts/bench/plot_scale.py PICTURE.svg plain=LINES.jsonl [vectorchord=LINES.jsonl ...]
"""

import json
import sys
from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from lexichord.evaluate.page import FIGURE_WIDTH_INCHES, PLOT_COLOURS, PLOT_MARKERS, PLOT_STYLE
from scale import CLIENTS, LEGS

HEIGHT_INCHES = 4.2
ASKED = ("first", "again")  # sentences of passages are embedded once
SIZES = (10_000, 100_000, 1_000_000)  # on the axis

type Figures = list[dict[str, Any]]


def figures(file: Path) -> Figures:
    """The lines of one engine, from the smallest size on; what else was printed is passed over."""
    lines = (line for line in file.read_text().splitlines() if line.startswith("{"))
    return sorted(map(json.loads, lines), key=lambda line: int(line["chunks"]))


def panels(lines: Figures) -> dict[str, dict[str, list[float]]]:
    """What is drawn, by the panel's title, by the curve's name."""
    return {
        "p50, ms": {leg: [line["legs, ms"][leg]["p50"] for line in lines] for leg in LEGS}
        | {f"query, {when}": [line["query, ms"][when]["p50"] for line in lines] for when in ASKED},
        "queries/s": {
            f"{n} client{'s' * (n > 1)}": [line["queries/s"][str(n)] for line in lines]
            for n in CLIENTS
        },
        "KiB a chunk": {
            "ten largest relations": [
                1024 * sum(line["MiB"].values()) / line["chunks"] for line in lines
            ]
        },
    }


def draw(axes: Axes, title: str, engines: dict[str, Figures]) -> None:
    """Draw a panel: a colour an engine, a marker a curve."""
    for colour, (engine, lines) in zip(PLOT_COLOURS, engines.items(), strict=False):
        sizes = [line["chunks"] for line in lines]
        curves = panels(lines)[title]
        for marker, (name, values) in zip(PLOT_MARKERS, curves.items(), strict=False):
            axes.plot(sizes, values, color=colour, marker=marker, label=f"{engine}: {name}")
    axes.set(xscale="log", yscale="log", xlabel="chunks", title=title)
    axes.set_xticks(SIZES, [f"{size // 1000:,}k" for size in SIZES])
    axes.minorticks_off()
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.legend(fontsize=6, loc="upper center", bbox_to_anchor=(0.5, -0.16))


def main() -> None:
    picture, *sources = sys.argv[1:]
    named = (source.partition("=") for source in sources)
    engines = {engine: figures(Path(file)) for engine, _, file in named}
    with rc_context(PLOT_STYLE):
        figure = Figure(figsize=(FIGURE_WIDTH_INCHES, HEIGHT_INCHES))
        titles = list(panels(next(iter(engines.values()))))
        for axes, title in zip(figure.subplots(1, len(titles)), titles, strict=True):
            draw(axes, title, engines)
        figure.savefig(picture, format="svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
