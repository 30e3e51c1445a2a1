"""Test the adjusted rule: calibration, and thresholds for a metric."""

import math

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import balanced_accuracy_score, f1_score, recall_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import committee
from committee import VotingClassifier
from committee.combining.adjusted_rule import ByCounts, ByScore, thresholds
from committee.metrics.scoring import metric_of
from committee.rules import (
    AdjustedRule,
    CAWPERule,
    GreedyRule,
    StackingRule,
    mean,
    one_hot,
    rule_named,
)
from committee.saving.predictors.deciders import folds_of_rule

RNG = np.random.default_rng(0)
Y = (RNG.random(2000) < 0.15).astype(int)
LOGITS = 1.5 * (2 * Y - 1) - 1.5 + RNG.normal(size=(3, 2000))
SURE = 1 / (1 + np.exp(-4 * LOGITS))
VOTES = np.stack([1 - SURE, SURE], axis=2)


def log_loss(decision):
    return -np.log(decision[np.arange(len(Y)), Y]).mean()


def test_calibration_lowers_the_log_loss_and_keeps_the_order_of_rows():
    overconfident = VOTES[:1]
    rule = AdjustedRule("mean").fit(overconfident[:, ::2], Y[::2])
    decision = rule.combine(overconfident)
    assert rule.power_ < 0.9
    assert log_loss(decision) < 0.9 * log_loss(mean(overconfident))
    order = np.argsort(overconfident[0, :, 1])
    assert (np.diff(decision[order, 1]) >= -1e-12).all()


@pytest.mark.parametrize(
    ("metric", "score"), [("balanced_accuracy", balanced_accuracy_score), ("f1", f1_score)]
)
def test_a_threshold_improves_the_metric(metric, score):
    rule = AdjustedRule(GreedyRule(), scoring=metric).fit(VOTES[:, ::2], Y[::2])
    before = rule.rule_.combine(VOTES).argmax(axis=1)
    after = rule.combine(VOTES).argmax(axis=1)
    assert score(Y[1::2], after[1::2]) > score(Y[1::2], before[1::2]) + 0.005
    assert rule.power_ == 1.0 and rule.biases_[0] == 0


OF_ONE_CLASS = ["f1", "precision", "recall", "jaccard"]
COUNTED = [
    "accuracy", "balanced_accuracy", "matthews_corrcoef",
    *(f"{part}_{mean}" for part in OF_ONE_CLASS
      for mean in ("macro", "weighted", "micro")),
]  # fmt: skip


@pytest.mark.parametrize(
    ("metric", "n_classes"),
    [(each, n) for each in COUNTED for n in (2, 4)] + [(each, 2) for each in OF_ONE_CLASS],
)
@pytest.mark.filterwarnings("ignore:.* is ill-defined", "ignore:y_pred contains classes not in y_true")
def test_losses_from_counts_agree_with_the_metric(metric, n_classes):
    rng = np.random.default_rng(0)
    y = rng.choice(n_classes - 1, 60) if n_classes > 2 else rng.choice(2, 60)
    decision = rng.dirichlet(np.ones(n_classes), 60) + 0.5 * one_hot(y, n_classes)
    weights = rng.integers(1, 4, 60) / 2
    scores, wanted = np.log(decision), metric_of(metric, n_classes)
    counted, scored = ByCounts(wanted.of_counts, y, weights), ByScore(wanted, y, weights, math.inf, 60)
    offset = counted.plain(scores) - scored.plain(scores)
    for code in range(n_classes):
        tried = thresholds(scores, code, 60)
        np.testing.assert_allclose(
            counted.raised(scores, code, tried) - offset, scored.raised(scores, code, tried), atol=1e-12
        )


def test_a_metric_of_one_class_scores_the_label_1():
    scores = np.log(VOTES[0])
    recall = metric_of("recall", 2, np.array([1, 2])).of_counts
    assert ByCounts(recall, Y, np.ones(2000)).plain(scores) == pytest.approx(
        -recall_score(Y, scores.argmax(axis=1), pos_label=0)
    )
    assert metric_of("recall", 2, np.array(["no", "yes"])).of_counts is None


def test_a_metric_without_counts_finds_the_same_threshold():
    def own_f1(y, decision, weights):
        return f1_score(y, decision.argmax(axis=1), sample_weight=weights)

    rules = [AdjustedRule("mean", scoring=each).fit(VOTES, Y) for each in ("f1", own_f1)]
    np.testing.assert_allclose(rules[0].biases_, rules[1].biases_)


@pytest.mark.parametrize("metric", ["accuracy", "f1_macro", "roc_auc", "neg_log_loss"])
def test_rows_of_weight_zero_do_not_change_thresholds(metric):
    weights = np.where(np.arange(2000) < 1500, 0, 1)
    weighted = AdjustedRule("mean", scoring=metric).fit(VOTES, Y, sample_weight=weights)
    there = AdjustedRule("mean", scoring=metric).fit(VOTES[:, 1500:], Y[1500:])
    np.testing.assert_allclose(weighted.biases_, there.biases_)


