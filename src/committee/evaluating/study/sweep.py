"""Compute the outcomes of a study's cells: read tables, run the open cells, and combine votes by rules.

Each open cell is a task of a runner. All learners run on all tables with the first resample before the next
resample starts, so that a study that is stopped early compares on as many tables as possible. A table is in
memory while its cells of one resample run.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from committee.assembling.bank.ballot import table_print
from committee.assembling.bank.recipe import written_out
from committee.assembling.named_members import Member, seeded_by_name
from committee.combining.rule import Rule
from committee.combining.rule_registry import as_rule
from committee.evaluating.comparison import listed
from committee.evaluating.study.cell import Outcome, StudyCell, outcome_of, run_cell, run_within
from committee.evaluating.study.store import Store, TableRecord
from committee.members.training_set import TrainingSet
from committee.running import Runner, Task, Work, receiving
from committee.task import Classification, Regression, check_target, guessed_task

TASKS = {"classification": Classification, "regression": Regression}
Seconds = tuple[float, float, float]


class Pace:
    """Estimate the times of cells from other resamples, or else from the size of the table.

    Parameters
    ----------
    sizes : dict of str to float
        The size of each table, in any unit.

    Examples
    --------
    >>> pace = Pace({"small": 100, "large": 1000})
    >>> pace.add(StudyCell(0, "small", "rf"), 2.0)
    >>> pace.left({("rf", "small"): 1, ("rf", "large"): 1}, n_workers=2)
    11.0
    """

    def __init__(self, sizes: dict[str, float]) -> None:
        self._sizes = sizes
        # Sums of seconds and amounts of work: for a learner on a table, for a learner, and for all cells.
        self._sums: dict[tuple[str, ...], list[float]] = defaultdict(lambda: [0.0, 0.0])

    def add(self, cell: StudyCell, seconds: float) -> None:
        """Add the time of a finished cell."""
        for sums, amount in self._levels(cell.learner, cell.table):
            sums[0] += seconds
            sums[1] += amount

    def seconds(self, learner: str, table: str) -> float | None:
        """Estimate the time of a learner on a resample of a table. Return None without finished cells."""
        known = ((sums, amount) for sums, amount in self._levels(learner, table) if sums[1])
        return next((sums[0] / sums[1] * amount for sums, amount in known), None)

    def _levels(self, learner: str, table: str) -> list[tuple[list[float], float]]:
        """Return the sums that a cell belongs to, the most precise first, and its amount of work in each."""
        size = self._sizes[table]
        return [(self._sums[learner, table], 1.0), (self._sums[learner,], size), (self._sums[()], size)]

    def left(self, n_cells: Mapping[tuple[str, str], int], n_workers: int) -> float | None:
        """Estimate the time of cells, counted by learner and table. Return None without finished cells."""
        estimates = [self.seconds(*pair) for pair in n_cells]
        if None in estimates:
            return None
        return sum(n * each for n, each in zip(n_cells.values(), estimates, strict=True) if each) / n_workers


@dataclass(eq=False)
class Sweep:
    """The open cells of a study, and the arguments to run them with.

    Parameters
    ----------
    cells : list of StudyCell
        The cells of the same table and resample are adjacent.
    estimators : mapping of (str, str) to estimator
        The estimators by learner and task.
    tables : mapping of str to StudyTable
    records : mapping of str to TableRecord
    split : callable
        A function of a table and a resample that returns the mask of the test rows.
    cv : int, splitter or None
    time_limit : float or None
        The seconds of a cell.
    pace : Pace
    """

    cells: list[StudyCell]
    estimators: Mapping[tuple[str, str], Any]
    tables: Mapping[str, StudyTable]
    records: Mapping[str, TableRecord]
    split: Callable[[str, int], np.ndarray]
    cv: int | None
    time_limit: float | None
    pace: Pace
    _shared: dict[tuple[str, int], Any] = field(default_factory=dict)
    _n_open: Counter[tuple[str, int]] = field(default_factory=Counter)

    def run(self, run: Runner, work: Work, keep: Callable[[StudyCell, Outcome], None]) -> None:
        """Run all cells, and call `keep` for each one that has ended.

        Parameters
        ----------
        run : Runner
        work : Work
            Receives the progress and an estimate of the remaining time when a cell ends.
        keep : callable
            Called with the cell and its outcome.
        """
        waiting = deque(self.cells)
        self._n_open = Counter((cell.table, cell.resample) for cell in self.cells)
        n_left = Counter((cell.learner, cell.table) for cell in self.cells)
        in_flight: dict[Task, StudyCell] = {}
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
                work.report(n_done, part=str(cell), seconds_left=self.pace.left(+n_left, run.n_workers))
        finally:
            for task in in_flight:
                task.cancel()

    def _submit(self, cell: StudyCell, run: Runner) -> Task:
        """Submit a cell to a runner."""
        place = cell.table, cell.resample
        record = self.records[cell.table]
        if place not in self._shared:
            training, found = self.tables[cell.table].read()
            if found.fingerprint != record.fingerprint:
                raise ValueError(f"Table {cell.table!r} has changed while the study was running.")
            self._shared[place] = run.put(training)
        estimator = self.estimators[cell.learner, record.task]
        given = self._shared[place], cell, estimator, self.split(*place), self.cv
        # The progress of the trees of a cell would hide the progress of the study.
        with receiving(None):
            if self.time_limit is not None:
                return run.submit(run_within, self.time_limit, record.fingerprint, *given, name=str(cell))
            return run.submit(run_cell, *given, name=str(cell))

    def _close(self, cell: StudyCell) -> None:
        """Release a table when its cells of a resample have ended."""
        place = cell.table, cell.resample
        self._n_open[place] -= 1
        if not self._n_open[place]:
            del self._shared[place]


@dataclass(frozen=True, eq=False)
class StudyTable:
    """A table of a study.

    Parameters
    ----------
    name : str
    load : tuple or callable
        (X, y) or (X, y, task), or a function that returns one of them. Without a task, it is inferred from y,
        by the rule of `committee.fit`.
    """

    name: str
    load: Any

    def read(self) -> tuple[TrainingSet, TableRecord]:
        """Return the table as a training set, and its record for the store."""
        try:
            loaded = self.load() if callable(self.load) else self.load
            if not isinstance(loaded, tuple | list) or len(loaded) not in (2, 3):
                raise ValueError("it must be (X, y) or (X, y, task), or a function that returns one of them.")
            X, y, task = loaded if len(loaded) == 3 else (*loaded, None)
            if task not in (None, *TASKS):
                raise ValueError(f"its task must be one of {', '.join(TASKS)}. Got {task!r}.")
            found = guessed_task(check_target(y)) if task is None else task
            training = TrainingSet.of(TASKS[found], X, y, None, None)
        except (ValueError, TypeError) as error:
            raise type(error)(f"Table {self.name!r}: {error}") from error
        classes = training.task.classes.tolist() if isinstance(training.task, Classification) else None
        if classes is not None and len(classes) < 2:
            raise ValueError(f"Table {self.name!r} has one class, {classes[0]!r}: there is nothing to learn.")
        fingerprint = table_print(training.data, training.schema, training.task)
        return training, TableRecord(
            self.name, fingerprint, found, training.n_rows, training.schema.n_columns, classes, training.y
        )


def tables_of(given: Mapping[str, object] | Iterable[StudyTable]) -> list[StudyTable]:
    """Create tables from the `tables` parameter of a study.

    Parameters
    ----------
    given : mapping of str to table, or iterable of StudyTable
        A table is (X, y), (X, y, task), or a function that returns one of them.

    Returns
    -------
    list of StudyTable

    Examples
    --------
    >>> tables_of({"small": ([[1.0], [2.0]], [0.5, 1.5])})[0].read()[1].task
    'regression'
    """
    if not isinstance(given, Mapping):
        found = list(given) if isinstance(given, Iterable) else [given]
        if not all(isinstance(each, StudyTable) for each in found):
            raise ValueError("tables must be a dict from names to (X, y), or to functions that return it.")
        return found
    return [StudyTable(str(name), table) for name, table in given.items()]


@dataclass(frozen=True, eq=False)
class AddedRule:
    """A rule that is added to a study as a learner. It combines stored votes without training a model.

    Parameters
    ----------
    title : str
        The name of the rule in the study.
    rule : Rule
    members : list of str
    """

    title: str
    rule: Rule
    members: list[str]

    @classmethod
    def of(cls, rule: object, members: Sequence[str], name: str | None) -> Self:
        """Check a rule, and create a name for it if none is passed.

        Examples
        --------
        >>> AddedRule.of("cawpe", ["rf", "gb"], None).title
        'cawpe(rf+gb)'
        """
        made, names = as_rule(rule), list(members)
        title = name or f"{rule if isinstance(rule, str) else type(made).__name__}({'+'.join(names)})"
        if made._looks_at_X():
            raise ValueError(
                f"{title} uses the columns of X, but a study stores only votes. Use another rule."
            )
        if not names:
            raise ValueError("members must be at least one learner of the study. Got none.")
        return cls(title, made, names)

    def register(self, store: Store) -> None:
        """Store the rule as a learner of the tasks that all members support."""
        recipes = store.recipes()
        for each in self.members:
            if each not in {known for known, _ in recipes}:
                raise ValueError(f"There is no learner {each!r} in the study.")
        for task in sorted({table.task for table in store.tables().values()}):
            if all((each, task) in recipes for each in self.members):
                members = listed([recipes[each, task] for each in self.members])
                store.add_learner(self.title, task, f"{written_out(self.rule)} of {members}")

    def open_cells(self, finished: Mapping[StudyCell, Seconds]) -> list[StudyCell]:
        """Return, in order, the cells that all members have finished and the rule has not."""
        cells = {StudyCell(each.resample, each.table, self.title) for each in finished} - finished.keys()
        return [cell for cell in sorted(cells) if all(part in finished for part in self.parts(cell))]

    def parts(self, cell: StudyCell) -> list[StudyCell]:
        """Return the cells of the members on the same resample and table."""
        return [StudyCell(cell.resample, cell.table, each) for each in self.members]

    def decide(
        self,
        store: Store,
        finished: Mapping[StudyCell, Seconds],
        cell: StudyCell,
        table: TableRecord,
        is_test: np.ndarray,
    ) -> Outcome:
        """Fit the rule on the honest votes of the members, and return its decisions in a cell."""
        parts = self.parts(cell)
        honest = [store.votes(part, "honest", table) for part in parts]
        if self.rule.needs_fit and any(each is None for each in honest):
            raise ValueError("The rule needs honest votes, but the study has none, because its cv is None.")
        rule: Rule = seeded_by_name(Member(self.title, self.rule), cell.resample).estimator
        try:
            began = time.perf_counter()
            if rule.needs_fit:
                stack = np.stack([each for each in honest if each is not None])
                has_vote = np.isfinite(stack).all(axis=(0, 2))
                rule.fit(stack[:, has_vote], table.y[~is_test][has_vote], classes=table.classes)
            fitted = time.perf_counter()
            cast = np.stack([store.votes(part, "test", table) for part in parts])  # type: ignore[misc]
            votes = rule.combine(cast)
            ended = time.perf_counter()
            outcome = Outcome(votes, None, fitted - began, ended - fitted, ended - began)
        except Exception as error:
            outcome = Outcome.failed(error)
        return outcome.after([finished[part] for part in parts], with_folds=rule.needs_fit)
