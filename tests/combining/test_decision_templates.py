"""Test decision templates against reference implementations."""

import math

import numpy as np
import pytest

from committee.combining.decision_templates import DecisionTemplateRule, DempsterShaferRule

RNG = np.random.default_rng(0)
Y = RNG.integers(0, 3, 40)
VOTES = RNG.dirichlet([1, 1, 1], size=(4, 40))
VOTES[:, np.arange(40), Y] += 0.5
VOTES /= VOTES.sum(axis=2, keepdims=True)


def templates():
    """Compute the mean votes of each member on the rows of each class."""
    return [
        [
            [sum(VOTES[i, r, k] for r in range(40) if Y[r] == j) / sum(j == Y) for k in range(3)]
            for i in range(4)
        ]
        for j in range(3)
    ]


def rescaled(support):
    return np.array(support) / np.sum(support)


def test_templates_are_the_mean_profiles_of_the_classes():
    np.testing.assert_allclose(DecisionTemplateRule().fit(VOTES, Y).templates_, templates())


def test_supports_are_one_minus_the_mean_squared_difference():
    rule = DecisionTemplateRule().fit(VOTES, Y)
    means = [np.ravel(template) for template in templates()]
    expected = [
        rescaled([1 - np.mean((VOTES[:, row].ravel() - template) ** 2) for template in means])
        for row in range(40)
    ]
    np.testing.assert_allclose(rule.combine(VOTES), expected)


def test_a_profile_is_most_similar_to_itself():
    own = np.array([[[0.9, 0.1], [0.2, 0.8]], [[0.6, 0.4], [0.5, 0.5]]])
    decision = DecisionTemplateRule().fit(own, [0, 1]).combine(own)
    np.testing.assert_array_equal(decision.argmax(axis=1), [0, 1])


def test_equal_and_opposite_profiles_give_finite_decisions():
    flat = np.full((2, 2, 3), 1 / 3)
    decision = DecisionTemplateRule().fit(flat, [0, 1]).combine(flat)
    np.testing.assert_allclose(decision.sum(axis=1), 1)
    opposite = np.array([[[1.0, 0.0], [0.0, 1.0]]])
    assert np.isfinite(DecisionTemplateRule().fit(opposite, [1, 0]).combine(opposite)).all()


def test_dempster_shafer_agrees_with_the_reference_implementation():
    expected, means = [], templates()
    for r in range(40):
        support = [1.0] * 3
        for i in range(4):
            distances = [sum((VOTES[i, r, k] - means[j][i][k]) ** 2 for k in range(3)) for j in range(3)]
            proximity = rescaled([1 / (1 + each) for each in distances])
            for j in range(3):
                rest = math.prod(1 - proximity[k] for k in range(3) if k != j)
                support[j] *= proximity[j] * rest / (1 - proximity[j] * (1 - rest))
        expected.append(rescaled(support))
    np.testing.assert_allclose(DempsterShaferRule().fit(VOTES, Y).combine(VOTES), expected)


@pytest.mark.parametrize("rule", [DecisionTemplateRule(), DempsterShaferRule()])
def test_a_class_without_rows_gets_no_support(rule):
    decision = rule.fit(VOTES, np.where(Y == 1, 0, Y)).combine(VOTES)
    assert (decision[:, 1] == 0).all()
    alone = rule.fit(VOTES, np.zeros(40, dtype=int)).combine(VOTES)
    np.testing.assert_array_equal(alone, np.tile([1, 0, 0], (40, 1)))


def test_products_of_many_beliefs_do_not_underflow():
    votes = np.tile(VOTES, (300, 1, 1))
    decision = DempsterShaferRule().fit(votes, Y).combine(votes)
    np.testing.assert_allclose(decision.sum(axis=1), 1)
    np.testing.assert_array_equal(
        decision.argmax(axis=1), DempsterShaferRule().fit(VOTES, Y).combine(VOTES).argmax(axis=1)
    )
