"""The critical difference diagram: learners by their average ranks, those not told apart under one bar."""

from __future__ import annotations

from typing import Any

import numpy as np

from committee.evaluating.cliques import Clique
from committee.evaluating.comparison import Comparison, PairTests
from committee.reporting.canvas import Canvas, width_of
from committee.reporting.style import ACCENT, GREY, INK

AXIS_WIDTH = 520.0
# How far things stand below each other: the bar of the critical difference, the axis, bars, names.
DISTANCE_HEIGHT, AXIS_HEIGHT, FIRST_BAR, BAR_STEP, LABEL_STEP = 40.0, 28.0, 17.0, 13.0, 25.0
# Beyond the ends of the axis, a line goes on so far, with the rank over it.
BEYOND = 40.0
# Bars on one level are so far apart at least, so that two do not look like one.
BAR_GAP = 14.0
TESTS = {"nemenyi": "Nemenyi's test", "wilcoxon_holm": "Wilcoxon's signed rank test with Holm's correction"}


def critical_difference_diagram(
    comparison: Comparison, *, test: str = "nemenyi", alpha: float = 0.05, title: str = ""
) -> Any:
    """Draw learners by their average ranks, the best to the right.

    Parameters
    ----------
    comparison : Comparison
    test : {"nemenyi", "wilcoxon_holm"}, default="nemenyi"
        What tells learners apart. Those under one bar are not told apart. A bar that is broken contradicts
        the ranks: only the learners with a dot belong to it, and not those between them.
    alpha : float, default=0.05
    title : str, default=""
        None if it is empty.

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
    tests = comparison.nemenyi(alpha) if test == "nemenyi" else comparison.wilcoxon_holm(alpha)
    return Diagram(comparison, tests).chart(title)


class Diagram:
    """A diagram in the making.

    Parameters
    ----------
    comparison : Comparison
    tests : PairTests
    """

    def __init__(self, comparison: Comparison, tests: PairTests) -> None:
        self.tests = tests
        self.names, self.ranks = comparison.learners, comparison.mean_ranks
        self.n_tables = len(comparison.tables)
        # From the best to the worst: the first half stands to the right, the others to the left.
        self.order = np.argsort(self.ranks, kind="stable")
        n_right = (len(self.order) + 1) // 2
        self.right, self.left = self.order[:n_right], self.order[n_right:][::-1]
        left_margin, right_margin = (self.margin(side) for side in (self.left, self.right))
        self.start, self.end = left_margin, left_margin + AXIS_WIDTH
        self.axis = AXIS_HEIGHT + (0 if tests.critical_difference is None else DISTANCE_HEIGHT)
        self.levels = levels_of([self.span(each) for each in tests.cliques])
        n_levels = max(self.levels, default=-1) + 1
        self.first_label = self.axis + FIRST_BAR + n_levels * BAR_STEP + 14
        self.has_broken = any(each.contradicts_ranks for each in tests.cliques)
        height = self.first_label + (n_right - 1) * LABEL_STEP + 16 + 22 * self.has_broken
        self.canvas = Canvas(self.end + right_margin, height)

    def margin(self, learners: np.ndarray) -> float:
        """How much room the names of one side take."""
        return max((width_of(self.names[learner]) for learner in learners), default=0.0) + BEYOND + 10

    def at(self, rank: float) -> float:
        """Where a rank stands: 1 is at the right end."""
        n_learners = len(self.names)
        return self.end - (rank - 1) / max(n_learners - 1, 1) * AXIS_WIDTH

    def span(self, clique: Clique) -> tuple[float, float]:
        """From where to where a bar goes."""
        places = [self.at(self.ranks[member]) for member in clique.members]
        return min(places) - 5, max(places) + 5

    def chart(self, title: str) -> Any:
        """The whole diagram."""
        self._draw_axis()
        self._draw_learners()
        for clique, level in zip(self.tests.cliques, self.levels, strict=True):
            self._draw_bar(clique, self.axis + FIRST_BAR + level * BAR_STEP)
        if self.has_broken:
            told = "Broken bars contradict the ranks: only the learners with a dot belong together."
            self.canvas.word(self.start, self.canvas.height - 8, told, size=12, colour=ACCENT)
        subtitle = f"{TESTS[self.tests.test]}, {self.n_tables} tables, alpha = {self.tests.alpha:g}"
        return self.canvas.chart(title, subtitle)

    def _draw_axis(self) -> None:
        n_learners = len(self.names)
        self.canvas.line(self.at(n_learners), self.axis, self.at(1), self.axis, thick=1.4)
        # With many learners, not every rank has a number.
        step = max(1, n_learners // 12)
        for rank in range(1, n_learners + 1):
            self.canvas.line(self.at(rank), self.axis - 7, self.at(rank), self.axis, thick=1.4)
            if rank < n_learners:
                self.canvas.line(self.at(rank + 0.5), self.axis - 4, self.at(rank + 0.5), self.axis)
            if (rank - 1) % step == 0:
                self.canvas.word(self.at(rank), self.axis - 17, str(rank), align="center")
        distance = self.tests.critical_difference
        if distance is not None:
            self._draw_distance(distance)

    def _draw_distance(self, distance: float) -> None:
        """The bar of the critical difference; one that is longer than the axis is open at its end."""
        longest = len(self.names) - 1
        start, end = self.at(1 + longest), self.at(1 + longest - min(distance, longest))
        is_longer = distance > longest
        for x in (start,) if is_longer else (start, end):
            self.canvas.line(x, 24, x, 34, thick=1.4)
        self.canvas.line(start, 29, end, 29, thick=1.4)
        told = f"CD = {distance:.2f}" + (", longer than the axis" if is_longer else "")
        self.canvas.word((start + end) / 2, 12, told, align="center")

    def _draw_learners(self) -> None:
        for side, learners in (("right", self.right), ("left", self.left)):
            for row, learner in enumerate(learners):
                x, y = self.at(self.ranks[learner]), self.first_label + row * LABEL_STEP
                edge = self.end + BEYOND if side == "right" else self.start - BEYOND
                about = f"{self.names[learner]}: average rank {self.ranks[learner]:.3f}"
                self.canvas.line(x, self.axis, x, y, about=about)
                self.canvas.line(x, y, edge, y, about=about)
                self._label(side, edge, y, learner, about)

    def _label(self, side: str, edge: float, y: float, learner: int, about: str) -> None:
        """The name of a learner at the end of its line, and its rank, small, over the line."""
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
    """The level of each bar: the first on which it comes near no other.

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
