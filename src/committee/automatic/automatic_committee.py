"""The automatic committee: the best members and the best rule within the time limit.

`fit` takes members from the portfolio and fits them fold by fold until the time ends (`schedule`). It then
compares rules on their honest votes and chooses one (`rule_choice`). At the end it drops the members that the
decision does not need (`compaction`) and fits the others on all rows (`refits`).
"""

from __future__ import annotations

import copy
import datetime
import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Self, overload

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from committee import running
from committee.assembling.calibration import CALIBRATION
from committee.assembling.committee import calibrate, for_fitted, for_places, honest_of
from committee.assembling.fit_record import FitRecord, SkippedMember
from committee.assembling.fit_summary import DecisionSummary, FitSummary, TableSummary, ValueScores
from committee.assembling.leaderboard import Leaderboard, decision_of_rule, leaderboard_of
from committee.assembling.member_fits import MemberFit
from committee.assembling.named_members import FittedMember, Member, seeded_by_name
from committee.automatic.automatic_parameters import AUTO, PRESETS
from committee.automatic.compaction import (
    BUDGETS,
    TOLERATED,
    copies_within,
    costs_of,
    members_that_decide,
    members_within,
)
from committee.automatic.journal import Journal
from committee.automatic.limits import Clock, Room
from committee.automatic.portfolio import Size, members_of, named_in, portfolio, without_convergence_warnings
from committee.automatic.reduction import Reducing
from committee.automatic.refits import Refits
from committee.automatic.rule_choice import (
    check_scoring,
    sampled,
    seconds_for,
    votes_in,
    warn_of_mean,
    with_time_limit,
)
from committee.automatic.schedule import FitReporter, Schedule
from committee.combining.cost_rule import CostRule
from committee.combining.rule import Rule, check_rule, differ
from committee.combining.rule_registry import as_rule, rule_named
from committee.learners import DecisionTreeClassifier
from committee.learners.fit_session import TaskCalls
from committee.learners.voter import Classifies, Regresses
from committee.members.seeds import LARGEST_SEED, generator_of, seeded
from committee.members.training_set import TrainingSet
from committee.metrics.row_losses import NoValueError
from committee.parameters import check_parameters, declared, is_integer
from committee.running.resources import one_blas_thread
from committee.saving.predictors.score_votes import Calibration
from committee.table.input_types import TableLike
from committee.table.row_hashes import N_DRAWN, rare_rows, row_hashes
from committee.table.schema import take_rows
from committee.table.source import open_source
from committee.task import Classification
from committee.votes.folds import Fold, drawn_folds
from committee.votes.honest_votes import HonestVotes

LARGEST_SMALL = np.iinfo(np.int32).max
MOST_REPEATS = 16
# The number of votes for the leaderboard after a fit with a time limit. It takes less than half a second.
QUICK_VOTES = 100_000
# If there is time left, folds are repeated this often, and more often in tables of few rows. After the first
# repeats, only members with weight continue: about as many models in all as without more repeats.
REPEATS_IN_TIME, MANY_REPEATS_IN_TIME, ROWS_TO_REPEAT = 4, MOST_REPEATS, 50_000
# The least weight in a mixture of the members with which a member continues, and the votes to find it on.
LEAST_PART, MOST_TO_MIX = 0.01, 500_000
# The folds of cv="auto": more in tables of at most FEW_ROWS rows, or FEW_ROWS_IN_A_SECOND with a time limit.
USUAL_FOLDS, MANY_FOLDS = 5, 8
FEW_ROWS, FEW_ROWS_IN_A_SECOND = 4_000, 150


