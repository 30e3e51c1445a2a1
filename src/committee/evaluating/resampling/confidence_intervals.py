"""Estimate confidence intervals and variances by the bootstrap over rows.

Each bootstrap sample has its own random stream, derived from its number. So the same seed gives the same
samples, in any order and with any number of workers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypedDict, TypeVar, Unpack

import narwhals.stable.v2 as nw
import numpy as np
from scipy.special import ndtr, ndtri
from sklearn.utils import check_random_state

from committee import running
from committee.documentation import with_parameters
from committee.extensions import extension, picture
from committee.metrics.row_losses import NoValueError
from committee.metrics.scoring import known, name_of_function
from committee.parameters import is_float, is_integer
from committee.printing import brief
from committee.running import Runner
from committee.running.runner import failed
from committee.table.input_types import ArrayLike, RandomState, TableLike
from committee.table.result_frame import Tabulated
from committee.table.schema import take_rows
from committee.task import are_repetitions, to_numbers
from committee.votes.honest_votes import n_rows_of

# The number of bootstrap samples in a task.
DRAWS_IN_A_TASK = 16
# The documentation of parameters that are shared by functions that run tasks.
RUNS = {
    "random_state": "random_state : int, RandomState or None, default=None",
    "runner": """runner : {"serial", "threads", "processes"} or Runner, default="threads"
    Where the work runs. The results do not depend on it.""",
    "n_jobs": """n_jobs : int, default=None
    The number of fits or bootstrap samples that run in parallel. The results do not depend on it. None means
    one per core.""",
    "verbose": """verbose : int, default=0
    Whether to show the progress.""",
}
KINDS = ("percentile", "bca")
# A function of row weights.
OfWeights = Callable[[np.ndarray], Any]
# A function of rows.
Statistic = Callable[..., ArrayLike]
Shared = TypeVar("Shared")
Made = TypeVar("Made")
# With more rows than this, the jackknife of BCa leaves out groups of rows instead of single rows.
MOST_LEFT_OUT = 1000


class Where(TypedDict, total=False):
    """Options of `in_tasks` that its callers pass on."""

    by: str
    runner: str | Runner
    n_jobs: int | None
    verbose: int


@brief
@dataclass(frozen=True, eq=False)
class Interval(Tabulated):
    """An estimate with its confidence interval.

    Parameters
    ----------
    value : float or ndarray
        The estimate on all rows.
    low, high : float or ndarray
        The bounds of the interval.
    level : float
        The probability with which the interval should contain the true value.
    kind : {"percentile", "bca"}

    Examples
    --------
    >>> print(Interval(0.2, 0.125, 0.28, 0.95, "percentile"))
    0.2 [0.125, 0.28]
    """

    value: float | np.ndarray
    low: float | np.ndarray
    high: float | np.ndarray
    level: float
    kind: str

    plot = extension(picture("intervals"), extra="plot")

    def __str__(self) -> str:
        each = zip(*(np.ravel(part) for part in (self.value, self.low, self.high)), strict=True)
        return "\n".join(f"{value:.4g} [{low:.4g}, {high:.4g}]" for value, low, high in each)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Interval):
            return NotImplemented
        mine, others = ((each.value, each.low, each.high) for each in (self, other))
        are_equal = all(np.array_equal(*both, equal_nan=True) for both in zip(mine, others, strict=True))
        return are_equal and (self.level, self.kind) == (other.level, other.kind)

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, eq=False)
class Draws:
    """Bootstrap samples of rows, drawn with replacement.

    Parameters
    ----------
    n_rows : int
    units : ndarray of int of shape (n_units,)
        The rows to draw from. If weights are repetitions, a row of weight 2 occurs twice.
    weights : ndarray of float64 of shape (n_units,)
        The weight of each unit.
    seed : int
    """

    n_rows: int
    units: np.ndarray
    weights: np.ndarray
    seed: int

    @classmethod
    def of(cls, row_weights: np.ndarray, random_state: RandomState) -> Draws:
        """Create bootstrap samples of the rows of positive weight.

        Small integer weights are repetitions: a row of weight 2 counts as two rows. With other weights, all
        rows are drawn with the same probability and keep their weights.

        Examples
        --------
        >>> Draws.of(np.array([2.0, 0.0, 1.0]), 0).units
        array([0, 0, 2])
        """
        seed = seed_of(random_state)
        if are_repetitions(row_weights):
            units = np.repeat(np.arange(len(row_weights)), row_weights.astype(np.intp))
            return cls(len(row_weights), units, np.ones(len(units)), seed)
        units = np.flatnonzero(row_weights)
        return cls(len(row_weights), units, row_weights[units], seed)

    @property
    def all_weights(self) -> np.ndarray:
        """The weight of each row."""
        return self._weigh(np.arange(len(self.units)))

    def rows(self, number: int) -> np.ndarray:
        """Return the rows of a bootstrap sample."""
        return self.units[self._drawn(number)]

    def row_weights(self, number: int) -> np.ndarray:
        """Return the total weight of each row in a bootstrap sample."""
        return self._weigh(self._drawn(number))

    @property
    def n_left_out(self) -> int:
        """The number of jackknife samples. Each is without one row or, for many rows, a group of rows."""
        return min(len(self.units), MOST_LEFT_OUT) if len(self.units) > 1 else 0

    def jackknife_weights(self, number: int) -> np.ndarray:
        """Return the weights of the rows in a jackknife sample."""
        return self._weigh(np.flatnonzero(self._groups != number))

    @cached_property
    def _groups(self) -> np.ndarray:
        # Groups are random, because neighbouring rows may be similar.
        return np.random.default_rng([self.seed]).permutation(len(self.units)) % self.n_left_out

    def _drawn(self, number: int) -> np.ndarray:
        rng = np.random.default_rng([self.seed, number])
        return rng.integers(len(self.units), size=len(self.units))

    def _weigh(self, units: np.ndarray) -> np.ndarray:
        return np.bincount(self.units[units], weights=self.weights[units], minlength=self.n_rows)


def interval_of(
    weighed: OfWeights, draws: Draws, *, kind: str, level: float, n_draws: int, **where: Unpack[Where]
) -> Interval:
    """Compute the confidence interval of a function of row weights."""
    check_interval(kind, level, n_draws)
    return bounds_of(*resampled(weighed, draws, kind, n_draws, **where), kind=kind, level=level)


def resampled(
    weighed: OfWeights, draws: Draws, kind: str, n_draws: int, **where: Unpack[Where]
) -> tuple[Any, np.ndarray, np.ndarray]:
    """Evaluate a function of row weights on all rows, bootstrap samples and, for BCa, jackknife samples."""
    value = weighed(draws.all_weights)
    n_left_out = draws.n_left_out if kind == "bca" else 0
    made = in_tasks(
        on_samples,
        (weighed, draws, n_draws),
        n_draws + n_left_out,
        step=DRAWS_IN_A_TASK,
        what="draws",
        **where,
    )
    return value, np.array(made[:n_draws]), np.reshape(made[n_draws:], (n_left_out, *np.shape(value)))


def on_samples(shared: tuple[OfWeights, Draws, int], begin: int, end: int) -> list[np.ndarray]:
    """Evaluate the function on some samples. Numbers from n_draws on are jackknife samples."""
    weighed, draws, n_draws = shared
    function = known(weighed)
    return [
        function(draws.row_weights(number) if number < n_draws else draws.jackknife_weights(number - n_draws))
        for number in range(begin, end)
    ]


def bounds_of(
    value: float | np.ndarray, drawn: np.ndarray, left_out: np.ndarray, *, kind: str, level: float
) -> Interval:
    """Compute an interval from an estimate and its values on bootstrap and jackknife samples.

    Parameters
    ----------
    value : float or ndarray of some shape
    drawn : ndarray of shape (n_draws, ...)
        The values on bootstrap samples. NaN values are ignored, unless they are more than half.
    left_out : ndarray of shape (n_left_out, ...)
        The values on jackknife samples, for BCa.
    kind : {"percentile", "bca"}
    level : float

    Returns
    -------
    Interval

    Examples
    --------
    >>> bounds_of(2.0, np.arange(5.0), np.array([]), kind="percentile", level=0.5)
    Interval(value=2.0, low=1.0, high=3.0, level=0.5, kind='percentile')
    """
    missing = np.isnan(drawn).mean(axis=0)
    if np.isnan(value).any() or (missing > 0.5).any():
        raise NoValueError(
            "The estimate has no value on these rows, or on most bootstrap samples. Use more rows."
        )
    tails = np.array([(1 - level) / 2, (1 + level) / 2])
    shares = tails if kind == "percentile" else corrected(tails, np.asarray(value), drawn, left_out)
    low, high = (quantile(drawn, share) for share in shares)
    if np.ndim(value) == 0:
        return Interval(float(value), float(low), float(high), level, kind)
    return Interval(value, low, high, level, kind)


def corrected(tails: np.ndarray, value: np.ndarray, drawn: np.ndarray, left_out: np.ndarray) -> np.ndarray:
    """Compute the shares at which BCa takes the quantiles (Efron 1987), of shape (2, ...).

    Let z0 be the normal quantile of the share of samples below the value (ties count half), and let
    a = sum(d^3) / (6 sum(d^2)^1.5) be the acceleration, where d are the changes in the jackknife samples. The
    share for the normal quantile z is Phi(z0 + (z0 + z) / (1 - a (z0 + z))). The share in z0 is limited to at
    least half a sample from 0 and 1.
    """
    n_known = (~np.isnan(drawn)).sum(axis=0)
    below = ((drawn < value).sum(axis=0) + (drawn <= value).sum(axis=0)) / 2
    bias = ndtri(np.clip(below / n_known, 0.5 / n_known, 1 - 0.5 / n_known))
    acceleration = np.zeros_like(bias)
    if len(left_out):
        is_known = ~np.isnan(left_out)
        centre = np.nansum(left_out, axis=0) / np.maximum(is_known.sum(axis=0), 1)
        change = np.where(is_known, centre - left_out, 0.0)
        squares, cubes = np.square(change).sum(axis=0), (change**3).sum(axis=0)
        acceleration = np.divide(cubes, 6 * squares**1.5, out=np.zeros_like(squares), where=squares > 0)
    steps = bias + ndtri(tails.reshape(-1, *[1] * np.ndim(bias)))
    return ndtr(bias + steps / (1 - acceleration * steps))


def quantile(drawn: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Return quantiles along the first axis, for one share or for an array of shares of the other axes."""
    if np.ndim(share) == 0:
        return np.nanquantile(drawn, share, axis=0)
    of_each = [np.nanquantile(drawn[:, *at], share[at]) for at in np.ndindex(share.shape)]
    return np.reshape(of_each, share.shape)


