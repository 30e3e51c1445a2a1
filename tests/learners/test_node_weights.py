"""The training weight of every node of a tree, of all learners that grow trees."""

import numpy as np
import pandas as pd
import pytest

import committee
from committee import _engine

# Weights of leaves are rounded to 11 bits.
ROUNDING = 2**-11
N_ROWS = 300


def frame():
    """Return numbers with missing values, and categories."""
    rng = np.random.default_rng(5)
    X = pd.DataFrame(rng.normal(size=(N_ROWS, 3)), columns=["a", "b", "c"]).mask(
        rng.random((N_ROWS, 3)) < 0.1
    )
    return X.assign(city=pd.Categorical(rng.choice(["Bonn", "Oslo", "Rome"], N_ROWS)))


FRAME = frame()
NUMBER = FRAME["a"].fillna(0) * FRAME["b"].fillna(1) + (FRAME["city"] == "Oslo") + FRAME["c"].fillna(0)
TWO, THREE = (NUMBER > 0.4).to_numpy().astype(int), np.digitize(NUMBER, [0, 1])
WEIGHTS = {
    "no weights": None,
    "repetitions": np.arange(N_ROWS) % 4.0,
    "fractions": np.random.default_rng(6).random(N_ROWS) * 1e-3,
}
WEIGHTED = pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)


def fitted(estimator, y, weights):
    return estimator.fit(FRAME, y, **({} if weights is None else {"sample_weight": weights}))


def children(forest, tree):
    """Return the inner nodes of a tree, and their children."""
    if isinstance(forest, _engine.Forest):
        nodes = _engine.describe_tree(forest, tree)
        inner = np.flatnonzero(nodes.left >= 0)
        return inner, [nodes.left[inner], nodes.right[inner]]
    arrays = forest.arrays()
    begin, end = arrays["node_offsets"][tree : tree + 2]
    inner = np.flatnonzero(arrays["components"][begin:end] != 2**32 - 1)
    left = arrays["addresses"][begin:end][inner]
    return inner, [left, left + 1]


def check_sums(forest, total=None):
    """Check that the weight of a node is the sum of those of its children, and that of the root."""
    assert forest.n_trees > 0
    for tree in range(forest.n_trees):
        weights = forest.node_weights(tree)
        inner, sides = children(forest, tree)
        np.testing.assert_allclose(weights[inner], sum(weights[side] for side in sides), rtol=1e-12)
        if total is not None:
            assert weights[0] == pytest.approx(total, rel=ROUNDING)


def check_rows(forest, weights):
    """Check the weight of every leaf against the rows that reach it."""
    weights = np.ones(N_ROWS) if weights is None else weights
    codes = FRAME["city"].cat.codes.to_numpy().astype(np.int32) + 1
    leaves = forest.apply([*FRAME[["a", "b", "c"]].to_numpy().T.copy(), codes], N_ROWS, 1)
    for tree in range(forest.n_trees):
        found, expected = forest.node_weights(tree), np.bincount(leaves[:, tree], weights)
        reached = np.flatnonzero(expected)
        np.testing.assert_allclose(found[reached], expected[reached], rtol=ROUNDING)
    check_sums(forest, weights.sum())


SEEN_BY_ALL = {
    "tree": (committee.DecisionTreeClassifier(random_state=0), TWO),
    "pruned": (committee.DecisionTreeClassifier(random_state=0, ccp_alpha=0.01), THREE),
    "few leaves": (committee.DecisionTreeRegressor(random_state=0, max_leaf_nodes=7), NUMBER),
    "random tree": (committee.RandomTreeClassifier(random_state=0), THREE),
    "stump": (committee.DecisionStumpClassifier(), THREE),
    "forest": (committee.RandomForestClassifier(3, bootstrap=False, random_state=0), THREE),
    "pruned forest": (
        committee.RandomForestRegressor(3, bootstrap=False, ccp_alpha=0.01, random_state=0),
        NUMBER,
    ),
    "extra-trees": (committee.ExtraTreesRegressor(3, random_state=0), NUMBER),
}


@WEIGHTED
@pytest.mark.parametrize("estimator, y", SEEN_BY_ALL.values(), ids=SEEN_BY_ALL)
def test_the_weight_of_a_leaf_is_that_of_its_rows(estimator, y, weights):
    check_rows(fitted(estimator, y, weights)._forest, weights)


def boosters():
    """Return one booster for each loss, and one whose trees have a value for each class."""
    for loss in ("squared_error", "absolute_error", "huber", "quantile"):
        yield loss, committee.GradientBoostingRegressor(3, loss=loss, subsample=1.0, random_state=0), NUMBER
    for loss in ("poisson", "gamma", "tweedie"):
        booster = committee.GradientBoostingRegressor(3, loss=loss, subsample=1.0, random_state=0)
        yield loss, booster, np.exp(NUMBER)
    booster = committee.GradientBoostingClassifier(3, subsample=1.0, random_state=0)
    yield "two classes", booster, TWO
    yield "three classes", booster, THREE
    many = committee.GradientBoostingClassifier(
        3, subsample=1.0, multi_strategy="multi_output_tree", random_state=0
    )
    yield "multi-output", many, THREE
    yield "logit", committee.LogitBoostClassifier(3, random_state=0), THREE


