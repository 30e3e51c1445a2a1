"""Compare the scores of learners on tables by one metric.

In: scores of shape (n_tables, n_learners), and of each resample. Out: ranks, wins, tests and cliques. Scores
in the unit of y, such as RMSE, are divided by the standard deviation of y of their table before they are
averaged over tables, so that the unit of y does not matter. Charts and text tables of a study are made from a
comparison. A comparison does not depend on fits or stores.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from committee.evaluating import significance_tests
from committee.evaluating.significance_tests import (
    Clique,
    Friedman,
    Odds,
    ResampledT,
    Wins,
    cliques_of,
    rank_tables,
)
from committee.extensions import extension, rank_diagram
from committee.printing import aligned, brief, counted, some
from committee.table.result_frame import Tabulated

# The most learners and tables that the representation of a comparison lists.
MOST_RANKED, MOST_LEFT_OUT = 20, 5
# Charts name the members of an added rule if they are fewer.
FEWEST_TO_COUNT = 3


@brief
@dataclass(frozen=True, eq=False)
class PairTests:
    """A test of all pairs of learners.

    Parameters
    ----------
    test : {"nemenyi", "wilcoxon_holm"}
    names : tuple of str
    p_values : ndarray of shape (n_learners, n_learners)
    alpha : float
        Two learners differ significantly if their p-value is below it.
    cliques : list of Clique
        Groups of learners without significant differences.
    critical_difference : float or None
        The smallest significant difference of two mean ranks. Only Nemenyi's test has one.
    """

    test: str
    names: tuple[str, ...]
    p_values: np.ndarray
    alpha: float
    cliques: list[Clique]
    critical_difference: float | None

    def contradictions(self) -> list[tuple[list[str], list[str]]]:
        """Return the cliques that contradict the ranks.

        Returns
        -------
        list of (list of str, list of str)
            The learners of a clique, and the learners with a rank between theirs that differ from some of
            them.

        Examples
        --------
        >>> cliques = [Clique((0, 2), (1,))]
        >>> tests = PairTests("wilcoxon_holm", ("a", "b", "c"), np.ones((3, 3)), 0.05, cliques, None)
        >>> tests.contradictions()
        [(['a', 'c'], ['b'])]
        """
        return [
            ([self.names[place] for place in each.members], [self.names[place] for place in each.skipped])
            for each in self.cliques
            if each.contradicts_ranks
        ]


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Tabulated):
    """The scores of learners on tables, by one metric.

    Parameters
    ----------
    metric : str
        The plain name, such as "log loss". Losses are positive, and lower is better.
    more_is_better : bool
    learners : tuple of str
        Without repetitions.
    tables : tuple of str
        The tables on which every learner has scores.
    scores : ndarray of shape (n_tables, n_learners)
        Means over the resamples that all learners of the study have finished.
    runs : tuple of ndarray of shape (n_resamples, n_learners), default=()
        For each table, the scores of these resamples; NaN for published results, which are only means.
    test_ratios : tuple of float, default=()
        For each table, the number of test rows divided by the number of training rows.
    fit_seconds : ndarray of shape (n_tables, n_learners), default=None
        The mean time of a fit. NaN if it is unknown.
    left_out : mapping of str to str, default={}
        Tables that are not compared, and the reasons.
    scales : tuple of float, default=()
        For each table, the divisor of its scores in means and tests over all tables. Empty divides by 1.
    unit : str, default=""
        The unit of the divided scores, such as "deviations of y".
    scoring : str, default=None
        The metric's name in scikit-learn, if a study has computed the scores.

    Examples
    --------
    >>> errors = [[0.1, 0.2, 0.4], [0.3, 0.3, 0.5], [0.2, 0.1, 0.3]]
    >>> compared = Comparison.of(errors, ["forest", "booster", "stump"], metric="error")
    >>> compared.mean_ranks.round(2)
    array([1.5, 1.5, 3. ])
    >>> compared.wins.of_pair("forest", "booster")
    (1, 1, 1)
    """

    metric: str
    more_is_better: bool
    learners: tuple[str, ...]
    tables: tuple[str, ...]
    scores: np.ndarray
    runs: tuple[np.ndarray, ...] = ()
    test_ratios: tuple[float, ...] = ()
    fit_seconds: np.ndarray | None = None
    left_out: Mapping[str, str] = field(default_factory=dict)
    scales: tuple[float, ...] = ()
    unit: str = ""
    scoring: str | None = None

    plot = extension(rank_diagram, extra="plot")

    def __post_init__(self) -> None:
        for name, number in Counter(self.learners).items():
            if number > 1:
                raise ValueError(f"Two learners of a comparison are named {name!r}. Pass unique names.")

    @classmethod
    def of(
        cls,
        scores: object,
        learners: Iterable[str],
        tables: Iterable[str] | None = None,
        *,
        metric: str = "score",
        more_is_better: bool = False,
    ) -> Comparison:
        """Create a comparison from scores of any source.

        Parameters
        ----------
        scores : array-like of shape (n_tables, n_learners)
        learners : iterable of str
        tables : iterable of str, default=None
            The names of the tables. None numbers them.
        metric : str, default="score"
            The name of the scores.
        more_is_better : bool, default=False
        """
        array = np.asarray(scores, dtype=np.float64)
        names = tuple(learners)
        if array.ndim != 2 or array.shape[1] != len(names):
            raise ValueError(
                f"scores must have a row for each table and a column for each of the {len(names)} learners. "
                f"Got {array.shape}."
            )
        if not np.isfinite(array).all():
            raise ValueError("scores must be finite numbers. Drop tables on which a learner has no score.")
        rows = tuple(f"table {place}" for place in range(len(array))) if tables is None else tuple(tables)
        if len(rows) != len(array):
            raise ValueError(f"There are {len(rows)} names of tables for {len(array)} rows of scores.")
        return cls(metric, more_is_better, names, rows, array)

    def __repr__(self) -> str:
        n_tables = len(self.tables)
        head = f"{counted(len(self.learners), 'learner')} on {counted(n_tables, 'table')} by {self.measure}"
        left = f"; left out: {some(list(self.left_out), MOST_LEFT_OUT)}" if self.left_out else ""
        if not n_tables:
            return f"Comparison: {head}{left}"
        ranked = self._shown_columns()
        rows = list(zip(*ranked.values(), strict=True))
        more = len(rows) - MOST_RANKED
        table = aligned(list(ranked), rows[:MOST_RANKED], [1, 2])
        return f"Comparison: {head}{left}\n{table}" + (f"\nand {more} more" if more > 0 else "")

    def _shown_columns(self) -> dict[str, list[str]]:
        """Return the learners with their average ranks and mean scores, the best rank first."""
        if not self.tables:
            return {}
        order = np.argsort(self.mean_ranks, kind="stable")
        return {
            "learner": [self.learners[place] for place in order],
            "average rank": [f"{self.mean_ranks[place]:.3f}" for place in order],
            f"mean {self.metric}": [f"{self.mean_scores[place]:.4g}" for place in order],
        }

    def _columns(self) -> dict[str, list[Any]]:
        """Return the tables, and the scores of each learner on them."""
        scores = {name: each.tolist() for name, each in zip(self.learners, self.scores.T, strict=True)}
        return {"table": list(self.tables), **scores}

    def with_short_names(self) -> Comparison:
        """Return the comparison with shorter names of added rules, such as "greedy of 6", for charts.

        Examples
        --------
        >>> compared = Comparison.of([[1.0, 2.0]], ["tree", "greedy(rf+rotf+gb+et+c45+bayes)"])
        >>> compared.with_short_names().learners
        ('tree', 'greedy of 6')
        """
        short = [shortened(name) for name in self.learners]
        names = (
            less if short.count(less) == 1 else name for less, name in zip(short, self.learners, strict=True)
        )
        return replace(self, learners=tuple(names))

    @property
    def standardised(self) -> np.ndarray:
        """The scores, divided by the scale of their table."""
        return self.scores / np.array(self.scales)[:, None] if self.scales else self.scores

    @property
    def mean_scores(self) -> np.ndarray:
        """The mean of each learner's scaled scores over the tables."""
        return np.asarray(self.standardised.mean(axis=0))

    @property
    def measure(self) -> str:
        """The metric, with the unit if scores were divided."""
        return f"{self.metric} in {self.unit}" if self.unit else self.metric

    @property
    def losses(self) -> np.ndarray:
        """The scaled scores, with a sign such that lower is better."""
        return -self.standardised if self.more_is_better else self.standardised

    @property
    def ranks(self) -> np.ndarray:
        """The rank of each learner on each table, 1 for the best, of shape (n_tables, n_learners)."""
        return rank_tables(self.losses)

    @property
    def mean_ranks(self) -> np.ndarray:
        """The average rank of each learner."""
        return np.asarray(self.ranks.mean(axis=0))

    @property
    def wins(self) -> Wins:
        """The number of tables on which each learner beats each other learner."""
        return Wins.of(self.learners, self.losses)

    def friedman(self) -> Friedman:
        """Test whether learners differ at all, with the tests of Friedman and of Iman and Davenport."""
        return significance_tests.friedman(self.losses)

    def nemenyi(self, alpha: float = 0.05) -> PairTests:
        """Run Nemenyi's test of all pairs, with its critical difference."""
        p_values = significance_tests.nemenyi(self.losses)
        distance = significance_tests.critical_difference(len(self.learners), len(self.tables), alpha)
        return self._pairs("nemenyi", p_values, alpha, distance)

    def wilcoxon_holm(self, alpha: float = 0.05) -> PairTests:
        """Run Wilcoxon's signed-rank test of all pairs, corrected by Holm's procedure."""
        return self._pairs("wilcoxon_holm", significance_tests.wilcoxon_holm(self.losses), alpha, None)

    def bayesian(self, learner: str, other: str, rope: float = 0.01, random_state: int = 0) -> Odds:
        """Run the Bayesian signed-rank test of two learners.

        Differences of at most `rope` count as practically equivalent. `rope` applies to the scaled scores:
        for RMSE, 0.01 is a hundredth of the standard deviation of y.
        """
        losses = self.losses
        return significance_tests.bayesian_signed_rank(
            losses[:, self.place(learner)], losses[:, self.place(other)], rope, random_state
        )

    def resampled_t(self, learner: str, other: str) -> dict[str, ResampledT]:
        """Run the corrected t-test of two learners over the resamples of each table, on scaled scores."""
        places = [self.place(learner), self.place(other)]
        if not self.runs:
            raise ValueError(
                "The test needs the scores of resamples. There is only one score for each table."
            )
        found = {}
        scales = self.scales or (1.0,) * len(self.tables)
        for table, runs, ratio, scale in zip(self.tables, self.runs, self.test_ratios, scales, strict=True):
            both = runs[:, places] / (-scale if self.more_is_better else scale)
            if np.isnan(both).any():
                raise ValueError("The test needs the scores of resamples. Published results are means.")
            found[table] = significance_tests.corrected_resampled_t(both[:, 0], both[:, 1], ratio)
        return found

    def place(self, learner: str) -> int:
        """Return the column of a learner."""
        if learner not in self.learners:
            raise ValueError(f"There is no learner {learner!r}. There are {', '.join(self.learners)}.")
        return self.learners.index(learner)

    def only(self, learners: Iterable[str]) -> Comparison:
        """Return the comparison of some of the learners, on the same tables."""
        names = tuple(learners)
        places = [self.place(name) for name in names]
        return replace(
            self,
            learners=names,
            scores=self.scores[:, places],
            runs=tuple(each[:, places] for each in self.runs),
            fit_seconds=None if self.fit_seconds is None else self.fit_seconds[:, places],
        )

    def _pairs(self, test: str, p_values: np.ndarray, alpha: float, distance: float | None) -> PairTests:
        if not 0 < alpha < 1:
            raise ValueError(f"alpha must be a number between 0 and 1. Got {alpha!r}.")
        # A learner does not differ from itself.
        is_apart = (p_values < alpha) & ~np.eye(len(p_values), dtype=bool)
        cliques = cliques_of(self.mean_ranks, is_apart)
        return PairTests(test, self.learners, p_values, alpha, cliques, distance)


def shortened(name: str) -> str:
    """Shorten the name of an added rule with many members.

    Examples
    --------
    >>> shortened("cawpe(rf+gb)"), shortened("cawpe(rf+gb+c45+bayes)"), shortened("forest")
    ('cawpe(rf+gb)', 'cawpe of 4', 'forest')
    """
    rule, _, members = name.removesuffix(")").partition("(")
    n_members = members.count("+") + 1
    return f"{rule} of {n_members}" if name.endswith(")") and n_members >= FEWEST_TO_COUNT else name


def listed(names: list[str]) -> str:
    """Join names with commas and "and".

    Examples
    --------
    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
