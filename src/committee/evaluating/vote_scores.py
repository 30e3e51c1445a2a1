"""Read votes and decisions with their answers, and score them by any metric.

In: what a user has, as probabilities, labels or numbers. Out: `HonestVotes`, votes of shape (n_members,
n_rows, n_outputs) with y as codes of classes or as numbers, and the weights of the rows; or the scores of
these. A decision is the votes of one member.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from committee.combining.fixed_rules import one_hot
from committee.evaluating.resampling.confidence_intervals import Draws, Interval, interval_of
from committee.metrics.scoring import metric_of, task_of
from committee.table.input_types import ArrayLike, RandomState
from committee.task import check_one_sort, check_target, codes_in, row_weights
from committee.votes.honest_votes import HonestVotes, check_labels, check_length
from committee.votes.vote_arrays import as_shares, labels_of

# What a caller may leave out.
Given: TypeAlias = ArrayLike | None
# What those who judge votes for classes are told.
CLASS_VOTES = {
    "votes": "votes : array-like of shape (n_members, n_rows, n_classes) or (n_members, n_rows)\n"
    "    Votes for classes, or labels.",
    "y": "y : array-like of shape (n_rows,)\n"
    "    The classes: numbers from 0 on, or labels if the votes are labels.",
    "sample_weight": "sample_weight : array-like of shape (n_rows,), default=None\n"
    "    None gives every row the weight 1.",
    "classes": "classes : array-like of shape (n_outputs,), default=None\n"
    "    The labels that votes are for, as `classes_` of an estimator. With them y is labels.",
}


def score(
    decision: ArrayLike,
    y: ArrayLike,
    scoring: object = None,
    *,
    sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
) -> Any:
    """Judge a decision, or each of several.

    Parameters
    ----------
    decision : array-like of shape (n_rows, n_outputs), (n_rows,) or (n_members, n_rows, n_outputs)
        Probabilities or votes for classes, which count as shares of their sum; or one number for each row.
        One dimension is labels, or numbers if either of decision and y has floats and the metric does not
        tell.
    y : array-like of shape (n_rows,)
        The answers: numbers of classes from 0 on, labels if `classes` are given or the decision is labels, or
        the numbers of a regression.
    scoring : str, scorer or callable, default=None
        A name of scikit-learn's scorers, as "neg_log_loss" or "roc_auc_ovr_weighted"; "neg_calibration_error"
        (of the decided class, 15 bins of equal width); a scorer made by scikit-learn's `make_scorer`; or a
        function of y, a decision of shape (n_rows, n_outputs) and the weights of the rows. Scorers see
        labels, so the positive class of "f1" is 1; a function sees the numbers of the classes. None is
        "accuracy" or "neg_root_mean_squared_error".
    sample_weight : array-like of shape (n_rows,), default=None
        None gives every row the weight 1.
    classes : array-like of shape (n_outputs,), default=None
        The labels that the outputs stand for, as `classes_` of an estimator.

    Returns
    -------
    float, or ndarray of shape (n_members,)
        More is better. A "roc_auc" of rows of one class is NaN.

    See Also
    --------
    score_interval : How sure a score is.

    References
    ----------
    T. Fawcett, "An introduction to ROC analysis". Pattern Recognition Letters 27, 2006.
    C. Guo, G. Pleiss, Y. Sun, K. Q. Weinberger, "On calibration of modern neural networks". ICML 2017.

    Examples
    --------
    >>> decision, y = [[0.9, 0.1], [0.6, 0.4], [0.2, 0.8], [0.3, 0.7]], [0, 1, 1, 1]
    >>> score(decision, y), score(decision, y, "roc_auc"), score(decision, y, "f1")
    (0.75, 1.0, 0.8)
    >>> score(["a", "b", "b"], ["a", "b", "a"], "balanced_accuracy")
    0.75
    """
    honest = read_decision(decision, y, sample_weight=sample_weight, classes=classes, task=task_of(scoring))
    wanted = metric_of(scoring, honest.n_outputs, honest.classes)
    values = [wanted.prepare(honest.y, each)(honest.weights) for each in honest.votes.astype(np.float64)]
    return np.array(values) if np.ndim(decision) == 3 else values[0]


def score_interval(
    decision: ArrayLike,
    y: ArrayLike,
    scoring: object = None,
    *,
    sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
    kind: str = "percentile",
    level: float = 0.95,
    B: int = 1000,
    random_state: RandomState = None,
) -> Interval:
    """Judge a decision, and tell how sure that is: a confidence interval by the bootstrap over rows.

    The members and the rule stay as they are; only the rows that they are judged on are drawn again.

    Parameters
    ----------
    decision, y, scoring, sample_weight, classes : as for `score`
        One decision. Small whole weights are rows that many times; others go along with their row.
    kind : {"percentile", "bca"}, default="percentile"
        Quantiles of the scores on rows drawn again, or those quantiles corrected for bias and skewness (BCa).
    level : float in (0, 1), default=0.95
        How often the interval is to hold the true score.
    B : int, default=1000
        How often rows are drawn.
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
    >>> interval = score_interval(["a"] * 80 + ["b"] * 20, ["a"] * 100, "accuracy", random_state=0)
    >>> f"{interval.value:.2f} from {interval.low:.2f} to {interval.high:.2f}"
    '0.80 from 0.72 to 0.88'
    """
    if np.ndim(decision) == 3:
        raise ValueError(
            "score_interval judges one decision. Call it for each member, or combine them first."
        )
    honest = read_decision(decision, y, sample_weight=sample_weight, classes=classes, task=task_of(scoring))
    wanted = metric_of(scoring, honest.n_outputs, honest.classes)
    weighed = wanted.prepare(honest.y, honest.votes[0].astype(np.float64))
    draws = Draws.of(honest.weights, random_state)
    return interval_of(weighed, draws, kind=kind, level=level, n_draws=B)


def read_decision(
    decision: ArrayLike,
    y: ArrayLike,
    *,
    sample_weight: Given = None,
    classes: Given = None,
    task: str | None = None,
) -> HonestVotes:
    """Check a decision, of shape (n_rows, n_outputs) or (n_rows,), or a stack of them, as `read_votes` does.

    Examples
    --------
    >>> read_decision(["a", "b"], ["b", "b"]).y
    array([1, 1])
    """
    values = as_array(decision, "decision")
    if values.dtype.kind == "f" and values.ndim in (1, 2) and np.isnan(values).any():
        row = int(np.argwhere(np.isnan(values))[0][0])
        raise ValueError(
            f"There is no decision on row {row}: it is NaN, as where every member of a bagging has learnt "
            "from the row. Judge the rows that have one."
        )
    values = values if values.ndim == 3 else values[None]
    return read_votes(values, y, sample_weight=sample_weight, classes=classes, task=task)


def read_votes(
    votes: ArrayLike,
    y: ArrayLike,
    *,
    sample_weight: Given = None,
    classes: Given = None,
    task: str | None = None,
) -> HonestVotes:
    """Check the votes of members, and what belongs to them.

    Parameters
    ----------
    votes : array-like of shape (n_members, n_rows, n_outputs) or (n_members, n_rows)
        Two dimensions are labels, or numbers if the task is regression or either of votes and y has floats.
    y : array-like of shape (n_rows,)
        With votes for classes and without `classes`, codes of classes.
    sample_weight : array-like of shape (n_rows,), default=None
    classes : array-like of shape (n_outputs,), default=None
        The labels that the outputs stand for.
    task : {"classification", "regression"}, default=None
        What is judged, if that is known otherwise.

    Returns
    -------
    HonestVotes
        Votes for classes sum to one.

    Examples
    --------
    >>> read_votes([["a", "b"], ["b", "b"]], ["a", "b"]).votes[0]
    array([[1., 0.],
           [0., 1.]])
    """
    values, answers = as_array(votes, "votes"), as_array(y, "y")
    check_voted(values)
    if values.ndim == 2:
        if task is None:
            task = "regression" if "f" in (values.dtype.kind, answers.dtype.kind) else "classification"
        if task == "classification":
            return of_labels(values, answers, sample_weight, classes)
        values = values[:, :, None]
    return of_votes(values, answers, sample_weight, classes)


def read_class_votes(
    votes: ArrayLike, y: ArrayLike, sample_weight: Given = None, classes: Given = None
) -> HonestVotes:
    """Votes as `read_votes` has them, if they are for classes.

    Examples
    --------
    >>> read_class_votes([[[0.5]]], [1])
    Traceback (most recent call last):
    ValueError: votes must be for classes. Got votes of one output, a regression: decompose tells of these.
    """
    honest = read_votes(votes, y, sample_weight=sample_weight, classes=classes, task="classification")
    if not honest.are_classes:
        raise ValueError(
            "votes must be for classes. Got votes of one output, a regression: decompose tells of these."
        )
    return honest


def read_labels(votes: ArrayLike, sample_weight: Given = None) -> tuple[np.ndarray, np.ndarray]:
    """The classes that at least two members vote for, and the weights of the rows.

    Examples
    --------
    >>> read_labels([[[0.2, 0.8]], [[0.6, 0.4]]])[0]
    array([[1],
           [0]])
    """
    values = as_array(votes, "votes")
    check_voted(values)
    if values.ndim == 3:
        labels = labels_of(read_class_votes(values, np.zeros(values.shape[1], dtype=np.int64)).votes)
    elif values.ndim == 2 and values.shape[1] > 0:
        labels = values
    else:
        raise ValueError(
            f"votes must have at least one row, and two or three dimensions. Got {values.shape}."
        )
    if len(labels) < 2:
        raise ValueError(f"There must be at least two members. Got {len(labels)}.")
    weights = row_weights(sample_weight, labels.shape[1])
    return labels, np.ones(labels.shape[1]) if weights is None else weights


def of_votes(votes: np.ndarray, y: np.ndarray, sample_weight: Given, classes: Given) -> HonestVotes:
    """Votes with one output per class, or one number."""
    if classes is None and y.dtype.kind in "US":
        raise ValueError(
            "y is text. Pass classes, the labels that votes are for, as `classes_` of an estimator."
        )
    known = None
    if classes is not None and votes.ndim == 3 and votes.shape[2] > 1:
        known = check_labels(as_array(classes, "classes"), votes.shape[2])
        y = codes_in(y, known)
    honest = HonestVotes.of(votes, y, sample_weight=sample_weight, classes=known)
    if not honest.are_classes:
        return honest
    # Sums of float32 are a few of its last bits away from one.
    votes = as_shares(honest.votes.astype(np.float64), 1e-6)
    return replace(honest, votes=votes)


def of_labels(labels: np.ndarray, y: np.ndarray, sample_weight: Given, classes: Given) -> HonestVotes:
    """Labels as crisp votes, the classes those that are there unless they are told."""
    if labels.shape[1:] != y.shape:
        check_length(y, labels.shape[1])
    if classes is None:
        check_one_sort(labels, y)
        classes = np.unique(np.concatenate([labels.ravel(), y]))
    known = check_labels(as_array(classes, "classes"), None)
    # Of one class alone there is nothing to decide; a second one that nobody votes for makes it classes.
    votes = one_hot(codes_in(labels, known), max(2, len(known)))
    return HonestVotes.of(votes, codes_in(y, known), sample_weight=sample_weight, classes=known)


def check_voted(votes: np.ndarray) -> None:
    """Raise if a vote is NaN: a member has not voted on a row, as on those of its own bag.

    Examples
    --------
    >>> check_voted(np.array([[1.0, 2.0], [np.nan, 2.0]]))
    Traceback (most recent call last):
    ValueError: Member 1 has not voted on row 0, as in votes out of bag. Let all vote on other rows, or \
judge those on which all have voted.
    """
    if votes.dtype.kind != "f" or votes.ndim not in (2, 3):
        return
    is_missing = np.isnan(votes) if votes.ndim == 2 else np.isnan(votes).any(axis=2)
    if is_missing.any():
        member, row = np.argwhere(is_missing)[0].tolist()
        raise ValueError(
            f"Member {member} has not voted on row {row}, as in votes out of bag. Let all vote on "
            "other rows, or judge those on which all have voted."
        )


def as_array(values: object, name: str) -> np.ndarray:
    """Values of any container as an array, text as text and not as objects."""
    try:
        array = check_target(values) if name == "y" else np.asarray(values)
    except ValueError as error:
        if name == "y":
            raise
        raise ValueError(f"{name} must have the same rows and outputs for every member.") from error
    if array.dtype.kind == "O":
        array = np.array(array.tolist())
    if array.dtype.kind not in "fiubUS":
        raise ValueError(f"{name} must be numbers or labels. Got {array.dtype}.")
    return array
