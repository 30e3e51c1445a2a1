"""Test AdaBoost with members of other libraries, early stopping and bad input."""

import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import BernoulliNB, GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC

from committee import (
    AdaBoostClassifier,
    AdaBoostM1Classifier,
    AdaBoostM2Classifier,
    AdaBoostRegressor,
    C45Classifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    RandomForestClassifier,
)
from committee.boosting.adaboost.weights import Distribution

CLASSIFIERS = [AdaBoostM1Classifier, AdaBoostClassifier, AdaBoostM2Classifier]


def noisy(n_rows=200, seed=0, n_classes=2):
    return make_classification(
        n_rows, 6, n_informative=4, n_redundant=0, n_classes=n_classes, n_clusters_per_class=1, flip_y=0.2,
        random_state=seed,
    )  # fmt: skip


class Refusing(GaussianNB):
    """A classifier that refuses rows of a single class."""

    def fit(self, X, y, sample_weight=None):
        if len(np.unique(y)) < 2:
            raise KeyError("one class")
        return super().fit(X, y, sample_weight)


# Members of any kind.


@pytest.mark.parametrize("booster_type", CLASSIFIERS)
@pytest.mark.parametrize(
    "member",
    [
        GaussianNB(),
        LogisticRegression(),
        C45Classifier(),
        RandomForestClassifier(3),
        DecisionTreeClassifier(max_depth=1, class_weight="balanced"),
        KNeighborsClassifier(1),
        LinearSVC(),
        make_pipeline(StandardScaler(), GaussianNB()),
    ],
    ids=lambda member: type(member).__name__,
)
def test_any_classifier_can_be_a_member(booster_type, member):
    X, y = noisy(n_classes=3)
    labels = np.array(["a", "b", "c"])[y]
    booster = booster_type(member, n_estimators=4, random_state=0).fit(X, labels)
    assert 1 <= len(booster.estimators_) <= 4
    assert type(booster.estimators_[0]) is type(member)
    probabilities = booster.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    np.testing.assert_array_equal(booster.predict(X), booster.classes_[probabilities.argmax(axis=1)])
    np.testing.assert_array_equal(booster.predict(X), clone(booster).fit(X, labels).predict(X))
    assert booster.score(X, labels) > 0.5


def test_the_first_member_gets_weights_of_the_usual_size():
    X, y = noisy()
    booster = AdaBoostM1Classifier(LogisticRegression(C=0.01), n_estimators=3).fit(X, y)
    alone = LogisticRegression(C=0.01).fit(X, y)
    np.testing.assert_allclose(booster.estimators_[0].coef_, alone.coef_, rtol=1e-3)


def test_the_weights_of_a_member_have_a_mean_of_one():
    weights = np.random.default_rng(0).random(37)
    given = Distribution.start(weights, 37).member_weights
    assert given.mean() == pytest.approx(1, abs=1e-6)
    np.testing.assert_allclose(given / given.sum(), weights / weights.sum(), rtol=1e-5)


def test_a_member_that_accepts_no_weights_is_resampled():
    X, y = noisy()
    settings = {"n_estimators": 5, "random_state": 0}
    explicit = AdaBoostM1Classifier(KNeighborsClassifier(1), weighting="resample", **settings).fit(X, y)
    automatic = AdaBoostM1Classifier(KNeighborsClassifier(1), **settings).fit(X, y)
    assert len(automatic.estimators_) == 5
    np.testing.assert_array_equal(explicit.estimator_errors_, automatic.estimator_errors_)


def test_resampled_rows_may_not_contain_a_class():
    X, y = noisy(60, n_classes=3)
    keep = (y != 2) | (np.cumsum(y == 2) <= 2)
    booster = AdaBoostM2Classifier(KNeighborsClassifier(3), n_estimators=8, random_state=0).fit(
        X[keep], y[keep]
    )
    assert booster.votes(X).shape == (len(booster.estimators_), len(X), 3)


def test_members_get_frames_unchanged():
    cities = np.array(["Bonn", "Oslo", "Rome"])[np.arange(60) % 3]
    y = (cities == "Oslo") ^ (np.arange(60) % 7 == 0)
    member = make_pipeline(OneHotEncoder(handle_unknown="ignore"), GaussianNB())
    member.steps[0][1].set_params(sparse_output=False)
    for frame in (pd.DataFrame({"city": cities}), pl.DataFrame({"city": cities})):
        booster = AdaBoostM1Classifier(member, n_estimators=3, random_state=0).fit(frame, y)
        assert list(booster.feature_names_in_) == ["city"]
        assert booster.score(frame, y) > 0.8


