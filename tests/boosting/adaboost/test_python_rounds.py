"""Test AdaBoost with members that are not fitted by the engine: their fits, runners and votes."""

import threading

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from runner_tasks import Asking, Deadly, Tired
from sklearn.base import clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier as SklearnTree
from sklearn.tree import DecisionTreeRegressor as SklearnNumberTree
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

import committee
from committee import (
    AdaBoostClassifier,
    AdaBoostM1Classifier,
    AdaBoostM2Classifier,
    AdaBoostRegressor,
    BaggingClassifier,
    C45Classifier,
    VotingClassifier,
)
from committee.boosting.adaboost.python_rounds import PythonRounds, RoundSettings
from committee.boosting.adaboost.weights import Distribution, Scheme
from committee.members import NumberedLabels
from committee.running import WorkerDiedError, receiving
from committee.running.local_runners import SerialRunner
from committee.running.resources import usable_cores
from committee.task import Classification

CLASSIFIERS = [AdaBoostM1Classifier, AdaBoostClassifier, AdaBoostM2Classifier]
X, Y = make_classification(120, 6, n_informative=4, n_redundant=0, flip_y=0.2, random_state=0)
LABELS = np.array(["no", "yes"])[Y]


BY_RUNNER = [
    AdaBoostM1Classifier(GaussianNB(), n_estimators=4, random_state=0),
    AdaBoostClassifier(SklearnTree(max_depth=2), n_estimators=4, random_state=0),
    AdaBoostClassifier(KNeighborsClassifier(3), n_estimators=4, random_state=0),
    AdaBoostM2Classifier(C45Classifier(class_weight="balanced"), n_estimators=4, random_state=0),
    AdaBoostRegressor(SklearnNumberTree(max_depth=6), n_estimators=4, weighting="reweight", random_state=0),
]


@parametrize_with_checks(BY_RUNNER)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", BY_RUNNER, ids=str)
def test_scikit_learn_runs_many_checks(estimator):
    assert len(list(estimator_checks_generator(estimator))) >= (62 if is_classifier(estimator) else 59)


# Labels, weights and importances.


class Numbered(GaussianNB):
    """A classifier that accepts only numbers as classes."""

    def fit(self, X, y, sample_weight=None):
        if y.dtype.kind not in "iu":
            raise ValueError("Expected the classes 0, 1 and so on.")
        return super().fit(X, y, sample_weight)


class NumberedTree(SklearnTree):
    def fit(self, X, y, sample_weight=None):
        if y.dtype.kind not in "iu":
            raise ValueError("Expected the classes 0, 1 and so on.")
        return super().fit(X, y, sample_weight)


@pytest.mark.parametrize("booster_type", CLASSIFIERS)
def test_members_that_refuse_labels_get_their_numbers(booster_type):
    booster = booster_type(Numbered(), n_estimators=3).fit(X, LABELS)
    assert isinstance(booster.estimators_[0], NumberedLabels)
    plain = booster_type(GaussianNB(), n_estimators=3).fit(X, LABELS)
    np.testing.assert_array_equal(booster.predict_proba(X), plain.predict_proba(X))


@pytest.mark.parametrize("booster_type", CLASSIFIERS)
def test_a_constant_replaces_members_that_refuse_drawn_rows_of_one_class(booster_type, tmp_path):
    rare = np.arange(60) < 2
    booster = booster_type(LogisticRegression(), n_estimators=10, weighting="resample", random_state=3)
    booster.fit(X[:60], rare)
    assert any(isinstance(member, DummyClassifier) for member in booster.estimators_)
    booster.save(tmp_path / "rare.committee")
    again = committee.load(tmp_path / "rare.committee")
    np.testing.assert_array_equal(again.predict_proba(X), booster.predict_proba(X))


