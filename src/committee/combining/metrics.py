"""Metrics of decisions, by name: what they are for, which way is better, and their value.

A metric is prepared on y and a decision once, and then told the weights of the rows, as often as the rows are
drawn again: what does not depend on the weights (losses of rows, their order, their bins) is done once.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from committee.combining.fixed import one_hot
from committee.combining.losses import (
    NoMetricError,
    NoValueError,
    errors,
    is_made_scorer,
    log_losses,
    loss_weights,
    name_of_function,
    on_decisions,
    square_sums,
)

# From y and a decision to a function of the weights of the rows.
Weighed = Callable[[np.ndarray], float]
Prepare = Callable[[np.ndarray, np.ndarray], Weighed]
# The bins of the calibration error: as many as Guo et al. 2017 take.
N_BINS = 15
# Those that are about probabilities.
OF_PROBABILITIES = ("log_loss", "brier", "calibration_error")


def known(weighed: Callable[[np.ndarray], Any]) -> Callable[[np.ndarray], Any]:
    """A metric that is NaN where it has no value, for rows that happen to be drawn."""

    def value(weights: np.ndarray) -> Any:
        try:
            return weighed(weights)
        except NoValueError:
            return float("nan")

    return value


@dataclass(frozen=True)
class Metric:
    """A metric of decisions.

    Parameters
    ----------
    name : str
    task : {"classification", "regression"}
    more_is_better : bool
    prepare : callable
        From y and a decision of shape (n_rows, n_outputs) to a function of the weights of the rows. It gives
        NaN where the metric has no value.
    row_losses : callable, default=None
        From y and a decision to a loss of each row, if the metric is their weighted mean.
    made_from : tuple, default=None
        The arguments of `metric_of` that give this metric, by which it is pickled.

    Examples
    --------
    >>> metric = metric_of("error", n_outputs=2)
    >>> metric.prepare(np.array([0, 1]), np.array([[0.9, 0.1], [0.6, 0.4]]))(np.array([3.0, 1.0]))
    0.25
    """

    name: str
    task: str
    more_is_better: bool
    prepare: Prepare = field(repr=False)
    row_losses: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = field(default=None, repr=False)
    made_from: tuple[Any, ...] | None = field(default=None, repr=False, compare=False)

    @property
    def is_named(self) -> bool:
        """Whether the name alone tells which metric it is, which that of a function does not."""
        return self.made_from is not None and isinstance(self.made_from[0], str)

    def __reduce__(self) -> Any:
        # The functions in it have no name that pickle could find.
        return object.__reduce__(self) if self.made_from is None else (metric_of, self.made_from)


def metric_of(metric: Any, n_outputs: int, classes: np.ndarray | None = None) -> Metric:
    """A metric by its name, or by a function.

    Parameters
    ----------
    metric : str, callable, Metric or None
        One of `METRICS`, a name of scikit-learn's scorers, a scorer made by scikit-learn's `make_scorer`, or
        a function of y, a decision of shape (n_rows, n_outputs) and the weights of the rows, of which less is
        better. None is the error, or the root mean squared error of numbers.
    n_outputs : int
        The number of classes, or 1 for a regression.
    classes : ndarray of shape (n_outputs,), default=None
        The labels that outputs stand for, which scorers of scikit-learn see. None: the numbers of the
        outputs. All other metrics see numbers of classes.

    Returns
    -------
    Metric

    Examples
    --------
    >>> metric_of("auc", n_outputs=1)
    Traceback (most recent call last):
    ValueError: The metric 'auc' is for classification. For regression use squared_error, rmse, mae.
    """
    task = "regression" if n_outputs == 1 else "classification"
    if metric is None:
        metric = "error" if task == "classification" else "rmse"
    if isinstance(metric, str) and metric in METRICS:
        metric = METRICS[metric]
    ours = ", ".join(name for name, each in METRICS.items() if each.task == task)
    if isinstance(metric, Metric):
        if metric.task != task:
            raise ValueError(f"The metric {metric.name!r} is for {metric.task}. For {task} use {ours}.")
        return metric
    if callable(metric) and not is_made_scorer(metric):
        prepare = of_function(on_decisions(metric))
        return Metric(name_of_function(metric), task, False, prepare, made_from=(metric, n_outputs))
    from committee.combining.scorers import decision_scorer, is_scorer, name_of_scorer

    if isinstance(metric, str) and not is_scorer(metric):
        raise ValueError(
            f"There is no metric {metric!r}. Use {ours}, a name of scikit-learn's scorers or a function."
        )
    if isinstance(metric, str) and task_of_metric(metric) != task:
        raise ValueError(f"The metric {metric!r} is for {task_of_metric(metric)}. For {task} use {ours}.")
    if not is_scorer(metric):
        raise ValueError(f"metric must be a name, a scorer or a function. Got {metric!r}.")
    prepare = of_function(decision_scorer(metric, n_outputs, classes))
    return Metric(name_of_scorer(metric), task, True, prepare, made_from=(metric, n_outputs, classes))


def check_has_value(metric: Metric, y: np.ndarray, n_outputs: int, weights: np.ndarray | None = None) -> None:
    """Raise, before any work, if a metric fails on a decision as there will be some.

    Examples
    --------
    >>> of_nothing = metric_of(lambda y, decision, weights: None, 2)
    >>> check_has_value(of_nothing, np.array([0, 1]), 2)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    committee.combining.losses.NoMetricError: The metric <lambda> fails (TypeError: float() argument must ...
    """
    decision = some_decision(y, n_outputs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            metric.prepare(y, decision)(np.ones(len(y)) if weights is None else weights)
        except NoMetricError:
            raise
        except NoValueError as error:
            raise NoValueError(
                f"{error} Take another, or one that make_scorer makes for these answers."
            ) from error
        except Exception as error:
            raise NoMetricError.of(metric.name, error) from error


def some_decision(y: np.ndarray, n_outputs: int) -> np.ndarray:
    """A decision between what is usual and what is right: there are metrics that have no value for either.

    Examples
    --------
    >>> some_decision(np.array([0, 0, 1, 0]), 2)
    array([[0.875, 0.125],
           [0.875, 0.125],
           [0.375, 0.625],
           [0.875, 0.125]])
    """
    right = y[:, None] if n_outputs == 1 else one_hot(y, n_outputs)
    decision: np.ndarray = (right + right.mean(axis=0)) / 2
    return decision


def name_of_metric(metric: Any) -> str | None:
    """The name that a metric can be found by; None for functions, which other ones may share theirs with.

    Examples
    --------
    >>> name_of_metric("f1_macro"), name_of_metric(METRICS["rmse"]), name_of_metric(max)
    ('f1_macro', 'rmse', None)
    """
    if isinstance(metric, Metric):
        return metric.name if metric.is_named else None
    return metric if isinstance(metric, str) else None


def task_of_metric(metric: Any) -> str | None:
    """What a metric of ours or a scorer of scikit-learn is for, by its name; None for any other.

    Examples
    --------
    >>> task_of_metric("rmse"), task_of_metric("f1_macro"), task_of_metric(max)
    ('regression', 'classification', None)
    """
    known = METRICS.get(metric, metric) if isinstance(metric, str) else metric
    if isinstance(known, Metric):
        return known.task
    if not isinstance(known, str):
        return None
    from committee.combining.scorers import is_scorer, task_of_scorer

    return task_of_scorer(known) if is_scorer(known) else None


def judges_probabilities(metric: Any) -> bool:
    """Whether a metric is about probabilities, so that neither labels nor scores will do; no function tells.

    Examples
    --------
    >>> [judges_probabilities(metric) for metric in ("brier", "auc", "neg_log_loss", "roc_auc", max)]
    [True, False, True, False, False]
    """
    name = name_of_metric(metric)
    if name in METRICS:
        return name in OF_PROBABILITIES
    if name is None and not is_made_scorer(metric):
        return False
    from committee.combining.scorers import asks_for_probabilities, is_scorer

    return is_scorer(metric) and asks_for_probabilities(metric)


def power_of_unit(metric: Metric) -> int:
    """The power of the unit of y that scores are in: 1 for rmse, 2 for the squared error, 0 for most others.

    The metric is asked about answers that are twice as large. Functions are taken as they are.

    Examples
    --------
    >>> [power_of_unit(metric_of(name, 1)) for name in ("rmse", "neg_mean_squared_error", "r2")]
    [1, 2, 0]
    """
    if metric.task == "classification" or not metric.is_named:
        return 0
    y = np.array([0.5, 1.25, 2.0, 3.5])
    once, twice = (metric.prepare(times * y, times * y[::-1, None])(np.ones(len(y))) for times in (1, 2))
    return {2.0: 1, 4.0: 2}.get(round(twice / once, 6), 0)


def mean_of(name: str, task: str, losses: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Metric:
    """A metric that is the weighted mean of losses of rows."""

    def row_losses(y: np.ndarray, decision: np.ndarray) -> np.ndarray:
        return losses(decision[None], y)[0]

    def prepare(y: np.ndarray, decision: np.ndarray) -> Weighed:
        of_rows = row_losses(y, decision)
        return lambda weights: float(of_rows @ weights / weights.sum())

    return Metric(name, task, False, prepare, row_losses)


def balanced_error(y: np.ndarray, decision: np.ndarray) -> Weighed:
    """The mean, over the classes that there are, of the error on the rows of a class."""
    of_rows = errors(decision[None], y)[0]

    def value(weights: np.ndarray) -> float:
        by_class = loss_weights("balanced_error", y, weights)
        return float(of_rows @ by_class / by_class.sum())

    return value


def area_under_curves(y: np.ndarray, decision: np.ndarray) -> Weighed:
    """The area under the ROC curve of each class against the rest, weighted by how much of y is of the class.

    It is the probability that a row of the class has a higher vote for it than a row of another, equal votes
    counting half (Fawcett 2006). A class without rows, or with all of them, has no area and no say.
    """
    ranked = [np.unique(of_class, return_inverse=True)[1] for of_class in decision.T]

    def value(weights: np.ndarray) -> float:
        of_classes = np.bincount(y, weights=weights, minlength=len(ranked))
        total, said = 0.0, 0.0
        for code, ranks in enumerate(ranked):
            inside, outside = of_classes[code], of_classes.sum() - of_classes[code]
            if inside <= 0 or outside <= 0:
                continue
            is_inside = y == code
            ours = np.bincount(ranks[is_inside], weights=weights[is_inside], minlength=ranks.max() + 1)
            others = np.bincount(ranks[~is_inside], weights=weights[~is_inside], minlength=len(ours))
            below = np.cumsum(others) - others / 2
            total += float(ours @ below) / outside
            said += inside
        return float(total / said) if said > 0 else float("nan")

    return value


def calibration_error(y: np.ndarray, decision: np.ndarray) -> Weighed:
    """How far the confidence in the decided class is from the accuracy: the expected calibration error.

    Rows go into 15 bins of equal width by the probability of the class that is decided on: (0, 1/15],
    (1/15, 2/15] and so on. The error is the mean over the bins, by the weight of their rows, of the distance
    between the mean probability and the share of right decisions (Guo et al. 2017).
    """
    confidence = decision.max(axis=1)
    gap = 1.0 - errors(decision[None], y)[0] - confidence
    bins = bins_of(confidence)
    return lambda weights: float(
        np.abs(np.bincount(bins, weights=gap * weights, minlength=N_BINS)).sum() / weights.sum()
    )


def bins_of(confidence: np.ndarray) -> np.ndarray:
    """The bin of each probability: those above k / 15 and up to (k + 1) / 15 are in bin k.

    Examples
    --------
    >>> bins_of(np.array([1 / 15, 0.5, 1.0]))
    array([ 0,  7, 14])
    """
    upper = np.arange(1, N_BINS) / N_BINS
    return np.searchsorted(upper, confidence, side="left")


def root_mean_square(y: np.ndarray, decision: np.ndarray) -> Weighed:
    """The root of the mean squared error."""
    mean = METRICS["squared_error"].prepare(y, decision)
    return lambda weights: float(np.sqrt(mean(weights)))


def absolute_errors(votes: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The distance from the answer."""
    return np.abs(votes[:, :, 0] - y)


def of_function(function: Callable[..., Any]) -> Prepare:
    """A function of y, a decision and weights."""
    return lambda y, decision: lambda weights: float(function(y, decision, weights))


METRICS: Mapping[str, Metric] = {
    each.name: replace(each, made_from=(each.name, 1 if each.task == "regression" else 2))
    for each in (
        mean_of("error", "classification", errors),
        Metric("balanced_error", "classification", False, balanced_error),
        Metric("auc", "classification", True, area_under_curves),
        mean_of("log_loss", "classification", log_losses),
        mean_of("brier", "classification", square_sums),
        Metric("calibration_error", "classification", False, calibration_error),
        mean_of("squared_error", "regression", square_sums),
        Metric("rmse", "regression", False, root_mean_square),
        mean_of("mae", "regression", absolute_errors),
    )
}
