"""Honest votes: each row is voted on by models that have not seen it."""

import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_iris, make_classification, make_regression
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_predict,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import SVC, LinearSVC

from committee import (
    CAWPEClassifier,
    DecisionTreeClassifier,
    RandomForestClassifier,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
    load,
    rules,
)
from committee.assembling import Bank
from committee.assembling.calibration import logistic_curve
from committee.members.member_votes import votes_of
from committee.task import Classification
from committee.votes.vote_arrays import dtype_of

pytestmark = pytest.mark.filterwarnings("ignore:Members without predict_proba")

X, Y = load_iris(return_X_y=True)
MEMBERS = [("bayes", GaussianNB()), ("tree", DecisionTreeClassifier(max_depth=2))]


def honest(estimators=MEMBERS, X=X, y=Y, fit=None, **parameters):
    return VotingClassifier(estimators, **{"cv": 5} | parameters).fit(X, y, **fit or {})


def test_honest_votes_equal_cross_val_predict():
    for cv in (3, StratifiedKFold(4, shuffle=True, random_state=1)):
        voting = honest(cv=cv)
        for votes, (_, member) in zip(voting.honest_votes_, MEMBERS, strict=True):
            expected = cross_val_predict(member, X, Y, cv=cv, method="predict_proba")
            np.testing.assert_allclose(votes, expected, atol=1e-7)
    assert voting.honest_votes_.dtype == np.float32
    np.testing.assert_array_equal(voting.honest_rows_, np.arange(len(Y)))


@pytest.mark.parametrize("n_drawn", [39, 40, 41])
def test_a_model_fitted_on_drawn_rows_votes_on_the_other_rows(n_drawn):
    rng = np.random.default_rng(0)
    table, y = rng.normal(size=(40, 2)), rng.integers(0, 2, 40)
    cv = [(drawn, np.setdiff1d(np.arange(40), drawn)) for drawn in rng.integers(0, 40, (20, n_drawn))]
    near = [("near", KNeighborsClassifier(1))]
    voting = honest(near, table, y, cv=cv)
    bank = Bank(table, y, cv=cv)
    bank.collect(near)
    for votes in (voting.honest_votes_, bank.votes()):
        assert (votes[0].argmax(axis=1) == y[voting.honest_rows_]).mean() < 0.7


def test_votes_for_numbers_have_double_precision():
    table, y = make_regression(40, 3, noise=5, random_state=0)
    stacking = StackingRegressor([("line", LinearRegression())], cv=KFold(4)).fit(table, y)
    expected = cross_val_predict(LinearRegression(), table, y, cv=KFold(4))
    np.testing.assert_allclose(stacking.honest_votes_[0, :, 0], expected, rtol=1e-12)


def test_repeated_folds_are_averaged():
    folds = list(RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0).split(X, Y))
    once, again = (honest(cv=folds[part]).honest_votes_ for part in (slice(3), slice(3, 6)))
    np.testing.assert_allclose(honest(cv=folds).honest_votes_, (once + again) / 2, atol=1e-7)


def test_rows_before_the_first_fold_in_time_are_left_out(tmp_path):
    order = np.random.default_rng(0).permutation(len(Y))
    voting = honest(X=X[order], y=Y[order], cv=TimeSeriesSplit(4), rule="cawpe", keep="all")
    np.testing.assert_array_equal(voting.honest_rows_, np.arange(30, 150))
    assert voting.honest_votes_.shape == (2, 120, 3)
    train, test = list(TimeSeriesSplit(4).split(X))[2]
    expected = GaussianNB().fit(X[order][train], Y[order][train]).predict_proba(X[order][test])
    np.testing.assert_allclose(voting.honest_votes_[0][test - 30], expected, atol=1e-7)
    voting.save(tmp_path / "m.committee")
    loaded = load(tmp_path / "m.committee", trusted=["sklearn.model_selection._split.TimeSeriesSplit"])
    np.testing.assert_array_equal(loaded.honest_votes_, voting.honest_votes_)
    assert voting.recombine("region", X[order]).score(X, Y) > 0.9
    assert voting.leaderboard(["mean", "dynamic"], X=X[order])[0].score > 0.9


