"""Decompose the error of an estimator into bias and variance, by fits on bootstrap samples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from committee.combining.fixed_rules import one_hot
from committee.documentation import with_parameters
from committee.evaluating.resampling.bag_fits import Bagged
from committee.evaluating.resampling.confidence_intervals import RUNS, Where
from committee.members.member_votes import check_gives_probabilities
from committee.metrics.row_losses import SMALLEST
from committee.printing import brief
from committee.running import Runner
from committee.table.input_types import ArrayLike, RandomState, TableLike
from committee.table.result_frame import Tabulated

# The losses of each task, the default first.
LOSSES = {"classification": ("error", "brier", "log_loss"), "regression": ("squared_error",)}
# Losses of probabilities.
OF_PROBABILITIES = ("brier", "log_loss")


@brief
@dataclass(frozen=True)
class BiasVariance(Tabulated):
    """The mean error of fits on bootstrap samples and its parts: error = bias + net variance.

    Parameters
    ----------
    loss : str
        The name of the loss.
    error : float
        The mean loss of the fits.
    bias : float
        The loss of the main prediction, including noise.
    variance : float
        The mean loss of the main prediction, if the predictions of the fits are taken as the true values.
    unbiased_variance : float
        The increase of the error by variance, on rows where variance increases it. For "error", this is the
        whole variance on rows where the main prediction is right.
    biased_variance : float
        The decrease of the error by variance, on rows where variance decreases it. For "error", this is the
        share of right predictions on rows where the main prediction is wrong; with two classes, it is the
        whole variance on these rows. 0 for squared errors and log loss, which variance only increases.
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
        """The change of the error by variance (James' variance effect)."""
        return self.unbiased_variance - self.biased_variance


