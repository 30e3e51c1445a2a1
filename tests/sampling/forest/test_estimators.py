"""Forests: bags, out-of-bag decisions, warm starts, members, rules, importances and quantiles."""

import numpy as np
import pandas as pd
import pytest
import sklearn.ensemble
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.metrics import f1_score, log_loss
from sklearn.model_selection import train_test_split

from committee import (
    DecisionTreeClassifier,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    _engine,
    rules,
)
from committee.learners.training_data import Training
from committee.sampling.bags import n_draws, repeats_of
from committee.table import bin_table
from committee.task import Classification

IRIS = load_iris(return_X_y=True)
CANCER = load_breast_cancer(return_X_y=True)
DIABETES = load_diabetes(return_X_y=True)
FORESTS = [
    RandomForestClassifier(20, random_state=0),
    ExtraTreesClassifier(20, random_state=0, bootstrap=True),
    RandomForestRegressor(20, random_state=0),
    ExtraTreesRegressor(20, random_state=0, bootstrap=True),
]


def name_of(forest):
    return type(forest).__name__


every_forest = pytest.mark.parametrize("forest", FORESTS, ids=name_of)


def problem_for(forest):
    return CANCER if hasattr(forest, "class_weight") else DIABETES


@every_forest
def test_a_forest_is_much_better_than_a_constant(forest):
    X, y = problem_for(forest)
    train_X, test_X, train_y, test_y = train_test_split(X, y, random_state=0)
    score = clone(forest).set_params(n_estimators=100).fit(train_X, train_y).score(test_X, test_y)
    assert score > (0.93 if hasattr(forest, "class_weight") else 0.15)


@every_forest
def test_the_decision_is_the_mean_of_the_votes_of_the_members(forest):
    X, y = problem_for(forest)
    fitted = clone(forest).fit(X, y)
    votes = fitted.votes(X)
    assert votes.shape[:2] == (20, len(X))
    decision = fitted.predict_proba(X) if votes.shape[2] > 1 else fitted.predict(X)[:, np.newaxis]
    np.testing.assert_allclose(rules.mean(votes), decision, rtol=1e-9)


@pytest.mark.parametrize("kind", [RandomForestRegressor, ExtraTreesRegressor])
@pytest.mark.parametrize("weights", [None, np.random.default_rng(1).random(300)])
def test_full_trees_predict_their_training_targets_exactly(kind, weights):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 3)), np.exp(rng.normal(size=300))
    forest = kind(n_estimators=1, bootstrap=False, random_state=0).fit(X, y, sample_weight=weights)
    assert np.array_equal(forest.predict(X), y)


def test_many_categories_do_not_enlarge_the_forest():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 20_000, size=(2000, 1)), rng.integers(0, 2, 2000)
    forest = ExtraTreesClassifier(5, categorical_features=[0], random_state=0).fit(X, y)
    n_leaves = sum(tree.get_n_leaves() for tree in forest)
    assert forest.nbytes < 100 * n_leaves


def test_the_majority_rule_counts_the_votes():
    X, y = IRIS
    forest = RandomForestClassifier(15, max_depth=2, rule="majority", random_state=0).fit(X, y)
    np.testing.assert_allclose(forest.predict_proba(X), rules.majority(forest.votes(X)), rtol=1e-12)
    assert set((15 * forest.predict_proba(X)).round(9).ravel()) <= set(range(16))


@every_forest
def test_members_are_fitted_trees(forest):
    X, y = problem_for(forest)
    fitted = clone(forest).set_params(n_estimators=4).fit(X, y)
    members = fitted.estimators_
    assert len(members) == 4
    assert len(members[1:]) == 3
    votes = fitted.votes(X[:9])
    for i, member in enumerate(members):
        answer = member.predict_proba(X[:9]) if votes.shape[2] > 1 else member.predict(X[:9])[:, np.newaxis]
        np.testing.assert_array_equal(answer, votes[i])
        assert member.feature_importances_.sum() == pytest.approx(1)
    np.testing.assert_array_equal(members[-1].apply(X), fitted.apply(X)[:, -1])
    with pytest.raises(IndexError):
        members[4]


