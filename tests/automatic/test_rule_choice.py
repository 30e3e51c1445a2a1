"""Test the choice of a rule on noise, on few rows, and where a single member is better."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from committee import CommitteeClassifier, CommitteeRegressor
from committee.automatic.portfolio import CANDIDATES, Size, members_of, named
from committee.automatic.rule_choice import compare_rules, is_surely_better, least_rows
from committee.votes.honest_votes import HonestVotes


def test_sure_members_without_knowledge_do_not_decide():
    y, *guesses = np.random.default_rng(0).integers(0, 2, (3, 400))
    votes = 0.98 * np.eye(2)[guesses] + 0.01
    # A logarithmic pool learns to ignore them too, so the loss is that of the shares of the classes.
    decision = compare_rules(HonestVotes.of(votes, y), None, np.inf)[0].decision
    assert log_loss(y, decision) == pytest.approx(np.log(2), abs=0.02)
    alone = compare_rules(HonestVotes.of(votes[:1], y), None, np.inf)
    assert [scored.name for scored in alone] == ["constant", "best_member"]


@pytest.mark.parametrize(("seed", "is_alone"), [(20, True), (21, False)])
def test_a_single_member_decides_if_it_is_significantly_better(seed, is_alone):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, 40)
    # The members share a part of their noise, and one of many is lucky.
    noise = rng.normal(size=(1, 40, 2)) + rng.normal(size=(30, 40, 2))
    shares = np.exp(2 * noise + 3 * np.eye(2)[y])
    honest = HonestVotes.of(shares / shares.sum(axis=2, keepdims=True), y)
    found = compare_rules(honest, None, np.inf)
    pool = next(scored for scored in found if scored.name == "log_pool")
    better = [is_surely_better(vote, pool.decision, honest, None) for vote in honest.votes]
    assert any(better) == is_alone
    assert found[0].name == ("best_member" if is_alone else "log_pool")


@pytest.mark.parametrize(("n_rows", "is_better"), [(60, False), (150, False), (5000, True)])
def test_more_confidence_is_not_significantly_better_without_evidence(n_rows, is_better):
    y = np.arange(n_rows) % 2
    sure, surer = (np.where(y[:, None] == [0, 1], high, 1 - high) for high in (0.99, 0.999))
    honest = HonestVotes.of(np.stack([sure, surer]), y)
    assert is_surely_better(surer, sure, honest, None) == is_better
    # A flat decision is not better because of the row that is added.
    flat = np.full((n_rows, 2), 0.5)
    assert is_surely_better(sure, flat, honest, None) and not is_surely_better(flat, sure, honest, None)


def test_the_mean_decides_on_few_rows():
    rng = np.random.default_rng(0)
    for n_rows, n_classes, is_few in ((19, 2, True), (20, 2, False), (29, 5, True), (30, 5, False)):
        honest = HonestVotes.of(rng.dirichlet(np.ones(n_classes), (2, n_rows)), np.arange(n_rows) % n_classes)
        names = {each.name for each in compare_rules(honest, None, np.inf)}
        assert (names == {"mean", "constant"}) == is_few == (n_rows < least_rows(n_classes))


def test_a_fit_on_few_rows_says_what_it_leaves_out():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(5, 14)), np.array(["a", "b", "a", "b", "a"])
    names = ["booster", "booster_patient", "neighbours", "linear", "bayes"]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        automatic = CommitteeClassifier(names, random_state=0).fit(X, y)
    messages = [str(each.message) for each in caught]
    assert messages == [
        "5 rows are too few for some members, which are left out: gradient boosting, early stopping needs at "
        "least 20; nearest neighbours needs at least 29.",
        "The mean of the members decides, because 5 rows are too few to learn another rule: 20 are needed. "
        "Expect large errors of all scores.",
    ]
    assert list(automatic.named_estimators_) == ["booster", "linear", "bayes"]
    assert repr(automatic.rule_) == "FixedRule()"
    with pytest.raises(ValueError, match=r"learn from 5 rows: 'neighbours' needs at least 29 rows\. Pass"):
        CommitteeClassifier(["neighbours"], random_state=0).fit(X, y)


@pytest.mark.parametrize("name", [name for name, each in CANDIDATES.items() if each.least_rows])
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_a_member_can_learn_from_the_rows_that_it_needs(name, task):
    candidate = CANDIDATES[name]
    if task not in candidate.tasks:
        return
    n_outputs = 3 if task == "classification" else 1
    n_rows = candidate.least_rows + n_outputs
    rng = np.random.default_rng(0)
    y = np.arange(n_rows) % 3 if task == "classification" else rng.normal(size=n_rows)
    size = Size(task, n_rows, 2, n_outputs, n_training=n_rows)
    assert candidate.rows_needed(size) == 0
    candidate.make(size).fit(rng.normal(size=(n_rows, 2)), y).predict(np.zeros((1, 2)))
    fewer = Size(task, n_rows, 2, n_outputs, n_training=n_rows - 1)
    assert candidate.rows_needed(fewer) >= n_rows


def test_a_member_that_the_user_passes_is_never_left_out():
    size = Size("classification", 8, 2, 2, n_training=7)
    usual = named(["bayes", "neighbours"], size)
    pair = ("neighbours", usual[0].estimator)
    assert [each.name for each in members_of([pair], size, usual)] == ["neighbours"]
    assert [each.name for each in members_of(["auto", pair], size, usual)] == ["bayes", "neighbours"]
    with pytest.warns(UserWarning, match="nearest neighbours needs at least 20"):
        assert [each.name for each in members_of(["auto"], size, usual)] == ["bayes"]


def test_boosters_accept_folds_without_one_of_the_classes():
    X = np.random.default_rng(0).normal(size=(24, 2))
    y = np.array([1, *[0] * 23])
    automatic = CommitteeClassifier(["booster", "linear"], cv=2, keep="all", random_state=0).fit(X, y)
    assert list(automatic.named_estimators_) == ["booster", "linear"]


def test_the_score_on_few_rows_is_close_to_the_test_score():
    X, y = load_iris(return_X_y=True)
    members = ["linear", "discriminant", "bayes", "forest", "booster", "neighbours"]
    differences = []
    for seed in range(3):
        half = train_test_split(X, y, train_size=75, random_state=seed, stratify=y)
        automatic = CommitteeClassifier(members, random_state=seed).fit(half[0], half[2])
        board = automatic.leaderboard([automatic.rule_])
        shown = next(-each.score for each in board if each.kind == "rule")
        differences.append(shown - log_loss(half[3], automatic.predict_proba(half[1])))
    assert abs(np.mean(differences)) < 0.06


def test_a_regression_on_few_rows_is_not_worse_than_the_mean_of_y():
    X, y = load_diabetes(return_X_y=True)
    with pytest.warns(UserWarning, match="15 rows are too few"):
        automatic = CommitteeRegressor(["linear", "forest", "booster"], random_state=0).fit(X[:15], y[:15])
    error = np.mean((automatic.predict(X[15:]) - y[15:]) ** 2)
    assert error < 1.1 * np.mean((y[:15].mean() - y[15:]) ** 2)
