"""The one body of all committees: members, honest votes and a rule.

`fit` seats the members (`fitting`) and makes honest votes of the rows that folds hold out, if the rule learns
from them; the rule is then fitted. What a committee of one kind adds is its rule.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np

from committee import running
from committee.assembling.assembled import Assembled
from committee.assembling.calibrating import CALIBRATION, Calibration, Curves
from committee.assembling.committee_parameters import CommitteeParameters
from committee.assembling.fitting import Plan, Seated, n_fits, seat, take_prefit
from committee.assembling.members import Member, members_of
from committee.combining.adjusting import AdjustedRule
from committee.combining.averaging import BayesianAveragingRule
from committee.combining.naming import rule_named
from committee.combining.rule import FixedRule, Rule, check_rule, differ
from committee.learners.callbacks import (
    CallbackSupportMixin,
    TaskCalls,
    task_calls,
    telling,
    with_callbacks,
)
from committee.members.encoding import new_encoder
from committee.members.lesson import Lesson
from committee.members.seeding import generator_of, seeded, seeded_split
from committee.members.seeing import look_at_rows
from committee.members.votes import gives_scores
from committee.parameters import check_parameters, declared
from committee.table.typing import ArrayLike, TableLike
from committee.task import Classification
from committee.votes.arrays import check_member_weights
from committee.votes.folds import N_FOLDS, Fold, bags_will_do, split_print
from committee.votes.honest import HonestVotes

# The rules with a number for each member, and the name of this parameter.
GIVEN_FOR_MEMBERS: dict[type[Rule], str] = {FixedRule: "weights", BayesianAveragingRule: "prior"}


@declared
class Committee(CallbackSupportMixin, CommitteeParameters, Assembled):
    """Members of any kind, and a rule that decides by their votes."""

    @with_callbacks
    def fit(
        self,
        X: TableLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Fit the members and the rule.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            numpy, scipy sparse, pandas, polars or Arrow. Members get it as it is, sparse matrices dense.
        y : array-like of shape (n_rows,)
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows, for the members that take them and for the rule. Rows of weight 0 take no
            part.
        groups : array-like of shape (n_rows,), default=None
            Rows of one group are held out together, if `cv` is an integer or a splitter that takes groups.

        Returns
        -------
        self
        """
        check_parameters(self)
        self._check_names()
        lesson = Lesson.of(self._task_type, X, y, sample_weight, groups)
        members = members_of(self.estimators, self.columns, lesson.schema, lesson.are_classes)
        rng = generator_of(self.random_state)
        rule = seeded(self._new_rule(), rng)
        if lesson.is_open:
            check_rule(rule, len(members), lesson.task, is_weighted=differ(lesson.weights))
            self._check_calibrate(rule, lesson)
        if isinstance(self.cv, str):
            calls = task_calls(self, X, y, "member", len(members))
            folds: list[Fold] = []
            as_scores = self._calibration() is not None
            seated = take_prefit(members, lesson, as_scores, on_error=self.on_error)
            if calls:
                calls.tell(len(members))
        else:
            members = [replace(each, estimator=seeded(each.estimator, rng)) for each in members]
            folds = self._folds(lesson, rule, rng)
            plan = self._plan(lesson, folds)
            calls = task_calls(self, X, y, plan.what, n_fits(members, lesson, plan))
            seated = self._seat(members, lesson, plan, calls)
        rule = for_seated(rule, members, seated)
        honest = honest_of(seated, lesson, folds)
        calibrations = calibrate(self._calibration(), seated, honest)
        encoder = None
        if honest is not None:
            if rule._looks_at_X():
                encoder, honest = look_at_rows(honest, lesson.X)
            honest.teach(rule)
        elif lesson.is_open and rule._looks_at_X():
            encoder = new_encoder().fit(lesson.X, sample_weight=lesson.weights)
        self._keep_members(lesson, seated, calibrations)
        self._honest, self._encoder = honest, encoder
        self.rule_ = rule if lesson.is_open else None
        if calls:
            calls.end(lambda: self.__dict__)
        return self

    def _new_rule(self) -> Rule:
        """Make the rule of this committee, not fitted."""
        raise NotImplementedError

    def _rule_with(self, rule: str, *names: str) -> Rule:
        """Make the rule of a name, with some of the committee's parameters."""
        return rule_named(rule).set_params(**{name: getattr(self, name) for name in names})

    def _calibration(self) -> str | None:
        """Return the method of calibration; members by default are calibrated as in the CAWPE paper."""
        return CALIBRATION if self.estimators is None and self.calibrate is None else self.calibrate

    def _check_calibrate(self, rule: Rule, lesson: Lesson) -> None:
        """Raise if scores are to be calibrated, and there is nothing to do it by."""
        if self.calibrate is None:
            return
        if not lesson.are_classes:
            raise ValueError(
                f"calibrate={self.calibrate!r} makes probabilities, and numbers need none. Set it to None."
            )
        if self.cv is None and not rule.needs_fit:
            raise ValueError(
                f"calibrate={self.calibrate!r} learns from honest votes, and there are none with cv=None. "
                "Set cv=5, or calibrate=None."
            )

    def _folds(self, lesson: Lesson, rule: Rule, rng: np.random.Generator) -> list[Fold]:
        cv = N_FOLDS if self.cv is None and rule.needs_fit else seeded_split(self.cv, rng)
        return [] if cv is None or not lesson.is_open else lesson.folds(cv)

    def _plan(self, lesson: Lesson, folds: list[Fold]) -> Plan:
        cv = N_FOLDS if self.cv is None else self.cv
        uses_bags = bool(self.out_of_bag) and bags_will_do(cv, lesson.groups)
        return Plan(folds, bool(self.refit), uses_bags, as_scores=self._calibration() is not None)

    def _seat(
        self, members: list[Member], lesson: Lesson, plan: Plan, calls: TaskCalls | None
    ) -> list[Seated]:
        n_total, name = n_fits(members, lesson, plan), type(self).__name__
        with (
            running.runner_of(self.runner, self.n_jobs) as run,
            running.Work(f"{plan.what}s", name, n_total, verbose=int(self.verbose)) as work,
        ):
            # Folds that are left out would leave rows without votes: a callback cannot end the fit.
            return seat(members, lesson, plan, run, on_error=self.on_error, tell=telling(work, calls))

    def _another(self, rule: object) -> Assembled:
        from committee.assembling.voting import VotingClassifier, VotingRegressor

        made: Any = VotingClassifier if self._task_type is Classification else VotingRegressor
        shared = made().get_params(deep=False).keys() & self.get_params(deep=False).keys()
        another = made(**{name: getattr(self, name) for name in shared - {"rule", "weights"}})
        another.rule = rule
        check_parameters(another)
        return another