def test_importances_are_computed_from_members_that_have_them():
    booster = AdaBoostM1Classifier(NumberedTree(max_depth=1), n_estimators=3, random_state=0).fit(X, LABELS)
    plain = AdaBoostM1Classifier(SklearnTree(max_depth=1), n_estimators=3, random_state=0).fit(X, LABELS)
    np.testing.assert_array_equal(booster.feature_importances_, plain.feature_importances_)
    booster._members[1] = DummyClassifier().fit(X, LABELS)
    assert booster.feature_importances_.sum() == pytest.approx(1)


@pytest.mark.parametrize(
    "member",
    [
        VotingClassifier([("neighbours", KNeighborsClassifier(7))], cv=2),
        CalibratedClassifierCV(KNeighborsClassifier(7), cv=2),
        BaggingClassifier(KNeighborsClassifier(7), 1, bootstrap=False),
    ],
    ids=lambda member: type(member).__name__,
)
def test_members_with_parts_that_accept_no_weights_are_resampled(member):
    settings = {"n_estimators": 3, "random_state": 0}
    automatic = AdaBoostM1Classifier(member, **settings).fit(X, Y)
    explicit = AdaBoostM1Classifier(member, weighting="resample", **settings).fit(X, Y)
    np.testing.assert_array_equal(automatic.estimator_errors_, explicit.estimator_errors_)


# Runners.


class CallLog(SerialRunner):
    """A runner that records its calls."""

    def __init__(self):
        super().__init__()
        self.entries, self.tasks = [], []

    def submit(self, function, /, *args, name=None, **kwargs):
        self.entries.append(name or "member")
        self.tasks.append(super().submit(function, *args, name=name, **kwargs))
        return self.tasks[-1]

    def as_completed(self, tasks):
        self.entries.append("wait")
        return super().as_completed(tasks)


def test_members_are_sequential_tasks_and_folds_are_parallel_tasks():
    run = CallLog()
    booster = AdaBoostM1Classifier(SklearnTree(max_depth=1), n_estimators=3, runner=run).fit(X, Y)
    assert run.entries == ["member", "wait"] * 3
    run.entries.clear()
    booster.set_params(early_stopping="out_of_fold").fit(X, Y)
    assert run.entries[:3] == ["fold 1 of 5", "fold 2 of 5", "wait"]
    # A runner that the user passes stays open.
    assert run.gather([run.submit(max, 3, 5)]) == [5]


def test_folds_are_cancelled_when_the_fit_fails():
    run = CallLog()
    booster = AdaBoostM1Classifier(GaussianNB(), early_stopping="out_of_fold", runner=run)

    def refuse(event):
        if event.what == "folds" and event.n_done == 1 and not event.is_over:
            raise ZeroDivisionError

    with receiving(refuse), pytest.raises(ZeroDivisionError) as caught:
        booster.fit(X, Y)
    # Folds are cancelled even while the traceback keeps the objects of the fit alive.
    assert caught.tb is not None
    assert run.entries == ["fold 1 of 5", "fold 2 of 5", "wait"]
    assert run.tasks[0].done()
    assert run.tasks[1].cancelled()


def bits(booster):
    learnt = booster.estimator_errors_, booster.estimator_weights_, booster.votes(X)
    return [each.tobytes() for each in (*learnt, booster.validation_errors_)]


@pytest.mark.parametrize("booster_type", [*CLASSIFIERS, AdaBoostRegressor])
@pytest.mark.parametrize("weighting", ["reweight", "resample"])
def test_any_runner_and_any_number_of_workers_give_the_same_bits(booster_type, weighting):
    member = LinearRegression() if booster_type is AdaBoostRegressor else GaussianNB()
    booster = booster_type(
        member, n_estimators=4, weighting=weighting, early_stopping="out_of_fold", random_state=3
    )
    y = X[:, 0] ** 2 if booster_type is AdaBoostRegressor else LABELS
    expected = bits(booster.set_params(runner="serial").fit(X, y))
    for n_jobs in (1, 2, 3):
        assert bits(booster.set_params(runner="threads", n_jobs=n_jobs).fit(X, y)) == expected


