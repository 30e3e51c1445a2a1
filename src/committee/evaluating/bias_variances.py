"""How much of an error is bias and how much variance, by fits on rows drawn again (Domingos 2000)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from committee.combining.fixed import one_hot
from committee.evaluating.bags import Bagged
from committee.members.votes import check_gives_probabilities

# The losses that come apart, the usual one first.
LOSSES = {"classification": ("error", "brier"), "regression": ("squared_error",)}


@dataclass(frozen=True)
class BiasVariance:
    """The mean error of fits on drawn rows, in parts: error = bias + net variance.

    Parameters
    ----------
    loss : {"error", "brier", "squared_error"}
    error : float
        The mean loss of the fits.
    bias : float
        The loss of the main answer, which is the mean of the fits' numbers or probabilities, or the class
        that most of them name. Noise is in it.
    variance : float
        The mean loss of the fits against the main answer.
    unbiased_variance : float
        The part of it on rows where the main answer is right, which adds to the error.
    biased_variance : float
        For "error", how much of it helps: how often fits name the right class where the main answer is
        wrong. With two classes that is all variance there. 0 for the others, where all variance hurts.
    n_bags : int
    """

    loss: str
    error: float
    bias: float
    variance: float
    unbiased_variance: float
    biased_variance: float
    n_bags: int

    @property
    def net_variance(self) -> float:
        """What variance adds to the error."""
        return self.unbiased_variance - self.biased_variance


def bias_variance(
    estimator: Any,
    X: Any,
    y: Any,
    X_test: Any = None,
    y_test: Any = None,
    *,
    B: int = 200,
    loss: str | None = None,
    sample_weight: Any = None,
    random_state: Any = None,
    runner: Any = "threads",
    n_jobs: int | None = None,
    verbose: int = 0,
) -> BiasVariance:
    """Split the error of an estimator into bias and variance.

    The estimator is fitted on rows drawn with replacement. The main answer to a row is the mean of the fits'
    numbers or probabilities, or the class that most of them name, the first of equal ones. Its loss is the
    bias; the mean loss of the fits against it is the variance. For squared errors, of numbers and of
    probabilities, error = bias + variance. For the error of classes, error = bias + c variance, with c = 1 on
    rows where the main answer is right, and minus the probability that an answer other than the main one is
    right where it is not; -1 with two classes. Other losses do not come apart into such parts in general, so
    there is no scorer to choose.

    Parameters
    ----------
    estimator : classifier or regressor
        Any. It is cloned; every `random_state` in it that is None is drawn.
    X : table of shape (n_rows, n_columns)
    y : array-like of shape (n_rows,)
    X_test : table, default=None
        The rows to judge. None: each row of X is judged by the fits that have not drawn it.
    y_test : array-like, default=None
    B : int, default=200
        How often rows are drawn.
    loss : {"error", "brier", "squared_error"}, default=None
        "error" and "brier", the sum over the classes of squared distances of probabilities, are for classes;
        "squared_error" is for numbers. None is "error" or "squared_error".
    sample_weight : array-like of shape (n_rows,), default=None
        Of the rows of X. Small whole weights are rows that many times; others go along with their row.
    random_state : int, RandomState or None, default=None
    runner : {"serial", "threads", "processes"} or Runner, default="threads"
        Where fits run. It changes nothing but the time.
    n_jobs : int, default=None
        How many fits run at the same time, which changes nothing but the time. None is as many as there are
        cores.
    verbose : int, default=0
        Whether to show how many bags are done.

    Returns
    -------
    BiasVariance
        With `error`, `bias`, `variance`, `unbiased_variance`, `biased_variance` and `net_variance`. Noise
        cannot be told from bias by one answer to each row, and is part of it.

    References
    ----------
    P. Domingos, "A unified bias-variance decomposition and its applications". ICML 2000.

    Examples
    --------
    A stump is biased, and a full tree varies:

    >>> from committee import DecisionTreeRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((200, 1))
    >>> y = np.sin(6 * X[:, 0])
    >>> for depth in (1, None):
    ...     found = bias_variance(DecisionTreeRegressor(max_depth=depth), X, y, B=50, random_state=0)
    ...     print(f"{found.error:.4f} = {found.bias:.4f} + {found.variance:.4f}")
    0.0904 = 0.0818 + 0.0087
    0.0005 = 0.0001 + 0.0004
    """
    if (X_test is None) != (y_test is None):
        raise ValueError("X_test and y_test go together. Pass both, or none.")
    bagged = Bagged.of(estimator, X, y, B, sample_weight, random_state)
    loss = check_loss(loss, estimator, are_classes=bagged.lesson.are_classes)
    table, answers = (None, bagged.lesson.y) if X_test is None else bagged.test_rows(X_test, y_test)
    where = {"by": type(estimator).__name__, "runner": runner, "n_jobs": n_jobs, "verbose": verbose}
    decided = np.array(bagged.judged(decided_class if loss == "error" else as_voted, table, first=1, **where))
    counts, weights = np.ones(decided.shape[:2]), np.ones(len(answers))
    if X_test is None:
        counts, weights = bagged.is_outside().astype(np.float64), bagged.weights
    is_known = (counts.sum(axis=0) > 0) & (weights > 0)
    if not is_known.any():
        raise ValueError(f"Every row is in every bag. Draw more bags than B={bagged.n_bags}.")
    truth = one_hot(answers, bagged.lesson.task.n_outputs) if loss == "brier" else answers
    parts = class_parts if loss == "error" else square_parts
    of_rows = parts(decided[:, is_known], counts[:, is_known], truth[is_known])
    means = np.average(of_rows, axis=1, weights=weights[is_known])
    error, bias, variance, unbiased, biased = means.tolist()
    return BiasVariance(loss, error, bias, variance, unbiased, biased, bagged.n_bags)


def check_loss(loss: Any, estimator: Any, *, are_classes: bool) -> str:
    """The loss that is meant, if it is one of the task and the estimator has what it is about.

    Examples
    --------
    >>> check_loss("log_loss", None, are_classes=True)
    Traceback (most recent call last):
    ValueError: loss must be 'error', 'brier' or None for classification. Got 'log_loss'.
    """
    task = "classification" if are_classes else "regression"
    if loss is None:
        return LOSSES[task][0]
    if loss not in LOSSES[task]:
        known = ", ".join(map(repr, LOSSES[task]))
        raise ValueError(f"loss must be {known} or None for {task}. Got {loss!r}.")
    if loss == "brier":
        check_gives_probabilities(estimator, "the loss 'brier'", "Set loss='error'")
    return str(loss)


def decided_class(number: int, votes: np.ndarray) -> np.ndarray:
    """The class of the highest vote, the first of equal ones."""
    classes: np.ndarray = votes.argmax(axis=1)
    return classes


def as_voted(number: int, votes: np.ndarray) -> np.ndarray:
    """The number of each row, or its probabilities."""
    return votes[:, 0] if votes.shape[1] == 1 else votes


def class_parts(decided: np.ndarray, counts: np.ndarray, y: np.ndarray) -> list[np.ndarray]:
    """Error, bias, variance, and its unbiased and biased part of each row, for the error of classes.

    Parameters
    ----------
    decided : ndarray of int of shape (n_bags, n_rows)
    counts : ndarray of float64 of shape (n_bags, n_rows)
        1 where a decision counts, and else 0.
    y : ndarray of int of shape (n_rows,)

    Examples
    --------
    Of three fits two are wrong about the first row, and one about the second:

    >>> error, bias, variance, unbiased, biased = class_parts(
    ...     np.array([[1, 0], [1, 0], [0, 1]]), np.ones((3, 2)), np.array([0, 0])
    ... )
    >>> error.round(2), bias, variance.round(2), unbiased.round(2), biased.round(2)
    (array([0.67, 0.33]), array([1., 0.]), array([0.33, 0.33]), array([0.  , 0.33]), array([0.33, 0.  ]))
    """
    n_classes, rows = int(max(decided.max(), y.max())) + 1, np.arange(len(y))
    named = np.stack([(counts * (decided == code)).sum(axis=0) for code in range(n_classes)])
    shares = named / counts.sum(axis=0)
    main = shares.argmax(axis=0)
    right, against = shares[y, rows], 1 - shares[main, rows]
    is_biased = main != y
    return [
        1 - right,
        is_biased.astype(np.float64),
        against,
        np.where(is_biased, 0.0, against),
        np.where(is_biased, right, 0.0),
    ]


def square_parts(decided: np.ndarray, counts: np.ndarray, y: np.ndarray) -> list[np.ndarray]:
    """The same for squared errors, in which all variance hurts.

    Parameters
    ----------
    decided : ndarray of float64 of shape (n_bags, n_rows) or (n_bags, n_rows, n_classes)
        Numbers, or probabilities.
    counts : ndarray of float64 of shape (n_bags, n_rows)
    y : ndarray of float64 of shape (n_rows,) or (n_rows, n_classes)

    Examples
    --------
    >>> [part.tolist() for part in square_parts(np.array([[1.0], [3.0]]), np.ones((2, 1)), np.array([5.0]))]
    [[10.0], [9.0], [1.0], [1.0], [0.0]]
    """
    decided, y = decided.reshape(*counts.shape, -1), y.reshape(len(y), -1)
    shares = counts / counts.sum(axis=0)
    main = (shares[:, :, None] * decided).sum(axis=0)
    error = (shares * np.square(decided - y).sum(axis=2)).sum(axis=0)
    variance = (shares * np.square(decided - main).sum(axis=2)).sum(axis=0)
    return [error, np.square(main - y).sum(axis=1), variance, variance, np.zeros_like(variance)]
