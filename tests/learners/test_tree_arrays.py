"""The arrays of trees, compared with those of scikit-learn's trees."""

import numpy as np
import pytest
import sklearn.tree
from every_estimator import mixed_frame
from sklearn.datasets import load_breast_cancer, load_diabetes

import committee

NAMES = ["feature", "value", "impurity", "n_node_samples", "weighted_n_node_samples", "missing_go_to_left"]


@pytest.mark.parametrize("kind", ["Classifier", "Regressor"])
def test_the_nodes_are_those_of_scikit_learn(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5)).astype(np.float32).astype(np.float64)
    y = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=300)
    y = (y > 0).astype(int) if kind == "Classifier" else y
    weights = rng.integers(1, 4, len(y))
    ours, theirs = (
        getattr(library, f"DecisionTree{kind}")(max_depth=2, min_samples_leaf=30).fit(X, y, weights).tree_
        for library in (committee, sklearn.tree)
    )
    # scikit-learn numbers the nodes depth first.
    order = [0]
    for node in order:
        order.extend(
            child for child in (theirs.children_left[node], theirs.children_right[node]) if child > 0
        )
    assert order == [0, 1, 4, 2, 3, 5, 6]
    # Below the root, our thresholds are between neighbouring values of the whole column, not of the node.
    np.testing.assert_allclose(ours.threshold[[0, 3, 4, 5, 6]], theirs.threshold[order][[0, 3, 4, 5, 6]])
    for name in NAMES:
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name)[order], rtol=1e-5, err_msg=name)
    assert ours.children_left.tolist() == [1, 3, 5, -1, -1, -1, -1]
    assert ours.children_right.tolist() == [2, 4, 6, -1, -1, -1, -1]
    for name in ("node_count", "n_leaves", "n_outputs", "max_depth", "n_features", "max_n_classes"):
        assert getattr(ours, name) == getattr(theirs, name)
    assert ours.n_classes.tolist() == theirs.n_classes.tolist()
    np.testing.assert_allclose(ours.compute_feature_importances(), theirs.compute_feature_importances())
    np.testing.assert_allclose(
        ours.compute_feature_importances(False), theirs.compute_feature_importances(False)
    )
    assert (ours.compute_node_depths() == theirs.compute_node_depths()[order]).all()
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X.astype(np.float32)))


@pytest.mark.parametrize("kind", ["Classifier", "Regressor"])
def test_rows_take_the_same_path_through_the_arrays_as_through_the_tree(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    X[rng.random(X.shape) < 0.2] = np.nan
    y = (np.nan_to_num(X[:, 0], nan=2) > 0.5).astype(float) + np.isnan(X[:, 1])
    tree = getattr(committee, f"RandomTree{kind}")(random_state=0).fit(X, y)
    assert (tree.tree_.apply(X) == tree.apply(X)).all()
    assert (tree.tree_.decision_path(X) != tree.decision_path(X)).nnz == 0


def test_a_split_of_missing_values_has_an_infinite_threshold_with_missing_on_the_right():
    for missing in (0.0, 1.0):
        X, y = [[np.nan], [1.0], [2.0], [np.nan]], [missing, 1 - missing, 1 - missing, missing]
        tree = committee.DecisionTreeClassifier().fit(X, y)
        assert tree.tree_.threshold[0] == np.inf
        assert tree.tree_.missing_go_to_left[0] == 0
        assert (tree.tree_.predict(X)[:, 1] == y).all()


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_members_of_a_forest_have_the_nodes_of_the_same_tree_alone(criterion):
    X, y = load_breast_cancer(return_X_y=True)
    parameters = {"criterion": criterion, "max_features": None, "max_depth": 3}
    forest = committee.ExtraTreesClassifier(1, random_state=0, **parameters).fit(X, y)
    member = forest.estimators_[0].tree_
    leaves = forest.apply(X)[:, 0]
    for leaf in np.unique(leaves):
        shares = np.bincount(y[leaves == leaf], minlength=2) / (leaves == leaf).sum()
        np.testing.assert_allclose(member.value[leaf, 0], shares)
        assert member.n_node_samples[leaf] == (leaves == leaf).sum()
    np.testing.assert_allclose(member.value[0, 0], np.bincount(y) / len(y))
    copy = forest.to_sklearn().estimators_[0]
    shares = member.value[:, 0]
    logs = np.log2(np.where(shares > 0, shares, 1))
    impurity = 1 - (shares**2).sum(axis=1) if criterion == "gini" else -(shares * logs).sum(axis=1)
    np.testing.assert_allclose(copy.tree_.impurity, impurity, atol=1e-12)


def test_the_trees_of_a_booster_add_up_to_its_scores():
    X, y = load_diabetes(return_X_y=True)
    booster = committee.GradientBoostingRegressor(5, random_state=0, subsample=1.0).fit(X, y)
    assert len(booster.trees_) == 5
    values = np.sum([tree.predict(X)[:, 0] for tree in booster.trees_], axis=0)
    np.testing.assert_allclose(values + y.mean(), booster.predict(X))
    assert booster.trees_[0].n_node_samples[0] == len(y)


def test_the_arrays_are_read_only_and_name_categories():
    frame, y = mixed_frame()
    tree = committee.DecisionTreeRegressor().fit(frame[["city"]], y).tree_
    assert tree.left_categories[0].tolist() in ([2], [1, 3])
    assert np.isnan(tree.threshold[0])
    with pytest.raises(ValueError, match=r"read-only"):
        tree.threshold[0] = 1.0
    with pytest.raises(ValueError, match=r"This tree splits categories"):
        tree.apply([[1.0]])


def test_unknown_impurities_and_wrong_rows_are_errors():
    tree = committee.RandomForestRegressor(1).fit([[1], [2]] * 5, [1.0, 2.0] * 5).estimators_[0].tree_
    with pytest.raises(ValueError, match=r"do not store impurities. Use feature_importances_"):
        tree.compute_feature_importances()
    with pytest.raises(ValueError, match=r"X must be a matrix of 1 columns. Got shape \(1, 2\)"):
        tree.apply([[1, 2]])
