"""Reduce a committee to fewer members, to one model per member, or to one student model."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from every_estimator import mixed_frame, target_for
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import committee
from committee import DecisionTreeClassifier, rules
from committee.automatic.offers import some_row
from committee.automatic.rule_choice import loss_of
from committee.running import TaskError

# Most of these tests look at all members and at the models of their folds.
CommitteeClassifier = partial(committee.CommitteeClassifier, keep="all")
CommitteeRegressor = partial(committee.CommitteeRegressor, keep="all")

X, Y = load_iris(return_X_y=True)
MEMBERS = [
    ("stump", DecisionTreeClassifier(max_depth=1)),
    ("bayes", GaussianNB()),
    ("near", KNeighborsClassifier()),
    ("tree", DecisionTreeClassifier(max_depth=3)),
]
AUTOMATIC = CommitteeClassifier(MEMBERS, random_state=0).fit(X, Y)


def test_a_committee_pruned_to_one_member_keeps_the_best():
    alone = AUTOMATIC.prune(max_members=1)
    best = rules.BestMemberRule().fit(AUTOMATIC.honest_votes_, Y).best_
    assert list(alone.named_estimators_) == [MEMBERS[best][0]]
    np.testing.assert_allclose(alone.predict_proba(X), AUTOMATIC.votes(X)[best], atol=1e-6)
    assert len(AUTOMATIC.estimators_) == 4


def test_more_members_are_never_worse_on_honest_votes():
    losses = []
    for n_members in (1, 2, 4):
        smaller = AUTOMATIC.prune(max_members=n_members)
        assert len(smaller.estimators_) <= n_members
        rule = smaller._honest.fit_rule(clone(AUTOMATIC.rule_))
        losses.append(loss_of(rule.combine(smaller.honest_votes_), smaller._honest, None))
    assert losses == sorted(losses, reverse=True)


def test_the_file_respects_the_size_limit(tmp_path):
    AUTOMATIC.save(tmp_path / "whole.committee")
    limit = 0.6 * (tmp_path / "whole.committee").stat().st_size
    smaller = AUTOMATIC.prune(max_bytes=limit)
    smaller.save(tmp_path / "small.committee")
    assert (tmp_path / "small.committee").stat().st_size <= limit
    loaded = committee.load(tmp_path / "small.committee")
    np.testing.assert_array_equal(loaded.predict_proba(X), smaller.predict_proba(X))
    alone = [each.prune(max_members=1).predict_proba(X) for each in (loaded, smaller)]
    np.testing.assert_array_equal(*alone)
    with pytest.raises(ValueError, match="max_bytes=10 is too small for any member"):
        AUTOMATIC.prune(max_bytes=10)


def test_a_size_limit_below_one_member_is_refused():
    with pytest.raises(ValueError, match=r"max_members must be an integer >= 1 or None. Got 1.5."):
        AUTOMATIC.prune(max_members=1.5)


def test_a_refit_uses_the_weights_of_the_fit():
    weights = np.where(Y == 0, 0.5, 2.0)
    weighted = CommitteeClassifier(MEMBERS, random_state=0).fit(X, Y, weights)
    assert weighted.refit_full(X, Y, weights).predict(X).shape == Y.shape
    for model, given in ((weighted, None), (weighted, 2 * weights), (AUTOMATIC, weights)):
        with pytest.raises(ValueError, match="sample_weight must be those of the fit"):
            model.refit_full(X, Y, given)


def test_the_latency_is_measured_on_one_row():
    for table in (X, X[:1], None):
        assert len(AUTOMATIC.prune(table, max_latency=1000).estimators_) >= 1
        with pytest.raises(ValueError, match="max_latency=1e-09 is too small for any member"):
            AUTOMATIC.prune(table, max_latency=1e-9)


def test_the_result_of_refit_full_can_be_pruned():
    smaller = AUTOMATIC.refit_full(X, Y).prune(X, max_latency=1000)
    assert all(len(member.models) == 1 for member in smaller._fitted_members)


def test_the_latency_can_be_measured_with_columns_of_any_type():
    frame = pd.DataFrame(
        {
            "age": np.arange(60.0),
            "city": pd.Categorical(["Oslo", "Bonn", None] * 20),
            "is_new": [True, False] * 30,
            "since": pd.date_range("2024-01-01", periods=60),
        }
    )
    automatic = CommitteeClassifier(["booster", "linear"], cv=2, random_state=0).fit(frame, [0, 1] * 30)
    assert len(automatic.prune(max_latency=1000).estimators_) >= 1
    row = some_row(automatic.schema_)
    assert list(row.columns) == list(frame.columns)
    automatic.predict(row)


def test_members_that_exceed_a_limit_together_are_dropped(monkeypatch):
    """Members may cost more together than alone. Then fewer members are kept."""
    costs = {each: 1.0 for each in range(4)}
    measured = []

    def cost(smaller):
        measured.append(len(smaller.estimators_))
        return 1.5 * len(smaller.estimators_)

    monkeypatch.setattr(type(AUTOMATIC), "_costs", lambda self, name, X: (np.array([*costs.values()]), cost))
    smaller = AUTOMATIC.prune(max_bytes=3.0)
    assert 1.5 * len(smaller.estimators_) <= 3.0
    assert measured == sorted(measured, reverse=True)


@pytest.mark.parametrize("limits", [{}, {"max_members": 1, "max_bytes": 1}, {"max_members": 0}])
def test_at_least_one_limit_is_required(limits):
    with pytest.raises(ValueError, match="prune needs one of max_members, max_latency, max_bytes"):
        AUTOMATIC.prune(**limits)


def test_a_rule_set_by_the_user_is_kept():
    pruned = CommitteeClassifier(MEMBERS, rule="cawpe", random_state=0).fit(X, Y).prune(max_members=2)
    assert isinstance(pruned.rule_, rules.CAWPERule)


def test_a_rule_set_by_the_user_keeps_its_seed_and_the_weights_of_kept_members():
    stacked = rules.StackingRule(DecisionTreeClassifier(max_features=1))
    pruned = CommitteeClassifier(MEMBERS, rule=stacked, random_state=0).fit(X, Y)
    smaller = pruned.prune(max_members=2)
    assert smaller.rule_.final_estimator.random_state == pruned.rule_.final_estimator.random_state is not None
    weighted = rules.FixedRule(weights=[1, 2, 3, 4])
    pruned = CommitteeClassifier(MEMBERS, rule=weighted, random_state=0).fit(X, Y).prune(max_members=2)
    names = [name for name, _ in MEMBERS]
    stay = np.array([names.index(name) + 1 for name in pruned.named_estimators_])
    np.testing.assert_allclose(pruned.rule_.weights / pruned.rule_.weights.sum(), stay / stay.sum())


def test_refit_full_fits_each_member_on_all_rows():
    whole = AUTOMATIC.refit_full(X, Y)
    expected = GaussianNB().fit(X, Y)
    found = whole.named_estimators_["bayes"]
    np.testing.assert_array_equal(found.predict_proba(X), expected.predict_proba(X))
    assert whole.rule_ is AUTOMATIC.rule_
    assert isinstance(AUTOMATIC.named_estimators_["bayes"], list)
    with pytest.raises(ValueError, match="X, y and sample_weight must be those of the fit"):
        AUTOMATIC.refit_full(X, 2 - Y)
    with pytest.raises(ValueError, match="X, y and sample_weight must be those of the fit"):
        AUTOMATIC.refit_full(X[:100], Y[:100])


def test_a_refit_has_the_rounds_that_the_fold_models_found():
    booster = committee.GradientBoostingClassifier(early_stopping=True, n_iter_no_change=2)
    automatic = CommitteeClassifier([("booster", booster)], cv=3, random_state=0).fit(X, Y)
    rounds = [model.n_iter_ for model in automatic.named_estimators_["booster"]]
    whole = automatic.refit_full(X, Y)
    assert whole.named_estimators_["booster"].n_iter_ == sorted(rounds)[1]
    assert [each.n_models for each in whole._record.leaderboard.members] == [1]


def test_a_refit_that_fails_names_the_member():
    class Refusing(GaussianNB):
        def fit(self, X, y, sample_weight=None):
            if len(y) == len(Y):
                raise ValueError("no")
            return super().fit(X, y, sample_weight)

    automatic = CommitteeClassifier([("refusing", Refusing())], cv=3, random_state=0).fit(X, Y)
    with pytest.raises(TaskError, match="refusing"):
        automatic.refit_full(X, Y)


@pytest.mark.parametrize("group", [0, 1, 2])
def test_a_member_is_refitted_on_all_rows_even_if_a_fold_has_one_class(group):
    groups = np.arange(30) % 3
    y = (groups == group).astype(int)
    automatic = CommitteeClassifier([("near", KNeighborsClassifier(1))], cv=3, random_state=0)
    whole = automatic.fit(X[:30], y, groups=groups).refit_full(X[:30], y)
    found = {type(each).__name__ for each in automatic.named_estimators_["near"]}
    assert found == {"DummyClassifier", "KNeighborsClassifier"}
    assert isinstance(whole.named_estimators_["near"], KNeighborsClassifier)


def test_a_student_learns_the_decisions_of_the_committee():
    student = AUTOMATIC.distil(X)
    assert isinstance(student, committee.GradientBoostingClassifier)
    assert (student.predict(X) == AUTOMATIC.predict(X)).mean() > 0.97
    bayes = AUTOMATIC.distil(X, GaussianNB())
    assert (bayes.predict(X) == AUTOMATIC.predict(X)).mean() > 0.9
    with pytest.raises(ValueError, match="KNeighborsClassifier does not support sample_weight"):
        AUTOMATIC.distil(X, KNeighborsClassifier())
    with pytest.raises(ValueError, match="'estimator' must be a classifier"):
        AUTOMATIC.distil(X, LinearRegression())


def test_a_student_learns_a_regression():
    table, y = load_diabetes(return_X_y=True)
    numbers = CommitteeRegressor(["linear", "booster"], cv=2, random_state=0).fit(table, y)
    student = numbers.distil(table, LinearRegression())
    assert np.corrcoef(student.predict(table), numbers.predict(table))[0, 1] > 0.9


def test_importances_come_from_members_that_have_them():
    frame, signal = mixed_frame(n_rows=200)
    automatic = CommitteeClassifier(["booster", "linear"], cv=2, random_state=0)
    automatic.fit(frame, target_for(automatic, signal))
    importances = automatic.feature_importances_
    assert importances.shape == (4,)
    assert importances.sum() == pytest.approx(1)
    assert set(np.argsort(importances)[-2:]) == {0, 3}


def test_importances_of_linear_members_are_coefficients_of_scaled_columns():
    frame = pd.DataFrame({"size": np.arange(60) * 1000.0, "kind": ["a", "b", "c"] * 20, "same": [1.0] * 60})
    linear = CommitteeClassifier(["linear"], cv=2, random_state=0).fit(frame, np.arange(60) >= 30)
    size, kind, same = linear.feature_importances_
    assert size > kind > same == 0
    assert size + kind == pytest.approx(1)


def test_importances_are_averaged_equally_if_no_weighted_member_has_them():
    members = [("near", KNeighborsClassifier()), ("tree", DecisionTreeClassifier(max_depth=1))]
    automatic = CommitteeClassifier(members, rule="best_member", cv=2, random_state=0).fit(X, Y)
    assert automatic.weights_.tolist() == [1, 0]
    assert automatic.feature_importances_.sum() == pytest.approx(1)
    with pytest.raises(AttributeError, match="No member has importances of columns"):
        _ = CommitteeClassifier([("near", KNeighborsClassifier())], cv=2).fit(X, Y).feature_importances_


def no_loss(*given):
    return 0.0


@pytest.mark.parametrize(
    ("metric", "scoring"),
    [
        (None, "neg_log_loss"),
        ("accuracy", "accuracy"),
        ("f1_macro", "f1_macro"),
        (no_loss, "no_loss"),
    ],
)
def test_the_leaderboard_uses_the_metric_of_the_committee(metric, scoring):
    automatic = CommitteeClassifier(MEMBERS[:2], scoring=metric, cv=2, random_state=0).fit(X, Y)
    board = automatic.leaderboard(["mean"])
    assert board.scoring == scoring
    assert automatic.leaderboard(["mean"], scoring="accuracy").scoring == "accuracy"
