"""scikit-learn's callbacks are called for every tree, round and member of all long fits."""

import numpy as np
import pytest
from recording_callback import CallLog
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
def test_callbacks_are_called_for_every_task_and_receive_the_fitted_estimator(estimator, problem, task):
    log = CallLog()
    fitted = estimator.set_callbacks(log).fit(*problem)
    tasks = [f"begin {task}", f"end {task}"] * 4
    assert log.lines == ["setup", "begin fit", *tasks, "end fit", "teardown"]
    np.testing.assert_array_equal(log.predictions["fit"][-1], fitted.predict(problem[0]))
    estimator.set_callbacks()


@EVERY_FAMILY
def test_a_callback_can_stop_the_fit(estimator, problem, task):
    log = CallLog(last=2)
    fitted = clone(estimator).set_params(n_jobs=1).set_callbacks(log).fit(*problem)
    made = fitted.n_iter_ if hasattr(fitted, "n_iter_") else len(fitted.estimators_)
    assert made == 2
    assert log.lines[-2:] == ["end fit", "teardown"]


@pytest.mark.parametrize("estimator_type", [RandomForestClassifier, RotationForestClassifier])
def test_trees_may_finish_after_a_callback_has_stopped_the_fit(estimator_type):
    log = CallLog(last=3)
    fitted = estimator_type(20, n_jobs=2).set_callbacks(log).fit(*CLASSES)
    assert 1 <= len(fitted.estimators_) <= 20
    assert log.lines[-2:] == ["end fit", "teardown"]


@pytest.mark.parametrize("early_stopping", [True, "out_of_fold"])
def test_early_stopping_of_adaboost_ends_every_task(early_stopping):
    log = CallLog()
    booster = AdaBoostClassifier(n_estimators=30, early_stopping=early_stopping, random_state=0)
    booster.set_callbacks(log).fit(*CLASSES)
    assert log.lines.count("begin member") == log.lines.count("end member") > 0
    assert log.lines[-2:] == ["end fit", "teardown"]


def test_a_forest_of_automatic_size_ends_every_task():
    log = CallLog()
    forest = RandomForestClassifier("auto", random_state=0).set_callbacks(log).fit(*CLASSES)
    assert log.lines.count("begin tree") == log.lines.count("end tree") >= len(forest.estimators_)


@EVERY_FAMILY
def test_scikit_learns_progress_bar_works(estimator, problem, task, capsys):
    pytest.importorskip("rich")
    estimator.set_callbacks(callback.ProgressBar()).fit(*problem)
    shown = capsys.readouterr().out
    assert shown.startswith(f"{type(estimator).__name__} - fit") and "100%" in shown
    estimator.set_callbacks()
