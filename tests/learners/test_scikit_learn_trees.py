"""Copies of trees and forests as estimators of scikit-learn give the same predictions."""

import numpy as np
import pandas as pd
import pytest
import sklearn.ensemble
import sklearn.tree
from every_estimator import mixed_frame, votes_of
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_diabetes

import committee

TREES = ["DecisionTree", "ExtraTree", "RandomTree", "DecisionStump"]
FORESTS = ["RandomForest", "ExtraTrees"]


def make(name, kind, **parameters):
    small = {"n_estimators": 5} if name in FORESTS else {}
    seed = {} if name == "DecisionStump" else {"random_state": 0}
    return getattr(committee, name + kind)(**small | seed | parameters)


def rows_of(kind, *, missing):
    X, y = (load_breast_cancer if kind == "Classifier" else load_diabetes)(return_X_y=True)
    if missing:
        X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    return X, np.array(["no", "yes"])[y] if kind == "Classifier" else y


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("kind", ["Classifier", "Regressor"])
@pytest.mark.parametrize("name", TREES + FORESTS)
def test_a_copy_predicts_the_same_for_the_training_rows_and_for_float32(name, kind, missing):
    X, y = rows_of(kind, missing=missing)
    model = make(name, kind).fit(X, y)
    copy = model.to_sklearn(X)
    assert isinstance(
        copy, sklearn.tree.BaseDecisionTree if name in TREES else sklearn.ensemble._forest.BaseForest
    )
    np.testing.assert_array_equal(copy.apply(X), model.apply(X))
    other = (X[::-1] * 0.9).astype(np.float32)
    for rows in (X, other):
        np.testing.assert_allclose(votes_of(copy, rows), votes_of(model, rows), rtol=1e-13)
    assert (copy.predict(X) == model.predict(X)).all()
    np.testing.assert_array_equal(votes_of(model.to_sklearn(), other), votes_of(copy, other))


def test_a_copy_keeps_names_parameters_and_importances():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    forest = committee.RandomForestRegressor(5, max_depth=3, random_state=0).fit(X, y)
    copy = forest.to_sklearn()
    assert copy.feature_names_in_.tolist() == list(X.columns)
    assert (copy.n_estimators, copy.max_depth, copy.max_features) == (5, 3, 1.0)
    np.testing.assert_allclose(copy.predict(X), forest.predict(X))
    tree = committee.DecisionTreeRegressor(max_depth=3, criterion="poisson").fit(X, y)
    np.testing.assert_allclose(tree.to_sklearn().feature_importances_, tree.feature_importances_)
    assert tree.to_sklearn().criterion == "poisson"


@pytest.mark.parametrize("missing", [False, True])
def test_trees_of_medians_can_be_copied(missing):
    X, y = rows_of("Regressor", missing=missing)
    tree = committee.DecisionTreeRegressor(criterion="absolute_error", max_depth=4).fit(X, y)
    copy = tree.to_sklearn(X)
    assert (copy.predict(X) == tree.predict(X)).all()
    assert copy.criterion == ("squared_error" if missing else "absolute_error")


def test_constrained_and_pruned_trees_can_be_copied():
    X, y = rows_of("Regressor", missing=True)
    tree = committee.DecisionTreeRegressor(monotonic_cst=[1] * 10, ccp_alpha=10.0).fit(X, y)
    assert (tree.to_sklearn(X).predict(X) == tree.predict(X)).all()


@given(st.lists(st.integers(0, 60), min_size=2, max_size=12, unique=True), st.integers(0, 9))
def test_numbers_that_float32_cannot_hold_keep_their_leaves_or_are_an_error(steps, seed):
    # One step is a fifth of the distance of two neighbouring numbers of float32.
    X = 1 + np.array(steps)[:, np.newaxis] * 2.0**-23 / 5
    y = np.random.default_rng(seed).permutation(len(X)).astype(float)
    model = committee.ExtraTreesRegressor(3, random_state=seed).fit(X, y)
    rounded = X[:, 0].astype(np.float32)
    if len(np.unique(rounded)) == len(rounded):
        assert (model.to_sklearn(X).predict(X) == model.predict(X)).all()
    else:
        with pytest.raises(ValueError, match=r"equal in column 'x0', and a split separates them. Rescale"):
            model.to_sklearn(X)


def test_columns_that_trees_of_scikit_learn_cannot_read_are_errors():
    frame, y = mixed_frame()
    with pytest.raises(
        ValueError, match=r"Column 'city' has categories, and trees of scikit-learn need numbers"
    ):
        committee.DecisionTreeRegressor().fit(frame, y).to_sklearn()
    days = pd.DataFrame({"day": pd.date_range("2020-01-01", periods=60)})
    with pytest.raises(ValueError, match=r"Column 'day' has dates.*Encode it as numbers before the fit.$"):
        committee.RandomForestRegressor(2).fit(days, y).to_sklearn()


def test_a_forest_with_another_rule_cannot_be_copied():
    X, y = rows_of("Classifier", missing=False)
    forest = committee.RandomForestClassifier(3, rule="majority", random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r"Forests of scikit-learn average their trees. Got rule='majority'"):
        forest.to_sklearn()