def test_members_get_sparse_matrices_unchanged():
    rng = np.random.default_rng(0)
    X = scipy.sparse.random(100, 20, density=0.2, format="coo", random_state=rng)
    y = np.asarray(X.sum(axis=1)).ravel() > X.sum(axis=1).mean()
    booster = AdaBoostM1Classifier(MultinomialNB(), n_estimators=3).fit(X, y)
    assert booster.predict(X.tocsr()).shape == (100,)


def test_a_regressor_can_have_linear_members():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = X[:, 0] + rng.normal(scale=0.1, size=80)
    booster = AdaBoostRegressor(LinearRegression(), n_estimators=5, random_state=0).fit(X, y)
    assert booster.score(X, y) > 0.9
    with pytest.raises(AttributeError):
        _ = booster.feature_importances_
    with pytest.raises(AttributeError, match="nbytes is only known for members that the engine fits"):
        _ = booster.nbytes


def test_rows_of_weight_zero_are_not_passed_to_members():
    X, y = noisy()
    weights = np.where(np.arange(len(y)) < 100, 1, 0)
    zeros = AdaBoostClassifier(GaussianNB(), n_estimators=3).fit(X, y, sample_weight=weights)
    fewer = AdaBoostClassifier(GaussianNB(), n_estimators=3).fit(X[:100], y[:100])
    np.testing.assert_array_equal(zeros.predict_proba(X), fewer.predict_proba(X))


def test_a_fit_with_members_of_another_kind_replaces_the_previous_fit():
    X, y = noisy()
    booster = AdaBoostM1Classifier(n_estimators=3).fit(X, y)
    foreign = booster.set_params(estimator=GaussianNB()).fit(X[:, :4], y)
    assert not hasattr(foreign, "schema_")
    assert foreign.predict(X[:, :4]).shape == (len(X),)
    again = booster.set_params(estimator=None).fit(X, y)
    np.testing.assert_array_equal(
        again.predict_proba(X), AdaBoostM1Classifier(n_estimators=3).fit(X, y).predict_proba(X)
    )


def test_a_predictor_predicts_the_same_as_the_booster():
    X, y = noisy()
    booster = AdaBoostM1Classifier(n_estimators=3).fit(X, y)
    np.testing.assert_array_equal(booster.predictor().predict_proba(X), booster.predict_proba(X))
    with pytest.raises(ValueError, match="BernoulliNB, which has no predictor"):
        AdaBoostM1Classifier(BernoulliNB(), n_estimators=3).fit(X, y).predictor()


# Early stopping.


@pytest.mark.parametrize("booster_type", [*CLASSIFIERS, AdaBoostRegressor])
@pytest.mark.parametrize("in_python", [False, True])
def test_early_stopping_keeps_the_members_up_to_the_lowest_validation_error(booster_type, in_python):
    X, y = noisy(300)
    is_classes = booster_type in CLASSIFIERS
    member = None
    if in_python:
        tree = DecisionTreeClassifier if is_classes else DecisionTreeRegressor
        member = type("PythonTree", (tree,), {})(max_depth=2)
    booster = booster_type(
        member, n_estimators=60, early_stopping=True, n_iter_no_change=5, store_weights=True, random_state=0
    )
    booster.fit(X[:200], y[:200], X_val=X[200:], y_val=y[200:])
    errors, best = booster.validation_errors_, int(booster.validation_errors_.argmin()) + 1
    assert len(booster.estimators_) == len(booster.row_weights_) == best
    assert len(errors) == min(best + 5, 60) or booster._is_over
    prediction = booster.predict(X[200:])
    error = (prediction != y[200:]).mean() if is_classes else np.abs(prediction - y[200:]).mean()
    assert error == pytest.approx(errors[best - 1])


def test_a_validation_set_alone_does_not_stop_the_fit():
    X, y = noisy(300)
    booster = AdaBoostM1Classifier(n_estimators=20).fit(X[:200], y[:200], X_val=X[200:], y_val=y[200:])
    assert len(booster.estimators_) == len(booster.validation_errors_) == 20
    expected = [1 - score for score in booster.staged_score(X[200:], y[200:])]
    np.testing.assert_allclose(booster.validation_errors_, expected)
    assert AdaBoostM1Classifier(n_estimators=2).fit(X, y).validation_errors_ is None