def test_groups_stay_together():
    groups = np.arange(len(Y)) % 7
    by_number = honest([("near", KNeighborsClassifier(1))], X, Y, {"groups": groups}, cv=7)
    by_splitter = honest([("near", KNeighborsClassifier(1))], X, Y, {"groups": groups}, cv=GroupKFold(7))
    np.testing.assert_array_equal(by_number.honest_votes_, by_splitter.honest_votes_)
    with pytest.raises(ValueError, match="groups must have one value for each of the 150 rows"):
        honest(fit={"groups": groups[:5]})


def test_groups_stay_together_when_rules_are_scored():
    # A row's vote identifies its group, and y is constant in each group, so a rule could memorise y.
    groups = np.arange(90) % 30
    y = np.random.default_rng(0).integers(0, 2, 30)[groups]
    table = np.column_stack([groups / 30, np.zeros(90)])
    voting = VotingClassifier([("group", GroupVoter())], cv=3, rule="mean").fit(table, y, groups=groups)
    memorising = rules.StackingRule(KNeighborsClassifier(1))
    assert rule_score(voting, memorising) < 0.8
    alone = VotingClassifier([("group", GroupVoter())], cv=3, rule="mean").fit(table, y)
    assert rule_score(alone, memorising) > 0.9


def rule_score(voting, rule):
    """Return the score of a rule on the leaderboard."""
    return next(each.score for each in voting.leaderboard([rule]) if each.kind == "rule")


class GroupMemory(ClassifierMixin, BaseEstimator):
    """Votes for the second class if it has seen the group, which is in the last column."""

    def fit(self, X, y):
        self.classes_, self.seen_ = np.unique(y), np.unique(X[:, -1])
        return self

    def predict(self, X):
        return self.classes_[np.isin(X[:, -1], self.seen_).astype(int)]


@pytest.mark.parametrize("routing", [False, True])
def test_groups_stay_together_in_committees_inside_a_committee(routing):
    groups = np.arange(60) // 3
    table = np.column_stack([np.random.default_rng(0).normal(size=60), groups])
    y = np.arange(60) % 2
    inner = VotingClassifier([("remembering", GroupMemory())], cv=3)
    with sklearn.config_context(enable_metadata_routing=routing):
        in_steps = honest(
            [("inner", make_pipeline(FunctionTransformer(), inner))], table, y, {"groups": groups}
        )
    as_member = honest([("inner", inner)], table, y, {"groups": groups}, refit=False)
    layer = StackingClassifier([("bayes", GaussianNB())], final_estimator=inner, passthrough=True)
    layer.fit(table, y, groups=groups)
    adjusted = layer.recombine(rules.AdjustedRule(layer.rule_), X=table)
    for each in (
        in_steps.estimators_[0][-1],
        *as_member.estimators_[0],
        layer.rule_.final_estimator_,
        adjusted.rule_.rule_.final_estimator_,
    ):
        assert each.honest_votes_.shape[1] > 40
        assert (each.honest_votes_[0, :, 1] == 0).all(), "a group was seen that is voted on"
    assert (VotingClassifier(inner.estimators, cv=3).fit(table, y).honest_votes_[0, :, 1] == 1).any()


def test_a_search_over_folds_of_groups_can_be_a_member():
    groups = np.arange(len(Y)) % 7
    search = GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9]}, cv=GroupKFold(3))
    searched = honest([("search", search)], fit={"groups": groups})
    np.testing.assert_array_equal(
        searched.honest_votes_, honest([("bayes", GaussianNB())], fit={"groups": groups}).honest_votes_
    )


def test_groups_of_another_length_are_refused_by_a_rule():
    with pytest.raises(ValueError, match="groups must have one value for each of the 1 rows"):
        rules.StackingRule().fit([[[0.2, 0.8]]], [1], groups=[1, 2])


