"""Bias and variance by any loss: slow direct code, and what the literature says must hold."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from sklearn.base import clone
from sklearn.datasets import make_classification, make_regression
from sklearn.linear_model import LinearRegression, RidgeClassifier
from sklearn.metrics import accuracy_score, make_scorer, mean_absolute_error
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from committee import bias_variance, bootstrap_error
from committee.evaluating.bags import Bagged
from committee.evaluating.loss_parts import main_numbers

X, CODES = make_classification(60, 4, n_informative=3, n_redundant=0, n_classes=3, random_state=0)
Y = np.array(["high", "low", "none"])[CODES]
NUMBERS_X, NUMBERS = make_regression(40, 3, noise=20, random_state=0)
COSTS = {("high", "low"): 2.0, ("high", "none"): 5.0, ("low", "none"): 3.0, ("none", "high"): 0.5}
PARTS = ("error", "bias", "variance", "unbiased_variance", "biased_variance", "net_variance")


def cost(truth, said):
    return np.array([COSTS.get(pair, 1.0) * (pair[0] != pair[1]) for pair in zip(truth, said, strict=True)])


def is_wrong(truth, said):
    return truth != said


def squared(truth, said):
    return (truth - said) ** 2


def absolute(truth, said):
    return np.abs(truth - said)


def too_little(truth, said):
    return np.where(truth > said, 3.0, 1.0) * np.abs(truth - said)


def log_cosh(truth, said):
    return np.logaddexp((truth - said) / 50, (said - truth) / 50) - np.log(2)


def fourth(truth, said):
    return (truth - said) ** 4


def said_outside(estimator, X, y, n_bags, seed, ask="predict"):
    """For each row what the fits say that have not drawn it."""
    bagged = Bagged.of(estimator, X, y, n_bags, None, seed)
    drawn = [bagged.rows(number) for number in range(1, n_bags + 1)]
    said = [getattr(clone(estimator).fit(X[rows], y[rows]), ask)(X) for rows in drawn]
    return [
        np.array([each[row] for each, rows in zip(said, drawn, strict=True) if row not in rows])
        for row in range(len(y))
    ]


def loss_of(loss, truth, said):
    """The mean loss of two values that may be one or many."""
    truth, said = np.broadcast_arrays(np.atleast_1d(truth), np.atleast_1d(said))
    return float(np.mean(loss(truth, said)))


def by_loops(said, y, loss, main_of):
    """The parts as James defines them, with one answer to each row."""
    found = []
    for each, answer in zip(said, y, strict=True):
        main = main_of(each)
        error, bias = loss_of(loss, answer, each), loss_of(loss, answer, main)
        effect = error - bias
        found.append([error, bias, loss_of(loss, each, main), max(effect, 0), max(-effect, 0), effect])
    return np.mean(found, axis=0)


@pytest.mark.parametrize("loss", [cost, is_wrong])
def test_costs_of_classes_by_a_slow_reference(loss):
    estimator = DecisionTreeClassifier(random_state=0)
    found = bias_variance(estimator, X, Y, B=25, loss=loss, random_state=0)

    def main_of(said):
        return min(np.unique(Y), key=lambda label: round(loss_of(loss, said, label), 9))

    expected = by_loops(said_outside(estimator, X, Y, 25, 0), Y, loss, main_of)
    assert [getattr(found, part) for part in PARTS] == pytest.approx(expected.tolist())
    assert found.error == pytest.approx(found.bias + found.net_variance)
    assert found.loss == loss.__name__


def test_the_error_as_a_function_is_the_error():
    options = {"B": 20, "random_state": 0}
    named, own = (bias_variance(GaussianNB(), X, Y, loss=loss, **options) for loss in ("error", is_wrong))
    assert [getattr(own, part) for part in PARTS] == [getattr(named, part) for part in PARTS]


def test_two_classes_of_unequal_costs_come_apart_as_domingos_says():
    # His theorem: c = 1 where the main answer is right, and -L(t, m) / L(m, t) where it is not.
    y = np.where(CODES == 0, "high", "none")
    estimator = DecisionTreeClassifier(random_state=0)
    found = bias_variance(estimator, X, y, B=25, loss=cost, random_state=0)
    net = []
    for said, answer in zip(said_outside(estimator, X, y, 25, 0), y, strict=True):
        main = min(["high", "none"], key=lambda label: loss_of(cost, said, label))
        variance = loss_of(cost, main, said)
        factor = 1 if main == answer else -loss_of(cost, answer, main) / loss_of(cost, main, answer)
        net.append(factor * variance)
    assert found.net_variance == pytest.approx(np.mean(net))
    assert found.biased_variance > 0


@pytest.mark.parametrize("loss", [squared, too_little, log_cosh, fourth])
def test_losses_of_numbers_by_a_slow_reference(loss):
    estimator = DecisionTreeRegressor(max_depth=4, random_state=0)
    found = bias_variance(estimator, NUMBERS_X, NUMBERS, B=25, loss=loss, random_state=0)

    def main_of(said):
        tried = [float(each) for each in np.sort(said)]
        best = min(tried, key=lambda value: round(loss_of(loss, said, value), 6))
        near = minimize_scalar(lambda value: loss_of(loss, said, value), bounds=(tried[0], tried[-1] + 1e-9))
        is_lower = near.fun < loss_of(loss, said, best) * (1 - 1e-9)
        return near.x if is_lower else best

    said = said_outside(estimator, NUMBERS_X, NUMBERS, 25, 0)
    expected = by_loops(said, NUMBERS, loss, main_of)
    assert [getattr(found, part) for part in PARTS] == pytest.approx(expected.tolist(), rel=1e-3)
    assert found.error == pytest.approx(found.bias + found.net_variance)


@pytest.mark.parametrize(("loss", "name"), [(squared, "squared_error"), (absolute, "mae")])
def test_a_loss_is_the_same_by_name_and_as_a_function(loss, name):
    # On other rows all 15 fits count, and of an odd number one is the median.
    options = {"X_test": NUMBERS_X[30:], "y_test": NUMBERS[30:], "B": 15, "random_state": 0}
    named, own = (
        bias_variance(
            DecisionTreeRegressor(random_state=0), NUMBERS_X[:30], NUMBERS[:30], loss=each, **options
        )
        for each in (name, loss)
    )
    for part in PARTS:
        assert getattr(own, part) == pytest.approx(getattr(named, part), rel=1e-6, abs=1e-9), part


def test_the_absolute_error_by_a_slow_reference():
    estimator = DecisionTreeRegressor(random_state=0)
    found = bias_variance(estimator, NUMBERS_X, NUMBERS, B=25, loss="mae", random_state=0)
    said = said_outside(estimator, NUMBERS_X, NUMBERS, 25, 0)
    expected = by_loops(said, NUMBERS, absolute, np.median)
    assert [getattr(found, part) for part in PARTS] == pytest.approx(expected.tolist())
    # It is a metric, so variance changes the error by no more than itself.
    assert abs(found.net_variance) <= found.variance
    assert 0 < found.biased_variance < found.unbiased_variance


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
    ("estimator", "X", "y", "loss"),
    [
        (GaussianNB(), X, Y, "log_loss"),
        (GaussianNB(), X, Y, "brier"),
        (DecisionTreeRegressor(), NUMBERS_X, NUMBERS, "mae"),
    ],
)
def test_the_error_is_that_out_of_bag(estimator, X, y, loss):
    weights = np.random.default_rng(0).random(len(y))
    given = {"sample_weight": weights, "random_state": 0}
    found = bias_variance(estimator, X, y, B=25, loss=loss, **given)
    error = bootstrap_error(estimator, X, y, 25, kind="out_of_bag", metric=loss, **given)
    assert found.error == pytest.approx(error.value)
    assert found.error == pytest.approx(found.bias + found.net_variance)


def test_what_does_not_vary_has_only_bias():
    test = {"X_test": NUMBERS_X, "y_test": NUMBERS}
    # Fits on 40 times the same row say the same of all.
    for loss in (log_cosh, "mae"):
        found = bias_variance(DecisionTreeRegressor(), np.ones((40, 3)), np.ones(40), B=5, loss=loss, **test)
        assert found.variance == 0
        assert found.net_variance == pytest.approx(0, abs=1e-12)
        assert found.error == pytest.approx(found.bias)


def test_the_main_number_is_looked_for_beside_numbers_that_are_there_twice():
    # The mean of 2, 2, 2 and 6 is between the last two.
    decided = np.array([[2.0, 6.0], [2.0, 6.0], [6.0, 2.0], [2.0, 6.0]])
    assert main_numbers(decided, np.ones((4, 2)), squared) == pytest.approx([3.0, 5.0])
    counts = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    assert main_numbers(decided, counts, squared) == pytest.approx([2.0, 4.0])


def test_the_lowest_of_equal_main_numbers_is_taken():
    decided = np.array([[4.0], [1.0], [2.0], [3.0]])
    assert main_numbers(decided, np.ones((4, 1)), absolute) == pytest.approx([2.0])


@pytest.mark.parametrize(
    ("loss", "told"),
    [
        (
            "accuracy",
            r"^loss must be 'error', 'brier', 'log_loss', a function of answers and predictions or ",
        ),
        (make_scorer(accuracy_score), r"^loss must be .* Got make_scorer"),
        (["error"], r"^loss must be .* Got \['error'\]\.$"),
        (
            accuracy_score,
            r"^The loss accuracy_score must give a number for each of 9 rows\. Got the shape \(\)",
        ),
        (lambda estimator, X, y: 0.0, "^The loss <lambda> cannot be called with answers and predictions"),
        (lambda truth, said: truth - said, r"^The loss <lambda> fails \(.*\)\. It gets answers and predict"),
        (lambda truth, said: np.full(len(said), np.nan), "^The loss <lambda> must give finite numbers"),
        (lambda truth, said: said, "^The loss <lambda> must give finite numbers. Got"),
    ],
)
def test_what_is_no_loss_of_classes_is_refused_before_any_fit(loss, told):
    with pytest.raises(ValueError, match=told) as raised:
        bias_variance(GaussianNB(), X, Y, loss=loss)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("loss", "told"),
    [
        (
            "rmse",
            r"^loss must be 'squared_error', 'mae', a function of answers and predictions or None for re",
        ),
        (mean_absolute_error, r"must give a number for each of 40 rows\. Got the shape \(\)\. Let it return"),
        (lambda truth, said: np.log(-1 - truth**2), "^The loss <lambda> must give finite numbers"),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value")
def test_what_is_no_loss_of_numbers_is_refused_before_any_fit(loss, told):
    with pytest.raises(ValueError, match=told):
        bias_variance(LinearRegression(), NUMBERS_X, NUMBERS, loss=loss)


def test_probabilities_are_asked_only_of_who_gives_some():
    with pytest.raises(ValueError, match="RidgeClassifier has no predict_proba, and the loss 'log_loss' is"):
        bias_variance(RidgeClassifier(), X, Y, loss="log_loss")