def for_seated(rule: Rule, members: list[Member], seated: list[Seated]) -> Rule:
    """Give a rule the weights or priors of those members alone that were fitted."""
    names = [each.name for each in members]
    return for_places(rule, len(members), [names.index(each.member.name) for each in seated])


def for_places(rule: Rule, n_members: int, places: list[int]) -> Rule:
    """Give a rule the weights or priors of the members at some places alone."""
    if len(places) == n_members:
        return rule
    inner = rule
    while isinstance(inner, AdjustedRule) and isinstance(inner.rule, Rule):
        inner = inner.rule
    for kind, name in GIVEN_FOR_MEMBERS.items():
        told = getattr(inner, name) if isinstance(inner, kind) else None
        if told is not None:
            staying = check_member_weights(told, n_members, name)[places]
            inner.set_params(**{name: check_member_weights(staying, len(places), name)})
    return rule


def honest_of(seated: list[Seated], lesson: Lesson, folds: list[Fold]) -> HonestVotes | None:
    """Return the honest votes of members that were fitted in folds, in bags or elsewhere."""
    if not lesson.is_open or not all(each.held_out for each in seated):
        return None
    cast = [each.held_out for each in seated]
    honest = HonestVotes.of_models(cast, lesson.task, lesson.y, lesson.weights, lesson.groups)
    split = split_print(folds, lesson.groups) if folds else ""
    return replace(honest, table=lesson.table, split=split)


def calibrate(
    method: str | None, seated: list[Seated], honest: HonestVotes | None
) -> list[Calibration | None]:
    """Calibrate each member that votes by scores; its honest scores become honest votes."""
    found: list[Calibration | None] = [None] * len(seated)
    if honest is None or method is None or honest.votes.shape[2] == 1:
        return found
    for place, each in enumerate(seated):
        if gives_scores(each.member.estimator):
            curves = Curves.of(method, honest, place, [rows for rows, _ in each.held_out])
            honest.votes[place] = curves.honest_votes(honest.votes[place], honest.rows)
            found[place] = curves.whole
    return found
