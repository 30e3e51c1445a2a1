"""Test properties of trained rules on random votes, including zeros, ties and equal votes for all classes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from committee.rules import (
    AccuracyWeightedRule,
    BayesianAveragingRule,
    BayesianCombinationRule,
    BehaviourKnowledgeRule,
    CAWPERule,
    DecisionTemplateRule,
    DempsterShaferRule,
    LogPoolRule,
    NaiveBayesRule,
)

# Rules that depend only on the ratios of the weights of rows.
SCALE_FREE = [
    CAWPERule(),
    AccuracyWeightedRule(),
    AccuracyWeightedRule(of="labels", score="log_odds"),
    AccuracyWeightedRule(score="balanced_accuracy", per_class=True),
    AccuracyWeightedRule(score="inverse_loss", per_class=True),
    NaiveBayesRule(form="posteriors"),
    BehaviourKnowledgeRule(),
    DecisionTemplateRule(),
    DempsterShaferRule(),
    LogPoolRule(),
]
WITHOUT_DRAWS = [*SCALE_FREE, NaiveBayesRule(), BayesianAveragingRule()]
TRAINED = [*WITHOUT_DRAWS, BayesianCombinationRule(n_draws=20, random_state=0)]


@st.composite
def honest(draw):
    """Draw votes, which are multiples of an eighth, and classes of up to 8 rows."""
    n_members, n_rows, n_classes = draw(st.tuples(st.integers(1, 5), st.integers(1, 8), st.integers(2, 4)))
    eighths = st.integers(0, 8).map(lambda n: n / 8)
    votes = draw(arrays(np.float64, (n_members, n_rows, n_classes), elements=eighths))
    return votes, draw(arrays(np.int64, n_rows, elements=st.integers(0, n_classes - 1)))


@pytest.mark.parametrize("rule", TRAINED, ids=repr)
@settings(max_examples=15)
@given(data=honest())
def test_decisions_sum_to_one(rule, data):
    votes, y = data
    decision = rule.fit(votes, y).combine(votes)
    assert (decision >= 0).all()
    np.testing.assert_allclose(decision.sum(axis=1), 1)


@pytest.mark.parametrize("rule", WITHOUT_DRAWS, ids=repr)
@settings(max_examples=15)
@given(data=honest(), draw=st.data())
def test_the_order_of_members_and_rows_changes_nothing(rule, data, draw):
    votes, y = data
    members = draw.draw(st.permutations(range(votes.shape[0])))
    rows = draw.draw(st.permutations(range(votes.shape[1])))
    decision = rule.fit(votes, y).combine(votes)
    np.testing.assert_allclose(rule.fit(votes[members], y).combine(votes[members]), decision, atol=1e-9)
    shuffled = rule.fit(votes[:, rows], y[rows]).combine(votes[:, rows])
    np.testing.assert_allclose(shuffled, decision[rows], atol=1e-9)


@pytest.mark.parametrize("rule", SCALE_FREE, ids=repr)
@settings(max_examples=15)
@given(data=honest(), scale=st.sampled_from([1e-6, 0.1, 3.0, 1e6]))
def test_only_the_ratios_of_row_weights_matter(rule, data, scale):
    votes, y = data
    weights = np.arange(len(y)) + 0.5  # Integers would be repetitions of rows.
    decision = rule.fit(votes, y, sample_weight=weights).combine(votes)
    scaled = rule.fit(votes, y, sample_weight=scale * weights).combine(votes)
    np.testing.assert_allclose(scaled, decision, atol=1e-9)
