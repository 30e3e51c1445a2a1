"""Test AdaBoost against the algorithms of the lecture notes, and its properties."""

import itertools

import adaboost_oracle as oracle
import numpy as np
import pytest
from adaboost_cases import CLASSIFIERS, PythonTree, noisy_classes, noisy_numbers
from sklearn.datasets import load_wine

from committee import (
    AdaBoostClassifier,
    AdaBoostM1Classifier,
    AdaBoostM2Classifier,
    AdaBoostRegressor,
    DecisionStumpClassifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_three_weightings_of_the_notes_are_equivalent(n_classes):
    X, y = noisy_classes(n_classes=n_classes)
    make = DecisionStumpClassifier if n_classes == 2 else lambda: DecisionTreeClassifier(max_depth=3)
    booster = AdaBoostM1Classifier(make(), n_estimators=8, store_weights=True).fit(X, y)
    for weighting, factor in (
        (oracle.beta_weighting, 1),
        (oracle.exp_alpha_weighting, 1),
        (oracle.half_log_weighting, 2),
    ):
        members, votes, errors, seen = oracle.m1(make, X, y, 8, weighting)
        assert len(members) == 8
        np.testing.assert_allclose(booster.estimator_errors_, errors, rtol=1e-9)
        np.testing.assert_allclose(booster.estimator_weights_, factor * votes, rtol=1e-9)
        np.testing.assert_allclose(booster.row_weights_, seen, rtol=1e-9)
        np.testing.assert_array_equal(
            booster.predict(X), oracle.decide_by_labels(members, votes, X, n_classes)
        )


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_m2_equals_the_algorithm_of_the_notes(n_classes):
    X, y = noisy_classes(80, n_classes)

    def make():
        return DecisionTreeClassifier(max_depth=2)

    booster = AdaBoostM2Classifier(make(), n_estimators=6, store_weights=True).fit(X, y)
    members, votes, losses, seen = oracle.m2(make, X, y, 6)
    assert len(members) == 6
    np.testing.assert_allclose(booster.estimator_errors_, losses, rtol=1e-9)
    np.testing.assert_allclose(booster.estimator_weights_, votes, rtol=1e-9)
    np.testing.assert_array_equal(booster.predict(X), oracle.decide_by_plausibilities(members, votes, X))
    for weights, distribution in zip(booster.row_weights_, seen, strict=True):
        by_row = [sum(w for (i, _), w in distribution.items() if i == row) for row in range(len(y))]
        np.testing.assert_allclose(weights, by_row, rtol=1e-9)


@pytest.mark.parametrize("loss", ["linear", "square", "exponential"])
def test_r2_equals_the_algorithm_of_drucker(loss):
    X, y = noisy_numbers(60)

    def make():
        return DecisionTreeRegressor(max_depth=2)

    booster = AdaBoostRegressor(make(), n_estimators=6, weighting="reweight", loss=loss).fit(X, y)
    members, votes, losses = oracle.r2(make, X, y, 6, loss)
    assert len(members) == 6
    np.testing.assert_allclose(booster.estimator_errors_, losses, rtol=1e-6)
    np.testing.assert_allclose(booster.estimator_weights_, votes, rtol=1e-6)
    np.testing.assert_allclose(booster.predict(X), oracle.weighted_median(members, votes, X), rtol=1e-6)


def test_the_learning_rate_multiplies_the_votes():
    X, y = noisy_classes()
    slow = AdaBoostClassifier(n_estimators=5, learning_rate=0.25).fit(X, y)
    errors = slow.estimator_errors_
    np.testing.assert_allclose(slow.estimator_weights_, 0.25 * np.log((1 - errors) / errors), rtol=1e-12)


@pytest.mark.parametrize("weighting", ["reweight", "resample"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_after_an_update_the_error_of_the_last_member_is_one_half(n_classes, weighting):
    X, y = noisy_classes(n_classes=n_classes)
    booster = AdaBoostM1Classifier(
        n_estimators=10, weighting=weighting, store_weights=True, random_state=0
    ).fit(X, y)
    assert len(booster.estimators_) > 5
    for member, weights in zip(booster.estimators_[:-1], booster.row_weights_[1:], strict=True):
        assert weights.sum() == pytest.approx(1, abs=1e-14)
        assert weights[member.predict(X) != y].sum() == pytest.approx(0.5, abs=1e-14)


@pytest.mark.parametrize("booster_type", CLASSIFIERS)
@pytest.mark.parametrize("weighting", ["reweight", "resample"])
def test_the_training_error_never_exceeds_the_product_bound(booster_type, weighting):
    for seed, n_classes in itertools.product(range(4), (2, 3)):
        X, y = noisy_classes(n_classes=n_classes, seed=seed)
        rates = (
            [{"learning_rate": rate} for rate in (0.3, 1.0)] if booster_type is AdaBoostClassifier else [{}]
        )
        for rate in rates:
            booster = booster_type(n_estimators=20, weighting=weighting, random_state=seed, **rate).fit(X, y)
            errors = [1 - score for score in booster.staged_score(X, y)]
            assert len(errors) == len(booster.error_bounds_)
            assert (errors <= booster.error_bounds_ * (1 + 1e-12)).all()


def test_the_bound_of_m1_is_a_product_of_roots():
    booster = AdaBoostM1Classifier(n_estimators=9).fit(*noisy_classes())
    errors = booster.estimator_errors_
    np.testing.assert_allclose(booster.error_bounds_, np.cumprod(2 * np.sqrt(errors * (1 - errors))))


def test_the_bound_of_a_huge_vote_is_infinite():
    booster = AdaBoostClassifier(n_estimators=1, learning_rate=1e300).fit(*noisy_classes())
    assert booster.error_bounds_.tolist() == [np.inf]


def test_full_trees_end_boosting_immediately_unless_rows_are_resampled():
    X, y = noisy_classes()
    full = DecisionTreeClassifier()
    assert len(AdaBoostM1Classifier(full).fit(X, y).estimators_) == 1
    drawn = AdaBoostM1Classifier(full, n_estimators=20, weighting="resample", random_state=0).fit(X, y)
    assert len(drawn.estimators_) == 20
    assert (drawn.estimator_errors_ > 0).all()
    assert drawn.score(X, y) == 1


@pytest.mark.parametrize("booster_type", CLASSIFIERS)
def test_a_perfect_member_ends_the_run_with_a_finite_vote(booster_type):
    X, y = [[1.0], [2.0], [8.0], [9.0]], ["low", "low", "high", "high"]
    booster = booster_type().fit(X, y)
    assert list(booster.estimator_errors_) == [0]
    expected = 1.0 if booster_type is AdaBoostClassifier else np.log(2 * 4 + 1)
    np.testing.assert_allclose(booster.estimator_weights_, [expected])
    assert list(booster.predict([[0.0], [10.0]])) == ["low", "high"]


def test_a_later_perfect_member_does_not_outweigh_the_others():
    X, y = load_wine(return_X_y=True)
    booster = AdaBoostM1Classifier(DecisionTreeClassifier(max_depth=4)).fit(X, y)
    assert booster.estimator_errors_[-1] == 0
    assert 1 < len(booster.estimator_weights_) < 50
    assert booster.estimator_weights_[-1] == pytest.approx(np.log(2 * len(y) + 1))


def test_an_error_above_one_half_ends_m1_and_keeps_previous_members():
    X, y = noisy_classes(n_classes=4)
    stump = DecisionTreeClassifier(max_depth=2)
    booster = AdaBoostM1Classifier(stump).fit(X, y)
    assert 1 < len(booster.estimators_) < 50
    assert (booster.estimator_errors_ <= 0.5).all()
    longer = AdaBoostM1Classifier(stump, n_estimators=len(booster.estimators_)).fit(X, y)
    np.testing.assert_array_equal(longer.predict_proba(X), booster.predict_proba(X))


@pytest.mark.parametrize("booster_type", CLASSIFIERS)
@pytest.mark.parametrize("stump", [DecisionTreeClassifier(max_depth=1), PythonTree(max_depth=1)])
def test_a_first_member_no_better_than_chance_is_the_only_one_and_warns(booster_type, stump):
    X, y = np.zeros((9, 1)), [0, 1, 2] * 3
    if booster_type is AdaBoostM2Classifier:
        # All plausibilities are one third, so the pseudo-loss is exactly 1/2. The vote is 0 and M2 continues.
        booster = booster_type(stump, n_estimators=3).fit(X, y)
        np.testing.assert_array_equal(booster.estimator_weights_, 0)
    else:
        with pytest.warns(UserWarning, match=r"no better than chance \(error 0.667\)"):
            booster = booster_type(stump).fit(X, y)
        np.testing.assert_array_equal(booster.estimator_weights_, [1])
    assert list(booster.predict([[0.0]])) == [0]


def test_a_first_regressor_of_mean_loss_above_one_half_is_the_only_one_and_warns():
    with pytest.warns(UserWarning, match="no better than chance"):
        booster = AdaBoostRegressor().fit([[1.0]] * 4, [0.0, 1.0, 0.0, 1.0])
    assert len(booster.estimators_) == 1
