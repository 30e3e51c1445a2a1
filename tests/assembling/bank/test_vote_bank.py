"""The bank of votes stores members' votes, compares rules on them, and ignores half-written files."""

import os
import signal
import subprocess
import sys
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_iris, make_classification
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GroupKFold, KFold, RepeatedStratifiedKFold, TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier as OtherTree

import committee
from committee import (
    BaggingClassifier,
    CAWPEClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
    VotingRegressor,
)
from committee.assembling import Bank
from committee.members.training_set import TrainingSet
from committee.running import runner
from committee.task import Classification

pytestmark = pytest.mark.filterwarnings("ignore:Members without predict_proba")

X, Y = load_iris(return_X_y=True)
NEW, TRUTH = X[1::2], Y[1::2]
X, Y = X[::2], Y[::2]
MEMBERS = {
    "bayes": GaussianNB(),
    "near": KNeighborsClassifier(),
    "tree": OtherTree(max_depth=2, random_state=0),
}


PAIRS = list(MEMBERS.items())


def fill(bank, names=MEMBERS, X=X, y=Y, new=NEW):
    """Let members vote in every fold."""
    for name in names:
        for fold, (train, held_out) in enumerate(bank.folds):
            model = MEMBERS[name].fit(X[train], y[train])
            bank.add(name, fold, model.predict_proba(X[held_out]), test_votes=model.predict_proba(new))
    return bank


def filled(folder=None, **more):
    return fill(Bank(X, Y, cv=3, X_test=NEW, folder=folder, **more))


@pytest.mark.parametrize("on_disk", [False, True])
def test_votes_equal_the_honest_votes_of_a_committee(on_disk, tmp_path):
    bank = filled(tmp_path if on_disk else None)
    cawpe = CAWPEClassifier(PAIRS, cv=3, refit=False).fit(X, Y)
    np.testing.assert_array_equal(bank.votes(), cawpe.honest_votes_)
    np.testing.assert_allclose(bank.test_votes(), cawpe.votes(NEW), atol=1e-6)
    np.testing.assert_allclose(bank.combine("cawpe"), cawpe.predict_proba(NEW), atol=1e-6)
    np.testing.assert_allclose(
        bank.combine("stacking"),
        StackingClassifier(PAIRS, cv=3, refit=False).fit(X, Y).predict_proba(NEW),
        atol=1e-5,
    )
    of_bank, of_committee = (
        [(each.name, each.score, each.low) for each in some.leaderboard(["mean", "greedy"])]
        for some in (bank, cawpe)
    )
    assert of_bank == of_committee[1:] and of_committee[0][0] == "cawpe"
    assert bank.votes().dtype == np.float32


def test_every_rule_can_be_tried_without_fitting_members():
    bank = filled()
    assert {each.name for each in bank.leaderboard()} > {"bayes", "near", "tree", "mean", "dynamic", "region"}
    for rule in ("mean", "naive_bayes", "region", "dynamic"):
        assert (bank.combine(rule).argmax(axis=1) == TRUTH).mean() > 0.9


def test_a_new_member_joins_without_fitting_the_others_again(tmp_path):
    first = fill(Bank(X, Y, cv=3, X_test=NEW, folder=tmp_path), ["bayes", "near"])
    assert first.members == ["bayes", "near"]
    before = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    later = Bank(X, Y, cv=3, X_test=NEW, folder=tmp_path)
    assert [later.has("bayes", fold) for fold in range(3)] == [True] * 3
    assert not later.has("tree", 0)
    fill(later, ["tree"])
    assert later.members == first.members == ["bayes", "near", "tree"]
    np.testing.assert_array_equal(first.votes(), filled().votes())
    np.testing.assert_array_equal(first.votes(["tree", "bayes"]), filled().votes()[[2, 0]])
    assert {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}.items() >= before.items()


