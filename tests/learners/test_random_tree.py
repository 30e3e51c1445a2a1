"""The random tree."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris

from committee import RandomTreeClassifier, RandomTreeRegressor
from committee.learners.training import read_training


@pytest.mark.parametrize(("n_columns", "expected"), [(1, 1), (2, 2), (3, 2), (4, 3), (28, 5), (64, 7)])
def test_it_tries_log2_columns_and_one(n_columns, expected):
    tree = RandomTreeClassifier()
    training = read_training(tree, np.ones((2, n_columns)), [0, 1], None)
    assert tree._options(training)["max_features"] == expected


def test_a_full_tree_fits_its_rows():
    X, y = load_iris(return_X_y=True)
    assert RandomTreeClassifier(random_state=0).fit(X, y).score(X, y) == 1
    X, y = load_diabetes(return_X_y=True)
    np.testing.assert_allclose(RandomTreeRegressor(random_state=0).fit(X, y).predict(X), y)


def test_the_seed_decides():
    X, y = load_iris(return_X_y=True)
    trees = [RandomTreeClassifier(random_state=seed).fit(X, y).export_text() for seed in (0, 0, 1)]
    assert trees[0] == trees[1] != trees[2]


def test_columns_without_gain_are_passed_over():
    rng = np.random.default_rng(0)
    X = np.zeros((40, 30))
    X[:, 17] = rng.permutation(40)
    tree = RandomTreeClassifier(max_features=1, random_state=0).fit(X, X[:, 17] > 20)
    assert tree.get_n_leaves() == 2
    assert np.flatnonzero(tree.feature_importances_) == [17]


def test_a_node_in_which_no_column_has_gain_is_a_leaf():
    # Neither column alone tells anything of their exclusive or.
    X, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 5), np.array([0, 1, 1, 0] * 5)
    assert RandomTreeClassifier(random_state=0).fit(X, y).get_n_leaves() == 1


def test_depth_and_leaves_can_be_limited():
    X, y = load_iris(return_X_y=True)
    assert RandomTreeClassifier(max_depth=2, random_state=0).fit(X, y).get_depth() == 2
    tree = RandomTreeClassifier(min_samples_leaf=10, random_state=0).fit(X, y)
    assert np.unique(tree.apply(X), return_counts=True)[1].min() >= 10