def test_members_share_columns_and_classes_with_their_forest():
    frame = pd.DataFrame({"city": ["Bonn", "Oslo", "Rome", None] * 5, "age": np.arange(20)})
    forest = RandomForestClassifier(3, random_state=0).fit(frame, ["no", "yes", "yes", "no"] * 5)
    member = forest.estimators_[0]
    assert isinstance(member, DecisionTreeClassifier)
    assert list(member.feature_names_in_) == ["city", "age"]
    assert set(member.predict(frame)) <= {"no", "yes"}
    assert "city" in member.export_text() or "age" in member.export_text()


@every_forest
def test_the_unfitted_member_can_be_fitted(forest):
    X, y = problem_for(forest)
    limits = {"n_estimators": 2, "max_depth": 3, "min_samples_leaf": 4}
    fitted = clone(forest).set_params(**limits).fit(X, y)
    unfitted = fitted.estimator_
    assert type(unfitted) is type(fitted.estimators_[0])
    assert (unfitted.max_depth, unfitted.min_samples_leaf) == (3, 4)
    assert unfitted.splitter == ("random" if "Extra" in name_of(forest) else "best")
    assert not hasattr(unfitted, "n_features_in_")
    assert unfitted.fit(X, y).get_depth() <= 3
    assert fitted.n_outputs_ == 1


def test_the_unfitted_member_has_no_class_weight():
    X, y = IRIS
    forest = RandomForestClassifier(2, class_weight="balanced_subsample", random_state=0).fit(X, y)
    assert forest.estimator_.fit(X, y).class_weight is None


@pytest.mark.parametrize("name", ["estimator_", "estimators_", "n_outputs_", "feature_importances_"])
def test_there_are_no_members_before_the_fit(name):
    assert not hasattr(RandomForestClassifier(), name)


@every_forest
def test_the_decision_path_contains_the_nodes_of_all_trees(forest):
    X, y = problem_for(forest)
    fitted = clone(forest).set_params(n_estimators=3).fit(X, y)
    paths, starts = fitted.decision_path(X[:20])
    leaves = fitted.apply(X[:20])
    assert paths.shape == (20, starts[-1])
    for tree in range(3):
        own = paths[:, starts[tree] : starts[tree + 1]].toarray()
        assert own[:, 0].all()
        assert own[np.arange(20), leaves[:, tree]].all()
        np.testing.assert_array_equal(own, fitted.estimators_[tree].decision_path(X[:20]).toarray())


@every_forest
def test_out_of_bag_decisions_come_from_trees_without_the_row(forest):
    X, y = problem_for(forest)
    few = clone(forest).set_params(n_estimators=2, oob_score=True).fit(X, y)
    many = clone(forest).set_params(n_estimators=60, oob_score=True).fit(X, y)
    of_few, of_many = (
        each.oob_decision_function_[:, 0] if hasattr(each, "oob_decision_function_") else each.oob_prediction_
        for each in (few, many)
    )
    # A row is out of both bags with probability 0.37 squared, in both with (1 - 0.37) squared.
    assert 0.3 < np.isnan(of_few).mean() < 0.5
    assert not np.isnan(of_many).any()
    assert len(many.oob_curve_) == 60
    assert many.oob_score_ < many.score(X, y)
    assert many.oob_curve_[-10:].mean() < many.oob_curve_[:10].mean()


def test_the_curve_ends_at_the_score():
    X, y = CANCER
    forest = RandomForestClassifier(50, oob_score=True, random_state=0).fit(X, y)
    assert forest.oob_curve_[-1] == pytest.approx(1 - forest.oob_score_)
    decided = ~np.isnan(forest.oob_decision_function_[:, 0])
    labels = forest.classes_[forest.oob_decision_function_[decided].argmax(axis=1)]
    assert forest.oob_score_ == pytest.approx((labels == y[decided]).mean())
    X, y = DIABETES
    regressor = RandomForestRegressor(50, oob_score=True, random_state=0).fit(X, y)
    errors = (regressor.oob_prediction_ - y) ** 2
    assert regressor.oob_curve_[-1] == pytest.approx(np.nanmean(errors), rel=1e-6)


