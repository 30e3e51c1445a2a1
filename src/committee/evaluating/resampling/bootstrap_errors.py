"""Estimate the error of an estimator on new rows by the bootstrap: plain, out-of-bag, .632 and .632+."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Unpack

import numpy as np

from committee.documentation import with_parameters
from committee.evaluating.resampling.bag_fits import Bagged
from committee.evaluating.resampling.confidence_intervals import RUNS, Draws, Interval, Where, interval_of
from committee.members.member_votes import check_scored_by
from committee.metrics.curves import Weighed
from committee.metrics.metric_table import CLASSES, ERRORS, NUMBERS, Metric
from committee.metrics.row_losses import NoValueError
from committee.metrics.scoring import check_has_value, known, metric_of
from committee.parameters import refusing_unknown_names
from committee.printing import brief
from committee.running import Runner
from committee.table.input_types import ArrayLike, RandomState, TableLike
from committee.table.result_frame import Tabulated

KINDS = ("plain", "out_of_bag", ".632", ".632+")
# The no-information rate is exact if y has at most this many distinct values and the metric is a mean over
# rows.
MOST_ANSWERS = 1000
# Otherwise it is the mean over this many random draws of y.
N_SHUFFLES = 100


@brief
@dataclass(frozen=True)
class BootstrapError(Tabulated):
    """Estimates of the error on new rows.

    Parameters
    ----------
    value : float
        The requested estimate.
    kind : {"plain", "out_of_bag", ".632", ".632+"}
        The kind of `value`.
    scoring : str
        "error" or "mean squared error", or the requested metric. For a metric, all estimates are scores, and
        higher is better, so the biases described below have the opposite sign.
    plain : float
        The mean error of all bags on all rows. It is too low, because most rows are training rows.
    out_of_bag : float
        The mean error on rows of the bags that do not contain them. It is too high, because a bag contains
        fewer distinct rows than the table.
    apparent : float
        The training error of a fit on all rows.
    no_information : float
        The error if y did not depend on X.
    point_632 : float
        .368 apparent + .632 out_of_bag.
    point_632_plus : float
        Like `point_632`, with more weight on `out_of_bag` if the estimator overfits.
    n_bags : int
    """

    value: float
    kind: str
    scoring: str
    plain: float
    out_of_bag: float
    apparent: float
    no_information: float
    point_632: float
    point_632_plus: float
    n_bags: int
    _estimates: Estimates = field(repr=False, compare=False)

    def interval(
        self,
        *,
        kind: str = "percentile",
        level: float = 0.95,
        B: int = 1000,
        random_state: RandomState = None,
        runner: str | Runner = "threads",
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> Interval:
        """Compute a confidence interval of the estimate by resampling the scored rows.

        The models are not fitted again, and the no-information rate stays the same. So the interval does not
        include the variance of the fits and of this rate. A metric that is not a mean over rows, such as
        "roc_auc", is computed for each bag and bootstrap sample. With 200 bags of 300 rows and 1000 samples,
        this takes about ten seconds for "roc_auc" in one thread, and nine minutes for a metric that only
        scikit-learn computes.

        Parameters
        ----------
        kind : {"percentile", "bca"}, default="percentile"
        level : float in (0, 1), default=0.95
        B : int, default=1000
            The number of bootstrap samples.
        random_state : int, RandomState or None, default=None
        runner, n_jobs, verbose : see `bootstrap_error`

        Returns
        -------
        Interval
        """
        where: Where = {"by": "bootstrap_error", "runner": runner, "n_jobs": n_jobs, "verbose": verbose}
        draws = Draws.of(self._estimates.weights, random_state)
        value = partial(self._estimates.value, self.kind)
        return interval_of(value, draws, kind=kind, level=level, n_draws=B, **where)


@refusing_unknown_names
@with_parameters(RUNS)
def bootstrap_error(
    estimator: object,
    X: TableLike,
    y: ArrayLike,
    B: int = 200,
    *,
    kind: str = ".632+",
    scoring: object = None,
    sample_weight: ArrayLike | None = None,
    random_state: RandomState = None,
    runner: str | Runner = "threads",
    n_jobs: int | None = None,
    verbose: int = 0,
) -> BootstrapError:
    """Estimate the error of an estimator on new rows, by fits on bootstrap samples.

    Let f[b] be the fit on bag b, f the fit on all rows, and L the loss of a row. For each kind:

    - "plain" is the mean of L(y[i], f[b](x[i])) over all bags and rows.
    - "out_of_bag" averages, for each row, over the bags that do not contain the row, and then over the rows.
    - ".632" is .368 apparent + .632 out_of_bag, where apparent is the error of f on its training rows.
    - ".632+" is (1 - w) apparent + w out_of_bag, with w = .632 / (1 - .368 R). R is the relative overfitting
      rate (out_of_bag - apparent) / (no_information - apparent). The no-information rate is the mean of
      L(y[i], f(x[j])) over all i and j. In R, and in the difference between ".632+" and ".632", the
      out-of-bag error is limited to the no-information rate. R is 0 if either of them is not above the
      apparent error.

    A metric that is not a mean over rows, such as "roc_auc", is computed for each bag and averaged over the
    bags. For such metrics, and if y has more than 1000 distinct numbers, the no-information rate is the mean
    over 100 random draws of y.

    Parameters
    ----------
    estimator : classifier or regressor
        Any estimator. It is cloned, and each of its `random_state` parameters that is None gets a seed.
    X : table of shape (n_rows, n_columns)
    y : array-like of shape (n_rows,)
    B : int, default=200
        The number of bags. Each contains as many rows as the table, drawn with replacement. Bags do not
        depend on the order of the rows.
    kind : {".632+", ".632", "out_of_bag", "plain"}, default=".632+"
        The estimate that is returned as `value`. The result contains all of them.
    scoring : str, scorer or callable, default=None
        See `score`; higher is better. None means the error for classes and the mean squared error for
        numbers, for which lower is better.
    sample_weight : array-like of shape (n_rows,), default=None
        Small integer weights count as repetitions of rows. Other weights are used in the fits and the means.
        A row is out of bag only if the bag contains none of its repetitions, because otherwise the bag has
        been trained on the row. None gives every row the weight 1.

    Returns
    -------
    BootstrapError
        With `value`, all estimates, and `interval()`.

    References
    ----------
    B. Efron, R. Tibshirani, "Improvements on cross-validation: the .632+ bootstrap method". Journal of the
    American Statistical Association 92, 1997.

    Examples
    --------
    >>> from committee import DecisionTreeClassifier
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(100, 3)), rng.integers(2, size=100)
    >>> found = bootstrap_error(DecisionTreeClassifier(), X, y, 50, random_state=0)
    >>> found.apparent, round(found.plain, 2), round(found.out_of_bag, 2), round(found.value, 2)
    (0.0, 0.19, 0.52, 0.51)
    """
    if kind not in KINDS:
        raise ValueError(f'kind must be "plain", "out_of_bag", ".632" or ".632+". Got {kind!r}.')
    bagged = Bagged.of(estimator, X, y, B, sample_weight, random_state)
    where: Where = {"by": type(estimator).__name__, "runner": runner, "n_jobs": n_jobs, "verbose": verbose}
    metric = metric_for(scoring, bagged)
    estimates = Estimates.of(metric, bagged, **where)
    errors = {
        each: estimates.means.error(each, bagged.weights) for each in ("plain", "out_of_bag", "apparent")
    }
    values = {each: estimates.combined(each, errors) for each in KINDS}
    if np.isnan(values[kind]):
        raise no_value(kind, metric.name, values[".632"])
    return BootstrapError(
        values[kind],
        kind,
        metric.name,
        **errors,
        no_information=estimates.no_information,
        point_632=values[".632"],
        point_632_plus=values[".632+"],
        n_bags=bagged.n_bags,
        _estimates=estimates,
    )


def metric_for(scoring: object, bagged: Bagged) -> Metric:
    """Return the metric. Raise if it cannot score the decisions of the estimator."""
    task, y = bagged.training.task, bagged.training.y
    if scoring is None:
        return ERRORS[CLASSES if bagged.training.are_classes else NUMBERS]
    wanted = metric_of(scoring, task.n_outputs, task.classes)
    check_has_value(wanted, y, task.n_outputs, bagged.weights)
    check_scored_by(bagged.estimator, wanted)
    return wanted


def no_value(kind: str, name: str, point_632: float) -> NoValueError:
    """Return the error for an estimate that has no value.

    Examples
    --------
    >>> no_value("plain", "roc_auc", np.nan)
    NoValueError('roc_auc has no value on any bag. Use more rows, or another metric.')
    """
    if kind == ".632+" and not np.isnan(point_632):
        return NoValueError(
            f'{name} has no value for y that does not depend on X, which .632+ needs. Set kind=".632".'
        )
    return NoValueError(f"{name} has no value on any bag. Use more rows, or another metric.")


@dataclass(frozen=True, eq=False)
class RowScores:
    """A function that replaces votes by scores of rows, if the metric is a mean over rows.

    The votes of the fit on all rows are not replaced, because the no-information rate needs them.

    Parameters
    ----------
    metric : Metric
    y : ndarray of shape (n_rows,)
    """

    metric: Metric
    y: np.ndarray

    def __call__(self, number: int, votes: np.ndarray) -> np.ndarray:
        """Return the scores of the rows, or the votes."""
        if number == 0 or not self.metric.is_mean_over_rows:
            return votes
        return self.metric.row_scores(self.y, votes)


@dataclass(frozen=True, eq=False)
class RowMeans:
    """The scores of rows, for a metric that is a mean over rows.

    Parameters
    ----------
    of_rows : mapping of str to ndarray of shape (n_rows,)
        The scores by kind: "apparent", "plain" and "out_of_bag".
    is_known : ndarray of float64 of shape (n_rows,)
        1 if at least one bag does not contain the row, else 0.
    """

    of_rows: Mapping[str, np.ndarray]
    is_known: np.ndarray

    @classmethod
    def of(cls, metric: Metric, found: list[np.ndarray], bagged: Bagged) -> RowMeans:
        """Average the scores of each row over the bags."""
        losses, is_outside = np.array(found[1:]), bagged.is_outside()
        n_outside = is_outside.sum(axis=0)
        if not n_outside[bagged.weights > 0].any():
            raise ValueError(f"Every row is in every bag. Draw more bags than B={bagged.n_bags}.")
        of_rows = {
            "apparent": metric.row_scores(bagged.training.y, found[0]),
            "plain": losses.mean(axis=0),
            "out_of_bag": (losses * is_outside).sum(axis=0) / np.maximum(n_outside, 1),
        }
        return cls(of_rows, (n_outside > 0).astype(np.float64))

    def error(self, kind: str, weights: np.ndarray) -> float:
        """Return the error of one kind for given row weights."""
        if kind == "out_of_bag":
            weights = weights * self.is_known
        return float(self.of_rows[kind] @ weights / weights.sum()) if weights.any() else float("nan")


@dataclass(frozen=True, eq=False)
class BagMeans:
    """The votes of all fits, for a metric that is not a mean over rows and is computed for each bag.

    Parameters
    ----------
    metric : Metric
    y : ndarray of shape (n_rows,)
    votes : list of ndarray of shape (n_rows, n_outputs)
        The votes of the fit on all rows, followed by those of the bags.
    is_outside : ndarray of bool of shape (n_bags, n_rows)
    """

    metric: Metric
    y: np.ndarray
    votes: list[np.ndarray]
    is_outside: np.ndarray

    @classmethod
    def of(cls, metric: Metric, found: list[np.ndarray], bagged: Bagged) -> BagMeans:
        """Store the votes."""
        return cls(metric, bagged.training.y, found, bagged.is_outside())

    def error(self, kind: str, weights: np.ndarray) -> float:
        """Return the error of one kind: the mean over the bags on which the metric has a value."""
        on_all, *of_bags = self._prepared
        if kind == "apparent":
            return on_all(weights)
        rows = weights * self.is_outside if kind == "out_of_bag" else [weights] * len(of_bags)
        bags = zip(of_bags, rows, strict=True)
        return mean_known([known(of_bag)(each) for of_bag, each in bags if each.any()])

    @cached_property
    def _prepared(self) -> list[Weighed]:
        return [self.metric.prepare(self.y, votes) for votes in self.votes]

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in vars(self).items() if name != "_prepared"}


@dataclass(frozen=True, eq=False)
class Estimates:
    """The estimates of each kind, for any row weights.

    Parameters
    ----------
    means : RowMeans or BagMeans
    no_information : float
    more_is_better : bool
    weights : ndarray of shape (n_rows,)
    """

    means: RowMeans | BagMeans
    no_information: float
    more_is_better: bool
    weights: np.ndarray

    @classmethod
    def of(cls, metric: Metric, bagged: Bagged, **where: Unpack[Where]) -> Estimates:
        """Fit on the bags, and score the votes."""
        found = bagged.map_fits(RowScores(metric, bagged.training.y), **where)
        means = (RowMeans if metric.is_mean_over_rows else BagMeans).of(metric, found, bagged)
        no_information = no_information_rate(metric, found[0], bagged)
        return cls(means, no_information, metric.more_is_better, bagged.weights)

    def value(self, kind: str, weights: np.ndarray) -> float:
        """Return an estimate for given row weights, and compute only the errors that it needs."""
        needed = (kind,) if kind in ("plain", "out_of_bag") else ("apparent", "out_of_bag")
        return self.combined(kind, {each: self.means.error(each, weights) for each in needed})

    def combined(self, kind: str, errors: Mapping[str, float]) -> float:
        """Return an estimate, computed from the errors by kind."""
        if kind in errors:
            return errors[kind]
        apparent, out_of_bag = errors["apparent"], errors["out_of_bag"]
        if kind == ".632":
            return 0.368 * apparent + 0.632 * out_of_bag
        return point_632_plus(apparent, out_of_bag, self.no_information, more_is_better=self.more_is_better)


def mean_known(values: list[float]) -> float:
    """Return the mean of the values that are not NaN, or NaN if all are."""
    numbers = [value for value in values if value == value]
    return float(np.mean(numbers)) if numbers else float("nan")


def no_information_rate(metric: Metric, votes: np.ndarray, bagged: Bagged) -> float:
    """Return the error if y did not depend on X: the mean over all pairs of a vote and a value of y."""
    y, weights = bagged.training.y, bagged.weights
    shares = weights / weights.sum()
    answers, places = np.unique(y, return_inverse=True)
    if metric.is_mean_over_rows and len(answers) <= MOST_ANSWERS:
        if_all = [metric.row_scores(np.full_like(y, answer), votes) @ shares for answer in answers]
        return float(np.bincount(places, weights=shares) @ if_all)
    rng = np.random.default_rng([bagged.seed, 0, 2])
    drawn = [rng.choice(len(y), size=len(y), p=shares) for _ in range(N_SHUFFLES)]
    return mean_known([known(metric.prepare(y[rows], votes))(weights) for rows in drawn])


def point_632_plus(
    apparent: float, out_of_bag: float, no_information: float, *, more_is_better: bool
) -> float:
    """Compute the .632+ estimate (Efron and Tibshirani 1997, equations 31 and 32).

    Examples
    --------
    An estimator that memorises y and does not generalise, and one that is worse than chance:

    >>> point_632_plus(0.0, 0.5, 0.5, more_is_better=False)
    0.5
    >>> point_632_plus(0.75, 0.75, 0.5, more_is_better=False)
    0.75
    """
    if np.isnan(no_information):
        return float("nan")
    sign = -1.0 if more_is_better else 1.0
    low, high, limit = sign * apparent, sign * out_of_bag, sign * no_information
    cut_off = min(high, limit)
    overfitting = (cut_off - low) / (limit - low) if cut_off > low else 0.0
    more = 0.368 * 0.632 * overfitting / (1 - 0.368 * overfitting)
    # Adding 0 turns -0.0 into 0.0.
    return sign * (0.368 * low + 0.632 * high + (cut_off - low) * more) + 0.0
