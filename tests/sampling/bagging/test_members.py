"""The two ways to fit members: in the engine and with a runner."""

import threading

import numpy as np
import pandas as pd
import polars as pl
import pytest
from every_estimator import mixed_frame
from sklearn.base import is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.ensemble import BaggingClassifier as SklearnBagging
from sklearn.ensemble import VotingClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier as SklearnTree
from sklearn.tree import DecisionTreeRegressor as SklearnNumberTree
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

import committee
from committee import (
    BaggingClassifier,
    BaggingRegressor,
    C45Classifier,
    DecisionStumpClassifier,
    DecisionStumpRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    RandomSubspaceClassifier,
    RandomSubspaceRegressor,
    RandomTreeClassifier,
)

# The checks of members of the engine are in test_estimators.
BY_RUNNER = [
    BaggingClassifier(GaussianNB(), 5, random_state=0),
    BaggingClassifier(C45Classifier(), 5, random_state=0),
    BaggingRegressor(Ridge(), 5, random_state=0),
    RandomSubspaceRegressor(SklearnNumberTree(), 5, random_state=0),
]
X, Y = load_iris(return_X_y=True)
NUMBERS, TARGET = load_diabetes(return_X_y=True)


class ByRunner(DecisionTreeClassifier):
    """A tree that a runner fits, because the engine does not grow subclasses."""


class StumpByRunner(DecisionStumpClassifier):
    pass


class NumberTreeByRunner(DecisionTreeRegressor):
    pass


class NumberStumpByRunner(DecisionStumpRegressor):
    pass


PAIRS = [
    (BaggingClassifier, DecisionTreeClassifier, ByRunner, X, Y),
    (BaggingClassifier, DecisionStumpClassifier, StumpByRunner, X, Y),
    (BaggingRegressor, DecisionTreeRegressor, NumberTreeByRunner, NUMBERS, TARGET),
    (BaggingRegressor, DecisionStumpRegressor, NumberStumpByRunner, NUMBERS, TARGET),
]
WAYS = [
    {},
    {"max_features": 0.5},
    {"max_features": 0.7, "bootstrap_features": True},
    {"bootstrap": False, "max_samples": 0.7},
    {"bootstrap": False, "max_features": 2},
    {"max_samples": 40},
]


@parametrize_with_checks(BY_RUNNER)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", BY_RUNNER, ids=str)
def test_scikit_learn_has_many_checks_for_bagging(estimator):
    assert len(list(estimator_checks_generator(estimator))) >= (62 if is_classifier(estimator) else 59)


def votes_of(model, X):
    return model.predict_proba(X) if hasattr(model, "classes_") else model.predict(X)


@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize(("bagging", "tree", "by_runner", "X", "y"), PAIRS, ids=lambda value: "")
def test_the_engine_and_a_runner_make_the_same_bags_and_members(bagging, tree, by_runner, X, y, way):
    engine = bagging(tree(), 6, oob_score=leaves_rows(way), random_state=3, **way)
    runner = bagging(by_runner(), 6, oob_score=engine.oob_score, random_state=3, **way)
    engine.fit(X, y), runner.fit(X, y)
    for one, other in zip(engine.estimators_samples_, runner.estimators_samples_, strict=True):
        np.testing.assert_array_equal(one, other)
    for one, other in zip(engine.estimators_features_, runner.estimators_features_, strict=True):
        np.testing.assert_array_equal(one, other)
    # The runner's member has only the rows of its bag, so its thresholds may separate other rows differently.
    for i, columns in enumerate(runner.estimators_features_):
        rows = np.unique(runner.estimators_samples_[i])
        seen = X[np.ix_(rows, columns)]
        one, other = engine.estimators_[i], runner.estimators_[i]
        np.testing.assert_allclose(votes_of(one, seen), votes_of(other, seen), rtol=1e-6)
    if engine.oob_score:
        assert engine.oob_curve_.shape == runner.oob_curve_.shape == (6,)
        assert abs(engine.oob_score_ - runner.oob_score_) < 0.05


def leaves_rows(way):
    return way.get("bootstrap", True) or way.get("max_samples", 1.0) != 1.0


