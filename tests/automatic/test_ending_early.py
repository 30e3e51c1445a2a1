"""The automatic committee keeps its finished members at a time limit and after Ctrl-C."""

from functools import partial

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

import committee
from committee.assembling.leaderboard import honest_decision
from committee.assembling.member_fits import MemberFit
from committee.assembling.named_members import Member
from committee.automatic import automatic_committee as committee_module
from committee.automatic.automatic_committee import members_that_count
from committee.automatic.limits import LEAST_FOR_RULE, Clock
from committee.combining.selection.greedy_selection import GreedyRule
from committee.combining.weighted_rules import CAWPERule
from committee.members.training_set import TrainingSet
from committee.metrics.row_losses import NoValueError
from committee.running.local_runners import SerialRunner
from committee.task import Classification

# Most of these tests look at all members and at the models of their folds.
CommitteeClassifier = partial(committee.CommitteeClassifier, keep="all")

X, Y = load_iris(return_X_y=True)
MEMBERS = [("bayes", GaussianNB()), ("near", KNeighborsClassifier())]


class Endless(ClassifierMixin, BaseEstimator):
    """A member whose fit sets a flag and never ends."""

    has_begun = False

    def fit(self, X, y):
        Endless.has_begun = True
        while True:
            pass


class OnTime:
    """A clock that runs out when the endless member has begun."""

    def left(self):
        return 0.0 if Endless.has_begun else 0.01


def test_at_a_time_limit_the_finished_members_decide(monkeypatch):
    monkeypatch.setattr(Endless, "has_begun", False)
    monkeypatch.setattr(Clock, "left", OnTime.left)
    monkeypatch.setattr(Clock, "allows", lambda self, *arguments: True)
    members = [("bayes", GaussianNB()), ("endless", Endless())]
    automatic = CommitteeClassifier(members, cv=2, time_limit=10, random_state=0, n_jobs=1).fit(X, Y)
    assert list(automatic.named_estimators_) == ["bayes"]
    assert automatic.score(X, Y) > 0.9


def test_a_member_with_votes_on_some_rows_decides_if_none_has_votes_on_all(monkeypatch):
    class FirstFold(GaussianNB):
        n_fits = 0

        def fit(self, X, y, sample_weight=None):
            FirstFold.n_fits += 1
            return super().fit(X, y)

    monkeypatch.setattr(Clock, "allows", lambda self, *arguments: FirstFold.n_fits == 0)
    automatic = CommitteeClassifier([("first", FirstFold())], cv=5, runner="serial", random_state=0).fit(X, Y)
    assert len(automatic.honest_rows_) == 30
    assert automatic.score(X, Y) > 0.9


@pytest.mark.parametrize("metric", [None, "roc_auc_ovr"])
def test_at_a_time_limit_the_mean_decides_if_rules_cannot_be_compared(monkeypatch, metric):
    monkeypatch.setattr(Clock, "allows", lambda self, seconds, n_fits, n_workers: n_fits == 5)
    y = np.repeat(np.arange(50), 3)
    # No two rows that the first fold holds out have the same class.
    folds = [(np.setdiff1d(np.arange(150), rows), rows) for rows in np.arange(150).reshape(30, 5).T]
    folds = [(np.flatnonzero(np.arange(150) % 15 != 0), np.arange(0, 150, 15)), *folds[1:]]
    automatic = CommitteeClassifier(
        [("near", KNeighborsClassifier(3))], cv=folds, scoring=metric, runner="serial", random_state=0
    )
    with pytest.warns(RuntimeWarning, match="cannot be compared on 10 rows with votes, so the mean decides"):
        automatic.fit(X, y)
    np.testing.assert_allclose(automatic.predict_proba(X), automatic.votes(X)[0], atol=1e-6)


def test_a_time_limit_too_short_for_any_member_is_an_error():
    with pytest.raises(ValueError, match=r"time_limit=1e-09 was over before member 'bayes' was fitted"):
        CommitteeClassifier(MEMBERS, time_limit=1e-9).fit(X, Y)


