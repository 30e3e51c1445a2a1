"""What dynamic selection knows of the members, and what it is asked.

`Known` is what honest votes show of every member on every row of the fit. A `Question` is a block of new
rows: where they lie among the known rows, and what the members vote there. Arrays of both are (rows,
members), so that the known facts of the neighbours of a block are one gather:
`known.correct[question.neighbours]` has the shape (n_rows, n_neighbours, n_members).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import betainc

from committee.votes.honest_votes import HonestVotes
from committee.votes.vote_arrays import highest_of, labels_of

# The number of points at which the source of competence of DES-RRC is summed, as in its authors' program.
N_POINTS = 20
# Supports between which the distribution functions of DES-RRC are interpolated: an error below 1e-5 for 10
# classes.
N_SUPPORTS = 4096
# The label of a member on a row that it has not voted on.
NOTHING = -1
TENTHS = np.linspace(0.1, 1.0, 10)


@dataclass(frozen=True, eq=False)
class Known:
    """The members on the rows of the fit whose weight is above 0.

    Parameters
    ----------
    y : ndarray of shape (n_rows,)
        Codes of classes, or numbers.
    weights : ndarray of shape (n_rows,)
    labels : ndarray of int32 of shape (n_rows, n_members)
        What each member votes for; `NOTHING` where it has not voted, which is all that regression needs.
    support : ndarray of shape (n_rows, n_members)
        The vote for the class of the row; for a regression, the squared error. 0 where it has not voted.
    source : ndarray of shape (n_rows, n_members)
        What a row shows of the competence of a member, for DES-RRC and DES-KL; 0 where it has not voted.
    confidence : ndarray of shape (n_rows, n_members)
        The highest vote of each member, for methods that learn from it.
    profiles : ndarray of shape (n_rows, n_members * n_outputs)
        All votes on a row, for methods that look for neighbours there.
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
        """Which members are right on which rows, of shape (n_rows, n_members)."""
        return self.labels == self.y[:, None]

    @cached_property
    def wrong(self) -> np.ndarray:
        """Which members are wrong on which rows; those that have not voted there are not."""
        return ~self.correct if self.own is None else self.own & ~self.correct

    @cached_property
    def own(self) -> np.ndarray | None:
        """Which members have voted on which rows; None if all have on all."""
        own: np.ndarray = self.labels != NOTHING
        return None if own.all() else own

    @cached_property
    def tenths(self) -> np.ndarray:
        """The support in tenths, for META-DES."""
        return in_tenths(self.support)

    def of_own_votes(self, has_voted: np.ndarray) -> Known:
        """Leave out what stands for members on rows that they have not voted on.

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
        """Gather what is known, block by block."""
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
class Question:
    """A block of rows to decide on.

    Parameters
    ----------
    labels : ndarray of int32 of shape (n_rows, n_members)
        What each member votes for.
    confidence : ndarray of shape (n_rows, n_members)
        Its vote for that, for methods that ask for similar votes.
    neighbours : ndarray of shape (n_rows, n_neighbours)
        Known rows, the nearest first.
    distances : ndarray of shape (n_rows, n_neighbours)
    alike : ndarray of shape (n_rows, n_alike)
        Known rows with the most similar votes, for methods that ask for them.
    everywhere : bool, default=False
        Whether the neighbours are all known rows, in their order instead of the nearest first.
    """

    labels: np.ndarray
    confidence: np.ndarray
    neighbours: np.ndarray
    distances: np.ndarray
    alike: np.ndarray
    everywhere: bool = False


def support_of(votes: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the vote of each member for the class of each row, or its squared error."""
    if votes.shape[2] == 1:
        return np.square(votes[:, :, 0] - y)
    return votes[:, np.arange(len(y)), y]


def profiles_of(votes: np.ndarray) -> np.ndarray:
    """Return all votes on each row, side by side; of two classes those for the second alone."""
    n_members, n_rows, n_outputs = votes.shape
    kept = votes[:, :, 1:] if n_outputs == 2 else votes
    return kept.transpose(1, 0, 2).reshape(n_rows, profile_size(n_members, n_outputs))


def profile_size(n_members: int, n_outputs: int) -> int:
    """Return the number of votes on a row that `profiles_of` keeps."""
    return n_members * (1 if n_outputs == 2 else n_outputs)


def randomised_reference(votes: np.ndarray, y: np.ndarray) -> np.ndarray:
    r"""DES-RRC: how probably a random classifier whose mean supports are the votes of the member is right.

    The supports of the random classifier are drawn from beta distributions with the means :math:`d_j` that
    the member votes. With L classes and the distribution functions :math:`F_j` of Beta(:math:`L d_j`,
    :math:`L (1 - d_j)`), the class y of the row gets the largest support with the probability :math:`\int
    \prod_{j \ne y} F_j \, dF_y` (Woloszynski and Kurzynski 2011), summed over 20 points.
    """
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
    r"""DES-KL: how far the votes are from chance, negative if they are wrong.

    With L classes and votes :math:`d_j`, :math:`\pm \sum_j d_j \log(L d_j) / \log L` (Woloszynski et al.
    2012).
    """
    n_classes = votes.shape[2]
    logs = np.log(np.where(votes > 0, n_classes * votes, 1.0)) / np.log(n_classes)
    return np.where(labels_of(votes) == y, 1.0, -1.0) * (votes * logs).sum(axis=2)


SOURCES = {"randomised_reference": randomised_reference, "divergence_from_chance": divergence_from_chance}


def in_tenths(shares: np.ndarray) -> np.ndarray:
    """Return shares as whole tenths, rounded down."""
    tenths = np.zeros(shares.shape, dtype=np.uint8)
    for least in TENTHS:
        tenths += shares >= least
    return tenths
