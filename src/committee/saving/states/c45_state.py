"""A C4.5 tree: what a file holds of it, and how it decides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from committee import _engine
from committee.saving.format.fields import Fields
from committee.saving.format.file_errors import require
from committee.saving.predictors.deciders import TableDecider
from committee.saving.predictors.predictor import Predictor, Task, prepare
from committee.saving.states.state import Models, state_of, take_table
from committee.table.schema import Schema, Table


@dataclass(frozen=True, eq=False)
class C45Decider(TableDecider):
    """A C4.5 tree.

    Parameters
    ----------
    tree : the engine's C45Tree
    """

    tree: _engine.C45Tree

    def decide(self, table: Table, n_threads: int) -> np.ndarray:
        """The shares of the classes in the leaf of each row, mixed where a value is missing."""
        return self.tree.predict(table.as_float64(), table.n_rows)


@state_of("C45Classifier")
@dataclass(frozen=True, eq=False)
class C45State:
    """One tree.

    Parameters
    ----------
    schema : Schema
    task : Classification
    tree : the engine's C45Tree
    """

    schema: Schema
    task: Task
    tree: _engine.C45Tree

    @classmethod
    def take(cls, fields: Fields, task_type: type[Task]) -> C45State:
        """Take a tree that asks about the columns of a schema and decides on the classes of a task."""
        schema, task = take_table(fields, task_type)
        tree = fields.take("tree", _engine.C45Tree)
        n_categories = np.where(schema.is_category, schema.n_categories, -1)
        fits = np.array_equal(tree.arrays()["n_categories"], n_categories)
        require(fits, "The tree asks about other columns than those of the schema")
        require(tree.n_classes == task.n_outputs, "The tree decides on other classes")
        return cls(schema, task, tree)

    def learnt(self) -> dict[str, object]:
        """The fields that `take` takes."""
        return dict(vars(self))

    def predictor(self, models: Models, parameters: Mapping[str, object]) -> Predictor:
        """Prepare the tree to answer rows."""
        return prepare(C45Decider(self.tree), self.schema, self.task)
