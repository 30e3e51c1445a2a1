"""Test each loss against a reference implementation in numpy, scikit-learn and its own definition."""

import boosting_oracle
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import GradientBoostingClassifier as TheirClassifier
from sklearn.ensemble import GradientBoostingRegressor as TheirRegressor
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.metrics import (
    log_loss,
    mean_absolute_error,
    mean_gamma_deviance,
    mean_pinball_loss,
    mean_poisson_deviance,
    mean_squared_error,
    mean_tweedie_deviance,
)
from sklearn.model_selection import train_test_split

from committee import GradientBoostingClassifier, GradientBoostingRegressor

RNG = np.random.default_rng(3)
X = RNG.integers(0, 40, size=(80, 3)) / 8
SIGNAL = np.sin(X[:, 0]) + (X[:, 1] > 2) * X[:, 2] / 3 + RNG.normal(scale=0.3, size=len(X))
POSITIVE = np.exp(SIGNAL)
COUNTS = RNG.poisson(POSITIVE).astype(float)
LABELS = (np.median(SIGNAL) < SIGNAL).astype(int)
WHOLE = {"subsample": 1.0, "colsample_bynode": 1.0}
PLAIN = {"reg_lambda": 0.0, "min_child_weight": 0.0, **WHOLE}


def log_odds(labels):
    return np.log(labels.mean() / (1 - labels.mean()))


def quantile_step(level):
    return lambda y, scores, rows: np.quantile(y[rows] - scores[rows], level, method="averaged_inverted_cdf")


LOSSES = {
    "squared_error": (SIGNAL, boosting_oracle.squared_error, SIGNAL.mean(), None, {}),
    "absolute_error": (SIGNAL, boosting_oracle.absolute_error, np.median(SIGNAL), quantile_step(0.5), {}),
    "quantile": (
        SIGNAL,
        boosting_oracle.pinball(0.7),
        np.quantile(SIGNAL, 0.7, method="averaged_inverted_cdf"),
        quantile_step(0.7),
        {"quantile": 0.7},
    ),
    "poisson": (COUNTS, boosting_oracle.poisson, np.log(COUNTS.mean()), None, {}),
    "gamma": (POSITIVE, boosting_oracle.gamma, np.log(POSITIVE.mean()), None, {}),
    "tweedie": (COUNTS, boosting_oracle.tweedie(1.5), np.log(COUNTS.mean()), None, {}),
}


@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize("loss", LOSSES)
def test_a_regressor_equals_the_forward_stagewise_fit(loss, depth):
    y, gradients, start, line_search, more = LOSSES[loss]
    expected = boosting_oracle.boost(X, y, gradients, start, 6, depth=depth, line_search=line_search)
    booster = GradientBoostingRegressor(6, loss=loss, max_depth=depth, max_leaf_nodes=None, **PLAIN, **more)
    booster.fit(X, y)
    link = np.exp if loss in ("poisson", "gamma", "tweedie") else np.asarray
    np.testing.assert_allclose(list(booster.staged_predict(X)), link(expected), rtol=1e-5)


@pytest.mark.parametrize("loss", ["log_loss", "exponential"])
@pytest.mark.parametrize("depth", [1, 3])
def test_a_classifier_of_two_classes_equals_the_forward_stagewise_fit(loss, depth):
    gradients = getattr(boosting_oracle, loss)
    expected = boosting_oracle.boost(X, LABELS, gradients, log_odds(LABELS), 6, depth=depth)
    booster = GradientBoostingClassifier(6, loss=loss, max_depth=depth, max_leaf_nodes=None, **PLAIN)
    booster.fit(X, LABELS)
    np.testing.assert_allclose(list(booster.staged_decision_function(X)), expected, rtol=1e-5, atol=1e-6)


def test_a_classifier_of_three_classes_equals_the_forward_stagewise_fit():
    y = np.digitize(SIGNAL, np.quantile(SIGNAL, [0.3, 0.6]))
    start = np.log(np.bincount(y) / len(y))
    expected = boosting_oracle.boost_classes(X, y, 3, start, 6, depth=2, limits=(1.0, 0.0, 1.0))
    booster = GradientBoostingClassifier(6, max_depth=2, max_leaf_nodes=None).set_params(
        reg_lambda=1.0, min_child_weight=1.0, **WHOLE
    )
    stages = list(booster.fit(X, y).staged_decision_function(X))
    np.testing.assert_allclose(stages, expected, rtol=1e-5, atol=1e-6)


