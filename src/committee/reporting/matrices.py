"""The multi-comparison matrix: every pair of learners with its mean difference, wins and p-value.

After A. Ismail-Fawaz et al., "An approach to multiple comparison benchmark evaluations that is stable under
manipulation of the comparate set", 2023: learners stand in the order of their mean scores, which does not
depend on who else is compared, as ranks do.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from committee.evaluating.comparison import Comparison
from committee.evaluating.differences import wilcoxon_holm
from committee.reporting.canvas import Canvas, width_of
from committee.reporting.style import GREY, INK

CELL_WIDTH, CELL_HEIGHT, HEAD = 104.0, 62.0, 44.0
# From the other is better, over none, to the learner of the row is better.
BLUE, WHITE, ORANGE = (0x6B, 0x9F, 0xE0), (0xFF, 0xFF, 0xFF), (0xF0, 0x97, 0x5F)


def comparison_matrix(comparison: Comparison, *, alpha: float = 0.05, title: str = "") -> Any:
    """Draw every pair of learners.

    A cell tells the mean difference of the scores of its row and its column, on how many tables the row wins,
    is equal and loses, and the p-value of Wilcoxon's signed rank test, corrected by Holm's procedure. It is
    orange where the row is better, and bold where the p-value is below `alpha`.

    Parameters
    ----------
    comparison : Comparison
    alpha : float, default=0.05
    title : str, default=""

    Returns
    -------
    altair.LayerChart
    """
    means = comparison.mean_scores
    order = np.argsort(-means if comparison.more_is_better else means, kind="stable")
    names = [comparison.learners[place] for place in order]
    p_values, wins = wilcoxon_holm(comparison.losses), comparison.wins
    gains = (means[None, :] - means[:, None]) * (-1 if comparison.more_is_better else 1)
    largest = float(np.abs(gains).max()) or 1.0
    left = max(width_of(name) for name in names) + 30
    canvas = Canvas(left + CELL_WIDTH * len(names), HEAD + CELL_HEIGHT * len(names))
    canvas.word(left - 14, HEAD - 12, f"mean {comparison.metric}", align="right", size=11, colour=GREY)
    for at, (place, name) in enumerate(zip(order, names, strict=True)):
        x, y = left + (at + 0.5) * CELL_WIDTH, HEAD + (at + 0.5) * CELL_HEIGHT
        shown = shortened(name, CELL_WIDTH - 6)
        canvas.word(x, HEAD - 28, shown, align="center", about=name)
        canvas.word(x, HEAD - 12, f"{means[place]:.4f}", align="center", size=11, colour=GREY)
        canvas.word(left - 14, y - 8, name, align="right")
        canvas.word(left - 14, y + 10, f"{means[place]:.4f}", align="right", size=11, colour=GREY)
    for row, first in enumerate(order):
        for column, second in enumerate(order):
            x, y = left + column * CELL_WIDTH, HEAD + row * CELL_HEIGHT
            if first == second:
                canvas.box(x + 1, y + 1, x + CELL_WIDTH - 1, y + CELL_HEIGHT - 1, colour="#eef0f2")
                continue
            won, equal, lost = wins.of_pair(comparison.learners[first], comparison.learners[second])
            difference = float(means[first] - means[second])
            p_value = float(p_values[first, second])
            pair = f"{comparison.learners[first]} against {comparison.learners[second]}"
            about = f"{pair}: {difference:+.4f}, {won} / {equal} / {lost}, p = {p_value:.4f}"
            colour = tint(float(gains[first, second]) / largest)
            canvas.box(x + 1, y + 1, x + CELL_WIDTH - 1, y + CELL_HEIGHT - 1, colour=colour, about=about)
            lines = (f"{difference:+.4f}", f"{won} / {equal} / {lost}", written(p_value))
            for line, text in enumerate(lines):
                canvas.word(
                    x + CELL_WIDTH / 2,
                    y + CELL_HEIGHT / 2 + (line - 1) * 17,
                    text,
                    align="center",
                    size=12,
                    colour=INK,
                    is_bold=p_value < alpha,
                    about=about,
                )
    told = f"row - column: mean difference of {comparison.measure}, orange where the row is better; "
    tests = f"wins / ties / losses on {len(comparison.tables)} tables; "
    return canvas.chart(title, f"{told}{tests}p by Wilcoxon and Holm, bold below {alpha:g}")


def tint(share: float) -> str:
    """A colour for a share between -1 and 1.

    Examples
    --------
    >>> tint(0.0), tint(1.0)
    ('#ffffff', '#f0975f')
    """
    end = ORANGE if share > 0 else BLUE
    # Small differences are to be seen too.
    strength = min(1.0, abs(share)) ** 0.6
    mixed = (round(white + (colour - white) * strength) for white, colour in zip(WHITE, end, strict=True))
    return "#" + "".join(f"{each:02x}" for each in mixed)


def written(p_value: float) -> str:
    """A p-value for a cell.

    Examples
    --------
    >>> written(0.03217), written(0.00001)
    ('p = 0.032', 'p < 0.001')
    """
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.3f}"


def shortened(name: str, width: float) -> str:
    """A name that is not wider than some pixels.

    Examples
    --------
    >>> shortened("rotation_forest_of_hundred", 100)
    'rotation_for…'
    """
    n_letters = int(width / width_of("x"))
    return name if len(name) <= n_letters else name[: n_letters - 1] + "…"
