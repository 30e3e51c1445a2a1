"""Draw decisions on the plane of two columns: of members, of committees, round by round, and by region."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, is_classifier

from committee.boosting.adaboost.estimators import AdaBoostClassifier
from committee.charts.plots import WIDTH, axis, by_series, curves, panels, small_title
from committee.charts.style import Chart, altair, colour_of, mixed, styled
from committee.learners.decision_trees import DecisionStumpClassifier
from committee.pictures.plane import STRENGTH, Plane, member_labels, member_names
from committee.table.input_types import ArrayLike, RandomState, TableLike

# The shades of a gate: the shares of an expert from which on each is used.
SHADES = (0.0, 0.4, 0.55, 0.7, 0.85)


def decision_boundaries(model: Any, X: TableLike, y: ArrayLike, *, n_members: int = 5) -> Chart:
    """Draw the decisions of the first members and of the whole ensemble on the plane of two columns.

    Parameters
    ----------
    model : classifier
        A fitted ensemble of this package.
    X : table of shape (n_rows, 2)
        Two columns of numbers, on which the model was fitted.
    y : array-like of shape (n_rows,)
        The classes, which are shown by the colours and shapes of points.
    n_members : int, default=5
        The number of members to draw.

    Returns
    -------
    altair.ConcatChart

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from committee import BaggingClassifier, DecisionTreeClassifier, pictures
    >>> X, y = make_moons(100, noise=0.3, random_state=0)
    >>> bagging = BaggingClassifier(DecisionTreeClassifier(), n_estimators=50, random_state=0).fit(X, y)
    >>> chart = pictures.decision_boundaries(bagging, X, y)
    """
    plane = Plane.of(X, y)
    labels, at_rows = member_labels(model, plane.grid, plane), member_labels(model, X, plane)
    names = member_names(model, len(labels))
    drawn = [
        (name, codes, rows)
        for name, codes, rows in list(zip(names, labels, at_rows, strict=True))[:n_members]
    ]
    whole = plane.codes_of(model.predict(plane.grid)), plane.codes_of(model.predict(X))
    title = f"committee of {len(labels)}"
    charts = []
    for name, codes, rows in [*drawn, (title, *whole)]:
        error = f"training error {np.mean(rows != plane.codes):.1%}"
        layers = [plane.field(codes), plane.rows()]
        charts.append(plane.panel(layers, small_title(name, error)))
    return panels(
        charts,
        3,
        "The boundaries of the members differ, and the committee combines them",
        f"{plane.names[0]} to the right, {plane.names[1]} upwards. Colours are decisions, points are rows",
    )


def adaboost_rounds(
    X: TableLike,
    y: ArrayLike,
    *,
    estimator: BaseEstimator | None = None,
    learning_rates: Sequence[float] = (1.0, 0.5),
    n_rounds: int = 5,
    random_state: RandomState = None,
) -> Chart:
    """Draw AdaBoost round by round: weights, members, their errors and votes, and the committee so far.

    Parameters
    ----------
    X : table of shape (n_rows, 2)
        Two columns of numbers.
    y : array-like of shape (n_rows,)
    estimator : estimator, default=None
        The unfitted member. None is a decision stump.
    learning_rates : sequence of float, default=(1.0, 0.5)
        AdaBoost is drawn for each of them, in two rows.
    n_rounds : int, default=5
    random_state : int, RandomState or None, default=None

    Returns
    -------
    altair.ConcatChart

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from committee import pictures
    >>> X, y = make_moons(80, noise=0.25, random_state=0)
    >>> chart = pictures.adaboost_rounds(X, y, n_rounds=3, random_state=0)
    """
    plane, charts = Plane.of(X, y), []
    for rate in learning_rates:
        booster = AdaBoostClassifier(
            DecisionStumpClassifier() if estimator is None else estimator,
            n_estimators=n_rounds,
            learning_rate=rate,
            store_weights=True,
            random_state=random_state,
        ).fit(X, y)
        members, at_rows = member_labels(booster, plane.grid, plane), member_labels(booster, X, plane)
        so_far = [plane.codes_of(each) for each in booster.staged_predict(plane.grid)]
        so_far_at_rows = [plane.codes_of(each) for each in booster.staged_predict(X)]
        upper, lower = [], []
        for place, (codes, rows) in enumerate(zip(members, at_rows, strict=True)):
            error, alpha = booster.estimator_errors_[place], booster.estimator_weights_[place]
            title = small_title(f"rate {rate:g}, round {place + 1}", f"error {error:.2f}, α {alpha:.2f}")
            points = plane.rows(weights=booster.row_weights_[place], is_wrong=rows != plane.codes)
            upper.append(plane.panel([plane.field(codes), points], title, 150, 130))
            wrong = so_far_at_rows[place] != plane.codes
            below = small_title(f"committee of {place + 1}", f"error {wrong.mean():.2f}")
            layers = [plane.field(so_far[place]), plane.rows(is_wrong=wrong)]
            lower.append(plane.panel(layers, below, 150, 130))
        empty = [altair().Chart(altair().Data(values=[])).mark_point()] * (n_rounds - len(upper))
        charts += [*upper, *empty, *lower, *empty]
    return panels(
        charts,
        n_rounds,
        "Each member of AdaBoost turns to the rows that the previous ones got wrong",
        "The area of a point is its weight, and a cross is an error. α is the weight of the member's vote",
    )


def selection_regions(model: Any, X: TableLike, y: ArrayLike) -> Chart:
    """Draw the regions of classifier selection, with the member that decides in each.

    Parameters
    ----------
    model : RegionSelectionClassifier or RegionSelectionRegressor
        Fitted on two columns.
    X : table of shape (n_rows, 2)
    y : array-like of shape (n_rows,)
        The classes, which are the colours and shapes of points. Numbers are not shown.

    Returns
    -------
    altair.LayerChart

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sklearn.linear_model import LogisticRegression
    >>> from committee import DecisionTreeClassifier, RegionSelectionClassifier, pictures
    >>> X, y = make_moons(200, noise=0.3, random_state=0)
    >>> members = [("linear", LogisticRegression()), ("tree", DecisionTreeClassifier(max_depth=3))]
    >>> model = RegionSelectionClassifier(members, n_regions=5, random_state=0).fit(X, y)
    >>> chart = pictures.selection_regions(model, X, y)
    """
    rule: Any = getattr(model, "rule_", None)
    if not hasattr(rule, "members_") or not hasattr(rule, "region"):
        raise ValueError(f"The picture needs a fitted RegionSelectionClassifier. Got {type(model).__name__}.")
    plane = Plane.of(X, y if is_classifier(model) else None)
    regions = rule.region(np.asarray(plane.grid))
    names = member_names(model, len(model.estimators_))
    # Words in the regions name their members, and shades distinguish neighbouring regions.
    n_regions = len(rule.members_)
    colours = {
        region: mixed(colour_of(int(member)), (0.28, 0.38, 0.48)[region % 3])
        for region, member in enumerate(rule.members_)
    }
    across, up = np.asarray(plane.grid).T
    words = [
        {"x": float(across[is_in].mean()), "y": float(up[is_in].mean()), "region": region}
        | {"text": names[rule.members_[region]]}
        for region in range(n_regions)
        if (is_in := regions == region).any()
    ]
    alt = altair()
    place = {"x": "x:Q", "y": "y:Q", "text": "text:N"}
    font = {"fontSize": 14, "fontWeight": "bold"}
    data = alt.Chart(alt.Data(values=words))
    halo = data.mark_text(**font, stroke="white", strokeWidth=4, strokeJoin="round").encode(**place)
    layers = [
        plane.field(regions, colours),
        plane.rows(is_bare=False),
        halo,
        data.mark_text(**font).encode(**place),
    ]
    return styled(
        plane.panel(layers, "", WIDTH, 380),
        "In each region, the member that is best there decides",
        f"{n_regions} regions. Colours are members, points are rows",
    )


def gate(model: Any, X: TableLike, y: ArrayLike) -> Chart:
    """Draw the gate of a mixture of experts: which expert decides where.

    With one column, a curve for each expert shows its share. With two columns, the colour of the plane is the
    expert with the largest share, and darker colours are larger shares.

    Parameters
    ----------
    model : MixtureOfExpertsClassifier or MixtureOfExpertsRegressor
        Fitted on one or two columns of numbers.
    X : table of shape (n_rows, 1) or (n_rows, 2)
    y : array-like of shape (n_rows,)

    Returns
    -------
    altair.LayerChart

    Examples
    --------
    >>> import numpy as np
    >>> from committee import MixtureOfExpertsRegressor, pictures
    >>> X = np.linspace(-1, 1, 100)[:, None]
    >>> model = MixtureOfExpertsRegressor(n_experts=2, random_state=0).fit(X, abs(X[:, 0]))
    >>> chart = pictures.gate(model, X, abs(X[:, 0]))
    """
    if not hasattr(model, "gate"):
        raise ValueError(f"The picture needs a fitted mixture of experts. Got {type(model).__name__}.")
    names = member_names(model, len(model.estimators_))
    names = [name.replace("member", "expert") for name in names]
    if model.n_features_in_ == 1:
        return gate_of_one_column(model, np.asarray(X, dtype=np.float64), names)
    plane = Plane.of(X, y if is_classifier(model) else None)
    shares = np.asarray(model.gate(plane.grid))
    shade = np.searchsorted(SHADES, shares.max(axis=1), side="right") - 1
    codes = shares.argmax(axis=1) * len(SHADES) + shade
    strengths = STRENGTH * np.linspace(0.4, 1.9, len(SHADES))
    colours = {
        expert * len(SHADES) + place: mixed(colour_of(expert), strength)
        for expert in range(len(names))
        for place, strength in enumerate(strengths)
    }
    alt = altair()
    legend = alt.Chart(alt.Data(values=[{"series": name} for name in names])).mark_square(opacity=0)
    legend = legend.encode(by_series(names))
    layers = [plane.field(codes, colours), plane.rows(is_bare=False, in_ink=True), legend]
    chart = plane.panel(layers, "", WIDTH, 380).resolve_scale(color="independent", shape="independent")
    return styled(chart, "The gate gives each expert its own part of the plane", GATE_BELOW)


GATE_BELOW = (
    "The colour is the expert with the largest share, darker if the share is larger. Shapes are classes"
)


def gate_of_one_column(model: Any, X: np.ndarray, names: list[str]) -> Chart:
    """Draw the shares of the experts as curves."""
    at = np.linspace(X.min(), X.max(), 200)
    shares = np.asarray(model.gate(at[:, None]))
    values = [
        {"x": float(x), "y": float(share), "series": name}
        for name, line in zip(names, shares.T, strict=True)
        for x, share in zip(at, line, strict=True)
    ]
    drawn = curves(values, names, axis("x", "column 0"), axis("y", "share of the expert", (0.0, 1.0), ".0%"))
    return styled(drawn, "The gate gives each expert its own range", "The shares of the experts sum to 100 %")
