"""Rotation forests: equality with a reference implementation, degenerate groups, and forest behaviour."""

import pickle
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from every_estimator import mixed_frame
from rotation_oracle import members_of
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine, make_classification

from committee import DecisionTreeRegressor, RotationForestClassifier, RotationForestRegressor
from committee.running import receiving

BOTH = (RotationForestClassifier, RotationForestRegressor)
IRIS = load_iris(return_X_y=True)


def expected_votes(forest, X, y, **more):
    members, place = members_of(forest, X, y, **more)
    return np.array([member.vote(place(np.asarray(X, dtype=float))) for member in members])


def matrices_of(forest):
    """Yield the matrix of each tree, from axes to components, as the engine stores it."""
    arrays = forest._forest.arrays()
    n_axes = len(arrays["axis_columns"])
    for tree in range(forest._forest.n_trees):
        axes = arrays["turned_axes"][tree * n_axes : (tree + 1) * n_axes]
        sizes = arrays["group_sizes"][slice(*arrays["group_offsets"][tree : tree + 2])]
        coefficients = arrays["coefficients"][slice(*arrays["coefficient_offsets"][tree : tree + 2])]
        matrix, first, at = np.zeros((n_axes, n_axes)), 0, 0
        for size in map(int, sizes):
            block = coefficients[at : at + size * size].reshape(size, size)
            matrix[axes[first : first + size], first : first + size] = block.T
            first, at = first + size, at + size * size
        yield matrix


@pytest.mark.parametrize("load", [load_iris, load_wine])
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"tree": "c45_unpruned"},
        {"tree": "cart", "min_samples_leaf": 1},
        {"bootstrap": True},
        {"min_group": 1, "max_group": 4, "remove_proportion": 0.3},
        {"max_group": 50, "min_group": 50, "remove_proportion": 0},
    ],
    ids=str,
)
def test_it_equals_the_reference_implementation(load, parameters):
    X, y = load(return_X_y=True)
    forest = RotationForestClassifier(5, random_state=3, **parameters)
    expected = expected_votes(forest, X, y)
    np.testing.assert_allclose(forest.fit(X, y).votes(X), expected, atol=1e-12)


@pytest.mark.parametrize("bootstrap", [False, True])
def test_it_equals_the_reference_with_missing_values_categories_and_repeated_rows(bootstrap):
    frame, signal = mixed_frame(n_rows=80)
    y = np.digitize(signal, np.quantile(signal, [0.3, 0.6]))
    units = np.arange(len(y)) % 4
    forest = RotationForestClassifier(5, bootstrap=bootstrap, random_state=1)
    coded = frame.assign(city=frame["city"].cat.codes + 1).astype(float)
    expected = expected_votes(forest, coded, y, n_categories=[0, 0, 0, 3], units=units)
    fitted = forest.fit(frame, y, sample_weight=units)
    np.testing.assert_allclose(fitted.votes(frame), expected, atol=1e-12)


@pytest.mark.parametrize("estimator_type", BOTH)
def test_a_rotation_matrix_is_orthogonal(estimator_type):
    X, y = load_wine(return_X_y=True)
    forest = estimator_type(4, random_state=0).fit(X, y)
    for matrix in matrices_of(forest):
        np.testing.assert_allclose(matrix.T @ matrix, np.eye(X.shape[1]), atol=1e-12)
        assert (np.count_nonzero(matrix, axis=0) <= 3).all()


def test_a_regressor_is_cart_on_the_rotated_table():
    X = load_wine().data
    y = X[:, 0] * X[:, 6]
    forest = RotationForestRegressor(4, min_samples_leaf=1, random_state=0).fit(X, y)
    places = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    for matrix, votes in zip(matrices_of(forest), forest.votes(X), strict=True):
        rotated = np.round(places @ matrix * 2.0**35) / 2.0**35
        tree = DecisionTreeRegressor(random_state=0).fit(rotated, y)
        np.testing.assert_allclose(votes[:, 0], tree.predict(rotated), rtol=1e-12)