@pytest.mark.parametrize("member", [None, GaussianNB()])
def test_held_out_rows_are_not_passed_to_members(member):
    X, y = noisy(300)
    booster = AdaBoostM1Classifier(
        member,
        n_estimators=30,
        early_stopping=True,
        validation_fraction=0.25,
        store_weights=True,
        random_state=0,
    ).fit(X, y)
    is_held_out = booster.row_weights_[0] == 0
    # One row of each class is never held out, and a quarter of the other rows is.
    assert is_held_out.sum() == 74
    assert abs(is_held_out[y == 0].mean() - 0.25) < 0.02
    np.testing.assert_allclose(booster.row_weights_.sum(axis=1), 1)


@pytest.mark.parametrize("booster_type", [AdaBoostM2Classifier, AdaBoostRegressor])
def test_out_of_fold_errors_choose_the_number_of_members(booster_type):
    X, y = noisy(200)
    booster = booster_type(n_estimators=25, early_stopping="out_of_fold", random_state=0).fit(X, y)
    assert len(booster.validation_errors_) == 25
    n_members = int(booster.validation_errors_.argmin()) + 1
    assert len(booster.estimators_) == n_members
    plain = booster_type(n_estimators=n_members, random_state=0).fit(X, y)
    np.testing.assert_array_equal(booster.estimator_errors_, plain.estimator_errors_)


@pytest.mark.parametrize("early_stopping", [True, "out_of_fold"])
def test_the_last_row_of_a_class_is_never_held_out(early_stopping):
    X, rare = noisy(40)[0], np.arange(40) == 7
    booster = AdaBoostM1Classifier(
        Refusing(), n_estimators=2, early_stopping=early_stopping, validation_fraction=0.9
    )
    for seed in range(5):
        assert set(booster.set_params(random_state=seed).fit(X, rare).estimators_[0].classes_) == {
            False,
            True,
        }


def test_early_stopping_needs_a_class_with_two_rows():
    for early_stopping in (True, "out_of_fold"):
        with pytest.raises(ValueError, match="early_stopping=False"):
            AdaBoostM1Classifier(early_stopping=early_stopping).fit([[1], [2], [3]], ["a", "b", "c"])


# Bad input.


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_estimators": 0}, "n_estimators must be an integer >= 1. Got 0."),
        ({"learning_rate": 0}, "learning_rate must be a number > 0. Got 0."),
        ({"learning_rate": -1.0}, "learning_rate must be a number > 0. Got -1.0."),
        ({"learning_rate": float("nan")}, "learning_rate must be a number > 0. Got nan."),
        ({"weighting": "both"}, 'weighting must be "reweight" or "resample". Got \'both\'.'),
        ({"max_bins": 1}, "max_bins must be an integer in [2, 65535]. Got 1."),
        ({"estimator": "tree"}, "estimator must be an estimator with fit and predict, or None. Got 'tree'."),
        ({"estimator": LinearRegression()}, "estimator must be a classifier. Got LinearRegression()."),
        (
            {"estimator": DecisionTreeClassifier(max_depth=0)},
            "max_depth must be an integer >= 1 or None. Got 0.",
        ),
        (
            {"estimator": DecisionTreeClassifier(categorical_features=[0])},
            "Set categorical_features of the booster, not of its estimator.",
        ),
        ({"early_stopping": "yes"}, "early_stopping must be True, False or \"out_of_fold\". Got 'yes'."),
        ({"validation_fraction": 1.0}, "validation_fraction must be a float in (0, 1). Got 1.0."),
        ({"early_stopping": True, "warm_start": True}, "warm_start=True keeps all members"),
    ],
)
def test_bad_parameters_are_errors_that_name_them(parameters, message):
    with pytest.raises(ValueError) as caught:
        AdaBoostClassifier(**parameters).fit(*noisy(40))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("member", [None, GaussianNB()])
def test_bad_data_are_errors_that_name_them(member):
    X, y = noisy(40)

    def error_of(*arguments, **more):
        with pytest.raises((ValueError, TypeError)) as caught:
            AdaBoostM1Classifier(member, early_stopping=True, n_estimators=3).fit(*arguments, **more)
        assert "\n" not in str(caught.value)
        return str(caught.value)

    assert "y has one class, 0, and boosting needs two" in error_of(X, y * 0)
    assert "y has one class" in error_of(X, y, y == 1)
    assert "the weight of every row to zero" in error_of(X, y, y * 0)
    assert "y_val has the classes [7], which the fit did not see" in error_of(X, y, X_val=X[:2], y_val=[0, 7])
    assert "X_val does not fit X" in error_of(X, y, X_val=X[:, :3], y_val=y)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    renamed = frame.rename(columns={"x0": "age"})
    assert "X_val does not fit X" in error_of(frame, y, X_val=renamed, y_val=y)
    assert "inconsistent numbers of samples" in error_of(X, y, X_val=X, y_val=y[:3])
    assert "X_val needs y_val" in error_of(X, y, X_val=X)
    assert "Input y_val contains NaN" in error_of(X, y, X_val=X, y_val=np.full(len(y), np.nan))
    assert "inconsistent numbers of samples" in error_of(X, y[:3])