@pytest.mark.parametrize("kind", ["serial", "threads", "processes"])
def test_collect_fits_members_only_for_missing_votes(kind, tmp_path):
    bank, again = (Bank(X, Y, cv=3, X_test=NEW, folder=tmp_path) for _ in range(2))
    with runner(kind) as run:
        bank.collect(PAIRS[:2], runner=run)
        before = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
        again.collect(PAIRS, runner=run)
    after = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert after.items() > before.items()
    np.testing.assert_array_equal(again.votes(), filled().votes())
    np.testing.assert_array_equal(again.test_votes(), filled().test_votes())
    with pytest.raises(ValueError, match="votes of another member 'tree', made by another recipe"):
        again.collect([("tree", OtherTree(max_depth=3))])


def test_random_draws_depend_on_the_name_of_a_member_and_not_on_other_members():
    pairs = [(name, committee.DecisionTreeClassifier(max_features=1)) for name in ("a", "b")]
    both, alone = Bank(X, Y, cv=3), Bank(X, Y, cv=3)
    both.collect(pairs)
    alone.collect(pairs[1:])
    np.testing.assert_array_equal(both.votes(["b"]), alone.votes())
    assert (both.votes(["a"]) != both.votes(["b"])).any()


def test_members_see_only_their_columns_and_forests_vote_out_of_bag():
    frame, new = (pd.DataFrame(each, columns=list("abcd")) for each in (X, NEW))
    bank = Bank(frame, Y, cv=3, X_test=new[["d", "c", "b", "a"]])
    forest = RandomForestClassifier(40, random_state=0)
    bank.collect([("bayes", GaussianNB()), ("forest", forest)], columns={"bayes": ["d", "a"]})
    assert bank.notes("forest", None) == {}
    voting = VotingClassifier(
        [("bayes", GaussianNB()), ("forest", forest)], columns={"bayes": ["d", "a"]}, cv=3, refit=False
    ).fit(frame, Y)
    np.testing.assert_array_equal(bank.votes(), voting.honest_votes_)
    np.testing.assert_allclose(bank.test_votes(), voting.votes(new), atol=1e-7)


def rows_in_four_copies():
    """Return rows in four copies with random answers: a member that saw one copy knows the other three."""
    rng = np.random.default_rng(0)
    table = np.repeat(rng.normal(size=(60, 3)), 4, axis=0) + rng.normal(size=(240, 3)) * 1e-3
    return table, np.repeat(rng.integers(0, 2, 60), 4), np.repeat(np.arange(60), 4)


@pytest.mark.parametrize("split", ["groups as a list", "a splitter", "time", "groups", "read already"])
def test_forests_vote_in_folds_when_the_split_keeps_groups_or_time_apart(split):
    table, y, groups = rows_in_four_copies()
    by_group = list(GroupKFold(4).split(table, y, groups))
    if split == "read already":
        bank = Bank.of(TrainingSet.of(Classification, table, y, None, None), by_group)
    else:
        given = {
            "groups as a list": {"cv": by_group},
            "a splitter": {"cv": GroupKFold(4), "groups": groups},
            "time": {"cv": TimeSeriesSplit(5)},
            "groups": {"cv": 4, "groups": groups},
        }
        bank = Bank(table, y, **given[split])
    bank.collect([("forest", RandomForestClassifier(20)), ("bags", BaggingClassifier(n_estimators=10))])
    assert all(bank.has(name, 0, bank.ballot(name, 0).recipe) for name in ("bags", "forest"))
    assert max(each.score for each in bank.leaderboard([])) < 0.75


def test_a_member_votes_either_out_of_bag_or_in_folds():
    forest = [("forest", RandomForestClassifier(20, random_state=0))]
    for first, message in (
        (True, "out of bag, and cannot vote in folds"),
        (False, "in folds, and cannot vote"),
    ):
        bank = Bank(X, Y, cv=3)
        bank.collect(forest, out_of_bag=first)
        votes = bank.votes()
        with pytest.raises(ValueError, match=f"Member 'forest' has voted {message}"):
            bank.collect(forest, out_of_bag=not first)
        np.testing.assert_array_equal(bank.votes(), votes)


