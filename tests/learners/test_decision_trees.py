"""Decision trees: pruning, paths, limits, constraints and text, compared with scikit-learn's trees."""

import numpy as np
import pandas as pd
import pytest
import sklearn.tree
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris

import committee
from committee import C45Classifier, DecisionTreeClassifier, DecisionTreeRegressor, load

IRIS = load_iris(return_X_y=True)
CANCER = load_breast_cancer(return_X_y=True)
DIABETES = load_diabetes(return_X_y=True)


def distinct_problem(seed=0, n_rows=200):
    """Return numbers without ties, so that few splits are equally good."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    noise = rng.normal(scale=0.5, size=n_rows)
    return X.astype(np.float32).astype(float), X[:, 0] + X[:, 1] ** 2 + noise


def uneven_weights(n_rows=200):
    """Return weights for which no two splits into classes are equally good."""
    return np.random.default_rng(1).integers(1, 1000, n_rows).astype(float)


@pytest.mark.parametrize("criterion", ["squared_error", "poisson"])
@pytest.mark.parametrize(
    "limits",
    [
        {"max_depth": 4},
        {"min_samples_leaf": 7},
        {"min_samples_split": 0.1},
        {"max_leaf_nodes": 9},
        {"min_impurity_decrease": 0.01},
        {"min_weight_fraction_leaf": 0.05},
        {"ccp_alpha": 0.02},
    ],
    ids=str,
)
def test_a_regression_tree_equals_that_of_scikit_learn(criterion, limits):
    X, y = distinct_problem()
    y = y - y.min() + 0.1
    ours = DecisionTreeRegressor(criterion=criterion, **limits).fit(X, y)
    theirs = sklearn.tree.DecisionTreeRegressor(criterion=criterion, random_state=0, **limits).fit(X, y)
    assert ours.get_n_leaves() == theirs.get_n_leaves()
    assert ours.get_depth() == theirs.get_depth()
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-6)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "log_loss"])
@pytest.mark.parametrize(
    "limits", [{"max_depth": 3}, {"min_samples_leaf": 10}, {"max_leaf_nodes": 5}], ids=str
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_classification_tree_equals_that_of_scikit_learn(criterion, limits, n_classes):
    X, signal = distinct_problem()
    y = np.digitize(signal, np.quantile(signal, np.arange(1, n_classes) / n_classes))
    weights = uneven_weights()
    limits = limits | {"criterion": criterion, "random_state": 0}
    ours = DecisionTreeClassifier(**limits).fit(X, y, weights)
    theirs = sklearn.tree.DecisionTreeClassifier(**limits).fit(X, y, weights)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-9)
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_, atol=1e-6)


def test_weights_of_classes_and_rows_multiply():
    X, signal = distinct_problem()
    y = (signal > 1).astype(int)
    weights = uneven_weights()
    for class_weight in ({0: 1, 1: 5}, "balanced"):
        parameters = {"max_depth": 3, "class_weight": class_weight, "random_state": 0}
        ours = DecisionTreeClassifier(**parameters).fit(X, y, weights)
        theirs = sklearn.tree.DecisionTreeClassifier(**parameters).fit(X, y, weights)
        np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-6)


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_the_pruning_path_equals_that_of_scikit_learn(criterion):
    X, signal = distinct_problem()
    y = (signal > 1).astype(int)
    weights = uneven_weights()
    parameters = {"criterion": criterion, "max_depth": 4, "random_state": 0}
    ours = DecisionTreeClassifier(**parameters).cost_complexity_pruning_path(X, y, weights)
    theirs = sklearn.tree.DecisionTreeClassifier(**parameters)
    expected = theirs.cost_complexity_pruning_path(X, y, weights)
    np.testing.assert_allclose(ours.ccp_alphas, expected.ccp_alphas, atol=1e-7)
    np.testing.assert_allclose(ours.impurities, expected.impurities, atol=1e-7)


def test_the_pruning_path_does_not_change_the_tree():
    tree = DecisionTreeClassifier().fit(*IRIS)
    before = dict(vars(tree))
    tree.cost_complexity_pruning_path(pd.DataFrame({"city": ["Bonn", "Oslo"]}), [0, 1])
    assert vars(tree) == before


def test_it_has_the_fitted_attributes_of_scikit_learn():
    tree = DecisionTreeClassifier(max_features="sqrt").fit(*CANCER)
    theirs = sklearn.tree.DecisionTreeClassifier(max_features="sqrt").fit(*CANCER)
    for name in ("max_features_", "n_outputs_", "n_classes_", "n_features_in_"):
        assert getattr(tree, name) == getattr(theirs, name)
    assert DecisionTreeRegressor().fit(*DIABETES).max_features_ == 10


def test_every_step_of_the_pruning_path_has_fewer_leaves():
    alphas = DecisionTreeClassifier().cost_complexity_pruning_path(*CANCER).ccp_alphas
    leaves = [DecisionTreeClassifier(ccp_alpha=alpha).fit(*CANCER).get_n_leaves() for alpha in alphas]
    assert leaves == sorted(leaves, reverse=True)
    assert leaves[-1] == 1


def test_importances_of_a_pruned_tree_are_those_of_its_splits():
    tree = DecisionTreeClassifier(ccp_alpha=0.02).fit(*CANCER)
    theirs = sklearn.tree.DecisionTreeClassifier(ccp_alpha=0.02, random_state=0).fit(*CANCER)
    ours, expected = np.sort(tree.feature_importances_), np.sort(theirs.feature_importances_)
    np.testing.assert_allclose(ours, expected, atol=0.02)
    assert tree.feature_importances_.sum() == pytest.approx(1)
    assert (tree.feature_importances_ > 0).sum() < tree.get_n_leaves()


@pytest.mark.parametrize("criterion", ["squared_error", "poisson"])
@pytest.mark.parametrize(
    "limits", [{}, {"max_depth": 3}, {"max_leaf_nodes": 9}, {"monotonic_cst": [1, 0, 0, -1]}]
)
def test_the_value_of_a_leaf_is_between_the_targets_of_its_rows(criterion, limits):
    for seed in range(10):
        X, y = distinct_problem(seed)
        y = np.where(y < 0.5, 0.0, 1000 * y)
        for weights in (None, np.random.default_rng(seed).random(len(y))):
            tree = DecisionTreeRegressor(criterion=criterion, **limits).fit(X, y, sample_weight=weights)
            found, leaves = tree.predict(X), tree.apply(X)
            assert y.min() <= found.min() and found.max() <= y.max()
            if "monotonic_cst" in limits:
                continue
            for leaf in np.unique(leaves):
                own = y[leaves == leaf]
                assert own.min() <= found[leaves == leaf][0] <= own.max()


def test_the_path_of_a_row_leads_from_the_root_to_its_leaf():
    X, y = IRIS
    tree = DecisionTreeClassifier(max_depth=3).fit(X, y)
    leaves, path = tree.apply(X), tree.decision_path(X)
    assert path.shape[0] == len(X)
    assert path.data.tolist() == [1] * path.nnz
    for row in (0, 60, 149):
        nodes = path[row].indices
        assert 0 in nodes
        assert leaves[row] == nodes.max()
        assert len(nodes) <= tree.get_depth() + 1
    assert len(np.unique(leaves)) == tree.get_n_leaves()
    same_leaf = leaves == leaves[0]
    assert (tree.predict_proba(X)[same_leaf] == tree.predict_proba(X)[0]).all()


def test_a_random_splitter_depends_on_the_seed_alone():
    X, y = DIABETES
    first, again = (DecisionTreeRegressor(splitter="random", random_state=0).fit(X, y) for _ in range(2))
    other = DecisionTreeRegressor(splitter="random", random_state=1).fit(X, y)
    assert (first.apply(X) == again.apply(X)).all()
    assert first.get_n_leaves() != other.get_n_leaves() or (first.apply(X) != other.apply(X)).any()


def test_max_features_draws_columns_by_the_seed():
    X, y = CANCER
    trees = [DecisionTreeClassifier(max_features=3, random_state=seed).fit(X, y) for seed in (0, 0, 1)]
    used = [set(np.flatnonzero(tree.feature_importances_)) for tree in trees]
    assert used[0] == used[1] != used[2]


@pytest.mark.parametrize("direction", [1, -1])
def test_monotonic_constraints_hold(direction):
    X, y = distinct_problem()
    grid = np.zeros((50, 4))
    grid[:, 1] = np.linspace(-3, 3, 50)
    tree = DecisionTreeRegressor(monotonic_cst=[0, direction, 0, 0], max_depth=6).fit(X, y)
    assert (direction * np.diff(tree.predict(grid)) >= 0).all()
    classes = DecisionTreeClassifier(monotonic_cst=[0, direction, 0, 0], max_depth=6).fit(X, y > 1)
    assert (direction * np.diff(classes.predict_proba(grid)[:, 1]) >= 0).all()


def test_gain_ratio_avoids_a_column_that_splits_off_single_rows():
    rng = np.random.default_rng(0)
    noisy = rng.normal(size=100)
    useful = (np.arange(100) % 2).astype(float)
    y = np.where(rng.random(100) < 0.15, 1 - useful, useful)
    X = np.column_stack([noisy, useful])
    tree = DecisionTreeClassifier(criterion="gain_ratio", max_depth=1).fit(X, y)
    assert list(tree.feature_importances_) == [0, 1]


def test_categories_split_into_sets():
    city = ["Bonn", "Oslo", "Rome", "Wien"] * 10
    y = [0, 1, 1, 0] * 10
    tree = DecisionTreeClassifier().fit(pd.DataFrame({"city": city}), y)
    assert tree.get_n_leaves() == 2
    assert tree.export_text() == "city in {Bonn, Wien}: 0 (20)\ncity in {Oslo, Rome}: 1 (20)"


def test_numbers_can_be_treated_as_categories():
    X, y = [[1], [2], [3]] * 5, [0, 1, 0] * 5
    assert DecisionTreeClassifier().fit(X, y).get_n_leaves() == 3
    assert DecisionTreeClassifier(categorical_features=[0]).fit(X, y).get_n_leaves() == 2


def test_the_text_shows_the_branch_of_missing_values():
    X = pd.DataFrame({"age": [1.0, 2.0, np.nan, 8.0, 9.0]})
    tree = DecisionTreeClassifier().fit(X, ["no", "no", "yes", "yes", "yes"])
    assert tree.export_text() == "age <= 5: no (2)\nage > 5 or missing: yes (3)"
    only_missing = DecisionTreeClassifier().fit(X, ["no", "no", "yes", "no", "no"])
    assert only_missing.export_text() in (
        "age is missing: yes (1)\nage is known: no (4)",
        "age is known: no (4)\nage is missing: yes (1)",
    )


def test_the_text_mentions_missing_values_only_in_nodes_that_have_some():
    X = np.array([[1.0], [2.0], [3.0], [np.nan]])
    text = DecisionTreeClassifier().fit(X, [0, 1, 0, 2]).export_text()
    assert text.count("missing") == 1


def test_text_counts_weights_and_errors():
    tree = DecisionTreeClassifier(max_depth=1).fit([[1], [2], [8], [9]], [0, 0, 0, 1], [0.5, 0.5, 1, 2])
    assert tree.export_text() == "x0 <= 8.5: 0 (2)\nx0 > 8.5: 1 (2)"
    regressor = DecisionTreeRegressor(max_depth=1).fit([[1], [2], [8], [9]], [1.0, 2.0, 5.0, 6.0])
    assert regressor.export_text() == "x0 <= 5: 1.5 (2)\nx0 > 5: 5.5 (2)"
    assert '0 -> 1 [label="x0 <= 5"]' in regressor.export_graph()


def test_a_tree_without_splits_is_written_as_text():
    tree = DecisionTreeClassifier().fit([[1], [1]], [0, 1])
    assert tree.get_depth() == 0
    assert tree.get_n_leaves() == 1
    assert tree.export_text() == ": 0 (2/1)"
    assert list(tree.feature_importances_) == [0]
    assert tree.nbytes > 0


@pytest.mark.parametrize("kind", [DecisionTreeClassifier, DecisionTreeRegressor])
def test_a_tree_that_is_pruned_to_its_root_is_saved_and_loaded(kind, tmp_path):
    tree = kind(ccp_alpha=0.9).fit([[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1])
    assert tree.get_n_leaves() == 1
    tree.save(tmp_path / "tree")
    loaded = load(tmp_path / "tree")
    assert loaded.feature_importances_.tolist() == [0.0]
    assert loaded.predict([[1.0]]) == tree.predict([[1.0]])


@pytest.mark.parametrize(
    ("tree", "problem"),
    [
        (DecisionTreeClassifier(max_depth=3), CANCER),
        (DecisionTreeRegressor(max_depth=6), DIABETES),
        (C45Classifier(), CANCER),
    ],
    ids=lambda value: type(value).__name__,
)
def test_the_order_of_rows_whose_weights_sum_to_one_does_not_matter(tree, problem):
    X, y = problem
    rng = np.random.default_rng(1)
    weights = rng.random(len(y))
    weights /= weights.sum()
    expected = tree.fit(X, y, sample_weight=weights).predict(X)
    for _ in range(10):
        order = rng.permutation(len(y))
        tree.fit(X[order], y[order], sample_weight=weights[order])
        np.testing.assert_array_equal(tree.predict(X), expected)


def test_balanced_weights_of_classes_count_all_rows():
    X, y = [[1.0]] * 6, [0, 0, 0, 0, 1, 1]
    tree = DecisionTreeClassifier(class_weight="balanced")
    assert tree.fit(X, y).predict_proba(X[:1]).tolist() == [[0.5, 0.5]]
    assert tree.fit(X, y, sample_weight=[1, 1, 0, 0, 3, 3]).predict_proba(X[:1]).tolist() == [[0.25, 0.75]]


@pytest.mark.parametrize("limit", ["min_samples_split", "min_samples_leaf"])
def test_a_share_of_the_rows_counts_rows_of_positive_weight(limit):
    X, y = load_iris(return_X_y=True)
    weights = np.arange(150) % 2
    tree = DecisionTreeClassifier(**{limit: 0.2}).fit(X, y, weights)
    expected = DecisionTreeClassifier(**{limit: 0.2}).fit(X[1::2], y[1::2])
    assert tree.export_text() == expected.export_text()


def test_the_scale_of_the_targets_does_not_change_the_importances():
    X, y = load_diabetes(return_X_y=True)
    expected = DecisionTreeRegressor(max_depth=4).fit(X, y).feature_importances_
    found = DecisionTreeRegressor(max_depth=4).fit(X, y * 2.0**-500).feature_importances_
    np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize("kind", ["Classifier", "Regressor"])
def test_an_extra_tree_is_a_forest_of_one(kind):
    X, y = CANCER
    tree = getattr(committee, f"ExtraTree{kind}")(random_state=3).fit(X, y)
    plain = getattr(committee, f"DecisionTree{kind}")(
        splitter="random", max_features=tree.max_features, random_state=3
    )
    assert (tree.predict(X) == plain.fit(X, y).predict(X)).all()
    assert tree.max_features_ == (5 if kind == "Classifier" else 30)
    members = getattr(committee, f"Bagging{kind}")(tree, n_estimators=3, random_state=0).fit(X, y)
    assert len({each.export_text() for each in members.estimators_}) == 3


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "limits",
    [{}, {"max_depth": 3}, {"min_samples_leaf": 5}, {"max_leaf_nodes": 8}, {"min_impurity_decrease": 0.02}],
    ids=str,
)
def test_the_absolute_error_grows_the_trees_of_scikit_learn(limits, weighted):
    X, y = distinct_problem()
    weights = np.random.default_rng(1).integers(1, 4, len(y)) if weighted else None
    parameters = {"criterion": "absolute_error"} | limits
    ours = DecisionTreeRegressor(**parameters).fit(X, y, weights)
    theirs = sklearn.tree.DecisionTreeRegressor(random_state=0, **parameters).fit(X, y, weights)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-12)
    assert ours.tree_.node_count == theirs.tree_.node_count
    np.testing.assert_allclose(ours.tree_.impurity[0], theirs.tree_.impurity[0], rtol=1e-12)


@pytest.mark.parametrize("name", ["RandomForestRegressor", "ExtraTreesRegressor"])
def test_forests_of_the_absolute_error_predict_medians_of_leaves(name):
    X, y = distinct_problem()
    forest = getattr(committee, name)(
        5, criterion="absolute_error", bootstrap=False, max_leaf_nodes=6, random_state=0
    ).fit(X, y)
    again = clone(forest).set_params(n_jobs=1).fit(X, y)
    assert (again.predict(X) == forest.predict(X)).all()
    for tree, leaves in zip(forest.estimators_, forest.apply(X).T, strict=True):
        for leaf in np.unique(leaves):
            np.testing.assert_allclose(tree.predict(X)[leaves == leaf], np.median(y[leaves == leaf]))


def test_the_absolute_error_splits_categories_and_missing_values():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"city": pd.Categorical(rng.choice(list("abcdef"), 200)), "size": rng.normal(size=200)}
    )
    frame.loc[::7, "size"] = np.nan
    y = frame["city"].isin(["b", "e"]) * 10.0 + frame["size"].isna() * 3.0
    y[5] = 1e9  # A mean would follow it.
    tree = DecisionTreeRegressor(criterion="absolute_error", min_samples_leaf=5).fit(frame, y)
    assert (tree.predict(frame)[6:] == y[6:]).all()
    assert tree.get_n_leaves() <= 8


def test_monotonic_columns_need_means():
    with pytest.raises(
        ValueError, match=r'monotonic_cst needs means. Use criterion="squared_error" or "poisson"'
    ):
        DecisionTreeRegressor(criterion="absolute_error", monotonic_cst=[1]).fit([[1], [2]], [1.0, 2.0])
