"""Scorers of scikit-learn as functions of whole decisions. What does without them does without this module.

Votes know classes by their numbers, and scorers by their labels: which of two is the positive one, and which
are there. So a scorer is told of both as an estimator would tell it.
"""

from __future__ import annotations

import functools
import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import get_scorer, get_scorer_names, log_loss, make_scorer

from committee.combining.losses import Loss, NoMetricError, NoValueError, is_made_scorer, on_decisions
from committee.combining.metrics import check_has_value, metric_of, some_decision
from committee.task import Classification, Regression, are_repetitions
from committee.votes.arrays import as_shares
from committee.votes.honest import HonestVotes


def is_scorer(metric: Any) -> bool:
    """Whether a metric is a scorer of scikit-learn, or the name of one."""
    return is_made_scorer(metric) or (isinstance(metric, str) and metric in get_scorer_names())


def check_scorer(metric: Any, task: Classification | Regression) -> None:
    """Raise, before any work, if a metric is a scorer that cannot judge the classes of a task."""
    if is_scorer(metric) and task.classes is not None and task.n_outputs > 1:
        wanted = metric_of(metric, task.n_outputs, task.classes)
        check_has_value(wanted, np.arange(task.n_outputs), task.n_outputs)


def check_of_decisions(metric: Any, n_outputs: int) -> None:
    """Raise, before any work, if a metric is a function of predictions or of an estimator.

    What else may be wrong with a function on two made-up rows need not be so on others, and is told there.
    """
    if not callable(metric) or is_made_scorer(metric):
        return
    y = np.arange(n_outputs) if n_outputs > 1 else np.array([0.0, 1.0])
    tried = on_decisions(metric)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tried(y, some_decision(y, n_outputs), np.ones(len(y)))
        except NoMetricError:
            raise
        except Exception:
            return


def name_of_scorer(scorer: Any) -> str:
    """What errors and results call a scorer."""
    return scorer if isinstance(scorer, str) else repr(scorer)


@functools.cache
def task_of_scorer(name: str) -> str:
    """What a scorer of scikit-learn is for: numbers if it takes them without complaint, and classes else.

    Examples
    --------
    >>> task_of_scorer("f1_macro"), task_of_scorer("r2")
    ('classification', 'regression')
    """
    y = np.array([0.5, 1.25, 2.0, 3.5])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            decision_scorer(name, 1, None)(y, y[::-1, None], np.ones(4))
        except Exception:
            return "classification"
    return "regression"


def check_task(parameter: str, scorer: Any, n_outputs: int) -> None:
    """Raise if a parameter is the name of a scorer that is not for so many outputs.

    Examples
    --------
    >>> check_task("scoring", "r2", 2)
    Traceback (most recent call last):
    ValueError: scoring='r2' is for regression, and there are classes. Use another, such as 'accuracy'.
    """
    wanted = "classification" if n_outputs > 1 else "regression"
    if not isinstance(scorer, str) or task_of_scorer(scorer) == wanted:
        return
    there, other = ("classes", "accuracy") if n_outputs > 1 else ("numbers", "r2")
    raise ValueError(
        f"{parameter}={scorer!r} is for {task_of_scorer(scorer)}, and there are {there}. Use another, such "
        f"as {other!r}."
    )


def scorer_loss(scorer: Any, honest: HonestVotes) -> Loss:
    """The negative of a scorer of scikit-learn, as a function of y, a decision and weights."""
    scored = decision_scorer(scorer, honest.n_outputs, honest.classes)
    return lambda y, decision, weights: -scored(y, decision, weights)


def decision_scorer(scorer: Any, n_outputs: int, classes: np.ndarray | None) -> Loss:
    """A scorer of scikit-learn as a function of y, a decision and the weights of the rows.

    Small whole weights are rows that many times, and equal ones are none: every scorer takes these.

    Parameters
    ----------
    scorer : str or scorer
    n_outputs : int
        The number of classes, or 1 for a regression.
    classes : ndarray of shape (n_outputs,), or None
        The labels that the numbers in y and the outputs of a decision stand for; None: these numbers. One
        label alone stands for the first output, and nobody decides on the others.

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
    name, labels = name_of_scorer(scorer), np.arange(n_outputs) if classes is None else classes
    ask = asked_of_labels(scorer, labels)
    echo: Any = EchoRegressor() if n_outputs == 1 else EchoClassifier(labels)
    echo.fit()

    def scored(y: np.ndarray, decision: np.ndarray, weights: np.ndarray) -> float:
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
                f"The scorer {name} has no value here: {reason}.{absence(y, labels)}"
            ) from error

    return scored


def asked_of_labels(scorer: Any, labels: np.ndarray) -> Any:
    """A scorer; that of the log loss knows all labels, of which it would else ask y, which may lack some."""
    if scorer != "neg_log_loss" or len(labels) == 1:
        return get_scorer(scorer)
    return make_scorer(
        log_loss, response_method="predict_proba", greater_is_better=False, labels=np.sort(labels)
    )


def absence(y: np.ndarray, labels: np.ndarray) -> str:
    """What to do if no row is of some class, which many scorers cannot judge; empty if all are there.

    Examples
    --------
    >>> absence(np.array([0, 2, 2]), np.array(["bird", "cat", "dog"]))
    " No row is of the class 'cat': 'neg_log_loss' judges such rows."
    """
    absent = np.setdiff1d(np.arange(len(labels)), y)
    if len(labels) == 1 or len(absent) == 0:
        return ""
    return f" No row is of the class {labels[absent].tolist()[0]!r}: 'neg_log_loss' judges such rows."


def asks_for_probabilities(scorer: Any) -> bool:
    """Whether a scorer wants probabilities, and neither labels nor scores will do."""
    ask, echo = get_scorer(scorer), EchoScores().fit()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ask(echo, np.array([-1.0, 2.0, 1.0, -2.0]), np.array([0, 1, 0, 1]))
        except AttributeError:
            return True
        except Exception:
            return False  # for other labels, or for numbers
    return False


class EchoScores(ClassifierMixin, BaseEstimator):
    """An estimator of two classes whose rows are scores already."""

    def fit(self, X: Any = None, y: Any = None) -> EchoScores:
        """Nothing to learn."""
        self.classes_ = np.arange(2)
        return self

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        """The scores."""
        return X

    def predict(self, X: np.ndarray) -> np.ndarray:
        """The class that each score is for."""
        return (X > 0).astype(np.int64)


class EchoClassifier(ClassifierMixin, BaseEstimator):
    """An estimator whose rows are decisions already, so that a scorer can be asked about them.

    Parameters
    ----------
    labels : ndarray of shape (n_classes,)
        What the outputs of the decisions stand for, in any order.
    """

    def __init__(self, labels: np.ndarray) -> None:
        self.labels = labels

    def fit(self, X: Any = None, y: Any = None) -> EchoClassifier:
        """Sort the classes, as scorers expect them."""
        self.order_ = np.argsort(self.labels)
        self.classes_ = self.labels[self.order_]
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """The decisions, which scikit-learn wants to sum to one very nearly."""
        return as_shares(X, 1e-9)[:, self.order_]

    def predict(self, X: np.ndarray) -> np.ndarray:
        """The classes that are decided on, the first output of equal ones."""
        decided: np.ndarray = self.labels[X.argmax(axis=1)]
        return decided


class EchoRegressor(RegressorMixin, BaseEstimator):
    """The same for numbers."""

    def fit(self, X: Any = None, y: Any = None) -> EchoRegressor:
        """Nothing to learn."""
        self.is_fitted_ = True
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """The numbers that are decided on."""
        return X[:, 0]
