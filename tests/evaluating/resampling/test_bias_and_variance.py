"""Bias and variance by each loss: slow direct code, and what the literature says must hold."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification, make_regression
from sklearn.linear_model import LinearRegression, RidgeClassifier
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from committee import bias_variance, bootstrap_error
from committee.evaluating.resampling.bag_fits import Bagged

X, CODES = make_classification(60, 4, n_informative=3, n_redundant=0, n_classes=3, random_state=0)
Y = np.array(["high", "low", "none"])[CODES]
NUMBERS_X, NUMBERS = make_regression(40, 3, noise=20, random_state=0)
PARTS = ("error", "bias", "variance", "unbiased_variance", "biased_variance", "net_variance")


def said_outside(estimator, X, y, n_bags, seed, ask="predict"):
    """For each row what the fits say that have not drawn it."""
    bagged = Bagged.of(estimator, X, y, n_bags, None, seed)
    drawn = [bagged.rows(number) for number in range(1, n_bags + 1)]
    said = [getattr(clone(estimator).fit(X[rows], y[rows]), ask)(X) for rows in drawn]
    return [
        np.array([each[row] for each, rows in zip(said, drawn, strict=True) if row not in rows])
        for row in range(len(y))
    ]


def test_the_error_of_three_classes_by_a_slow_reference():
    estimator = DecisionTreeClassifier(random_state=0)
    found = bias_variance(estimator, X, Y, B=25, random_state=0)
    expected = []
    for said, answer in zip(said_outside(estimator, X, Y, 25, 0), Y, strict=True):
        main = min(np.unique(Y), key=lambda label: np.sum(said != label))
        error, bias = np.mean(said != answer), float(main != answer)
        effect = error - bias
        expected.append([error, bias, np.mean(said != main), max(effect, 0), max(-effect, 0), effect])
    assert [getattr(found, part) for part in PARTS] == pytest.approx(np.mean(expected, axis=0).tolist())
    assert found.error == pytest.approx(found.bias + found.net_variance)
    assert found.loss == "error"


def test_the_log_loss_by_a_slow_reference():
    found = bias_variance(GaussianNB(), X, Y, B=25, loss="log_loss", random_state=0)
    parts = []
    for votes, answer in zip(said_outside(GaussianNB(), X, Y, 25, 0, "predict_proba"), CODES, strict=True):
        votes = votes.clip(1e-15)
        main = np.exp(np.log(votes).mean(axis=0))
        main /= main.sum()
        divergence = (main * np.log(main / votes)).sum(axis=1).mean()
        parts.append([-np.log(votes[:, answer]).mean(), -np.log(main[answer]), divergence])
    assert [found.error, found.bias, found.variance] == pytest.approx(np.mean(parts, axis=0).tolist())
    assert found.error == pytest.approx(found.bias + found.variance)
    assert (found.unbiased_variance, found.biased_variance) == (found.variance, 0)


@pytest.mark.parametrize(
    ("estimator", "X", "y", "loss", "scoring"),
    [
        (GaussianNB(), X, Y, "log_loss", "neg_log_loss"),
        (GaussianNB(), X, Y, "brier", "neg_brier_score"),
        (DecisionTreeRegressor(), NUMBERS_X, NUMBERS, "squared_error", "neg_mean_squared_error"),
    ],
)
def test_the_error_is_that_out_of_bag(estimator, X, y, loss, scoring):
    weights = np.random.default_rng(0).random(len(y))
    given = {"sample_weight": weights, "random_state": 0}
    found = bias_variance(estimator, X, y, B=25, loss=loss, **given)
    error = bootstrap_error(estimator, X, y, 25, kind="out_of_bag", scoring=scoring, **given)
    assert found.error == pytest.approx(-error.value)
    assert found.error == pytest.approx(found.bias + found.net_variance)


def test_what_does_not_vary_has_only_bias():
    test = {"X_test": NUMBERS_X, "y_test": NUMBERS}
    # Fits on 40 times the same row say the same of all.
    found = bias_variance(DecisionTreeRegressor(), np.ones((40, 3)), np.ones(40), B=5, **test)
    assert found.variance == found.net_variance == pytest.approx(0, abs=1e-12)
    assert found.error == pytest.approx(found.bias)


@pytest.mark.parametrize("loss", ["accuracy", make_scorer(accuracy_score), ["error"], accuracy_score])
def test_what_is_no_loss_of_classes_is_refused_before_any_fit(loss):
    with pytest.raises(ValueError, match=r"^loss must be 'error', 'brier', 'log_loss' or None for class"):
        bias_variance(GaussianNB(), X, Y, loss=loss)


def test_what_is_no_loss_of_numbers_is_refused_before_any_fit():
    with pytest.raises(ValueError, match=r"^loss must be 'squared_error' or None for regression\. Got 'mae'"):
        bias_variance(LinearRegression(), NUMBERS_X, NUMBERS, loss="mae")


def test_probabilities_are_asked_only_of_who_gives_some():
    with pytest.raises(ValueError, match="RidgeClassifier has no predict_proba, and the loss 'log_loss' is"):
        bias_variance(RidgeClassifier(), X, Y, loss="log_loss")
