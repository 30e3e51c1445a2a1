"""Compare learners on many tables, by many resamples and metrics, and store every result."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import numpy as np

from committee import running
from committee.assembling.committee import Committee
from committee.assembling.named_members import default_members
from committee.automatic.portfolio import without_convergence_warnings
from committee.evaluating.comparison import Comparison
from committee.evaluating.study.cell import Outcome, StudyCell, end_process
from committee.evaluating.study.named_learners import Learner, learners_of
from committee.evaluating.study.results import (
    USUAL,
    Results,
    check_metrics,
    metrics_for,
    names_of,
    scores_of,
    why_unsuited,
)
from committee.evaluating.study.store import FILE, Store, TableRecord
from committee.evaluating.study.sweep import AddedRule, Pace, StudyTable, Sweep, tables_of
from committee.extensions import extension, study_report
from committee.parameters import is_float, is_integer, is_number, refusing_unknown_names
from committee.printing import counted
from committee.running import Runner
from committee.table.result_frame import frame_of
from committee.votes.folds import N_FOLDS, drawn_share


class Study:
    """A comparison of learners on tables, with many resamples and any metrics.

    A cell is one learner on one resample of one table. It is stored as soon as it is finished. A study with
    the folder of an earlier study resumes it, even if it was killed, and may add learners, tables or
    resamples. Votes are stored, so rules and metrics can be added without training.

    Parameters
    ----------
    learners : list of str or (str, estimator), or dict of str to estimator, default=()
        Short names, such as "rf", "rotf", "cawpe", "xgboost" (`known_learners` lists them), or estimators.
    tables : dict of str to table, default=()
        Names and tables. A table is (X, y), or (X, y, task) with the task "classification" or "regression",
        or a function that returns one of them, which is called when the table is needed. Without a task, it
        is inferred from y: text and booleans are classes, and whole numbers are classes if they have two
        distinct values, or at most 20 in at least three times as many rows.
    resamples : int or iterable of int, default=30
        The number of resamples, or a list of resample numbers. The number is the seed of the split of a
        table's rows.
    scoring : list of str, scorer or callable, default=None
        Metrics; see `score`. Each scores the tables of its task. None means "accuracy", "balanced_accuracy",
        "roc_auc_ovr_weighted", "neg_log_loss" and "neg_brier_score" for classes, and
        "neg_root_mean_squared_error" and "neg_mean_absolute_error" for numbers.
    test_size : float, default=0.5
        The share of test rows, stratified by class.
    cv : int or None, default=5
        The number of folds for honest (out-of-fold) votes on the training rows, which `add_rule` needs.
        Forests use out-of-bag votes instead. None skips honest votes, which is several times as fast.
    folder : str or path, default=None
        The folder of the store. None keeps it in memory.
    time_limit : float, default=None
        The time limit of a cell in seconds. A cell that takes longer is ended and counts as failed.

    Examples
    --------
    >>> from sklearn.datasets import load_iris, load_wine
    >>> tables = {"iris": load_iris(return_X_y=True), "wine": load_wine(return_X_y=True)}
    >>> study = Study(["tree", "bayes"], tables, resamples=2, cv=None).run()
    >>> compared = study.compare("accuracy")
    >>> compared.learners, compared.tables, compared.mean_ranks
    (('tree', 'bayes'), ('iris', 'wine'), array([1.5, 1.5]))
    """

    @refusing_unknown_names
    def __init__(
        self,
        learners: Iterable[object] | Mapping[str, object] = (),
        tables: Mapping[str, object] | Iterable[StudyTable] = (),
        resamples: int | Iterable[int] = 30,
        scoring: Sequence[object] | None = None,
        *,
        test_size: float = 0.5,
        cv: int | None = 5,
        folder: str | os.PathLike[str] | None = None,
        time_limit: float | None = None,
    ) -> None:
        if not is_float(test_size) or not 0 < test_size < 1:
            raise ValueError(f"test_size must be a number between 0 and 1. Got {test_size!r}.")
        if cv is not None and not (is_integer(cv) and cv >= 2):
            raise ValueError(f"cv must be an integer >= 2, or None. Got {cv!r}.")
        self.learners = learners_of(learners)
        self.resamples = numbers_of(resamples)
        if scoring is not None and (isinstance(scoring, str) or not scoring):
            raise ValueError(f"scoring must be a list of at least one metric, or None. Got {scoring!r}.")
        self.scoring = None if scoring is None else list(scoring)
        if time_limit is not None and not (is_number(time_limit) and time_limit > 0):
            raise ValueError(f"time_limit must be a number of seconds > 0, or None. Got {time_limit!r}.")
        self.time_limit = time_limit
        self.test_size, self.cv = test_size, cv
        self._tables = {table.name: table for table in tables_of(tables)}
        # Errors are raised before the store is created, so that they leave no incomplete store.
        records = self._read_tables()
        if folder is None or not (Path(folder) / FILE).exists():
            check_metrics(self.scoring, records)
        self.store = Store(None if folder is None else Path(folder))
        try:
            self._store_settings(records)
        except BaseException:
            self.store.close()
            raise

    @classmethod
    def open(cls, folder: str | os.PathLike[str]) -> Study:
        """Open a stored study without its learners and tables, to read results or to add rules and metrics.

        The study has the metrics of its last run, except functions, which are not stored.

        Parameters
        ----------
        folder : str or path

        Returns
        -------
        Study
        """
        if not (Path(folder) / FILE).exists():
            raise FileNotFoundError(f"There is no study in the folder {os.fspath(folder)}.")
        store = Store(Path(folder))
        (test_size,), (cv,) = store.fact("test_size") or [0.5], store.fact("cv") or [5]
        scoring = store.fact("scoring")
        store.close()
        return cls(resamples=[], scoring=scoring, test_size=test_size, cv=cv, folder=folder)

    def __repr__(self) -> str:
        store = self.store
        learners = {name for name, _ in store.recipes()}
        cells = {*self._cells(), *store.finished()}
        failed = len(store.failures())
        parts = [
            counted(len(learners), "learner"),
            counted(len(store.tables()), "table"),
            f"{len(store.finished())} of {counted(len(cells), 'cell')}",
            *([f"{failed} failed"] if failed else []),
            "in memory" if store.folder is None else f"folder {os.fspath(store.folder)!r}",
        ]
        return f"Study({', '.join(parts)})"

    def close(self) -> None:
        """Close the store."""
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    @property
    def tasks(self) -> dict[str, str]:
        """The task of each table of the study, "classification" or "regression"."""
        return {name: record.task for name, record in self.store.tables().items()}

    def run(
        self,
        *,
        runner: str | Runner = "serial",
        n_jobs: int | None = None,
        retry_failed: bool = False,
        verbose: int = 0,
    ) -> Self:
        """Run the cells that are not finished, and store each one as soon as it is finished.

        Parameters
        ----------
        runner : {"serial", "threads", "processes"} or Runner, default="serial"
            Where cells run. The results do not depend on it.
        n_jobs : int, default=None
            The number of cells that run in parallel. None means one per core.
        retry_failed : bool, default=False
            Whether to run failed cells again.
        verbose : int, default=0
            1 shows the task of each table, the progress and the estimated remaining time.

        Returns
        -------
        self
        """
        if verbose:
            for line in (listed_tasks(self.tasks), *lines_of_fits(self.learners, self.cv)):
                print(f"committee: {line}", file=sys.stderr)
        finished = self.store.finished()
        failed = {} if retry_failed else self.store.failures()
        everything = self._cells()
        cells = [cell for cell in everything if cell not in finished and cell not in failed]
        n_before = len(everything) - len(cells)
        records = self.store.tables()
        pace = Pace({name: float(table.n_rows * table.n_columns) for name, table in records.items()})
        for cell, seconds in finished.items():
            pace.add(cell, seconds[2])
        sweep = Sweep(
            cells,
            {(each.name, task): model for each in self.learners for task, model in each.estimators.items()},
            self._tables,
            records,
            lambda table, resample: self._split(records[table], resample),
            self.cv,
            self.time_limit,
            pace,
        )
        try:
            with (
                without_convergence_warnings(),
                running.runner_of(runner, n_jobs) as run,
                running.Work("cells", "Study", len(everything), n_before=n_before, verbose=verbose) as work,
            ):
                sweep.run(run, work, lambda cell, outcome: self._keep(records[cell.table], cell, outcome))
        finally:
            end_process()
        return self

    def results(self, backend: str | None = None) -> Any:
        """Return a row for each finished cell and metric.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, default=None
            The library of the frame. None means the first of these that is installed.

        Returns
        -------
        DataFrame or Table
            Columns learner, table, task, resample, scoring, score, fit_seconds, predict_seconds.
        """
        return frame_of(Results(self.store, self.scoring).columns(), backend)

    def failures(self, backend: str | None = None, *, traces: bool = False) -> Any:
        """Return a row for each cell that has failed.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, default=None
        traces : bool, default=False
            Whether to add the column trace, with the traceback of the error.

        Returns
        -------
        DataFrame or Table
            Columns learner, table, resample, error.
        """
        names = ("learner", "table", "resample", "error", *(["trace"] if traces else []))
        rows = [
            (cell.learner, cell.table, cell.resample, *failure)
            for cell, failure in sorted(self.store.failures().items())
        ]
        return frame_of({name: [row[place] for row in rows] for place, name in enumerate(names)}, backend)

    def compare(self, scoring: object = None, *, learners: Sequence[str] | None = None) -> Comparison:
        """Compare learners by one metric, on the tables that all of them have finished.

        Parameters
        ----------
        scoring : str, scorer or callable, default=None
            Any metric, even one that the study was not run with. None means the first metric of the study.
        learners : list of str, default=None
            None means all learners in the store.

        Returns
        -------
        Comparison
        """
        return Results(self.store, self.scoring).compare(scoring, learners)

    def comparisons(
        self, scoring: Sequence[object] | None = None, learners: Sequence[str] | None = None
    ) -> list[Comparison]:
        """Compare learners by each metric that suits the task of a table with finished cells.

        Parameters
        ----------
        scoring : list of str, scorer or callable, default=None
            None means the metrics of the study.
        learners : list of str, default=None
            None means all learners in the store.

        Returns
        -------
        list of Comparison
            Empty if no cell has finished.
        """
        results = Results(self.store, self.scoring)
        tasks = results.tasks(learners)
        metrics = scoring or self.scoring or [metric for task in sorted(tasks) for metric in USUAL[task]]
        tables = self.store.tables().values()
        check_metrics(metrics, tables)
        shared = [table for table in tables if table.task in tasks]
        wanted = [each for each in metrics if any(why_unsuited(each, table) is None for table in shared)]
        return [results.compare(each, learners) for each in wanted] if results.finished else []

    report = extension(study_report, extra="report")

    def votes(
        self, learner: str, table: str, resample: int
    ) -> tuple[np.ndarray, np.ndarray | None, np.ndarray]:
        """Return the votes of a finished cell.

        Parameters
        ----------
        learner, table : str
        resample : int

        Returns
        -------
        votes : ndarray of shape (n_test_rows, n_outputs)
            The votes on the test rows, in the order of the table.
        honest_votes : ndarray of shape (n_train_rows, n_outputs), or None
            The honest votes on the training rows. NaN in rows without an honest vote.
        is_test : ndarray of bool of shape (n_rows,)
            The mask of the test rows of the table.
        """
        cell, records = StudyCell(resample, table, learner), self.store.tables()
        found = self.store.votes(cell, "test", records[table]) if table in records else None
        if found is None:
            raise ValueError(f"There are no votes of {cell}: it has not run, or it failed.")
        honest = self.store.votes(cell, "honest", records[table])
        return found, honest, self._split(records[table], resample)

    def add_rule(self, rule: object, members: Sequence[str], *, name: str | None = None) -> Self:
        """Add a rule that combines the votes of learners, as an additional learner. Nothing is refitted.

        Parameters
        ----------
        rule : str, callable or Rule
            A rule from `committee.rules`. It is fitted on the honest votes.
        members : list of str
            Learners of the study. The rule is applied to each resample that all of them have finished.
        name : str, default=None
            The name of the new learner. None joins the names of the rule and the members: "cawpe(rf+gb)".

        Returns
        -------
        self
        """
        added = AddedRule.of(rule, members, name)
        added.register(self.store)
        records, finished = self.store.tables(), self.store.finished()
        for cell in added.open_cells(finished):
            table = records[cell.table]
            is_test = self._split(table, cell.resample)
            self._keep(table, cell, added.decide(self.store, finished, cell, table, is_test))
        return self

    def _read_tables(self) -> list[TableRecord]:
        """Return the records of the tables for the store."""
        records = [table.read()[1] for table in self._tables.values()]
        for record in records:
            if record.n_rows < 4:
                raise ValueError(f"Table {record.name!r} has {record.n_rows} rows. It needs at least 4.")
        return records

    def _store_settings(self, records: list[TableRecord]) -> None:
        """Store the settings, tables and learners before any work."""
        settings = {"test_size": self.test_size, "cv": self.cv}
        folder = str(self.store.folder)
        for name, value in settings.items():
            known = self.store.fact(name)
            if known is not None and known != [value]:
                raise ValueError(
                    f"The study in {folder} has {name}={known[0]}, and this one {value}. Pass "
                    f"{name}={known[0]}, use another folder, or read the results with "
                    f"Study.open({folder!r})."
                )
        check_metrics(self.scoring, [*self.store.tables().values(), *records])
        for name, value in settings.items():
            self.store.set_fact(name, [value])
        self.store.set_fact("scoring", names_of(self.scoring))
        for record in records:
            self.store.add_table(record)
        for learner in self.learners:
            for task in learner.estimators:
                self.store.add_learner(learner.name, task, learner.recipe(task))

    def _cells(self) -> list[StudyCell]:
        """Return all cells of this study, in the order in which they run."""
        records = self.store.tables()
        return [
            StudyCell(resample, table, learner.name)
            for resample in self.resamples
            for table in self._tables
            for learner in self.learners
            if records[table].task in learner.estimators
        ]

    def _split(self, table: TableRecord, resample: int) -> np.ndarray:
        """Return the mask of the test rows of a resample: the stored one, if there is one."""
        known = self.store.split(table.name, resample, table.n_rows)
        if known is not None:
            return known
        classes = np.zeros(table.n_rows) if table.classes is None else table.y
        found = drawn_share(classes, self.test_size, np.random.default_rng(resample))
        if not found.any():
            raise ValueError(f"Table {table.name!r} has no test row: no class has enough rows.")
        self.store.add_split(table.name, resample, found)
        return found

    def _keep(self, table: TableRecord, cell: StudyCell, outcome: Outcome) -> None:
        """Store the outcome of a cell, with its scores."""
        scores: list[tuple[str, float]] = []
        if outcome.votes is not None:
            y = table.y[self._split(table, cell.resample)]
            wanted = [each for each in metrics_for(self.scoring, table) if each.is_named]
            # A metric that fails must not lose the cell. `results` reports it.
            with suppress(ValueError):
                scores = scores_of(outcome.votes, y, wanted)
        self.store.keep(cell, outcome, scores, table.dtype)


def listed_tasks(tasks: Mapping[str, str]) -> str:
    """List the tables of each task in a line.

    Examples
    --------
    >>> listed_tasks({"iris": "classification", "diabetes": "regression", "wine": "classification"})
    'tables for classification: iris, wine; for regression: diabetes'
    """
    return "tables " + "; ".join(
        f"for {task}: {', '.join(name for name, each in tasks.items() if each == task)}"
        for task in sorted(set(tasks.values()))
    )


def lines_of_fits(learners: Iterable[Learner], cv: int | None) -> list[str]:
    """Return a line for each committee that fits its members very often in a cell.

    Examples
    --------
    >>> lines_of_fits(learners_of(["tree", "cawpe"]), 5)
    ['cawpe fits its 5 members 330 times in a cell, and 55 times if cv is None (--folds 0)']
    """
    found = []
    for learner in learners:
        committee = next(iter(learner.estimators.values()))
        if cv is None or not isinstance(committee, Committee):
            continue
        n_folds = int(str(committee.cv)) if is_integer(committee.cv) else N_FOLDS
        n_members = len(committee.estimators or default_members(is_class_task=True))
        n_fits = n_members * (n_folds + 1)
        found.append(
            f"{learner.name} fits its {n_members} members {n_fits * (cv + 1)} times in a cell, and {n_fits} "
            "times if cv is None (--folds 0)"
        )
    return found


def numbers_of(resamples: Any) -> list[int]:
    """Return the numbers of resamples.

    Examples
    --------
    >>> numbers_of(3), numbers_of([4, 7])
    ([0, 1, 2], [4, 7])
    """
    if is_integer(resamples) and resamples >= 1:
        return list(range(int(resamples)))
    found = [] if isinstance(resamples, str) or not isinstance(resamples, Iterable) else list(resamples)
    are_numbers = all(is_integer(each) and each >= 0 for each in found) and len(set(found)) == len(found)
    if not are_numbers or (not found and not isinstance(resamples, list)):
        raise ValueError(f"resamples must be an integer >= 1, or a list of integers >= 0. Got {resamples!r}.")
    return [int(each) for each in found]
