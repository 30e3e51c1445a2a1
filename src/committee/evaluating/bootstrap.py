"""How sure any number is that is made from rows: it is made again from rows drawn with replacement."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from committee.combining.rule import n_rows_of
from committee.evaluating.intervals import Draws, Interval, bounds_of, check_interval, check_n_draws
from committee.evaluating.tasks import DRAWS_IN_A_TASK, in_tasks
from committee.members.seeing import take_rows
from committee.task import to_numbers


def bootstrap_variance(
    statistic: Callable[..., Any],
    X: Any,
    B: int = 200,
    *,
    random_state: Any = None,
    runner: Any = "threads",
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Any:
    """The variance of a statistic, by making it again from rows drawn with replacement.

    It is sum((S[b] - S)^2) / (B - 1), with S[b] the statistic of drawing b and S the mean of them.

    Parameters
    ----------
    statistic : callable
        From rows, as X has them, to a number or an array. If X is a tuple, it gets an argument of each.
    X : array-like, frame or series, or a tuple of these
        The rows. Tables of a tuple have the same rows, which are drawn together.
    B : int, default=200
        How often rows are drawn: as many as there are.
    random_state : int, RandomState or None, default=None
    runner : {"serial", "threads", "processes"} or Runner, default="threads"
        Where drawings are made. It changes nothing but the time.
    n_jobs : int, default=None
        How many run at the same time, which changes nothing but the time. None is as many as there are cores.
    verbose : int, default=0
        Whether to show how many drawings are done.

    Returns
    -------
    float, or ndarray of the shape of the statistic

    References
    ----------
    T. Hastie, R. Tibshirani, J. Friedman, "The elements of statistical learning". Springer 2009, section
    7.11.

    Examples
    --------
    The variance of a mean is that of the rows, divided by their number:

    >>> rows = np.random.default_rng(0).normal(size=100)
    >>> round(bootstrap_variance(np.mean, rows, 500, random_state=0), 3), round(float(rows.var()) / 100, 3)
    (0.009, 0.009)
    """
    check_n_draws(B)
    drawing = Drawing.of(statistic, X, random_state)
    drawn = drawing.made(B, 0, runner=runner, n_jobs=n_jobs, verbose=verbose)
    variance = drawn.var(axis=0, ddof=1)
    return float(variance) if variance.ndim == 0 else variance


def bootstrap_interval(
    statistic: Callable[..., Any],
    X: Any,
    B: int = 1000,
    *,
    kind: str = "percentile",
    level: float = 0.95,
    random_state: Any = None,
    runner: Any = "threads",
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Interval:
    """A confidence interval of a statistic, by making it again from rows drawn with replacement.

    Parameters
    ----------
    statistic, X : as for `bootstrap_variance`
    B : int, default=1000
        How often rows are drawn.
    kind : {"percentile", "bca"}, default="percentile"
        Quantiles of the statistic on rows drawn again, or those corrected for bias and skewness (BCa). The
        acceleration of BCa takes the statistic without each row; of more than 1000 rows, without each of 1000
        random groups.
    level : float in (0, 1), default=0.95
        How often the interval is to hold the true number.
    random_state, runner, n_jobs, verbose : as for `bootstrap_variance`

    Returns
    -------
    Interval
        With `value`, `low`, `high`, `level` and `kind`.

    References
    ----------
    B. Efron, "Better bootstrap confidence intervals". Journal of the American Statistical Association 82,
    1987.

    Examples
    --------
    >>> rows = np.random.default_rng(0).exponential(size=100)
    >>> print(bootstrap_interval(np.mean, rows, kind="bca", random_state=0))
    1.181 [0.9889, 1.426]
    """
    check_interval(kind, level, B)
    drawing = Drawing.of(statistic, X, random_state)
    n_left_out = drawing.draws.n_left_out if kind == "bca" else 0
    made = drawing.made(B, n_left_out, runner=runner, n_jobs=n_jobs, verbose=verbose)
    return bounds_of(drawing.value(), made[:B], made[B:], kind=kind, level=level)


@dataclass(frozen=True, eq=False)
class Drawing:
    """A statistic of rows that are drawn again.

    Parameters
    ----------
    statistic : callable
    parts : tuple of tables
    draws : Draws
    """

    statistic: Callable[..., Any]
    parts: tuple[Any, ...]
    draws: Draws

    @classmethod
    def of(cls, statistic: Any, X: Any, random_state: Any) -> Drawing:
        """Check a statistic and its rows."""
        if not callable(statistic):
            raise ValueError(f"statistic must be a function of rows. Got {statistic!r}.")
        parts = tuple(as_rows(part) for part in (X if isinstance(X, tuple) else (X,)))
        lengths = [n_rows_of(part) for part in parts]
        if not lengths or lengths[0] == 0:
            raise ValueError("X must have at least one row. Got none.")
        if len(set(lengths)) > 1:
            raise ValueError(f"The tables of X must have the same number of rows. Got {lengths}.")
        return cls(statistic, parts, Draws.of(np.ones(lengths[0]), random_state))

    def value(self, rows: np.ndarray | None = None) -> np.ndarray:
        """The statistic of all rows, or of some."""
        parts = self.parts if rows is None else [some_rows(part, rows) for part in self.parts]
        number = to_numbers(self.statistic(*parts), "statistic", "Let it return numbers.")
        if not np.isfinite(number).all():
            raise ValueError(f"statistic must give finite numbers. Got {number}.")
        return number

    def made(self, n_draws: int, n_left_out: int, *, runner: Any, n_jobs: Any, verbose: Any) -> np.ndarray:
        """The statistic of every drawing, then of the rows without some."""
        found = in_tasks(
            make,
            (self, n_draws),
            n_draws + n_left_out,
            step=DRAWS_IN_A_TASK,
            what="draws",
            by=getattr(self.statistic, "__name__", "statistic"),
            runner=runner,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        if len({each.shape for each in found}) > 1:
            raise ValueError("statistic must give arrays of one shape.")
        return np.array(found)


def make(shared: tuple[Drawing, int], begin: int, end: int) -> list[np.ndarray]:
    """The statistic of some drawings; the numbers behind the last are rows left out."""
    drawing, n_draws = shared
    draws = drawing.draws
    return [
        drawing.value(draws.rows(number) if number < n_draws else draws.rows_left(number - n_draws))
        for number in range(begin, end)
    ]


def as_rows(part: Any) -> Any:
    """A table, series or array as it is; anything else as an array."""
    if nw.dependencies.is_into_dataframe(part) or nw.dependencies.is_into_series(part):
        return part
    return part if hasattr(part, "shape") else np.asarray(part)


def some_rows(part: Any, rows: np.ndarray) -> Any:
    """Some rows of what `as_rows` gives."""
    if nw.dependencies.is_into_series(part):
        return nw.from_native(part, series_only=True)[rows.tolist()].to_native()
    return take_rows(part, rows)
