"""Rules that weigh members by how well they do on honest votes.

Out of `fit` come `scores_`, how well each member does, and `weights_`, what that makes its vote count; the
decision is the weighted mean of the votes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from committee.combining.fixed_rules import one_hot
from committee.combining.rule import Rule
from committee.parameters import boolean, declared, number, one_of, parameter
from committee.saving import saved
from committee.saving.format.attributes import Kind, either, floats, shares
from committee.task import are_repetitions
from committee.votes.honest_votes import HonestVotes
from committee.votes.vote_arrays import labels_of, rescaled, weighted_sum

# A member without any loss counts as one with so small a share of the largest loss.
SMALLEST_LOSS = 1e-9


class WeightedRule(Rule):
    """A rule that is a weighted mean of the votes.

    Attributes
    ----------
    scores_ : ndarray of shape (n_members,) or (n_members, n_classes)
        How well each member does on the honest votes.
    weights_ : ndarray of shape (n_members,) or (n_members, n_classes)
        What the vote of each member counts. The weights of all members sum to one.
    """

    kept: ClassVar[Mapping[str, Kind]] = {
        "scores_": either(floats("members"), floats("members", "outputs")),
        "weights_": either(shares("members"), shares("members", "outputs")),
    }

    scores_: np.ndarray
    weights_: np.ndarray

    def _decide(self, votes: np.ndarray) -> np.ndarray:
        return weighted_sum(votes, self.weights_)


@saved
@declared
class AccuracyWeightedRule(WeightedRule):
    """Weigh each member by how well it does on honest votes: the sum of w[i] d[i, j], rescaled.

    Members that all deserve no weight at all get the same one.

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
        'What is weighed: the votes as they are, or the class that each member votes for. "labels" makes it '
        "the weighted majority. A regression has numbers, and this makes no difference.",
    )
    score: str = parameter(
        "auto",
        one_of("auto", "accuracy", "balanced_accuracy", "log_odds", "inverse_loss"),
        'What a weight is. "accuracy": the share p of right decisions. "balanced_accuracy": its mean over '
        'the classes that there are rows of. "log_odds": log(p (c - 1) / (1 - p)) for c classes, and 0 for a '
        "member no better than chance: the best weights of labels of independent members; a member that is "
        'always right is taken to be wrong on half a row. "inverse_loss": one divided by the mean squared '
        'error, which for classes is the Brier score of what is weighed. "auto" is "accuracy" for classes '
        'and "inverse_loss" for a regression, the only one that it has.',
    )
    per_class: bool = parameter(
        False,
        boolean,
        "Whether a member has a weight for each class: its score on the question whether a row is of the "
        "class or not.",
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
        # A member that has not voted is taken to be as bad as the worst.
        losses = np.where(totals > 0, np.minimum(losses, np.finfo(np.float64).max), losses.max(axis=0))
        return inverses(losses if self.per_class else losses.sum(axis=1))

    def _decide(self, votes: np.ndarray) -> np.ndarray:
        if self.of == "labels" and votes.shape[2] > 1:
            votes = one_hot(labels_of(votes), votes.shape[2])
        return super()._decide(votes)


@saved
@declared
class CAWPERule(WeightedRule):
    """Weigh the members' probabilities by their accuracy to the power alpha.

    The support of class j is the sum of p[i] ** alpha d[i, j] over the members, where p is the accuracy on
    honest votes. Large exponents leave the decision to the best members, unless many others contradict them.

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
        "The exponent. 0 is the mean of the members, 1 weighs by accuracy, large ones leave only the best.",
    )

    def _learn(self, honest: HonestVotes) -> None:
        self.scores_ = accuracy_of(confusions_of(honest))
        # Relative to the best, so that no power of it is too small for a float.
        self.weights_ = shares_of_scores(rescaled_to_best(self.scores_) ** self.alpha)


def shares_of_scores(scores: np.ndarray) -> np.ndarray:
    """Rescale scores of the members in the first axis to sum to one; equal ones if all are 0."""
    return rescaled(scores.T).T


def rescaled_to_best(scores: np.ndarray) -> np.ndarray:
    """Divide scores by the best one; return ones if none is above 0."""
    best = scores.max()
    return scores / best if best > 0 else np.ones_like(scores)


def log_odds(accuracies: np.ndarray, n_classes: int, n_rows: float) -> np.ndarray:
    """Return the log-odds of being right rather than wrong by chance, at least 0, and finite.

    Examples
    --------
    >>> log_odds(np.array([0.2, 0.8, 1.0]), 2, 10).round(2)
    array([0.  , 1.39, 2.94])
    """
    margin = min(0.5, 0.5 / n_rows)
    accuracies = accuracies.clip(margin, 1 - margin)
    return np.log(accuracies * (n_classes - 1) / (1 - accuracies)).clip(0)


def effective_rows(weights: np.ndarray) -> float:
    """Return the number of rows with their repeats, or of rows of equal weight that show as much (Kish).

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
    """Divide one by each loss of a member (first axis), in units of the largest; ones without losses."""
    largest = losses.max(axis=0)
    relative = np.divide(losses, largest, out=np.ones_like(losses), where=largest > 0)
    return 1 / relative.clip(SMALLEST_LOSS)


def confusions_of(honest: HonestVotes) -> np.ndarray:
    """Count how each member confuses classes.

    Parameters
    ----------
    honest : HonestVotes

    Returns
    -------
    ndarray of shape (n_members, n_classes, n_classes)
        Weights of rows by the true class (second axis) and the class that the member votes for (third).

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
    """Return, for each class, its confusion (the second) with all others together (the first).

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
    """Return the share of right decisions, of confusions in the last two axes; 0 without any decision."""
    right, total = np.trace(confusions, axis1=-2, axis2=-1), confusions.sum(axis=(-2, -1))
    return np.divide(right, total, out=np.zeros(np.shape(total)), where=total > 0)


def balanced_accuracy_of(confusions: np.ndarray) -> np.ndarray:
    """Return the mean share of right decisions over the classes that have rows."""
    rows = confusions.sum(axis=-1)
    hits = np.diagonal(confusions, axis1=-2, axis2=-1)
    shares = np.divide(hits, rows, out=np.zeros_like(hits), where=rows > 0)
    return shares.sum(axis=-1) / (rows > 0).sum(axis=-1).clip(1)
