"""The main job: from a table, in a file or a frame, to a committee.

`fit` is the function of the package. `fit_table` is its body and that of the command, and tells what was
done.
"""

from __future__ import annotations

import math
import re
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from committee.automatic.automatic_committee import CommitteeClassifier, CommitteeRegressor
from committee.automatic.automatic_parameters import AutomaticParameters
from committee.automatic.portfolio import NAMED_ONLY, CANDIDATES
from committee.combining.rule_registry import as_rule
from committee.files import AS_FOUND, CSVForm, Guess
from committee.jobs.training_table import TrainingTable, number_of, read_training_table
from committee.metrics.metric_table import metric_named
from committee.parameters import check_parameters, taking_parameters_of, unknown_name

TASKS = ("classification", "regression")
# Of the table of the demonstration: a row in so many is held out.
HELD_OUT, TARGET = 4, "diagnosis"
# Amounts as people write them: `10m` of time, `4GB` of memory.
SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
# As disks and AutoML tools count; those with an i are powers of two.
BYTES = {
    "b": 1.0, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12, "kib": 2.0**10, "mib": 2.0**20, "gib": 2.0**30,
    "tib": 2.0**40, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12,
}  # fmt: skip
PART = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*([a-z]+)")


@dataclass(frozen=True, eq=False)
class Fitted:
    """What a fit has done.

    Parameters
    ----------
    model : CommitteeClassifier or CommitteeRegressor
    X : table
        What it has learnt from.
    task : {"classification", "regression"}
    target : str
    guesses : tuple of Guess
        What the columns were taken for, without target, groups and weights.
    notes : tuple of str
        What the user should know: rows that were dropped, columns that were left out.
    n_rows, n_columns : int
        What the model has learnt from.
    n_dropped : int
        Rows without a target.
    seconds : float
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
    groups: str | None = None,
    weights: str | None = None,
    **parameters: object,
) -> Any:
    """Fit the automatic committee to a table in a file or a frame.

    Parameters
    ----------
    table : str, path or frame
        CSV, Parquet, Arrow, Feather, JSON lines or ARFF, packed or not; or a frame of pandas,
        polars or Arrow. The index of pandas is not a column.
    target : str
        The column to be predicted. Rows without a value in it are left out.
    task : {"classification", "regression"}, default=None
        None infers it from the target: text and booleans are classes, and so are whole numbers of two
        different values, or of at most 20 in at least three times as many rows.
    types : mapping of str to str, default=None
        What columns are, where the guess is wrong: "number", "category", "boolean", "date"; or "text", "id"
        and "ignore", which are left out. Dates are read as seconds since 1970. Text that is different in most
        rows is left out, and so is what names the rows; a warning says so.
    groups : str, default=None
        A column: rows of one group are held out together.
    weights : str, default=None
        A column with the weights of the rows.
    time_limit : float or str, default=None
        The time for reading and fitting: seconds, or text such as "10m".
    memory_limit : float or str, default=None
        The memory for the table and the fits: bytes, or text such as "4GB".

    Returns
    -------
    CommitteeClassifier or CommitteeRegressor
        Fitted. Its `save` remembers the target, for `committee evaluate`.

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
        parameters=parameters,
        tell=warn,
    )
    return done.model


def warn(training: TrainingTable) -> None:
    """Say by warnings what the user should know before the fit."""
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
    form: CSVForm = AS_FOUND,
    parameters: Mapping[str, Any],
    tell: Callable[[TrainingTable], None] | None = None,
) -> Fitted:
    """Fit the automatic committee, and tell what was done.

    Parameters
    ----------
    table, target, task, types, groups, weights : see `fit`
    form : CSVForm
    parameters : mapping of str to object
        Of the committee.
    tell : callable, default=None
        Called with the `TrainingTable` before the fit.

    Returns
    -------
    Fitted
    """
    began = time.monotonic()
    given = dict(parameters)
    seconds = seconds_of(given.pop("time_limit", None))
    n_bytes = bytes_of(given.pop("memory_limit", None))
    check_settings(task, given)
    training = read_training_table(table, target, task, types, groups, weights, form)
    if n_bytes is not None:
        given["memory_limit"] = memory_left(n_bytes, training.X.nbytes)
    model = new_committee(training.task, given)
    if tell is not None:
        tell(training)
    if seconds is not None:
        model.set_params(time_limit=time_left(seconds, time.monotonic() - began))
    model.fit(training.X, training.y, sample_weight=training.weights, groups=training.groups)
    model._origin = training.origin
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
    """Raise for what is wrong whatever the table is, before it is read."""
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
    """The automatic committee for a task."""
    are_classes = task == "classification"
    made: Any = CommitteeClassifier if are_classes else CommitteeRegressor
    return made(**parameters)