class Repeats(Sequence[list[Fold]]):
    """Repeated random folds of the rows with weight.

    The folds of a repeat take as much memory as a few columns, so only the last used ones are kept.

    Parameters
    ----------
    n_folds : int
    training : TrainingSet
    seeds : ndarray of int
        The seed of each repeat.
    """

    def __init__(self, n_folds: int, training: TrainingSet, seeds: np.ndarray) -> None:
        self._n_folds, self._training, self._seeds = n_folds, training, seeds
        self._last: tuple[int, list[Fold]] | None = None

    @classmethod
    def drawn(cls, n_folds: int, training: TrainingSet, n_repeats: int, rng: np.random.Generator) -> Self:
        """Draw repeats. The numbers that the generator draws do not depend on n_repeats."""
        return cls(n_folds, training, rng.integers(LARGEST_SEED, size=MOST_REPEATS)[:n_repeats])

    def first(self, n_repeats: int) -> Self:
        """Return the first repeats."""
        return type(self)(self._n_folds, self._training, self._seeds[:n_repeats])

    def __len__(self) -> int:
        return len(self._seeds)

    @overload
    def __getitem__(self, number: int) -> list[Fold]: ...

    @overload
    def __getitem__(self, number: slice) -> list[list[Fold]]: ...

    def __getitem__(self, number: int | slice) -> list[Fold] | list[list[Fold]]:
        if isinstance(number, slice):
            return [self[each] for each in range(*number.indices(len(self)))]
        if self._last is None or self._last[0] != number:
            self._last = None  # free its memory before the next folds are drawn
            training, rng = self._training, np.random.default_rng(self._seeds[number])
            # The folds of a table with fewer than 2^31 rows are kept in half of the memory.
            rows = training.rows.astype(np.int32) if training.n_rows <= LARGEST_SMALL else training.rows
            folds = drawn_folds(
                self._n_folds, rows, training.y, training.groups, rng, is_class_task=training.are_classes
            )
            self._last = number, folds
        return self._last[1]


def n_folds_of(repeats: Sequence[list[Fold]]) -> int:
    """Return the number of fits of each member, which is one if no rows are held out."""
    return max(1, len(repeats) * len(repeats[0]))