def test_a_group_without_variance_is_not_rotated():
    # All columns are constant within a class, so a sample of one class has no variance.
    X, y = np.repeat([[0.0, 1.0, 2.0], [3.0, 1.0, 5.0]], 5, axis=0), np.repeat([0, 1], 5)
    forest = RotationForestClassifier(30, random_state=0).fit(X, y)
    matrices = list(matrices_of(forest))
    assert all(matrix.shape == (2, 2) for matrix in matrices), "a constant column is ignored"
    are_axes = [np.array_equal(np.abs(matrix).sum(axis=0), [1, 1]) for matrix in matrices]
    assert any(are_axes)
    assert not all(are_axes), "some samples must contain both classes"
    assert forest.score(X, y) == 1


def test_a_sample_with_fewer_rows_than_columns_keeps_all_axes():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(6, 40)), np.array([0, 1] * 3)
    forest = RotationForestClassifier(5, min_group=40, max_group=40, random_state=0).fit(X, y)
    for matrix in matrices_of(forest):
        np.testing.assert_allclose(matrix @ matrix.T, np.eye(40), atol=1e-12)
    assert np.isfinite(forest.predict_proba(X)).all()


def test_trees_do_not_split_on_rounding_errors():
    # The three columns sum to one, so one component is constant except for rounding errors.
    rng = np.random.default_rng(0)
    X = rng.dirichlet([1, 1, 1], size=400)
    forest = RotationForestClassifier(20, tree="cart", min_samples_leaf=1, random_state=0)
    forest.fit(X, rng.integers(0, 2, 400))
    arrays, constant = forest._forest.arrays(), []
    low, extent = X.min(axis=0), np.ptp(X, axis=0)
    for tree, matrix in enumerate(matrices_of(forest)):
        is_constant = np.std((X - low) / extent @ matrix, axis=0) < 1e-12
        used = arrays["components"][slice(*arrays["node_offsets"][tree : tree + 2])]
        constant.extend(used[np.isin(used, np.flatnonzero(is_constant))])
    assert constant == []


@pytest.mark.parametrize("estimator_type", BOTH)
def test_the_number_of_threads_does_not_change_the_forest(estimator_type):
    X, y = make_classification(600, 12, n_informative=6, random_state=0)
    parameters = {"bootstrap": True, "oob_score": True, "random_state": 0}
    one, *others = (estimator_type(9, n_jobs=n, **parameters).fit(X, y) for n in (1, 2, 3, 7))
    for other in others:
        for name, array in one._forest.arrays().items():
            assert array.tobytes() == other._forest.arrays()[name].tobytes()
        assert one.oob_score_ == other.oob_score_
        np.testing.assert_array_equal(one.oob_curve_, other.oob_curve_)
        np.testing.assert_array_equal(one.feature_importances_, other.feature_importances_)


def test_out_of_bag_decisions_come_from_trees_without_the_row():
    X, y = IRIS
    forest = RotationForestClassifier(1, bootstrap=True, oob_score=True, random_state=0).fit(X, y)
    outside = ~np.isnan(forest.oob_decision_function_[:, 0])
    assert 0.2 < outside.mean() < 0.55
    np.testing.assert_array_equal(forest.oob_decision_function_[outside], forest.predict_proba(X)[outside])
    wrong = forest.predict(X)[outside] != y[outside]
    assert forest.oob_curve_[0] == wrong.mean()
    assert forest.oob_score_ == pytest.approx(1 - wrong.mean())


def test_the_out_of_bag_curve_of_a_regressor_ends_at_its_error():
    X = load_wine().data
    forest = RotationForestRegressor(40, bootstrap=True, oob_score=True, random_state=0).fit(X, X[:, 0])
    is_scored = ~np.isnan(forest.oob_prediction_)
    errors = (forest.oob_prediction_ - X[:, 0])[is_scored] ** 2
    assert forest.oob_curve_[-1] == pytest.approx(errors.mean())
    assert forest.oob_curve_[-1] < forest.oob_curve_[0]