def test_processes_give_the_same_bits_and_errors_name_the_member():
    booster = AdaBoostM1Classifier(
        SklearnTree(max_depth=2, max_features=1), n_estimators=4, early_stopping="out_of_fold", random_state=3
    )
    expected = bits(booster.fit(X, LABELS))
    with committee.running.runner("processes", 2) as run:
        assert bits(booster.set_params(runner=run).fit(X, LABELS)) == expected
        for early_stopping in (False, "out_of_fold"):
            booster.set_params(estimator=Tired(), early_stopping=early_stopping)
            with pytest.raises(KeyError) as caught:
                booster.fit(X, Y)
            assert str(caught.value) == "Member 1, Tired, cannot be fitted. KeyError: 'coffee'"
        booster.set_params(estimator=Deadly(), early_stopping=False)
        with pytest.raises(WorkerDiedError, match=r"^Member 0, Deadly, cannot be fitted. .*exit code 3\.$"):
            booster.fit(X, Y)


@pytest.mark.parametrize("runner", ["threads", "processes"])
def test_threads_within_a_member_stay_within_the_cores(runner):
    booster = AdaBoostM1Classifier(Asking(), n_estimators=2, runner=runner, n_jobs=2).fit(X, Y)
    assert {member.n_threads_ for member in booster.estimators_} == {usable_cores()}


class Stopping(GaussianNB):
    """A classifier that requests the end of the work after the second fit."""

    stop, n_fits = threading.Event(), 0

    def fit(self, X, y, sample_weight=None):
        Stopping.n_fits += 1
        if Stopping.n_fits == 2:
            Stopping.stop.set()
        return super().fit(X, y, sample_weight)


@pytest.mark.parametrize("runner", ["serial", "threads"])
def test_a_stopped_fit_keeps_complete_rounds_and_continues_to_the_same_bits(runner):
    Stopping.n_fits = 0
    Stopping.stop.clear()
    booster = AdaBoostM1Classifier(Stopping(), n_estimators=4, warm_start=True, runner=runner)
    with committee.running.stopped_by(Stopping.stop), pytest.raises(KeyboardInterrupt):
        booster.fit(X, Y)
    assert len(booster.estimators_) == 2
    in_one_go = AdaBoostM1Classifier(GaussianNB(), n_estimators=4).fit(X, Y)
    np.testing.assert_array_equal(booster.fit(X, Y).predict_proba(X), in_one_go.predict_proba(X))


@pytest.mark.parametrize("runner", ["serial", "threads"])
def test_a_stopped_member_ends_the_fit_as_an_interruption(runner):
    stop = threading.Event()
    stop.set()
    with committee.running.runner(runner) as run:
        member = committee.RandomForestClassifier(100_000)
        rounds = PythonRounds(member, X, *Classification.of(Y), None, run)
        with committee.running.stopped_by(stop), pytest.raises(KeyboardInterrupt):
            rounds._make(RoundSettings(Scheme("m1", 2), False, 0, 1), 0, Distribution.start(None, len(Y)))


# Votes.


def voting(base, **methods):
    """Make an estimator with other methods."""
    return type("Odd", (base,), methods)()


def always(value):
    return lambda self, X: np.full(len(X), value)