def test_regularisation_equals_the_formula():
    limits = (2.5, 0.75, 4.0)
    expected = boosting_oracle.boost(
        X, SIGNAL, boosting_oracle.squared_error, SIGNAL.mean(), 6, depth=3, limits=limits
    )
    reg_lambda, reg_alpha, min_child_weight = limits
    booster = GradientBoostingRegressor(
        6,
        max_depth=3,
        max_leaf_nodes=None,
        reg_lambda=reg_lambda,
        reg_alpha=reg_alpha,
        min_child_weight=min_child_weight,
        **WHOLE,
    ).fit(X, SIGNAL)
    np.testing.assert_allclose(list(booster.staged_predict(X)), expected, rtol=1e-5)


def test_huber_is_quadratic_for_small_residuals_and_linear_for_large_ones():
    def rounds(level):
        scores = np.full(len(X), np.nan)
        middle = np.median(SIGNAL)
        delta = np.quantile(np.abs(SIGNAL - middle), level, method="averaged_inverted_cdf")
        scores[:] = middle + np.clip(SIGNAL - middle, -delta, delta).mean()
        for _ in range(5):
            delta = np.quantile(np.abs(SIGNAL - scores), level, method="averaged_inverted_cdf")
            gradient = np.clip(scores - SIGNAL, -delta, delta)
            ones = np.ones(len(X))
            for rows in boosting_oracle.leaves(X, gradient, ones, np.arange(len(X)), 2, (0.0, 0.0, 0.0)):
                residuals = SIGNAL[rows] - scores[rows]
                middle = np.quantile(residuals, 0.5, method="averaged_inverted_cdf")
                scores[rows] += 0.1 * (middle + np.clip(residuals - middle, -delta, delta).mean())
            yield scores.copy()

    booster = GradientBoostingRegressor(
        5, loss="huber", quantile=0.8, max_depth=2, max_leaf_nodes=None, **PLAIN
    )
    stages = list(booster.fit(X, SIGNAL).staged_predict(X))
    np.testing.assert_allclose(stages, list(rounds(0.8)), rtol=1e-5)


def test_the_scores_of_the_rounds_are_the_negative_loss():
    metrics = {
        "squared_error": (SIGNAL, mean_squared_error),
        "absolute_error": (SIGNAL, mean_absolute_error),
        "quantile": (SIGNAL, lambda y, p: mean_pinball_loss(y, p, alpha=0.5)),
        "poisson": (COUNTS, mean_poisson_deviance),
        "gamma": (POSITIVE, mean_gamma_deviance),
        "tweedie": (COUNTS, lambda y, p: mean_tweedie_deviance(y, p, power=1.5)),
    }
    for loss, (y, metric) in metrics.items():
        booster = GradientBoostingRegressor(5, loss=loss).fit(X, y, X_val=X[::2], y_val=y[::2])
        assert len(booster.train_score_) == len(booster.validation_score_) == 6
        assert booster.train_score_[-1] == pytest.approx(-metric(y, booster.predict(X)), rel=1e-9), loss
        assert booster.validation_score_[-1] == pytest.approx(
            -metric(y[::2], booster.predict(X[::2])), rel=1e-9
        )
    booster = GradientBoostingClassifier(5).fit(X, LABELS)
    assert booster.train_score_[-1] == pytest.approx(-log_loss(LABELS, booster.predict_proba(X)), rel=1e-9)
    y = np.digitize(SIGNAL, np.quantile(SIGNAL, [0.3, 0.6]))
    booster = GradientBoostingClassifier(5).fit(X, y)
    assert booster.train_score_[-1] == pytest.approx(-log_loss(y, booster.predict_proba(X)), rel=1e-9)
    assert (np.diff(booster.train_score_) > 0).all()


@pytest.mark.parametrize("table", [load_breast_cancer, load_iris])
def test_the_accuracy_is_close_to_that_of_scikit_learn(table):
    train_X, test_X, train_y, test_y = train_test_split(*table(return_X_y=True), random_state=1)
    ours = GradientBoostingClassifier(60, random_state=0).fit(train_X, train_y)
    theirs = HistGradientBoostingClassifier(max_iter=60, random_state=0).fit(train_X, train_y)
    losses = [log_loss(test_y, booster.predict_proba(test_X)) for booster in (ours, theirs)]
    assert losses[0] < 1.15 * losses[1] + 0.01


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "quantile", "poisson", "gamma"])
def test_the_regression_error_is_close_to_that_of_scikit_learn(loss):
    train_X, test_X, train_y, test_y = train_test_split(*load_diabetes(return_X_y=True), random_state=0)
    more = {"quantile": 0.5} if loss == "quantile" else {}
    ours = GradientBoostingRegressor(60, loss=loss, max_leaf_nodes=8, random_state=0, **more).fit(
        train_X, train_y
    )
    theirs = HistGradientBoostingRegressor(max_iter=60, loss=loss, max_leaf_nodes=8, **more)
    theirs.fit(train_X, train_y)
    errors = [mean_absolute_error(test_y, booster.predict(test_X)) for booster in (ours, theirs)]
    assert errors[0] < 1.05 * errors[1]


