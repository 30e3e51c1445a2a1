"""The automatic committee chooses its members and its rule, and reports its score."""

import pickle
import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from every_estimator import mixed_frame, target_for, votes_of
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.dummy import DummyRegressor
from sklearn.metrics import balanced_accuracy_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import committee
from committee import DecisionTreeClassifier
from committee.automatic.portfolio import CANDIDATES, ORDERS, Size, members_of, portfolio
from committee.automatic.rule_choice import compare_rules, is_surely_better, sampled
from committee.combining.adjusted_rule import AdjustedRule
from committee.members.training_set import TrainingSet
from committee.running import receiving
from committee.votes.honest_votes import HonestVotes

# Most of these tests look at all members and at the models of their folds.
CommitteeClassifier = partial(committee.CommitteeClassifier, keep="all")
CommitteeRegressor = partial(committee.CommitteeRegressor, keep="all")

X, Y = load_iris(return_X_y=True)
NUMBERS, AMOUNTS = (each[:120] for each in load_diabetes(return_X_y=True))
MEMBERS = [("bayes", GaussianNB()), ("near", KNeighborsClassifier())]


def correlation(y, decision, weights):
    return -np.corrcoef(y, decision[:, 0])[0, 1]


def test_every_candidate_is_ranked_for_each_of_its_tasks():
    for task, names in ORDERS.items():
        assert sorted(names) == sorted(name for name, each in CANDIDATES.items() if task in each.tasks)


@pytest.mark.parametrize("made", [CommitteeClassifier, CommitteeRegressor])
def test_every_member_of_the_portfolio_accepts_any_table_and_can_be_saved(made, tmp_path):
    frame, signal = mixed_frame(n_rows=60)
    names = list(ORDERS["classification" if made is CommitteeClassifier else "regression"])
    automatic = made(names, cv=2, random_state=0)
    y = target_for(automatic, signal)
    if made is CommitteeRegressor:
        y = y - y.min() + 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        automatic.fit(frame, y, sample_weight=1 + np.arange(60) % 3)
    assert list(automatic.named_estimators_) == names
    assert {len(models) for models in automatic.estimators_} == {2}
    expected = votes_of(automatic, frame)
    assert np.isfinite(expected).all()
    automatic.save(tmp_path / "model.committee")
    loaded = committee.load(tmp_path / "model.committee")
    for again in (loaded, pickle.loads(pickle.dumps(automatic))):
        np.testing.assert_array_equal(votes_of(again, frame), expected)


def test_the_committee_is_better_than_chance_and_reports_its_score():
    automatic = CommitteeClassifier(preset="fast", random_state=0).fit(X[::2], Y[::2])
    assert automatic.score(X[1::2], Y[1::2]) > 0.9
    assert automatic.leaderboard(["mean"], scoring="neg_log_loss")[0].score > -0.3
    numbers = CommitteeRegressor(preset="fast", random_state=0).fit(NUMBERS, AMOUNTS)
    assert numbers.leaderboard(["mean"], scoring="r2")[0].score > 0.2


@pytest.mark.parametrize("runner", ["serial", "processes"])
def test_any_runner_gives_the_same_bits(runner):
    frame, signal = mixed_frame()
    names = ["booster", "linear", "network_wide"]
    for made in (CommitteeClassifier, CommitteeRegressor):
        automatic = made(names, cv=2, random_state=0)
        y = target_for(automatic, signal)
        expected = clone(automatic).fit(frame, y)
        found = clone(automatic).set_params(runner=runner).fit(frame, y)
        assert votes_of(found, frame).tobytes() == votes_of(expected, frame).tobytes()
        assert found.honest_votes_.tobytes() == expected.honest_votes_.tobytes()


def test_the_rule_wins_a_nested_comparison():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    good = np.clip(np.column_stack([1 - y, y]) * 0.8 + rng.normal(0.1, 0.1, (300, 2)), 0.01, 1)
    noise = rng.dirichlet([1, 1], (9, 300))
    votes = np.concatenate([good[None], noise]).astype(np.float32)
    found = compare_rules(HonestVotes.of(votes, y), None, np.inf)
    losses = {scored.name: scored.loss for scored in found}
    assert list(losses.values()) == sorted(losses.values())
    learning = {"best_member", "cawpe", "greedy", "stacking", "log_pool", "calibrated greedy"}
    assert losses.keys() == {"mean", "constant"} | learning
    assert found[0].name != "mean" and losses["mean"] > 2 * found[0].loss
    alone = compare_rules(HonestVotes.of(votes[:1], y), None, np.inf)
    assert [scored.name for scored in alone] == ["best_member", "constant"]