def test_the_out_of_bag_metric_may_be_a_function():
    X, y = CANCER
    labels = np.where(y == 1, "benign", "malignant")

    def f1(truth, answer):
        return f1_score(truth, answer, pos_label="malignant")

    forest = RandomForestClassifier(30, oob_score=f1, random_state=0).fit(X, labels)
    answer = forest.classes_[forest.oob_decision_function_.argmax(axis=1)]
    assert forest.oob_score_ == pytest.approx(f1(labels, answer))


def test_without_out_of_bag_rows_the_score_is_nan_with_a_warning():
    forest = RandomForestClassifier(3, oob_score=True, random_state=0)
    with pytest.warns(UserWarning, match="Every bag contains every row"):
        forest.fit([[1.0]], [0])
    assert np.isnan(forest.oob_score_)


def test_without_oob_score_there_are_no_out_of_bag_attributes():
    X, y = IRIS
    forest = RandomForestClassifier(3, oob_score=True, random_state=0).fit(X, y)
    assert hasattr(forest, "oob_score_")
    forest.set_params(oob_score=False).fit(X, y)
    for name in ("oob_score_", "oob_curve_", "oob_decision_function_", "oob_importances_"):
        assert not hasattr(forest, name)


def test_rows_of_weight_zero_get_a_decision_but_no_score():
    X, y = CANCER
    weights = (np.arange(len(y)) % 2).astype(float)
    wrong = np.where(weights == 0, 1 - y, y)
    forest = RandomForestClassifier(50, oob_score=True, random_state=0).fit(X, wrong, sample_weight=weights)
    assert not np.isnan(forest.oob_decision_function_).any()
    assert forest.oob_score_ > 0.9


@every_forest
def test_the_targets_of_rows_of_weight_zero_do_not_change_importances(forest):
    X, y = problem_for(forest)
    weights = (np.arange(len(y)) % 2).astype(float)
    other = np.where(weights == 0, y.max() - y + y.min(), y)
    given = clone(forest).set_params(n_estimators=9, bootstrap=True, oob_importances=True)
    found = [clone(given).fit(X, each, sample_weight=weights).oob_importances_ for each in (y, other)]
    assert np.abs(found[0]).max() > 0
    np.testing.assert_array_equal(*found)


@every_forest
@pytest.mark.parametrize("oob", [False, True])
def test_a_warm_start_gives_the_same_forest_as_one_fit(forest, oob):
    X, y = problem_for(forest)
    at_once = clone(forest).set_params(n_estimators=9, oob_score=oob, oob_importances=oob).fit(X, y)
    warm = clone(forest).set_params(n_estimators=4, warm_start=True, oob_score=oob, oob_importances=oob)
    warm.fit(X, y).set_params(n_estimators=9).fit(X, y)
    np.testing.assert_array_equal(warm.votes(X), at_once.votes(X))
    np.testing.assert_array_equal(warm.feature_importances_, at_once.feature_importances_)
    if oob:
        np.testing.assert_array_equal(warm.oob_curve_, at_once.oob_curve_)
        np.testing.assert_array_equal(warm.oob_importances_, at_once.oob_importances_)
        assert warm.oob_score_ == at_once.oob_score_


def test_a_warm_start_with_other_numbers_of_trees():
    X, y = IRIS
    forest = RandomForestClassifier(5, warm_start=True, random_state=0).fit(X, y)
    with pytest.warns(UserWarning, match="Warm-start fitting without increasing n_estimators"):
        forest.fit(X, y)
    with pytest.raises(ValueError, match="n_estimators=3 must be larger or equal to the 5 trees"):
        forest.set_params(n_estimators=3).fit(X, y)
    with pytest.raises(ValueError, match="computed no out-of-bag votes"):
        forest.set_params(n_estimators=8, oob_score=True).fit(X, y)
    with pytest.raises(ValueError, match="needs the classes of the previous fit"):
        forest.set_params(oob_score=False).fit(X, y + 1)


def test_a_warm_start_may_use_other_rows():
    X, y = IRIS
    forest = RandomForestClassifier(5, warm_start=True, random_state=0).fit(X[::2], y[::2])
    before = forest.votes(X)
    forest.set_params(n_estimators=10).fit(X[1::2], y[1::2])
    np.testing.assert_array_equal(forest.votes(X)[:5], before)
    assert len(forest.estimators_) == 10


