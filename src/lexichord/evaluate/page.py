"""The report's blocks of plain text, tables and plots, rendered as Markdown and as HTML.

All text is untrusted: it is escaped here, and only here. Plots are SVG; their
labels are plain text, and missing values are left out.
"""

import re
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from io import StringIO
from typing import TYPE_CHECKING, Any, assert_never
from warnings import catch_warnings, filterwarnings

from lexichord.errors import ConfigError
from lexichord.evaluate.statistics import Bin
from lexichord.types.evaluation import Difference

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# The page loads and runs nothing: no script, no address.
REPORT_CSP = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"

REPORT_CSS = """
body { font: 15px/1.5 system-ui, sans-serif; color: #111; max-width: 68rem; margin: 2rem auto;
  padding: 0 1rem; overflow-wrap: break-word }
h1, h2, h3 { line-height: 1.25; break-after: avoid } h3 { overflow-wrap: anywhere }
h2 { margin-top: 2.5rem; border-bottom: 1px solid #bbb } h3 { margin-top: 2rem }
figure { margin: 1rem 0; break-inside: avoid } img { width: 100%; height: auto }
caption, figcaption { color: #444; font-size: 14px; padding: .25rem 0; text-align: left }
div { overflow-x: auto; margin: 1rem 0 }
table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums }
th, td { border-bottom: 1px solid #ddd; padding: .2rem .5rem; text-align: left;
  vertical-align: top; min-width: 3rem }
thead th { border-bottom: 1px solid #666; vertical-align: bottom } tbody th { font-weight: 600 }
tr { break-inside: avoid }
@media print { body { font-size: 10pt; margin: 0; max-width: none } div { overflow: visible }
  table { font-size: 8pt } th, td { padding: .1rem .3rem; min-width: 0 } }
"""

# White space except the no-break space, control codes, bidirectional controls, lone surrogates.
UNPRINTABLE_CHARS = re.compile(
    r"(?:[^\S\xa0]|[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff])+"
)

MARKDOWN_MARKUP = re.compile(r"[\\`*\[\]|~$#]|(?<!\w)_|_(?!\w)")


@dataclass(frozen=True, slots=True)
class ReportHeading:
    """A title, of level 1 to 3."""

    text: str
    level: int = 2


@dataclass(frozen=True, slots=True)
class ReportList:
    """A list of sentences."""

    texts: Sequence[str]


@dataclass(frozen=True, slots=True)
class ReportTable:
    """A table: rows as long as the header, the first cell of each its heading."""

    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class ReportPlot:
    """A picture with its caption, which says what it shows."""

    caption: str
    svg: str


type ReportBlock = str | ReportHeading | ReportList | ReportTable | ReportPlot


def to_plain(text: str) -> str:
    """Return a text on one line, without unprintable characters."""
    return UNPRINTABLE_CHARS.sub(" ", text).strip()


def to_markdown(blocks: Sequence[ReportBlock]) -> str:
    """Render blocks as Markdown, with GitHub's tables and without plots; all text is escaped."""
    return "\n\n".join(text for block in blocks if (text := _markdown(block))) + "\n"