def check_interval(kind: str, level: float, n_draws: int) -> None:
    """Raise unless the parameters of an interval are valid.

    Examples
    --------
    >>> check_interval("bca", 95, 1000)
    Traceback (most recent call last):
    ValueError: level must be a number above 0 and below 1. Got 95.
    """
    if kind not in KINDS:
        raise ValueError(f'kind must be "percentile" or "bca". Got {kind!r}.')
    if not is_float(level) or not 0 < level < 1:
        raise ValueError(f"level must be a number above 0 and below 1. Got {level!r}.")
    check_n_draws(n_draws)


def check_n_draws(n_draws: int, name: str = "B", least: int = 2) -> None:
    """Raise unless a number of draws is an integer of at least `least`."""
    if not is_integer(n_draws) or n_draws < least:
        raise ValueError(f"{name} must be an integer >= {least}. Got {n_draws!r}.")


def seed_of(random_state: RandomState) -> int:
    """Return an integer seed for all random streams."""
    try:
        return int(check_random_state(random_state).randint(2**31 - 1))
    except ValueError as error:
        raise ValueError(
            f"random_state must be an integer, a RandomState or None. Got {random_state!r}."
        ) from error


def in_tasks(
    function: Callable[[Shared, int, int], list[Made]],
    shared: Shared,
    n_total: int,
    *,
    step: int,
    what: str,
    by: str = "interval",
    runner: str | Runner = "serial",
    n_jobs: int | None = None,
    verbose: int = 0,
) -> list[Made]:
    """Evaluate a function for all numbers below `n_total`, and return the results in order.

    Parameters
    ----------
    function : callable
        Called with `shared`, the first number, and the end of a range. Returns a list of results.
    shared : object
        Passed to all tasks.
    n_total : int
        The number of results.
    step : int
        The number of results of a task.
    what, by : str
        The names of the items and of the caller in the progress display.
    runner : {"serial", "threads", "processes"} or Runner
    n_jobs : int or None
    verbose : int or bool

    Returns
    -------
    list of length n_total

    Examples
    --------
    >>> options = {"what": "draws", "by": "squares", "runner": "threads", "n_jobs": None, "verbose": 0}
    >>> in_tasks(lambda base, begin, end: [base + n for n in range(begin, end)], 7, 5, step=2, **options)
    [7, 8, 9, 10, 11]
    """
    with (
        running.runner_of(runner, n_jobs) as run,
        running.Work(what, by, n_total, verbose=int(verbose)) as work,
    ):
        try:
            handle = run.put(shared)
        except running.TaskError as error:
            raise failed(
                f"The data of {by} cannot be sent to other processes: {error.__cause__}. Use functions that "
                'can be pickled, or set runner="threads".',
                error,
            ) from error
        tasks, n_done = [], 0
        for begin in range(0, n_total, step):
            end = min(begin + step, n_total)
            name = f"{what} {begin} to {end - 1}" if step > 1 else f"{what.removesuffix('s')} {begin}"
            tasks.append(run.submit(function, handle, begin, end, name=name))
        try:
            for task in run.as_completed(tasks):
                n_done += len(task.result())
                work.report(n_done)
        finally:
            for task in tasks:
                task.cancel()
    return [each for task in tasks for each in task.result()]


