"""Fit members one after the other, fold by fold, until the time ends.

In: members in their order, folds, a runner, a clock and the memory. Out: the members that have voted on every
row, with the models of their folds. Without limits these are all members, and the same on any runner. A
member that fails is dropped. One that would take too long, or needs too much memory, is skipped. At the end
of the time, or at Ctrl-C, the finished fits are kept.
"""

from __future__ import annotations

import contextlib
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from committee.assembling.fit_record import SkippedMember
from committee.assembling.member_fits import MemberFit, Plan, fits_of, warn_of_dropped
from committee.assembling.named_members import Member
from committee.automatic.journal import Journal
from committee.automatic.limits import Clock, Result, Room, Use, measured
from committee.automatic.rule_choice import loss_of
from committee.learners.fit_session import TaskCalls
from committee.members.member_votes import gives_scores
from committee.members.training_set import TrainingSet
from committee.metrics.metric_table import Metric, shown
from committee.metrics.scoring import learnt_by
from committee.running import Handle, Runner, Task, TaskError, Work
from committee.running.deadline import ended_after, is_time_up, was_cut
from committee.votes.folds import Fold
from committee.votes.honest_votes import Cast, HonestVotes

# The place of a member and the number of a fold.
Key = tuple[int, int]


@dataclass(frozen=True, eq=False)
class ScheduledFit:
    """One fit of one member.

    Parameters
    ----------
    member : Member
    key : (int, int)
        The place of the member, and the number of the fold among the folds of all repeats.
    name : str
    function : callable
    arguments : tuple
        The last arguments of the function.
    """

    member: Member
    key: Key
    name: str
    function: Callable[..., Result]
    arguments: tuple[object, ...]


@dataclass(eq=False)
class FitReporter:
    """Report every fit to listeners and callbacks.

    Parameters
    ----------
    work : Work
    training : TrainingSet
    scoring : str, scorer, callable or None
    n_members : int
    n_folds : int
        The number of folds in which a member is fitted before it is scored.
    n_fits : int
        The number of all fits. With a time limit, fewer are made.
    clock : Clock
    calls : TaskCalls, default=None
        scikit-learn's callbacks.
    """

    work: Work
    training: TrainingSet
    scoring: object
    n_members: int
    n_folds: int
    n_fits: int
    clock: Clock
    calls: TaskCalls | None = None
    losses: dict[int, float] = field(default_factory=dict)

    @cached_property
    def metric(self) -> Metric:
        """The metric to show. Without `scoring`, it is that of the leaderboard."""
        scoring = self.scoring
        if scoring is None and not self.training.are_classes:
            scoring = "neg_root_mean_squared_error"
        return learnt_by(scoring, self.training.task.n_outputs, self.training.task.classes)

    def __call__(self, fit: ScheduledFit, results: dict[Key, Result], n_done: int) -> bool:
        """Report that a fit has ended. Return whether a callback stops the other fits."""
        if self.work.has_receiver:
            place, _ = fit.key
            keys = [(place, fold) for fold in range(self.n_folds)]
            if place not in self.losses and keys and all(key in results for key in keys):
                self._score(place, [results[key] for key in keys])
            score = self.metric.of_loss(min(self.losses.values())) if self.losses else None
            best = None if score is None else shown(self.metric.name, score)
            self.work.report(
                self._n_whole(results),
                score,
                part=fit.member.title or fit.member.name,
                seconds_left=self.clock.left(),
                shown=best,
                share=n_done / self.n_fits,
            )
        return self.calls is not None and self.calls.report(n_done)

    def end(self, n_fitted: int) -> None:
        """Report the number of fitted members as the number of all, since the others were left out."""
        if self.work.has_receiver:
            score = self.metric.of_loss(min(self.losses.values())) if self.losses else None
            best = None if score is None else shown(self.metric.name, score)
            self.work.report(n_fitted, score, shown=best, n_total=n_fitted)

    def _n_whole(self, results: dict[Key, Result]) -> int:
        """Return the number of members that are fitted in all folds of the first repeat."""
        return sum(
            all((place, fold) in results for fold in range(self.n_folds)) for place in range(self.n_members)
        )

    def _score(self, place: int, results: list[Result]) -> None:
        """Store the honest loss of a member, unless its votes are scores that are not calibrated yet."""
        training = self.training
        if training.are_classes and any(gives_scores(model) for model, *_ in results):
            return
        held_out = [(rows, votes) for _, rows, votes, _ in results]
        honest = HonestVotes.of_models(
            [held_out], training.task, training.y, training.weights, training.groups
        )
        # A metric may have no value for some decisions, for example logarithms of negative numbers.
        with contextlib.suppress(ValueError):
            self.losses[place] = loss_of(honest.votes[0].astype(np.float64), honest, self.scoring)


