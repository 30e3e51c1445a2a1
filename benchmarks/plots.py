"""Draw the pictures of a result, as SVG files that change only if the numbers change."""

import itertools

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from results import Readings

# A peer has the same colour in every picture. Other peers get a free colour.
NAMED = {
    "committee": "#c2410c",
    "scikit-learn": "#1d4ed8",
    "scikit-learn-intelex": "#0f766e",
    "YDF": "#6d28d9",
    "LightGBM": "#15803d",
    "LightGBM quantised": "#86efac",
    "XGBoost": "#a16207",
    "XGBoost depth 6": "#fcd34d",
    "CatBoost": "#be185d",
}
FREE = ("#475569", "#4d7c0f", "#0369a1", "#9f1239")
STYLE = {
    "svg.hashsalt": "committee",
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlelocation": "left",
    "axes.titleweight": "bold",
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e2e8f0",
    "legend.frameon": False,
}


def draw(result, plot, folder):
    """Draw one plot of a result into a folder, and return whether it has any values."""
    readings = Readings(result["measurements"])
    colours = _colours(result["peers"])
    with plt.rc_context(STYLE):
        paint = _ratios if plot["axis"] is None else _growth
        figure = paint(result, plot, readings, colours)
        if figure is None:
            return False
        folder.mkdir(parents=True, exist_ok=True)
        figure.savefig(folder / plot["file"], metadata={"Date": None, "Creator": None})
        plt.close(figure)
    return True


def _colours(peers):
    free = itertools.cycle(FREE)
    return {peer: NAMED[peer] if peer in NAMED else next(free) for peer in peers}


def _ratios(result, plot, readings, colours):
    """Draw a line of dots per case: the median of each peer as a multiple of the first peer's."""
    first, *others = result["peers"]
    metric = plot["metric"]
    cases = [c["name"] for c in result["cases"] if readings.median(c["name"], first, metric)]
    if not cases or not others:
        return None
    figure, axes = plt.subplots(figsize=(8, 0.9 + 0.45 * len(cases)), layout="constrained")
    for peer in others:
        points = [
            (readings.median(case, peer, metric) / readings.median(case, first, metric), i)
            for i, case in enumerate(cases)
            if readings.values(case, peer, metric)
        ]
        if points:
            axes.plot(*zip(*points, strict=True), "o", markersize=8, color=colours[peer], label=peer)
    axes.axvline(1, color=colours[first], linewidth=2, label=first)
    axes.set_xscale("log")
    _label(axes.xaxis, "x")
    axes.set_yticks(range(len(cases)), cases)
    axes.set_ylim(len(cases) - 0.5, -0.5)
    axes.set_title(plot["title"])
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


def _growth(result, plot, readings, colours):
    """Draw the metric against the size on logarithmic axes, with a line proportional to the first peer."""
    cases = [c for c in result["cases"] if c["axis"] == plot["axis"]]
    metric, first = plot["metric"], next(iter(result["peers"]))
    figure, axes = plt.subplots(figsize=(8, 4), layout="constrained")
    for peer in result["peers"]:
        points = [(c["at"], readings.values(c["name"], peer, metric)) for c in cases]
        points = [(at, values) for at, values in points if values]
        if not points:
            continue
        sizes = [at for at, _ in points]
        medians = [readings.median(c["name"], peer, metric) for c in cases if c["at"] in sizes]
        axes.fill_between(
            sizes,
            [min(v) for _, v in points],
            [max(v) for _, v in points],
            color=colours[peer],
            alpha=0.15,
            lw=0,
        )
        axes.plot(sizes, medians, "o-", color=colours[peer], label=peer)
        if peer == first:
            straight = [medians[0] * size / sizes[0] for size in sizes]
            axes.plot(sizes, straight, "--", color="#94a3b8", label=f"proportional to {first}")
    if not axes.lines:
        plt.close(figure)
        return None
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks([c["at"] for c in cases], [f"{c['at']:,}" for c in cases])
    axes.xaxis.set_minor_formatter(NullFormatter())
    _label(axes.yaxis, "")
    axes.set_xlabel(plot["axis"])
    about = result["metrics"][metric]
    axes.set_ylabel(f"{about['label']} ({about['unit']})")
    axes.set_title(plot["title"])
    axes.legend()
    return figure


def _label(axis, unit):
    """Label a logarithmic axis at 1, 2, 5, 10, 20, 50 and so on."""
    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}{unit}"))
    axis.set_minor_formatter(NullFormatter())
