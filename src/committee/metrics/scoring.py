"""Turn `scoring` into a metric: the name of a metric, a scorer of scikit-learn, or a function of decisions.

In: the value that a user passes. Out: a `Metric` of decisions of shape (n_rows, n_outputs).
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from committee.metrics.metric_table import CLASSES, METRICS, NUMBERS, Metric, Prepare, metric_named
from committee.metrics.row_losses import NoValueError

# A function of y, a decision and the weights of the rows that returns a score.
DecisionScore = Callable[[np.ndarray, np.ndarray, np.ndarray], float]


class NoMetricError(ValueError):
    """A function is not a metric of decisions."""

    @classmethod
    def of(cls, name: str, error: Exception | str) -> NoMetricError:
        """Return the error with its reason and with the values that can be passed."""
        message = error if isinstance(error, str) else f"{type(error).__name__}: {error}"
        reason = " ".join(message.split())
        return cls(
            f"The metric {name} fails ({reason}). A function gets y, a decision of shape (n_rows, n_outputs) "
            "and the weights of the rows, and returns a score. Higher is better. Or pass the name of a "
            "metric, or a scorer made by make_scorer."
        )


def metric_of(scoring: object, n_outputs: int, classes: np.ndarray | None = None) -> Metric:
    """Return the metric for a value of `scoring`.

    Parameters
    ----------
    scoring : str, scorer, callable, Metric or None
        A name of `METRICS`, a scorer made by scikit-learn's `make_scorer`, or a function of y, a decision of
        shape (n_rows, n_outputs) and the weights of the rows whose result is better if it is higher. None is
        accuracy, or the root mean squared error for regression.
    n_outputs : int
        The number of classes, or 1 for a regression.
    classes : ndarray of shape (n_outputs,), default=None
        The labels of the outputs, which are passed to scorers. None passes the numbers of the classes.
        Functions always get the numbers.

    Returns
    -------
    Metric

    Examples
    --------
    >>> metric_of("roc_auc", n_outputs=3)
    Traceback (most recent call last):
    ValueError: The metric 'roc_auc' is for two classes. For 3 use 'roc_auc_ovr_weighted'.
    """
    task = NUMBERS if n_outputs == 1 else CLASSES
    if scoring is None:
        scoring = "accuracy" if task == CLASSES else "neg_root_mean_squared_error"
    if isinstance(scoring, Metric):
        if scoring.task != task:
            raise ValueError(f"The metric {scoring.name!r} is for {scoring.task}, and not for {task}.")
        return scoring
    if callable(scoring) and not is_made_scorer(scoring):
        name, fast = name_of_function(scoring), prepared(on_decisions(scoring))
        return Metric(name, task, name, fast=fast, made_from=(metric_of, (scoring, n_outputs)))
    if not isinstance(scoring, str) and not is_made_scorer(scoring):
        raise ValueError(
            "scoring must be the name of a metric, a scorer made by make_scorer, a function of y, a decision "
            f"and weights, or None. Got {scoring!r}."
        )
    metric = metric_named(scoring, task) if isinstance(scoring, str) else None
    if metric is not None and metric.of_many is not None and n_outputs > 2:
        raise ValueError(
            f"The metric {metric.name!r} is for two classes. For {n_outputs} use {metric.of_many!r}."
        )
    if metric is not None and (metric.losses is not None or metric.fast is not None):
        return metric
    from committee.metrics.scorers import decision_scorer, requires_probabilities

    fast = prepared(decision_scorer(scoring, n_outputs, classes))
    made_from = metric_of, (scoring, n_outputs, classes)
    if metric is None:
        name, needs = repr(scoring), task == CLASSES and requires_probabilities(scoring)
        return Metric(name, task, name, needs, fast=fast, made_from=made_from)
    metric = replace(metric, fast=fast, made_from=made_from)
    return with_positive_class(metric, n_outputs, classes) if metric.is_of_one_class else metric


def with_positive_class(metric: Metric, n_outputs: int, classes: np.ndarray | None) -> Metric:
    """Make a metric of one class score the label 1; without that label, do not use counts."""
    labels = range(n_outputs) if classes is None else classes.tolist()
    positive = [code for code, label in enumerate(labels) if label == 1]
    of_each = metric.of_counts
    if of_each is None or len(positive) != 1:
        return replace(metric, of_counts=None)
    return replace(metric, of_counts=lambda *counts: of_each(*counts)[:, positive[0]])


def learnt_by(scoring: object, n_outputs: int, classes: np.ndarray | None = None) -> Metric:
    """Return the metric that a rule optimises. None is the log loss, or the mean squared error."""
    if scoring is None:
        scoring = "neg_log_loss" if n_outputs > 1 else "neg_mean_squared_error"
    return metric_of(scoring, n_outputs, classes)


def task_of(scoring: object) -> str | None:
    """Return the task of a metric, or None for scorers and functions.

    Examples
    --------
    >>> task_of("r2"), task_of("f1_macro"), task_of(max)
    ('regression', 'classification', None)
    """
    known = METRICS.get(scoring) if isinstance(scoring, str) else scoring
    return known.task if isinstance(known, Metric) else None


def name_of(scoring: object) -> str | None:
    """Return the name that identifies a metric, or None for scorers and functions."""
    if isinstance(scoring, Metric):
        return scoring.name if scoring.is_named else None
    return scoring if isinstance(scoring, str) else None


def is_made_scorer(scoring: object) -> bool:
    """Return whether an object is a scorer made by scikit-learn's `make_scorer`, not a plain function."""
    return hasattr(scoring, "set_score_request")


