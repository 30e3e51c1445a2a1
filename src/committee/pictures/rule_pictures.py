"""Draw rules: greedy selection, stacking, CAWPE's weights, and how much members agree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from committee.charts.canvas import Canvas, width_of
from committee.charts.plots import HEIGHT, WIDTH, axis, curves
from committee.charts.style import ACCENT, FONT, GREY, INK, SECOND, Chart, altair, colour_of, mixed, styled
from committee.combining.selection.greedy_selection import GreedyRule
from committee.combining.weighted_rules import CAWPERule
from committee.documentation import with_parameters
from committee.evaluating.vote_scores import CLASS_VOTES, Given, read_class_votes
from committee.metrics.metric_table import shown
from committee.metrics.scoring import learnt_by
from committee.parameters import refusing_unknown_names
from committee.table.input_types import ArrayLike
from committee.task import to_numbers
from committee.votes.vote_arrays import labels_of

# Rows and cells of tables and flows, in pixels.
ROW, CELL = 30.0, 64.0
NAMES = {
    "names": "names : sequence of str, default=None\n    The names of the members. None numbers them.",
    **CLASS_VOTES,
}


@refusing_unknown_names
@with_parameters(NAMES)
def greedy_path(
    votes: ArrayLike,
    y: ArrayLike,
    *,
    names: Sequence[str] | None = None,
    classes: Given = None,
    scoring: str | None = None,
    n_steps: int = 50,
) -> Chart:
    """Draw the path of greedy selection: the member that each step adds, and the loss of the mean vote.

    Parameters
    ----------
    scoring : str, default=None
        The score to maximise; see `GreedyRule`.
    n_steps : int, default=50
        The maximum number of members to add.

    Returns
    -------
    altair.LayerChart

    Examples
    --------
    >>> from committee import pictures
    >>> votes = [[[0.8, 0.2], [0.4, 0.6], [0.1, 0.9]], [[0.9, 0.1], [0.9, 0.1], [0.6, 0.4]]]
    >>> chart = pictures.greedy_path(votes, [0, 0, 1], names=["tree", "bayes"])
    """
    honest = read_class_votes(votes, y, classes=classes)
    rule = GreedyRule(scoring=scoring, n_steps=n_steps).fit(honest.votes, honest.y)
    metric = learnt_by(scoring, honest.n_outputs)
    names, chosen = named(names, honest.n_members), rule.chosen_[0]
    values = []
    for step, member in enumerate(chosen, start=1):
        decision = honest.votes[chosen[:step]].mean(axis=0)
        loss = -float(metric.prepare(honest.y, decision)(honest.weights))
        values.append({"x": step, "y": loss, "series": names[member], "text": f"+ {names[member]}"})
    alt = altair()
    plain = shown(metric.name, 0.0)[0]
    x = alt.X(**axis("x", "number of members in the mean", (0.5, len(chosen) + 0.5), "d"))
    y_axis = alt.Y(**axis("y", f"{plain} of the mean vote"))
    data = alt.Chart(alt.Data(values=values))
    line = data.mark_line(color=GREY, strokeWidth=1.6).encode(x, y_axis)
    dots = data.mark_circle(size=90, opacity=1, color=SECOND).encode(x, y_axis)
    word = data.mark_text(align="left", angle=320, dx=8, dy=-6, fontSize=12, color=INK, font=FONT)
    chart = alt.layer(line, dots, word.encode(x, y_axis, text="text:N")).properties(
        width=WIDTH, height=HEIGHT
    )
    weights = [
        f"{name} {weight:.2f}" for name, weight in zip(names, rule.weights_, strict=True) if weight > 0
    ]
    return styled(
        chart,
        "Greedy selection adds the member that lowers the loss of the mean most",
        f"Weights: {', '.join(weights)}",
    )


@with_parameters(NAMES)
def stacking_table(
    votes: ArrayLike,
    y: ArrayLike,
    *,
    names: Sequence[str] | None = None,
    classes: Given = None,
    max_rows: int = 8,
) -> Chart:
    """Draw the table on which stacking fits its second-level model: the honest votes of all members, and y.

    Parameters
    ----------
    max_rows : int, default=8
        The number of rows to draw.

    Returns
    -------
    altair.LayerChart

    Examples
    --------
    >>> from committee import pictures
    >>> votes = [[[0.166, 0.834], [0.802, 0.198]], [[0.022, 0.978], [0.995, 0.005]]]
    >>> chart = pictures.stacking_table(votes, [0, 0], names=["forest", "network"])
    """
    honest = read_class_votes(votes, y, classes=classes)
    known = honest.classes if honest.classes is not None else np.arange(honest.n_outputs)
    names, n_rows = named(names, honest.n_members), min(max_rows, honest.n_rows)
    wide = max(CELL, *(width_of(name) + 14 for name in names)) if honest.n_outputs == 1 else CELL
    block = max(wide * honest.n_outputs, max(width_of(name) for name in names) + 12)
    wide = block / honest.n_outputs
    left, gap = 62.0, 10.0
    canvas = Canvas(left + (block + gap) * honest.n_members + CELL, ROW * (n_rows + 2))
    end = left + (block + gap) * honest.n_members
    canvas.word(end + CELL / 2, ROW / 2, "y", align="center", is_bold=True)
    for member, name in enumerate(names):
        x = left + (block + gap) * member
        colour = colour_of(member)
        canvas.word(x + block / 2, ROW / 2, name, align="center", is_bold=True, colour=colour)
        for code, label in enumerate(known):
            middle = x + wide * (code + 0.5)
            canvas.word(middle, ROW * 1.5, f"p({label})", align="center", size=12, colour=GREY)
        for row in range(n_rows):
            for code in range(honest.n_outputs):
                vote = float(honest.votes[member, row, code])
                about = f"{name}, row {row + 1}: probability {vote:.4f} of class {known[code]}"
                at = x + wide * code, ROW * (row + 2), wide, ROW
                canvas.cell(*at, f"{vote:.3f}", colour=mixed(colour, 0.06 + 0.44 * vote), about=about)
    for row in range(n_rows):
        canvas.word(left - 10, ROW * (row + 2.5), f"row {row + 1}", align="right", size=12)
        canvas.cell(end, ROW * (row + 2), CELL, ROW, str(known[honest.y[row]]), is_bold=True)
    rows = "" if n_rows == honest.n_rows else f". The first {n_rows} of {honest.n_rows} rows"
    return canvas.chart(
        "The votes of the members are the columns of a new table, and y is its target",
        f"Out-of-fold probabilities of {honest.n_members} members{rows}",
    )


def committee_flow(model: Any, *, title: str = "") -> Chart:
    """Draw the flow of a committee: rows, members, their votes, the rule or second model, and the decision.

    Parameters
    ----------
    model : committee
        With named members, fitted or not, such as VotingClassifier or StackingClassifier.
    title : str, default=""
        Empty describes the flow.

    Returns
    -------
    altair.LayerChart

    Examples
    --------
    >>> from committee import C45Classifier, NetworkClassifier, StackingClassifier, pictures
    >>> model = StackingClassifier([("c45", C45Classifier()), ("network", NetworkClassifier())])
    >>> chart = pictures.committee_flow(model)
    """
    members = getattr(model, "estimators", None)
    if not isinstance(members, list) or not members:
        raise ValueError(f"The picture needs a committee with named members. Got {type(model).__name__}.")
    is_stacking = hasattr(model, "final_estimator")
    decider = (model.final_estimator or "second model") if is_stacking else getattr(model, "rule", "rule")
    last = decider if isinstance(decider, str) else getattr(decider, "__name__", type(decider).__name__)
    vote, fourth = ("out of fold", "second level") if is_stacking else ("vote", "rule")
    names = [name for name, _ in members]
    inner = max(120.0, *(width_of(name) + 30 for name in names))
    last_width = max(110.0, width_of(last) + 24)
    step, height = 48.0, 34.0
    whole = max(step * len(names), 110.0)
    columns = [0.0, 130.0, 130.0 + inner + 46, 130.0 + inner + 46 + 96 + 46]
    end = columns[3] + last_width + 46
    canvas = Canvas(end + 92, whole + 34)
    middle = whole / 2 + 30
    heads = ("rows", "members", "votes", fourth, "decision")
    centers = (42.0, columns[1] + inner / 2, columns[2] + 48, columns[3] + last_width / 2, end + 46)
    for head, at in zip(heads, centers, strict=True):
        canvas.word(at, 8, head, align="center", size=12, colour=GREY)
    canvas.cell(0, middle - 26, 84, 52, "X, folds" if is_stacking else "X", colour=mixed(GREY, 0.25))
    for place, name in enumerate(names):
        y = 30 + (whole - step * len(names)) / 2 + step * (place + 0.5)
        colour = mixed(colour_of(place), 0.3)
        canvas.arrow(84, middle, columns[1], y)
        canvas.cell(columns[1], y - height / 2, inner, height, name, colour=colour, is_bold=True)
        canvas.arrow(columns[1] + inner, y, columns[2], y)
        canvas.cell(columns[2], y - height / 2, 96, height, vote, colour=colour, size=11.5)
        canvas.arrow(columns[2] + 96, y, columns[3], middle)
    canvas.cell(columns[3], middle - 26, last_width, 52, last, colour=mixed(ACCENT, 0.3), is_bold=True)
    canvas.arrow(columns[3] + last_width, middle, end, middle)
    kind = "class" if is_classifier(model) else "number"
    canvas.cell(end, middle - 26, 92, 52, kind, colour=mixed(GREY, 0.25))
    if is_stacking:
        usual = "Stacking fits a second model to the votes of the first ones"
        return canvas.chart(title or usual, "The votes are those of models that were not fitted on the row")
    return canvas.chart(title or "Every member votes, and the rule decides")


def cawpe_weights(
    accuracies: ArrayLike, *, names: Sequence[str] | None = None, max_alpha: float = 10.0
) -> Chart:
    """Draw the weights of CAWPE's members against the exponent alpha.

    Parameters
    ----------
    accuracies : array-like of shape (n_members,)
        The cross-validated accuracies of the members.
    names : sequence of str, default=None
        The names of the members. None uses their accuracies.
    max_alpha : float, default=10.0

    Returns
    -------
    altair.LayerChart

    Examples
    --------
    >>> from committee import pictures
    >>> chart = pictures.cawpe_weights([0.8, 0.5, 0.75, 0.6, 0.9], names=list("ABCDE"))
    """
    numbers = to_numbers(accuracies, "accuracies")
    if numbers.ndim != 1 or not len(numbers) or not ((numbers > 0) & (numbers <= 1)).all():
        raise ValueError(f"accuracies must be numbers above 0 and at most 1. Got {accuracies!r}.")
    names = [f"{number:g}" for number in numbers] if names is None else list(names)
    series = [
        f"{name} ({number:g})" if name != f"{number:g}" else name
        for name, number in zip(names, numbers, strict=True)
    ]
    at = np.linspace(0, max_alpha, 101)
    powers = numbers[:, None] ** at
    shares = powers / powers.sum(axis=0)
    values = [
        {"x": float(x), "y": float(share), "series": name}
        for name, line in zip(series, shares, strict=True)
        for x, share in zip(at, line, strict=True)
    ]
    drawn = curves(
        values,
        series,
        axis("x", "alpha", (0, max_alpha)),
        axis("y", "share of the weight", form=".0%"),
        legend="accuracy",
    )
    usual = float(CAWPERule().alpha)
    alt = altair()
    rule = (
        alt.Chart(alt.Data(values=[{"x": usual}]))
        .mark_rule(color=GREY, strokeDash=[5, 4])
        .encode(alt.X("x:Q"))
    )
    return styled(
        alt.layer(rule, drawn),
        "A larger alpha gives more weight to the better members",
        f"Weights are accuracies to the power of alpha. CAWPE uses {usual:g}; 0 is the mean",
    )


@with_parameters(NAMES)
def agreement(
    votes: ArrayLike, y: ArrayLike, *, names: Sequence[str] | None = None, classes: Given = None
) -> Chart:
    """Draw the share of rows on which each pair of members gives the same label.

    Returns
    -------
    altair.LayerChart

    Examples
    --------
    >>> from committee import pictures
    >>> chart = pictures.agreement([[1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 1, 0]], [1, 1, 1, 0])
    """
    honest = read_class_votes(votes, y, classes=classes)
    labels, names = labels_of(honest.votes), named(names, honest.n_members)
    shares = np.array(
        [[np.average(first == second, weights=honest.weights) for second in labels] for first in labels]
    )
    pairs = shares[~np.eye(len(shares), dtype=bool)]
    low = float(pairs.min()) if len(pairs) else 1.0
    left, wide = max(map(width_of, names)) + 16, max(52.0, max(width_of(name, 12) for name in names) + 10)
    canvas = Canvas(left + wide * len(names), 28 + ROW * len(names))
    for row, name in enumerate(names):
        canvas.word(left - 10, 28 + ROW * (row + 0.5), name, align="right")
        canvas.word(left + wide * (row + 0.5), 12, name, align="center", size=12)
        for column, other in enumerate(names):
            share = float(shares[row, column])
            strength = 0.08 + 0.82 * (share - low) / (1 - low) if low < 1 else 0.9
            is_same = row == column
            colour = "#eef0f2" if is_same else mixed(SECOND, strength)
            ink = "white" if strength > 0.55 and not is_same else INK
            at = left + wide * column, 28 + ROW * row, wide, ROW
            about = f"{name} and {other} agree on {share:.1%} of the rows"
            canvas.cell(*at, "" if is_same else f"{share:.2f}", colour=colour, ink=ink, about=about)
    mean = f"{pairs.mean():.2f}" if len(pairs) else "1.00"
    return canvas.chart(
        "Members that rarely agree (light cells) complement one another",
        f"Share of {honest.n_rows} rows with the same label; mean over pairs {mean}",
    )


def named(names: Sequence[str] | None, n_members: int) -> list[str]:
    """Return the given names, or numbers."""
    if names is None:
        return [f"member {place + 1}" for place in range(n_members)]
    if len(names) != n_members:
        raise ValueError(f"names must have one name for each of {n_members} members. Got {len(names)}.")
    return list(names)
