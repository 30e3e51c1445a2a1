"""The data of dynamic selection: the honest votes of the members, and the new rows to decide on.

`Known` contains the honest votes of all members on all rows of the fit. A `Query` is a block of new rows with
their neighbours among the known rows and the votes of the members. Arrays of both are of shape (n_rows,
n_members), so one indexing operation gathers the data of all neighbours of a block:
`known.correct[query.neighbours]` has the shape (n_rows, n_neighbours, n_members).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from committee.votes.honest_votes import HonestVotes
from committee.votes.vote_arrays import highest_of, labels_of

# The number of points of the sum in the source of competence of DES-RRC, as in its authors' program.
N_POINTS = 20
# The number of supports for the interpolation of distribution functions in DES-RRC. The error is below 1e-5
# for 10 classes.
N_SUPPORTS = 4096
# The label of a member on rows that it has not voted on.
NOTHING = -1
TENTHS = np.linspace(0.1, 1.0, 10)


@dataclass(frozen=True, eq=False)
class Known:
    """The honest votes of the members on the rows of the fit with a positive weight.

    Parameters
    ----------
    y : ndarray of shape (n_rows,)
        Codes of classes, or numbers.
    weights : ndarray of shape (n_rows,)
    labels : ndarray of int32 of shape (n_rows, n_members)
        The label that each member predicts, or `NOTHING` where it has not voted. Labels are not used in
        regression.
    support : ndarray of shape (n_rows, n_members)
        The vote for the true class, or the squared error in regression. 0 where a member has not voted.
    source : ndarray of shape (n_rows, n_members)
        The source of competence for DES-RRC and DES-KL. 0 where a member has not voted.
    confidence : ndarray of shape (n_rows, n_members)
        The highest vote of each member, for methods that use it.
    profiles : ndarray of shape (n_rows, n_members * n_outputs)
        All votes on a row, for methods that find rows with similar votes.
    n_outputs : int
    """

    y: np.ndarray
    weights: np.ndarray
    labels: np.ndarray
    support: np.ndarray
    source: np.ndarray
    confidence: np.ndarray
    profiles: np.ndarray
    n_outputs: int

    @cached_property
    def correct(self) -> np.ndarray:
        """Whether each member is correct on each row, of shape (n_rows, n_members)."""
        return self.labels == self.y[:, None]

    @cached_property
    def wrong(self) -> np.ndarray:
        """Whether each member is wrong on each row; False where it has not voted."""
        return ~self.correct if self.own is None else self.own & ~self.correct

    @cached_property
    def own(self) -> np.ndarray | None:
        """Whether each member has voted on each row; None if all members have voted on all rows."""
        own: np.ndarray = self.labels != NOTHING
        return None if own.all() else own

    @cached_property
    def tenths(self) -> np.ndarray:
        """The support in tenths, for META-DES."""
        return in_tenths(self.support)

    def of_own_votes(self, has_voted: np.ndarray) -> Known:
        """Remove the substitutes for members on rows that they have not voted on.

        Parameters
        ----------
        has_voted : ndarray of bool of shape (n_rows, n_members)
        """
        return replace(
            self,
            labels=np.where(has_voted, self.labels, np.int32(NOTHING)),
            support=self.support * has_voted,
            source=self.source * has_voted if self.source.size else self.source,
        )

    @classmethod
    def of(cls, honest: HonestVotes, source: str | None, with_profiles: bool) -> Known:
        """Collect the data from honest votes, block by block."""
        counts = honest.weights > 0
        n_known, n_members, n_outputs = np.count_nonzero(counts), honest.n_members, honest.n_outputs
        by_member = (n_known, n_members)
        labels, support = np.empty(by_member, dtype=np.int32), np.empty(by_member)
        sources = np.empty(by_member if source is not None else (0, 0))
        confidence = np.empty(by_member if with_profiles else (0, 0))
        profiles = np.empty((n_known, profile_size(n_members, n_outputs)) if with_profiles else (0, 0))
        start = 0
        for votes, y, weights in honest.blocks():
            if not weights.all():
                votes, y = votes[:, weights > 0], y[weights > 0]
            rows = slice(start, start := start + len(y))
            labels[rows] = labels_of(votes).T
            support[rows] = support_of(votes, y).T
            if source is not None:
                sources[rows] = SOURCES[source](votes, y).T
            if with_profiles:
                confidence[rows] = highest_of(votes).T
                profiles[rows] = profiles_of(votes)
        return cls(
            y=honest.y[counts],
            weights=honest.weights[counts],
            labels=labels,
            support=support,
            source=sources,
            confidence=confidence,
            profiles=profiles,
            n_outputs=n_outputs,
        )


@dataclass(frozen=True, eq=False)
class Query:
    """A block of rows to decide on.

    Parameters
    ----------
    labels : ndarray of int32 of shape (n_rows, n_members)
        The label that each member predicts.
    confidence : ndarray of shape (n_rows, n_members)
        The highest vote of each member, for methods that use similar votes.
    neighbours : ndarray of shape (n_rows, n_neighbours)
        The nearest known rows, the nearest first.
    distances : ndarray of shape (n_rows, n_neighbours)
    alike : ndarray of shape (n_rows, n_alike)
        The known rows with the most similar votes, for methods that use them.
    everywhere : bool, default=False
        Whether the neighbours are all known rows, in their original order.
    """

    labels: np.ndarray
    confidence: np.ndarray
    neighbours: np.ndarray
    distances: np.ndarray
    alike: np.ndarray
    everywhere: bool = False


def support_of(votes: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the vote of each member for the true class of each row, or its squared error."""
    if votes.shape[2] == 1:
        return np.square(votes[:, :, 0] - y)
    return votes[:, np.arange(len(y)), y]


