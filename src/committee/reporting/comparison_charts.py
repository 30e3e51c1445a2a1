"""Draw comparisons of learners on tables."""

from __future__ import annotations

import numpy as np

from committee.charts.pair_matrix import pair_matrix
from committee.charts.paired_scatter import paired_scatter
from committee.charts.rank_box_chart import rank_box_chart
from committee.charts.rank_diagram import rank_diagram
from committee.charts.style import Chart
from committee.charts.time_scatter import time_scatter
from committee.documentation import with_parameters
from committee.evaluating.comparison import Comparison

TESTS = {"nemenyi": "Nemenyi's test", "wilcoxon_holm": "Wilcoxon's signed rank test with Holm's correction"}
DRAWN = {
    "comparison": "comparison : Comparison",
    "alpha": "alpha : float, default=0.05",
    "title": 'title : str, default=""',
}


@with_parameters(DRAWN)
def critical_difference_diagram(
    comparison: Comparison, *, test: str = "nemenyi", alpha: float = 0.05, title: str = ""
) -> Chart:
    """Draw learners by their average ranks, the best to the right.

    Parameters
    ----------
    test : {"nemenyi", "wilcoxon_holm"}, default="nemenyi"
        The test that separates learners. A bar joins those that it does not separate. A bar that is broken
        contradicts the ranks: only the learners with a dot belong to it, and not those between them.

    Returns
    -------
    altair.LayerChart

    Examples
    --------
    >>> compared = Comparison.of([[0.1, 0.2, 0.4], [0.3, 0.4, 0.5], [0.1, 0.2, 0.3]], ["rf", "tree", "stump"])
    >>> type(critical_difference_diagram(compared)).__name__
    'LayerChart'
    """
    if test not in TESTS:
        raise ValueError(f"test must be one of {', '.join(TESTS)}. Got {test!r}.")
    tests = comparison.nemenyi(alpha) if test == "nemenyi" else comparison.wilcoxon_holm(alpha)
    return rank_diagram(
        comparison.learners,
        comparison.mean_ranks,
        [clique.members for clique in tests.cliques],
        critical_difference=tests.critical_difference,
        title=title,
        subtitle=f"{TESTS[test]}, {len(comparison.tables)} tables, alpha = {alpha:g}",
    )


@with_parameters(DRAWN)
def comparison_matrix(comparison: Comparison, *, alpha: float = 0.05, title: str = "") -> Chart:
    """Draw every pair of learners.

    A cell shows the mean difference of the scores of its row and its column, on how many tables the row wins,
    is equal and loses, and the p-value of Wilcoxon's signed rank test, corrected by Holm's procedure. It is
    orange where the row is better, and bold where the p-value is below `alpha`.

    Returns
    -------
    altair.LayerChart
    """
    wins = comparison.wins
    told = f"row - column: mean difference of {comparison.measure}, orange where the row is better; "
    tests = f"wins / ties / losses on {len(comparison.tables)} tables; "
    return pair_matrix(
        comparison.learners,
        comparison.mean_scores,
        wins.wins,
        wins.ties,
        comparison.wilcoxon_holm(alpha).p_values,
        more_is_better=comparison.more_is_better,
        alpha=alpha,
        corner=f"mean {comparison.metric}",
        title=title,
        subtitle=f"{told}{tests}p by Wilcoxon and Holm, bold below {alpha:g}",
    )


@with_parameters(DRAWN)
def pairwise_scatter(comparison: Comparison, learner: str, other: str, *, title: str = "") -> Chart:
    """Draw the scores of two learners on all tables.

    Parameters
    ----------
    learner : str
        On the axis across.
    other : str
        On the axis up.

    Returns
    -------
    altair.LayerChart
    """
    return paired_scatter(
        (learner, other),
        comparison.scores[:, comparison.place(learner)],
        comparison.scores[:, comparison.place(other)],
        comparison.tables,
        comparison.wins.of_pair(learner, other),
        metric=comparison.metric,
        more_is_better=comparison.more_is_better,
        title=title,
    )


@with_parameters(DRAWN)
def rank_boxes(comparison: Comparison, *, title: str = "") -> Chart:
    """Draw the ranks of each learner on all tables as a box, the best learner on top.

    A box holds the middle half of the ranks, its line is the median, the diamond is the average, and each
    point is a table.

    Returns
    -------
    altair.LayerChart
    """
    return rank_box_chart(
        comparison.learners,
        comparison.ranks,
        comparison.scores,
        comparison.tables,
        metric=comparison.metric,
        title=title,
    )


@with_parameters(DRAWN)
def time_against_error(comparison: Comparison, *, title: str = "") -> Chart:
    """Draw learners by the time of a fit and their error, or another metric of the comparison.

    The error is the mean over tables; the time is the geometric mean over tables, so that no large table
    decides alone. A line joins the learners that no other beats in both. Learners whose time is not known
    are left out.

    Returns
    -------
    altair.LayerChart
    """
    what, more_is_better = f"mean {comparison.measure}", comparison.more_is_better
    return against_time(comparison, comparison.mean_scores, what, more_is_better, title)


@with_parameters(DRAWN)
def time_against_rank(comparison: Comparison, *, title: str = "") -> Chart:
    """Draw learners by the time of a fit and their average rank.

    Ranks suit errors whose mean a few hard tables decide. Otherwise it is like `time_against_error`.

    Returns
    -------
    altair.LayerChart
    """
    what = f"average rank by {comparison.metric}"
    return against_time(comparison, comparison.mean_ranks, what, False, title)


def against_time(
    comparison: Comparison, heights: np.ndarray, what: str, more_is_better: bool, title: str
) -> Chart:
    """Draw a number of each learner against the time of a fit."""
    seconds = np.empty((0, len(heights))) if comparison.seconds is None else comparison.seconds
    if not np.isfinite(seconds).any():
        raise ValueError("Nothing is known of how long these learners took.")
    known = np.flatnonzero(np.isfinite(seconds).all(axis=0))
    return time_scatter(
        [comparison.learners[place] for place in known],
        np.exp(np.log(np.maximum(seconds[:, known], 1e-6)).mean(axis=0)),
        heights[known],
        what=what,
        more_is_better=more_is_better,
        title=title,
        subtitle=f"{what} on {len(comparison.tables)} tables; time is the geometric mean of a fit",
    )
