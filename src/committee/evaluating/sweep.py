"""The sweep over the cells of a study that are not finished: each is a task of a runner, and is kept.

All learners run on all tables by the first resample before any does by the next, so that a study that is
stopped has compared on as many tables as it could. A table is in memory while its cells of one resample run.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from committee.evaluating.cells import Cell, Outcome, run_cell
from committee.evaluating.limits import Limits, outcome_of, run_within
from committee.evaluating.store import TableRecord
from committee.evaluating.tables import StudyTable
from committee.running import Runner, Task, Work, receiving


class Pace:
    """Estimate the seconds of cells: as another resample of the same, or by the size of the table.

    Parameters
    ----------
    sizes : dict of str to float
        The size of each table, in any unit that time grows with.

    Examples
    --------
    >>> pace = Pace({"small": 100, "large": 1000})
    >>> pace.add(Cell(0, "small", "rf"), 2.0)
    >>> pace.left({("rf", "small"): 1, ("rf", "large"): 1}, n_workers=2)
    11.0
    """

    def __init__(self, sizes: dict[str, float]) -> None:
        self._sizes = sizes
        # Sums and counts: of a learner on a table; of a learner; of all.
        self._of_pair: dict[tuple[str, str], list[float]] = defaultdict(lambda: [0.0, 0.0])
        self._of_learner: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
        self._of_all = [0.0, 0.0]

    def add(self, cell: Cell, seconds: float) -> None:
        """Add the time of a finished cell."""
        size = self._sizes[cell.table]
        for sums, amount in (
            (self._of_pair[cell.learner, cell.table], 1.0),
            (self._of_learner[cell.learner], size),
            (self._of_all, size),
        ):
            sums[0] += seconds
            sums[1] += amount

    def seconds(self, learner: str, table: str) -> float | None:
        """Estimate the time of a learner on a resample of a table; None if nothing is known."""
        size = self._sizes[table]
        for sums, amount in (
            (self._of_pair.get((learner, table)), 1.0),
            (self._of_learner.get(learner), size),
            (self._of_all, size),
        ):
            if sums is not None and sums[1]:
                return sums[0] / sums[1] * amount
        return None

    def left(self, n_cells: Mapping[tuple[str, str], int], n_workers: int) -> float | None:
        """Estimate the time of cells, counted by learner and table; None if nothing is known."""
        total = 0.0
        for pair, count in n_cells.items():
            guess = self.seconds(*pair)
            if guess is None:
                return None
            total += count * guess
        return total / n_workers


@dataclass(eq=False)
class Sweep:
    """What is to be run, and how.

    Parameters
    ----------
    cells : list of Cell
        In their order: the cells of a table by one resample follow each other.
    estimators : mapping of (str, str) to estimator
        By learner and task.
    tables : mapping of str to StudyTable
    records : mapping of str to TableRecord
    split : callable
        From a table and a resample to the mask of the rows that are judged on.
    cv : int, splitter or None
    limits : Limits
    pace : Pace
    """

    cells: list[Cell]
    estimators: Mapping[tuple[str, str], Any]
    tables: Mapping[str, StudyTable]
    records: Mapping[str, TableRecord]
    split: Callable[[str, int], np.ndarray]
    cv: Any
    limits: Limits
    pace: Pace
    _shared: dict[tuple[str, int], Any] = field(default_factory=dict)
    _n_open: Counter[tuple[str, int]] = field(default_factory=Counter)

    def run(self, run: Runner, work: Work, keep: Callable[[Cell, Outcome], None]) -> None:
        """Run all cells, and keep each when it has ended.

        Parameters
        ----------
        run : Runner
        work : Work
            Told of every cell that has ended, with a guess of the time that is left.
        keep : callable
            Called with the cell and its outcome.
        """
        waiting = deque(self.cells)
        self._n_open = Counter((cell.table, cell.resample) for cell in self.cells)
        n_left = Counter((cell.learner, cell.table) for cell in self.cells)
        in_flight: dict[Task, Cell] = {}
        n_done = 0
        try:
            while waiting or in_flight:
                while waiting and len(in_flight) < run.n_workers:
                    cell = waiting.popleft()
                    in_flight[self._submit(cell, run)] = cell
                task = run.first_completed(in_flight)
                assert task is not None
                cell = in_flight.pop(task)
                outcome = outcome_of(task)
                keep(cell, outcome)
                self._close(cell)
                if outcome.error is None:
                    self.pace.add(cell, outcome.seconds)
                n_done += 1
                n_left[cell.learner, cell.table] -= 1
                work.tell(n_done, part=str(cell), seconds_left=self.pace.left(+n_left, run.n_workers))
        finally:
            for task in in_flight:
                task.cancel()

    def _submit(self, cell: Cell, run: Runner) -> Task:
        """Let a cell be run."""
        place = cell.table, cell.resample
        record = self.records[cell.table]
        if place not in self._shared:
            lesson, found = self.tables[cell.table].read()
            if found.fingerprint != record.fingerprint:
                raise ValueError(f"Table {cell.table!r} has changed while the study was running.")
            self._shared[place] = run.put(lesson)
        shared = self._shared[place]
        estimator = self.estimators[cell.learner, record.task]
        given = shared, cell, estimator, self.split(*place), self.cv
        # How far the trees of a cell are would drown how far the study is.
        with receiving(None):
            if self.limits.are_set:
                return run.submit(run_within, self.limits, record.fingerprint, *given, name=str(cell))
            return run.submit(run_cell, *given, name=str(cell))

    def _close(self, cell: Cell) -> None:
        """Let a table go when its cells of a resample have ended."""
        place = cell.table, cell.resample
        self._n_open[place] -= 1
        if not self._n_open[place]:
            del self._shared[place]
