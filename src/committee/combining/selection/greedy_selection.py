"""Selection of members by honest votes: greedy with replacement (Caruana et al. 2004), and the single best.

In: honest votes. Out: a weight for each member; the decision is the weighted mean of the votes.

Greedy selection adds one member after the other to a bench, which holds what one metric needs of honest
votes. `losses` gives, for every member, the loss of the mean of those on the bench and that member; `seat`
adds a member, who may be added more than once; `only` is an empty bench of some members. Most benches make no
decisions: log loss needs only the votes for the right class, squared losses a matrix of (n_members,
n_members), and the error only those rows on which one more vote can change the outcome.
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
from committee.saving import saved
from committee.saving.format import attributes
from committee.saving.format.file_errors import require
from committee.table.input_types import RandomState
from committee.votes.honest_votes import HonestVotes
from committee.votes.vote_arrays import (
    BLOCK_SIZE,
    NEARLY_ONE,
    blocks_of,
    highest_of,
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
    "What is maximised: a metric by scikit-learn's name, a scorer, or a function of y, the decision of shape "
    "(n_rows, n_outputs) and the weights of the rows, of which more is better. None is neg_log_loss for "
    "classes and neg_mean_squared_error for numbers. Scorers see labels; functions see the numbers of the "
    "classes.",
)


class Weighing(Rule):
    """What rules share that learn a weight for each member.

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
        seated = self.weights_ > 0
        return weighted_sum(votes[seated], self.weights_[seated])


@saved
@declared
class GreedyRule(Weighing):
    r"""Add, again and again, the member that lowers the loss of the mean vote most.

    From the best member on, or from the `n_start` best, step t adds the member

    .. math:: \arg\min_m \; \mathrm{loss}\Big(y, \tfrac{1}{t}\big(v_m + \sum_{s<t} v_{m_s}\big)\Big),

    the first of equal ones. Members may be added more than once, so the result is a weighted mean. The best
    of all means along the way is kept. With bags, this is done for several random samples of the members and
    the weights are averaged, which guards against members that are good by chance.

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
    The first and the second member are each wrong once, and not together; the third is never sure:

    >>> votes = [[[0.8, 0.2], [0.4, 0.6], [0.1, 0.9]],
    ...          [[0.9, 0.1], [0.9, 0.1], [0.6, 0.4]],
    ...          [[0.5, 0.5], [0.5, 0.5], [0.5, 0.5]]]
    >>> rule = GreedyRule(scoring="accuracy").fit(votes, [0, 0, 1])
    >>> rule.chosen_, rule.weights_
    ([array([0, 1])], array([0.5, 0.5, 0. ]))
    """

    scoring: Scoring = parameter(None, *SCORING)
    n_steps: int = parameter(50, integer(0), "How many members are added at most after the start.")
    n_start: int = parameter(1, integer(1), "How many of the best members are added first.")
    patience: int | None = parameter(
        10, optional(integer(1)), "After how many steps without a lower loss to stop. None does all steps."
    )
    n_bags: int = parameter(
        1, integer(1), "How many samples of the members are selected from. 1 takes all members."
    )
    random_state: RandomState = parameter(
        None, RANDOM_STATE, "Draws the bags. An integer makes them the same each time."
    )

    kept: ClassVar[Mapping[str, attributes.Kind]] = {
        **Weighing.kept,
        "chosen_": attributes.list_of(attributes.integers(None, below="members")),
        "losses_": attributes.list_of(attributes.number()),
    }

    def _learn(self, honest: HonestVotes) -> None:
        bench = bench_for(learnt_by(self.scoring, honest.n_outputs, honest.classes), honest)
        weights = np.zeros(honest.n_members)
        self.chosen_, self.losses_ = [], []
        for members in self._bags(honest.n_members):
            seats = bench if self.n_bags == 1 else bench.only(members)
            chosen, loss = select(seats, self.n_start, self.n_steps, self.patience)
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


