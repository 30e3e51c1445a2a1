"""Test bootstrap confidence intervals: comparisons with scipy, and invariants."""

import numpy as np
import pytest
from scipy import stats

from committee.evaluating import score, score_interval
from committee.evaluating.resampling.confidence_intervals import Draws, Interval, bounds_of

rng = np.random.default_rng(3)
DECISION = rng.dirichlet([1.0, 1.5], 80)
Y = (rng.random(80) < DECISION[:, 1]).astype(int)


@pytest.mark.parametrize(("kind", "method"), [("percentile", "percentile"), ("bca", "BCa")])
def test_bounds_equal_those_of_scipy_for_the_same_bootstrap_samples(kind, method):
    sample = rng.exponential(size=40)
    draws = Draws.of(np.ones(40), 0)
    drawn = np.array([sample[draws.rows(number)].mean() for number in range(500)])
    left = np.array(
        [sample[draws.jackknife_weights(number) > 0].mean() for number in range(draws.n_left_out)]
    )
    found = bounds_of(sample.mean(), drawn, left, kind=kind, level=0.9)

    of_scipy = stats.bootstrap((sample,), np.mean, n_resamples=9, random_state=0)
    of_scipy.bootstrap_distribution = drawn
    expected = stats.bootstrap(
        (sample,), np.mean, n_resamples=0, bootstrap_result=of_scipy, method=method, confidence_level=0.9
    ).confidence_interval
    np.testing.assert_allclose([found.low, found.high], [expected.low, expected.high], rtol=1e-12)
    assert (found.value, found.level, found.kind) == (sample.mean(), 0.9, kind)


def test_bounds_of_an_array_equal_the_bounds_of_each_element():
    drawn, left = rng.random((200, 2, 3)), rng.random((30, 2, 3))
    value = np.full((2, 3), 0.4)
    every = bounds_of(value, drawn, left, kind="bca", level=0.8)
    for at in np.ndindex(2, 3):
        one = bounds_of(0.4, drawn[:, *at], left[:, *at], kind="bca", level=0.8)
        assert (every.low[at], every.high[at]) == (one.low, one.high)


def test_a_missing_element_in_a_jackknife_sample_does_not_affect_other_elements():
    drawn, left = rng.random((200, 2)), rng.random((30, 2)) ** 3
    whole = bounds_of(np.full(2, 0.4), drawn, left, kind="bca", level=0.8)
    left[:20, 1] = np.nan
    part = bounds_of(np.full(2, 0.4), drawn, left, kind="bca", level=0.8)
    assert (part.low[0], part.high[0]) == (whole.low[0], whole.high[0])
    assert part.low[1] != whole.low[1]


def test_intervals_of_arrays_can_be_printed_and_compared():
    several = [Interval(np.array([0.5, 2.0]), np.array([0.25, 1.0]), np.array([0.75, 3.0]), 0.95, "bca")]
    several.append(
        Interval(*(np.array(each) for each in ([0.5, 2.0], [0.25, 1.0], [0.75, 3.0])), 0.95, "bca")
    )
    assert str(several[0]) == "0.5 [0.25, 0.75]\n2 [1, 3]"
    assert several[0] == several[1]
    assert several[0] != Interval(0.5, 0.25, 0.75, 0.95, "bca")
    assert Interval(0.5, 0.25, 0.75, 0.95, "bca") != Interval(0.5, 0.25, 0.75, 0.95, "percentile")


@pytest.mark.parametrize("kind", ["percentile", "bca"])
@pytest.mark.parametrize("metric", ["accuracy", "roc_auc", "neg_log_loss", "f1"])
def test_the_interval_of_a_score_contains_it_and_is_the_same_for_the_same_seed(kind, metric):
    options = {"kind": kind, "B": 60, "random_state": 5}
    found = score_interval(Y, DECISION, scoring=metric, **options)
    assert found.value == pytest.approx(score(Y, DECISION, scoring=metric))
    assert found.low < found.value < found.high
    assert found == score_interval(Y, DECISION, scoring=metric, **options)
    narrow = score_interval(Y, DECISION, scoring=metric, **options, level=0.5)
    assert found.low < narrow.low < narrow.high < found.high


def test_the_interval_of_an_accuracy_equals_the_quantiles_of_the_binomial_distribution():
    right = np.repeat([1, 0], [300, 100])
    found = score_interval(np.ones(400, dtype=int), right, scoring="accuracy", B=2000, random_state=0)
    expected = stats.binom(400, 0.75).ppf([0.025, 0.975]) / 400
    np.testing.assert_allclose([found.low, found.high], expected, atol=0.006)


@pytest.mark.parametrize("kind", ["percentile", "bca"])
def test_a_decision_without_errors_has_an_interval_of_width_0(kind):
    found = score_interval([1, 0, 1], [1, 0, 1], scoring="accuracy", kind=kind, B=50)
    assert (found.low, found.value, found.high) == (1.0, 1.0, 1.0)


def test_small_integer_weights_equal_repetitions_of_rows():
    weights = rng.integers(0, 4, 80)
    rows = np.repeat(np.arange(80), weights)
    weighed = score_interval(
        Y, DECISION, scoring="roc_auc", sample_weight=weights, kind="bca", B=50, random_state=1
    )
    repeated = score_interval(Y[rows], DECISION[rows], scoring="roc_auc", kind="bca", B=50, random_state=1)
    np.testing.assert_allclose([weighed.low, weighed.high], [repeated.low, repeated.high], rtol=1e-12)


def test_the_interval_does_not_depend_on_the_scale_of_other_weights():
    weights = rng.random(80)
    once = score_interval(Y, DECISION, scoring="neg_brier_score", sample_weight=weights, B=50, random_state=1)
    again = score_interval(
        Y, DECISION, scoring="neg_brier_score", sample_weight=weights * 1000, B=50, random_state=1
    )
    np.testing.assert_allclose([once.low, once.high], [again.low, again.high], rtol=1e-12)


def test_bootstrap_samples_on_which_the_metric_has_no_value_are_ignored():
    # The metric has no value on bootstrap samples of a single class.
    decision = [[0.9, 0.1], [0.2, 0.8], [0.3, 0.7]]
    found = score_interval([0, 1, 1], decision, scoring="roc_auc", B=50, random_state=0)
    assert (found.low, found.high) == (1.0, 1.0)
    with pytest.raises(ValueError, match="The estimate has no value on these rows"):
        score_interval([1, 1, 1], decision, scoring="roc_auc", B=50)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "basic"}, 'kind must be "percentile" or "bca". Got \'basic\'.'),
        ({"level": 95}, "level must be a number above 0 and below 1. Got 95."),
        ({"B": 1}, "B must be an integer >= 2. Got 1."),
        ({"random_state": "x"}, "random_state must be an integer, a RandomState or None. Got 'x'."),
    ],
)
def test_invalid_options_raise_an_error_of_one_line(options, message):
    with pytest.raises(ValueError) as caught:
        score_interval(Y, DECISION, **options)
    assert str(caught.value) == message


def test_the_interval_of_a_stack_of_decisions_raises_an_error():
    with pytest.raises(ValueError, match="score_interval takes one decision"):
        score_interval(Y, DECISION[None])


def test_a_single_row_has_an_interval_of_width_0():
    found = score_interval([0], [1], scoring="accuracy", kind="bca", B=10)
    assert (found.low, found.value, found.high) == (0.0, 0.0, 0.0)
