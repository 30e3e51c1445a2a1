"""Encode and decode the parts of our own models: schemas, tasks, trees and target statistics."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from committee import _engine
from committee.saving.format.codec import READERS, WRITERS, Decoder, Encoder, Json, join
from committee.saving.format.file_errors import DamagedFile, require
from committee.saving.format.plain_values import checked_pairs, read_list, with_keys
from committee.table.schema import MAX_CATEGORIES, TIMES, Column, Kind, Schema
from committee.table.target_statistics import TargetStatistics
from committee.task import Classification, Regression

# The engine's types of forests in which every tree is a member with its own vote.
TREES = (_engine.Forest, _engine.C45Forest)
KINDS = {kind.value: kind for kind in Kind}


def write_schema(schema: Schema, encoder: Encoder, path: str) -> Json:
    """Write the names, kinds and categories of columns. The kind of seconds of dates is "date"."""
    columns = [
        [
            column.name,
            (column.seconds_of or column.kind).value if column.categories else column.kind.value,
            write_categories(column, encoder, path),
        ]
        for column in schema.columns
    ]
    return {"schema": {"columns": columns, "named": schema.named}}


def write_categories(column: Column, encoder: Encoder, path: str) -> Json:
    """Write the categories of a column. An error names the column."""
    try:
        return encoder.value(list(column.categories), join(path, column.name))
    except TypeError as error:
        kinds = " and ".join(sorted({type(category).__name__ for category in column.categories}))
        raise TypeError(
            f"Column {column.name!r} has categories of type {kinds}, which cannot be saved. Convert it "
            "to text, and fit again."
        ) from error


def read_schema(written: Json, decoder: Decoder, path: str) -> Schema:
    """Read a schema. The names of its columns must differ, and only some kinds have categories."""
    body = with_keys(written["schema"], {"columns", "named"}, path)
    columns, named = body["columns"], body["named"]
    require(isinstance(columns, list) and columns, f"{path}: there are no columns")
    require(isinstance(named, bool), f"{path}: named is neither true nor false")
    schema = Schema(tuple(read_column(each, decoder, path) for each in columns), named)
    require(len(set(schema.names)) == schema.n_columns, f"{path}: two columns have the same name")
    return schema


def read_column(written: Json, decoder: Decoder, path: str) -> Column:
    """Read one column of a schema."""
    require(isinstance(written, list) and len(written) == 3, f"{path}: a column does not have three parts")
    name, kind, categories = written
    require(isinstance(name, str), f"{path}: the name of a column is not text")
    require(isinstance(kind, str) and kind in KINDS, f"{path}: {name!r} has the unknown kind {kind!r}")
    found = tuple(read_list(categories, decoder, join(path, name)))
    seconds_of = KINDS[kind] if found and KINDS[kind] in TIMES else None
    require(
        not found or kind == "category" or seconds_of, f"{path}: {name!r} has categories but another kind"
    )
    require(len(found) <= MAX_CATEGORIES, f"{path}: {name!r} has more than {MAX_CATEGORIES} categories")
    try:
        distinct = set(found)
    except TypeError as error:
        raise DamagedFile(f"{path}: a category of {name!r} is not hashable.") from error
    require(len(distinct) == len(found), f"{path}: {name!r} has the same category twice")
    return Column(name, Kind.CATEGORY if seconds_of else KINDS[kind], found, seconds_of)


def write_date(value: datetime.date | datetime.time, encoder: Encoder, path: str) -> Json:
    """Write a date, a point in time or a time of day, which can be a category."""
    return {type(value).__name__: value.isoformat()}


def read_date(written: Json, decoder: Decoder, path: str) -> object:
    """Read a date, a point in time or a time of day."""
    ((name, text),) = written.items()
    try:
        return DATES[name].fromisoformat(text)
    except (TypeError, ValueError) as error:
        raise DamagedFile(f"{path}: {text!r} is not a {name}.") from error


DATES: dict[str, Any] = {"date": datetime.date, "datetime": datetime.datetime, "time": datetime.time}


def write_classification(task: Classification, encoder: Encoder, path: str) -> Json:
    """Write the classes of a task."""
    return {"classification": encoder.value(task.classes, path)}


def read_classification(written: Json, decoder: Decoder, path: str) -> Classification:
    """Read classes. They must be sorted and different, and all text or all numbers."""
    classes = decoder.value(written["classification"], path)
    require(isinstance(classes, np.ndarray) and classes.ndim == 1 and len(classes), f"{path}: no classes")
    is_text = classes.dtype == object and all(isinstance(label, str) for label in classes)
    require(classes.dtype.kind in "biufU" or is_text, f"{path}: the classes are neither text nor numbers")
    require((classes[:-1] < classes[1:]).all(), f"{path}: the classes are not sorted, or one occurs twice")
    require(classes.dtype.kind != "f" or np.isfinite(classes).all(), f"{path}: a class is not finite")
    return Classification(classes)


def read_regression(written: Json, decoder: Decoder, path: str) -> Regression:
    """Read a regression task, which has no content."""
    with_keys(written["regression"], set(), path)
    return Regression()


@dataclass(frozen=True)
class EngineObject:
    """The form of an object of the engine in files: bytes that the engine packs, unpacks and checks.

    Parameters
    ----------
    tag : str
    unpack : callable
        Check the bytes, and make an object from them.
    old_tag : str
        The tag of format 1, which has named arrays.
    make : callable
        Check the named arrays, and make an object from them.
    """

    tag: str
    unpack: Callable[[np.ndarray], Any]
    old_tag: str
    make: Callable[[dict[str, np.ndarray]], Any]

    def write(self, value: Any, encoder: Encoder, path: str) -> Json:
        """Write the bytes."""
        return {self.tag: encoder.put(value.packed(), path)}

    def read(self, written: Json, decoder: Decoder, path: str) -> object:
        """Read the bytes, and let the engine check them."""
        packed = decoder.take(written[self.tag], path)
        require(packed.dtype == np.uint8 and packed.ndim == 1, f"{path}: the trees are not a list of bytes")
        return checked(self.unpack, packed, path)

    def read_old(self, written: Json, decoder: Decoder, path: str) -> object:
        """Read the named arrays of format 1, and let the engine check them."""
        names = written[self.old_tag]
        require(isinstance(names, dict), f"{path} has no arrays")
        arrays = {name: decoder.take(each, join(path, name)) for name, each in names.items()}
        return checked(self.make, arrays, path)


def checked(make: Callable[[Any], object], content: object, path: str) -> object:
    """Make an object of the engine. Raise `DamagedFile` if the engine refuses the content."""
    try:
        return make(content)
    except (ValueError, MemoryError) as error:
        raise DamagedFile(f"{path}: {error}") from error


ENGINE_OBJECTS: dict[type, EngineObject] = {
    _engine.Forest: EngineObject(
        "packed_forest", _engine.Forest.from_packed, "forest", _engine.forest_from_arrays
    ),
    _engine.C45Tree: EngineObject(
        "packed_c45_tree", _engine.C45Tree.from_packed, "c45_tree", _engine.C45Tree.from_arrays
    ),
    _engine.C45Forest: EngineObject(
        "packed_c45_forest", _engine.C45Forest.from_packed, "c45_forest", _engine.C45Forest.from_arrays
    ),
    _engine.RotationForest: EngineObject(
        "packed_rotation_forest",
        _engine.RotationForest.from_packed,
        "rotation_forest",
        _engine.RotationForest.from_arrays,
    ),
}


def write_statistics(statistics: TargetStatistics, encoder: Encoder, path: str) -> Json:
    """Write an array for each column."""
    by_column = statistics.by_column.items()
    return {"target_statistics": [[column, encoder.put(each, path)] for column, each in by_column]}


def read_statistics(written: Json, decoder: Decoder, path: str) -> TargetStatistics:
    """Read finite numbers for each of some columns."""
    by_column: dict[int, np.ndarray] = {}
    for column, name in checked_pairs(written["target_statistics"], path):
        values = decoder.take(name, path)
        require(type(column) is int and column not in by_column, f"{path}: {column!r} is not a new column")
        is_sound = values.dtype == np.float64 and values.ndim == 2 and bool(np.isfinite(values).all())
        require(is_sound, f"{path}: the statistics of a column are not finite numbers")
        by_column[column] = values
    return TargetStatistics(by_column)


def check_forest(
    forest: _engine.Forest | _engine.C45Forest | _engine.RotationForest,
    schema: Schema,
    task: Classification | Regression,
) -> None:
    """Raise `DamagedFile` unless trees have the columns of a schema and the outputs of a task."""
    require(
        forest.n_columns == schema.n_columns and np.array_equal(forest.n_categories, schema.n_categories),
        "The trees split on columns that are not those of the schema",
    )
    require(
        forest.is_classifier == isinstance(task, Classification) and forest.n_outputs == task.n_outputs,
        "The trees have another task",
    )


def split_columns(forest: _engine.Forest | _engine.C45Forest, tree: int) -> np.ndarray:
    """Return the columns that a tree splits on."""
    if isinstance(forest, _engine.C45Forest):
        by_node = forest.tree(tree, None).arrays()["column"]
    else:
        by_node = _engine.describe_tree(forest, tree).column
    return by_node[by_node >= 0]


def check_statistics(statistics: TargetStatistics, schema: Schema) -> None:
    """Raise `DamagedFile` unless statistics cover all categories of their columns in a schema."""
    for column, values in statistics.by_column.items():
        require(
            0 <= column < schema.n_columns
            and schema.columns[column].kind is Kind.CATEGORY
            and len(values) == len(schema.columns[column].categories) + 1
            and values.shape[1] > 0,
            "The statistics do not belong to the columns and categories of the schema",
        )


WRITERS |= {
    Schema: write_schema,
    Classification: write_classification,
    Regression: lambda task, encoder, path: {"regression": {}},
    TargetStatistics: write_statistics,
    datetime.date: write_date,
    datetime.datetime: write_date,
    datetime.time: write_date,
}
READERS |= {
    "schema": read_schema,
    "classification": read_classification,
    "regression": read_regression,
    "target_statistics": read_statistics,
    "date": read_date,
    "datetime": read_date,
    "time": read_date,
}
WRITERS |= {cls: each.write for cls, each in ENGINE_OBJECTS.items()}
READERS |= {each.tag: each.read for each in ENGINE_OBJECTS.values()}
READERS |= {each.old_tag: each.read_old for each in ENGINE_OBJECTS.values()}
