"""How far an automatic fit is: which fits are done, how good the best member is, how much time is left."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np

from committee.automatic.choosing import loss_of
from committee.automatic.clock import Clock
from committee.automatic.scheduling import Progress
from committee.learners.callbacks import TaskCalls
from committee.members.lesson import Lesson
from committee.members.votes import gives_scores
from committee.metrics.names import shown
from committee.metrics.scoring import learnt_by
from committee.running import Work
from committee.votes.honest import HonestVotes


class Telling:
    """Tells of every fit.

    Parameters
    ----------
    work : Work
    lesson : Lesson
    scoring : str, scorer, callable or None
    n_folds : int
        In how many folds a member is fitted before it can be judged.
    clock : Clock
    calls : TaskCalls, default=None
        scikit-learn's callbacks.
    """

    def __init__(
        self,
        work: Work,
        lesson: Lesson,
        scoring: Any,
        n_folds: int,
        clock: Clock,
        calls: TaskCalls | None = None,
    ) -> None:
        self.work, self.lesson, self.scoring, self.n_folds, self.clock = work, lesson, scoring, n_folds, clock
        self.metric = learnt_by(scoring, lesson.task.n_outputs, lesson.task.classes)
        self.calls = calls
        self._losses: dict[int, float] = {}

    def __call__(self, name: str, place: int, progress: Progress) -> bool:
        """Tell that a fit of a member has ended; True if a callback wants no more of them."""
        n_done = len(progress.results) + len(progress.errors)
        if self.work.is_heard:
            self._show(name, place, progress, n_done)
        return self.calls is not None and self.calls.tell(n_done)

    def _show(self, name: str, place: int, progress: Progress, n_done: int) -> None:
        """Tell which fit it was and how good the best member is."""
        if place not in self._losses and self._is_whole(place, progress):
            self._judge(place, progress)
        score = self.metric.of_loss(min(self._losses.values())) if self._losses else None
        best = None if score is None else shown(self.metric.name, score)
        self.work.tell(n_done, score, part=name, seconds_left=self.clock.left(), shown=best)

    def _is_whole(self, place: int, progress: Progress) -> bool:
        return self.n_folds > 0 and all((place, fold) in progress.results for fold in range(self.n_folds))

    def _judge(self, place: int, progress: Progress) -> None:
        """Take the honest loss of a member, unless it votes by scores that are not calibrated yet."""
        held_out = [progress.results[place, fold][1:] for fold in range(self.n_folds)]
        models = (progress.results[place, fold][0] for fold in range(self.n_folds))
        if self.lesson.are_classes and any(map(gives_scores, models)):
            return
        lesson = self.lesson
        honest = HonestVotes.of_models([held_out], lesson.task, lesson.y, lesson.weights, lesson.groups)
        # A metric may have no value for what some member decides, as logarithms have none below 0.
        with contextlib.suppress(ValueError):
            self._losses[place] = loss_of(honest.votes[0].astype(np.float64), honest, self.scoring)