def name_of_function(function: object) -> str:
    """Return the name of a function for errors and results."""
    return str(getattr(function, "__name__", repr(function)))


def takes_arguments(function: Callable[..., object], n_arguments: int, *names: str) -> bool:
    """Return whether a function accepts a number of positional arguments and some keyword arguments.

    Examples
    --------
    >>> takes_arguments(lambda y, decision: 0, 2), takes_arguments(lambda y, decision: 0, 3)
    (True, False)
    """
    try:
        inspect.signature(function).bind(*[None] * n_arguments, **dict.fromkeys(names))
    except TypeError:
        return False
    except ValueError:
        return True  # Functions written in C may have no signature.
    return True


def on_decisions(function: Callable[..., float]) -> DecisionScore:
    """Check a user's function of y, a decision and weights. Refuse functions of predictions or estimators.

    Examples
    --------
    >>> on_decisions(lambda y_true, y_pred: 0.5)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    committee.metrics.scoring.NoMetricError: The metric <lambda> fails (it takes other arguments). ...
    """
    name = name_of_function(function)
    if not takes_arguments(function, 3):
        raise NoMetricError.of(name, "it takes other arguments")

    def score(y: np.ndarray, decision: np.ndarray, weights: np.ndarray) -> float:
        try:
            return float(function(y, decision, weights))
        except AttributeError as error:
            if error.obj is not y:
                raise
            raise NoMetricError.of(name, error) from error

    return score


def prepared(score: DecisionScore) -> Prepare:
    """Split a function of y, a decision and weights into one of y and a decision, and one of weights."""
    return lambda y, decision: lambda weights: float(score(y, decision, weights))


def known(weighed: Callable[[np.ndarray], Any]) -> Callable[[np.ndarray], Any]:
    """Make a metric return NaN where it has no value, for random resamples of rows."""

    def value(weights: np.ndarray) -> Any:
        try:
            return weighed(weights)
        except NoValueError:
            return float("nan")

    return value


def check_scoring(scoring: object, n_outputs: int, classes: np.ndarray | None = None) -> None:
    """Raise an error before any fit if `scoring` cannot be used for decisions on a task.

    A function that fails on artificial rows is accepted if its arguments are not the reason, because it may
    work on the real rows.
    """
    metric = metric_of(scoring, n_outputs, classes)
    y = np.arange(n_outputs) if n_outputs > 1 else np.array([0.0, 1.0])
    if callable(scoring) and not is_made_scorer(scoring):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                metric.prepare(y, some_decision(y, n_outputs))(np.ones(len(y)))
            except NoMetricError:
                raise
            except Exception:
                return
    elif n_outputs > 1 and metric is not METRICS.get(metric.name):
        check_has_value(metric, y, n_outputs)


def check_has_value(metric: Metric, y: np.ndarray, n_outputs: int, weights: np.ndarray | None = None) -> None:
    """Raise an error before any fit if a metric fails on a made-up decision.

    Examples
    --------
    >>> of_nothing = metric_of(lambda y, decision, weights: None, 2)
    >>> check_has_value(of_nothing, np.array([0, 1]), 2)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    committee.metrics.scoring.NoMetricError: The metric <lambda> fails (TypeError: float() argument must ...
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
                f"{error} Use another metric, or one that make_scorer makes for these answers."
            ) from error
        except Exception as error:
            raise NoMetricError.of(metric.name, error) from error


def some_decision(y: np.ndarray, n_outputs: int) -> np.ndarray:
    """Return the mean of a constant and a perfect decision, because some metrics are undefined for these.

    Examples
    --------
    >>> some_decision(np.array([0, 0, 1, 0]), 2)
    array([[0.875, 0.125],
           [0.875, 0.125],
           [0.375, 0.625],
           [0.875, 0.125]])
    """
    right = y[:, None] if n_outputs == 1 else np.eye(n_outputs)[y]
    decision: np.ndarray = (right + right.mean(axis=0)) / 2
    return decision
