"""Make a fitted automatic committee smaller: fewer members, one model per member, or one student.

A student learns the decisions of the committee (Hinton et al. 2015). An uncertain row is repeated for each
class, with its probability as weight.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from committee import running
from committee.assembling.calibration import CALIBRATION
from committee.assembling.committee import calibrate, for_places
from committee.assembling.fitted_committee import ONE_CLASS, Assembled
from committee.assembling.member_fits import MemberFit, Plan, fit_members
from committee.assembling.named_members import FittedMember, Member, check_kind
from committee.automatic.automatic_parameters import AUTO, AutomaticParameters, is_positive
from committee.automatic.compaction import bytes_of, members_within
from committee.automatic.importances import importances_of
from committee.automatic.journal import Journal
from committee.automatic.limits import Clock, Room
from committee.automatic.offers import (
    DISTIL,
    METHODS,
    N_TIMES,
    Offers,
    Shrinking,
    rule_of,
    some_row,
    usual_time,
)
from committee.automatic.portfolio import Size, named_in, without_convergence_warnings
from committee.automatic.refits import Refits, settled
from committee.automatic.rule_choice import RuleChoice
from committee.boosting import GradientBoostingClassifier, GradientBoostingRegressor
from committee.combining.cost_rule import CostRule, costs_by_label
from committee.combining.metadata_routing import arguments
from committee.combining.rule import Rule
from committee.members.member_view import look_at_rows
from committee.members.member_votes import Task
from committee.members.seeds import generator_of
from committee.members.training_set import TrainingSet
from committee.parameters import check_parameters, declared, integer, is_integer
from committee.printing import size_of
from committee.saving import Saveable
from committee.table.input_types import ArrayLike, TableLike
from committee.table.schema import take_rows
from committee.task import Classification
from committee.votes.folds import N_FOLDS, Fold, drawn_folds
from committee.votes.honest_votes import HonestVotes

# Students ignore lower probabilities of a class.
LEAST_PROBABILITY = 1e-3
# If the members together exceed a limit, the next try allows at most this share of their cost.
LESS = 0.99
# More rows of the fit than this share are not in a table by chance.
MOST_SEEN = 0.05
# The time for a row after other work, relative to that for one after another row.
BETWEEN_ROWS = 1.4


@declared
class Reducing(AutomaticParameters, Assembled):
    """A committee that can be made smaller.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_columns,)
        The importances of the columns: the weighted mean over the members that have some.
    """

    def prune(
        self,
        X: TableLike | None = None,
        *,
        max_members: int | None = None,
        max_latency: float | None = None,
        max_bytes: float | None = None,
    ) -> Self:
        """Return a committee of fewer members within a limit, with the lowest loss of honest votes.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns), default=None
            For `max_latency`, its first rows are timed one by one; None uses an artificial row with the
            columns of the fit. For a rule that uses the rows, the table of the fit.
        max_members : int, default=None
            The largest number of members.
        max_latency : float, default=None
            The largest time of `predict` for one row in seconds, measured on this machine, plus two fifths
            for the work between rows. It is an error if no member is fast enough; `refit_full` makes all
            members faster.
        max_bytes : float, default=None
            The largest size of the file, or of the pickle if some member cannot be saved to our format.

        Returns
        -------
        estimator
            The same committee if it is within the limit. Otherwise another one, with the best rule for its
            members, or with the `rule` that was passed.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from committee import CommitteeClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> automatic = CommitteeClassifier(["booster", "linear", "c45"], keep="all", random_state=0)
        >>> automatic = automatic.fit(X, y)
        >>> list(automatic.prune(max_members=1).named_estimators_)
        ['booster']
        """
        limits = {"max_members": max_members, "max_latency": max_latency, "max_bytes": max_bytes}
        given = {name: limit for name, limit in limits.items() if limit is not None}
        if len(given) != 1 or not all(is_positive(limit) for limit in given.values()):
            raise ValueError(f"prune needs one of {', '.join(limits)}, a number > 0. Got {given}.")
        if max_members is not None and not is_integer(max_members):
            raise ValueError(f"max_members must be an integer >= 1 or None. Got {max_members!r}.")
        honest = self._known_votes()
        (name, limit), *_ = given.items()
        costs, measure = self._costs(name, X)
        if measure(self) <= limit:
            return copy.copy(self)
        rule: Any = self.rule_
        everyone, budget = list(range(len(costs))), limit
        while True:
            places = members_within(
                [budget], costs[None], everyone, rule, honest, self.scoring, tolerated=0.0
            )
            if costs[places].sum() > budget:
                least, alone = self._fitted_members[int(costs.argmin())].name, float(costs.min())
                needed = size_of(alone) if name == "max_bytes" else f"{1000 * alone:.3g} ms"
                raise ValueError(
                    f"{name}={limit} is too small for any member. The smallest committee, of {least} alone, "
                    f"needs {needed}, and a little more for its rule and the table. Set a higher limit, or "
                    "prune the result of refit_full, which has one model for each member."
                )
            smaller = self._with_only(places, X)
            cost = measure(smaller)
            if cost <= limit:
                return smaller
            # The table and the rule have a cost too, either fixed or in proportion to the members. The next
            # try assumes the one that keeps more members.
            alone = costs[places].sum()
            budget = min(max(alone - (cost - limit), alone * limit / cost), LESS * alone)

    def _costs(self, name: str, X: TableLike | None) -> tuple[np.ndarray, Callable[[Self], float]]:
        """Return the cost of each member alone, and a function for that of a whole committee."""
        if name == "max_latency":
            native = self._open(some_row(self.schema_) if X is None else X).native
            rows = [take_rows(native, np.array([row])) for row in range(min(native.shape[0], N_TIMES))]
            sources = [self._open(row) for row in rows]
            works = [partial(each.votes, task=self._task) for each in self._fitted_members]
            costs = np.array([usual_time(work, sources) for work in works])
            return costs, lambda smaller: BETWEEN_ROWS * usual_time(smaller.predict, rows)
        if name == "max_bytes":
            return np.array([sum(map(bytes_of, each.models)) for each in self._fitted_members]), bytes_of
        return np.ones(len(self._fitted_members)), lambda smaller: len(smaller._fitted_members)

    def _with_only(self, places: list[int], X: TableLike | None) -> Self:
        """Return the committee of some members."""
        smaller = copy.copy(self)
        smaller._fitted_members = [self._fitted_members[place] for place in places]
        smaller._honest = self._known_votes().of_members(places)
        if self._finds_rule():
            rule = self._with_costs(self._choice().best(smaller._honest), self._task)
        else:
            rule = for_places(clone(self.rule_), len(self._fitted_members), places)
        smaller._fit_rule(rule, X)
        smaller._forget_leaderboard()
        return smaller

    def shrink(
        self,
        X: TableLike | None = None,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        *,
        methods: Sequence[str] = METHODS,
        max_members: int | None = None,
    ) -> Offers:
        """Make smaller versions of the committee, and measure the size, the latency and the loss of each.

        "prune" keeps fewer members. "refit" replaces the models of the folds by one model of all rows for
        each member. "distil" fits one booster to the decisions of the committee. Files of the versions have
        no honest votes.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns), default=None
            The table of the fit, or rows that the committee has not seen. "distil" needs one of them, and
            "refit" the table of the fit.
        y : array-like of shape (n_rows,), default=None
            With the table of the fit, the losses are those of the honest votes. The members are fitted again
            in five folds if there are no honest votes, and for the loss of "distil". With new rows, the
            losses are those on these rows. Without y, only a committee with honest votes is pruned.
        sample_weight, groups : array-like of shape (n_rows,), default=None
            The weights and the groups of the rows; for the table of the fit, those of the fit.
        methods : sequence of {"prune", "refit", "distil"}, default=("prune", "refit", "distil")
        max_members : int, default=None
            The number of members of pruned and refitted versions. None makes versions of 1, 2, 3, 5, 8, 13
            and 21 members.

        Returns
        -------
        Offers
            A sequence of versions, which is printed as a table. The first is the committee as it is. Each
            has a `model`, and `best` returns the one with the lowest loss within limits.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from committee import CommitteeClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> automatic = CommitteeClassifier(["booster", "linear", "c45"], keep="all", random_state=0)
        >>> offers = automatic.fit(X, y).shrink(methods=["prune"])
        >>> [each.label for each in offers]
        ['as it is', 'prune to 2 members', 'prune to 1 member']
        >>> list(offers.best(max_members=1).model.named_estimators_)
        ['booster']
        """
        check_is_fitted(self)
        if self.rule_ is None:
            raise ValueError(ONE_CLASS)
        if not set(methods) <= set(METHODS):
            raise ValueError(f"methods must be some of {', '.join(METHODS)}. Got {list(methods)}.")
        if max_members is not None and not integer(1)(max_members):
            raise ValueError(f"max_members must be an integer >= 1 or None. Got {max_members!r}.")
        whole = copy.copy(self).set_params(keep="decision")
        native = None if X is None else self._open(X).native
        if y is None:
            return Shrinking(whole, native).offers(methods, max_members)
        training = TrainingSet.of(self._task_type, native, y, sample_weight, groups)
        if training.data != self._data:
            whole._honest = self._votes_on(training)
            return Shrinking(whole, native, training).offers(methods, max_members)
        in_folds: list[tuple[Fold, Self]] = []
        if self._honest is None or DISTIL in methods:
            honest, in_folds = self._in_folds(training)
            whole._honest = honest if self._honest is None else self._honest
        return Shrinking(whole, native, training, True, in_folds).offers(methods, max_members)

    def _votes_on(self, training: TrainingSet) -> HonestVotes:
        """Return the votes of the members on rows that they were not fitted on."""
        y, source = training.y, self._open(training.X)
        if isinstance(self._task, Classification):
            unknown = np.setdiff1d(training.answers, self.classes_)
            if len(unknown):
                raise ValueError(f"y has {unknown.tolist()[0]!r}, which is not a class of the fit.")
            y = np.searchsorted(self.classes_, training.answers)
        table = self._read(source)
        share = None if self._record is None else self._record.share_in([*table.columns, y], table.n_rows)
        if share is not None and share > MOST_SEEN:
            raise ValueError(
                f"About {100 * share:.0f} % of the rows of the fit are in this table, so losses on it would "
                "be too low. Pass the table of the fit itself, with its rows in their order and their "
                "weights, or rows that the fit has not seen."
            )
        votes = self._votes_by_fold(source, 1, as_labels=rule_of(self)._reads_labels())[0]
        honest = HonestVotes.of(
            votes,
            y,
            sample_weight=training.weights,
            classes=self._task.classes,
            groups=training.groups,
        )
        return replace(honest, table=training.table)

    def _in_folds(self, training: TrainingSet) -> tuple[HonestVotes, list[tuple[Fold, Self]]]:
        """Fit the members again in folds of the table of the fit.

        Return honest votes, and each fold with a committee without costs that is fitted on its other rows.
        """
        members = [settled(fit_of(each)) for each in self._fitted_members]
        y, rng = training.y, generator_of(self.random_state)
        folds = drawn_folds(
            N_FOLDS, training.rows, y, training.groups, rng, is_class_task=training.are_classes
        )
        plan = Plan(folds, refit=False, uses_bags=False, as_scores=True)
        n_fits = len(members) * len(folds)
        with (
            running.runner_of(self._kind_of_runner(), self.n_jobs) as run,
            running.Work("fits", type(self).__name__, n_fits, verbose=int(self.verbose)) as work,
            without_convergence_warnings(),
        ):
            fitted = fit_members(members, training, plan, run, on_error="raise", report=work.report)
        cast = [each.held_out for each in fitted]
        honest = HonestVotes.of_models(cast, training.task, y, training.weights, training.groups)
        honest, rule = replace(honest, table=training.table), rule_of(self)
        calibrations = calibrate(CALIBRATION, fitted, honest)
        if rule._looks_at_X():
            _, honest = look_at_rows(honest, training.X)
        in_folds = []
        for number, fold in enumerate(folds):
            one = copy.copy(self)
            one._fitted_members = [
                replace(member, models=[fit.models[number]], calibration=calibration)
                for member, fit, calibration in zip(self._fitted_members, fitted, calibrations, strict=True)
            ]
            one.rule_ = honest.on(np.flatnonzero(np.isin(honest.rows, fold[0]))).fit_rule(clone(rule))
            in_folds.append((fold, one))
        return honest, in_folds

    def refit_full(self, X: TableLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Return the committee with one model per member, fitted on all rows.

        It predicts several times faster than with a model per fold, and is about as good. Boosters and
        forests have as many trees as their fold models. A fit with `keep="decision"` ends with such fits
        already.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            The table of the fit.
        y : array-like of shape (n_rows,)
        sample_weight : array-like of shape (n_rows,), default=None
            The weights of the fit.

        Returns
        -------
        estimator
            Another committee, with the same rule.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from committee import CommitteeClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> automatic = CommitteeClassifier(["linear", "c45"], keep="all", random_state=0).fit(X, y)
        >>> len(automatic.named_estimators_["c45"])
        8
        >>> type(automatic.refit_full(X, y).named_estimators_["c45"]).__name__
        'C45Classifier'
        """
        training = TrainingSet.of(self._task_type, X, y, sample_weight, None)
        if training.data != self._data:
            raise ValueError("X, y and sample_weight must be those of the fit. Got others.")
        return self._refitted(training)

    def _refitted(self, training: TrainingSet) -> Self:
        """Return the committee with one model per member, fitted on all rows."""
        everyone = self._fitted_members
        fitted = [fit_of(each) for each in everyone]
        models = self._refit(fitted, training, Clock(None), on_error="raise")
        whole = copy.copy(self)
        # Ctrl-C ends the fits. A member that was not fitted keeps the models of its folds.
        whole._fitted_members = [
            each if new is None else replace(each, models=[new])
            for each, new in zip(everyone, models, strict=True)
        ]
        if whole._record is not None and whole._record.leaderboard is not None:
            board = whole._record.leaderboard.described(whole._known_of_members())
            whole._record = replace(whole._record, leaderboard=board)
        return whole

    def _refit(
        self,
        fitted: list[MemberFit],
        training: TrainingSet,
        clock: Clock,
        journal: Journal | None = None,
        *,
        on_error: str = "drop",
    ) -> list[BaseEstimator | None]:
        """Return new models of members, which are fitted on all rows; None without time for one."""
        clock.release()
        room = self._room(training, n_models=1)
        with (
            running.runner_of(self._kind_of_runner(), room.n_at_once(self.n_jobs)) as run,
            running.Work("models", type(self).__name__, len(fitted), verbose=int(self.verbose)) as work,
            without_convergence_warnings(),
        ):
            refits = Refits(training, run, work, clock, room, journal, on_error)
            return refits.models_of(fitted)

    def _room(self, training: TrainingSet, n_models: int) -> Room:
        # Members that are all named are fitted whatever memory is free, unless there is a limit.
        skips = training.is_open and (self.memory_limit is not None or AUTO in named_in(self.estimators))
        limit = self.memory_limit if skips else None
        return Room.of(Size.of(training), n_models, limit, skips)

    def distil(self, X: TableLike, estimator: BaseEstimator | None = None) -> BaseEstimator:
        """Fit one estimator on the decisions of the committee.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            The rows of the fit or others. Their targets are not needed.
        estimator : estimator, default=None
            The student, which is cloned. A classifier must accept weights. None is gradient boosting.

        Returns
        -------
        estimator
            The fitted student.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from committee import CommitteeClassifier, DecisionTreeClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> automatic = CommitteeClassifier(["linear", "c45"], random_state=0).fit(X, y)
        >>> student = automatic.distil(X, DecisionTreeClassifier(max_depth=3, random_state=0))
        >>> bool((student.predict(X) == automatic.predict(X)).mean() > 0.9)
        True
        """
        return self._student_of(X, None, estimator)

    def _student_of(
        self, X: TableLike, weights: np.ndarray | None, estimator: BaseEstimator | None = None
    ) -> BaseEstimator:
        """Fit an estimator, by default gradient boosting, to the decisions on rows with weights."""
        decision, native, task = self._decide(X), self._open(X).native, self._task
        is_class_task = isinstance(task, Classification)
        if estimator is None:
            made: Any = GradientBoostingClassifier if is_class_task else GradientBoostingRegressor
            estimator = made(random_state=self.random_state)
        check_kind("estimator", estimator, is_class_task)
        if isinstance(task, Classification):
            student = fit_to_probabilities(estimator, native, decision, task.classes, weights)
        else:
            given = {} if weights is None else {"sample_weight": weights}
            student = clone(estimator).fit(native, decision[:, 0], **given)
        if isinstance(student, Saveable):
            student._origin = self._origin
        return student

    def with_threshold(self, threshold: float) -> Self:
        """Return the committee of two classes that decides by another threshold. Nothing is fitted.

        Parameters
        ----------
        threshold : float
            The probability from which on the second class is predicted. It replaces the threshold and the
            costs of the fit.

        Returns
        -------
        estimator

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from committee import CommitteeClassifier
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> automatic = CommitteeClassifier(["linear"], random_state=0).fit(X, y)
        >>> careful = automatic.with_threshold(0.9)
        >>> automatic.predict(X).mean() > careful.predict(X).mean()
        np.True_
        """
        check_is_fitted(self)
        if self.tune_threshold:
            raise ValueError(
                "The thresholds of this committee were tuned for its metric. Fit another one with "
                "tune_threshold=False."
            )
        another = copy.copy(self).set_params(threshold=threshold, costs=None)
        check_parameters(another)
        if self.rule_ is None:
            return another
        inner = self.rule_.rule_ if isinstance(self.rule_, CostRule) else self.rule_
        made: Any = another._with_costs(clone(inner), self._task)
        made.rule_, made.n_members_, made.n_outputs_ = inner, len(self._fitted_members), 2
        another.rule_ = made
        summary = self.fit_summary_
        if summary.decisions is not None and summary.decisions.by_class is not None:
            counts = summary.decisions.by_class.with_threshold(threshold)
            another._summary = replace(summary, decisions=replace(summary.decisions, by_class=counts))
        return another

    def _usual_scoring(self) -> object:
        """Return the default metric of `leaderboard`."""
        if self.scoring is not None:
            return self.scoring
        return "neg_log_loss" if isinstance(self._task, Classification) else "neg_root_mean_squared_error"

    @property
    def feature_importances_(self) -> np.ndarray:
        """The importances of the columns: the weighted mean over the members that have some.

        These are trees, forests, boosters and linear models. They count equally if the rule has no weights,
        or if all of them have the weight 0.
        """
        check_is_fitted(self)
        weights = getattr(self.rule_, "weights_", None)
        if weights is None or np.ndim(weights) != 1:
            weights = np.ones(len(self._fitted_members))
        return importances_of(self._fitted_members, weights, self.n_features_in_)

    def _finds_rule(self) -> bool:
        return isinstance(self.rule, str) and self.rule == AUTO

    def _choice(self) -> RuleChoice:
        """Return the settings of the choice of the rule."""
        return RuleChoice(self.scoring, self.tune_threshold and self._task_type is Classification)

    def _adjusted(self, rule: Rule) -> Rule:
        return self._with_costs(self._choice().adjusted(rule), self._task)

    def _with_costs(self, rule: Rule, task: Task) -> Rule:
        """Let a rule decide by the costs or the threshold of this committee, if it has any."""
        if self.costs is None and self.threshold is None:
            return rule
        if not isinstance(task, Classification):
            raise ValueError("costs and threshold are for classes, and the task is a regression.")
        if isinstance(rule, CostRule) or task.n_outputs == 1:
            return rule
        costs = costs_by_label(self.costs, self.threshold, task.classes)
        return rule if costs is None else CostRule(rule=rule, costs=costs.tolist())


def fit_of(member: FittedMember) -> MemberFit:
    """Return the fits of a fitted member without their votes, for new fits of the same kind."""
    unfitted = Member(member.name, member.learner, member.columns, member.title)
    return MemberFit(unfitted, member.models, [], member.fit_seconds)


def fit_to_probabilities(
    student: BaseEstimator,
    X: TableLike,
    decision: np.ndarray,
    classes: np.ndarray,
    row_weights: np.ndarray | None = None,
) -> BaseEstimator:
    """Fit a clone of a classifier to probabilities."""
    rows, codes = np.nonzero(decision >= LEAST_PROBABILITY)
    weights = decision[rows, codes]
    if row_weights is not None:
        weights = weights * row_weights[rows]
    student = clone(student)
    given = arguments(student, "sample_weight", weights)
    if not any(name.endswith("sample_weight") for name in given):
        raise ValueError(
            f"{type(student).__name__} does not support sample_weight, which is needed to fit probabilities. "
            "Use another estimator."
        )
    return student.fit(take_rows(X, rows), classes[codes], **given)
