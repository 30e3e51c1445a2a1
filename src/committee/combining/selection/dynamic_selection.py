"""Dynamic selection: the members that were competent near a row decide on it.

In: honest votes with the rows they are on. Out: for each new row, which members decide, and the decision.
What is known of the members is in `competence_data`, the methods are in `competence`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances

from committee.combining.fixed_rules import one_hot
from committee.combining.rule import Rule
from committee.combining.selection.competence import (
    METHODS,
    N_ALIKE,
    REGRESSION_METHODS,
    Method,
    answer_by_errors,
    learn_meta,
    meta_competence,
)
from committee.combining.selection.competence_data import NOTHING, Known, Question, profile_size, profiles_of
from committee.combining.selection.feature_space import Nearest, Space, as_matrix
from committee.parameters import boolean, declared, integer, one_of, optional, parameter
from committee.saving import DamagedFile, saved
from committee.saving.format import attributes
from committee.table.input_types import ArrayLike, TableLike
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

# What is known, and the attributes that keep it.
KNOWN = {
    "y": "y_",
    "weights": "row_weights_",
    "labels": "labels_",
    "support": "support_",
    "source": "source_",
    "confidence": "confidence_",
    "profiles": "profiles_",
}
# The papers' number of neighbours.
N_NEIGHBOURS = 7
# The number of facts about neighbours that are gathered at a time.
BLOCK_SIZE = 1 << 20
# The number of votes that are compared with those on known rows at a time. More find similar ones sooner.
PROFILES_SIZE = 1 << 22


@saved
@declared
class DynamicRule(Rule):
    """Let the members decide that were competent on the nearest rows with known answers.

    ============== ============================================= =======================================
    method         competence of a member                        who decides (paper)
    ============== ============================================= =======================================
    "ola"          share of neighbours that it is right on       the best (Woods et al. 1997)
    "lca"          the same, of those of the class it votes for  the best (Woods et al. 1997)
    "mcb"          the same, of those on which the members vote  the best and all within 0.1 of it
                   as they vote here                             (Giacinto and Roli 2001)
    "a_priori"     mean vote for the class of a neighbour,       the best and all within 0.1 of it
                   weighted by 1 / distance                      (Giacinto and Roli 1999)
    "a_posteriori" the same, of those of the class it votes for  the best and all within 0.1 of it
                                                                 (Giacinto and Roli 1999)
    "knora_e"      number of the nearest neighbours before its   all of the highest (Ko et al. 2008)
                   first fault
    "knora_u"      number of neighbours that it is right on      all, by competence (Ko et al. 2008)
    "des_p"        share of neighbours that it is right on       all above 1 / n_classes (Woloszynski et
                                                                 al. 2012)
    "des_rrc"      how probably a random classifier of the same  all above 1 / n_classes (Woloszynski
                   mean votes is right, weighted by              and Kurzynski 2011)
                   exp(-distance²)
    "des_kl"       divergence of its votes from chance,          all above 0 (Woloszynski et al. 2012)
                   negative where wrong, weighted likewise
    "knop"         number of rows with similar votes that it is  all, by competence (Cavalin et al. 2013)
                   right on
    "des_knn"      share of neighbours that it is right on       of the better half, the 30 % with the
                                                                 fewest common faults (Soares et al. 2006)
    "meta_des"     how probably it is right, by a classifier     all above 0.5 (Cruz et al. 2015)
                   that learnt it from neighbours and votes
    ============== ============================================= =======================================

    Where nobody is competent, all members decide. The numbers in the table are those of DESlib (Cruz et al.
    2020), and so is who decides, but for this:

    - Of members that are equally accurate, or equally often wrong with others, "des_knn" takes the first.
      DESlib takes whom its sort puts there.
    - Where DESlib draws one of the members within 0.1 of the best in "mcb", "a_priori" and "a_posteriori",
      all of those decide. The one that it draws is always among them.
    - "des_kl" is the paper's formula. DESlib's program adds the entropy of right votes instead of taking it
      off.
    - In "des_rrc" and "des_kl", DESlib counts a row so far away that exp(-distance²) is 0 in double precision
      as 1e-20, which is more than nearer rows may count. Here it counts nothing. Standardised columns, the
      default, have no such rows unless they are many.
    - Of known rows that are equally near, the first are the neighbours; scikit-learn, which DESlib asks,
      leaves that open. It matters to "knop" and "meta_des" where members vote alike on several rows.

    As in DESlib, "lca" asks the neighbours that are of the class a member votes for here. In the paper it is
    those that the member votes for that class on.

    In regression, the competence is the negative mean squared error on the neighbours: "ola" takes the
    lowest, "a_priori" (weighted by 1 / distance) all within a tenth of the lowest, "des_p" all below the
    error of the mean of y; "knora_u" and "knop" weigh members by the inverse of their error (Rooney et al.
    2004). The other methods ask which class is right and have no meaning there.

    Rows of weight 0 are no neighbours. Other weights say how much a neighbour counts; but "knora_e" counts
    each once, and so does "meta_des", which learns by weights. X must be a matrix of numbers without missing
    values; "knop" needs no X. Members may have seen other columns than X has.

    Members that have not voted on all rows (`has_voted`, as in forests) are judged by their own votes: means
    are over the neighbours that a member has voted on, and one without such is not competent, which is 0 and,
    in regression, -inf. "knora_u" and "knop" take the share that it is right on for its share of all;
    "knora_e" passes over what it has not voted on; "mcb" asks whether those agree who have voted; "des_knn"
    counts faults by the votes that members have in common. But rows of similar votes are looked for among all
    votes as they are; so does "meta_des" look at neighbours, though it learns from own votes alone.

    Attributes
    ----------
    n_neighbours_ : int
        The number of neighbours that are asked.
    y_, row_weights_ : ndarray of shape (n_known,)
        The answers and weights of the rows that are known, those of a weight above 0.
    points_ : ndarray of shape (n_known, n_columns)
        Where they lie; `center_` and `spread_` say how columns are scaled.
    labels_ : ndarray of shape (n_known, n_members)
        What each member votes for on them; -1 where it has not voted, but for "meta_des".
    support_ : ndarray of shape (n_known, n_members)
        Its vote for the right class; in regression, its squared error. 0 where it has not voted.
    source_, confidence_, profiles_, meta_coefficients_, meta_intercept_
        What some methods know besides: the source of competence, the highest votes, all votes, and what
        META-DES has learnt.

    References
    ----------
    R. M. O. Cruz, R. Sabourin, G. D. C. Cavalcanti (2018). Dynamic classifier selection: recent advances and
    perspectives. Information Fusion 41.

    Examples
    --------
    The first member is right on the left, the second on the right:

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
        "How competence is measured, and who decides.",
    )
    n_neighbours: int | None = parameter(
        None,
        optional(integer(1)),
        "How many rows are asked. None is 7, and all rows for des_rrc and des_kl, as in the papers.",
    )
    voting: str = parameter(
        "soft",
        one_of("soft", "hard"),
        "What those who decide combine: their votes, or the classes they vote for, as in the papers.",
    )
    scale: bool = parameter(
        True, boolean, "Whether distances are taken between columns of mean 0 and standard deviation 1."
    )

    def selected(self, votes: ArrayLike, X: TableLike | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return which members decide on each row, and how competent each of them is.

        Parameters
        ----------
        votes : array-like of shape (n_members, n_rows, n_outputs)
        X : matrix of shape (n_rows, n_columns)

        Returns
        -------
        shares : ndarray of shape (n_rows, n_members)
            What part each member has in the decision; rows sum to one.
        competence : ndarray of shape (n_rows, n_members)
            In the units of the method.
        """
        checked = self._check_combine(votes, X)
        shares = np.empty((checked.shape[1], checked.shape[0]))
        competence = np.empty_like(shares)
        for rows, _, say, part_competence in self._answers(checked, X):
            shares[rows], competence[rows] = rescaled(say), part_competence
        return shares, competence

    def _check_kind(self, n_members: int, n_outputs: int, is_weighted: bool) -> None:
        if n_outputs == 1 and METHODS[self.method].regression is None:
            raise ValueError(
                f"method={self.method!r} asks which class is right. For regression there are "
                f"{', '.join(REGRESSION_METHODS)}."
            )

    def _learn(self, honest: HonestVotes) -> None:
        method = METHODS[self.method]
        known = Known.of(honest, method.source, method.looks_at_votes)
        has_voted = None
        if honest.has_voted is not None:
            has_voted = np.ascontiguousarray(honest.has_voted[:, honest.weights > 0].T)
            known = known if method.competence is None else known.of_own_votes(has_voted)
        # META-DES learns from each known row by its neighbours among the other rows.
        n_there = len(known.y) - 1 if self.method == "meta_des" else len(known.y)
        if n_there == 0:
            raise ValueError("method='meta_des' learns from neighbours and needs 2 rows. Got 1.")
        if self.method == "meta_des" and has_voted is not None and not has_voted.any():
            raise ValueError("method='meta_des' learns from own votes. Got has_voted without any.")
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
        if self._nearest is not None and self._most_alike is not None:  # META-DES alone looks at both.
            _, neighbours = self._nearest.find_others(self.n_neighbours_)
            _, alike = self._most_alike.find_others(self._n_alike())
            self.meta_coefficients_, self.meta_intercept_ = learn_meta(
                self._known, neighbours, alike, self._n_block(), has_voted
            )

    def _prepare(self, n_outputs: int) -> None:
        """Make from the attributes what answers questions."""
        method = METHODS[self.method]
        found = {name: getattr(self, attribute) for name, attribute in KNOWN.items()}
        self._known = Known(**found, n_outputs=n_outputs)
        self._nearest = Nearest(self.points_) if method.looks_at_X and not self._everywhere() else None
        self._most_alike = Nearest(self.profiles_) if method.looks_at_votes else None

    def _n_alike(self) -> int:
        """Return how many rows of similar votes are asked."""
        return self.n_neighbours_ if self.method == "knop" else min(N_ALIKE, len(self.y_) - 1)

    def _check_learnt(self) -> None:
        """Raise unless the arrays of a file fit together, and make from them what answers questions."""
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
            raise DamagedFile(f"What a rule with method={self.method!r} knows does not fit together.")
        self._prepare(self.n_outputs_)

    def _combine(self, votes: np.ndarray, X: TableLike | None) -> np.ndarray:
        decision = np.empty(votes.shape[1:])
        counts_labels = self.voting == "hard" and are_classes(votes)
        if counts_labels:
            # Where all members vote for one class, it does not matter which of them decide.
            decision[:] = one_hot(labels_of(votes[:1])[0], votes.shape[2])
        for rows, labels, say, _ in self._answers(votes, X, only_disputed=counts_labels):
            # Whole numbers stay whole until the end, so that ties are ties.
            total = counted(say, labels, votes.shape[2]) if counts_labels else weighed(say, votes[:, rows])
            if are_classes(votes):
                decision[rows] = rescaled(settled(total, rounding_of(votes)))
            else:
                decision[rows] = total / say.sum(axis=1, keepdims=True)
        return decision

    def _answers(
        self, votes: np.ndarray, X: TableLike | None, only_disputed: bool = False
    ) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
        """Yield rows, the labels there, the say of each member and its competence, block by block."""
        method = METHODS[self.method]
        labels = np.empty((votes.shape[1], votes.shape[0]), dtype=np.int32)
        for here, block in blocks_of(votes):
            labels[here] = labels_of(block).T
        is_disputed = (labels != labels[:, :1]).any(axis=1)
        asked = np.flatnonzero(is_disputed) if only_disputed else np.arange(len(labels))
        points = np.empty((len(asked), 0))
        if method.looks_at_X:
            points = Space(self.center_, self.spread_).points(as_matrix(X)[asked])
        # All at once: neighbours of rows that are near each other are found together.
        distances, neighbours = np.empty((len(asked), 0)), np.empty((len(asked), 0), dtype=np.intp)
        if self._nearest is not None:
            distances, neighbours = self._nearest.find(points, self.n_neighbours_)
        alike = self._similar(votes, asked)
        n_block, everywhere = self._n_block(), self._everywhere()
        for start in range(0, len(asked), n_block):
            part = slice(start, start + n_block)
            rows, near, at = asked[part], neighbours[part], distances[part]
            confidence = np.empty((len(rows), 0))
            if method.looks_at_votes:
                confidence = highest_of(votes[:, rows].astype(np.float64, copy=False)).T
            if everywhere:
                at = euclidean_distances(points[part], self.points_)
                near = np.broadcast_to(np.arange(self.n_neighbours_), at.shape)
            question = Question(labels[rows], confidence, near, at, alike[part], everywhere)
            say, competence = self._answer(method, question)
            say[~say.any(axis=1)] = 1.0
            yield rows, question.labels, say, competence

    def _similar(self, votes: np.ndarray, asked: np.ndarray) -> np.ndarray:
        """Return the known rows of the most similar votes, for methods that look at them."""
        if self._most_alike is None or len(asked) == 0:
            return np.empty((len(asked), 0), dtype=np.intp)
        step = max(1, PROFILES_SIZE // (votes.shape[0] * votes.shape[2]))
        parts = (asked[start : start + step] for start in range(0, len(asked), step))
        profiles = (profiles_of(votes[:, part].astype(np.float64, copy=False)) for part in parts)
        return np.concatenate([self._most_alike.find(each, self._n_alike())[1] for each in profiles])

    def _answer(self, method: Method, question: Question) -> tuple[np.ndarray, np.ndarray]:
        """Return the say of each member, and its competence."""
        known = self._known
        if known.n_outputs == 1:
            return answer_by_errors(method, known, question)
        if method.competence is None:
            learnt = self.meta_coefficients_, self.meta_intercept_
            competence = meta_competence(known, question, *learnt)
        else:
            competence = method.competence(known, question)
        return method.select(competence, known, question), competence

    def _n_block(self) -> int:
        """Return how many rows are asked about at a time."""
        n_members = self._known.labels.shape[1]
        n_facts = self.n_neighbours_ if self._everywhere() else n_members * self.n_neighbours_
        return max(1, BLOCK_SIZE // max(n_facts, n_members * self._known.n_outputs))

    def _everywhere(self) -> bool:
        """Return whether all known rows are asked, so that nothing is gathered."""
        return METHODS[self.method].source is not None and self.n_neighbours_ == len(self._known.y)

    def _looks_at_X(self) -> bool:
        return METHODS[self.method].looks_at_X


def counted(say: np.ndarray, labels: np.ndarray, n_classes: int) -> np.ndarray:
    """Return the say of the members that vote for each class, of shape (n_rows, n_classes)."""
    n_rows = len(labels)
    places = labels + n_classes * np.arange(n_rows)[:, None]
    total = np.bincount(places.ravel(), weights=say.ravel(), minlength=n_rows * n_classes)
    return total.reshape(n_rows, n_classes)


def weighed(say: np.ndarray, votes: np.ndarray) -> np.ndarray:
    """Return the sum of the votes, each times the say of its member, of shape (n_rows, n_outputs)."""
    total = np.zeros(votes.shape[1:])
    for part, vote in zip(say.T, votes, strict=True):
        total += part[:, None] * vote.astype(np.float64, copy=False)
    return total