@every_forest
def test_auto_stops_if_no_row_is_ever_out_of_bag(forest):
    X, y = problem_for(forest)
    with pytest.warns(UserWarning, match="Every bag contains every row"):
        fitted = clone(forest).set_params(n_estimators="auto").fit(X[:1], y[:1])
    assert len(fitted.estimators_) == 50 and np.isnan(fitted.oob_curve_).all()


@every_forest
def test_auto_stops_when_the_error_is_flat(forest):
    X, y = problem_for(forest)
    fitted = clone(forest).set_params(n_estimators="auto").fit(X, y)
    assert 50 <= len(fitted.estimators_) < 1000
    assert len(fitted.oob_curve_) == len(fitted.estimators_)
    last, before = fitted.oob_curve_[-25:].mean(), fitted.oob_curve_[-50:-25].mean()
    assert last >= 0.995 * before
    again = clone(fitted).set_params(n_jobs=1).fit(X, y)
    np.testing.assert_array_equal(again.votes(X[:5]), fitted.votes(X[:5]))


@pytest.mark.parametrize(
    ("weights", "max_samples", "expected"),
    [
        (None, None, 10),
        (None, 3, 3),
        (None, 25, 25),
        (None, 0.5, 5),
        (None, 1.5, 15),
        ([2.0, 3.0, 0.0], 2.0, 10),
        (None, 0.01, 1),
        ([2.0, 3.0, 0.0], None, 5),
        ([2.0, 3.0, 0.0], 0.5, 2),
        ([0.5, 0.5, 0.0], None, 2),
        ([7.0, 1.0, 3.0, 0.0], None, 11),
        ([8.0, 1.0, 3.0, 0.0], None, 3),
        ([1000.0, 1000.0, 1000.0], None, 3),
        ([189_778.0, 120_000.0, 0.0, 3.0], 0.5, 1),
    ],
)
def test_number_of_draws(weights, max_samples, expected):
    n_rows = 10 if weights is None else len(weights)
    weights = None if weights is None else np.array(weights)
    assert n_draws(weights, repeats_of(weights, n_rows), n_rows, max_samples) == expected


def test_large_integer_weights_leave_rows_out_of_the_bags():
    X, y = CANCER
    forest = RandomForestClassifier(30, oob_score=True, random_state=0)
    scores = [
        clone(forest).fit(X, y, sample_weight=np.full(len(y), weight)).oob_score_ for weight in (1, 1000)
    ]
    assert scores[0] == scores[1] > 0.9


def test_small_integer_weights_are_repetitions():
    X, y = CANCER
    twice = np.concatenate([np.arange(len(y)), np.arange(0, len(y), 3)])
    weights = np.bincount(twice)
    forest = RandomForestClassifier(5, random_state=0)
    repeated = clone(forest).fit(X[twice], y[twice])
    np.testing.assert_array_equal(clone(forest).fit(X, y, sample_weight=weights).votes(X), repeated.votes(X))


def test_fewer_rows_make_smaller_trees():
    X, y = CANCER
    sizes = [
        RandomForestClassifier(10, max_samples=share, random_state=0).fit(X, y).nbytes for share in (0.1, 1.0)
    ]
    assert sizes[0] < sizes[1] / 2


@pytest.mark.parametrize("class_weight", ["balanced", "balanced_subsample", {"rare": 30}])
@pytest.mark.parametrize("kind", [RandomForestClassifier, ExtraTreesClassifier])
def test_class_weights_raise_the_probability_of_a_rare_class(kind, class_weight):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    y = np.where(X[:, 0] + rng.normal(size=600) > 2.5, "rare", "usual")
    limits = {"n_estimators": 30, "max_depth": 3, "random_state": 0}
    plain = kind(**limits).fit(X, y).predict_proba(X)[:, 0]
    weighted = kind(class_weight=class_weight, **limits).fit(X, y).predict_proba(X)[:, 0]
    assert weighted.mean() > plain.mean() + 0.1


