"""The one body of all committees: their parameters, members, honest votes and a rule.

`fit` fits the members (`member_fits`) and makes honest votes of the rows that folds hold out, if the rule
learns from them; the rule is then fitted. What a committee of one kind adds is its rule.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from committee import running
from committee.assembling.calibration import CALIBRATION, METHODS, Calibration, Curves
from committee.assembling.fitted_committee import Assembled
from committee.assembling.member_fits import MemberFit, Plan, fit_members, n_fits, take_prefit
from committee.assembling.named_members import Member, members_of
from committee.combining.adjusted_rule import AdjustedRule
from committee.combining.bayesian_rules import BayesianAveragingRule
from committee.combining.rule import FixedRule, Rule, check_rule, differ
from committee.learners.fit_session import TaskCalls, reporter
from committee.learners.tree_parameters import N_JOBS
from committee.members.member_view import look_at_rows
from committee.members.member_votes import gives_scores
from committee.members.seeds import generator_of, seeded, seeded_split
from committee.members.table_encoder import new_encoder
from committee.members.training_set import TrainingSet
from committee.parameters import (
    RANDOM_STATE,
    Constraint,
    Declaration,
    boolean,
    check_parameters,
    declared,
    either,
    integer,
    is_boolean,
    is_integer,
    one_of,
    parameter,
)
from committee.table.input_types import RandomState
from committee.task import Classification
from committee.votes.folds import N_FOLDS, Fold, bags_will_do, split_print
from committee.votes.honest_votes import HonestVotes
from committee.votes.vote_arrays import check_member_weights

RUNNER: Declaration = (
    either(
        one_of("serial", "threads", "processes"),
        Constraint("a Runner", lambda value: isinstance(value, running.Runner)),
    ),
    "Where fits run. It changes nothing but the time.",
)
FITS_AT_ONCE: Declaration = (
    N_JOBS[0],
    "How many fits run at the same time, which changes nothing but the time. None and -1 are as many as "
    "there are cores (None is one in scikit-learn), -2 is one fewer.",
)
VERBOSE: Declaration = (
    either(integer(0), Constraint("a boolean", is_boolean)),
    "Whether to show how many fits are done.",
)
# The rules with a number for each member, and the name of this parameter.
GIVEN_FOR_MEMBERS: dict[type[Rule], str] = {FixedRule: "weights", BayesianAveragingRule: "prior"}


def is_cv(value: object) -> bool:
    """Return whether a value can say which rows are held out."""
    if isinstance(value, str):
        return value == "prefit"
    if is_integer(value):
        return integer(2)(value)
    return value is None or hasattr(value, "split") or np.iterable(value)


def parameter_of(rule: type[Rule], name: str) -> Any:
    """Declare a parameter of a committee as its rule declares it."""
    field, declaration = next(each for each in rule._declarations if each[0].name == name)
    return parameter(field.default, **declaration)


@declared
class CommitteeParameters(BaseEstimator):
    """The parameters of a committee, members among them, as in `set_params(tree__max_depth=3)`."""

    estimators: list[tuple[str, BaseEstimator]] | None = parameter(
        None,
        Constraint("a list of (name, estimator) pairs, or None"),
        "The members. None is a linear model, a tree (C4.5 for classes), a linear support vector machine, "
        "nearest neighbours and a perceptron, which see categories and missing values as `TableEncoder` "
        "makes them numbers: the five kinds of the CAWPE paper. A classifier that refuses the labels of y "
        "sees them as the numbers 0, 1, 2 and so on (`NumberedLabels`). Where the rows of a fit are of one "
        "class, scikit-learn's `DummyClassifier` votes for it, unless the member is from committee itself.",
        kw_only=False,
    )
    cv: object = parameter(
        5,
        Constraint('an integer >= 2, a splitter, an iterable of (train, test) rows, "prefit" or None', is_cv),
        "Which rows are held out together, for honest votes. An integer makes so many folds, stratified for "
        "classes and no more than the largest of them has rows, and keeps `groups` together; repeated folds "
        "are averaged; rows that no fold holds out, as the first ones in time order, are left out of the fit "
        'of the rule; a class that a fold lacks gets no votes there. "prefit": the estimators are fitted, '
        "and vote on the rows that they are given with: these votes are honest only if the members have not "
        "learnt from these rows; a committee that is cloned needs them in `FrozenEstimator`. None: no honest "
        "votes, unless the rule learns from them; then 5 folds.",
    )
    refit: bool = parameter(
        True,
        boolean,
        "Whether members are fitted on all rows after the folds. If not, the models of the folds stay, and a "
        "member's vote is the mean of theirs.",
    )
    out_of_bag: bool = parameter(
        True,
        boolean,
        "Whether forests and bagging of ours with `bootstrap=True` vote out of bag, in their one fit, "
        "instead of being cross-validated. That is so where `cv` is an integer and there are no groups; "
        "bagging must have the rule mean or majority.",
    )
    columns: Mapping[str, Sequence[str | int]] | None = parameter(
        None,
        Constraint("a dict from names of members to lists of columns, or None"),
        "Which columns members see, by name or position. Members that are not named see all.",
    )
    calibrate: str | None = parameter(
        None,
        Constraint('"isotonic", "sigmoid", "temperature" or None', one_of(None, *METHODS)),
        "How a member that has a `decision_function` and no `predict_proba` gets probabilities: by a curve "
        "that is fitted on its honest scores, so `cv` must ask for honest votes. These themselves are "
        "calibrated by curves of the other folds, so that none of them knows the answer. Scores of pairs of "
        'classes, as those of SVC(decision_function_shape="ovo"), are left aside: the class that is '
        "predicted has the score 1, the others 0. With None it casts crisp votes, as members with neither "
        "do; the machine among the members of `estimators=None` is calibrated by a sigmoid wherever there "
        "are honest votes.",
    )
    on_error: str = parameter(
        "raise",
        one_of("raise", "drop"),
        'What happens when the fit of a member fails or, with "prefit", its vote: an error, or the member is '
        "dropped with a warning, and with it its weight or prior. Both name the member and the fold.",
    )
    runner: str | running.Runner = parameter("threads", *RUNNER)
    n_jobs: int | None = parameter(None, *FITS_AT_ONCE)
    random_state: RandomState = parameter(
        None,
        RANDOM_STATE,
        "Draws every `random_state` of members, rule and the splitter `cv` that is None. An integer makes "
        "fits repeatable.",
    )
    verbose: int = parameter(0, *VERBOSE)

    def get_params(self, deep: bool = True) -> dict[str, object]:
        """Return the parameters, and those of the members by name.

        Parameters
        ----------
        deep : bool, default=True
            Whether to look into the members.

        Returns
        -------
        dict of str to object
        """
        found: dict[str, object] = super().get_params(deep)
        if deep:
            for name, estimator in self._pairs():
                found[name] = estimator
                if hasattr(estimator, "get_params"):
                    found |= {f"{name}__{key}": each for key, each in estimator.get_params().items()}
        return found

    def set_params(self, **params: Any) -> Self:
        """Set parameters, members by their names, and parameters of members.

        Parameters
        ----------
        **params : dict
            `cv=10`, `tree=DecisionTreeClassifier()` or `tree__max_depth=3`.

        Returns
        -------
        self
        """
        if "estimators" in params:
            self.estimators = params.pop("estimators")
        pairs = self._pairs()
        names = [name for name, _ in pairs]
        replaced = {name: params.pop(name) for name in names if name in params}
        if replaced:
            self.estimators = [(name, replaced.get(name, estimator)) for name, estimator in pairs]
        super().set_params(**params)
        return self

    def _pairs(self) -> list[tuple[str, BaseEstimator]]:
        """Return the members that can be set by name: those that are not named like a parameter."""
        given = self.estimators if isinstance(self.estimators, list | tuple) else []
        return [
            (pair[0], pair[1])
            for pair in given
            if isinstance(pair, tuple | list) and len(pair) == 2 and isinstance(pair[0], str)
            if not self._is_parameter(pair[0])
        ]

    def _is_parameter(self, name: str) -> bool:
        return any(field.name == name for field, _ in self._declarations)


@declared
class Committee(CommitteeParameters, Assembled):
    """Members of any kind, and a rule that decides by their votes."""

    def _fit_committee(
        self, read: Callable[[], TrainingSet], new_calls: Callable[[str, int], TaskCalls | None]
    ) -> TaskCalls | None:
        training = read()
        members = members_of(self.estimators, self.columns, training.schema, training.are_classes)
        self._check_names(members)
        rng = generator_of(self.random_state)
        rule = seeded(self._new_rule(), rng)
        if training.is_open:
            check_rule(rule, len(members), training.task, is_weighted=differ(training.weights))
            self._check_calibrate(rule, training)
        if isinstance(self.cv, str):
            calls = new_calls("member", len(members))
            folds: list[Fold] = []
            as_scores = self._calibration() is not None
            fitted = take_prefit(members, training, as_scores, on_error=self.on_error)
            if calls:
                calls.report(len(members))
        else:
            members = [replace(each, estimator=seeded(each.estimator, rng)) for each in members]
            folds = self._folds(training, rule, rng)
            plan = self._plan(training, folds)
            calls = new_calls(plan.what, n_fits(members, training, plan))
            fitted = self._fit_members(members, training, plan, calls)
        rule = for_fitted(rule, members, fitted)
        honest = honest_of(fitted, training, folds)
        calibrations = calibrate(self._calibration(), fitted, honest)
        encoder = None
        if honest is not None:
            if rule._looks_at_X():
                encoder, honest = look_at_rows(honest, training.X)
            honest.fit_rule(rule)
        elif training.is_open and rule._looks_at_X():
            encoder = new_encoder().fit(training.X, sample_weight=training.weights)
        self._keep_members(training, fitted, calibrations)
        self._honest, self._encoder = honest, encoder
        self.rule_ = rule if training.is_open else None
        return calls

    def _check_names(self, members: list[Member]) -> None:
        """Raise for a member that is named like a parameter, and so could not be set by its name."""
        for member in members:
            if self._is_parameter(member.name):
                raise ValueError(
                    f"A member is named {member.name!r}, and so is a parameter of {type(self).__name__}. "
                    "Give the member another name."
                )

    def _new_rule(self) -> Rule:
        """Make the rule of this committee, not fitted."""
        raise NotImplementedError

    def _calibration(self) -> str | None:
        """Return the method of calibration; members by default are calibrated as in the CAWPE paper."""
        return CALIBRATION if self.estimators is None and self.calibrate is None else self.calibrate

    def _check_calibrate(self, rule: Rule, training: TrainingSet) -> None:
        """Raise if scores are to be calibrated, and there is nothing to do it by."""
        if self.calibrate is None:
            return
        if not training.are_classes:
            raise ValueError(
                f"calibrate={self.calibrate!r} makes probabilities, and numbers need none. Set it to None."
            )
        if self.cv is None and not rule.needs_fit:
            raise ValueError(
                f"calibrate={self.calibrate!r} learns from honest votes, and there are none with cv=None. "
                "Set cv=5, or calibrate=None."
            )

    def _folds(self, training: TrainingSet, rule: Rule, rng: np.random.Generator) -> list[Fold]:
        cv = N_FOLDS if self.cv is None and rule.needs_fit else seeded_split(self.cv, rng)
        return [] if cv is None or not training.is_open else training.folds(cv)

    def _plan(self, training: TrainingSet, folds: list[Fold]) -> Plan:
        cv = N_FOLDS if self.cv is None else self.cv
        uses_bags = bool(self.out_of_bag) and bags_will_do(cv, training.groups)
        return Plan(folds, bool(self.refit), uses_bags, as_scores=self._calibration() is not None)

    def _fit_members(
        self, members: list[Member], training: TrainingSet, plan: Plan, calls: TaskCalls | None
    ) -> list[MemberFit]:
        n_total, name = n_fits(members, training, plan), type(self).__name__
        with (
            running.runner_of(self.runner, self.n_jobs) as run,
            running.Work(f"{plan.what}s", name, n_total, verbose=int(self.verbose)) as work,
        ):
            # A callback cannot end the fit: without the other folds, some rows would have no votes.
            report = reporter(work, calls)
            return fit_members(members, training, plan, run, on_error=self.on_error, report=report)

    def _another(self, rule: object) -> Assembled:
        from committee.assembling.rule_committees import VotingClassifier, VotingRegressor

        made: Any = VotingClassifier if self._task_type is Classification else VotingRegressor
        shared = made().get_params(deep=False).keys() & self.get_params(deep=False).keys()
        another = made(**{name: getattr(self, name) for name in shared - {"rule", "weights"}})
        another.rule = rule
        check_parameters(another)
        return another


def for_fitted(rule: Rule, members: list[Member], fitted: list[MemberFit]) -> Rule:
    """Give a rule the weights or priors of those members alone that were fitted."""
    names = [each.name for each in members]
    return for_places(rule, len(members), [names.index(each.member.name) for each in fitted])


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


def honest_of(fitted: list[MemberFit], training: TrainingSet, folds: list[Fold]) -> HonestVotes | None:
    """Return the honest votes of members that were fitted in folds, in bags or elsewhere."""
    if not training.is_open or not all(each.held_out for each in fitted):
        return None
    cast = [each.held_out for each in fitted]
    honest = HonestVotes.of_models(cast, training.task, training.y, training.weights, training.groups)
    split = split_print(folds, training.groups) if folds else ""
    return replace(honest, table=training.table, split=split)


def calibrate(
    method: str | None, fitted: list[MemberFit], honest: HonestVotes | None
) -> list[Calibration | None]:
    """Calibrate each member that votes by scores; its honest scores become honest votes."""
    found: list[Calibration | None] = [None] * len(fitted)
    if honest is None or method is None or honest.votes.shape[2] == 1:
        return found
    for place, each in enumerate(fitted):
        if gives_scores(each.member.estimator):
            curves = Curves.of(method, honest, place, [rows for rows, _ in each.held_out])
            honest.votes[place] = curves.honest_votes(honest.votes[place], honest.rows)
            found[place] = curves.whole
    return found
