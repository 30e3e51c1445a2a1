"""Losses of votes and of decisions: numbers that are lower for better ones.

A loss of ours is a mean over rows, so members can be compared block by block without a decision in hand. Any
other metric is a function of y and a whole decision: a user's function, or a scorer of scikit-learn by name.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from committee.combining.rule import Honest
from committee.combining.votes import labels_of

# Probabilities below this are taken for it, so that no single row decides alone.
SMALLEST = 1e-15
Loss = Callable[[np.ndarray, np.ndarray, np.ndarray], float]


class NoValueError(ValueError):
    """A metric has no value on some rows, as where they lack a class."""


class NoMetricError(ValueError):
    """A function is no metric of decisions."""

    @classmethod
    def of(cls, name: str, error: Exception | str) -> NoMetricError:
        """Tell what went wrong, and what would do."""
        told = error if isinstance(error, str) else f"{type(error).__name__}: {error}"
        reason = " ".join(told.split())
        return cls(
            f"The metric {name} fails ({reason}). A function gets y, a decision of shape (n_rows, n_outputs) "
            "and the weights of the rows. Of scikit-learn's scorers, take a name or what make_scorer makes; "
            "bootstrap_error asks any, by scoring=."
        )


def log_losses(votes: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Minus the logarithm of the vote for the class of the row."""
    return -np.log(np.maximum(votes_for(votes, y), SMALLEST))


def errors(votes: np.ndarray, y: np.ndarray) -> np.ndarray:
    """1 where the class of the highest vote, the first of equal ones, is wrong."""
    return (labels_of(votes) != y).astype(np.float64)


def square_sums(votes: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The squared distance from the answer: one number, or a crisp vote for the class (the Brier score)."""
    return np.square(residuals(votes, y)).sum(axis=2)


# From votes of a block, and y, to a loss for each member and row.
CLASS_LOSSES: Mapping[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "log_loss": log_losses,
    "error": errors,
    "balanced_error": errors,
    "brier": square_sums,
}
NUMBER_LOSSES = {"squared_error": square_sums}


def default_loss(honest: Honest) -> str:
    """The loss of a task if none is asked for."""
    return "log_loss" if honest.are_classes else "squared_error"


def check_metric(metric: Any, honest: Honest) -> str | Loss:
    """The metric as the name of a loss of ours, or as a function of y, a decision and weights.

    Examples
    --------
    >>> check_metric("squared_error", Honest.of([[[0.2, 0.8]]], [1]))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: There is no metric 'squared_error' for classes. ...
    """
    if metric is None:
        return default_loss(honest)
    if callable(metric) and not is_made_scorer(metric):
        return finite(on_decisions(metric))
    ours = CLASS_LOSSES if honest.are_classes else NUMBER_LOSSES
    if isinstance(metric, str) and metric in ours:
        return metric
    from committee.combining.scorers import is_scorer, scorer_loss

    if not is_scorer(metric):
        task = "classes" if honest.are_classes else "regression"
        raise ValueError(
            f"There is no metric {metric!r} for {task}. Use {', '.join(ours)}, a name of scikit-learn's "
            "scorers or a function."
        )
    return finite(scorer_loss(metric, honest))


def is_made_scorer(metric: Any) -> bool:
    """Whether a metric is a scorer that scikit-learn's `make_scorer` made, and no plain function."""
    return hasattr(metric, "set_score_request")


def name_of_function(function: Any) -> str:
    """What errors and results call a function."""
    return str(getattr(function, "__name__", repr(function)))


def takes_arguments(function: Callable[..., Any], n_arguments: int, *names: str) -> bool:
    """Whether a function can be called with so many arguments, and some by name; one that hides it can.

    Examples
    --------
    >>> takes_arguments(lambda y, decision: 0, 2), takes_arguments(lambda y, decision: 0, 3)
    (True, False)
    """
    try:
        inspect.signature(function).bind(*[None] * n_arguments, **dict.fromkeys(names))
    except TypeError:
        return False
    except ValueError:
        return True  # as functions that are not written in Python do
    return True


def on_decisions(function: Callable[..., Any]) -> Loss:
    """A user's function of y, a decision and weights. One of predictions, or of an estimator, is told.

    Examples
    --------
    >>> on_decisions(lambda estimator, X, y: estimator.score(X, y))(np.ones(1), np.ones((1, 1)), np.ones(1))
    Traceback (most recent call last):
    committee.combining.losses.NoMetricError: The metric <lambda> fails (AttributeError: 'numpy.ndarray' \
object has no attribute 'score'). A function gets y, a decision of shape (n_rows, n_outputs) and the weights \
of the rows. Of scikit-learn's scorers, take a name or what make_scorer makes; bootstrap_error asks any, by \
scoring=.
    """
    name = name_of_function(function)
    if not takes_arguments(function, 3):
        raise NoMetricError.of(name, "it takes other arguments")

    def loss(y: np.ndarray, decision: np.ndarray, weights: np.ndarray) -> float:
        try:
            return float(function(y, decision, weights))
        except AttributeError as error:
            if error.obj is not y:
                raise
            raise NoMetricError.of(name, error) from error

    return loss


def finite(metric: Loss) -> Loss:
    """A metric that raises where it has no number to give."""

    def loss(y: np.ndarray, decision: np.ndarray, weights: np.ndarray) -> float:
        value = float(metric(y, decision, weights))
        if not np.isfinite(value):
            raise ValueError(f"metric must give a finite number. Got {value}. Use another metric for this y.")
        return value

    return loss


def member_losses(metric: str | Loss, honest: Honest) -> np.ndarray:
    """The loss of each member, of shape (n_members,)."""
    if callable(metric):
        votes = sound_votes(honest)
        return np.array([metric(honest.y, vote.astype(np.float64), honest.weights) for vote in votes])
    row_losses = CLASS_LOSSES.get(metric) or NUMBER_LOSSES[metric]
    weights = loss_weights(metric, honest.y, honest.weights)
    total = np.zeros(honest.n_members)
    start = 0
    for votes, y, _ in honest.blocks():
        rows = slice(start, start + len(y))
        start = rows.stop
        total += (row_losses(votes, y) * weights[rows]).sum(axis=1)
    return total / weights.sum()


def sound_votes(honest: Honest) -> np.ndarray:
    """All honest votes, after each number has been checked."""
    for _ in honest.blocks():
        pass
    return honest.votes


def loss_weights(metric: str, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The weights of the rows in a loss of ours: for the balanced error, every class counts the same."""
    if metric != "balanced_error":
        return weights
    of_class = np.bincount(y, weights=weights)
    return weights / np.where(of_class > 0, of_class, 1.0)[y]


def votes_for(votes: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The votes of each member for the class of each row, of shape (n_members, n_rows)."""
    return np.take_along_axis(votes, y[None, :, None], axis=2)[:, :, 0]


def residuals(votes: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Votes minus the answer: the number, or a crisp vote for the class."""
    if votes.shape[2] == 1:
        return votes - y[None, :, None]
    from_answer = votes.copy()
    from_answer[:, np.arange(len(y)), y] -= 1
    return from_answer
