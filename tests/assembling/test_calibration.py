"""Calibration turns scores into probabilities and does not depend on the unit of the weights."""

import numpy as np
import pytest
from sklearn.svm import LinearSVC

from committee import VotingClassifier
from committee.saving.predictors.score_votes import METHODS

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 2))
Y = (X[:, 0] + RNG.normal(size=90) > 0).astype(int)


@pytest.mark.parametrize("method", METHODS)
def test_the_unit_of_the_weights_does_not_change_probabilities(method):
    svm = LinearSVC(C=1e9, dual=False)
    voting = VotingClassifier([("svm", svm)], calibrate=method, cv=3, n_jobs=1)
    given, scaled = (
        voting.fit(X, Y, sample_weight=np.full(90, unit)).predict_proba(X) for unit in (1, 1 / 90)
    )
    np.testing.assert_allclose(scaled, given, atol=1e-3)


def test_a_row_with_weight_two_equals_two_copies_of_the_row():
    svm = LinearSVC(C=1e9, dual=False)
    folds = [(np.arange(45), np.arange(45, 90)), (np.arange(45, 90), np.arange(45))]
    weights = np.where(np.arange(90) % 3 == 0, 2, 1)
    rows = np.repeat(np.arange(90), weights)
    twice = [tuple(np.flatnonzero(np.isin(rows, part)) for part in fold) for fold in folds]
    one = VotingClassifier([("svm", svm)], calibrate="sigmoid", cv=folds, n_jobs=1)
    other = VotingClassifier([("svm", svm)], calibrate="sigmoid", cv=twice, n_jobs=1)
    one.fit(X, Y, sample_weight=weights)
    other.fit(X[rows], Y[rows])
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), atol=1e-3)
