"""Test greedy selection against a reference implementation, and its parameters."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score, log_loss, make_scorer

from committee.combining.selection import greedy_selection
from committee.rules import BestMemberRule, GreedyRule, one_hot

CLASS_METRICS = ("neg_log_loss", "accuracy", "balanced_accuracy", "neg_brier_score")


def some_votes(n_members=5, n_rows=40, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_rows)
    scores = one_hot(y, n_classes) + rng.normal(size=(n_members, n_rows, n_classes))
    return np.exp(scores) / np.exp(scores).sum(axis=2, keepdims=True), y


def slow_loss(metric, y, decision, weights):
    n_classes = decision.shape[1]
    if metric == "neg_log_loss":
        return log_loss(y, decision, sample_weight=weights, labels=range(n_classes))
    if metric == "accuracy":
        return np.average(decision.argmax(axis=1) != y, weights=weights)
    if metric == "balanced_accuracy":
        return 1 - balanced_accuracy_score(y, decision.argmax(axis=1), sample_weight=weights)
    answer = one_hot(y, n_classes) if metric == "neg_brier_score" else y[:, None]
    scale = 0.5 if metric == "neg_brier_score" and n_classes == 2 else 1.0
    return scale * np.average(((decision - answer) ** 2).sum(axis=1), weights=weights)


def slow_selection(metric, votes, y, weights, n_start, n_steps):
    losses = [slow_loss(metric, y, vote, weights) for vote in votes]
    chosen = list(np.argsort(losses, kind="stable")[:n_start])
    best = list(chosen), slow_loss(metric, y, votes[chosen].mean(axis=0), weights)
    for _ in range(n_steps):
        losses = [slow_loss(metric, y, votes[[*chosen, m]].mean(axis=0), weights) for m in range(len(votes))]
        # Losses that differ only by rounding are tied, and the first member wins.
        chosen.append(next(m for m in range(len(votes)) if losses[m] <= min(losses) + 1e-12))
        if min(losses) < best[1] - 1e-12:
            best = list(chosen), min(losses)
    return best


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("n_start", [1, 3])
@pytest.mark.parametrize("metric", CLASS_METRICS)
def test_selection_agrees_with_the_reference_implementation(metric, n_start, is_weighted):
    votes, y = some_votes()
    weights = (
        np.random.default_rng(1).integers(0, 4, len(y)).astype(float) if is_weighted else np.ones(len(y))
    )
    rule = GreedyRule(scoring=metric, n_start=n_start, n_steps=8, patience=None)
    rule.fit(votes, y, sample_weight=weights)
    chosen, loss = slow_selection(metric, votes, y, weights, n_start, 8)
    assert rule.chosen_[0].tolist() == chosen
    np.testing.assert_allclose(rule.losses_, [loss])
    np.testing.assert_allclose(rule.weights_, np.bincount(chosen, minlength=5) / len(chosen))
    np.testing.assert_allclose(rule.combine(votes), votes[chosen].mean(axis=0))


def test_selection_agrees_with_the_reference_implementation_in_regression():
    rng = np.random.default_rng(0)
    y = 100 + rng.normal(size=30)
    votes = y[None, :, None] + rng.normal(size=(5, 30, 1))
    rule = GreedyRule(n_steps=8, patience=None).fit(votes, y)
    chosen, loss = slow_selection("neg_mean_squared_error", votes, y, None, 1, 8)
    assert rule.chosen_[0].tolist() == chosen
    np.testing.assert_allclose(rule.losses_, [loss])


@pytest.mark.parametrize("metric", CLASS_METRICS)
def test_a_function_selects_the_same_members_as_the_fast_loss(metric):
    votes, y = some_votes()
    named = GreedyRule(scoring=metric, n_steps=6).fit(votes, y)
    by_function = GreedyRule(scoring=lambda *given: -slow_loss(metric, *given), n_steps=6).fit(votes, y)
    np.testing.assert_allclose(by_function.losses_, named.losses_)


@pytest.mark.parametrize(
    ("scorer", "metric"),
    [
        (make_scorer(log_loss, greater_is_better=False, response_method="predict_proba"), "neg_log_loss"),
        (make_scorer(balanced_accuracy_score), "balanced_accuracy"),
    ],
)
@pytest.mark.parametrize("is_weighted", [False, True])
def test_a_scorer_of_scikit_learn_is_negated(scorer, metric, is_weighted):
    votes, y = some_votes()
    weights = np.arange(1, 41) if is_weighted else None
    by_scorer = BestMemberRule(scoring=scorer).fit(votes, y, sample_weight=weights).losses_
    by_name = BestMemberRule(scoring=metric).fit(votes, y, sample_weight=weights).losses_
    np.testing.assert_allclose(np.diff(by_scorer), np.diff(by_name))


def test_a_negative_loss_for_regression_is_maximised():
    votes = np.array([[[1.0], [2.0]], [[1.5], [2.5]]])
    assert BestMemberRule(scoring="neg_mean_absolute_error").fit(votes, [1.5, 2.5]).best_ == 1


@pytest.mark.parametrize("metric", CLASS_METRICS)
def test_the_first_of_equal_members_is_chosen(metric):
    votes, y = some_votes(n_members=1)
    rule = GreedyRule(scoring=metric).fit(np.repeat(votes, 4, axis=0), y)
    assert rule.chosen_[0].tolist() == [0]
    assert BestMemberRule(scoring=metric).fit(np.repeat(votes, 4, axis=0), y).best_ == 0


@pytest.mark.parametrize("metric", CLASS_METRICS)
def test_a_perfect_member_is_chosen_alone(metric):
    votes, y = some_votes()
    votes[3] = one_hot(y, 3)
    np.testing.assert_allclose(GreedyRule(scoring=metric).fit(votes, y).weights_, [0, 0, 0, 1, 0])


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000), st.sampled_from(CLASS_METRICS), st.integers(1, 6), st.integers(1, 20))
def test_the_loss_is_never_above_that_of_the_best_member(seed, metric, n_members, n_rows):
    votes, y = some_votes(n_members, n_rows, seed=seed)
    rule = GreedyRule(scoring=metric, n_steps=5).fit(votes, y)
    assert rule.losses_[0] <= BestMemberRule(scoring=metric).fit(votes, y).losses_.min() + 1e-12
    np.testing.assert_allclose(rule.weights_.sum(), 1)


def test_errors_are_exact_although_most_rows_are_skipped():
    votes, y = some_votes(n_rows=200)
    ensemble = greedy_selection.ErrorEnsemble(votes, y, np.ones(200))
    for member in (0, 1, 2, 3, 4, 0, 2):
        decisions = [(ensemble.total + vote).argmax(axis=1) for vote in votes]
        np.testing.assert_allclose(ensemble.losses(), [np.mean(labels != y) for labels in decisions])
        ensemble.add(member)


def test_patience_stops_early():
    votes, y = some_votes()
    calls = []

    def constant(y, decision, weights):
        calls.append(1)
        return 0.0

    GreedyRule(scoring=constant, n_steps=50, patience=3).fit(votes, y)
    assert len(calls) == 5 * (1 + 3)


def test_bags_contain_half_of_the_members_and_their_weights_are_averaged():
    votes, y = some_votes(n_members=6)
    rule = GreedyRule(n_bags=7, random_state=0).fit(votes, y)
    assert len(rule.chosen_) == 7
    assert all(len(set(chosen.tolist())) <= 3 for chosen in rule.chosen_)
    expected = np.mean([np.bincount(chosen, minlength=6) / len(chosen) for chosen in rule.chosen_], axis=0)
    np.testing.assert_allclose(rule.weights_, expected)
    again = GreedyRule(n_bags=7, random_state=0).fit(votes, y)
    np.testing.assert_array_equal(again.weights_, rule.weights_)


@pytest.mark.parametrize("rule", [GreedyRule, BestMemberRule])
@pytest.mark.parametrize("metric", [*CLASS_METRICS, "f1_macro"])
def test_votes_of_nan_are_refused_for_every_metric(rule, metric):
    votes, y = some_votes()
    votes[1, 2, 0] = np.nan
    with pytest.raises(ValueError, match=r"votes must be finite\. Got nan of member 1 for row 2"):
        rule(scoring=metric).fit(votes, y)


@pytest.mark.parametrize("dtype", [np.float32, np.int64, bool])
def test_the_dtype_of_crisp_votes_has_no_effect(dtype):
    votes, y = some_votes()
    crisp = one_hot(votes.argmax(axis=2), 3)
    expected = GreedyRule(scoring="accuracy").fit(crisp, y)
    assert (
        GreedyRule(scoring="accuracy").fit(crisp.astype(dtype), y).chosen_[0].tolist()
        == expected.chosen_[0].tolist()
    )


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (
            GreedyRule(scoring="neg_mean_squared_error"),
            "The metric 'neg_mean_squared_error' is for regression. For classification use 'accuracy'",
        ),
        (GreedyRule(scoring=3), "scoring must be the name of a metric"),
        (GreedyRule(scoring=lambda *given: np.nan), "The metric <lambda> must give a finite number. Got nan"),
        (GreedyRule(n_steps=-1), "n_steps must be an integer >= 0"),
        (BestMemberRule(scoring="best"), "There is no metric 'best' for classification"),
    ],
)
def test_invalid_parameters_are_refused_in_one_line(rule, message):
    votes, y = some_votes()
    with pytest.raises(ValueError, match=message) as caught:
        rule.fit(votes, y)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("metric", ["accuracy", "balanced_accuracy"])
def test_the_loss_is_that_of_the_decision_even_with_many_ties(metric, dtype):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 2, 60)
        fifths = rng.binomial(5, np.where(y, 0.6, 0.4), size=(7, 60)) / 5
        votes = np.stack([1 - fifths, fifths], axis=2).astype(dtype)
        rule = GreedyRule(scoring=metric, patience=None, n_steps=20).fit(votes, y)
        decision = rule.combine(votes)
        assert rule.losses_[0] == pytest.approx(slow_loss(metric, y, decision, np.ones(60)))


def partial_votes():
    """Return a member that is correct wherever it has voted, and one that is correct on 70 % of all rows."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    has_voted = np.ones((2, 200), dtype=bool)
    has_voted[0, :100] = False
    votes = 0.1 + 0.8 * one_hot([y, np.where(rng.random(200) < 0.7, y, 1 - y)], 2)
    votes[0, :100] = votes[0, :100, ::-1]  # The substitutes for its votes are wrong.
    return votes, y, has_voted