@pytest.mark.parametrize("metric", ["f1", lambda y, decision, weights: (decision.argmax(axis=1) == y).mean()])
def test_decisions_are_not_adjusted_if_there_is_no_time(metric):
    rule = AdjustedRule("mean", scoring=metric, time_limit=0).fit(VOTES, Y)
    assert not rule.biases_.any()
    np.testing.assert_allclose(rule.combine(VOTES), mean(VOTES), atol=1e-5)


def noise_votes(n_rows=200):
    rng = np.random.default_rng(1)
    sure = rng.random((2, n_rows))
    return np.stack([1 - sure, sure], axis=2), rng.integers(0, 2, n_rows)


def test_a_trained_rule_is_calibrated_on_out_of_fold_decisions():
    votes, y = noise_votes()
    rule = AdjustedRule(StackingRule(DecisionTreeClassifier(random_state=0))).fit(votes, y)
    # The tree is perfect on the rows of its fit, and random on others.
    assert (rule.rule_.combine(votes).argmax(axis=1) == y).all()
    assert rule.power_ < 0.2


def test_groups_are_held_out_together():
    once, of_once = noise_votes()
    votes, y = np.tile(once, (1, 4, 1)), np.tile(of_once, 4)
    nearest = StackingRule(KNeighborsClassifier(1))
    apart = AdjustedRule(nearest).fit(votes, y, groups=np.arange(800) % 200)
    together = AdjustedRule(nearest).fit(votes, y)
    assert apart.power_ < 0.1 and together.power_ > 0.3


def test_a_trained_rule_is_fitted_only_once_if_there_is_no_time(monkeypatch):
    fits = []
    monkeypatch.setattr(CAWPERule, "_learn", lambda rule, honest: fits.append(honest.n_rows))
    AdjustedRule("cawpe", time_limit=0).fit(VOTES, Y)
    assert fits == [2000]
    rule = AdjustedRule("cawpe", scoring="f1", time_limit=0).fit(VOTES, Y)
    assert rule.power_ == 1 and not rule.biases_.any()


def test_decisions_are_not_adjusted_if_no_rows_can_be_held_out():
    rule = AdjustedRule("cawpe").fit(VOTES[:, :1], Y[:1])
    np.testing.assert_allclose(rule.combine(VOTES), rule.rule_.combine(VOTES), atol=1e-5)


def test_a_file_contains_the_inner_rule(tmp_path):
    rule = AdjustedRule(GreedyRule(), scoring="accuracy").fit(VOTES, Y)
    rule.save(tmp_path / "rule.committee")
    loaded = committee.load(tmp_path / "rule.committee")
    np.testing.assert_array_equal(loaded.combine(VOTES), rule.combine(VOTES))
    assert isinstance(loaded.rule_, GreedyRule) and rule.rule is not rule.rule_


def test_the_inner_rule_evaluates_members_on_the_rows_that_they_have_voted_on():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 100)
    votes = one_hot([y, np.where(rng.random(100) < 0.7, y, 1 - y)], 2)
    has_voted = np.ones((2, 100), dtype=bool)
    has_voted[0, :50] = False
    votes[0, :50] = votes[0, :50, ::-1]
    alone = CAWPERule().fit(votes, y, has_voted=has_voted)
    inside = AdjustedRule("cawpe").fit(votes, y, has_voted=has_voted)
    assert np.array_equal(inside.weights_, alone.weights_)


@pytest.mark.parametrize(("rule", "n_folds"), [("log_pool", 5), ("mean", 1)])
def test_an_adjusted_rule_decides_by_fold_if_the_inner_rule_does(rule, n_folds):
    for inside in (rule, rule_named(rule), AdjustedRule(rule)):
        assert folds_of_rule(AdjustedRule(inside), [5, 5]) == n_folds


RULES_BY_NAME = [
    AdjustedRule("bayesian_combination"),
    AdjustedRule("region"),
    AdjustedRule(AdjustedRule("bayesian_combination")),
]


@pytest.mark.parametrize("rule", RULES_BY_NAME, ids=repr)
def test_a_named_inner_rule_gets_a_seed_from_the_committee(rule):
    members = [("bayes", GaussianNB()), ("tree", DecisionTreeClassifier(max_depth=1, random_state=0))]
    X, y = LOGITS.T[:300], Y[:300]
    voting = VotingClassifier(members, rule=rule, cv=2, random_state=0)
    one, other = (clone(voting).fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))
    seeds = [seed for name, seed in one.rule_.get_params().items() if name.endswith("random_state")]
    assert len(seeds) == 1 and seeds[0] is not None
    assert repr(one.rule) == repr(voting.rule) == repr(rule)
