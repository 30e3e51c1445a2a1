"""Compare AdaBoost in the engine with AdaBoost in Python and with scikit-learn."""

import re

import numpy as np
import pytest
import sklearn.ensemble
import sklearn.tree
from adaboost_cases import (
    CLASSIFIERS,
    PythonRegressionStump,
    PythonRegressionTree,
    PythonStump,
    PythonTree,
    noisy_classes,
    noisy_numbers,
    with_missing_values_and_categories,
)
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.datasets import load_breast_cancer, load_iris

from committee import (
    AdaBoostClassifier,
    AdaBoostM1Classifier,
    AdaBoostM2Classifier,
    AdaBoostRegressor,
    DecisionStumpClassifier,
    DecisionStumpRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    rules,
)


def assert_agree(engine, python, X, atol=0.0):
    """Assert that two boosters have the same members and predict the same."""
    np.testing.assert_allclose(engine.estimator_errors_, python.estimator_errors_, rtol=1e-6, atol=atol)
    np.testing.assert_allclose(engine.estimator_weights_, python.estimator_weights_, rtol=1e-6, atol=atol)
    np.testing.assert_allclose(engine.row_weights_, python.row_weights_, rtol=1e-6, atol=atol)
    np.testing.assert_allclose(engine.votes(X).shape, python.votes(X).shape)
    for ours, theirs in zip(engine.staged_predict(X), python.staged_predict(X), strict=True):
        if ours.dtype.kind == "f":
            np.testing.assert_allclose(ours, theirs, rtol=1e-6)
        else:
            np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("booster_type", CLASSIFIERS)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "members", [(DecisionStumpClassifier, PythonStump), (DecisionTreeClassifier, PythonTree)]
)
def test_rounds_in_the_engine_equal_rounds_in_python(booster_type, n_classes, members):
    X, y = noisy_classes(n_classes=n_classes)
    frame = with_missing_values_and_categories(X)
    labels = np.array(["a", "b", "c"])[y]
    weights = np.random.default_rng(1).integers(0, 3, len(y))
    if n_classes == 3 and members[0] is DecisionStumpClassifier and booster_type is AdaBoostM1Classifier:
        pytest.skip("Stumps of three classes have errors above 1/2.")
    parameters = {} if members[0] is DecisionStumpClassifier else {"max_depth": 3, "min_samples_leaf": 2}
    engine, python = (
        booster_type(member(**parameters), n_estimators=6, store_weights=True).fit(
            frame, labels, sample_weight=weights
        )
        for member in members
    )
    assert len(engine.estimators_) == 6
    assert_agree(engine, python, frame)
    np.testing.assert_allclose(engine.predict_proba(frame), python.predict_proba(frame), rtol=1e-9)
    np.testing.assert_allclose(engine.decision_function(frame), python.decision_function(frame), atol=1e-12)
    for ours, theirs in zip(engine.estimators_, python.estimators_, strict=True):
        np.testing.assert_allclose(ours.predict_proba(frame), theirs.predict_proba(frame), rtol=1e-6)
        assert ours.export_text() == re.sub(r" \([^)]*\)$", "", theirs.export_text(), flags=re.MULTILINE)


@pytest.mark.parametrize("loss", ["linear", "square", "exponential"])
@pytest.mark.parametrize(
    "members",
    [(DecisionStumpRegressor, PythonRegressionStump), (DecisionTreeRegressor, PythonRegressionTree)],
)
def test_rounds_in_the_engine_equal_rounds_in_python_for_regression(loss, members):
    X, y = noisy_numbers()
    frame = with_missing_values_and_categories(X)
    parameters = {"max_depth": 3} if members[0] is DecisionTreeRegressor else {}
    engine, python = (
        AdaBoostRegressor(
            member(**parameters), n_estimators=5, weighting="reweight", loss=loss, learning_rate=0.7,
            store_weights=True,
        ).fit(frame, y)
        for member in members
    )  # fmt: skip
    assert len(engine.estimators_) >= 2
    assert_agree(engine, python, frame)


def test_the_members_of_the_engine_are_fitted_estimators():
    X, y = load_iris(return_X_y=True, as_frame=True)
    booster = AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=4, random_state=0).fit(
        X, y
    )
    member = booster.estimators_[0]
    assert type(member) is DecisionTreeClassifier
    assert list(member.feature_names_in_) == list(X.columns)
    alone = DecisionTreeClassifier(max_depth=2).fit(X, y)
    np.testing.assert_array_equal(member.predict_proba(X), alone.predict_proba(X))
    np.testing.assert_allclose(member.feature_importances_, alone.feature_importances_)
    assert member.get_depth() == 2
    assert len(booster.estimators_[1:3]) == 2
    assert repr(booster.estimators_) == "<4 members of AdaBoostClassifier>"


