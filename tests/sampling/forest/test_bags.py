"""The bags of the trees of a forest: how they are drawn, drawn again, saved, and used by a resumed fit."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris

import committee
from committee import (
    BaggingClassifier,
    DecisionTreeClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    RotationForestClassifier,
)
from committee.sampling.bags import ForestBags

IRIS = load_iris(return_X_y=True)
DIABETES = load_diabetes(return_X_y=True)
FORESTS = [
    (RandomForestClassifier(9, oob_score=True, warm_start=True, random_state=0), IRIS),
    (RandomForestRegressor(9, oob_score=True, warm_start=True, random_state=0), DIABETES),
]
either = pytest.mark.parametrize(("forest", "problem"), FORESTS, ids=["classes", "numbers"])


def outside_mean(forest, X):
    votes = forest.votes(X)
    for vote, rows in zip(votes, forest.estimators_samples_, strict=True):
        vote[rows] = np.nan
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Mean of empty slice")
        return np.nanmean(votes, axis=0)


def oob_decision(forest):
    is_class = hasattr(forest, "classes_")
    return forest.oob_decision_function_ if is_class else forest.oob_prediction_[:, np.newaxis]


@either
@pytest.mark.parametrize("is_weighted", [False, True])
def test_estimators_samples_are_the_bags_of_the_fit(forest, problem, is_weighted):
    X, y = problem
    weights = np.arange(len(y)) % 3 * 0.5 if is_weighted else None
    fitted = clone(forest).fit(X, y, weights)
    np.testing.assert_allclose(oob_decision(fitted), outside_mean(fitted, X), rtol=1e-12)
    if is_weighted:
        assert all((weights[rows] > 0).all() for rows in fitted.estimators_samples_)


def test_max_samples_may_be_larger_than_the_number_of_rows():
    X, y = IRIS
    for max_samples, n_drawn in ((0.1, 15), (1.5, 225), (400, 400)):
        forest = RandomForestClassifier(2, max_samples=max_samples, random_state=0).fit(X, y)
        assert [len(rows) for rows in forest.estimators_samples_] == [n_drawn, n_drawn]


def test_without_a_bootstrap_trees_get_all_rows_of_positive_weight():
    forest = ExtraTreesRegressor(2, random_state=0).fit(*DIABETES, sample_weight=np.arange(442) % 2)
    for rows in forest.estimators_samples_:
        np.testing.assert_array_equal(rows, np.arange(1, 442, 2))


@either
def test_pickles_and_files_keep_the_bags(forest, problem, tmp_path):
    fitted = clone(forest).fit(*problem).set_params(n_estimators=12, max_samples=0.5).fit(*problem)
    fitted.save(tmp_path / "model")
    for same in (pickle.loads(pickle.dumps(fitted)), committee.load(tmp_path / "model")):
        for one, other in zip(same.estimators_samples_, fitted.estimators_samples_, strict=True):
            np.testing.assert_array_equal(one, other)


def test_a_forest_from_an_old_file_without_bags_can_be_resumed(tmp_path):
    forest = RandomForestClassifier(2, warm_start=True, random_state=0).fit(*IRIS)
    forest._bags = ForestBags()
    forest.save(tmp_path / "model")
    loaded = committee.load(tmp_path / "model").set_params(n_estimators=3).fit(*IRIS)
    assert len(loaded) == 3
    with pytest.raises(AttributeError, match="of an old version without bags"):
        _ = loaded.estimators_samples_


@either
def test_a_resumed_fit_with_out_of_bag_votes_needs_the_same_rows(forest, problem, tmp_path):
    X, y = problem
    fitted = clone(forest).fit(X, y)
    fitted.save(tmp_path / "model")
    for each in (fitted, committee.load(tmp_path / "model")):
        each.set_params(n_estimators=10)
        for others in ((X[::-1], y[::-1]), (np.roll(X, 1, axis=1), y), (X, y, np.arange(len(y)) % 2)):
            with pytest.raises(ValueError, match="out-of-bag votes of the previous fit are on other rows"):
                each.fit(*others)
        assert len(each.fit(X, y)) == 10
        np.testing.assert_allclose(oob_decision(each), outside_mean(each, X), rtol=1e-12)


def test_a_fit_without_out_of_bag_votes_can_be_resumed_with_other_rows():
    X, y = IRIS
    forest = RandomForestClassifier(3, warm_start=True, random_state=0).fit(X[::2], y[::2])
    forest.set_params(n_estimators=5).fit(X[:140], y[:140])
    assert [len(rows) for rows in forest.estimators_samples_] == [75, 75, 75, 140, 140]


@either
def test_auto_adds_no_tree_if_the_error_is_flat(forest, problem):
    fitted = clone(forest).set_params(n_estimators="auto").fit(*problem)
    n_trees = len(fitted)
    assert len(fitted.fit(*problem)) == n_trees < 1000
    bagging = BaggingClassifier(n_estimators="auto", warm_start=True, random_state=0).fit(*IRIS)
    n_members = len(bagging)
    assert len(bagging.fit(*IRIS)) == n_members < 1000


@pytest.mark.parametrize("kind", [RandomForestClassifier, BaggingClassifier, RotationForestClassifier])
def test_an_ensemble_is_a_sequence_of_its_members(kind):
    made = kind(n_estimators=3, random_state=0).fit(*IRIS)
    assert len(made) == 3
    answers = [member.predict(IRIS[0][:50]) for member in made]
    np.testing.assert_array_equal(made[-1].predict(IRIS[0][:50]), answers[2])
    assert isinstance(made[0], DecisionTreeClassifier | RotationForestClassifier)
