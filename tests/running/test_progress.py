"""Events of long work, and their receivers: none, a function, lines or bars."""

import io
import pickle
import sys

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.naive_bayes import GaussianNB

from committee import (
    AdaBoostClassifier,
    AdaBoostM1Classifier,
    AdaBoostRegressor,
    BaggingClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    LogitBoostClassifier,
    RandomForestClassifier,
)
from committee.running import Event, Work, receiving
from committee.running.progress import Bar, Lines, display, forward, within

CLASSES, NUMBERS = load_breast_cancer(return_X_y=True), load_diabetes(return_X_y=True)
EVERY_FAMILY = pytest.mark.parametrize(
    ("estimator", "problem", "what"),
    [
        (RandomForestClassifier(5, n_jobs=2), CLASSES, "trees"),
        (ExtraTreesRegressor(5), NUMBERS, "trees"),
        (GradientBoostingClassifier(5), CLASSES, "rounds"),
        (LogitBoostClassifier(5), CLASSES, "rounds"),
        (AdaBoostClassifier(n_estimators=5), CLASSES, "members"),
        (AdaBoostRegressor(n_estimators=5), NUMBERS, "members"),
        (AdaBoostM1Classifier(GaussianNB(), n_estimators=5), CLASSES, "members"),
    ],
    ids=lambda value: type(value).__name__,
)


def events_of(estimator, problem):
    events = []
    with receiving(events.append):
        estimator.fit(*problem)
    return events


@EVERY_FAMILY
def test_every_long_fit_reports_its_progress_from_beginning_to_end(estimator, problem, what):
    events = events_of(estimator, problem)
    assert {(event.what, event.name) for event in events} == {(what, type(estimator).__name__)}
    assert {(event.n_total, event.is_limit, event.within) for event in events} == {(5, False, ())}
    counts = [event.n_done for event in events]
    assert counts == sorted(counts)
    assert (counts[0], counts[-1]) == (0, 5)
    assert [event.is_over for event in events] == [False] * (len(events) - 1) + [True]
    assert pickle.loads(pickle.dumps(events)) == events


@pytest.mark.parametrize(
    "ensemble",
    [
        RandomForestClassifier(3, warm_start=True),
        BaggingClassifier(n_estimators=3, warm_start=True),
        BaggingClassifier(GaussianNB(), n_estimators=3, warm_start=True),
    ],
    ids=["forest", "bagged trees", "bagged estimators"],
)
def test_a_warm_start_counts_the_members_of_the_previous_fit(ensemble):
    ensemble.fit(*CLASSES)
    assert [event.n_done for event in events_of(ensemble.set_params(n_estimators=4), CLASSES)] == [3, 4, 4]


def test_an_automatic_number_of_trees_is_reported_as_a_limit():
    forest = RandomForestClassifier("auto", random_state=0)
    last = events_of(forest, CLASSES)[-1]
    assert last.is_limit and last.n_total == 1000 and last.n_done == len(forest.estimators_)


@pytest.mark.parametrize(
    ("booster", "problem", "part", "most"),
    [
        (GradientBoostingRegressor("auto"), NUMBERS, "rounds", True),
        (AdaBoostClassifier(n_estimators=5, early_stopping="out_of_fold"), CLASSES, "members", False),
        (
            AdaBoostClassifier(GaussianNB(), n_estimators=5, early_stopping="out_of_fold"),
            CLASSES,
            "members",
            False,
        ),
    ],
)
def test_folds_contain_other_work(booster, problem, part, most):
    events = events_of(booster, problem)
    folds = [event for event in events if event.what == "folds"]
    assert [event.n_done for event in folds] == [0, 1, 2, 3, 4, 5, 5]
    assert folds[0].is_limit == most
    assert all(event.score < 0 for event in folds[1:])
    inner = [event for event in events if event.within]
    assert {event.within for event in inner} == {(f"fold {i} of 5",) for i in range(1, 6)}
    assert {event.what for event in inner} == {part}
    assert sum(event.is_over for event in inner) == 5
    assert (events[-1].what, events[-1].within, events[-1].is_over) == (part, (), True)


def test_the_work_of_a_member_is_within_its_round():
    booster = AdaBoostM1Classifier(RandomForestClassifier(2, max_depth=1), n_estimators=2)
    inner = [event for event in events_of(booster, CLASSES) if event.what == "trees"]
    assert {event.within for event in inner} == {("member 1 of 2",), ("member 2 of 2",)}


@EVERY_FAMILY
def test_without_verbose_nothing_is_printed(estimator, problem, what, capfd):
    estimator.fit(*problem)
    assert capfd.readouterr() == ("", "")


def test_a_receiver_replaces_the_display_within_its_block(capsys):
    events = events_of(RandomForestClassifier(2, verbose=1), CLASSES)
    assert len(events) > 2
    assert capsys.readouterr().err == ""
    RandomForestClassifier(2, verbose=1).fit(*CLASSES)
    assert capsys.readouterr().err.startswith("committee: 2 of 2 trees, ")


