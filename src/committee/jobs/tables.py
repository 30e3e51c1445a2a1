"""The table of a job: what the model learns from, or answers on."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from committee.files import BadTable, FileTable, read_file, read_frame
from committee.files.guessing import flat
from committee.table import Kind, Schema
from committee.task import Classification

KINDS = {
    Kind.NUMBER: "number",
    Kind.BOOLEAN: "boolean",
    Kind.DATE: "date",
    Kind.SPAN: "date",
    Kind.CATEGORY: "category",
}


@dataclass(frozen=True)
class CSVForm:
    """How a CSV file is written, where that is not to be found out.

    Parameters
    ----------
    encoding, delimiter : str, default=None
    header : bool, default=None
    decimal : {".", ","}, default=None
    """

    encoding: str | None = None
    delimiter: str | None = None
    header: bool | None = None
    decimal: str | None = None


AS_FOUND = CSVForm()


def read_any(
    table: Any,
    *,
    types: Mapping[str, Any] | None = None,
    labels: Iterable[str] = (),
    only: Iterable[str] | None = None,
    keep_all: bool = False,
    form: CSVForm = AS_FOUND,
    known_decimals: Mapping[str, str] | None = None,
) -> FileTable:
    """Read a file by its path, or take a frame."""
    if isinstance(table, str | os.PathLike):
        return read_file(
            table,
            types=types,
            labels=labels,
            only=only,
            keep_all=keep_all,
            encoding=form.encoding,
            delimiter=form.delimiter,
            header=form.header,
            decimal=form.decimal,
            known_decimals=known_decimals,
        )
    return read_frame(table, types=types, labels=labels)


def table_for(
    model: Any,
    place: Any,
    *,
    target: str | None = None,
    ignore_extra: bool = False,
    form: CSVForm = AS_FOUND,
) -> tuple[Any, Any, FileTable]:
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
    table = read_any(
        place,
        types=types,
        labels=labels,
        only=[*schema.names, *labels],
        form=form,
        known_decimals=None if origin is None else origin.decimals,
    )
    for note in table.notes:
        warnings.warn(note, UserWarning, stacklevel=3)
    known = {*schema.names, *labels}
    if origin is not None:
        known |= {origin.target, *origin.left_out}
    extra = [name for name in table.names if name not in known]
    if extra and not ignore_extra:
        raise BadTable(
            f"{table.name} has columns that the fit has not seen: {shown(extra)}. Remove them, or pass "
            "--ignore-extra."
        )
    answers = None if target is None else as_classes(table.frame[target], model)
    return table.frame.select(list(schema.names)), answers, table


def for_matrix(model: Any, place: Any, labels: tuple[str, ...], form: CSVForm) -> tuple[Any, Any, FileTable]:
    """Read a table for a model whose fit saw a matrix: its columns are taken by their places."""
    types = dict.fromkeys(labels, label_kind(model))
    table = read_any(place, types=types, labels=labels, keep_all=True, form=form)
    frame = table.frame.drop_columns(list(labels))
    if frame.num_columns != model.schema_.n_columns:
        raise BadTable(
            f"{table.name} has {frame.num_columns} columns, and the model was fitted on "
            f"{model.schema_.n_columns}, which have no names."
        )
    matrix = np.column_stack([values_of(column) for column in frame.columns])
    return matrix, as_classes(table.frame[labels[0]], model) if labels else None, table


def kind_in_file(column: Any) -> str:
    """How a column of a schema is read: numbers that are categories stay numbers."""
    if column.kind is Kind.CATEGORY and not any(isinstance(each, str) for each in column.categories):
        return "number"
    return KINDS[column.kind]


def label_kind(model: Any) -> str:
    """How a column of answers is read for a model."""
    if not isinstance(model._task, Classification):
        return "number"
    return {"b": "boolean", "i": "number", "u": "number", "f": "number"}.get(
        model.classes_.dtype.kind, "category"
    )


def as_classes(answers: Any, model: Any) -> Any:
    """Answers that are text, true and false spelled as the model has learnt them: every program has its way.

    Parameters
    ----------
    answers : pyarrow column
    model : estimator

    Returns
    -------
    pyarrow column
    """
    if not pa.types.is_dictionary(answers.type):
        return answers
    spelled = {str(label).lower(): str(label) for label in model.classes_.tolist()}
    truths = {each: spelled[each] for each in ("true", "false") if each in spelled}
    answers = flat(answers)
    words = [truths.get(each.lower(), each) for each in answers.dictionary.to_pylist()]
    return pa.DictionaryArray.from_arrays(answers.indices, pa.array(words, pa.string()))


def values_of(column: Any) -> np.ndarray:
    """A column of labels in numpy: text as Python's, numbers as they are; none may be missing."""
    column = flat(column)
    if not pa.types.is_dictionary(column.type):
        return np.asarray(column.to_numpy(zero_copy_only=False))
    # Rows share the text of their label.
    labels = np.array(column.dictionary.to_pylist(), dtype=object)
    return labels[column.indices.to_numpy()]


def present(column: Any) -> Any:
    """Which rows of a column have a value, as an Arrow array of booleans; NaN is none."""
    is_number = pa.types.is_floating(column.type)
    return pc.invert(pc.is_null(column, nan_is_null=is_number))


def shown(names: list[str]) -> str:
    """Some names for a message."""
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
