"""Test naive Bayes and behaviour knowledge against the lecture notes and reference implementations."""

from collections import Counter

import numpy as np
import pytest

from committee.combining.label_rules import BehaviourKnowledgeRule, NaiveBayesRule
from committee.rules import majority, one_hot
from committee.votes import vote_arrays as votes_module

# The confusion matrices of the lecture notes. Rows are true classes, and columns are predicted classes.
CONFUSIONS = [[[40, 10], [30, 20]], [[20, 30], [20, 30]], [[50, 0], [40, 10]]]


def honest_with(confusions):
    """Return crisp votes and y of 100 rows with these confusion matrices."""
    y = np.repeat([0, 1], np.sum(confusions[0], axis=1))
    labels = [np.repeat([0, 1, 0, 1], np.ravel(confusion)) for confusion in confusions]
    return one_hot(labels, 2), y


def random_labels(n_members=3, n_rows=80, n_classes=3):
    rng = np.random.default_rng(0)
    y = rng.integers(0, n_classes, n_rows)
    labels = np.where(
        rng.random((n_members, n_rows)) < 0.6, y, rng.integers(0, n_classes, (n_members, n_rows))
    )
    return labels, y


def rescaled(support):
    return np.array(support) / np.sum(support)


def test_the_product_of_posteriors_agrees_with_the_lecture_notes():
    votes, y = honest_with(CONFUSIONS)
    rule = NaiveBayesRule(form="posteriors").fit(votes, y)
    labels = [0, 1, 0]
    support = rule.tables_[[0, 1, 2], labels].prod(axis=0)
    np.testing.assert_allclose(support, [0.15873015873015872, 0.09523809523809523])
    np.testing.assert_allclose(support, [0.16, 0.10], atol=0.005)
    decision = rule.combine(one_hot([[0], [1], [0]], 2))
    np.testing.assert_allclose(decision, [rescaled([0.15873015873015872, 0.09523809523809523])])


def test_the_classical_form_uses_the_smoothing_of_titterington():
    votes, y = honest_with(CONFUSIONS)
    support = [
        0.5 * (40.5 / 51) * (30.5 / 51) * (50.5 / 51),
        0.5 * (30.5 / 51) * (30.5 / 51) * (40.5 / 51),
    ]
    decision = NaiveBayesRule().fit(votes, y).combine(one_hot([[0], [1], [0]], 2))
    np.testing.assert_allclose(decision, [rescaled(support)])


@pytest.mark.parametrize("form", ["classical", "posteriors"])
def test_naive_bayes_agrees_with_counting(form):
    labels, y = random_labels()
    rule = NaiveBayesRule(form=form).fit(one_hot(labels, 3), y)
    rows_of = Counter(y.tolist())
    expected = []
    for row in labels.T:
        support = []
        for j in range(3):
            product = rows_of[j] / len(y) if form == "classical" else 1
            for label, s in zip(labels, row, strict=True):
                both = sum((label == s) & (y == j))
                if form == "classical":
                    product *= (both + 1 / 3) / (rows_of[j] + 1)
                else:
                    product *= both / sum(label == s)
            support.append(product)
        expected.append(rescaled(support))
    np.testing.assert_allclose(rule.combine(one_hot(labels, 3)), expected)


def test_a_label_without_honest_rows_has_the_shares_of_the_classes():
    rule = NaiveBayesRule(form="posteriors").fit(one_hot([[0, 0, 0, 0]], 3), [0, 0, 0, 1])
    np.testing.assert_allclose(rule.combine(one_hot([[2]], 3)), [[0.75, 0.25, 0]])
    rule = NaiveBayesRule().fit(one_hot([[0, 0, 0, 0]], 3), [0, 0, 0, 1])
    assert rule.combine(one_hot([[2]], 3))[0, 2] == 0


def test_members_that_contradict_each_other_decide_even_without_smoothing():
    votes = one_hot([[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 1, 1]], 2)
    rule = NaiveBayesRule(form="posteriors").fit(votes, [0, 0, 1, 1])
    np.testing.assert_allclose(rule.combine(one_hot([[1], [1], [0]], 2)), [[0, 1]])


def test_a_member_that_is_always_wrong_is_used_correctly():
    y = np.arange(40) % 2
    rule = NaiveBayesRule().fit(one_hot([1 - y], 2), y)
    np.testing.assert_array_equal(rule.combine(one_hot([1 - y], 2)).argmax(axis=1), y)


def test_behaviour_knowledge_agrees_with_counting():
    labels, y = random_labels()
    rule = BehaviourKnowledgeRule().fit(one_hot(labels, 3), y)
    cells = {}
    for row, truth in zip(labels.T, y, strict=True):
        cells.setdefault(tuple(row), []).append(truth)
    expected = [[cells[tuple(row)].count(j) / len(cells[tuple(row)]) for j in range(3)] for row in labels.T]
    np.testing.assert_allclose(rule.combine(one_hot(labels, 3)), expected)
    assert rule.cells_.tolist() == sorted(map(list, cells))