def test_an_error_of_a_receiver_ends_the_fit_and_changes_nothing():
    forest = RandomForestClassifier(50, warm_start=True)

    def refuse(event):
        if event.n_done > 2 and not event.is_over:
            raise ZeroDivisionError

    with receiving(refuse), pytest.raises(ZeroDivisionError):
        forest.fit(*CLASSES)
    assert not hasattr(forest, "classes_")


def test_forwarded_events_become_parts_of_the_current_work():
    events = []
    with receiving(events.append), within("member 3 (GaussianNB)", "fold 2"):
        forward(Event("trees", "RandomForestClassifier", 1, 9, 0.5, within=("member 1 of 2",)))
    assert events[0].within == ("member 3 (GaussianNB)", "fold 2", "member 1 of 2")
    forward(events[0])  # without a receiver


def test_lines_report_the_outermost_work_at_the_time_of_inner_events(capsys, monkeypatch):
    monkeypatch.setattr("committee.running.progress.SECONDS_BETWEEN_LINES", 0.0)
    times = iter([0.0, 1.0, 1.0, 3.5, 3.5, 4.0, 4.0, 5.0, 5.0])
    monkeypatch.setattr("time.monotonic", lambda: next(times))
    lines = Lines()
    lines(Event("members", "Committee", 1, 5, 1.25, -0.5, is_limit=True, seconds_left=3.75))
    lines(Event("rounds", "Booster", 3, 40, 1.25, within=("member 2 of 5",)))
    monkeypatch.setattr("committee.running.progress.SECONDS_BETWEEN_LINES", 100.0)
    lines(Event("rounds", "Booster", 40, 40, 1.25, is_over=True, within=("member 2 of 5",)))
    lines(Event("members", "Committee", 5, None, 5.0, is_over=True))
    assert capsys.readouterr().err.splitlines() == [
        "committee: 1 of at most 5 members, 25 %, score -0.5, 1.2 s, 4 s left",
        "committee: 1 of at most 5 members, 75 %, score -0.5, 3.8 s, 1 s left",
        "committee: 5 members, 5.0 s",
    ]


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_bar_shows_only_the_outermost_work(monkeypatch):
    console = pytest.importorskip("rich.console")
    monkeypatch.setattr("committee.running.progress.SECONDS_BETWEEN_PICTURES", 0.0)
    screen = io.StringIO()
    bar = Bar(console.Console(file=screen, force_terminal=True, width=100))
    with receiving(bar):
        AdaBoostM1Classifier(RandomForestClassifier(2, max_depth=1), n_estimators=2).fit(*CLASSES)
    shown = screen.getvalue()
    assert "2 of 2 members" in shown and "trees" not in shown
    assert shown.rstrip().endswith("\x1b[?25h"), "the cursor must be visible again"


def test_a_terminal_gets_bars_and_other_streams_get_lines(monkeypatch):
    pytest.importorskip("rich")
    monkeypatch.setenv("TERM", "xterm")
    assert isinstance(display(), Lines)
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    assert isinstance(display(), Bar)
    RandomForestClassifier(3, verbose=1).fit(*CLASSES)
    assert "3 of 3 trees" in screen.getvalue()
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert isinstance(display(), Lines), "without rich"


def test_work_without_a_receiver_has_no_hook():
    with Work("trees", "Forest", 5) as work:
        assert not work.has_receiver
    with receiving(print), Work("trees", "Forest", 5) as work:
        assert work.has_receiver


@pytest.mark.parametrize(
    ("estimator", "problem"),
    [
        # With several threads, the first tree may be finished last.
        (RandomForestClassifier(12, oob_score=True, n_jobs=1, random_state=0), CLASSES),
        (GradientBoostingRegressor(12, subsample=0.7, random_state=0), NUMBERS),
        (GradientBoostingClassifier(12, random_state=0), CLASSES),
        (LogitBoostClassifier(12, random_state=0), CLASSES),
        (AdaBoostClassifier(n_estimators=12, random_state=0), CLASSES),
        (AdaBoostRegressor(n_estimators=12, weighting="resample", random_state=0), NUMBERS),
        (AdaBoostM1Classifier(GaussianNB(), n_estimators=6, random_state=0), CLASSES),
    ],
    ids=lambda value: type(value).__name__,
)
def test_an_interrupted_warm_start_is_resumed_to_the_same_bits(estimator, problem):
    X, y = problem

    def interrupt(event):
        if event.n_done >= 3 and not event.is_over:
            raise KeyboardInterrupt

    whole = estimator.fit(X, y).predict(X)
    before = dict(vars(estimator))
    with receiving(interrupt), pytest.raises(KeyboardInterrupt):
        estimator.fit(X, y)
    assert vars(estimator) == before, "without a warm start, nothing may change"

    for name in before.keys() - estimator.get_params().keys():
        delattr(estimator, name)
    estimator.set_params(warm_start=True)
    with receiving(interrupt), pytest.raises(KeyboardInterrupt):
        estimator.fit(X, y)
    n_made = estimator.n_iter_ if hasattr(estimator, "n_iter_") else len(estimator.estimators_)
    assert 3 <= n_made < estimator.n_estimators
    estimator.predict(X)
    np.testing.assert_array_equal(estimator.fit(X, y).predict(X), whole)
