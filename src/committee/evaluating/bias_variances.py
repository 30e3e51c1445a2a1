"""How much of an error is bias and how much variance, by fits on rows drawn again (Domingos, James)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from committee.combining.fixed import one_hot
from committee.combining.losses import is_made_scorer, name_of_function
from committee.evaluating.bags import Bagged
from committee.evaluating.loss_parts import (
    absolute_parts,
    check_row_loss,
    class_losses,
    class_parts,
    likelihood_parts,
    number_parts,
    row_losses,
    square_parts,
)
from committee.members.votes import check_gives_probabilities

# The losses that have a name, the usual one first.
LOSSES = {"classification": ("error", "brier", "log_loss"), "regression": ("squared_error", "mae")}
# Those that are about probabilities.
OF_PROBABILITIES = ("brier", "log_loss")


@dataclass(frozen=True)
class BiasVariance:
    """The mean error of fits on drawn rows, in parts: error = bias + net variance.

    Parameters
    ----------
    loss : str
        Its name.
    error : float
        The mean loss of the fits.
    bias : float
        The loss of the main answer, around which the fits vary. Noise is in it.
    variance : float
        The mean loss of the main answer, if what the fits say is right.
    unbiased_variance : float
        What variance adds to the error, on rows where it does. For "error", that is all variance on rows
        where the main answer is right.
    biased_variance : float
        What variance takes from the error, on rows where it does. For "error", how often fits name the right
        class where the main answer is wrong. With two classes that is all variance there. 0 for squared
        errors and the log loss, where all variance hurts.
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
        """What variance adds to the error: James' variance effect."""
        return self.unbiased_variance - self.biased_variance


def bias_variance(
    estimator: Any,
    X: Any,
    y: Any,
    X_test: Any = None,
    y_test: Any = None,
    *,
    B: int = 200,
    loss: Any = None,
    sample_weight: Any = None,
    random_state: Any = None,
    runner: Any = "threads",
    n_jobs: int | None = None,
    verbose: int = 0,
) -> BiasVariance:
    """Split the error of an estimator into bias and variance.

    The estimator is fitted on rows drawn with replacement. The main answer to a row is what loses least, on
    average, if what the fits say is right: the class that most of them name, the first of equal ones; for
    squared errors the mean of their numbers or probabilities; for absolute errors the median; for the log
    loss the geometric mean of their probabilities. Its loss is the bias, and what the fits lose more than it,
    the net variance; so error = bias + net variance by any loss (James 2003).

    For squared errors and the log loss the net variance is the variance. For the error of classes it is c
    times that, with c = 1 on rows where the main answer is right, and minus the probability that an answer
    other than the main one is right where it is not; -1 with two classes (Domingos 2000). By other losses it
    may be more or less than the variance, and below 0.

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
    loss : str or callable, default=None
        For classes "error", "brier", the sum over the classes of squared distances of probabilities, or
        "log_loss"; for numbers "squared_error" or "mae". Or a function of answers and predictions, labels or
        numbers in arrays of the same length, that gives a loss for each of them: as a matrix of costs, or a
        loss that counts too little for more than too much. What is no mean over rows, as the area under a
        curve, has no such parts. None is "error" or "squared_error".
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
    G. M. James, "Variance and bias for general loss functions". Machine Learning 51, 2003.
    T. Heskes, "Bias/variance decompositions for likelihood-based estimators". Neural Computation 10, 1998.

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

    With a loss of one's own:

    >>> def overtime(truth, said):
    ...     return np.where(truth > said, 3, 1) * np.abs(truth - said)
    >>> found = bias_variance(DecisionTreeRegressor(), X, y, B=50, loss=overtime, random_state=0)
    >>> print(f"{found.error:.4f} = {found.bias:.4f} + {found.net_variance:.4f}")
    0.0292 = 0.0171 + 0.0121
    """
    if (X_test is None) != (y_test is None):
        raise ValueError("X_test and y_test go together. Pass both, or none.")
    bagged = Bagged.of(estimator, X, y, B, sample_weight, random_state)
    lesson = bagged.lesson
    check_loss(loss, estimator, are_classes=lesson.are_classes)
    if loss is None:
        loss = LOSSES["classification" if lesson.are_classes else "regression"][0]
    parts_of = parts_by(loss, bagged)
    table, answers = (None, lesson.y) if X_test is None else bagged.test_rows(X_test, y_test)
    where = {"by": type(estimator).__name__, "runner": runner, "n_jobs": n_jobs, "verbose": verbose}
    keeps_votes = not lesson.are_classes or loss in OF_PROBABILITIES
    decided = np.array(bagged.judged(as_voted if keeps_votes else decided_class, table, first=1, **where))
    counts, weights = np.ones(decided.shape[:2]), np.ones(len(answers))
    if X_test is None:
        counts, weights = bagged.is_outside().astype(np.float64), bagged.weights
    is_known = (counts.sum(axis=0) > 0) & (weights > 0)
    if not is_known.any():
        raise ValueError(f"Every row is in every bag. Draw more bags than B={bagged.n_bags}.")
    of_rows = parts_of(decided[:, is_known], counts[:, is_known], answers[is_known])
    means = np.average(of_rows, axis=1, weights=weights[is_known])
    error, bias, variance, unbiased, biased = means.tolist()
    name = loss if isinstance(loss, str) else name_of_function(loss)
    return BiasVariance(name, error, bias, variance, unbiased, biased, bagged.n_bags)


def check_loss(loss: Any, estimator: Any, *, are_classes: bool) -> None:
    """Raise unless a loss is one of the task, or a function, and the estimator has what it is about.

    Examples
    --------
    >>> check_loss("accuracy", None, are_classes=True)
    Traceback (most recent call last):
    ValueError: loss must be 'error', 'brier', 'log_loss', a function of answers and predictions or None for \
classification. Got 'accuracy'.
    """
    task = "classification" if are_classes else "regression"
    if callable(loss) and not is_made_scorer(loss):
        check_row_loss(loss)
    elif loss is not None and (not isinstance(loss, str) or loss not in LOSSES[task]):
        known = ", ".join(map(repr, LOSSES[task]))
        raise ValueError(
            f"loss must be {known}, a function of answers and predictions or None for {task}. Got {loss!r}."
        )
    elif loss in OF_PROBABILITIES:
        check_gives_probabilities(estimator, f"the loss {loss!r}", "Set loss='error'")


def parts_by(loss: Any, bagged: Bagged) -> Callable[..., list[np.ndarray]]:
    """What splits the losses of rows; a function is tried before any work."""
    lesson = bagged.lesson
    if callable(loss) and not lesson.are_classes:
        row_losses(lesson.y, lesson.y[::-1], loss)
        return partial(number_parts, loss=loss)
    if callable(loss):
        return partial(class_parts, losses=class_losses(loss, np.asarray(lesson.task.classes)))
    if loss == "error":
        return partial(class_parts, losses=1.0 - np.eye(lesson.task.n_outputs))
    if loss == "brier":
        return lambda decided, counts, y: square_parts(decided, counts, one_hot(y, lesson.task.n_outputs))
    return {"log_loss": likelihood_parts, "squared_error": square_parts, "mae": absolute_parts}[loss]


def decided_class(number: int, votes: np.ndarray) -> np.ndarray:
    """The class of the highest vote, the first of equal ones."""
    classes: np.ndarray = votes.argmax(axis=1)
    return classes


def as_voted(number: int, votes: np.ndarray) -> np.ndarray:
    """The number of each row, or its probabilities."""
    return votes[:, 0] if votes.shape[1] == 1 else votes