@pytest.mark.parametrize("class_weight", ["balanced", "balanced_subsample", {0: 1, 1: 30}], ids=str)
def test_class_weights_have_the_same_effect_as_in_scikit_learn(class_weight):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1000, 4)), (rng.random(1000) < 0.1).astype(int)
    weights = rng.choice([0.5, 1.5, 4.0], 1000)
    for sample_weight in (None, weights, np.where(y == 1, 5.0, 0.5)):
        given = None if sample_weight is None else sample_weight[:500]
        forests = [
            kind(50, class_weight=class_weight, random_state=0, n_jobs=1).fit(X[:500], y[:500], given)
            for kind in (RandomForestClassifier, sklearn.ensemble.RandomForestClassifier)
        ]
        ours, theirs = (forest.predict_proba(X[500:])[:, 1].mean() for forest in forests)
        assert ours == pytest.approx(theirs, abs=0.03)


def test_class_weights_change_which_rows_are_drawn_but_not_their_number():
    X, y = CANCER
    forest = RandomForestClassifier(5, random_state=0)
    plain, alike = clone(forest).fit(X, y), clone(forest).set_params(class_weight={0: 3, 1: 3}).fit(X, y)
    np.testing.assert_array_equal(alike.votes(X), plain.votes(X))
    without = clone(forest).set_params(class_weight={0: 0, 1: 1}, max_samples=1.0).fit(X, y)
    assert (without.predict(X) == 1).all()


def test_importances_find_the_columns_that_matter():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    y = X[:, 1] + 2 * X[:, 3] > 0
    forest = RandomForestClassifier(50, oob_importances=True, random_state=0).fit(X, y)
    assert forest.feature_importances_.sum() == pytest.approx(1)
    for importances, spread in (
        (forest.feature_importances_, forest.feature_importances_std_),
        (forest.oob_importances_, forest.oob_importances_std_),
    ):
        assert list(importances.argsort()[::-1][:2]) == [3, 1]
        assert spread.shape == (5,)
        assert (spread >= 0).all()
    assert np.abs(forest.oob_importances_[[0, 2, 4]]).max() < 0.03


def test_quantiles_cover_their_share_of_the_rows():
    X, y = DIABETES
    train_X, test_X, train_y, test_y = train_test_split(X, y, random_state=0)
    forest = RandomForestRegressor(100, min_samples_leaf=5, keep_leaf_rows=True, random_state=0)
    quantiles = forest.fit(train_X, train_y).predict_quantiles(test_X, [0.1, 0.5, 0.9])
    assert (np.diff(quantiles, axis=1) >= 0).all()
    assert 0.65 < ((quantiles[:, 0] <= test_y) & (test_y <= quantiles[:, 2])).mean() < 0.95
    assert np.isin(quantiles, train_y).all()
    assert forest.predict_quantiles(test_X[:2], 0.5).shape == (2, 1)


def test_bad_quantiles_are_refused():
    X, y = DIABETES
    with pytest.raises(ValueError, match="Fit with keep_leaf_rows=True"):
        RandomForestRegressor(3).fit(X, y).predict_quantiles(X)
    forest = RandomForestRegressor(3, keep_leaf_rows=True).fit(X, y)
    with pytest.raises(ValueError, match="quantiles must be numbers between 0 and 1"):
        forest.predict_quantiles(X, 2)


def test_quantiles_after_a_warm_start_equal_those_of_one_fit():
    X, y = DIABETES
    at_once = RandomForestRegressor(8, keep_leaf_rows=True, random_state=0).fit(X, y)
    warm = RandomForestRegressor(3, keep_leaf_rows=True, warm_start=True, random_state=0).fit(X, y)
    warm.set_params(n_estimators=8).fit(X, y)
    np.testing.assert_array_equal(warm.predict_quantiles(X), at_once.predict_quantiles(X))


@every_forest
def test_a_predictor_predicts_like_its_forest(forest):
    X, y = problem_for(forest)
    fitted = clone(forest).fit(X, y)
    predictor = fitted.predictor()
    np.testing.assert_array_equal(predictor.predict(X[:7]), fitted.predict(X[:7]))
    if hasattr(fitted, "predict_proba"):
        np.testing.assert_array_equal(predictor.predict_proba(X[:7]), fitted.predict_proba(X[:7]))


def test_a_predictor_accepts_categories_by_name_but_not_in_a_matrix():
    forest = RandomForestClassifier(2).fit(pd.DataFrame({"city": ["Bonn", "Oslo"]}), [0, 1])
    assert forest.predictor().predict_proba({"city": "Rome"}).shape == (1, 2)
    with pytest.raises(ValueError, match=r"A matrix holds numbers only, and \['city'\] are not"):
        forest.predictor().predict(np.array([[1.0]]))


