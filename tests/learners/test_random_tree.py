"""The random tree: the columns that it tries, its seed and its limits."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris

from committee import DecisionTreeClassifier, RandomTreeClassifier, RandomTreeRegressor
from committee.learners.training_data import read_training


@pytest.mark.parametrize(("n_columns", "expected"), [(1, 1), (2, 2), (3, 2), (4, 3), (28, 5), (64, 7)])
def test_it_tries_log2_columns_and_one(n_columns, expected):
    tree = RandomTreeClassifier()
    training = read_training(tree, np.ones((2, n_columns)), [0, 1], None)
    assert tree._grow_parameters(training).max_features == expected


def test_an_unlimited_tree_fits_all_training_rows():
    X, y = load_iris(return_X_y=True)
    assert RandomTreeClassifier(random_state=0).fit(X, y).score(X, y) == 1
    X, y = load_diabetes(return_X_y=True)
    np.testing.assert_allclose(RandomTreeRegressor(random_state=0).fit(X, y).predict(X), y)


def test_the_seed_decides():
    X, y = load_iris(return_X_y=True)
    trees = [RandomTreeClassifier(random_state=seed).fit(X, y).export_text() for seed in (0, 0, 1)]
    assert trees[0] == trees[1] != trees[2]


def test_columns_without_gain_are_skipped():
    rng = np.random.default_rng(0)
    X = np.zeros((40, 30))
    X[:, 17] = rng.permutation(40)
    tree = RandomTreeClassifier(max_features=1, random_state=0).fit(X, X[:, 17] > 20)
    assert tree.get_n_leaves() == 2
    assert np.flatnonzero(tree.feature_importances_) == [17]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("n_repeats", [1, 2, 5, 9, 10, 12, 37, 64, 1000])
def test_a_node_in_which_no_column_has_gain_is_a_leaf(n_repeats, n_classes):
    # Neither column alone contains information about their sum modulo the number of classes.
    X = np.array([(a, b) for a in range(n_classes) for b in range(n_classes)] * n_repeats)
    y = X.sum(axis=1) % n_classes
    assert RandomTreeClassifier(random_state=0).fit(X, y).get_n_leaves() == 1
    tree = DecisionTreeClassifier(criterion="entropy", min_impurity_decrease=1e-8).fit(X, y)
    assert tree.get_n_leaves() == 1


def test_a_small_gain_is_enough_to_split():
    X, y = np.repeat([0, 1], 10_000).reshape(-1, 1), np.tile([0, 1], 10_000)
    y[:10] = 0
    assert RandomTreeClassifier(random_state=0).fit(X, y).get_n_leaves() == 2


def test_depth_and_leaves_can_be_limited():
    X, y = load_iris(return_X_y=True)
    assert RandomTreeClassifier(max_depth=2, random_state=0).fit(X, y).get_depth() == 2
    tree = RandomTreeClassifier(min_samples_leaf=10, random_state=0).fit(X, y)
    assert np.unique(tree.apply(X), return_counts=True)[1].min() >= 10
