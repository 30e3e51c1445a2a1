"""Train networks: prepare the rows, set the learning rate of each step, and stop early.

In: a `Training` and a `Schedule`. Out: `Learnt`, the parameters with the lowest loss on the rows that each
network did not see. The engine takes the steps. Rows are sorted by their content, and a row of weight 2 is
repeated. So neither the order of the table nor the way to repeat a row changes a bit of the result.
"""

from __future__ import annotations

import itertools
import time
from dataclasses import dataclass

import numpy as np

from committee import _engine
from committee.learners.training_data import Training
from committee.running import Work
from committee.running.deadline import check, is_time_up, note_cut, seconds_left
from committee.table import Table
from committee.table.column_summaries import mean_and_deviation
from committee.table.network_inputs import Inputs, learn_inputs
from committee.task import Regression, are_repetitions
from committee.votes.folds import dealt_folds

# Fewer rows than these for each network are all seen by all of them.
LEAST_ROWS_KEPT = 5
# About so many inputs are bins at most: many columns have fewer.
MOST_INPUTS = 1024
# The share of a class that has no row to learn from, in rows.
HALF_A_ROW = 0.5
# The learning rate rises and falls so often, each time for about twice as long as before. It ends a cycle
# near 0, which is when a network is at its best.
N_CYCLES = 4
# After each of so many rounds of steps the held-out rows are looked at. The cycles end at 1, 3, 7 and 15
# fifteenths of the way.
N_ROUNDS = 30
# A look at the held-out rows costs no more, in rows, than this share of the steps of a round; but the ends of
# cycles are always looked at.
COST_OF_LOOKS = 0.75
# With a deadline, the first steps are timed, and all steps together use this share of the time.
N_TIMED = 5
TIME_USED = 0.8
# The share of every label that is spread over all classes, which keeps networks from being too sure.
LABEL_SMOOTHING = 0.02
# The engine's AdamW could let weights decay. Dropout regularises the networks instead.
WEIGHT_DECAY = 0.0


@dataclass(frozen=True, eq=False)
class NetworkRows:
    """Rows to learn from.

    Parameters
    ----------
    encoding : Inputs
    inputs : ndarray of float32 of shape (n_rows, n_inputs)
    classes : ndarray of int32 of shape (n_rows,)
        Codes; empty if the rows have numbers.
    numbers : ndarray of float32 of shape (n_rows,)
        Of mean 0 and standard deviation 1; empty if the rows have classes.
    weights : ndarray of float32 of shape (n_rows,)
        Of mean 1.
    start : ndarray of float32 of shape (n_outputs,)
        The outputs of a network that knows no inputs.
    scaling : ndarray of float64 of shape (4,)
        The mean, the standard deviation and the range of the numbers; 0, 1, 0, 1 for classes.
    """

    encoding: Inputs
    inputs: np.ndarray
    classes: np.ndarray
    numbers: np.ndarray
    weights: np.ndarray
    start: np.ndarray
    scaling: np.ndarray

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.inputs)

    @classmethod
    def of(cls, training: Training, n_bins: int) -> NetworkRows:
        """The rows of a fit."""
        assert isinstance(training.table, Table)
        table, y, weights = in_order(training.table, training.y, training.weights)
        encoding = learn_inputs(table, weights, bins_of_a_column(n_bins, table.schema.n_columns))
        classes, numbers = np.empty(0, dtype=np.int32), np.empty(0, dtype=np.float32)
        scaling = np.array([0.0, 1.0, 0.0, 1.0])
        if isinstance(training.task, Regression):
            center, spread = mean_and_deviation(y, weights)
            numbers = ((y - center) / spread).astype(np.float32)
            scaling = np.array([center, spread, y.min(), y.max()])
            start = np.zeros(1, dtype=np.float32)
        else:
            classes = y.astype(np.int32)
            totals = np.bincount(classes, weights=weights, minlength=training.n_classes)
            start = np.log((totals + HALF_A_ROW * weights.mean()) / weights.sum()).astype(np.float32)
        mean_one = (weights / weights.mean()).astype(np.float32)
        return cls(encoding, encoding.encode(table), classes, numbers, mean_one, start, scaling)

    def folds(self, n_folds: int, rng: np.random.RandomState) -> np.ndarray | None:
        """Return for each row the network that does not see it; None if there are too few rows for that."""
        if n_folds < 2 or self.n_rows < n_folds * LEAST_ROWS_KEPT:
            return None
        return dealt_folds(self.classes if len(self.classes) else self.numbers, n_folds, rng)


