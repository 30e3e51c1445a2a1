"""The table of metrics, with scikit-learn's name, the task, a plain name and a fast implementation of each.

Higher scores are better. Scores with a name that begins with `neg_` are negative losses. Reports show them as
positive numbers under their plain names; `shown` converts them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import partial
from typing import TypeVar

import numpy as np

from committee.metrics import counts
from committee.metrics.curves import Weighed, area_under_curves, negative_calibration_error, weighted_area
from committee.metrics.row_losses import (
    NoValueError,
    absolute_errors,
    balanced,
    brier_losses,
    errors,
    learnt_log_losses,
    log_losses,
    squared_errors,
)
from committee.saving.format.old_spellings import OLD_METRICS

CLASSES, NUMBERS = "classification", "regression"
Prepare = Callable[[np.ndarray, np.ndarray], Weighed]
Scores = TypeVar("Scores", float, np.ndarray)
RowLosses = Callable[[np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False)
class Metric:
    """A metric of decisions.

    Parameters
    ----------
    name : str
        scikit-learn's name.
    task : {"classification", "regression"}
    plain : str, default=""
        The name in reports. Without it, the plain name is derived from `name`.
    needs_probabilities : bool, default=False
        Whether the metric requires probabilities, and neither labels nor scores are enough.
    losses : callable, default=None
        A function of votes of shape (n_members, n_rows, n_outputs) and y that returns the losses of rows, if
        the score is `best` minus their weighted mean.
    best : float, default=0.0
        The score of decisions without any loss.
    is_root : bool, default=False
        Whether the score is minus the root of the mean loss.
    is_balanced : bool, default=False
        Whether all classes have the same weight in the mean loss.
    fast : callable, default=None
        A function of y and a decision of shape (n_rows, n_outputs) for a score that is not a mean over rows.
        It returns a function of the weights of the rows, which returns the score, or NaN if it is undefined.
    of_counts : callable, default=None
        The score as a function of counts; see `committee.metrics.counts`.
    is_of_one_class : bool, default=False
        Whether only the class with the label 1 is scored. `of_counts` then returns a score for each class.
    of_many : str, default=None
        The metric to use with more than two classes, if this one is for two.
    power : int, default=0
        The power of the unit of y in the unit of the score: 1 for the root mean squared error.
    more_is_better : bool, default=True
        False only for `ERRORS`.
    made_from : tuple, default=None
        A function and its arguments that return this metric. They are used to pickle it.

    Examples
    --------
    >>> metric = METRICS["accuracy"]
    >>> metric.prepare(np.array([0, 1]), np.array([[0.9, 0.1], [0.6, 0.4]]))(np.array([3.0, 1.0]))
    0.75
    """

    name: str
    task: str
    plain: str = ""
    needs_probabilities: bool = False
    losses: RowLosses | None = field(default=None, repr=False)
    best: float = 0.0
    is_root: bool = False
    is_balanced: bool = False
    fast: Prepare | None = field(default=None, repr=False)
    of_counts: counts.Score | None = field(default=None, repr=False)
    is_of_one_class: bool = False
    of_many: str | None = None
    power: int = 0
    more_is_better: bool = True
    made_from: tuple[Callable[..., Metric], tuple[object, ...]] | None = field(default=None, repr=False)

    @property
    def sign(self) -> int:
        """The sign of a score in reports: -1 for losses."""
        return -1 if self.is_named and self.name.startswith("neg_") else 1

    def read(self, score: Scores) -> Scores:
        """Return scores as reports show them, with positive losses."""
        return score if self.sign == 1 else 0.0 - score

    @property
    def is_named(self) -> bool:
        """Whether the name identifies the metric. The name of a function does not."""
        return self.made_from is not None and isinstance(self.made_from[1][0], str)

    @property
    def learnt_losses(self) -> RowLosses | None:
        """The losses of rows that rules minimise, or None if the score is not a mean of losses."""
        return learnt_log_losses if self.losses is log_losses else self.losses

    @property
    def is_mean_over_rows(self) -> bool:
        """Whether the score is the weighted mean of the scores of rows."""
        return self.losses is not None and not self.is_root and not self.is_balanced

    def row_scores(self, y: np.ndarray, decision: np.ndarray) -> np.ndarray:
        """Return the score of each row, for a metric that is a mean over rows."""
        assert self.losses is not None
        of_rows = self.losses(decision[None], y)[0]
        return self.best - of_rows if self.more_is_better else of_rows

    def prepare(self, y: np.ndarray, decision: np.ndarray) -> Weighed:
        """Return the score of a decision as a function of the weights of the rows."""
        if self.losses is None:
            assert self.fast is not None, f"metric_of({self.name!r}) binds the scorer"
            return self.fast(y, decision)
        of_rows = self.losses(decision[None], y)[0]

        def value(weights: np.ndarray) -> float:
            weights = self.weights(y, weights)
            return self.of_loss(float(of_rows @ weights / weights.sum()))

        return value

    def of_loss(self, loss: float) -> float:
        """Convert a loss into the score; see `loss`."""
        if self.losses is None:
            return -loss
        loss = math.sqrt(loss) if self.is_root else loss
        return self.best - loss if self.more_is_better else loss

    def weights(self, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return the weights of the rows in the mean loss."""
        return balanced(y, weights) if self.is_balanced else weights

    def loss(self, y: np.ndarray, decision: np.ndarray, weights: np.ndarray) -> float:
        """Return the number to minimise: the mean loss of the rows if there is one, else minus the score."""
        if self.learnt_losses is not None:
            weights = self.weights(y, weights)
            return float(self.learnt_losses(decision[None], y)[0] @ weights / weights.sum())
        value = self.prepare(y, decision)(weights)
        if not np.isfinite(value):
            raise NoValueError(
                f"The metric {self.name} must give a finite number. Got {value}. Use another metric."
            )
        return -value

    def __reduce__(self) -> str | tuple[object, ...]:
        # pickle cannot find functions without a name, such as lambdas.
        return object.__reduce__(self) if self.made_from is None else self.made_from


