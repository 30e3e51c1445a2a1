"""Draw a matrix of pairs with mean difference, wins and p-value.

After A. Ismail-Fawaz et al., "An approach to multiple comparison benchmark evaluations that is stable under
manipulation of the comparate set", 2023: names stand in the order of their means, which does not depend on
who else is compared, as ranks do.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from committee.charts.canvas import Canvas, width_of
from committee.charts.style import GREY, INK, Chart

CELL_WIDTH, CELL_HEIGHT, HEAD = 104.0, 62.0, 44.0
# From the other is better, over none, to the learner of the row is better.
BLUE, WHITE, ORANGE = (0x6B, 0x9F, 0xE0), (0xFF, 0xFF, 0xFF), (0xF0, 0x97, 0x5F)


def pair_matrix(
    names: Sequence[str],
    means: np.ndarray,
    wins: np.ndarray,
    ties: np.ndarray,
    p_values: np.ndarray,
    *,
    more_is_better: bool,
    alpha: float = 0.05,
    corner: str = "mean",
    title: str = "",
    subtitle: str = "",
) -> Chart:
    """Draw every pair of names.

    A cell shows the difference of the means of its row and its column, how often the row wins, is equal and
    loses, and a p-value. It is orange where the row is better, and bold where the p-value is below `alpha`.

    Parameters
    ----------
    names : sequence of str
    means : ndarray of shape (n_names,)
    wins, ties : ndarray of int of shape (n_names, n_names)
        How often the name of the row is better than that of the column, and how often they are equal.
    p_values : ndarray of shape (n_names, n_names)
    more_is_better : bool
    alpha : float, default=0.05
    corner : str, default="mean"
        What the means are of.
    title, subtitle : str, default=""

    Returns
    -------
    altair.LayerChart
    """
    order = np.argsort(-means if more_is_better else means, kind="stable")
    gains = (means[None, :] - means[:, None]) * (-1 if more_is_better else 1)
    largest = float(np.abs(gains).max()) or 1.0
    left = max(map(width_of, names)) + 30
    canvas = Canvas(left + CELL_WIDTH * len(names), HEAD + CELL_HEIGHT * len(names))
    canvas.word(left - 14, HEAD - 12, corner, align="right", size=11, colour=GREY)
    for at, place in enumerate(order):
        name = names[place]
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
            counts = f"{wins[first, second]} / {ties[first, second]} / {wins[second, first]}"
            difference = float(means[first] - means[second])
            p_value = float(p_values[first, second])
            pair = f"{names[first]} against {names[second]}"
            about = f"{pair}: {difference:+.4f}, {counts}, p = {p_value:.4f}"
            colour = tint(float(gains[first, second]) / largest)
            canvas.box(x + 1, y + 1, x + CELL_WIDTH - 1, y + CELL_HEIGHT - 1, colour=colour, about=about)
            lines = (f"{difference:+.4f}", counts, written(p_value))
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
    return canvas.chart(title, subtitle)


def tint(share: float) -> str:
    """Return a colour for a share between -1 and 1.

    Examples
    --------
    >>> tint(0.0), tint(1.0)
    ('#ffffff', '#f0975f')
    """
    end = ORANGE if share > 0 else BLUE
    # The power makes small differences visible.
    strength = min(1.0, abs(share)) ** 0.6
    mixed = (round(white + (colour - white) * strength) for white, colour in zip(WHITE, end, strict=True))
    return "#" + "".join(f"{each:02x}" for each in mixed)


def written(p_value: float) -> str:
    """Format a p-value for a cell.

    Examples
    --------
    >>> written(0.03217), written(0.00001)
    ('p = 0.032', 'p < 0.001')
    """
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.3f}"


def shortened(name: str, width: float) -> str:
    """Cut a name to a width in pixels.

    Examples
    --------
    >>> shortened("rotation_forest_of_hundred", 100)
    'rotation_for…'
    """
    n_letters = int(width / width_of("x"))
    return name if len(name) <= n_letters else name[: n_letters - 1] + "…"
