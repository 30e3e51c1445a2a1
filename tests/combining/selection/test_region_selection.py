"""Test selection by region, in which the best member of each region decides."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.metrics import log_loss
from sklearn.tree import DecisionTreeRegressor

from committee.combining.selection.region_selection import RegionTree
from committee.rules import RegionRule, one_hot

PARTITIONS = ("clusters", "tree")


def two_halves(n_rows=80, seed=0):
    """Return two members. The first is correct if the first column is negative, and the second otherwise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 2)) + np.where(np.arange(n_rows) % 2, 4, -4)[:, None] * [1, 0]
    y = rng.integers(0, 2, n_rows)
    is_left = X[:, 0] < 0
    right, wrong = 0.8 * one_hot(y, 2) + 0.1, 0.8 * one_hot(1 - y, 2) + 0.1
    votes = np.array([np.where(is_left[:, None], right, wrong), np.where(is_left[:, None], wrong, right)])
    return X, y, votes


def slow_loss(metric, y, vote, weights):
    if metric == "neg_log_loss":
        return log_loss(y, vote, sample_weight=weights, labels=[0, 1])
    if metric == "accuracy":
        return np.average(vote.argmax(axis=1) != y, weights=weights)
    return np.average((vote[:, 1] - y) ** 2, weights=weights)


@pytest.mark.parametrize("partition", PARTITIONS)
def test_the_correct_member_decides_in_each_half(partition):
    X, y, votes = two_halves()
    rule = RegionRule(partition=partition, n_regions=2, random_state=0).fit(votes, y, X)
    np.testing.assert_array_equal(rule.combine(votes, X).argmax(axis=1), y)
    np.testing.assert_array_equal(rule.members_[rule.region(X)], X[:, 0] > 0)
    assert sorted(rule.members_) == [0, 1]


@pytest.mark.parametrize("metric", ["neg_log_loss", "accuracy", "neg_brier_score"])
@pytest.mark.parametrize("partition", PARTITIONS)
def test_the_losses_of_a_region_are_those_of_its_rows(partition, metric):
    X, y, votes = two_halves()
    weights = np.random.default_rng(1).integers(0, 3, len(y))
    rule = RegionRule(partition=partition, scoring=metric, n_regions=4, random_state=0)
    rule.fit(votes, y, X, sample_weight=weights)
    regions = rule.region(X)
    for region in range(len(rule.members_)):
        rows = (regions == region) & (weights > 0)
        for member, vote in enumerate(votes):
            slow = slow_loss(metric, y[rows], vote[rows], weights[rows])
            np.testing.assert_allclose(rule.losses_[region, member], slow)
        if rows.sum() >= 10:
            assert rule.members_[region] == rule.losses_[region].argmin()


def test_the_tree_finds_the_same_leaves_as_scikit_learn():
    rng = np.random.default_rng(0)
    points, losses = rng.normal(size=(200, 3)), rng.normal(size=(200, 2))
    tree = DecisionTreeRegressor(max_leaf_nodes=9, random_state=0).fit(points, losses)
    leaves = tree.apply(points)
    found = RegionTree.of(tree)
    assert found.n_regions == 9
    assert found.is_sound(n_columns=3)
    np.testing.assert_array_equal(found.region(points), np.searchsorted(np.unique(leaves), leaves))


def test_the_best_member_on_all_rows_decides_in_a_small_region():
    X, y, votes = two_halves()
    X[0] = [100.0, 100.0]
    votes = np.concatenate([votes, np.full((1, 80, 2), 0.5)])
    rule = RegionRule(n_regions=3, min_rows=10, random_state=0).fit(votes, y, X)
    lonely = rule.region([[100.0, 100.0]])[0]
    assert rule.n_rows_[lonely] == 1
    assert rule.members_[lonely] == rule.best_


@pytest.mark.parametrize("partition", PARTITIONS)
def test_a_row_of_weight_two_counts_twice_in_a_region(partition):
    X, y, votes = two_halves(n_rows=16)
    rule = RegionRule(partition=partition, n_regions=2, min_rows=10, random_state=0)
    rule.fit(votes, y, X, sample_weight=np.full(16, 2))
    assert rule.n_rows_.tolist() == [16, 16] and sorted(rule.members_) == [0, 1]


def test_regions_need_a_fit():
    with pytest.raises(NotFittedError, match="This RegionRule is not fitted yet"):
        RegionRule().region([[1.0]])


@pytest.mark.parametrize("partition", PARTITIONS)
def test_regression_is_supported(partition):
    X = np.linspace(-1, 1, 60)[:, None]
    y = X[:, 0]
    votes = np.array([np.where(y < 0, y, y + 1), np.where(y < 0, y + 1, y)])[:, :, None]
    rule = RegionRule(partition=partition, n_regions=2, random_state=0).fit(votes, y, X)
    np.testing.assert_allclose(rule.combine(votes, X)[:, 0], y)


@pytest.mark.parametrize("partition", PARTITIONS)
def test_there_are_at_most_as_many_regions_as_distinct_rows(partition):
    _, y, votes = two_halves()
    rule = RegionRule(partition=partition, random_state=0).fit(votes, y, np.zeros((80, 2)))
    assert rule.members_.shape == (1,)


@pytest.mark.parametrize(
    ("rule", "X", "message"),
    [
        (RegionRule(), None, "RegionRule uses the columns of X. Pass X"),
        (RegionRule(), [["a"]] * 80, "X must be a matrix of numbers"),
        (RegionRule(n_regions=1), np.zeros((80, 1)), "n_regions must be an integer >= 2"),
        (
            RegionRule(scoring="neg_mean_squared_error"),
            np.zeros((80, 1)),
            "The metric 'neg_mean_squared_error' is for regression",
        ),
        (
            RegionRule(scoring="roc_auc"),
            np.zeros((80, 1)),
            "scoring='roc_auc' is not based on losses of rows",
        ),
    ],
)
def test_invalid_parameters_and_rows_are_refused_in_one_line(rule, X, message):
    _, y, votes = two_halves()
    with pytest.raises(ValueError, match=message) as caught:
        rule.fit(votes, y, X)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("partition", ["clusters", "tree"])
def test_members_are_compared_on_the_rows_of_a_region_that_they_have_voted_on(partition):
    X = np.repeat([[-1.0], [1.0]], 20, axis=0)
    y = np.tile([0, 1], 20)
    votes = np.array([0.05 + 0.9 * one_hot(y, 2), 0.2 + 0.6 * one_hot(y, 2)])
    votes[0, ::2] = votes[0, ::2, ::-1]  # These are substitutes.
    has_voted = np.ones((2, 40), dtype=bool)
    has_voted[0, ::2] = False
    has_voted[0, :20] = False
    rule = RegionRule(partition=partition, n_regions=2, min_rows=1, random_state=0)
    rule.fit(votes, y, X, has_voted=has_voted)
    assert rule.members_[rule.region([[-1.0], [1.0]])].tolist() == [1, 0]
    assert rule.best_ == 0
