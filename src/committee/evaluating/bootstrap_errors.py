"""What the error of an estimator on new rows will be, by the bootstrap: plain, out of bag, .632 and .632+."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from committee.documentation import with_parameters
from committee.evaluating.bags import Bagged
from committee.evaluating.estimates import KINDS, Estimates, Parts
from committee.evaluating.intervals import Interval
from committee.evaluating.tasks import RUNS
from committee.members.votes import check_judged
from committee.metrics.losses import NoValueError
from committee.metrics.names import CLASSES, ERRORS, NUMBERS, Metric
from committee.metrics.scoring import check_has_value, metric_of


@dataclass(frozen=True)
class BootstrapError:
    """Estimates of the error on new rows.

    Parameters
    ----------
    value : float
        The estimate that was asked for.
    kind : {"plain", "out_of_bag", ".632", ".632+"}
    scoring : str
        "error" or "mean squared error", or the metric that was asked for. A metric gives scores, of which
        more is better: then what is said here to be too low is too high, and the other way round.
    plain : float
        The mean error of all bags on all rows: too low, because most rows were learnt from.
    out_of_bag : float
        The error on rows by the bags that do not have them: too high, because a bag has fewer different rows.
    apparent : float
        The error of a fit on all rows, on these rows.
    no_information : float
        The error if answers did not depend on rows.
    point_632 : float
        .368 apparent + .632 out_of_bag.
    point_632_plus : float
        The same with a larger part of out_of_bag the more the estimator overfits.
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
        random_state: Any = None,
        runner: Any = "threads",
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> Interval:
        """How sure the estimate is, by drawing again the rows that it is a mean over.

        The fits stay as they are, so what they would differ on other tables is not in it; nor is what the
        no-information rate would differ. A metric that is not a mean over rows, as "roc_auc", is taken of
        every bag for every drawing: with 200 bags of 300 rows, 1000 drawings take one thread some ten seconds
        by "roc_auc", and nine minutes by a metric that only scikit-learn computes.

        Parameters
        ----------
        kind : {"percentile", "bca"}, default="percentile"
        level : float in (0, 1), default=0.95
        B : int, default=1000
        random_state : int, RandomState or None, default=None
        runner, n_jobs, verbose : as for `bootstrap_error`
            Where drawings are judged, and whether to show how many are done.

        Returns
        -------
        Interval
        """
        where = {"by": "bootstrap_error", "runner": runner, "n_jobs": n_jobs, "verbose": verbose}
        return self._estimates.interval(self.kind, random_state, kind=kind, level=level, n_draws=B, **where)


@with_parameters(RUNS)
def bootstrap_error(
    estimator: Any,
    X: Any,
    y: Any,
    B: int = 200,
    *,
    kind: str = ".632+",
    scoring: Any = None,
    sample_weight: Any = None,
    random_state: Any = None,
    runner: Any = "threads",
    n_jobs: int | None = None,
    verbose: int = 0,
) -> BootstrapError:
    """Estimate what the error of an estimator will be on new rows, by fits on rows drawn with replacement.

    With f[b] the fit on bag b, of B bags, and L the loss of one of N rows:

    - "plain" is the mean of L(y[i], f[b](x[i])) over all bags and rows.
    - "out_of_bag" is the mean over the rows of the mean over the bags that do not have the row.
    - ".632" is .368 times the apparent error, of a fit on all rows, plus .632 times the one out of bag.
    - ".632+" is (1 - w) apparent + w out_of_bag, with w = .632 / (1 - .368 R) and R the share of overfitting,
      (out_of_bag - apparent) / (no_information - apparent). The no-information rate is the mean of
      L(y[i], f(x[j])) over all i and j. An error out of bag that is above it counts as equal to it in R and
      in what ".632+" adds to ".632"; and R is 0 if either of the two is not above the apparent error.

    A metric that is no mean over rows, as "roc_auc", is taken of each bag and averaged over the bags. Its
    no-information rate is the mean over 100 drawings of the answers, as is that of more than 1000 different
    numbers.

    Parameters
    ----------
    estimator : classifier or regressor
        Any. It is cloned; every `random_state` in it that is None is drawn.
    X : table of shape (n_rows, n_columns)
    y : array-like of shape (n_rows,)
    B : int, default=200
        The number of bags: each has as many rows as the table, drawn with replacement, whatever their order.
    kind : {".632+", ".632", "out_of_bag", "plain"}, default=".632+"
        Which of the estimates is `value`; the result has them all.
    scoring : str, scorer or callable, default=None
        What judges decisions, as for `score`; more is better. None is the error, or the mean squared error,
        of which less is better.
    sample_weight : array-like of shape (n_rows,), default=None
        Small whole weights are rows that many times; others go along with their row into the fits and the
        means. A row is out of a bag if none of its repetitions is in it: were they rows of their own, each
        would be judged by bags that have learnt from the others. None gives every row the weight 1.

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
    where = {"by": type(estimator).__name__, "runner": runner, "n_jobs": n_jobs, "verbose": verbose}
    judge = metric_for(scoring, bagged)
    estimates = Estimates.of(judge, bagged, **where)
    parts = estimates.parts()
    if np.isnan(parts.value(kind)):
        raise no_value(kind, judge.name, parts)
    return BootstrapError(
        parts.value(kind),
        kind,
        judge.name,
        parts.plain,
        parts.out_of_bag,
        parts.apparent,
        parts.no_information,
        parts.value(".632"),
        parts.value(".632+"),
        bagged.n_bags,
        estimates,
    )


def metric_for(scoring: Any, bagged: Bagged) -> Metric:
    """Return the metric, if it can judge what an estimator will decide."""
    task, y = bagged.lesson.task, bagged.lesson.y
    if scoring is None:
        return ERRORS[CLASSES if bagged.lesson.are_classes else NUMBERS]
    wanted = metric_of(scoring, task.n_outputs, task.classes)
    check_has_value(wanted, y, task.n_outputs, bagged.weights)
    check_judged(bagged.estimator, wanted)
    return wanted


def no_value(kind: str, name: str, parts: Parts) -> NoValueError:
    """The error of an estimate that has no value.

    Examples
    --------
    >>> no_value("plain", "roc_auc", Parts(np.nan, np.nan, 1.0, 0.5, more_is_better=True))
    NoValueError('roc_auc has no value on any bag. Use more rows, or another metric.')
    """
    if kind == ".632+" and not np.isnan(parts.value(".632")):
        return NoValueError(
            f"{name} has no value for answers that do not depend on rows, which .632+ needs. Ask for "
            'kind=".632".'
        )
    return NoValueError(f"{name} has no value on any bag. Use more rows, or another metric.")
