"""Histogram gradient boosting: the trees of scikit-learn, and constraints of interactions."""

import numpy as np
import pandas as pd
import pytest
import sklearn.ensemble
from hypothesis import given
from hypothesis import strategies as st

import committee

INTERACTIONS = [None, [{0, 1}, {2, 3}], [(0, 1), (1, 2, 4)], "pairwise", "no_interactions"]


def table(n_rows=2000):
    """Draw rows in which columns interact, with less than 255 values in a column."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 6)).round(1)
    X[rng.random(X.shape) < 0.05] = np.nan
    known = np.nan_to_num(X)
    noise = rng.normal(size=n_rows) / 10
    return X, known[:, 0] * known[:, 1] + known[:, 2] * known[:, 3] + np.sin(known[:, 4]) + noise


def both(kind, X, y, sample_weight=None, **parameters):
    """Fit our class and that of scikit-learn."""
    name = f"HistGradientBoosting{kind}"
    parameters = {"max_iter": 10, "early_stopping": False} | parameters
    return [
        getattr(library, name)(**parameters).fit(X, y, sample_weight)
        for library in (committee, sklearn.ensemble)
    ]


@pytest.mark.parametrize("interaction_cst", INTERACTIONS)
def test_a_regressor_grows_the_trees_of_scikit_learn(interaction_cst):
    X, y = table()
    ours, theirs = both("Regressor", X, y, interaction_cst=interaction_cst)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-6)


@pytest.mark.parametrize(
    "parameters",
    [
        {"l2_regularization": 5.0, "max_leaf_nodes": 7},
        {"max_depth": 2, "learning_rate": 0.3, "min_samples_leaf": 50},
        {"loss": "absolute_error"},
        {"loss": "poisson"},
        {"loss": "gamma"},
    ],
    ids=str,
)
def test_the_parameters_have_the_meaning_of_scikit_learn(parameters):
    X, y = table()
    ours, theirs = both("Regressor", X, np.exp(y / 3), **parameters)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-4)


@pytest.mark.parametrize("interaction_cst", INTERACTIONS[:2])
@pytest.mark.parametrize("cuts", [[0], [-1, 1]])
def test_a_classifier_grows_the_trees_of_scikit_learn(cuts, interaction_cst):
    X, y = table()
    labels = np.array(["a", "b", "c"])[np.digitize(y, cuts)]
    ours, theirs = both("Classifier", X, labels, interaction_cst=interaction_cst)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-4)
    assert ours.n_trees_per_iteration_ == theirs.n_trees_per_iteration_
    assert ours.n_iter_ == theirs.n_iter_


@given(
    st.lists(st.sets(st.integers(0, 5), min_size=1), min_size=1, max_size=4),
    st.sampled_from([0.5, 1.0]),
    st.integers(0, 3),
)
def test_a_path_splits_only_columns_of_one_set(interaction_cst, max_features, seed):
    X, y = table(200)
    booster = committee.HistGradientBoostingRegressor(
        max_iter=3,
        min_samples_leaf=5,
        interaction_cst=interaction_cst,
        max_features=max_features,
        random_state=seed,
    ).fit(X, y)
    rest = set(range(6)).difference(*interaction_cst)
    for tree in booster.trees_:
        paths = [(0, frozenset())]
        while paths:
            node, columns = paths.pop()
            assert any(columns <= each for each in [*interaction_cst, rest])
            if not tree.is_leaf[node]:
                below = columns | {int(tree.feature[node])}
                paths += [(tree.children_left[node], below), (tree.children_right[node], below)]


def test_columns_may_be_named_and_replaced_by_statistics():
    X, y = table()
    frame = pd.DataFrame(X, columns=list("abcdef"))
    by_name = committee.HistGradientBoostingRegressor(max_iter=5, interaction_cst=[["a", "b"], ["c", "d"]])
    by_place = committee.HistGradientBoostingRegressor(max_iter=5, interaction_cst=[[0, 1], [2, 3]])
    assert (by_name.fit(frame, y).predict(frame) == by_place.fit(X, y).predict(X)).all()
    frame["a"] = pd.Categorical(frame["a"])
    labels = np.digitize(y, [-1, 1])
    booster = committee.HistGradientBoostingClassifier(
        max_iter=5, max_native_categories=5, interaction_cst="no_interactions", random_state=0
    ).fit(frame, labels)
    # The three statistics of a category, one per class, are the same column.
    for tree in booster.trees_:
        places = set(tree.feature[~tree.is_leaf].tolist())
        assert len(places) == 1 or places <= {0, 1, 2}


@pytest.mark.parametrize("wrong", ["all", 3, [0, 1], [{0, 9}], [{"a"}], [{0.5}]])
def test_wrong_interactions_are_errors(wrong):
    X, y = table(50)
    with pytest.raises(ValueError, match=r"^interaction_cst (must be|contains the column)"):
        committee.HistGradientBoostingRegressor(interaction_cst=wrong).fit(X, y)


def test_early_stopping_is_automatic_above_10_000_rows():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, size=(10_001, 1)), rng.normal(size=10_001)
    booster = committee.HistGradientBoostingRegressor(random_state=0)
    assert booster.fit(X, y).do_early_stopping_
    assert booster.n_iter_ < 100
    assert not booster.fit(X[1:], y[1:]).do_early_stopping_
    assert booster.n_iter_ == 100
    assert booster.fit(X[:99], y[:99], X_val=X[99:], y_val=y[99:]).do_early_stopping_


def test_a_warm_start_adds_rounds_up_to_max_iter():
    X, y = table(200)
    booster = committee.HistGradientBoostingRegressor(max_iter=5, warm_start=True, random_state=0).fit(X, y)
    whole = committee.HistGradientBoostingRegressor(max_iter=9, random_state=0).fit(X, y)
    assert booster.set_params(max_iter=9).fit(X, y).n_iter_ == 9
    np.testing.assert_allclose(booster.predict(X), whole.predict(X))
    with pytest.raises(ValueError, match="max_iter=3 must be larger or equal to the 9 rounds"):
        booster.set_params(max_iter=3).fit(X, y)


def test_categories_are_found_and_named():
    frame = pd.DataFrame({"shop": pd.Categorical(list("abc") * 20), "size": np.arange(60.0)})
    booster = committee.HistGradientBoostingRegressor(max_iter=3, min_samples_leaf=5)
    assert booster.fit(frame, frame["size"]).is_categorical_.tolist() == [True, False]
    assert booster.fit(frame[["size"]], frame["size"]).is_categorical_ is None