@dataclass(eq=False)
class Schedule:
    """The fits of members, within the limits of time and memory.

    Parameters
    ----------
    members : list of Member
    training : TrainingSet
    repeats : sequence of lists of folds
        All members are fitted in the first folds before any is in the next.
    run : Runner
    clock : Clock
    room : Room
        Decides which fits wait and which members are skipped because memory is short.
    report : callable
        Called after each fit with the fit, all results and the number of ended fits. All fits end if it
        returns True.
    journal : Journal, default=None
        Stores finished fits, also those of an earlier run.
    choose_next : callable, default=None
        Returns the names of the finished members to fit in the next folds, in their order. None chooses all.
    seconds : dict from place to the longest fit of the member
        What is known before the first fit.

    Attributes
    ----------
    results : dict from (place, number) to Result
    errors : dict from (place, number) to error
    spent : dict from place to the total time of its fits, or None if some are from the journal
    left_out : set of places
        Members that are not fitted any more, because time or memory is short.
    shortages : dict from place to str
        Why members do not fit in memory.
    cut : set of (place, number)
        Fits that the clock may have ended early. A resumed run fits them again.
    """

    members: list[Member]
    training: TrainingSet
    repeats: Sequence[list[Fold]]
    run: Runner
    clock: Clock
    room: Room
    report: Callable[[ScheduledFit, dict[Key, Result], int], bool]
    journal: Journal | None = None
    choose_next: Callable[[list[MemberFit]], list[str]] | None = None
    seconds: dict[int, float] = field(default_factory=dict)
    results: dict[Key, Result] = field(default_factory=dict, init=False)
    errors: dict[Key, BaseException] = field(default_factory=dict, init=False)
    spent: dict[int, float | None] = field(default_factory=dict, init=False)
    left_out: set[int] = field(default_factory=set, init=False)
    shortages: dict[int, str] = field(default_factory=dict, init=False)
    cut: set[Key] = field(default_factory=set, init=False)

    @cached_property
    def n_folds(self) -> int:
        """The number of fits of each member in the first folds."""
        return max(1, len(self.repeats[0]))

    @property
    def failures(self) -> dict[int, BaseException]:
        """The error of each failed member in the first fold in which it failed."""
        return {place: self.errors[place, number] for place, number in sorted(self.errors, reverse=True)}

    def fit_members(self) -> list[MemberFit]:
        """Fit the members until the time ends.

        Returns
        -------
        list of MemberFit
            The members that are fitted in all folds of the first repeat, in their order.
        """
        if self.journal is not None:
            skipped = self.journal.skipped(self.room.limit)
            places = [place for place, member in enumerate(self.members) if member.name in skipped]
            self.shortages = dict.fromkeys(places, "it was skipped before")
            self.left_out = set(places)
        self.carry_out()
        warn_of_dropped(self.members, self.failures)
        return self._fitted(self._whole() or [self._with_most_votes()])

    def carry_out(self) -> None:
        """Do the fits until the time ends, or Ctrl-C comes after the first fit."""
        waiting: deque[ScheduledFit] = deque()
        to_come = deque(range(len(self.repeats)))
        shared = self.run.put(self.training)
        in_flight: dict[Task, ScheduledFit] = {}
        try:
            while waiting or in_flight or to_come:
                # Members are chosen when all have voted, so the choice does not depend on their speed.
                if not waiting and not in_flight and to_come and not self.clock.is_over():
                    waiting.extend(self._fits_in(to_come.popleft()))
                while waiting and len(in_flight) < self.run.n_workers and not self.clock.is_over():
                    fit = waiting[0]
                    if self._is_in_journal(fit):
                        self._report(fit)
                    elif self._is_in_time(fit):
                        name = fit.member.name
                        if not self.room.has(name, (each.member.name for each in in_flight.values())):
                            break
                        shortage = None if in_flight else self.room.shortage(name)
                        if shortage is None:
                            in_flight[self._submit(fit, shared)] = fit
                        else:
                            self._skip(fit, shortage)
                    waiting.popleft()
                task = self.run.first_completed(in_flight, self.clock.left())
                if task is not None:
                    fit = in_flight.pop(task)
                    self._take(task, fit)
                    if self._report(fit):
                        break
                elif self.clock.is_over():
                    break
        except KeyboardInterrupt:
            if not self.results:
                raise
            self.clock.interrupt()
        finally:
            for task in in_flight:
                task.cancel()

    def _fits_in(self, repeat: int) -> Iterator[ScheduledFit]:
        """Yield the fits of the members in the folds of a repeat."""
        places = list(range(len(self.members)))
        if repeat > 0 and self.choose_next is not None:
            fitted = self._fitted(self._whole())
            names = [member.name for member in self.members]
            places = [names.index(name) for name in self.choose_next(fitted)] if fitted else []
        first = repeat * self.n_folds
        plan = Plan(self.repeats[repeat], refit=False, uses_bags=False, as_scores=True)
        for place in places:
            member = self.members[place]
            for number, each in enumerate(fits_of(member, self.training, plan), start=first):
                yield ScheduledFit(member, (place, number), *each)

    def _report(self, fit: ScheduledFit) -> bool:
        return self.report(fit, self.results, len(self.results) + len(self.errors))

    def _is_in_journal(self, fit: ScheduledFit) -> bool:
        """Take the result of a fit from the journal. Return whether the journal contains one."""
        place, number = fit.key
        if self.journal is None or place in self.shortages:
            return False
        known = self.journal.find(fit.member, number)
        if known is not None:
            self.results[fit.key] = known
            self.spent[place] = None
        return known is not None

    def _is_in_time(self, fit: ScheduledFit) -> bool:
        """Return whether there is time for a fit and, in the first repeat, for all fits of the member."""
        place, _ = fit.key
        if place in self.failures or place in self.left_out:
            return False
        if self.clock.allows(self.seconds.get(place, 0.0), self._n_needed(fit), self.run.n_workers):
            return True
        self.left_out.add(place)
        return False

    def _n_needed(self, fit: ScheduledFit) -> int:
        """Return the number of fits from this one until the member has voted on all rows."""
        return max(1, self.n_folds - fit.key[1])

    def _submit(self, fit: ScheduledFit, shared: Handle) -> Task:
        """Start a fit with its budget of time."""
        seconds = self.clock.budget(self._n_needed(fit), self.run.n_workers)
        measures = self.room.measures(fit.member.name, self.run.n_workers)
        arguments = (shared, fit.member.estimator, fit.member.columns, True, *fit.arguments)
        return self.run.submit(timed, seconds, measures, fit.function, *arguments, name=fit.name)

    def _skip(self, fit: ScheduledFit, shortage: str) -> None:
        """Stop fitting a member that needs too much memory. Drop its models unless they vote on all rows."""
        place, _ = fit.key
        self.left_out.add(place)
        if place in self._whole():
            return
        self.shortages[place] = shortage
        self.results = {key: result for key, result in self.results.items() if key[0] != place}
        self.room.uses.pop(fit.member.name, None)
        if self.journal is not None:
            names = [self.members[each].name for each in self.shortages]
            self.journal.keep_skipped(names, self.room.limit)
        warnings.warn(f"Member {fit.member.name!r} is skipped: {shortage}.", RuntimeWarning, stacklevel=5)

    def _take(self, task: Task, fit: ScheduledFit) -> None:
        """Store the result or the error of a task, and its use of memory."""
        place, number = fit.key
        error = task.exception()
        if isinstance(error, TaskError):
            self.errors[fit.key] = error
            return
        if error is not None:
            raise error
        result, seconds, is_cut, use = task.result()
        self.results[fit.key] = result
        self.seconds[place] = max(seconds, self.seconds.get(place, 0.0))
        before = self.spent.get(place, 0.0)
        self.spent[place] = None if before is None else before + seconds
        if use is not None:
            self.room.uses[fit.member.name] = use
        if is_cut:
            self.cut.add(fit.key)
        elif self.journal is not None and fit.key not in self.cut:
            self.journal.keep(fit.member, number, result)

    def _whole(self) -> list[int]:
        """Return the places of the members that have voted on all rows."""
        return [
            place
            for place in range(len(self.members))
            if place not in self.failures
            and all((place, number) in self.results for number in range(self.n_folds))
        ]

    def _with_most_votes(self) -> int:
        """Return the place of the member that is fitted in most folds; raise if none is fitted."""
        n_done = {
            place: sum(1 for each, _ in self.results if each == place)
            for place in range(len(self.members))
            if place not in self.failures
        }
        most = max(n_done, key=lambda place: n_done[place])
        if n_done[most]:
            return most
        if self.shortages:
            place, shortage = next(iter(self.shortages.items()))
            raise ValueError(
                f"No member fits in memory. Member {self.members[place].name!r}: {shortage}. Set a higher "
                "memory_limit, or pass fewer rows."
            )
        if self.clock.limit is None:
            raise KeyboardInterrupt
        raise ValueError(
            f"time_limit={self.clock.limit:.4g} was over before member {self.members[0].name!r} was fitted "
            "in one fold. Set a longer one."
        )

    def _fitted(self, places: list[int]) -> list[MemberFit]:
        """Return the members at some places with all their models and votes so far."""
        fitted = []
        for place in places:
            done = [self.results[key] for key in sorted(self.results) if key[0] == place]
            held_out: list[Cast] = [
                (rows, votes, labels) for _, rows, votes, labels in done if rows is not None
            ]
            models = [model for model, *_ in done]
            fitted.append(MemberFit(self.members[place], models, held_out, self.spent.get(place)))
        return fitted

    def skipped(self) -> tuple[SkippedMember, ...]:
        """Return the members that have not voted on every row, with the reasons."""
        whole, failures = set(self._whole()), self.failures
        found = []
        for place, member in enumerate(self.members):
            if place in failures:
                reason = f"a fit failed ({one_line(failures[place])})"
            elif place in self.shortages:
                reason = self.shortages[place]
            elif place in self.left_out:
                reason = "its fits need more time than was left"
            else:
                reason = "no time was left"
            if place not in whole:
                found.append(SkippedMember(member.name, member.title, reason))
        return tuple(found)


def one_line(error: BaseException) -> str:
    """Return the first cause of an error, in one line."""
    cause = error.__cause__ or error
    return f"{type(cause).__name__}: {' '.join(str(cause).split())}"


def timed(
    seconds: float | None, measures: bool, function: Callable[..., Result], *arguments: object
) -> tuple[Result, float, bool, Use | None]:
    """Call a function with a deadline that forests and boosters respect.

    Returns
    -------
    result : Result
    seconds : float
        The time of the call.
    is_cut : bool
        Whether the fit may have ended early because time was short.
    use : Use or None
        The memory of the call, if it was measured.
    """
    began = time.monotonic()
    with ended_after(seconds):
        result, use = measured(function, *arguments) if measures else (function(*arguments), None)
        return result, time.monotonic() - began, is_time_up() or was_cut(), use
