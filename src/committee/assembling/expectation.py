"""EM for mixtures of experts (Jordan and Jacobs 1994): from a random start uphill to a maximum.

In: rows, and what makes gates and experts. Out: a `Mixture`. The objective is the log-likelihood of the rows,
less the penalties of gates and experts of our own. With soft assignment the likelihood of a row is the sum
over experts of gate times density; with hard assignment it is the largest of these.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logsumexp, softmax

from committee.assembling.expert_learners import (
    Expert,
    Learner,
    LinearLearner,
    OtherLearner,
    Rows,
    SoftmaxLearner,
)
from committee.assembling.gating import Branches, Gating, OtherGating, SoftmaxGating, joined_logs
from committee.members.tasks import naming, numbered
from committee.running import Work
from committee.running.stopping import check, is_time_up
from committee.running.surroundings import BlasLimit
from committee.task import Classification

# How much of a row is shared out evenly at the start, whatever is near it.
EVEN_SHARE = 0.05
# An expert whose share of all weight is less stays as it is.
LEAST_SHARE = 1e-8
# Sums of several threads differ in their last bits.
ONE_THREAD = BlasLimit(1)


@dataclass(frozen=True, eq=False)
class Plan:
    """How a mixture is to be learnt.

    Parameters
    ----------
    name : str
        Of the estimator, for events.
    tree : Branches
    estimator, gate_estimator : estimator or None
        None is a linear one of our own.
    is_hard : bool
        Whether each row belongs to one expert.
    alpha, tol : float
    max_iter, seed : int
    """

    name: str
    tree: Branches
    estimator: Any
    gate_estimator: Any
    is_hard: bool
    alpha: float
    tol: float
    max_iter: int
    seed: int


@dataclass(frozen=True, eq=False)
class Mixture:
    """Gates and experts.

    Parameters
    ----------
    gates : list
        Level by level; None before the first iteration, like the experts.
    experts : list of Expert
    objectives : ndarray of shape (n_iterations,)
        After each iteration; it never falls.
    has_converged : bool
    """

    gates: list[Any]
    experts: list[Any]
    objectives: np.ndarray
    has_converged: bool


def climb(rows: Rows, plan: Plan, restart: int) -> Mixture:
    """Find a mixture from one random start.

    Every iteration fits experts and gates to the shares that the experts have in the rows, and then finds
    these shares anew. It ends when the objective gains no more than `tol` for a row of weight 1; a step that
    lowers it, which experts and gates of other kinds may make, is taken back and is the last.
    """
    seed = (plan.seed, restart)
    learner, gating = learner_of(rows, plan, (*seed, 0)), gating_of(rows, plan, (*seed, 1))
    total = rows.weights.sum()
    with one_thread(), Work("iterations", plan.name, plan.max_iter, is_limit=True) as work:
        shares = first_shares(rows, plan, np.random.default_rng(seed))
        found = Mixture([None] * plan.tree.n_gates, [None] * plan.tree.n_experts, np.empty(0), False)
        while len(found.objectives) < plan.max_iter and not found.has_converged:
            check()
            gates, experts = maximise(rows, plan, shares, found, learner, gating)
            logs = joint_logs(rows, plan, gates, experts, learner)
            objective, shares = expect(logs, rows.weights, plan.is_hard)
            objective -= sum(map(gating.penalty, gates)) + sum(map(learner.penalty, experts))
            last = found.objectives[-1] if len(found.objectives) else -np.inf
            if objective < last:
                return Mixture(found.gates, found.experts, found.objectives, True)
            has_converged = bool(objective - last <= plan.tol * total)
            found = Mixture(gates, experts, np.append(found.objectives, objective), has_converged)
            work.tell(len(found.objectives), objective / total)
            if is_time_up():
                break
    return found


def maximise(
    rows: Rows, plan: Plan, shares: np.ndarray, found: Mixture, learner: Learner, gating: Gating
) -> tuple[list[Any], list[Expert]]:
    """The M-step: gates and experts for the shares. An expert without rows stays; at first it takes all."""
    weights = shares * rows.weights[:, None]
    experts = []
    for number, before in enumerate(found.experts):
        own = weights[:, number]
        has_rows = own.sum() > LEAST_SHARE * rows.weights.sum()
        if has_rows or before is None:
            before = learner.fit(own if has_rows else rows.weights, before, number)
        experts.append(before)
    targets = plan.tree.split(weights)
    gates = [
        gating.fit(target, before, number)
        for number, (target, before) in enumerate(zip(targets, found.gates, strict=True))
    ]
    return gates, experts


def joint_logs(
    rows: Rows, plan: Plan, gates: list[Any], experts: list[Expert], learner: Learner
) -> np.ndarray:
    """The logarithm of gate times density, of shape (n_rows, n_experts)."""
    densities = []
    for number, expert in enumerate(experts):
        with naming(numbered(number, expert.model, "Expert"), "vote"):
            densities.append(learner.log_density(expert))
    return joined_logs(gates, plan.tree, rows.matrix) + np.column_stack(densities)


def expect(logs: np.ndarray, weights: np.ndarray, is_hard: bool) -> tuple[float, np.ndarray]:
    """The E-step: the log-likelihood of the rows, and the share of each expert in each row.

    Examples
    --------
    >>> logs = np.log([[0.1, 0.3], [0.2, 0.2]])
    >>> expect(logs, np.ones(2), is_hard=False)[1]
    array([[0.25, 0.75],
           [0.5 , 0.5 ]])
    >>> expect(logs, np.ones(2), is_hard=True)[1]
    array([[0., 1.],
           [1., 0.]])
    """
    if is_hard:
        return float(weights @ logs.max(axis=1)), np.eye(logs.shape[1])[logs.argmax(axis=1)]
    return float(weights @ logsumexp(logs, axis=1)), softmax(logs, axis=1)


def first_shares(rows: Rows, plan: Plan, rng: np.random.Generator) -> np.ndarray:
    """Each expert begins around a row that is drawn by weight, and has its share of the rows near it."""
    n_rows, n_experts = len(rows.y), plan.tree.n_experts
    chance = rows.weights / rows.weights.sum()
    centers = rows.matrix[rng.choice(n_rows, size=n_experts, replace=n_rows < n_experts, p=chance)]
    squares = np.column_stack([((rows.matrix - center) ** 2).sum(axis=1) for center in centers])
    width = float(chance @ squares.min(axis=1)) or 1.0
    _, shares = expect(-squares / width, rows.weights, plan.is_hard)
    return shares if plan.is_hard else (1 - EVEN_SHARE) * shares + EVEN_SHARE / n_experts


def learner_of(rows: Rows, plan: Plan, seed: tuple[int, ...]) -> Learner:
    """What makes the experts."""
    if plan.estimator is not None:
        return OtherLearner(rows, plan.estimator, seed)
    if isinstance(rows.task, Classification):
        seen, codes = np.unique(rows.y, return_inverse=True)
        return SoftmaxLearner(rows.matrix, codes, rows.task.classes[seen], plan.alpha)
    return LinearLearner(rows, plan.alpha)


def gating_of(rows: Rows, plan: Plan, seed: tuple[int, ...]) -> Gating:
    """What makes the gates."""
    if plan.gate_estimator is not None:
        return OtherGating(rows.matrix, plan.gate_estimator, seed)
    return SoftmaxGating(rows.matrix, plan.alpha)


@contextmanager
def one_thread() -> Iterator[None]:
    """Hold linear algebra to one thread for a while."""
    ONE_THREAD.begin()
    try:
        yield
    finally:
        ONE_THREAD.end(None)
        ONE_THREAD.release()