@pytest.mark.parametrize(
    ("booster", "problem", "message"),
    [
        (
            AdaBoostM2Classifier(
                voting(GaussianNB, predict_proba=lambda self, X: np.full((len(X), 2), np.nan))
            ),
            (X, Y),
            "It votes with NaN or infinity.",
        ),
        (
            AdaBoostM2Classifier(GaussianNB()),
            (np.ones((20, 1)), [0, 1] * 10),
            "It votes with NaN or infinity.",
        ),
        (
            AdaBoostM2Classifier(voting(GaussianNB, predict_proba=lambda self, X: np.full((len(X), 2), 5.0))),
            (X, Y),
            "It gives a class the plausibility 5, which must be between 0 and 1.",
        ),
        (
            AdaBoostM2Classifier(
                voting(GaussianNB, predict_proba=lambda self, X: np.full((len(X), 2), -1.0))
            ),
            (X, Y),
            "It gives a class the plausibility -1, which must be between 0 and 1.",
        ),
        (
            AdaBoostM1Classifier(voting(GaussianNB, predict=always(1))),
            (X, 2 * Y),
            "The label 1 is not one of the classes [0, 2].",
        ),
        (
            AdaBoostClassifier(voting(GaussianNB, predict=always("zzz"))),
            (X, LABELS),
            "The label 'zzz' is not one of the classes ['no', 'yes'].",
        ),
        (
            AdaBoostRegressor(voting(LinearRegression, predict=always(np.nan))),
            (X, X[:, 0]),
            "It votes with NaN or infinity.",
        ),
        (
            AdaBoostRegressor(voting(LinearRegression, predict=always(np.inf))),
            (X, X[:, 0]),
            "It votes with NaN or infinity.",
        ),
    ],
    ids=lambda value: "",
)
def test_the_error_for_invalid_votes_names_the_member(booster, problem, message):
    name = type(booster.estimator).__name__
    with pytest.raises(ValueError) as caught:
        clone(booster).fit(*problem)
    assert str(caught.value) == f"Member 0, {name}, cannot vote. ValueError: {message}"


def test_plausibilities_may_have_rounding_errors():
    def rounded(self, X):
        return GaussianNB.predict_proba(self, X).astype(np.float32) * np.float32(1 + 1e-7)

    booster = AdaBoostM2Classifier(voting(GaussianNB, predict_proba=rounded), n_estimators=3).fit(X, Y)
    assert booster.votes(X).max() <= 1
    exact = AdaBoostM2Classifier(GaussianNB(), n_estimators=3).fit(X, Y)
    np.testing.assert_allclose(booster.predict_proba(X), exact.predict_proba(X), atol=1e-4)


@pytest.mark.parametrize("make", [np.asarray, pd.DataFrame, scipy.sparse.csr_matrix])
def test_a_table_without_rows_is_an_error_before_members_are_fitted(make):
    none = make(X[:0])
    booster = AdaBoostClassifier(GaussianNB(), n_estimators=2)
    with pytest.raises(ValueError, match=r"^X_val does not fit X. Found array with 0 sample\(s\)"):
        booster.fit(make(X), Y, X_val=none, y_val=Y[:0])
    with pytest.raises(ValueError, match=r"^Found array with 0 sample\(s\)"):
        booster.fit(none, Y[:0])
    with pytest.raises(ValueError, match=r"^Found array with 0 sample\(s\)"):
        booster.fit(X, Y).predict(X[:0])


def test_m1_with_a_cart_member_equals_the_hand_loop_on_many_distinct_values():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 4))
    y = ((X**2).sum(axis=1) + rng.normal(0, 0.5, 900) > 3.4).astype(int)
    booster = committee.AdaBoostM1Classifier(
        committee.DecisionTreeClassifier(max_depth=2), n_estimators=12
    ).fit(X, y)
    weights, errors = np.full(900, 1 / 900), []
    for vote in booster.estimator_weights_:
        wrong = SklearnTree(max_depth=2, random_state=0).fit(X, y, sample_weight=weights).predict(X) != y
        errors.append(weights[wrong].sum())
        assert vote == pytest.approx(np.log((1 - errors[-1]) / errors[-1]), rel=1e-6)
        weights = np.where(wrong, weights, weights * errors[-1] / (1 - errors[-1]))
        weights /= weights.sum()
    np.testing.assert_allclose(booster.estimator_errors_, errors, rtol=1e-6)
    coarse = clone(booster).set_params(max_bins=255).fit(X, y)
    assert abs(coarse.estimator_errors_[1] - errors[1]) > 1e-6
