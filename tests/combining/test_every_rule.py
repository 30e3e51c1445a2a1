"""Test properties of all rules in the registry."""

import inspect
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from committee.combining.rule_registry import rule_lines
from committee.rules import StackingRule, one_hot, rule_named, rule_names
from committee.votes import vote_arrays as votes_module

N_ROWS = 60
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N_ROWS, 2))
Y = RNG.integers(0, 3, N_ROWS)
VOTES = RNG.dirichlet([1, 1, 1], size=(4, N_ROWS))
VOTES[:, np.arange(N_ROWS), Y] += [[0.1], [0.3], [0.5], [0.7]]
VOTES /= VOTES.sum(axis=2, keepdims=True)
NUMBERS = RNG.normal(size=N_ROWS)
NUMBER_VOTES = (NUMBERS + RNG.normal(size=(4, N_ROWS)) * [[0.5], [1], [2], [3]])[:, :, np.newaxis]

BAYESIAN = ("bayesian_averaging", "bayesian_combination")
# Rules that draw random numbers. Their draws depend on the order of the members.
DRAWS = ("bayesian_combination",)
# Rules that count rows without their weights, because they use a fixed number of neighbours.
COUNTS_ROWS = ("dynamic",)


def made(name):
    """Make a rule with a fixed seed."""
    rule = rule_named(name)
    return rule.set_params(random_state=0) if "random_state" in rule.get_params() else rule


@pytest.mark.parametrize("name", rule_names())
def test_parameters_behave_as_in_scikit_learn(name):
    rule = rule_named(name)
    assert list(rule.get_params()) == list(inspect.signature(type(rule)).parameters)
    assert repr(rule).startswith(f"{type(rule).__name__}(")
    with pytest.raises(ValueError, match=f"{type(rule).__name__} has no parameter 'colour'. It has"):
        rule.set_params(colour="red")


def test_parameters_of_parameters_can_be_set():
    rule = StackingRule(LogisticRegression()).set_params(final_estimator__C=2.0)
    assert rule.get_params()["final_estimator__C"] == rule.final_estimator.C == 2.0
    assert repr(rule) == "StackingRule(final_estimator=LogisticRegression(C=2.0))"


def for_task(task):
    # Fixed rules list both tasks, but only some of their functions support regression.
    named = {name: rule_named(name) for name in rule_names()}
    if task == "regression":
        numbers = ("mean", "median", "trimmed_mean")
        return [n for n, rule in named.items() if task in rule.tasks and (rule.needs_fit or n in numbers)]
    return [name for name, rule in named.items() if task in rule.tasks]


CLASSIFYING, REGRESSING = for_task("classification"), for_task("regression")
every_rule = pytest.mark.parametrize("name", CLASSIFYING)
every_rule_that_uses_votes = pytest.mark.parametrize("name", [n for n in CLASSIFYING if n != "constant"])


def check_shares(decision, n_rows, n_classes=3):
    assert decision.shape == (n_rows, n_classes)
    assert (decision >= 0).all()
    np.testing.assert_allclose(decision.sum(axis=1), 1)


@every_rule_that_uses_votes
def test_decisions_sum_to_one_and_are_better_than_chance(name):
    decision = made(name).fit(VOTES, Y, X).combine(VOTES, X)
    check_shares(decision, N_ROWS)
    # The limit is low, because the minimum and the maximum depend on single members.
    assert np.mean(decision.argmax(axis=1) == Y) > 0.5


@pytest.mark.parametrize("name", REGRESSING)
def test_decisions_of_a_regression_have_a_small_error(name):
    decision = made(name).fit(NUMBER_VOTES, NUMBERS, X).combine(NUMBER_VOTES, X)
    assert decision.shape == (N_ROWS, 1)
    assert np.mean((decision[:, 0] - NUMBERS) ** 2) < np.var(NUMBERS) * 2


@pytest.mark.parametrize("name", REGRESSING)
def test_decisions_are_finite_if_a_member_has_a_huge_vote(name):
    votes = NUMBER_VOTES.copy()
    votes[3, 5] = 1e200
    decision = made(name).fit(votes, NUMBERS, X).combine(votes, X)
    assert np.isfinite(decision).all()


