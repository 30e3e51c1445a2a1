"""The table of a job: what the model learns from, or answers on."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from committee.files import AS_FOUND, BadTable, CSVForm, FileTable, read_table
from committee.files.errors import some
from committee.files.guessing import flat
from committee.table import Column, Kind, Schema
from committee.task import Classification


def table_for(
    model: Any,
    place: object,
    *,
    target: str | None = None,
    ignore_extra: bool = False,
    form: CSVForm = AS_FOUND,
) -> tuple[pa.Table, pa.Array | None, FileTable]:
    """Read a table for a fitted model, each column as it was in the fit.

    Parameters
    ----------
    model : estimator
    place : str or path
    target : str, default=None
        A column with the answers, if they are wanted.
    ignore_extra : bool, default=False
        Whether columns that the fit has not seen are left out; else they are an error.
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
            f"{table.name} has columns that the fit has not seen: {some(extra)}. Remove them, or pass "
            "--ignore-extra."
        )
    X = pa.table({each.name: spelled_as(table.frame[each.name], each.categories) for each in schema.columns})
    answers = None if target is None else as_answers(table.frame[target], model)
    return X, answers, table


def for_matrix(
    model: Any, place: object, labels: tuple[str, ...], form: CSVForm
) -> tuple[np.ndarray, pa.Array | None, FileTable]:
    """Read a table for a model whose fit saw a matrix: its columns are taken by their places."""
    types = dict.fromkeys(labels, label_kind(model))
    table = read_table(place, types=types, labels=labels, keep_all=True, form=form)
    frame = table.frame.drop_columns(list(labels))
    if frame.num_columns != model.schema_.n_columns:
        raise BadTable(
            f"{table.name} has {frame.num_columns} columns, and the model was fitted on "
            f"{model.schema_.n_columns}, which have no names."
        )
    matrix = np.column_stack([values_of(column) for column in frame.columns])
    answers = as_answers(table.frame[labels[0]], model) if labels else None
    return matrix, answers, table


def kind_in_file(column: Column) -> str:
    """Return how a column of a schema is read: categories that are numbers, booleans or dates are such.

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
    """Return how a column of answers is read for a model."""
    if not isinstance(model._task, Classification):
        return "number"
    kind = model.classes_.dtype.kind
    return "boolean" if kind == "b" else "number" if kind in "iuf" else "category"


def as_answers(column: pa.Array, model: Any) -> pa.Array:
    """Return a column of answers, its text spelled as the classes of a model are."""
    return spelled_as(column, model.classes_.tolist() if isinstance(model._task, Classification) else ())


def spelled_as(column: pa.Array, known: Iterable[object]) -> pa.Array:
    """Spell text as the model has learnt it, whatever blanks are around it: files and frames differ in them.

    True and false may be in any case: every program has its way.

    Parameters
    ----------
    column : pyarrow column
        Others than text are not changed.
    known : iterable
        Categories or classes.

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
    # One that is spelled like the text itself goes before all others.
    spelled = {bare(each): each for each in texts} | {each: each for each in texts}
    column = flat(column)
    words = [spelled.get(each, spelled.get(bare(each), each)) for each in column.dictionary.to_pylist()]
    return pa.DictionaryArray.from_arrays(column.indices, pa.array(words, pa.string()))


def bare(text: str) -> str:
    """Return text without blanks around it; true and false in small letters."""
    text = text.strip()
    return text.lower() if text.lower() in ("true", "false") else text


def values_of(column: pa.Array) -> np.ndarray:
    """Return a column of labels in numpy: text as Python has it, numbers as they are; none may be missing."""
    column = flat(column)
    if not pa.types.is_dictionary(column.type):
        return np.asarray(column.to_numpy(zero_copy_only=False))
    # Rows share the text of their label.
    labels = np.array(column.dictionary.to_pylist(), dtype=object)
    return labels[column.indices.to_numpy()]


def present(column: pa.Array) -> pa.Array:
    """Return which rows of a column have a value, as an Arrow array of booleans; NaN is not a value."""
    is_number = pa.types.is_floating(column.type)
    return pc.invert(pc.is_null(column, nan_is_null=is_number))