@saved
@declared
class BestMemberRule(Weighing):
    """Leave the decision to the member of the lowest loss, the first of equal ones.

    Attributes
    ----------
    best_ : int
        The number of that member.
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
        **Weighing.kept,
        "losses_": attributes.floats("members"),
        "best_": attributes.integer(),
    }

    def _learn(self, honest: HonestVotes) -> None:
        self.losses_ = member_losses(learnt_by(self.scoring, honest.n_outputs, honest.classes), honest)
        self.best_ = first_lowest(self.losses_)
        self.weights_ = np.zeros(honest.n_members)
        self.weights_[self.best_] = 1.0


def select(bench: Bench, n_start: int, n_steps: int, patience: int | None) -> tuple[list[int], float]:
    """Return the members of the best mean along the way, in the order of their adding, and its loss."""
    losses = bench.losses()
    best = first_lowest(losses)
    others = [int(member) for member in np.argsort(losses, kind="stable") if member != best]
    chosen = [best, *others[: n_start - 1]]
    for n_seated, member in enumerate(chosen):
        if 0 < n_seated == len(chosen) - 1:
            losses = bench.losses()
        bench.seat(member)
    loss, n_best = float(losses[chosen[-1]]), len(chosen)
    for _ in range(n_steps):
        losses = bench.losses()
        member = first_lowest(losses)
        bench.seat(member)
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


class Bench(Protocol):
    """What greedy selection asks of a metric."""

    def losses(self) -> np.ndarray:
        """Return the loss with each member added, of shape (n_members,)."""
        ...

    def seat(self, member: int) -> None:
        """Add a member."""

    def only(self, members: np.ndarray) -> Bench:
        """Return an empty bench of some members."""
        ...


def bench_for(metric: Metric, honest: HonestVotes) -> Bench:
    """Return the bench of a metric, with a short cut where there is one for these votes."""
    if metric.losses in (log_losses, brier_losses) and not sum_to_one(honest):
        return AnyBench(honest, metric.loss)
    if metric.losses is log_losses:
        right = np.concatenate([votes_for(votes, y) for votes, y, _ in honest.blocks()], axis=1)
        if honest.has_voted is None:
            return LogLossBench(right, honest.weights)
        return AnyBench(replace(honest, votes=right[:, :, None]), log_loss_of_right)
    if honest.has_voted is None and metric.losses in (brier_losses, squared_errors):
        return SquareBench(common_squares(honest) * brier_scale(honest.n_outputs))
    if honest.has_voted is None and metric.losses is errors:
        return ErrorBench(honest.votes, honest.y, metric.weights(honest.y, honest.weights))
    return AnyBench(honest, metric.loss)


def sum_to_one(honest: HonestVotes) -> bool:
    """Return whether the votes on each row are shares of one."""
    sums = (votes.sum(axis=2) for votes, _, _ in honest.blocks())
    return all(bool((np.abs(of_block - 1) <= NEARLY_ONE).all()) for of_block in sums)


def log_loss_of_right(y: np.ndarray, right: np.ndarray, weights: np.ndarray) -> float:
    """Return the log loss of decisions of which only the probability of the right class is given."""
    return float(-np.log(np.maximum(right[:, 0], SMALLEST)) @ weights / weights.sum())


def common_squares(honest: HonestVotes) -> np.ndarray:
    """Return the weighted mean product of the residuals of two members, of shape (n_members, n_members)."""
    products = np.zeros((honest.n_members, honest.n_members))
    for votes, y, weights in honest.blocks():
        from_answer = residuals(votes, y) * np.sqrt(weights)[None, :, None]
        flat = from_answer.reshape(honest.n_members, -1)
        products += flat @ flat.T
    return products / honest.weights.sum()


class SquareBench:
    """The squared error and the Brier score: the square of a mean of residuals is a mean of products."""

    def __init__(self, products: np.ndarray) -> None:
        self.products = products
        self.with_seated = np.zeros(len(products))
        self.seated_square = 0.0
        self.n_seated = 0

    def losses(self) -> np.ndarray:
        """Return the loss with each member added."""
        squares = self.seated_square + 2 * self.with_seated + self.products.diagonal()
        return squares / (self.n_seated + 1) ** 2

    def seat(self, member: int) -> None:
        """Add a member."""
        self.seated_square += 2 * self.with_seated[member] + self.products[member, member]
        self.with_seated = self.with_seated + self.products[member]
        self.n_seated += 1

    def only(self, members: np.ndarray) -> SquareBench:
        """Return an empty bench of some members."""
        return SquareBench(self.products[np.ix_(members, members)])


class LogLossBench:
    """Log loss: it looks only at the votes for the right class."""

    def __init__(self, votes: np.ndarray, weights: np.ndarray) -> None:
        self.votes = votes
        self.weights = weights
        self.total = np.zeros(votes.shape[1])
        self.n_seated = 0

    def losses(self) -> np.ndarray:
        """Return the loss with each member added."""
        n_members, n_rows = self.votes.shape
        n_after = self.n_seated + 1
        losses = np.zeros(n_members)
        step = max(1, BLOCK_SIZE // n_members)
        for start in range(0, n_rows, step):
            rows = slice(start, start + step)
            mean = np.maximum((self.votes[:, rows] + self.total[rows]) / n_after, SMALLEST)
            losses -= (np.log(mean, out=mean) * self.weights[rows]).sum(axis=1)
        return losses / self.weights.sum()

    def seat(self, member: int) -> None:
        """Add a member."""
        self.total += self.votes[member]
        self.n_seated += 1

    def only(self, members: np.ndarray) -> LogLossBench:
        """Return an empty bench of some members."""
        return LogLossBench(self.votes[members], self.weights)


class ErrorBench:
    """The error: on most rows the members agree so much that no one more vote can change the outcome."""

    def __init__(self, votes: np.ndarray, y: np.ndarray, weights: np.ndarray) -> None:
        self.votes = votes
        self.y = y
        self.weights = weights
        self.rounding = rounding_of(votes)
        self.total = np.zeros(votes.shape[1:])
        # How much one more vote can add to the lead of the right class, and how much it can take away.
        self.gain = np.empty(len(y))
        self.harm = np.empty(len(y))
        self.highest = np.empty(len(y))
        for rows, block in blocks_of(votes):
            self.gain[rows] = votes_for(block, y[rows]).max(axis=0)
            self.harm[rows] = -np.min([lead_of(vote, y[rows]) for vote in block], axis=0)
            self.highest[rows] = block.max(axis=(0, 2))

    def losses(self) -> np.ndarray:
        """Return the loss with each member added."""
        lead = lead_of(self.total, self.y)
        # Classes this close to the highest are tied with it.
        slack = 2 * self.rounding * (self.total.max(axis=1) + self.highest)
        is_wrong = lead < -self.gain - slack
        losses = np.full(len(self.votes), self.weights[is_wrong].sum())
        unsettled = np.flatnonzero(~is_wrong & (lead <= self.harm + slack))
        step = max(1, BLOCK_SIZE // (len(self.votes) * self.votes.shape[2]))
        for start in range(0, len(unsettled), step):
            rows = unsettled[start : start + step]
            after = self.votes[:, rows] + self.total[rows]
            # The first of the classes that are as high as the highest.
            enough = highest_of(after) * (1 - self.rounding)
            labels = (after >= enough[:, :, None]).argmax(axis=2)
            losses += ((labels != self.y[rows]) * self.weights[rows]).sum(axis=1)
        return losses / self.weights.sum()

    def seat(self, member: int) -> None:
        """Add a member."""
        self.total += self.votes[member]

    def only(self, members: np.ndarray) -> ErrorBench:
        """Return an empty bench of some members."""
        return ErrorBench(self.votes[members], self.y, self.weights)


class AnyBench:
    """Any other loss, and members that have not voted on all rows: the decision of each candidate is made.

    It is the mean of the members that have voted on a row. Rows on which none has are left out.
    """

    def __init__(self, honest: HonestVotes, loss: DecisionScore) -> None:
        self.honest = honest
        self.loss = loss
        self.rounding = rounding_of(honest.votes)
        self.total = np.zeros(honest.votes.shape[1:])
        self.n_seated = np.zeros((honest.n_rows, 1))

    def losses(self) -> np.ndarray:
        """Return the loss with each member added."""
        return with_highest([self._loss(member) for member in range(self.honest.n_members)])

    def seat(self, member: int) -> None:
        """Add a member."""
        self.total, self.n_seated = self._with(member)

    def only(self, members: np.ndarray) -> AnyBench:
        """Return an empty bench of some members."""
        return AnyBench(self.honest.of_members(members), self.loss)

    def _with(self, member: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the sum of the votes on each row, and their number, with a member added."""
        rows = self.honest.own_rows()[member]
        own = 1.0 if rows is None else rows[:, None].astype(np.float64)
        return self.total + own * self.honest.votes[member], self.n_seated + own

    def _loss(self, member: int) -> float:
        total, n_seated = self._with(member)
        rows = None if self.honest.has_voted is None else n_seated[:, 0] > 0
        decision = decided(total / np.maximum(n_seated, 1), self.rounding)
        return loss_on(rows, self.loss, decision, self.honest)


def lead_of(votes: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return by how much the vote for the class of each row exceeds the highest other."""
    rows = np.arange(len(y))
    others = votes.copy()
    others[rows, y] = -np.inf
    return votes[rows, y] - others.max(axis=1)
