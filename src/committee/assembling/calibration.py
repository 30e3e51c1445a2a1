"""From scores to probabilities, learnt from honest scores: members without probabilities get some.

In: out-of-fold scores of shape (n_rows, n_classes), minus infinity for a class that the model does not know,
and the class of each row. Out: a `Calibration`, which
turns the scores of new rows into votes, and `Curves`, which do so for the rows that it has learnt from: none
of these is put through a curve that knows its class.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import expit, logit, softmax
from sklearn.isotonic import IsotonicRegression

from committee.combining.fixed_rules import one_hot
from committee.saving import Fields
from committee.task import scaled
from committee.votes.folds import N_FOLDS, numbered_folds
from committee.votes.honest_votes import HonestVotes
from committee.votes.vote_arrays import rescaled

METHODS = ("isotonic", "sigmoid", "temperature")
# Of members that a committee brings itself.
CALIBRATION = "sigmoid"
# Rows that a curve has learnt from are put through other curves, one for each of at most this many parts: the
# folds of the members or, if there is only one fold, N_FOLDS new ones.
MOST_PARTS = 10
# Scores are divided by temperatures between the exponentials of these.
LOWEST, HIGHEST = -7.0, 7.0
# Of Newton's method, which needs a few of each.
MOST_STEPS, MOST_HALVINGS = 100, 30


@dataclass(frozen=True, eq=False)
class Calibration:
    """What turns the scores of a member into votes.

    Parameters
    ----------
    method : {"isotonic", "sigmoid", "temperature"}
    curves : list of ndarray of shape (2, n_knots)
        For each class: "isotonic" has knots of the rising curve, scores and probabilities; "sigmoid" has one
        column, slope and intercept; "temperature" has one curve for all classes, the temperature and 0.
    """

    method: str
    curves: list[np.ndarray]

    @classmethod
    def of(cls, method: str, scores: np.ndarray, y: np.ndarray, weights: np.ndarray | None) -> Calibration:
        """Learn from honest scores.

        Examples
        --------
        >>> scores = np.array([[2.0, -2.0], [1.0, -1.0], [-1.0, 1.0], [-2.0, 2.0]])
        >>> Calibration.of("isotonic", scores, np.array([0, 0, 1, 1]), None).votes(scores[:1])
        array([[1., 0.]])
        """
        scores = scores.astype(np.float64)
        if method == "temperature":
            return cls(method, [np.array([[best_temperature(scores, y, weights)], [0.0]])])
        classes = range(scores.shape[1])
        return cls(method, [curve_of(method, scores[:, code], y == code, weights) for code in classes])

    def votes(self, scores: np.ndarray) -> np.ndarray:
        """Return votes for the classes, which sum to one. A class that the model does not know gets none.

        Examples
        --------
        >>> Calibration("sigmoid", [np.zeros((2, 1))] * 3).votes(np.array([[1.0, -1.0, -np.inf]]))
        array([[0.5, 0.5, 0. ]])
        """
        if self.method == "temperature":
            return np.asarray(softmax(scores / self.curves[0][0, 0], axis=1))
        is_known = scores > -np.inf
        scores = np.where(is_known, scores, 0.0)
        if self.method == "isotonic":
            each = [np.interp(scores[:, code], *curve) for code, curve in enumerate(self.curves)]
        else:
            each = [expit(curve[0] * scores[:, code] + curve[1]) for code, curve in enumerate(self.curves)]
        support = np.column_stack(each) * is_known
        return rescaled(np.where(support.any(axis=1, keepdims=True), support, is_known))

    @classmethod
    def take(cls, fields: Fields, n_classes: int) -> Calibration:
        """Take a calibration from a saved file."""
        method, curves = fields.take("method", str), fields.take("curves", list)
        fields.finish()
        fields.require(method in METHODS, f"there is no calibration {method!r}")
        n_curves = 1 if method == "temperature" else n_classes
        are_curves = len(curves) == n_curves and all(is_curve(method, curve) for curve in curves)
        fields.require(are_curves, "a calibration has other curves than classes")
        return cls(method, curves)


@dataclass(frozen=True, eq=False)
class Curves:
    """What turns the scores of a member into votes on the rows that it is calibrated by, honestly.

    Parameters
    ----------
    whole : Calibration
        Learnt from all of these rows, for others.
    rows : ndarray of int of shape (n_rows,)
        Their places in the table, sorted.
    parts : ndarray of int of shape (n_rows,)
        Which part each is in: rows that were held out together are in one.
    by_part : list of Calibration
        For each part, what is learnt from all others. Empty if there is one part alone: then votes on these
        rows are crisp.
    """

    whole: Calibration
    rows: np.ndarray
    parts: np.ndarray
    by_part: list[Calibration]

    @classmethod
    def of(cls, method: str, honest: HonestVotes, place: int, held_out: Iterable[np.ndarray]) -> Curves:
        """Learn from the honest scores of a member.

        Parameters
        ----------
        method : {"isotonic", "sigmoid", "temperature"}
        honest : HonestVotes
        place : int
            Of the member in them.
        held_out : iterable of ndarray of int
            The rows of the table that were held out together.

        Returns
        -------
        Curves

        Examples
        --------
        Of two folds, each is put through the curve of the other:

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
            by_part.append(Calibration.of(method, scores[others], y[others], weights[others]))
        return cls(Calibration.of(method, scores, y, weights), honest.rows, parts, by_part)

    def honest_votes(self, scores: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Return votes on some of the rows, each by what was learnt from other parts."""
        if not self.by_part:
            return one_hot(scores.argmax(axis=1), scores.shape[1])
        parts = self.parts[np.searchsorted(self.rows, rows)]
        votes = np.empty(scores.shape)
        for part, calibration in enumerate(self.by_part):
            is_in = parts == part
            votes[is_in] = calibration.votes(scores[is_in].astype(np.float64))
        return votes


def parts_of(held_out: Iterable[np.ndarray], honest: HonestVotes) -> np.ndarray:
    """Return the part that each row is in: the first fold that holds it out, modulo `MOST_PARTS`.

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


def is_curve(method: str, curve: object) -> bool:
    """Return whether a value of a file is a curve that maps scores."""
    if not isinstance(curve, np.ndarray) or curve.dtype != np.float64 or curve.ndim != 2:
        return False
    if len(curve) != 2 or curve.shape[1] == 0 or not np.isfinite(curve).all():
        return False
    if method == "isotonic":
        are_shares = curve[1].min() >= 0 and curve[1].max() <= 1
        return bool((np.diff(curve[0]) >= 0).all() and are_shares)
    return curve.shape[1] == 1 and (method == "sigmoid" or curve[0, 0] > 0)


def curve_of(method: str, scores: np.ndarray, is_class: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """Fit the curve of one class to the rows whose model knows it.

    If no model does, it is flat, and as high as the class is frequent: a model of all rows may know it.

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
    """Fit the rising curve of least squares, and return its knots (Zadrozny and Elkan 2002)."""
    curve = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
    curve.fit(scores, is_class.astype(np.float64), sample_weight=weights)
    return np.array([curve.X_thresholds_, curve.y_thresholds_])


def logistic_curve(scores: np.ndarray, is_class: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Fit slope and intercept of a logistic curve to targets a little off 0 and 1 (Platt 1999).

    They are found by Newton's method. A curve that would fall is flat: noise must not turn scores round.

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
        # A step that leads upwards is halved; where none leads downwards, this is the lowest.
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
    """Find what to divide scores by before softmax, for the lowest log loss (Guo et al. 2017)."""
    unit = scores[scores > -np.inf].std() or 1.0
    rows = np.arange(len(y))

    def loss(logarithm: float) -> float:
        votes = softmax(scores / (unit * np.exp(logarithm)), axis=1)[rows, y]
        return float(np.average(-np.log(votes.clip(1e-15)), weights=weights))

    found = minimize_scalar(loss, bounds=(LOWEST, HIGHEST), method="bounded")
    return float(unit * np.exp(found.x))