class GroupVoter(ClassifierMixin, BaseEstimator):
    """Votes with the first column."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return self.classes_[(X[:, 0] > 0.5).astype(int)]

    def predict_proba(self, X):
        return np.column_stack([1 - X[:, 0], X[:, 0]])


def test_weights_go_to_the_members_that_accept_them():
    weights = np.random.default_rng(0).integers(0, 3, len(Y)).astype(float)
    counts = weights > 0
    folds = list(StratifiedKFold(3).split(X, Y))
    voting = honest([*MEMBERS, ("near", KNeighborsClassifier())], cv=folds, fit={"sample_weight": weights})
    np.testing.assert_array_equal(voting.honest_rows_, np.flatnonzero(counts))
    train, test = folds[0]
    train, test = train[counts[train]], test[counts[test]]
    place = np.searchsorted(voting.honest_rows_, test)
    bayes = GaussianNB().fit(X[train], Y[train], weights[train])
    np.testing.assert_allclose(voting.honest_votes_[0][place], bayes.predict_proba(X[test]), atol=1e-7)
    near = KNeighborsClassifier().fit(X[train], Y[train])
    np.testing.assert_allclose(voting.honest_votes_[2][place], near.predict_proba(X[test]), atol=1e-7)


class CountingForest(RandomForestClassifier):
    """A forest that counts its fits."""

    n_fits = 0

    def fit(self, X, y, sample_weight=None):
        CountingForest.n_fits += 1
        return super().fit(X, y, sample_weight)


def test_a_forest_votes_out_of_bag_in_a_single_fit():
    CountingForest.n_fits = 0
    voting = honest([("forest", CountingForest(60, random_state=0))])
    assert CountingForest.n_fits == 1
    forest = RandomForestClassifier(60, random_state=0, oob_score=True).fit(X, Y)
    np.testing.assert_allclose(voting.honest_votes_[0], forest.oob_decision_function_, atol=1e-7)
    honest([("forest", CountingForest(5, random_state=0))], out_of_bag=False, cv=3)
    assert CountingForest.n_fits == 1 + 4
    honest([("forest", CountingForest(5, random_state=0))], cv=3, fit={"groups": np.arange(150) % 9})
    assert CountingForest.n_fits == 1 + 4 + 4


def test_a_forest_votes_in_the_folds_of_a_splitter():
    CountingForest.n_fits = 0
    voting = honest([("forest", CountingForest(5, random_state=0))], cv=TimeSeriesSplit(3), rule="mean")
    assert CountingForest.n_fits == 3 + 1
    np.testing.assert_array_equal(voting.honest_rows_, np.arange(39, 150))


def test_rows_that_all_trees_have_seen_get_no_honest_vote():
    voting = honest([("forest", RandomForestClassifier(2, random_state=0))])
    assert 0 < len(voting.honest_rows_) < len(Y)


def test_without_refit_the_fold_models_are_kept_and_averaged():
    voting = honest(refit=False, cv=3)
    assert [len(models) for models in voting.estimators_] == [3, 3]
    each = [model.predict_proba(X) for model in voting.estimators_[0]]
    np.testing.assert_allclose(voting.votes(X)[0], np.mean(each, axis=0), atol=1e-7)


def test_prefit_members_vote_on_the_given_rows():
    seen, unseen = np.arange(0, 150, 2), np.arange(1, 150, 2)
    fitted = [(name, member.fit(X[seen], Y[seen])) for name, member in MEMBERS]
    committee = CAWPEClassifier(fitted, cv="prefit").fit(X[unseen], Y[unseen])
    np.testing.assert_allclose(committee.honest_votes_[0], fitted[0][1].predict_proba(X[unseen]), atol=1e-7)
    assert committee.estimators_[0] is fitted[0][1]
    with pytest.raises(
        ValueError, match=r"Member 'bayes' cannot vote. ValueError: It was fitted on 4 columns, but X has 2"
    ):
        CAWPEClassifier(fitted, cv="prefit").fit(X[:, :2], Y)
    with pytest.raises(ValueError, match=r"Member 'new' cannot vote. NotFittedError: This GaussianNB"):
        CAWPEClassifier([("new", GaussianNB())], cv="prefit").fit(X, Y)
    with pytest.raises(
        ValueError, match=r"Member 'bayes' cannot vote. ValueError: The label 0 is not one of the classes"
    ):
        CAWPEClassifier(fitted, cv="prefit").fit(X[50:], Y[50:])


def test_prefit_members_must_be_frozen_to_be_cloned():
    voting = VotingClassifier([("bayes", GaussianNB().fit(X, Y))], cv="prefit")
    with pytest.raises(ValueError, match=r"not fitted.* pass sklearn.frozen.FrozenEstimator\(m") as caught:
        clone(voting).fit(X, Y)
    assert len(str(caught.value).splitlines()) == 1
    frozen = VotingClassifier([("bayes", FrozenEstimator(voting.estimators[0][1]))], cv="prefit")
    np.testing.assert_array_equal(clone(frozen).fit(X, Y).votes(X), voting.fit(X, Y).votes(X))
    in_folds = frozen.set_params(cv=3).fit(X, Y)
    np.testing.assert_array_equal(in_folds.honest_votes_, voting.honest_votes_)


@pytest.mark.parametrize(
    "cv", [KFold(3, shuffle=True), RepeatedStratifiedKFold(n_splits=2, n_repeats=2), ShuffleSplit(4)]
)
def test_the_seed_of_a_committee_also_seeds_its_split(cv):
    first, same, other = (honest(cv=cv, random_state=seed).honest_votes_ for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, same)
    assert first.shape != other.shape or (first != other).any()
    assert cv.random_state is None


def test_prefit_members_may_know_fewer_classes():
    fewer = GaussianNB().fit(X[50:], Y[50:])
    voting = CAWPEClassifier([("all", GaussianNB().fit(X, Y)), ("fewer", fewer)], cv="prefit").fit(X, Y)
    assert (voting.honest_votes_[1][:, 0] == 0).all()
    np.testing.assert_allclose(voting.honest_votes_[1][:, 1:], fewer.predict_proba(X), atol=1e-7)
    np.testing.assert_allclose(voting.predict_proba(X).sum(axis=1), 1)


def test_prefit_members_refuse_other_column_names_in_one_line():
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    fitted = [("bayes", GaussianNB().fit(frame, Y))]
    with pytest.raises(
        ValueError, match=r"'bayes' cannot vote. ValueError: The feature names should"
    ) as caught:
        CAWPEClassifier(fitted, cv="prefit").fit(frame.rename(columns={"a": "x"}), Y)
    assert len(str(caught.value).splitlines()) == 1
    voting = CAWPEClassifier(fitted, cv="prefit").fit(frame, Y)
    np.testing.assert_array_equal(voting.votes(frame[["d", "c", "b", "a"]]), voting.votes(frame))


def test_a_member_that_raises_any_error_while_voting_is_named():
    class Silent(GaussianNB):
        """Naive Bayes that can be fitted but cannot predict."""

        def predict_proba(self, X):
            raise KeyError("column 3")

    voting = VotingClassifier([("bayes", GaussianNB()), ("silent", Silent())]).fit(X, Y)
    with pytest.raises(KeyError, match=r"^Member 'silent' cannot vote. KeyError: 'column 3'$"):
        voting.predict(X)


def test_members_may_see_different_columns():
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    by_name = honest(X=frame, columns={"bayes": ["d", "a"]})
    by_position = honest(columns={"bayes": [3, 0]})
    np.testing.assert_array_equal(by_name.honest_votes_, by_position.honest_votes_)
    assert list(by_name.named_estimators_["bayes"].feature_names_in_) == ["d", "a"]
    expected = GaussianNB().fit(X[:, [3, 0]], Y).predict_proba(X[:, [3, 0]])
    np.testing.assert_allclose(by_name.votes(frame[["d", "c", "b", "a"]])[0], expected, atol=1e-7)


def test_a_fold_without_a_class_gives_it_votes_of_zero():
    y = np.array([0] * 9 + [1] * 9 + [2])
    table = np.random.default_rng(0).normal(size=(19, 2)) + y[:, None]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        voting = honest(X=table, y=y, cv=3)
    assert voting.honest_votes_[0][18, 2] == 0
    np.testing.assert_allclose(voting.honest_votes_.sum(axis=2), 1, atol=1e-6)


@pytest.mark.parametrize("calibrate", [None, "sigmoid", "isotonic", "temperature"])
def test_a_fold_of_one_class_votes_for_it(calibrate, tmp_path):
    y = np.array(["rare"] + ["often"] * 29)
    members = [
        ("linear", LogisticRegression()),
        ("kernel", SVC()),
        ("machine", LinearSVC(random_state=0)),
        ("tree", DecisionTreeClassifier()),
    ]
    voting = honest(members, X[:30], y, cv=KFold(3), calibrate=calibrate, refit=False)
    np.testing.assert_array_equal(voting.honest_votes_[:, :10], np.tile([1, 0], (4, 10, 1)))
    kinds = [[type(model).__name__ for model in models] for models in voting.estimators_]
    assert [each[0] for each in kinds] == ["DummyClassifier"] * 3 + ["DecisionTreeClassifier"]
    assert [each[1] for each in kinds] == [type(member).__name__ for _, member in members]
    voting.save(tmp_path / "m.committee")
    np.testing.assert_array_equal(load(tmp_path / "m.committee").predict_proba(X), voting.predict_proba(X))
    bank = Bank(X[:30], y, cv=KFold(3), X_test=X, calibrate=calibrate)
    bank.collect(members)
    names = [name for name, _ in members]
    np.testing.assert_allclose(bank.votes(names), voting.honest_votes_, atol=1e-6)
    np.testing.assert_allclose(bank.test_votes(names), voting.votes(X), atol=1e-6)


def test_members_that_refuse_a_single_class_work_in_folds_of_one_class():
    machine = [("machine", LinearSVC()), ("linear", LogisticRegression())]
    assert honest(machine, y=np.full(150, "a"), calibrate="sigmoid").predict(X).tolist() == ["a"] * 150
    of_weight = honest(machine, cv=None, fit={"sample_weight": (Y == 1).astype(float)})
    assert of_weight.predict(X).tolist() == [1] * 150


@pytest.mark.parametrize("n_classes", [3, 5])
def test_scores_of_class_pairs_are_not_treated_as_scores_of_classes(n_classes):
    table, y = make_classification(
        120, 5, n_informative=5, n_redundant=0, n_classes=n_classes, class_sep=0.6, random_state=0
    )
    own = SVC(decision_function_shape="ovo")
    for machine in (
        own,
        make_pipeline(FunctionTransformer(), own),
        FrozenEstimator(clone(own).fit(table, y)),
    ):
        crisp = honest([("machine", machine)], table, y, cv=3)
        for method in ("sigmoid", "isotonic", "temperature"):
            soft = honest([("machine", machine)], table, y, cv=3, calibrate=method)
            np.testing.assert_allclose(soft.honest_votes_.sum(axis=2), 1, atol=1e-6)
            assert soft.score(table, y) == crisp.score(table, y) > 0.6
            votes = soft.honest_votes_, crisp.honest_votes_
            np.testing.assert_array_equal(*(each.argmax(axis=2) for each in votes))


def test_two_classes_are_one_pair():
    rows = Y > 0
    votes = [
        honest([("m", SVC(decision_function_shape=shape))], X[rows], Y[rows], calibrate="sigmoid")
        for shape in ("ovo", "ovr")
    ]
    np.testing.assert_array_equal(votes[0].honest_votes_, votes[1].honest_votes_)


def test_the_predicted_class_has_the_highest_score():
    table, y = make_classification(
        300, 4, n_informative=4, n_redundant=0, n_classes=4, class_sep=0.3, random_state=0
    )
    machine, (task, _) = SVC().fit(table[:150], y[:150]), Classification.of(y)
    predicted, highest = machine.predict(table), machine.decision_function(table).argmax(axis=1)
    assert (predicted != highest).any(), "or this shows nothing"
    scores = votes_of(machine, table, task, as_scores=True).astype(dtype_of(task))
    np.testing.assert_array_equal(scores.argmax(axis=1), predicted)
    same = predicted == highest
    np.testing.assert_allclose(scores[same], machine.decision_function(table)[same], rtol=1e-6)


def test_members_without_probabilities_give_crisp_or_calibrated_votes():
    machine = [("machine", LinearSVC(random_state=0))]
    crisp = honest(machine)
    assert set(np.unique(crisp.votes(X))) == {0, 1}
    np.testing.assert_array_equal(crisp.predict(X), crisp.estimators_[0].predict(X))
    for method in ("sigmoid", "isotonic", "temperature"):
        for rows in (slice(None), slice(50, 150)):
            soft = honest(machine, X[rows], Y[rows], calibrate=method)
            votes = soft.votes(X[rows])[0]
            assert len(np.unique(votes)) > 4
            np.testing.assert_allclose(votes.sum(axis=1), 1, atol=1e-6)
            assert soft.score(X[rows], Y[rows]) > 0.9


def test_the_support_vector_machine_of_the_cawpe_paper_is_calibrated_by_default():
    rows = np.arange(0, len(X), 3)
    votes = VotingClassifier(cv=3, random_state=0).fit(X[rows], Y[rows]).votes(X)[2]
    assert ((votes > 0.01) & (votes < 0.99)).any(), "crisp votes are 0 or 1"


def test_votes_for_numbers_are_not_calibrated():
    with pytest.raises(ValueError, match="calibrate='sigmoid' is for classes, and the task is a regression"):
        VotingRegressor([("line", LinearRegression())], cv=3, calibrate="sigmoid").fit(X, X[:, 0])


def test_calibration_lowers_the_log_loss_of_honest_votes():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(400, 3))
    y = (table[:, 0] + rng.normal(size=400) > 0).astype(int)
    crisp, soft = (
        honest([("m", LinearSVC(random_state=0))], table, y, calibrate=c) for c in (None, "sigmoid")
    )
    scores = [c.leaderboard([], scoring="neg_log_loss")[0].score for c in (crisp, soft)]
    best = honest([("l", LogisticRegression())], table, y).leaderboard([], scoring="neg_log_loss")[0].score
    assert scores[0] < -2
    assert scores[1] == pytest.approx(best, abs=0.02)


class Scoring(ClassifierMixin, BaseEstimator):
    """Returns the first column as its score and learns nothing."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        return X[:, 0]

    def predict(self, X):
        return self.classes_[(X[:, 0] > 0).astype(int)]


