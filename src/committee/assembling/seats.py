"""A seat: a fitted member, ready to vote."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier

from committee.assembling.calibrating import Calibration
from committee.members.seeing import asked
from committee.members.tasks import naming
from committee.members.votes import Task, votes_of
from committee.saving.together import folded
from committee.table.source import Source
from committee.votes.arrays import folded_scores


@dataclass(frozen=True, eq=False)
class Seat:
    """A fitted member.

    Parameters
    ----------
    name : str
    models : list of estimators
        One that has learnt from all rows, or one for each fold, whose mean vote counts.
    columns : list of int, or None
        The columns that they see; None for all.
    calibration : Calibration or None
        What makes votes of scores.
    """

    name: str
    models: list[Any]
    columns: list[int] | None = None
    calibration: Calibration | None = None

    @property
    def learner(self) -> Any:
        """A model whose clone learns as the member does: none that stands for a fold of one class."""
        return next((each for each in self.models if not isinstance(each, DummyClassifier)), self.models[0])

    def votes(self, source: Source, task: Task) -> np.ndarray:
        """The votes on a table, of shape (n_rows, n_outputs)."""
        return self.votes_by_fold(source, task, 1)[0]

    def votes_by_fold(self, source: Source, task: Task, n_folds: int) -> list[np.ndarray]:
        """The votes of the models of each of some folds; those of repeated folds come one after the other."""
        seen = source if self.columns is None else source.select(self.columns)
        as_scores = self.calibration is not None
        with naming(f"Member {self.name!r}", "vote"):
            each = [votes_of(*asked(model, seen), task, as_scores=as_scores) for model in self.models]
        if self.calibration is None:
            return folded(each, n_folds)
        return [self.calibration.votes(scores) for scores in folded_scores(each, n_folds)]
