"""Compact a committee: the members that decide, one model of all rows for each, and a file without rows."""

import numpy as np
import pytest
from every_estimator import mixed_frame, target_for
from safetensors.numpy import load_file
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.naive_bayes import GaussianNB

import committee
from committee import (
    CommitteeClassifier,
    CommitteeRegressor,
    DecisionTreeClassifier,
    GradientBoostingClassifier,
)
from committee.assembling.member_fits import MemberFit
from committee.assembling.named_members import Member
from committee.automatic.compaction import (
    BUDGETS,
    costs_of,
    members_that_decide,
    members_within,
    microseconds_of,
    models_within,
)
from committee.automatic.limits import Clock
from committee.automatic.portfolio import ORDERS
from committee.automatic.refits import settled
from committee.automatic.rule_choice import loss_of
from committee.combining.rule_registry import as_rule, rule_names
from committee.votes.honest_votes import HonestVotes

X, Y = load_iris(return_X_y=True)
RNG = np.random.default_rng(0)
N_ROWS = 120
CODES = RNG.integers(0, 2, N_ROWS)


def votes_of(strengths):
    """Return honest votes of members that know the class with a strength from 0 to 1."""
    votes = []
    for strength in strengths:
        right = np.clip(0.5 + strength * 0.4 + RNG.normal(0, 0.1, N_ROWS), 0.02, 0.98)
        votes.append(np.where(np.arange(2) == CODES[:, None], right[:, None], 1 - right[:, None]))
    return HonestVotes.of(np.array(votes), CODES)


def test_a_fit_on_all_rows_grows_one_tree_for_all_classes_if_the_folds_did():
    y = RNG.integers(0, 6, N_ROWS)
    table = np.column_stack([y, RNG.normal(size=N_ROWS)])
    for strategy, n_trees in (("auto", 1), ("one_output_per_tree", 6)):
        booster = GradientBoostingClassifier(max_leaf_nodes=3, multi_strategy=strategy, random_state=0)
        fold = booster.fit(table, y)
        whole = settled(MemberFit(Member("booster", booster), [fold], [])).estimator.fit(table, y)
        for model in (fold, whole):
            assert model._forest.n_trees == n_trees * model.n_iter_


def test_the_default_keeps_one_model_of_all_rows_for_members_that_do_not_draw():
    automatic = CommitteeClassifier(["linear", "c45", "bayes"], random_state=0).fit(X, Y)
    assert set(automatic.named_estimators_) <= {"linear", "c45", "bayes"}
    for model in automatic.estimators_:
        assert not isinstance(model, list)
    bayes = CommitteeClassifier([("bayes", GaussianNB())], random_state=0).fit(X, Y)
    np.testing.assert_array_equal(bayes.estimators_[0].theta_, GaussianNB().fit(X, Y).theta_)


def test_members_without_influence_are_dropped():
    members = [("best", GaussianNB()), ("stump", DecisionTreeClassifier(max_depth=1))]
    automatic = CommitteeClassifier(members, rule="best_member", random_state=0).fit(X, Y)
    assert list(automatic.named_estimators_) == ["best"]
    whole = CommitteeClassifier(members, rule="best_member", keep="all", random_state=0).fit(X, Y)
    assert list(whole.named_estimators_) == ["best", "stump"]
    np.testing.assert_array_equal(automatic.honest_votes_[0], whole.honest_votes_[0])


@pytest.mark.parametrize("rule", [name for name in rule_names() if "classification" in as_rule(name).tasks])
def test_a_member_decides_if_and_only_if_its_votes_change_decisions(rule):
    honest, made = votes_of([0.9, 0.5, 0.2]), as_rule(rule)
    if made.needs_X:
        pytest.skip("The rule uses the rows, so every member may decide.")
    honest.fit_rule(made)
    found = members_that_decide(made, honest)
    assert found
    for place in set(range(3)) - set(found):
        other = honest.votes.copy()
        other[place] = other[place, ::-1]
        np.testing.assert_allclose(made.combine(other), made.combine(honest.votes), atol=1e-3)
    if rule in ("mean", "product", "log_pool"):
        assert found == [0, 1, 2]
    if rule == "best_member":
        assert found == [0]


