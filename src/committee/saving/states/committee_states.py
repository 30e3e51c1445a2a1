"""Define the states of committees and bagging: members of any kind and a rule that combines their votes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from committee.saving.format.fields import Fields
from committee.saving.model_parts import TREES, check_forest, split_columns
from committee.saving.predictors.deciders import PreparedMember, RuleDecider, check_member
from committee.saving.predictors.predictor import Predictor, Task, prepare
from committee.saving.predictors.score_votes import Calibration
from committee.saving.states.state import (
    KeptRule,
    Models,
    check_rule,
    rule_encoding,
    ruled_decider,
    state_of,
    take_members,
    take_table,
)
from committee.table.schema import Schema
from committee.task import Classification

# The name of the members in files of committees.
MEMBERS = "seats"


@dataclass(frozen=True, eq=False)
class MemberState:
    """A member of a committee.

    Parameters
    ----------
    name : str
    models : list
        One model, or one for each fold.
    columns : list of int, or None
        The columns of the member; None for all.
    calibration : dict or None
        The calibration of its scores to probabilities.
    title : str, default=""
        A readable name.
    fit_seconds : float or None, default=None
        The total time of the fits.
    own_labels : bool, default=False
        Whether rules that read labels get the predictions of the models.
    """

    name: str
    models: list[object]
    columns: list[int] | None
    calibration: Mapping[str, object] | None = None
    title: str = ""
    fit_seconds: float | None = None
    own_labels: bool = False

    @classmethod
    def take(cls, fields: Fields, n_columns: int) -> MemberState:
        """Take a member from the fields of a file, and check its columns."""
        name, models = fields.take("name", str), fields.take("models", list)
        columns = fields.optional("columns", list)
        are_known = columns is None or are_columns(columns, n_columns)
        fields.require(are_known, "its columns are not in the table")
        calibration = fields.optional_fields("calibration")
        # Older files have neither titles nor times.
        title = fields.take("title", str) if "title" in fields else ""
        seconds = fields.optional("fit_seconds", float) if "fit_seconds" in fields else None
        # Members of older files vote for the class of the highest vote.
        own_labels = fields.take("own_labels", bool) if "own_labels" in fields else False
        fields.finish()
        fields.require(models, "it has no models")
        curves = None if calibration is None else calibration.values
        return cls(name, models, columns, curves, title, seconds, own_labels)

    def prepared(self, schema: Schema, task: Task, models: Models) -> PreparedMember:
        """Return the predictors of the member."""
        role, curves = f"member {self.name!r}", self.calibration
        predictors = tuple(
            models.predictor(model, role, as_scores=curves is not None) for model in self.models
        )
        for each in predictors:
            check_member(each, schema.n_columns if self.columns is None else len(self.columns), task)
        calibration = None if curves is None else Calibration.take(Fields(curves), task.n_outputs)
        return PreparedMember(predictors, self.columns, calibration, self.own_labels)


@state_of(
    "VotingClassifier", "VotingRegressor", "StackingClassifier", "StackingRegressor", "CAWPEClassifier",
    "BayesianAveragingClassifier", "BayesianAveragingRegressor", "EnsembleSelectionClassifier",
    "EnsembleSelectionRegressor", "RegionSelectionClassifier", "RegionSelectionRegressor",
    "DynamicSelectionClassifier", "DynamicSelectionRegressor", "CommitteeClassifier", "CommitteeRegressor",
)  # fmt: skip
@dataclass(frozen=True, eq=False)
class CommitteeState:
    """The members of a committee and its rule.

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
        """Take members and a rule from the fields of a file. The names of members must differ."""
        schema, task = take_table(fields, task_type)
        fitted_members = fields.take(MEMBERS, list)
        fields.require(
            fitted_members and all(isinstance(member, dict) for member in fitted_members),
            "there are no members",
        )
        taken = [
            MemberState.take(Fields(member, f"{MEMBERS}__{i}"), schema.n_columns)
            for i, member in enumerate(fitted_members)
        ]
        fields.require(len({member.name for member in taken}) == len(taken), "two members have the same name")
        return cls(schema, task, taken, KeptRule.take(fields))

    def learnt(self) -> dict[str, object]:
        """Return the fields for `take`."""
        fitted_members = [dict(vars(member)) for member in self.fitted_members]
        return {"schema": self.schema, "task": self.task, MEMBERS: fitted_members, **vars(self.kept)}

    def predictor(self, models: Models, parameters: Mapping[str, object]) -> Predictor:
        """Return the predictor."""
        return committee_predictor(self.fitted_members, self.kept, self.schema, self.task, models)