@pytest.mark.parametrize("method", ["sigmoid", "isotonic", "temperature", None])
def test_stored_scores_are_calibrated_when_votes_are_requested(method, tmp_path):
    pairs = [("bayes", GaussianNB()), ("machine", LinearSVC(random_state=0))]
    Bank(X, Y, cv=3, X_test=NEW, folder=tmp_path).collect(pairs)
    bank = Bank.open(tmp_path, calibrate=method)
    voting = VotingClassifier(pairs, cv=3, refit=False, calibrate=method).fit(X, Y)
    np.testing.assert_allclose(bank.votes(), voting.honest_votes_, atol=1e-6)
    np.testing.assert_allclose(bank.test_votes(), voting.votes(NEW), atol=1e-6)
    with pytest.raises(ValueError, match="calibrate must be one of isotonic, sigmoid, temperature, or None"):
        Bank.open(tmp_path, calibrate="often")


@pytest.mark.parametrize("shape", ["ovo", "ovr"])
@pytest.mark.parametrize("n_classes", [3, 5])
@pytest.mark.parametrize("calibrate", [None, "sigmoid"])
def test_support_vector_machines_vote_as_in_a_committee(shape, n_classes, calibrate):
    table, y = make_classification(
        200, 5, n_informative=5, n_redundant=0, n_classes=n_classes, class_sep=0.4, random_state=0
    )
    folds = list(RepeatedStratifiedKFold(n_splits=2, n_repeats=2, random_state=0).split(table[:150], y[:150]))
    machine = [("machine", SVC(decision_function_shape=shape))]
    bank = Bank(table[:150], y[:150], cv=folds, X_test=table[150:], calibrate=calibrate)
    bank.collect(machine)
    voting = VotingClassifier(machine, cv=folds, refit=False, calibrate=calibrate)
    voting.fit(table[:150], y[:150])
    np.testing.assert_allclose(bank.votes(), voting.honest_votes_, atol=1e-6)
    np.testing.assert_allclose(bank.test_votes(), voting.votes(table[150:]), atol=1e-6)


@pytest.mark.parametrize("rule", ["mean", "log_pool", "stacking"])
def test_a_bank_decides_like_the_committee_of_its_models(rule):
    folds = list(RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0).split(X, Y))
    bank = Bank(X, Y, cv=folds, X_test=NEW)
    bank.collect(PAIRS)
    voting = VotingClassifier(PAIRS, rule=rule, cv=folds, refit=False, random_state=0).fit(X, Y)
    np.testing.assert_allclose(bank.combine(rule), voting.predict_proba(NEW), atol=1e-6)


def test_a_member_stores_either_votes_or_scores():
    bank = Bank(X, Y, cv=3)
    bank.add("machine", 0, -np.ones((25, 3)), are_scores=True)
    with pytest.raises(ValueError, match="'machine' casts votes in one fold and scores in another"):
        bank.add("machine", 1, np.ones((25, 3)))
    with pytest.raises(ValueError, match="votes must be finite"):
        bank.add("machine", 1, np.full((25, 3), np.inf), are_scores=True)


def test_a_damaged_bank_raises_a_one_line_error(tmp_path):
    filled(tmp_path)
    path = tmp_path / "bank.poll"
    content = path.read_bytes()
    for damaged in (b"", content[:-5], content.replace(b'"n_test_rows\\":75', b'"n_test_rows\\":74')):
        assert damaged != content
        path.write_bytes(damaged)
        for again in (lambda: Bank.open(tmp_path), lambda: Bank(X, Y, cv=3, X_test=NEW, folder=tmp_path)):
            with pytest.raises(ValueError, match=r"bank.poll") as caught:
                again()
            assert len(str(caught.value).splitlines()) == 1


def test_a_failure_names_member_and_fold_and_keeps_existing_ballots():
    wrong = ("wrong", GaussianNB(priors=[2.0, 1.0]))
    bank = Bank(X, Y, cv=3)
    with pytest.raises(ValueError, match="member 'wrong', fold 0"):
        bank.collect([*PAIRS, wrong], runner="serial")
    assert bank.members == ["bayes", "near", "tree"]
    with pytest.warns(RuntimeWarning, match="Member 'wrong' is dropped"):
        bank.collect([*PAIRS, wrong], on_error="drop")
    assert bank.members == ["bayes", "near", "tree"]
    for given, message in (
        ({"on_error": "ignore"}, r"on_error must be \"raise\" or \"drop\". Got 'ignore'."),
        ({"random_state": None}, r"random_state must be an integer >= 0. Got None."),
        ({"random_state": -1}, r"random_state must be an integer >= 0. Got -1."),
    ):
        with pytest.raises(ValueError, match=message):
            bank.collect(PAIRS, **given)
    with pytest.raises(ValueError, match="Two members are named 'bayes'"):
        bank.collect([PAIRS[0], PAIRS[0]])


