"""Draw names on an axis of average ranks, with a bar over those that a test does not separate."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from committee.charts.canvas import Canvas, width_of
from committee.charts.style import ACCENT, GREY, INK, Chart

AXIS_WIDTH = 520.0
# Heights of the critical difference and of the axis, then distances: to the first bar, between bars, names.
DISTANCE_HEIGHT, AXIS_HEIGHT, FIRST_BAR, BAR_STEP, LABEL_STEP = 40.0, 28.0, 17.0, 13.0, 25.0
# The length of a line beyond the end of the axis, with the rank over it.
BEYOND = 40.0
# The least distance of bars on one level, so that two do not look like one.
BAR_GAP = 14.0


def rank_diagram(
    names: Sequence[str],
    ranks: np.ndarray,
    groups: Sequence[Sequence[int]] = (),
    *,
    critical_difference: float | None = None,
    title: str = "",
    subtitle: str = "",
) -> Chart:
    """Draw names by their average ranks, the best to the right.

    Parameters
    ----------
    names : sequence of str
    ranks : ndarray of shape (n_names,)
    groups : sequence of sequences of int, default=()
        Each holds the places of names that a test does not separate. They get one bar. The bar of a group
        that skips a name between its best and its worst is broken, with a dot for each member.
    critical_difference : float, default=None
        Drawn as a bar over the axis.
    title, subtitle : str, default=""

    Returns
    -------
    altair.LayerChart

    Examples
    --------
    >>> type(rank_diagram(["rf", "tree", "stump"], np.array([1.0, 2.2, 2.8]), [[1, 2]])).__name__
    'LayerChart'
    """
    return Diagram(names, ranks, groups, critical_difference).chart(title, subtitle)


class Diagram:
    """A diagram in the making.

    Parameters
    ----------
    names : sequence of str
    ranks : ndarray of shape (n_names,)
    groups : sequence of sequences of int
    critical_difference : float or None
    """

    def __init__(
        self,
        names: Sequence[str],
        ranks: np.ndarray,
        groups: Sequence[Sequence[int]],
        critical_difference: float | None,
    ) -> None:
        self.names, self.ranks, self.groups = names, ranks, groups
        self.critical_difference = critical_difference
        # From the best to the worst: the first half stands to the right, the others to the left.
        self.order = np.argsort(self.ranks, kind="stable")
        n_right = (len(self.order) + 1) // 2
        self.right, self.left = self.order[:n_right], self.order[n_right:][::-1]
        left_margin, right_margin = (self.margin(side) for side in (self.left, self.right))
        self.start, self.end = left_margin, left_margin + AXIS_WIDTH
        self.axis = AXIS_HEIGHT + (0 if critical_difference is None else DISTANCE_HEIGHT)
        self.levels = levels_of([self.span(each) for each in groups])
        n_levels = max(self.levels, default=-1) + 1
        self.first_label = self.axis + FIRST_BAR + n_levels * BAR_STEP + 14
        self.has_broken = any(self.is_broken(each) for each in groups)
        height = self.first_label + (n_right - 1) * LABEL_STEP + 16 + 22 * self.has_broken
        self.canvas = Canvas(self.end + right_margin, height)

    def is_broken(self, group: Sequence[int]) -> bool:
        """Whether a name between the best and the worst of a group does not belong to it."""
        places = np.flatnonzero(np.isin(self.order, group))
        return bool(places[-1] - places[0] >= len(places))

    def margin(self, learners: np.ndarray) -> float:
        """Return the width of the names of one side."""
        return max((width_of(self.names[learner]) for learner in learners), default=0.0) + BEYOND + 10

    def at(self, rank: float) -> float:
        """Return the pixel of a rank: 1 is at the right end."""
        n_learners = len(self.names)
        return self.end - (rank - 1) / max(n_learners - 1, 1) * AXIS_WIDTH

    def span(self, group: Sequence[int]) -> tuple[float, float]:
        """Return the ends of a bar."""
        places = [self.at(self.ranks[member]) for member in group]
        return min(places) - 5, max(places) + 5

    def chart(self, title: str, subtitle: str) -> Chart:
        """Draw the whole diagram."""
        self._draw_axis()
        self._draw_names()
        for group, level in zip(self.groups, self.levels, strict=True):
            self._draw_bar(group, self.axis + FIRST_BAR + level * BAR_STEP)
        if self.has_broken:
            told = "Broken bars contradict the ranks: only the learners with a dot belong together."
            self.canvas.word(self.start, self.canvas.height - 8, told, size=12, colour=ACCENT)
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
        if self.critical_difference is not None:
            self._draw_distance(self.critical_difference)

    def _draw_distance(self, distance: float) -> None:
        """Draw the critical difference; a bar that is longer than the axis is open at its end."""
        longest = len(self.names) - 1
        start, end = self.at(1 + longest), self.at(1 + longest - min(distance, longest))
        is_longer = distance > longest
        for x in (start,) if is_longer else (start, end):
            self.canvas.line(x, 24, x, 34, thick=1.4)
        self.canvas.line(start, 29, end, 29, thick=1.4)
        told = f"CD = {distance:.2f}" + (", longer than the axis" if is_longer else "")
        self.canvas.word((start + end) / 2, 12, told, align="center")

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
        """Write a name at the end of its line, and its rank, small, over the line."""
        outwards, align, other = (1, "left", "right") if side == "right" else (-1, "right", "left")
        self.canvas.word(edge + 6 * outwards, y, self.names[learner], align=align, about=about)
        rank = f"{self.ranks[learner]:.2f}"
        self.canvas.word(edge - 2 * outwards, y - 8, rank, align=other, size=11, colour=GREY, about=about)

    def _draw_bar(self, group: Sequence[int], y: float) -> None:
        start, end = self.span(group)
        about = ", ".join(self.names[member] for member in group)
        if not self.is_broken(group):
            self.canvas.line(start, y, end, y, thick=5, colour=INK, about=about)
            return
        self.canvas.line(start + 5, y, end - 5, y, thick=2.5, colour=ACCENT, dashes=(5, 4), about=about)
        for member in group:
            self.canvas.dot(self.at(self.ranks[member]), y, size=60, colour=ACCENT, about=about)


def levels_of(spans: list[tuple[float, float]]) -> list[int]:
    """Return the level of each bar: the first on which it comes near no other.

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
