"""Test that rules can be passed as names, as functions and as objects."""

import numpy as np
import pytest

from committee.combining.rule import Rule
from committee.combining.rule_registry import as_rule, rule_named, rule_names
from committee.rules import mean

VOTES = np.array([[[0.2, 0.8]], [[0.6, 0.4]], [[0.7, 0.3]]])


@pytest.mark.parametrize("name", rule_names())
def test_every_name_makes_a_rule(name):
    assert isinstance(rule_named(name), Rule)


def test_a_fixed_rule_passed_as_a_function_gets_its_name():
    assert as_rule(mean).rule == "mean"


def test_a_rule_is_returned_unchanged():
    rule = rule_named("mean")
    assert as_rule(rule) is rule


def test_a_function_of_the_user_is_a_rule_and_its_decision_is_rescaled():
    np.testing.assert_allclose(as_rule(lambda votes: 5 * votes[1]).combine(VOTES), [[0.6, 0.4]])


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("best", "There is no rule 'best'. There are mean, .*"),
        (3, r"rule must be the name of a rule, a function or a rule such as .* Got 3"),
        (Rule, "rule must be the name of a rule"),
    ],
)
def test_an_invalid_rule_is_refused(rule, message):
    with pytest.raises(ValueError, match=message):
        as_rule(rule)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda votes: votes, r"must return the shape \(n_rows, n_outputs\) \(1, 2\). Got \(3, 1, 2\)"),
        (lambda votes: votes[0] - 1, "finite numbers, for classes >= 0"),
        (lambda votes: votes[0] * np.nan, "finite numbers, for classes >= 0"),
    ],
)
def test_a_function_with_an_invalid_decision_is_refused(function, message):
    with pytest.raises(ValueError, match=message):
        as_rule(function).combine(VOTES)