@declared
class AutomaticCommittee(Reducing):
    """Members and a rule that are chosen for a table."""

    def _fit_committee(
        self, read: Callable[[], TrainingSet], new_calls: Callable[[str, int], TaskCalls | None]
    ) -> TaskCalls | None:
        if self.run_folder is not None and not is_integer(self.random_state):
            raise ValueError(
                f"A resumed run must draw the same folds: run_folder={self.run_folder!r} needs an integer "
                f"random_state. Got {self.random_state!r}."
            )
        if self.tune_threshold and self._task_type is not Classification:
            raise ValueError("tune_threshold is for classes, and the task is a regression. Leave it out.")
        if self.tune_threshold and (self.costs is not None or self.threshold is not None):
            raise ValueError("tune_threshold excludes costs and threshold. Leave it out, or these.")
        clock = Clock(None if self.time_limit is None else float(self.time_limit))
        training = read()
        rng = generator_of(self.random_state)
        rule = None if self._finds_rule() else self._choice().adjusted(seeded(as_rule(self.rule), rng))
        self._with_costs(rule_named("mean"), training.task)  # raises for wrong costs before any fit
        if training.is_open:
            check_scoring(self.scoring, training)
        every = self._every_repeat(training, rng)
        members = self._members(training, every[0])
        if training.is_open and rule is not None:
            check_rule(rule, len(members), training.task, is_weighted=differ(training.weights))
        clock.keep_for_rule(seconds_for(len(members) * len(training.rows) * training.task.n_outputs))
        if self.keep != "all":
            clock.keep_for_refits()
        repeats = every.first(self._n_repeats(training)) if isinstance(every, Repeats) else every
        seed = int(rng.integers(LARGEST_SEED))
        members = [seeded_by_name(each, seed) for each in members]
        calls = new_calls("fold", len(members) * n_folds_of(repeats))
        journal = self._journal(members, training, every)
        fitted, skipped = self._fit_members(members, training, repeats, clock, journal, calls)
        rule = None if rule is None else for_fitted(rule, members, fitted)
        # With a time limit, members may be fitted in different folds, so no fingerprint of folds is stored.
        folds = [] if self.time_limit is not None else [fold for each in repeats for fold in each]
        honest, calibrations = self._honest_votes(fitted, training, folds, clock)
        if rule is None and honest is not None:
            rule = self._choice().best_in_time(honest, training, self.preset, clock)
        self._keep_members(training, fitted, calibrations)
        self._origin = None
        everyone = self._fitted_members
        self._honest, self._encoder, self.rule_ = honest, None, None
        if rule is not None and honest is not None:
            self._fit_rule_in_time(rule, honest, training, clock)
            if self.keep != "all":
                clock.finish(
                    lambda: self._compact(fitted, honest, training, clock, journal),
                    lambda: None,
                    " while the committee was compacted",
                )
        self._record = self._new_record(training, honest, everyone, len(repeats[0]), skipped, clock)
        return calls

    def _compact(
        self,
        fitted: list[MemberFit],
        honest: HonestVotes,
        training: TrainingSet,
        clock: Clock,
        journal: Journal | None,
    ) -> None:
        """Drop members that the decision does not need, and fit the others on all rows."""
        decided: Any = self.rule_
        # Costs change decisions, and not the quality of the probabilities.
        rule = as_rule(decided.rule) if isinstance(decided, CostRule) else decided
        limits, costs = BUDGETS[self.preset], costs_of(self._fitted_members)
        # Few rows, on which the mean decides, cannot show which members are needed.
        tolerated = TOLERATED if self._finds_rule() and rule.needs_fit else None
        with one_blas_thread():
            deciding = members_that_decide(decided, honest)
            places = members_within(limits, costs, deciding, rule, honest, self.scoring, tolerated=tolerated)
        members = [self._fitted_members[place] for place in places]
        if len(places) < len(fitted):
            self._fitted_members, self._honest = members, honest.of_members(places)
            alone = for_places(clone(rule), len(fitted), places)
            self._fit_rule_in_time(alone, self._honest, training, clock)
        costs = costs[:, places]
        whole: list[list[BaseEstimator]] = [[] for _ in places]
        if not clock.is_stopped:
            n_copies = copies_within(limits, costs, [each.learner for each in members])
            whole = self._refit([fitted[place] for place in places], n_copies, training, clock, journal)
        # Without time for a fit on all rows, a member keeps as many fold models as its share allows.
        shares = np.array(limits)[1:, None] / len(places) / costs[1:]
        n_most = np.maximum(1, shares.min(axis=0).astype(int)).tolist()
        self._fitted_members = [
            replace(member, models=models or member.models[:n_models])
            for member, models, n_models in zip(members, whole, n_most, strict=True)
        ]

    def _refit(
        self,
        fitted: list[MemberFit],
        n_copies: list[int],
        training: TrainingSet,
        clock: Clock,
        journal: Journal | None,
    ) -> list[list[BaseEstimator]]:
        clock.release()
        room = self._room(training, n_models=1)
        with (
            running.runner_of(self._kind_of_runner(), room.n_at_once(self.n_jobs)) as run,
            running.Work("models", type(self).__name__, sum(n_copies), verbose=int(self.verbose)) as work,
            without_convergence_warnings(),
        ):
            return Refits(training, run, work, clock, room, journal).models_of(fitted, n_copies)

    def _members(self, training: TrainingSet, folds: list[Fold]) -> list[Member]:
        """Return the members to try, with parameters for the size of the table."""
        if not training.is_open:
            tree: Any = DecisionTreeClassifier
            return [Member("tree", tree(max_depth=1))]
        size = Size.of(training, folds)
        usual = portfolio(size, self.preset)
        return members_of(self.estimators, size, usual)

    def _n_models(self, training: TrainingSet) -> int:
        """Estimate how many models of a member are kept. A splitter counts as the default folds."""
        n_folds = self._n_folds(training)
        return USUAL_FOLDS if n_folds is None else n_folds * min(self._n_repeats(training), REPEATS_IN_TIME)

    def _honest_votes(
        self, fitted: list[MemberFit], training: TrainingSet, folds: list[Fold], clock: Clock
    ) -> tuple[HonestVotes | None, list[Calibration | None]]:
        """Return the honest votes and the calibrations of scores, without which members cannot vote."""

        def collect() -> tuple[HonestVotes | None, list[Calibration | None]]:
            honest = honest_of(fitted, training, folds)
            return honest, calibrate(CALIBRATION, fitted, honest)

        return clock.finish(collect, collect, " while votes were calibrated")

    def _fit_rule_in_time(self, rule: Rule, honest: HonestVotes, training: TrainingSet, clock: Clock) -> None:
        """Fit the rule in the remaining time; at Ctrl-C the mean decides, which needs no fit."""
        again = repr(self.rule) if isinstance(self.rule, str) and self.rule != AUTO else "a rule"
        clock.finish(
            lambda: self._fit_rule_or_mean(
                with_time_limit(rule, clock.left_for_rule()), honest, training, clock
            ),
            lambda: self._fit_rule(self._with_costs(rule_named("mean"), training.task), None),
            " while the rule was fitted",
            f", and the mean decides. recombine({again}) fits the rule",
        )

    def _fit_rule_or_mean(self, rule: Rule, honest: HonestVotes, training: TrainingSet, clock: Clock) -> None:
        """Fit the rule, or the mean if there are too few votes for the rule."""
        used = honest
        rule = self._with_costs(rule, training.task)
        try:
            if clock.limit is None or rule._looks_at_X():
                self._fit_rule(rule, training.X)
                return
            # Rules have few parameters, so a sample of the rows is enough if time is short.
            used = sampled(honest, votes_in(clock.left_for_rule()))
            with one_blas_thread():
                self.rule_ = used.fit_rule(rule)
        except NoValueError as error:
            warn_of_mean("The rule cannot be fitted", used, error, stacklevel=9)
            self._fit_rule(self._with_costs(rule_named("mean"), training.task), None)

    def _every_repeat(self, training: TrainingSet, rng: np.random.Generator) -> Sequence[list[Fold]]:
        """Return the folds of all possible repeats."""
        if not training.is_open:
            return [[]]
        n_folds = self._n_folds(training)
        if n_folds is None:
            return [training.folds(self.cv)]
        repeats = Repeats.drawn(n_folds, training, most_repeats(training), rng)
        if is_integer(self.cv) and len(repeats[0]) < n_folds:
            what = "groups" if training.groups is not None else "rows"
            few = f"{what} of a class" if training.are_classes else what
            warnings.warn(
                f"cv={n_folds} is more than the number of {few}, so there are {len(repeats[0])} folds.",
                UserWarning,
                stacklevel=4,
            )
        return repeats

    def _n_folds(self, training: TrainingSet) -> int | None:
        """Return the number of folds; None if `cv` is a splitter or an iterable."""
        if is_integer(self.cv):
            return int(self.cv)
        if not isinstance(self.cv, str):
            return None
        # A run that is resumed with another limit needs the same folds.
        limit = self.time_limit if self.run_folder is None else None
        few = FEW_ROWS if limit is None else FEW_ROWS_IN_A_SECOND * float(limit)
        return MANY_FOLDS if self.preset != "fast" and len(training.rows) <= few else USUAL_FOLDS

    def _n_repeats(self, training: TrainingSet) -> int:
        """Return the number of repeats of the folds, if there is time."""
        if self.time_limit is not None and self.preset != "fast":
            return most_repeats(training)
        n_repeats: int = PRESETS[self.preset][1]
        return n_repeats

    def _journal(
        self, members: list[Member], training: TrainingSet, every: Sequence[list[Fold]]
    ) -> Journal | None:
        """Open the journal of a run, which may be resumed with another time limit."""
        if self.run_folder is None or not training.is_open:
            return None
        journal = Journal(self.run_folder, training, [fold for folds in every for fold in folds])
        for member in members:
            journal.check(member)
        return journal

    def _fit_members(
        self,
        members: list[Member],
        training: TrainingSet,
        repeats: Sequence[list[Fold]],
        clock: Clock,
        journal: Journal | None,
        calls: TaskCalls | None,
    ) -> tuple[list[MemberFit], tuple[SkippedMember, ...]]:
        kind = self._kind_of_runner()
        n_total = len(members) * n_folds_of(repeats)
        is_limit, verbose = self.time_limit is not None, int(self.verbose)
        room = self._room(training, self._n_models(training))
        fitted: list[MemberFit] = []
        skipped: tuple[SkippedMember, ...] = ()
        try:
            with (
                running.runner_of(kind, room.n_at_once(self.n_jobs)) as run,
                running.Work(
                    "members", type(self).__name__, len(members), is_limit=is_limit, verbose=verbose
                ) as work,
                without_convergence_warnings(),
            ):
                report = FitReporter(
                    work, training, self.scoring, len(members), len(repeats[0]), n_total, clock, calls
                )
                # Without a time limit all members continue, so the result does not depend on their speed.
                chooses = self.time_limit is not None and training.is_open
                choose_next = partial(members_that_count, training=training) if chooses else None
                schedule = Schedule(
                    members, training, repeats, run, clock, room, report, journal, choose_next
                )
                fitted = schedule.fit_members()
                skipped = schedule.skipped()
                report.end(len(fitted))
        except KeyboardInterrupt:
            # It may also come while the idle workers are stopped.
            if not fitted:
                raise
            clock.stop()
        return fitted, skipped

    def _new_record(
        self,
        training: TrainingSet,
        honest: HonestVotes | None,
        everyone: list[FittedMember],
        n_folds: int,
        skipped: tuple[SkippedMember, ...],
        clock: Clock,
    ) -> FitRecord:
        """Score the committee and all members, also those that it has dropped, and record the fit."""
        board: Leaderboard | None = None
        problem = ""
        if honest is not None and self._honest is not None:
            honest = replace(honest, X=self._honest.X)
            scored = sampled(honest, votes_in(math.inf) if clock.limit is None else QUICK_VOTES)
            names = [each.name for each in everyone]
            places = [names.index(each.name) for each in self._fitted_members]
            known = self._known_of_members()
            has_weights = all(each["weight"] is not None for each in known.values())
            dropped = {"weight": 0.0 if has_weights else None, "n_models": 0}
            known = {each.name: each.known() | dropped for each in everyone} | known

            def score() -> Leaderboard:
                scoring, seed, decided = self._usual_scoring(), self.random_state, None
                if self.rule_ is not None and (scored.X is not None or not self.rule_._looks_at_X()):
                    own = scored.of_members(places)
                    decided = decision_of_rule(self.rule_, own)
                    some = np.sort(np.random.default_rng(0).permutation(own.n_rows)[:N_DRAWN])
                    table = self._read(open_source(take_rows(training.X, own.rows[some])))
                    values = ValueScores.of(table, own.on(some), decided[some])
                    decisions = DecisionSummary.of(own, decided, self.rule_, values)
                    self._summary = FitSummary(self.schema_, decisions=decisions)
                board = leaderboard_of(scored, names, [], scoring, seed, self.rule_, places, decided)
                return board.described(known)

            try:
                board = clock.finish(score, lambda: None, " while the leaderboard was made")
            except ValueError as error:
                # The committee is fitted, so this is not an error.
                problem = " ".join(str(error).split())
        date = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        rows = np.random.default_rng(0).permutation(training.n_rows)[:N_DRAWN]
        drawn = self._read(open_source(take_rows(training.X, rows)))
        hashes = rare_rows(row_hashes([*drawn.columns, training.y[rows]], drawn.n_rows))
        table = TableSummary.of(drawn, training.y[rows], training.task.n_outputs)
        self._summary = replace(self._summary or FitSummary(self.schema_), table=table)
        seconds = round(clock.elapsed(), 3)
        return FitRecord(date, seconds, n_folds, skipped, board, problem, tuple(hashes.tolist()))

    def _room(self, training: TrainingSet, n_models: int) -> Room:
        # Members that are all named are fitted whatever memory is free, unless there is a limit.
        skips = training.is_open and (self.memory_limit is not None or AUTO in named_in(self.estimators))
        limit = self.memory_limit if skips else None
        return Room.of(Size.of(training), n_models, limit, skips)

    def recombine(self, rule: object, X: TableLike | None = None) -> Self:
        """Return the committee with another rule. No member is fitted again.

        Parameters
        ----------
        rule : str, callable or Rule
            A name of `committee.rules`, a function of votes, or a rule. "auto" compares all rules again on
            all honest votes, except those that use the rows.
        X : table, default=None
            The table of the fit, for a rule that uses the rows.

        Returns
        -------
        estimator
            A committee with the same members.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from committee import CommitteeClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> mean = CommitteeClassifier(["linear", "c45"], rule="mean", random_state=0).fit(X, y)
        >>> mean.recombine("auto").rule_
        LogPoolRule()
        """
        if not isinstance(rule, str) or rule != AUTO:
            return super().recombine(rule, X)
        check_is_fitted(self)
        another = copy.copy(self).set_params(rule=AUTO)
        if self.rule_ is None:
            return another
        return another._with_only(list(range(len(self._fitted_members))), X)

    def _another(self, rule: object) -> Self:
        another = copy.copy(self).set_params(rule=rule)  # a generator of folds has no clone
        check_parameters(another)
        return another


