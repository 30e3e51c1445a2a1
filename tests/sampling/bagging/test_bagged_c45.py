"""C4.5 trees as members of bagging: the engine grows them in one call, equal to single trees."""

import pickle

import numpy as np
import pytest
from every_estimator import mixed_frame

import committee
from committee import BaggingClassifier, C45Classifier, RandomSubspaceClassifier, _engine
from committee.table import bin_table

RNG = np.random.default_rng(0)
X = RNG.normal(size=(240, 6))
Y = np.digitize(X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * RNG.normal(size=240), [-0.5, 0.7])
MISSING = np.where(RNG.random(X.shape) < 0.15, np.nan, X)
WEIGHTS = RNG.random(240) * (RNG.random(240) > 0.1)
GROUPS = np.repeat(np.arange(48), 5)


class ByRunner(C45Classifier):
    """A tree that a runner fits, because the engine does not grow subclasses."""


def check_same(made, expected, table):
    """Check that two baggings have the same trees, bit by bit, and so the same decisions."""
    assert isinstance(made._members, _engine.C45Forest)
    assert isinstance(expected._members, list)
    for own, alone in zip(made.estimators_, expected.estimators_, strict=True):
        theirs = alone.tree_.arrays()
        for name, array in own.tree_.arrays().items():
            np.testing.assert_array_equal(array, theirs[name])
    np.testing.assert_allclose(made.predict_proba(table), expected.predict_proba(table), atol=1e-7)
    np.testing.assert_allclose(made.feature_importances_, expected.feature_importances_)


OPTIONS = {
    "bags": {},
    "all rows": {"bootstrap": False},
    "half of the rows": {"bootstrap": False, "max_samples": 0.5},
    "patches": {"max_features": 0.5},
    "columns with replacement": {"max_features": 1.0, "bootstrap_features": True},
    "stratified": {"sampling": "stratified"},
    "balanced": {"sampling": "balanced"},
    "class weights": {"class_weight": {0: 2.0}},
    "majority": {"rule": "majority"},
    "stacking": {"rule": "stacking", "n_estimators": 8},
    "auto": {"n_estimators": "auto"},
}


@pytest.mark.parametrize("table", [X, MISSING], ids=["whole", "missing values"])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["", "weights"])
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_the_engine_and_the_runner_make_the_same_trees(options, weights, table):
    options = {"n_estimators": 4, "random_state": 0} | options
    made = BaggingClassifier(C45Classifier(), **options).fit(table, Y, weights)
    check_same(made, BaggingClassifier(ByRunner(), **options).fit(table, Y, weights), table)


@pytest.mark.parametrize(
    "member", [{"pruning": None}, {"confidence_factor": 0.01}, {"min_samples_leaf": 9}], ids=str
)
def test_parameters_reach_the_members(member):
    made = BaggingClassifier(C45Classifier(**member), 3, random_state=0).fit(X, Y)
    check_same(made, BaggingClassifier(ByRunner(**member), 3, random_state=0).fit(X, Y), X)


def test_groups_stay_together():
    made = BaggingClassifier(C45Classifier(), 3, random_state=0).fit(X, Y, WEIGHTS, groups=GROUPS)
    expected = BaggingClassifier(ByRunner(), 3, random_state=0).fit(X, Y, WEIGHTS, groups=GROUPS)
    check_same(made, expected, X)


@pytest.mark.parametrize("class_weight", ["balanced", {0: 3.0, 2: 0.5}], ids=str)
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["", "weights"])
def test_the_class_weight_of_a_member_applies_to_its_bag(class_weight, weights):
    options = {"n_estimators": 3, "bootstrap": weights is None, "random_state": 0}
    member, alone = C45Classifier(class_weight=class_weight), ByRunner(class_weight=class_weight)
    made = BaggingClassifier(member, **options).fit(X, Y, weights)
    expected = BaggingClassifier(alone, **options).fit(X, Y, weights)
    # The runner passes a row that was drawn twice two times, so rounding differs.
    np.testing.assert_allclose(made.predict_proba(X), expected.predict_proba(X), rtol=1e-9)


def test_subspaces_and_out_of_bag_decisions():
    made = RandomSubspaceClassifier(C45Classifier(), 5, random_state=0).fit(MISSING, Y)
    expected = RandomSubspaceClassifier(ByRunner(), 5, random_state=0).fit(MISSING, Y)
    check_same(made, expected, MISSING)
    assert made.estimators_[0].n_features_in_ == 3
    options = {"oob_score": True, "keep_votes": True, "random_state": 0}
    made = BaggingClassifier(C45Classifier(), 6, **options).fit(MISSING, Y, WEIGHTS)
    expected = BaggingClassifier(ByRunner(), 6, **options).fit(MISSING, Y, WEIGHTS)
    np.testing.assert_allclose(made.oob_decision_function_, expected.oob_decision_function_, atol=1e-7)
    np.testing.assert_allclose(made.oob_votes_, expected.oob_votes_)
    np.testing.assert_allclose(made.oob_curve_, expected.oob_curve_)
    assert made.oob_score_ == pytest.approx(expected.oob_score_)