@pytest.mark.parametrize("method", ["isotonic", "sigmoid", "temperature"])
def test_no_honest_vote_is_calibrated_by_its_own_answer(method):
    rng = np.random.default_rng(0)
    table = rng.normal(size=(90, 1))
    y = (table[:, 0] + rng.normal(size=90) > 0).astype(int)
    cv = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)
    folds = list(cv.split(table, y))
    for held_out in (folds[0][1], folds[2][1]):
        other = y.copy()
        other[held_out] = 1 - y[held_out]
        for votes in (
            lambda answers: (
                honest([("m", Scoring())], table, answers, cv=folds, calibrate=method).honest_votes_
            ),
            lambda answers: filled_bank(table, answers, folds, method).votes(),
        ):
            before, after = votes(y)[0], votes(other)[0]
            np.testing.assert_array_equal(before[held_out], after[held_out])
            assert (before != after).any(), "the rows of the other folds are calibrated by these"


@pytest.mark.parametrize("method", ["isotonic", "sigmoid", "temperature"])
def test_a_class_that_a_member_has_not_seen_gets_no_calibrated_vote(method, tmp_path):
    machine = LinearSVC(random_state=0).fit(X[50:], Y[50:])
    voting = VotingClassifier([("machine", machine)], cv="prefit", calibrate=method).fit(X, Y)
    voting.save(tmp_path / "machine.committee")
    for votes in (
        voting.honest_votes_[0],
        voting.votes(X)[0],
        load(tmp_path / "machine.committee").votes(X)[0],
    ):
        assert (votes[:, 0] == 0).all()
        np.testing.assert_allclose(votes.sum(axis=1), 1, atol=1e-6)
        assert (votes[50:].argmax(axis=1) == Y[50:]).mean() > 0.9


