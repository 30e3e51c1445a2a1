"""Call scikit-learn's scorers on decisions.

Votes identify classes by number, but scorers need their labels, for example to find the positive class.
Therefore a scorer is called with an estimator that has these labels and returns its input, a decision, as its
prediction. Only this module of the package imports scikit-learn, so predictors work without it.
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

    Scorers that accept no weights can still be used with two kinds of weights: small integers repeat rows,
    and equal weights are ignored.

    Parameters
    ----------
    scorer : str or scorer
    n_outputs : int
        The number of classes, or 1 for a regression.
    classes : ndarray of shape (n_outputs,), or None
        The labels of the numbers in y and of the outputs. None uses the numbers as labels. A single label is
        the label of the first output, and the other outputs are not used.

    Returns
    -------
    callable
        It raises `NoValueError` if the scorer raises an error.

    Examples
    --------
    >>> y, decision = np.array([0, 1, 1]), np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]])
    >>> [decision_scorer("recall", 2, np.array(each))(y, decision, np.ones(3)) for each in ([0, 1], [1, 2])]
    [0.5, 1.0]
    """
    name, labels = str(scorer), np.arange(n_outputs) if classes is None else classes
    score_estimator = get_scorer(scorer)
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
            return float(score_estimator(echo, decision, y if n_outputs == 1 else labels[y], **given))
        except (ValueError, TypeError) as error:
            reason = " ".join(str(error).split()).rstrip(".")
            raise NoValueError(
                f"The scorer {name} has no value here: {reason}.{class_hint(y, labels)}{label_hint(name)}"
            ) from error

    return score


def class_hint(y: np.ndarray, labels: np.ndarray) -> str:
    """Return a hint for errors if a class has no rows, which many scorers refuse. Otherwise return "".

    Examples
    --------
    >>> class_hint(np.array([0, 2, 2]), np.array(["bird", "cat", "dog"]))
    " No row is of the class 'cat'. 'neg_log_loss' can be used without it."
    """
    absent = np.setdiff1d(np.arange(len(labels)), y)
    if len(labels) == 1 or len(absent) == 0:
        return ""
    return f" No row is of the class {labels[absent].tolist()[0]!r}. 'neg_log_loss' can be used without it."


def label_hint(name: str) -> str:
    """Return a hint for errors if the metric requires the label 1 and there is one for any labels."""
    of_many = METRICS[name].of_many if name in METRICS else None
    return "" if of_many is None else f" {of_many!r} accepts any labels."


def requires_probabilities(scorer: object) -> bool:
    """Return whether a scorer requires probabilities and accepts neither labels nor scores."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            get_scorer(scorer)(EchoScores().fit(), np.array([-1.0, 2.0, 1.0, -2.0]), np.array([0, 1, 0, 1]))
        except AttributeError:
            return True
        except Exception:
            return False  # The scorer may be for other labels.
    return False


class EchoScores(ClassifierMixin, BaseEstimator):
    """An estimator of two classes that returns its input as its scores."""

    def fit(self, X: object = None, y: object = None) -> EchoScores:
        """Set the classes."""
        self.classes_ = np.arange(2)
        return self

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        """Return the input."""
        return X

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the second class for positive scores, else the first."""
        return (X > 0).astype(np.int64)


class EchoClassifier(ClassifierMixin, BaseEstimator):
    """An estimator that returns its input, decisions on classes, as its probabilities.

    Parameters
    ----------
    labels : ndarray of shape (n_classes,)
        The labels of the outputs of the decisions, in any order.
    """

    def __init__(self, labels: np.ndarray) -> None:
        self.labels = labels

    def fit(self, X: object = None, y: object = None) -> EchoClassifier:
        """Sort the classes, because scorers expect that."""
        self.order_ = np.argsort(self.labels)
        self.classes_ = self.labels[self.order_]
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Return the decisions, rescaled because scikit-learn checks that they sum to one."""
        return as_shares(X, 1e-9)[:, self.order_]

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the predicted classes. Of equal outputs, the first one wins."""
        decided: np.ndarray = self.labels[X.argmax(axis=1)]
        return decided


class EchoRegressor(RegressorMixin, BaseEstimator):
    """An estimator that returns its input, a column of numbers, as its prediction."""

    def fit(self, X: object = None, y: object = None) -> EchoRegressor:
        """Mark the estimator as fitted."""
        self.is_fitted_ = True
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the first column of the input."""
        return X[:, 0]
