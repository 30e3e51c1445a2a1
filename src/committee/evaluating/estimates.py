"""Estimates of an error on new rows, from what fits on bags say: plain, out of bag, .632 and .632+."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from committee.evaluating.bags import Bagged
from committee.evaluating.intervals import Draws, Interval, interval_of
from committee.metrics.curves import Weighed
from committee.metrics.names import Metric
from committee.metrics.scoring import known

KINDS = ("plain", "out_of_bag", ".632", ".632+")
# With at most so many different answers, the no-information rate of a mean over rows is that of all pairs.
MOST_ANSWERS = 1000
# Else it is the mean over so many drawings of the answers.
N_SHUFFLES = 100


@dataclass(frozen=True, eq=False)
class Kept:
    """What is kept of the votes of a fit: scores of rows if the metric is their mean, or else the votes.

    The votes of the fit on all rows are kept as they are, for the no-information rate.

    Parameters
    ----------
    metric : Metric
    y : ndarray of shape (n_rows,)
    """

    metric: Metric
    y: np.ndarray

    def __call__(self, number: int, votes: np.ndarray) -> np.ndarray:
        """Return the scores of rows, or the votes."""
        if number == 0 or not self.metric.is_mean_over_rows:
            return votes
        return self.metric.row_scores(self.y, votes)


@dataclass(frozen=True, eq=False)
class RowMeans:
    """The scores of which a metric is the mean over rows.

    Parameters
    ----------
    apparent, plain, out_of_bag : ndarray of shape (n_rows,)
    is_known : ndarray of float64 of shape (n_rows,)
        1 where some bag is without the row, and else 0.
    """

    apparent: np.ndarray
    plain: np.ndarray
    out_of_bag: np.ndarray
    is_known: np.ndarray

    @classmethod
    def of(cls, metric: Any, found: list[np.ndarray], bagged: Bagged) -> RowMeans:
        """Average over the bags."""
        losses, is_outside = np.array(found[1:]), bagged.is_outside()
        n_outside = is_outside.sum(axis=0)
        if not n_outside[bagged.weights > 0].any():
            raise ValueError(f"Every row is in every bag. Draw more bags than B={bagged.n_bags}.")
        out_of_bag = (losses * is_outside).sum(axis=0) / np.maximum(n_outside, 1)
        apparent = metric.row_scores(bagged.lesson.y, found[0])
        return cls(apparent, losses.mean(axis=0), out_of_bag, (n_outside > 0).astype(np.float64))

    def apparent_error(self, weights: np.ndarray) -> float:
        """The error of the fit on all rows, under some weights of the rows."""
        return float(self.apparent @ weights / weights.sum())

    def plain_error(self, weights: np.ndarray) -> float:
        """The error of all bags."""
        return float(self.plain @ weights / weights.sum())

    def outside_error(self, weights: np.ndarray) -> float:
        """The error out of bag."""
        of_known = weights * self.is_known
        return float(self.out_of_bag @ of_known / of_known.sum()) if of_known.any() else float("nan")


@dataclass(frozen=True, eq=False)
class BagMeans:
    """The same of a metric that is no mean over rows: it is taken of each bag.

    Parameters
    ----------
    metric : Metric
    y : ndarray of shape (n_rows,)
    votes : list of ndarray of shape (n_rows, n_outputs)
        Those of the fit on all rows first.
    is_outside : ndarray of bool of shape (n_bags, n_rows)
    """

    metric: Metric
    y: np.ndarray
    votes: list[np.ndarray]
    is_outside: np.ndarray

    @classmethod
    def of(cls, metric: Metric, found: list[np.ndarray], bagged: Bagged) -> BagMeans:
        """Keep the votes."""
        return cls(metric, bagged.lesson.y, found, bagged.is_outside())

    def apparent_error(self, weights: np.ndarray) -> float:
        """The error of the fit on all rows, under some weights of the rows."""
        return self._prepared[0](weights)

    def plain_error(self, weights: np.ndarray) -> float:
        """The mean error of the bags. One without a value is left out, here and out of bag."""
        return mean_known([known(of_bag)(weights) for of_bag in self._prepared[1:]])

    def outside_error(self, weights: np.ndarray) -> float:
        """The mean error of the bags on the rows that they do not have."""
        bags = zip(self._prepared[1:], self.is_outside, strict=True)
        outside = [(of_bag, weights * each) for of_bag, each in bags]
        return mean_known([known(of_bag)(each) for of_bag, each in outside if each.any()])

    @cached_property
    def _prepared(self) -> list[Weighed]:
        return [self.metric.prepare(self.y, votes) for votes in self.votes]

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_prepared"}


@dataclass(frozen=True)
class Parts:
    """What all estimates are made of.

    Parameters
    ----------
    plain, out_of_bag, apparent, no_information : float
        NaN where it has no value, or was not asked for.
    more_is_better : bool
    """

    plain: float
    out_of_bag: float
    apparent: float
    no_information: float
    more_is_better: bool

    def value(self, kind: str) -> float:
        """One of the estimates.

        Examples
        --------
        >>> parts = Parts(0.1, 0.3, 0.0, 0.5, more_is_better=False)
        >>> [round(parts.value(kind), 3) for kind in KINDS]
        [0.1, 0.3, 0.19, 0.243]
        """
        if kind == "plain":
            return self.plain
        if kind == "out_of_bag":
            return self.out_of_bag
        if kind == ".632":
            return 0.368 * self.apparent + 0.632 * self.out_of_bag
        return point_632_plus(
            self.apparent, self.out_of_bag, self.no_information, more_is_better=self.more_is_better
        )


@dataclass(frozen=True, eq=False)
class Estimates:
    """The estimates of each kind from decisions, under any weights of the rows.

    Parameters
    ----------
    means : RowMeans or BagMeans
    no_information : float
    more_is_better : bool
    weights : ndarray of shape (n_rows,)
        What each row weighs.
    """

    means: RowMeans | BagMeans
    no_information: float
    more_is_better: bool
    weights: np.ndarray

    @classmethod
    def of(cls, metric: Metric, bagged: Bagged, **where: Any) -> Estimates:
        """Fit on the bags, and judge what is decided."""
        found = bagged.judged(Kept(metric, bagged.lesson.y), **where)
        means = (RowMeans if metric.is_mean_over_rows else BagMeans).of(metric, found, bagged)
        no_information = no_information_rate(metric, found[0], bagged)
        return cls(means, no_information, metric.more_is_better, bagged.weights)

    def parts(self) -> Parts:
        """What all estimates are made of, on the rows as they are."""
        return Parts(
            self.means.plain_error(self.weights),
            self.means.outside_error(self.weights),
            self.means.apparent_error(self.weights),
            self.no_information,
            self.more_is_better,
        )

    def value(self, kind: str, weights: np.ndarray) -> float:
        """One of the estimates; nothing is asked for that it is not made of."""
        nan = float("nan")
        plain = self.means.plain_error(weights) if kind == "plain" else nan
        out_of_bag = nan if kind == "plain" else self.means.outside_error(weights)
        apparent = self.means.apparent_error(weights) if kind in (".632", ".632+") else nan
        return Parts(plain, out_of_bag, apparent, self.no_information, self.more_is_better).value(kind)

    def interval(self, of: str, random_state: Any, **options: Any) -> Interval:
        """How sure one of the estimates is, as `interval_of` finds it."""
        draws = Draws.of(self.weights, random_state)
        return interval_of(partial(self.value, of), draws, **options)


def mean_known(values: list[float]) -> float:
    """The mean of what is not NaN; NaN if nothing is."""
    told = [value for value in values if value == value]
    return float(np.mean(told)) if told else float("nan")


def no_information_rate(metric: Metric, votes: np.ndarray, bagged: Bagged) -> float:
    """The error if answers did not depend on rows: all answers with all votes."""
    y, weights = bagged.lesson.y, bagged.weights
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
    """The .632+ estimate (Efron and Tibshirani 1997, equations 31 and 32).

    Examples
    --------
    An estimator that has learnt nothing and knows all answers by heart, and one that is worse than chance:

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
    # Adding 0 makes no score -0.0.
    return sign * (0.368 * low + 0.632 * high + (cut_off - low) * more) + 0.0