@every_forest
def test_pruning_makes_every_tree_smaller(forest):
    X, y = problem_for(forest)
    plain = clone(forest).fit(X, y)
    alpha = 0.01 if hasattr(forest, "class_weight") else 100.0
    pruned = clone(forest).set_params(ccp_alpha=alpha).fit(X, y)
    for before, after in zip(plain.estimators_, pruned.estimators_, strict=True):
        assert 1 <= after.get_n_leaves() < before.get_n_leaves()


def test_monotonic_constraints_hold_in_a_forest():
    X, y = DIABETES
    constraints = [0, 0, 1, *([0] * 7)]
    forest = RandomForestRegressor(20, monotonic_cst=constraints, random_state=0).fit(X, y)
    grid = np.repeat(X[:1], 30, axis=0)
    grid[:, 2] = np.linspace(X[:, 2].min(), X[:, 2].max(), 30)
    assert (np.diff(forest.predict(grid)) >= -1e-9).all()


@pytest.mark.parametrize("kind", [RandomForestClassifier, ExtraTreesClassifier])
@pytest.mark.parametrize("direction", [-1, 1])
def test_monotonic_constraints_hold_in_a_forest_of_classes(kind, direction):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(400, 3))
    y = np.sin(9 * X[:, 0]) + X[:, 1] + rng.normal(size=400) > 0.5
    grid = np.repeat(X[:20], 30, axis=0)
    grid[:, 0] = np.tile(np.linspace(0, 1, 30), 20)
    limits = {"n_estimators": 20, "min_samples_leaf": 3, "random_state": 0}

    def steps(monotonic_cst):
        forest = kind(monotonic_cst=monotonic_cst, **limits).fit(X, y)
        return direction * np.diff(forest.predict_proba(grid)[:, 1].reshape(20, 30), axis=1)

    assert steps(None).min() < -0.1
    assert steps([direction, 0, 0]).min() >= -1e-9


@pytest.mark.parametrize("kind", [RandomForestClassifier, ExtraTreesClassifier])
def test_gain_ratio_gives_an_accurate_forest_of_different_trees(kind):
    X, y = CANCER
    train_X, test_X, train_y, test_y = train_test_split(X, y, random_state=0)
    by_ratio, by_gain = (
        kind(30, criterion=criterion, random_state=0).fit(train_X, train_y)
        for criterion in ("gain_ratio", "entropy")
    )
    assert by_ratio.score(test_X, test_y) > 0.9
    assert not np.array_equal(by_ratio.votes(test_X), by_gain.votes(test_X))


def test_gain_ratio_in_a_forest_splits_as_in_a_tree():
    X, y = IRIS
    on_all = {"criterion": "gain_ratio", "max_features": None, "random_state": 0}
    forest = RandomForestClassifier(1, bootstrap=False, **on_all).fit(X, y)
    np.testing.assert_array_equal(
        forest.votes(X)[0], DecisionTreeClassifier(**on_all).fit(X, y).predict_proba(X)
    )


def test_probabilities_of_a_forest_are_better_than_those_of_a_tree():
    X, y = CANCER
    train_X, test_X, train_y, test_y = train_test_split(X, y, random_state=0)
    forest = RandomForestClassifier(100, random_state=0).fit(train_X, train_y)
    assert log_loss(test_y, forest.predict_proba(test_X)) < 0.25


def test_progress_is_printed_on_stderr(capsys):
    X, y = IRIS
    RandomForestClassifier(5, verbose=1, random_state=0, n_jobs=1).fit(X, y)
    captured = capsys.readouterr()
    assert "committee: 5 of 5 trees" in captured.err
    assert not captured.out


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_progress_of_auto_ends_with_the_number_of_trees(capsys, n_jobs):
    X, y = IRIS
    forest = RandomForestClassifier("auto", verbose=1, random_state=0, n_jobs=n_jobs).fit(X, y)
    last_line = capsys.readouterr().err.splitlines()[-1]
    assert last_line.startswith(f"committee: {len(forest.estimators_)} of 1000 trees")


