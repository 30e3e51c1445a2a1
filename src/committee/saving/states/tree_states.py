"""Define the states of single trees, forests, boosted trees and rotation forests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from committee import _engine
from committee.saving.format.fields import Fields
from committee.saving.model_parts import check_forest, check_statistics
from committee.saving.predictors.deciders import AnyTrees, TreesDecider
from committee.saving.predictors.predictor import Predictor, Task, prepare
from committee.saving.states.state import KeptRule, Models, ruled_decider, state_of, take_table
from committee.table.schema import Schema
from committee.table.target_statistics import TargetStatistics


@state_of(
    "DecisionTreeClassifier", "DecisionTreeRegressor", "RandomTreeClassifier", "RandomTreeRegressor",
    "DecisionStumpClassifier", "DecisionStumpRegressor", "RandomForestClassifier", "RandomForestRegressor",
    "ExtraTreeClassifier", "ExtraTreeRegressor", "ExtraTreesClassifier", "ExtraTreesRegressor",
)  # fmt: skip
@dataclass(frozen=True, eq=False)
class TreesState:
    """One tree, or a forest and the rule that combines its votes.

    Parameters
    ----------
    schema : Schema
    task : Classification or Regression
    forest : the engine's Forest or RotationForest
    kept : KeptRule, or None
        None for one tree, and for files from before forests had rules.
    """

    schema: Schema
    task: Task
    forest: Any
    kept: KeptRule | None = None

    name_in_files: ClassVar[str] = "forest"
    kind: ClassVar[type[AnyTrees]] = _engine.Forest

    @classmethod
    def take(cls, fields: Fields, task_type: type[Task]) -> Self:
        """Take trees from the fields of a file, and check them."""
        schema, task = take_table(fields, task_type)
        forest: Any = fields.take(cls.name_in_files, cls.kind)
        check_forest(forest, schema, task)
        # Trees of a rotation forest always vote.
        fields.require(getattr(forest, "is_mean", True), "the trees do not vote")
        return cls(schema, task, forest, KeptRule.take(fields) if "rule" in fields else None)

    def learnt(self) -> dict[str, object]:
        """Return the fields for `take`."""
        own = {"schema": self.schema, "task": self.task, self.name_in_files: self.forest}
        return own if self.kept is None else own | vars(self.kept)

    def predictor(self, models: Models, parameters: Mapping[str, object]) -> Predictor:
        """Return the predictor."""
        decider = ruled_decider(self.forest, self.kept, self.task, models, parameters)
        return prepare(decider, self.schema, self.task)


@state_of(
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "HistGradientBoostingClassifier",
    "HistGradientBoostingRegressor",
    "LogitBoostClassifier",
)
@dataclass(frozen=True, eq=False)
class BoostedState:
    """Boosted trees, whose scores are summed.

    Parameters
    ----------
    schema : Schema
    task : Classification or Regression
    forest : the engine's Forest
    statistics : TargetStatistics, or None
        The columns of numbers that replace columns of many categories.
    """

    schema: Schema
    task: Task
    forest: _engine.Forest
    statistics: TargetStatistics | None

    @classmethod
    def take(cls, fields: Fields, task_type: type[Task]) -> BoostedState:
        """Take trees and target statistics from the fields of a file, and check them."""
        schema, task = take_table(fields, task_type)
        forest = fields.take("forest", _engine.Forest)
        statistics = fields.optional("statistics", TargetStatistics)
        if statistics is not None:
            check_statistics(statistics, schema)
        check_forest(forest, schema if statistics is None else statistics.schema(schema), task)
        return cls(schema, task, forest, statistics)

    def learnt(self) -> dict[str, object]:
        """Return the fields for `take`."""
        return dict(vars(self))

    def predictor(self, models: Models, parameters: Mapping[str, object]) -> Predictor:
        """Return the predictor."""
        return prepare(TreesDecider(self.forest, statistics=self.statistics), self.schema, self.task)


@state_of("RotationForestClassifier", "RotationForestRegressor")
@dataclass(frozen=True, eq=False)
class RotationState(TreesState):
    """A rotation forest and the rule that combines its votes."""

    name_in_files: ClassVar[str] = "rotations"
    kind: ClassVar[type[AnyTrees]] = _engine.RotationForest