def test_a_fitted_committee_can_add_its_votes():
    bank = Bank(X, Y, cv=4, X_test=NEW)
    voting = VotingClassifier(PAIRS, cv=bank.folds).fit(X, Y)
    bank.add_committee(voting)
    np.testing.assert_array_equal(bank.votes(), voting.honest_votes_)
    for rule in ("cawpe", "stacking"):
        np.testing.assert_array_equal(bank.combine(rule), voting.recombine(rule).predict_proba(NEW))
    bank.collect([("other", GaussianNB())])
    assert bank.members == ["bayes", "near", "other", "tree"]
    for table, y in ((X[:-1], Y[:-1]), (X, Y[::-1]), (X, Y.astype(str)), (X + 1, Y)):
        with pytest.raises(ValueError, match="The committee was fitted on another table"):
            Bank(table, y).add_committee(voting)
    with pytest.raises(ValueError, match="fitted without honest votes"):
        bank.add_committee(VotingClassifier(PAIRS).fit(X, Y))


def test_a_committee_with_other_held_out_rows_is_refused(tmp_path):
    groups = np.arange(len(Y)) // 5
    bank, by_group = Bank(X, Y, cv=4), Bank(X, Y, cv=4, groups=groups)
    forest = [("forest", RandomForestClassifier(20, random_state=0))]
    for each, committee_, fit in (
        (bank, VotingClassifier(PAIRS, cv=3), {}),
        (bank, VotingClassifier(PAIRS, cv=by_group.folds), {}),
        (bank, VotingClassifier(PAIRS, cv=4), {"groups": groups}),
        (by_group, VotingClassifier(PAIRS, cv=4), {}),
        (by_group, VotingClassifier(forest, cv=4), {}),
    ):
        with pytest.raises(ValueError, match="fitted in other folds or groups than those of the bank"):
            each.add_committee(committee_.fit(X, Y, **fit))
    prefit = VotingClassifier([(name, model.fit(X, Y)) for name, model in PAIRS], cv="prefit").fit(X, Y)
    with pytest.raises(ValueError, match="It is unknown which rows the members"):
        bank.add_committee(prefit)
    assert bank.members == by_group.members == []
    VotingClassifier(forest, cv=4, keep="all").fit(X, Y).save(tmp_path / "forest.committee")
    bank.add_committee(committee.load(tmp_path / "forest.committee"))
    by_group.add_committee(VotingClassifier(PAIRS, cv=4).fit(X, Y, groups=groups))
    automatic = committee.CommitteeClassifier(["linear"], cv=bank.folds, random_state=0).fit(X, Y)
    bank.add_committee(automatic)
    assert bank.members == ["forest", "linear"]
    assert by_group.members == ["bayes", "near", "tree"]


def test_a_bank_opens_without_its_table(tmp_path):
    filled(tmp_path)
    bank = Bank.open(tmp_path)
    np.testing.assert_array_equal(bank.combine("cawpe"), filled().combine("cawpe"))
    assert "dynamic" not in {each.name for each in bank.leaderboard()}
    with pytest.raises(ValueError, match=r"DynamicRule uses the columns of X, which the folder does not co"):
        bank.combine("dynamic")
    with pytest.raises(ValueError, match="opened without its table"):
        bank.collect([("bayes", GaussianNB())])
    with pytest.raises(FileNotFoundError, match=r"There is no bank of votes in .*nowhere. Make one"):
        Bank.open(tmp_path / "nowhere")
    with pytest.raises(NotADirectoryError, match=r"bank.poll is a file. Use a folder for the bank"):
        Bank(X, Y, folder=tmp_path / "bank.poll")


