"""Select members by their honest votes: greedily with replacement (Caruana et al. 2004), or the single best.

In: honest votes. Out: a weight for each member. The decision is the weighted mean of the votes.

Greedy selection adds one member after the other to an ensemble, whose decision is the mean vote. There is a
class of ensembles for each kind of metric. `losses` returns the loss after each possible addition, `add` adds
a member, and `only` returns an empty ensemble that selects from some members. Most classes do not compute the
mean votes: log loss needs only the votes for the true class, squared losses need only a matrix of
(n_members, n_members), and the error needs only the rows on which one more vote can change the decision.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import ClassVar, Protocol, TypeAlias

import numpy as np

from committee.combining.rule import Rule
from committee.metrics.member_losses import decided, loss_on, member_losses, with_highest
from committee.metrics.metric_table import Metric
from committee.metrics.row_losses import (
    SMALLEST,
    brier_losses,
    brier_scale,
    errors,
    log_losses,
    residuals,
    squared_errors,
    votes_for,
)
from committee.metrics.scoring import DecisionScore, learnt_by, metric_of
from committee.parameters import RANDOM_STATE, Constraint, Declaration, declared, integer, optional, parameter
from committee.saving.format import attributes
from committee.saving.format.file_errors import require
from committee.table.input_types import RandomState
from committee.votes.honest_votes import HonestVotes
from committee.votes.vote_arrays import (
    BLOCK_SIZE,
    NEARLY_ONE,
    blocks_of,
    highest_of,
    margins_of,
    rounding_of,
    weighted_sum,
)

# Losses that differ by less, relative to them, are equal.
ROUNDING = 1e-12
# The share of the members in each of several bags.
BAG_SHARE = 0.5
Scoring: TypeAlias = "str | Callable[..., float] | None"
SCORING: Declaration = (
    Constraint(
        "the name of a metric, a scorer made by make_scorer, a function or None",
        lambda value: value is None or isinstance(value, str) or callable(value),
    ),
    "The score to maximise: the name of a metric of scikit-learn, a scorer, or a function of y, the decision "
    "of shape (n_rows, n_outputs) and the weights of the rows that returns a score. None is neg_log_loss for "
    "classification and neg_mean_squared_error for regression. Scorers get labels, and functions get the "
    "numbers of the classes.",
)


class SelectionRule(Rule):
    """The base class of rules that select members by a score.

    Attributes
    ----------
    weights_ : ndarray of shape (n_members,)
        The share of each member in the decision.
    """

    tasks: ClassVar[tuple[str, ...]] = ("classification", "regression")
    kept: ClassVar[Mapping[str, attributes.Kind]] = {"weights_": attributes.shares("members")}

    scoring: Scoring

    def _check_kind(self, n_members: int, n_outputs: int, is_weighted: bool) -> None:
        metric_of(self.scoring, n_outputs)

    def _check_learnt(self) -> None:
        require(self.weights_.any(), "No member has a weight")

    def _decide(self, votes: np.ndarray) -> np.ndarray:
        is_selected = self.weights_ > 0
        return weighted_sum(votes[is_selected], self.weights_[is_selected])


@declared
class GreedyRule(SelectionRule):
    r"""Repeatedly add the member that reduces the loss of the mean vote most.

    The ensemble starts with the best member, or with the `n_start` best members. Step t adds the member

    .. math:: \arg\min_m \; \mathrm{loss}\Big(y, \tfrac{1}{t}\big(v_m + \sum_{s<t} v_{m_s}\big)\Big),

    or the first of several. Members may be added more than once, so the result is a weighted mean. The best
    mean of all steps is used. With several bags, this is done for random samples of the members, and the
    weights are averaged. This reduces the risk of selecting members that are good by chance.

    Attributes
    ----------
    chosen_ : list of ndarray of int
        The members of each bag, in the order in which they were added.
    losses_ : list of float
        The loss of each bag.

    References
    ----------
    R. Caruana, A. Niculescu-Mizil, G. Crew, A. Ksikes (2004). Ensemble selection from libraries of models.
    ICML.

    Examples
    --------
    The first two members are wrong on different rows, and the third is undecided on all rows:

    >>> votes = [[[0.8, 0.2], [0.4, 0.6], [0.1, 0.9]],
    ...          [[0.9, 0.1], [0.9, 0.1], [0.6, 0.4]],
    ...          [[0.5, 0.5], [0.5, 0.5], [0.5, 0.5]]]
    >>> rule = GreedyRule(scoring="accuracy").fit(votes, [0, 0, 1])
    >>> rule.chosen_, rule.weights_
    ([array([0, 1])], array([0.5, 0.5, 0. ]))
    """

    scoring: Scoring = parameter(None, *SCORING)
    n_steps: int = parameter(50, integer(0), "The maximum number of members to add after the start.")
    n_start: int = parameter(1, integer(1), "The number of best members to start with.")
    patience: int | None = parameter(
        10, optional(integer(1)), "Stop after this number of steps without a lower loss. None does all steps."
    )
    n_bags: int = parameter(
        1, integer(1), "The number of samples of members to select from. 1 uses all members."
    )
    random_state: RandomState = parameter(
        None, RANDOM_STATE, "The seed of the bags. Pass an integer for reproducible results."
    )

    kept: ClassVar[Mapping[str, attributes.Kind]] = {
        **SelectionRule.kept,
        "chosen_": attributes.list_of(attributes.integers(None, below="members")),
        "losses_": attributes.list_of(attributes.number()),
    }

    def _learn(self, honest: HonestVotes) -> None:
        ensemble = ensemble_for(learnt_by(self.scoring, honest.n_outputs, honest.classes), honest)
        weights = np.zeros(honest.n_members)
        self.chosen_, self.losses_ = [], []
        for members in self._bags(honest.n_members):
            empty = ensemble if self.n_bags == 1 else ensemble.only(members)
            chosen, loss = select(empty, self.n_start, self.n_steps, self.patience)
            self.chosen_.append(members[chosen])
            self.losses_.append(loss)
            np.add.at(weights, members[chosen], 1 / len(chosen))
        self.weights_ = weights / weights.sum()

    def _bags(self, n_members: int) -> list[np.ndarray]:
        if self.n_bags == 1:
            return [np.arange(n_members)]
        from sklearn.utils import check_random_state

        rng = check_random_state(self.random_state)
        size = max(1, int(np.ceil(BAG_SHARE * n_members)))
        return [np.sort(rng.permutation(n_members)[:size]) for _ in range(self.n_bags)]


@declared
class BestMemberRule(SelectionRule):
    """Use only the member with the lowest loss, or the first of several.

    Attributes
    ----------
    best_ : int
        The number of the best member.
    losses_ : ndarray of shape (n_members,)
        The loss of each member.

    Examples
    --------
    >>> votes = [[[0.8, 0.2], [0.4, 0.6]], [[0.9, 0.1], [0.9, 0.1]]]
    >>> BestMemberRule().fit(votes, [0, 0]).best_
    1
    """

    scoring: Scoring = parameter(None, *SCORING)

    kept: ClassVar[Mapping[str, attributes.Kind]] = {
        **SelectionRule.kept,
        "losses_": attributes.floats("members"),
        "best_": attributes.integer(),
    }

    def _learn(self, honest: HonestVotes) -> None:
        self.losses_ = member_losses(learnt_by(self.scoring, honest.n_outputs, honest.classes), honest)
        self.best_ = first_lowest(self.losses_)
        self.weights_ = np.zeros(honest.n_members)
        self.weights_[self.best_] = 1.0


def select(
    ensemble: GreedyEnsemble, n_start: int, n_steps: int, patience: int | None
) -> tuple[list[int], float]:
    """Return the members of the best mean of all steps, in the order of their addition, and its loss."""
    losses = ensemble.losses()
    best = first_lowest(losses)
    others = [int(member) for member in np.argsort(losses, kind="stable") if member != best]
    chosen = [best, *others[: n_start - 1]]
    for n_added, member in enumerate(chosen):
        if 0 < n_added == len(chosen) - 1:
            losses = ensemble.losses()
        ensemble.add(member)
    loss, n_best = float(losses[chosen[-1]]), len(chosen)
    for _ in range(n_steps):
        losses = ensemble.losses()
        member = first_lowest(losses)
        ensemble.add(member)
        chosen.append(member)
        if losses[member] < loss - ROUNDING * abs(loss):
            loss, n_best = float(losses[member]), len(chosen)
        elif patience is not None and len(chosen) - n_best >= patience:
            break
    return chosen[:n_best], loss


def first_lowest(losses: np.ndarray) -> int:
    """Return the first member of the lowest loss, up to rounding."""
    lowest = losses.min()
    return int(np.flatnonzero(losses <= lowest + ROUNDING * abs(lowest))[0])


class GreedyEnsemble(Protocol):
    """An ensemble to which greedy selection adds members."""

    def losses(self) -> np.ndarray:
        """Return the loss with each member added, of shape (n_members,)."""
        ...

    def add(self, member: int) -> None:
        """Add a member."""

    def only(self, members: np.ndarray) -> GreedyEnsemble:
        """Return an empty ensemble that selects from some members."""
        ...


def ensemble_for(metric: Metric, honest: HonestVotes) -> GreedyEnsemble:
    """Return an empty ensemble for a metric, of the fastest class for these votes."""
    if metric.losses in (log_losses, brier_losses) and not sum_to_one(honest):
        return AnyMetricEnsemble(honest, metric.loss)
    if metric.losses is log_losses:
        right = np.concatenate([votes_for(votes, y) for votes, y, _ in honest.blocks()], axis=1)
        if honest.has_voted is None:
            return LogLossEnsemble(right, honest.weights)
        return AnyMetricEnsemble(replace(honest, votes=right[:, :, None]), log_loss_of_right)
    if honest.has_voted is None and metric.losses in (brier_losses, squared_errors):
        return SquaredErrorEnsemble(common_squares(honest) * brier_scale(honest.n_outputs))
    if honest.has_voted is None and metric.losses is errors:
        return ErrorEnsemble(honest.votes, honest.y, metric.weights(honest.y, honest.weights))
    return AnyMetricEnsemble(honest, metric.loss)


def sum_to_one(honest: HonestVotes) -> bool:
    """Return whether the votes of each member on each row sum to one."""
    sums = (votes.sum(axis=2) for votes, _, _ in honest.blocks())
    return all(bool((np.abs(of_block - 1) <= NEARLY_ONE).all()) for of_block in sums)


def log_loss_of_right(y: np.ndarray, right: np.ndarray, weights: np.ndarray) -> float:
    """Return the log loss of the probabilities of the true classes."""
    return float(-np.log(np.maximum(right[:, 0], SMALLEST)) @ weights / weights.sum())


def common_squares(honest: HonestVotes) -> np.ndarray:
    """Return the weighted mean products of the residuals of two members, of shape (n_members, n_members)."""
    products = np.zeros((honest.n_members, honest.n_members))
    for votes, y, weights in honest.blocks():
        from_answer = residuals(votes, y) * np.sqrt(weights)[None, :, None]
        flat = from_answer.reshape(honest.n_members, -1)
        products += flat @ flat.T
    return products / honest.weights.sum()


class SquaredErrorEnsemble:
    """An ensemble for the squared error and the Brier score.

    The square of a mean of residuals is the mean of the products of all pairs of residuals.
    """

    def __init__(self, products: np.ndarray) -> None:
        self.products = products
        self.with_added = np.zeros(len(products))
        self.square_of_sum = 0.0
        self.n_added = 0

    def losses(self) -> np.ndarray:
        """Return the loss with each member added."""
        squares = self.square_of_sum + 2 * self.with_added + self.products.diagonal()
        return squares / (self.n_added + 1) ** 2

    def add(self, member: int) -> None:
        """Add a member."""
        self.square_of_sum += 2 * self.with_added[member] + self.products[member, member]
        self.with_added = self.with_added + self.products[member]
        self.n_added += 1

    def only(self, members: np.ndarray) -> SquaredErrorEnsemble:
        """Return an empty ensemble that selects from some members."""
        return SquaredErrorEnsemble(self.products[np.ix_(members, members)])


class LogLossEnsemble:
    """An ensemble for the log loss, which needs only the votes for the true class."""

    def __init__(self, votes: np.ndarray, weights: np.ndarray) -> None:
        self.votes = votes
        self.weights = weights
        self.total = np.zeros(votes.shape[1])
        self.n_added = 0

    def losses(self) -> np.ndarray:
        """Return the loss with each member added."""
        n_members, n_rows = self.votes.shape
        n_after = self.n_added + 1
        losses = np.zeros(n_members)
        step = max(1, BLOCK_SIZE // n_members)
        for start in range(0, n_rows, step):
            rows = slice(start, start + step)
            mean = np.maximum((self.votes[:, rows] + self.total[rows]) / n_after, SMALLEST)
            losses -= (np.log(mean, out=mean) * self.weights[rows]).sum(axis=1)
        return losses / self.weights.sum()

    def add(self, member: int) -> None:
        """Add a member."""
        self.total += self.votes[member]
        self.n_added += 1

    def only(self, members: np.ndarray) -> LogLossEnsemble:
        """Return an empty ensemble that selects from some members."""
        return LogLossEnsemble(self.votes[members], self.weights)


class ErrorEnsemble:
    """An ensemble for the error. On most rows, one more vote cannot change the decision."""

    def __init__(self, votes: np.ndarray, y: np.ndarray, weights: np.ndarray) -> None:
        self.votes = votes
        self.y = y
        self.weights = weights
        self.rounding = rounding_of(votes)
        self.total = np.zeros(votes.shape[1:])
        # One more vote can increase the lead of the true class by `gain`, and decrease it by `harm`.
        self.gain = np.empty(len(y))
        self.harm = np.empty(len(y))
        self.highest = np.empty(len(y))
        for rows, block in blocks_of(votes):
            self.gain[rows] = votes_for(block, y[rows]).max(axis=0)
            self.harm[rows] = -np.min([margins_of(vote, y[rows]) for vote in block], axis=0)
            self.highest[rows] = block.max(axis=(0, 2))

    def losses(self) -> np.ndarray:
        """Return the loss with each member added."""
        lead = margins_of(self.total, self.y)
        # Smaller differences to the highest class are ties.
        slack = 2 * self.rounding * (self.total.max(axis=1) + self.highest)
        is_wrong = lead < -self.gain - slack
        losses = np.full(len(self.votes), self.weights[is_wrong].sum())
        unsettled = np.flatnonzero(~is_wrong & (lead <= self.harm + slack))
        step = max(1, BLOCK_SIZE // (len(self.votes) * self.votes.shape[2]))
        for start in range(0, len(unsettled), step):
            rows = unsettled[start : start + step]
            after = self.votes[:, rows] + self.total[rows]
            # The first class within rounding of the highest wins.
            enough = highest_of(after) * (1 - self.rounding)
            labels = (after >= enough[:, :, None]).argmax(axis=2)
            losses += ((labels != self.y[rows]) * self.weights[rows]).sum(axis=1)
        return losses / self.weights.sum()

    def add(self, member: int) -> None:
        """Add a member."""
        self.total += self.votes[member]

    def only(self, members: np.ndarray) -> ErrorEnsemble:
        """Return an empty ensemble that selects from some members."""
        return ErrorEnsemble(self.votes[members], self.y, self.weights)


class AnyMetricEnsemble:
    """An ensemble for any metric, and for members that have not voted on all rows.

    The decision after each addition is computed. It is the mean vote of the members that have voted on a row.
    Rows without votes are skipped.
    """

    def __init__(self, honest: HonestVotes, loss: DecisionScore) -> None:
        self.honest = honest
        self.loss = loss
        self.rounding = rounding_of(honest.votes)
        self.total = np.zeros(honest.votes.shape[1:])
        self.n_added = np.zeros((honest.n_rows, 1))

    def losses(self) -> np.ndarray:
        """Return the loss with each member added."""
        return with_highest([self._loss(member) for member in range(self.honest.n_members)])

    def add(self, member: int) -> None:
        """Add a member."""
        self.total, self.n_added = self._with(member)

    def only(self, members: np.ndarray) -> AnyMetricEnsemble:
        """Return an empty ensemble that selects from some members."""
        return AnyMetricEnsemble(self.honest.of_members(members), self.loss)

    def _with(self, member: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the sum of the votes on each row and their number after the addition of a member."""
        rows = self.honest.own_rows()[member]
        own = 1.0 if rows is None else rows[:, None].astype(np.float64)
        return self.total + own * self.honest.votes[member], self.n_added + own

    def _loss(self, member: int) -> float:
        total, n_added = self._with(member)
        rows = None if self.honest.has_voted is None else n_added[:, 0] > 0
        decision = decided(total / np.maximum(n_added, 1), self.rounding)
        return loss_on(rows, self.loss, decision, self.honest)
