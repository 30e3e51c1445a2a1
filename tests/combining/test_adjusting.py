"""Adjusted decisions: calibrated, or with thresholds for a metric."""

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, f1_score

import committee
from committee.rules import AdjustedRule, CAWPERule, GreedyRule, mean, one_hot

RNG = np.random.default_rng(0)
Y = (RNG.random(2000) < 0.15).astype(int)
LOGITS = 1.5 * (2 * Y - 1) - 1.5 + RNG.normal(size=(3, 2000))
SURE = 1 / (1 + np.exp(-4 * LOGITS))
VOTES = np.stack([1 - SURE, SURE], axis=2)


def log_loss(decision):
    return -np.log(decision[np.arange(len(Y)), Y]).mean()


def test_calibration_lowers_the_log_loss_and_keeps_the_order_of_two_classes():
    too_sure = VOTES[:1]
    rule = AdjustedRule("mean").fit(too_sure[:, ::2], Y[::2])
    decision = rule.combine(too_sure)
    assert rule.power_ < 0.9
    assert log_loss(decision) < 0.9 * log_loss(mean(too_sure))
    order = np.argsort(too_sure[0, :, 1])
    assert (np.diff(decision[order, 1]) >= -1e-12).all()


@pytest.mark.parametrize(("metric", "score"), [("balanced_error", balanced_accuracy_score), ("f1", f1_score)])
def test_a_threshold_suits_the_metric(metric, score):
    rule = AdjustedRule(GreedyRule(), metric=metric).fit(VOTES[:, ::2], Y[::2])
    before = rule.rule_.combine(VOTES).argmax(axis=1)
    after = rule.combine(VOTES).argmax(axis=1)
    assert score(Y[1::2], after[1::2]) > score(Y[1::2], before[1::2]) + 0.005
    assert rule.power_ == 1.0 and rule.biases_[0] == 0


def test_it_comes_back_from_a_file_with_the_rule_inside(tmp_path):
    rule = AdjustedRule(GreedyRule(), metric="error").fit(VOTES, Y)
    rule.save(tmp_path / "rule.committee")
    back = committee.load(tmp_path / "rule.committee")
    np.testing.assert_array_equal(back.combine(VOTES), rule.combine(VOTES))
    assert isinstance(back.rule_, GreedyRule) and rule.rule is not rule.rule_


def test_the_rule_inside_judges_members_by_their_own_votes():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 100)
    votes = one_hot([y, np.where(rng.random(100) < 0.7, y, 1 - y)], 2)
    has_voted = np.ones((2, 100), dtype=bool)
    has_voted[0, :50] = False
    votes[0, :50] = votes[0, :50, ::-1]
    alone = CAWPERule().fit(votes, y, has_voted=has_voted)
    inside = AdjustedRule("cawpe").fit(votes, y, has_voted=has_voted)
    assert np.array_equal(inside.weights_, alone.weights_)