def test_limits_hold_and_the_most_useful_members_stay():
    honest, rule = votes_of([0.1, 0.9, 0.2, 0.15]), as_rule("log_pool")
    costs = np.array([[1.0, 1.0, 1.0, 1.0], [1.0, 2.0, 1.0, 9.0]])
    kept = members_within([2, 3.5], costs, [0, 1, 2, 3], rule, honest, None)
    assert 1 in kept and len(kept) <= 2 and costs[1, kept].sum() <= 3.5
    assert members_within([9, 99], costs, [0, 1, 2, 3], rule, honest, None) == [0, 1, 2, 3]
    assert members_within([9, 0.5], costs, [0, 1, 2, 3], rule, honest, None) == [0]


@pytest.mark.parametrize("seed", range(8))
def test_no_member_that_would_lower_the_loss_fits_within_the_limits(seed):
    rng = np.random.default_rng(seed)
    strengths, costs, rule = rng.uniform(-0.1, 0.9, 8), rng.uniform(0.5, 6.0, (1, 8)), as_rule("log_pool")
    honest = votes_of(strengths)
    kept = members_within([9.0], costs, list(range(8)), rule, honest, None)

    def loss_with(places):
        own = honest.of_members(places)
        return loss_of(own.fit_rule(as_rule("log_pool")).combine(own.votes), own, None)

    assert costs[0, kept].sum() <= 9.0
    for place in set(range(8)) - set(kept):
        if costs[0, [*kept, place]].sum() <= 9.0:
            assert loss_with(sorted([*kept, place])) >= loss_with(kept)


def test_a_copy_of_a_member_is_left_out_if_the_loss_hardly_rises():
    honest = votes_of([0.9, 0.4])
    twins = HonestVotes.of(honest.votes[[0, 0, 1]], CODES)
    kept = members_within([9.0], np.ones((1, 3)), [0, 1, 2], as_rule("greedy"), twins, None, tolerated=2e-4)
    assert len({0, 1} & set(kept)) == 1


def test_only_boosters_have_several_models_and_only_within_the_limits():
    costs = np.array([[1.0, 1.0], [2.0, 3.0], [10.0, 10.0]])
    for booster in (committee.GradientBoostingClassifier(), committee.LogitBoostClassifier()):
        assert models_within([6, 10.0, 1000], costs, [booster, GaussianNB()]) == [3, 1]
        assert models_within([6, 8.0, 1000], costs, [booster, GaussianNB()]) == [2, 1]
        assert models_within([6, 8.0, 25], costs, [booster, GaussianNB()]) == [1, 1]


def test_a_booster_keeps_its_model_of_all_rows_and_two_of_folds():
    whole = CommitteeClassifier(["booster"], keep="all", random_state=0).fit(X, Y)
    kept = CommitteeClassifier(["booster"], random_state=0).fit(X, Y)
    models, folds = kept.estimators_[0], whole.estimators_[0]
    expected = [settled(MemberFit(Member("booster", folds[0]), folds, [])).estimator.n_estimators]
    assert [len(models), models[0].n_iter_] == [3, *expected]
    for model, fold in zip(models[1:], folds, strict=False):
        np.testing.assert_array_equal(model.predict_proba(X), fold.predict_proba(X))


@pytest.mark.parametrize("kind", [CommitteeClassifier, CommitteeRegressor])
def test_members_of_the_portfolio_have_costs(kind):
    frame, signal = mixed_frame(40, seed=1)
    task = "classification" if kind is CommitteeClassifier else "regression"
    y = target_for(kind(), signal)
    automatic = kind(list(ORDERS[task][:8]), cv=2, rule="mean", keep="all", random_state=0).fit(frame, y)
    costs = costs_of(automatic._fitted_members)
    assert (costs > 0).all() and costs.shape[0] == len(BUDGETS["balanced"])


def test_larger_models_take_longer():
    cells, diagnosis = load_breast_cancer(return_X_y=True)
    few, many = (
        committee.RandomForestClassifier(n, random_state=0).fit(cells, diagnosis) for n in (100, 1000)
    )
    assert 6 < microseconds_of(many) / microseconds_of(few) < 11