def plain_from(name: str) -> str:
    """Derive a plain name from a name of scikit-learn.

    Examples
    --------
    >>> plain_from("neg_mean_absolute_percentage_error")
    'mean absolute percentage error'
    """
    words = name.removeprefix("neg_").removesuffix("_score").replace("_", " ")
    return "F1" if words == "f1" else words


def metric_named(name: str, task: str | None = None) -> Metric:
    """Look up a metric by its name.

    Examples
    --------
    >>> metric_named("auc")
    Traceback (most recent call last):
    ValueError: 'auc' is now 'roc_auc_ovr_weighted': metrics have scikit-learn's names, and more is better.
    >>> metric_named("f1_makro", "classification")
    Traceback (most recent call last):
    ValueError: There is no metric 'f1_makro' for classification. Near ones are 'f1_macro', 'f1_micro'.
    >>> metric_named("r2", "classification")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: The metric 'r2' is for regression. For classification use 'accuracy', 'balanced_accuracy', ...
    """
    if name in OLD_METRICS:
        raise ValueError(
            f"{name!r} is now {OLD_METRICS[name]!r}: metrics have scikit-learn's names, and more is better."
        )
    tasks = (CLASSES, NUMBERS) if task is None else (task,)
    usual = ", ".join(repr(each) for of_task in tasks for each in USUAL[of_task])
    if name not in METRICS:
        near = get_close_matches(name, [each.name for each in TABLE if each.task in tasks])
        where = "" if task is None else f" for {task}"
        ways_out = f"Near ones are {', '.join(map(repr, near))}." if near else f"Use one of {usual}."
        raise ValueError(f"There is no metric {name!r}{where}. {ways_out}")
    if METRICS[name].task not in tasks:
        raise ValueError(f"The metric {name!r} is for {METRICS[name].task}. For {task} use {usual}.")
    return METRICS[name]


