"""How networks learn: steps whose size follows a schedule, and the moment at which they are best.

In: `NetworkRows` and a `Plan`. Out: `Learnt`, the parameters that did best on rows that each network was kept
from. The engine takes the steps; here it is said how large they are, and when to stop.
"""

from __future__ import annotations

import itertools
import time
from dataclasses import dataclass

import numpy as np

from committee import _engine
from committee.learners.network_rows import NetworkRows
from committee.running import Work
from committee.running.stopping import is_time_up, note_cut, seconds_left

# The learning rate rises and falls so often, each time for about twice as long as before. It ends a cycle
# near 0, which is when a network is at its best.
N_CYCLES = 4
# After each of so many rounds of steps the held-out rows are looked at. The cycles end at 1, 3, 7 and 15
# fifteenths of the way.
N_ROUNDS = 30
# A look at the held-out rows costs no more, in rows, than this share of the steps of a round; but the ends of
# cycles are always looked at.
COST_OF_LOOKS = 0.75
# The first steps tell how long one takes, if there is a deadline; the plan then uses this share of the time.
N_TIMED = 5
TIME_USED = 0.8
# The share of every label that is spread over all classes, which keeps networks from being too sure.
LABEL_SMOOTHING = 0.02
# The engine's AdamW could let weights decay. Dropout regularises the networks instead.
WEIGHT_DECAY = 0.0


@dataclass(frozen=True)
class Plan:
    """What is decided before the first step.

    Parameters
    ----------
    hidden : list of int
        The number of units in each layer.
    n_members : int
        Of networks.
    batch_size : int
    n_steps : int
    learning_rate : float
    dropout : float
    seed : int
    """

    hidden: list[int]
    n_members: int
    batch_size: int
    n_steps: int
    learning_rate: float
    dropout: float
    seed: int

    def rows_seen(self, n_steps: int) -> int:
        """How often rows are looked at in some steps of all networks."""
        return n_steps * self.batch_size * self.n_members


@dataclass(frozen=True, eq=False)
class Learnt:
    """Networks that have learnt.

    Parameters
    ----------
    parameters : ndarray of float32 of shape (n_members, n_parameters)
    n_steps : int
        After so many steps they were at their best.
    losses : ndarray of float64
        The loss of the held-out rows, every time that it was looked at; empty if there are none.
    """

    parameters: np.ndarray
    n_steps: int
    losses: np.ndarray


def learn(rows: NetworkRows, folds: np.ndarray | None, plan: Plan, n_threads: int, work: Work) -> Learnt:
    """Let networks learn until the held-out rows say that they get no better, or the time is up.

    Parameters
    ----------
    rows : NetworkRows
    folds : ndarray of int32 of shape (n_rows,), or None
        The network that each row is kept from; None: all networks see all rows, and take all steps.
    plan : Plan
    n_threads : int
    work : Work
        Is told how many rounds are done.
    """
    training = _engine.NetworkTraining(
        rows.inputs,
        rows.classes,
        rows.numbers,
        rows.weights,
        np.full(rows.n_rows, -1, dtype=np.int32) if folds is None else folds,
        plan.hidden,
        rows.start,
        plan.n_members,
        len(rows.classes) > 0,
        plan.batch_size,
        WEIGHT_DECAY,
        LABEL_SMOOTHING if len(rows.classes) else 0.0,
        plan.seed,
    )
    n_steps = steps_in_time(training, plan, n_threads)
    best, best_at, cycle_began = training.parameters(), 0, 0
    losses: list[float] = []
    for n_rounds, (begin, end) in enumerate(rounds_of(n_steps), start=1):
        if begin == end:
            continue
        rates = plan.learning_rate * cyclic((np.arange(begin, end) + 0.5) / n_steps)
        training.advance(rates, plan.dropout, n_threads)
        is_end, is_over = ends_cycle(n_rounds), is_time_up()
        if folds is None:
            best, best_at = training.parameters(), end
            work.tell(n_rounds)
        elif is_end or is_over or rows.n_rows <= COST_OF_LOOKS * plan.rows_seen(end - begin):
            loss = training.held_out_loss(n_threads)
            if loss < min(losses, default=np.inf):
                best, best_at = training.parameters(), end
            losses.append(loss)
            work.tell(n_rounds, -loss, shown=("loss", loss))
        # After a cycle that has brought nothing, the next, which is longer, fits its rows even closer.
        if is_over or (is_end and best_at <= cycle_began):
            break
        if is_end:
            cycle_began = end
    return Learnt(best, best_at, np.array(losses))


def steps_in_time(training: _engine.NetworkTraining, plan: Plan, n_threads: int) -> int:
    """The steps of a plan, or fewer if there is a deadline: steps of rate 0 show how long one takes."""
    if seconds_left() is None:
        return plan.n_steps
    began = time.perf_counter()
    training.advance(np.zeros(N_TIMED), plan.dropout, n_threads)
    of_a_step = (time.perf_counter() - began) / N_TIMED
    left = max(0.0, seconds_left() or 0.0)
    n_steps = int(np.clip(TIME_USED * left / of_a_step, 1, plan.n_steps))
    if n_steps < plan.n_steps:
        note_cut()
    return n_steps


def rounds_of(n_steps: int) -> list[tuple[int, int]]:
    """The first step of each round, and the one after its last; the same if there are few steps.

    Examples
    --------
    >>> rounds_of(60)[:3]
    [(0, 2), (2, 4), (4, 6)]
    """
    ends = np.linspace(0, n_steps, N_ROUNDS + 1).astype(int).tolist()
    return list(itertools.pairwise(ends))


def cyclic(done: np.ndarray) -> np.ndarray:
    """The learning rate, as a share of the largest, when a share of all steps is done (Holzmüller 2024).

    Examples
    --------
    >>> cyclic(np.array([0.0, 0.1, 0.2, 0.3])).round(2)
    array([0.  , 0.72, 0.  , 0.98])
    """
    shares: np.ndarray = 0.5 - 0.5 * np.cos(2 * np.pi * np.log2(1 + (2**N_CYCLES - 1) * done))
    return shares


def ends_cycle(n_rounds: int) -> bool:
    """Whether the learning rate is at its lowest after so many rounds.

    Examples
    --------
    >>> [n for n in range(1, N_ROUNDS + 1) if ends_cycle(n)]
    [2, 6, 14, 30]
    """
    fifteenths = n_rounds * (2**N_CYCLES - 1) / N_ROUNDS
    return bool(np.log2(1 + fifteenths).is_integer())