@WEIGHTED
@pytest.mark.parametrize(
    "booster, y", [each[1:] for each in boosters()], ids=[each[0] for each in boosters()]
)
def test_boosters_count_the_rows_of_a_leaf_by_their_weight(booster, y, weights):
    # Weights that are not repetitions have a mean of one.
    is_scaled = weights is WEIGHTS["fractions"]
    check_rows(fitted(booster, y, weights)._forest, weights / weights.mean() if is_scaled else weights)


def test_a_subsample_is_counted():
    booster = committee.GradientBoostingClassifier(3, subsample=0.5, random_state=0).fit(FRAME, TWO)
    for tree in range(3):
        assert 0 < booster._forest.node_weights(tree)[0] < 0.7 * N_ROWS
    check_sums(booster._forest)


def test_rows_of_a_bag_count_as_often_as_they_were_drawn():
    forest = committee.RandomForestRegressor(3, keep_leaf_rows=True, random_state=0).fit(FRAME, NUMBER)
    for tree, (offsets, _, counts) in enumerate(forest._leaf_rows):
        nodes = _engine.describe_tree(forest._forest, tree)
        by_value = np.add.reduceat(counts, offsets[:-1])
        np.testing.assert_array_equal(forest._forest.node_weights(tree)[nodes.left < 0], by_value)
    check_sums(forest._forest, N_ROWS)


@WEIGHTED
def test_classes_count_by_their_weight(weights):
    forest = committee.RandomForestClassifier(3, class_weight="balanced_subsample", random_state=0)
    check_sums(fitted(forest, THREE, weights)._forest)
    bagged = committee.BaggingClassifier(committee.DecisionTreeClassifier(class_weight={0: 2.0, 1: 0.5}), 3)
    forest = fitted(bagged.set_params(random_state=0), TWO, weights)._forest
    for tree in range(3):
        nodes = _engine.describe_tree(forest, tree)
        assert forest.node_weights(tree)[nodes.left < 0].min() >= 0.5 * (1 - ROUNDING)
    check_sums(forest)


@WEIGHTED
@pytest.mark.parametrize(
    "member", [None, committee.DecisionTreeClassifier(max_depth=3)], ids=["stump", "tree"]
)
def test_members_of_adaboost_have_the_weights_of_their_round(member, weights):
    boosted = fitted(committee.AdaBoostClassifier(member, n_estimators=4, random_state=0), THREE, weights)
    for forest in (boosted._members, boosted._forest):
        check_sums(forest, weights.sum() if weights is WEIGHTS["repetitions"] else N_ROWS)


@WEIGHTED
@pytest.mark.parametrize("bootstrap", [False, True])
@pytest.mark.parametrize("is_classifier", [False, True])
def test_trees_of_rotation_forests_have_weights(is_classifier, bootstrap, weights):
    kind = committee.RotationForestClassifier if is_classifier else committee.RotationForestRegressor
    forest = fitted(kind(3, bootstrap=bootstrap, random_state=0), THREE if is_classifier else NUMBER, weights)
    total = weights.sum() if weights is WEIGHTS["repetitions"] and not bootstrap else None
    check_sums(forest._forest, N_ROWS if weights is None else total)


@WEIGHTED
@pytest.mark.parametrize("pruning", ["pessimistic", "reduced_error", None])
def test_c45_divides_the_weight_of_rows_with_missing_values(pruning, weights):
    tree = fitted(committee.C45Classifier(pruning=pruning), THREE, weights).tree_
    arrays, found = tree.arrays(), tree.node_weights()
    np.testing.assert_array_equal(found, arrays["distribution"].sum(axis=1))
    for node in np.flatnonzero(arrays["column"] >= 0):
        n_branches = max(2, arrays["n_categories"][arrays["column"][node]])
        branches = arrays["branch"][arrays["first_branch"][node] :][:n_branches]
        assert found[branches[branches >= 0]].sum() == pytest.approx(found[node], rel=1e-6)


def test_c45_forests_have_the_weights_of_their_trees():
    bagged = committee.BaggingClassifier(committee.C45Classifier(), 2, random_state=0).fit(FRAME, TWO)
    for tree in range(2):
        found = bagged._forest.node_weights(tree)
        np.testing.assert_array_equal(found, bagged._forest.tree(tree, None).node_weights())
        assert found[0] == pytest.approx(N_ROWS)


def test_unknown_trees_raise():
    forest = committee.RandomForestClassifier(2, random_state=0).fit(FRAME, TWO)._forest
    with pytest.raises(ValueError, match="There is no tree 2"):
        forest.node_weights(2)
