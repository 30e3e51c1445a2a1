"""The decision stump: its split, missing values, criteria and weights."""

import numpy as np
import pandas as pd
import pytest

from committee import DecisionStumpClassifier, DecisionStumpRegressor


def test_it_splits_once_at_the_middle():
    stump = DecisionStumpClassifier().fit([[1.0, 7.0], [2.0, 7.0], [8.0, 7.0], [9.0, 7.0]], [0, 0, 1, 1])
    assert list(stump.feature_importances_) == [1, 0]
    assert list(stump.predict([[4.9, 0.0], [5.1, 0.0]])) == [0, 1]


def test_missing_values_have_a_separate_branch():
    X = [[1.0], [2.0], [8.0], [9.0], [np.nan], [np.nan]]
    stump = DecisionStumpClassifier().fit(X, [0, 0, 1, 1, 2, 2])
    assert list(stump.predict([[0.0], [10.0], [np.nan]])) == [0, 1, 2]
    assert stump.export_text() == "x0 is missing: 2 (2)\nx0 <= 5: 0 (2)\nx0 > 5: 1 (2)"


def test_its_depth_is_one():
    X = [[1.0], [2.0], [8.0], [np.nan]]
    assert DecisionStumpClassifier().fit(X, [0, 0, 1, 2]).get_depth() == 1
    assert DecisionStumpClassifier().fit(X, [1, 1, 1, 1]).get_depth() == 0


def test_without_missing_values_their_branch_predicts_as_all_rows_together():
    stump = DecisionStumpClassifier().fit([[1.0], [2.0], [8.0], [9.0], [9.5]], [0, 0, 1, 1, 1])
    np.testing.assert_allclose(stump.predict_proba([[np.nan]]), [[0.4, 0.6]])
    regressor = DecisionStumpRegressor().fit([[1.0], [2.0], [8.0], [9.0]], [1.0, 2.0, 5.0, 8.0])
    np.testing.assert_allclose(regressor.predict([[0.0], [9.0], [np.nan]]), [1.5, 6.5, 4.0])


def test_error_and_information_may_choose_differently():
    # The first column separates 5 rows of class 1 from the others and leaves 5 errors. The second leaves 4
    # errors, but on both sides.
    X = np.array([[0, 0]] * 8 + [[0, 1]] * 2 + [[0, 0]] * 2 + [[0, 1]] * 3 + [[1, 1]] * 5)
    y = np.array([0] * 10 + [1] * 10)
    chosen = [
        DecisionStumpClassifier(criterion=name).fit(X, y).feature_importances_
        for name in ("entropy", "error")
    ]
    assert [list(importances) for importances in chosen] == [[1, 0], [0, 1]]


@pytest.mark.parametrize("criterion", ["entropy", "error"])
def test_weights_move_the_split(criterion):
    X, y = [[1], [2], [3]], [0, 1, 0]
    for weights, expected in (([5, 5, 1], [0, 1, 1]), ([1, 5, 5], [1, 1, 0])):
        stump = DecisionStumpClassifier(criterion=criterion).fit(X, y, sample_weight=weights)
        assert list(stump.predict(X)) == expected


def test_categories_are_split_into_two_sets():
    X = pd.DataFrame({"city": ["Bonn", "Oslo", "Rome", None] * 3})
    stump = DecisionStumpRegressor().fit(X, [1.0, 5.0, 1.0, 9.0] * 3)
    np.testing.assert_allclose(stump.predict(X[:4]), [1, 5, 1, 9])


def test_constant_columns_give_one_leaf():
    stump = DecisionStumpClassifier().fit([[1.0], [1.0]], [0, 1])
    assert stump.get_n_leaves() == 1
    assert list(stump.feature_importances_) == [0]
