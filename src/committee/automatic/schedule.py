"""Members are fitted one after the other, fold by fold, for as long as there is time.

In: members in their order, folds, a runner, a clock and room in memory. Out: those members that have voted on
every row, with the models of their folds. Without limits these are all, and the same on any runner. A member
that fails is dropped; one that would take too long, or needs more memory than there is, is skipped. When time
is up, or at Ctrl-C, what is finished is kept.
"""

from __future__ import annotations

import contextlib
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from committee.assembling.member_fits import MemberFit, Plan, fits_of, warn_of_dropped
from committee.assembling.named_members import Member
from committee.automatic.journal import Journal
from committee.automatic.limits import Clock, Result, Room, Use, measured
from committee.automatic.rule_choice import loss_of
from committee.learners.fit_session import TaskCalls
from committee.members.member_votes import gives_scores
from committee.members.training_set import TrainingSet
from committee.metrics.metric_table import shown
from committee.metrics.scoring import learnt_by
from committee.running import Handle, Runner, Task, TaskError, Work
from committee.running.deadline import ended_after, is_time_up, was_cut
from committee.votes.folds import Fold
from committee.votes.honest_votes import HonestVotes


@dataclass(frozen=True, eq=False)
class Fit:
    """One fit of one member.

    Parameters
    ----------
    place : int
        That of the member.
    number : int
        That of the fold, those of repeated folds counted on.
    name : str
    function : callable
    arguments : tuple
        The last ones of the function.
    """

    place: int
    number: int
    name: str
    function: Callable[..., Result]
    arguments: tuple[object, ...]


@dataclass
class Progress:
    """What has been done so far.

    Parameters
    ----------
    results : dict from (place, number) to Result
    seconds : dict from place to the longest fit of the member
    errors : dict from (place, number) to error
    left_out : set of places
        Members that are fitted no more: time is too short, or memory.
    lacks : dict from place to str
        Why members do not fit in memory.
    cut : set of (place, number)
        Fits that may have ended early, by the clock. A run with more time does them again.
    """

    results: dict[tuple[int, int], Result] = field(default_factory=dict)
    seconds: dict[int, float] = field(default_factory=dict)
    errors: dict[tuple[int, int], BaseException] = field(default_factory=dict)
    left_out: set[int] = field(default_factory=set)
    lacks: dict[int, str] = field(default_factory=dict)
    cut: set[tuple[int, int]] = field(default_factory=set)

    def is_open(self, place: int) -> bool:
        """Whether a member is still to be fitted."""
        return place not in self.failures and place not in self.left_out

    @property
    def failures(self) -> dict[int, BaseException]:
        """The error of each member that failed: that of its first fold, whichever was seen first."""
        return {place: self.errors[place, number] for place, number in sorted(self.errors, reverse=True)}


