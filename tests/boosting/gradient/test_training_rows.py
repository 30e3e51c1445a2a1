"""Test n_estimators="auto", by which gradient boosting chooses the number of rounds."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification, make_regression

from committee import GradientBoostingClassifier, GradientBoostingRegressor
from committee.boosting.gradient.gradient_boosting import USUAL_ROUNDS, fold_rows
from committee.boosting.gradient.training_rows import TrainingRows, copies_of
from committee.table import bin_table, read
from committee.votes.folds import N_FOLDS

NOISY = make_classification(300, 6, flip_y=0.4, random_state=0)
PROBLEMS = [
    (GradientBoostingClassifier(random_state=0), *NOISY),
    (
        GradientBoostingClassifier(random_state=0),
        *make_classification(300, 6, n_informative=4, n_classes=3, flip_y=0.3, random_state=0),
    ),
    (GradientBoostingRegressor(random_state=0), *make_regression(300, 6, noise=100.0, random_state=0)),
]
every_problem = pytest.mark.parametrize(("booster", "X", "y"), PROBLEMS)


def votes_of(booster, X):
    return booster.predict_proba(X) if hasattr(booster, "predict_proba") else booster.predict(X)


@every_problem
def test_few_rounds_are_chosen_for_noise_and_give_the_same_model_if_set(booster, X, y):
    found = clone(booster).fit(X, y)
    assert 1 <= found.n_iter_ < 150
    assert len(found.validation_score_) == 0
    assert 0.025 <= found.learning_rate_ < 0.1
    explicit = clone(booster).set_params(n_estimators=found.n_iter_, learning_rate=found.learning_rate_)
    explicit.fit(X, y)
    np.testing.assert_array_equal(votes_of(explicit, X), votes_of(found, X))


@every_problem
def test_row_order_and_threads_do_not_change_the_model(booster, X, y):
    order = np.random.default_rng(0).permutation(len(y))
    found = clone(booster).set_params(n_jobs=1).fit(X, y)
    shuffled = clone(booster).set_params(n_jobs=3).fit(X[order], y[order])
    assert shuffled.n_iter_ == found.n_iter_
    np.testing.assert_array_equal(votes_of(shuffled, X), votes_of(found, X))


@every_problem
def test_a_row_of_weight_two_equals_the_row_twice(booster, X, y):
    weights = np.arange(len(y)) % 3
    weighted = clone(booster).fit(X, y, sample_weight=weights)
    twice = clone(booster).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_array_equal(votes_of(weighted, X), votes_of(twice, X))


def test_weights_that_repeat_all_rows_give_a_similar_model():
    X, y = NOISY
    plain = GradientBoostingClassifier(random_state=0).fit(X, y)
    doubled = GradientBoostingClassifier(random_state=0).fit(X, y, sample_weight=np.full(len(y), 2.0))
    assert doubled.n_iter_ * doubled.learning_rate_ < 2 * plain.n_iter_ * plain.learning_rate_
    assert doubled.train_score_[-1] < plain.train_score_[-1] + 0.1


def test_copies_are_in_the_same_fold():
    rng = np.random.default_rng(0)
    values = np.repeat(np.arange(200.0), 3)
    y = np.repeat(rng.integers(0, 2, 200), 3).astype(np.int32)
    rows = TrainingRows(read(values[:, np.newaxis]), y, None, None)
    copies = copies_of(values.astype(np.uint64), y)
    for rest, held_out in fold_rows(rows, copies, 2, seed=0):
        assert not set(rest.table.columns[0]) & set(held_out.table.columns[0])
    often = copies_of(np.repeat(np.arange(9), 20), np.zeros(180))
    np.testing.assert_array_equal(often, np.arange(180))


def test_a_binned_table_gives_the_same_rounds():
    X, y = NOISY
    booster = GradientBoostingClassifier(random_state=0, max_bins=65_535)
    found, binned = clone(booster).fit(X, y), clone(booster).fit(bin_table(X), y)
    np.testing.assert_array_equal(votes_of(binned, X), votes_of(found, X))


def test_more_rounds_are_chosen_for_data_without_noise():
    X, y = make_classification(600, 6, class_sep=2.0, flip_y=0.0, random_state=0)
    easy = GradientBoostingClassifier(random_state=0).fit(X, y)
    assert easy.n_iter_ > GradientBoostingClassifier(random_state=0).fit(*NOISY).n_iter_


def test_more_rounds_are_chosen_if_the_loss_falls_fast():
    X = np.random.default_rng(0).integers(0, 3, (400, 5)).astype(float)
    clean = GradientBoostingClassifier(random_state=0).fit(X, X[:, 0] == X[:, 1])
    assert clean.n_iter_ == 200
    assert 0.1 < clean.learning_rate_ <= 0.2
    explicit = GradientBoostingClassifier(learning_rate=0.1, random_state=0).fit(X, X[:, 0] == X[:, 1])
    assert explicit.n_iter_ > 200


def test_a_given_learning_rate_does_not_change():
    explicit = GradientBoostingClassifier(learning_rate=0.2, random_state=0).fit(*NOISY)
    assert explicit.learning_rate_ == 0.2
    assert explicit.n_iter_ < 100


def test_a_warm_start_keeps_the_chosen_learning_rate():
    found = GradientBoostingClassifier(random_state=0, warm_start=True).fit(*NOISY)
    rate = found.learning_rate_
    assert rate < 0.1
    longer = found.set_params(n_estimators=found.n_iter_ + 10).fit(*NOISY)
    assert longer.learning_rate_ == rate
    explicit = GradientBoostingClassifier(found.n_iter_, learning_rate=rate, random_state=0).fit(*NOISY)
    np.testing.assert_array_equal(longer.predict_proba(NOISY[0]), explicit.predict_proba(NOISY[0]))


def test_validation_rows_determine_the_rounds():
    X, y = NOISY
    given = GradientBoostingClassifier(random_state=0).fit(X[:200], y[:200], X_val=X[200:], y_val=y[200:])
    assert given.n_iter_ == given.validation_score_.argmax()
    held_out = GradientBoostingClassifier(random_state=0, early_stopping=True).fit(X, y)
    assert held_out.n_iter_ == held_out.validation_score_.argmax()


def test_the_usual_rounds_are_used_if_validation_is_impossible():
    assert GradientBoostingClassifier().fit([[1], [2], [3]], [0, 1, 0]).n_iter_ == USUAL_ROUNDS
    own = GradientBoostingRegressor(loss=lambda y, scores: (scores - y, np.ones_like(y)))
    assert own.fit(*make_regression(50, 3, random_state=0)).n_iter_ == USUAL_ROUNDS


def test_warm_start_needs_a_number_of_rounds():
    X, y = NOISY
    warm = GradientBoostingClassifier(5, warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match="Set n_estimators to a number, not to 'auto'"):
        warm.set_params(n_estimators="auto").fit(X, y)


@pytest.mark.parametrize(("n_rows", "n_folds"), [(12, 5), (900, 5), (1500, 4), (3000, 2), (20_000, 1)])
def test_small_tables_validate_all_folds_and_large_tables_one(n_rows, n_folds):
    y = (np.arange(n_rows) % 10 == 0).astype(np.int32)
    rows = TrainingRows(read(np.arange(n_rows, dtype=float)[:, np.newaxis]), y, None, None)
    parts = list(fold_rows(rows, np.arange(n_rows), 2, seed=0))
    assert len(parts) == n_folds
    for rest, held_out in parts:
        assert len(rest.y) + len(held_out.y) == n_rows
        assert len(held_out.y) == pytest.approx(n_rows / N_FOLDS, abs=2)
        assert set(rest.y) == {0, 1}
