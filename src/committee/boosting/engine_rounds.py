"""The rounds of AdaBoost in the engine: our own trees and stumps, from a table that is binned once."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from committee import _engine
from committee.boosting.python_rounds import Plan, Run
from committee.boosting.weighting import Distribution, Scheme
from committee.learners import (
    DecisionStumpClassifier,
    DecisionStumpRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    RandomTreeClassifier,
    RandomTreeRegressor,
)
from committee.learners.training import OPTIONS, Training
from committee.running import Runner
from committee.table import BinnedTable, Table, read_like, to_codes
from committee.task import Classification, Regression

STUMPS: tuple[type[Any], ...] = (DecisionStumpClassifier, DecisionStumpRegressor)
TREES: tuple[type[Any], ...] = (DecisionTreeClassifier, DecisionTreeRegressor)
RANDOM: tuple[type[Any], ...] = (RandomTreeClassifier, RandomTreeRegressor)


def runs_in_engine(member: Any) -> bool:
    """Whether the engine grows such members itself. Weights of classes are for the member alone to apply.

    Examples
    --------
    >>> runs_in_engine(DecisionTreeClassifier(max_depth=2))
    True
    >>> runs_in_engine(DecisionTreeClassifier(class_weight="balanced"))
    False
    """
    return type(member) in STUMPS + TREES + RANDOM and getattr(member, "class_weight", None) is None


def default_member(task: Classification | Regression) -> Any:
    """The member that boosts well: a stump for two classes, else a tree with room for all classes.

    Examples
    --------
    >>> default_member(Classification(np.arange(10))).max_depth
    5
    """
    stump, tree = STUMPS[0], TREES[0]
    if isinstance(task, Regression):
        return TREES[1](max_depth=3)
    return stump() if task.n_outputs <= 2 else tree(max_depth=1 + (task.n_outputs - 1).bit_length())


@dataclass(frozen=True, eq=False)
class EngineRounds:
    """Rounds that are one call of the engine.

    Parameters
    ----------
    member : DecisionStump, DecisionTree or RandomTree
    training : Training
    max_bins : int
    n_threads : int
    codes : BinnedTable, default=None
        The table in codes; None bins it.
    """

    member: Any
    training: Training
    max_bins: int
    n_threads: int
    codes: BinnedTable | None = None

    @property
    def task(self) -> Classification | Regression:
        """The task."""
        return self.training.task

    @property
    def y(self) -> np.ndarray:
        """Codes of classes, or numbers."""
        return self.training.y

    @property
    def weights(self) -> np.ndarray | None:
        """The weights of the rows."""
        return self.training.weights

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.training.table.n_rows

    def binned(self) -> EngineRounds:
        """The same with codes."""
        if self.codes is not None:
            return self
        table = self.training.table
        if isinstance(table, Table):
            table = to_codes(table, self.training.fixed, self.n_threads, self.max_bins)
        return replace(self, codes=table)

    def go(self, plan: Plan, distribution: Distribution) -> Run:
        """Make the rounds of a plan."""
        assert self.codes is not None
        made = _engine.boost_adaptively(
            self.codes.codes,
            self.y,
            self.training.n_classes,
            distribution.counts,
            distribution.units.ravel(),
            OPTIONS | self._member_options() | plan_options(plan),
            plan.progress,
            self.n_threads,
        )
        units = made["units"].reshape(distribution.units.shape)
        return Run(
            made["members"],
            made["errors"],
            made["votes"],
            made["weights"],
            replace(distribution, units=units),
            made["is_over"],
            made["importances"],
            made["interruption"],
        )

    def by(self, run: Runner) -> EngineRounds:
        """The same: the engine has threads of its own, and needs no runner."""
        return self

    def side_by_side(self, function: Callable[..., Any], calls: dict[str, tuple[Any, ...]]) -> Generator[Any]:
        """What a function makes of these rounds and of the arguments of each named call, in their order."""
        return (function(self, *arguments) for arguments in calls.values())

    def only(self, rows: np.ndarray) -> EngineRounds:
        """The same on some of the rows, binned anew."""
        training = self.training
        weights = None if training.weights is None else training.weights[rows]
        some = Training(self.table_of(rows), training.task, training.y[rows], weights)
        return replace(self, training=some, codes=None).binned()

    def table_of(self, rows: np.ndarray) -> Table:
        """Some rows as `votes` takes them."""
        table = self.training.table
        if isinstance(table, BinnedTable):
            raise ValueError(
                "Early stopping divides the rows of X, and a BinnedTable has none to give. Pass the table "
                "that it was made of, or X_val and y_val."
            )
        return Table(table.schema, tuple(column[rows] for column in table.columns), len(rows))

    def read(self, X: Any) -> Table:
        """Another table as `votes` takes it."""
        return read_like(X, self.training.table.schema)

    def votes(self, members: _engine.Forest, X: Table, scheme: Scheme, first: int) -> np.ndarray:
        """The votes of members, of shape (n_members, n_rows, n_outputs). No tree fails: no number is told."""
        return members.votes(list(X.columns), X.n_rows, self.n_threads)

    def join(self, first: _engine.Forest, second: _engine.Forest) -> _engine.Forest:
        """The members of two runs."""
        if second.n_trees == 0 or first.n_trees == 0:
            return second if first.n_trees == 0 else first
        return _engine.append_trees(first, second)

    def take(self, members: _engine.Forest, n_members: int) -> _engine.Forest:
        """The first of some members."""
        return _engine.take_trees(members, 0, n_members)

    def _member_options(self) -> dict[str, Any]:
        member = self.member
        if isinstance(member, STUMPS):
            return {"is_stump": True, "criterion": getattr(member, "criterion", "squared_error")}
        options = member._options(self.training) | {"is_stump": False, "keep_records": False}
        if isinstance(member, RANDOM):
            return options | {"needs_gain": True}
        return options | {
            "random_thresholds": member.splitter == "random",
            "keep_records": member.ccp_alpha > 0,
            "ccp_alpha": float(member.ccp_alpha),
        }


def plan_options(plan: Plan) -> dict[str, Any]:
    """A plan as the engine takes it."""
    return {
        "scheme": plan.scheme.name,
        "loss": plan.scheme.loss,
        "learning_rate": plan.scheme.learning_rate,
        "resample": plan.resamples,
        "first_round": plan.first_round,
        "n_rounds": plan.n_rounds,
        "seed": plan.seed,
        "keep_weights": plan.keeps_weights,
    }
