"""Scorers of scikit-learn as functions of whole decisions.

Votes know classes by their numbers, and scorers by their labels: which of two is the positive one, and which
there are. So a scorer is called with an estimator that has the labels, and whose rows are decisions. Only
this module imports scikit-learn; fast paths and predictors do without it.
"""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import get_scorer

from committee.metrics.metric_table import METRICS
from committee.metrics.row_losses import NoValueError
from committee.metrics.scoring import DecisionScore
from committee.task import are_repetitions
from committee.votes.vote_arrays import as_shares


def decision_scorer(scorer: object, n_outputs: int, classes: np.ndarray | None) -> DecisionScore:
    """Return a scorer as a function of y, a decision and the weights of the rows.

    Small whole weights repeat their rows, and equal ones change nothing: every scorer takes these.

    Parameters
    ----------
    scorer : str or scorer
    n_outputs : int
        The number of classes, or 1 for a regression.
    classes : ndarray of shape (n_outputs,), or None
        The labels that the numbers in y and the outputs of a decision stand for; None: these numbers. A
        single label stands for the first output, and nobody decides on the others.

    Returns
    -------
    callable
        It raises `NoValueError` where the scorer raises.

    Examples
    --------
    >>> y, decision = np.array([0, 1, 1]), np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]])
    >>> [decision_scorer("recall", 2, np.array(each))(y, decision, np.ones(3)) for each in ([0, 1], [1, 2])]
    [0.5, 1.0]
    """
    name, labels = str(scorer), np.arange(n_outputs) if classes is None else classes
    ask = get_scorer(scorer)
    echo: EchoRegressor | EchoClassifier = EchoRegressor() if n_outputs == 1 else EchoClassifier(labels)
    echo.fit()

    def score(y: np.ndarray, decision: np.ndarray, weights: np.ndarray) -> float:
        given: dict[str, np.ndarray] = {}
        if not are_repetitions(weights):
            if (weights != weights[0]).any():
                given["sample_weight"] = weights
        elif (weights != 1).any():
            rows = np.repeat(np.arange(len(y)), weights.astype(np.intp))
            y, decision = y[rows], decision[rows]
        try:
            return float(ask(echo, decision, y if n_outputs == 1 else labels[y], **given))
        except (ValueError, TypeError) as error:
            reason = " ".join(str(error).split()).rstrip(".")
            raise NoValueError(
                f"The scorer {name} has no value here: {reason}.{absence(y, labels)}{of_any_labels(name)}"
            ) from error

    return score


def absence(y: np.ndarray, labels: np.ndarray) -> str:
    """Say what to do if no row is of some class, which many scorers cannot judge; empty if all are there.

    Examples
    --------
    >>> absence(np.array([0, 2, 2]), np.array(["bird", "cat", "dog"]))
    " No row is of the class 'cat': 'neg_log_loss' judges such rows."
    """
    absent = np.setdiff1d(np.arange(len(labels)), y)
    if len(labels) == 1 or len(absent) == 0:
        return ""
    return f" No row is of the class {labels[absent].tolist()[0]!r}: 'neg_log_loss' judges such rows."


def of_any_labels(name: str) -> str:
    """Name the metric that judges any labels, for one that wants the label 1 to be there."""
    of_many = METRICS[name].of_many if name in METRICS else None
    return "" if of_many is None else f" {of_many!r} judges any labels."


def asks_for_probabilities(scorer: object) -> bool:
    """Return whether a scorer wants probabilities, and neither labels nor scores will do."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            get_scorer(scorer)(EchoScores().fit(), np.array([-1.0, 2.0, 1.0, -2.0]), np.array([0, 1, 0, 1]))
        except AttributeError:
            return True
        except Exception:
            return False  # It may be for other labels.
    return False


class EchoScores(ClassifierMixin, BaseEstimator):
    """An estimator of two classes whose rows are scores already."""

    def fit(self, X: object = None, y: object = None) -> EchoScores:
        """Learn nothing."""
        self.classes_ = np.arange(2)
        return self

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        """Return the scores."""
        return X

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the class that each score is for."""
        return (X > 0).astype(np.int64)


class EchoClassifier(ClassifierMixin, BaseEstimator):
    """An estimator whose rows are decisions already, so that a scorer can judge them.

    Parameters
    ----------
    labels : ndarray of shape (n_classes,)
        What the outputs of the decisions stand for, in any order.
    """

    def __init__(self, labels: np.ndarray) -> None:
        self.labels = labels

    def fit(self, X: object = None, y: object = None) -> EchoClassifier:
        """Sort the classes, as scorers expect them."""
        self.order_ = np.argsort(self.labels)
        self.classes_ = self.labels[self.order_]
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Return the decisions, which scikit-learn wants to sum to one very nearly."""
        return as_shares(X, 1e-9)[:, self.order_]

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the classes that are decided on, the first output of equal ones."""
        decided: np.ndarray = self.labels[X.argmax(axis=1)]
        return decided


class EchoRegressor(RegressorMixin, BaseEstimator):
    """An estimator whose rows are the numbers that it decides on."""

    def fit(self, X: object = None, y: object = None) -> EchoRegressor:
        """Learn nothing."""
        self.is_fitted_ = True
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the numbers."""
        return X[:, 0]
