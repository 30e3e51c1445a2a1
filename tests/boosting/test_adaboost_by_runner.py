"""AdaBoost over members that are not of the engine: how they are fitted, and what is asked of their votes."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier as SklearnTree

import committee
from committee import (
    AdaBoostClassifier,
    AdaBoostM1Classifier,
    AdaBoostM2Classifier,
    AdaBoostRegressor,
    BaggingClassifier,
    VotingClassifier,
)
from committee.members import NumberedLabels

CLASSIFIERS = [AdaBoostM1Classifier, AdaBoostClassifier, AdaBoostM2Classifier]
X, Y = make_classification(120, 6, n_informative=4, n_redundant=0, flip_y=0.2, random_state=0)
LABELS = np.array(["no", "yes"])[Y]


# What members learn from.


class Numbered(GaussianNB):
    """It knows classes by number alone."""

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
def test_a_constant_stands_for_members_that_refuse_drawn_rows_of_one_class(booster_type, tmp_path):
    rare = np.arange(60) < 2
    booster = booster_type(LogisticRegression(), n_estimators=10, weighting="resample", random_state=1)
    booster.fit(X[:60], rare)
    assert any(isinstance(member, DummyClassifier) for member in booster.estimators_)
    booster.save(tmp_path / "rare.committee")
    again = committee.load(tmp_path / "rare.committee")
    np.testing.assert_array_equal(again.predict_proba(X), booster.predict_proba(X))


def test_importances_are_those_of_the_members_that_have_some():
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
def test_members_made_of_some_that_take_no_weights_are_resampled(member):
    settings = {"n_estimators": 3, "random_state": 0}
    found = AdaBoostM1Classifier(member, **settings).fit(X, Y)
    asked = AdaBoostM1Classifier(member, weighting="resample", **settings).fit(X, Y)
    np.testing.assert_array_equal(found.estimator_errors_, asked.estimator_errors_)


# What members vote.


def voting(base, **methods):
    """An estimator that votes in its own way."""
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
            "There is the label 1, and the classes are [0, 2].",
        ),
        (
            AdaBoostClassifier(voting(GaussianNB, predict=always("zzz"))),
            (X, LABELS),
            "There is the label 'zzz', and the classes are ['no', 'yes'].",
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
def test_votes_that_cannot_be_weighed_are_told_of_with_who_cast_them(booster, problem, message):
    name = type(booster.estimator).__name__
    with pytest.raises(ValueError) as caught:
        clone(booster).fit(*problem)
    assert str(caught.value) == f"Member 0, {name}, cannot vote. ValueError: {message}"


def test_plausibilities_may_be_rounded():
    def rounded(self, X):
        return GaussianNB.predict_proba(self, X).astype(np.float32) * np.float32(1 + 1e-7)

    booster = AdaBoostM2Classifier(voting(GaussianNB, predict_proba=rounded), n_estimators=3).fit(X, Y)
    assert booster.votes(X).max() <= 1
    exact = AdaBoostM2Classifier(GaussianNB(), n_estimators=3).fit(X, Y)
    np.testing.assert_allclose(booster.predict_proba(X), exact.predict_proba(X), atol=1e-4)


@pytest.mark.parametrize("make", [np.asarray, pd.DataFrame, scipy.sparse.csr_matrix])
def test_a_table_without_rows_is_named_before_any_member(make):
    none = make(X[:0])
    booster = AdaBoostClassifier(GaussianNB(), n_estimators=2)
    with pytest.raises(ValueError, match=r"^X_val does not fit X. Found array with 0 sample\(s\)"):
        booster.fit(make(X), Y, X_val=none, y_val=Y[:0])
    with pytest.raises(ValueError, match=r"^Found array with 0 sample\(s\)"):
        booster.fit(none, Y[:0])
    with pytest.raises(ValueError, match=r"^Found array with 0 sample\(s\)"):
        booster.fit(X, Y).predict(X[:0])
