"""Run studies on the tables of files and folders, with learners by name.

A study stores its `StudyPlan` in its folder, so that the folder suffices to resume or extend it.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from committee.evaluating import Comparison, Study
from committee.evaluating.study.results import is_for
from committee.evaluating.study.store import FILE, Store
from committee.files import BadTable, read_table
from committee.files.opened_file import format_by_suffix, without_packing
from committee.files.table_error import suggestion
from committee.jobs.limit_amounts import seconds_of
from committee.jobs.training_table import read_training_table
from committee.reporting import Report
from committee.reporting.chart_files import FORMATS, require_renderer

MANIFEST = "manifest.csv"
REPORT = "report"


@dataclass(frozen=True)
class TableFile:
    """A table of a study, in a file.

    Parameters
    ----------
    path, target : str
    task : str or None
        None infers the task from the target.
    """

    path: str
    target: str
    task: str | None = None

    def load(self) -> tuple[pa.Table, np.ndarray, str | None]:
        """Read X, y and the task."""
        training = read_training_table(self.path, self.target, self.task, None, None, None)
        return training.X, training.y, training.task


@dataclass(frozen=True)
class StudyPlan:
    """The tables, learners and settings of a study.

    Parameters
    ----------
    tables : dict of str to TableFile
    learners : tuple of str
    resamples : int
    scoring : tuple of str, default=()
        The names of metrics. If empty, the default metrics are used.
    test_size : float
    folds : int
        The number of folds for honest votes; 0 for none.
    time_limit : float or None
    """

    tables: Mapping[str, TableFile] = field(default_factory=dict)
    learners: tuple[str, ...] = ()
    resamples: int = 30
    scoring: tuple[str, ...] = ()
    test_size: float = 0.5
    folds: int = 5
    time_limit: float | None = None

    def study(self, folder: Path) -> Study:
        """Return the study of the plan, and store the plan in it."""
        if not self.tables or not self.learners:
            raise ValueError("A study needs tables and learners: committee compare DIR --learners rf,gb.")
        study = Study(
            list(self.learners),
            {name: table.load for name, table in self.tables.items()},
            self.resamples,
            list(self.scoring) or None,
            test_size=self.test_size,
            cv=self.folds or None,
            folder=folder,
            time_limit=self.time_limit,
        )
        try:
            study.store.set_fact("plan", asdict(self))
        except BaseException:
            study.close()
            raise
        return study


@dataclass(frozen=True)
class Compared:
    """The results of a study.

    Parameters
    ----------
    folder : str
    n_finished, n_failed : int
        The numbers of cells.
    failures : dict of str to str
        Some of the failed cells, with their errors.
    comparisons : list of Comparison
        One comparison for each metric.
    without_metric : list of str
        The tables that are in no comparison, because no given metric applies to their task.
    """

    folder: str
    n_finished: int
    n_failed: int
    failures: dict[str, str]
    comparisons: list[Comparison]
    without_metric: list[str]


def new_plan(places: Sequence[str], target: str | None, **given: Any) -> StudyPlan:
    """Make a plan for the tables of files and folders.

    Parameters
    ----------
    places : sequence of str
    target : str or None
        The target of all tables. None is the target in the manifest, or the last column.
    **given : see `StudyPlan`
        None is the default of a setting.
    """
    given |= {"time_limit": seconds_of(given.get("time_limit"))}
    changes = {name: value for name, value in given.items() if value is not None and value != ()}
    return replace(StudyPlan(), tables=find_tables(places, target), **changes)


def plan_of(folder: Path) -> StudyPlan:
    """Return the plan that is stored in a study."""
    with Study.open(folder) as study:
        written = study.store.fact("plan")
    if written is None:
        raise ValueError(f"The study in {folder} was not started by committee compare. Resume it in Python.")
    written.pop("memory_limit", None)  # Older studies contain it.
    tables = {name: TableFile(**table) for name, table in written.pop("tables").items()}
    return StudyPlan(tables, tuple(written.pop("learners")), scoring=tuple(written.pop("scoring")), **written)


def extended(plan: StudyPlan, more: StudyPlan, given: Iterable[str]) -> StudyPlan:
    """Extend a plan by tables and learners, and change the settings whose names are given."""
    learners = dict.fromkeys([*plan.learners, *more.learners])
    changes = {name: getattr(more, name) for name in given}
    return replace(plan, tables={**plan.tables, **more.tables}, learners=tuple(learners), **changes)


def run_study(
    plan: StudyPlan, folder: Path, *, n_jobs: int | None, retry_failed: bool, verbose: int
) -> Compared:
    """Run the unfinished cells of a plan in processes.

    Parameters
    ----------
    plan : StudyPlan
    folder : Path
    n_jobs : int or None
    retry_failed : bool
    verbose : int

    Returns
    -------
    Compared
    """
    with plan.study(folder) as study:
        study.run(runner="processes", n_jobs=n_jobs, retry_failed=retry_failed, verbose=verbose)
        return outcome_of(study, folder, plan.scoring)


def outcome_of(
    study: Study, folder: Path, scoring: Sequence[object] = (), learners: Sequence[str] | None = None
) -> Compared:
    """Return the results of a study. Metrics that apply to no table with finished cells are omitted."""
    finished, failed = study.store.finished(), study.store.failures()
    some = {str(cell): error for cell, (error, _) in sorted(failed.items())[:5]}
    without = [
        name
        for name, table in study.store.tables().items()
        if scoring and not any(is_for(each, table.task) for each in scoring)
    ]
    comparisons = study.comparisons(scoring, learners)
    return Compared(os.fspath(folder), len(finished), len(failed), some, comparisons, without)


def report_study(
    folder: Path,
    *,
    scoring: Sequence[str] = (),
    learners: Sequence[str] | None = None,
    formats: Sequence[str] = (),
) -> tuple[Compared, Report]:
    """Write the report of a study into its folder.

    Parameters
    ----------
    folder : Path
    scoring : sequence of str
        If empty, the metrics of the study are used.
    learners : sequence of str or None
    formats : sequence of str
        The formats of charts. If empty, all are written.

    Returns
    -------
    compared : Compared
    report : Report
    """
    require_renderer()
    with Study.open(folder) as study:
        metrics = scoring or study.scoring or ()
        found = outcome_of(study, folder, metrics, learners)
        if not found.comparisons:
            named = f" on a table that {', '.join(scoring)} is for" if scoring and found.n_finished else ""
            raise ValueError(
                f"No cell of the study in {folder} has finished{named}. Resume it with --resume {folder}."
            )
        name = folder.resolve().name
        title = "Study" if name.casefold() == "study" else f"Study {name}"
        given: dict[str, Any] = {"scoring": metrics, "learners": learners, "formats": formats or FORMATS}
        return found, study.report(folder / REPORT, title=title, **given)


def find_tables(places: Sequence[str], target: str | None) -> dict[str, TableFile]:
    """Find the tables of files and folders. Their names are those of the files without suffixes.

    A folder may contain a `manifest.csv` with the columns name and target, and optionally task. Then only the
    tables of the manifest are used.
    """
    found: dict[str, TableFile] = {}
    for place in places:
        path = Path(place)
        if not path.exists():
            raise FileNotFoundError(f"There is no file or folder {place}.")
        tables = in_folder(path, target) if path.is_dir() else [(name_of(path), table_file(path, target))]
        for name, table in tables:
            if name in found:
                raise same_name(name, found[name].path, table.path)
            found[name] = table
    return found


def in_folder(folder: Path, target: str | None) -> list[tuple[str, TableFile]]:
    """Return the tables of a folder with their names."""
    files = sorted(path for path in folder.iterdir() if is_table(path))
    manifest = folder / MANIFEST
    if manifest.exists():
        return in_manifest(manifest, files, target)
    if not files:
        raise BadTable(
            f"There is no table in {folder}. A table is a CSV, Parquet, Arrow, JSON lines or ARFF file."
        )
    return [(name_of(path), table_file(path, target)) for path in files]


def in_manifest(manifest: Path, files: list[Path], target: str | None) -> list[tuple[str, TableFile]]:
    """Return the tables of a manifest with their names."""
    with manifest.open(newline="", encoding="utf-8-sig") as lines:
        rows = list(csv.DictReader(lines))
    if not rows or not {"name", "target"} <= rows[0].keys():
        raise BadTable(f"{manifest} must have the columns name and target.")
    found = []
    for row in rows:
        given = target or row["target"]
        if not given:
            raise BadTable(f"{manifest} has no target for {row['name']!r}. Add it, or pass --target.")
        path = str(file_named(row["name"], files, manifest).resolve())
        found.append((row["name"], TableFile(path, given, row.get("task") or None)))
    return found


def file_named(name: str, files: list[Path], manifest: Path) -> Path:
    """Return the file of a table that a manifest names."""
    paths = [path for path in files if name_of(path) == name]
    if not paths:
        near = suggestion(name, list(map(name_of, files)))
        raise BadTable(f"{manifest} names {name!r}, but there is no such table in its folder. {near}")
    if len(paths) > 1:
        raise same_name(name, *map(str, paths[:2]))
    return paths[0]


def same_name(name: str, one: str, other: str) -> BadTable:
    """Return the error for two tables with the same name."""
    return BadTable(f"Two tables are named {name!r}: {one} and {other}. Rename one of them, or omit it.")


def is_table(path: Path) -> bool:
    """Return whether a file of a folder is a table."""
    return path.is_file() and path.name != MANIFEST and format_by_suffix(path.name) is not None


def table_file(path: Path, target: str | None) -> TableFile:
    """Return a table in a file. The default target is the last column."""
    return TableFile(str(path.resolve()), target or read_table(path).names[-1])


def name_of(path: Path) -> str:
    """Return the name of a table: the name of its file without suffixes.

    Examples
    --------
    >>> name_of(Path("tables/heart.csv.gz"))
    'heart'
    """
    name = without_packing(path.name).name
    return name.removesuffix(Path(name).suffix)


def check_new(folder: Path) -> None:
    """Raise if the folder for a new study already contains a study."""
    if (folder / FILE).exists() and contains_study(folder):
        raise ValueError(
            f"There is a study in {folder}. Resume or extend it with --resume, or name another folder."
        )
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"{folder} is a file. Name a folder with --out.")


def contains_study(folder: Path) -> bool:
    """Return whether the store in a folder contains a plan or a cell."""
    with closing(Store(folder)) as store:
        return store.fact("plan") is not None or bool(store.query("SELECT 1 FROM cells LIMIT 1"))