def test_a_failed_fit_changes_nothing():
    X, y = load_iris(return_X_y=True)
    booster = AdaBoostM1Classifier(GaussianNB(), n_estimators=3).fit(X, y)
    before = booster.predict_proba(X)
    with pytest.raises(ValueError):
        booster.fit(X[:, :2], y, X_val=X, y_val=y)
    np.testing.assert_array_equal(booster.predict_proba(X), before)
    with pytest.raises(ValueError, match="X has 2 features, but AdaBoostM1Classifier is expecting 4"):
        booster.predict(X[:, :2])


@pytest.mark.parametrize(
    ("methods", "what"), [(["fit"], "be fitted"), (["predict", "predict_proba"], "vote")]
)
# Parallel folds would share the call that succeeds, so the runner is serial.
@pytest.mark.parametrize("parameters", [{}, {"early_stopping": "out_of_fold", "runner": "serial"}], ids=str)
@pytest.mark.parametrize("booster_type", [*CLASSIFIERS, AdaBoostRegressor])
def test_the_error_of_a_failing_member_names_it_and_the_cause(
    booster_type, parameters, methods, what, monkeypatch
):
    member = LinearRegression() if booster_type is AdaBoostRegressor else GaussianNB()
    for method in methods:
        works_once(type(member), method, monkeypatch)
    X, y = noisy()
    message = rf"Member 1, {type(member).__name__}, cannot {what}. KeyError: 'coffee'$"
    with pytest.raises(KeyError, match=message) as caught:
        booster_type(member, n_estimators=5, **parameters).fit(X, y)
    assert isinstance(caught.value.__cause__, KeyError)


def works_once(member_type, method, monkeypatch):
    """Make a method of an estimator fail from its second call on."""
    if not hasattr(member_type, method):
        return
    works, calls = getattr(member_type, method), []

    def tired(self, *args, **kwargs):
        calls.append(method)
        if len(calls) > 1:
            raise KeyError("coffee")
        return works(self, *args, **kwargs)

    monkeypatch.setattr(member_type, method, tired)


def test_the_error_of_a_member_that_cannot_predict_names_it_and_the_cause(monkeypatch):
    booster = AdaBoostClassifier(GaussianNB(), n_estimators=2).fit(*noisy())
    monkeypatch.setattr(booster.estimators_[1], "theta_", None)
    with pytest.raises(TypeError, match=r"^Member 1, GaussianNB, cannot vote. TypeError: "):
        booster.predict(noisy()[0])


def test_extreme_learning_rates_stay_finite():
    X, y = noisy()
    for rate in (1e-300, 1e3, 1e300):
        booster = AdaBoostClassifier(n_estimators=8, learning_rate=rate).fit(X, y)
        assert np.isfinite(booster.predict_proba(X)).all()
        assert np.isfinite(AdaBoostRegressor(n_estimators=8, learning_rate=rate).fit(X, y).predict(X)).all()


def test_verbose_reports_the_number_of_members(capsys):
    X, y = noisy()
    AdaBoostM1Classifier(n_estimators=4, verbose=1).fit(X, y)
    AdaBoostM1Classifier(GaussianNB(), n_estimators=2, verbose=1).fit(X, y)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("committee: 4 of 4 members, ")
    assert lines[1].startswith("committee: 2 of 2 members, ")


SCRIPT = """
import signal, threading
import numpy as np
from committee import AdaBoostM1Classifier

signal.signal(signal.SIGINT, signal.default_int_handler)
rng = np.random.default_rng(0)
X = rng.normal(size=(20000, 10))
y = X[:, 0] * X[:, 1] + rng.normal(size=20000) > 0
booster = AdaBoostM1Classifier(n_estimators=5, n_jobs=2).fit(X, y)
before = booster.predict_proba(X)
threading.Timer(0.5, signal.raise_signal, (signal.SIGINT,)).start()
try:
    booster.set_params(n_estimators=1_000_000).fit(X, y)
except KeyboardInterrupt:
    print("interrupted")
print(np.array_equal(booster.predict_proba(X), before))
"""


def test_ctrl_c_ends_a_long_fit_and_leaves_the_booster_unchanged():
    command = [sys.executable, "-c", SCRIPT]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert ended.stderr == ""
    assert ended.stdout.split() == ["interrupted", "True"]
