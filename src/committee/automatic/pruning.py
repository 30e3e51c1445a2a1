"""Pruning: the members that lower the loss most, for what may be spent on them.

In: honest votes, and what each member costs. Out: the members that stay.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from committee.assembling.seats import Seat
from committee.assembling.votes import HonestVotes
from committee.combining.naming import rule_named

# One row is timed so often, and the quickest time counts: the others waited for something else.
N_TIMES = 20


def affordable(honest: HonestVotes, costs: np.ndarray, most: float, metric: Any) -> list[int]:
    """Members, chosen one after the other, that cost no more than may be spent.

    Parameters
    ----------
    honest : HonestVotes
    costs : ndarray of shape (n_members,)
    most : float
        What they may cost together.
    metric : str, callable or None
        What is to be low; see `GreedyRule`.

    Returns
    -------
    list of int
        The next is always the one with which greedy selection reaches the lowest loss, and nobody joins who
        does not lower it. In the order of the members; empty if nobody is cheap enough.

    Examples
    --------
    >>> votes = np.array([[[0.9, 0.1], [0.2, 0.8]], [[0.8, 0.2], [0.3, 0.7]], [[0.4, 0.6], [0.5, 0.5]]])
    >>> honest = HonestVotes(votes, np.array([0, 1]), None, None, np.arange(2))
    >>> affordable(honest, np.array([5.0, 1.0, 1.0]), 2.0, None)
    [1]
    """
    chosen: list[int] = []
    loss = np.inf
    while True:
        left = most - costs[chosen].sum()
        others = [place for place in np.flatnonzero(costs <= left).tolist() if place not in chosen]
        losses = [greedy_loss(honest, [*chosen, place], metric) for place in others]
        if not losses or min(losses) >= loss:
            return sorted(chosen)
        loss = min(losses)
        chosen.append(others[int(np.argmin(losses))])


def greedy_loss(honest: HonestVotes, places: list[int], metric: Any) -> float:
    """The loss that greedy selection reaches with some members."""
    rule: Any = rule_named("greedy").set_params(metric=metric)
    rule.fit(honest.votes[sorted(places)], honest.y, None, honest.weights)
    return float(rule.losses_[0])


def only(honest: HonestVotes, places: list[int]) -> HonestVotes:
    """The honest votes of some members."""
    return HonestVotes(honest.votes[places], honest.y, honest.weights, honest.groups, honest.rows)


def quickest(work: Callable[[], object]) -> float:
    """How many seconds some work takes if nothing disturbs it."""
    times = []
    for _ in range(N_TIMES):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return min(times)


def bytes_of(seat: Seat) -> int:
    """How large the models of a member are."""
    return len(pickle.dumps(seat.models, protocol=5))
