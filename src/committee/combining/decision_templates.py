"""Rules that compare the profile of a row, the votes of all members, with the mean profile of each class.

A template is the mean profile of the rows of a class, of shape (n_members, n_classes).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from committee.combining.fixed_rules import multiplied
from committee.combining.rule import Rule
from committee.parameters import declared
from committee.saving.format.attributes import Kind, booleans, shares
from committee.saving.format.file_errors import require
from committee.votes.honest_votes import HonestVotes
from committee.votes.vote_arrays import rescaled


class TemplateRule(Rule):
    """A rule with a template for each class.

    Attributes
    ----------
    templates_ : ndarray of shape (n_classes, n_members, n_classes)
        The mean profile of the rows of each class. Zeros for a class without rows.
    has_rows_ : ndarray of bool of shape (n_classes,)
        Whether a class had rows. Other classes get no support.
    """

    kept: ClassVar[Mapping[str, Kind]] = {
        "templates_": shares("outputs", "members", "outputs"),
        "has_rows_": booleans("outputs"),
    }

    templates_: np.ndarray
    has_rows_: np.ndarray

    def _learn(self, honest: HonestVotes) -> None:
        n_classes = honest.n_outputs
        sums = np.zeros((n_classes, honest.n_members, n_classes))
        weight_of = np.bincount(honest.y, honest.weights, n_classes)
        for votes, y, weights in honest.blocks():
            profiles = rescaled(votes)
            for each in np.unique(y):
                sums[each] += np.einsum("r,mrj->mj", weights[y == each], profiles[:, y == each])
        self.has_rows_ = weight_of > 0
        means = sums / np.where(self.has_rows_, weight_of, 1)[:, np.newaxis, np.newaxis]
        self.templates_ = means.clip(0, 1)  # Rounding may exceed the limits.

    def _check_learnt(self) -> None:
        sums = self.templates_[self.has_rows_].sum(axis=2)
        require(sums.size and np.allclose(sums, 1), "The votes of a template do not sum to one")


@declared
class DecisionTemplateRule(TemplateRule):
    """Decide for the class whose template is most similar to the votes.

    A template contains the mean honest votes of all members on the rows of a class. The support of a class is
    one minus the mean squared difference of its template and the votes. It ranks the classes, but it does not
    estimate probabilities well.

    References
    ----------
    L. I. Kuncheva, J. C. Bezdek, R. P. W. Duin, "Decision templates for multiple classifier fusion: an
    experimental comparison". Pattern Recognition 34(2), 2001.

    Examples
    --------
    >>> votes = np.array([[[0.9, 0.1], [0.8, 0.2], [0.6, 0.4]], [[0.3, 0.7], [0.2, 0.8], [0.8, 0.2]]])
    >>> rule = DecisionTemplateRule().fit(votes, [0, 0, 1])
    >>> rule.combine(votes).argmax(axis=1)
    array([0, 0, 1])
    """

    def _decide(self, votes: np.ndarray) -> np.ndarray:
        profiles = rescaled(votes)
        support = np.zeros(votes.shape[1:])
        for each in np.flatnonzero(self.has_rows_):
            differences = profiles - self.templates_[each][:, np.newaxis]
            support[:, each] = 1 - (differences**2).mean(axis=(0, 2))
        # The similarity of opposite votes may be below 0 after rounding.
        return support.clip(0)


@declared
class DempsterShaferRule(TemplateRule):
    """Combine the evidence of the members' votes by Dempster's rule.

    The proximity f[i, j] of member i's votes to its votes in the template of class j is 1 / (1 + the squared
    distance), rescaled over the classes. Let r[i, j] be the product of 1 - f[i, k] over the other classes k.
    Then the belief of member i in class j is f[i, j] r[i, j] / (1 - f[i, j] (1 - r[i, j])). The support of a
    class is the product of the beliefs of all members.

    References
    ----------
    G. Rogova, "Combining the results of several neural network classifiers". Neural Networks 7(5), 1994; in
    the form of Kuncheva, Bezdek and Duin 2001, as for `DecisionTemplateRule`.

    Examples
    --------
    >>> votes = np.array([[[0.9, 0.1], [0.8, 0.2], [0.6, 0.4]], [[0.3, 0.7], [0.2, 0.8], [0.8, 0.2]]])
    >>> rule = DempsterShaferRule().fit(votes, [0, 0, 1])
    >>> rule.combine(votes).round(2)
    array([[0.75, 0.25],
           [0.77, 0.23],
           [0.23, 0.77]])
    """

    def _decide(self, votes: np.ndarray) -> np.ndarray:
        profiles = rescaled(votes)
        proximity = rescaled(self.has_rows_ / (1 + squared_distances(profiles, self.templates_)))
        rest = others_product(1 - proximity)
        belief = proximity * rest / (1 - proximity * (1 - rest))
        return multiplied(belief, np.ones(len(belief)))


def squared_distances(profiles: np.ndarray, templates: np.ndarray) -> np.ndarray:
    """Return the squared distance of each member's votes to its votes in each template.

    Parameters
    ----------
    profiles : ndarray of shape (n_members, n_rows, n_classes)
    templates : ndarray of shape (n_templates, n_members, n_classes)

    Returns
    -------
    ndarray of shape (n_members, n_rows, n_templates)
    """
    by_member = templates.transpose(1, 2, 0)
    squares = (profiles**2).sum(axis=2, keepdims=True) + (by_member**2).sum(axis=1, keepdims=True)
    return (squares - 2 * profiles @ by_member).clip(0)


def others_product(factors: np.ndarray) -> np.ndarray:
    """Return the product of the factors of the other classes for each class.

    Examples
    --------
    >>> others_product(np.array([[2.0, 3.0, 0.0]]))
    array([[0., 0., 6.]])
    """
    before, after = np.ones_like(factors), np.ones_like(factors)
    np.cumprod(factors[..., :-1], axis=-1, out=before[..., 1:])
    np.cumprod(factors[..., :0:-1], axis=-1, out=after[..., -2::-1])
    return before * after
