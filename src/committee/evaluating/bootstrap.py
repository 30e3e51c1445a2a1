"""Estimate the variance of a statistic by computing it again from rows drawn with replacement."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from committee.documentation import with_parameters
from committee.evaluating.intervals import Draws, check_n_draws
from committee.evaluating.tasks import DRAWS_IN_A_TASK, RUNS, in_tasks
from committee.members.seeing import take_rows
from committee.metrics.scoring import name_of_function
from committee.task import to_numbers
from committee.votes.honest import n_rows_of


@with_parameters(RUNS)
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
    """Estimate the variance of a statistic, by computing it again from rows drawn with replacement.

    It is sum((S[b] - S)^2) / (B - 1), with S[b] the statistic of drawing b and S the mean of them.

    Parameters
    ----------
    statistic : callable
        From rows, as X has them, to a number or an array. If X is a tuple, it gets an argument of each.
    X : array-like, frame or series, or a tuple of these
        The rows. Tables of a tuple have the same rows, which are drawn together.
    B : int, default=200
        How often rows are drawn: as many as there are.

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
    if not callable(statistic):
        raise ValueError(f"statistic must be a function of rows. Got {statistic!r}.")
    parts = [as_rows(part) for part in (X if isinstance(X, tuple) else (X,))]
    lengths = [n_rows_of(part) for part in parts]
    if not lengths or lengths[0] == 0:
        raise ValueError("X must have at least one row. Got none.")
    if len(set(lengths)) > 1:
        raise ValueError(f"The tables of X must have the same number of rows. Got {lengths}.")
    shared = (statistic, parts, Draws.of(np.ones(lengths[0]), random_state))
    where = {"by": name_of_function(statistic), "runner": runner, "n_jobs": n_jobs, "verbose": verbose}
    found = in_tasks(statistics_of, shared, B, step=DRAWS_IN_A_TASK, what="draws", **where)
    if len({each.shape for each in found}) > 1:
        raise ValueError("statistic must give arrays of one shape.")
    variance = np.array(found).var(axis=0, ddof=1)
    return float(variance) if variance.ndim == 0 else variance


def statistics_of(
    shared: tuple[Callable[..., Any], list[Any], Draws], begin: int, end: int
) -> list[np.ndarray]:
    """Return the statistic of each of some drawings."""
    statistic, parts, draws = shared
    found = []
    for number in range(begin, end):
        rows = draws.rows(number)
        drawn = (some_rows(part, rows) for part in parts)
        value = to_numbers(statistic(*drawn), "statistic", "Let it return numbers.")
        if not np.isfinite(value).all():
            raise ValueError(f"statistic must give finite numbers. Got {value}.")
        found.append(value)
    return found


def as_rows(part: Any) -> Any:
    """Return a table, series or array as it is, and anything else as an array."""
    if nw.dependencies.is_into_dataframe(part) or nw.dependencies.is_into_series(part):
        return part
    return part if hasattr(part, "shape") else np.asarray(part)


def some_rows(part: Any, rows: np.ndarray) -> Any:
    """Take some rows of what `as_rows` returns."""
    if nw.dependencies.is_into_series(part):
        return nw.from_native(part, series_only=True)[rows.tolist()].to_native()
    return take_rows(part, rows)
