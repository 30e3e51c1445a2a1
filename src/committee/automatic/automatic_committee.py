"""The automatic committee: the best members and the best rule within the time limit.

`fit` takes members from the portfolio and fits them fold by fold until the time ends (`schedule`). It then
compares rules on their honest votes and chooses one (`rule_choice`). At the end it drops the members that the
decision does not need (`compaction`) and fits the others on all rows (`refits`).
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from committee import running
from committee.assembling.calibration import CALIBRATION
from committee.assembling.committee import calibrate, for_fitted, for_places, honest_of
from committee.assembling.fit_record import SkippedMember
from committee.assembling.member_fits import MemberFit
from committee.assembling.named_members import Member, seeded_by_name
from committee.automatic.automatic_parameters import AUTO, PRESETS
from committee.automatic.compaction import (
    BUDGETS,
    TOLERATED,
    costs_of,
    members_that_decide,
    members_within,
    models_within,
    rounded,
)
from committee.automatic.journal import Journal
from committee.automatic.limits import Clock
from committee.automatic.portfolio import Size, members_of, portfolio, without_convergence_warnings
from committee.automatic.recorded_fit import recorded_fit
from committee.automatic.reduction import Reducing
from committee.automatic.repeats import REPEATS_IN_TIME, Repeats, most_repeats, n_folds_of
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
from committee.task import Classification
from committee.votes.folds import Fold
from committee.votes.honest_votes import HonestVotes

# The least weight in a mixture of the members with which a member continues, and the votes to find it on.
LEAST_PART, MOST_TO_MIX = 0.01, 500_000
# The folds of cv="auto": more in tables of at most FEW_ROWS rows, or FEW_ROWS_IN_A_SECOND with a time limit.
USUAL_FOLDS, MANY_FOLDS = 5, 8
FEW_ROWS, FEW_ROWS_IN_A_SECOND = 4_000, 150


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
        self._record, self._summary = recorded_fit(
            self, training, honest, everyone, len(repeats[0]), skipped, clock
        )
        return calls

    def _compact(
        self,
        fitted: list[MemberFit],
        honest: HonestVotes,
        training: TrainingSet,
        clock: Clock,
        journal: Journal | None,
    ) -> None:
        """Drop members that the decision does not need, fit the others on all rows, and round networks."""
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
        whole: list[BaseEstimator | None] = [None for _ in places]
        if not clock.is_stopped:
            whole = self._refit([fitted[place] for place in places], training, clock, journal)
        n_models = models_within(limits, costs, [each.learner for each in members])
        # Without time for a fit on all rows, a member keeps as many fold models as its share allows.
        shares = np.array(limits)[1:, None] / len(places) / costs[1:]
        n_most = np.maximum(1, shares.min(axis=0).astype(int)).tolist()
        kept = [
            member.models[:most] if model is None else [model, *member.models[: n - 1]]
            for member, model, n, most in zip(members, whole, n_models, n_most, strict=True)
        ]
        self._fitted_members = [
            rounded(replace(member, models=models), training)
            for member, models in zip(members, kept, strict=True)
        ]

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