@with_parameters(RUNS)
def bootstrap_variance(
    statistic: Statistic,
    X: TableLike | tuple[TableLike, ...],
    B: int = 200,
    *,
    random_state: RandomState = None,
    runner: str | Runner = "threads",
    n_jobs: int | None = None,
    verbose: int = 0,
) -> float | np.ndarray:
    """Estimate the variance of a statistic by the bootstrap over rows.

    The variance is sum((S[b] - S)^2) / (B - 1), where S[b] is the statistic of bootstrap sample b and S the
    mean of these statistics.

    Parameters
    ----------
    statistic : callable
        Called with rows, in a container of the type of X. Returns a number or an array. If X is a tuple, it
        is called with one argument for each item.
    X : array-like, frame or series, or a tuple of these
        The rows. All items of a tuple must have the same number of rows, and their rows are drawn together.
    B : int, default=200
        The number of bootstrap samples, each with as many rows as X.

    Returns
    -------
    float, or ndarray of the shape of the statistic

    References
    ----------
    T. Hastie, R. Tibshirani, J. Friedman, "The elements of statistical learning". Springer 2009, section
    7.11.

    Examples
    --------
    The variance of a mean is the variance of the rows, divided by their number:

    >>> rows = np.random.default_rng(0).normal(size=100)
    >>> round(bootstrap_variance(np.mean, rows, 500, random_state=0), 3), round(float(rows.var()) / 100, 3)
    (0.009, 0.009)
    """
    check_n_draws(B)
    if not callable(statistic):
        raise ValueError(f"statistic must be a function of rows. Got {statistic!r}.")
    parts = [as_rows(part) for part in (X if isinstance(X, tuple) else (X,))]
    lengths = [n_rows_of(part) for part in parts]
    if not lengths or lengths[0] == 0:
        raise ValueError("X must have at least one row. Got none.")
    if len(set(lengths)) > 1:
        raise ValueError(f"The tables of X must have the same number of rows. Got {lengths}.")
    shared = (statistic, parts, Draws.of(np.ones(lengths[0]), random_state))
    where: Where = {"by": name_of_function(statistic), "runner": runner, "n_jobs": n_jobs, "verbose": verbose}
    found = in_tasks(statistics_of, shared, B, step=DRAWS_IN_A_TASK, what="draws", **where)
    if len({each.shape for each in found}) > 1:
        raise ValueError("statistic must return arrays of the same shape.")
    variance = np.array(found).var(axis=0, ddof=1)
    return float(variance) if variance.ndim == 0 else variance


def statistics_of(shared: tuple[Statistic, list[Any], Draws], begin: int, end: int) -> list[np.ndarray]:
    """Return the statistics of some bootstrap samples."""
    statistic, parts, draws = shared
    found = []
    for number in range(begin, end):
        rows = draws.rows(number)
        drawn = (some_rows(part, rows) for part in parts)
        value = to_numbers(statistic(*drawn), "statistic", "Return numbers.")
        if not np.isfinite(value).all():
            raise ValueError(f"statistic must return finite numbers. Got {value}.")
        found.append(value)
    return found


def as_rows(part: Any) -> Any:
    """Return tables, series and arrays unchanged, and anything else as an array."""
    if nw.dependencies.is_into_dataframe(part) or nw.dependencies.is_into_series(part):
        return part
    return part if hasattr(part, "shape") else np.asarray(part)


def some_rows(part: Any, rows: np.ndarray) -> Any:
    """Select rows of a value that `as_rows` has returned."""
    if nw.dependencies.is_into_series(part):
        return nw.from_native(part, series_only=True)[rows.tolist()].to_native()
    return take_rows(part, rows)
