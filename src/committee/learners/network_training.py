"""Train networks: prepare the rows, set the learning rate of each step, and stop early.

In: a `Training` and `NetworkSettings`. Out: `Learnt`, the parameters with the lowest loss on held-out rows
of each network. The engine takes the steps. Rows are sorted by their content, and a row of weight 2 is
repeated, so neither the order of the table nor the way to repeat a row changes a bit of the result.
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

# With fewer rows for each network, all networks train on all rows.
LEAST_ROWS_KEPT = 5
# The approximate maximum number of inputs that are bins of all columns of numbers.
MOST_INPUTS = 1024
# The count of a class without training rows.
HALF_A_ROW = 0.5
# The number of cycles of the learning rate, each about twice as long as the previous one. The rate is near 0
# at the end of a cycle, where the loss of a network is lowest.
N_CYCLES = 4
# The number of rounds of steps. The held-out loss is computed after a round. The cycles end at 1, 3, 7 and 15
# fifteenths of the steps.
N_ROUNDS = 30
# The held-out loss is computed only if that reads at most this share of the rows that the steps of the round
# read. At the ends of cycles it is always computed.
COST_OF_EVALUATION = 0.75
# With a deadline, the first steps are timed, and all steps together use this share of the time.
N_TIMED = 5
TIME_USED = 0.8
# The share of every label that is spread over all classes, against overconfident networks.
LABEL_SMOOTHING = 0.02
# Dropout regularises the networks, so the engine's AdamW needs no weight decay.
WEIGHT_DECAY = 0.0


@dataclass(frozen=True, eq=False)
class NetworkRows:
    """The training rows of networks.

    Parameters
    ----------
    encoding : Inputs
    inputs : ndarray of float32 of shape (n_rows, n_inputs)
    classes : ndarray of int32 of shape (n_rows,)
        Codes of the classes. Empty in regression.
    numbers : ndarray of float32 of shape (n_rows,)
        Targets of mean 0 and standard deviation 1. Empty in classification.
    weights : ndarray of float32 of shape (n_rows,)
        Weights of mean 1.
    start : ndarray of float32 of shape (n_outputs,)
        The initial outputs, which do not depend on the inputs.
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
        """Prepare the rows of a fit."""
        assert isinstance(training.table, Table)
        table, y, weights = in_order(training.table, training.y, training.weights)
        most_bins = max(1, min(n_bins, MOST_INPUTS // table.schema.n_columns))
        encoding = learn_inputs(table, weights, most_bins)
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
        """Return the network that holds out each row, or None if there are too few rows to hold out."""
        if n_folds < 2 or self.n_rows < n_folds * LEAST_ROWS_KEPT:
            return None
        return dealt_folds(self.classes if len(self.classes) else self.numbers, n_folds, rng)


def in_order(table: Table, y: np.ndarray, weights: np.ndarray | None) -> tuple[Table, np.ndarray, np.ndarray]:
    """Return the rows of positive weight in the order of their content. Repeat rows if weights are counts.

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
    # Ranks do not depend on the unit of numbers.
    ranks = np.unique(y[rows], return_inverse=True)[1]
    keys = row_keys([*(column[rows] for column in table.columns), ranks])
    rows = rows[np.lexsort([weights[rows], keys])]
    if are_repetitions(weights):
        rows = np.repeat(rows, weights[rows].astype(np.int64))
        weights = np.ones(table.n_rows)
    columns = tuple(column[rows] for column in table.columns)
    # A power of two brings tiny and huge weights near to one without changing a ratio.
    near_one = weights[rows] * np.ldexp(1.0, -int(np.frexp(weights.max())[1]))
    return Table(table.schema, columns, len(rows)), y[rows], near_one


def row_keys(columns: list[np.ndarray]) -> np.ndarray:
    """Return a hash of 64 bits for each row.

    Examples
    --------
    >>> keys = row_keys([np.array([0.0, -0.0, 1.0, np.nan, np.nan])])
    >>> keys[0] == keys[1], keys[1] == keys[2], keys[3] == keys[4]
    (np.True_, np.False_, np.True_)
    """
    keys = np.zeros(len(columns[0]), dtype=np.uint64)
    for column in columns:
        check()
        # Adding 0 turns -0 into 0.
        values = column.astype(np.float64) + 0.0
        values[np.isnan(values)] = np.nan
        keys = mixed(keys ^ mixed(values.view(np.uint64)))
    return keys


def mixed(bits: np.ndarray) -> np.ndarray:
    """Hash 64 bits by the finaliser of SplitMix64 (Steele, Lea and Flood 2014)."""
    bits = bits + np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


@dataclass(frozen=True)
class NetworkSettings:
    """The settings of a training of networks.

    Parameters
    ----------
    hidden : list of int
        The number of units in each layer.
    n_members : int
        The number of networks.
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


@dataclass(frozen=True, eq=False)
class Learnt:
    """The trained networks.

    Parameters
    ----------
    parameters : ndarray of float32 of shape (n_members, n_parameters)
    n_steps : int
        The number of steps with the lowest held-out loss.
    losses : ndarray of float64
        The held-out losses. Empty if no rows were held out.
    """

    parameters: np.ndarray
    n_steps: int
    losses: np.ndarray


def learn(
    rows: NetworkRows, folds: np.ndarray | None, settings: NetworkSettings, n_threads: int, work: Work
) -> Learnt:
    """Train networks until the held-out loss no longer improves, or the time is up.

    Parameters
    ----------
    rows : NetworkRows
    folds : ndarray of int32 of shape (n_rows,), or None
        The network that holds out each row. None trains all networks on all rows, for all steps.
    settings : NetworkSettings
    n_threads : int
    work : Work
        Receives the number of rounds that are done.
    """
    training = _engine.NetworkTraining(
        rows.inputs,
        rows.classes,
        rows.numbers,
        rows.weights,
        np.full(rows.n_rows, -1, dtype=np.int32) if folds is None else folds,
        settings.hidden,
        rows.start,
        settings.n_members,
        len(rows.classes) > 0,
        settings.batch_size,
        WEIGHT_DECAY,
        LABEL_SMOOTHING if len(rows.classes) else 0.0,
        settings.seed,
    )
    n_steps = steps_in_time(training, settings, n_threads)
    best, best_at, cycle_began = training.parameters(), 0, 0
    losses: list[float] = []
    for n_rounds, (begin, end) in enumerate(rounds_of(n_steps), start=1):
        if begin == end:
            continue
        rates = settings.learning_rate * cyclic((np.arange(begin, end) + 0.5) / n_steps)
        training.advance(rates, settings.dropout, n_threads)
        is_end, is_over = ends_cycle(n_rounds), is_time_up()
        n_read = (end - begin) * settings.batch_size * settings.n_members
        if folds is None:
            best, best_at = training.parameters(), end
            work.report(n_rounds)
        elif is_end or is_over or rows.n_rows <= COST_OF_EVALUATION * n_read:
            loss = training.held_out_loss(n_threads)
            if loss < min(losses, default=np.inf):
                best, best_at = training.parameters(), end
            losses.append(loss)
            work.report(n_rounds, -loss, shown=("loss", loss))
        # After a cycle without improvement, the next one is longer and would overfit more.
        if is_over or (is_end and best_at <= cycle_began):
            break
        if is_end:
            cycle_began = end
    return Learnt(best, best_at, np.array(losses))


def steps_in_time(training: _engine.NetworkTraining, settings: NetworkSettings, n_threads: int) -> int:
    """Return the number of steps. If there is a deadline, time a few steps of rate 0 to limit the number."""
    if seconds_left() is None:
        return settings.n_steps
    began = time.perf_counter()
    training.advance(np.zeros(N_TIMED), settings.dropout, n_threads)
    of_a_step = (time.perf_counter() - began) / N_TIMED
    left = max(0.0, seconds_left() or 0.0)
    n_steps = int(np.clip(TIME_USED * left / of_a_step, 1, settings.n_steps))
    if n_steps < settings.n_steps:
        note_cut()
    return n_steps


def rounds_of(n_steps: int) -> list[tuple[int, int]]:
    """Return the first step of each round and the first step after it. Both are equal in empty rounds.

    Examples
    --------
    >>> rounds_of(60)[:3]
    [(0, 2), (2, 4), (4, 6)]
    """
    ends = np.linspace(0, n_steps, N_ROUNDS + 1).astype(int).tolist()
    return list(itertools.pairwise(ends))


def cyclic(done: np.ndarray) -> np.ndarray:
    """Return the learning rate, as a share of the largest, after a share of all steps (Holzmüller 2024).

    Examples
    --------
    >>> cyclic(np.array([0.0, 0.1, 0.2, 0.3])).round(2)
    array([0.  , 0.72, 0.  , 0.98])
    """
    shares: np.ndarray = 0.5 - 0.5 * np.cos(2 * np.pi * np.log2(1 + (2**N_CYCLES - 1) * done))
    return shares


def ends_cycle(n_rounds: int) -> bool:
    """Return whether a cycle of the learning rate ends after a number of rounds.

    Examples
    --------
    >>> [n for n in range(1, N_ROUNDS + 1) if ends_cycle(n)]
    [2, 6, 14, 30]
    """
    fifteenths = n_rounds * (2**N_CYCLES - 1) / N_ROUNDS
    return bool(np.log2(1 + fifteenths).is_integer())