def profiles_of(votes: np.ndarray) -> np.ndarray:
    """Return all votes on each row as columns. Of two classes, only the second is included."""
    n_members, n_rows, n_outputs = votes.shape
    kept = votes[:, :, 1:] if n_outputs == 2 else votes
    return kept.transpose(1, 0, 2).reshape(n_rows, profile_size(n_members, n_outputs))


def profile_size(n_members: int, n_outputs: int) -> int:
    """Return the number of columns of `profiles_of`."""
    return n_members * (1 if n_outputs == 2 else n_outputs)


def randomised_reference(votes: np.ndarray, y: np.ndarray) -> np.ndarray:
    r"""Return the source of DES-RRC: the probability that a randomised classifier is correct.

    The supports of the randomised classifier are drawn from beta distributions whose means are the votes
    :math:`d_j` of the member. With L classes and the distribution functions :math:`F_j` of Beta(:math:`L
    d_j`, :math:`L (1 - d_j)`), the class y of the row gets the largest support with the probability
    :math:`\int \prod_{j \ne y} F_j \, dF_y` (Woloszynski and Kurzynski 2011). The integral is a sum over 20
    points.
    """
    from scipy.special import betainc

    n_members, n_rows, n_classes = votes.shape
    tiny = 1e-20
    grid = np.linspace(0, 1, N_SUPPORTS + 1)[:, None]
    table = betainc(
        np.maximum(n_classes * grid, tiny),
        np.maximum(n_classes * (1 - grid), tiny),
        np.linspace(0, 1, N_POINTS),
    )
    rises, middles = np.diff(table, axis=1), (table[:, 1:] + table[:, :-1]) / 2
    supports = np.clip(votes, 0, 1) * N_SUPPORTS
    below = np.minimum(supports.astype(np.intp), N_SUPPORTS - 1)
    share = supports - below
    product = np.ones((n_members, n_rows, N_POINTS - 1))
    for code in range(n_classes):
        index, part = below[:, :, code], share[:, :, code, None]
        is_right = (y == code)[None, :, None]
        lower = np.where(is_right, rises[index], middles[index])
        upper = np.where(is_right, rises[index + 1], middles[index + 1])
        product *= lower + part * (upper - lower)
    return product.sum(axis=2)


def divergence_from_chance(votes: np.ndarray, y: np.ndarray) -> np.ndarray:
    r"""Return the source of DES-KL: the divergence of the votes from chance, negative if they are wrong.

    With L classes and votes :math:`d_j`, it is :math:`\pm \sum_j d_j \log(L d_j) / \log L` (Woloszynski et
    al. 2012).
    """
    n_classes = votes.shape[2]
    logs = np.log(np.where(votes > 0, n_classes * votes, 1.0)) / np.log(n_classes)
    return np.where(labels_of(votes) == y, 1.0, -1.0) * (votes * logs).sum(axis=2)


SOURCES = {"randomised_reference": randomised_reference, "divergence_from_chance": divergence_from_chance}


def in_tenths(shares: np.ndarray) -> np.ndarray:
    """Convert shares to whole tenths, rounded down."""
    tenths = np.zeros(shares.shape, dtype=np.uint8)
    for least in TENTHS:
        tenths += shares >= least
    return tenths
