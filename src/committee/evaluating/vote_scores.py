"""Score votes and decisions by any metric, and check votes and y.

In: probabilities, labels or numbers. Out: scores; or `HonestVotes`, with votes of shape (n_members, n_rows,
n_outputs), y as class codes or numbers, and row weights. A decision is treated as the votes of one member.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from committee.combining.fixed_rules import one_hot
from committee.evaluating.resampling.confidence_intervals import Draws, Interval, interval_of
from committee.metrics.scoring import metric_of, task_of
from committee.parameters import refusing_unknown_names
from committee.table.input_types import ArrayLike, RandomState
from committee.task import check_one_sort, check_target, codes_in
from committee.votes.honest_votes import HonestVotes, check_labels, check_length
from committee.votes.vote_arrays import as_shares

# An optional argument.
Given: TypeAlias = ArrayLike | None
# The documentation of parameters that functions of class votes share.
CLASS_VOTES = {
    "votes": "votes : array-like of shape (n_members, n_rows, n_classes) or (n_members, n_rows)\n"
    "    Votes for classes, or labels. A fitted committee has its honest votes.",
    "y": "y : array-like of shape (n_rows,)\n"
    "    The true classes: codes from 0 on, labels if the votes are labels, or the target of the committee's "
    "fit.",
    "sample_weight": "sample_weight : array-like of shape (n_rows,), default=None\n"
    "    Row weights. None gives every row the weight 1.",
    "classes": "classes : array-like of shape (n_outputs,), default=None\n"
    "    The labels of the outputs, such as `classes_` of an estimator. If given, y has labels.",
}


@refusing_unknown_names
def score(
    y: ArrayLike,
    decision: ArrayLike,
    *,
    scoring: object = None,
    sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
) -> Any:
    """Compute the score of a decision, or of each of several decisions.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        The true values: class codes from 0 on, labels if `classes` is given or the decision has labels, or
        numbers for regression.
    decision : array-like of shape (n_rows, n_outputs), (n_rows,) or (n_members, n_rows, n_outputs)
        Class probabilities or votes, which are divided by their sum in each row; or one number per row. An
        array with one dimension contains labels, or numbers if the metric is for regression, or if the metric
        suits both tasks and the decision or y has a floating-point dtype.
    scoring : str, scorer or callable, default=None
        The name of a scikit-learn scorer, such as "neg_log_loss" or "roc_auc_ovr_weighted";
        "neg_calibration_error" (of the predicted class, 15 bins of equal width); a scorer made by
        scikit-learn's `make_scorer`; or a function of y, a decision of shape (n_rows, n_outputs) and the row
        weights. Scorers receive labels, so the positive class of "f1" is 1; functions receive class codes.
        None means "accuracy" for classes and "neg_root_mean_squared_error" for numbers.
    sample_weight : array-like of shape (n_rows,), default=None
        Row weights. None gives every row the weight 1.
    classes : array-like of shape (n_outputs,), default=None
        The labels of the outputs, such as `classes_` of an estimator.

    Returns
    -------
    float, or ndarray of shape (n_members,)
        Higher is better. "roc_auc" is NaN if all rows have the same class.

    See Also
    --------
    score_interval : A confidence interval for a score.

    References
    ----------
    T. Fawcett, "An introduction to ROC analysis". Pattern Recognition Letters 27, 2006.
    C. Guo, G. Pleiss, Y. Sun, K. Q. Weinberger, "On calibration of modern neural networks". ICML 2017.

    Examples
    --------
    >>> y, decision = [0, 1, 1, 1], [[0.9, 0.1], [0.6, 0.4], [0.2, 0.8], [0.3, 0.7]]
    >>> score(y, decision), score(y, decision, scoring="roc_auc"), score(y, decision, scoring="f1")
    (0.75, 1.0, 0.8)
    >>> score(["a", "b", "a"], ["a", "b", "b"], scoring="balanced_accuracy")
    0.75
    """
    honest = read_decision(y, decision, scoring, sample_weight, classes)
    metric = metric_of(scoring, honest.n_outputs, honest.classes)
    values = [metric.prepare(honest.y, each)(honest.weights) for each in honest.votes.astype(np.float64)]
    return np.array(values) if np.ndim(decision) == 3 else values[0]


@refusing_unknown_names
def score_interval(
    y: ArrayLike,
    decision: ArrayLike,
    *,
    scoring: object = None,
    sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
    kind: str = "percentile",
    level: float = 0.95,
    B: int = 1000,
    random_state: RandomState = None,
) -> Interval:
    """Compute the score of one decision and its confidence interval, by the bootstrap over rows.

    Only the rows are resampled. The members and the rule are not fitted again.

    Parameters
    ----------
    y, decision, scoring, sample_weight, classes : see `score`
        `decision` is a single decision. Small integer weights count as repetitions of rows. Other weights are
        resampled together with their rows.
    kind : {"percentile", "bca"}, default="percentile"
        Quantiles of the scores on resampled rows, or these quantiles corrected for bias and skewness (BCa).
    level : float in (0, 1), default=0.95
        The probability with which the interval should contain the true score.
    B : int, default=1000
        The number of bootstrap samples.
    random_state : int, RandomState or None, default=None

    Returns
    -------
    Interval
        With `value`, `low`, `high`, `level` and `kind`.

    References
    ----------
    B. Efron, R. Tibshirani, "An introduction to the bootstrap". Chapman & Hall 1993, chapters 13 and 14.

    Examples
    --------
    >>> interval = score_interval(["a"] * 100, ["a"] * 80 + ["b"] * 20, scoring="accuracy", random_state=0)
    >>> f"{interval.value:.2f} from {interval.low:.2f} to {interval.high:.2f}"
    '0.80 from 0.72 to 0.88'
    """
    if np.ndim(decision) == 3:
        raise ValueError(
            "score_interval takes one decision. Call it for each member, or combine the members first."
        )
    honest = read_decision(y, decision, scoring, sample_weight, classes)
    metric = metric_of(scoring, honest.n_outputs, honest.classes)
    weighed = metric.prepare(honest.y, honest.votes[0].astype(np.float64))
    draws = Draws.of(honest.weights, random_state)
    return interval_of(weighed, draws, kind=kind, level=level, n_draws=B)


def read_decision(
    y: ArrayLike, decision: ArrayLike, scoring: object, sample_weight: Given, classes: Given
) -> HonestVotes:
    """Read a decision of shape (n_rows, n_outputs) or (n_rows,), or a stack of them, with `read_votes`.

    Examples
    --------
    >>> read_decision(["b", "b"], ["a", "b"], None, None, None).y
    array([1, 1])
    """
    values, answers = as_array(decision, "decision"), np.asarray(y)
    if values.ndim == 1 and answers.ndim > 1 and answers.shape[-1] > 1:
        raise ValueError(f"y must have one dimension. Got {answers.shape}. Pass y first: (y, decision).")
    if values.dtype.kind == "f" and values.ndim in (1, 2) and np.isnan(values).any():
        row = int(np.argwhere(np.isnan(values))[0][0])
        raise ValueError(
            f"The decision on row {row} is NaN. This happens if every member of a bagging was trained on the "
            "row. Score only the rows that have a decision."
        )
    values = values if values.ndim == 3 else values[None]
    return read_votes(values, y, sample_weight=sample_weight, classes=classes, task=task_of(scoring))


def read_votes(
    votes: ArrayLike,
    y: ArrayLike,
    *,
    sample_weight: Given = None,
    classes: Given = None,
    task: str | None = None,
    as_labels: bool = False,
) -> HonestVotes:
    """Check the votes of members, y and the row weights.

    Parameters
    ----------
    votes : array-like of shape (n_members, n_rows, n_outputs) or (n_members, n_rows)
        An array with two dimensions contains labels, or numbers if the task is regression, or if the task is
        unknown and votes or y have a floating-point dtype. A fitted committee has its honest votes, and y is
        then the target of its fit.
    y : array-like of shape (n_rows,)
        Class codes for votes with one output per class, unless `classes` is given.
    sample_weight : array-like of shape (n_rows,), default=None
    classes : array-like of shape (n_outputs,), default=None
        The labels of the outputs.
    task : {"classification", "regression"}, default=None
        The task, if it is known.
    as_labels : bool, default=False
        Whether the members of a fitted committee vote for the class that they predict.

    Returns
    -------
    HonestVotes
        The votes of a member for classes sum to one in each row.

    Examples
    --------
    >>> read_votes([["a", "b"], ["b", "b"]], ["a", "b"]).votes[0]
    array([[1., 0.],
           [0., 1.]])
    """
    if hasattr(type(votes), "honest_votes_"):
        fitted: Any = votes
        classes = getattr(fitted, "classes_", None)
        y = as_array(check_target(y), "y")[fitted.honest_rows_]
    values, answers = as_array(votes, "votes", as_labels=as_labels), as_array(check_target(y), "y")
    check_voted(values)
    if values.ndim == 2:
        if task is None:
            task = "regression" if "f" in (values.dtype.kind, answers.dtype.kind) else "classification"
        if task == "classification":
            return of_labels(values, answers, sample_weight, classes)
        values = values[:, :, None]
    return of_votes(values, answers, sample_weight, classes)


def read_class_votes(
    votes: ArrayLike,
    y: ArrayLike,
    sample_weight: Given = None,
    classes: Given = None,
    least: int = 1,
    *,
    as_labels: bool = False,
) -> HonestVotes:
    """Check votes for classes with `read_votes`, and raise if there are fewer than `least` members.

    Examples
    --------
    >>> read_class_votes([[[0.5]]], [1])
    Traceback (most recent call last):
    ValueError: votes must be for classes. Got votes of one output. Use decompose for regression.
    """
    honest = read_votes(
        votes, y, sample_weight=sample_weight, classes=classes, task="classification", as_labels=as_labels
    )
    if not honest.are_classes:
        raise ValueError("votes must be for classes. Got votes of one output. Use decompose for regression.")
    if honest.n_members < least:
        raise ValueError(f"votes must have at least {least} members. Got {honest.n_members}.")
    return honest


def of_votes(votes: np.ndarray, y: np.ndarray, sample_weight: Given, classes: Given) -> HonestVotes:
    """Read votes with one output per class, or with one number."""
    if classes is None and y.dtype.kind in "US":
        raise ValueError(
            "y is text. Pass classes, the labels of the outputs, such as `classes_` of an estimator."
        )
    known = None
    if classes is not None and votes.ndim == 3 and votes.shape[2] > 1:
        known = check_labels(as_array(classes, "classes"), votes.shape[2])
        y = codes_in(y, known)
    honest = HonestVotes.of(votes, y, sample_weight=sample_weight, classes=known)
    if not honest.are_classes:
        return honest
    # The tolerance covers the rounding of float32 votes.
    return replace(honest, votes=as_shares(honest.votes.astype(np.float64), 1e-6))


def of_labels(labels: np.ndarray, y: np.ndarray, sample_weight: Given, classes: Given) -> HonestVotes:
    """Convert labels to votes of 0 and 1. Without `classes`, the classes are the labels that occur."""
    if labels.shape[1:] != y.shape:
        check_length(y, labels.shape[1])
    if classes is None:
        check_one_sort(labels, y)
        classes = np.unique(np.concatenate([labels.ravel(), y]))
    known = check_labels(as_array(classes, "classes"), None)
    # One output would mean regression, so a single class gets a second output without votes.
    votes = one_hot(codes_in(labels, known), max(2, len(known)))
    return HonestVotes.of(votes, codes_in(y, known), sample_weight=sample_weight, classes=known)


def check_voted(votes: np.ndarray) -> None:
    """Raise if a vote is NaN, such as an out-of-bag vote on a row of the member's own bag.

    Examples
    --------
    >>> check_voted(np.array([[1.0, 2.0], [np.nan, 2.0]]))
    Traceback (most recent call last):
    ValueError: The vote of member 1 on row 0 is NaN, as in out-of-bag votes. Pass only rows with the votes \
of all members.
    """
    if votes.dtype.kind != "f" or votes.ndim not in (2, 3):
        return
    is_missing = np.isnan(votes) if votes.ndim == 2 else np.isnan(votes).any(axis=2)
    if is_missing.any():
        member, row = np.argwhere(is_missing)[0].tolist()
        raise ValueError(
            f"The vote of member {member} on row {row} is NaN, as in out-of-bag votes. Pass only rows with "
            "the votes of all members."
        )


def as_array(values: object, name: str, *, as_labels: bool = False) -> np.ndarray:
    """Convert values of any container to an array. Text gets a text dtype instead of the object dtype.

    A fitted committee is converted to its honest votes, or to votes for the classes that members predict.
    """
    if hasattr(type(values), "honest_votes_"):
        committee: Any = values
        return np.asarray(committee._known_votes().crisp().votes if as_labels else committee.honest_votes_)
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{name} must have the same rows and outputs for every member.") from error
    if array.dtype.kind == "O":
        array = np.array(array.tolist())
    if array.dtype.kind not in "fiubUS":
        raise ValueError(f"{name} must be numbers or labels. Got {array.dtype}.")
    return array