@pytest.mark.parametrize(
    "member",
    [
        DecisionTreeClassifier(),
        DecisionStumpClassifier(),
        C45Classifier(),
        GaussianNB(),
        LogisticRegression(max_iter=1000),
        KNeighborsClassifier(),
        make_pipeline(StandardScaler(), LogisticRegression()),
    ],
    ids=lambda member: type(member).__name__,
)
def test_pasting_all_rows_gives_the_single_member(member):
    bagging = BaggingClassifier(member, 3, bootstrap=False, random_state=0).fit(X, Y)
    expected = member.fit(X, Y).predict_proba(X)
    np.testing.assert_allclose(bagging.predict_proba(X), expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("member", [DecisionTreeRegressor(), LinearRegression()], ids=str)
def test_pasting_all_rows_with_weights_gives_the_weighted_member(member):
    weights = np.random.default_rng(0).uniform(0.1, 2, len(TARGET))
    bagging = BaggingRegressor(member, 2, bootstrap=False).fit(NUMBERS, TARGET, weights)
    expected = member.fit(NUMBERS, TARGET, sample_weight=weights).predict(NUMBERS)
    np.testing.assert_allclose(bagging.predict(NUMBERS), expected, rtol=1e-9)


# scikit-learn's nearest neighbours are not tested, because they reset the warning filters of all threads.
@pytest.mark.parametrize("member", [GaussianNB(), LinearSVC(), ByRunner(max_features=1)], ids=str)
def test_the_runner_and_the_number_of_workers_do_not_change_the_members(member):
    bagging = BaggingClassifier(member, 9, oob_score=True, max_features=0.8, random_state=1)
    expected = bagging.set_params(runner="serial", n_jobs=1).fit(X, Y)
    votes, curve = expected.predict_proba(X), expected.oob_curve_
    for n_jobs in (1, 2, 3):
        bagging.set_params(runner="threads", n_jobs=n_jobs).fit(X, Y)
        assert bagging.predict_proba(X).tobytes() == votes.tobytes()
        assert bagging.oob_curve_.tobytes() == curve.tobytes()


class Located(GaussianNB):
    """A member that stores the thread of its fit."""

    def fit(self, X, y, sample_weight=None):
        self.thread_ = threading.get_ident()
        return super().fit(X, y, sample_weight)


def test_a_single_worker_uses_the_waiting_thread():
    bagging = BaggingClassifier(Located(), 3, n_jobs=1, random_state=0).fit(X, Y)
    assert {member.thread_ for member in bagging.estimators_} == {threading.get_ident()}


def test_processes_give_the_same_members():
    bagging = BaggingClassifier(GaussianNB(), 6, oob_score=True, random_state=1)
    expected = bagging.fit(X, Y).oob_decision_function_
    with committee.running.runner("processes", 2) as run:
        again = bagging.set_params(runner=run).fit(X, Y)
    assert again.oob_decision_function_.tobytes() == expected.tobytes()


def test_members_depend_on_the_seed():
    def fitted(seed):
        return BaggingClassifier(SklearnTree(max_features=1), 5, random_state=seed).fit(X, Y).votes(X)

    assert np.array_equal(fitted(0), fitted(0))
    assert not np.array_equal(fitted(0), fitted(1))


@pytest.mark.parametrize("member", [None, GaussianNB()], ids=str)
def test_it_is_as_accurate_as_in_scikit_learn(member):
    X, y = load_breast_cancer(return_X_y=True)
    ours = cross_val_score(BaggingClassifier(member, 25, random_state=0), X, y, cv=3).mean()
    theirs = cross_val_score(SklearnBagging(member, n_estimators=25, random_state=0), X, y, cv=3).mean()
    assert abs(ours - theirs) < 0.015


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_members_get_the_names_of_their_columns(make):
    frame = make({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "d": X[:, 3]})
    bagging = BaggingClassifier(GaussianNB(), 4, max_features=2, random_state=0).fit(frame, Y)
    names = np.array(["a", "b", "c", "d"])
    for member, columns in zip(bagging.estimators_, bagging.estimators_features_, strict=True):
        assert list(member.feature_names_in_) == list(names[columns])
    trees = RandomSubspaceClassifier(n_estimators=4, random_state=0).fit(frame, Y)
    for member, columns in zip(trees.estimators_, trees.estimators_features_, strict=True):
        assert list(member.feature_names_in_) == list(names[columns])
    reordered = frame[["d", "b", "a", "c"]]
    np.testing.assert_array_equal(bagging.predict_proba(reordered), bagging.predict_proba(frame))


def test_a_member_of_a_subspace_predicts_from_its_columns():
    frame, signal = mixed_frame(200)
    bagging = BaggingRegressor(n_estimators=6, max_features=2, random_state=0).fit(frame, signal)
    votes = bagging.votes(frame)
    for i, columns in enumerate(bagging.estimators_features_):
        member = bagging.estimators_[i]
        assert member.n_features_in_ == 2
        np.testing.assert_array_equal(member.predict(frame.iloc[:, columns]), votes[i][:, 0])
        assert member.feature_importances_.shape == (2,)


def test_a_pipeline_can_encode_categories_for_its_last_step():
    frame, signal = mixed_frame()
    pipeline = make_pipeline(committee.members.TableEncoder(), Ridge())
    bagging = BaggingRegressor(pipeline, 5, random_state=0).fit(frame, signal)
    assert bagging.score(frame, signal) > 0.5


def test_members_that_take_no_weights_get_repeated_rows():
    bagging = BaggingRegressor(KNeighborsRegressor(1), 3, random_state=0).fit(NUMBERS, TARGET)
    for member, rows in zip(bagging.estimators_, bagging.estimators_samples_, strict=True):
        assert member.n_samples_fit_ == len(rows) == len(TARGET)


@pytest.mark.parametrize(
    "member",
    [
        committee.VotingClassifier([("near", KNeighborsClassifier()), ("bayes", GaussianNB())], cv=2),
        VotingClassifier([("near", KNeighborsClassifier()), ("bayes", GaussianNB())]),
    ],
    ids=["committee", "scikit-learn"],
)
def test_members_with_a_part_that_takes_no_weights_get_repeated_rows(member):
    bagging = BaggingClassifier(member, 2, random_state=0).fit(X, Y)
    for model in bagging.estimators_:
        assert model.named_estimators_["near"].n_samples_fit_ == len(Y)


def test_members_whose_parts_take_weights_get_no_repeated_rows():
    member = CalibratedClassifierCV(GaussianNB(), cv=3, ensemble=False)
    bagging = BaggingClassifier(member, 1, random_state=0).fit(X, Y)
    inside = bagging.estimators_[0].calibrated_classifiers_[0].estimator
    np.testing.assert_allclose(inside.class_count_, np.bincount(Y[bagging.estimators_samples_[0]]))


def test_members_without_probabilities_vote_for_one_class():
    bagging = BaggingClassifier(LinearSVC(), 4, random_state=0).fit(X, Y)
    shares = bagging.predict_proba(X) * 4
    np.testing.assert_allclose(shares, shares.round())


@pytest.mark.parametrize("weight", ["balanced", {0: 1, 1: 1, 2: 50}], ids=str)
def test_the_class_weight_of_a_tree_applies_to_its_bag(weight):
    def fitted(tree):
        return BaggingClassifier(tree, 5, random_state=0).fit(X[:, :2], Y)

    engine = fitted(DecisionTreeClassifier(max_depth=2, class_weight=weight))
    runner = fitted(ByRunner(max_depth=2, class_weight=weight))
    for one, other, rows in zip(
        engine.estimators_, runner.estimators_, engine.estimators_samples_, strict=True
    ):
        seen = X[rows, :2]
        np.testing.assert_allclose(one.predict_proba(seen), other.predict_proba(seen), atol=1e-6)
    plain = fitted(DecisionTreeClassifier(max_depth=2))
    assert not np.allclose(engine.predict_proba(X[:, :2]), plain.predict_proba(X[:, :2]))


def test_random_trees_try_a_part_of_their_columns():
    bagging = BaggingClassifier(RandomTreeClassifier(), 3, max_features=3, random_state=0).fit(X, Y)
    assert [member.max_features_ for member in bagging.estimators_] == [2, 2, 2]


def test_the_number_of_threads_does_not_change_votes_on_many_rows():
    many = np.tile(X, (20, 1)) + np.linspace(0, 0.1, 20 * len(X))[:, None]
    bagging = BaggingClassifier(GaussianNB(), 7, max_features=3, random_state=0).fit(X, Y)
    expected = bagging.set_params(runner="serial").predict_proba(many)
    for n_jobs in (1, 3):
        bagging.set_params(runner="threads", n_jobs=n_jobs)
        assert bagging.predict_proba(many).tobytes() == expected.tobytes()


@pytest.mark.parametrize(
    "member",
    [
        DecisionTreeClassifier(max_depth=2, class_weight="balanced"),
        DecisionTreeClassifier(max_depth=2, class_weight={0: 5, 1: 0.1}),
        RandomTreeClassifier(max_features=None, max_depth=2, class_weight="balanced"),
        C45Classifier(class_weight="balanced", min_samples_leaf=20),
        ByRunner(max_depth=2, class_weight="balanced"),
    ],
    ids=str,
)
@pytest.mark.parametrize(
    "weight_of", [None, lambda y: np.where(y == 0, 3.3, 0.5), lambda y: np.arange(len(y)) % 3 * 0.7]
)
def test_a_weighted_bag_of_all_rows_gives_the_single_member(member, weight_of):
    weights = None if weight_of is None else weight_of(Y)
    alone = member.fit(X, Y, sample_weight=weights)
    bagging = BaggingClassifier(member, 1, bootstrap=False).fit(X, Y, sample_weight=weights)
    np.testing.assert_allclose(bagging.predict_proba(X), alone.predict_proba(X), rtol=1e-6)