@state_of(
    "BaggingClassifier", "BaggingRegressor", "RandomSubspaceClassifier", "RandomSubspaceRegressor"
)  # fmt: skip
@dataclass(frozen=True, eq=False)
class BaggingState:
    """The members of bagging, their columns and a rule.

    Parameters
    ----------
    schema : Schema
    task : Classification or Regression
    members : the engine's Forest or C45Forest, or list of models
    columns : list of list of int, or None
        The columns of each member in ascending order. None if all members have all columns.
    kept : KeptRule
    own_labels : bool, default=False
        Whether rules that read labels get the predictions of the members.
    """

    schema: Schema
    task: Task
    members: Any
    columns: list[list[int]] | None
    kept: KeptRule
    own_labels: bool = False

    @classmethod
    def take(cls, fields: Fields, task_type: type[Task]) -> BaggingState:
        """Take members, their columns and a rule from the fields of a file, and check them."""
        schema, task = take_table(fields, task_type)
        members, n_members = take_members(fields, "bagged")
        columns = fields.optional("columns", list)
        for each in columns or []:
            fields.require(are_columns(each, schema.n_columns), "a column is not in the table")
            fields.require(sorted(set(each)) == each, "the columns of a member are not in ascending order")
        is_whole = columns is None or len(columns) == n_members
        fields.require(is_whole, "columns does not have an entry for each member")
        if isinstance(members, TREES):
            check_forest(members, schema, task)
            fields.require(members.is_mean, "the trees do not vote")
            for i, each in enumerate(columns or []):
                used = split_columns(members, i)
                fields.require(
                    set(used.tolist()) <= set(each), "a tree splits on a column that it does not have"
                )
        # Members of older files vote for the class of the highest vote.
        own_labels = fields.take("own_labels", bool) if "own_labels" in fields else False
        return cls(schema, task, members, columns, KeptRule.take(fields), own_labels)

    def learnt(self) -> dict[str, object]:
        """Return the fields for `take`."""
        own = {"schema": self.schema, "task": self.task, "bagged": self.members, "columns": self.columns}
        return own | vars(self.kept) | {"own_labels": self.own_labels}

    def predictor(self, models: Models, parameters: Mapping[str, object]) -> Predictor:
        """Return the predictor."""
        if isinstance(self.members, TREES):
            decider = ruled_decider(self.members, self.kept, self.task, models, parameters)
            return prepare(decider, self.schema, self.task)
        columns: Any = self.columns or [None] * len(self.members)
        fitted_members = [
            MemberState(str(i), [member], seen, own_labels=self.own_labels)
            for i, (member, seen) in enumerate(zip(self.members, columns, strict=True))
        ]
        return committee_predictor(fitted_members, self.kept, self.schema, self.task, models)


def committee_predictor(
    fitted_members: list[MemberState], kept: KeptRule, schema: Schema, task: Task, models: Models
) -> Predictor:
    """Return the predictor of members and a rule."""
    rule, encoding = models.rule(kept), rule_encoding(kept, models)
    prepared = tuple(member.prepared(schema, task, models) for member in fitted_members)
    check_rule(rule, len(fitted_members), task)
    return prepare(RuleDecider(prepared, rule, task, encoding), schema, task)


def are_columns(columns: Any, n_columns: int) -> bool:
    """Return whether a value is a list of one or more positions of columns."""
    in_range = range(n_columns)
    is_list = isinstance(columns, list) and len(columns) > 0
    return is_list and all(type(each) is int and each in in_range for each in columns)


def votes_like(model: Any, n_columns: int, task: Task) -> bool:
    """Return whether the attributes of a fitted estimator agree with a number of columns and a task."""
    is_same = hasattr(model, "predict") and getattr(model, "n_features_in_", n_columns) == n_columns
    if is_same and isinstance(task, Classification) and hasattr(model, "classes_"):
        return bool(np.isin(model.classes_, task.classes).all())
    return is_same
