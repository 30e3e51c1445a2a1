"""Draw why votes help: tosses of a coin, the accuracy of a majority, and tables of labels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from committee.charts.canvas import Canvas, width_of
from committee.charts.plots import HEIGHT, WIDTH, axis, curves, level
from committee.charts.style import ACCENT, GREY, INK, Chart, altair, colour_of, mixed, styled
from committee.combining.fixed_rules import majority
from committee.documentation import with_parameters
from committee.evaluating.majority_vote import majority_vote_accuracy
from committee.evaluating.resampling.confidence_intervals import check_n_draws, seed_of
from committee.evaluating.vote_scores import CLASS_VOTES, Given, read_class_votes
from committee.parameters import is_number
from committee.table.input_types import ArrayLike, RandomState
from committee.votes.vote_arrays import labels_of

# A curve has at most this number of points.
MOST_POINTS = 250
# The height of a row of a table, in pixels, and the colours of right and wrong labels.
ROW = 30.0
RIGHT, WRONG = mixed("#56b4e9", 0.35), mixed(ACCENT, 0.45)


def coin_tosses(
    n_tosses: int = 10_000, *, p: float = 0.51, n_series: int = 10, random_state: RandomState = None
) -> Chart:
    """Draw the running share of heads in several series of tosses of a coin.

    Each toss is a member that is right with probability p. The share approaches p, so a majority of many
    members is nearly always right even if each is only slightly better than chance.

    Parameters
    ----------
    n_tosses : int, default=10000
    p : float from 0 to 1, default=0.51
        The probability of heads.
    n_series : int, default=10
    random_state : int, RandomState or None, default=None

    Returns
    -------
    altair.LayerChart

    Examples
    --------
    >>> from committee import pictures
    >>> chart = pictures.coin_tosses(1000, n_series=3, random_state=0)
    """
    check_n_draws(n_tosses, "n_tosses")
    check_n_draws(n_series, "n_series", least=1)
    if not is_number(p) or not 0 <= p <= 1:
        raise ValueError(f"p must be a number from 0 to 1. Got {p!r}.")
    rng = np.random.default_rng([seed_of(random_state)])
    heads = rng.random((n_series, n_tosses)) < p
    shares = heads.cumsum(axis=1) / np.arange(1, n_tosses + 1)
    at = np.unique(np.linspace(1, n_tosses, MOST_POINTS).round().astype(int))
    values = [
        {"x": int(n), "y": float(line[n - 1]), "series": f"series {place + 1}"}
        for place, line in enumerate(shares)
        for n in at
    ]
    alt = altair()
    x = axis("x", "number of tosses", (0, n_tosses), ",d")
    y = axis("y", "share of heads", (max(0.0, p - 0.09), min(1.0, p + 0.09)), ".0%")
    lines = alt.Chart(alt.Data(values=values)).mark_line(
        strokeWidth=1.3, opacity=0.75, clip=True, color=colour_of(0)
    )
    drawn = lines.encode(alt.X(**x), alt.Y(**y), alt.Detail("series:N")).properties(
        width=WIDTH, height=HEIGHT
    )
    above = int((shares[:, -1] > 0.5).sum())
    levels = [level(p, f"heads, {p:.0%}", colour=ACCENT)] if p != 0.5 else []
    return styled(
        alt.layer(drawn, level(0.5, "one half"), *levels),
        "The share of heads approaches the probability of heads",
        f"After {n_tosses:,} tosses, {above} of {n_series} series are above one half",
    )


def majority_accuracy(
    p: float = 0.6,
    n_members: int = 51,
    *,
    correlations: Sequence[float] = (0.0, 0.1, 0.3),
    ties: str = "half",
) -> Chart:
    """Draw the accuracy of a majority vote against the number of members, with and without correlation.

    Parameters
    ----------
    p : float from 0 to 1, default=0.6
        The accuracy of each member.
    n_members : int, default=51
        The largest number of members. Odd numbers are drawn, which have no ties.
    correlations : sequence of float from 0 to 1, default=(0.0, 0.1, 0.3)
        A curve is drawn for each correlation between two members being right.
    ties : {"half", "won", "lost"}, default="half"
        How a tie counts for the value in the subtitle, if `n_members` is even.

    Returns
    -------
    altair.LayerChart

    Examples
    --------
    >>> from committee import pictures
    >>> chart = pictures.majority_accuracy(0.6, 51)
    """
    check_n_draws(n_members, "n_members")
    odd = np.arange(1, n_members + 1, 2)
    sizes = odd[:: max(1, len(odd) // MOST_POINTS)]
    names = [f"{each:g}" for each in correlations]
    values = [
        {"x": int(n), "y": majority_vote_accuracy(int(n), p, correlation=each), "series": name}
        for name, each in zip(names, correlations, strict=True)
        for n in sizes
    ]
    final = majority_vote_accuracy(n_members, p, correlation=correlations[0], ties=ties)
    x = axis("x", "number of members", (0, n_members), ",d")
    lines = curves(values, names, x, axis("y", "accuracy of the majority", form=".0%"), legend="correlation")
    about = "independent" if correlations[0] == 0 else f"with a correlation of {correlations[0]:g}"
    return styled(
        altair().layer(lines, level(p, "one member")),
        "A majority of independent members is better than its members"
        if p > 0.5
        else "A majority of members",
        f"{n_members:,} members of accuracy {p:g}, {about}: {final:.4f}. Correlation reduces the gain",
    )


@with_parameters(CLASS_VOTES)
def vote_table(
    votes: ArrayLike,
    y: ArrayLike,
    *,
    names: Sequence[str] | None = None,
    classes: Given = None,
    max_rows: int = 12,
) -> Chart:
    """Draw the labels of all members as a table, with the truth above and the majority below.

    Parameters
    ----------
    names : sequence of str, default=None
        The names of the members. None numbers them.
    max_rows : int, default=12
        The number of rows of the data to draw. Each is a column of the table.

    Returns
    -------
    altair.LayerChart

    Examples
    --------
    Five weather forecasts for seven days, each wrong on two days:

    >>> from committee import pictures
    >>> truth = ["sun", "sun", "rain", "sun", "rain", "rain", "sun"]
    >>> forecasts = [[*truth] for _ in range(5)]
    >>> for member, days in enumerate([(0, 3), (1, 4), (2, 5), (3, 6), (0, 5)]):
    ...     for day in days:
    ...         forecasts[member][day] = "rain" if truth[day] == "sun" else "sun"
    >>> chart = pictures.vote_table(forecasts, truth)
    """
    honest = read_class_votes(votes, y, classes=classes)
    known = honest.classes if honest.classes is not None else np.arange(honest.n_outputs)
    labels, truth = labels_of(honest.votes), honest.y
    decided = labels_of(majority(honest.votes)[None])[0]
    n_shown = min(max_rows, honest.n_rows)
    names = [f"member {place + 1}" for place in range(honest.n_members)] if names is None else list(names)
    lines = [("truth", truth), *zip(names, labels, strict=True), ("majority", decided)]
    left = max(width_of(name) for name, _ in lines) + 20
    width = max(40.0, 16 + max(width_of(str(each)) for each in known))
    canvas = Canvas(left + width * n_shown + 70, ROW * (len(lines) + 1) + 12)
    for row in range(n_shown):
        middle = left + width * (row + 0.5)
        canvas.word(middle, ROW / 2, str(row + 1), align="center", size=12, colour=GREY)
    for place, (name, line) in enumerate(lines):
        is_member = 0 < place < len(lines) - 1
        # The truth and the majority are apart from the members.
        top = ROW * (place + 1) + (0 if place == 0 else 6 if is_member else 12)
        canvas.word(left - 10, top + ROW / 2, name, align="right", is_bold=not is_member)
        for row in range(n_shown):
            is_right = line[row] == truth[row]
            text, colour = str(known[line[row]]), "#eef0f2" if place == 0 else RIGHT if is_right else WRONG
            about = f"{name}, row {row + 1}: {text}" + ("" if is_right else ", wrong")
            at = left + width * row, top, width, ROW
            canvas.cell(*at, text if is_right else f"{text} ×", colour=colour, ink=INK, about=about)
        if place:
            share = f"{np.average(line == truth, weights=honest.weights):.0%}"
            x = left + width * n_shown + 8
            canvas.word(x, top + ROW / 2, share, colour=INK if is_member else ACCENT, is_bold=not is_member)
    accuracies = np.average(labels == truth, axis=1, weights=honest.weights)
    whole = np.average(decided == truth, weights=honest.weights)
    rows = "" if n_shown == honest.n_rows else f" The first {n_shown} of {honest.n_rows} rows."
    return canvas.chart(
        f"The majority is right on {whole:.0%} of the rows, its members on {accuracies.mean():.0%}",
        f"Wrong labels are marked by a cross.{rows}",
    )