def test_another_rule_can_be_set_without_a_fit():
    automatic = CommitteeClassifier(MEMBERS, random_state=0).fit(X, Y)
    cawpe = automatic.recombine("cawpe")
    assert isinstance(cawpe, committee.CommitteeClassifier) and cawpe.rule == "cawpe"
    assert cawpe.estimators_[0] is automatic.estimators_[0]
    fitted = CommitteeClassifier(MEMBERS, rule="cawpe", random_state=0).fit(X, Y)
    np.testing.assert_array_equal(cawpe.predict_proba(X), fitted.predict_proba(X))
    dynamic = automatic.recombine("dynamic", X)
    assert dynamic.score(X, Y) > 0.9


def test_the_automatic_rule_can_be_chosen_again():
    automatic = CommitteeClassifier(MEMBERS, random_state=0).fit(X, Y)
    again = automatic.recombine("mean").recombine("auto")
    assert again.rule == "auto"
    np.testing.assert_array_equal(again.predict_proba(X), automatic.predict_proba(X))


def test_more_folds_than_possible_are_reduced_with_a_warning():
    with pytest.warns(
        UserWarning, match=r"cv=99 is more than the number of rows of a class, so there are 50 folds\."
    ):
        CommitteeClassifier(MEMBERS[:1], cv=99, random_state=0).fit(X, Y)


