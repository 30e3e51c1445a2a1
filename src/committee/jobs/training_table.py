"""Read training tables, split into X and y."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from committee.files import AS_FOUND, BadTable, ColumnKind, CSVForm, Guess, read_table, require_columns
from committee.files.column_inference import flat
from committee.files.column_kinds import narrowed
from committee.jobs.limit_amounts import number_of
from committee.saving import Origin
from committee.table.input_types import Label
from committee.task import guessed_task

DATE, UNCLEAR = "it looks like a date", "it looks like a date whose order is not clear"
# The largest share of values that become missing because they are not of the type that the user specified.
MOST_STRAYS = 0.1
# The largest number of columns that an error lists with reasons.
MOST_REASONS = 5
# The largest number of columns with a note of their own.
MOST_NOTES = 20


@dataclass(frozen=True, eq=False)
class TrainingTable:
    """A table for a fit, split into columns and target.

    Parameters
    ----------
    X : pyarrow.Table
    y : ndarray of shape (n_rows,)
    groups, weights : ndarray of shape (n_rows,), or None
    task : {"classification", "regression"}
    guesses : tuple of Guess
        The types of the columns except target, groups and weights.
    origin : Origin
    notes : tuple of str
        Messages to the user.
    n_dropped : int
        The number of rows without a target.
    """

    X: pa.Table
    y: np.ndarray
    groups: np.ndarray | None
    weights: np.ndarray | None
    task: str
    guesses: tuple[Guess, ...]
    origin: Origin
    notes: tuple[str, ...]
    n_dropped: int


def read_training_table(
    table: object,
    target: str,
    task: str | None,
    types: Mapping[str, str] | None,
    groups: str | None,
    weights: str | None,
    form: CSVForm = AS_FOUND,
) -> TrainingTable:
    """Read a table for a fit, and check its target, groups and weights."""
    extra = {"groups": groups, "weights": weights}
    special = [target, *(name for name in extra.values() if name is not None)]
    if len(set(special)) < len(special):
        raise BadTable(f"One column cannot be two of target, groups and weights. Got {', '.join(special)}.")
    coerced = coerced_columns(types or {}, special)
    most_strays = dict.fromkeys(coerced, MOST_STRAYS)
    read = read_table(table, types=types, labels=special, most_strays=most_strays, form=form)
    require_columns(special, read.names, read.name)
    used = [each.name for each in read.guesses if each.kind.is_used and each.name not in special]
    if not used:
        raise BadTable(
            f"{read.name} has no column to learn from besides {', '.join(special)}.{why_none(read.guesses)}"
        )
    frame, y, n_dropped = with_answers(read.frame, read.frame[target], target, read.name)
    n_distinct = len(np.unique(y))
    if n_distinct == 1:
        raise BadTable(f"The target {target!r} has one value, {y.tolist()[0]!r}: there is nothing to learn.")
    found = guessed_task(y) if task is None else task
    if found == "classification" and n_distinct == len(y) > 2:
        raise BadTable(
            f"The target {target!r} has a different value in every row, such as {str(y.tolist()[0])!r}, "
            "so no class has two rows."
        )
    if found == "regression" and y.dtype.kind not in "iufb":
        raise BadTable(
            f"The target {target!r} contains text, such as {first_text(y)!r}, but regression needs numbers."
        )
    guesses = tuple(each for each in read.guesses if each.name not in special)
    unused = tuple(name for name in read.names if name not in used and name != target)
    rare = rare_class_notes(y, target) if found == "classification" else []
    notes = (
        *read.notes,
        *dropping_notes(n_dropped, target),
        *rare,
        *index_notes(read.index),
        *stray_notes(each for each in read.guesses if each.name != groups),
        *left_out_notes(guesses),
    )
    return TrainingTable(
        frame.select(used),
        y,
        None if groups is None else complete(frame[groups], groups, "groups"),
        None if weights is None else complete(frame[weights], weights, "weights"),
        found,
        guesses,
        Origin(
            target,
            (*unused, *read.index),
            read.decimal,
            {each.name: each.form for each in read.guesses if each.form and each.name in (*used, target)},
            form.missing,
            coerced,
            ranges_of(frame.select(used)),
            groups,
            weights,
        ),
        notes,
        n_dropped,
    )


def coerced_columns(types: Mapping[str, str], special: Iterable[str]) -> tuple[str, ...]:
    """Return the columns that the user called numbers or dates, except target, groups and weights.

    Examples
    --------
    >>> coerced_columns({"age": "number", "day": "date:%m/%d/%Y", "zip": "category", "y": "number"}, ["y"])
    ('age', 'day')
    """
    kinds = {name: str(given).partition(":")[0] for name, given in types.items() if name not in special}
    return tuple(name for name, kind in kinds.items() if kind in ("number", "date"))


def ranges_of(X: pa.Table) -> dict[str, tuple[float, float]]:
    """Return the smallest and the largest finite number of each column of numbers and dates.

    Examples
    --------
    >>> ranges_of(pa.table({"age": [31, None, 54], "city": ["Oslo", "Bonn", None]}))
    {'age': (31.0, 54.0)}
    """
    found = {}
    for name, column in zip(X.column_names, X.columns, strict=True):
        numbers = seconds_or_numbers(column)
        if numbers is not None and len(numbers := numbers[np.isfinite(numbers)]):
            found[name] = (float(numbers.min()), float(numbers.max()))
    return found


def seconds_or_numbers(column: pa.Array) -> np.ndarray | None:
    """Return numbers, or dates as seconds since 1970, with NaN for missing values. None for other columns."""
    types = pa.types
    if types.is_integer(column.type) or types.is_floating(column.type):
        return np.asarray(pc.cast(flat(column), pa.float64(), safe=False).to_numpy(zero_copy_only=False))
    if types.is_date(column.type) or types.is_timestamp(column.type):
        ticks = pc.cast(pc.cast(flat(column), pa.timestamp("us")), pa.int64())
        return np.asarray(pc.cast(ticks, pa.float64(), safe=False).to_numpy(zero_copy_only=False)) / 1e6
    return None


def complete(column: pa.Array, name: str, role: str) -> np.ndarray:
    """Return the values of a column. Raise if some are missing, or if weights are not numbers."""
    n_missing = len(column) - (pc.sum(present(column)).as_py() or 0)
    if n_missing:
        rows = "1 row has" if n_missing == 1 else f"{n_missing} rows have"
        raise BadTable(f"Column {name!r} should contain the {role}, but {rows} no value.")
    values = values_of(column)
    if role == "weights" and values.dtype.kind not in "iufb":
        raise BadTable(
            f"Column {name!r} should contain the weights, but contains text, such as {first_text(values)!r}."
        )
    return values


def first_text(values: np.ndarray) -> Label:
    """Return the first value that is not a number, or the first value if all are numbers.

    Examples
    --------
    >>> first_text(np.array(["0.5", "many"])), first_text(np.array(["007"]))
    ('many', '007')
    """
    found = values.tolist()
    return next((each for each in found if number_of(each) is None), found[0])


def why_none(guesses: tuple[Guess, ...]) -> str:
    """Explain why columns are left out, and how to keep the first of them."""
    left_out = [each for each in guesses if each.why]
    if not left_out:
        return ""
    reasons = ", ".join(f"{each.name} ({reason_of(each)})" for each in left_out[:MOST_REASONS])
    return f" Left out: {reasons}.{way_to_keep(left_out[0])}"


def dropping_notes(n_dropped: int, target: str) -> list[str]:
    """Report rows without a target."""
    if not n_dropped:
        return []
    rows = "1 row is" if n_dropped == 1 else f"{n_dropped} rows are"
    return [f"{rows} left out: no value of {target!r}."]


def rare_class_notes(y: np.ndarray, target: str) -> list[str]:
    """Report a target if most of its classes have one row.

    Examples
    --------
    >>> rare_class_notes(np.array(["a", "b", "b"]), "kind")
    []
    >>> rare_class_notes(np.array(["a", "b", "b", "c"]), "kind")  # doctest: +ELLIPSIS
    ["2 of the 3 classes of 'kind' have one row each, ...
    """
    counts = np.unique(y, return_counts=True)[1]
    n_alone = int((counts == 1).sum())
    if 2 * n_alone <= len(counts):
        return []
    return [
        f"{n_alone} of the {len(counts)} classes of {target!r} have one row each, so members cannot be "
        "fitted and scored on them. Merge rare classes, or choose another target."
    ]


def index_notes(index: tuple[str, ...]) -> list[str]:
    """Report the index of a pandas frame, which is not a column.

    Examples
    --------
    >>> index_notes(("date",))
    ["Column 'date' is left out: it is the index of the frame. To keep it, call reset_index in pandas."]
    """
    return [
        f"Column {name!r} is left out: it is the index of the frame. To keep it, call reset_index in pandas."
        for name in index
    ]


def stray_notes(guesses: Iterable[Guess]) -> list[str]:
    """Report columns that are categories although nearly all values are numbers or dates.

    Examples
    --------
    >>> guess = Guess("day", ColumnKind.CATEGORY, orders=("%m/%d/%y", "%d/%m/%y"))
    >>> stray_notes([guess])[0].partition(". ")[0]
    "Column 'day' is read as a category: it looks like a date whose order is not clear"
    """
    return [
        f"Column {each.name!r} is read as a category: {reason_of(each)}.{way_to_keep(each)}"
        for each in guesses
        if (each.stray or each.orders) and each.kind is ColumnKind.CATEGORY
    ]


def left_out_notes(guesses: tuple[Guess, ...]) -> list[str]:
    """Report columns that are left out because of their inferred type."""
    notes = [
        f"Column {each.name!r} is left out: {reason_of(each)}.{way_to_keep(each)}"
        for each in guesses
        if each.why
    ]
    rest = len(notes) - MOST_NOTES
    return notes if rest <= 0 else [*notes[:MOST_NOTES], f"{rest} more columns are left out like these."]


def reason_of(guess: Guess) -> str:
    """Return why a column is left out or read as a category."""
    if guess.orders:
        return DATE if len(guess.orders) == 1 else UNCLEAR
    return guess.stray or guess.why


def way_to_keep(guess: Guess) -> str:
    """Explain how to use a column that is left out or read as a category. Useless types are not suggested.

    Examples
    --------
    >>> way_to_keep(Guess("day", ColumnKind.ID, orders=("%m/%d/%Y", "%d/%m/%Y")))
    ' Give it a type with a format: day=date:%m/%d/%Y or day=date:%d/%m/%Y.'
    >>> way_to_keep(Guess("name", ColumnKind.ID, "a different text in every row", n_distinct=60))
    ''
    """
    if guess.orders:
        types = " or ".join(f"{guess.name}=date:{form}" for form in guess.orders)
        return f" Give it a type with a format: {types}."
    if guess.stray:
        kind = "date" if guess.stray.endswith("dates") else "number"
        return f" Correct it, or give the column a type, which makes it missing: {guess.name}={kind}."
    is_number = guess.kind is ColumnKind.ID and guess.n_distinct is None
    return f" To keep it, give it a type: {guess.name}=number." if is_number else ""


def values_of(column: pa.Array) -> np.ndarray:
    """Return a column without missing values as an array of numpy. Text becomes objects of Python."""
    column = flat(column)
    if not pa.types.is_dictionary(column.type):
        return np.asarray(column.to_numpy(zero_copy_only=False))
    # Rows with the same label share one object.
    labels = np.array(column.dictionary.to_pylist(), dtype=object)
    return labels[column.indices.to_numpy()]


def present(column: pa.Array) -> pa.Array:
    """Return which rows of a column have a value, as an Arrow array of booleans. NaN is not a value."""
    is_number = pa.types.is_floating(column.type)
    return pc.invert(pc.is_null(column, nan_is_null=is_number))


def with_answers(X: Any, answers: pa.Array, target: str, where: str) -> tuple[Any, np.ndarray, int]:
    """Return the rows with a target, their targets, and the number of rows without."""
    has_answer = present(answers)
    n_dropped = int(len(answers) - (pc.sum(has_answer).as_py() or 0))
    if n_dropped == len(answers):
        raise BadTable(f"The target {target!r} has no value in any row of {where}.")
    if n_dropped:
        mask = np.asarray(has_answer)
        X = X[mask] if isinstance(X, np.ndarray) else X.filter(has_answer)
        answers = answers.filter(has_answer)
    y = values_of(answers)
    # A column of whole numbers with missing values is read as floats. The class should be 1, not 1.0.
    return X, narrowed(y) if n_dropped and y.dtype.kind == "f" else y, n_dropped
