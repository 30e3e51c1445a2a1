"""Read training tables, split into X and y, and the tables on which a fitted model predicts."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from committee.files import (
    AS_FOUND,
    BadTable,
    ColumnKind,
    CSVForm,
    FileTable,
    Guess,
    read_table,
    require_columns,
)
from committee.files.column_inference import flat
from committee.files.column_kinds import narrowed
from committee.files.table_error import some
from committee.saving import Origin
from committee.table import Column, Kind, Schema
from committee.table.input_types import Label
from committee.task import Classification

# A target of whole numbers with more distinct values is for regression.
MOST_CLASSES = 20
# The way out for a value of another kind than all others.
CORRECT = " Correct it, or leave the cell empty."
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
    read = read_table(table, types=types, labels=special, form=form)
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
    found = task_of(y) if task is None else task
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
        Origin(target, (*unused, *read.index), read.decimal),
        notes,
        n_dropped,
    )


def task_of(y: np.ndarray) -> str:
    """Infer the task from the target.

    Examples
    --------
    >>> task_of(np.array(["a", "b"])), task_of(np.arange(100)), task_of(np.arange(100) % 3)
    ('classification', 'regression', 'classification')
    """
    if y.dtype.kind not in "iuf":
        return "classification"
    distinct = np.unique(y)
    are_whole = y.dtype.kind != "f" or bool((distinct == np.floor(distinct)).all())
    are_few = len(distinct) == 2 or len(distinct) <= min(MOST_CLASSES, len(y) // 3)
    return "classification" if are_whole and are_few else "regression"


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
    reasons = ", ".join(f"{each.name} ({each.why})" for each in left_out[:MOST_REASONS])
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
    """Report columns of numbers or dates that are categories because of one value.

    Examples
    --------
    >>> stray_notes([Guess("age", ColumnKind.CATEGORY, stray="row 3 has 'old'")])
    ["Column 'age' is read as a category: row 3 has 'old'. Correct it, or leave the cell empty."]
    """
    return [
        f"Column {each.name!r} is read as a category: {each.stray}.{CORRECT}"
        for each in guesses
        if each.stray and each.kind is ColumnKind.CATEGORY
    ]


def left_out_notes(guesses: tuple[Guess, ...]) -> list[str]:
    """Report columns that are left out because of their inferred type."""
    notes = [
        f"Column {each.name!r} is left out: {each.why}.{way_to_keep(each)}" for each in guesses if each.why
    ]
    rest = len(notes) - MOST_NOTES
    return notes if rest <= 0 else [*notes[:MOST_NOTES], f"{rest} more columns are left out like these."]


def way_to_keep(guess: Guess) -> str:
    """Explain how to keep a column that is left out."""
    if guess.kind is ColumnKind.IGNORE:
        return ""
    if guess.stray:
        return CORRECT
    kind = "number" if guess.n_distinct is None else "category"
    return f" To keep it, give it a type: {guess.name}={kind}."


def number_of(amount: float | str) -> float | None:
    """Convert text to a number. Return None for other text."""
    try:
        return float(amount)
    except (TypeError, ValueError):
        return None


def table_for(
    model: Any,
    place: object,
    *,
    target: str | None = None,
    ignore_extra: bool = False,
    form: CSVForm = AS_FOUND,
) -> tuple[pa.Table, pa.Array | None, FileTable]:
    """Read a table for a fitted model, with the types of columns as in the fit.

    Parameters
    ----------
    model : estimator
    place : str or path
    target : str, default=None
        The target column, if it is needed.
    ignore_extra : bool, default=False
        Whether to ignore columns that were not in the training table. Otherwise they are an error.
    form : CSVForm

    Returns
    -------
    X : pyarrow.Table
    answers : pyarrow column, or None
    table : FileTable
    """
    schema: Schema = model.schema_
    labels = () if target is None else (target,)
    if not schema.named:
        return for_matrix(model, place, labels, form)
    types = {column.name: kind_in_file(column) for column in schema.columns}
    if target is not None:
        types[target] = label_kind(model)
    origin = model._origin
    if origin is not None:
        form = replace(form, known_decimal=origin.decimal)
    table = read_table(place, types=types, labels=labels, only=[*schema.names, *labels], form=form)
    for note in table.notes:
        warnings.warn(note, UserWarning, stacklevel=3)
    known = {*schema.names, *labels}
    if origin is not None:
        known |= {origin.target, *origin.left_out}
    extra = [name for name in table.names if name not in known]
    if extra and not ignore_extra:
        raise BadTable(
            f"{table.name} has columns that were not in the training table: {some(extra)}. Remove them, or "
            "pass --ignore-extra."
        )
    X = pa.table({each.name: spelled_as(table.frame[each.name], each.categories) for each in schema.columns})
    answers = None if target is None else as_answers(table.frame[target], model)
    return X, answers, table


def for_matrix(
    model: Any, place: object, labels: tuple[str, ...], form: CSVForm
) -> tuple[np.ndarray, pa.Array | None, FileTable]:
    """Read a table for a model that was fitted on a matrix. Columns are matched by position."""
    types = dict.fromkeys(labels, label_kind(model))
    table = read_table(place, types=types, labels=labels, keep_all=True, form=form)
    frame = table.frame.drop_columns(list(labels))
    if frame.num_columns != model.schema_.n_columns:
        raise BadTable(
            f"{table.name} has {frame.num_columns} columns, but the model was fitted on "
            f"{model.schema_.n_columns} columns without names."
        )
    matrix = np.column_stack([values_of(column) for column in frame.columns])
    answers = as_answers(table.frame[labels[0]], model) if labels else None
    return matrix, answers, table


def kind_in_file(column: Column) -> str:
    """Return the type with which to read a column of a schema: for categories, the type of their values.

    Examples
    --------
    >>> kind_in_file(Column("machine", Kind.CATEGORY, (7, 12))), kind_in_file(Column("age", Kind.NUMBER))
    ('number', 'number')
    >>> kind_in_file(Column("day", Kind.CATEGORY, (0.0, 86400.0), seconds_of=Kind.DATE))
    'date'
    """
    kind = column.seconds_of or column.kind
    if kind is Kind.CATEGORY and column.categories:
        if all(isinstance(each, bool) for each in column.categories):
            kind = Kind.BOOLEAN
        elif not any(isinstance(each, str) for each in column.categories):
            kind = Kind.NUMBER
    return (Kind.DATE if kind is Kind.SPAN else kind).value


def label_kind(model: Any) -> str:
    """Return the type with which to read the target column for a model."""
    if not isinstance(model._task, Classification):
        return "number"
    kind = model.classes_.dtype.kind
    return "boolean" if kind == "b" else "number" if kind in "iuf" else "category"


def as_answers(column: pa.Array, model: Any) -> pa.Array:
    """Return a target column with its text spelled like the classes of a model."""
    return spelled_as(column, model.classes_.tolist() if isinstance(model._task, Classification) else ())


def spelled_as(column: pa.Array, known: Iterable[object]) -> pa.Array:
    """Spell text like the categories or classes of a model.

    Blanks around text are ignored, and so is the case of true and false, because files and frames differ in
    them.

    Parameters
    ----------
    column : pyarrow column
        Columns of other types are unchanged.
    known : iterable
        The categories or classes.

    Returns
    -------
    pyarrow column

    Examples
    --------
    >>> spelled_as(pa.array(["b", "TRUE", "new"]).dictionary_encode(), ["b ", "True"]).to_pylist()
    ['b ', 'True', 'new']
    """
    if not pa.types.is_dictionary(column.type):
        return column
    texts = [each for each in known if isinstance(each, str)]
    # An exact match takes precedence.
    spelled = {bare(each): each for each in texts} | {each: each for each in texts}
    column = flat(column)
    words = [spelled.get(each, spelled.get(bare(each), each)) for each in column.dictionary.to_pylist()]
    return pa.DictionaryArray.from_arrays(column.indices, pa.array(words, pa.string()))


def bare(text: str) -> str:
    """Return text without blanks around it, and true and false in lower case."""
    text = text.strip()
    return text.lower() if text.lower() in ("true", "false") else text


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