def test_many_classes_are_not_treated_as_numbers():
    rows = np.random.default_rng(0).normal(size=(150, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        automatic = CommitteeClassifier(["linear", "c45"], cv=2, random_state=0).fit(
            rows, np.arange(150) % 60
        )
    assert len(automatic.classes_) == 60


def test_two_classes_with_any_labels_can_be_scored_by_the_brier_score():
    y = np.where(Y == 0, "setosa", "other")
    boards = [
        CommitteeClassifier(MEMBERS, scoring="neg_brier_score", random_state=0)
        .fit(X, labels)
        .leaderboard(["mean"])
        for labels in (y, (y == "setosa").astype(int))
    ]
    assert boards[0].scoring == boards[1].scoring == "neg_brier_score"
    assert [each.score for each in boards[0]] == pytest.approx([each.score for each in boards[1]])


def test_a_threshold_is_tuned_on_request():
    rng = np.random.default_rng(0)
    y = (rng.random(400) < 0.15).astype(int)
    table = rng.normal(size=(400, 2)) + y[:, None]
    given = {"estimators": [("bayes", GaussianNB())], "scoring": "balanced_accuracy", "random_state": 0}
    usual = CommitteeClassifier(**given).fit(table, y)
    tuned = CommitteeClassifier(**given, tune_threshold=True).fit(table, y)
    assert balanced_accuracy_score(y, tuned.predict(table)) > balanced_accuracy_score(y, usual.predict(table))
    probabilities = tuned.predict_proba(table)
    np.testing.assert_array_equal(tuned.predict(table), probabilities.argmax(axis=1))
    again = CommitteeClassifier(**given, rule="mean", tune_threshold=True).fit(table, y)
    assert (again.predict(table) == tuned.predict(table)).mean() > 0.95


def test_thresholds_are_tuned_within_the_time_limit():
    asked = []

    def metric(y, decision, weights):
        asked.append(len(y))
        return float((decision.argmax(axis=1) == y).mean())

    votes = np.random.default_rng(0).dirichlet(np.ones(3), size=(2, len(Y)))
    honest = HonestVotes.of(votes, Y)
    scored = compare_rules(honest, metric, 0.0, adjust=lambda rule: AdjustedRule(rule, scoring=metric))
    # In each of five folds, the member alone and the rule before and after adjusting are scored.
    assert len(scored) == 1 and len(asked) < 30
    assert scored[0].rule.time_limit is None


def test_rules_that_use_rows_are_also_tried(monkeypatch):
    tried = []

    def compare(honest, metric, seconds, X, *rest):
        tried.append(X)
        return compare_rules(honest, metric, seconds, X)

    monkeypatch.setattr("committee.automatic.rule_choice.compare_rules", compare)
    for preset in ("balanced", "best", "fast"):
        fitted = CommitteeClassifier(MEMBERS, preset=preset, cv=2, random_state=0).fit(X, Y)
        assert fitted.score(X, Y) > 0.9
    assert tried[0].shape == tried[1].shape == (150, 4) and tried[2] is None
    tried.clear()
    monkeypatch.setattr("committee.automatic.rule_choice.DIFFERENCES_IN_A_SECOND", 1.0)
    CommitteeClassifier(MEMBERS, cv=2, random_state=0).fit(X, Y)
    assert tried == [None]


def test_probabilities_are_calibrated_if_the_metric_rewards_it():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    votes = rng.dirichlet([1, 1], (2, 300))
    honest = HonestVotes.of(votes, y)
    for metric in (None, "neg_log_loss", "neg_brier_score", "accuracy", "roc_auc"):
        names = {scored.name for scored in compare_rules(honest, metric, np.inf)}
        assert ("calibrated greedy" in names) == (metric not in ("accuracy", "roc_auc"))
    by_brier, by_log_loss = (
        AdjustedRule("mean", scoring=metric).fit(votes, y) for metric in ("neg_brier_score", None)
    )
    np.testing.assert_array_equal(by_brier.combine(votes), by_log_loss.combine(votes))


@pytest.mark.parametrize("metric", [None, "accuracy"])
def test_dynamic_selection_is_chosen_if_it_is_significantly_better(metric):
    rng = np.random.default_rng(0)
    table = rng.uniform(-1, 1, (400, 1))
    y = rng.integers(0, 2, 400)
    right, wrong = (np.where(y[:, None] == [0, 1], high, 1 - high) for high in (0.7, 0.1))
    is_left = table < 0
    votes = np.stack([np.where(is_left, right, wrong), np.where(is_left, wrong, right)])
    honest = HonestVotes.of(votes, y)
    assert compare_rules(honest, metric, np.inf, table)[0].name == "dynamic"
    alike = HonestVotes.of(np.stack([right, right]), y)
    assert compare_rules(alike, metric, np.inf, table)[0].name != "dynamic"


@pytest.mark.parametrize("metric", ["neg_log_loss", "roc_auc", "f1", correlation])
def test_one_more_correct_row_is_not_significant_in_any_metric(metric):
    y = np.tile([0, 1], 50)
    right = np.where(y[:, None] == [0, 1], 0.8, 0.2)
    honest = HonestVotes.of(right[None], y)
    worse, wrong = right.copy(), right[:, ::-1]
    worse[0] = wrong[0]
    assert not is_surely_better(right, worse, honest, metric)
    assert is_surely_better(right, wrong, honest, metric)


def test_a_sample_of_votes_contains_every_class():
    y = np.zeros(1000, dtype=np.int64)
    y[[3, 501, 777]] = 1, 2, 2
    votes = np.full((2, 1000, 3), 1 / 3)
    rows = sampled(HonestVotes.of(votes, y), 600).rows
    assert set(y[rows]) == {0, 1, 2} and 100 <= len(rows) <= 110
    numbers = HonestVotes.of(votes[:, :, :1], y + 0.5)
    assert len(sampled(numbers, 200).rows) == 100


@pytest.mark.parametrize("period", [2, 3, 10, 24])
def test_a_sample_of_votes_represents_all_rows_in_any_order(period):
    y = np.arange(24_000) % period
    votes = np.full((1, 24_000, period), 1 / period)
    rows = sampled(HonestVotes.of(votes, y), 2400 * period).rows
    np.testing.assert_array_equal(np.bincount(y[rows]), np.full(period, 2400 // period))
    numbers = sampled(HonestVotes.of(votes[:, :, :1], y + 0.5), 2400).rows
    assert np.bincount(y[numbers]).min() > 0.5 * 2400 / period


def test_the_chosen_rule_does_not_depend_on_row_order():
    rng = np.random.default_rng(0)
    y = rng.normal(size=400)
    # The first member is right except for high numbers, which a model that saw none cannot predict.
    votes = np.stack([y.clip(None, 0.5), y + rng.normal(size=400)])[:, :, None]
    found = []
    for order in (np.argsort(y), rng.permutation(400)):
        honest = HonestVotes.of(votes[:, order], y[order])
        found.append({each.name: each.loss for each in compare_rules(honest, None, np.inf)})
    for name, loss in found[0].items():
        assert loss == pytest.approx(found[1][name], rel=0.1), name


@pytest.mark.parametrize("scoring", ["neg_log_loss", "neg_root_mean_squared_error", "neg_mean_squared_error"])
def test_the_default_metric_chooses_the_same_rule_as_no_metric(scoring):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    votes = rng.dirichlet([1, 1], (3, 200)) + np.eye(2)[y]
    votes /= votes.sum(axis=2, keepdims=True)
    if scoring != "neg_log_loss":
        y, votes = y + 0.5, votes[:, :, 1:]
    honest = HonestVotes.of(votes, y)
    taken = [repr(compare_rules(honest, each, np.inf)[0].rule) for each in (scoring, None)]
    assert taken[0].replace(f"scoring={scoring!r}", "") == taken[1]


def test_rules_without_a_value_of_the_metric_are_not_compared():
    # The metric has no value without the single row of class 2, so rules that learn from it cannot be scored.
    y = np.array([0, 1] * 20 + [2])
    votes = np.random.default_rng(0).dirichlet([1, 1, 1], (2, 41)) + np.eye(3)[y]
    honest = HonestVotes.of(votes / 2, y)
    names = {each.name for each in compare_rules(honest, "roc_auc_ovo", np.inf)}
    assert {"mean", "cawpe"} <= names and "greedy" not in names


def test_dynamic_selection_is_tried_for_regression():
    rng = np.random.default_rng(0)
    table = rng.uniform(-1, 1, (400, 1))
    y = rng.normal(size=400)
    off = np.where(table < 0, 0.0, 5.0)
    votes = np.stack([y[:, None] + off, y[:, None] + 5 - off])
    honest = HonestVotes.of(votes, y)
    assert "dynamic" in {scored.name for scored in compare_rules(honest, None, np.inf, table)}


@pytest.mark.parametrize(
    ("given", "n_folds"),
    [
        ({}, 8),
        ({"preset": "fast"}, 5),
        ({"cv": 3}, 3),
        ({"preset": "fast", "time_limit": 1e4}, 5),
        ({"time_limit": 0.9}, 5),
        ({"time_limit": 0.9, "run_folder": "folder"}, 8),
    ],
)
def test_small_tables_get_more_folds_if_time_allows(given, n_folds):
    automatic = CommitteeClassifier(["c45"], random_state=0, **given)
    training = TrainingSet.of(automatic._task_type, X, Y, None, None)
    assert len(automatic._every_repeat(training, np.random.default_rng(0))[0]) == n_folds


@pytest.mark.parametrize(
    ("given", "n_rows", "n_repeats"),
    [
        ({}, 150, 1),
        ({"time_limit": 9}, 150, 16),
        ({"time_limit": 9}, 60_000, 4),
        ({"preset": "best"}, 150, 3),
    ],
)
def test_folds_are_repeated_more_often_if_time_allows(given, n_rows, n_repeats):
    automatic = CommitteeClassifier(["c45"], random_state=0, **given)
    rows = np.arange(n_rows) % 150
    training = TrainingSet.of(automatic._task_type, X[rows], Y[rows], None, None)
    assert automatic._n_repeats(training) == n_repeats


def test_a_committee_fitted_on_an_iterator_of_folds_can_be_recombined():
    folds = ((np.arange(150)[np.arange(150) % 3 != k], np.arange(k, 150, 3)) for k in range(3))
    found = CommitteeClassifier(MEMBERS, cv=folds, random_state=0).fit(X, Y).recombine("median")
    np.testing.assert_allclose(found.predict_proba(X), np.median(found.votes(X), axis=0), atol=1e-6)


def test_groups_are_held_out_together():
    groups = np.arange(150) % 30
    bayes = CommitteeClassifier(MEMBERS[:1], cv=5, random_state=0)
    alone, together = bayes.fit(X, Y).honest_votes_, clone(bayes).fit(X, Y, groups=groups).honest_votes_
    assert not np.array_equal(alone, together)
    with pytest.raises(ValueError, match="there is one group"):
        clone(bayes).fit(X, Y, groups=np.zeros(150))


def test_large_tables_get_fewer_members():
    small, large = Size("classification", 500, 10, 2), Size("classification", 10**6, 50, 2)
    few, many = portfolio(large, "best"), portfolio(small, "best")
    assert {member.name for member in few} < {member.name for member in many}
    assert len(portfolio(small, "fast")) < len(portfolio(small, "balanced")) == len(many)
    assert few[0].name == many[0].name == "booster"


def test_members_for_positive_targets_are_used_only_if_all_targets_are_positive():
    for y, is_there in ((AMOUNTS, True), (AMOUNTS - AMOUNTS.mean(), False)):
        training = TrainingSet.of(committee.CommitteeRegressor._task_type, NUMBERS, y, None, None)
        names = [member.name for member in portfolio(Size.of(training), "best")]
        assert ("booster_poisson" in names) == is_there


def test_an_error_of_a_metric_is_raised_if_all_rows_have_votes():
    def choosy(y, decision, weights):
        if len(y) < 150 or not np.allclose(decision, decision[0]):
            raise ValueError("I accept only constants.")
        return 0.0

    with pytest.raises(ValueError, match="I accept only constants"):
        CommitteeClassifier(MEMBERS, cv=2, scoring=choosy, random_state=0).fit(X, Y)


class Failing(GaussianNB):
    """Naive Bayes that cannot be fitted."""

    def fit(self, X, y, sample_weight=None):
        raise ValueError("No.")


def test_a_failing_member_is_dropped_with_a_warning():
    with pytest.warns(RuntimeWarning, match=r"Member 'shy' is dropped. .*fold 0.*ValueError: No."):
        automatic = CommitteeClassifier([("shy", Failing()), *MEMBERS], random_state=0).fit(X, Y)
    assert list(automatic.named_estimators_) == ["bayes", "near"]
    with pytest.raises(ValueError, match=r"Every member failed\. The first"):
        CommitteeClassifier([("shy", Failing())]).fit(X, Y)


def test_events_report_members_best_score_and_time_left():
    events = []
    with receiving(events.append):
        CommitteeClassifier(MEMBERS, cv=3, time_limit=1000, n_jobs=1, random_state=0).fit(X, Y)
    reported = [event for event in events if event.name == "CommitteeClassifier" and event.n_done]
    assert {(event.what, event.n_total) for event in reported} == {("members", 2)}
    first, second = (next(each for each in reported if each.n_done == number) for number in (1, 2))
    assert (first.part, second.part) == ("bayes", "near")
    assert -1 < first.score <= second.score < 0 and first.shown == ("log loss", -first.score)
    assert 0 < second.seconds_left < 1000
    assert f"best log loss {-second.score:.4g}" in str(second) and "s left" in str(second)
    assert str(reported[-1]).startswith("2 of 2 members, best log loss")


def test_without_a_limit_the_share_of_the_work_grows_to_one():
    events = []
    with receiving(events.append):
        CommitteeClassifier(MEMBERS, cv=3, n_jobs=1, random_state=0).fit(X, Y)
    shares = [event.share for event in events if event.name == "CommitteeClassifier" and event.share]
    assert shares == [pytest.approx(done / 6) for done in range(1, 7)]


def test_the_progress_of_a_regression_shows_the_metric_of_the_leaderboard():
    events = []
    with receiving(events.append):
        fitted = CommitteeRegressor(["linear"], cv=3, random_state=0).fit(NUMBERS, AMOUNTS)
    name, best = events[-1].shown
    assert name == "RMSE" and best == pytest.approx(-fitted.leaderboard([]).members[0].score)


def test_members_that_are_left_out_are_not_in_the_total_of_the_last_event():
    events = []
    with receiving(events.append), pytest.warns(RuntimeWarning, match="'shy' is dropped"):
        CommitteeClassifier([("shy", Failing()), *MEMBERS], cv=3, random_state=0).fit(X, Y)
    last = next(event for event in events if event.name == "CommitteeClassifier" and event.is_over)
    assert (last.n_done, last.n_total) == (2, 2)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"estimators": "all"}, r'estimators must be "auto", or a list of names .* Got \'all\'.'),
        ({"estimators": []}, r"Got \[\]."),
        (
            {"estimators": ["forrest"]},
            "There is no member 'forrest' for classification. Did you mean 'forest'",
        ),
        ({"estimators": ["linear", "linear"]}, "Two members are named 'linear'."),
        ({"estimators": [("line", committee.DecisionTreeRegressor())]}, "'line' must be a classifier."),
        ({"rule": "best"}, "There is no rule 'best'."),
        ({"time_limit": 0}, "time_limit must be a number > 0 or None. Got 0."),
        ({"time_limit": np.inf}, "time_limit must be a number > 0 or None. Got inf."),
        (
            {"memory_limit": "4GB"},
            "memory_limit must be a number of bytes > 0, such as 4e9, or None. Got '4GB'",
        ),
        ({"scoring": "neg_mean_squared_error"}, "The metric 'neg_mean_squared_error' is for regression"),
        ({"cv": "prefit"}, 'cv must be "auto", an integer >= 2'),
        ({"cv": None}, 'cv must be "auto", an integer >= 2'),
        ({"preset": "slow"}, 'preset must be "fast", "balanced" or "best". Got \'slow\'.'),
    ],
)
def test_bad_parameters_are_named_in_one_line(parameters, message):
    with pytest.raises(ValueError, match=message) as caught:
        CommitteeClassifier(**{"estimators": MEMBERS} | parameters).fit(X, Y)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("made", "y", "metric", "message"),
    [
        (
            committee.CommitteeRegressor,
            AMOUNTS,
            "accuracy",
            "The metric 'accuracy' is for classification. For",
        ),
        (
            committee.CommitteeRegressor,
            AMOUNTS - 200,
            "neg_mean_squared_log_error",
            "log_error cannot score this y: ",
        ),
        (
            committee.CommitteeClassifier,
            AMOUNTS > 150,
            "r2",
            "The metric 'r2' is for regression. For classification",
        ),
        (
            committee.CommitteeClassifier,
            np.arange(120) % 3,
            "precision",
            "'precision' is for two classes. For 3",
        ),
        (
            committee.CommitteeRegressor,
            AMOUNTS,
            lambda y, decision, weights: np.nan,
            "must give a finite number",
        ),
    ],
)
def test_a_metric_that_cannot_score_y_is_refused_before_any_fit(made, y, metric, message, monkeypatch):
    def fit_members(*arguments):
        raise AssertionError("A member was fitted.")

    monkeypatch.setattr(made, "_fit_members", fit_members)
    with pytest.raises(ValueError, match=message) as caught:
        made(["booster"], scoring=metric).fit(NUMBERS, y)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize("metric", ["neg_mean_poisson_deviance", correlation])