@pytest.mark.parametrize("name", ["n_estimators", "max_samples"])
@pytest.mark.parametrize("value", [2**40, 2**70])
def test_too_large_numbers_of_trees_and_draws_are_refused(name, value):
    X, y = IRIS
    with pytest.raises(ValueError, match=rf"{name} must be .* Got {value}\."):
        RandomForestClassifier(3).set_params(**{name: value}).fit(X, y)


def test_the_number_of_trees_is_positional_as_in_scikit_learn():
    assert RandomForestClassifier(7).n_estimators == 7
    with pytest.raises(TypeError):
        RandomForestClassifier(7, "gini")


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("class_weight", [None, "balanced_subsample"])
def test_a_row_of_weight_two_is_the_row_twice_in_columns_of_many_values(criterion, class_weight):
    forest = RandomForestClassifier(20, criterion=criterion, class_weight=class_weight, random_state=0)
    for X, y in CANCER, IRIS:
        X = X + np.random.default_rng(0).normal(scale=1e-3, size=X.shape)
        weights = np.random.default_rng(1).integers(1, 4, len(y))
        weighted = clone(forest).fit(X, y, sample_weight=weights)
        repeated = clone(forest).fit(X.repeat(weights, axis=0), y.repeat(weights))
        np.testing.assert_array_equal(weighted.votes(X), repeated.votes(X))


@pytest.mark.parametrize("limit", [{}, {"min_samples_leaf": 4}, {"min_samples_split": 10}], ids=str)
def test_the_order_of_equal_rows_of_unequal_weight_does_not_matter(limit):
    rng = np.random.default_rng(0)
    X, y, weights = np.repeat(np.arange(6.0), 10)[:, np.newaxis], rng.integers(0, 2, 60), rng.random(60)
    forest = RandomForestClassifier(20, random_state=0, **limit)
    expected = clone(forest).fit(X, y, sample_weight=weights).predict_proba(X)
    for _ in range(5):
        order = rng.permutation(60)
        permuted = clone(forest).fit(X[order], y[order], sample_weight=weights[order])
        np.testing.assert_array_equal(permuted.predict_proba(X), expected)


def test_the_order_of_the_rows_does_not_matter_to_balanced_bags():
    X, y = CANCER
    forest = RandomForestClassifier(10, class_weight="balanced_subsample", max_depth=3, random_state=0)
    expected = clone(forest).fit(X, y).predict_proba(X)
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(len(y))
        np.testing.assert_array_equal(clone(forest).fit(X[order], y[order]).predict_proba(X), expected)


@every_forest
def test_the_order_of_the_rows_does_not_change_out_of_bag_results(forest):
    X, y = problem_for(forest)
    order = np.random.default_rng(0).permutation(len(y))
    scored = clone(forest).set_params(oob_score=True, oob_importances=True)
    straight, permuted = clone(scored).fit(X, y), clone(scored).fit(X[order], y[order])
    np.testing.assert_array_equal(straight.oob_curve_, permuted.oob_curve_)
    np.testing.assert_array_equal(straight.oob_importances_, permuted.oob_importances_)


def test_the_error_for_too_many_draws_has_few_digits():
    with pytest.raises(
        ValueError, match=r"^max_samples=1e\+300 draws 1\.5e\+302 rows, but the limit is \d+\."
    ):
        RandomForestClassifier(max_samples=1e300).fit(*IRIS)


def set_class_weights(parameters):
    parameters.class_weights = [1.0, 2.0]


def set_monotonic(parameters):
    parameters.grow.monotonic = [1]


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (set_class_weights, "There must be one weight per class"),
        (set_monotonic, "one monotonic direction per column"),
        (lambda parameters: None, "votes do not fit the rows"),
    ],
    ids=["classes", "columns", "rows"],
)
def test_the_engine_refuses_parameters_of_another_table(edit, message):
    task, y = Classification.of(IRIS[1])
    binned = bin_table(IRIS[0])
    parameters = _engine.ForestParameters()
    edit(parameters)
    before = _engine.OutOfBagVotes(np.zeros((2, 3)), np.zeros(2, np.uint32), np.zeros(1))
    with pytest.raises(ValueError, match=message):
        Training(binned, task, y, None).grow(binned, parameters, 1, before=before)
