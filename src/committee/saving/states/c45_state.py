"""Define the state of a C4.5 tree."""

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
    """The decider of a C4.5 tree.

    Parameters
    ----------
    tree : the engine's C45Tree
    """

    tree: _engine.C45Tree

    def decide(self, table: Table, n_threads: int) -> np.ndarray:
        """Return the shares of the classes in the leaf of each row, averaged if a value is missing."""
        return self.tree.predict(table.as_float64(), table.n_rows)


@state_of("C45Classifier")
@dataclass(frozen=True, eq=False)
class C45State:
    """A C4.5 tree with its schema and task.

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
        """Take a tree from the fields of a file, and check its columns and classes."""
        schema, task = take_table(fields, task_type)
        tree = fields.take("tree", _engine.C45Tree)
        n_categories = np.where(schema.is_category, schema.n_categories, -1)
        fits = np.array_equal(tree.arrays()["n_categories"], n_categories)
        require(fits, "The tree splits on columns that are not those of the schema")
        require(tree.n_classes == task.n_outputs, "The tree predicts other classes")
        return cls(schema, task, tree)

    def learnt(self) -> dict[str, object]:
        """Return the fields for `take`."""
        return dict(vars(self))

    def predictor(self, models: Models, parameters: Mapping[str, object]) -> Predictor:
        """Return the predictor."""
        return prepare(C45Decider(self.tree), self.schema, self.task)
