"""From a file to a predictor, without scikit-learn: what is described is taken as the engine has it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from committee import _engine
from committee.saving import own
from committee.saving.codec import Decoder
from committee.saving.deciding import (
    C45Decider,
    Decider,
    MedianDecider,
    TreesDecider,
    decider_of_trees,
)
from committee.saving.errors import DamagedFile, require
from committee.saving.fields import Fields
from committee.saving.file import read_description, read_scores
from committee.saving.linear import linear_model
from committee.saving.models import TREES, check_c45_tree, check_forest, check_statistics
from committee.saving.networks import take_network
from committee.saving.predicting import Predictor, prepare
from committee.saving.registry import Described
from committee.saving.together import LINKS, BoostedDecider, PreparedSeat, RuleDecider, check_rule
from committee.table.schema import Schema
from committee.table.statistics import TargetStatistics
from committee.task import Classification, Regression

Task = Classification | Regression
RULES = ("mean", "majority")
# Rules that find neighbours or regions with scikit-learn.
LOOKS_AROUND = ("committee.DynamicRule", "committee.RegionRule")
# What tells of the fit, and decides nothing.
TOLD = (
    *("has_missing", "importances", "seed", "out_of_bag", "leaf_rows", "y", "weight_unit", "max_features"),
    *("n_rounds", "learning_rate", "gains", "split_counts", "train_score", "validation_score"),
    *("is_over", "estimator", "estimator_errors", "row_weights", "validation_errors", "distribution"),
    *("honest", "bags", "decision_outside", "votes_outside", "n_steps", "loss_curve", "has_init_score"),
)


def predictor(path: str | os.PathLike[str]) -> Predictor:
    """Prepare the model of a file to answer rows at once, without scikit-learn.

    Parameters
    ----------
    path : str or path
        Of a fitted model of ours: a tree, a forest, a booster, networks, or a committee of such. Its rule
        may be any but those that look at the rows (regions, dynamic selection, `passthrough`); a
        meta-learner of stacking may be linear, or of ours.

    Returns
    -------
    Predictor
        With `predict` and, for classes, `predict_proba`. They take matrices of float64, and rows as mappings
        by column name, as JSON has them.

    Raises
    ------
    DamagedFile
        As `load` does. Parameters, and what only tells of the fit, are not looked at: nothing here uses them.
    ValueError
        If the model is not fitted, or needs scikit-learn to decide; the message says for what.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pandas as pd
    >>> from committee import DecisionTreeClassifier
    >>> X = pd.DataFrame({"age": [31, 54], "city": ["Oslo", "Bonn"]})
    >>> tree = DecisionTreeClassifier(random_state=0).fit(X, ["young", "old"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tree.save(Path(folder, "tree.committee"))
    ...     prepared = predictor(Path(folder, "tree.committee"))
    >>> prepared.predict({"age": 29, "city": "Oslo"})
    array(['young'], dtype='<U5')
    """
    description, arrays = read_description(path)
    decoder = Decoder(arrays, builds=False)
    described = decoder.value(description["model"], "")
    read_scores(description["scores"], decoder)
    decoder.finish()
    return Preparation(str(path)).predictor(described, "model")


@dataclass(frozen=True)
class Preparation:
    """Makes predictors of what a file describes.

    Parameters
    ----------
    path : str
        Of the file, for the messages.
    """

    path: str

    def predictor(self, described: Any, role: str) -> Predictor:
        """The predictor of a model, which has a role in the file: the model itself, a member or another."""
        if not isinstance(described, Described) or not described.name.startswith(own.PREFIX):
            what = described.name if isinstance(described, Described) else type(described).__name__
            raise ValueError(
                f"The {role} of {self.path} is no model of committee's own ({what}). Use committee.load."
            )
        if described.fitted is None:
            raise ValueError(f"The {described.name} of {self.path} is not fitted.")
        fields = Fields(described.fitted)
        if "seats" in fields:
            prepared = self._committee(fields)
        elif "bagged" in fields:
            prepared = self._bagged(fields)
        elif isinstance(fields.values.get("members"), list):
            prepared = self._boosted(fields)
        elif {"forest", "tree", "members", "rotations", "hidden"} & fields.values.keys():
            schema, task = fields.take("schema", Schema), take_task(fields)
            is_told = "rule" in fields
            rule = self._known_rule(fields) if is_told else described.parameters.get("rule", "mean")
            prepared = prepare(take_decider(fields, schema, task, rule), schema, task)
        else:
            raise ValueError(f"There is no predictor of a {described.name}. Use committee.load.")
        for name in TOLD:
            fields.values.pop(name, None)
        fields.finish()
        return prepared

    def _committee(self, fields: Fields) -> Predictor:
        schema, task = fields.take("schema", Schema), take_task(fields)
        rule, seats = self._known_rule(fields), fields.take("seats", list)
        fields.require(seats and all(isinstance(seat, dict) for seat in seats), "there are no seats")
        taken = tuple(self._seat(Fields(seat, f"seats__{i}"), schema, task) for i, seat in enumerate(seats))
        check_rule(rule, len(taken), task)
        return prepare(RuleDecider(taken, rule, task), schema, task)

    def _bagged(self, fields: Fields) -> Predictor:
        schema, task = fields.take("schema", Schema), take_task(fields)
        rule, members = self._known_rule(fields), fields.take("bagged", object)
        columns = fields.optional("columns", list)
        if isinstance(members, TREES):
            check_forest(members, schema, task)
            fields.require(members.is_mean, "the members do not vote")
            check_rule(rule, members.n_trees, task)
            return prepare(decider_of_trees(members, rule), schema, task)
        fields.require(isinstance(members, list) and members, "there are no members")
        assert isinstance(members, list)
        seen = [None] * len(members) if columns is None else columns
        fields.require(len(seen) == len(members), "there are not columns for each member")
        seats = tuple(
            self._seat(
                Fields({"name": str(i), "models": [member], "columns": positions, "calibration": None}),
                schema,
                task,
            )
            for i, (member, positions) in enumerate(zip(members, seen, strict=True))
        )
        check_rule(rule, len(seats), task)
        return prepare(RuleDecider(seats, rule, task), schema, task)

    def _known_rule(self, fields: Fields) -> Any:
        """The rule of a committee, if it needs no scikit-learn; None if there is nothing to decide."""
        described = fields.take("rule", object)
        if fields.take("encoder", object) is not None or getattr(described, "name", "") in LOOKS_AROUND:
            name = getattr(described, "name", "rule").removeprefix(own.PREFIX)
            raise ValueError(
                f"The {name} of {self.path} looks at the rows by means of scikit-learn. Use committee.load."
            )
        return None if described is None else self._rule(described)

    def _seat(self, fields: Fields, schema: Schema, task: Task) -> PreparedSeat:
        name, models = fields.take("name", str), fields.take("models", list)
        columns = fields.optional("columns", list)
        in_range = range(schema.n_columns)
        are_columns = columns is None or (
            columns and all(type(each) is int and each in in_range for each in columns)
        )
        fields.require(are_columns, "its columns are none of the table")
        fields.require(fields.take("calibration", object) is None, "our own members need no calibration")
        fields.finish()
        fields.require(models, "it has no models")
        n_columns = schema.n_columns if columns is None else len(columns)
        predictors = tuple(self.predictor(model, f"member {name!r}") for model in models)
        for each in predictors:
            check_member(each, n_columns, task)
        return PreparedSeat(predictors, columns)

    def _rule(self, described: Any) -> Any:
        saved = own.saved_named(described.name) if is_rule(described) else None
        if saved is None:
            raise DamagedFile("What decides is no rule.")
        if described.name in LOOKS_AROUND:
            raise ValueError(
                f"A rule of {self.path} looks at the rows with scikit-learn. Use committee.load."
            )
        parameters = self._inner_rules(described.parameters)
        fitted = None if described.fitted is None else self._inner_rules(described.fitted)
        if fitted is not None and fitted.get("final_estimator_") is not None:
            fitted["final_estimator_"] = self._meta_learner(fitted["final_estimator_"])
        return saved.restore(Described(described.name, parameters, fitted), "rule")

    def _inner_rules(self, values: dict[str, Any]) -> dict[str, Any]:
        """Values of a rule, the rules among them made."""
        return {name: self._rule(value) if is_rule(value) else value for name, value in values.items()}

    def _meta_learner(self, described: Any) -> Any:
        found = linear_model(described) if isinstance(described, Described) else None
        return MetaLearner(self.predictor(described, "final_estimator")) if found is None else found

    def _boosted(self, fields: Fields) -> Predictor:
        task, members = take_task(fields), fields.take("members", list)
        weights = fields.array("estimator_weights", np.float64, (len(members),))
        n_columns = fields.integer("n_features", 1, 2**31 - 1)
        fields.optional_array("feature_names", object, (n_columns,))
        fields.require(members, "there are no members")
        if "weighing" not in fields:
            raise ValueError(f"{self.path} was written by an earlier committee. Load it, and save it again.")
        weighing = fields.optional("weighing", tuple)
        fields.require((weighing is None) == isinstance(task, Regression), "only numbers have medians")
        if weighing is not None:
            is_told = tuple(map(type, weighing)) == (bool, str, float) and weighing[1] in LINKS
            fields.require(is_told and 0 < weighing[2] < np.inf, "how votes are weighed is not said")
        predictors = tuple(self.predictor(each, f"member {i}") for i, each in enumerate(members))
        for each in predictors:
            check_member(each, n_columns, task)
        # The members have seen the same columns.
        return prepare(BoostedDecider(predictors, weights, weighing, task), predictors[0].schema, task)


@dataclass(frozen=True, eq=False)
class MetaLearner:
    """A model of ours that decides on votes, as `StackingRule` asks it."""

    prepared: Any

    @property
    def n_features_in_(self) -> int:
        """The number of columns of the votes."""
        return int(self.prepared.schema.n_columns)

    def __getattr__(self, name: str) -> Any:
        """`classes_` and `predict_proba`, if it decides on classes; and `predict`."""
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.prepared, name.removesuffix("_"))


def is_rule(value: Any) -> bool:
    """Whether a value of a file describes a rule."""
    return isinstance(value, Described) and value.name.endswith("Rule")


def check_member(member: Predictor, n_columns: int, task: Task) -> None:
    """Raise `DamagedFile` unless a member votes on some columns and for classes of a task."""
    require(member.schema.n_columns == n_columns, "A member votes on other columns")
    require(type(member.task) is type(task), "A member has another task")
    if isinstance(task, Classification):
        known = np.isin(member.task.classes, task.classes).all()
        require(known, "A member votes for other classes")


def take_task(fields: Fields) -> Classification | Regression:
    """What the model decides on."""
    task = fields.take("task", object)
    if isinstance(task, Classification | Regression):
        return task
    raise DamagedFile("task is no task.")


def take_decider(fields: Fields, schema: Schema, task: Classification | Regression, rule: Any) -> Decider:
    """How the model decides: by networks, a C4.5 tree, members that vote, rotations, or a sum of trees."""
    if "hidden" in fields:
        return take_network(fields, schema, task)
    if "tree" in fields:
        tree = fields.take("tree", _engine.C45Tree)
        check_c45_tree(tree, schema, task)
        return C45Decider(tree)
    if "members" in fields:
        return take_members(fields, schema, task)
    if isinstance(rule, str):
        require(rule in RULES, f"there is no rule {rule!r}")
    if "rotations" in fields:
        rotations = fields.take("rotations", _engine.RotationForest)
        check_forest(rotations, schema, task)
        if isinstance(rule, str):
            return TreesDecider(rotations, rule)
        check_rule(rule, rotations.n_trees, task)
        return decider_of_trees(rotations, rule)
    forest, statistics = fields.take("forest", _engine.Forest), None
    if not isinstance(rule, str):
        check_forest(forest, schema, task)
        fields.require(forest.is_mean, "the trees do not vote")
        check_rule(rule, forest.n_trees, task)
        return decider_of_trees(forest, rule)
    if "statistics" in fields:
        statistics = fields.optional("statistics", TargetStatistics)
    if statistics is not None:
        check_statistics(statistics, schema)
    check_forest(forest, schema if statistics is None else statistics.schema(schema), task)
    require(rule == "mean" or forest.is_mean, "The trees do not vote")
    return TreesDecider(forest, rule, statistics)


def take_members(fields: Fields, schema: Schema, task: Classification | Regression) -> Decider:
    """Members of the engine and what their votes weigh."""
    members: Any = fields.take("members", object)
    fields.require(isinstance(members, TREES), "the members are no trees")
    check_forest(members, schema, task)
    fields.require(members.is_mean, "the members do not vote")
    votes = fields.array("estimator_weights", np.float64, (members.n_trees,))
    fields.require((votes >= 0).all(), "a vote is negative")
    weighing = fields.optional("weighing", tuple)
    if weighing is None:
        fields.require(isinstance(task, Regression), "only numbers have medians")
        return MedianDecider(members, votes)
    types = tuple(map(type, weighing))
    fields.require(types == (bool, str, float), "how votes are weighed is not said")
    try:
        forest = _engine.weigh_votes(members, votes, *weighing)
    except ValueError as error:
        raise DamagedFile(str(error)) from error
    check_forest(forest, schema, task)
    return TreesDecider(forest)
