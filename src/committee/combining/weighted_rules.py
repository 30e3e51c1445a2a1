"""Rules that weigh members by their scores on honest votes.

`fit` computes `scores_`, the scores of the members, and from these `weights_`. The decision is the weighted
mean of the votes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from committee.combining.fixed_rules import one_hot
from committee.combining.rule import Rule
from committee.parameters import Constraint, boolean, declared, number, one_of, parameter
from committee.saving.format.attributes import Kind, either, floats, shares
from committee.table.input_types import ArrayLike
from committee.task import are_repetitions
from committee.votes.honest_votes import HonestVotes
from committee.votes.vote_arrays import check_member_weights, labels_of, rescaled, weighted_sum

# The smallest loss of a member, as a share of the largest loss. It limits the weights of perfect members.
SMALLEST_LOSS = 1e-9


class WeightedRule(Rule):
    """A rule that is a weighted mean of the votes.

    Attributes
    ----------
    scores_ : ndarray of shape (n_members,) or (n_members, n_classes)
        The score of each member on honest votes.
    weights_ : ndarray of shape (n_members,) or (n_members, n_classes)
        The weight of each member's vote. The weights of all members sum to one.
    """

    kept: ClassVar[Mapping[str, Kind]] = {
        "scores_": either(floats("members"), floats("members", "outputs")),
        "weights_": either(shares("members"), shares("members", "outputs")),
    }

    scores_: np.ndarray
    weights_: np.ndarray

    def _decide(self, votes: np.ndarray) -> np.ndarray:
        return weighted_sum(votes, self.weights_)


@declared
class AccuracyWeightedRule(WeightedRule):
    """Weigh members by their scores on honest votes: the sum of w[i] d[i, j], rescaled.

    If the scores of all members are 0, all get the same weight.

    References
    ----------
    L. I. Kuncheva, "Combining Pattern Classifiers". Wiley, 2nd edition, 2014, chapters 4 and 5. The log-odds
    of many classes: L. I. Kuncheva, J. J. Rodríguez, "A weighted voting framework for classifiers ensembles".
    Knowledge and Information Systems 38, 2014.

    Examples
    --------
    >>> votes = np.array([[[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]], [[0.6, 0.4], [0.4, 0.6], [0.6, 0.4]]])
    >>> rule = AccuracyWeightedRule().fit(votes, [0, 0, 1])
    >>> rule.scores_.round(2)
    array([1.  , 0.33])
    >>> rule.combine(votes[:, :1]).round(3)
    array([[0.825, 0.175]])
    """

    tasks: ClassVar[tuple[str, ...]] = ("classification", "regression")

    of: str = parameter(
        "probabilities",
        one_of("probabilities", "labels"),
        'The votes to weigh: the probabilities, or crisp votes for the predicted classes. "labels" is the '
        "weighted majority. This has no effect on regression.",
    )
    score: str = parameter(
        "auto",
        one_of("auto", "accuracy", "balanced_accuracy", "log_odds", "inverse_loss"),
        'The score of a member. "accuracy": the share p of correct decisions. "balanced_accuracy": the mean '
        'of this share over the classes with rows. "log_odds": log(p (c - 1) / (1 - p)) for c classes, at '
        "least 0. These are the best weights for labels of independent members. A member that is always "
        'correct is treated as wrong on half a row. "inverse_loss": one divided by the mean squared error, '
        'which is the Brier score for classes. "auto" is "accuracy" for classes and "inverse_loss" for '
        "regression, which supports no other.",
    )
    per_class: bool = parameter(
        False,
        boolean,
        "Whether a member has a separate weight for each class: its score on the binary task of this class "
        "against all others.",
    )

    def _check_kind(self, n_members: int, n_outputs: int, is_weighted: bool) -> None:
        if n_outputs == 1 and (self.score not in ("auto", "inverse_loss") or self.per_class):
            wanted = "per_class=True" if self.per_class else f"score={self.score!r}"
            raise ValueError(f"{wanted} needs votes for classes. For a regression use score='inverse_loss'.")

    def _learn(self, honest: HonestVotes) -> None:
        score = self.score
        if score == "auto":
            score = "accuracy" if honest.are_classes else "inverse_loss"
        self.scores_ = (
            self._inverse_losses(honest) if score == "inverse_loss" else self._scores(honest, score)
        )
        self.weights_ = shares_of_scores(self.scores_)

    def _reads_labels(self) -> bool:
        return self.of == "labels"

    def _scores(self, honest: HonestVotes, score: str) -> np.ndarray:
        confusions = confusions_of(honest)
        if self.per_class:
            confusions = one_against_the_rest(confusions)
        if score == "balanced_accuracy":
            return balanced_accuracy_of(confusions)
        accuracies = accuracy_of(confusions)
        if score == "accuracy":
            return accuracies
        return log_odds(accuracies, confusions.shape[-1], effective_rows(honest.weights))

    def _inverse_losses(self, honest: HonestVotes) -> np.ndarray:
        losses = np.zeros((honest.n_members, honest.n_outputs))
        totals = np.zeros((honest.n_members, 1))
        for votes, y, weights in honest.blocks_by_member():
            if honest.are_classes:
                is_crisp = self.of == "labels"
                votes = one_hot(labels_of(votes), honest.n_outputs) if is_crisp else rescaled(votes)
                truth = one_hot(y, honest.n_outputs)
            else:
                truth = y[:, np.newaxis]
            with np.errstate(over="ignore"):
                losses += np.einsum("mr,mrj->mj", weights, (votes - truth) ** 2)
            totals += weights.sum(axis=1, keepdims=True)
        losses = np.divide(losses, totals, out=np.zeros(losses.shape), where=totals > 0)
        # A member without votes is treated like the worst member.
        losses = np.where(totals > 0, np.minimum(losses, np.finfo(np.float64).max), losses.max(axis=0))
        return inverses(losses if self.per_class else losses.sum(axis=1))

    def _decide(self, votes: np.ndarray) -> np.ndarray:
        if self.of == "labels" and votes.shape[2] > 1:
            votes = one_hot(labels_of(votes), votes.shape[2])
        return super()._decide(votes)


@declared
class CAWPERule(WeightedRule):
    """Weigh the members' probabilities by their accuracy to the power alpha.

    The support of class j is the sum of p[i] ** alpha d[i, j] over the members, where p is the accuracy on
    honest votes. With large exponents, the best members decide unless many others contradict them.

    References
    ----------
    J. Large, J. Lines, A. Bagnall, "A probabilistic classifier ensemble weighting scheme based on
    cross-validated accuracy estimates". Data Mining and Knowledge Discovery 33, 2019.

    Examples
    --------
    >>> votes = np.array([[[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]], [[0.6, 0.4], [0.4, 0.6], [0.6, 0.4]]])
    >>> CAWPERule().fit(votes, [0, 0, 1]).weights_.round(3)
    array([0.988, 0.012])
    """

    alpha: float = parameter(
        4,
        number(0),
        "The exponent. 0 is the mean of the members, 1 weighs by accuracy, and large exponents keep only the "
        "best members.",
    )
    accuracies: ArrayLike | None = parameter(
        None,
        Constraint("an array-like of shape (n_members,) or None"),
        "The accuracies of the members, if they are known. The rule then needs no fit. None estimates them "
        "on honest votes.",
    )

    @property
    def needs_fit(self) -> bool:  # type: ignore[override]
        """Whether the rule must be fitted before `combine`."""
        return self.accuracies is None

    def _check_kind(self, n_members: int, n_outputs: int, is_weighted: bool) -> None:
        if self.accuracies is not None:
            check_member_weights(self.accuracies, n_members, "accuracies")

    def _learn(self, honest: HonestVotes) -> None:
        accuracies = accuracy_of(confusions_of(honest)) if self.accuracies is None else self.accuracies
        self.scores_, self.weights_ = self._weigh(accuracies, honest.n_members)

    def _weigh(self, accuracies: ArrayLike, n_members: int) -> tuple[np.ndarray, np.ndarray]:
        """Return accuracies as scores, and the weights of the members."""
        scores = np.asarray(accuracies, dtype=np.float64)
        if self.accuracies is not None:
            check_member_weights(scores, n_members, "accuracies")
        # Scores are relative to the best, so that their powers do not underflow.
        return scores, shares_of_scores(rescaled_to_best(scores) ** self.alpha)

    def _decide(self, votes: np.ndarray) -> np.ndarray:
        if self.accuracies is None:
            return super()._decide(votes)
        return weighted_sum(votes, self._weigh(self.accuracies, len(votes))[1])


def shares_of_scores(scores: np.ndarray) -> np.ndarray:
    """Rescale scores of the members (first axis) to sum to one. Return equal shares if all are 0."""
    return rescaled(scores.T).T


def rescaled_to_best(scores: np.ndarray) -> np.ndarray:
    """Divide scores by the best one. Return ones if no score is above 0."""
    best = scores.max()
    return scores / best if best > 0 else np.ones_like(scores)


def log_odds(accuracies: np.ndarray, n_classes: int, n_rows: float) -> np.ndarray:
    """Return the log-odds of accuracies relative to chance, at least 0 and finite.

    Examples
    --------
    >>> log_odds(np.array([0.2, 0.8, 1.0]), 2, 10).round(2)
    array([0.  , 1.39, 2.94])
    """
    margin = min(0.5, 0.5 / n_rows)
    accuracies = accuracies.clip(margin, 1 - margin)
    return np.log(accuracies * (n_classes - 1) / (1 - accuracies)).clip(0)


def effective_rows(weights: np.ndarray) -> float:
    """Return the number of rows with their repetitions, or Kish's effective sample size for other weights.

    Examples
    --------
    >>> effective_rows(np.array([2.0, 2.0, 0.0])), effective_rows(np.array([0.2, 0.2, 0.0]))
    (4.0, 2.0)
    """
    if are_repetitions(weights):
        return float(weights.sum())
    weights = weights / weights.max()
    return float(weights.sum() ** 2 / (weights**2).sum())


def inverses(losses: np.ndarray) -> np.ndarray:
    """Divide one by the loss of each member (first axis) in units of the largest; ones if all are 0."""
    largest = losses.max(axis=0)
    relative = np.divide(losses, largest, out=np.ones_like(losses), where=largest > 0)
    return 1 / relative.clip(SMALLEST_LOSS)


def confusions_of(honest: HonestVotes) -> np.ndarray:
    """Compute the confusion matrix of each member.

    Parameters
    ----------
    honest : HonestVotes

    Returns
    -------
    ndarray of shape (n_members, n_classes, n_classes)
        Weights of rows by the true class (second axis) and the predicted class (third axis).

    Examples
    --------
    >>> confusions_of(HonestVotes.of([[[0.9, 0.1], [0.4, 0.6], [0.2, 0.8]]], [0, 0, 1]))
    array([[[1., 1.],
            [0., 1.]]])
    """
    n_classes = honest.n_outputs
    counts = np.zeros((honest.n_members, n_classes * n_classes))
    for votes, y, weights in honest.blocks_by_member():
        for member, label in enumerate(labels_of(votes)):
            counts[member] += np.bincount(y * n_classes + label, weights[member], n_classes * n_classes)
    return counts.reshape(-1, n_classes, n_classes)


def one_against_the_rest(confusions: np.ndarray) -> np.ndarray:
    """Return the confusion matrix of each class (number 1) against all other classes (number 0).

    Parameters
    ----------
    confusions : ndarray of shape (n_members, n_classes, n_classes)

    Returns
    -------
    ndarray of shape (n_members, n_classes, 2, 2)
    """
    hits = np.diagonal(confusions, axis1=1, axis2=2)
    misses, false_calls = confusions.sum(axis=2) - hits, confusions.sum(axis=1) - hits
    rest = confusions.sum(axis=(1, 2))[:, np.newaxis] - hits - misses - false_calls
    return np.stack([rest, false_calls, misses, hits], axis=2).reshape(*hits.shape, 2, 2)


def accuracy_of(confusions: np.ndarray) -> np.ndarray:
    """Return the accuracies of confusion matrices in the last two axes, or 0 without any row."""
    right, total = np.trace(confusions, axis1=-2, axis2=-1), confusions.sum(axis=(-2, -1))
    return np.divide(right, total, out=np.zeros(np.shape(total)), where=total > 0)


def balanced_accuracy_of(confusions: np.ndarray) -> np.ndarray:
    """Return the mean recall over the classes that have rows."""
    rows = confusions.sum(axis=-1)
    hits = np.diagonal(confusions, axis1=-2, axis2=-1)
    shares = np.divide(hits, rows, out=np.zeros_like(hits), where=rows > 0)
    return shares.sum(axis=-1) / (rows > 0).sum(axis=-1).clip(1)
