"""Fit the members of a committee on all rows, while there is time.

In: members with the models of their folds. Out: one model of all rows for each member. It replaces most
models of the folds, predicts many times faster and is as good on open tables (`benchmarks/lean.py`). It has
seen every row, so the honest votes of the fold models remain the estimate of its quality. They are slightly
pessimistic, because folds have fewer rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone

from committee.assembling.member_fits import MemberFit
from committee.assembling.named_members import Member
from committee.automatic.journal import Journal
from committee.automatic.limits import Clock, Result, Room
from committee.automatic.schedule import Key, Schedule, ScheduledFit
from committee.boosting.gradient.rounds import Rounds
from committee.members.training_set import TrainingSet
from committee.running import Runner, Work
from committee.sampling.forest.forest import Forest

# The time of a fit on all rows, relative to that of a fold.
MORE_ROWS = 1.3


@dataclass(frozen=True, eq=False)
class Refits:
    """Fits on all rows.

    Parameters
    ----------
    training : TrainingSet
    run : Runner
    work : Work
    clock : Clock
    room : Room
    journal : Journal, default=None
        Stores finished fits, also those of an earlier run.
    on_error : {"drop", "raise"}, default="drop"
        Whether to go without a fit that fails.
    """

    training: TrainingSet
    run: Runner
    work: Work
    clock: Clock
    room: Room
    journal: Journal | None = None
    on_error: str = "drop"

    def models_of(self, fitted: list[MemberFit]) -> list[BaseEstimator | None]:
        """Return the model of each member, None if there was no time for it."""
        # The fastest first, so that many are finished if time is short.
        places = np.argsort([seconds_of(each) for each in fitted], kind="stable").tolist()
        members = [settled(fitted[place]) for place in places]
        known = [None if self.journal is None else self.journal.whole_model(each) for each in members]
        waiting = [number for number, model in enumerate(known) if model is None]

        def report(fit: ScheduledFit, results: dict[Key, Result], n_done: int) -> bool:
            # A fit that the clock has ended early may be worse than the models of the folds.
            if self.journal is not None and fit.key in results and fit.key not in schedule.cut:
                self.journal.keep_whole(fit.member, results[fit.key][0])
            self.work.report(n_done, part=fit.name, seconds_left=self.clock.left())
            return False

        schedule = Schedule(
            [members[number] for number in waiting],
            self.training,
            [[]],
            self.run,
            self.clock,
            self.room,
            report,
            seconds={key: seconds_of(fitted[places[number]]) for key, number in enumerate(waiting)},
        )
        schedule.carry_out()
        if self.on_error == "raise" and schedule.errors:
            raise schedule.errors[min(schedule.errors)]
        for (key, _), (model, *_) in schedule.results.items():
            if (key, 0) not in schedule.cut:
                known[waiting[key]] = model
        found = dict(zip(places, known, strict=True))
        return [found[place] for place in range(len(fitted))]


def seconds_of(fitted: MemberFit) -> float:
    """Estimate the time of a fit on all rows; 0 if no time is known."""
    return MORE_ROWS * (fitted.seconds or 0.0) / len(fitted.models)


def settled(fitted: MemberFit) -> Member:
    """Return a member to fit on all rows, with the number and the kind of trees that its fold models have.

    Fold models may have searched for this number, or have ended early because time was short.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from committee import GradientBoostingClassifier
    >>> booster = GradientBoostingClassifier(early_stopping=True, n_iter_no_change=2, random_state=0)
    >>> model = booster.fit(*load_iris(return_X_y=True))
    >>> whole = settled(MemberFit(Member("booster", booster), [model], [])).estimator
    >>> whole.early_stopping, whole.n_estimators == model.n_iter_
    (False, True)
    """
    estimator: Any = clone(fitted.member.estimator)
    if isinstance(estimator, Rounds):
        models: Any = [each for each in fitted.models if isinstance(each, Rounds)]
        middle = sorted(models, key=lambda each: each.n_iter_)[len(models) // 2]
        estimator.set_params(n_estimators=middle.n_iter_, early_stopping=False)
        if "learning_rate" in estimator.get_params():
            estimator.set_params(learning_rate=middle._boosted.learning_rate)
        if "multi_strategy" in estimator.get_params():
            # With a number of rounds, "auto" never grows one tree for all classes.
            is_joint = middle._forest.n_trees == middle._boosted.n_rounds
            strategy = "multi_output_tree" if is_joint else "one_output_per_tree"
            estimator.set_params(multi_strategy=strategy)
    elif isinstance(estimator, Forest):
        n_trees = [len(each) for each in fitted.models if isinstance(each, Forest)]
        estimator.set_params(n_estimators=int(np.median(n_trees)))
    return replace(fitted.member, estimator=estimator)