def test_forests_and_boosters_end_within_their_time_budget(monkeypatch):
    monkeypatch.setattr(Clock, "budget", lambda self, *arguments: 0.0)
    members = [
        ("forest", committee.RandomForestClassifier(50, n_jobs=1)),
        ("booster", committee.LogitBoostClassifier()),
    ]
    automatic = CommitteeClassifier(members, time_limit=1000, cv=2, random_state=0, n_jobs=1).fit(X, Y)
    forests, boosters = automatic.estimators_
    # The time limit passes after the first tree, and the only thread checks the time after each tree.
    assert all(len(forest.estimators_) == 1 for forest in forests)
    assert all(booster.n_iter_ == 1 for booster in boosters)


class Interrupted(GaussianNB):
    """A member whose fit is interrupted by Ctrl-C."""

    def fit(self, X, y, sample_weight=None):
        raise KeyboardInterrupt


def test_an_interruption_keeps_the_finished_members():
    members = [*MEMBERS, ("stopped", Interrupted())]
    automatic = CommitteeClassifier(members, runner="serial", random_state=0)
    with pytest.warns(RuntimeWarning, match="The fit was interrupted. What is finished is kept."):
        automatic.fit(X, Y)
    assert list(automatic.named_estimators_) == ["bayes", "near"]
    with pytest.raises(KeyboardInterrupt):
        CommitteeClassifier(members[::-1], runner="serial", random_state=0).fit(X, Y)


@pytest.mark.parametrize(
    ("metric", "n_before", "kind"),
    [(None, 0, "LogPoolRule"), ("accuracy", 0, "FixedRule"), ("accuracy", 1, "BestMemberRule")],
)
def test_an_interruption_while_rules_are_compared_keeps_members_and_scores(
    monkeypatch, metric, n_before, kind
):
    compared = []

    def decide(rule, *arguments):
        if len(compared) == n_before:
            raise KeyboardInterrupt
        compared.append(rule)
        return honest_decision(rule, *arguments)

    monkeypatch.setattr("committee.automatic.rule_choice.honest_decision", decide)
    automatic = CommitteeClassifier(MEMBERS, cv=2, scoring=metric, random_state=0)
    with pytest.warns(RuntimeWarning, match="was interrupted while rules were compared"):
        automatic.fit(X, Y)
    assert list(automatic.named_estimators_) == ["bayes", "near"]
    assert type(automatic.rule_).__name__ == kind and automatic.score(X, Y) > 0.9
    with pytest.raises(KeyboardInterrupt):
        automatic.prune(max_members=1)


@pytest.mark.parametrize("place", ["honest_of", "calibrate"])
def test_an_interruption_before_the_rule_is_chosen_keeps_all_members(monkeypatch, place):
    n_calls, real = [0], getattr(committee_module, place)

    def interrupted(*arguments):
        n_calls[0] += 1
        if n_calls[0] == 1:
            raise KeyboardInterrupt
        return real(*arguments)

    members = [*MEMBERS, ("machine", LinearSVC())]
    usual = CommitteeClassifier(members, cv=2, random_state=0).fit(X, Y)
    monkeypatch.setattr(committee_module, place, interrupted)
    automatic = CommitteeClassifier(members, cv=2, random_state=0)
    with pytest.warns(RuntimeWarning, match="was interrupted while votes were calibrated"):
        automatic.fit(X, Y)
    np.testing.assert_array_equal(automatic.predict_proba(X), usual.predict_proba(X))


def test_an_interruption_while_the_rule_is_fitted_falls_back_to_the_mean(monkeypatch):
    def fit(self, *arguments, **named):
        raise KeyboardInterrupt

    monkeypatch.setattr(CAWPERule, "fit", fit)
    automatic = CommitteeClassifier(MEMBERS, cv=2, rule="cawpe", random_state=0)
    with pytest.warns(RuntimeWarning, match=r"the mean decides\. recombine\('cawpe'\) fits the rule"):
        automatic.fit(X, Y)
    np.testing.assert_allclose(automatic.predict_proba(X), automatic.votes(X).mean(axis=0), atol=1e-6)


