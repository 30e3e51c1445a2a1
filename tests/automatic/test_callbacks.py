"""scikit-learn's callbacks are notified of every fold and member of a committee."""

import numpy as np
import pytest
from recording_callback import CallLog
from sklearn.datasets import load_diabetes, load_iris
from sklearn.naive_bayes import GaussianNB

from committee import (
    CommitteeClassifier,
    CommitteeRegressor,
    DecisionTreeClassifier,
    StackingClassifier,
    VotingClassifier,
    load,
)

callback = pytest.importorskip("sklearn.callback", reason="scikit-learn < 1.9 has no callbacks")
CLASSES, NUMBERS = load_iris(return_X_y=True), load_diabetes(return_X_y=True)
PAIR = [("bayes", GaussianNB()), ("tree", DecisionTreeClassifier(random_state=0))]
EVERY_FAMILY = pytest.mark.parametrize(
    ("committee", "problem", "task", "n_tasks"),
    [
        (CommitteeClassifier(PAIR, cv=2, random_state=0), CLASSES, "fold", 4),
        (CommitteeRegressor(["linear", "booster"], cv=2, random_state=0), NUMBERS, "fold", 4),
        (StackingClassifier(PAIR, cv=2, refit=False), CLASSES, "fold", 4),
        (VotingClassifier(PAIR, n_jobs=2), CLASSES, "member", 2),
        (VotingClassifier([("bayes", GaussianNB().fit(*CLASSES))], cv="prefit"), CLASSES, "member", 1),
    ],
    ids=["classes", "numbers", "folds", "members", "prefit"],
)


@EVERY_FAMILY
def test_callbacks_are_notified_of_every_fit_and_receive_the_fitted_committee(
    committee, problem, task, n_tasks
):
    log = CallLog()
    fitted = committee.set_callbacks(log).fit(*problem)
    tasks = [f"begin {task}", f"end {task}"] * n_tasks
    assert log.lines == ["setup", "begin fit", *tasks, "end fit", "teardown"]
    np.testing.assert_array_equal(log.predictions["fit"][-1], fitted.predict(problem[0]))
    committee.set_callbacks()


@EVERY_FAMILY
def test_the_progress_bar_of_scikit_learn_works(committee, problem, task, n_tasks, capsys):
    pytest.importorskip("rich")
    committee.set_callbacks(callback.ProgressBar()).fit(*problem)
    shown = capsys.readouterr().out
    assert shown.startswith(f"{type(committee).__name__} - fit") and "100%" in shown
    committee.set_callbacks()


def test_a_callback_can_end_an_automatic_fit_with_the_finished_members():
    log = CallLog(last=2)
    automatic = CommitteeClassifier(PAIR, cv=2, n_jobs=1, runner="serial", random_state=0)
    automatic.set_callbacks(log).fit(*CLASSES)
    assert list(automatic.named_estimators_) == ["bayes"]
    assert log.lines[-3:] == ["end fold", "end fit", "teardown"]


def test_a_committee_with_callbacks_can_be_pruned_recombined_and_saved(tmp_path):
    automatic = CommitteeClassifier(PAIR, cv=2, random_state=0).set_callbacks(CallLog()).fit(*CLASSES)
    for name, other in {"one": automatic.prune(max_members=1), "mean": automatic.recombine("mean")}.items():
        other.save(tmp_path / f"{name}.committee")
        saved = load(tmp_path / f"{name}.committee")
        np.testing.assert_array_equal(saved.predict_proba(CLASSES[0]), other.predict_proba(CLASSES[0]))


def test_a_failing_fit_tears_down_its_callbacks():
    log = CallLog()
    with pytest.raises(ValueError, match="max_depth"):
        VotingClassifier([("bad", DecisionTreeClassifier(max_depth=0))]).set_callbacks(log).fit(*CLASSES)
    assert log.lines[-1] == "teardown"