def test_a_metric_without_a_value_for_constant_or_correct_predictions_is_accepted(metric):
    y = np.round(AMOUNTS / 100)
    assert (y == 0).any()
    CommitteeRegressor(["booster_poisson"], cv=2, scoring=metric, random_state=0).fit(NUMBERS, y)


def test_a_threshold_for_regression_is_refused():
    with pytest.raises(ValueError, match="tune_threshold is for classes, and the task is a regression"):
        CommitteeRegressor(["linear"], tune_threshold=True).fit(NUMBERS, AMOUNTS)


def test_members_that_the_metric_cannot_score_do_not_end_the_fit():
    low, usual = DummyRegressor(strategy="constant", constant=-50.0), DummyRegressor()
    given = {"cv": 2, "scoring": "neg_mean_squared_log_error", "random_state": 0}
    automatic = CommitteeRegressor([("low", low), ("usual", usual)], **given)
    with receiving(lambda event: None):
        automatic.fit(NUMBERS, AMOUNTS)
    assert list(automatic.named_estimators_) == ["low", "usual"]
    with (
        receiving(lambda event: None),
        pytest.warns(
            RuntimeWarning, match=r"cannot be compared on 120 rows .*the mean decides: .*Logarithmic"
        ),
    ):
        automatic.set_params(estimators=[("low", low)]).fit(NUMBERS, AMOUNTS)
    assert list(automatic.named_estimators_) == ["low"]