@pytest.mark.parametrize("keep", ["decision", "all"])
def test_networks_are_in_half_precision_unless_all_is_kept(keep):
    frame, signal = mixed_frame(90, seed=2)
    networks = committee.NetworkClassifier(n_estimators=2, max_steps=100)
    automatic = CommitteeClassifier([("network", networks)], rule="mean", cv=2, keep=keep, random_state=0)
    y = target_for(automatic, signal)
    kept = automatic.fit(frame, y).named_estimators_["network"]
    for each in kept if isinstance(kept, list) else [kept]:
        found = each._network.parameters
        assert (found == found.astype(np.float16)).all() == (keep == "decision")


def test_rounded_networks_predict_nearly_the_same():
    network = [("network", committee.NetworkRegressor(n_estimators=2, max_steps=100))]
    automatic = CommitteeRegressor(network, rule="mean", cv=2, random_state=0).fit(X, X[:, 0])
    whole = automatic.refit_full(X, X[:, 0]).predict(X)
    assert 0 < np.abs(automatic.predict(X) - whole).max() <= 1e-3 * X[:, 0].std()


@pytest.mark.parametrize("keep", ["decision", "all"])
def test_a_file_has_honest_votes_only_if_all_is_kept(keep, tmp_path):
    voting = committee.VotingClassifier([("bayes", GaussianNB())], rule="cawpe", keep=keep, random_state=0)
    automatic = CommitteeClassifier(["linear", "c45"], keep=keep, random_state=0)
    for model in (voting, automatic):
        model.fit(X, Y).save(tmp_path / "model.committee")
        loaded = committee.load(tmp_path / "model.committee")
        np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
        # The sorted conformity scores of a small table are as many as its rows.
        rows = [
            name
            for name, each in load_file(tmp_path / "model.committee").items()
            if len(Y) in each.shape and name != "summary__decisions__conformity"
        ]
        assert bool(rows) == (keep == "all")
        if keep == "all":
            np.testing.assert_array_equal(loaded.honest_votes_, model.honest_votes_)
        else:
            assert not hasattr(loaded, "honest_votes_")
            with pytest.raises(ValueError, match="fit with keep='all'"):
                loaded.recombine("cawpe")


def test_a_compacted_committee_is_the_same_for_any_number_of_jobs():
    first, second = (
        CommitteeClassifier(["booster", "linear", "c45"], random_state=0, n_jobs=n_jobs).fit(X, Y)
        for n_jobs in (1, 2)
    )
    np.testing.assert_array_equal(first.predict_proba(X), second.predict_proba(X))


def test_a_resumed_run_takes_models_of_all_rows_from_its_folder(tmp_path, monkeypatch):
    given = {"estimators": ["linear", "booster"], "random_state": 0, "run_folder": tmp_path}
    first = CommitteeClassifier(**given).fit(X, Y)

    def fit_again(*arguments):
        raise AssertionError("A model was fitted again.")

    monkeypatch.setattr("committee.automatic.schedule.timed", fit_again)
    again = CommitteeClassifier(**given).fit(X, Y)
    np.testing.assert_array_equal(first.predict_proba(X), again.predict_proba(X))


def test_without_time_for_fits_on_all_rows_members_keep_fold_models(monkeypatch):
    monkeypatch.setattr(Clock, "allows", lambda self, seconds, n_fits, n_workers: self._for_rule > 0)
    automatic = CommitteeClassifier(["linear", "c45"], cv=4, time_limit=1000, random_state=0).fit(X, Y)
    assert all(1 < len(models) <= 64 for models in automatic.estimators_)
    assert automatic.score(X, Y) > 0.9


def test_an_interrupted_fit_does_not_start_fits_on_all_rows(monkeypatch):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("committee.automatic.rule_choice.compare_rules", interrupted)
    with pytest.warns(RuntimeWarning, match="interrupted while rules were compared"):
        automatic = CommitteeClassifier([("bayes", GaussianNB())], cv=3, random_state=0).fit(X, Y)
    assert len(automatic.estimators_[0]) == 3