@pytest.mark.parametrize("metric", [*CLASS_METRICS, "f1", "roc_auc"])
def test_members_are_scored_on_the_rows_that_they_have_voted_on(metric):
    votes, y, has_voted = partial_votes()
    losses = BestMemberRule(scoring=metric).fit(votes, y, has_voted=has_voted).losses_
    for member, rows in enumerate(has_voted):
        alone = BestMemberRule(scoring=metric).fit(votes[[member]][:, rows], y[rows])
        assert losses[member] == pytest.approx(alone.losses_[0])
    assert GreedyRule(scoring=metric).fit(votes, y, has_voted=has_voted).weights_.tolist() == [1.0, 0.0]


@pytest.mark.parametrize("metric", CLASS_METRICS)
def test_the_mean_on_a_row_uses_the_members_that_have_voted_on_it(metric):
    votes, y = some_votes()
    rng = np.random.default_rng(1)
    has_voted = rng.random(votes.shape[:2]) < 0.4
    rule = GreedyRule(scoring=metric, n_steps=6, patience=None).fit(votes, y, has_voted=has_voted)
    chosen = rule.chosen_[0]
    own = has_voted[chosen][:, :, None]
    rows = own.any(axis=0)[:, 0]
    mean = (votes[chosen] * own).sum(axis=0)[rows] / own.sum(axis=0)[rows]
    assert rule.losses_[0] == pytest.approx(slow_loss(metric, y[rows], mean, np.ones(rows.sum())))
    all_voted = np.ones(votes.shape[:2], dtype=bool)
    whole = GreedyRule(scoring=metric).fit(votes, y)
    assert np.allclose(GreedyRule(scoring=metric).fit(votes, y, has_voted=all_voted).weights_, whole.weights_)


def test_a_member_without_votes_gets_the_highest_loss():
    votes, y, has_voted = partial_votes()
    has_voted[0] = False
    rule = BestMemberRule().fit(votes, y, has_voted=has_voted)
    assert rule.losses_[0] == rule.losses_[1]
    with pytest.raises(ValueError, match="The metric has no value for any member on the rows"):
        BestMemberRule().fit(votes, y, has_voted=np.zeros((2, 200), dtype=bool))


@pytest.mark.parametrize("metric", ["neg_log_loss", "neg_brier_score"])
def test_votes_are_rescaled_to_sum_to_one_before_they_are_scored(metric):
    votes, y = some_votes()
    large = np.full((1, votes.shape[1], 3), 10 / 3)
    rule = GreedyRule(scoring=metric).fit(np.concatenate([large, votes]), y)
    assert rule.weights_[0] == 0
    assert rule.losses_[0] == pytest.approx(GreedyRule(scoring=metric).fit(votes, y).losses_[0])
    best = BestMemberRule(scoring=metric).fit(10 * votes, y)
    assert np.allclose(best.losses_, BestMemberRule(scoring=metric).fit(votes, y).losses_)