@pytest.mark.parametrize("name", REGRESSING)
def test_large_numbers_are_combined_and_larger_ones_are_refused(name):
    large = made(name).fit(NUMBER_VOTES * 1e89, NUMBERS * 1e89, X).combine(NUMBER_VOTES * 1e89, X)
    assert np.mean((large[:, 0] / 1e89 - NUMBERS) ** 2) < np.var(NUMBERS) * 2
    with pytest.raises(ValueError, match=r"^y must be between -1e\+90 and 1e\+90. Got .*. Scale it.$"):
        made(name).fit(NUMBER_VOTES * 1e200, NUMBERS * 1e200, X)


@pytest.mark.parametrize("name", sorted(set(CLASSIFYING) - set(REGRESSING)))
def test_rules_for_classes_refuse_regression_in_one_line(name):
    with pytest.raises(ValueError, match=r"classes|is a rule for classification") as error:
        made(name).fit(NUMBER_VOTES, NUMBERS, X)
    assert "\n" not in str(error.value)


@every_rule
def test_one_member_one_row_and_no_row_are_supported(name):
    one = made(name).fit(VOTES[:1], Y, X)
    check_shares(one.combine(VOTES[:1], X), N_ROWS)
    check_shares(made(name).fit(VOTES[:, :1], Y[:1], X[:1]).combine(VOTES, X), N_ROWS)
    check_shares(one.combine(VOTES[:1, :0], X[:0]), 0)


@every_rule
def test_y_may_have_a_single_class_or_an_absent_class(name):
    only = made(name).fit(VOTES, np.full(N_ROWS, 2), X)
    check_shares(only.combine(VOTES, X), N_ROWS)
    absent = np.where(Y == 1, 0, Y)
    check_shares(made(name).fit(VOTES, absent, X).combine(VOTES, X), N_ROWS)


@every_rule_that_uses_votes
def test_members_may_be_always_correct_or_always_wrong(name):
    right, wrong = one_hot(Y, 3), one_hot((Y + 1) % 3, 3)
    for votes in ([right, right], [wrong, wrong], [right, wrong]):
        decision = made(name).fit(np.array(votes), Y, X).combine(np.array(votes), X)
        check_shares(decision, N_ROWS)
    both = made(name).fit(np.array([right, right]), Y, X).combine(np.array([right, right]), X)
    np.testing.assert_array_equal(both.argmax(axis=1), Y)


@every_rule
def test_float32_votes_and_blocks_of_rows_change_nothing(name, monkeypatch):
    votes = VOTES.astype(np.float32)
    whole = made(name).fit(votes, Y, X).combine(votes, X)
    monkeypatch.setattr(votes_module, "BLOCK_SIZE", 120)
    np.testing.assert_allclose(made(name).fit(votes, Y, X).combine(votes, X), whole, atol=1e-9)


@every_rule
def test_the_order_of_the_rows_changes_nothing(name):
    order = np.random.default_rng(1).permutation(N_ROWS)
    decision = made(name).fit(VOTES, Y, X).combine(VOTES, X)
    shuffled = made(name).fit(VOTES[:, order], Y[order], X[order]).combine(VOTES[:, order], X[order])
    np.testing.assert_allclose(shuffled, decision[order], atol=1e-9)


@pytest.mark.parametrize("name", [name for name in CLASSIFYING if name not in DRAWS])
def test_the_order_of_the_members_changes_nothing(name):
    decision = made(name).fit(VOTES, Y, X).combine(VOTES, X)
    np.testing.assert_allclose(made(name).fit(VOTES[::-1], Y, X).combine(VOTES[::-1], X), decision, atol=1e-9)


@pytest.mark.parametrize("name", [name for name in CLASSIFYING if name not in COUNTS_ROWS])
def test_a_row_of_weight_two_is_equal_to_two_rows(name):
    weights = np.arange(N_ROWS) % 3
    rows = np.repeat(np.arange(N_ROWS), weights)
    weighted = made(name).fit(VOTES, Y, X, sample_weight=weights).combine(VOTES, X)
    repeated = made(name).fit(VOTES[:, rows], Y[rows], X[rows]).combine(VOTES, X)
    np.testing.assert_allclose(weighted, repeated, atol=1e-9)