def to_html(blocks: Sequence[ReportBlock]) -> str:
    """Render blocks as one self-contained page; all text is escaped.

    The first block is the heading that names the page.
    """
    title = next(block.text for block in blocks if isinstance(block, ReportHeading))
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{REPORT_CSP}">
<meta name="viewport" content="width=device-width">
<title>{_html_text(title)}</title>
<style>{REPORT_CSS}</style>
</head>
<body>
<main>
{"\n".join(map(_html, blocks))}
</main>
</body>
</html>
"""


def _markdown(block: ReportBlock) -> str:
    match block:
        case str():
            return _markdown_text(block)
        case ReportHeading():
            return f"{'#' * block.level} {_markdown_text(block.text)}"
        case ReportList():
            return "\n".join(f"- {_markdown_text(text)}" for text in block.texts)
        case ReportTable():
            lines = [block.header, ["---"] * len(block.header), *block.rows]
            rows = [" | ".join(map(_markdown_text, line)) for line in lines]
            return f"{_markdown_text(block.caption)}:\n\n" + "\n".join(f"| {row} |" for row in rows)
        case ReportPlot():
            return ""
        case _:
            assert_never(block)


def _html(block: ReportBlock) -> str:
    match block:
        case str():
            return f"<p>{_html_text(block)}</p>"
        case ReportHeading():
            return f"<h{block.level}>{_html_text(block.text)}</h{block.level}>"
        case ReportList():
            items = "".join(f"<li>{_html_text(text)}</li>" for text in block.texts)
            return f"<ul>{items}</ul>"
        case ReportTable():
            return _html_table(block)
        case ReportPlot():
            caption, data = _html_text(block.caption), b64encode(block.svg.encode()).decode()
            picture = f'<img src="data:image/svg+xml;base64,{data}" alt="{caption}">'
            return f"<figure>{picture}<figcaption>{caption}</figcaption></figure>"
        case _:
            assert_never(block)


def _html_table(table: ReportTable) -> str:
    caption = _html_text(table.caption)
    head = "".join(f'<th scope="col">{_html_cell(cell)}</th>' for cell in table.header)
    rows = "\n".join(
        f'<tr><th scope="row">{_html_cell(row[0])}</th>'
        + "".join(f"<td>{_html_cell(cell)}</td>" for cell in row[1:])
        + "</tr>"
        for row in table.rows
    )
    return (
        f'<div role="region" aria-label="{caption}" tabindex="0">'
        f"<table><caption>{caption}</caption>"
        f"<thead><tr>{head}</tr></thead>\n<tbody>{rows}</tbody></table></div>"
    )


def _html_text(text: str) -> str:
    return escape(to_plain(text))


def _html_cell(text: str) -> str:
    """Allow line breaks in long names and paths, where their parts end."""
    return re.sub(r"[/_]", r"\g<0><wbr>", _html_text(text))


def _markdown_text(text: str) -> str:
    """Escape what Markdown reads as markup, HTML included."""
    return MARKDOWN_MARKUP.sub(r"\\\g<0>", escape(to_plain(text).replace("\xa0", " "), quote=False))


def drop_empty_tables(*tables: ReportTable) -> list[ReportTable]:
    """Return the tables that have rows."""
    return [table for table in tables if table.rows]


FIGURE_WIDTH_INCHES = 9.0  # all sizes here are in inches

BAR_ROW_INCHES = 0.27  # height of one row of bars

MAX_PANEL_COLUMNS = 3  # side by side

# Okabe and Ito's colours, which the colour-blind can tell apart, without the yellow.
PLOT_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#555555")

PLOT_MARKERS = "osD^vPX"

PLOT_STYLE: dict[Any, Any] = {
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 10,
    "figure.constrained_layout.use": True,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial"],  # the first one is measured
    "font.size": 9,
    "grid.color": "#dddddd",
    "legend.frameon": False,
    "svg.fonttype": "none",  # text stays text: small, and as sharp as the page's
    "svg.hashsalt": "lexichord",  # the same runs give the same file
    "text.parse_math": False,
}


def draw_bars(labels: Sequence[str], panels: Mapping[str, Sequence[Difference | None]]) -> str:
    """Draw a panel for each metric: a bar for each label, its mean, with its 95 % interval."""
    columns = min(MAX_PANEL_COLUMNS, len(panels))
    rows = -(-len(panels) // columns)
    with _drawing(rows * (0.8 + BAR_ROW_INCHES * len(labels))) as (figure, svg):
        grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
        for axes in grid.flat[len(panels) :]:
            axes.remove()
        for axes, (metric, means) in zip(grid.flat, panels.items(), strict=False):
            _draw_means(axes, means)
            axes.set_title(metric)
            axes.tick_params(labelbottom=True)
        grid[0, 0].set_yticks(range(len(labels)), labels)
        grid[0, 0].set(xlim=(0, 1), ylim=(len(labels) - 0.5, -0.5))
        grid[0, 0].xaxis.set_major_formatter("{x:g}")
    return svg.getvalue()


def draw_recall(
    labels: Sequence[str], ks: Sequence[int], recalls: Sequence[Sequence[float | None]]
) -> str:
    """Draw mean recall against k, a curve for each label."""
    with _drawing(3.6) as (figure, svg):
        axes = figure.subplots()
        for curve, style in zip(recalls, _line_styles(labels), strict=True):
            known = [(k, recall) for k, recall in zip(ks, curve, strict=True) if recall is not None]
            axes.plot(*_unzip(known), **style)
        axes.set(xlabel="k", ylabel="recall@k", ylim=(0, 1.02), xticks=ks)
        _add_legend(figure, axes)
    return svg.getvalue()


def draw_latency(
    labels: Sequence[str],
    latencies: Sequence[tuple[float, float] | None],
    means: Sequence[float | None],
    metric: str,
) -> str:
    """Draw quality against p50 in milliseconds, with a line to p95; up and left is better."""
    with _drawing(3.6) as (figure, svg):
        axes = figure.subplots()
        for latency, mean, style in zip(latencies, means, _line_styles(labels), strict=True):
            if latency is not None and mean is not None:
                axes.plot(latency, (mean, mean), markevery=[0], **style)
        axes.set(xlabel="milliseconds, p50 to p95", ylabel=metric, ylim=(0, 1.02))
        known = [max(latency[0], 0.01) for latency in latencies if latency is not None]
        if max(known) > 20 * min(known):
            axes.set_xscale("log")
            axes.xaxis.set_major_formatter("{x:g}")
        else:
            axes.set_xlim(left=0)
        _add_legend(figure, axes)
    return svg.getvalue()


def draw_calibration(labels: Sequence[str], bins: Sequence[Sequence[Bin]]) -> str:
    """Draw the share that was right against confidence; on the dashed line both are the same.

    The area of a point grows with the questions in its bin.
    """
    max_count = max(bin_.count for row in bins for bin_ in row)
    with _drawing(3.8) as (figure, svg):
        axes = figure.subplots()
        axes.plot((0, 1), (0, 1), color="#888888", linestyle="--", linewidth=1)
        for row, style in zip(bins, _line_styles(labels), strict=True):
            points = _unzip([(bin_.confidence, bin_.right) for bin_ in row])
            axes.plot(*points, linewidth=1, **{**style, "markersize": 4})
            areas = [16 + 200 * bin_.count / max_count for bin_ in row]
            axes.scatter(*points, s=areas, color=style["color"], alpha=0.3, linewidth=0)
        axes.set(xlabel="confidence", ylabel="share right", xlim=(0, 1), ylim=(-0.05, 1.05))
        axes.set_aspect("equal", adjustable="box")
        _add_legend(figure, axes)
    return svg.getvalue()


def draw_throughput(labels: Sequence[str], qps: Sequence[Mapping[int, float]]) -> str:
    """Draw queries per second, a group of bars for each label, a bar for each number of clients."""
    clients = sorted({number for row in qps for number in row})
    thickness = 0.8 / len(clients)
    with _drawing(0.8 + len(labels) * max(BAR_ROW_INCHES, 0.16 * len(clients))) as (figure, svg):
        axes = figure.subplots()
        for place, number in enumerate(clients):
            bars = [(at, row[number]) for at, row in enumerate(qps) if number in row]
            ats, speeds = _unzip(bars)
            middles = [at - 0.4 + thickness * (place + 0.5) for at in ats]
            name = f"{number} client{'s' if number > 1 else ''}"
            colour = PLOT_COLOURS[place % len(PLOT_COLOURS)]
            axes.barh(middles, speeds, height=thickness, color=colour, label=name)
        axes.set_yticks(range(len(labels)), labels)
        axes.set(xlabel="queries per second", ylim=(len(labels) - 0.5, -0.5))
        _add_legend(figure, axes)
    return svg.getvalue()


@contextmanager
def _drawing(height: float) -> Iterator[tuple["Figure", StringIO]]:
    """Yield a figure to draw on, and the buffer that holds its SVG when the block ends."""
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise ConfigError("plots need matplotlib: pip install 'lexichord[eval]'") from error
    svg = StringIO()
    with rc_context(PLOT_STYLE):
        figure = Figure(figsize=(FIGURE_WIDTH_INCHES, height))
        yield figure, svg
        no_metadata = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        with catch_warnings():  # of glyphs that no font here has; the reader's may have them
            filterwarnings("ignore", "Glyph")
            figure.savefig(svg, format="svg", metadata=no_metadata)


def _draw_means(axes: "Axes", means: Sequence[Difference | None]) -> None:
    known = [(at, mean) for at, mean in enumerate(means) if mean is not None]
    ats = [at for at, _ in known]
    sides = [
        [mean.mean - mean.low for _, mean in known],
        [mean.high - mean.mean for _, mean in known],
    ]
    colours = [PLOT_COLOURS[at % len(PLOT_COLOURS)] for at in ats]
    axes.barh(ats, [mean.mean for _, mean in known], height=0.7, color=colours, alpha=0.75)
    axes.errorbar(
        [mean.mean for _, mean in known], ats, xerr=sides, fmt="none", ecolor="black", capsize=2
    )
    axes.grid(axis="y", visible=False)


def _line_styles(labels: Sequence[str]) -> list[dict[str, Any]]:
    """Return a style for each label, by colour and by marker; the 50th is the first again."""
    seven = len(PLOT_COLOURS)
    return [
        {
            "label": label,
            "color": PLOT_COLOURS[at % seven],
            "marker": PLOT_MARKERS[(at + at // seven) % seven],
        }
        for at, label in enumerate(labels)
    ]


def _unzip(pairs: Sequence[tuple[float, float]]) -> tuple[list[float], list[float]]:
    return [first for first, _ in pairs], [second for _, second in pairs]


def _add_legend(figure: "Figure", axes: "Axes") -> None:
    figure.legend(*axes.get_legend_handles_labels(), loc="outside right upper")