def test_predictions_equal_the_mean_rule_on_the_votes():
    X, y = load_iris(return_X_y=True)
    m1 = AdaBoostM1Classifier(DecisionTreeClassifier(max_depth=2), n_estimators=6).fit(X, y)
    np.testing.assert_allclose(
        m1.predict_proba(X), rules.mean(m1.votes(X), m1.estimator_weights_), atol=1e-12
    )
    m2 = AdaBoostM2Classifier(DecisionTreeClassifier(max_depth=2), n_estimators=6).fit(X, y)
    np.testing.assert_allclose(
        m2.predict_proba(X), rules.mean(m2.votes(X), m2.estimator_weights_), atol=1e-12
    )


@pytest.mark.parametrize("booster_type", CLASSIFIERS)
def test_the_last_stage_is_the_prediction(booster_type):
    X, y = load_iris(return_X_y=True)
    booster = booster_type(n_estimators=5).fit(X, y)
    *_, probabilities = booster.staged_predict_proba(X)
    *_, scores = booster.staged_decision_function(X)
    *_, score = booster.staged_score(X, y)
    np.testing.assert_array_equal(probabilities, booster.predict_proba(X))
    np.testing.assert_array_equal(scores, booster.decision_function(X))
    assert score == booster.score(X, y)


def test_margins_are_positive_only_if_the_decision_is_right():
    X, y = load_iris(return_X_y=True)
    booster = AdaBoostM1Classifier(DecisionTreeClassifier(max_depth=2), n_estimators=5).fit(X, y)
    margins = booster.margins(X, y)
    assert ((margins > 0) <= (booster.predict(X) == y)).all()
    assert (np.abs(margins) <= 1).all()
    with pytest.raises(ValueError, match=r"y has the classes \[7\]"):
        booster.margins(X[:2], [0, 7])


def test_boosting_widens_the_smallest_margins():
    X, y = load_breast_cancer(return_X_y=True)
    few, many = (AdaBoostM1Classifier(n_estimators=n).fit(X, y).margins(X, y) for n in (10, 300))
    assert few.min() < 0 < many.min()


@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("rate", [0.5, 1.0])
def test_samme_equals_scikit_learn(depth, n_classes, rate):
    X, y = noisy_classes(n_classes=n_classes)
    # Large leaves avoid ties between splits, which the two libraries may break differently.
    shape = {"max_depth": depth, "min_samples_leaf": 12}
    member = sklearn.tree.DecisionTreeClassifier(**shape)
    settings = {"n_estimators": 12, "learning_rate": rate, "random_state": 0}
    theirs = sklearn.ensemble.AdaBoostClassifier(member, **settings).fit(X, y)
    n_members = len(theirs.estimators_)
    for own_member in (member, DecisionTreeClassifier(**shape)):
        ours = AdaBoostClassifier(own_member, **settings).fit(X, y)
        assert len(ours.estimators_) == n_members
        np.testing.assert_allclose(ours.estimator_errors_, theirs.estimator_errors_[:n_members], rtol=1e-6)
        np.testing.assert_allclose(ours.estimator_weights_, theirs.estimator_weights_[:n_members], rtol=1e-6)
        np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-6)
        for name in ("staged_predict", "staged_predict_proba", "staged_decision_function"):
            for a, b in zip(getattr(ours, name)(X), getattr(theirs, name)(X), strict=True):
                np.testing.assert_allclose(a, b, atol=1e-6)
        np.testing.assert_allclose(list(ours.staged_score(X, y)), list(theirs.staged_score(X, y)))
        np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_, atol=1e-6)


class ColumnByColumn(RegressorMixin, BaseEstimator):
    """A member that ignores y: the first one predicts the first column, the next one the next column."""

    n_fits = 0

    def fit(self, X, y):
        self.column_ = ColumnByColumn.n_fits % X.shape[1]
        ColumnByColumn.n_fits += 1
        return self

    def predict(self, X):
        return X[:, self.column_]


@pytest.mark.parametrize("loss", ["linear", "square", "exponential"])
def test_r2_equals_scikit_learn_for_members_that_ignore_resampling(loss):
    rng = np.random.default_rng(0)
    y = rng.normal(size=50)
    X = y[:, np.newaxis] + rng.normal(size=(50, 4))
    boosters = []
    for booster_type in (AdaBoostRegressor, sklearn.ensemble.AdaBoostRegressor):
        ColumnByColumn.n_fits = 0
        boosters.append(
            booster_type(ColumnByColumn(), n_estimators=8, loss=loss, learning_rate=0.8).fit(X, y)
        )
    ours, theirs = boosters
    n_members = len(ours.estimators_)
    assert n_members == 8
    np.testing.assert_allclose(ours.estimator_errors_, theirs.estimator_errors_, rtol=1e-9)
    np.testing.assert_allclose(ours.estimator_weights_, theirs.estimator_weights_, rtol=1e-9)
    for a, b in zip(ours.staged_predict(X), theirs.staged_predict(X), strict=True):
        np.testing.assert_array_equal(a, b)
