"""Draw bootstrap samples, and the votes of members on the rows outside of their bags, as tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from committee.charts.canvas import Canvas, width_of
from committee.charts.style import ACCENT, GREY, INK, SECOND, Chart, mixed
from committee.evaluating.resampling.confidence_intervals import check_n_draws, seed_of
from committee.table.input_types import ArrayLike, RandomState, TableLike
from committee.votes.vote_arrays import labels_of

# Rows and columns of the tables, in pixels.
ROW, COLUMN = 30.0, 58.0
BLANK = "#f3f4f6"


def bootstrap_samples(
    rows: int | Sequence[object] = 10,
    n_samples: int = 6,
    *,
    size: int | None = None,
    random_state: RandomState = None,
) -> Chart:
    """Draw which row is in which bootstrap sample, and how often.

    Parameters
    ----------
    rows : int or sequence, default=10
        The number of rows, or their names or values.
    n_samples : int, default=6
        The number of bootstrap samples.
    size : int, default=None
        The number of draws of a sample. None is the number of rows.
    random_state : int, RandomState or None, default=None

    Returns
    -------
    altair.LayerChart

    Examples
    --------
    >>> from committee import pictures
    >>> chart = pictures.bootstrap_samples([0.1, 0.2, 0.3, 0.4, 0.5, 0.6], size=4, random_state=0)
    """
    names = [str(row + 1) for row in range(rows)] if isinstance(rows, int) else [str(row) for row in rows]
    n_rows = len(names)
    size = n_rows if size is None else size
    for number, name in ((n_rows, "rows"), (n_samples, "n_samples"), (size, "size")):
        check_n_draws(number, name, least=1)
    rng = np.random.default_rng([seed_of(random_state)])
    counts = np.array(
        [np.bincount(rng.integers(n_rows, size=size), minlength=n_rows) for _ in range(n_samples)]
    )
    left = max(map(width_of, [*names, "distinct"])) + 24
    canvas = Canvas(left + COLUMN * n_samples, ROW * (n_rows + 2) + 10)
    for row, name in enumerate(names):
        canvas.word(left - 12, ROW * (row + 1.5), name, align="right")
    canvas.word(left - 12, ROW * (n_rows + 1.5) + 8, "distinct", align="right", is_bold=True)
    for sample, drawn in enumerate(counts):
        x = left + COLUMN * sample
        canvas.word(x + COLUMN / 2, ROW / 2, f"bag {sample + 1}", align="center", size=12, colour=GREY)
        for row, count in enumerate(drawn):
            colour = mixed(SECOND, min(0.75, 0.15 + 0.2 * count)) if count else BLANK
            ink = "white" if count > 2 else INK
            about = (
                f"row {names[row]} is in bag {sample + 1} {count} times" if count else "outside of the bag"
            )
            at = x, ROW * (row + 1), COLUMN, ROW
            canvas.cell(*at, f"{count} ×" if count else "", colour=colour, ink=ink, about=about)
        share = f"{(drawn > 0).mean():.0%}"
        y = ROW * (n_rows + 1.5) + 8
        canvas.word(x + COLUMN / 2, y, share, align="center", is_bold=True, colour=ACCENT)
    expected = 1 - (1 - 1 / n_rows) ** size
    return canvas.chart(
        "A bootstrap sample repeats some rows and leaves out others",
        f"{size} draws of {n_rows} rows contain {expected:.1%} of them on average. Empty cells: out of bag",
    )


def out_of_bag_table(
    model: Any, X: TableLike, y: ArrayLike, *, max_rows: int = 12, max_members: int = 10
) -> Chart:
    """Draw the votes of members on the rows outside of their bags, and the decisions from these votes.

    Parameters
    ----------
    model : forest or bagging classifier
        Fitted on X and y with bootstrap samples.
    X : table
    y : array-like of shape (n_rows,)
    max_rows : int, default=12
        The number of rows to draw, at equal distances.
    max_members : int, default=10
        The number of members to draw. The decision uses all members.

    Returns
    -------
    altair.LayerChart

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from committee import RandomForestClassifier, pictures
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(n_estimators=20, random_state=0).fit(X, y)
    >>> chart = pictures.out_of_bag_table(forest, X, y)
    """
    samples = getattr(model, "estimators_samples_", None)
    if samples is None or not hasattr(model, "classes_"):
        raise ValueError(f"The picture needs a fitted classifier with bags. Got {type(model).__name__}.")
    labels = labels_of(np.asarray(model.votes(X)))
    codes = np.searchsorted(model.classes_, np.asarray(y))
    is_out = np.ones(labels.shape, dtype=bool)
    for member, bag in enumerate(samples):
        is_out[member, np.asarray(bag)] = False
    counts = np.array([(is_out & (labels == code)).sum(axis=0) for code in range(len(model.classes_))])
    has_votes = counts.sum(axis=0) > 0
    if not has_votes.any():
        raise ValueError("No row is outside of a bag. Fit the members on bootstrap samples.")
    decided = counts.argmax(axis=0)
    n_rows, n_members = min(max_rows, len(codes)), min(max_members, len(labels))
    shown_rows = np.linspace(0, len(codes) - 1, n_rows).astype(int)
    width = max(44.0, 16 + max(width_of(str(each)) for each in model.classes_))
    heads = [*(f"{member + 1}" for member in range(n_members)), "decision", "truth"]
    left, gap = 70.0, 14.0
    width_of_end = max(width, 76.0)
    canvas = Canvas(left + width * n_members + gap + 2 * width_of_end, ROW * (n_rows + 1))
    canvas.word(left - 12, ROW / 2, "member", align="right", size=12, colour=GREY)
    for place, head in enumerate(heads):
        x, wide = place_of(place, n_members, left, width, gap, width_of_end)
        canvas.word(x + wide / 2, ROW / 2, head, align="center", size=12, is_bold=place >= n_members)
    for line, row in enumerate(shown_rows):
        y_at = ROW * (line + 1)
        canvas.word(left - 12, y_at + ROW / 2, f"row {row + 1}", align="right")
        texts: list[tuple[str, int | None]] = [
            (str(model.classes_[labels[member, row]]), int(labels[member, row]))
            if is_out[member, row]
            else ("in bag", None)
            for member in range(n_members)
        ]
        decision = int(decided[row]) if has_votes[row] else None
        texts += [("none" if decision is None else str(model.classes_[decision]), decision)]
        texts += [(str(model.classes_[codes[row]]), int(codes[row]))]
        for place, (text, code) in enumerate(texts):
            x, wide = place_of(place, n_members, left, width, gap, width_of_end)
            is_wrong = code is not None and code != codes[row]
            colour = BLANK if code is None else mixed(ACCENT, 0.4) if is_wrong else mixed("#56b4e9", 0.35)
            shown = "·" if code is None and place < n_members else f"{text} ×" if is_wrong else text
            about = f"row {row + 1}, {heads[place]}: {text}"
            canvas.cell(x, y_at, wide, ROW, shown, colour=colour, is_bold=place >= n_members, about=about)
    error = np.mean(decided[has_votes] != codes[has_votes])
    rows = f"{n_rows} of {len(codes)} rows, {n_members} of {len(labels)} members"
    return canvas.chart(
        f"Members vote on the rows outside of their bags: out-of-bag error {error:.1%}",
        f"{rows}. A dot: the row is in the bag. A cross: wrong. The decision is the majority of all votes",
    )


def place_of(
    place: int, n_members: int, left: float, width: float, gap: float, width_of_end: float
) -> tuple[float, float]:
    """Return the place and the width of a column. The last two columns are apart from the members."""
    if place < n_members:
        return left + width * place, width
    return left + width * n_members + gap + width_of_end * (place - n_members), width_of_end