@pytest.mark.parametrize("method", ["isotonic", "sigmoid", "temperature"])
def test_a_class_is_calibrated_only_on_models_that_know_it(method):
    y = np.array([0] * 9 + [1] * 9 + [2])
    table = np.random.default_rng(0).normal(size=(19, 2)) + 9 * y[:, None]
    machine = [("machine", LinearSVC(random_state=0))]
    voting = honest(machine, X=table, y=y, cv=3, calibrate=method, refit=False)
    assert voting.honest_votes_[0][18, 2] == 0
    bank = Bank(table, y, cv=3, X_test=table, calibrate=method)
    bank.collect(machine)
    np.testing.assert_array_equal(bank.votes(), voting.honest_votes_)
    np.testing.assert_allclose(bank.test_votes(), voting.votes(table), atol=1e-6)
    member = voting._fitted_members[0]
    scores = np.full((3, 19, 3), np.nan)
    for number, model in enumerate(member.models):
        said = model.decision_function(table)
        scores[number][:, model.classes_] = said if said.ndim == 2 else np.column_stack([-said, said])
    assert np.isnan(scores).any(axis=(1, 2)).sum() == 1
    np.testing.assert_allclose(
        voting.votes(table)[0], member.calibration.votes(np.nanmean(scores, axis=0)), atol=1e-6
    )