def test_a_member_counts_only_when_it_has_voted_on_every_row(tmp_path):
    bank = Bank(X, Y, cv=3, folder=tmp_path)
    with pytest.raises(ValueError, match="No member has voted on every row yet"):
        bank.votes()
    for fold, (_, held_out) in enumerate(bank.folds[:2]):
        bank.add("flat", fold, np.full((len(held_out), 3), 1 / 3))
    assert bank.members == []
    with pytest.raises(ValueError, match=r"'flat' has not voted on every row. Members that have: \[\]"):
        bank.votes(["flat"])
    bank.add("flat", 2, np.full((len(bank.folds[2][1]), 3), 1 / 3))
    with pytest.raises(ValueError, match="The bank has no test rows"):
        bank.combine("mean")


def test_available_repetitions_of_folds_are_averaged():
    cv = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)
    bank = Bank(X, Y, cv=cv)
    for fold, (train, held_out) in enumerate(bank.folds):
        bank.add("bayes", fold, GaussianNB().fit(X[train], Y[train]).predict_proba(X[held_out]))
        assert bank.members == (["bayes"] if fold >= 2 else [])
    whole = CAWPEClassifier([("bayes", GaussianNB())], cv=cv).fit(X, Y)
    np.testing.assert_allclose(bank.votes(), whole.honest_votes_, atol=1e-7)


def test_out_of_bag_votes_belong_to_the_given_rows():
    bank = filled()
    forest = RandomForestClassifier(3, oob_score=False, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        votes = forest.set_params(oob_score=True).fit(X, Y).oob_decision_function_
    rows = np.flatnonzero(~np.isnan(votes).any(axis=1))
    bank.add("forest", None, votes[rows], rows=rows, test_votes=forest.predict_proba(NEW))
    assert 0 < len(rows) < len(Y)
    np.testing.assert_array_equal(bank.honest().rows, rows)
    np.testing.assert_array_equal(bank.honest(["bayes"]).rows, np.arange(len(Y)))
    with pytest.raises(ValueError, match="Votes of member 'f' out of bag need rows"):
        bank.add("f", None, votes[rows])
    with pytest.raises(ValueError, match="Votes of member 'f' must be one for each row"):
        bank.add("f", None, votes[[rows[0], rows[0]]], rows=[rows[0], rows[0]])


def test_votes_for_numbers_are_stored_in_double_precision(tmp_path):
    table, y = load_diabetes(return_X_y=True)
    bank = Bank(table, y, task="regression", cv=KFold(4), folder=tmp_path, X_test=table[:9])
    for fold, (train, held_out) in enumerate(bank.folds):
        line = LinearRegression().fit(table[train], y[train])
        bank.add("line", fold, line.predict(table[held_out]), test_votes=line.predict(table[:9]))
    voting = VotingRegressor([("line", LinearRegression())], cv=KFold(4), refit=False).fit(table, y)
    np.testing.assert_array_equal(bank.votes(), voting.honest_votes_)
    np.testing.assert_allclose(
        Bank.open(tmp_path).combine("median")[:, 0], voting.predict(table[:9]), rtol=1e-12
    )
    (line, baseline), (_, of_committee, _) = bank.leaderboard([]), voting.leaderboard([])
    assert line.score == of_committee.score > baseline.score


def test_a_table_is_recognised_in_any_data_frame_library(tmp_path):
    frame = pd.DataFrame({"age": [1.0, 2.0, 8.0, 9.0] * 3, "city": pd.Categorical(["a", "b"] * 6)})
    y = ["no", "no", "yes", "yes"] * 3
    Bank(frame, y, cv=2, folder=tmp_path)
    Bank(frame.assign(city=frame["city"].astype(str)), np.array(y, dtype=object), cv=2, folder=tmp_path)
    for other in (frame.rename(columns={"age": "size"}), frame.assign(city=["a", "c"] * 6)):
        with pytest.raises(ValueError, match="holds votes on another table"):
            Bank(other, y, cv=2, folder=tmp_path)


CHANGES = [
    ({"X": X + 1}, "another table"),
    ({"X": X[:-1], "y": Y[:-1]}, "another table"),
    ({"y": Y[::-1]}, "another table"),
    ({"y": Y.astype(str)}, "another table"),
    ({"sample_weight": np.arange(len(Y)) + 1.0}, "another table"),
    ({"cv": 4}, "another split of this table"),
    ({"cv": KFold(3)}, "another split of this table"),
    ({"X_test": NEW[:-1]}, "other test rows"),
    ({"X_test": None}, "other test rows"),
]


@pytest.mark.parametrize(("change", "what"), CHANGES)
def test_another_table_or_split_raises_a_one_line_error(change, what, tmp_path):
    given = {"X": X, "y": Y, "cv": 3, "X_test": NEW, "folder": tmp_path}
    Bank(**given)
    with pytest.raises(ValueError, match=f"holds votes on {what}. Use another folder.") as caught:
        Bank(**given | change)
    assert len(str(caught.value).splitlines()) == 1


def test_a_ballot_from_another_bank_is_refused_with_its_file_name(tmp_path):
    filled(tmp_path / "one")
    other = Bank(X, Y, cv=3, X_test=NEW[:-1], folder=tmp_path / "other")
    for path in (tmp_path / "one").glob("tree*.fold0.votes"):
        path.rename(tmp_path / "other" / path.name)
    with pytest.raises(ValueError, match=r"tree.*fold0.votes contains votes on another table, split or test"):
        _ = other.members


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("m", 7, np.ones((25, 3))), "there is no fold 7. There are 3 folds."),
        (("m", 0, np.ones((24, 3))), r"in fold 0 must have the shape \(25, 3\). Got \(24, 3\)."),
        (("m", 0, np.ones((25, 2))), r"must have the shape \(25, 3\)"),
        (("m", 0, np.full((25, 3), np.nan)), "in fold 0: votes must be finite. Got nan"),
        (("m", 0, -np.ones((25, 3))), "votes must be >= 0"),
        ((7, 0, np.ones((25, 3))), "member must be a name. Got 7."),
        (("m", "a", np.ones((25, 3))), "fold must be the number of a fold, or None. Got 'a'."),
    ],
)
def test_votes_of_a_wrong_shape_or_value_are_refused(arguments, message):
    bank = Bank(X, Y, cv=3, X_test=NEW)
    with pytest.raises(ValueError, match=message):
        bank.add(*arguments)
    with pytest.raises(ValueError, match=r"on test rows must have the shape \(75, 3\)"):
        bank.add("m", 0, np.ones((25, 3)), test_votes=np.ones((3, 3)))
    with pytest.raises(ValueError, match="must be on the rows that the fold holds out, in their order"):
        bank.add("m", 0, np.ones((25, 3)), rows=bank.folds[0][0][:25])
    assert not bank.has("m", 0)