TABLE: tuple[Metric, ...] = (
    Metric("accuracy", CLASSES, losses=errors, best=1.0, of_counts=counts.accuracy),
    Metric(
        "balanced_accuracy",
        CLASSES,
        losses=errors,
        best=1.0,
        is_balanced=True,
        of_counts=counts.balanced_accuracy,
    ),
    Metric("neg_log_loss", CLASSES, losses=log_losses, needs_probabilities=True),
    Metric("neg_brier_score", CLASSES, "Brier score", losses=brier_losses, needs_probabilities=True),
    Metric("neg_calibration_error", CLASSES, fast=negative_calibration_error, needs_probabilities=True),
    Metric("roc_auc", CLASSES, "AUC", fast=area_under_curves, of_many="roc_auc_ovr_weighted"),
    Metric("roc_auc_ovr", CLASSES, "AUC (one against the rest)", fast=area_under_curves),
    Metric("roc_auc_ovr_weighted", CLASSES, "weighted AUC", fast=weighted_area),
    Metric("roc_auc_ovo", CLASSES, "AUC (one against one)", needs_probabilities=True),
    Metric("roc_auc_ovo_weighted", CLASSES, "AUC (one against one, weighted)", needs_probabilities=True),
    *(
        Metric(part, CLASSES, of_counts=of_one, is_of_one_class=True, of_many=f"{part}_macro")
        for part, of_one in counts.PARTS.items()
    ),
    *(
        Metric(f"{part}_{average}", CLASSES, of_counts=partial(combine, of_one))
        for part, of_one in counts.PARTS.items()
        for average, combine in counts.AVERAGES.items()
    ),
    Metric("matthews_corrcoef", CLASSES, "Matthews correlation", of_counts=counts.correlation),
    Metric("average_precision", CLASSES),
    Metric("top_k_accuracy", CLASSES, "top 2 accuracy"),
    Metric("d2_brier_score", CLASSES, "D2 of the Brier score", needs_probabilities=True),
    Metric("d2_log_loss_score", CLASSES, "D2 of the log loss", needs_probabilities=True),
    Metric("positive_likelihood_ratio", CLASSES),
    Metric("neg_negative_likelihood_ratio", CLASSES),
    Metric("adjusted_mutual_info_score", CLASSES),
    Metric("adjusted_rand_score", CLASSES),
    Metric("completeness_score", CLASSES),
    Metric("fowlkes_mallows_score", CLASSES),
    Metric("homogeneity_score", CLASSES),
    Metric("mutual_info_score", CLASSES),
    Metric("normalized_mutual_info_score", CLASSES),
    Metric("rand_score", CLASSES),
    Metric("v_measure_score", CLASSES),
    Metric("neg_mean_squared_error", NUMBERS, losses=squared_errors, power=2),
    Metric("neg_root_mean_squared_error", NUMBERS, "RMSE", losses=squared_errors, is_root=True, power=1),
    Metric("neg_mean_absolute_error", NUMBERS, losses=absolute_errors, power=1),
    Metric("neg_median_absolute_error", NUMBERS, power=1),
    Metric("neg_max_error", NUMBERS, power=1),
    Metric("neg_mean_absolute_percentage_error", NUMBERS),
    Metric("neg_mean_squared_log_error", NUMBERS),
    Metric("neg_root_mean_squared_log_error", NUMBERS),
    Metric("neg_mean_poisson_deviance", NUMBERS, power=1),
    Metric("neg_mean_gamma_deviance", NUMBERS),
    Metric("r2", NUMBERS, "R2"),
    Metric("explained_variance", NUMBERS),
    Metric("d2_absolute_error_score", NUMBERS, "D2 of the absolute error"),
)
METRICS: Mapping[str, Metric] = {
    row.name: replace(row, plain=row.plain or plain_from(row.name), made_from=(metric_named, (row.name,)))
    for row in TABLE
}
# The most common metrics, which messages, help texts and shell completion suggest.
USUAL: Mapping[str, tuple[str, ...]] = {
    CLASSES: ("accuracy", "balanced_accuracy", "neg_log_loss", "neg_brier_score", "roc_auc", "f1_macro"),
    NUMBERS: ("neg_root_mean_squared_error", "neg_mean_squared_error", "neg_mean_absolute_error", "r2"),
}
# The default metrics of functions with "error" in their name. Lower is better.
ERRORS: Mapping[str, Metric] = {
    CLASSES: Metric("error", CLASSES, "error", losses=errors, more_is_better=False),
    NUMBERS: Metric(
        "mean squared error",
        NUMBERS,
        "mean squared error",
        losses=squared_errors,
        more_is_better=False,
        power=2,
    ),
}


def shown(name: str, score: Scores) -> tuple[str, Scores]:
    """Return the plain name and the score as reports show them, with positive losses.

    Examples
    --------
    >>> shown("neg_log_loss", -0.25), shown("accuracy", 0.75), shown("my metric", -1.0)
    (('log loss', 0.25), ('accuracy', 0.75), ('my metric', -1.0))
    """
    metric = METRICS.get(name)
    return (name, score) if metric is None else (metric.plain, metric.read(score))
