"""Draw the fit time of each learner against its error or rank."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from committee.charts.canvas import Canvas, width_of
from committee.charts.style import ACCENT, GREY, INK, PALE, Chart
from committee.documentation import with_parameters
from committee.evaluating.comparison import Comparison
from committee.reporting.chart_files import DRAWN

WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 560.0, 400.0, 56.0, 26.0, 50.0
# The padding at both ends of an axis, as a share of its range.
PADDING = 0.12
# If an axis spans more powers of ten, only the powers of ten have numbers.
MOST_DECADES = 3
# The possible places of the name of a point: its alignment, and its shift in pixels.
PLACES = (
    *(("left", 9, 0), ("right", -9, 0), ("center", 0, -14), ("center", 0, 14)),
    *(("left", 9, -13), ("left", 9, 13), ("right", -9, -13), ("right", -9, 13)),
    *(("center", 0, -28), ("center", 0, 28)),
)
Point = tuple[float, float]
Box = tuple[float, float, float, float]


@with_parameters(DRAWN)
def time_against_error(comparison: Comparison, *, title: str = "") -> Chart:
    """Draw learners by their fit time and their error, or another metric of the comparison.

    The error is the mean over tables. The time is the geometric mean, so that the largest table does not
    dominate it. A line connects the learners that no other learner beats in both time and error. Learners
    with unknown times are skipped.

    Returns
    -------
    altair.LayerChart
    """
    what, more_is_better = f"mean {comparison.measure}", comparison.more_is_better
    return against_time(comparison, comparison.mean_scores, what, more_is_better, title)


@with_parameters(DRAWN)
def time_against_rank(comparison: Comparison, *, title: str = "") -> Chart:
    """Draw learners by their fit time and their average rank.

    Prefer it to `time_against_error` if a few difficult tables dominate the mean error.

    Returns
    -------
    altair.LayerChart
    """
    what = f"average rank by {comparison.metric}"
    return against_time(comparison, comparison.mean_ranks, what, False, title)


def against_time(
    comparison: Comparison, heights: np.ndarray, what: str, more_is_better: bool, title: str
) -> Chart:
    """Draw a value of each learner against its fit time."""
    seconds = np.empty((0, len(heights))) if comparison.fit_seconds is None else comparison.fit_seconds
    if not np.isfinite(seconds).any():
        raise ValueError("The fit times of these learners are unknown. Fit them again to draw times.")
    known = np.flatnonzero(np.isfinite(seconds).all(axis=0))
    names = [comparison.with_short_names().learners[place] for place in known]
    seconds = np.exp(np.log(np.maximum(seconds[:, known], 1e-6)).mean(axis=0))
    heights = heights[known]
    canvas = Canvas(WIDTH, HEIGHT)
    across = Axis(np.log10(seconds), LEFT, WIDTH - 20)
    up = Axis(heights, HEIGHT - BOTTOM, TOP)
    draw_axes(canvas, across, up, f"{what} ({'more' if more_is_better else 'less'} is better)")
    places = zip(np.log10(seconds), heights, strict=True)
    points = [(across.at(second), up.at(height)) for second, height in places]
    front = unbeaten(seconds, -heights if more_is_better else heights)
    for first, second in itertools.pairwise(front):
        canvas.line(*points[first], *points[second], thick=1.6, colour=ACCENT, dashes=(5, 4))
    for place, (x, y) in enumerate(points):
        about = f"{names[place]}: {seconds[place]:.3g} s, {what} {heights[place]:.4g}"
        canvas.dot(x, y, size=75, colour=ACCENT if place in front else INK, about=about)
    line = [points[place] for place in front]
    for (align, x, y), name in zip(labels_of(points, names, line), names, strict=True):
        canvas.word(x, y, name, align=align, size=13)
    subtitle = f"{what} on {len(comparison.tables)} tables; geometric mean of the fit times"
    return canvas.chart(title, subtitle)


class Axis:
    """Map numbers to pixels.

    Parameters
    ----------
    numbers : ndarray
    start, end : float
        Pixels.
    """

    def __init__(self, numbers: np.ndarray, start: float, end: float) -> None:
        low, high = float(numbers.min()), float(numbers.max())
        padding = PADDING * (high - low) or 0.5
        self.low, self.high = low - padding, high + padding
        self.start, self.end = start, end

    def at(self, number: float) -> float:
        """Return the pixel of a number."""
        return float(self.start + (number - self.low) / (self.high - self.low) * (self.end - self.start))


def draw_axes(canvas: Canvas, across: Axis, up: Axis, name: str) -> None:
    """Draw a logarithmic axis of seconds and a linear axis with a name."""
    floor, left, right = HEIGHT - BOTTOM, LEFT, WIDTH - 20
    digits = (1, 2, 5) if across.high - across.low <= MOST_DECADES else (1,)
    for exponent in range(int(np.floor(across.low)), int(np.ceil(across.high)) + 1):
        for digit in digits:
            number = np.log10(digit) + exponent
            if across.low <= number <= across.high:
                x = across.at(number)
                canvas.line(x, TOP, x, floor, colour=PALE)
                canvas.word(x, floor + 14, f"{digit * 10.0**exponent:g}", align="center", size=12)
    for number in ticks(up.low, up.high):
        y = up.at(number)
        canvas.line(left, y, right, y, colour=PALE)
        canvas.word(left - 8, y, f"{number:g}", align="right", size=12)
    canvas.line(left, floor, right, floor, colour=GREY)
    canvas.line(left, TOP, left, floor, colour=GREY)
    canvas.word((left + right) / 2, floor + 36, "fit seconds", align="center", size=13)
    canvas.word(0, 8, name, size=13)


def ticks(low: float, high: float) -> list[float]:
    """Return at most eight round numbers in a range.

    Examples
    --------
    >>> ticks(0.9, 3.1)
    [1.0, 1.5, 2.0, 2.5, 3.0]
    >>> ticks(0.0312, 0.0391)
    [0.032, 0.033, 0.034, 0.035, 0.036, 0.037, 0.038, 0.039]
    """
    power = 10.0 ** np.floor(np.log10((high - low) / 8))
    step = next(each * power for each in (1, 2, 5, 10) if (high - low) / (each * power) <= 8)
    numbers = np.arange(np.ceil(low / step), np.floor(high / step) + 1) * step
    return [float(f"{number:.12g}") for number in numbers]


def unbeaten(seconds: np.ndarray, losses: np.ndarray) -> list[int]:
    """Return the learners that no other learner beats in both time and loss, with the fastest first.

    Examples
    --------
    >>> unbeaten(np.array([1.0, 2.0, 3.0]), np.array([2.0, 3.0, 1.0]))
    [0, 2]
    """
    found: list[int] = []
    for place in np.lexsort([losses, seconds]):
        if not found or losses[place] < losses[found[-1]]:
            found.append(int(place))
    return found


def labels_of(
    points: list[Point], names: Sequence[str], line: Sequence[Point] = ()
) -> list[tuple[str, float, float]]:
    """Place the name of each point with as little overlap with other names, points and lines as possible.

    Examples
    --------
    >>> labels_of([(120.0, 100.0), (150.0, 100.0)], ["forest", "tree"])
    [('right', 111.0, 100.0), ('left', 159.0, 100.0)]
    """
    taken: list[Box] = [(x - 6, y - 6, x + 6, y + 6) for x, y in points]
    for (x, y), (x2, y2) in itertools.pairwise(line):
        for share in np.linspace(0, 1, 2 + int(np.hypot(x2 - x, y2 - y) / 6)):
            across, down = x + (x2 - x) * share, y + (y2 - y) * share
            taken.append((across - 3, down - 3, across + 3, down + 3))
    found = []
    for (x, y), name in zip(points, names, strict=True):
        tried: list[tuple[float, int, str, float, float, Box]] = []
        for align, right, down in PLACES:
            width = width_of(name)
            start = x + right - {"left": 0.0, "center": width / 2, "right": width}[align]
            box = (start, y + down - 8, start + width, y + down + 8)
            is_outside = box[0] < LEFT or box[2] > WIDTH or box[1] < 0 or box[3] > HEIGHT - BOTTOM
            meets = sum(overlap(box, other) for other in taken) + (1e6 if is_outside else 0.0)
            tried.append((meets, len(tried), align, x + right, y + down, box))
        _, _, align, at, height, box = min(tried)
        taken.append(box)
        found.append((align, at, height))
    return found


def overlap(first: Box, second: Box) -> float:
    """Return the area that two boxes share, in square pixels."""
    width = min(first[2], second[2]) - max(first[0], second[0])
    height = min(first[3], second[3]) - max(first[1], second[1])
    return max(0.0, width) * max(0.0, height)