def test_regression_members_cannot_add_scores():
    bank = Bank(X, Y.astype(float), task="regression", cv=3)
    with pytest.raises(ValueError, match="are_scores=True is for classes"):
        bank.add("m", 0, np.ones(50), are_scores=True)


def test_invalid_member_names_and_committees_are_refused():
    bank = filled()
    with pytest.raises(
        ValueError, match=r"names must be a list of members, or None. Got 'tree': pass \['tree'\]"
    ):
        bank.votes("tree")
    with pytest.raises(ValueError, match=r"committee must be a fitted committee. Got a GaussianNB"):
        bank.add_committee(GaussianNB())


def test_votes_that_do_not_sum_to_one_are_rescaled():
    bank = Bank(X, Y, cv=3, X_test=NEW)
    loud = np.tile([1.0, 2.0, 5.0], (75, 1))
    for fold, (_, held_out) in enumerate(bank.folds):
        bank.add("loud", fold, loud[held_out], test_votes=7 * loud)
    for votes in (bank.votes(), bank.test_votes()):
        np.testing.assert_array_equal(votes[0], loud / 8)


def test_a_name_belongs_to_one_recipe():
    bank = Bank(X, Y, cv=3)
    bank.add("tree", 0, np.ones((25, 3)), recipe="depth 2", notes={"seconds": 1.5})
    assert bank.has("tree", 0, "depth 2")
    assert bank.notes("tree", 0) == {"seconds": 1.5}
    for refused in (lambda: bank.has("tree", 0, "depth 3"), lambda: bank.add("tree", 1, np.ones((25, 3)))):
        with pytest.raises(ValueError, match="votes of another member 'tree', made by another recipe"):
            refused()