@with_parameters(RUNS)
def bias_variance(
    estimator: object,
    X: TableLike,
    y: ArrayLike,
    X_test: TableLike | None = None,
    y_test: ArrayLike | None = None,
    *,
    B: int = 200,
    loss: str | None = None,
    sample_weight: ArrayLike | None = None,
    random_state: RandomState = None,
    runner: str | Runner = "threads",
    n_jobs: int | None = None,
    verbose: int = 0,
) -> BiasVariance:
    """Decompose the error of an estimator into bias and variance.

    The estimator is fitted on bootstrap samples. The main prediction for a row has the smallest mean loss if
    the predictions of the fits are taken as the true values: for "error", the class that most fits predict
    (the first, if tied); for squared errors, the mean of the predicted numbers or probabilities; for log
    loss, the geometric mean of the probabilities. The bias is the loss of the main prediction. The net
    variance is the mean loss of the fits minus the bias. So error = bias + net variance for any loss (James
    2003).

    For squared errors and log loss, the net variance equals the variance. For "error", it is c times the
    variance. On rows where the main prediction is right, c = 1. On other rows, -c is the probability that a
    prediction is right, given that it differs from the main prediction; with two classes, c = -1 (Domingos
    2000).

    Parameters
    ----------
    estimator : classifier or regressor
        Any estimator. It is cloned, and each of its `random_state` parameters that is None gets a seed.
    X : table of shape (n_rows, n_columns)
    y : array-like of shape (n_rows,)
    X_test : table, default=None
        The rows on which the loss is computed. None means the rows of X, each with the fits whose bag does
        not contain it.
    y_test : array-like, default=None
    B : int, default=200
        The number of bootstrap samples.
    loss : {"error", "brier", "log_loss", "squared_error"}, default=None
        For classes, "error", "brier" (the sum of squared differences of probabilities over the classes) or
        "log_loss". For numbers, "squared_error". None means "error" for classes.
    sample_weight : array-like of shape (n_rows,), default=None
        The weights of the rows of X. Small integer weights count as repetitions of rows. Other weights are
        resampled together with their rows.

    Returns
    -------
    BiasVariance
        With `error`, `bias`, `variance`, `unbiased_variance`, `biased_variance` and `net_variance`. The bias
        includes the noise, because with one true value for each row they cannot be separated.

    References
    ----------
    P. Domingos, "A unified bias-variance decomposition and its applications". ICML 2000.
    G. M. James, "Variance and bias for general loss functions". Machine Learning 51, 2003.
    T. Heskes, "Bias/variance decompositions for likelihood-based estimators". Neural Computation 10, 1998.

    Examples
    --------
    A stump has a high bias, and a full tree has a high variance relative to its bias:

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
        raise ValueError("X_test and y_test must be passed together. Pass both, or none.")
    bagged = Bagged.of(estimator, X, y, B, sample_weight, random_state)
    training = bagged.training
    name = named_loss(loss, estimator, are_classes=training.are_classes)
    table, answers = (None, training.y) if y_test is None else bagged.test_rows(X_test, y_test)
    where: Where = {"by": type(estimator).__name__, "runner": runner, "n_jobs": n_jobs, "verbose": verbose}
    keeps_votes = not training.are_classes or name in OF_PROBABILITIES
    decided = np.array(bagged.map_fits(as_voted if keeps_votes else decided_class, table, first=1, **where))
    counts, weights = np.ones(decided.shape[:2]), np.ones(len(answers))
    if X_test is None:
        counts, weights = bagged.is_outside().astype(np.float64), bagged.weights
    is_known = (counts.sum(axis=0) > 0) & (weights > 0)
    if not is_known.any():
        raise ValueError(f"Every row is in every bag. Draw more bags than B={bagged.n_bags}.")
    decided, counts, answers = decided[:, is_known], counts[:, is_known], answers[is_known]
    if name == "brier":
        answers = one_hot(answers, training.task.n_outputs)
    split = {"error": class_parts, "log_loss": likelihood_parts}.get(name, square_parts)
    of_rows = split(decided, counts, answers)
    means = np.average(of_rows, axis=1, weights=weights[is_known])
    error, bias, variance, unbiased, biased = means.tolist()
    return BiasVariance(name, error, bias, variance, unbiased, biased, bagged.n_bags)


def named_loss(loss: object, estimator: object, *, are_classes: bool) -> str:
    """Return the name of the loss. Raise unless the task and the estimator support it.

    Examples
    --------
    >>> named_loss("accuracy", None, are_classes=True)
    Traceback (most recent call last):
    ValueError: loss must be 'error', 'brier', 'log_loss' or None for classification. Got 'accuracy'.
    """
    task = "classification" if are_classes else "regression"
    losses = LOSSES[task]
    name = losses[0] if loss is None else loss
    if name not in losses:
        raise ValueError(f"loss must be {', '.join(map(repr, losses))} or None for {task}. Got {loss!r}.")
    if name in OF_PROBABILITIES:
        check_gives_probabilities(estimator, f"the loss {name!r}", "Set loss='error'")
    return str(name)


def decided_class(number: int, votes: np.ndarray) -> np.ndarray:
    """Return the class with the highest vote, the first if tied."""
    classes: np.ndarray = votes.argmax(axis=1)
    return classes


def as_voted(number: int, votes: np.ndarray) -> np.ndarray:
    """Return the predicted number of each row, or its class probabilities."""
    return votes[:, 0] if votes.shape[1] == 1 else votes


def class_parts(decided: np.ndarray, counts: np.ndarray, y: np.ndarray) -> list[np.ndarray]:
    """Decompose the errors of classes. The main prediction is the class that most fits predict.

    Parameters
    ----------
    decided : ndarray of int of shape (n_bags, n_rows)
    counts : ndarray of float64 of shape (n_bags, n_rows)
        1 if a decision counts, else 0.
    y : ndarray of int of shape (n_rows,)

    Returns
    -------
    list of five ndarray of shape (n_rows,)
        The error, the bias, the variance, and the increase and the decrease of the error by variance.

    Examples
    --------
    Two of three fits are wrong about the first row, and one about the second:

    >>> error, bias, variance, unbiased, biased = class_parts(
    ...     np.array([[1, 0], [1, 0], [0, 1]]), np.ones((3, 2)), np.array([0, 0])
    ... )
    >>> error.round(2), bias, variance.round(2), unbiased.round(2), biased.round(2)
    (array([0.67, 0.33]), array([1., 0.]), array([0.33, 0.33]), array([0.  , 0.33]), array([0.33, 0.  ]))
    """
    n_classes = max(decided.max(), y.max()) + 1
    # The number of fits that predict each class. Integers keep equal losses exactly equal.
    n_predicted = np.stack([(counts * (decided == code)).sum(axis=0) for code in range(n_classes)])
    n_fits, rows = counts.sum(axis=0), np.arange(len(y))
    main = n_predicted.argmax(axis=0)
    error, variance = (1 - n_predicted[answer, rows] / n_fits for answer in (y, main))
    bias = (main != y).astype(np.float64)
    # Variance decreases the error on rows where the main prediction is wrong (James 2003).
    return [error, bias, variance, np.maximum(error - bias, 0.0), np.maximum(bias - error, 0.0)]


def square_parts(decided: np.ndarray, counts: np.ndarray, y: np.ndarray) -> list[np.ndarray]:
    """Decompose squared errors. The main prediction is the mean, and variance only increases the error.

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


def likelihood_parts(decided: np.ndarray, counts: np.ndarray, y: np.ndarray) -> list[np.ndarray]:
    """Decompose log loss. The main prediction is the geometric mean, rescaled to sum to one.

    The variance is the mean Kullback-Leibler divergence of the fits from the main prediction. It equals the
    logarithm of the factor that makes the geometric mean sum to one, so it does not depend on y and only
    increases the loss (Heskes 1998).

    Parameters
    ----------
    decided : ndarray of float64 of shape (n_bags, n_rows, n_classes)
    counts : ndarray of float64 of shape (n_bags, n_rows)
    y : ndarray of int of shape (n_rows,)

    Examples
    --------
    >>> votes = np.array([[[0.8, 0.2]], [[0.2, 0.8]]])
    >>> [part.round(3).item() for part in likelihood_parts(votes, np.ones((2, 1)), np.array([0]))]
    [0.916, 0.693, 0.223, 0.223, 0.0]
    """
    shares = counts / counts.sum(axis=0)
    logs = (shares[:, :, None] * np.log(np.maximum(decided, SMALLEST))).sum(axis=0)
    variance = np.maximum(-np.log(np.exp(logs).sum(axis=1)), 0.0)
    error = -logs[np.arange(len(y)), y]
    return [error, error - variance, variance, variance, np.zeros_like(variance)]