class Telling:
    """Tells of every fit.

    Parameters
    ----------
    work : Work
    training : TrainingSet
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
        training: TrainingSet,
        scoring: object,
        n_folds: int,
        clock: Clock,
        calls: TaskCalls | None = None,
    ) -> None:
        self.work, self.training, self.scoring, self.n_folds, self.clock = (
            work,
            training,
            scoring,
            n_folds,
            clock,
        )
        self.metric = learnt_by(scoring, training.task.n_outputs, training.task.classes)
        self.calls = calls
        self._losses: dict[int, float] = {}

    def __call__(self, name: str, place: int, progress: Progress) -> bool:
        """Tell that a fit of a member has ended; True if a callback wants no more of them."""
        n_done = len(progress.results) + len(progress.errors)
        if self.work.has_receiver:
            self._show(name, place, progress, n_done)
        return self.calls is not None and self.calls.report(n_done)

    def _show(self, name: str, place: int, progress: Progress, n_done: int) -> None:
        """Tell which fit it was and how good the best member is."""
        if place not in self._losses and self._is_whole(place, progress):
            self._judge(place, progress)
        score = self.metric.of_loss(min(self._losses.values())) if self._losses else None
        best = None if score is None else shown(self.metric.name, score)
        self.work.report(n_done, score, part=name, seconds_left=self.clock.left(), shown=best)

    def _is_whole(self, place: int, progress: Progress) -> bool:
        return self.n_folds > 0 and all((place, fold) in progress.results for fold in range(self.n_folds))

    def _judge(self, place: int, progress: Progress) -> None:
        """Take the honest loss of a member, unless it votes by scores that are not calibrated yet."""
        held_out = [progress.results[place, fold][1:] for fold in range(self.n_folds)]
        models = (progress.results[place, fold][0] for fold in range(self.n_folds))
        if self.training.are_classes and any(map(gives_scores, models)):
            return
        training = self.training
        honest = HonestVotes.of_models(
            [held_out], training.task, training.y, training.weights, training.groups
        )
        # A metric may have no value for what some member decides, as logarithms have none below 0.
        with contextlib.suppress(ValueError):
            self._losses[place] = loss_of(honest.votes[0].astype(np.float64), honest, self.scoring)


def fit_in_time(
    members: list[Member],
    training: TrainingSet,
    repeats: Sequence[list[Fold]],
    run: Runner,
    clock: Clock,
    room: Room,
    tell: Callable[[str, int, Progress], bool],
    journal: Journal | None = None,
    who_goes_on: Callable[[list[MemberFit]], list[str]] | None = None,
) -> list[MemberFit]:
    """Fit members for as long as there is time.

    Parameters
    ----------
    members : list of Member
    training : TrainingSet
    repeats : sequence of lists of folds
        All members are fitted in the first folds before any is in the next.
    run : Runner
    clock : Clock
    room : Room
        Which fits have to wait and which members are skipped because memory is short.
    tell : callable
        Called after each fit, with its name, the place of its member and what has been done. The fit ends
        if it returns True.
    journal : Journal, default=None
        What was finished by a run before, and where finished fits are written down.
    who_goes_on : callable, default=everybody
        The names of those among the finished members that are fitted in the next folds, in their order.

    Returns
    -------
    list of MemberFit
        In the order of the members: those that have been fitted in all folds of the first list.
    """
    progress = Progress()
    if journal is not None:
        skipped = journal.skipped(room.limit)
        progress.lacks |= {
            place: "it was skipped before" for place, each in enumerate(members) if each.name in skipped
        }
        progress.left_out |= progress.lacks.keys()
    n_folds = len(repeats[0])
    everybody = list(range(len(members)))
    waiting: deque[Fit] = deque()
    to_come = deque(range(len(repeats)))
    shared = run.put(training)
    in_flight: dict[Task, Fit] = {}
    try:
        while waiting or in_flight or to_come:
            # Who goes on is chosen when all have voted, and so not by who was the quickest.
            if not waiting and not in_flight and to_come and not clock.is_over():
                repeat = to_come.popleft()
                places = everybody
                if repeat > 0 and who_goes_on is not None:
                    fitted = fits_at(whole(members, progress, n_folds), members, progress)
                    chosen = who_goes_on(fitted) if fitted else []
                    places = [place for name in chosen for place in everybody if members[place].name == name]
                waiting.extend(fits(members, places, training, repeats[repeat], repeat * n_folds))
            while waiting and len(in_flight) < run.n_workers and not clock.is_over():
                fit, member = waiting[0], members[waiting[0].place]
                finds = journal is not None and fit.place not in progress.lacks
                known = journal.find(member, fit.number) if journal is not None and finds else None
                if known is not None:
                    progress.results[fit.place, fit.number] = known
                    tell(fit.name, fit.place, progress)
                elif is_allowed(fit, progress, n_folds, clock, run.n_workers):
                    if not room.has(member.name, (members[each.place].name for each in in_flight.values())):
                        break
                    lack = None if in_flight else room.lack(member.name)
                    if lack is not None:
                        skip(fit.place, lack, members, progress, room, journal, n_folds)
                    else:
                        in_flight[submit(fit, member, shared, clock, room, n_folds, run)] = fit
                waiting.popleft()
            task = run.first_completed(in_flight, clock.left())
            if task is None:
                if clock.is_over():
                    break
                continue
            fit = in_flight.pop(task)
            use = take(task, fit, progress)
            if use is not None:
                room.uses[members[fit.place].name] = use
            is_whole = (fit.place, fit.number) in progress.results.keys() - progress.cut
            if journal is not None and is_whole:
                journal.keep(members[fit.place], fit.number, progress.results[fit.place, fit.number])
            if tell(fit.name, fit.place, progress):
                break
    except KeyboardInterrupt:
        if not progress.results:
            raise
        clock.interrupt()
    finally:
        for task in in_flight:
            task.cancel()
    warn_of_dropped(members, progress.failures)
    return finished(members, progress, n_folds, clock)


def skip(
    place: int,
    lack: str,
    members: list[Member],
    progress: Progress,
    room: Room,
    journal: Journal | None,
    n_folds: int,
) -> None:
    """Fit a member no more, because it needs more memory than there is; drop its models if they are few."""
    progress.left_out.add(place)
    name = members[place].name
    if place in whole(members, progress, n_folds):
        return
    progress.lacks[place] = lack
    for key in [key for key in progress.results if key[0] == place]:
        del progress.results[key]
    room.uses.pop(name, None)
    if journal is not None:
        journal.keep_skipped([members[each].name for each in progress.lacks], room.limit)
    warnings.warn(f"Member {name!r} is skipped: {lack}.", RuntimeWarning, stacklevel=5)


def fits(
    members: list[Member], places: list[int], training: TrainingSet, folds: list[Fold], first: int
) -> Iterator[Fit]:
    """The fits of the members at some places in some folds, counted from a number on."""
    plan = Plan(folds, refit=False, uses_bags=False, as_scores=True)
    for place in places:
        for number, each in enumerate(fits_of(members[place], training, plan)):
            yield Fit(place, first + number, *each)


def is_allowed(fit: Fit, progress: Progress, n_folds: int, clock: Clock, n_workers: int) -> bool:
    """Whether there is time for a fit and, in the first folds, for those that its member needs after it."""
    if not progress.is_open(fit.place):
        return False
    n_needed = max(1, n_folds - fit.number)
    if clock.allows(progress.seconds.get(fit.place, 0.0), n_needed, n_workers):
        return True
    progress.left_out.add(fit.place)
    return False


def submit(
    fit: Fit, member: Member, shared: Handle, clock: Clock, room: Room, n_folds: int, run: Runner
) -> Task:
    """Let a fit be done within its budget."""
    seconds = clock.budget(max(1, n_folds - fit.number), run.n_workers)
    measures = room.measures(member.name, run.n_workers)
    arguments = (shared, member.estimator, member.columns, True, *fit.arguments)
    return run.submit(timed, seconds, measures, fit.function, *arguments, name=fit.name)


def timed(
    seconds: float | None, measures: bool, function: Callable[..., Result], *arguments: object
) -> tuple[Result, float, bool, Use | None]:
    """What a function returns, the seconds it took, and whether it may have done less for want of more.

    Forests and boosters end within the seconds, with the trees they have. Last comes the memory that was
    taken, if it is to be measured.
    """
    began = time.monotonic()
    with ended_after(seconds):
        result, use = measured(function, *arguments) if measures else (function(*arguments), None)
        return result, time.monotonic() - began, is_time_up() or was_cut(), use


def take(task: Task, fit: Fit, progress: Progress) -> Use | None:
    """Note what came of a task; the memory that it took, if that was measured."""
    error = task.exception()
    if error is None:
        result, seconds, is_cut, use = task.result()
        progress.results[fit.place, fit.number] = result
        if is_cut:
            progress.cut.add((fit.place, fit.number))
        progress.seconds[fit.place] = max(seconds, progress.seconds.get(fit.place, 0.0))
        measured_use: Use | None = use
        return measured_use
    if isinstance(error, TaskError):
        progress.errors[fit.place, fit.number] = error
        return None
    raise error


def finished(members: list[Member], progress: Progress, n_folds: int, clock: Clock) -> list[MemberFit]:
    """The members that have voted on all rows; if there is none, the one that has voted on most."""
    places = whole(members, progress, n_folds)
    if not places:
        n_done = {
            place: sum(1 for each, _ in progress.results if each == place)
            for place in range(len(members))
            if place not in progress.failures
        }
        most = max(n_done, key=lambda place: n_done[place])
        if not n_done[most]:
            if progress.lacks:
                place, lack = next(iter(progress.lacks.items()))
                raise ValueError(
                    f"No member fits in memory. Member {members[place].name!r}: {lack}. Set a higher "
                    "memory_limit, or pass fewer rows."
                )
            if clock.limit is None:
                raise KeyboardInterrupt
            raise ValueError(
                f"time_limit={clock.limit:.4g} was over before member {members[0].name!r} was fitted in one "
                "fold. Set a longer one."
            )
        places = [most]
    return fits_at(places, members, progress)


def whole(members: list[Member], progress: Progress, n_folds: int) -> list[int]:
    """The places of the members that have voted on all rows."""
    return [
        place
        for place in range(len(members))
        if place not in progress.failures
        and all((place, number) in progress.results for number in range(max(1, n_folds)))
    ]


def fits_at(places: list[int], members: list[Member], progress: Progress) -> list[MemberFit]:
    """The members at some places with all their models and votes so far."""
    fitted = []
    for place in places:
        done = [progress.results[key] for key in sorted(progress.results) if key[0] == place]
        held_out = [(rows, votes) for _, rows, votes in done if rows is not None]
        fitted.append(MemberFit(members[place], [model for model, _, _ in done], held_out))
    return fitted
