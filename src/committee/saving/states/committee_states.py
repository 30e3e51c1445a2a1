"""Members of any kind and a rule on their votes: committees and bagging."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from committee.saving.format.fields import Fields
from committee.saving.format.file_errors import require
from committee.saving.model_parts import TREES, check_forest, split_columns
from committee.saving.predictors.deciders import PreparedMember, RuleDecider, check_member
from committee.saving.predictors.predictor import Predictor, Task, prepare
from committee.saving.states.state import (
    KeptRule,
    Models,
    check_rule,
    ruled_decider,
    state_of,
    take_members,
    take_table,
)
from committee.table.schema import Schema
from committee.task import Classification


@dataclass(frozen=True, eq=False)
class MemberState:
    """A member of a committee.

    Parameters
    ----------
    name : str
    models : list
        One, or one for each fold.
    columns : list of int, or None
        The columns that it sees; None for all.
    calibration : dict or None
        How its scores become probabilities.
    """

    name: str
    models: list[object]
    columns: list[int] | None
    calibration: Mapping[str, object] | None = None

    @classmethod
    def take(cls, fields: Fields, n_columns: int) -> MemberState:
        """Take a member that sees some columns of a table."""
        name, models = fields.take("name", str), fields.take("models", list)
        columns = fields.optional("columns", list)
        are_known = columns is None or are_columns(columns, n_columns)
        fields.require(are_known, "its columns are none of the table")
        calibration = fields.optional_fields("calibration")
        fields.finish()
        fields.require(models, "it has no models")
        return cls(name, models, columns, None if calibration is None else calibration.values)

    def prepared(self, schema: Schema, task: Task, models: Models) -> PreparedMember:
        """Prepare the member to vote."""
        predictors = tuple(models.predictor(model, f"member {self.name!r}") for model in self.models)
        for each in predictors:
            check_member(each, schema.n_columns if self.columns is None else len(self.columns), task)
        require(self.calibration is None, f"Member {self.name!r} votes by itself and needs no calibration")
        return PreparedMember(predictors, self.columns)


@state_of(
    "VotingClassifier", "VotingRegressor", "StackingClassifier", "StackingRegressor", "CAWPEClassifier",
    "BayesianAveragingClassifier", "BayesianAveragingRegressor", "EnsembleSelectionClassifier",
    "EnsembleSelectionRegressor", "RegionSelectionClassifier", "RegionSelectionRegressor",
    "DynamicSelectionClassifier", "DynamicSelectionRegressor", "CommitteeClassifier", "CommitteeRegressor",
)  # fmt: skip
@dataclass(frozen=True, eq=False)
class CommitteeState:
    """Members and a rule.

    Parameters
    ----------
    schema : Schema
    task : Classification or Regression
    fitted_members : list of MemberState
    kept : KeptRule
    """

    schema: Schema
    task: Task
    fitted_members: list[MemberState]
    kept: KeptRule

    @classmethod
    def take(cls, fields: Fields, task_type: type[Task]) -> CommitteeState:
        """Take members of different names."""
        schema, task = take_table(fields, task_type)
        fitted_members = fields.take("seats", list)
        fields.require(
            fitted_members and all(isinstance(member, dict) for member in fitted_members),
            "there are no members",
        )
        taken = [
            MemberState.take(Fields(member, f"seats__{i}"), schema.n_columns)
            for i, member in enumerate(fitted_members)
        ]
        fields.require(len({member.name for member in taken}) == len(taken), "two members have one name")
        return cls(schema, task, taken, KeptRule.take(fields))

    def learnt(self) -> dict[str, object]:
        """The fields that `take` takes."""
        fitted_members = [dict(vars(member)) for member in self.fitted_members]
        return {"schema": self.schema, "task": self.task, "seats": fitted_members, **vars(self.kept)}

    def predictor(self, models: Models, parameters: Mapping[str, object]) -> Predictor:
        """Prepare the members and the rule to answer rows."""
        return together(self.fitted_members, self.kept, self.schema, self.task, models)


@state_of(
    "BaggingClassifier", "BaggingRegressor", "RandomSubspaceClassifier", "RandomSubspaceRegressor"
)  # fmt: skip
@dataclass(frozen=True, eq=False)
class BaggingState:
    """Trees of the engine or models of any kind, the columns that each sees, and a rule.

    Parameters
    ----------
    schema : Schema
    task : Classification or Regression
    members : the engine's Forest or C45Forest, or list of models
    columns : list of list of int, or None
        In ascending order for each member; None if all see all.
    kept : KeptRule
    """

    schema: Schema
    task: Task
    members: Any
    columns: list[list[int]] | None
    kept: KeptRule

    @classmethod
    def take(cls, fields: Fields, task_type: type[Task]) -> BaggingState:
        """Take members that each see their columns only."""
        schema, task = take_table(fields, task_type)
        members, n_members = take_members(fields, "bagged")
        columns = fields.optional("columns", list)
        for each in columns or []:
            fields.require(are_columns(each, schema.n_columns), "a column is none of the table")
            fields.require(sorted(set(each)) == each, "the columns of a member are not in their order")
        is_whole = columns is None or len(columns) == n_members
        fields.require(is_whole, "there are not columns for each member")
        if isinstance(members, TREES):
            check_forest(members, schema, task)
            fields.require(members.is_mean, "the trees do not vote")
            for i, each in enumerate(columns or []):
                asked = split_columns(members, i)
                fields.require(set(asked.tolist()) <= set(each), "a tree asks about columns of others")
        return cls(schema, task, members, columns, KeptRule.take(fields))

    def learnt(self) -> dict[str, object]:
        """The fields that `take` takes."""
        own = {"schema": self.schema, "task": self.task, "bagged": self.members, "columns": self.columns}
        return own | vars(self.kept)

    def predictor(self, models: Models, parameters: Mapping[str, object]) -> Predictor:
        """Prepare the members and the rule to answer rows."""
        if isinstance(self.members, TREES):
            decider = ruled_decider(self.members, self.kept, self.task, models, parameters)
            return prepare(decider, self.schema, self.task)
        columns: Any = self.columns or [None] * len(self.members)
        fitted_members = [
            MemberState(str(i), [member], seen)
            for i, (member, seen) in enumerate(zip(self.members, columns, strict=True))
        ]
        return together(fitted_members, self.kept, self.schema, self.task, models)


def together(
    fitted_members: list[MemberState], kept: KeptRule, schema: Schema, task: Task, models: Models
) -> Predictor:
    """Prepare members and the rule on their votes."""
    rule = models.rule(kept)
    prepared = tuple(member.prepared(schema, task, models) for member in fitted_members)
    check_rule(rule, len(fitted_members), task)
    return prepare(RuleDecider(prepared, rule, task), schema, task)


def are_columns(columns: Any, n_columns: int) -> bool:
    """Whether a value is a list of positions of columns, at least one."""
    in_range = range(n_columns)
    is_list = isinstance(columns, list) and len(columns) > 0
    return is_list and all(type(each) is int and each in in_range for each in columns)


def votes_like(model: Any, n_columns: int, task: Task) -> bool:
    """Whether a fitted estimator, as far as it says so itself, votes on a table and classes of a task."""
    is_same = hasattr(model, "predict") and getattr(model, "n_features_in_", n_columns) == n_columns
    if is_same and isinstance(task, Classification) and hasattr(model, "classes_"):
        return bool(np.isin(model.classes_, task.classes).all())
    return is_same
