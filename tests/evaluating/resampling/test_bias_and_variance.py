"""Test bias and variance for each loss against slow references and identities from the literature."""

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


def out_of_bag_predictions(estimator, X, y, n_bags, seed, method="predict"):
    """Return for each row the predictions of the fits whose bag does not contain it."""
    bagged = Bagged.of(estimator, X, y, n_bags, None, seed)
    drawn = [bagged.rows(number) for number in range(1, n_bags + 1)]
    predicted = [getattr(clone(estimator).fit(X[rows], y[rows]), method)(X) for rows in drawn]
    return [
        np.array([each[row] for each, rows in zip(predicted, drawn, strict=True) if row not in rows])
        for row in range(len(y))
    ]


def test_bias_and_variance_of_three_classes_equal_a_slow_reference():
    estimator = DecisionTreeClassifier(random_state=0)
    found = bias_variance(estimator, X, Y, B=25, random_state=0)
    expected = []
    for predicted, answer in zip(out_of_bag_predictions(estimator, X, Y, 25, 0), Y, strict=True):
        main = min(np.unique(Y), key=lambda label: np.sum(predicted != label))
        error, bias = np.mean(predicted != answer), float(main != answer)
        effect = error - bias
        expected.append([error, bias, np.mean(predicted != main), max(effect, 0), max(-effect, 0), effect])
    assert [getattr(found, part) for part in PARTS] == pytest.approx(np.mean(expected, axis=0).tolist())
    assert found.error == pytest.approx(found.bias + found.net_variance)
    assert found.loss == "error"


def test_bias_and_variance_by_log_loss_equal_a_slow_reference():
    found = bias_variance(GaussianNB(), X, Y, B=25, loss="log_loss", random_state=0)
    parts = []
    probabilities = out_of_bag_predictions(GaussianNB(), X, Y, 25, 0, "predict_proba")
    for votes, answer in zip(probabilities, CODES, strict=True):
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
def test_the_error_equals_the_out_of_bag_error(estimator, X, y, loss, scoring):
    weights = np.random.default_rng(0).random(len(y))
    given = {"sample_weight": weights, "random_state": 0}
    found = bias_variance(estimator, X, y, B=25, loss=loss, **given)
    error = bootstrap_error(estimator, X, y, 25, kind="out_of_bag", scoring=scoring, **given)
    assert found.error == pytest.approx(-error.value)
    assert found.error == pytest.approx(found.bias + found.net_variance)


def test_identical_fits_have_only_bias():
    test = {"X_test": NUMBERS_X, "y_test": NUMBERS}
    # All rows are equal, so all fits make the same predictions.
    found = bias_variance(DecisionTreeRegressor(), np.ones((40, 3)), np.ones(40), B=5, **test)
    assert found.variance == found.net_variance == pytest.approx(0, abs=1e-12)
    assert found.error == pytest.approx(found.bias)


@pytest.mark.parametrize("loss", ["accuracy", make_scorer(accuracy_score), ["error"], accuracy_score])
def test_an_unknown_loss_for_classes_raises_an_error_before_any_fit(loss):
    with pytest.raises(ValueError, match=r"^loss must be 'error', 'brier', 'log_loss' or None for class"):
        bias_variance(GaussianNB(), X, Y, loss=loss)


def test_an_unknown_loss_for_numbers_raises_an_error_before_any_fit():
    with pytest.raises(ValueError, match=r"^loss must be 'squared_error' or None for regression\. Got 'mae'"):
        bias_variance(LinearRegression(), NUMBERS_X, NUMBERS, loss="mae")


def test_a_loss_of_probabilities_requires_predict_proba():
    with pytest.raises(ValueError, match="RidgeClassifier has no predict_proba, and the loss 'log_loss' is"):
        bias_variance(RidgeClassifier(), X, Y, loss="log_loss")