def test_a_class_unknown_to_all_fold_models_gets_its_frequency_as_vote():
    y = np.array([0, 1] * 10 + [2, 2, 0, 1])
    table = np.random.default_rng(0).normal(size=(24, 2)) + 9 * y[:, None]
    folds = [(np.arange(10), np.arange(10, 24)), (np.arange(10, 20), np.arange(10))]
    for method in ("isotonic", "sigmoid"):
        voting = honest([("machine", LinearSVC())], X=table, y=y, cv=folds, calibrate=method)
        assert (voting.honest_votes_[0][:, 2] == 0).all()
        curve = voting._fitted_members[0].calibration.curves[2]
        assert curve[1, 0] == pytest.approx(3 / 26 if method == "isotonic" else np.log(3 / 23))


def filled_bank(table, y, folds, method):
    bank = Bank(table, y, cv=folds, calibrate=method)
    bank.collect([("m", Scoring())], runner="serial")
    return bank


def test_prefit_members_are_calibrated_in_their_own_folds():
    rng = np.random.default_rng(1)
    table, y, groups = rng.normal(size=(60, 1)), rng.integers(0, 2, 60), np.arange(60) // 2
    machine = [("m", Scoring().fit(table, y))]
    for given in (None, groups):
        soft = VotingClassifier(machine, cv="prefit", calibrate="isotonic").fit(table, y, groups=given)
        # At best as good as chance: a curve that has seen these answers would be far better.
        assert soft.leaderboard([], scoring="neg_log_loss")[0].score < np.log(0.5)
    # No rows can be held out of a single group, so calibration cannot be fitted honestly.
    crisp = VotingClassifier(machine, cv="prefit", calibrate="isotonic").fit(table, y, groups=np.zeros(60))
    assert set(np.unique(crisp.honest_votes_)) == {0, 1}
    assert len(np.unique(crisp.votes(table))) > 2


def test_calibration_never_reverses_the_order_of_scores():
    scores = np.arange(20.0)
    for is_class in (scores < 10, scores % 2 == 0):
        (slope,), (intercept,) = logistic_curve(scores, is_class, np.ones(20))
        assert slope == 0
        assert intercept == pytest.approx(0, abs=1e-9)
