"""Dynamic selection: the members that are competent near a row decide on it.

In: honest votes with their rows. Out: for each new row, the weights of the members, and the decision. The
data is defined in `competence_data`, and the methods in `competence`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

import numpy as np

from committee.combining.fixed_rules import one_hot
from committee.combining.rule import Rule
from committee.combining.selection.competence import (
    METHODS,
    N_ALIKE,
    REGRESSION_METHODS,
    Method,
    fit_meta,
    meta_competence,
    select_by_errors,
)
from committee.combining.selection.competence_data import NOTHING, Known, Query, profile_size, profiles_of
from committee.combining.selection.feature_space import Space, as_matrix
from committee.parameters import boolean, declared, integer, one_of, optional, parameter
from committee.saving import DamagedFile
from committee.saving.format import attributes
from committee.table.input_types import ArrayLike, TableLike
from committee.table.nearest_rows import Nearest, distances_between
from committee.votes.honest_votes import HonestVotes
from committee.votes.vote_arrays import (
    are_classes,
    blocks_of,
    highest_of,
    labels_of,
    rescaled,
    rounding_of,
    settled,
)

# The fields of `Known`, and the attributes that contain them.
KNOWN = {
    "y": "y_",
    "weights": "row_weights_",
    "labels": "labels_",
    "support": "support_",
    "source": "source_",
    "confidence": "confidence_",
    "profiles": "profiles_",
}
# The number of neighbours in the papers.
N_NEIGHBOURS = 7
# The number of facts about neighbours to gather at a time.
BLOCK_SIZE = 1 << 20
# The number of votes to compare with those on known rows at a time. Larger blocks are faster.
PROFILES_SIZE = 1 << 22


@declared
class DynamicRule(Rule):
    """Select the members that are competent on the nearest rows with honest votes, separately for each row.

    ============== ============================================= =======================================
    method         competence of a member                        deciding members (paper)
    ============== ============================================= =======================================
    "ola"          accuracy on the neighbours                    the best (Woods et al. 1997)
    "lca"          accuracy on the neighbours of the class that  the best (Woods et al. 1997)
                   it predicts
    "mcb"          accuracy on the neighbours on which the       the best and all within 0.1 of it
                   members predict similarly                     (Giacinto and Roli 2001)
    "a_priori"     mean vote for the class of a neighbour,       the best and all within 0.1 of it
                   weighted by 1 / distance                      (Giacinto and Roli 1999)
    "a_posteriori" the same on the neighbours of the class that  the best and all within 0.1 of it
                   it predicts                                   (Giacinto and Roli 1999)
    "knora_e"      number of nearest neighbours before its       all of the highest (Ko et al. 2008)
                   first error
    "knora_u"      number of neighbours with a correct decision  all, by competence (Ko et al. 2008)
    "des_p"        accuracy on the neighbours                    all above 1 / n_classes (Woloszynski et
                                                                 al. 2012)
    "des_rrc"      probability that a randomised classifier      all above 1 / n_classes (Woloszynski
                   with the same mean votes is correct,          and Kurzynski 2011)
                   weighted by exp(-distance²)
    "des_kl"       divergence of its votes from chance, negative all above 0 (Woloszynski et al. 2012)
                   if wrong, weighted by exp(-distance²)
    "knop"         number of rows with similar votes and a       all, by competence (Cavalin et al. 2013)
                   correct decision
    "des_knn"      accuracy on the neighbours                    of the better half, the 30 % with the
                                                                 fewest common errors (Soares et al.
                                                                 2006)
    "meta_des"     probability that it is correct, predicted by  all above 0.5 (Cruz et al. 2015)
                   a classifier from neighbours and votes
    ============== ============================================= =======================================

    If no member is competent, all members decide. The competences and the deciding members are those of
    DESlib (Cruz et al. 2020), with these exceptions:

    - Of members with equal accuracy, or equally many common errors, "des_knn" selects the first. In DESlib,
      this depends on the sorting algorithm.
    - In "mcb", "a_priori" and "a_posteriori", DESlib draws one of the members within 0.1 of the best. Here
      all of these decide.
    - "des_kl" uses the formula of the paper. DESlib adds the entropy of correct votes instead of subtracting
      it.
    - In "des_rrc" and "des_kl", DESlib uses the weight 1e-20 for rows that are so far away that
      exp(-distance²) underflows to 0, which may be more than the weight of nearer rows. Here the weight is 0.
      With standardised columns, the default, this happens only with many columns.
    - If known rows have the same distance, the first are the neighbours. DESlib uses scikit-learn, where
      this order is undefined. It matters for "knop" and "meta_des" if members vote equally on several rows.

    As in DESlib, "lca" uses the neighbours whose true class is the one that the member predicts for the new
    row. The paper uses the neighbours for which the member predicts this class.

    In regression, the competence is the negative mean squared error on the neighbours. "ola" selects the
    lowest error, "a_priori" (weighted by 1 / distance) all errors up to 10 % above the lowest, and "des_p"
    all errors below that of the mean of y. "knora_u" and "knop" weigh members by the inverse of their error
    (Rooney et al. 2004). The other methods need classes and do not support regression.

    Rows of weight 0 are never neighbours. Other weights are weights of the neighbours, except in "knora_e"
    and "meta_des", which count all neighbours equally. "meta_des" uses the weights when its classifier is
    fitted. X must be a matrix of numbers without missing values, except that "knop" needs no X. Members may
    be fitted on other columns than those of X.

    If members have not voted on all rows (`has_voted`, as in forests), they are evaluated on the rows that
    they have voted on. Means are over the neighbours with a vote of the member. Without any, its competence
    is 0, or -inf in regression. "knora_u" and "knop" scale the share of correct votes to all neighbours.
    "knora_e" skips neighbours without a vote. "mcb" compares the members that have voted. "des_knn" counts
    common errors on the rows on which both members have voted. However, rows with similar votes are found by
    all votes including substitutes, and "meta_des" uses substitutes in its features, but not as examples for
    its classifier.

    Attributes
    ----------
    n_neighbours_ : int
        The number of neighbours.
    y_, row_weights_ : ndarray of shape (n_known,)
        The targets and weights of the known rows, which are those with a positive weight.
    points_ : ndarray of shape (n_known, n_columns)
        The standardised known rows.
    center_, spread_ : ndarray of shape (n_columns,)
        The shift and the scale of the columns.
    labels_ : ndarray of shape (n_known, n_members)
        The label that each member predicts. Except for "meta_des", -1 where it has not voted.
    support_ : ndarray of shape (n_known, n_members)
        The vote for the true class, or the squared error in regression. 0 where a member has not voted.
    source_, confidence_, profiles_, meta_coefficients_, meta_intercept_
        Data that only some methods use: the source of competence, the highest votes, all votes, and the
        fitted model of META-DES.

    References
    ----------
    R. M. O. Cruz, R. Sabourin, G. D. C. Cavalcanti (2018). Dynamic classifier selection: recent advances and
    perspectives. Information Fusion 41.

    Examples
    --------
    The first member is correct for negative values, and the second for positive values:

    >>> X = [[-3.0], [-2.0], [2.0], [3.0]]
    >>> votes = [[[0.9, 0.1]] * 4, [[0.2, 0.8]] * 4]
    >>> rule = DynamicRule(method="ola", n_neighbours=2).fit(votes, [0, 0, 1, 1], X)
    >>> rule.combine([[[0.9, 0.1]], [[0.2, 0.8]]], [[2.5]])
    array([[0.2, 0.8]])
    >>> shares, competence = rule.selected([[[0.9, 0.1]], [[0.2, 0.8]]], [[2.5]])
    >>> shares, competence
    (array([[0., 1.]]), array([[0., 1.]]))
    """

    needs_X: ClassVar[bool] = True
    tasks: ClassVar[tuple[str, ...]] = ("classification", "regression")

    kept: ClassVar[Mapping[str, attributes.Kind]] = {
        "n_neighbours_": attributes.integer(1),
        "y_": attributes.either(attributes.integers("known", below="outputs"), attributes.floats("known")),
        "row_weights_": attributes.positive("known"),
        "labels_": attributes.integers("known", "members", low=NOTHING, below="outputs"),
        "support_": attributes.floats("known", "members", low=0),
        "source_": attributes.floats(None, None),
        "confidence_": attributes.floats(None, None),
        "profiles_": attributes.floats(None, None),
        "points_": attributes.floats(None, None),
        "center_": attributes.floats(None),
        "spread_": attributes.positive(None),
        "meta_coefficients_": attributes.floats(None),
        "meta_intercept_": attributes.number(),
    }
    names_in_files: ClassVar[Mapping[str, str]] = {"row_weights_": "weights_"}

    method: str = parameter(
        "knora_u",
        one_of(*METHODS),
        "How to measure competence, and which members decide.",
    )
    n_neighbours: int | None = parameter(
        None,
        optional(integer(1)),
        "The number of neighbours. None is 7, or all rows for des_rrc and des_kl, as in the papers.",
    )
    voting: str = parameter(
        "soft",
        one_of("soft", "hard"),
        'Whether the deciding members\' votes are averaged ("soft"), or their predicted classes are counted '
        '("hard"), as in the papers.',
    )
    scale: bool = parameter(
        True, boolean, "Whether to scale the columns of X to the mean 0 and the standard deviation 1."
    )

    def selected(self, votes: ArrayLike, X: TableLike | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return the shares of the members in the decision on each row, and their competences.

        Parameters
        ----------
        votes : array-like of shape (n_members, n_rows, n_outputs)
        X : matrix of shape (n_rows, n_columns)

        Returns
        -------
        shares : ndarray of shape (n_rows, n_members)
            The share of each member in the decision. Rows sum to one.
        competence : ndarray of shape (n_rows, n_members)
            The competences, on the scale of the method.
        """
        checked = self._check_combine(votes, X)
        shares = np.empty((checked.shape[1], checked.shape[0]))
        competence = np.empty_like(shares)
        for rows, _, weights, part_competence in self._selections(checked, X):
            shares[rows], competence[rows] = rescaled(weights), part_competence
        return shares, competence

    def _check_kind(self, n_members: int, n_outputs: int, is_weighted: bool) -> None:
        if n_outputs == 1 and METHODS[self.method].regression is None:
            raise ValueError(
                f"method={self.method!r} does not support regression. Use one of "
                f"{', '.join(REGRESSION_METHODS)}."
            )

    def _learn(self, honest: HonestVotes) -> None:
        method = METHODS[self.method]
        known = Known.of(honest, method.source, method.looks_at_votes)
        has_voted = None
        if honest.has_voted is not None:
            has_voted = np.ascontiguousarray(honest.has_voted[:, honest.weights > 0].T)
            known = known if method.competence is None else known.of_own_votes(has_voted)
        # META-DES is fitted on each known row with neighbours among the other known rows.
        n_there = len(known.y) - 1 if self.method == "meta_des" else len(known.y)
        if n_there == 0:
            raise ValueError("method='meta_des' is fitted on neighbours and needs 2 rows. Got 1.")
        if self.method == "meta_des" and has_voted is not None and not has_voted.any():
            raise ValueError("method='meta_des' needs votes of members. Got has_voted without any.")
        wanted = self.n_neighbours or (n_there if method.source is not None else N_NEIGHBOURS)
        n_neighbours = min(wanted, n_there)
        for name, attribute in KNOWN.items():
            setattr(self, attribute, getattr(known, name))
        self.n_neighbours_ = n_neighbours
        self.points_, self.center_, self.spread_ = np.empty((0, 0)), np.empty(0), np.empty(0)
        if method.looks_at_X:
            X = as_matrix(honest.X)[honest.weights > 0]
            space = Space.of(X, known.weights, self.scale)
            self.points_, self.center_, self.spread_ = space.points(X), space.center, space.spread
        self.meta_coefficients_, self.meta_intercept_ = np.empty(0), 0.0
        self._prepare(honest.n_outputs)
        if self._nearest is not None and self._most_alike is not None:  # Only META-DES uses both.
            _, neighbours = self._nearest.find_others(self.n_neighbours_)
            _, alike = self._most_alike.find_others(self._n_alike())
            self.meta_coefficients_, self.meta_intercept_ = fit_meta(
                self._known, neighbours, alike, self._n_block(), has_voted
            )

    def _prepare(self, n_outputs: int) -> None:
        """Prepare the searches for neighbours from the fitted attributes."""
        method = METHODS[self.method]
        found = {name: getattr(self, attribute) for name, attribute in KNOWN.items()}
        self._known = Known(**found, n_outputs=n_outputs)
        self._nearest = Nearest(self.points_) if method.looks_at_X and not self._everywhere() else None
        self._most_alike = Nearest(self.profiles_) if method.looks_at_votes else None

    def _n_alike(self) -> int:
        """Return the number of rows with similar votes to use."""
        return self.n_neighbours_ if self.method == "knop" else min(N_ALIKE, len(self.y_) - 1)

    def _check_learnt(self) -> None:
        """Raise if arrays from a file do not fit together, and prepare the searches for neighbours."""
        method, n_known = METHODS[self.method], len(self.y_)
        n_columns = len(self.center_)
        n_votes = profile_size(self.n_members_, self.n_outputs_)
        n_features = 2 * self.n_neighbours_ + self._n_alike() + 2 if self.method == "meta_des" else 0
        by_member = (n_known, self.n_members_)
        shapes = {
            "source_": by_member if method.source else (0, 0),
            "confidence_": by_member if method.looks_at_votes else (0, 0),
            "profiles_": (n_known, n_votes) if method.looks_at_votes else (0, 0),
            "points_": (n_known, n_columns) if method.looks_at_X else (0, 0),
            "spread_": (n_columns,),
            "meta_coefficients_": (n_features,),
        }
        for name, shape in shapes.items():
            if getattr(self, name).shape != shape:
                raise DamagedFile(f"{name} has shape {getattr(self, name).shape} instead of {shape}.")
        is_sound = (
            0 < self.n_neighbours_ <= n_known
            and (n_columns > 0) == method.looks_at_X
            and (self.y_.dtype.kind == "i") == (self.n_outputs_ > 1)
            and not (self.n_outputs_ == 1 and method.regression is None)
            and not (self.method == "meta_des" and n_known < 2)
        )
        if not is_sound:
            raise DamagedFile(f"The data of a rule with method={self.method!r} does not fit together.")
        self._prepare(self.n_outputs_)

    def _combine(self, votes: np.ndarray, X: TableLike | None) -> np.ndarray:
        decision = np.empty(votes.shape[1:])
        counts_labels = self.voting == "hard" and are_classes(votes)
        if counts_labels:
            # If all members predict the same class, it does not matter which of them decide.
            decision[:] = one_hot(labels_of(votes[:1])[0], votes.shape[2])
        for rows, labels, weights, _ in self._selections(votes, X, only_disputed=counts_labels):
            # The shares are computed last, so that whole numbers are exact and ties are found.
            total = (
                counted(weights, labels, votes.shape[2])
                if counts_labels
                else weighed(weights, votes[:, rows])
            )
            if are_classes(votes):
                decision[rows] = rescaled(settled(total, rounding_of(votes)))
            else:
                decision[rows] = total / weights.sum(axis=1, keepdims=True)
        return decision

    def _selections(
        self, votes: np.ndarray, X: TableLike | None, only_disputed: bool = False
    ) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
        """Yield blocks of rows with the labels, the weights and the competences of the members."""
        method = METHODS[self.method]
        labels = np.empty((votes.shape[1], votes.shape[0]), dtype=np.int32)
        for here, block in blocks_of(votes):
            labels[here] = labels_of(block).T
        is_disputed = (labels != labels[:, :1]).any(axis=1)
        queries = np.flatnonzero(is_disputed) if only_disputed else np.arange(len(labels))
        points = np.empty((len(queries), 0))
        if method.looks_at_X:
            points = Space(self.center_, self.spread_).points(as_matrix(X)[queries])
        # One search for all rows is faster, because it finds the neighbours of near rows together.
        distances, neighbours = np.empty((len(queries), 0)), np.empty((len(queries), 0), dtype=np.intp)
        if self._nearest is not None:
            distances, neighbours = self._nearest.find(points, self.n_neighbours_)
        alike = self._similar(votes, queries)
        n_block, everywhere = self._n_block(), self._everywhere()
        for start in range(0, len(queries), n_block):
            part = slice(start, start + n_block)
            rows, near, at = queries[part], neighbours[part], distances[part]
            confidence = np.empty((len(rows), 0))
            if method.looks_at_votes:
                confidence = highest_of(votes[:, rows].astype(np.float64, copy=False)).T
            if everywhere:
                at = distances_between(points[part], self.points_)
                near = np.broadcast_to(np.arange(self.n_neighbours_), at.shape)
            query = Query(labels[rows], confidence, near, at, alike[part], everywhere)
            weights, competence = self._select(method, query)
            weights[~weights.any(axis=1)] = 1.0
            yield rows, query.labels, weights, competence

    def _similar(self, votes: np.ndarray, queries: np.ndarray) -> np.ndarray:
        """Return the known rows with the most similar votes, for methods that use them."""
        if self._most_alike is None or len(queries) == 0:
            return np.empty((len(queries), 0), dtype=np.intp)
        step = max(1, PROFILES_SIZE // (votes.shape[0] * votes.shape[2]))
        parts = (queries[start : start + step] for start in range(0, len(queries), step))
        profiles = (profiles_of(votes[:, part].astype(np.float64, copy=False)) for part in parts)
        return np.concatenate([self._most_alike.find(each, self._n_alike())[1] for each in profiles])

    def _select(self, method: Method, query: Query) -> tuple[np.ndarray, np.ndarray]:
        """Return the weight of each member and its competence."""
        known = self._known
        if known.n_outputs == 1:
            return select_by_errors(method, known, query)
        if method.competence is None:
            learnt = self.meta_coefficients_, self.meta_intercept_
            competence = meta_competence(known, query, *learnt)
        else:
            competence = method.competence(known, query)
        return method.select(competence, known, query), competence

    def _n_block(self) -> int:
        """Return the number of rows in a block."""
        n_members = self._known.labels.shape[1]
        n_facts = self.n_neighbours_ if self._everywhere() else n_members * self.n_neighbours_
        return max(1, BLOCK_SIZE // max(n_facts, n_members * self._known.n_outputs))

    def _everywhere(self) -> bool:
        """Return whether all known rows are neighbours of every row, so that none has to be selected."""
        return METHODS[self.method].source is not None and self.n_neighbours_ == len(self._known.y)

    def _looks_at_X(self) -> bool:
        return METHODS[self.method].looks_at_X

    def _reads_labels(self) -> bool:
        # Other methods measure competence by probabilities.
        return self.voting == "hard" and not METHODS[self.method].looks_at_votes


def counted(weights: np.ndarray, labels: np.ndarray, n_classes: int) -> np.ndarray:
    """Return the weight of the members that predict each class, of shape (n_rows, n_classes)."""
    n_rows = len(labels)
    places = labels + n_classes * np.arange(n_rows)[:, None]
    total = np.bincount(places.ravel(), weights=weights.ravel(), minlength=n_rows * n_classes)
    return total.reshape(n_rows, n_classes)


def weighed(weights: np.ndarray, votes: np.ndarray) -> np.ndarray:
    """Return the sum of the votes times the weights of the members, of shape (n_rows, n_outputs)."""
    total = np.zeros(votes.shape[1:])
    for part, vote in zip(weights.T, votes, strict=True):
        total += part[:, None] * vote.astype(np.float64, copy=False)
    return total
