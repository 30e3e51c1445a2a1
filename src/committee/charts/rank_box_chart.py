"""Draw how ranks spread over tables, as a box for each name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from committee.charts.style import ACCENT, GREY, INK, SECOND, Chart, altair, dressed

ROW_HEIGHT, WIDTH = 34, 520


def rank_box_chart(
    names: Sequence[str],
    ranks: np.ndarray,
    scores: np.ndarray,
    tables: Sequence[str],
    *,
    metric: str,
    title: str = "",
) -> Chart:
    """Draw the ranks of each name on all tables as a box, the best name on top.

    A box holds the middle half of the ranks, its line is the median, the diamond is the average, and each
    point is a table.

    Parameters
    ----------
    names : sequence of str
    ranks, scores : ndarray of shape (n_tables, n_names)
        Scores are shown under the pointer.
    tables : sequence of str
    metric : str
        What the scores are.
    title : str, default=""

    Returns
    -------
    altair.LayerChart
    """
    alt = altair()
    mean_ranks = ranks.mean(axis=0)
    order = [names[place] for place in np.argsort(mean_ranks, kind="stable")]
    # Points of equal ranks stand next to each other, by a share of the row that does not depend on chance.
    shifts = (np.arange(len(ranks)) * 0.618034 % 1.0 - 0.5) * 0.5
    values = [
        {
            "learner": name,
            "table": table,
            "rank": float(ranks[row, column]),
            "shift": float(shifts[row]),
            "score": float(scores[row, column]),
        }
        for column, name in enumerate(names)
        for row, table in enumerate(tables)
    ]
    of_learners = [
        {"learner": name, "average": float(average), "median": float(median)}
        for name, average, median in zip(names, mean_ranks, np.median(ranks, axis=0), strict=True)
    ]
    scale = alt.Scale(domain=[0.5, len(names) + 0.5], nice=False)
    axis = alt.Axis(values=list(range(1, len(names) + 1)), format="d", grid=True)
    down = alt.Y("learner:N", sort=order, title=None, axis=alt.Axis(grid=False, ticks=False, domain=False))

    def across(what: str) -> Any:
        return alt.X(f"{what}:Q", title="rank", scale=scale, axis=axis)

    base = alt.Chart(alt.Data(values=values))
    boxes = base.mark_boxplot(
        extent="min-max", size=18, color="#b8c9dc", median=False, rule={"color": GREY}, ticks=False
    ).encode(across("rank"), down)
    points = base.mark_circle(size=13, color=INK, opacity=0.25).encode(
        across("rank"),
        down,
        yOffset=alt.YOffset("shift:Q", scale=alt.Scale(domain=[-0.5, 0.5])),
        tooltip=[
            *("table:N", "learner:N", "rank:Q"),
            alt.Tooltip("score:Q", format=".4f", title=metric),
        ],
    )
    summary, told = alt.Chart(alt.Data(values=of_learners)), ["learner:N", "average:Q", "median:Q"]
    medians = summary.mark_tick(thickness=3, size=24, color=SECOND, opacity=1.0).encode(
        across("median"), down, tooltip=told
    )
    averages = summary.mark_point(shape="diamond", filled=True, size=90, color=ACCENT, opacity=1.0).encode(
        across("average"), down, tooltip=told
    )
    size = {"width": WIDTH, "height": ROW_HEIGHT * len(names)}
    chart = alt.layer(boxes, points, medians, averages).properties(**size)
    return dressed(chart, title, f"{len(tables)} tables; lines are medians, diamonds averages")
