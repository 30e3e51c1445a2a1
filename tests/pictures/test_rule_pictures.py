"""Pictures of rules show what the rules compute."""

import numpy as np
import pytest
from chart_data import title_of, values_of, words_of
from sklearn.metrics import log_loss

from committee import StackingClassifier, VotingClassifier, pictures
from committee.learners import C45Classifier, DecisionStumpClassifier
from committee.rules import CAWPERule, GreedyRule

RNG = np.random.default_rng(0)
Y = RNG.integers(2, size=80)
RIGHT = np.clip(0.62 + 0.3 * RNG.normal(size=(4, 80)), 0.05, 0.95)
VOTES = np.stack([np.where(Y == 0, RIGHT, 1 - RIGHT), np.where(Y == 1, RIGHT, 1 - RIGHT)], axis=2)
NAMES = ["tree", "bayes", "knn", "linear"]


def test_the_greedy_path_is_that_of_the_rule_with_the_loss_of_each_mean():
    chart = pictures.greedy_path(VOTES, Y, names=NAMES)
    chosen = GreedyRule().fit(VOTES, Y).chosen_[0]
    points = values_of(chart, "line")
    assert [each["series"] for each in points] == [NAMES[member] for member in chosen]
    for step, each in enumerate(points, start=1):
        assert each["y"] == pytest.approx(log_loss(Y, VOTES[chosen[:step]].mean(axis=0)))


def test_the_stacking_table_has_a_column_for_each_probability():
    chart = pictures.stacking_table(VOTES, Y, names=NAMES, max_rows=3)
    words = words_of(chart)
    for member in range(4):
        for row in range(3):
            assert f"{VOTES[member, row, 0]:.3f}" in words
    assert words.count("p(0)") == words.count("p(1)") == 4
    assert "The first 3 of 80 rows" in title_of(chart)[1]


def test_the_flow_names_the_members_and_the_second_model():
    members = [("c45", C45Classifier()), ("stump", DecisionStumpClassifier())]
    words = words_of(pictures.committee_flow(StackingClassifier(members, final_estimator=C45Classifier())))
    assert {"c45", "stump", "C45Classifier", "class"} <= set(words)
    assert words.count("out of fold") == 2
    voting = words_of(pictures.committee_flow(VotingClassifier(members, rule="majority")))
    assert {"c45", "stump", "majority", "class"} <= set(voting)
    assert "out of fold" not in voting
    with pytest.raises(ValueError, match=r"a committee with named members\. Got C45Classifier\."):
        pictures.committee_flow(C45Classifier())


def test_cawpe_weights_are_those_of_the_rule():
    accuracies = [0.8, 0.5, 0.75, 0.6, 0.9]
    values = values_of(pictures.cawpe_weights(accuracies, max_alpha=4.0), "line")
    last = [each["y"] for each in values if each["x"] == 4.0]
    powers = np.power(accuracies, 4)
    np.testing.assert_allclose(last, powers / powers.sum())
    # A member that is right on a share of the rows has this accuracy.
    n_right = np.rint(np.array(accuracies) * 20).astype(int)
    votes = np.array([[0] * n + [1] * (20 - n) for n in n_right])
    rule = CAWPERule(alpha=4).fit(np.stack([votes == 0, votes == 1], axis=2).astype(float), np.zeros(20, int))
    np.testing.assert_allclose(last, rule.weights_ / rule.weights_.sum())


def test_the_heat_map_shows_shares_of_equal_labels():
    chart = pictures.agreement([[1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 1, 0]], [1, 1, 1, 0], names=list("abc"))
    about = {each["about"] for each in values_of(chart, "rect")}
    assert {"a and b agree on 50.0% of the rows", "c and a agree on 75.0% of the rows"} <= about
    with pytest.raises(ValueError, match=r"one name for each of 4 members\. Got 1\."):
        pictures.agreement(VOTES, Y, names=["a"])