def test_auto_can_be_combined_with_other_members():
    size = Size("classification", 150, 4, 3)
    fast = portfolio(size, "fast")
    names = [member.name for member in fast]
    mine = ("mine", GaussianNB())
    assert members_of("auto", size, fast) is fast
    among = members_of(["c45", "auto", mine], size, fast)
    assert [member.name for member in among] == ["c45", *names, "mine"]
    # A member passed by name keeps its position and its estimator.
    own = members_of(["auto", names[1], (names[0], GaussianNB())], size, fast)
    assert [member.name for member in own] == [*names[2:], names[1], names[0]]
    assert isinstance(own[-1].estimator, GaussianNB)


def test_members_can_be_names_and_estimators():
    members = [("tree", DecisionTreeClassifier(max_depth=2)), "linear"]
    automatic = CommitteeClassifier(members, scoring="accuracy", random_state=0).fit(X, Y)
    assert list(automatic.named_estimators_) == ["tree", "linear"]
    assert not hasattr(automatic.estimators[0][1], "tree_")


def test_rules_are_scored_by_their_decisions_with_row_weights():
    tuned = CommitteeClassifier(MEMBERS, scoring="accuracy", tune_threshold=True, random_state=0).fit(X, Y)
    assert isinstance(tuned.rule_, AdjustedRule) and not isinstance(tuned.rule_.rule_, AdjustedRule)
    assert isinstance(tuned.recombine("mean").rule_, AdjustedRule)
    greedy = tuned.recombine("greedy")
    np.testing.assert_array_equal(greedy.weights_, greedy.rule_.rule_.weights_)


