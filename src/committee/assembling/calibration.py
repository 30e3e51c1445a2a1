"""Calibrate scores: turn the scores of members without probabilities into votes.

In: out-of-fold scores of shape (n_rows, n_classes), minus infinity for a class that the model does not know,
and the class of each row. Out: a `Calibration`, which turns the scores of new rows into votes, and `Curves`,
which do the same for the training rows of the calibration. The curve for such a row is fitted on other rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import expit, logit, softmax
from sklearn.isotonic import IsotonicRegression

from committee.combining.fixed_rules import one_hot
from committee.saving.predictors.score_votes import Calibration
from committee.task import scaled
from committee.votes.folds import N_FOLDS, numbered_folds
from committee.votes.honest_votes import HonestVotes

# The method for the default members of a committee.
CALIBRATION = "sigmoid"
# The training rows of a calibration are divided into at most this many parts, and each part gets a curve that
# is fitted on the others. The parts are the folds of the members or, if there is only one, N_FOLDS new ones.
MOST_PARTS = 10
# Temperatures are searched between the exponentials of these bounds.
LOWEST, HIGHEST = -7.0, 7.0
# Limits of Newton's method, which usually needs a few of each.
MOST_STEPS, MOST_HALVINGS = 100, 30


def calibration_of(method: str, scores: np.ndarray, y: np.ndarray, weights: np.ndarray | None) -> Calibration:
    """Fit a calibration on honest scores.

    Examples
    --------
    >>> scores = np.array([[2.0, -2.0], [1.0, -1.0], [-1.0, 1.0], [-2.0, 2.0]])
    >>> calibration_of("isotonic", scores, np.array([0, 0, 1, 1]), None).votes(scores[:1])
    array([[1., 0.]])
    """
    scores = scores.astype(np.float64)
    if method == "temperature":
        return Calibration(method, [np.array([[best_temperature(scores, y, weights)], [0.0]])])
    classes = range(scores.shape[1])
    return Calibration(method, [curve_of(method, scores[:, code], y == code, weights) for code in classes])


@dataclass(frozen=True, eq=False)
class Curves:
    """Honest calibrations of the rows that a member is calibrated on.

    Parameters
    ----------
    whole : Calibration
        The calibration for new rows, fitted on all of these rows.
    rows : ndarray of int of shape (n_rows,)
        The positions of the rows in the table, sorted.
    parts : ndarray of int of shape (n_rows,)
        The part of each row. Rows that were held out together are in the same part.
    by_part : list of Calibration
        The calibration of each part, fitted on all other parts. Empty if there is only one part. The votes on
        these rows are crisp then.
    """

    whole: Calibration
    rows: np.ndarray
    parts: np.ndarray
    by_part: list[Calibration]

    @classmethod
    def of(cls, method: str, honest: HonestVotes, place: int, held_out: Iterable[np.ndarray]) -> Curves:
        """Fit calibrations on the honest scores of a member.

        Parameters
        ----------
        method : {"isotonic", "sigmoid", "temperature"}
        honest : HonestVotes
        place : int
            The position of the member in the honest votes.
        held_out : iterable of ndarray of int
            For each fold, the rows of the table that it held out.

        Returns
        -------
        Curves

        Examples
        --------
        With two folds, the scores of each go through the curve of the other:

        >>> scores = np.array([[2.0, -2.0], [1.0, -1.0], [-1.0, 1.0], [-2.0, 2.0]])
        >>> honest = HonestVotes(scores[None], np.array([0, 0, 1, 1]), np.ones(4), np.arange(4))
        >>> curves = Curves.of("isotonic", honest, 0, [np.array([0, 2]), np.array([1, 3])])
        >>> curves.honest_votes(scores, np.arange(4)).round(2)
        array([[1.  , 0.  ],
               [0.67, 0.33],
               [0.33, 0.67],
               [0.  , 1.  ]])
        """
        scores, y = honest.votes[place], honest.y
        weights = scaled(honest.weights)
        parts = parts_of(held_out, honest)
        by_part = []
        for part in range(parts.max() + 1) if parts.any() else ():
            others = parts != part
            by_part.append(calibration_of(method, scores[others], y[others], weights[others]))
        return cls(calibration_of(method, scores, y, weights), honest.rows, parts, by_part)

    def honest_votes(self, scores: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Return votes on some of the rows, each by the calibration that was fitted on other parts."""
        if not self.by_part:
            return one_hot(scores.argmax(axis=1), scores.shape[1])
        parts = self.parts[np.searchsorted(self.rows, rows)]
        votes = np.empty(scores.shape)
        for part, calibration in enumerate(self.by_part):
            is_in = parts == part
            votes[is_in] = calibration.votes(scores[is_in].astype(np.float64))
        return votes