def test_the_majority_decides_on_a_combination_of_labels_without_honest_rows():
    seen = one_hot([[0, 1], [0, 1], [0, 1]], 2)
    votes = np.array([[[0.9, 0.1]], [[0.2, 0.8]], [[0.4, 0.6]]])
    decision = BehaviourKnowledgeRule().fit(seen, [1, 1]).combine(votes)
    np.testing.assert_allclose(decision, majority(votes))
    both = np.concatenate([votes, seen[:, :1]], axis=1)
    knowledge = BehaviourKnowledgeRule().fit(seen, [1, 1]).combine(both)
    np.testing.assert_allclose(knowledge, np.concatenate([majority(votes), [[0, 1]]]))


def test_rows_without_weight_make_no_cell():
    votes = one_hot([[0, 1], [0, 1]], 2)
    rule = BehaviourKnowledgeRule().fit(votes, [0, 0], sample_weight=[1, 0])
    assert rule.cells_.tolist() == [[0, 0]]


def test_blocks_do_not_change_the_cells_of_many_members_and_classes(monkeypatch):
    labels, y = random_labels(n_members=40, n_rows=60, n_classes=100)
    rule = BehaviourKnowledgeRule().fit(one_hot(labels, 100), y)
    monkeypatch.setattr(votes_module, "BLOCK_SIZE", 40 * 100 * 7)
    again = BehaviourKnowledgeRule().fit(one_hot(labels, 100), y)
    np.testing.assert_array_equal(again.cells_, rule.cells_)
    np.testing.assert_array_equal(again.combine(one_hot(labels, 100)).argmax(axis=1), y)


@pytest.mark.parametrize("form", ["classical", "posteriors"])
def test_naive_bayes_evaluates_each_member_on_the_rows_that_it_has_voted_on(form):
    labels, y = random_labels()
    has_voted = np.ones((3, 80), dtype=bool)
    has_voted[0] = np.arange(80) < 10  # These include rows of every class.
    rule = NaiveBayesRule(form=form).fit(one_hot(labels, 3), y, has_voted=has_voted)
    assert np.allclose(rule.priors_, np.bincount(y) / 80)
    for member, rows in enumerate(has_voted):
        alone = NaiveBayesRule(form=form).fit(one_hot(labels[[member]], 3)[:, rows], y[rows])
        assert np.allclose(rule.tables_[member], alone.tables_[0])


def test_a_member_without_rows_of_a_class_excludes_no_class():
    votes, y = one_hot([[0, 1, 0, 1], [0, 1, 0, 1]], 2), [0, 1, 0, 1]
    has_voted = np.array([[True, False, True, False], [True, True, True, True]])
    rule = NaiveBayesRule().fit(votes, y, has_voted=has_voted)
    assert np.allclose(rule.priors_, 0.5)
    assert np.allclose(rule.tables_[0][:, 1], 0.5)
    assert rule.combine(votes).argmax(axis=1).tolist() == y
    without_votes = NaiveBayesRule().fit(votes, y, has_voted=[[False] * 4, [True] * 4])
    assert without_votes.combine(votes).argmax(axis=1).tolist() == y


def test_confusion_matrices_give_the_numbers_of_the_textbook():
    confusions = np.array([[[40, 10], [30, 20]], [[20, 30], [20, 30]], [[50, 0], [40, 10]]])
    labels = one_hot([[0], [1], [0]], 2)
    rule = NaiveBayesRule.from_confusion_matrices(confusions, form="posteriors")
    support = (40 / 70) * (30 / 60) * (50 / 90), (30 / 70) * (30 / 60) * (40 / 90)
    assert np.round(support, 2).tolist() == [0.16, 0.1]
    np.testing.assert_allclose(rule.combine(labels), [np.array(support) / sum(support)])


@pytest.mark.parametrize("form", ["classical", "posteriors"])
def test_confusion_matrices_give_the_rule_that_is_fitted_on_their_rows(form):
    rng = np.random.default_rng(0)
    y, labels = rng.integers(0, 3, 60), rng.integers(0, 3, (4, 60))
    confusions = np.zeros((4, 3, 3))
    for member in range(4):
        np.add.at(confusions[member], (y, labels[member]), 1)
    made = NaiveBayesRule.from_confusion_matrices(confusions, form=form)
    votes = one_hot(labels, 3)
    np.testing.assert_allclose(made.combine(votes), NaiveBayesRule(form=form).fit(votes, y).combine(votes))
    for wrong in (confusions[0], -confusions, np.zeros((2, 2, 2)), np.ones((2, 2, 3))):
        with pytest.raises(ValueError, match="confusions must have the shape"):
            NaiveBayesRule.from_confusion_matrices(wrong)
