"""Out-of-bag decisions: fixed rules combine only out-of-bag votes, and rules that learn use folds."""

import numpy as np
import pytest
from sklearn.base import clone

from committee import (
    BaggingClassifier,
    BaggingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    RotationForestClassifier,
    load,
    rules,
)

RNG = np.random.default_rng(0)
X, NOISE = RNG.random((400, 4)), RNG.integers(0, 2, 400)
SKEWED = np.exp(3 * X[:, 0] + RNG.normal(size=400))


@pytest.mark.parametrize("rule", rules.rule_names())
def test_rules_on_trees_predict_noise_at_chance_level(rule):
    forest = RandomForestClassifier(15, rule=rule, oob_score=True, random_state=0, n_jobs=1).fit(X, NOISE)
    assert abs(forest.oob_score_ - 0.5) < 0.1


@pytest.mark.parametrize("kind", [BaggingClassifier, RotationForestClassifier])
def test_rules_on_other_members_predict_noise_at_chance_level(kind):
    made = kind(n_estimators=10, rule="behaviour_knowledge", bootstrap=True, oob_score=True, random_state=0)
    assert abs(made.fit(X, NOISE).oob_score_ - 0.5) < 0.1


def test_a_rule_does_not_decide_on_a_group_that_it_was_fitted_on():
    groups = np.arange(40).repeat(10)
    made = BaggingClassifier(n_estimators=10, rule="behaviour_knowledge", oob_score=True, random_state=0)
    made.fit(X[groups], NOISE[groups], groups=groups)
    assert abs(made.oob_score_ - 0.5) < 0.25


class Witness(rules.Rule):
    """The mean of the votes, by a rule that stores y and the groups of its fit."""

    tasks = ("regression",)

    def _learn(self, honest):
        self.y_, self.groups_ = honest.y, honest.groups

    def _decide(self, votes):
        return votes.mean(axis=0)


def test_a_rule_gets_the_groups_of_the_rows_that_it_learns_from():
    groups, numbers = np.arange(400) // 10 % 7, np.arange(400.0)
    bagging = BaggingRegressor(n_estimators=5, rule=Witness(), oob_score=True, random_state=0)
    rule = clone(bagging).fit(X, numbers, groups=groups).rule_
    np.testing.assert_array_equal(rule.groups_, groups[rule.y_.astype(int)])
    assert bagging.fit(X, numbers).rule_.groups_ is None


def test_recombine_passes_the_groups_of_the_fit_to_the_rule(tmp_path):
    groups, numbers = np.arange(400) // 10 % 7, np.arange(400.0)
    bagging = BaggingRegressor(n_estimators=5, keep_votes=True, random_state=0).fit(X, numbers, groups=groups)
    bagging.save(tmp_path / "bagging.committee")
    for fitted in (bagging, load(tmp_path / "bagging.committee")):
        rule = fitted.recombine(Witness()).rule_
        np.testing.assert_array_equal(rule.groups_, groups[rule.y_.astype(int)])


def test_dynamic_selection_scores_trees_only_by_their_out_of_bag_votes():
    forest = RandomForestClassifier(15, rule="dynamic", random_state=0).fit(X, NOISE)
    has_seen = np.array([np.isin(np.arange(400), rows) for rows in forest.estimators_samples_])
    is_known = ~has_seen.all(axis=0)
    np.testing.assert_array_equal(forest.rule_.labels_ == -1, has_seen[:, is_known].T)


def test_the_rule_for_predictions_is_fitted_on_all_rows():
    parameters = {"n_estimators": 10, "rule": "stacking", "random_state": 0}
    with_score = RandomForestClassifier(oob_score=True, **parameters).fit(X, NOISE)
    np.testing.assert_array_equal(
        with_score.predict_proba(X), RandomForestClassifier(**parameters).fit(X, NOISE).predict_proba(X)
    )


@pytest.mark.parametrize("rule", ["behaviour_knowledge", "weighted_mean", "median"])
def test_the_order_of_the_rows_does_not_change_the_out_of_bag_score(rule):
    y = X[:, 0] + 0.3 * RNG.normal(size=400) > 0.5
    forest = RandomForestClassifier(10, rule=rule, oob_score="neg_log_loss", random_state=0)
    score = clone(forest).fit(X, y).oob_score_
    assert clone(forest).fit(X[::-1], y[::-1]).oob_score_ == pytest.approx(score, rel=1e-9)


@pytest.mark.parametrize("kind", [RandomForestClassifier, RandomForestRegressor])
def test_a_rule_can_be_fitted_on_few_rows(kind):
    for n_drawn in (1, 2, 3):
        forest = kind(1, rule="stacking", max_samples=n_drawn, oob_score=True, random_state=0)
        assert forest.fit([[1], [2], [3], [4]], [0, 0, 1, 1]).predict([[1]]).shape == (1,)


def test_the_out_of_bag_median_is_the_median_of_the_out_of_bag_votes():
    bagging = BaggingRegressor(
        n_estimators=20, rule="median", oob_score=True, keep_votes=True, random_state=0
    ).fit(X, SKEWED)
    median = np.nanmedian(bagging.oob_votes_[:, :, 0], axis=0)
    np.testing.assert_allclose(bagging.oob_prediction_, median)
    forest = RandomForestRegressor(20, max_depth=3, oob_score=True, random_state=0).fit(X, SKEWED)
    other = clone(forest).set_params(rule="median").fit(X, SKEWED)
    assert np.abs(other.oob_prediction_ - forest.oob_prediction_).max() > 0.1


def test_members_keep_their_weights_out_of_bag():
    weights = np.array([1.0, 0.0, 5.0, 2.0])
    bagging = BaggingClassifier(
        n_estimators=4,
        rule=rules.FixedRule(rule="mean", weights=weights),
        oob_score=True,
        keep_votes=True,
        random_state=0,
    ).fit(X, NOISE)
    counted = weights[:, np.newaxis, np.newaxis] * ~np.isnan(bagging.oob_votes_)
    total = counted.sum(axis=0)
    with np.errstate(invalid="ignore"):
        expected = (np.nan_to_num(bagging.oob_votes_) * counted).sum(axis=0) / total
    np.testing.assert_allclose(bagging.oob_decision_function_, expected)
    assert np.isnan(expected[(total == 0).any(axis=1)]).all()


def test_a_function_combines_only_the_out_of_bag_votes():
    forest = RandomForestRegressor(9, rule=lambda votes: votes.max(axis=0), oob_score=True, random_state=0)
    assert (forest.fit(X, SKEWED).oob_prediction_ <= forest.votes(X).max(axis=0)[:, 0])[
        ~np.isnan(forest.oob_prediction_)
    ].all()
    for kind in (RandomForestRegressor, BaggingRegressor):
        refused = kind(n_estimators=9, rule=lambda votes: votes[8], oob_score=True)
        with pytest.raises(ValueError, match="cannot combine the votes of 3 of 9 members"):
            refused.fit(X, SKEWED)
        refused.set_params(oob_score=False).fit(X, SKEWED)