def parts_of(held_out: Iterable[np.ndarray], honest: HonestVotes) -> np.ndarray:
    """Return the part of each row: the number of the first fold that holds it out, modulo `MOST_PARTS`.

    Examples
    --------
    >>> honest = HonestVotes.of(np.zeros((1, 4, 2)), [0, 0, 1, 1])
    >>> parts_of([np.array([0, 3]), np.array([1, 2])], honest), parts_of([np.arange(4)], honest)
    (array([0, 1, 1, 0]), array([0, 1, 0, 1]))
    """
    rows, y, weights, groups = honest.rows, honest.y, honest.weights, honest.groups
    first: np.ndarray = np.full(rows.max() + 1, -1)
    for number, fold in reversed(list(enumerate(held_out))):
        first[fold[fold < len(first)]] = number
    parts: np.ndarray = np.unique(first[rows], return_inverse=True)[1]
    if parts.any():
        return parts % MOST_PARTS
    for number, (_, fold) in enumerate(numbered_folds(N_FOLDS, y, groups, weights, is_class_task=True)):
        parts[fold] = number
    return parts


def curve_of(method: str, scores: np.ndarray, is_class: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """Fit the curve of one class to the rows whose model knows the class.

    If no model knows it, the curve is flat at the frequency of the class, since a model that is fitted on all
    rows may know it.

    Examples
    --------
    >>> curve_of("isotonic", np.full(3, -np.inf), np.array([True, False, False]), None)
    array([[0. ],
           [0.4]])
    """
    is_known = scores > -np.inf
    weights = np.ones(len(scores)) if weights is None else weights
    if not is_known.any():
        share = (weights[is_class].sum() + 1) / (weights.sum() + 2)
        return np.array([[0.0], [share if method == "isotonic" else logit(share)]])
    curve = rising_curve if method == "isotonic" else logistic_curve
    return curve(scores[is_known], is_class[is_known], weights[is_known])


def rising_curve(scores: np.ndarray, is_class: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the knots of an isotonic regression on the scores (Zadrozny and Elkan 2002)."""
    curve = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
    curve.fit(scores, is_class.astype(np.float64), sample_weight=weights)
    return np.array([curve.X_thresholds_, curve.y_thresholds_])


def logistic_curve(scores: np.ndarray, is_class: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Fit the slope and intercept of a logistic curve by Newton's method (Platt 1999).

    The targets are slightly inside of 0 and 1. A falling curve is replaced by a flat one, because noise must
    not reverse the order of the scores.

    Examples
    --------
    >>> is_class = np.array([False, False, False, True, True])
    >>> logistic_curve(np.array([-2.0, -1.0, 0.0, 0.0, 1.0]), is_class, np.ones(5)).round(3)
    array([[ 0.903],
           [-0.04 ]])
    """
    n_inside, n_outside = weights[is_class].sum(), weights[~is_class].sum()
    high, low = (n_inside + 1) / (n_inside + 2), 1 / (n_outside + 2)
    target = np.where(is_class, high, low)
    center, unit = scores.mean(), scores.std() or 1.0
    places = (scores - center) / unit

    def loss(curve: np.ndarray) -> float:
        sums = curve[0] * places + curve[1]
        return float((weights * (np.logaddexp(0, sums) - target * sums)).sum())

    curve, lowest = np.zeros(2), loss(np.zeros(2))
    for _ in range(MOST_STEPS):
        answer = expit(curve[0] * places + curve[1])
        pull, bend = weights * (answer - target), weights * answer * (1 - answer)
        crossed = (places * bend).sum()
        bends = np.array([[(places**2 * bend).sum(), crossed], [crossed, bend.sum()]])
        step = np.linalg.lstsq(bends, np.array([(places * pull).sum(), pull.sum()]))[0]
        # Halve the step until it lowers the loss. If no step does, the minimum is reached.
        tried = (curve - 0.5**power * step for power in range(MOST_HALVINGS))
        below = next((each for each in tried if loss(each) < lowest), None)
        if below is None:
            break
        curve, lowest = below, loss(below)
    if curve[0] < 0:
        curve = np.array([0.0, logit(np.average(target, weights=weights))])
    slope = curve[0] / unit
    return np.array([[slope], [curve[1] - slope * center]])


def best_temperature(scores: np.ndarray, y: np.ndarray, weights: np.ndarray | None) -> float:
    """Return the divisor of scores before softmax that has the lowest log loss (Guo et al. 2017)."""
    unit = scores[scores > -np.inf].std() or 1.0
    rows = np.arange(len(y))

    def loss(logarithm: float) -> float:
        votes = softmax(scores / (unit * np.exp(logarithm)), axis=1)[rows, y]
        return float(np.average(-np.log(votes.clip(1e-15)), weights=weights))

    found = minimize_scalar(loss, bounds=(LOWEST, HIGHEST), method="bounded")
    return float(unit * np.exp(found.x))
