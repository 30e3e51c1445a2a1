"""Define the state of AdaBoost: members, which are trees of the engine or models of any kind, and weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from committee import _engine
from committee.saving.format.fields import Fields
from committee.saving.format.file_errors import DamagedFile
from committee.saving.model_parts import TREES, check_forest
from committee.saving.predictors.deciders import (
    LINKS,
    BoostedDecider,
    MedianDecider,
    TreesDecider,
    check_member,
)
from committee.saving.predictors.predictor import Predictor, Task, prepare
from committee.saving.states.state import Models, state_of, take_members
from committee.table.schema import Schema
from committee.task import Regression

# Whether votes are crisp, the link, and its scale. None is the weighted median.
Weighing = tuple[bool, str, float] | None


@state_of("AdaBoostClassifier", "AdaBoostM1Classifier", "AdaBoostM2Classifier", "AdaBoostRegressor")
@dataclass(frozen=True, eq=False)
class AdaBoostState:
    """The members of AdaBoost and the weights of their votes.

    Parameters
    ----------
    task : Classification or Regression
    members : the engine's Forest or C45Forest, or list of models
    weights : ndarray of shape (n_members,)
    weighing : tuple or None
    is_weighing_known : bool
        Whether the file contains `weighing`. The oldest files with models of any kind do not.
    table : Schema, or tuple of int and (ndarray of shape (n_columns,) or None)
        The columns of the training table. For models of any kind, only their number and names.
    """

    task: Task
    members: Any
    weights: np.ndarray
    weighing: Weighing
    is_weighing_known: bool
    table: Any

    @classmethod
    def take(cls, fields: Fields, task_type: type[Task]) -> AdaBoostState:
        """Take members and their weights from the fields of a file, and check them."""
        members, n_members = take_members(fields, "members")
        is_engine = isinstance(members, TREES)
        task = fields.take("task", task_type)
        weights = fields.array("estimator_weights", np.float64, (n_members,))
        is_known = is_engine or "weighing" in fields
        weighing: Any = fields.optional("weighing", tuple) if is_known else None
        if is_known:
            fields.require(
                (weighing is None) == isinstance(task, Regression),
                "weighing must be null if and only if the task is regression",
            )
        if weighing is not None:
            is_sound = tuple(map(type, weighing)) == (bool, str, float) and weighing[1] in LINKS
            fields.require(is_sound and 0 < weighing[2] < np.inf, "weighing is not valid")
        # Only crisp votes may be negative: they count for the other classes.
        may_be_negative = weighing is not None and weighing[0]
        if is_engine:
            table: Any = fields.take("schema", Schema)
            check_forest(members, table, task)
            fields.require(members.is_mean, "the members do not vote")
            fields.require(may_be_negative or (weights >= 0).all(), "a weight is negative")
        else:
            n_columns = fields.integer("n_features", 1, 2**31 - 1)
            names = fields.optional_array("feature_names", object, (n_columns,))
            are_names = names is None or all(isinstance(name, str) for name in names)
            fields.require(are_names, "the names of columns are not text")
            table = n_columns, names
        return cls(task, members, weights, weighing, is_known, table)

    def learnt(self) -> dict[str, object]:
        """Return the fields for `take`."""
        own = {"task": self.task, "members": self.members, "estimator_weights": self.weights}
        own["weighing"] = self.weighing
        if isinstance(self.table, Schema):
            return own | {"schema": self.table}
        n_columns, names = self.table
        return own | {"n_features": n_columns, "feature_names": names}

    def weighed(self) -> _engine.Forest:
        """Return trees with weighted votes in their leaves. Return the members unchanged for a median."""
        if self.weighing is None:
            members: _engine.Forest = self.members
            return members
        try:
            forest: _engine.Forest = _engine.weigh_votes(self.members, self.weights, *self.weighing)
        except ValueError as error:
            raise DamagedFile(str(error)) from error
        check_forest(forest, self.table, self.task)
        return forest

    def predictor(self, models: Models, parameters: Mapping[str, object]) -> Predictor:
        """Return the predictor."""
        if isinstance(self.members, TREES):
            forest: Any = self.weighed()
            median = MedianDecider(forest, self.weights)
            return prepare(median if self.weighing is None else TreesDecider(forest), self.table, self.task)
        if not self.is_weighing_known:
            raise ValueError("An earlier version of committee wrote the file. Load it, and save it again.")
        predictors = tuple(models.predictor(each, f"member {i}") for i, each in enumerate(self.members))
        for each in predictors:
            check_member(each, self.table[0], self.task)
        decider = BoostedDecider(predictors, self.weights, self.weighing, self.task)
        # All members have the same columns.
        return prepare(decider, predictors[0].schema, self.task)
