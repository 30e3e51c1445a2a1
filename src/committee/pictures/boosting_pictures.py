"""Draw boosting: the weights of rows and members in each round, and sums of trees fitted to residuals."""

from __future__ import annotations

from typing import Any

import numpy as np

from committee.boosting.gradient.gradient_boosting import GradientBoostingRegressor
from committee.charts.canvas import Canvas
from committee.charts.plots import axis, panels, small_title
from committee.charts.style import ACCENT, GREY, INK, SECOND, Chart, altair, colour_of, mixed
from committee.evaluating.resampling.confidence_intervals import check_n_draws
from committee.printing import counted
from committee.table.input_types import ArrayLike, TableLike
from committee.task import to_numbers

# The most rows of the picture of weights, and its columns in pixels.
MOST_ROWS, COLUMN, STACK = 60, 96.0, 300.0
# The largest tree, in pixels.
TREE = 74.0


def boosting_rounds(booster: Any, X: TableLike, y: ArrayLike) -> Chart:
    """Draw the rounds of a fitted AdaBoost: rectangles are rows, and trees are members.

    The height of a rectangle is the weight of the row in the round. A cross marks a misclassified row. The
    size of a tree is the weight of its vote.

    Parameters
    ----------
    booster : AdaBoost classifier
        Fitted on X and y with `store_weights=True`.
    X : table of at most 60 rows
    y : array-like of shape (n_rows,)

    Returns
    -------
    altair.LayerChart

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from committee import AdaBoostM1Classifier, pictures
    >>> X, y = make_moons(12, noise=0.4, random_state=0)
    >>> booster = AdaBoostM1Classifier(n_estimators=4, store_weights=True).fit(X, y)
    >>> chart = pictures.boosting_rounds(booster, X, y)
    """
    weights = getattr(booster, "row_weights_", None)
    if weights is None:
        raise ValueError(
            "The picture needs the weights of the rows. Fit AdaBoost with store_weights=True. "
            f"Got {type(booster).__name__}."
        )
    n_rounds, n_rows = weights.shape
    codes = np.searchsorted(booster.classes_, np.asarray(y))
    if n_rows > MOST_ROWS or len(codes) != n_rows:
        raise ValueError(
            f"The picture shows the rows of the fit, at most {MOST_ROWS}. The fit had {n_rows}, and y has "
            f"{len(codes)}."
        )
    votes = np.asarray(booster.estimator_weights_)
    wrong = [np.asarray(member.predict(X)) != np.asarray(y) for member in booster.estimators_]
    decided = np.asarray(booster.predict(X)) != np.asarray(y)
    order = np.argsort(codes, kind="stable")
    # A gap between columns shows the order of the rounds.
    canvas = Canvas((n_rounds + 1) * COLUMN + 20, STACK + TREE + 88)
    for place in range(n_rounds + 1):
        is_whole = place == n_rounds
        left = place * COLUMN + (20 if is_whole else 0)
        title = "committee" if is_whole else f"round {place + 1}"
        canvas.word(left + COLUMN / 2, 10, title, align="center", is_bold=True)
        shares = np.full(n_rows, 1 / n_rows) if is_whole else weights[place] / weights[place].sum()
        is_wrong = decided if is_whole else wrong[place]
        top = 26.0
        for row in order:
            height = float(shares[row]) * STACK
            edge = min(1.0, height / 4)
            text = f"{title}: row {row}, class {booster.classes_[codes[row]]}, weight {shares[row]:.3f}"
            about = text + (", misclassified" if is_wrong[row] else "")
            colour = mixed(colour_of(int(codes[row])), 0.45)
            canvas.box(
                left + 12, top + edge, left + COLUMN - 12, top + height - edge, colour=colour, about=about
            )
            if is_wrong[row]:
                size = min(20.0, max(9.0, height * 1.1))
                canvas.word(left + COLUMN / 2, top + height / 2, "×", align="center", size=size, is_bold=True)
            top += height
        bottom = STACK + 36
        if is_whole:
            error = f"error {is_wrong.mean():.2f}"
            canvas.word(
                left + COLUMN / 2, bottom + TREE / 2, error, align="center", is_bold=True, colour=ACCENT
            )
            continue
        size = TREE * abs(float(votes[place])) / float(np.abs(votes).max())
        draw_icon(canvas, left + COLUMN / 2, bottom + TREE, size)
        error = f"error {booster.estimator_errors_[place]:.2f}"
        canvas.word(left + COLUMN / 2, bottom + TREE + 18, error, align="center", size=12)
        canvas.word(
            left + COLUMN / 2, bottom + TREE + 36, f"vote {votes[place]:.2f}", align="center", size=12
        )
    return canvas.chart(
        "Misclassified rows get more weight in the next round",
        "Height: weight of a row. Colour: class. Cross: misclassified. Size of a tree: weight of its vote",
    )


