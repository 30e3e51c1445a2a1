"""Test bootstrap errors and bias and variance against slow references, and test invariants."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_classification, make_regression
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.metrics import make_scorer
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from committee import bias_variance, bootstrap_error, score
from committee.evaluating.resampling.bag_fits import Bagged
from committee.evaluating.resampling.bootstrap_errors import point_632_plus
from committee.running import receiving

X, Y = make_classification(60, 4, n_informative=3, n_redundant=0, n_classes=3, random_state=0)
NUMBERS_X, NUMBERS = make_regression(40, 3, noise=20, random_state=0)
LABELS = np.array(["a", "b", "c"])[Y]


def reference(estimator, X, y, n_bags, loss, seed):
    """Compute the apparent, plain and out-of-bag errors by loops over bags and rows."""
    bagged = Bagged.of(estimator, X, y, n_bags, None, seed)
    losses, outside = [], []
    for number in range(1, n_bags + 1):
        rows = bagged.rows(number)
        losses.append(loss(clone(estimator).fit(X[rows], y[rows]), X, y))
        outside.append(~np.isin(np.arange(len(y)), rows))
    losses, outside = np.array(losses), np.array(outside)
    apparent = loss(clone(estimator).fit(X, y), X, y).mean()
    by_row = [losses[outside[:, row], row].mean() for row in range(len(y)) if outside[:, row].any()]
    return {"apparent": apparent, "plain": losses.mean(), "out_of_bag": np.mean(by_row)}


def zero_one_losses(model, X, y):
    return (model.predict(X) != y).astype(float)


def log_likelihoods(model, X, y):
    return np.log(model.predict_proba(X)[np.arange(len(y)), y].clip(1e-15))


def squared_errors(model, X, y):
    return np.square(model.predict(X) - y)


@pytest.mark.parametrize(
    ("estimator", "X", "y", "metric", "loss"),
    [
        (DecisionTreeClassifier(max_depth=3, random_state=0), X, Y, None, zero_one_losses),
        (GaussianNB(), X, Y, "neg_log_loss", log_likelihoods),
        (DecisionTreeRegressor(max_depth=3, random_state=0), NUMBERS_X, NUMBERS, None, squared_errors),
    ],
)
def test_estimates_follow_the_formulas(estimator, X, y, metric, loss):
    found = bootstrap_error(estimator, X, y, 20, scoring=metric, random_state=1)
    expected = reference(estimator, X, y, 20, loss, 1)
    for name, value in expected.items():
        assert getattr(found, name) == pytest.approx(value), name
    assert found.point_632 == pytest.approx(0.368 * found.apparent + 0.632 * found.out_of_bag)
    overfitting = (found.out_of_bag - found.apparent) / (found.no_information - found.apparent)
    assert 0 < overfitting < 1
    weight = 0.632 / (1 - 0.368 * overfitting)
    assert found.point_632_plus == pytest.approx((1 - weight) * found.apparent + weight * found.out_of_bag)
    assert found.value == found.point_632_plus
    assert found.n_bags == 20


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("plain", "plain"),
        ("out_of_bag", "out_of_bag"),
        (".632", "point_632"),
        (".632+", "point_632_plus"),
    ],
)
def test_kind_selects_the_estimate_that_is_the_value(kind, name):
    found = bootstrap_error(GaussianNB(), X, Y, 10, kind=kind, random_state=0)
    assert found.value == getattr(found, name)
    interval = found.interval(B=50, random_state=0)
    assert interval.value == pytest.approx(found.value)
    assert interval.low < found.value < interval.high
    assert interval == found.interval(B=50, random_state=0)


def test_the_no_information_rate_of_errors_is_the_mean_over_all_pairs():
    model = GaussianNB().fit(X, Y)
    pairs = np.mean(model.predict(X)[:, None] != Y[None, :])
    assert bootstrap_error(GaussianNB(), X, Y, 2, random_state=0).no_information == pytest.approx(pairs)


@pytest.mark.parametrize(
    ("metric", "loss"),
    [
        (None, np.square),
        ("neg_mean_absolute_error", lambda e: -np.abs(e)),
    ],
)
def test_the_no_information_rate_of_numbers_is_the_mean_over_all_pairs(metric, loss):
    model = LinearRegression().fit(NUMBERS_X, NUMBERS)
    pairs = loss(model.predict(NUMBERS_X)[:, None] - NUMBERS[None, :]).mean()
    found = bootstrap_error(LinearRegression(), NUMBERS_X, NUMBERS, 2, scoring=metric, random_state=0)
    assert found.no_information == pytest.approx(pairs, rel=1e-9)


@pytest.mark.parametrize(
    ("apparent", "out_of_bag", "no_information", "expected"),
    [
        # R = 0.5 and w = .632 / .816.
        (0.1, 0.3, 0.5, 0.1 + 0.632 / 0.816 * 0.2),
        # If out_of_bag is above no_information, R is 1: .632 out_of_bag + .368 no_information.
        (0.0, 0.6, 0.5, 0.632 * 0.6 + 0.368 * 0.5),
        # If out_of_bag or no_information is not above apparent, R is 0: .368 apparent + .632 out_of_bag.
        (0.85, 0.85, 0.5, 0.85),
        (0.6, 0.7, 0.5, 0.368 * 0.6 + 0.632 * 0.7),
        (0.3, 0.2, 0.5, 0.368 * 0.3 + 0.632 * 0.2),
    ],
)
def test_point_632_plus_by_hand(apparent, out_of_bag, no_information, expected):
    assert point_632_plus(apparent, out_of_bag, no_information, more_is_better=False) == pytest.approx(
        expected
    )
    scores = 1 - apparent, 1 - out_of_bag, 1 - no_information
    assert point_632_plus(*scores, more_is_better=True) == pytest.approx(1 - expected)


def share_of_right(y, predicted):
    return float(np.mean(y == predicted))


def test_scorers_without_weights_have_a_no_information_rate():
    rng = np.random.default_rng(0)
    noise, coins = rng.normal(size=(80, 2)), rng.integers(2, size=80)
    options = {"B": 10, "random_state": 0}
    known = bootstrap_error(KNeighborsClassifier(1), noise, coins, scoring="accuracy", **options)
    found = bootstrap_error(
        KNeighborsClassifier(1), noise, coins, scoring=make_scorer(share_of_right), **options
    )
    # The rate of a scorer is a mean over random draws of y, and that of accuracy a mean over all pairs.
    assert found.no_information == pytest.approx(known.no_information, rel=0.05)
    assert found.value == pytest.approx(known.value, rel=0.05)


def test_a_metric_function_receives_weights_on_the_same_scale_in_all_calls():
    totals = set()

    def total(y, decision, weights):
        totals.add(weights.sum())
        return 1.0

    bootstrap_error(GaussianNB(), X, Y, 3, kind="plain", scoring=total, random_state=0, runner="serial")
    # All rows have the weight 1, so out-of-bag rows have a smaller total weight.
    assert max(totals) == 60
    assert min(totals) >= 10


def test_point_632_plus_without_a_no_information_rate_raises_an_error():
    def unknown(y, decision, weights):
        return 0.5 if (y == Y).all() else np.nan

    with pytest.raises(ValueError, match=r'unknown has no value for y that .* Set kind="\.632"'):
        bootstrap_error(GaussianNB(), X, Y, 3, scoring=unknown, random_state=0)
    assert bootstrap_error(GaussianNB(), X, Y, 3, kind=".632", scoring=unknown, random_state=0).value == 0.5


def test_point_632_plus_detects_an_estimator_that_memorises_y():
    rng = np.random.default_rng(0)
    noise, coins = rng.normal(size=(80, 2)), rng.integers(2, size=80)
    found = bootstrap_error(KNeighborsClassifier(1), noise, coins, 40, random_state=0)
    assert found.apparent == 0
    assert found.plain < 0.3
    assert found.point_632 < 0.4
    # .632+ was designed for this case.
    assert found.value > 0.42


def test_all_estimates_are_equal_for_a_constant_prediction():
    found = bootstrap_error(DummyClassifier(strategy="constant", constant=1), X, Y, 40, random_state=0)
    assert found.plain == pytest.approx(found.apparent)
    assert found.out_of_bag == pytest.approx(found.apparent)
    assert found.no_information == pytest.approx(found.apparent)


def test_estimates_do_not_depend_on_the_order_of_the_rows():
    estimator, order = DecisionTreeClassifier(max_depth=2, random_state=0), np.arange(60)[::-1]
    one, other = (
        bootstrap_error(estimator, X[rows], Y[rows], 10, random_state=0) for rows in (order, order[::-1])
    )
    assert one.out_of_bag == pytest.approx(other.out_of_bag) and one.plain == pytest.approx(other.plain)


def test_bags_are_drawn_as_in_bagging():
    weights = np.arange(60) % 3
    bagged = Bagged.of(GaussianNB(), X, Y, 5, weights, 0)
    assert len(bagged.rows(0)) == len(bagged.rows(1)) == weights.sum()
    assert set(bagged.rows(1)) <= set(np.flatnonzero(weights))
    np.testing.assert_array_equal(np.bincount(bagged.rows(3), minlength=60), bagged.bags.draw(bagged.seed, 3))


@pytest.mark.parametrize("metric", ["roc_auc_ovr_weighted", "balanced_accuracy", "roc_auc_ovr", "f1_macro"])
def test_metrics_that_are_not_means_over_rows_are_computed_for_each_bag(metric):
    estimator = GaussianNB()
    found = bootstrap_error(estimator, X, Y, 8, scoring=metric, random_state=0)
    bagged = Bagged.of(estimator, X, Y, 8, None, 0)
    plain, outside = [], []
    for number in range(1, 9):
        rows = bagged.rows(number)
        votes = clone(estimator).fit(X[rows], Y[rows]).predict_proba(X)
        is_outside = ~np.isin(np.arange(60), rows)
        plain.append(score(Y, votes, scoring=metric))
        outside.append(score(Y[is_outside], votes[is_outside], scoring=metric))
    assert found.plain == pytest.approx(np.mean(plain))
    assert found.out_of_bag == pytest.approx(np.mean(outside))
    assert found.apparent == pytest.approx(score(Y, GaussianNB().fit(X, Y).predict_proba(X), scoring=metric))
    low, high = sorted([found.apparent, found.out_of_bag])
    assert low <= found.point_632_plus <= high
    interval = found.interval(B=10, random_state=0)
    assert interval.low < found.value < interval.high


@pytest.mark.parametrize("metric", ["accuracy", "f1_macro"])
def test_an_interval_reports_progress_and_does_not_depend_on_the_runner(metric):
    found = bootstrap_error(GaussianNB(), X, Y, 4, scoring=metric, random_state=0)
    wanted = {"kind": "bca", "B": 20, "random_state": 0}
    events = []
    with receiving(events.append):
        expected = found.interval(**wanted, runner="serial")
    draws = [event for event in events if event.what == "draws"]
    assert {event.n_total for event in draws} == {80} and draws[-1].n_done == 80
    for where in ({"n_jobs": 2}, {"runner": "processes", "n_jobs": 2}):
        assert found.interval(**wanted, **where) == expected


@pytest.mark.parametrize("kind", ["out_of_bag", "plain", ".632", ".632+"])
def test_an_interval_computes_only_the_errors_that_its_estimate_needs(kind):
    calls = []

    def counting(y, decision, weights):
        calls.append(weights)
        return 0.5

    found = bootstrap_error(
        GaussianNB(), X, Y, 4, kind=kind, scoring=counting, random_state=0, runner="serial"
    )
    calls.clear()
    found.interval(B=10, random_state=0, runner="serial")
    assert len(calls) == (4 + kind.startswith(".")) * 11


@pytest.mark.parametrize("metric", ["accuracy", "roc_auc_ovr_weighted", "f1_macro"])
def test_a_bootstrap_error_can_be_pickled(metric):
    found = bootstrap_error(GaussianNB(), X, Y, 4, scoring=metric, random_state=0)
    interval = found.interval(B=5, random_state=0)
    again = pickle.loads(pickle.dumps(found))
    assert again == found
    assert again.interval(B=5, random_state=0) == interval


def test_the_accuracy_is_one_minus_the_error():
    error = bootstrap_error(GaussianNB(), X, Y, 10, kind="plain", random_state=0)
    accuracy = bootstrap_error(GaussianNB(), X, Y, 10, kind="plain", scoring="accuracy", random_state=0)
    assert accuracy.value == pytest.approx(1 - error.value)


def test_a_function_may_be_the_metric():
    def share_of_the_first(y, decision, weights):
        return decision[:, 0] @ weights / weights.sum()

    found = bootstrap_error(GaussianNB(), X, Y, 4, scoring=share_of_the_first, random_state=0)
    assert found.scoring == "share_of_the_first"
    assert found.apparent == pytest.approx(GaussianNB().fit(X, Y).predict_proba(X)[:, 0].mean())


def test_results_do_not_depend_on_the_runner_and_the_number_of_jobs():
    # The random_state of the tree is None, so a seed is drawn for each bag.
    estimator = DecisionTreeClassifier(max_features=1)
    expected = bootstrap_error(estimator, X, Y, 6, random_state=7, runner="serial")
    for options in ({"n_jobs": 1}, {"n_jobs": 2}, {"runner": "processes", "n_jobs": 2}):
        assert bootstrap_error(estimator, X, Y, 6, random_state=7, **options) == expected
    whole = bias_variance(estimator, X, Y, B=6, random_state=7, runner="serial")
    assert bias_variance(estimator, X, Y, B=6, random_state=7, n_jobs=2) == whole


def test_labels_frames_and_pipelines_are_supported():
    expected = bootstrap_error(GaussianNB(), X, Y, 5, random_state=0)
    names = [f"x{column}" for column in range(4)]
    for table in (pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)):
        found = bootstrap_error(
            make_pipeline(StandardScaler(), GaussianNB()), table, LABELS, 5, random_state=0
        )
        assert found.value == pytest.approx(expected.value)


def test_integer_weights_equal_repetitions_of_rows():
    weights = np.tile([0, 1, 2], 20)
    rows = np.repeat(np.arange(60), weights)
    weighed = bootstrap_error(GaussianNB(), X, Y, 10, sample_weight=weights, random_state=0)
    repeated = bootstrap_error(GaussianNB(), X[rows], Y[rows], 10, random_state=0)
    assert weighed.plain == pytest.approx(repeated.plain)
    assert weighed.apparent == pytest.approx(repeated.apparent)
    # If repetitions were separate rows, 1-NN could predict an out-of-bag row from its copy in the bag.
    nearest = KNeighborsClassifier(1)
    twice = np.full(60, 2)
    alone = bootstrap_error(nearest, X, Y, 20, sample_weight=twice, random_state=0)
    copied = bootstrap_error(nearest, np.repeat(X, 2, axis=0), np.repeat(Y, 2), 20, random_state=0)
    assert alone.plain == pytest.approx(copied.plain)
    assert alone.out_of_bag > copied.out_of_bag + 0.02
    only = weights.clip(max=1)
    without = bootstrap_error(GaussianNB(), X[only > 0], Y[only > 0], 10, random_state=0)
    found = bootstrap_error(GaussianNB(), X, Y, 10, sample_weight=only, random_state=0)
    for name in ("value", "plain", "out_of_bag", "apparent", "no_information"):
        assert getattr(found, name) == pytest.approx(getattr(without, name))


def test_estimates_do_not_depend_on_the_scale_of_other_weights():
    weights = np.random.default_rng(0).random(60)
    once = bootstrap_error(GaussianNB(), X, Y, 10, sample_weight=weights, random_state=0)
    again = bootstrap_error(GaussianNB(), X, Y, 10, sample_weight=64 * weights, random_state=0)
    assert again.value == pytest.approx(once.value)
    assert once.value != bootstrap_error(GaussianNB(), X, Y, 10, random_state=0).value


def test_a_model_of_a_bag_with_a_single_class_votes_for_this_class():
    # Most bags of three rows have a single class, on which logistic regression raises an error.
    found = bootstrap_error(LogisticRegression(), [[0.0], [1.0], [2.0]], ["a", "a", "b"], 10, random_state=0)
    assert 0 < found.plain < 1


def test_progress_and_failures_name_the_bag():
    events = []
    with receiving(events.append):
        bootstrap_error(GaussianNB(), X, Y, 3, random_state=0, n_jobs=1)
    assert [event.n_done for event in events if event.what == "bags"] == [0, 1, 2, 3, 4, 4]

    message = r"^Task 0, 'bag 0', failed\. Failing, on {}, cannot be fitted\. ValueError: I cannot\.$"
    with pytest.raises(ValueError, match=message.format("all rows")):
        bootstrap_error(Failing(), X, Y, 3, runner="serial")
    with pytest.raises(ValueError, match=message.format("bag 1")):
        bias_variance(Failing(), X, Y, B=3, runner="serial")


def test_bias_and_variance_do_not_fit_on_all_rows():
    events = []
    with receiving(events.append):
        bias_variance(GaussianNB(), X, Y, B=3, random_state=0, n_jobs=1)
    assert {event.n_total for event in events if event.what == "bags"} == {3}


class Failing(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        raise ValueError("I\n cannot.")


def test_bias_and_variance_of_classes_equal_a_slow_reference():
    estimator = DecisionTreeClassifier(random_state=0)
    test, answers = X[40:], Y[40:]
    found = bias_variance(estimator, X[:40], Y[:40], test, answers, B=15, random_state=2)
    bagged = Bagged.of(estimator, X[:40], Y[:40], 15, None, 2)
    predicted = np.array(
        [clone(estimator).fit(X[rows], Y[rows]).predict(test) for rows in map(bagged.rows, range(1, 16))]
    )
    bias, variance, unbiased, biased = [], [], [], []
    for row, answer in enumerate(answers):
        main = np.bincount(predicted[:, row]).argmax()
        bias.append(main != answer)
        variance.append(np.mean(predicted[:, row] != main))
        unbiased.append(variance[-1] if main == answer else 0)
        # Domingos' factor is the share of right predictions among those that differ from the main one.
        others = predicted[predicted[:, row] != main, row]
        factor = np.mean(others == answer) if len(others) else 0
        biased.append(variance[-1] * factor if main != answer else 0)
    assert found.loss == "error"
    assert found.error == pytest.approx(np.mean(predicted != answers))
    assert found.bias == pytest.approx(np.mean(bias))
    assert found.variance == pytest.approx(np.mean(variance))
    assert found.unbiased_variance == pytest.approx(np.mean(unbiased))
    assert found.biased_variance == pytest.approx(np.mean(biased))
    assert found.error == pytest.approx(found.bias + found.net_variance)


def test_bias_and_variance_of_numbers_equal_a_slow_reference():
    estimator = DecisionTreeRegressor(random_state=0)
    test, answers = NUMBERS_X[30:], NUMBERS[30:]
    found = bias_variance(estimator, NUMBERS_X[:30], NUMBERS[:30], test, answers, B=15, random_state=2)
    bagged = Bagged.of(estimator, NUMBERS_X[:30], NUMBERS[:30], 15, None, 2)
    predicted = np.array(
        [
            clone(estimator).fit(NUMBERS_X[rows], NUMBERS[rows]).predict(test)
            for rows in map(bagged.rows, range(1, 16))
        ]
    )
    assert found.error == pytest.approx(np.square(predicted - answers).mean())
    assert found.bias == pytest.approx(np.square(predicted.mean(axis=0) - answers).mean())
    assert found.variance == pytest.approx(predicted.var(axis=0).mean()) == pytest.approx(found.net_variance)
    assert found.error == pytest.approx(found.bias + found.variance)
    assert (found.loss, found.biased_variance, found.n_bags) == ("squared_error", 0, 15)


@pytest.mark.parametrize(
    ("estimator", "X", "y"),
    [
        (DecisionTreeClassifier(), X, LABELS),
        (GaussianNB(), X, (Y > 0).astype(int)),
        (DecisionTreeRegressor(), NUMBERS_X, NUMBERS),
    ],
)
def test_the_out_of_bag_error_is_the_sum_of_bias_and_net_variance(estimator, X, y):
    weights = np.random.default_rng(0).random(len(y))
    found = bias_variance(estimator, X, y, B=30, sample_weight=weights, random_state=0)
    assert found.error == pytest.approx(found.bias + found.net_variance)
    kind = {"kind": "out_of_bag", "sample_weight": weights, "random_state": 0}
    assert found.error == pytest.approx(bootstrap_error(estimator, X, y, 30, **kind).value)


def test_for_two_classes_variance_is_the_sum_of_unbiased_and_biased_variance():
    found = bias_variance(
        DecisionTreeClassifier(random_state=0), X, (Y > 0).astype(int), B=30, random_state=0
    )
    assert found.variance == pytest.approx(found.unbiased_variance + found.biased_variance)


def test_a_constant_prediction_has_no_variance():
    found = bias_variance(DummyClassifier(strategy="constant", constant="a"), X, LABELS, B=40, random_state=0)
    assert found.variance == found.net_variance == 0
    assert found.bias == found.error == pytest.approx(np.mean(LABELS != "a"))
    assert bias_variance(DummyRegressor(strategy="constant", constant=1.0), [[1], [2]], [1, 3], B=20).bias > 0


def test_bias_and_variance_of_probabilities_equal_a_slow_reference():
    estimator = GaussianNB()
    found = bias_variance(estimator, X, LABELS, B=25, loss="brier", random_state=0)
    bagged = Bagged.of(estimator, X, LABELS, 25, None, 0)
    truth, parts = np.eye(3)[Y], []
    voted = [
        clone(estimator).fit(X[rows], Y[rows]).predict_proba(X) for rows in map(bagged.rows, range(1, 26))
    ]
    for row in range(60):
        votes = np.array([voted[i][row] for i in range(25) if row not in bagged.rows(i + 1)])
        main = votes.mean(axis=0)
        error, variance = (np.square(votes - each).sum(axis=1).mean() for each in (truth[row], main))
        parts.append([error, np.square(main - truth[row]).sum(), variance])
    assert [found.error, found.bias, found.variance] == pytest.approx(np.mean(parts, axis=0).tolist())
    assert found.loss == "brier" and found.error == pytest.approx(found.bias + found.net_variance)


@pytest.mark.parametrize("metric", ["neg_log_loss", "neg_brier_score", "neg_calibration_error"])
def test_metrics_and_losses_of_probabilities_require_predict_proba(metric):
    with pytest.raises(ValueError, match=f"Failing has no predict_proba, and the metric {metric} is about"):
        bootstrap_error(Failing(), X, Y == 0, 3, scoring=metric)
    with pytest.raises(ValueError, match="Failing has no predict_proba, and the loss 'brier' is about"):
        bias_variance(Failing(), X, Y, loss="brier")


@pytest.mark.parametrize("metric", ["roc_auc_ovr_weighted", "roc_auc", "f1", "accuracy"])
def test_other_metrics_do_not_require_predict_proba(metric):
    assert 0 <= bootstrap_error(RidgeClassifier(), X, Y == 0, 3, scoring=metric, random_state=0).value <= 1


def test_a_test_table_with_other_columns_raises_an_error_before_any_fit():
    with pytest.raises(ValueError, match=r"^X_test does not fit X\. X has 3 features, but 4 were fitted\.$"):
        bias_variance(Failing(), X, Y, X[:, :3], Y)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"estimator": "tree"}, "estimator must be a classifier or a regressor. Got 'tree'"),
        ({"estimator": StandardScaler()}, "estimator must be a classifier or a regressor"),
        ({"estimator": GaussianNB}, "estimator must be a classifier or a regressor"),
        ({"y": Y[:5]}, "inconsistent numbers of samples"),
        ({"y": np.zeros(60, dtype=int)}, r"y must have at least two classes. Got \[0\]"),
        ({"B": 1}, "B must be an integer >= 2. Got 1"),
        ({"sample_weight": -np.ones(60)}, "sample_weight must be >= 0"),
        (
            {"estimator": KNeighborsClassifier(), "sample_weight": np.linspace(0.1, 1, 60)},
            "KNeighborsClassifier does not accept sample_weight, and only small integer weights can",
        ),
        ({"runner": "cloud"}, 'runner must be "serial"'),
        ({"random_state": "x"}, "random_state must be an integer"),
    ],
)
@pytest.mark.parametrize("function", [bootstrap_error, bias_variance])
def test_invalid_input_raises_an_error(function, change, message):
    given = {"estimator": GaussianNB(), "X": X, "y": Y, **change}
    with pytest.raises(ValueError, match=message):
        function(given.pop("estimator"), given.pop("X"), given.pop("y"), **given)


def test_invalid_options_raise_an_error():
    with pytest.raises(ValueError, match='kind must be "plain", "out_of_bag"'):
        bootstrap_error(GaussianNB(), X, Y, kind="632")
    with pytest.raises(ValueError, match="The metric 'roc_auc_ovr_weighted' is for classification"):
        bootstrap_error(LinearRegression(), NUMBERS_X, NUMBERS, scoring="roc_auc_ovr_weighted")
    # The fit of Failing would raise another error.
    for metric in (lambda estimator, X, y: estimator.score(X, y), lambda y, decision: 0.0):
        with pytest.raises(
            ValueError, match=r"^The metric <lambda> fails \(.* A function gets y, a decision"
        ):
            bootstrap_error(Failing(), X, Y, scoring=metric)
    with pytest.raises(ValueError, match=r"^loss must be 'error', .* None for classification\. Got 'mae'"):
        bias_variance(GaussianNB(), X, Y, loss="mae")
    with pytest.raises(ValueError, match=r"^loss must be 'squared_error' or None for reg.* Got 'brier'"):
        bias_variance(LinearRegression(), NUMBERS_X, NUMBERS, loss="brier")
    with pytest.raises(ValueError, match="X_test and y_test must be passed together"):
        bias_variance(GaussianNB(), X, Y, X)
    with pytest.raises(ValueError, match=r"y_test has the classes \['d'\], which the fit did not see"):
        bias_variance(GaussianNB(), X, LABELS, X[:1], ["d"])
    for function in (bootstrap_error, bias_variance):
        with pytest.raises(ValueError, match="Every row is in every bag"):
            function(DummyRegressor(), [[1.0]], [1.0], B=3)
