"""Draw the ranks of learners: a critical difference diagram, and a box plot."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from committee.charts.canvas import Canvas, width_of
from committee.charts.style import ACCENT, GREY, INK, SECOND, Chart, altair, styled
from committee.documentation import with_parameters
from committee.evaluating.comparison import Comparison, PairTests
from committee.evaluating.significance_tests import Clique
from committee.reporting.chart_files import DRAWN

TESTS = {"nemenyi": "Nemenyi's test", "wilcoxon_holm": "Wilcoxon's signed rank test with Holm's correction"}
AXIS_WIDTH = 520.0
# The heights of the critical difference and of the axis, and the distances from the axis to the first bar,
# between bars, and between names.
DISTANCE_HEIGHT, AXIS_HEIGHT, FIRST_BAR, BAR_STEP, LABEL_STEP = 40.0, 28.0, 17.0, 13.0, 25.0
# The length of the lines beyond the axis. The ranks are above these lines.
BEYOND = 40.0
# The smallest gap between bars at the same height, so that two bars do not look like one.
BAR_GAP = 14.0
# With more learners, only cliques of the best few have a bar, because many bars hide the lines below them.
MOST_WITH_ALL_BARS, BEST_WITH_BARS = 12, 5
# The height of a box and the width of the axis of `rank_boxes`.
ROW_HEIGHT, WIDTH = 34, 520


@with_parameters(DRAWN)
def critical_difference_diagram(
    comparison: Comparison, *, test: str = "nemenyi", alpha: float = 0.05, title: str = ""
) -> Chart:
    """Draw learners by their average ranks, with the best at the right.

    Parameters
    ----------
    test : {"nemenyi", "wilcoxon_holm"}, default="nemenyi"
        The test of significant differences. A bar connects learners without significant differences. A broken
        bar contradicts the ranks: it connects only the learners with a dot, and not those between them. With
        more than 12 learners, only bars that connect one of the best five are drawn.

    Returns
    -------
    altair.LayerChart

    Examples
    --------
    >>> compared = Comparison.of([[0.1, 0.2, 0.4], [0.3, 0.4, 0.5], [0.1, 0.2, 0.3]], ["rf", "tree", "stump"])
    >>> type(critical_difference_diagram(compared)).__name__
    'LayerChart'
    """
    if test not in TESTS:
        raise ValueError(f"test must be one of {', '.join(TESTS)}. Got {test!r}.")
    comparison = comparison.with_short_names()
    tests = comparison.nemenyi(alpha) if test == "nemenyi" else comparison.wilcoxon_holm(alpha)
    subtitle = f"{TESTS[test]}, {len(comparison.tables)} tables, alpha = {alpha:g}"
    if len(comparison.learners) > MOST_WITH_ALL_BARS:
        best = set(np.argsort(comparison.mean_ranks, kind="stable")[:BEST_WITH_BARS].tolist())
        of_best = [each for each in tests.cliques if best & set(each.members)]
        if len(of_best) < len(tests.cliques):
            tests = replace(tests, cliques=of_best)
            subtitle += f", bars of the best {BEST_WITH_BARS} only"
    return Diagram(comparison.mean_ranks, tests).chart(title, subtitle)


@with_parameters(DRAWN)
def rank_boxes(comparison: Comparison, *, title: str = "") -> Chart:
    """Draw the ranks of each learner on all tables as a box plot, with the best learner at the top.

    A box shows the middle half of the ranks, its line the median and the diamond the average. Each point is a
    table.

    Returns
    -------
    altair.LayerChart
    """
    comparison = comparison.with_short_names()
    names, tables, ranks = comparison.learners, comparison.tables, comparison.ranks
    alt = altair()
    mean_ranks = ranks.mean(axis=0)
    order = [names[place] for place in np.argsort(mean_ranks, kind="stable")]
    # Points with the same rank are shifted apart. The shift is not random, so that charts are reproducible.
    shifts = (np.arange(len(ranks)) * 0.618034 % 1.0 - 0.5) * 0.5
    values = [
        {
            "learner": name,
            "table": table,
            "rank": float(ranks[row, column]),
            "shift": float(shifts[row]),
            "score": float(comparison.scores[row, column]),
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
            alt.Tooltip("score:Q", format=".4f", title=comparison.metric),
        ],
    )
    summary, tooltip = alt.Chart(alt.Data(values=of_learners)), ["learner:N", "average:Q", "median:Q"]
    medians = summary.mark_tick(thickness=3, size=24, color=SECOND, opacity=1.0).encode(
        across("median"), down, tooltip=tooltip
    )
    averages = summary.mark_point(shape="diamond", filled=True, size=90, color=ACCENT, opacity=1.0).encode(
        across("average"), down, tooltip=tooltip
    )
    size = {"width": WIDTH, "height": ROW_HEIGHT * len(names)}
    chart = alt.layer(boxes, points, medians, averages).properties(**size)
    return styled(chart, title, f"{len(tables)} tables; lines are medians, diamonds averages")


class Diagram:
    """The layout of a critical difference diagram, and its canvas.

    Parameters
    ----------
    ranks : ndarray of shape (n_learners,)
    tests : PairTests
        Each clique has a bar.
    """

    def __init__(self, ranks: np.ndarray, tests: PairTests) -> None:
        self.names, self.ranks, self.cliques = tests.names, ranks, tests.cliques
        self.critical_difference = tests.critical_difference
        # The better half of the learners is at the right, the others are at the left.
        order = np.argsort(self.ranks, kind="stable")
        n_right = (len(order) + 1) // 2
        self.right, self.left = order[:n_right], order[n_right:][::-1]
        left_margin, right_margin = (self.margin(side) for side in (self.left, self.right))
        self.start, self.end = left_margin, left_margin + AXIS_WIDTH
        self.axis = AXIS_HEIGHT + (0 if self.critical_difference is None else DISTANCE_HEIGHT)
        self.levels = levels_of([self.span(each) for each in self.cliques])
        n_levels = max(self.levels, default=-1) + 1
        self.first_label = self.axis + FIRST_BAR + n_levels * BAR_STEP + 14
        self.has_broken = any(each.contradicts_ranks for each in self.cliques)
        height = self.first_label + (n_right - 1) * LABEL_STEP + 16 + 22 * self.has_broken
        self.canvas = Canvas(self.end + right_margin, height)

    def margin(self, learners: np.ndarray) -> float:
        """Return the width of the names at one side."""
        return max(width_of(self.names[learner]) for learner in learners) + BEYOND + 10

    def at(self, rank: float) -> float:
        """Return the pixel of a rank. Rank 1 is at the right end."""
        return self.end - (rank - 1) / (len(self.names) - 1) * AXIS_WIDTH

    def span(self, clique: Clique) -> tuple[float, float]:
        """Return the ends of a bar."""
        places = [self.at(self.ranks[member]) for member in clique.members]
        return min(places) - 5, max(places) + 5

    def chart(self, title: str, subtitle: str) -> Chart:
        """Draw the whole diagram."""
        self._draw_axis()
        self._draw_names()
        for clique, level in zip(self.cliques, self.levels, strict=True):
            self._draw_bar(clique, self.axis + FIRST_BAR + level * BAR_STEP)
        if self.has_broken:
            text = "Broken bars contradict the ranks: they join only the learners with a dot."
            self.canvas.word(self.start, self.canvas.height - 8, text, size=12, colour=ACCENT)
        return self.canvas.chart(title, subtitle)

    def _draw_axis(self) -> None:
        n_learners = len(self.names)
        self.canvas.line(self.at(n_learners), self.axis, self.at(1), self.axis, thick=1.4)
        # With many learners, only some ranks have a number.
        step = max(1, n_learners // 12)
        for rank in range(1, n_learners + 1):
            self.canvas.line(self.at(rank), self.axis - 7, self.at(rank), self.axis, thick=1.4)
            if rank < n_learners:
                self.canvas.line(self.at(rank + 0.5), self.axis - 4, self.at(rank + 0.5), self.axis)
            if (rank - 1) % step == 0:
                self.canvas.word(self.at(rank), self.axis - 17, str(rank), align="center")
        if self.critical_difference is not None:
            self._draw_distance(self.critical_difference)

    def _draw_distance(self, distance: float) -> None:
        """Draw the critical difference. A bar that is longer than the axis has an open end."""
        longest = len(self.names) - 1
        start, end = self.at(1 + longest), self.at(1 + longest - min(distance, longest))
        is_longer = distance > longest
        for x in (start,) if is_longer else (start, end):
            self.canvas.line(x, 24, x, 34, thick=1.4)
        self.canvas.line(start, 29, end, 29, thick=1.4)
        text = f"CD = {distance:.2f}" + (", longer than the axis" if is_longer else "")
        self.canvas.word((start + end) / 2, 12, text, align="center")

    def _draw_names(self) -> None:
        for side, learners in (("right", self.right), ("left", self.left)):
            for row, learner in enumerate(learners):
                x, y = self.at(self.ranks[learner]), self.first_label + row * LABEL_STEP
                edge = self.end + BEYOND if side == "right" else self.start - BEYOND
                about = f"{self.names[learner]}: average rank {self.ranks[learner]:.3f}"
                self.canvas.line(x, self.axis, x, y, about=about)
                self.canvas.line(x, y, edge, y, about=about)
                self._label(side, edge, y, learner, about)

    def _label(self, side: str, edge: float, y: float, learner: int, about: str) -> None:
        """Write a name at the end of its line, and its rank in small letters above the line."""
        outwards, align, other = (1, "left", "right") if side == "right" else (-1, "right", "left")
        self.canvas.word(edge + 6 * outwards, y, self.names[learner], align=align, about=about)
        rank = f"{self.ranks[learner]:.2f}"
        self.canvas.word(edge - 2 * outwards, y - 8, rank, align=other, size=11, colour=GREY, about=about)

    def _draw_bar(self, clique: Clique, y: float) -> None:
        start, end = self.span(clique)
        about = ", ".join(self.names[member] for member in clique.members)
        if not clique.contradicts_ranks:
            self.canvas.line(start, y, end, y, thick=5, colour=INK, about=about)
            return
        self.canvas.line(start + 5, y, end - 5, y, thick=2.5, colour=ACCENT, dashes=(5, 4), about=about)
        for member in clique.members:
            self.canvas.dot(self.at(self.ranks[member]), y, size=60, colour=ACCENT, about=about)


def levels_of(spans: list[tuple[float, float]]) -> list[int]:
    """Return the level of each bar: the first level at which it does not overlap another bar.

    Examples
    --------
    >>> levels_of([(0, 10), (5, 20), (25, 40)])
    [0, 1, 0]
    """
    ends: list[list[tuple[float, float]]] = []
    levels = []
    for start, end in spans:
        free = (
            level
            for level, taken in enumerate(ends)
            if all(end + BAR_GAP <= other[0] or other[1] + BAR_GAP <= start for other in taken)
        )
        level = next(free, len(ends))
        if level == len(ends):
            ends.append([])
        ends[level].append((start, end))
        levels.append(level)
    return levels
