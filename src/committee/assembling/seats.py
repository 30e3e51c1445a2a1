"""A seat: a fitted member, ready to vote."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from committee.assembling.calibrating import Calibration
from committee.learners import C45Classifier
from committee.learners.voting import Voter
from committee.members.encoding import TableEncoder
from committee.members.votes import Task, votes_of
from committee.table.source import Source


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

    def votes(self, source: Source, task: Task) -> np.ndarray:
        """The votes on a table, of shape (n_rows, n_outputs)."""
        seen = source if self.columns is None else source.select(self.columns)
        as_scores = self.calibration is not None
        try:
            each = [
                votes_of(model, as_taken_by(model, seen), task, as_scores=as_scores) for model in self.models
            ]
        except ValueError as error:
            raise cannot_vote(self.name, error) from error
        mean = each[0] if len(each) == 1 else np.mean(each, axis=0)
        return mean if self.calibration is None else self.calibration.votes(mean)


def as_taken_by(model: Any, source: Source) -> Any:
    """A table as a model takes it: open, if the model only reads it, so that this is done once for all."""
    first = model.steps[0][1] if isinstance(model, Pipeline) else model
    if isinstance(first, TableEncoder | C45Classifier):
        return source
    # The engine takes a matrix as it is.
    is_read = isinstance(first, Voter) and "_forest" in vars(first)
    return source if is_read and not isinstance(source.native, np.ndarray) else source.native


def cannot_vote(name: str, error: Exception) -> ValueError:
    """The error of a member that cannot vote on a table, in one line."""
    return ValueError(f"Member {name!r} cannot vote. {' '.join(str(error).split())}")