@every_rule
def test_the_unit_of_weights_changes_nothing(name):
    weights = 0.5 + RNG.random(N_ROWS)
    given, scaled = (made(name).fit(VOTES, Y, X, unit * weights).combine(VOTES, X) for unit in (1, 1e-3))
    np.testing.assert_allclose(scaled, given, rtol=1e-6, atol=1e-9)
    if rule_named(name).needs_fit:
        equal = made(name).fit(VOTES, Y, X, np.full(N_ROWS, 1 / N_ROWS)).combine(VOTES, X)
        np.testing.assert_array_equal(equal, made(name).fit(VOTES, Y, X).combine(VOTES, X))


@every_rule
def test_a_row_of_weight_zero_has_no_effect(name):
    weights = (np.arange(N_ROWS) % 3 > 0).astype(float)
    rows = weights > 0
    weighted = made(name).fit(VOTES, Y, X, sample_weight=weights).combine(VOTES, X)
    without = made(name).fit(VOTES[:, rows], Y[rows], X[rows]).combine(VOTES, X)
    np.testing.assert_allclose(weighted, without, atol=1e-9)


@every_rule
def test_clone_repr_and_pickle_keep_the_rule(name):
    rule = made(name)
    assert repr(clone(rule)) == repr(rule)
    rule.fit(VOTES, Y, X)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(rule)).combine(VOTES, X), rule.combine(VOTES, X))
    assert not hasattr(clone(rule), "n_members_")


@every_rule
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"votes": VOTES[0]}, "votes must have the shape"),
        ({"votes": VOTES[:, :0], "y": []}, "votes must have at least one row to learn from"),
        (
            {"votes": np.where(VOTES[1, 2, 0] == VOTES, np.nan, VOTES)},
            "votes must be finite. Got nan of member 1",
        ),
        ({"votes": VOTES - 1}, "votes must be >= 0, as they are for classes"),
        ({"y": Y[:-1]}, "y must have one value for each of the 60 rows"),
        ({"y": Y + 1}, r"y must be integers from 0 to 2, the numbers of the classes\. Got 3"),
        ({"y": Y - 1}, r"y must be integers from 0 to 2, the numbers of the classes\. Got -1"),
        ({"y": Y * 0.5}, r"y must be integers from 0 to 2, the numbers of the classes\. Got float64"),
        ({"X": X[:-1]}, "X must have the 60 rows of the votes. Got 59"),
        ({"sample_weight": np.ones(3)}, "sample_weight"),
        ({"sample_weight": -np.ones(N_ROWS)}, "sample_weight must be >= 0"),
        ({"sample_weight": np.zeros(N_ROWS)}, "sample_weight sets the weight of every row to zero"),
    ],
)
def test_bad_input_of_fit_is_refused_in_one_line(name, change, message):
    rule = made(name)
    with pytest.raises(ValueError, match=message) as error:
        rule.fit(**{"votes": VOTES, "y": Y, "X": X} | change)
    assert "\n" not in str(error.value)
    assert not hasattr(rule, "n_members_")


@every_rule
def test_votes_of_other_members_or_classes_than_in_the_fit_are_refused(name):
    rule = made(name).fit(VOTES, Y, X)
    with pytest.raises(ValueError, match=r"fitted with 4 members\. Got the votes of 3"):
        rule.combine(VOTES[:3], X)
    with pytest.raises(ValueError, match=r"fitted with 3 outputs\. Got votes with 2"):
        rule.combine(VOTES[:, :, :2], X)
    with pytest.raises(ValueError, match="votes must be finite"):
        rule.combine(np.full_like(VOTES, np.inf), X)


@pytest.mark.parametrize("name", [name for name in CLASSIFYING if rule_named(name).needs_fit])
def test_a_trained_rule_cannot_combine_before_its_fit(name):
    with pytest.raises(NotFittedError, match=r"is not fitted yet\. Call fit with honest votes"):
        made(name).combine(VOTES, X)


@pytest.mark.parametrize("name", [name for name in CLASSIFYING if rule_named(name).needs_X])
def test_a_rule_that_looks_at_rows_refuses_a_fit_without_them(name):
    with pytest.raises(ValueError, match=r"uses the columns of X\. Pass X"):
        made(name).fit(VOTES, Y)


def test_every_rule_has_its_own_sentence_that_says_when_to_choose_it():
    lines = rule_lines()
    assert list(lines) == rule_names() and len(set(lines.values())) == len(lines)