@declared
class CommitteeClassifier(Classifies, AutomaticCommittee):
    """The automatic committee for classes: members of many kinds, and the rule that combines them best.

    Boosters, forests, linear models, networks, support vector machines and others are fitted in folds, one
    after the other, within `time_limit`. Members of scikit-learn see the table as a matrix that
    `TableEncoder` makes. Rules are compared by nested cross-validation on the honest votes of the members,
    and the best one decides. The members that the decision needs are then fitted once on all rows.

    Ctrl-C ends a fit as the end of the time does, and keeps the finished members, if there are any. So does a
    callback of scikit-learn, which is notified of every fold.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from committee import CommitteeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> automatic = CommitteeClassifier(["booster", "linear"], random_state=0).fit(X, y)
    >>> list(automatic.named_estimators_)
    ['booster', 'linear']
    >>> automatic.predict(X[:2])
    array([0, 0])
    >>> print(automatic.leaderboard([]).committee.name)
    log_pool
    """


@declared
class CommitteeRegressor(Regresses, AutomaticCommittee):
    """The automatic committee for numbers: members of many kinds, and the rule that combines them best.

    See `CommitteeClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from committee import CommitteeRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> automatic = CommitteeRegressor(["booster", "linear"], random_state=0).fit(X, y)
    >>> automatic.predict(X[:1]).round(-2)
    array([200.])
    """


def most_repeats(training: TrainingSet) -> int:
    """Return the maximum number of repeats of the folds."""
    return MANY_REPEATS_IN_TIME if len(training.rows) <= ROWS_TO_REPEAT else REPEATS_IN_TIME


def members_that_count(fitted: list[MemberFit], training: TrainingSet) -> list[str]:
    """Return the names of the members with weight in the best mixture of honest votes, the largest first."""
    honest = honest_of(fitted, training, [])
    if honest is None:
        return []
    calibrate(CALIBRATION, fitted, honest)
    some = sampled(honest, MOST_TO_MIX)
    mixture = rule_named("stacking").set_params(final_estimator="convex")
    with one_blas_thread():
        weights = mixture.fit(some.votes, some.y, None, some.weights).weights_
    order = np.argsort(-weights, kind="stable")
    return [fitted[place].member.name for place in order if weights[place] >= LEAST_PART]
