"""Test early stopping on given validation rows and on held-out rows."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification, make_regression
from sklearn.metrics import log_loss

from committee import GradientBoostingClassifier, GradientBoostingRegressor, LogitBoostClassifier
from committee.boosting.gradient.training_rows import TrainingRows
from committee.table import bin_table, read
from committee.votes.folds import spare_share

NOISY = make_classification(600, 8, flip_y=0.3, random_state=0)
TRAIN, VALIDATION = (NOISY[0][:400], NOISY[1][:400]), (NOISY[0][400:], NOISY[1][400:])
GIVEN = {"X_val": VALIDATION[0], "y_val": VALIDATION[1]}
MANY = make_classification(600, 8, n_informative=5, n_classes=4, flip_y=0.3, random_state=0)


@pytest.mark.parametrize(
    "booster", [GradientBoostingClassifier(300, random_state=0), LogitBoostClassifier(300)]
)
def test_rounds_up_to_the_best_one_are_kept(booster):
    fitted = clone(booster).fit(*TRAIN, **GIVEN)
    scores = fitted.validation_score_
    assert fitted.n_iter_ == scores.argmax()
    assert len(scores) == len(fitted.train_score_) == fitted.n_iter_ + 1 + 10
    losses = [log_loss(VALIDATION[1], p) for p in fitted.staged_predict_proba(VALIDATION[0])]
    np.testing.assert_allclose(scores[1 : fitted.n_iter_ + 1], np.negative(losses), rtol=1e-9)
    shorter = clone(booster).set_params(n_estimators=fitted.n_iter_, early_stopping=False).fit(*TRAIN)
    np.testing.assert_array_equal(shorter.predict_proba(NOISY[0]), fitted.predict_proba(NOISY[0]))
    np.testing.assert_allclose(shorter.feature_importances_, fitted.feature_importances_, rtol=1e-9)
    np.testing.assert_array_equal(shorter.split_counts_, fitted.split_counts_)


def test_n_iter_no_change_and_tol_are_used():
    patient = GradientBoostingClassifier(300, n_iter_no_change=25, random_state=0).fit(*TRAIN, **GIVEN)
    assert len(patient.validation_score_) == patient.n_iter_ + 1 + 25
    demanding = GradientBoostingClassifier(300, tol=0.02, random_state=0).fit(*TRAIN, **GIVEN)
    assert demanding.n_iter_ < GradientBoostingClassifier(300, random_state=0).fit(*TRAIN, **GIVEN).n_iter_


def test_without_early_stopping_validation_scores_are_only_recorded():
    fitted = GradientBoostingClassifier(60, early_stopping=False, random_state=0).fit(*TRAIN, **GIVEN)
    assert fitted.n_iter_ == 60
    assert len(fitted.validation_score_) == 61
    np.testing.assert_array_equal(
        fitted.predict_proba(NOISY[0]),
        GradientBoostingClassifier(60, random_state=0).fit(*TRAIN).predict_proba(NOISY[0]),
    )


@pytest.mark.parametrize("problem", [NOISY, MANY, make_regression(500, 5, noise=80.0, random_state=0)])
def test_early_stopping_can_hold_out_rows(problem):
    X, y = problem
    is_number = np.issubdtype(y.dtype, np.floating)
    kind = GradientBoostingRegressor if is_number else GradientBoostingClassifier
    booster = kind(400, early_stopping=True, random_state=0)
    fitted = clone(booster).fit(X, y)
    assert 0 < fitted.n_iter_ < 400
    again = clone(booster).fit(X, y)
    assert again.n_iter_ == fitted.n_iter_
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
    binned = clone(booster).fit(bin_table(X), y)
    assert 0 < binned.n_iter_ < 400


def test_held_out_rows_are_stratified_and_every_class_keeps_a_row():
    y = np.array([0] * 60 + [1] * 30 + [2] * 9 + [3], dtype=np.int32)
    rows = TrainingRows(read(np.arange(100.0)[:, np.newaxis]), y, None, None)
    rest, held_out = rows.divided(spare_share(y, 0.2, seed=5))
    assert len(rest.y) + len(held_out.y) == 100
    assert set(rest.y) == {0, 1, 2, 3}
    np.testing.assert_allclose(np.bincount(held_out.y, minlength=4), [12, 6, 2, 0], atol=1)
    assert not set(rest.table.columns[0]) & set(held_out.table.columns[0])


def test_training_and_validation_rows_are_disjoint():
    # Labels are random, so only copies of training rows could have a good validation score.
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 5)), rng.integers(0, 2, 200)
    booster = GradientBoostingClassifier(100, early_stopping=True, random_state=0)
    booster.fit(X, y, sample_weight=rng.integers(1, 5, 200))
    assert booster.n_iter_ < 30
    assert booster.validation_score_.max() < -0.6


def test_weights_of_the_validation_rows_are_used():
    X_val = np.concatenate([VALIDATION[0], VALIDATION[0]])
    y_val = np.concatenate([VALIDATION[1], 1 - VALIDATION[1]])
    weights = np.repeat([1.0, 0.0], len(VALIDATION[1]))
    weighted = GradientBoostingClassifier(100, random_state=0).fit(
        *TRAIN, X_val=X_val, y_val=y_val, sample_weight_val=weights
    )
    expected = GradientBoostingClassifier(100, random_state=0).fit(*TRAIN, **GIVEN)
    np.testing.assert_allclose(weighted.validation_score_, expected.validation_score_, rtol=1e-12)


def test_initial_scores_of_the_validation_rows_are_used():
    first = GradientBoostingClassifier(10, random_state=0).fit(*TRAIN)
    start, start_val = (first.decision_function(X) for X, _ in (TRAIN, VALIDATION))
    second = GradientBoostingClassifier(10, random_state=0).fit(
        *TRAIN, **GIVEN, init_score=start, init_score_val=start_val
    )
    before = log_loss(VALIDATION[1], first.predict_proba(VALIDATION[0]))
    assert second.validation_score_[0] == pytest.approx(-before, rel=1e-9)


def test_a_warm_start_continues_after_the_best_round():
    booster = GradientBoostingClassifier(8, warm_start=True, random_state=0).fit(*TRAIN, **GIVEN)
    booster.set_params(n_estimators=16).fit(*TRAIN, **GIVEN)
    in_one_go = GradientBoostingClassifier(16, random_state=0).fit(*TRAIN, **GIVEN)
    assert booster.n_iter_ == in_one_go.n_iter_
    np.testing.assert_allclose(booster.validation_score_, in_one_go.validation_score_, rtol=1e-12)
    np.testing.assert_array_equal(booster.predict_proba(NOISY[0]), in_one_go.predict_proba(NOISY[0]))


def test_a_warm_start_without_improvement_keeps_the_model():
    booster = GradientBoostingClassifier(100, n_iter_no_change=5, warm_start=True, random_state=0)
    booster.fit(*TRAIN, **GIVEN)
    n_rounds, before = booster.n_iter_, booster.predict_proba(NOISY[0])
    assert n_rounds < 100
    booster.fit(*TRAIN, **GIVEN)
    assert booster.n_iter_ == booster.validation_score_.argmax() == n_rounds
    np.testing.assert_array_equal(booster.predict_proba(NOISY[0]), before)


def test_rounds_without_validation_rows_have_nan_as_validation_score():
    booster = GradientBoostingClassifier(3, warm_start=True, early_stopping=False).fit(*TRAIN)
    booster.set_params(n_estimators=5).fit(*TRAIN, **GIVEN)
    booster.set_params(n_estimators=6).fit(*TRAIN)
    np.testing.assert_array_equal(np.isnan(booster.validation_score_), [1, 1, 1, 0, 0, 0, 1])
    assert len(booster.train_score_) == 7


def test_columns_of_validation_rows_are_matched_by_name():
    frame = pd.DataFrame(TRAIN[0], columns=list("abcdefgh")).assign(
        city=np.where(TRAIN[1] > 0, "Oslo", "Bonn")
    )
    other = pd.DataFrame(VALIDATION[0], columns=list("abcdefgh")).assign(city="Rome")
    booster = GradientBoostingClassifier(5, random_state=0).fit(
        frame, TRAIN[1], X_val=other[other.columns[::-1]], y_val=GIVEN["y_val"]
    )
    assert booster.validation_score_[-1] == pytest.approx(
        -log_loss(VALIDATION[1], list(booster.staged_predict_proba(other))[-1])
        if booster.n_iter_ == 5
        else booster.validation_score_[-1]
    )
    assert np.isfinite(booster.validation_score_).all()


def test_huber_stops_although_its_delta_shrinks_with_the_residuals():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5))
    y = X[:, 0] + rng.standard_t(3, size=400)
    booster = GradientBoostingRegressor(
        200, loss="huber", early_stopping=False, subsample=1.0, random_state=0
    )
    booster.fit(X[:200], y[:200], X_val=X[200:], y_val=y[200:])
    errors = [np.abs(prediction - y[200:]).mean() for prediction in booster.staged_predict(X[200:])]
    assert errors[int(booster.validation_score_[1:].argmax())] < 1.02 * min(errors)
    assert (np.diff(booster.train_score_) > 0).all()
