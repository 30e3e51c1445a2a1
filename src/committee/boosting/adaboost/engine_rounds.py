"""Run AdaBoost in the engine for committee's own trees. The table is binned or sorted only once."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from committee import _engine
from committee.boosting.adaboost.python_rounds import RoundSettings, Run
from committee.boosting.adaboost.weights import Distribution, Scheme
from committee.learners.c45 import branches_by_column
from committee.learners.training_data import Training
from committee.members.member_kinds import (
    CARTS,
    STUMPS,
    are_trees_of,
    grow_parameters,
    grows_in_engine,
    takes_codes,
)
from committee.running import Runner
from committee.table import BinnedTable, Table, read_like, to_codes
from committee.task import Classification, Regression

Trees = _engine.Forest | _engine.C45Forest


def runs_in_engine(member: Any) -> bool:
    """Return whether the engine can boost a member, which must not have weights of classes.

    Examples
    --------
    >>> from committee import DecisionTreeClassifier
    >>> runs_in_engine(DecisionTreeClassifier(max_depth=2))
    True
    >>> runs_in_engine(DecisionTreeClassifier(class_weight="balanced"))
    False
    """
    return grows_in_engine(member) and getattr(member, "class_weight", None) is None


def are_members_of(member: Any, members: Any) -> bool:
    """Return whether a value from a file, engine trees or a list, can be the members of a booster."""
    return are_trees_of(member, members) if runs_in_engine(member) else isinstance(members, list)


def default_member(task: Classification | Regression) -> Any:
    """Make the default member: a stump for two classes, else a tree with enough leaves for all classes.

    Examples
    --------
    >>> default_member(Classification(np.arange(10))).max_depth
    5
    """
    stump, tree = STUMPS[0], CARTS[0]
    if isinstance(task, Regression):
        return CARTS[1](max_depth=3)
    return stump() if task.n_outputs <= 2 else tree(max_depth=1 + (task.n_outputs - 1).bit_length())


@dataclass(frozen=True, eq=False)
class EngineRounds:
    """Boosting rounds of the engine. All of them are computed in one call.

    Parameters
    ----------
    member : DecisionStump, DecisionTree, RandomTree or C45Classifier
    training : Training
    max_bins : int
    n_threads : int
    codes : BinnedTable, default=None
        The binned table. None means that it is not binned yet.
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
        """The codes of classes, or numbers."""
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
        """Return the rounds with a binned table."""
        if self.codes is not None:
            return self
        table = self.training.table
        if isinstance(table, BinnedTable):
            return replace(self, codes=table)
        if not takes_codes(self.member):
            # Codes are only used to find equal rows.
            return replace(self, codes=self.training.bin(self.n_threads, keep_cuts=False))
        codes = to_codes(table, self.training.fixed, self.n_threads, self.max_bins)
        return replace(self, codes=codes)

    def boost(self, settings: RoundSettings, distribution: Distribution) -> Run:
        """Run rounds with the given settings."""
        assert self.codes is not None
        made = _engine.boost_adaptively(
            self.codes.codes,
            self.y,
            self.training.n_classes,
            distribution.counts,
            distribution.units.ravel(),
            self._parameters(settings),
            self._values(),
            settings.progress,
            self.n_threads,
        )
        return Run(
            made.members,
            made.errors,
            made.votes,
            made.weights,
            replace(distribution, units=made.units.reshape(distribution.units.shape)),
            made.is_over,
            made.importances,
            made.interruption,
        )

    def with_runner(self, run: Runner) -> EngineRounds:
        """Return the rounds unchanged: the engine has its own threads and needs no runner."""
        return self

    def side_by_side(self, function: Callable[..., Any], calls: dict[str, tuple[Any, ...]]) -> Generator[Any]:
        """Call a function with these rounds and the arguments of each named call; yield results in order."""
        return (function(self, *arguments) for arguments in calls.values())

    def on_rows(self, rows: np.ndarray) -> EngineRounds:
        """Return the rounds for some of the rows, which are binned again."""
        training = self.training
        weights = None if training.weights is None else training.weights[rows]
        some = Training(self.table_of(rows), training.task, training.y[rows], weights)
        return replace(self, training=some, codes=None).binned()

    def table_of(self, rows: np.ndarray) -> Table:
        """Select rows in the form that `votes` accepts."""
        table = self.training.table
        if isinstance(table, BinnedTable):
            raise ValueError(
                "Early stopping divides the rows of X, and a BinnedTable cannot be divided. Pass the table "
                "that it was made from, or X_val and y_val."
            )
        return Table(table.schema, tuple(column[rows] for column in table.columns), len(rows))

    def read(self, X: Any) -> Table:
        """Read another table into the form that `votes` accepts."""
        return read_like(X, self.training.table.schema)

    def votes(self, members: Trees, X: Table, scheme: Scheme, first: int) -> np.ndarray:
        """Compute the votes of members, of shape (n_members, n_rows, n_outputs); `first` is not used."""
        return members.votes(list(X.columns), X.n_rows, self.n_threads)

    def join(self, first: Any, second: Any) -> Trees:
        """Concatenate the members of two runs."""
        if second.n_trees == 0 or first.n_trees == 0:
            return second if first.n_trees == 0 else first
        return _engine.append_trees(first, second)

    def take(self, members: Any, n_members: int) -> Trees:
        """Return the first members."""
        return _engine.take_trees(members, 0, n_members)

    def _parameters(self, settings: RoundSettings) -> _engine.AdaBoostParameters:
        parameters = _engine.AdaBoostParameters()
        scheme, member = settings.scheme, parameters.member
        parameters.scheme, parameters.loss = scheme.name, scheme.loss
        parameters.learning_rate = scheme.learning_rate
        parameters.negative_votes = scheme.negative_votes
        parameters.first_round, parameters.n_rounds = settings.first_round, settings.n_rounds
        parameters.seed, parameters.keep_weights = settings.seed, settings.keeps_weights
        member.resample = settings.resamples
        if takes_codes(self.member):
            member.is_stump = isinstance(self.member, STUMPS)
            member.grow, member.ccp_alpha = grow_parameters(self.member, self.training)
        else:
            member.c45_settings = self.member._settings()
        return parameters

    def _values(self) -> tuple[list[np.ndarray], np.ndarray] | None:
        """Return the columns and their numbers of branches for C4.5 trees, and None for other members."""
        if takes_codes(self.member):
            return None
        table = self.training.table
        assert isinstance(table, Table)
        return table.as_float64(), branches_by_column(table.schema)
