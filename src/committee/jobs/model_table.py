"""Read the tables on which a fitted model predicts, with the types of columns as in the fit."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import pyarrow as pa

from committee.files import AS_FOUND, BadTable, CSVForm, read_table
from committee.files.column_inference import flat
from committee.files.table_error import MissingColumns, some, suggestion
from committee.jobs.training_table import values_of
from committee.jobs.unseen_values import UnseenValues, unseen_values
from committee.saving import Origin
from committee.table import Column, Kind, Schema
from committee.task import Classification, Regression


@dataclass(frozen=True)
class ExpectedTable:
    """What a fitted model expects of a table.

    Parameters
    ----------
    schema : Schema
    task : Classification or Regression
    origin : Origin or None
        What `committee.fit` knew about its table, if it fitted the model.
    """

    schema: Schema
    task: Classification | Regression
    origin: Origin | None

    @classmethod
    def of(cls, model: Any) -> Self:
        """Return what a fitted estimator expects."""
        return cls(model.schema_, model._task, model._origin)


@dataclass(frozen=True, eq=False)
class ModelTable:
    """A table that a fitted model can read.

    Parameters
    ----------
    X : pyarrow.Table, or ndarray for a model that was fitted on a matrix
    answers : pyarrow column, or None
        The target column, if it is needed.
    name : str
        The name of the table.
    unseen : tuple of UnseenValues
        The columns with values that the fit has not seen.
    special : dict of str to pyarrow column
        The columns of groups and weights, if they are needed.
    """

    X: Any
    answers: pa.Array | None
    name: str
    unseen: tuple[UnseenValues, ...] = ()
    special: Mapping[str, pa.Array] = field(default_factory=dict)


def table_for(
    expected: ExpectedTable,
    place: object,
    *,
    target: str | None = None,
    ignore_extra: bool = False,
    kept: Collection[str] = (),
    renamed: Mapping[str, str] | None = None,
    special: Sequence[str] = (),
    form: CSVForm = AS_FOUND,
) -> ModelTable:
    """Read a table for a fitted model, with the types of columns as in the fit.

    Parameters
    ----------
    expected : ExpectedTable
    place : str or path
    target : str, default=None
        The target column, if it is needed.
    ignore_extra : bool, default=False
        Whether to ignore columns that were not in the training table. Otherwise they are an error.
    kept : collection of str, default=()
        More columns that the user knows about.
    renamed : mapping of str to str, default=None
        The names in this table of columns that have another name than in the training table.
    special : sequence of str, default=()
        The columns of groups and weights, if they are needed.
    form : CSVForm

    Returns
    -------
    ModelTable
    """
    schema, origin = expected.schema, expected.origin
    labels = (*(() if target is None else (target,)), *special)
    in_file = dict(renamed or {})
    if not schema.named:
        if in_file:
            raise BadTable("The model was fitted on columns without names. Omit --rename.")
        return for_matrix(expected, place, () if target is None else (target,), form)
    types = {column.name: kind_in_file(column) for column in schema.columns}
    if target is not None:
        types[target] = label_kind(expected.task)
    for name in in_file:
        if name not in types:
            raise BadTable(f"The model has no column {name!r}. {suggestion(name, list(types))}")
    most_strays = {}
    if origin is not None:
        missing = tuple(dict.fromkeys((*origin.missing, *form.missing)))
        form = replace(form, known_decimal=origin.decimal, missing=missing)
        types |= {name: f"{types[name]}:{each}" for name, each in origin.formats.items() if name in types}
        most_strays = dict.fromkeys(origin.coerced, 1.0)
    names = [*types, *special]
    only = [in_file.get(name, name) for name in names]
    known = {*only, *(() if origin is None else origin.left_out)}
    if len(set(only)) < len(only):
        raise BadTable("A column of the table stands for two columns of the model. Correct --rename.")
    try:
        table = read_table(
            place,
            types={in_file.get(name, name): kind for name, kind in types.items()},
            labels=[in_file.get(name, name) for name in labels],
            only=only,
            taken=known,
            most_strays={in_file.get(name, name): share for name, share in most_strays.items()},
            form=form,
        )
    except MissingColumns as error:
        pairs = ",".join(f"{name}={near}" for name, near in error.similar.items())
        raise (BadTable(f"{error} If so, pass --rename {pairs}.") if pairs else error) from None
    frame = table.frame.select(only).rename_columns(names)
    known |= {*kept, *(() if origin is None else (origin.target,))}
    for note in table.notes:
        warnings.warn(note, UserWarning, stacklevel=3)
    extra = [name for name in table.names if name not in known]
    if extra and not ignore_extra:
        raise BadTable(
            f"{table.name} has columns that were not in the training table: {some(extra)}. Remove them, or "
            "pass --ignore-extra."
        )
    X = pa.table({each.name: spelled_as(frame[each.name], each.categories) for each in schema.columns})
    answers = None if target is None else as_answers(frame[target], expected.task)
    unseen = () if origin is None else unseen_values(X, schema, origin.ranges)
    return ModelTable(X, answers, table.name, unseen, {name: frame[name] for name in special})


def for_matrix(expected: ExpectedTable, place: object, labels: tuple[str, ...], form: CSVForm) -> ModelTable:
    """Read a table for a model that was fitted on a matrix. Columns are matched by position."""
    types = dict.fromkeys(labels, label_kind(expected.task))
    table = read_table(place, types=types, labels=labels, keep_all=True, form=form)
    frame = table.frame.drop_columns(list(labels))
    if frame.num_columns != expected.schema.n_columns:
        raise BadTable(
            f"{table.name} has {frame.num_columns} columns, but the model was fitted on "
            f"{expected.schema.n_columns} columns without names."
        )
    matrix = np.column_stack([values_of(column) for column in frame.columns])
    answers = as_answers(table.frame[labels[0]], expected.task) if labels else None
    return ModelTable(matrix, answers, table.name)


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


def label_kind(task: Classification | Regression) -> str:
    """Return the type with which to read the target column for a model."""
    if not isinstance(task, Classification):
        return "number"
    kind = task.classes.dtype.kind
    return "boolean" if kind == "b" else "number" if kind in "iuf" else "category"


def as_answers(column: pa.Array, task: Classification | Regression) -> pa.Array:
    """Return a target column with its text spelled like the classes of a model."""
    return spelled_as(column, task.classes.tolist() if isinstance(task, Classification) else ())


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
