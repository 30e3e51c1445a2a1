"""Confidence intervals by rows that are drawn again: as scipy has them, and what holds for all of them."""

import numpy as np
import pytest
from scipy import stats

from committee.evaluating import score, score_interval
from committee.evaluating.resampling.confidence_intervals import Draws, Interval, bounds_of

rng = np.random.default_rng(3)
DECISION = rng.dirichlet([1.0, 1.5], 80)
Y = (rng.random(80) < DECISION[:, 1]).astype(int)


@pytest.mark.parametrize(("kind", "method"), [("percentile", "percentile"), ("bca", "BCa")])
def test_bounds_are_those_of_scipy_on_the_same_draws(kind, method):
    sample = rng.exponential(size=40)
    draws = Draws.of(np.ones(40), 0)
    drawn = np.array([sample[draws.rows(number)].mean() for number in range(500)])
    left = np.array([sample[draws.row_weights_left(number) > 0].mean() for number in range(draws.n_left_out)])
    ours = bounds_of(sample.mean(), drawn, left, kind=kind, level=0.9)

    there = stats.bootstrap((sample,), np.mean, n_resamples=9, random_state=0)
    there.bootstrap_distribution = drawn
    theirs = stats.bootstrap(
        (sample,), np.mean, n_resamples=0, bootstrap_result=there, method=method, confidence_level=0.9
    ).confidence_interval
    np.testing.assert_allclose([ours.low, ours.high], [theirs.low, theirs.high], rtol=1e-12)
    assert (ours.value, ours.level, ours.kind) == (sample.mean(), 0.9, kind)


def test_bounds_of_several_numbers_are_those_of_each():
    drawn, left = rng.random((200, 2, 3)), rng.random((30, 2, 3))
    value = np.full((2, 3), 0.4)
    every = bounds_of(value, drawn, left, kind="bca", level=0.8)
    for at in np.ndindex(2, 3):
        one = bounds_of(0.4, drawn[:, *at], left[:, *at], kind="bca", level=0.8)
        assert (every.low[at], every.high[at]) == (one.low, one.high)


def test_a_left_out_row_without_one_number_counts_for_the_others():
    drawn, left = rng.random((200, 2)), rng.random((30, 2)) ** 3
    whole = bounds_of(np.full(2, 0.4), drawn, left, kind="bca", level=0.8)
    left[:20, 1] = np.nan
    part = bounds_of(np.full(2, 0.4), drawn, left, kind="bca", level=0.8)
    assert (part.low[0], part.high[0]) == (whole.low[0], whole.high[0])
    assert part.low[1] != whole.low[1]


def test_intervals_of_several_numbers_are_printed_and_compared():
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
def test_the_interval_of_a_score_holds_it_and_is_the_same_for_the_same_seed(kind, metric):
    options = {"kind": kind, "B": 60, "random_state": 5}
    found = score_interval(Y, DECISION, scoring=metric, **options)
    assert found.value == pytest.approx(score(Y, DECISION, scoring=metric))
    assert found.low < found.value < found.high
    assert found == score_interval(Y, DECISION, scoring=metric, **options)
    narrow = score_interval(Y, DECISION, scoring=metric, **options, level=0.5)
    assert found.low < narrow.low < narrow.high < found.high


def test_the_interval_of_an_error_is_as_wide_as_the_binomial_distribution_says():
    right = np.repeat([1, 0], [300, 100])
    found = score_interval(np.ones(400, dtype=int), right, scoring="accuracy", B=2000, random_state=0)
    expected = stats.binom(400, 0.75).ppf([0.025, 0.975]) / 400
    np.testing.assert_allclose([found.low, found.high], expected, atol=0.006)


@pytest.mark.parametrize("kind", ["percentile", "bca"])
def test_a_decision_without_an_error_has_an_interval_of_no_width(kind):
    found = score_interval([1, 0, 1], [1, 0, 1], scoring="accuracy", kind=kind, B=50)
    assert (found.low, found.value, found.high) == (1.0, 1.0, 1.0)


def test_small_whole_weights_are_rows_that_many_times():
    weights = rng.integers(0, 4, 80)
    rows = np.repeat(np.arange(80), weights)
    weighed = score_interval(
        Y, DECISION, scoring="roc_auc", sample_weight=weights, kind="bca", B=50, random_state=1
    )
    repeated = score_interval(Y[rows], DECISION[rows], scoring="roc_auc", kind="bca", B=50, random_state=1)
    np.testing.assert_allclose([weighed.low, weighed.high], [repeated.low, repeated.high], rtol=1e-12)


def test_other_weights_go_along_with_their_row_whatever_their_scale():
    weights = rng.random(80)
    once = score_interval(Y, DECISION, scoring="neg_brier_score", sample_weight=weights, B=50, random_state=1)
    again = score_interval(
        Y, DECISION, scoring="neg_brier_score", sample_weight=weights * 1000, B=50, random_state=1
    )
    np.testing.assert_allclose([once.low, once.high], [again.low, again.high], rtol=1e-12)


def test_rows_drawn_again_without_a_value_are_left_out():
    # Of two rows, half of the draws have both classes.
    decision = [[0.9, 0.1], [0.2, 0.8], [0.3, 0.7]]
    found = score_interval([0, 1, 1], decision, scoring="roc_auc", B=50, random_state=0)
    assert (found.low, found.high) == (1.0, 1.0)
    with pytest.raises(ValueError, match="The number has no value on these rows"):
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
def test_bad_options_are_told_in_one_line(options, message):
    with pytest.raises(ValueError) as caught:
        score_interval(Y, DECISION, **options)
    assert str(caught.value) == message


def test_a_stack_of_votes_has_no_single_interval():
    with pytest.raises(ValueError, match="score_interval takes one decision"):
        score_interval(Y, DECISION[None])


def test_one_row_alone_has_an_interval_of_no_width():
    found = score_interval([0], [1], scoring="accuracy", kind="bca", B=10)
    assert (found.low, found.value, found.high) == (0.0, 0.0, 0.0)