def test_without_regularisation_the_trees_equal_those_of_scikit_learn():
    X, y = load_diabetes(return_X_y=True)
    theirs = HistGradientBoostingRegressor(max_iter=10, min_samples_leaf=10, max_leaf_nodes=8).fit(X, y)
    ours = GradientBoostingRegressor(10, min_samples_leaf=10, max_leaf_nodes=8, **PLAIN).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-5)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_log_loss_as_a_custom_loss_gives_the_same_trees(n_classes):
    y = np.digitize(SIGNAL, np.quantile(SIGNAL, [0.3, 0.6][: n_classes - 1]))

    def own(y, scores):
        if scores.ndim == 1:
            return boosting_oracle.log_loss(y, scores)
        p = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
        return p - (y[:, np.newaxis] == np.arange(n_classes)), p * (1 - p)

    builtin = GradientBoostingClassifier(5, random_state=0).fit(X, y)
    booster = GradientBoostingClassifier(5, loss=own, random_state=0).fit(X, y)
    np.testing.assert_allclose(booster.predict_proba(X), builtin.predict_proba(X), rtol=1e-6)
    assert np.isnan(booster.train_score_).all()


def test_the_squared_error_as_a_custom_loss_gives_the_same_trees():
    own = GradientBoostingRegressor(8, loss=boosting_oracle.squared_error, random_state=0).fit(X, SIGNAL)
    builtin = GradientBoostingRegressor(8, random_state=0).fit(X, SIGNAL)
    np.testing.assert_allclose(own.predict(X), builtin.predict(X), rtol=1e-6, atol=1e-7)


def test_a_custom_loss_gets_the_training_rows():
    seen = []

    def own(y, scores):
        seen.append(np.sort(y))
        return boosting_oracle.squared_error(y, scores)

    booster = GradientBoostingRegressor(3, random_state=0)
    for weights, rows in (
        (np.arange(len(X)) % 3, np.repeat(np.arange(len(X)), np.arange(len(X)) % 3)),
        (np.random.default_rng(0).random(len(X)), np.arange(len(X))),
    ):
        seen.clear()
        ours = clone(booster).set_params(loss=own).fit(X, SIGNAL, weights)
        assert all(np.array_equal(y, np.sort(SIGNAL[rows])) for y in seen)
        builtin = clone(booster).fit(X, SIGNAL, weights)
        np.testing.assert_allclose(ours.predict(X), builtin.predict(X), rtol=1e-5, atol=1e-6)
    assert "It is called for the rows that are used in training" in " ".join(
        GradientBoostingRegressor.__doc__.split()
    )


def test_scores_that_would_overflow_stay_finite():
    labels = (X[:, 0] > 2).astype(int)
    for loss in ("log_loss", "exponential"):
        booster = GradientBoostingClassifier(60, loss=loss, learning_rate=1e6, **PLAIN).fit(X, labels)
        assert np.isfinite(booster.decision_function(X)).all()
        assert np.isfinite(booster.predict_proba(X)).all()
        assert booster.score(X, labels) == 1
    for loss in ("poisson", "gamma", "tweedie"):
        booster = GradientBoostingRegressor(40, loss=loss, learning_rate=50.0, reg_lambda=0.0).fit(
            X, POSITIVE
        )
        assert np.isfinite(booster.predict(X)).all()
    extreme = np.where(labels, 700.0, -700.0)
    booster = GradientBoostingClassifier(5).fit(X, labels, init_score=-extreme)
    assert np.isfinite(booster.decision_function(X)).all()


@pytest.mark.parametrize(
    "loss", ["squared_error", "absolute_error", "huber", "quantile", "poisson", "gamma", "tweedie"]
)
def test_diverging_predictions_stay_finite_and_get_no_better_score(loss):
    booster = GradientBoostingRegressor(150, loss=loss, learning_rate=1e300, min_child_weight=0.0)
    booster.fit(X, POSITIVE)
    assert np.isfinite(booster.predict(X)).all()
    assert np.isfinite(booster.train_score_).all()
    assert (booster.train_score_[1:] < booster.train_score_[0]).all()


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber", "quantile", "poisson"])
def test_a_tree_without_drawn_rows_has_no_effect(loss):
    booster = GradientBoostingRegressor(30, loss=loss, subsample=0.02, random_state=0)
    assert np.isfinite(booster.fit(X[:20], POSITIVE[:20]).predict(X)).all()


