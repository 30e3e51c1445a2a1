"""scikit-learn's callbacks hear of every tree, round and member, of all estimators that take long."""

import numpy as np
import pytest
from recording_callback import Diary
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB

from committee import (
    AdaBoostClassifier,
    AdaBoostM1Classifier,
    AdaBoostM2Classifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    LogitBoostClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    RandomSubspaceClassifier,
    RotationForestClassifier,
)

callback = pytest.importorskip("sklearn.callback", reason="scikit-learn < 1.9 has no callbacks")
CLASSES, NUMBERS = load_breast_cancer(return_X_y=True), load_diabetes(return_X_y=True)
EVERY_FAMILY = pytest.mark.parametrize(
    ("estimator", "problem", "task"),
    [
        (RandomForestClassifier(4, n_jobs=2), CLASSES, "tree"),
        (RandomForestRegressor(4), NUMBERS, "tree"),
        (ExtraTreesClassifier(4), CLASSES, "tree"),
        (ExtraTreesRegressor(4), NUMBERS, "tree"),
        (RotationForestClassifier(4, n_jobs=2), CLASSES, "tree"),
        (BaggingClassifier(n_estimators=4, n_jobs=2), CLASSES, "member"),
        (BaggingClassifier(GaussianNB(), 4, n_jobs=2), CLASSES, "member"),
        (BaggingRegressor(Ridge(), 4, runner="serial"), NUMBERS, "member"),
        (RandomSubspaceClassifier(GaussianNB(), 4, max_features=9), CLASSES, "member"),
        (GradientBoostingClassifier(4), CLASSES, "round"),
        (LogitBoostClassifier(4), CLASSES, "round"),
        (AdaBoostClassifier(n_estimators=4), CLASSES, "member"),
        (AdaBoostM2Classifier(n_estimators=4), CLASSES, "member"),
        (AdaBoostRegressor(n_estimators=4), NUMBERS, "member"),
        (AdaBoostM1Classifier(GaussianNB(), n_estimators=4), CLASSES, "member"),
    ],
    ids=lambda value: type(value).__name__,
)


@EVERY_FAMILY
def test_callbacks_hear_of_every_task_and_get_the_fitted_estimator_at_last(estimator, problem, task):
    diary = Diary()
    fitted = estimator.set_callbacks(diary).fit(*problem)
    tasks = [f"begin {task}", f"end {task}"] * 4
    assert diary.lines == ["setup", "begin fit", *tasks, "end fit", "teardown"]
    np.testing.assert_array_equal(diary.predictions["fit"][-1], fitted.predict(problem[0]))
    estimator.set_callbacks()


@EVERY_FAMILY
def test_a_callback_may_end_the_fit(estimator, problem, task):
    diary = Diary(last=2)
    fitted = clone(estimator).set_params(n_jobs=1).set_callbacks(diary).fit(*problem)
    made = fitted.n_iter_ if hasattr(fitted, "n_iter_") else len(fitted.estimators_)
    assert made == 2
    assert diary.lines[-2:] == ["end fit", "teardown"]


@pytest.mark.parametrize("estimator_type", [RandomForestClassifier, RotationForestClassifier])
def test_trees_that_end_after_a_callback_has_ended_the_fit_do_no_harm(estimator_type):
    diary = Diary(last=3)
    fitted = estimator_type(20, n_jobs=2).set_callbacks(diary).fit(*CLASSES)
    assert 1 <= len(fitted.estimators_) <= 20
    assert diary.lines[-2:] == ["end fit", "teardown"]


@pytest.mark.parametrize("early_stopping", [True, "out_of_fold"])
def test_adaboost_that_stops_early_closes_what_it_began(early_stopping):
    diary = Diary()
    booster = AdaBoostClassifier(n_estimators=30, early_stopping=early_stopping, random_state=0)
    booster.set_callbacks(diary).fit(*CLASSES)
    assert diary.lines.count("begin member") == diary.lines.count("end member") > 0
    assert diary.lines[-2:] == ["end fit", "teardown"]


def test_a_forest_that_ends_when_it_has_enough_closes_what_it_began():
    diary = Diary()
    forest = RandomForestClassifier("auto", random_state=0).set_callbacks(diary).fit(*CLASSES)
    assert diary.lines.count("begin tree") == diary.lines.count("end tree") >= len(forest.estimators_)


@EVERY_FAMILY
def test_scikit_learns_progress_bar_works(estimator, problem, task, capsys):
    pytest.importorskip("rich")
    estimator.set_callbacks(callback.ProgressBar()).fit(*problem)
    shown = capsys.readouterr().out
    assert shown.startswith(f"{type(estimator).__name__} - fit") and "100%" in shown
    estimator.set_callbacks()
