"""Draw the experiments of `committee.evaluating`: bagged trees, committees of polynomials, no free lunch.

The classes of these results have the same pictures as methods, `plot()`.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from committee.charts.plots import HEIGHT, WIDTH, axis, by_series, curves, level, panels, small_title
from committee.charts.style import ACCENT, GREY, SECOND, Chart, altair, styled
from committee.evaluating.experiments.bagged_trees import BaggingErrors
from committee.evaluating.experiments.no_free_lunch import NoFreeLunch
from committee.evaluating.experiments.polynomial_committee import PolynomialCommittee

# More members would hide each other.
MOST_CURVES = 20


def bagged_trees(found: BaggingErrors) -> Chart:
    """Draw the errors of bagged trees by their number: consensus, averaged probabilities, one tree, Bayes.

    Parameters
    ----------
    found : BaggingErrors
        The result of `bagging_errors`.

    Returns
    -------
    altair.LayerChart

    Examples
    --------
    >>> from committee import pictures
    >>> from committee.evaluating import bagging_errors
    >>> chart = pictures.bagged_trees(bagging_errors(n_estimators=30, random_state=0))
    """
    named = {"consensus": found.consensus, "probability": found.probability}
    records = [
        {"x": size, "y": float(error), "series": name}
        for name, errors in named.items()
        for size, error in enumerate(errors, start=1)
    ]
    x = axis("x", "number of trees", (1, max(2, len(found.consensus))), ",d")
    drawn = curves(records, list(named), x, axis("y", "test error", form=".0%"))
    lines = [level(found.original, "original tree"), level(found.bayes, "Bayes", colour=ACCENT)]
    title = "Bagging lowers the error of an unstable tree towards the smallest possible one"
    return styled(
        altair().layer(drawn, *lines), title, "Each tree votes for a class, or the probabilities are averaged"
    )


def polynomials(found: PolynomialCommittee) -> Chart:
    """Draw the polynomials of a committee next to their mean, which is the committee.

    Parameters
    ----------
    found : PolynomialCommittee
        The result of `polynomial_committee`.

    Returns
    -------
    altair.ConcatChart

    Examples
    --------
    >>> from committee import pictures
    >>> from committee.evaluating import polynomial_committee
    >>> chart = pictures.polynomials(polynomial_committee(random_state=0))
    """
    members = {f"member {place}": each for place, each in enumerate(found.members[:MOST_CURVES], start=1)}
    some = np.concatenate([found.target, found.mean])
    room = float(np.ptp(some)) or 1.0
    limits = float(some.min() - room / 3), float(some.max() + room / 3)
    errors, charts = found.errors, []
    for lines, colour, title, below in (
        (members, SECOND, "some members", f"mean error {errors.e_av:.4f}"),
        ({"committee": found.mean}, ACCENT, "committee", f"error {errors.e_com:.4f}"),
    ):
        layers = [
            altair()
            .Chart(altair().Data(values=points(found.x, values)))
            .mark_line(color=drawn, strokeWidth=thick, opacity=opacity, clip=True)
            .encode(
                altair().X(**axis("x", "x", (0.0, 1.0))),
                altair().Y(**axis("y", "", limits)),
            )
            for values, drawn, thick, opacity in (
                *(
                    (each, colour, 1.4 if len(lines) > 1 else 3.0, 0.5 if len(lines) > 1 else 1.0)
                    for each in lines.values()
                ),
                (found.target, GREY, 2.0, 1.0),
            )
        ]
        layer = altair().layer(*layers).properties(width=WIDTH // 2, height=HEIGHT // 5 * 4)
        charts.append(layer.properties(title=small_title(title, below)))
    title = "The variance of flexible members cancels out in their mean"
    return panels(
        charts, 2, title, f"Grey: the sine. Correlation of the members' errors: {errors.correlation:.2f}"
    )


def points(x: np.ndarray, y: Iterable[float]) -> list[dict[str, float]]:
    """Return the points of a curve as records."""
    return [{"x": float(place), "y": float(value)} for place, value in zip(x, y, strict=True)]


def free_lunch(found: NoFreeLunch) -> Chart:
    """Draw how many target functions give each error on unseen rows, for each learner.

    Parameters
    ----------
    found : NoFreeLunch
        The result of `no_free_lunch`.

    Returns
    -------
    altair.LayerChart

    Examples
    --------
    >>> from committee import DecisionTreeClassifier, pictures
    >>> from committee.evaluating import no_free_lunch
    >>> found = no_free_lunch({"tree": DecisionTreeClassifier()}, random_state=0)
    >>> chart = pictures.free_lunch(found)
    """
    alt = altair()
    records = []
    for name, errors in zip(found.learners, found.errors, strict=True):
        values, counts = np.unique(errors, return_counts=True)
        records += [
            {"error": f"{error:.0%}", "functions": int(count), "series": name}
            for error, count in zip(values.tolist(), counts.tolist(), strict=True)
        ]
    bars = (
        alt.Chart(alt.Data(values=records), width=WIDTH, height=HEIGHT)
        .mark_bar()
        .encode(
            alt.X("error:O", title="error on the unseen rows", sort=None, axis=alt.Axis(labelAngle=0)),
            alt.XOffset("series:N", sort=list(found.learners)),
            alt.Y("functions:Q", title="target functions"),
            by_series(found.learners),
        )
    )
    title = "Over all target functions, every learner is wrong about one half of the unseen rows"
    means = ", ".join(
        f"{name} {error:.3f}" for name, error in zip(found.learners, found.mean_errors, strict=True)
    )
    return styled(alt.layer(bars), title, f"Mean errors: {means}")