def test_a_bag_of_all_rows_and_columns_gives_the_single_tree():
    frame, _ = mixed_frame(120)
    y = np.arange(120) % 3
    made = BaggingClassifier(C45Classifier(), 2, bootstrap=False).fit(frame, y)
    alone = C45Classifier().fit(frame, y)
    assert made.estimators_[1].export_text() == alone.export_text()
    np.testing.assert_allclose(made.predict_proba(frame), alone.predict_proba(frame), rtol=1e-12)


@pytest.mark.parametrize("pruning", ["pessimistic", "reduced_error"])
def test_the_number_of_threads_does_not_change_the_trees(pruning):
    options = {"oob_score": True, "random_state": 0}
    member = C45Classifier(pruning=pruning)
    first, *others = (
        BaggingClassifier(member, 7, n_jobs=n_jobs, **options).fit(MISSING, Y) for n_jobs in (1, 2, 3)
    )
    for other in others:
        np.testing.assert_array_equal(other.predict_proba(MISSING), first.predict_proba(MISSING))
        np.testing.assert_array_equal(other.oob_decision_function_, first.oob_decision_function_)


def test_row_order_does_not_change_bags_or_trees():
    order = np.random.default_rng(1).permutation(len(X))
    made = BaggingClassifier(C45Classifier(), 5, random_state=0).fit(MISSING, Y)
    again = BaggingClassifier(C45Classifier(), 5, random_state=0).fit(MISSING[order], Y[order])
    np.testing.assert_array_equal(made.predict_proba(MISSING), again.predict_proba(MISSING))


def test_a_warm_start_gives_the_same_members_as_one_fit():
    options = {"oob_score": True, "random_state": 0}
    whole = BaggingClassifier(C45Classifier(), 6, **options).fit(X, Y)
    parts = BaggingClassifier(C45Classifier(), 2, warm_start=True, **options).fit(X, Y)
    parts.set_params(n_estimators=6).fit(X, Y)
    np.testing.assert_array_equal(parts.predict_proba(X), whole.predict_proba(X))
    np.testing.assert_array_equal(parts.oob_decision_function_, whole.oob_decision_function_)


@pytest.mark.parametrize("options", [{}, {"max_features": 2}, {"rule": "weighted_majority"}], ids=str)
def test_files_and_pickles_change_nothing(options, tmp_path):
    frame, _ = mixed_frame(120)
    y = np.array(["a", "b", "c"])[np.arange(120) % 3]
    made = BaggingClassifier(C45Classifier(), 4, random_state=0, **options).fit(frame, y)
    made.save(tmp_path / "bags.committee")
    expected = made.predict_proba(frame)
    for again in (committee.load(tmp_path / "bags.committee"), pickle.loads(pickle.dumps(made))):
        np.testing.assert_array_equal(again.predict_proba(frame), expected)
        assert again.estimators_[3].export_text() == made.estimators_[3].export_text()


def test_an_old_file_with_a_list_of_trees_can_be_loaded(tmp_path, monkeypatch):
    with monkeypatch.context() as before:
        before.setattr("committee.sampling.bagging.bagging.grows_in_engine", lambda member: False)
        made = BaggingClassifier(C45Classifier(), 3, random_state=0).fit(X, Y)
        assert isinstance(made._members, list)
        made.save(tmp_path / "bags.committee")
    again = committee.load(tmp_path / "bags.committee")
    np.testing.assert_array_equal(again.predict_proba(X), made.predict_proba(X))


def test_every_member_has_the_rare_classes():
    y = np.array(["often"] * 59 + ["once"])
    made = BaggingClassifier(C45Classifier(), 5, random_state=0).fit(X[:60], y)
    assert all(member.classes_.tolist() == ["often", "once"] for member in made.estimators_)
    np.testing.assert_allclose(made.predict_proba(X).sum(axis=1), 1)


def test_a_binned_table_is_refused():
    with pytest.raises(TypeError, match="X is a BinnedTable, and C45Classifier learns from values"):
        BaggingClassifier(C45Classifier()).fit(bin_table(X), Y)


def test_a_bag_that_is_too_small_for_reduced_error_pruning_is_refused():
    member = C45Classifier(pruning="reduced_error", reduced_error_folds=50)
    with pytest.raises(ValueError, match="reduced_error_folds must be at most the number of rows"):
        BaggingClassifier(member, 2, random_state=0).fit(X[:40], Y[:40])
