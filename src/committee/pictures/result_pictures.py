"""Draw the results of evaluation: curves, margins, diagrams of pairs, decompositions and intervals.

The classes of these results have the same pictures as methods, `plot()`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from committee.assembling.leaderboard import BASELINE, COMMITTEE, Leaderboard
from committee.charts.canvas import width_of
from committee.charts.plots import HEIGHT, WIDTH, axis, by_series, curves, level
from committee.charts.style import ACCENT, GREY, INK, SECOND, Chart, altair, colour_of, styled
from committee.evaluating.committee_charts import ErrorCurve, KappaError, Margins
from committee.evaluating.error_decomposition import Decomposition
from committee.evaluating.resampling.confidence_intervals import Interval
from committee.metrics.metric_table import shown

# The height of a line of a chart of intervals, in pixels.
ROW = 26


def error_curves(
    curves_of: ErrorCurve | Mapping[str, ErrorCurve], *, references: Mapping[str, float] | None = None
) -> Chart:
    """Draw the error against the number of members, for one or more rules or committees.

    Parameters
    ----------
    curves_of : ErrorCurve, or mapping of str to ErrorCurve
        Results of `error_curve`, all by the same metric. The bands are one standard deviation over random
        orders of the members.
    references : mapping of str to float, default=None
        Horizontal lines, such as the errors of a single tree and of the Bayes classifier.

    Returns
    -------
    altair.LayerChart

    Examples
    --------
    >>> from committee import error_curve, pictures
    >>> curve = error_curve([[0, 0, 1], [0, 1, 0], [1, 0, 0]], [0, 0, 0], random_state=0)
    >>> chart = pictures.error_curves({"mean": curve}, references={"Bayes": 0.0})
    """
    named = {"committee": curves_of} if isinstance(curves_of, ErrorCurve) else dict(curves_of)
    if len({curve.scoring for curve in named.values()}) != 1:
        raise ValueError("All curves must have the same metric.")
    metric = next(iter(named.values())).scoring
    alt, most = altair(), max(len(curve.mean) for curve in named.values())
    x, y = axis("x", "number of members", (1, max(most, 2)), ",d"), axis("y", metric)
    values, bands = [], []
    for place, (name, curve) in enumerate(named.items()):
        limits = curve.mean - curve.deviation, curve.mean + curve.deviation
        lines = [
            {"x": size, "y": float(mean), "low": float(low), "high": float(high), "series": name}
            for size, (mean, low, high) in enumerate(zip(curve.mean, *limits, strict=True), start=1)
        ]
        band = alt.Chart(alt.Data(values=lines)).mark_area(opacity=0.16, color=colour_of(place))
        bands.append(band.encode(alt.X(**x), alt.Y("low:Q", title=metric), alt.Y2("high:Q")))
        values += lines
    drawn = curves(values, list(named), x, y)
    levels = [level(value, name) for name, value in (references or {}).items()]
    subtitle = "Mean over random orders of the members, with one standard deviation"
    return styled(
        alt.layer(*bands, drawn, *levels), f"The {metric} of committees of the first members", subtitle
    )


def margin_distribution(margins_of: Margins | Mapping[str, Margins]) -> Chart:
    """Draw the cumulative distribution of the margins of the rows.

    Parameters
    ----------
    margins_of : Margins, or mapping of str to Margins
        Results of `margins`, for example of boosting after 10 and after 100 rounds.

    Returns
    -------
    altair.LayerChart

    Examples
    --------
    >>> from committee import margins, pictures
    >>> found = margins([["a", "b"], ["a", "b"], ["b", "b"]], ["a", "a"])
    >>> chart = pictures.margin_distribution(found)
    """
    named = {"committee": margins_of} if isinstance(margins_of, Margins) else dict(margins_of)
    values, wrong = [], []
    for name, each in named.items():
        ordered = np.sort(each.values)
        shares = np.arange(1, len(ordered) + 1) / len(ordered)
        steps = [(-1.0, 0.0), *zip(ordered, shares, strict=True), (1.0, 1.0)]
        values += [{"x": float(x), "y": float(y), "series": name} for x, y in steps]
        wrong.append(f"{name} {np.mean(each.values < 0):.1%}")
    x = axis("x", "margin: votes for the class minus those for the best other class", (-1.0, 1.0), ".1f")
    drawn = curves(
        values, list(named), x, axis("y", "share of the rows up to this margin", (0, 1), ".0%"), steps=True
    )
    alt = altair()
    zero = (
        alt.Chart(alt.Data(values=[{"x": 0}])).mark_rule(color=GREY, strokeDash=[5, 4]).encode(alt.X("x:Q"))
    )
    title = "Rows to the left of 0 are misclassified; far to the right, nearly all votes are right"
    return styled(alt.layer(zero, drawn), title, f"Negative margins: {', '.join(wrong)}")


def kappa_error_diagram(points_of: KappaError | Mapping[str, KappaError]) -> Chart:
    """Draw the agreement and the mean error of each pair of members.

    Parameters
    ----------
    points_of : KappaError, or mapping of str to KappaError
        Results of `kappa_error`, for example of bagging and of boosting.

    Returns
    -------
    altair.LayerChart

    References
    ----------
    D. D. Margineantu, T. G. Dietterich, "Pruning adaptive boosting". ICML 1997.

    Examples
    --------
    >>> from committee import kappa_error, pictures
    >>> points = kappa_error([[1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 1, 0]], [1, 1, 1, 0])
    >>> chart = pictures.kappa_error_diagram(points)
    """
    named = {"pairs": points_of} if isinstance(points_of, KappaError) else dict(points_of)
    values = [
        {"x": float(kappa), "y": float(error), "series": name, "pair": f"members {first} and {second}"}
        for name, each in named.items()
        for first, second, kappa, error in zip(each.first, each.second, each.kappa, each.error, strict=True)
    ]
    centers = [
        {"x": float(np.nanmean(each.kappa)), "y": float(each.error.mean()), "series": name}
        for name, each in named.items()
    ]
    alt = altair()
    places = (
        alt.X(**axis("x", "kappa: agreement beyond chance")),
        alt.Y(**axis("y", "mean error of the pair", form=".0%")),
    )
    dots = alt.Chart(alt.Data(values=values)).mark_circle(size=34, opacity=0.55)
    dots = dots.encode(*places, by_series(list(named)), tooltip=["pair:N"])
    middle = alt.Chart(alt.Data(values=centers)).mark_point(
        shape="cross", filled=True, size=190, stroke="white", strokeWidth=1.5, opacity=1
    )
    chart = alt.layer(dots, middle.encode(*places, by_series(list(named)))).properties(
        width=WIDTH, height=HEIGHT
    )
    return styled(
        chart,
        "The best pairs are at the lower left: rarely wrong, and rarely alike",
        f"{len(values)} pairs of members. A cross is the mean of the pairs",
    )


def error_decomposition(found: Decomposition | Mapping[str, Decomposition]) -> Chart:
    """Draw the average error of the members, the ambiguity, and what remains: the error of the committee.

    Parameters
    ----------
    found : Decomposition, or mapping of str to Decomposition
        Results of `decompose`, for example of independent and of correlated members.

    Returns
    -------
    altair.LayerChart

    Examples
    --------
    >>> from committee import decompose, pictures
    >>> chart = pictures.error_decomposition(decompose([[1.0, 2.0], [3.0, 2.0]], [2.0, 2.5]))
    """
    named = {"committee": found} if isinstance(found, Decomposition) else dict(found)
    if len({each.loss for each in named.values()}) != 1:
        raise ValueError("All decompositions must have the same loss.")
    parts = ("E_AV: members", "ambiguity", "E_COM: committee")
    colours = (GREY, colour_of(2), ACCENT)
    values, marks = [], []
    for name, each in named.items():
        bounds = (0.0, each.e_av), (each.e_com, each.e_av), (0.0, each.e_com)
        numbers = each.e_av, -each.ambiguity, each.e_com
        values += [
            {
                "series": name,
                "part": part,
                "low": low,
                "high": high,
                "text": f"{number:.4g}",
                "top": max(low, high),
            }
            for part, (low, high), number in zip(parts, bounds, numbers, strict=True)
        ]
        if each.limit is not None:
            marks.append({"series": name, "part": parts[2], "limit": each.limit})
    alt = altair()
    data = alt.Data(values=values)
    across = alt.X("part:N", sort=list(parts), title=None, axis=alt.Axis(labels=False, ticks=False))
    legend = alt.Legend(title=None, orient="bottom", labelLimit=240)
    colour = alt.Color("part:N", scale=alt.Scale(domain=list(parts), range=list(colours)), legend=legend)
    loss = next(iter(named.values())).loss.replace("_", " ")
    up = alt.Y("low:Q", title=loss, axis=alt.Axis(tickCount=6))
    bars = alt.Chart().mark_bar().encode(across, up, alt.Y2("high:Q"), colour)
    words = alt.Chart().mark_text(dy=-8, fontSize=12, color=INK)
    layers = [bars, words.encode(across, alt.Y("top:Q"), text="text:N")]
    chart = alt.layer(*layers, data=data).properties(width=max(170, 420 // len(named)), height=260)
    head = alt.Header(title=None, labelFontSize=13, labelColor=INK)
    faceted = (
        chart.facet(column=alt.Column("series:N", sort=list(named), header=head)) if len(named) > 1 else chart
    )
    limits = [f"{each['series']} {each['limit']:.4g}" for each in marks]
    below = f"E_COM if the errors were uncorrelated: {', '.join(limits)}" if limits else ""
    return styled(faceted, "The committee's error is the members' average error minus the ambiguity", below)


def intervals(found: Interval | Mapping[str, Interval]) -> Chart:
    """Draw estimates with their confidence intervals.

    Parameters
    ----------
    found : Interval, or mapping of str to Interval
        An interval of an array is drawn as one line for each of its items.

    Returns
    -------
    altair.LayerChart

    Examples
    --------
    >>> from committee import pictures, score_interval
    >>> interval = score_interval([0, 1, 1, 0] * 10, [0, 1, 0, 0] * 10, random_state=0)
    >>> chart = pictures.intervals({"tree": interval})
    """
    named = {"estimate": found} if isinstance(found, Interval) else dict(found)
    lines = []
    for name, each in named.items():
        parts = [np.ravel(part) for part in (each.value, each.low, each.high)]
        for place, (value, low, high) in enumerate(zip(*parts, strict=True)):
            label = name if len(parts[0]) == 1 else f"{name} {place + 1}"
            lines.append({"name": label, "value": float(value), "low": float(low), "high": float(high)})
    levels = sorted({f"{each.level:.0%}" for each in named.values()})
    return styled(
        bars_of(lines, "estimate"), f"Estimates with confidence intervals of {' and '.join(levels)}"
    )


def leaderboard(board: Leaderboard) -> Chart:
    """Draw the scores of a leaderboard with their intervals, the committee and the baseline in colour.

    Parameters
    ----------
    board : Leaderboard

    Returns
    -------
    altair.LayerChart

    Examples
    --------
    >>> from committee import pictures
    >>> from committee.assembling import Leaderboard, Standing
    >>> standings = [Standing("member", "tree", -0.8), Standing("rule", "mean", -0.5)]
    >>> chart = pictures.leaderboard(Leaderboard(standings, "neg_log_loss"))
    """
    lines = []
    colours = {COMMITTEE: ACCENT, BASELINE: GREY}
    for each in board:
        low, high = (each.score if bound is None else bound for bound in (each.low, each.high))
        bounds = sorted(shown(board.scoring, bound)[1] for bound in (low, high))
        value = shown(board.scoring, each.score)[1]
        line = {"name": each.label, "value": value, "low": bounds[0], "high": bounds[1]}
        lines.append(line | {"colour": colours.get(each.kind, SECOND)})
    rows = f"{board.n_rows} honest rows, with intervals of 95 %" if board.n_rows else ""
    return styled(
        bars_of(lines, board.metric), f"The {board.metric} of the committee, rules and members", rows
    )


def bars_of(lines: Sequence[dict[str, Any]], title: str) -> Any:
    """Draw a point and an interval for each line, in their order."""
    alt = altair()
    data = alt.Data(values=[{"colour": SECOND, **line} for line in lines])
    room = max(width_of(line["name"], 12) for line in lines) + 12
    names = alt.Y("name:N", sort=None, title=None, axis=alt.Axis(labelLimit=room, ticks=False, domain=False))
    across = alt.X("low:Q", title=title, scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=6))
    paint = alt.Color("colour:N", scale=None)
    bars = alt.Chart(data).mark_rule(strokeWidth=3, opacity=0.5).encode(across, names, paint, x2="high:Q")
    dots = alt.Chart(data).mark_circle(size=70, opacity=1).encode(alt.X("value:Q"), names, paint)
    return alt.layer(bars, dots).properties(width=WIDTH - 60, height=ROW * len(lines))
