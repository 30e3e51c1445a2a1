"""Draw two columns of scores against each other, with the better side of the diagonal named."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from committee.charts.style import ACCENT, GREY, SECOND, Chart, altair, dressed

SIDE = 400


def paired_scatter(
    names: tuple[str, str],
    first: np.ndarray,
    second: np.ndarray,
    tables: Sequence[str],
    counts: tuple[int, int, int],
    *,
    metric: str,
    more_is_better: bool,
    title: str = "",
) -> Chart:
    """Draw two scores of each table, one across and one up.

    Parameters
    ----------
    names : tuple of two str
    first, second : ndarray of shape (n_tables,)
        The scores across, and up.
    tables : sequence of str
    counts : tuple of three int
        How often the first is better, how often they are equal, and how often the second is better.
    metric : str
        What the scores are.
    more_is_better : bool
    title : str, default=""

    Returns
    -------
    altair.LayerChart
    """
    alt = altair()
    (learner, other), (wins, ties, losses) = names, counts
    low, high = padded(float(min(first.min(), second.min())), float(max(first.max(), second.max())))
    sides = np.where(first == second, "equal", np.where((first < second) != more_is_better, "a", "b"))
    values = [
        {"table": table, "a": float(a), "b": float(b), "side": str(side)}
        for table, a, b, side in zip(tables, first, second, sides, strict=True)
    ]
    across, up = f"{metric} of {learner}", f"{metric} of {other}"
    scale = alt.Scale(domain=[low, high], nice=False, zero=False)
    diagonal = (
        alt.Chart(alt.Data(values=[{"at": low}, {"at": high}]))
        .mark_line(color=GREY, strokeDash=[4, 4], strokeWidth=1.2)
        .encode(alt.X("at:Q", scale=scale, title=across), alt.Y("at:Q", scale=scale, title=up))
    )
    points = (
        alt.Chart(alt.Data(values=values))
        .mark_circle(size=56, opacity=0.75, stroke="white", strokeWidth=0.6)
        .encode(
            alt.X("a:Q", scale=scale, title=across),
            alt.Y("b:Q", scale=scale, title=up),
            alt.Color(
                "side:N",
                scale=alt.Scale(domain=["a", "b", "equal"], range=[ACCENT, SECOND, GREY]),
                legend=None,
            ),
            tooltip=[
                "table:N",
                alt.Tooltip("a:Q", format=".4f", title=learner),
                alt.Tooltip("b:Q", format=".4f", title=other),
            ],
        )
    )
    # Less is better: above the diagonal, the one across is better.
    corners = {True: ("top", 0, 0, "left"), False: ("bottom", SIDE, SIDE, "right")}
    words = [
        corner_word(alt, f"{name} is better: {count}", colour, *corners[is_above])
        for name, count, colour, is_above in (
            (learner, wins, ACCENT, not more_is_better),
            (other, losses, SECOND, more_is_better),
        )
    ]
    chart = alt.layer(diagonal, points, *words).properties(width=SIDE, height=SIDE)
    return dressed(chart, title, f"{len(tables)} tables, {ties} equal")


def corner_word(alt: Any, text: str, colour: str, baseline: str, x: float, y: float, align: str) -> Any:
    """Write a line of text in a corner of the picture."""
    step = 8 if align == "left" else -8
    return (
        alt.Chart(alt.Data(values=[{"text": text}]))
        .mark_text(
            align=align, baseline=baseline, fontSize=13, fontWeight="bold", color=colour, dx=step, dy=step
        )
        .encode(x=alt.value(x), y=alt.value(y), text="text:N")
    )


def padded(low: float, high: float) -> tuple[float, float]:
    """Add a little room at both ends.

    Examples
    --------
    >>> padded(0.0, 1.0), padded(0.5, 0.5)
    ((-0.04, 1.04), (0.0, 1.0))
    """
    room = 0.04 * (high - low) or 0.5
    return low - room, high + room
