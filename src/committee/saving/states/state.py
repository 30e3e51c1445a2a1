"""Define the interface of states, their registry, and functions for their tables, members and rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, Self, TypeVar

from committee.saving.format.fields import Fields
from committee.saving.format.file_errors import DamagedFile, require
from committee.saving.model_parts import TREES
from committee.saving.predictors.deciders import (
    SUMMED,
    AnyTrees,
    TreesDecider,
    VotesDecider,
    VotingRule,
    name_of_sum,
    sums_votes,
)
from committee.saving.predictors.predictor import Decider, Predictor, Task
from committee.table.matrix_encoding import MatrixEncoding
from committee.table.schema import Schema
from committee.task import Classification


class State(Protocol):
    """The part of a fitted model that predictions depend on."""

    @classmethod
    def take(cls, fields: Fields, task_type: type[Task]) -> Self:
        """Take the state from the fields of a file. Raise `DamagedFile` for invalid fields."""

    def learnt(self) -> dict[str, object]:
        """Return the fields for `take`."""

    def predictor(self, models: Models, parameters: Mapping[str, object]) -> Predictor:
        """Return the predictor of a model with some parameters."""


class Models(Protocol):
    """Access to the predictors and rules of the models inside a state, from a file or from memory."""

    def predictor(self, model: object, role: str, *, as_scores: bool = False) -> Predictor:
        """Return the predictor of a model inside the state. Raise ValueError if it needs scikit-learn.

        With as_scores=True, it returns the scores of a classifier without probabilities.
        """

    def encoding(self, encoder: object) -> MatrixEncoding | None:
        """Return the encoding of a `TableEncoder`, None for other values."""

    def summed(self, kept: KeptRule) -> str | None:
        """Return the name of a rule that only sums votes, None for other rules."""

    def rule(self, kept: KeptRule) -> VotingRule | None:
        """Return the rule, None for a single class."""


STATES: dict[str, type[State]] = {}
AnyState = TypeVar("AnyState", bound=type[State])


def state_of(*names: str) -> Callable[[AnyState], AnyState]:
    """Register the state of some estimators by the names of their classes."""

    def register(state: AnyState) -> AnyState:
        STATES.update(dict.fromkeys(names, state))
        return state

    return register


@dataclass(frozen=True, eq=False)
class KeptRule:
    """The rule of a model, and the encoder of the rows for a rule that needs them.

    Parameters
    ----------
    rule : Rule, its description in a file, or None
        None if there is only one class.
    encoder : TableEncoder, its description in a file, or None
    """

    rule: object
    encoder: object

    @classmethod
    def take(cls, fields: Fields) -> KeptRule:
        """Take the rule and the encoder. The caller checks their types."""
        return cls(fields.take("rule", object), fields.take("encoder", object))


def take_members(fields: Fields, name: str) -> tuple[Any, int]:
    """Take members, which are trees of the engine or a list of models. Return them and their number."""
    members: Any = fields.take(name, object)
    is_engine = isinstance(members, TREES)
    fields.require(is_engine or isinstance(members, list), "the members are neither trees nor a list")
    n_members = members.n_trees if is_engine else len(members)
    fields.require(n_members > 0, "there are no members")
    return members, n_members


def take_table(fields: Fields, task_type: type[Task]) -> tuple[Schema, Task]:
    """Take the schema and the task of a model."""
    return fields.take("schema", Schema), fields.take("task", task_type)


def ruled_decider(
    trees: AnyTrees, kept: KeptRule | None, task: Task, models: Models, parameters: Mapping[str, object]
) -> Decider:
    """Return the decider of trees with a rule, which is a parameter in files older than rules of forests."""
    if kept is None:
        old = parameters.get("rule", "mean")
        if not isinstance(old, str) or old not in SUMMED:
            raise DamagedFile(f"There is no rule {old!r}.")
        return TreesDecider(trees, old)
    name = models.summed(kept)
    if name is not None and not (isinstance(task, Classification) and task.n_outputs == 1):
        return TreesDecider(trees, name)
    rule, encoding = models.rule(kept), rule_encoding(kept, models)
    check_rule(rule, trees.n_trees, task)
    if rule is None or sums_votes(rule):
        return TreesDecider(trees, name_of_sum(rule))
    return VotesDecider(trees, rule, encoding)


def rule_encoding(kept: KeptRule, models: Models) -> MatrixEncoding | None:
    """Return the encoding of the rows for a rule that needs them; None for other rules."""
    encoding = models.encoding(kept.encoder)
    require((encoding is None) == (kept.encoder is None), "The encoder of the rows is not a TableEncoder")
    return encoding


def check_rule(rule: VotingRule | None, n_members: int, task: Task) -> None:
    """Raise `DamagedFile` unless a rule of a file can combine the votes of some members."""
    needs_rule = task.n_outputs > 1 or not isinstance(task, Classification)
    require((rule is not None) == needs_rule, "A model must have a rule unless it has a single class")
    if rule is None:
        return
    require(rule._has_learnt() or not rule.needs_fit, "The rule is not fitted")
    is_same = (
        getattr(rule, "n_members_", n_members) == n_members
        and getattr(rule, "n_outputs_", task.n_outputs) == task.n_outputs
    )
    require(is_same, "The rule was fitted with other members or classes")