def test_the_default_rule_is_chosen_unless_another_is_significantly_better():
    rng = np.random.default_rng(0)
    y = rng.normal(size=400)
    votes = (y + rng.normal(size=(3, 400)) * [[0.5], [0.6], [0.7]])[:, :, None]
    found = compare_rules(HonestVotes.of(votes, y), None, np.inf)
    assert found[0].name == "shrunken stacking"
    honest = HonestVotes.of(votes, y)
    good, bad, noisy = y[:, None], y[:, None] + 1, y[:, None] + rng.normal(size=(400, 1))
    assert is_surely_better(good, bad, honest, None)
    assert not is_surely_better(bad, noisy, honest, None)


def test_a_logarithmic_pool_decides_in_each_fold():
    X, y = load_iris(return_X_y=True)
    automatic = CommitteeClassifier(["booster", "linear"], rule="log_pool", cv=5, random_state=0)
    automatic.fit(X, y)
    each = [
        automatic.rule_.combine(np.stack([models[fold].predict_proba(X) for models in automatic.estimators_]))
        for fold in range(5)
    ]
    np.testing.assert_allclose(automatic.predict_proba(X), np.mean(each, axis=0), atol=1e-6)
    boosters = CommitteeClassifier(["booster", "booster_wide"], rule="log_pool", random_state=0).fit(X, y)
    np.testing.assert_array_equal(boosters.predictor().predict_proba(X), boosters.predict_proba(X))


def test_a_table_of_missing_values_is_fitted_by_members_that_accept_it():
    nothing = pd.DataFrame({"a": [None] * 40, "b": [np.nan] * 40})
    automatic = CommitteeClassifier(["bayes", "booster"], cv=2, random_state=0)
    with pytest.warns(RuntimeWarning, match="'bayes' is dropped.*It votes with NaN or infinity"):
        automatic.fit(nothing, [0, 1, 1, 1] * 10)
    np.testing.assert_allclose(automatic.predict_proba(nothing[:1]), [[0.25, 0.75]], atol=0.05)


def test_members_of_repeated_folds_do_not_depend_on_fit_times():
    X, y = load_iris(return_X_y=True)
    found = [
        CommitteeClassifier(["c45", "bayes"], preset="best", cv=2, n_jobs=n_jobs, random_state=0).fit(X, y)
        for n_jobs in (1, 2)
    ]
    assert [len(models) for models in found[0].estimators_] == [
        len(models) for models in found[1].estimators_
    ]
    assert found[0].predict_proba(X).tobytes() == found[1].predict_proba(X).tobytes()
