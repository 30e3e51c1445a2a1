"""Test the theory of majority votes: the numbers of the lecture notes, results by hand, and limits."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from committee import majority_vote_accuracy, majority_vote_forecast
from committee.evaluating import right_votes

accuracies = st.floats(0.05, 0.95)


@pytest.mark.parametrize(
    ("members", "p", "ties", "accuracy"),
    [
        (3, 0.6, "half", 0.648),
        (51, 0.6, "half", 0.9265),
        # The notes say "up to 75 %", so they count a tie as right.
        (1000, 0.51, "won", 0.7468),
        (1000, 0.51, "lost", 0.7261),
    ],
)
def test_accuracies_equal_those_of_the_lecture_notes(members, p, ties, accuracy):
    assert majority_vote_accuracy(members, p, ties=ties) == pytest.approx(accuracy, abs=5e-5)


def test_probabilities_for_three_trees_equal_those_of_the_lecture_notes():
    np.testing.assert_allclose(right_votes(3, 0.6), [0.064, 0.288, 0.432, 0.216])


@pytest.mark.parametrize(
    ("right", "chance", "printed"),
    [(51, 4.8497e-12, 1e-16), (50, 1.6489e-10, 1e-14), (26, 0.0476, 5e-5), (0, 5.0706e-21, 1e-25)],
)
def test_probabilities_for_51_trees_equal_those_of_the_lecture_notes(right, chance, printed):
    assert right_votes(51, 0.6)[right] == pytest.approx(chance, abs=printed)
    assert right_votes(51, [0.6] * 51)[right] == pytest.approx(chance, abs=printed)


@given(st.integers(1, 2000), st.just(0.0) | st.floats(1e-300, 1))
def test_equal_members_are_binomial(n, p):
    expected = stats.binom(n, p).pmf(np.arange(n + 1))
    np.testing.assert_allclose(right_votes(n, p), expected, rtol=1e-9, atol=1e-300)


@given(st.lists(accuracies, min_size=1, max_size=6))
def test_probabilities_of_unequal_members_equal_a_sum_over_all_outcomes(p):
    expected = np.zeros(len(p) + 1)
    for right in itertools.product([0, 1], repeat=len(p)):
        expected[sum(right)] += np.prod(np.where(right, p, 1 - np.array(p)))
    np.testing.assert_allclose(right_votes(len(p), p), expected, atol=1e-12)


def test_a_tie_counts_half_by_default():
    lost, half, won = (majority_vote_accuracy(2, 0.6, ties=ties) for ties in ("lost", "half", "won"))
    np.testing.assert_allclose([lost, half, won], [0.36, 0.6, 0.84])
    # If ties count half, a fourth member does not change the accuracy of three.
    assert majority_vote_accuracy(4, 0.6) == pytest.approx(majority_vote_accuracy(3, 0.6))


@given(st.integers(1, 30), st.floats(0.51, 0.95))
def test_accuracy_increases_with_the_number_of_members_that_are_better_than_chance(half, p):
    n = 2 * half + 1
    assert p <= majority_vote_accuracy(n, p) <= majority_vote_accuracy(n + 2, p) + 1e-12
    assert majority_vote_accuracy(n, 1 - p) == pytest.approx(1 - majority_vote_accuracy(n, p))


@given(st.integers(1, 40))
def test_members_that_guess_have_an_accuracy_of_one_half(n):
    assert majority_vote_accuracy(n, 0.5) == pytest.approx(0.5)


def test_the_accuracy_of_many_good_members_approaches_1():
    assert majority_vote_accuracy(10_001, 0.55) == pytest.approx(1)
    assert majority_vote_accuracy(3, [1, 1, 0]) == 1
    assert majority_vote_accuracy(1, 0.7) == pytest.approx(0.7)


@given(st.integers(2, 12), accuracies, st.floats(0.01, 0.95))
def test_the_beta_binomial_model_has_the_accuracy_and_the_correlation(n, p, between):
    chances = right_votes(n, p, correlation=between)
    right = np.arange(n + 1)
    mean = chances @ right
    variance = chances @ np.square(right - mean)
    ratio = 1 / between - 1
    np.testing.assert_allclose(chances, stats.betabinom(n, p * ratio, (1 - p) * ratio).pmf(right), atol=1e-9)
    assert chances.sum() == pytest.approx(1)
    assert mean == pytest.approx(n * p)
    assert variance == pytest.approx(n * p * (1 - p) * (1 + (n - 1) * between))


@given(st.integers(1, 12), accuracies)
def test_perfectly_correlated_members_are_as_accurate_as_one_member(n, p):
    assert majority_vote_accuracy(n, p, correlation=1) == pytest.approx(p)
    assert majority_vote_accuracy(n, p, correlation=1 - 1e-9) == pytest.approx(p, abs=1e-6)
    assert majority_vote_accuracy(n, p, correlation=1e-9) == pytest.approx(
        majority_vote_accuracy(n, p), abs=1e-6
    )


def test_the_forecast_of_kunchevas_pattern_of_success():
    # Three members of accuracy 0.6 and correlation -0.25. The vote is right on nine of ten rows.
    success = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1]]).repeat(3, axis=0)
    votes = np.vstack([success, [[0, 0, 0]]]).T
    found = majority_vote_forecast(votes, np.ones(10, dtype=int))
    assert found.observed == pytest.approx(2 * 0.6 * 3 / (3 + 1))
    assert found.correlation == pytest.approx(-0.25)
    assert found.mean_accuracy == pytest.approx(0.6)
    assert found.independent == pytest.approx(0.648)
    # The beta-binomial model does not support a negative correlation, so 0 is used.
    assert found.correlated == pytest.approx(0.648)


def test_the_forecast_for_simulated_members_equals_their_observed_accuracy():
    rng = np.random.default_rng(0)
    ease = stats.beta(0.7 * 4, 0.3 * 4).rvs(20_000, random_state=rng)  # The correlation is 1 / (1 + 4).
    votes = (rng.random((7, 20_000)) < ease).astype(int)
    found = majority_vote_forecast(votes, np.ones(20_000, dtype=int))
    assert found.correlation == pytest.approx(0.2, abs=0.01)
    assert found.correlated == pytest.approx(found.observed, abs=0.01)
    assert found.independent > found.observed + 0.05


def test_the_forecast_for_members_that_are_never_wrong():
    found = majority_vote_forecast([[1, 0], [1, 0]], [1, 0], sample_weight=[2, 1])
    assert np.isnan(found.correlation)
    assert found.independent == found.correlated == found.observed == 1


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((0, 0.6), {}, "n must be an integer >= 1, the number of members. Got 0."),
        ((3, 1.2), {}, "p must be from 0 to 1. Got 1.2."),
        ((3, [0.6, 0.7]), {}, "p must be one number, or one for each of 3 members. Got (2,)."),
        ((3, 0.6), {"ties": "first"}, 'ties must be "half", "won" or "lost". Got \'first\'.'),
        ((3, 0.6), {"correlation": 2}, "correlation must be a number from 0 to 1. Got 2."),
        ((3, 0.6), {"correlation": -0.1}, "correlation must be a number from 0 to 1. Got -0.1."),
        (
            (3, [0.6, 0.7, 0.8]),
            {"correlation": 0.1},
            "With a correlation, p must be one number for all members. Pass their mean.",
        ),
    ],
)
def test_invalid_input_raises_an_error_of_one_line(arguments, options, message):
    with pytest.raises(ValueError) as caught:
        majority_vote_accuracy(*arguments, **options)
    assert str(caught.value) == message
