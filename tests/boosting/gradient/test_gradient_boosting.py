"""Test gradient boosting: threads, stages, warm starts, weights, columns, trees and importances."""

import os
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import committee
from committee import GradientBoostingClassifier, GradientBoostingRegressor, LogitBoostClassifier
from committee.table import bin_table

WHOLE = {"subsample": 1.0, "colsample_bynode": 1.0}
CANCER = load_breast_cancer(return_X_y=True)
DIABETES = load_diabetes(return_X_y=True)
IRIS = load_iris(return_X_y=True)
BOOSTERS = [
    (GradientBoostingClassifier(12, random_state=0), CANCER),
    (
        GradientBoostingClassifier(
            12, random_state=0, subsample=0.7, colsample_bytree=0.6, colsample_bynode=0.5
        ),
        IRIS,
    ),
    (GradientBoostingRegressor(12, random_state=0), DIABETES),
    (GradientBoostingRegressor(12, random_state=0, loss="absolute_error", subsample=0.5), DIABETES),
    (GradientBoostingRegressor(12, random_state=0, splitter="random"), DIABETES),
    (LogitBoostClassifier(12, random_state=0), CANCER),
    (LogitBoostClassifier(12, random_state=0, max_depth=3), IRIS),
    (LogitBoostClassifier(12, random_state=0, one_versus_all=True), IRIS),
]
every_booster = pytest.mark.parametrize(
    ("booster", "problem"),
    BOOSTERS,
    ids=lambda value: str(value).split("(")[0] if hasattr(value, "fit") else "",
)


def votes_of(booster, X):
    return booster.predict_proba(X) if hasattr(booster, "predict_proba") else booster.predict(X)


@every_booster
def test_any_number_of_threads_gives_the_same_bits(booster, problem):
    X, y = problem
    models = [clone(booster).set_params(n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2, 3, 7)]
    states = {pickle.dumps(model._forest) for model in models}
    assert len(states) == 1
    assert len({votes_of(model, X).tobytes() for model in models}) == 1


@pytest.mark.parametrize("n_classes", [0, 2, 4])
def test_tables_shared_by_threads_give_the_same_bits(n_classes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40_000, 20))
    signal = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=len(X))
    y = np.digitize(signal, np.quantile(signal, np.arange(1, n_classes) / n_classes)) if n_classes else signal
    kind = GradientBoostingClassifier if n_classes else GradientBoostingRegressor
    models = [kind(3, subsample=0.8, random_state=0, n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2, 3, 7)]
    assert len({pickle.dumps(model._forest) for model in models}) == 1
    assert len({model.feature_importances_.tobytes() for model in models}) == 1


