"""Compare learners on tables whose training labels are partly wrong."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone

from committee.evaluating.study.named_learners import learners_of
from committee.evaluating.study.study import Study
from committee.evaluating.study.sweep import StudyTable
from committee.parameters import is_float, is_integer
from committee.table.input_types import ArrayLike, RandomState, TableLike


def flip_labels(y: ArrayLike, share: float, random_state: RandomState = None) -> np.ndarray:
    """Replace the labels of some rows by another label, drawn at random.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
    share : float from 0 to 1
        The share of rows whose label is replaced, rounded to whole rows.
    random_state : int, Generator or None, default=None

    Returns
    -------
    ndarray of shape (n_rows,)

    Examples
    --------
    >>> y = np.array(["no", "no", "no", "yes"])
    >>> flip_labels(y, 0.5, random_state=0)
    array(['yes', 'no', 'yes', 'yes'], dtype='<U3')
    """
    if not (is_float(share) or is_integer(share)) or not 0 <= share <= 1:
        raise ValueError(f"share must be a number from 0 to 1. Got {share!r}.")
    classes, codes = np.unique(np.asarray(y), return_inverse=True)
    rng = np.random.default_rng(random_state)
    flipped = rng.permutation(len(codes))[: round(share * len(codes))]
    if len(classes) > 1:
        codes[flipped] += rng.integers(1, len(classes), len(flipped))
    return np.asarray(classes[codes % len(classes)])


class NoisyClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """A classifier that is fitted with some wrong labels. Learners with the same seed get the same labels.

    Parameters
    ----------
    estimator : classifier
    share : float, default=0.1
        The share of training rows with a wrong label.
    seed : int, default=0

    Examples
    --------
    >>> from committee import DecisionTreeClassifier
    >>> X, y = [[1], [2], [3], [4]], [0, 0, 1, 1]
    >>> NoisyClassifier(DecisionTreeClassifier(), share=0.25).fit(X, y).predict(X)
    array([0, 0, 0, 1])
    """

    def __init__(self, estimator: Any, share: float = 0.1, seed: int = 0) -> None:
        self.estimator, self.share, self.seed = estimator, share, seed

    def fit(self, X: TableLike, y: ArrayLike) -> Self:
        """Fit the classifier with some wrong labels."""
        self.estimator_ = clone(self.estimator).fit(X, flip_labels(y, self.share, self.seed))
        self.classes_ = self.estimator_.classes_
        return self

    def predict(self, X: TableLike) -> np.ndarray:
        """Predict the class of each row."""
        return np.asarray(self.estimator_.predict(X))

    def predict_proba(self, X: TableLike) -> np.ndarray:
        """Predict the class probabilities of each row."""
        return np.asarray(self.estimator_.predict_proba(X))


def label_noise_study(
    learners: Iterable[object] | Mapping[str, object],
    tables: Mapping[str, object] | Iterable[StudyTable],
    shares: Iterable[float] = (0.0, 0.1, 0.25),
    **settings: Any,
) -> Study:
    """Make a study that fits each classifier with the given labels and with some wrong ones.

    Only training labels are wrong. On a resample of a table, all learners get the same wrong labels.

    Parameters
    ----------
    learners, tables
        See `Study`.
    shares : iterable of float, default=(0.0, 0.1, 0.25)
        The shares of training rows with a wrong label.
    **settings
        Other parameters of `Study`, such as `resamples` and `folder`.

    Returns
    -------
    Study
        With a learner for each learner and share, such as "rf" and "rf, 10% wrong labels".

    References
    ----------
    T. G. Dietterich, "An experimental comparison of three methods for constructing ensembles of decision
    trees: bagging, boosting, and randomization". Machine Learning 40, 2000.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> tables = {"iris": load_iris(return_X_y=True)}
    >>> study = label_noise_study(["tree"], tables, shares=[0, 0.25], resamples=2, cv=None).run()
    >>> compared = study.compare("accuracy")
    >>> compared.learners, bool(compared.scores[0, 0] > compared.scores[0, 1])
    (('tree', 'tree, 25% wrong labels'), True)
    """
    noisy = {
        learner.name if not share else f"{learner.name}, {share:.0%} wrong labels": (
            NoisyClassifier(learner.estimators["classification"], share)
            if share
            else learner.estimators["classification"]
        )
        for learner in learners_of(learners)
        for share in shares
    }
    return Study(noisy, tables, **settings)
