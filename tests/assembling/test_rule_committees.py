"""Committees of members, honest votes and a rule, compared with scikit-learn and with each other."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from every_estimator import COMMITTEES, mixed_frame, name_of, target_for, votes_of
from sklearn import ensemble
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_classifier
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import KFold, TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier as OtherTree

import committee
from committee import (
    BayesianAveragingClassifier,
    CAWPEClassifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    DynamicSelectionClassifier,
    EnsembleSelectionClassifier,
    RegionSelectionClassifier,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
    rules,
)
from committee.assembling import Bank
from committee.assembling.named_members import encoded
from committee.running import receiving, runner
from committee.table import source

X, Y = load_iris(return_X_y=True)
NUMBERS, AMOUNTS = (each[:150] for each in load_diabetes(return_X_y=True))
MEMBERS = [
    ("bayes", GaussianNB()),
    ("near", KNeighborsClassifier()),
    ("tree", OtherTree(max_depth=2, random_state=0)),
]
MACHINES = [("line", LinearRegression()), ("near", KNeighborsRegressor())]
every_committee = pytest.mark.parametrize("estimator", COMMITTEES, ids=name_of)


def test_voting_matches_scikit_learn():
    weights = [1, 2, 3]
    for rule, voting in (("mean", "soft"), ("majority", "hard")):
        ours = VotingClassifier(MEMBERS, rule=rule, weights=weights).fit(X, Y)
        theirs = ensemble.VotingClassifier(MEMBERS, voting=voting, weights=weights).fit(X, Y)
        np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    ours = VotingClassifier(MEMBERS, weights=weights).fit(X, Y)
    theirs = ensemble.VotingClassifier(MEMBERS, voting="soft", weights=weights).fit(X, Y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-7)
    ours = VotingRegressor(MACHINES).fit(NUMBERS, AMOUNTS)
    theirs = ensemble.VotingRegressor(MACHINES).fit(NUMBERS, AMOUNTS)
    np.testing.assert_allclose(ours.predict(NUMBERS), theirs.predict(NUMBERS), rtol=1e-12)


@pytest.mark.parametrize("load", [load_iris, load_breast_cancer])
def test_stacking_matches_scikit_learn(load):
    table, y = load(return_X_y=True)
    final = LogisticRegression(C=0.1, tol=1e-8, max_iter=2000)
    ours = StackingClassifier(MEMBERS, final_estimator=final, cv=4, drop_redundant=load is load_breast_cancer)
    theirs = ensemble.StackingClassifier(MEMBERS, final, cv=4)
    ours.fit(table, y)
    theirs.fit(table, y)
    np.testing.assert_array_equal(ours.predict(table), theirs.predict(table))
    np.testing.assert_allclose(ours.predict_proba(table), theirs.predict_proba(table), atol=1e-4)


def test_stacking_of_regressors_matches_scikit_learn():
    ours = StackingRegressor(MACHINES, final_estimator=Ridge(), cv=4).fit(NUMBERS, AMOUNTS)
    theirs = ensemble.StackingRegressor(MACHINES, Ridge(), cv=4).fit(NUMBERS, AMOUNTS)
    np.testing.assert_allclose(ours.predict(NUMBERS), theirs.predict(NUMBERS), rtol=1e-9)


def test_cawpe_weights_members_by_accuracy_to_the_fourth_power():
    cawpe = CAWPEClassifier(MEMBERS).fit(X, Y)
    accuracy = (cawpe.honest_votes_.argmax(axis=2) == Y).mean(axis=1)
    np.testing.assert_allclose(cawpe.weights_, accuracy**4 / (accuracy**4).sum())
    assert cawpe.honest_votes_.shape == (3, 150, 3)


def test_two_layers_of_stacking_equal_stacking_with_a_stacked_meta_learner():
    second = StackingClassifier([("tree", DecisionTreeClassifier(max_depth=2)), ("bayes", GaussianNB())])
    both = StackingClassifier(MEMBERS, final_estimator=second).fit(X, Y)
    assert len(both.rule_.final_estimator_.estimators_) == 2
    assert both.rule_.final_estimator_.n_features_in_ == 3 * 2
    assert both.score(X, Y) > 0.9


class Counting(ClassifierMixin, BaseEstimator):
    """Naive Bayes that counts its fits."""

    n_fits = 0

    def fit(self, X, y):
        Counting.n_fits += 1
        self._bayes = GaussianNB().fit(X, y)
        self.classes_ = self._bayes.classes_
        return self

    def predict(self, X):
        return self._bayes.predict(X)

    def predict_proba(self, X):
        return self._bayes.predict_proba(X)


def test_another_rule_can_be_set_without_fitting_members():
    Counting.n_fits = 0
    members = [("counting", Counting()), *MEMBERS]
    first = EnsembleSelectionClassifier(members, cv=3).fit(X, Y)
    assert Counting.n_fits == 4
    second = first.recombine("stacking")
    assert Counting.n_fits == 4
    direct = StackingClassifier(members, cv=3).fit(X, Y)
    np.testing.assert_allclose(second.predict_proba(X), direct.predict_proba(X), atol=1e-12)
    assert isinstance(first.rule_, rules.GreedyRule)
    np.testing.assert_allclose(
        first.recombine(rules.median).predict_proba(X), first.recombine("median").predict_proba(X)
    )
    with pytest.raises(ValueError, match=r"RegionRule uses the columns of X. Pass X, the table of the fit"):
        first.recombine("region")
    assert first.recombine("region", X).score(X, Y) > 0.9
    assert VotingClassifier(MEMBERS).fit(X, Y).recombine("median").score(X, Y) > 0.9
    with pytest.raises(ValueError, match=r"without honest votes .pass cv=5"):
        VotingClassifier(MEMBERS).fit(X, Y).recombine("cawpe")


def test_another_rule_that_uses_rows_needs_the_training_table(tmp_path):
    frame = pd.DataFrame(X, columns=list("abcd"))
    voting = VotingClassifier(MEMBERS[:2], cv=3, keep="all", random_state=0).fit(frame, Y)
    voting.save(tmp_path / "voting.committee")
    same = (frame, frame[list("dcba")], pl.from_pandas(frame))
    others = (frame[::-1], frame.iloc[:-1], pd.concat([frame, frame]), frame + 1e-9)
    for each in (voting, committee.load(tmp_path / "voting.committee")):
        expected = each.recombine("dynamic", frame).predict_proba(frame)
        for table in same:
            np.testing.assert_array_equal(each.recombine("dynamic", table).predict_proba(frame), expected)
        for table in others:
            with pytest.raises(
                ValueError, match="X must be the table of the fit, with its rows in their ord"
            ):
                each.recombine("dynamic", table)
            with pytest.raises(ValueError, match="X must be the table of the fit"):
                each.leaderboard(["dynamic"], X=table)


def test_another_rule_uses_the_weights_of_the_fit():
    weights = np.random.default_rng(0).integers(0, 4, len(Y))
    direct = DynamicSelectionClassifier(MEMBERS, cv=3, method="ola").fit(X, Y, sample_weight=weights)
    voting = VotingClassifier(MEMBERS, cv=3).fit(X, Y, sample_weight=weights)
    again = voting.recombine(rules.DynamicRule(method="ola"), X)
    np.testing.assert_array_equal(again.predict_proba(X), direct.predict_proba(X))
    with pytest.raises(ValueError, match="X must be the table of the fit"):
        voting.recombine("dynamic", X[:9])


@pytest.mark.filterwarnings("ignore:Member '.*' may know:UserWarning")
@pytest.mark.parametrize("rule", ["dynamic", "region", rules.StackingRule(passthrough=True)])
def test_another_rule_uses_the_same_rows_as_fit_if_some_have_no_honest_vote(rule):
    order = np.random.default_rng(0).permutation(len(Y))
    table, y = X[order], Y[order]
    table[:30] *= 30  # No fold holds out these rows.
    given = {"cv": TimeSeriesSplit(4), "random_state": 0}
    for weights in (None, np.ones(len(y)), 1 + np.arange(len(y)) % 2):
        voting = VotingClassifier(MEMBERS[:2], **given).fit(table, y, sample_weight=weights)
        direct = VotingClassifier(MEMBERS[:2], rule=rule, **given).fit(table, y, sample_weight=weights)
        again = voting.recombine(rule, table)
        np.testing.assert_array_equal(again.predict_proba(table), direct.predict_proba(table))
        boards = voting.leaderboard([rule], X=table), direct.leaderboard([rule])
        first, second = ({each.name: each.score for each in board[1:]} for board in boards)
        assert first == second
        bank = Bank(table, y, cv=TimeSeriesSplit(4), sample_weight=weights, X_test=table[30:])
        bank.add_committee(voting)
        np.testing.assert_array_equal(bank.combine(rule), direct.predict_proba(table[30:]))


@pytest.mark.parametrize("cv", [None, 3])
def test_another_rule_that_cannot_decide_is_refused_immediately(cv):
    voting = VotingClassifier(MEMBERS, cv=cv).fit(X, Y)
    numbers = VotingRegressor(MACHINES, cv=cv).fit(NUMBERS, AMOUNTS)
    for made, rule, message in (
        (voting, rules.FixedRule(weights=[1, 2]), "weights must be one number for each of 3 members"),
        (voting, rules.FixedRule(weights=[1, 2, -1]), "weights must be finite, >= 0 and not all 0"),
        (numbers, "borda", "borda decides on classes"),
        (numbers, "behaviour_knowledge", "is a rule for classification. Use another for regression"),
    ):
        with pytest.raises(ValueError, match=message):
            made.recombine(rule)


class Memory(rules.Rule):
    """A rule that memorises the answers to training votes and predicts the first class for other votes."""

    tasks = ("classification",)
    _declarations = ()

    def _learn(self, honest):
        self._known = dict(zip(map(bytes, honest.votes[0].astype(float)), honest.y, strict=True))

    def _decide(self, votes):
        codes = [self._known.get(bytes(row), 0) for row in votes[0]]
        return np.eye(votes.shape[2])[codes]


def test_no_rule_is_scored_on_votes_that_it_was_fitted_on():
    rng = np.random.default_rng(0)
    table, y = rng.normal(size=(90, 2)), np.arange(90) % 3
    voting = VotingClassifier([("bayes", GaussianNB())], cv=3).fit(table, y)
    board = voting.leaderboard([Memory()])
    scores = {standing.kind: standing.score for standing in board}
    assert scores["rule"] == pytest.approx(1 / 3)
    assert (
        voting.recombine(Memory()).rule_.combine(voting.honest_votes_).argmax(axis=1).tolist() == y.tolist()
    )


def test_the_leaderboard_lists_every_member_and_every_rule():
    cawpe = CAWPEClassifier(MEMBERS, cv=3).fit(X, Y)
    board = cawpe.leaderboard(X=X)
    assert {each.name for each in board if each.kind == "member"} == {"bayes", "near", "tree"}
    assert {each.name for each in board if each.kind == "rule"} == set(
        committee.combining.rule_registry.rule_names()
    )
    scores = [each.score for each in board]
    assert scores[1:-1] == sorted(scores[1:-1], reverse=True)
    assert (board[0].kind, board[-1].kind) == ("committee", "baseline")
    assert board[-1].score == pytest.approx(np.bincount(Y).max() / len(Y))
    accuracy = (cawpe.honest_votes_[0].argmax(axis=1) == Y).mean()
    assert next(each.score for each in board if each.name == "bayes") == pytest.approx(accuracy)
    numbers = StackingRegressor(MACHINES).fit(NUMBERS, AMOUNTS).leaderboard()
    assert {"mean", "median", "stacking", "greedy"} <= {each.name for each in numbers}
    assert numbers[-1].name == "target_mean" and numbers[-1].score == pytest.approx(0, abs=1e-12)
    assert len(repr(numbers).splitlines()) <= 25 and repr(numbers).split()[0] == "R2"


@pytest.mark.parametrize(
    "made",
    [
        CAWPEClassifier(MEMBERS[:2], cv=3, alpha=0),
        StackingClassifier(MEMBERS[:2], cv=3, final_estimator="convex"),
        DynamicSelectionClassifier(MEMBERS[:2], cv=3, method="ola"),
        VotingClassifier(MEMBERS[:2], cv=3, weights=[1, 5]),
    ],
)
def test_the_leaderboard_scores_the_committee_with_its_own_parameters(made, tmp_path):
    fitted = clone(made).set_params(keep="all").fit(X, Y)
    fitted.save(tmp_path / "made.committee")
    for each in (fitted, committee.load(tmp_path / "made.committee")):
        board = each.leaderboard(scoring="neg_log_loss")
        (own,) = [standing for standing in board if standing.kind == "committee"]
        (with_its_parameters,) = [
            standing
            for standing in each.leaderboard([each.rule_], scoring="neg_log_loss")
            if standing.kind == "rule"
        ]
        assert own.score == with_its_parameters.score
        assert own == board[0] == board.committee
    assert repr(board).splitlines()[1].startswith(f"committee ({own.name})")


@pytest.mark.parametrize("kind", ["serial", "threads", "processes"])
def test_every_runner_gives_the_same_bits(kind):
    frame, signal = mixed_frame()
    y = target_for(COMMITTEES[0], signal)
    members = [
        ("forest", committee.RandomForestClassifier(5)),
        ("tree", DecisionTreeClassifier(max_features=1)),
    ]
    expected = CAWPEClassifier(members, cv=3, random_state=0, runner="serial").fit(frame, y)
    with runner(kind) as run:
        for each in (kind, run):
            fitted = CAWPEClassifier(members, cv=3, random_state=0, runner=each).fit(frame, y)
            assert fitted.predict_proba(frame).tobytes() == expected.predict_proba(frame).tobytes()
            assert fitted.honest_votes_.tobytes() == expected.honest_votes_.tobytes()


class Failing(GaussianNB):
    """Naive Bayes that fails unless it gets all rows."""

    def fit(self, X, y, sample_weight=None):
        if len(X) < 150:
            raise ValueError("These are not all rows.")
        return super().fit(X, y, sample_weight)


def test_a_failing_member_is_named_with_its_fold_or_dropped():
    members = [("shy", Failing()), *MEMBERS]
    with pytest.raises(ValueError, match=r"member 'shy', fold [012].*ValueError: These are not all rows."):
        CAWPEClassifier(members, cv=3).fit(X, Y)
    with pytest.warns(RuntimeWarning, match="Member 'shy' is dropped. .*fold 0"):
        fewer = CAWPEClassifier(members, cv=3, on_error="drop").fit(X, Y)
    np.testing.assert_array_equal(
        fewer.predict_proba(X), CAWPEClassifier(MEMBERS, cv=3).fit(X, Y).predict_proba(X)
    )
    with pytest.raises(ValueError, match=r"Every member failed. The first: .*'shy', fold 0"):
        CAWPEClassifier(members[:1], cv=3, on_error="drop").fit(X, Y)


def dropping(committee_type, members, **parameters):
    with pytest.warns(RuntimeWarning, match="Member 'shy' is dropped"):
        return committee_type(members, on_error="drop", **parameters).fit(X, Y)


def test_the_weight_of_a_dropped_member_is_dropped_too():
    members = [MEMBERS[0], ("shy", Failing()), MEMBERS[2]]
    others = [MEMBERS[0], MEMBERS[2]]
    expected = VotingClassifier(others, cv=3, weights=[1, 5]).fit(X, Y)
    adjusted = rules.AdjustedRule(rules.FixedRule(rule="mean", weights=[1, 2, 5]))
    for fewer in (
        dropping(VotingClassifier, members, cv=3, weights=[1, 2, 5]),
        dropping(VotingClassifier, members, cv=3, rule=rules.FixedRule(rule="mean", weights=[1, 2, 5])),
        dropping(VotingClassifier, members, cv=3, rule=adjusted).recombine(
            rules.FixedRule(rule="mean", weights=[1, 5])
        ),
    ):
        np.testing.assert_array_equal(fewer.predict_proba(X), expected.predict_proba(X))
        np.testing.assert_array_equal(fewer.weights_, [1, 5])
    assert adjusted.rule.weights == [1, 2, 5]
    np.testing.assert_array_equal(
        dropping(BayesianAveragingClassifier, members, cv=3, prior=[1, 1, 2]).weights_,
        BayesianAveragingClassifier(others, cv=3, prior=[1, 2]).fit(X, Y).weights_,
    )
    with pytest.raises(ValueError, match="weights must be finite, >= 0 and not all 0"):
        dropping(VotingClassifier, members, cv=3, weights=[0, 1, 0])


def test_a_prefit_member_that_cannot_vote_is_dropped():
    members = [(name, clone(model).fit(X, Y)) for name, model in MEMBERS[:2]]
    shy = ("shy", GaussianNB().fit(X[:, :2], Y))
    with pytest.raises(ValueError, match="'shy' cannot vote"):
        VotingClassifier([*members, shy], cv="prefit").fit(X, Y)
    fewer = dropping(VotingClassifier, [shy, *members], cv="prefit", weights=[3, 2, 1])
    expected = VotingClassifier(members, cv="prefit", weights=[2, 1]).fit(X, Y)
    np.testing.assert_array_equal(fewer.predict_proba(X), expected.predict_proba(X))


def test_every_fit_is_reported():
    events = []
    with receiving(events.append):
        CAWPEClassifier(MEMBERS, cv=3).fit(X, Y)
    reported = [event for event in events if event.name == "CAWPEClassifier"]
    assert (reported[-1].what, reported[-1].n_done, reported[-1].n_total) == ("folds", 12, 12)


def test_the_five_members_of_the_paper_read_categories_and_missing_values():
    frame, signal = mixed_frame(n_rows=120)
    cawpe = CAWPEClassifier(cv=2, random_state=0).fit(frame, target_for(COMMITTEES[0], signal))
    assert list(cawpe.named_estimators_) == ["logistic", "c45", "svm", "neighbours", "perceptron"]
    assert cawpe.score(frame, target_for(COMMITTEES[0], signal)) > 0.9
    stacking = StackingRegressor(cv=2, random_state=0).fit(frame, signal)
    assert stacking.score(frame, signal) > 0.8


def test_dynamic_selection_reports_the_deciding_members():
    dynamic = DynamicSelectionClassifier(MEMBERS, method="ola", cv=3).fit(X, Y)
    shares, competence = dynamic.selected(X[:4])
    assert shares.shape == competence.shape == (4, 3)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    voting = VotingClassifier(MEMBERS, cv=3).fit(X, Y)
    for again in (dynamic.recombine("cawpe").recombine(dynamic.rule_, X), voting.recombine(dynamic.rule_, X)):
        np.testing.assert_array_equal(again.selected(X[:4])[1], competence)
    with pytest.raises(ValueError, match=r"FixedRule does not choose members row by row\. Use recombine"):
        voting.selected(X)


def test_transform_returns_votes_side_by_side():
    voting = VotingClassifier(MEMBERS).fit(X, Y)
    side_by_side = voting.transform(X)
    np.testing.assert_array_equal(side_by_side[:, 3:6], voting.votes(X)[1])
    assert list(voting.get_feature_names_out())[:4] == ["bayes_0", "bayes_1", "bayes_2", "near_0"]


def test_members_are_parameters():
    voting = VotingClassifier(MEMBERS).set_params(tree__max_depth=5, bayes=LogisticRegression())
    assert voting.get_params()["tree__max_depth"] == 5
    assert isinstance(voting.get_params()["bayes"], LogisticRegression)
    assert isinstance(clone(voting).estimators[0][1], LogisticRegression)


@every_committee
def test_pickle_file_and_clone_predict_alike(estimator, tmp_path):
    frame, signal = mixed_frame()
    y = target_for(estimator, signal)
    fitted = clone(estimator).set_params(keep="all").fit(frame, y)
    expected = votes_of(fitted, frame)
    fitted.save(tmp_path / "model.committee")
    committee.verify(tmp_path / "model.committee")
    loaded = committee.load(tmp_path / "model.committee")
    for again in (pickle.loads(pickle.dumps(fitted)), loaded, clone(fitted).fit(frame, y)):
        np.testing.assert_array_equal(votes_of(again, frame), expected)
    if fitted.cv is not None:
        np.testing.assert_array_equal(loaded.honest_votes_, fitted.honest_votes_)
        assert list(loaded.leaderboard(["mean"])) == list(fitted.leaderboard(["mean"]))


@every_committee
def test_a_single_class_is_always_predicted(estimator):
    if hasattr(estimator, "predict_proba"):
        fitted = clone(estimator).fit([[1.0], [2.0], [3.0]], ["a", "a", "a"])
        assert fitted.predict([[9.0]]) == ["a"]
        np.testing.assert_array_equal(fitted.predict_proba([[9.0]]), [[1.0]])


# The committees whose members the user passes.
of_given_members = pytest.mark.parametrize(
    "estimator", [each for each in COMMITTEES if not name_of(each).startswith("Committee")], ids=name_of
)


def same_folds(estimator, rows):
    """Return a committee of trees for all rows, and one for `rows` whose folds hold out the same rows."""
    kind = DecisionTreeClassifier if is_classifier(estimator) else DecisionTreeRegressor
    trees = [(f"tree{depth}", kind(max_depth=depth)) for depth in (1, 3)]
    folds = list(KFold(3, shuffle=True, random_state=0).split(np.arange(60)))
    moved = [tuple(np.flatnonzero(np.isin(rows, part)) for part in fold) for fold in folds]
    final = {"final_estimator": "convex"} if "Stacking" in name_of(estimator) else {}
    regions = {"partition": "tree", "min_rows": 1} if "Region" in name_of(estimator) else {}
    return [clone(estimator).set_params(estimators=trees, cv=cv, **final, **regions) for cv in (folds, moved)]


@of_given_members
def test_in_the_same_folds_the_order_of_rows_does_not_matter(estimator):
    frame, signal = mixed_frame()
    y, order = target_for(estimator, signal), np.random.default_rng(1).permutation(60)
    straight, shuffled = same_folds(estimator, order)
    expected = votes_of(straight.fit(frame, y), frame)
    answers = votes_of(shuffled.fit(frame.iloc[order], y[order]), frame)
    np.testing.assert_allclose(answers, expected, rtol=1e-9, atol=1e-9)


@of_given_members
def test_in_the_same_folds_a_row_of_weight_two_is_the_row_twice(estimator):
    frame, signal = mixed_frame()
    y, weights = target_for(estimator, signal), 1 + np.arange(60) % 3
    rows = np.arange(60).repeat(weights)
    weighted, repeated = same_folds(estimator, rows)
    expected = votes_of(repeated.fit(frame.iloc[rows], y[rows]), frame)
    answers = votes_of(weighted.fit(frame, y, sample_weight=weights), frame)
    np.testing.assert_allclose(answers, expected, rtol=1e-5, atol=1e-5)


def test_a_member_that_votes_nan_is_named():
    table = np.array([[1.0], [2.0], [3.0]])
    voting = VotingRegressor([("line", LinearRegression())]).fit(table, [1.0, 2.0, 3.0])
    voting.estimators_[0].coef_[:] = np.nan
    with pytest.raises(ValueError, match=r"Member 'line' cannot vote. ValueError: It votes with NaN"):
        voting.predict(table)


def tree(**parameters):
    return [("tree", DecisionTreeClassifier(**parameters))]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"estimators": [*tree(), *tree()]}, "Two members are named 'tree'."),
        ({"estimators": []}, r"estimators must be a list of \(name, estimator\) pairs, or None. Got \[\]."),
        ({"estimators": [GaussianNB()]}, r"Got GaussianNB\(\) in it."),
        ({"estimators": [("a", GaussianNB)]}, "in it."),
        ({"estimators": [("a__b", GaussianNB())]}, "must be text without '__'. Got 'a__b'."),
        (
            {"estimators": [("rule", GaussianNB())]},
            "A member is named 'rule', like a parameter of VotingClassifier. Give the member another name.",
        ),
        ({"estimators": [("line", LinearRegression())]}, "Member 'line' must be a classifier. Got LinearReg"),
        ({"cv": 1}, "cv must be an integer >= 2"),
        ({"cv": "often"}, "cv must be an integer >= 2"),
        ({"cv": [(np.arange(5), np.arange(3, 8))]}, "Fold 0 of cv learns from rows that it holds out"),
        ({"cv": [(np.arange(5), np.arange(300, 302))]}, "cv has row 300, and X has 150 rows."),
        ({"cv": [(np.arange(5), [40, -1])]}, "cv has row -1, and X has 150 rows."),
        ({"columns": {"bush": [0]}}, "columns has the unknown member 'bush'."),
        ({"columns": {"tree": ["age"]}}, r"columns\['tree'\] has 'age', which is not a column of X."),
        ({"columns": {"tree": []}}, r"columns\['tree'\] is empty."),
        ({"columns": [0]}, "columns must be a dict"),
        ({"calibrate": "often"}, "calibrate must be"),
        (
            {"calibrate": "sigmoid"},
            "calibrate='sigmoid' needs honest votes, and cv=None makes none. Set cv=5, or calibrate=None.",
        ),
        ({"on_error": "ignore"}, "on_error must be"),
        ({"runner": "cluster"}, "runner must be"),
        ({"rule": "best"}, "There is no rule 'best'."),
        ({"weights": [1, 2]}, "weights must be one number for each of 1 members."),
        ({"weights": [-1]}, "weights must be finite, >= 0"),
        ({"rule": "cawpe", "weights": [1]}, "CAWPERule finds its own."),
    ],
)
def test_bad_parameters_are_named_in_one_line(parameters, message):
    with pytest.raises(ValueError, match=message) as caught:
        VotingClassifier(**{"estimators": tree()} | parameters).fit(X, Y)
    assert len(str(caught.value).splitlines()) == 1


def test_a_classification_rule_is_refused_for_regression_before_members_are_fitted():
    with pytest.raises(
        ValueError, match=r"CAWPERule is a rule for classification. Use another for regression"
    ):
        VotingRegressor([("tree", DecisionTreeRegressor())], rule="cawpe").fit(NUMBERS, AMOUNTS)


def test_a_data_frame_is_read_once_for_all_members(monkeypatch):
    frame, signal = mixed_frame(n_rows=60)
    members = [
        ("tree", DecisionTreeClassifier(random_state=0)),
        ("c45", committee.C45Classifier()),
        ("linear", encoded(LogisticRegression())),
    ]
    voting = VotingClassifier(members, cv=3, refit=False)
    voting.fit(frame, target_for(voting, signal))
    expected = [
        np.mean([model.predict_proba(frame) for model in models], axis=0) for models in voting.estimators_
    ]
    opened = []
    monkeypatch.setattr(source, "open_frame", lambda X, way=source.open_frame: opened.append(X) or way(X))
    np.testing.assert_allclose(voting.votes(frame), expected, atol=1e-6)
    assert len(opened) == 1


def test_members_find_their_columns_in_any_column_order():
    frame, signal = mixed_frame(n_rows=60)
    voting = VotingClassifier(tree(random_state=0), columns={"tree": [3, 0]})
    voting.fit(frame, target_for(voting, signal))
    turned = frame[list(frame.columns)[::-1]]
    np.testing.assert_array_equal(voting.votes(turned), voting.votes(frame))


def test_weights_of_a_committee_are_those_of_its_members():
    members = [("tree", DecisionTreeClassifier(max_depth=2)), ("bayes", GaussianNB())]
    X, y = load_iris(return_X_y=True)
    assert VotingClassifier(members, weights=[1, 3]).fit(X, y).weights_.tolist() == [1, 3]
    weights = 1 + np.arange(150) % 3
    dynamic = DynamicSelectionClassifier(members).fit(X, y, sample_weight=weights)
    for without in (dynamic, VotingClassifier(members).fit(X, y)):
        with pytest.raises(AttributeError, match="has no weights for members"):
            without.weights_  # noqa: B018
    np.testing.assert_array_equal(dynamic.rule_.row_weights_, weights)
    with pytest.raises(AttributeError, match=r"^y had one class, so there is nothing to decide.$"):
        VotingClassifier(members).fit(X, np.zeros(150)).weights_  # noqa: B018


@pytest.mark.parametrize("of_rows", [DynamicSelectionClassifier, RegionSelectionClassifier])
def test_rules_that_use_rows_are_on_the_leaderboard_of_such_a_committee(of_rows, tmp_path):
    selecting = of_rows(MEMBERS[:2], keep="all", random_state=0)
    selecting.fit(X, Y, sample_weight=1 + np.arange(150) % 2)
    assert {each.name for each in selecting.leaderboard()} >= {"dynamic", "region", "mean", "bayes"}
    selecting.save(tmp_path / "selecting.committee")
    loaded = committee.load(tmp_path / "selecting.committee")
    for board in (selecting.leaderboard(["dynamic"]), loaded.leaderboard(["dynamic"])):
        assert list(board) == list(selecting.leaderboard(["dynamic"], X=X))
    another = loaded.recombine("dynamic")
    np.testing.assert_array_equal(another.predict(X), selecting.recombine("dynamic", X).predict(X))


def test_a_committee_without_honest_votes_has_a_notebook_view():
    fitted = VotingClassifier(MEMBERS).fit(X, Y)
    assert not hasattr(fitted, "honest_votes_")
    assert "VotingClassifier" in fitted._repr_html_()
    with pytest.raises(ValueError, match="fitted without honest votes"):
        _ = fitted.honest_rows_