def draw_icon(canvas: Canvas, x: float, bottom: float, size: float) -> None:
    """Draw a small tree of a root and two branches with two leaves each."""
    thick = max(1.0, size / 26)
    top, middle = bottom - size, bottom - size / 2
    about = "The size of the tree is the weight of its vote"
    for side in (-1, 1):
        canvas.line(x, top, x + side * size / 4, middle, thick=thick, colour=INK, about=about)
        for step in (-1, 1):
            end = x + side * size / 4 + step * size / 9
            canvas.line(x + side * size / 4, middle, end, bottom, thick=thick, colour=INK, about=about)
            canvas.dot(end, bottom, size=(size / 7) ** 2, colour=SECOND)
    for at in (x - size / 4, x + size / 4):
        canvas.dot(at, middle, size=(size / 8) ** 2, colour=INK)
    canvas.dot(x, top, size=(size / 7) ** 2, colour=INK)


def gradient_boosting_rounds(
    X: TableLike,
    y: ArrayLike,
    *,
    n_rounds: int = 3,
    max_depth: int = 2,
    learning_rate: float = 1.0,
) -> Chart:
    """Draw gradient boosting of one column: residuals, the tree that is fitted to them, and the sum of trees.

    Parameters
    ----------
    X : table of shape (n_rows, 1)
        One column of numbers.
    y : array-like of shape (n_rows,)
        Numbers.
    n_rounds : int, default=3
        The number of trees, one row of panels for each.
    max_depth : int, default=2
        The depth of the trees.
    learning_rate : float, default=1.0
        The factor of each tree.

    Returns
    -------
    altair.ConcatChart

    Examples
    --------
    >>> import numpy as np
    >>> from committee import pictures
    >>> x = np.linspace(-0.5, 0.5, 80)
    >>> noise = np.random.default_rng(0).normal(0, 0.05, 80)
    >>> chart = pictures.gradient_boosting_rounds(x[:, None], 3 * x**2 + noise)
    """
    check_n_draws(n_rounds, "n_rounds", least=1)
    points, numbers = np.asarray(X, dtype=np.float64), to_numbers(y, "y")
    if points.ndim != 2 or points.shape[1] != 1:
        raise ValueError(f"X must have one column of numbers, the horizontal axis. Got shape {points.shape}.")
    booster = GradientBoostingRegressor.textbook(
        n_rounds, max_depth=max_depth, learning_rate=learning_rate
    ).fit(points, numbers)
    at = np.linspace(points.min(), points.max(), 400)
    start = float(numbers.mean())
    sums = [np.full(len(at), start), *booster.staged_predict(at[:, None])]
    at_rows = [np.full(len(points), start), *booster.staged_predict(points)]
    low, high = float(numbers.min()), float(numbers.max())
    margin = 0.08 * (high - low or 1.0)
    span = max(float(np.abs(numbers - start).max()), 1e-12) * 1.1
    whole, around_zero = (low - margin, high + margin), (-span, span)
    charts = []
    for number in range(1, n_rounds + 1):
        residuals = numbers - at_rows[number - 1]
        step = (sums[number] - sums[number - 1]) / learning_rate
        error = float(np.sqrt(np.mean((numbers - at_rows[number]) ** 2)))
        left = f"y minus {'its mean' if number == 1 else f'the sum of {number - 1}'}"
        rate = "" if learning_rate == 1 else f", each times {learning_rate:g}"
        charts += [
            panel(points, residuals, None, None, around_zero, f"residuals before tree {number}", left),
            panel(points, residuals, at, step, around_zero, f"tree {number}", "fitted to the residuals"),
            panel(
                points,
                numbers,
                at,
                sums[number],
                whole,
                f"mean + {counted(number, 'tree')}{rate}",
                f"RMSE {error:.3f}",
            ),
        ]
    return panels(
        charts,
        3,
        "Each tree is fitted to what the sum of the previous ones leaves",
        "Left: residuals. Middle: the tree that approximates them. Right: the sum so far and the rows",
    )


def panel(
    points: np.ndarray,
    numbers: np.ndarray,
    at: np.ndarray | None,
    line: np.ndarray | None,
    domain: tuple[float, float],
    title: str,
    below: str,
) -> Any:
    """Draw rows, and optionally a step function through them."""
    alt = altair()
    across, up = alt.X(**axis("x", "")), alt.Y(**axis("y", "", domain))
    rows = [{"x": float(x), "y": float(y)} for x, y in zip(points[:, 0], numbers, strict=True)]
    drawn = alt.Chart(alt.Data(values=rows)).mark_circle(size=20, color=GREY, opacity=0.8).encode(across, up)
    if at is not None and line is not None:
        values = [{"x": float(x), "y": float(y)} for x, y in zip(at, line, strict=True)]
        curve = alt.Chart(alt.Data(values=values)).mark_line(color=ACCENT, strokeWidth=2.4, clip=True)
        drawn = drawn + curve.encode(across, up)
    return drawn.properties(width=210, height=140, title=small_title(title, below))
