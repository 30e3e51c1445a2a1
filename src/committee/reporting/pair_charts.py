"""Draw pairs of learners: a matrix of all pairs, and the scores of two learners on all tables."""

from __future__ import annotations

import numpy as np

from committee.charts.canvas import Canvas, width_of
from committee.charts.style import ACCENT, GREY, INK, SECOND, Chart, altair, mixed, styled
from committee.documentation import with_parameters
from committee.evaluating.comparison import Comparison
from committee.reporting.chart_files import DRAWN

CELL_WIDTH, CELL_HEIGHT, HEAD = 104.0, 62.0, 44.0
# The colours of cells if the learner of the column is better, or that of the row.
BLUE, ORANGE = "#6b9fe0", "#f0975f"
# The side of a scatter, in pixels.
SIDE = 400


@with_parameters(DRAWN)
def comparison_matrix(comparison: Comparison, *, alpha: float = 0.05, title: str = "") -> Chart:
    """Draw a matrix that compares all pairs of learners.

    A cell compares the learner of its row with the learner of its column. It shows the difference of their
    mean scores, the wins / ties / losses of the row, and the p-value of Wilcoxon's signed-rank test,
    corrected by Holm's procedure. The cell is orange if the row is better. Its text is bold if the p-value is
    below `alpha`.

    Returns
    -------
    altair.LayerChart

    References
    ----------
    A. Ismail-Fawaz et al., "An approach to multiple comparison benchmark evaluations that is stable under
    manipulation of the comparate set", 2023. Learners are sorted by their means, because means, unlike ranks,
    do not depend on the other learners.
    """
    comparison = comparison.with_short_names()
    names, means, wins = comparison.learners, comparison.mean_scores, comparison.wins
    p_values = comparison.wilcoxon_holm(alpha).p_values
    order = np.argsort(-means if comparison.more_is_better else means, kind="stable")
    gains = (means[None, :] - means[:, None]) * (-1 if comparison.more_is_better else 1)
    largest = float(np.abs(gains).max()) or 1.0
    left = max(map(width_of, names)) + 30
    canvas = Canvas(left + CELL_WIDTH * len(names), HEAD + CELL_HEIGHT * len(names))
    canvas.word(left - 14, HEAD - 12, f"mean {comparison.metric}", align="right", size=11, colour=GREY)
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
            counts = " / ".join(map(str, wins.of_pair(names[first], names[second])))
            difference = float(means[first] - means[second])
            p_value = float(p_values[first, second])
            pair = f"{names[first]} against {names[second]}"
            about = f"{pair}: {difference:+.4f}, {counts}, p = {p_value:.4f}"
            colour = tint(float(gains[first, second]) / largest)
            canvas.box(x + 1, y + 1, x + CELL_WIDTH - 1, y + CELL_HEIGHT - 1, colour=colour, about=about)
            for line, text in enumerate((f"{difference:+.4f}", counts, formatted(p_value))):
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
    differences = f"row - column: mean difference of {comparison.measure}, orange if the row is better; "
    tests = f"wins / ties / losses on {len(comparison.tables)} tables; p by Wilcoxon and Holm, bold below"
    return canvas.chart(title, f"{differences}{tests} {alpha:g}")


@with_parameters(DRAWN)
def pairwise_scatter(comparison: Comparison, learner: str, other: str, *, title: str = "") -> Chart:
    """Draw the scores of two learners on all tables.

    Parameters
    ----------
    learner : str
        The learner of the horizontal axis.
    other : str
        The learner of the vertical axis.

    Returns
    -------
    altair.LayerChart
    """
    alt = altair()
    learner, other = (
        comparison.with_short_names().learners[comparison.place(each)] for each in (learner, other)
    )
    comparison = comparison.with_short_names()
    first, second = (comparison.scores[:, comparison.place(each)] for each in (learner, other))
    wins, ties, losses = comparison.wins.of_pair(learner, other)
    metric, tables, more_is_better = comparison.metric, comparison.tables, comparison.more_is_better
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
    words = []
    # If lower is better, the learner of the horizontal axis is better above the diagonal.
    corners = (learner, wins, ACCENT, not more_is_better), (other, losses, SECOND, more_is_better)
    for name, count, colour, is_above in corners:
        align, baseline, at, shift = ("left", "top", 0, 8) if is_above else ("right", "bottom", SIDE, -8)
        font = {"fontSize": 13, "fontWeight": "bold", "color": colour}
        word = alt.Chart(alt.Data(values=[{"text": f"{name} is better: {count}"}])).mark_text(
            align=align, baseline=baseline, dx=shift, dy=shift, **font
        )
        words.append(word.encode(x=alt.value(at), y=alt.value(at), text="text:N"))
    chart = alt.layer(diagonal, points, *words).properties(width=SIDE, height=SIDE)
    return styled(chart, title, f"{len(tables)} tables, {ties} equal")


def tint(share: float) -> str:
    """Return a colour for a share between -1 and 1.

    Examples
    --------
    >>> tint(0.0), tint(1.0)
    ('#ffffff', '#f0975f')
    """
    # The exponent makes small differences visible.
    return mixed(ORANGE if share > 0 else BLUE, min(1.0, abs(share)) ** 0.6)


def formatted(p_value: float) -> str:
    """Format a p-value for a cell.

    Examples
    --------
    >>> formatted(0.03217), formatted(0.00001)
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


def padded(low: float, high: float) -> tuple[float, float]:
    """Add padding at both ends of a range.

    Examples
    --------
    >>> padded(0.0, 1.0), padded(0.5, 0.5)
    ((-0.04, 1.04), (0.0, 1.0))
    """
    padding = 0.04 * (high - low) or 0.5
    return low - padding, high + padding
