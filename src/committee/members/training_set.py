"""The training set of a committee: the table as members take it, with y, weights and groups, all checked."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from committee.members.member_votes import Task
from committee.saving import Data
from committee.saving.model_file import fingerprint
from committee.table import Schema, read
from committee.table.input_types import ArrayLike, TableLike
from committee.table.raw_column import is_missing, is_reordered, match_columns
from committee.table.source import Source, open_source
from committee.task import Classification, Regression, check_lengths, check_target, row_weights
from committee.votes.folds import Fold, folds_of


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """The training set of members and rule, shared by all fits.

    Parameters
    ----------
    X : matrix or frame
        In the container of the user; sparse matrices become dense.
    schema : Schema
    task : Classification or Regression
    y : ndarray of shape (n_rows,)
        Codes of classes, or numbers.
    answers : ndarray of shape (n_rows,)
        Labels or numbers: the targets of members.
    weights : ndarray of shape (n_rows,), or None
    groups : ndarray of int of shape (n_rows,), or None
    data : Data
        The description of the table that a saved committee contains.
    table : str
        The fingerprint of X without y.
    """

    X: TableLike
    schema: Schema
    task: Task
    y: np.ndarray
    answers: np.ndarray
    weights: np.ndarray | None
    groups: np.ndarray | None
    data: Data
    table: str

    @classmethod
    def of(
        cls,
        task_type: type[Classification] | type[Regression],
        X: TableLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        groups: ArrayLike | None,
    ) -> TrainingSet:
        """Read and check a training set."""
        source = open_source(X)
        table = read(source)
        task, target = task_type.of(y)
        check_lengths(source.n_rows, target)
        weights = row_weights(sample_weight, source.n_rows)
        answers = task.classes[target] if isinstance(task, Classification) else target
        codes, data = group_codes(groups, source.n_rows), Data.of(table, target, weights)
        alone = fingerprint(table.columns, table.n_rows)
        return cls(source.native, table.schema, task, target, answers, weights, codes, data, alone)

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.y)

    @property
    def are_classes(self) -> bool:
        """Whether the task is classification."""
        return isinstance(self.task, Classification)

    @property
    def is_open(self) -> bool:
        """Whether there is something to decide: the targets are numbers, or of more than one class."""
        return not self.are_classes or self.task.n_outputs > 1

    @property
    def rows(self) -> np.ndarray:
        """The rows with weight."""
        return np.arange(self.n_rows) if self.weights is None else np.flatnonzero(self.weights)

    def folds(self, cv: object) -> list[Fold]:
        """Split the rows as `cv` specifies."""
        return folds_of(cv, self.X, self.y, self.groups, self.weights, is_class_task=self.are_classes)


def in_order(source: Source, schema: Schema) -> Source:
    """Put the columns of a frame in the order of a schema that it matches."""
    return source.select(match_columns(source, schema)) if is_reordered(source, schema) else source


def group_codes(groups: ArrayLike | None, n_rows: int) -> np.ndarray | None:
    """Number the groups of rows.

    Examples
    --------
    >>> group_codes(["b", "a", "b"], 3)
    array([1, 0, 1])
    >>> group_codes(["b", None, "b"], 3)
    Traceback (most recent call last):
    ValueError: groups has missing values. Give every row a group, or drop those rows.
    >>> group_codes(["b", "a"], 3)
    Traceback (most recent call last):
    ValueError: groups must have one value for each of the 3 rows. Got (2,).
    """
    if groups is None:
        return None
    array = np.asarray(groups) if np.ndim(groups) != 1 else check_target(groups)
    if array.shape != (n_rows,):
        raise ValueError(f"groups must have one value for each of the {n_rows} rows. Got {array.shape}.")
    if array.dtype.kind in "fcO" and any(map(is_missing, array.tolist())):
        raise ValueError("groups has missing values. Give every row a group, or drop those rows.")
    try:
        return np.asarray(np.unique(array, return_inverse=True)[1], dtype=np.int64)
    except TypeError as error:
        raise ValueError(f"groups mixes values of several types ({error}). Make all of one.") from error