def seconds_of(amount: float | str | None) -> float | None:
    """The seconds of a limit of time.

    Parameters
    ----------
    amount : number, str or None
        Seconds, or text such as "90s", "10m", "1h30m".

    Returns
    -------
    float or None

    Examples
    --------
    >>> seconds_of("1h30m"), seconds_of("45"), seconds_of(None)
    (5400.0, 45.0, None)
    >>> seconds_of("0s")
    Traceback (most recent call last):
    ValueError: A time limit must be more than 0 seconds. Got '0s'.
    """
    if amount is None:
        return None
    found = number_of(amount)
    if found is None and isinstance(amount, str):
        parts = PART.findall(amount.lower().strip())
        is_whole = "".join(f"{number}{unit}" for number, unit in parts) == re.sub(r"\s", "", amount.lower())
        if parts and is_whole and all(unit in SECONDS for _, unit in parts):
            found = sum(float(number) * SECONDS[unit] for number, unit in parts)
    if found is None:
        raise ValueError(f"A time limit is seconds, or text such as 90s, 10m or 1h30m. Got {amount!r}.")
    if not 0 < found < math.inf:
        raise ValueError(f"A time limit must be more than 0 seconds. Got {amount!r}.")
    return found


def bytes_of(amount: float | str | None) -> int | None:
    """The bytes of a limit of memory.

    Parameters
    ----------
    amount : number, str or None
        Bytes, or text such as "500MB", "4GB", "4GiB".

    Returns
    -------
    int or None

    Examples
    --------
    >>> bytes_of("4GB"), bytes_of("1.5 KiB"), bytes_of(None)
    (4000000000, 1536, None)
    """
    if amount is None:
        return None
    found = number_of(amount)
    if found is None and isinstance(amount, str):
        part = PART.fullmatch(amount.lower().strip())
        if part is not None and part[2] in BYTES:
            found = float(part[1]) * BYTES[part[2]]
    if found is None:
        raise ValueError(f"A memory limit is bytes, or text such as 500MB or 4GB. Got {amount!r}.")
    if not 1 <= found < math.inf:
        raise ValueError(f"A memory limit must be more than 0 bytes. Got {amount!r}.")
    return int(found)


def time_left(limit: float, used: float) -> float:
    """What starting and reading the table have left of a time limit."""
    if used >= limit:
        raise ValueError(
            f"Starting and reading the table took {used:.1f} s, and the time limit is {limit:g} s."
        )
    return limit - used


def memory_left(limit: int, used: int) -> int:
    """What the table has left of a memory limit."""
    if used >= limit:
        raise ValueError(f"The table takes {used:,} bytes, and the memory limit is {limit:,}. Give it more.")
    return limit - used


def demo_tables() -> tuple[pa.Table, pa.Table, str, str]:
    """Split the table of the demonstration, which comes with scikit-learn and so needs no network.

    Returns
    -------
    train, held_out : pyarrow.Table
        Rows to learn from, and rows to be judged on.
    target : str
    about : str
        What the table is.

    Examples
    --------
    >>> train, held_out, target, _ = demo_tables()
    >>> train.num_rows, held_out.num_rows, target
    (426, 143, 'diagnosis')
    """
    from sklearn.datasets import load_breast_cancer

    bundled = load_breast_cancer()
    columns = {
        name.replace(" ", "_"): pa.array(np.ascontiguousarray(column))
        for name, column in zip(bundled.feature_names.tolist(), bundled.data.T, strict=True)
    }
    columns[TARGET] = pa.array(bundled.target_names[bundled.target].tolist())
    table = pa.table(columns)
    is_held_out = np.random.default_rng(0).permutation(table.num_rows) % HELD_OUT == 0
    about = "The table: cells of breast tumours, measured in Wisconsin (Wolberg, Street, Mangasarian 1995)."
    return table.filter(pa.array(~is_held_out)), table.filter(pa.array(is_held_out)), TARGET, about
