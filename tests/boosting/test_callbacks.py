"""Test scikit-learn's callbacks, which get the current model after each round and may end the fit."""

import numpy as np
import pytest
from recording_callback import CallLog
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris

from committee import GradientBoostingClassifier, GradientBoostingRegressor, LogitBoostClassifier

callback = pytest.importorskip("sklearn.callback", reason="scikit-learn < 1.9 has no callbacks")
CANCER = load_breast_cancer(return_X_y=True)


@pytest.mark.parametrize(
    ("booster", "problem"),
    [
        (GradientBoostingClassifier(4), CANCER),
        (GradientBoostingRegressor(4), load_diabetes(return_X_y=True)),
        (LogitBoostClassifier(4), load_iris(return_X_y=True)),
    ],
)
def test_callbacks_are_called_in_every_round_with_the_current_model(booster, problem):
    log = CallLog()
    fitted = booster.set_callbacks(log).fit(*problem)
    rounds = ["begin round", "end round"] * 4
    assert log.lines == ["setup", "begin fit", *rounds, "end fit", "teardown"]
    for model, stage in zip(log.predictions["round"], fitted.staged_predict(problem[0]), strict=True):
        np.testing.assert_array_equal(model, stage)


def test_a_callback_may_end_the_fit():
    X, y = CANCER
    stopped = GradientBoostingClassifier(50, random_state=0).set_callbacks(CallLog(last=3)).fit(X, y)
    assert stopped.n_iter_ == 3
    assert len(stopped.train_score_) == 4
    np.testing.assert_array_equal(
        stopped.predict_proba(X), GradientBoostingClassifier(3, random_state=0).fit(X, y).predict_proba(X)
    )
    stopped.set_params(warm_start=True, n_estimators=5).set_callbacks().fit(X, y)
    assert stopped.n_iter_ == 5


def test_a_warm_start_reports_only_its_own_rounds():
    X, y = CANCER
    booster = GradientBoostingClassifier(3, warm_start=True).fit(X, y)
    log = CallLog()
    booster.set_params(n_estimators=5).set_callbacks(log).fit(X, y)
    assert log.lines.count("end round") == 2
    np.testing.assert_array_equal(log.predictions["round"][-1], booster.predict(X))


def test_early_stopping_ends_the_round_that_did_not_run():
    X, y = CANCER
    log = CallLog()
    booster = (
        GradientBoostingClassifier(400, early_stopping=True, random_state=0).set_callbacks(log).fit(X, y)
    )
    assert booster.n_iter_ < 400
    assert log.lines.count("begin round") == log.lines.count("end round")
    assert log.lines[-2:] == ["end fit", "teardown"]


def test_an_error_in_a_callback_ends_the_fit_without_changes():
    class Broken(CallLog):
        def on_fit_task_end(self, estimator, context):
            raise ZeroDivisionError

    broken = Broken()
    booster = GradientBoostingClassifier(4).set_callbacks(broken)
    with pytest.raises(ZeroDivisionError):
        booster.fit(*CANCER)
    assert broken.lines[-1] == "teardown"
    assert not hasattr(booster, "classes_")
    assert set(vars(booster)) == {*booster.get_params(), "_skl_callbacks"}


def test_the_scoring_monitor_of_scikit_learn_records_scores():
    monitor = callback.ScoringMonitor(scoring="accuracy")
    booster = GradientBoostingClassifier(5).set_callbacks(monitor).fit(*CANCER)
    log = monitor.get_logs()
    scores = [row["accuracy"] for row in log.data if row["task_name"] == "round"]
    np.testing.assert_allclose(scores, list(booster.staged_score(*CANCER)))
