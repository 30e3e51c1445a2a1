"""Selection of members by honest votes: greedy with replacement (Caruana et al. 2004), and the single best.

In: honest votes. Out: a weight for each member; the decision is the weighted mean of the votes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from committee.combining.benches import Bench, bench_for
from committee.combining.rule import Rule
from committee.metrics.members import member_losses
from committee.metrics.scoring import learnt_by, metric_of
from committee.parameters import anything, declared, either, integer, optional, parameter
from committee.saving import attributes, saved
from committee.saving.errors import require
from committee.votes.arrays import weighted_sum
from committee.votes.honest import HonestVotes

# Losses that differ by less, relative to them, are equal.
ROUNDING = 1e-12
# The share of the members in each of several bags.
BAG_SHARE = 0.5
SCORING: tuple[str, Any, str] = (
    "the name of a metric, a scorer made by make_scorer, a function or None",
    either(lambda value: value is None or isinstance(value, str), callable),
    "What is maximised: a metric by scikit-learn's name, a scorer, or a function of y, the decision of shape "
    "(n_rows, n_outputs) and the weights of the rows, of which more is better. None is neg_log_loss for "
    "classes and neg_mean_squared_error for numbers. Scorers see labels; functions see the numbers of the "
    "classes.",
)


class Weighing(Rule):
    """What rules share that come down to a weight for each member.

    Attributes
    ----------
    weights_ : ndarray of shape (n_members,)
        The share of each member in the decision.
    """

    tasks: ClassVar[tuple[str, ...]] = ("classification", "regression")
    kept: ClassVar[Mapping[str, attributes.Kind]] = {"weights_": attributes.shares("members")}

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

    scoring: Any = parameter(None, *SCORING)
    n_steps: int = parameter(
        50, "an integer >= 0", integer(0), "How many members are added at most after the start."
    )
    n_start: int = parameter(
        1, "an integer >= 1", integer(1), "How many of the best members sit from the start."
    )
    patience: int | None = parameter(
        10,
        "an integer >= 1 or None",
        optional(integer(1)),
        "After how many steps without a lower loss to stop. None does all steps.",
    )
    n_bags: int = parameter(
        1,
        "an integer >= 1",
        integer(1),
        "How many samples of the members are selected from. 1 takes all members.",
    )
    random_state: Any = parameter(
        None,
        "an integer, a RandomState or None",
        anything,
        "Draws the bags. An integer makes them the same each time.",
    )

    kept: ClassVar[Mapping[str, attributes.Kind]] = {
        **Weighing.kept,
        "chosen_": attributes.list_of(attributes.integers(None, below="members")),
        "losses_": attributes.list_of(attributes.number()),
    }

    def _check_kind(self, n_members: int, n_outputs: int, is_weighted: bool) -> None:
        metric_of(self.scoring, n_outputs)

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

    scoring: Any = parameter(None, *SCORING)

    kept: ClassVar[Mapping[str, attributes.Kind]] = {
        **Weighing.kept,
        "losses_": attributes.floats("members"),
        "best_": attributes.integer(),
    }

    def _check_kind(self, n_members: int, n_outputs: int, is_weighted: bool) -> None:
        metric_of(self.scoring, n_outputs)

    def _learn(self, honest: HonestVotes) -> None:
        self.losses_ = member_losses(learnt_by(self.scoring, honest.n_outputs, honest.classes), honest)
        self.best_ = first_lowest(self.losses_)
        self.weights_ = np.zeros(honest.n_members)
        self.weights_[self.best_] = 1.0


def select(bench: Bench, n_start: int, n_steps: int, patience: int | None) -> tuple[list[int], float]:
    """The members of the best mean along the way, in the order in which they were added, and its loss."""
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
    """The first member of the lowest loss, up to rounding."""
    lowest = losses.min()
    return int(np.flatnonzero(losses <= lowest + ROUNDING * abs(lowest))[0])
