"""The fixed rules on the worked examples of the lecture notes, and what holds for all votes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from committee.rules import majority, mean, one_hot

THREE_MEMBERS = np.array([[[0.2, 0.8]], [[0.6, 0.4]], [[0.7, 0.3]]])
FIVE_LABELS = np.array([[1], [2], [1], [2], [2]]) - 1


def some_votes():
    shapes = st.tuples(st.integers(1, 6), st.integers(1, 4), st.integers(2, 4))
    return shapes.flatmap(lambda shape: arrays(np.float64, shape, elements=st.floats(0.01, 1)))


def test_mean_of_two_that_agree_and_one_that_does_not():
    votes = [[[0.2, 0.8]], [[0.7, 0.3]], [[0.7, 0.3]]]
    np.testing.assert_allclose(mean(votes), [[0.53, 0.47]], atol=0.005)


def test_mean_of_three_is_a_tie():
    np.testing.assert_allclose(mean(THREE_MEMBERS), [[0.5, 0.5]])


@pytest.mark.parametrize(
    ("weights", "expected"), [([0.7, 0.2, 0.1], [0.33, 0.67]), ([0.2, 0.3, 0.5], [0.57, 0.43])]
)
def test_weighted_mean(weights, expected):
    np.testing.assert_allclose(mean(THREE_MEMBERS, weights), [expected], atol=1e-12)


def test_majority_counts_labels():
    np.testing.assert_allclose(5 * majority(one_hot(FIVE_LABELS, 2)), [[2, 3]])


@pytest.mark.parametrize(
    ("weights", "expected"),
    [([0.1, 0.2, 0.2, 0.3, 0.2], [0.3, 0.7]), ([0.4, 0.2, 0.2, 0.1, 0.1], [0.6, 0.4])],
)
def test_weighted_majority(weights, expected):
    np.testing.assert_allclose(majority(one_hot(FIVE_LABELS, 2), weights), [expected], atol=1e-12)


def test_a_member_in_doubt_votes_for_the_first_class():
    np.testing.assert_array_equal(majority([[[0.5, 0.5]]]), [[1, 0]])


def test_one_hot_keeps_the_shape_of_the_labels():
    np.testing.assert_array_equal(one_hot([[2, 0]], 3), [[[0, 0, 1], [1, 0, 0]]])


@given(some_votes())
def test_permuting_members_changes_nothing(votes):
    for rule in (mean, majority):
        np.testing.assert_allclose(rule(votes[::-1]), rule(votes), rtol=1e-12)


@given(some_votes())
def test_a_member_of_weight_two_is_the_member_twice(votes):
    weights = np.ones(len(votes))
    weights[0] = 2
    for rule in (mean, majority):
        np.testing.assert_allclose(rule(np.concatenate([votes[:1], votes])), rule(votes, weights), rtol=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: mean([[0.5, 0.5]]), "votes must have the shape .*n_members, n_rows, n_outputs"),
        (lambda: mean(THREE_MEMBERS, [1, 2]), "weights must be one number for each of 3 members"),
        (lambda: mean(THREE_MEMBERS, [0, 0, 0]), "weights must be finite, >= 0 and not all 0"),
        (lambda: one_hot([1, 2], 2), "labels must be integers from 0 to 1"),
    ],
)
def test_bad_votes_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