def test_gamma_does_not_depend_on_the_scale_of_the_numbers():
    parts = GradientBoostingRegressor(5, loss="gamma", random_state=0).fit(X, POSITIVE * 1e-20).predict(X)
    whole = GradientBoostingRegressor(5, loss="gamma", random_state=0).fit(X, POSITIVE).predict(X)
    np.testing.assert_allclose(parts * 1e20, whole, rtol=1e-5)


def plain_problem(n_rows=301, seed=0):
    rng = np.random.default_rng(seed)
    table = rng.integers(0, 40, (n_rows, 4)).astype(float)
    numbers = table[:, 0] + (table[:, 1] - 20) ** 2 / 20 + rng.normal(0, 4, n_rows)
    return table, numbers, rng.random(n_rows)


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber", "quantile"])
def test_the_textbook_algorithm_equals_that_of_scikit_learn(loss):
    table, y, weights = plain_problem()
    # With weights, all definitions of a quantile agree. scikit-learn uses the lower one of several in leaves.
    weights = None if loss == "squared_error" else weights
    # From another constant than a median, no residual is 0, where the slope is arbitrary.
    start = 25.0 if loss in ("absolute_error", "huber") else None
    theirs = TheirRegressor(loss=loss, n_estimators=20, random_state=0)
    ours = GradientBoostingRegressor.textbook(20, loss=loss)
    if loss in ("huber", "quantile"):
        level = 0.9 if loss == "huber" else 0.7
        theirs.set_params(alpha=level)
        ours.set_params(quantile=level)
    if start is not None:
        theirs.set_params(init=DummyRegressor(strategy="constant", constant=start))
    theirs.fit(table, y, sample_weight=weights)
    ours.fit(table, y, weights, init_score=None if start is None else np.full(len(y), start))
    for mine, other in zip(ours.staged_predict(table), theirs.staged_predict(table), strict=True):
        np.testing.assert_allclose(mine + (start or 0.0), other, rtol=1e-6)


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize(("loss", "n_classes"), [("log_loss", 2), ("exponential", 2), ("log_loss", 3)])
def test_the_textbook_algorithm_for_classes_equals_that_of_scikit_learn(loss, n_classes, is_weighted):
    table, numbers, weights = plain_problem()
    y = np.digitize(numbers, np.quantile(numbers, [0.3, 0.6][: n_classes - 1]))
    weights = weights if is_weighted else None
    theirs = TheirClassifier(loss=loss, n_estimators=20, random_state=0)
    theirs.fit(table, y, sample_weight=weights)
    ours = GradientBoostingClassifier.textbook(20, loss=loss).fit(table, y, weights)
    for mine, other in zip(ours.staged_predict_proba(table), theirs.staged_predict_proba(table), strict=True):
        np.testing.assert_allclose(mine, other, atol=1e-6)


def test_the_textbook_algorithm_is_the_same_for_any_number_of_threads():
    table, numbers, _ = plain_problem(5000)
    y = np.digitize(numbers, np.quantile(numbers, [0.3, 0.6]))
    one, two = (GradientBoostingClassifier.textbook(5, n_jobs=jobs).fit(table, y) for jobs in (1, 2))
    np.testing.assert_array_equal(one.predict_proba(table), two.predict_proba(table))


def test_one_tree_for_all_classes_needs_second_derivatives():
    booster = GradientBoostingClassifier.textbook(2, multi_strategy="multi_output_tree")
    with pytest.raises(ValueError, match="second_order=False fits one tree per class"):
        booster.fit(X, LABELS + (SIGNAL > 2))


def test_a_callable_starts_at_the_constant_that_minimises_it():
    def poisson(y, scores):
        return np.exp(scores) - y, np.exp(scores)

    named, custom = (GradientBoostingRegressor(5, loss=each, random_state=0) for each in ("poisson", poisson))
    custom, named = custom.fit(X, COUNTS).predict(X), named.fit(X, COUNTS).predict(X)
    np.testing.assert_allclose(custom, np.log(named), atol=1e-5)


@pytest.mark.parametrize("shift", [0.0, -1e4])
def test_a_callable_without_curvature_starts_at_its_quantile(shift):
    def pinball(y, scores):
        return np.where(scores > y, 0.3, -0.7), np.ones_like(scores)

    y = SIGNAL + shift
    booster = GradientBoostingRegressor(1, loss=pinball, learning_rate=1e-9).fit(X, y)
    lower, upper = (np.quantile(y, 0.7, method=each) for each in ("lower", "higher"))
    assert lower - 1e-4 <= booster.predict(X)[0] <= upper + 1e-4
