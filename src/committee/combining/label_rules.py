"""Rules that estimate the probabilities of the classes given the labels that the members predict.

A member's label is its class of the highest vote, or the first of several. Committees pass votes of 1 for the
class that `predict` of the member returns.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np

from committee.combining.fixed_rules import majority, multiplied
from committee.combining.rule import Rule
from committee.combining.weighted_rules import confusions_of
from committee.parameters import check_parameters, declared, one_of, parameter
from committee.saving.format.attributes import Kind, integers, shares
from committee.saving.format.file_errors import require
from committee.table.input_types import ArrayLike, TableLike
from committee.votes.honest_votes import HonestVotes
from committee.votes.vote_arrays import in_blocks, labels_of

# The dtype of stored labels, which is enough for any number of classes.
LABEL = np.uint32
# The place of a combination of labels that did not occur in the fit.
NOWHERE = -1


@declared
class NaiveBayesRule(Rule):
    """Multiply the class probabilities given each member's label, as if members erred independently.

    Let N[i, j, s] be the weight of the rows of class j for which the honest vote of member i is s, and s[i]
    its label for a new row. The support of class j is

    - form="classical": P(j) times the product of P(s[i] | j), where P(s | j) = (N[i, j, s] + 1 / c) /
      (N[i, j] + 1) for c classes. This adds one row, spread evenly over the labels.
    - form="posteriors": the product of P(j | s[i]), where P(j | s) = N[i, j, s] / N[i, s]. It is P(j) if the
      member predicted this label on no row.

    A probability of 0 is a veto. If every class has one, the classes with the fewest vetoes remain.

    Attributes
    ----------
    tables_ : ndarray of shape (n_members, n_classes, n_classes)
        The factor of class j (third axis) if a member predicts the label s (second axis).
    priors_ : ndarray of shape (n_classes,)
        The share of each class in the weight of the rows.

    References
    ----------
    D. M. Titterington et al., "Comparison of discriminant techniques applied to a complex data set of head
    injured patients". Journal of the Royal Statistical Society A 144, 1981, for the smoothing; P. Domingos,
    M. Pazzani, "On the optimality of the simple Bayesian classifier under zero-one loss". Machine Learning
    29, 1997, for the reason why it works although members do not err independently.

    Examples
    --------
    >>> from committee.rules import one_hot
    >>> votes = one_hot([[0, 0, 0, 1], [0, 1, 1, 1]], n_classes=2)
    >>> rule = NaiveBayesRule(form="posteriors").fit(votes, [0, 0, 1, 1])
    >>> rule.combine(one_hot([[0], [1]], n_classes=2)).round(2)
    array([[0.5, 0.5]])
    """

    form: str = parameter(
        "classical",
        one_of("classical", "posteriors"),
        'The probabilities to multiply: "classical" uses those of labels given classes, together with the '
        'shares of the classes, and "posteriors" uses those of classes given labels.',
    )
    reads_labels: ClassVar[bool] = True
    kept: ClassVar[Mapping[str, Kind]] = {
        "tables_": shares("members", "outputs", "outputs"),
        "priors_": shares("outputs"),
    }

    @classmethod
    def from_confusion_matrices(cls, confusions: ArrayLike, **parameters: Any) -> Self:
        """Make a fitted rule from the confusion matrices of the members.

        Parameters
        ----------
        confusions : array-like of shape (n_members, n_classes, n_classes)
            The rows of each true class (second axis) by the class that the member predicts (third axis). The
            shares of the classes are those of all matrices together.
        **parameters : dict
            The parameters of the rule, such as form="posteriors".

        Returns
        -------
        NaiveBayesRule

        Examples
        --------
        >>> from committee.rules import one_hot
        >>> confusions = [[[40, 10], [30, 20]], [[20, 30], [20, 30]], [[50, 0], [40, 10]]]
        >>> rule = NaiveBayesRule.from_confusion_matrices(confusions, form="posteriors")
        >>> rule.combine(one_hot([[0], [1], [0]], n_classes=2)).round(3)
        array([[0.625, 0.375]])
        """
        counts = np.asarray(confusions, dtype=np.float64)
        is_square = counts.ndim == 3 and len(counts) > 0 and counts.shape[1] == counts.shape[2] > 1
        if not is_square or not np.isfinite(counts).all() or (counts < 0).any() or not counts.any():
            raise ValueError(
                "confusions must have the shape (n_members, n_classes, n_classes), and counts >= 0 that are "
                f"not all 0. Got the shape {counts.shape}."
            )
        rule = cls(**parameters)
        check_parameters(rule)
        rows = counts.sum(axis=(0, 2))
        rule._count(counts, rows / rows.sum())
        rule.n_members_, rule.n_outputs_ = counts.shape[:2]
        return rule

    def _learn(self, honest: HonestVotes) -> None:
        priors = np.bincount(honest.y, honest.weights, honest.n_outputs) / honest.weights.sum()
        self._count(confusions_of(honest), priors)

    def _count(self, confusions: np.ndarray, priors: np.ndarray) -> None:
        """Estimate the probabilities from confusion matrices and the shares of the classes."""
        n_classes = len(priors)
        # From here on the label is the second axis and the true class the third.
        seen = confusions.transpose(0, 2, 1)
        if self.form == "classical":
            # The rows with votes may differ between members. Titterington et al. add one row, spread over the
            # labels.
            tables = (seen + 1 / n_classes) / (seen.sum(axis=1, keepdims=True) + 1)
        else:
            tables = ratio(seen, seen.sum(axis=2, keepdims=True), priors)
        self.tables_, self.priors_ = tables.clip(0, 1), priors  # Rounding may exceed the limits.

    def _decide(self, votes: np.ndarray) -> np.ndarray:
        members = np.arange(len(votes))[:, np.newaxis]
        tables = self.tables_[members, labels_of(votes)]
        if self.form == "classical":
            tables = np.concatenate([tables, np.broadcast_to(self.priors_, (1, *tables.shape[1:]))])
        return multiplied(tables, np.ones(len(tables)))


@declared
class BehaviourKnowledgeRule(Rule):
    """Look up the frequencies of the classes for the combination of all members' labels.

    The support of class j is the share of class j among the rows on which all members predicted the
    same labels as for the new row. If there are no such rows, the majority decides.

    Attributes
    ----------
    cells_ : ndarray of int of shape (n_cells, n_members)
        The combinations of labels in the honest votes, in ascending order.
    supports_ : ndarray of shape (n_cells, n_classes)
        The shares of the classes for each combination.

    References
    ----------
    Y. S. Huang, C. Y. Suen, "A method of combining multiple experts for the recognition of unconstrained
    handwritten numerals". IEEE Transactions on Pattern Analysis and Machine Intelligence 17(1), 1995.

    Examples
    --------
    >>> from committee.rules import one_hot
    >>> votes = one_hot([[0, 0, 0, 1], [1, 1, 1, 1]], n_classes=2)
    >>> rule = BehaviourKnowledgeRule().fit(votes, [1, 1, 0, 1])
    >>> rule.combine(votes[:, :1]).round(2)
    array([[0.33, 0.67]])
    """

    reads_labels: ClassVar[bool] = True
    kept: ClassVar[Mapping[str, Kind]] = {
        "cells_": integers("cells", "members", below="outputs", of=LABEL.__name__),
        "supports_": shares("cells", "outputs"),
    }

    def _learn(self, honest: HonestVotes) -> None:
        labels = [labels_of(votes).T.astype(LABEL)[weights > 0] for votes, _, weights in honest.blocks()]
        cells, cell_of = np.unique(np.concatenate(labels), axis=0, return_inverse=True)
        counted = honest.weights > 0
        counts = np.zeros((len(cells), honest.n_outputs))
        np.add.at(counts, (cell_of.ravel(), honest.y[counted]), honest.weights[counted])
        self.cells_, self.supports_ = cells, counts / counts.sum(axis=1, keepdims=True)

    def _combine(self, votes: np.ndarray, X: TableLike | None) -> np.ndarray:
        places = {cell.tobytes(): place for place, cell in enumerate(self.cells_)}
        return in_blocks(lambda block: self._look_up(block, places), votes)

    def _check_learnt(self) -> None:
        require(len(self.cells_), "There are no combinations of labels")

    def _look_up(self, votes: np.ndarray, places: dict[bytes, int]) -> np.ndarray:
        cells, cell_of = np.unique(labels_of(votes).T.astype(LABEL), axis=0, return_inverse=True)
        place_of_cell = np.array([places.get(cell.tobytes(), NOWHERE) for cell in cells])
        place = place_of_cell[cell_of.ravel()]
        support: np.ndarray = self.supports_[place]
        unseen = place == NOWHERE
        if unseen.any():
            support[unseen] = majority(votes[:, unseen])
        return support


def ratio(part: np.ndarray, whole: np.ndarray, otherwise: np.ndarray) -> np.ndarray:
    """Divide a part by its whole, and return another value where the whole is 0."""
    result = np.array(np.broadcast_to(otherwise, part.shape), dtype=np.float64)
    return np.divide(part, whole, out=result, where=np.broadcast_to(whole > 0, part.shape))
