"""Test error decompositions: results by hand, the bound and limit of the lecture notes, and invariants."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from committee import decompose, decompose_intervals, diversity, majority_vote_accuracy, score
from committee.rules import geometric_mean, majority, mean, one_hot

LOSSES = [("brier", "mean"), ("log_loss", "geometric_mean"), ("log_loss", "mean"), ("error", "majority")]
COMBINE = {"mean": mean, "geometric_mean": geometric_mean, "majority": majority}
SCORINGS = {"brier": "neg_brier_score", "log_loss": "neg_log_loss", "squared_error": "neg_mean_squared_error"}
every_loss = pytest.mark.parametrize(("loss", "rule"), [*LOSSES, ("error", "mean")])


def mean_loss(decision, y, loss, sample_weight=None):
    """Return the loss of a decision, computed from its score.

    For two classes, the Brier score is half of the Brier loss.
    """
    if loss == "error":
        return 1 - score(y, decision, scoring="accuracy", sample_weight=sample_weight)
    both_classes = loss == "brier" and decision.shape[-1] == 2
    return -score(y, decision, scoring=SCORINGS[loss], sample_weight=sample_weight) * (
        2 if both_classes else 1
    )


def number_votes():
    numbers = st.integers(-8, 8).map(lambda n: n / 4)
    return st.tuples(st.integers(1, 6), st.integers(1, 6)).flatmap(
        lambda shape: st.tuples(
            arrays(np.float64, shape, elements=numbers), arrays(np.float64, shape[1], elements=numbers)
        )
    )


def class_votes():
    shares = st.integers(0, 8).map(lambda n: n / 8)
    weights = st.integers(1, 3)
    return st.tuples(st.integers(1, 5), st.integers(1, 6), st.integers(2, 4)).flatmap(
        lambda shape: st.tuples(
            arrays(np.float64, shape, elements=shares).map(lambda votes: votes + 0.01),
            arrays(np.int64, shape[1], elements=st.integers(0, shape[2] - 1)),
            arrays(np.int64, shape[0], elements=weights),
            arrays(np.int64, shape[1], elements=weights),
        )
    )


def test_decomposition_of_two_numbers_by_hand():
    # The errors of the members are (-1, 1.5) and (1, -0.5). Their mean is (0, 0.5).
    found = decompose([[1.0, 4.0], [3.0, 2.0]], [2.0, 2.5])
    assert (found.loss, found.rule, found.n_members) == ("squared_error", "mean", 2)
    assert found.e_av == found.bound == (1 + 2.25 + 1 + 0.25) / 4
    assert found.e_com == 0.125
    assert found.ambiguity == 1.0
    assert found.limit == found.e_av / 2
    assert found.correlation == pytest.approx(-1)
    assert found.good_diversity is found.bad_diversity is None


def test_decomposition_of_two_classes_by_hand():
    # Three members vote on four rows of class 1.
    found = decompose([[1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 0, 0]], [1, 1, 1, 1])
    assert found.e_av == pytest.approx((0 + 1 + 2 + 3) / 12)
    assert found.e_com == 0.5
    assert found.good_diversity == pytest.approx((0 + 1 / 3) / 4)
    assert found.bad_diversity == pytest.approx((1 / 3 + 0) / 4)
    assert found.ambiguity == pytest.approx(0)
    assert found.bound == pytest.approx(2 * found.e_av)
    assert found.limit == pytest.approx(1 - majority_vote_accuracy(3, 0.5))


def test_uncorrelated_errors_of_mean_zero_reach_the_limit_of_the_lecture_notes():
    # The columns of a Hadamard matrix are orthogonal to each other and to a constant.
    errors = np.array([[1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]]) * [[1.0], [2.0], [3.0]]
    truth = np.array([5.0, -1.0, 0.0, 2.0])
    found = decompose(truth + errors, truth)
    assert found.e_av == pytest.approx((1 + 4 + 9) / 3)
    assert found.e_com == pytest.approx(found.e_av / 3) == pytest.approx(found.limit)
    assert found.correlation == pytest.approx(0, abs=1e-12)


def test_identical_members_have_no_ambiguity():
    votes = np.tile([[1.0, 3.0, -2.0]], (4, 1))
    found = decompose(votes, [0.0, 0.0, 0.0])
    assert found.e_com == pytest.approx(found.e_av)
    assert found.ambiguity == pytest.approx(0)
    assert found.correlation == pytest.approx(1)


@given(number_votes())
def test_for_numbers_the_committee_error_is_the_mean_error_minus_the_ambiguity(case):
    votes, y = case
    found = decompose(votes, y)
    assert found.e_com == pytest.approx(found.e_av - found.ambiguity, abs=1e-9)
    assert found.e_com <= found.e_av + 1e-9
    assert found.ambiguity >= 0
    assert found.e_com == pytest.approx(mean_loss(votes.mean(axis=0), y, "squared_error"), abs=1e-9)
    of_members = [mean_loss(vote, y, "squared_error") for vote in votes]
    assert found.e_av == pytest.approx(np.mean(of_members), abs=1e-9)
    if len(votes) == 1:
        assert found.ambiguity == 0


@every_loss
@given(class_votes())
def test_for_classes_the_committee_error_is_the_mean_error_minus_the_ambiguity(loss, rule, case):
    votes, y, weights, rows = case
    found = decompose(votes, y, loss, rule=rule, weights=weights, sample_weight=rows)
    assert found.e_com == pytest.approx(found.e_av - found.ambiguity, abs=1e-9)
    assert found.e_com <= found.bound + 1e-9
    shares = votes / votes.sum(axis=2, keepdims=True)
    members = mean_loss(votes, y, loss, rows)
    assert found.e_av == pytest.approx(np.average(members, weights=weights), abs=1e-9)
    decision = COMBINE[rule](shares, weights)
    assert found.e_com == pytest.approx(mean_loss(decision, y, loss, rows), abs=1e-9)
    if loss != "error":
        assert found.ambiguity >= -1e-9


@given(class_votes(), st.randoms(use_true_random=False))
def test_the_ambiguity_of_the_geometric_mean_does_not_depend_on_y(case, shuffling):
    votes, y, _, _ = case
    others = [shuffling.randrange(votes.shape[2]) for _ in y]
    first, second = decompose(votes, y, "log_loss"), decompose(votes, others, "log_loss")
    assert first.ambiguity == pytest.approx(second.ambiguity, abs=1e-12)


@given(class_votes())
def test_the_ambiguity_of_the_geometric_mean_is_the_mean_divergence_of_the_members(case):
    votes, y, weights, _ = case
    votes = votes / votes.sum(axis=2, keepdims=True)
    together = geometric_mean(votes, weights)
    divergences = (together * np.log(together / votes)).sum(axis=2).mean(axis=1)
    found = decompose(votes, y, "log_loss", weights=weights)
    assert found.ambiguity == pytest.approx(np.average(divergences, weights=weights), abs=1e-9)


@given(class_votes())
def test_for_two_classes_good_and_bad_diversity_are_votes_against_the_decision(case):
    votes, y, _, _ = case
    votes, y = votes[:, :, :2], np.minimum(y, 1)
    found = decompose(votes, y)
    decided = majority(votes).argmax(axis=1)
    against = (votes.argmax(axis=2) != decided).mean(axis=0)
    assert found.good_diversity == pytest.approx((against * (decided == y)).mean())
    assert found.bad_diversity == pytest.approx((against * (decided != y)).mean())
    assert found.ambiguity == pytest.approx(found.good_diversity - found.bad_diversity)


@given(class_votes())
def test_integer_weights_equal_repetitions_of_rows_and_members(case):
    votes, y, weights, rows = case
    members, repeated = np.repeat(np.arange(len(votes)), weights), np.repeat(np.arange(len(y)), rows)
    weighed = decompose(votes, y, "brier", weights=weights, sample_weight=rows)
    twice = decompose(votes[members][:, repeated], y[repeated], "brier")
    for part in ("e_av", "e_com", "ambiguity"):
        assert getattr(weighed, part) == pytest.approx(getattr(twice, part), abs=1e-12)


def test_the_correlation_of_errors_is_the_average_of_all_pairs():
    rng = np.random.default_rng(0)
    votes, y = rng.normal(size=(5, 30)), rng.normal(size=30)
    pairs = np.corrcoef(votes - y)
    assert decompose(votes, y).correlation == pytest.approx(diversity.average(pairs))
    labels, truth = rng.integers(3, size=(5, 30)), rng.integers(3, size=30)
    weights = rng.random(30)
    expected = diversity.average(diversity.correlation(labels, truth, sample_weight=weights))
    assert decompose(labels, truth, sample_weight=weights).correlation == pytest.approx(expected)
    assert decompose([[0, 1]], [0, 0]).correlation is None


def test_undefined_terms_are_none():
    votes = one_hot([[0, 1, 1], [1, 1, 0]], 2)
    assert decompose(votes, [0, 1, 0], "log_loss").limit is None
    assert decompose(votes, [0, 1, 0], rule="mean").limit is None
    assert decompose(votes, [0, 1, 0], rule="mean").bound == 1
    assert decompose(votes, [0, 1, 0], weights=[2, 1]).limit is None
    assert decompose(votes, [0, 1, 0], "brier").good_diversity is None


@pytest.mark.parametrize("kind", ["percentile", "bca"])
def test_intervals_contain_the_terms_and_are_the_same_for_the_same_seed(kind):
    rng = np.random.default_rng(1)
    votes, y = rng.dirichlet([1, 1, 1], (4, 60)), rng.integers(3, size=60)
    whole = decompose(votes, y, "log_loss")
    found = decompose_intervals(votes, y, "log_loss", kind=kind, B=100, random_state=2)
    assert set(found) == {"e_av", "e_com", "ambiguity", "bound", "correlation"}
    for name, interval in found.items():
        assert interval.value == pytest.approx(getattr(whole, name))
        assert interval.low < interval.value < interval.high
    assert found == decompose_intervals(votes, y, "log_loss", kind=kind, B=100, random_state=2)


@pytest.mark.parametrize("kind", ["percentile", "bca"])
def test_a_term_that_is_undefined_on_most_bootstrap_samples_does_not_affect_other_terms(kind):
    # Two members have one error each. Most bootstrap samples miss at least one of them.
    y = np.zeros(100, dtype=int)
    votes = np.tile(y, (3, 1))
    votes[0, 0] = votes[1, 1] = 1
    found = decompose_intervals(votes, y, kind=kind, B=200, random_state=0)
    assert np.isfinite(found["correlation"].value)
    assert np.isnan([found["correlation"].low, found["correlation"].high]).all()
    assert found["e_av"].low < found["e_av"].value < found["e_av"].high
    without = {name: each for name, each in found.items() if name != "correlation"}
    assert all(np.isfinite([each.low, each.high]).all() for each in without.values())


def test_the_interval_of_an_error_equals_the_interval_of_its_score():
    from committee import score_interval

    rng = np.random.default_rng(1)
    votes, y = rng.dirichlet([1, 1, 1], (4, 60)), rng.integers(3, size=60)
    parts = decompose_intervals(votes, y, "brier", B=50, random_state=3)
    alone = score_interval(y, mean(votes), scoring="neg_brier_score", B=50, random_state=3)
    assert (parts["e_com"].low, parts["e_com"].high) == pytest.approx((-alone.high, -alone.low))


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([[0, 1]], [0, 1], "hinge"), {}, 'loss must be "error", "log_loss" or "brier" for classes'),
        (([[0.5, 1]], [0.5, 1], "mse"), {}, "\"squared_error\" for numbers. Got 'mse'"),
        (
            ([[[0.5, 0.5]]], [0], "squared_error"),
            {},
            'loss must be "error", "log_loss" or "brier" for classes',
        ),
        (([[0.5, np.nan]], [0.5, 1]), {}, "The vote of member 0 on row 1 is NaN, .* Pass only rows"),
        (([[[0.5, 0.5]], [[np.nan] * 2]], [0]), {}, "The vote of member 1 on row 0 is NaN"),
        (
            ([[[0.5], [1.0]]], [0.5, 1], "error"),
            {},
            "loss must be \"squared_error\" for numbers. Got 'error'",
        ),
        (([[0, 1]], [0, 1]), {"rule": "median"}, "rule must be 'majority' or 'mean' for error. Got 'median'"),
        (([[0, 1]], [0, 1]), {"weights": [1, 1]}, "weights must be one number for each of 1 members"),
        (([[0, 1]], [0]), {}, "y must have one value for each of the 2 rows"),
    ],
)
def test_invalid_input_raises_an_error_of_one_line(arguments, options, message):
    with pytest.raises(ValueError, match=message) as caught:
        decompose(*arguments, **options)
    assert "\n" not in str(caught.value)
