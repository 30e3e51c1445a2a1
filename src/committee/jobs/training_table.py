"""The table of a fit, parted into what is learnt from and what is to be learnt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from committee.files import AS_FOUND, BadTable, ColumnKind, CSVForm, Guess, read_table, require_columns
from committee.jobs.amounts import number_of
from committee.jobs.answers import with_answers
from committee.jobs.tables import present, values_of
from committee.saving import Origin
from committee.table.typing import Label

# Whole numbers of more different values are numbers.
MOST_CLASSES = 20
# What can be done about a value that is of another kind than all others.
CORRECT = " Correct it, or leave the cell empty."
# Columns of which an error tells why they are left out.
MOST_TOLD = 5
# Columns that are told of one by one.
MOST_NOTES = 20


@dataclass(frozen=True, eq=False)
class TrainingTable:
    """A table, parted into what is learnt from and what is to be learnt.

    Parameters
    ----------
    X : pyarrow.Table
    y : ndarray of shape (n_rows,)
    groups, weights : ndarray of shape (n_rows,), or None
    task : {"classification", "regression"}
    guesses : tuple of Guess
    origin : Origin
    notes : tuple of str
    n_dropped : int
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
    """Read a table and part it."""
    extra = {"groups": groups, "weights": weights}
    special = [target, *(name for name in extra.values() if name is not None)]
    if len(set(special)) < len(special):
        raise BadTable(f"One column cannot be two of target, groups and weights. Got {', '.join(special)}.")
    read = read_table(table, types=types, labels=special, form=form)
    require_columns(special, read.names, read.name)
    used = [each.name for each in read.guesses if each.kind.is_used and each.name not in special]
    if not used:
        raise BadTable(
            f"{read.name} has no column to learn from beside {', '.join(special)}.{why_none(read.guesses)}"
        )
    frame, y, n_dropped = with_answers(read.frame, read.frame[target], target, read.name)
    n_distinct = len(np.unique(y))
    if n_distinct == 1:
        raise BadTable(f"The target {target!r} has one value, {y.tolist()[0]!r}: there is nothing to learn.")
    found = task_of(y) if task is None else task
    if found == "classification" and n_distinct == len(y) > 2:
        raise BadTable(
            f"The target {target!r} has a different value in every row, such as {str(y.tolist()[0])!r}: no "
            "class is there twice."
        )
    if found == "regression" and y.dtype.kind not in "iufb":
        raise BadTable(
            f"The target {target!r} holds text, such as {first_text(y)!r}, and regression needs numbers."
        )
    guesses = tuple(each for each in read.guesses if each.name not in special)
    unused = tuple(name for name in read.names if name not in used and name != target)
    alone = alone_notes(y, target) if found == "classification" else []
    notes = (
        *read.notes,
        *dropping_notes(n_dropped, target),
        *alone,
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
    """What the task is, by the target.

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
    """The values of a column that must have one in every row."""
    n_missing = len(column) - (pc.sum(present(column)).as_py() or 0)
    if n_missing:
        rows = "1 row has" if n_missing == 1 else f"{n_missing} rows have"
        raise BadTable(f"Column {name!r} is to be the {role}, and {rows} no value in it.")
    values = values_of(column)
    if role == "weights" and values.dtype.kind not in "iufb":
        raise BadTable(
            f"Column {name!r} is to be the weights, and holds text, such as {first_text(values)!r}."
        )
    return values


def first_text(values: np.ndarray) -> Label:
    """The first value that is no number; the first of all if there is none.

    Examples
    --------
    >>> first_text(np.array(["0.5", "many"])), first_text(np.array(["007"]))
    ('many', '007')
    """
    found = values.tolist()
    return next((each for each in found if number_of(each) is None), found[0])


def why_none(guesses: tuple[Guess, ...]) -> str:
    """Why some columns are left out, and how the first of them is kept."""
    left_out = [each for each in guesses if each.why]
    if not left_out:
        return ""
    reasons = ", ".join(f"{each.name} ({each.why})" for each in left_out[:MOST_TOLD])
    return f" Left out: {reasons}.{way_to_keep(left_out[0])}"


def dropping_notes(n_dropped: int, target: str) -> list[str]:
    """What is said of rows without a target."""
    if not n_dropped:
        return []
    return [f"{n_dropped} row{'s' * (n_dropped > 1)} without a value of {target!r}: left out."]


def alone_notes(y: np.ndarray, target: str) -> list[str]:
    """What is said if most classes have one row.

    Examples
    --------
    >>> alone_notes(np.array(["a", "b", "b"]), "kind")
    []
    >>> alone_notes(np.array(["a", "b", "b", "c"]), "kind")  # doctest: +ELLIPSIS
    ["2 of the 3 classes of 'kind' have one row each: ...
    """
    counts = np.unique(y, return_counts=True)[1]
    n_alone = int((counts == 1).sum())
    if 2 * n_alone <= len(counts):
        return []
    return [
        f"{n_alone} of the {len(counts)} classes of {target!r} have one row each: nobody can learn them and "
        "be judged on them. Put rare classes together, or name another target."
    ]


def index_notes(index: tuple[str, ...]) -> list[str]:
    """What is said of the index of pandas, which is no column.

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
    """What is said of columns that some value makes a category.

    Examples
    --------
    >>> stray_notes([Guess("age", ColumnKind.CATEGORY, stray="row 3 has 'old'")])
    ["Column 'age' is taken for a category: row 3 has 'old'. Correct it, or leave the cell empty."]
    """
    return [
        f"Column {each.name!r} is taken for a category: {each.stray}.{CORRECT}"
        for each in guesses
        if each.stray and each.kind is ColumnKind.CATEGORY
    ]


def left_out_notes(guesses: tuple[Guess, ...]) -> list[str]:
    """What is said of columns that are left out by a guess."""
    notes = [
        f"Column {each.name!r} is left out: {each.why}.{way_to_keep(each)}" for each in guesses if each.why
    ]
    rest = len(notes) - MOST_NOTES
    return notes if rest <= 0 else [*notes[:MOST_NOTES], f"{rest} more columns are left out like these."]


def way_to_keep(guess: Guess) -> str:
    """How a column stays that a guess leaves out."""
    if guess.kind is ColumnKind.IGNORE:
        return ""
    if guess.stray:
        return CORRECT
    kind = "number" if guess.n_distinct is None else "category"
    return f" To keep it, give it a type: {guess.name}={kind}."