def test_an_interruption_while_workers_shut_down_keeps_all_members(monkeypatch):
    def close(self, *arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(SerialRunner, "__exit__", close)
    automatic = CommitteeClassifier(MEMBERS, cv=2, rule="mean", runner="serial", random_state=0).fit(X, Y)
    assert list(automatic.named_estimators_) == ["bayes", "near"]
    with pytest.raises(KeyboardInterrupt):
        CommitteeClassifier([("stopped", Interrupted())], cv=2, runner="serial", random_state=0).fit(X, Y)


def test_an_interruption_while_rows_are_read_for_rules_keeps_all_members(monkeypatch):
    def read(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("committee.automatic.rule_choice.rows_to_look_at", read)
    automatic = CommitteeClassifier(MEMBERS, cv=2, random_state=0)
    with pytest.warns(RuntimeWarning, match="was interrupted while rules were compared"):
        automatic.fit(X, Y)
    assert list(automatic.named_estimators_) == ["bayes", "near"] and automatic.score(X, Y) > 0.9


def test_the_mean_decides_if_the_metric_has_no_value_for_the_rows_of_the_rule(monkeypatch):
    def fit(self, *arguments, **named):
        raise NoValueError("There is one class only.")

    monkeypatch.setattr(GreedyRule, "fit", fit)
    automatic = CommitteeClassifier(MEMBERS, cv=2, rule="greedy", time_limit=60, random_state=0)
    with pytest.warns(RuntimeWarning, match="cannot be fitted on 150 rows .*the mean decides: There is one"):
        automatic.fit(X, Y)
    np.testing.assert_allclose(automatic.predict_proba(X), automatic.votes(X).mean(axis=0), atol=1e-6)


def test_a_second_interruption_ends_the_fit(monkeypatch):
    def decide(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("committee.automatic.rule_choice.honest_decision", decide)
    members = [*MEMBERS, ("stopped", Interrupted())]
    with pytest.warns(RuntimeWarning, match="is kept"), pytest.raises(KeyboardInterrupt):
        CommitteeClassifier(members, runner="serial", random_state=0).fit(X, Y)


def test_at_a_time_limit_the_member_with_votes_on_most_rows_decides(monkeypatch):
    allowed = iter([True])
    monkeypatch.setattr(Clock, "allows", lambda *arguments: next(allowed, False))
    automatic = CommitteeClassifier(MEMBERS, cv=2, time_limit=60, runner="serial", random_state=0)
    assert list(automatic.fit(X, Y).named_estimators_) == ["bayes"]


def test_with_a_time_limit_the_useful_members_get_more_folds():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    training = TrainingSet.of(Classification, rng.normal(size=(300, 2)), y, None, None)
    right = np.stack([1 - y, y], axis=1)
    rows = np.arange(300)
    votes_by_name = {"noise": np.full((300, 2), 0.5), "good": 0.3 + 0.4 * right, "best": 0.1 + 0.8 * right}
    fitted = [MemberFit(Member(name, None), [None], [(rows, votes)]) for name, votes in votes_by_name.items()]
    assert members_that_count(fitted, training) == ["best"]


def test_time_that_the_rule_does_not_need_is_used_for_fits():
    for_rule, for_fits = (Clock(30.0, now=lambda: 7.0) for _ in range(2))
    for_fits.keep_for_rule(0.0)
    assert for_fits.left() - for_rule.left() == pytest.approx(2.5)


def test_a_clock_starts_when_it_is_created():
    times = [100.0]
    clock = Clock(30.0, now=lambda: times[-1])
    before = clock.left()
    times.append(110.0)
    assert clock.left() == pytest.approx(before - 10.0) and not clock.is_over()
    times.append(130.0)
    assert clock.is_over() and clock.left_for_rule() == LEAST_FOR_RULE
