"""Rules of forests and rotation forests: all rules are accepted, and some learn from out-of-bag votes."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris

import committee
from committee import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    RotationForestClassifier,
    RotationForestRegressor,
    rules,
)
from committee.combining.rule_registry import as_rule
from committee.rules import Rule
from committee.table import bin_table

IRIS = load_iris(return_X_y=True)
DIABETES = load_diabetes(return_X_y=True)
FORESTS = [
    RandomForestClassifier(7, random_state=0),
    ExtraTreesClassifier(7, bootstrap=True, random_state=0),
    RandomForestRegressor(7, random_state=0),
    ExtraTreesRegressor(7, bootstrap=True, random_state=0),
]
ROTATIONS = [
    RotationForestClassifier(7, bootstrap=True, random_state=0),
    RotationForestRegressor(7, bootstrap=True, random_state=0),
]

WEIGHTED = rules.FixedRule(rule="mean", weights=[7, 1, 1, 1, 1, 1, 0])


def first_vote(votes):
    return votes[0]


def name_of(estimator):
    return type(estimator).__name__


every_forest = pytest.mark.parametrize("forest", FORESTS, ids=name_of)
every_ensemble = pytest.mark.parametrize("forest", FORESTS + ROTATIONS, ids=name_of)


class Witness(Rule):
    """The mean of the votes, by a rule that stores the data of its fit."""

    tasks = ("classification", "regression")

    def _learn(self, honest):
        self.votes_, self.y_, self.has_voted_ = honest.votes, honest.y, honest.has_voted

    def _decide(self, votes):
        return votes.mean(axis=0)


def problem_for(forest):
    return IRIS if hasattr(forest, "class_weight") else DIABETES


def decision_of(forest, X):
    return forest.predict_proba(X) if hasattr(forest, "classes_") else forest.predict(X)[:, np.newaxis]


@every_ensemble
@pytest.mark.parametrize("rule", ["median", WEIGHTED, first_vote])
def test_a_fixed_rule_combines_the_votes_of_all_trees(forest, rule):
    X, y = problem_for(forest)
    mean, fitted = clone(forest).fit(X, y), clone(forest).set_params(rule=rule).fit(X, y)
    np.testing.assert_array_equal(fitted.votes(X), mean.votes(X))
    expected = as_rule(rule).combine(mean.votes(X))
    np.testing.assert_allclose(decision_of(fitted, X), expected, atol=1e-12)
    np.testing.assert_array_equal(fitted.predictor().predict(X[:5]), fitted.predict(X[:5]))


@every_ensemble
def test_a_rule_learns_from_out_of_bag_votes(forest):
    X, y = problem_for(forest)
    fitted = clone(forest).set_params(rule=Witness(), oob_score=True).fit(X, y)
    mean = clone(forest).set_params(oob_score=True).fit(X, y)
    rule, is_scored = fitted.rule_, ~np.isnan(oob_decision(mean)[:, 0])
    assert len(rule.y_) == is_scored.sum()
    own = np.where(rule.has_voted_[:, :, np.newaxis], rule.votes_, 0.0).sum(axis=0)
    outside = own / rule.has_voted_.sum(axis=0)[:, np.newaxis]
    np.testing.assert_allclose(outside, oob_decision(mean)[is_scored], rtol=1e-6)
    np.testing.assert_allclose(oob_decision(fitted)[is_scored], outside, rtol=1e-6)
    assert fitted.oob_score_ == pytest.approx(mean.oob_score_)


def oob_decision(forest):
    is_class = hasattr(forest, "classes_")
    return forest.oob_decision_function_ if is_class else forest.oob_prediction_[:, np.newaxis]


@every_ensemble
@pytest.mark.parametrize("rule", ["weighted_mean", "stacking", "dynamic"])
def test_files_and_pickles_keep_a_rule_that_learns(forest, rule, tmp_path):
    X, y = problem_for(forest)
    fitted = clone(forest).set_params(rule=rule, oob_score=True).fit(X, y)
    fitted.save(tmp_path / "model")
    for same in (committee.load(tmp_path / "model"), pickle.loads(pickle.dumps(fitted))):
        np.testing.assert_array_equal(decision_of(same, X), decision_of(fitted, X))
        np.testing.assert_array_equal(oob_decision(same), oob_decision(fitted))
        assert same.oob_score_ == fitted.oob_score_
    for predictor in (fitted.predictor(), committee.predictor(tmp_path / "model")):
        np.testing.assert_array_equal(predictor.predict(X[:9]), fitted.predict(X[:9]))


@every_ensemble
def test_files_keep_a_fixed_rule(forest, tmp_path):
    X, y = problem_for(forest)
    fitted = clone(forest).set_params(rule="median").fit(X, y)
    fitted.save(tmp_path / "model")
    np.testing.assert_array_equal(decision_of(committee.load(tmp_path / "model"), X), decision_of(fitted, X))
    found = committee.predictor(tmp_path / "model").predict(X[:9])
    np.testing.assert_array_equal(found, fitted.predict(X[:9]))


@every_forest
def test_a_resumed_fit_fits_the_rule_on_the_votes_of_all_trees(forest):
    X, y = problem_for(forest)
    at_once = clone(forest).set_params(rule="weighted_mean", oob_score=True).fit(X, y)
    later = clone(at_once).set_params(n_estimators=3, warm_start=True).fit(X, y)
    later.set_params(n_estimators=7).fit(X, y)
    np.testing.assert_array_equal(decision_of(later, X), decision_of(at_once, X))
    np.testing.assert_array_equal(oob_decision(later), oob_decision(at_once))


def test_a_resumed_fit_needs_the_votes_and_the_rows_of_the_previous_fit():
    X, y = IRIS
    forest = RandomForestClassifier(3, warm_start=True, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="votes of the previous fit were not kept"):
        forest.set_params(n_estimators=5, rule="cawpe").fit(X, y)
    forest = RandomForestClassifier(3, rule="cawpe", warm_start=True, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="are on other rows"):
        forest.set_params(n_estimators=5).fit(X[::-1], y[::-1])


@pytest.mark.parametrize("estimator_type", [ExtraTreesClassifier, RotationForestClassifier])
def test_a_rule_that_learns_needs_a_bootstrap(estimator_type):
    with pytest.raises(
        ValueError, match=r"rule='cawpe' learns from out-of-bag votes, .* Set bootstrap=True, or"
    ):
        estimator_type(3, rule="cawpe").fit(*IRIS)


@every_ensemble
def test_all_trees_decide_on_rows_of_weight_zero(forest):
    X, y = problem_for(forest)
    weights = np.arange(len(y)) % 3
    fitted = clone(forest).set_params(rule="median", oob_score=True).fit(X, y, weights)
    left_out = weights == 0
    np.testing.assert_allclose(oob_decision(fitted)[left_out], decision_of(fitted, X[left_out]), atol=1e-6)


def test_weights_of_trees_cannot_be_combined_with_a_time_limit():
    with pytest.raises(ValueError, match="the number of trees is not known in advance"):
        RotationForestClassifier(7, rule=WEIGHTED, time_limit=60).fit(*IRIS)


def test_a_rule_that_learns_needs_the_values_of_a_table():
    X, y = IRIS
    with pytest.raises(ValueError, match="X is a BinnedTable"):
        RandomForestClassifier(3, rule="cawpe").fit(bin_table(X), y)


def test_a_rule_for_classes_is_refused_by_regressors():
    with pytest.raises(ValueError, match="rule for classification"):
        RandomForestRegressor(3, rule="naive_bayes").fit(*DIABETES)


@every_ensemble
def test_one_class_needs_no_rule(forest):
    if not hasattr(forest, "class_weight"):
        return
    X, _ = IRIS
    fitted = clone(forest).set_params(rule="cawpe").fit(X, np.ones(len(X)))
    assert fitted.rule_ is None and (fitted.predict_proba(X[:3]) == 1).all()