def bins_of_a_column(n_bins: int, n_columns: int) -> int:
    """How many bins a column of numbers has at most, if so many are wanted."""
    return max(1, min(n_bins, MOST_INPUTS // n_columns))


def in_order(table: Table, y: np.ndarray, weights: np.ndarray | None) -> tuple[Table, np.ndarray, np.ndarray]:
    """The rows of positive weight in an order of their own; those that weights count are repeated.

    Examples
    --------
    >>> from committee.table import read
    >>> table, y = read([[2.0], [1.0], [7.0]]), np.array([5, 4, 5])
    >>> twice, _, weights = in_order(table, y, np.array([1.0, 2.0, 0.0]))
    >>> sorted(twice.columns[0].tolist()), weights
    ([1.0, 1.0, 2.0], array([0.5, 0.5, 0.5]))
    """
    weights = np.ones(table.n_rows) if weights is None else weights
    rows = np.flatnonzero(weights)
    # Numbers are counted, so that what unit they are in does not matter.
    ranks = np.unique(y[rows], return_inverse=True)[1]
    keys = row_keys([*(column[rows] for column in table.columns), ranks])
    rows = rows[np.lexsort([weights[rows], keys])]
    if are_repetitions(weights):
        rows = np.repeat(rows, weights[rows].astype(np.int64))
        weights = np.ones(table.n_rows)
    columns = tuple(column[rows] for column in table.columns)
    # Tiny and huge weights are brought near to one by a power of two, which changes no ratio.
    given = weights[rows] * np.ldexp(1.0, -int(np.frexp(weights.max())[1]))
    return Table(table.schema, columns, len(rows)), y[rows], given


def row_keys(columns: list[np.ndarray]) -> np.ndarray:
    """64 bits for each row that differ, but for chance, if a value does.

    Examples
    --------
    >>> keys = row_keys([np.array([0.0, -0.0, 1.0, np.nan, np.nan])])
    >>> keys[0] == keys[1], keys[1] == keys[2], keys[3] == keys[4]
    (np.True_, np.False_, np.True_)
    """
    keys = np.zeros(len(columns[0]), dtype=np.uint64)
    for column in columns:
        check()
        # Adding 0 makes the two zeros one.
        values = column.astype(np.float64) + 0.0
        values[np.isnan(values)] = np.nan
        keys = mixed(keys ^ mixed(values.view(np.uint64)))
    return keys


def mixed(bits: np.ndarray) -> np.ndarray:
    """The finaliser of SplitMix64 (Steele, Lea and Flood 2014)."""
    bits = bits + np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


@dataclass(frozen=True)
class Schedule:
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


def learn(
    rows: NetworkRows, folds: np.ndarray | None, schedule: Schedule, n_threads: int, work: Work
) -> Learnt:
    """Let networks learn until the held-out rows say that they get no better, or the time is up.

    Parameters
    ----------
    rows : NetworkRows
    folds : ndarray of int32 of shape (n_rows,), or None
        The network that each row is kept from; None: all networks see all rows, and take all steps.
    schedule : Schedule
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
        schedule.hidden,
        rows.start,
        schedule.n_members,
        len(rows.classes) > 0,
        schedule.batch_size,
        WEIGHT_DECAY,
        LABEL_SMOOTHING if len(rows.classes) else 0.0,
        schedule.seed,
    )
    n_steps = steps_in_time(training, schedule, n_threads)
    best, best_at, cycle_began = training.parameters(), 0, 0
    losses: list[float] = []
    for n_rounds, (begin, end) in enumerate(rounds_of(n_steps), start=1):
        if begin == end:
            continue
        rates = schedule.learning_rate * cyclic((np.arange(begin, end) + 0.5) / n_steps)
        training.advance(rates, schedule.dropout, n_threads)
        is_end, is_over = ends_cycle(n_rounds), is_time_up()
        if folds is None:
            best, best_at = training.parameters(), end
            work.report(n_rounds)
        elif is_end or is_over or rows.n_rows <= COST_OF_LOOKS * schedule.rows_seen(end - begin):
            loss = training.held_out_loss(n_threads)
            if loss < min(losses, default=np.inf):
                best, best_at = training.parameters(), end
            losses.append(loss)
            work.report(n_rounds, -loss, shown=("loss", loss))
        # After a cycle that has brought nothing, the next, which is longer, fits its rows even closer.
        if is_over or (is_end and best_at <= cycle_began):
            break
        if is_end:
            cycle_began = end
    return Learnt(best, best_at, np.array(losses))


def steps_in_time(training: _engine.NetworkTraining, schedule: Schedule, n_threads: int) -> int:
    """The steps of a schedule, or fewer if there is a deadline: steps of rate 0 show how long one takes."""
    if seconds_left() is None:
        return schedule.n_steps
    began = time.perf_counter()
    training.advance(np.zeros(N_TIMED), schedule.dropout, n_threads)
    of_a_step = (time.perf_counter() - began) / N_TIMED
    left = max(0.0, seconds_left() or 0.0)
    n_steps = int(np.clip(TIME_USED * left / of_a_step, 1, schedule.n_steps))
    if n_steps < schedule.n_steps:
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
