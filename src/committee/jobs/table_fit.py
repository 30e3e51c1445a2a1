"""Fit the automatic committee to a table in a file or a frame.

`committee.fit` is `fit` of this module. It and the command line call `fit_table`, which also reports what was
done.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.datasets import load_breast_cancer

from committee.automatic.automatic_committee import CommitteeClassifier, CommitteeRegressor
from committee.automatic.automatic_parameters import AutomaticParameters
from committee.automatic.portfolio import CANDIDATES, NAMED_ONLY
from committee.combining.rule_registry import as_rule
from committee.files import AS_FOUND, CSVForm, Guess
from committee.jobs.limit_amounts import bytes_of, seconds_of
from committee.jobs.training_table import TrainingTable, read_training_table
from committee.metrics.metric_table import metric_named
from committee.parameters import check_parameters, taking_parameters_of, unknown_name

TASKS = ("classification", "regression")
# The demonstration holds out one row in four of its table.
HELD_OUT, TARGET = 4, "diagnosis"


@dataclass(frozen=True, eq=False)
class Fitted:
    """The result of a fit.

    Parameters
    ----------
    model : CommitteeClassifier or CommitteeRegressor
    X : table
        The training table.
    task : {"classification", "regression"}
    target : str
    guesses : tuple of Guess
        The types of the columns except target, groups and weights.
    notes : tuple of str
        Messages to the user about rows and columns that were left out.
    n_rows, n_columns : int
        The size of the training table.
    n_dropped : int
        The number of rows without a target.
    seconds : float
        The time for reading and fitting.
    """

    model: Any
    X: pa.Table
    task: str
    target: str
    guesses: tuple[Guess, ...]
    notes: tuple[str, ...]
    n_rows: int
    n_columns: int
    n_dropped: int
    seconds: float


@taking_parameters_of(AutomaticParameters)
def fit(
    table: object,
    target: str,
    *,
    task: str | None = None,
    types: Mapping[str, str] | None = None,
    missing: Iterable[str] = (),
    groups: str | None = None,
    weights: str | None = None,
    max_size: float | str | None = None,
    max_latency: float | str | None = None,
    **parameters: object,
) -> Any:
    """Fit the automatic committee to a table in a file or a frame.

    Parameters
    ----------
    table : str, path or frame
        A CSV, Parquet, Arrow, Feather, JSON lines or ARFF file, compressed or not, or a frame of pandas,
        polars or Arrow. The index of a pandas frame is not a column.
    target : str
        The column to predict. Rows without a value in it are left out.
    task : {"classification", "regression"}, default=None
        None infers the task from the target. Text and booleans are classes. Whole numbers are classes if
        they have two distinct values, or at most 20 in at least three times as many rows.
    types : mapping of str to str, default=None
        The types of columns, if the inferred types are wrong: "number", "category", "boolean" or "date", or
        "text", "id" and "ignore" for columns to leave out. Dates are read as seconds since 1970. Text that
        differs in most rows, and columns that identify the rows, are left out with a warning. Numbers and
        dates may have a format, such as "number:# kg" and "date:%m/%d/%Y". Values of the columns given here
        that are not numbers or dates become missing, with a warning, if they are at most one in ten.
    missing : list of str, default=()
        More names of missing values, such as "unknown".
    groups : str, default=None
        A column of groups. Rows of a group are held out together.
    weights : str, default=None
        A column of row weights.
    time_limit : float or str, default=None
        The time limit of reading and fitting, in seconds or as text such as "10m".
    memory_limit : float or str, default=None
        The memory limit of the table and the fits, in bytes or as text such as "4GB".
    max_size : float or str, default=None
        The largest size of the model's file, in bytes or as text such as "5MB".
    max_latency : float or str, default=None
        The longest time to predict one row on this machine, in seconds or as text such as "2ms".

    Returns
    -------
    CommitteeClassifier or CommitteeRegressor
        The fitted committee. `save` stores the name of the target too, for `committee evaluate`.

    Examples
    --------
    >>> import polars as pl
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> frame = pl.DataFrame(X, schema=["a", "b", "c", "d"]).with_columns(kind=pl.Series(y))
    >>> model = fit(frame, "kind", estimators=["linear", "c45"], random_state=0)
    >>> model.predict(frame.drop("kind"))[:3]
    array([0, 0, 0])
    """
    done = fit_table(
        table,
        target,
        task=task,
        types=types,
        groups=groups,
        weights=weights,
        max_size=max_size,
        max_latency=max_latency,
        form=replace(AS_FOUND, missing=words_of(missing)),
        parameters=parameters,
        report=warn,
    )
    return done.model


def words_of(missing: Iterable[str]) -> tuple[str, ...]:
    """Return names of missing values as a tuple. Raise for other values."""
    words = (missing,) if isinstance(missing, str) else tuple(missing)
    if not all(isinstance(word, str) for word in words):
        raise TypeError(f"missing must be a list of text. Got {missing!r}.")
    return words


def warn(training: TrainingTable) -> None:
    """Warn about rows and columns that are left out, before the fit."""
    for note in training.notes:
        warnings.warn(note, UserWarning, stacklevel=4)


def fit_table(
    table: object,
    target: str,
    *,
    task: str | None = None,
    types: Mapping[str, str] | None = None,
    groups: str | None = None,
    weights: str | None = None,
    max_size: float | str | None = None,
    max_latency: float | str | None = None,
    form: CSVForm = AS_FOUND,
    parameters: Mapping[str, Any],
    report: Callable[[TrainingTable], None] | None = None,
) -> Fitted:
    """Fit the automatic committee, and report what was done.

    Parameters
    ----------
    table, target, task, types, groups, weights, max_size, max_latency : see `fit`
    form : CSVForm
    parameters : mapping of str to object
        The parameters of the committee.
    report : callable, default=None
        Called with the `TrainingTable` before the fit.

    Returns
    -------
    Fitted
    """
    began = time.monotonic()
    given = dict(parameters)
    seconds = seconds_of(given.pop("time_limit", None))
    n_bytes = bytes_of(given.pop("memory_limit", None))
    limits = {"max_bytes": bytes_of(max_size), "max_latency": seconds_of(max_latency)}
    check_settings(task, given)
    training = read_training_table(table, target, task, types, groups, weights, form)
    if n_bytes is not None:
        given["memory_limit"] = memory_left(n_bytes, training.X.nbytes)
    model = new_committee(training.task, given)
    if report is not None:
        report(training)
    if seconds is not None:
        model.set_params(time_limit=time_left(seconds, time.monotonic() - began))
    model.fit(training.X, training.y, sample_weight=training.weights, groups=training.groups)
    # The clock and the table have used a part of the limits, but the parameters are those of the caller.
    model.set_params(time_limit=seconds, memory_limit=n_bytes)
    model._origin = training.origin
    for name, limit in limits.items():
        if limit is not None:
            model = model.prune(**{name: limit})
    return Fitted(
        model,
        training.X,
        training.task,
        target,
        training.guesses,
        training.notes,
        training.X.num_rows,
        training.X.num_columns,
        training.n_dropped,
        time.monotonic() - began,
    )


def check_settings(task: str | None, parameters: Mapping[str, Any]) -> None:
    """Raise for errors that do not depend on the table, before it is read."""
    if task is not None and task not in TASKS:
        raise ValueError(f"task must be one of {', '.join(TASKS)} or None. Got {task!r}.")
    check_parameters(new_committee(task or TASKS[0], parameters))
    rule, members = parameters.get("rule", "auto"), parameters.get("estimators", "auto")
    if not isinstance(rule, str) or rule != "auto":
        as_rule(rule)
    known = [*CANDIDATES, *NAMED_ONLY]
    for name in members if isinstance(members, list | tuple) else ():
        if isinstance(name, str) and name not in (*known, "auto"):
            raise unknown_name("member", name, known)
    if isinstance(parameters.get("scoring"), str):
        metric_named(parameters["scoring"], task)


def new_committee(task: str, parameters: Mapping[str, Any]) -> Any:
    """Return an automatic committee for a task."""
    are_classes = task == "classification"
    cls: Any = CommitteeClassifier if are_classes else CommitteeRegressor
    return cls(**parameters)


def time_left(limit: float, used: float) -> float:
    """Return the rest of a time limit after the time that the start and reading have taken."""
    if used >= limit:
        raise ValueError(
            f"Starting and reading the table took {used:.1f} s, but the time limit is {limit:g} s. Raise it."
        )
    return limit - used


def memory_left(limit: int, used: int) -> int:
    """Return the rest of a memory limit after the memory of the table."""
    if used >= limit:
        raise ValueError(f"The table takes {used:,} bytes, but the memory limit is {limit:,}. Raise it.")
    return limit - used


def demo_tables() -> tuple[pa.Table, pa.Table, str, str]:
    """Split the table of the demonstration. It is part of scikit-learn, so no network is needed.

    Returns
    -------
    train, held_out : pyarrow.Table
        Rows for the fit and rows for the score.
    target : str
    about : str
        A description of the table.

    Examples
    --------
    >>> train, held_out, target, _ = demo_tables()
    >>> train.num_rows, held_out.num_rows, target
    (426, 143, 'diagnosis')
    """
    bundled = load_breast_cancer()
    columns = {
        name.replace(" ", "_"): pa.array(np.ascontiguousarray(column))
        for name, column in zip(bundled.feature_names.tolist(), bundled.data.T, strict=True)
    }
    columns[TARGET] = pa.array(bundled.target_names[bundled.target].tolist())
    table = pa.table(columns)
    is_held_out = np.random.default_rng(0).permutation(table.num_rows) % HELD_OUT == 0
    about = "Table: cells of breast tumours, measured in Wisconsin (Wolberg, Street, Mangasarian 1995)."
    return table.filter(pa.array(~is_held_out)), table.filter(pa.array(is_held_out)), TARGET, about
