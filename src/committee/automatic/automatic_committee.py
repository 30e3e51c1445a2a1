"""The automatic committee: the best members and the best rule that time allows.

`fit` takes members from the portfolio, fits them fold by fold while there is time (`schedule`), and
compares rules on their honest votes: the usual one decides unless another is surely better (`rule_choice`).
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Sequence
from functools import partial
from typing import Any, Self, overload

import numpy as np
from sklearn.utils.validation import check_is_fitted

from committee import running
from committee.assembling.calibration import CALIBRATION, Calibration
from committee.assembling.committee import calibrate, for_fitted, honest_of
from committee.assembling.member_fits import MemberFit
from committee.assembling.named_members import Member, seeded_by_name
from committee.automatic.automatic_parameters import AUTO, PRESETS
from committee.automatic.journal import Journal
from committee.automatic.limits import Clock, Room
from committee.automatic.portfolio import Size, as_many_steps_as_told, members_of, named_in, portfolio
from committee.automatic.reduction import Reducing
from committee.automatic.rule_choice import (
    check_judges,
    fewer,
    in_time,
    seconds_for,
    votes_in,
)
from committee.automatic.schedule import Telling, fit_in_time
from committee.combining.rule import Rule, check_rule, differ
from committee.combining.rule_registry import as_rule, rule_named
from committee.learners import DecisionTreeClassifier
from committee.learners.fit_session import CallbackSupportMixin, TaskCalls, task_calls, with_callbacks
from committee.learners.voter import Classifies, Regresses
from committee.members.seeds import LARGEST_SEED, generator_of, seeded
from committee.members.training_set import TrainingSet
from committee.metrics.row_losses import NoValueError
from committee.parameters import check_parameters, declared, is_integer
from committee.running.resources import one_blas_thread
from committee.saving import saved
from committee.table.input_types import ArrayLike, TableLike
from committee.task import Classification
from committee.votes.folds import Fold, drawn_folds
from committee.votes.honest_votes import HonestVotes

LARGEST_SMALL = np.iinfo(np.int32).max
MOST_REPEATS = 16
# Folds are repeated so often while there is time left, more often in tables of at most so many rows. Those
# members that count go on, who have about as many models as all would have in the first number of repeats.
REPEATS_IN_TIME, MANY_REPEATS_IN_TIME, ROWS_TO_REPEAT = 4, MOST_REPEATS, 50_000
# Folds are repeated for the members that have such a part in the mixture of votes, found on so many votes.
LEAST_PART, MOST_TO_MIX = 0.01, 500_000
# Folds of cv="auto": many of small tables, of at most so many rows, or so many for each second of time.
USUAL_FOLDS, MANY_FOLDS = 5, 8
FEW_ROWS, FEW_ROWS_IN_A_SECOND = 4_000, 150


class Repeats(Sequence[list[Fold]]):
    """Folds of the rows that count, in a random order, again and again.

    They take as much memory as some columns, so only those that were asked for last are kept.

    Parameters
    ----------
    n_folds : int
    training : TrainingSet
    seeds : ndarray of int
        One for each time.
    """

    def __init__(self, n_folds: int, training: TrainingSet, seeds: np.ndarray) -> None:
        self._n_asked, self._training, self._seeds = n_folds, training, seeds
        self._last: tuple[int, list[Fold]] | None = None

    @classmethod
    def drawn(cls, n_folds: int, training: TrainingSet, n_repeats: int, rng: np.random.Generator) -> Self:
        """So many repeats. What is drawn from the generator does not depend on how many."""
        return cls(n_folds, training, rng.integers(LARGEST_SEED, size=MOST_REPEATS)[:n_repeats])

    def first(self, n_repeats: int) -> Self:
        """The first so many of them."""
        return type(self)(self._n_asked, self._training, self._seeds[:n_repeats])

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
            self._last = None  # before the next ones are drawn
            training, rng = self._training, np.random.default_rng(self._seeds[number])
            # Folds are kept in as few bytes as their rows need.
            rows = training.rows.astype(np.int32) if training.n_rows <= LARGEST_SMALL else training.rows
            folds = drawn_folds(
                self._n_asked, rows, training.y, training.groups, rng, is_class_task=training.are_classes
            )
            self._last = number, folds
        return self._last[1]


def n_folds_of(repeats: Sequence[list[Fold]]) -> int:
    """How often each member is fitted: once if nothing is held out."""
    return max(1, len(repeats) * len(repeats[0]))


@declared
class AutomaticCommittee(CallbackSupportMixin, Reducing):
    """Members and a rule that are found for a table."""

    @with_callbacks
    def fit(
        self,
        X: TableLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Fit members while there is time, and find the rule that decides by their honest votes.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            numpy, scipy sparse, pandas, polars or Arrow.
        y : array-like of shape (n_rows,)
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows, for the members that take them and for the rule. Rows of weight 0 take no
            part.
        groups : array-like of shape (n_rows,), default=None
            Rows of one group are held out together, unless `cv` is a splitter that takes none.

        Returns
        -------
        self
            Ctrl-C ends the fit as the end of the time does: with what is finished, if there is anything. A
            callback of scikit-learn, which is told of every fold, may end it too.
        """
        check_parameters(self)
        if self.run_folder is not None and not is_integer(self.random_state):
            raise ValueError(
                f"A resumed run must draw the same folds: run_folder={self.run_folder!r} needs an integer "
                f"random_state. Got {self.random_state!r}."
            )
        if self.tune_threshold and self._task_type is not Classification:
            raise ValueError("tune_threshold is for classes, and numbers have no threshold. Leave it out.")
        clock = Clock(None if self.time_limit is None else float(self.time_limit))
        training = TrainingSet.of(self._task_type, X, y, sample_weight, groups)
        rng = generator_of(self.random_state)
        members = self._members(training)
        rule = None if self._finds_rule() else self._adjusted(seeded(as_rule(self.rule), rng))
        if training.is_open:
            check_judges(self.scoring, training)
            if rule is not None:
                check_rule(rule, len(members), training.task, is_weighted=differ(training.weights))
        clock.keep_for_rule(seconds_for(len(members) * len(training.rows) * training.task.n_outputs))
        every = self._every_repeat(training, rng)
        repeats = every.first(self._n_repeats(training)) if isinstance(every, Repeats) else every
        seed = int(rng.integers(LARGEST_SEED))
        members = [seeded_by_name(each, seed) for each in members]
        calls = task_calls(self, X, y, "fold", len(members) * n_folds_of(repeats))
        journal = self._journal(members, training, every)
        fitted = self._fit_members(members, training, repeats, clock, journal, calls)
        rule = None if rule is None else for_fitted(rule, members, fitted)
        # What is done in some time is not known by its folds.
        folds = [] if self.time_limit is not None else [fold for each in repeats for fold in each]
        honest, calibrations = self._honest_votes(fitted, training, folds, clock)
        if rule is None and honest is not None:
            rule = self._choice().best_in_time(honest, training, self.preset, clock)
        self._keep_members(training, fitted, calibrations)
        self._origin = None
        self._honest, self._encoder, self.rule_ = honest, None, None
        if rule is not None and honest is not None:
            self._let_learn(rule, honest, training, clock)
        if calls:
            calls.end(lambda: self.__dict__)
        return self

    def _members(self, training: TrainingSet) -> list[Member]:
        """The members that may sit, with parameters for the size of the table."""
        if not training.is_open:
            tree: Any = DecisionTreeClassifier
            return [Member("tree", tree(max_depth=1))]
        size = Size.of(training)
        usual = portfolio(size, self.preset, has_limit=self.time_limit is not None)
        return members_of(self.estimators, size, usual)

    def _n_models(self, training: TrainingSet) -> int:
        """How many models of a member are kept, about; a splitter is taken for the usual one."""
        n_folds = self._n_folds(training)
        return USUAL_FOLDS if n_folds is None else n_folds * min(self._n_repeats(training), REPEATS_IN_TIME)

    def _honest_votes(
        self, fitted: list[MemberFit], training: TrainingSet, folds: list[Fold], clock: Clock
    ) -> tuple[HonestVotes | None, list[Calibration | None]]:
        """The honest votes, and the calibrations of scores, without which nobody can vote."""

        def collect() -> tuple[HonestVotes | None, list[Calibration | None]]:
            honest = honest_of(fitted, training, folds)
            return honest, calibrate(CALIBRATION, fitted, honest)

        return clock.finish(collect, collect, " while votes were calibrated")

    def _let_learn(self, rule: Rule, honest: HonestVotes, training: TrainingSet, clock: Clock) -> None:
        """Fit the rule in the time that is left; at Ctrl-C the mean decides, which learns nothing."""
        again = repr(self.rule) if isinstance(self.rule, str) and self.rule != AUTO else "a rule"
        clock.finish(
            lambda: self._teach(in_time(rule, clock.left_for_rule()), honest, training, clock),
            lambda: self._fit_rule(rule_named("mean"), None),
            " while the rule learnt",
            f", and the mean decides. recombine({again}) lets the rule learn",
        )

    def _teach(self, rule: Rule, honest: HonestVotes, training: TrainingSet, clock: Clock) -> None:
        """Fit the rule, or the mean if the rule can learn nothing from so few votes."""
        learnt = honest
        try:
            if clock.limit is None or rule._looks_at_X():
                self._fit_rule(rule, training.X)
                return
            # A rule has little to learn, which it can learn from fewer rows if it must be quick.
            learnt = fewer(honest, votes_in(clock.left_for_rule()))
            with one_blas_thread():
                self.rule_ = learnt.teach(rule)
        except NoValueError as error:
            warnings.warn(
                f"The rule cannot learn from {len(learnt.rows)} rows with votes, so the mean decides: "
                f"{' '.join(str(error).split())}",
                RuntimeWarning,
                stacklevel=6,
            )
            self._fit_rule(rule_named("mean"), None)

    def _every_repeat(self, training: TrainingSet, rng: np.random.Generator) -> Sequence[list[Fold]]:
        """The folds, as often as they may be repeated at most."""
        if not training.is_open:
            return [[]]
        n_folds = self._n_folds(training)
        if n_folds is None:
            given = training.folds(self.cv)
            return [given]
        repeats = Repeats.drawn(n_folds, training, most_repeats(training), rng)
        if is_integer(self.cv) and len(repeats[0]) < n_folds:
            what = "groups" if training.groups is not None else "rows"
            few = f"{what} of a class" if training.are_classes else what
            warnings.warn(
                f"cv={n_folds} is more folds than there are {few}: there are {len(repeats[0])}.",
                UserWarning,
                stacklevel=4,
            )
        return repeats

    def _n_folds(self, training: TrainingSet) -> int | None:
        """Into how many folds the rows are parted; None if `cv` says it by itself."""
        if is_integer(self.cv):
            return int(self.cv)
        if not isinstance(self.cv, str):
            return None
        # A run that goes on with another limit needs the same folds.
        limit = self.time_limit if self.run_folder is None else None
        few = FEW_ROWS if limit is None else FEW_ROWS_IN_A_SECOND * float(limit)
        return MANY_FOLDS if self.preset != "fast" and len(training.rows) <= few else USUAL_FOLDS

    def _n_repeats(self, training: TrainingSet) -> int:
        """How often the rows are parted into folds, if there is time."""
        if self.time_limit is not None and self.preset != "fast":
            return most_repeats(training)
        n_repeats: int = PRESETS[self.preset][1]
        return n_repeats

    def _journal(
        self, members: list[Member], training: TrainingSet, every: Sequence[list[Fold]]
    ) -> Journal | None:
        """The journal of the run, if there is one, which may go on with another limit of time, or without."""
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
    ) -> list[MemberFit]:
        kind = self._kind_of_runner()
        n_total = len(members) * n_folds_of(repeats)
        is_limit, verbose = self.time_limit is not None, int(self.verbose)
        # Members that all are named are fitted whatever is free, but a limit holds for them too.
        minds_memory = training.is_open and (
            self.memory_limit is not None or AUTO in named_in(self.estimators)
        )
        limit = self.memory_limit if minds_memory else None
        room = Room.of(Size.of(training), self._n_models(training), limit, minds_memory)
        fitted: list[MemberFit] = []
        try:
            with (
                running.runner_of(kind, room.n_at_once(self.n_jobs)) as run,
                running.Work(
                    "folds", type(self).__name__, n_total, is_limit=is_limit, verbose=verbose
                ) as work,
                as_many_steps_as_told(),
            ):
                tell = Telling(work, training, self.scoring, len(repeats[0]), clock, calls)
                # Without a limit everybody goes on: what is done does not depend on who was finished when.
                chooses = self.time_limit is not None and training.is_open
                who_goes_on = partial(who_counts, training=training) if chooses else None
                fitted = fit_in_time(members, training, repeats, run, clock, room, tell, journal, who_goes_on)
        except KeyboardInterrupt:
            # It may also come while the workers, who have nothing left to do that counts, are sent home.
            if not fitted:
                raise
            clock.stop()
        return fitted

    def recombine(self, rule: object, X: TableLike | None = None) -> Self:
        """The committee with another rule: no member is fitted again.

        Parameters
        ----------
        rule : str, callable or Rule
            A name of `committee.rules`, a function of votes, or a rule. "auto" compares rules again, on all
            honest votes, but for those that look at the rows.
        X : table, default=None
            The table of the fit, for a rule that looks at the rows.

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
        return (
            another if self.rule_ is None else another._with_only(list(range(len(self._fitted_members))), X)
        )

    def _another(self, rule: object) -> Self:
        another = copy.copy(self).set_params(rule=rule)  # a generator of folds has no clone
        check_parameters(another)
        return another


@saved
@declared
class CommitteeClassifier(Classifies, AutomaticCommittee):
    """The automatic committee for classes: members of many kinds, and the rule that combines them best.

    Our boosters and forests, and linear models, networks, support vector machines and others of scikit-learn
    that see categories and missing values as `TableEncoder` makes them numbers, are fitted in folds, one
    after the other, for as long as `time_limit` allows. The models of the folds stay, and a rule decides that
    was found by nested comparison on their honest votes.

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
    >>> automatic.leaderboard([])[0].name
    'booster'
    """


@saved
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
    """How often the rows are parted into folds at most."""
    return MANY_REPEATS_IN_TIME if len(training.rows) <= ROWS_TO_REPEAT else REPEATS_IN_TIME


def who_counts(fitted: list[MemberFit], training: TrainingSet) -> list[str]:
    """The names of the members that have a part in the best mixture of honest votes, the largest first."""
    honest = honest_of(fitted, training, [])
    if honest is None:
        return []
    calibrate(CALIBRATION, fitted, honest)
    some = fewer(honest, MOST_TO_MIX)
    mixture = rule_named("stacking").set_params(final_estimator="convex")
    with one_blas_thread():
        weights = mixture.fit(some.votes, some.y, None, some.weights).weights_
    order = np.argsort(-weights, kind="stable")
    return [fitted[place].member.name for place in order if weights[place] >= LEAST_PART]
