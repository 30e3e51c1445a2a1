"""What the states of all kinds of models share: the registry, the table they decide on, and their rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, Self, TypeVar

from committee.saving.format.fields import Fields
from committee.saving.format.file_errors import DamagedFile, require
from committee.saving.model_parts import TREES
from committee.saving.predictors.deciders import SUMMED, AnyTrees, TreesDecider, VotingRule, decider_of_trees
from committee.saving.predictors.predictor import Decider, Predictor, Task
from committee.table.schema import Schema
from committee.task import Classification


class State(Protocol):
    """What decides of a fitted model."""

    @classmethod
    def take(cls, fields: Fields, task_type: type[Task]) -> Self:
        """Take what decides from the fields of a file; what is not sound is a `DamagedFile`."""

    def learnt(self) -> dict[str, object]:
        """The fields that `take` takes."""

    def predictor(self, models: Models, parameters: Mapping[str, object]) -> Predictor:
        """Prepare the model, which has some parameters, to answer rows."""


class Models(Protocol):
    """How models and rules inside a state, described by a file or fitted, become ones that answer."""

    def predictor(self, model: object, role: str) -> Predictor:
        """Prepare a model inside the state; raise ValueError if it needs scikit-learn."""

    def summed(self, kept: KeptRule) -> str | None:
        """The name of a rule by which votes are only summed, None if it does more. No rule is made."""

    def rule(self, kept: KeptRule) -> VotingRule | None:
        """The rule, None if there is nothing to decide; raise ValueError if it looks at the rows."""


STATES: dict[str, type[State]] = {}
AnyState = TypeVar("AnyState", bound=type[State])


def state_of(*names: str) -> Callable[[AnyState], AnyState]:
    """Register a state as that of some classes, by their names."""

    def register(state: AnyState) -> AnyState:
        STATES.update(dict.fromkeys(names, state))
        return state

    return register


@dataclass(frozen=True, eq=False)
class KeptRule:
    """The rule of a model, with the encoder of the rows for one that looks at them.

    Parameters
    ----------
    rule : Rule, what a file describes of one, or None
        None if there is nothing to decide.
    encoder : TableEncoder, what a file describes of one, or None
    """

    rule: object
    encoder: object

    @classmethod
    def take(cls, fields: Fields) -> KeptRule:
        """Take the rule and the encoder. Of which types they are is checked by who uses them."""
        return cls(fields.take("rule", object), fields.take("encoder", object))


def take_members(fields: Fields, name: str) -> tuple[Any, int]:
    """Take members, which are trees of the engine or a list of models, and their number."""
    members: Any = fields.take(name, object)
    is_engine = isinstance(members, TREES)
    fields.require(is_engine or isinstance(members, list), "the members are neither trees nor a list")
    n_members = members.n_trees if is_engine else len(members)
    fields.require(n_members > 0, "there are no members")
    return members, n_members


def take_table(fields: Fields, task_type: type[Task]) -> tuple[Schema, Task]:
    """Take the columns that a model decides on, and what it decides."""
    return fields.take("schema", Schema), fields.take("task", task_type)


def ruled_decider(
    trees: AnyTrees, kept: KeptRule | None, task: Task, models: Models, parameters: Mapping[str, object]
) -> Decider:
    """How trees decide by a rule. A file that is older than the rules of forests names it as a parameter."""
    if kept is None:
        old = parameters.get("rule", "mean")
        if not isinstance(old, str) or old not in SUMMED:
            raise DamagedFile(f"There is no rule {old!r}.")
        return TreesDecider(trees, old)
    name = models.summed(kept)
    if name is not None and not (isinstance(task, Classification) and task.n_outputs == 1):
        return TreesDecider(trees, name)
    rule = models.rule(kept)
    check_rule(rule, trees.n_trees, task)
    return decider_of_trees(trees, rule)


def check_rule(rule: VotingRule | None, n_members: int, task: Task) -> None:
    """Raise `DamagedFile` unless a rule of a file can decide on the votes of some members."""
    is_open = task.n_outputs > 1 or not isinstance(task, Classification)
    require((rule is not None) == is_open, "There is a rule without a choice, or a choice without one")
    if rule is None:
        return
    require(rule._has_learnt() or not rule.needs_fit, "The rule is not fitted")
    is_same = (
        getattr(rule, "n_members_", n_members) == n_members
        and getattr(rule, "n_outputs_", task.n_outputs) == task.n_outputs
    )
    require(is_same, "The rule was fitted with other members or classes")