@pytest.mark.parametrize("name", ["a/b", "..", "é", "a b", "x" * 300, "CON", ""])
def test_any_text_can_be_a_member_name(name, tmp_path):
    bank = Bank(X, Y, cv=2, folder=tmp_path)
    for fold, (_, held_out) in enumerate(bank.folds):
        bank.add(name, fold, np.ones((len(held_out), 3)))
    assert Bank.open(tmp_path).members == [name]
    assert all(path.parent == tmp_path for path in tmp_path.rglob("*"))


def test_a_damaged_file_is_ignored_and_can_be_replaced_by_new_votes(tmp_path):
    filled(tmp_path)
    path = next(tmp_path.glob("bayes*.fold1.votes"))
    content = path.read_bytes()
    changed = bytearray(content)
    changed[-1] ^= 1
    for damaged in (b"", content[:5], content[:-7], content + b"x", bytes(changed), content[8:]):
        path.write_bytes(damaged)
        bank = Bank(X, Y, cv=3, X_test=NEW, folder=tmp_path)
        with pytest.warns(RuntimeWarning, match=r"A ballot is ignored. .*bayes.*fold1.votes"):
            assert not bank.has("bayes", 1)
        assert bank.members == ["near", "tree"]  # without a second warning
        fill(bank, ["bayes"])
        np.testing.assert_array_equal(bank.votes(), filled().votes())


def test_temporary_files_are_ignored(tmp_path):
    filled(tmp_path)
    path = next(tmp_path.glob("bayes*.fold1.votes"))
    path.rename(path.with_name(f".{path.name}.abc.part"))
    assert Bank.open(tmp_path).members == ["near", "tree"]


WRITER = """
import sys
import numpy as np
from committee.assembling import Bank
from committee.running import runner
X = np.arange(3000.0).reshape(-1, 1)
bank = Bank(X, np.arange(3000) % 20, cv=3, folder=sys.argv[1])
print("begun", flush=True)
for number in range(10_000):
    for fold, (_, rows) in enumerate(bank.folds):
        bank.add(f"m{number % 20}", fold, np.tile(np.eye(20)[number % 20], (len(rows), 1)))
    if number == int(sys.argv[2]):
        print("voted", flush=True)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no kill -9 on this system")
def test_a_killed_writer_leaves_a_complete_ballot_or_none(tmp_path):
    command = [sys.executable, "-c", WRITER, str(tmp_path)]
    writers = [subprocess.Popen([*command, str(n)], stdout=subprocess.PIPE, text=True) for n in (3, 7)]
    for writer in writers:
        assert [writer.stdout.readline(), writer.stdout.readline()] == ["begun\n", "voted\n"]
        os.kill(writer.pid, signal.SIGKILL)
        writer.communicate()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bank = Bank.open(tmp_path)
        members = bank.members
    assert len(members) >= 7
    for name in members:
        assert (bank.votes([name])[0] == np.eye(20)[int(name[1:])]).all()


def test_the_votes_of_a_folder_are_read_into_memory_once(tmp_path):
    y = np.arange(6000) % 10
    bank = Bank(y[:, None].astype(float), y, cv=3, folder=tmp_path)
    for name in "abcdefgh":
        for fold, (_, rows) in enumerate(bank.folds):
            bank.add(name, fold, np.ones((len(rows), 10)))
    tracemalloc.start()
    votes = bank.votes()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # The stack, plus one member's votes in double precision and the counts of votes.
    assert peak < votes.nbytes + 2 * 8 * 10 * len(y) + 3 * 8 * 8 * len(y)


def test_an_unknown_task_and_a_single_class_are_refused():
    with pytest.raises(ValueError, match='task must be "classification" or "regression"'):
        Bank(X, Y, task="classes")
    with pytest.raises(ValueError, match="y has one class, so there is nothing to vote on"):
        Bank(X, np.zeros(len(Y)))