def test_rows_of_weight_zero_are_out_of_all_bags():
    X, y = IRIS
    weights = np.arange(len(y)) % 2
    forest = RotationForestClassifier(15, bootstrap=True, oob_score=True, random_state=0)
    forest.fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(
        forest.oob_decision_function_[weights == 0], forest.predict_proba(X[weights == 0])
    )


def test_only_the_ratios_of_fractional_weights_matter():
    X, y = IRIS
    weights = np.random.default_rng(0).random(len(y))
    votes = [
        RotationForestClassifier(5, random_state=0).fit(X, y, sample_weight=scale * weights).predict_proba(X)
        for scale in (1, 1024, 2.0**-20)
    ]
    np.testing.assert_allclose(votes[1], votes[0])
    np.testing.assert_allclose(votes[2], votes[0])


@pytest.mark.parametrize("estimator_type", BOTH)
def test_equal_rows_of_different_weights_may_be_in_any_order(estimator_type):
    rng = np.random.default_rng(0)
    X, y = (np.repeat(part, 3, axis=0) for part in IRIS)
    weights, order = rng.uniform(0.5, 1.5, len(y)), rng.permutation(len(y))
    forest = estimator_type(3, random_state=0).fit(X, y, weights)
    other = estimator_type(3, random_state=0).fit(X[order], y[order], weights[order])
    np.testing.assert_array_equal(forest.votes(X), other.votes(X))


def test_importances_find_the_columns_that_matter():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 8))
    forest = RotationForestClassifier(30, random_state=0).fit(X, X[:, 2] + X[:, 5] > 0)
    assert forest.feature_importances_.sum() == pytest.approx(1)
    assert set(forest.feature_importances_.argsort()[-2:]) == {2, 5}
    assert forest.feature_importances_std_.shape == (8,)


def test_importances_of_categories_count_for_their_column():
    frame, signal = mixed_frame(n_rows=300)
    forest = RotationForestRegressor(10, random_state=0).fit(frame, signal)
    assert forest.feature_importances_.shape == (4,)
    assert set(forest.feature_importances_.argsort()[-2:]) == {0, 3}


def test_the_forest_averages_the_votes_of_its_members():
    X, y = IRIS
    forest = RotationForestClassifier(5, random_state=0).fit(X, y)
    assert len(forest.estimators_) == 5
    np.testing.assert_array_equal([member.predict_proba(X) for member in forest.estimators_], forest.votes(X))
    np.testing.assert_allclose(forest.votes(X).mean(axis=0), forest.predict_proba(X))
    np.testing.assert_array_equal(forest.apply(X)[:, [2]], forest.estimators_[2].apply(X))


def test_the_majority_rule_counts_votes():
    X, y = IRIS
    forest = RotationForestClassifier(5, rule="majority", random_state=0).fit(X, y)
    counts = (forest.votes(X).argmax(axis=2)[:, :, np.newaxis] == np.arange(3)).mean(axis=0)
    np.testing.assert_allclose(forest.predict_proba(X), counts)


def test_a_time_limit_keeps_the_first_trees_and_at_least_one():
    X, y = IRIS
    whole = RotationForestClassifier(20, random_state=0).fit(X, y)
    cut = RotationForestClassifier(20, random_state=0, time_limit=1e-9).fit(X, y)
    n_grown = len(cut.estimators_)
    assert 1 <= n_grown < 20
    np.testing.assert_array_equal(cut.votes(X), whole.votes(X)[:n_grown])
    enough = RotationForestClassifier(20, random_state=0, time_limit=1e6).fit(X, y)
    np.testing.assert_array_equal(enough.predict_proba(X), whole.predict_proba(X))