FORKING = """
import os
import numpy as np
from committee import GradientBoostingClassifier
X = np.random.default_rng(0).normal(size=(30_000, 20))
y = X[:, 0] + X[:, 1] > 0
before = GradientBoostingClassifier(3, n_jobs=2, random_state=0).fit(X, y).predict_proba(X)
child = os.fork()
if child == 0:
    again = GradientBoostingClassifier(3, n_jobs=2, random_state=0).fit(X, y).predict_proba(X)
    os._exit(0 if (again == before).all() else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_process_can_boost():
    subprocess.run([sys.executable, "-W", "ignore", "-c", FORKING], check=True, timeout=60)


@every_booster
def test_the_last_stage_is_the_prediction(booster, problem):
    X, y = problem
    fitted = clone(booster).fit(X, y)
    assert fitted.n_iter_ == fitted.n_estimators_ == 12
    stages = list(fitted.staged_predict(X))
    assert len(stages) == 12
    np.testing.assert_array_equal(stages[-1], fitted.predict(X))
    scores = list(fitted.staged_score(X, y))
    assert scores[-1] == fitted.score(X, y)
    assert scores[-1] > scores[0]
    if hasattr(fitted, "predict_proba"):
        np.testing.assert_array_equal(list(fitted.staged_predict_proba(X))[-1], fitted.predict_proba(X))
        np.testing.assert_array_equal(
            list(fitted.staged_decision_function(X))[-1], fitted.decision_function(X)
        )
    fewer = clone(booster).set_params(n_estimators=5).fit(X, y)
    np.testing.assert_array_equal(stages[4], fewer.predict(X))


@every_booster
def test_a_warm_start_gives_the_same_model_as_a_single_fit(booster, problem):
    X, y = problem
    in_one_go = clone(booster).fit(X, y)
    warm = clone(booster).set_params(n_estimators=5, warm_start=True).fit(X, y)
    warm.set_params(n_estimators=12).fit(X, y)
    np.testing.assert_array_equal(votes_of(warm, X), votes_of(in_one_go, X))
    np.testing.assert_allclose(warm.train_score_, in_one_go.train_score_, rtol=1e-12)
    np.testing.assert_allclose(warm.feature_importances_, in_one_go.feature_importances_, rtol=1e-9)
    np.testing.assert_array_equal(warm.split_counts_, in_one_go.split_counts_)
    assert warm.n_iter_ == 12
    with pytest.warns(UserWarning, match="without increasing n_estimators") as caught:
        warm.fit(X, y)
    assert caught[0].filename == __file__
    with pytest.raises(ValueError, match="n_estimators=3 must be larger or equal to the 12 rounds"):
        warm.set_params(n_estimators=3).fit(X, y)


@every_booster
def test_rows_of_weight_zero_have_no_effect(booster, problem):
    X, y = problem
    weights = np.arange(len(y)) % 3
    weighted = clone(booster).fit(X, y, sample_weight=weights)
    fewer = clone(booster).fit(X[weights > 0], y[weights > 0], sample_weight=weights[weights > 0])
    np.testing.assert_array_equal(votes_of(weighted, X), votes_of(fewer, X))


@every_booster
def test_a_warm_start_continues_from_a_pickle(booster, problem):
    X, y = problem
    fitted = clone(booster).set_params(warm_start=True).fit(X, y)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(votes_of(again, X), votes_of(fitted, X))
    for each in (fitted, again):
        each.set_params(n_estimators=14).fit(X, y)
    np.testing.assert_array_equal(votes_of(again, X), votes_of(fitted, X))


@every_booster
def test_a_binned_table_gives_the_same_model_as_the_table(booster, problem):
    X, y = problem
    # bin_table makes one bin for each distinct value.
    expected = clone(booster).set_params(max_bins=65_535).fit(X, y)
    binned = clone(booster).fit(bin_table(X), y)
    np.testing.assert_array_equal(votes_of(binned, X), votes_of(expected, X))


@every_booster
def test_a_predictor_predicts_the_same_as_the_booster(booster, problem):
    X, y = problem
    fitted = clone(booster).fit(X, y)
    np.testing.assert_array_equal(fitted.predictor().predict(X[:9]), fitted.predict(X[:9]))


@every_booster
def test_importances_are_largest_for_informative_columns(booster, problem):
    X, y = problem
    fitted = clone(booster).fit(np.column_stack([X, np.zeros(len(X))]), y)
    assert fitted.feature_importances_.shape == fitted.split_counts_.shape == (X.shape[1] + 1,)
    assert fitted.feature_importances_.sum() == pytest.approx(1)
    assert fitted.feature_importances_[-1] == fitted.split_counts_[-1] == 0
    assert (fitted.split_counts_ > 0).tolist() == (fitted.feature_importances_ > 0).tolist()
    assert fitted.nbytes > 0


def test_scikit_learn_can_inspect_a_booster():
    X, y = DIABETES
    booster = GradientBoostingRegressor(20, random_state=0).fit(X, y)
    importances = permutation_importance(booster, X, y, n_repeats=2, random_state=0).importances_mean
    assert importances.argmax() == booster.feature_importances_.argmax()
    curve = partial_dependence(booster, X, [2], grid_resolution=5)
    assert curve["average"].shape == (1, 5)
    assert curve["average"][0, -1] > curve["average"][0, 0]
    classifier = GradientBoostingClassifier(5).fit(*IRIS)
    assert partial_dependence(classifier, IRIS[0], [2], grid_resolution=4)["average"].shape == (3, 4)


def test_it_works_in_pipelines_and_searches():
    X, y = CANCER
    pipeline = make_pipeline(StandardScaler(), GradientBoostingClassifier(20, random_state=0))
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.93
    search = GridSearchCV(GradientBoostingClassifier(5, random_state=0), {"learning_rate": [0.01, 0.3]}, cv=3)
    assert search.fit(X, y).best_params_ == {"learning_rate": 0.3}


@pytest.mark.parametrize("grow_policy", ["lossguide", "depthwise"])
def test_a_monotonic_booster_never_decreases(grow_policy):
    rng = np.random.default_rng(0)
    X = rng.random((400, 2))
    y = 2 * X[:, 0] + np.sin(12 * X[:, 0]) + rng.normal(scale=0.2, size=400)
    grid = np.column_stack([np.tile(np.linspace(0, 1, 60), 3), np.repeat([0.1, 0.5, 0.9], 60)])
    for direction in (1, -1):
        booster = GradientBoostingRegressor(
            40, monotonic_cst=[direction, 0], grow_policy=grow_policy, max_depth=5, min_child_weight=5
        ).fit(X, direction * y)
        curves = direction * booster.predict(grid).reshape(3, 60)
        assert (np.diff(curves, axis=1) >= -1e-9).all()
        free = clone(booster).set_params(monotonic_cst=None).fit(X, direction * y)
        assert (np.diff(direction * free.predict(grid).reshape(3, 60), axis=1) < -1e-3).any()


@pytest.mark.parametrize("grow_policy", ["lossguide", "depthwise"])
def test_a_monotonic_booster_of_two_classes_never_decreases(grow_policy):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.random((400, 2)), columns=["dose", "age"])
    chance = 1 / (1 + np.exp(-3 * (frame["dose"] - 0.5) - 2 * np.sin(12 * frame["dose"])))
    y = np.where(rng.random(400) < chance, "well", "ill")
    grid = pd.DataFrame({"dose": np.tile(np.linspace(0, 1, 60), 3), "age": np.repeat([0.1, 0.5, 0.9], 60)})
    settings = {"grow_policy": grow_policy, "max_depth": 5, "random_state": 0}
    for direction in (1, -1):
        named = GradientBoostingClassifier(40, monotonic_cst={"dose": direction}, **settings).fit(frame, y)
        curves = direction * named.predict_proba(grid)[:, 1].reshape(3, 60)
        assert (np.diff(curves, axis=1) >= -1e-12).all()
        listed = clone(named).set_params(monotonic_cst=[direction, 0]).fit(frame, y)
        np.testing.assert_array_equal(listed.predict_proba(grid), named.predict_proba(grid))
        free = clone(named).set_params(monotonic_cst=None).fit(frame, y)
        assert (np.diff(direction * free.predict_proba(grid)[:, 1].reshape(3, 60), axis=1) < -1e-3).any()


def test_missing_values_are_sent_to_one_side_of_a_split():
    x = np.where(np.arange(200) % 4 == 0, np.nan, np.arange(200) % 7)
    y = np.isnan(x).astype(int)
    booster = GradientBoostingClassifier(20).fit(x[:, np.newaxis], y)
    assert booster.score(x[:, np.newaxis], y) == 1
    later = GradientBoostingClassifier(5).fit([[1.0], [2.0], [8.0], [9.0]] * 5, [0, 0, 1, 1] * 5)
    assert np.isfinite(later.predict_proba([[np.nan]])).all()


@pytest.mark.parametrize("min_samples_leaf", [1, 10])
@pytest.mark.parametrize("n_rows", [100, 1000])
def test_missing_values_are_sent_to_the_better_side(n_rows, min_samples_leaf):
    # With few values and many missing ones, sums that include missing rows twice would overflow.
    rng = np.random.default_rng(0)
    stump = GradientBoostingClassifier(
        1, max_depth=1, min_samples_leaf=min_samples_leaf, subsample=1.0, colsample_bynode=1.0
    )
    for n_missing in range(20, 40):
        x = rng.integers(0, 6, n_rows).astype(float)
        x[:n_missing] = np.nan
        y = np.where(rng.random(n_rows) < 0.05, 0, np.isnan(x) | (x >= 4)).astype(int)
        scores = [
            clone(stump).fit(each[:, np.newaxis], y).train_score_[1]
            for each in (x, -x, np.where(np.isnan(x), 9.0, x))
        ]
        np.testing.assert_allclose(scores, scores[0], rtol=1e-6)


def test_categories_are_split_into_sets():
    rng = np.random.default_rng(0)
    city = rng.integers(0, 40, 2000)
    y = np.isin(city, [3, 7, 8, 21, 33]).astype(int)
    frame = pd.DataFrame({"city": pd.Categorical([f"c{code}" for code in city])})
    booster = GradientBoostingClassifier(10, max_depth=1, max_leaf_nodes=None).fit(frame, y)
    assert booster.score(frame, y) == 1
    assert np.isfinite(booster.predict_proba(pd.DataFrame({"city": ["unseen", None]}))).all()


@pytest.mark.parametrize(("n_cities", "is_one"), [(4, True), (5, False)])
def test_one_of_up_to_four_categories_is_split_from_the_others(n_cities, is_one):
    city = np.arange(500) % n_cities
    y = np.isin(city, [0, 1]).astype(int)
    frame = pd.DataFrame({"city": pd.Categorical([f"c{code}" for code in city])})
    stump = GradientBoostingClassifier(1, max_depth=1, learning_rate=1.0, subsample=1).fit(frame, y)
    assert len(set(stump.decision_function(frame).round(9))) == 2
    assert (stump.score(frame, y) < 1) == is_one


@pytest.mark.parametrize("booster", [GradientBoostingRegressor(4), LogitBoostClassifier(4)], ids=str)
def test_a_warm_start_needs_the_same_initial_scores(booster, tmp_path):
    X, y = DIABETES[0], DIABETES[1] > 150
    scores = np.linspace(-1, 1, len(y))
    warm = clone(booster).set_params(warm_start=True, random_state=0).fit(X, y, init_score=scores)
    warm.save(tmp_path / "warm.committee")
    for fitted in (warm, committee.load(tmp_path / "warm.committee")):
        fitted.set_params(n_estimators=9)
        with pytest.raises(ValueError, match=r"had one. Pass it again, or set warm_start=False"):
            fitted.fit(X, y)
    in_one_go = clone(booster).set_params(n_estimators=9, random_state=0).fit(X, y, init_score=scores)
    np.testing.assert_array_equal(warm.fit(X, y, init_score=scores).predict(X), in_one_go.predict(X))
    plain = clone(booster).set_params(warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match=r"had none. Pass none, or set warm_start=False"):
        plain.set_params(n_estimators=9).fit(X, y, init_score=scores)


def test_rounds_start_from_initial_scores():
    X, y = DIABETES
    first = GradientBoostingRegressor(10, **WHOLE).fit(X, y)
    second = GradientBoostingRegressor(10, **WHOLE).fit(X, y, init_score=first.predict(X))
    both = GradientBoostingRegressor(20, **WHOLE).fit(X, y)
    np.testing.assert_allclose(first.predict(X) + second.predict(X), both.predict(X), rtol=1e-6)
    labels = CANCER[1]
    first = GradientBoostingClassifier(10, **WHOLE).fit(CANCER[0], labels)
    second = clone(first).fit(CANCER[0], labels, init_score=first.decision_function(CANCER[0]))
    both = GradientBoostingClassifier(20, **WHOLE).fit(CANCER[0], labels)
    sums = first.decision_function(CANCER[0]) + second.decision_function(CANCER[0])
    np.testing.assert_allclose(sums, both.decision_function(CANCER[0]), rtol=1e-5, atol=1e-6)


def test_class_weights_are_weights_of_the_rows():
    X, y = CANCER
    weighted = GradientBoostingClassifier(8, class_weight={0: 2.5}, random_state=0).fit(X, y)
    by_row = GradientBoostingClassifier(8, random_state=0).fit(X, y, sample_weight=np.where(y == 0, 2.5, 1.0))
    np.testing.assert_array_equal(weighted.predict_proba(X), by_row.predict_proba(X))
    # Unlike integer weights of rows, integer weights of classes do not repeat rows.
    tripled = GradientBoostingClassifier(8, class_weight={0: 3.0}, random_state=0).fit(X, y)
    nearly = GradientBoostingClassifier(8, class_weight={0: 3.0 + 1e-9}, random_state=0).fit(X, y)
    np.testing.assert_allclose(tripled.predict_proba(X), nearly.predict_proba(X), atol=0.05)
    balanced = GradientBoostingClassifier(8, class_weight="balanced").fit(X, y)
    assert (
        balanced.predict_proba(X)[:, 0].mean()
        > GradientBoostingClassifier(8).fit(X, y).predict_proba(X)[:, 0].mean()
    )


def test_the_scale_of_the_weights_does_not_matter():
    X, y = DIABETES
    weights = 1 + np.arange(len(y)) % 5 / 7
    expected = GradientBoostingRegressor(8, random_state=0).fit(X, y, sample_weight=weights).predict(X)
    for unit in (1e-200, 1e7):
        scaled = (
            GradientBoostingRegressor(8, random_state=0).fit(X, y, sample_weight=unit * weights).predict(X)
        )
        np.testing.assert_allclose(scaled, expected, rtol=1e-6)


def test_limits_of_trees_are_respected():
    X, y = CANCER
    leaves = GradientBoostingClassifier(3, max_leaf_nodes=4).fit(X, y)
    assert leaves.split_counts_.sum() <= 9
    shallow = GradientBoostingClassifier(3, max_depth=2, max_leaf_nodes=None).fit(X, y)
    assert shallow.split_counts_.sum() <= 9
    none = GradientBoostingClassifier(3, min_split_gain=1e9).fit(X, y)
    assert none.split_counts_.sum() == 0
    few = GradientBoostingClassifier(1, min_samples_leaf=250, max_leaf_nodes=None, **WHOLE).fit(X, y)
    assert few.split_counts_.sum() == 1


def test_other_seeds_draw_other_rows_and_columns():
    X, y = CANCER
    for drawn in (
        {"subsample": 0.5},
        {"colsample_bytree": 0.3},
        {"colsample_bynode": 0.3},
        {"splitter": "random"} | WHOLE,
    ):
        booster = GradientBoostingClassifier(8, **drawn)
        first = booster.set_params(random_state=0).fit(X, y).predict_proba(X)
        np.testing.assert_array_equal(clone(booster).fit(X, y).predict_proba(X), first)
        assert (clone(booster).set_params(random_state=1).fit(X, y).predict_proba(X) != first).any()


def test_random_thresholds_need_more_trees():
    X = np.random.default_rng(0).random((2000, 2))
    y = (X[:, 0] > 0.5).astype(float)
    stump = {"max_leaf_nodes": 2, "learning_rate": 1.0, "reg_lambda": 0.0, "random_state": 0} | WHOLE
    assert GradientBoostingRegressor(1, **stump).fit(X, y).score(X, y) > 0.95
    drawn = GradientBoostingRegressor(1, splitter="random", **stump)
    assert drawn.fit(X, y).score(X, y) < 0.9
    assert drawn.set_params(n_estimators=300).fit(X, y).score(X, y) > 0.95


@pytest.mark.parametrize(("n_rows", "share"), [(300, 0.6), (20_001, 1.0)])
def test_rows_are_drawn_from_small_tables_only(n_rows, share):
    X = np.random.default_rng(0).random((n_rows, 2))
    by_default = GradientBoostingRegressor(3, random_state=0).fit(X, X.sum(axis=1))
    explicit = clone(by_default).set_params(subsample=share).fit(X, X.sum(axis=1))
    np.testing.assert_array_equal(explicit.predict(X), by_default.predict(X))


def test_more_bins_than_bytes_make_splits_exact():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(3000, 1))
    y = (X[:, 0] > np.sort(X[:, 0])[1234]).astype(float)
    exact = GradientBoostingRegressor(
        1, max_bins=65_535, max_depth=1, learning_rate=1.0, reg_lambda=0.0, **WHOLE
    ).fit(X, y)
    assert exact.score(X, y) == pytest.approx(1)
    coarse = clone(exact).set_params(max_bins=255).fit(X, y)
    assert 0.98 < coarse.score(X, y) < 1


def test_progress_is_reported_on_stderr(capsys):
    GradientBoostingClassifier(7, verbose=1).fit(*IRIS)
    assert capsys.readouterr().err.startswith("committee: 7 of 7 rounds, ")


def test_bins_have_at_least_three_rows_if_leaves_must_be_large():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 2))
    y = X[:, 0] + rng.normal(size=60)

    def predictions(leaf, max_bins):
        booster = GradientBoostingRegressor(5, min_samples_leaf=leaf, max_bins=max_bins, random_state=0)
        return booster.fit(X, y).predict(X)

    assert (predictions(18, 255) == predictions(18, 20)).all()
    assert (predictions(17, 255) == predictions(17, 60)).all()
    assert (predictions(18, 300) == predictions(18, 256)).all()
    assert (predictions(18, 300) != predictions(18, 255)).any()
