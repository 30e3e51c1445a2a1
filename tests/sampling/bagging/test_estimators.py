"""Bagging and random subspaces: out-of-bag decisions, rules, warm starts and files."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.metrics import accuracy_score, balanced_accuracy_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier as SklearnTree

import committee
from committee import (
    BaggingClassifier,
    BaggingRegressor,
    DecisionTreeClassifier,
    RandomForestClassifier,
    RandomSubspaceClassifier,
    VotingClassifier,
    rules,
)
from committee.table import bin_table

X, Y = load_iris(return_X_y=True)
NUMBERS, TARGET = load_diabetes(return_X_y=True)
both_ways = pytest.mark.parametrize(
    "member", [DecisionTreeClassifier(), GaussianNB()], ids=["engine", "runner"]
)


@both_ways
def test_the_out_of_bag_decision_comes_from_members_without_the_row(member):
    bagging = BaggingClassifier(member, 15, oob_score=True, keep_votes=True, random_state=0).fit(X, Y)
    expected = np.full((15, len(Y), 3), np.nan)
    for i, (model, rows) in enumerate(zip(bagging.estimators_, bagging.estimators_samples_, strict=True)):
        outside = np.setdiff1d(np.arange(len(Y)), rows)
        expected[i, outside] = model.predict_proba(X[outside])
    np.testing.assert_allclose(bagging.oob_votes_, expected, atol=1e-6)
    np.testing.assert_allclose(bagging.oob_decision_function_, np.nanmean(expected, axis=0), atol=1e-6)
    assert bagging.oob_score_ == accuracy_score(Y, bagging.oob_decision_function_.argmax(axis=1))
    assert bagging.oob_curve_[-1] == pytest.approx(1 - bagging.oob_score_)


@both_ways
def test_the_curve_is_the_error_after_every_member(member):
    whole = BaggingClassifier(member, 12, oob_score=True, random_state=0).fit(X, Y)
    for n_members in (1, 5, 12):
        part = BaggingClassifier(member, n_members, oob_score=True, random_state=0).fit(X, Y)
        np.testing.assert_allclose(part.oob_curve_, whole.oob_curve_[:n_members])


@pytest.mark.parametrize(
    "rule", ["majority", "weighted_mean", "median", "stacking", rules.CAWPERule(alpha=2)]
)
@both_ways
def test_any_rule_combines_the_votes_of_the_members(member, rule):
    bagging = BaggingClassifier(member, 11, rule=rule, random_state=0).fit(X, Y)
    votes = bagging.votes(X)
    decided = bagging.rule_.combine(votes)
    np.testing.assert_allclose(bagging.predict_proba(X), decided, rtol=1e-6)
    assert bagging.score(X, Y) > 0.9


@both_ways
def test_members_are_weighted_by_their_out_of_bag_accuracy(member):
    bagging = BaggingClassifier(member, 9, rule="weighted_mean", keep_votes=True, random_state=0)
    votes = bagging.fit(X, Y).oob_votes_
    accuracies = []
    for cast in votes:
        outside = ~np.isnan(cast[:, 0])
        accuracies.append(accuracy_score(Y[outside], cast[outside].argmax(axis=1)))
    np.testing.assert_allclose(bagging.rule_.scores_, accuracies)
    np.testing.assert_allclose(bagging.estimator_weights_, accuracies / np.sum(accuracies))


def test_weights_of_members_are_those_of_the_rule():
    def weights_of(rule):
        return BaggingClassifier(n_estimators=3, rule=rule, random_state=0).fit(X, Y).estimator_weights_

    assert weights_of(rules.FixedRule(rule="mean", weights=[3, 0, 1])).tolist() == [0.75, 0, 0.25]
    assert weights_of("majority") == pytest.approx(np.full(3, 1 / 3))
    with pytest.raises(AttributeError, match="NaiveBayesRule has no weight for each member"):
        weights_of("naive_bayes")


def test_regressors_are_weighted_by_their_squared_error():
    bagging = BaggingRegressor(n_estimators=9, rule="weighted_mean", keep_votes=True, random_state=0)
    votes = bagging.fit(NUMBERS, TARGET).oob_votes_[:, :, 0]
    inverse = 1 / np.nanmean((votes - TARGET) ** 2, axis=1)
    np.testing.assert_allclose(bagging.estimator_weights_, inverse / inverse.sum())
    assert BaggingRegressor().fit(NUMBERS, TARGET).estimator_weights_ == pytest.approx(np.full(10, 0.1))


@both_ways
def test_recombine_uses_the_same_members(member):
    bagging = BaggingClassifier(member, 9, keep_votes=True, random_state=0).fit(X, Y)
    fresh = BaggingClassifier(member, 9, rule="weighted_mean", random_state=0).fit(X, Y)
    again = bagging.recombine("weighted_mean")
    np.testing.assert_allclose(again.predict_proba(X), fresh.predict_proba(X))
    assert again.rule == "weighted_mean"
    assert bagging.rule == "mean"
    assert bagging.recombine("region", X).score(X, Y) > 0.9
    np.testing.assert_array_equal(again.recombine("mean").predict_proba(X), bagging.predict_proba(X))


def test_a_rule_that_looks_at_rows_gets_them():
    bagging = BaggingClassifier(GaussianNB(), 9, rule="dynamic", oob_score=True, random_state=0).fit(X, Y)
    assert bagging.score(X, Y) > 0.9
    assert bagging.oob_score_ > 0.9
    prepared = bagging.predictor()
    np.testing.assert_allclose(prepared.predict_proba(X), bagging.predict_proba(X), rtol=0, atol=1e-6)


@both_ways
def test_a_warm_start_gives_the_same_members_as_one_fit(member):
    settings = {"oob_score": True, "keep_votes": True, "max_features": 0.6, "random_state": 3}
    whole = BaggingClassifier(member, 9, **settings).fit(X, Y)
    begun = BaggingClassifier(member, 4, warm_start=True, **settings).fit(X, Y)
    begun.set_params(n_estimators=9).fit(X, Y)
    np.testing.assert_array_equal(begun.votes(X), whole.votes(X))
    np.testing.assert_array_equal(begun.oob_votes_, whole.oob_votes_)
    np.testing.assert_allclose(begun.oob_curve_, whole.oob_curve_)
    np.testing.assert_array_equal(begun.estimators_features_, whole.estimators_features_)
    with pytest.warns(UserWarning, match="does not fit new members"):
        begun.fit(X, Y)


@both_ways
@pytest.mark.parametrize("shares", [(1.0, 0.5), (0.5, 1.0), (0.5, 0.75)])
def test_members_of_a_warm_start_may_have_other_numbers_of_columns(member, shares, tmp_path):
    bagging = BaggingClassifier(member, 3, max_features=shares[0], warm_start=True, random_state=0).fit(X, Y)
    bagging.set_params(n_estimators=5, max_features=shares[1]).fit(X, Y)
    widths = [int(4 * share) for share in shares]
    assert [len(seen) for seen in bagging.estimators_features_] == [widths[0]] * 3 + [widths[1]] * 2
    for columns, model, votes in zip(
        bagging.estimators_features_, bagging.estimators_, bagging.votes(X), strict=True
    ):
        np.testing.assert_allclose(model.predict_proba(X[:, columns]), votes, atol=1e-6)
    bagging.save(tmp_path / "bagging.committee")
    loaded = committee.load(tmp_path / "bagging.committee")
    np.testing.assert_array_equal(loaded.predict_proba(X), bagging.predict_proba(X))


@both_ways
def test_a_loaded_bagging_can_be_resumed(member, tmp_path):
    frame = pd.DataFrame(X, columns=list("abcd")).assign(e=pd.Categorical(np.array(list("xyz"))[Y[::-1]]))
    settings = {"max_features": 0.8, "oob_score": True, "random_state": 0}
    frame = frame if isinstance(member, DecisionTreeClassifier) else frame.drop(columns="e")
    weights = 1 + np.arange(len(Y)) % 3
    whole = BaggingClassifier(member, 6, **settings).fit(frame, Y, weights)
    begun = BaggingClassifier(member, 3, warm_start=True, **settings).fit(frame, Y, weights)
    begun.save(tmp_path / "bagging.committee")
    loaded = committee.load(tmp_path / "bagging.committee").set_params(n_estimators=6)
    loaded.fit(frame, Y, weights)
    np.testing.assert_array_equal(loaded.predict_proba(frame), whole.predict_proba(frame))
    np.testing.assert_array_equal(loaded.oob_decision_function_, whole.oob_decision_function_)


@both_ways
def test_auto_stops_if_no_row_is_ever_out_of_bag(member):
    bagging = BaggingClassifier(member, "auto", random_state=0).fit(X[:1], Y[:1])
    assert len(bagging.estimators_) == 50 and np.isnan(bagging.oob_curve_).all()


@both_ways
def test_auto_stops_when_the_error_is_flat(member):
    bagging = BaggingClassifier(member, "auto", random_state=0).fit(X, Y)
    assert 50 <= len(bagging.estimators_) < 200
    window = bagging.oob_curve_[-50:]
    assert window[25:].mean() >= 0.995 * window[:25].mean()
    assert not hasattr(bagging, "oob_score_")
    assert not hasattr(bagging, "oob_decision_function_")


@pytest.mark.parametrize(
    "member", [DecisionTreeClassifier(), KNeighborsClassifier()], ids=["engine", "runner"]
)
def test_balanced_bags_find_a_rare_class(member):
    X, y = load_breast_cancer(return_X_y=True)
    rows = np.r_[np.flatnonzero(y == 1), np.flatnonzero(y == 0)[:12]]
    test = np.flatnonzero(y == 0)[12:]
    plain = BaggingClassifier(member, 15, random_state=0).fit(X[rows], y[rows])
    balanced = BaggingClassifier(member, 15, sampling="balanced", random_state=0).fit(X[rows], y[rows])
    weighted = BaggingClassifier(member, 15, class_weight="balanced", random_state=0).fit(X[rows], y[rows])
    missed = (plain.predict(X[test]) == 1).mean()
    assert (balanced.predict(X[test]) == 1).mean() < missed
    assert (weighted.predict(X[test]) == 1).mean() <= missed
    for rows_of_bag in balanced.estimators_samples_:
        assert np.bincount(y[rows][rows_of_bag]).tolist() == [12, 12]


@both_ways
@pytest.mark.parametrize("bootstrap", [True, False])
def test_only_the_ratios_of_class_weights_matter(member, bootstrap):
    settings = {"n_estimators": 5, "bootstrap": bootstrap, "max_samples": 0.5, "random_state": 0}
    repeats = 1 + np.arange(len(Y)) % 2
    for weights, n_drawn in ((None, 75), (repeats, 112), (repeats / 2, 75)):
        whole, halves = (
            BaggingClassifier(member, class_weight={0: f, 1: 3 * f}, **settings).fit(X, Y % 2, weights)
            for f in (1, 0.5)
        )
        for one, other in zip(whole.estimators_samples_, halves.estimators_samples_, strict=True):
            assert len(one) == n_drawn
            np.testing.assert_array_equal(one, other)
        np.testing.assert_allclose(whole.predict_proba(X), halves.predict_proba(X), rtol=1e-6)


@both_ways
def test_class_weights_apply_to_pasted_repetitions(member):
    repeats = 1 + np.arange(len(Y)) % 2
    bagging = BaggingClassifier(member, 3, bootstrap=False, class_weight={1: 3}, random_state=0)
    weighted = bagging.fit(X, Y, repeats).predict_proba(X)
    repeated = clone(bagging).fit(X.repeat(repeats, axis=0), Y.repeat(repeats)).predict_proba(X)
    np.testing.assert_allclose(weighted, repeated, rtol=1e-6, atol=1e-9)


def test_groups_get_votes_of_members_without_any_of_their_rows():
    # A group is one row ten times, so a member that gets one of them can predict all.
    rng = np.random.default_rng(0)
    points = rng.normal(size=(40, 3))
    X, y, groups = points.repeat(10, axis=0), rng.integers(0, 2, 40).repeat(10), np.arange(40).repeat(10)
    blind = BaggingClassifier(n_estimators=40, oob_score=True, random_state=0).fit(X, y)
    assert blind.oob_score_ == 1
    by_group = BaggingClassifier(n_estimators=40, oob_score=True, random_state=0).fit(X, y, groups=groups)
    assert by_group.oob_score_ < 0.8
    for rows in by_group.estimators_samples_:
        counts = np.bincount(rows, minlength=400).reshape(40, 10)
        assert (counts == counts[:, :1]).all()


@both_ways
def test_groups_keep_the_weights_of_their_rows(member):
    weights = np.random.default_rng(0).uniform(0.5, 2, len(Y))
    weights[:10] = 0
    groups = np.arange(len(Y)) // 5
    bagging = BaggingClassifier(member, 9, oob_score=True, random_state=0)
    first = bagging.fit(X, Y, weights, groups=groups).predict_proba(X)
    fewer = clone(bagging).fit(X[10:], Y[10:], weights[10:], groups=groups[10:]).predict_proba(X)
    np.testing.assert_allclose(first, fewer, atol=1e-9)


def test_a_user_defined_metric_is_used():
    bagging = BaggingClassifier(n_estimators=20, oob_score=balanced_accuracy_score, random_state=0).fit(X, Y)
    decided = bagging.oob_decision_function_.argmax(axis=1)
    assert bagging.oob_score_ == balanced_accuracy_score(Y, decided)


def test_every_tree_of_a_forest_of_all_columns_is_a_bagged_tree():
    forest = RandomForestClassifier(10, max_features=None, oob_score=True, random_state=0).fit(X, Y)
    bagging = BaggingClassifier(n_estimators=10, oob_score=True, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(bagging.votes(X), forest.votes(X))
    np.testing.assert_array_equal(bagging.oob_decision_function_, forest.oob_decision_function_)


def test_a_binned_table_gives_the_same_members():
    binned = bin_table(X)
    expected = BaggingClassifier(n_estimators=5, max_features=2, random_state=0).fit(X, Y).predict_proba(X)
    again = BaggingClassifier(n_estimators=5, max_features=2, random_state=0).fit(binned, Y)
    np.testing.assert_array_equal(again.predict_proba(X), expected)


def test_importances_are_the_mean_over_the_members():
    for member in (None, SklearnTree()):
        bagging = BaggingClassifier(member, 8, max_features=2, random_state=0).fit(X, Y)
        expected = np.zeros((8, 4))
        for i, columns in enumerate(bagging.estimators_features_):
            expected[i, columns] = bagging.estimators_[i].feature_importances_
        np.testing.assert_allclose(bagging.feature_importances_, expected.mean(axis=0), atol=1e-12)


SAVED = [
    BaggingClassifier(n_estimators=4, oob_score=True, keep_votes=True, max_features=2, random_state=0),
    BaggingClassifier(GaussianNB(), 4, oob_score=True, keep_votes=True, max_features=2, random_state=0),
    BaggingClassifier(n_estimators=4, rule="weighted_majority", oob_score=True, random_state=0),
    BaggingClassifier(committee.C45Classifier(), 4, rule="stacking", max_features=2, random_state=0),
    BaggingClassifier(n_estimators=4, rule="dynamic", random_state=0),
    RandomSubspaceClassifier(committee.DecisionStumpClassifier(), 4, random_state=0),
    BaggingClassifier(n_estimators=4, sampling="balanced", rule="majority", random_state=0),
]


@pytest.mark.parametrize("bagging", SAVED, ids=lambda bagging: f"{bagging.estimator}, {bagging.rule}")
def test_save_and_load_and_pickle_change_nothing(bagging, tmp_path):
    bagging = clone(bagging).fit(X, Y)
    bagging.save(tmp_path / "bagging.committee")
    for again in (committee.load(tmp_path / "bagging.committee"), pickle.loads(pickle.dumps(bagging))):
        np.testing.assert_array_equal(again.predict_proba(X), bagging.predict_proba(X))
        np.testing.assert_array_equal(again.votes(X), bagging.votes(X))
        for one, other in zip(again.estimators_samples_, bagging.estimators_samples_, strict=True):
            np.testing.assert_array_equal(one, other)
        if bagging.oob_score:
            np.testing.assert_array_equal(again.oob_decision_function_, bagging.oob_decision_function_)
            assert again.oob_score_ == bagging.oob_score_


@pytest.mark.parametrize(
    "bagging",
    [each for each in SAVED if each.rule != "dynamic" and not isinstance(each.estimator, GaussianNB)],
)
def test_a_predictor_predicts_like_its_bagging(bagging, tmp_path):
    bagging = clone(bagging).fit(X, Y)
    bagging.save(tmp_path / "bagging.committee")
    expected = bagging.predict_proba(X)
    for predictor in (bagging.predictor(), committee.predictor(tmp_path / "bagging.committee")):
        np.testing.assert_allclose(predictor.predict_proba(X), expected, rtol=1e-6)


def test_a_committee_uses_the_out_of_bag_votes_of_bagging():
    bagging = BaggingClassifier(n_estimators=25, random_state=0)
    voting = VotingClassifier([("bagging", bagging), ("bayes", GaussianNB())], rule="weighted_mean").fit(X, Y)
    with_score = clone(bagging).set_params(oob_score=True).fit(X, Y)
    np.testing.assert_allclose(
        voting.honest_votes_[0], with_score.oob_decision_function_[voting.honest_rows_], rtol=1e-6
    )