def test_the_time_limit_includes_reading_the_table(monkeypatch):
    now = iter([100.0, 110.0])
    clock = SimpleNamespace(monotonic=lambda: next(now))
    monkeypatch.setattr("committee.sampling.rotation_forest.time", clock)
    forest = RotationForestClassifier(20, random_state=0, time_limit=10, n_jobs=1).fit(*IRIS)
    assert len(forest.estimators_) == 1


def test_progress_is_reported_and_an_interrupted_fit_changes_nothing():
    X, y = IRIS
    forest = RotationForestClassifier(5, random_state=0, n_jobs=1).fit(X, y)
    before, received = forest.predict_proba(X), []

    def interrupt(event):
        received.append((event.what, event.n_done, event.n_total))
        if event.n_done == 2:
            raise KeyboardInterrupt

    with receiving(interrupt), pytest.raises(KeyboardInterrupt):
        forest.set_params(random_state=1).fit(X, y)
    assert ("trees", 2, 5) in received
    np.testing.assert_array_equal(forest.predict_proba(X), before)


def test_infinite_values_are_clipped():
    X = np.array([[0.0, 1.0], [1.0, 2.0], [2.0, -np.inf], [np.inf, 3.0]] * 5)
    forest = RotationForestClassifier(5, random_state=0).fit(X, [0, 0, 1, 1] * 5)
    assert np.isfinite(forest.predict_proba(X)).all()
    assert np.isfinite(forest.predict_proba([[-np.inf, np.inf], [1e308, -1e308]])).all()


def test_a_constant_table_gives_one_leaf():
    forest = RotationForestClassifier(3, random_state=0).fit([[1.0], [1.0], [1.0]], ["a", "a", "b"])
    np.testing.assert_allclose(forest.predict_proba([[5.0]]), [[2 / 3, 1 / 3]])
    np.testing.assert_array_equal(forest.feature_importances_, [0])


def test_two_categories_are_one_axis_and_three_are_three():
    frame = pd.DataFrame({"two": list("ab") * 6, "three": list("xyz") * 4})
    forest = RotationForestClassifier(2, random_state=0).fit(frame, [0, 1] * 6)
    np.testing.assert_array_equal(forest._forest.arrays()["axis_columns"], [0, 1, 1, 1])
    np.testing.assert_array_equal(forest._forest.arrays()["axis_categories"], [2, 1, 2, 3])


@pytest.mark.parametrize("estimator_type", BOTH)
def test_clones_and_pickles_are_equal_forests(estimator_type):
    X, y = IRIS
    forest = estimator_type(4, random_state=0).fit(X, y)
    again = clone(forest).fit(X, y)
    pickled = pickle.loads(pickle.dumps(forest))
    for other in (again, pickled):
        np.testing.assert_array_equal(other.predict(X), forest.predict(X))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"min_group": 4}, "min_group must be at most max_group. Got min_group=4 and max_group=3."),
        ({"max_group": 0}, "max_group must be an integer >= 1. Got 0."),
        ({"remove_proportion": 1.0}, r"remove_proportion must be a number in \[0, 1\). Got 1.0."),
        ({"time_limit": 0}, "time_limit must be a number > 0 or None. Got 0."),
        ({"tree": "j48"}, 'tree must be "c45", "c45_unpruned" or "cart". Got \'j48\'.'),
        ({"oob_score": True}, "Out of bag estimation only available if bootstrap=True."),
    ],
    ids=str,
)
def test_errors_name_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        RotationForestClassifier(**parameters).fit(*IRIS)


def test_too_many_categories_for_the_memory_are_an_error(monkeypatch):
    monkeypatch.setattr("committee.sampling.rotation_forest.available_bytes", lambda: 1000.0)
    frame = pd.DataFrame({"number": np.arange(9.0), "name": [f"n{i}" for i in range(9)]})
    with pytest.raises(
        ValueError, match=r"A rotation of 10 columns.*drop the column with the most categories, 'name'"
    ):
        RotationForestClassifier().fit(frame, [0, 1, 2] * 3)
