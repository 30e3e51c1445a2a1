"""The parameters and the fit of committees: members of any kind, honest votes and a rule.

`fit` fits the members (`member_fits`) on all rows and, if the rule learns, on folds. The votes on the rows
that folds hold out are the honest votes, on which the rule is fitted. Subclasses choose the rule.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from committee import running
from committee.assembling.calibration import CALIBRATION, Curves
from committee.assembling.fitted_committee import Assembled
from committee.assembling.member_fits import MemberFit, Plan, fit_members, n_fits, take_prefit
from committee.assembling.named_members import Member, members_of
from committee.combining.adjusted_rule import WrappingRule
from committee.combining.bayesian_rules import BayesianAveragingRule
from committee.combining.rule import FixedRule, Rule, check_rule, differ
from committee.combining.weighted_rules import CAWPERule
from committee.learners import tree_parameters
from committee.learners.fit_session import TaskCalls, reporter
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
    integer,
    is_integer,
    one_of,
    parameter,
)
from committee.saving.predictors.score_votes import METHODS, Calibration
from committee.table.input_types import RandomState
from committee.task import Classification
from committee.votes.folds import N_FOLDS, Fold, can_vote_out_of_bag, split_fingerprint
from committee.votes.honest_votes import HonestVotes
from committee.votes.vote_arrays import check_member_weights, label_dtype

RUNNER: Declaration = (tree_parameters.RUNNER[0], "Where fits run. The results are the same everywhere.")
FITS_AT_ONCE: Declaration = (
    tree_parameters.N_JOBS[0],
    "The number of fits that run at the same time. It does not change the results. None and -1 use all cores "
    "(None is one in scikit-learn), -2 leaves one core free.",
)
VERBOSE: Declaration = (tree_parameters.VERBOSE[0], "Whether to show the number of finished fits.")
# Rules that have a parameter with one number for each member, and the name of this parameter.
GIVEN_FOR_MEMBERS: dict[type[Rule], str] = {
    FixedRule: "weights",
    BayesianAveragingRule: "prior",
    CAWPERule: "accuracies",
}


def is_cv(value: object) -> bool:
    """Return whether a value can specify the rows to hold out."""
    if isinstance(value, str):
        return value == "prefit"
    if is_integer(value):
        return integer(2)(value)
    return value is None or hasattr(value, "split") or np.iterable(value)


def parameter_of(rule: type[Rule], name: str) -> Any:
    """Declare a parameter of a committee with the declaration of its rule."""
    field, declaration = next(each for each in rule._declarations if each[0].name == name)
    return parameter(field.default, **declaration)


@declared
class CommitteeParameters(BaseEstimator):
    """The parameters of a committee and of its members, as in `set_params(tree__max_depth=3)`."""

    estimators: list[tuple[str, BaseEstimator]] | None = parameter(
        None,
        Constraint("a list of (name, estimator) pairs, or None"),
        "The members. None uses the five kinds of the CAWPE paper: a linear model, a tree (C4.5 for "
        "classes), a linear support vector machine, nearest neighbours and a perceptron. All but the tree "
        "see the table as a matrix of numbers from `TableEncoder`. A classifier that refuses the labels of y "
        "sees them as the numbers 0, 1, 2 and so on (`NumberedLabels`). A regressor may vote on two classes: "
        "the side of the midpoint decides (`MidpointClassifier`). If the rows of a fit have a single "
        "class, scikit-learn's `DummyClassifier` votes for it, unless the member is from committee itself.",
        kw_only=False,
    )
    cv: object = parameter(
        5,
        Constraint('an integer >= 2, a splitter, an iterable of (train, test) rows, "prefit" or None', is_cv),
        "The split for honest votes. An integer is the number of folds, but there are at most as many as the "
        "largest class has rows. These folds are stratified for classes and keep `groups` together. Votes "
        "from repeated folds are averaged. Rows that no fold holds out, such as the first ones of a time "
        "series, are not used to fit the rule. A class gets no votes in a fold that is trained without it. "
        '"prefit": the estimators are already fitted, and vote on the rows that are passed to `fit`. These '
        "votes are honest only if the members were not fitted on these rows. Wrap the members in "
        "`FrozenEstimator` if the committee is cloned. None: no honest votes, or 5 folds if the rule learns "
        "from honest votes.",
    )
    refit: bool = parameter(
        True,
        boolean,
        "Whether to fit members on all rows after the folds. If False, the models of the folds are kept, and "
        "the vote of a member is the mean of their votes.",
    )
    out_of_bag: bool = parameter(
        True,
        boolean,
        "Whether committee's own forests and bagging with `bootstrap=True` vote out of bag, in a single fit, "
        "instead of being cross-validated. This needs an integer `cv` and no groups. Bagging must have the "
        "rule mean or majority.",
    )
    columns: Mapping[str, Sequence[str | int]] | None = parameter(
        None,
        Constraint("a dict from names of members to lists of columns, or None"),
        "The columns that each member sees, by name or position. Other members see all columns.",
    )
    calibrate: str | None = parameter(
        None,
        Constraint('"isotonic", "sigmoid", "temperature" or None', one_of(None, *METHODS)),
        "How to turn the scores of a member into probabilities if it has a `decision_function` and no "
        "`predict_proba`. A curve is fitted on its honest scores, so `cv` must produce honest votes. The "
        "honest scores of a fold are calibrated by a curve of the other folds, so no curve has seen the "
        'answer. Scores of pairs of classes, such as those of SVC(decision_function_shape="ovo"), are not '
        "used: the predicted class has the score 1, the others 0. With None, the member casts crisp votes, "
        "like members with neither method. The support vector machine of `estimators=None` is calibrated by "
        "a sigmoid whenever there are honest votes.",
    )
    on_error: str = parameter(
        "raise",
        one_of("raise", "drop"),
        'What to do if the fit of a member fails or, with "prefit", its vote: raise an error, or drop the '
        "member and its weight or prior with a warning. Both name the member and the fold.",
    )
    keep: str = parameter(
        "decision",
        one_of("decision", "all"),
        'What a file of the committee contains. "decision" is what predictions need. "all" adds the honest '
        "votes, with the targets, weights and groups of their rows, so that other rules can be tried after "
        "`load`.",
    )
    runner: str | running.Runner = parameter("threads", *RUNNER)
    n_jobs: int | None = parameter(None, *FITS_AT_ONCE)
    random_state: RandomState = parameter(
        None,
        RANDOM_STATE,
        "Draws the `random_state` of members, of the rule and of the splitter `cv` where it is None. An "
        "integer makes fits repeatable.",
    )
    verbose: int = parameter(0, *VERBOSE)

    def get_params(self, deep: bool = True) -> dict[str, object]:
        """Return the parameters, and those of the members by name.

        Parameters
        ----------
        deep : bool, default=True
            Whether to include the parameters of the members.

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
        """Set parameters, members by name, and parameters of members.

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
        """Return the members that can be set by name, which must not be the name of a parameter."""
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
    """A committee of members of any kind and a rule that combines their votes."""

    def _fit_committee(
        self, read: Callable[[], TrainingSet], new_calls: Callable[[str, int], TaskCalls | None]
    ) -> TaskCalls | None:
        training = read()
        # A fitted regressor may have been fitted to other numbers than 0 and 1.
        n_classes = training.task.n_outputs if training.are_classes and self.cv != "prefit" else 0
        members = members_of(self.estimators, self.columns, training.schema, training.are_classes, n_classes)
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
        self._warn_of_labels(rule, fitted, training)
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
        """Raise if a member has the name of a parameter, because it could not be set by its name."""
        for member in members:
            if self._is_parameter(member.name):
                raise ValueError(
                    f"A member is named {member.name!r}, like a parameter of {type(self).__name__}. Give the "
                    "member another name."
                )

    def _new_rule(self) -> Rule:
        """Return the unfitted rule of this committee."""
        raise NotImplementedError

    def _calibration(self) -> str | None:
        """Return the method of calibration. The default members are calibrated as in the CAWPE paper."""
        return CALIBRATION if self.estimators is None and self.calibrate is None else self.calibrate

    def _check_calibrate(self, rule: Rule, training: TrainingSet) -> None:
        """Raise if `calibrate` is set for a regression or without honest votes."""
        if self.calibrate is None:
            return
        if not training.are_classes:
            raise ValueError(
                f"calibrate={self.calibrate!r} is for classes, and the task is a regression. Set it to None."
            )
        if self.cv is None and not rule.needs_fit:
            raise ValueError(
                f"calibrate={self.calibrate!r} needs honest votes, and cv=None makes none. Set cv=5, or "
                "calibrate=None."
            )

    def _warn_of_labels(self, rule: Rule, fitted: list[MemberFit], training: TrainingSet) -> None:
        """Warn if members without probabilities vote by labels in soft voting."""
        is_soft = isinstance(rule, FixedRule) and not rule._reads_labels()
        if not training.are_classes or not training.is_open or not is_soft:
            return
        found = [
            each.member
            for each in fitted
            # scikit-learn's StackingClassifier knows only after its fit whether it has probabilities.
            if not any(hasattr(model, "predict_proba") for model in each.models)
            and not (self._calibration() is not None and gives_scores(each.member.estimator))
        ]
        if not found:
            return
        names = ", ".join(f"{each.name!r} ({type(each.estimator).__name__})" for each in found)
        can_calibrate = all(gives_scores(each.estimator) for each in found)
        way_out = 'calibrate="sigmoid" and cv=5' if can_calibrate else "CalibratedClassifierCV around them"
        warnings.warn(
            f"Members without predict_proba vote 1 for the class that they predict, 0 for others: {names}. "
            f'For soft voting set {way_out}, or use a rule of labels such as rule="majority".',
            stacklevel=5,
        )

    def _folds(self, training: TrainingSet, rule: Rule, rng: np.random.Generator) -> list[Fold]:
        cv = N_FOLDS if self.cv is None and rule.needs_fit else seeded_split(self.cv, rng)
        return [] if cv is None or not training.is_open else training.folds(cv)

    def _plan(self, training: TrainingSet, folds: list[Fold]) -> Plan:
        cv = N_FOLDS if self.cv is None else self.cv
        uses_bags = bool(self.out_of_bag) and can_vote_out_of_bag(cv, training.groups)
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
    """Restrict the weights or priors of a rule to the members that were fitted."""
    names = [each.name for each in members]
    return for_places(rule, len(members), [names.index(each.member.name) for each in fitted])


def for_places(rule: Rule, n_members: int, places: list[int]) -> Rule:
    """Restrict the weights or priors of a rule to the members at some places."""
    if len(places) == n_members:
        return rule
    inner = rule
    while isinstance(inner, WrappingRule) and isinstance(inner.rule, Rule):
        inner = inner.rule
    for kind, name in GIVEN_FOR_MEMBERS.items():
        given = getattr(inner, name) if isinstance(inner, kind) else None
        if given is not None:
            staying = check_member_weights(given, n_members, name)[places]
            inner.set_params(**{name: check_member_weights(staying, len(places), name)})
    return rule


def honest_of(fitted: list[MemberFit], training: TrainingSet, folds: list[Fold]) -> HonestVotes | None:
    """Return the honest votes of fitted members, or None if there are none."""
    if not training.is_open or not all(each.held_out for each in fitted):
        return None
    cast = [each.held_out for each in fitted]
    honest = HonestVotes.of_models(cast, training.task, training.y, training.weights, training.groups)
    split = split_fingerprint(folds, training.groups) if folds else ""
    return replace(honest, table=training.table, split=split)


def calibrate(
    method: str | None, fitted: list[MemberFit], honest: HonestVotes | None
) -> list[Calibration | None]:
    """Calibrate each member that votes by scores, and replace its honest scores by votes."""
    found: list[Calibration | None] = [None] * len(fitted)
    if honest is None or method is None or honest.votes.shape[2] == 1:
        return found
    for place, each in enumerate(fitted):
        if gives_scores(each.member.estimator):
            curves = Curves.of(method, honest, place, [rows for rows, *_ in each.held_out])
            # The highest score belongs to the predicted class, and the highest vote may not.
            codes = honest.votes[place].argmax(axis=1)
            honest.labels[place] = codes.astype(label_dtype(honest.n_outputs))
            honest.votes[place] = curves.honest_votes(honest.votes[place], honest.rows)
            found[place] = curves.whole
    return found
