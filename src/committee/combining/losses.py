"""Losses of votes and of decisions: numbers that are lower for better ones.

A loss of ours is a mean over rows, so members can be compared block by block without a decision in hand. Any
other metric is a function of y and a whole decision: a user's function, or a scorer of scikit-learn by name.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from committee.votes.arrays import NEARLY_ONE, as_shares, labels_of, rounding_of, settled
from committee.votes.honest import HonestVotes

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
            "and the weights of the rows. Of scikit-learn's scorers, take a name or what make_scorer makes."
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


def default_loss(honest: HonestVotes) -> str:
    """The loss of a task if none is asked for."""
    return "log_loss" if honest.are_classes else "squared_error"


def check_metric(metric: Any, n_outputs: int) -> None:
    """Raise for a metric that is none of so many outputs, one of which is a regression.

    Examples
    --------
    >>> check_metric("squared_error", 2)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: There is no metric 'squared_error' for classes. ...
    """
    ours = CLASS_LOSSES if n_outputs > 1 else NUMBER_LOSSES
    is_function = callable(metric) and not is_made_scorer(metric)
    if metric is None or is_function or (isinstance(metric, str) and metric in ours):
        return
    from committee.combining.scorers import check_task, is_scorer

    if not is_scorer(metric):
        task = "classes" if n_outputs > 1 else "regression"
        raise ValueError(
            f"There is no metric {metric!r} for {task}. Use {', '.join(ours)}, a name of scikit-learn's "
            "scorers or a function."
        )
    check_task("metric", metric, n_outputs)


def metric_of_votes(metric: Any, honest: HonestVotes) -> str | Loss:
    """A checked metric as the name of a loss of ours, or as a function of y, a decision and weights."""
    if metric is None:
        return default_loss(honest)
    if callable(metric) and not is_made_scorer(metric):
        return finite(on_decisions(metric))
    if isinstance(metric, str) and metric in (CLASS_LOSSES if honest.are_classes else NUMBER_LOSSES):
        return metric
    from committee.combining.scorers import scorer_loss

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
of the rows. Of scikit-learn's scorers, take a name or what make_scorer makes.
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
            raise NoValueError(
                f"metric must give a finite number. Got {value}. Use another metric for this y."
            )
        return value

    return loss


def member_losses(metric: str | Loss, honest: HonestVotes) -> np.ndarray:
    """The loss of each member alone, on the rows that it has voted on, of shape (n_members,)."""
    rounding = rounding_of(honest.votes)
    if callable(metric) or honest.has_voted is not None:
        loss = as_loss(metric)
        decisions = (decided(vote.astype(np.float64), rounding) for vote in honest.votes)
        judged = zip(decisions, honest.own_rows(), strict=True)
        return with_highest([loss_on(rows, loss, decision, honest) for decision, rows in judged])
    weights = loss_weights(metric, honest.y, honest.weights)
    total = np.zeros(honest.n_members)
    start = 0
    for votes, y, _ in honest.blocks():
        rows = slice(start, start + len(y))
        start = rows.stop
        total += (row_losses(metric)(decided(votes, rounding), y) * weights[rows]).sum(axis=1)
    return total / weights.sum()


def row_losses(metric: str) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """The losses of rows that a loss of ours is the mean of."""
    return CLASS_LOSSES.get(metric) or NUMBER_LOSSES[metric]


def as_loss(metric: str | Loss) -> Loss:
    """A metric as a function of y, a decision and weights."""
    if callable(metric):
        return metric
    losses = row_losses(metric)

    def loss(y: np.ndarray, decision: np.ndarray, weights: np.ndarray) -> float:
        weights = loss_weights(metric, y, weights)
        return float(losses(decision[None], y)[0] @ weights / weights.sum())

    return loss


def decided(votes: np.ndarray, rounding: float) -> np.ndarray:
    """Votes as the decisions of who casts them: for classes settled, and summing to one."""
    return votes if votes.shape[-1] == 1 else as_shares(settled(votes, rounding), NEARLY_ONE)


def loss_on(rows: np.ndarray | None, loss: Loss, decision: np.ndarray, honest: HonestVotes) -> float:
    """The loss of a decision on some of the rows; NaN if these tell nothing, as where they lack a class."""
    if rows is None:
        return loss(honest.y, decision, honest.weights)
    weights = honest.weights[rows]
    try:
        return loss(honest.y[rows], decision[rows], weights) if weights.any() else float("nan")
    except NoValueError:
        return float("nan")


def with_highest(losses: list[float]) -> np.ndarray:
    """Losses, the highest of them in place of those that are not known.

    Examples
    --------
    >>> with_highest([0.25, float("nan"), 0.5])
    array([0.25, 0.5 , 0.5 ])
    """
    found = np.array(losses)
    is_known = ~np.isnan(found)
    if not is_known.any():
        raise NoValueError("No member can be judged by the rows that it has voted on. Use another metric.")
    return np.where(is_known, found, found[is_known].max())


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
