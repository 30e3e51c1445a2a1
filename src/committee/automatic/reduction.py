"""Make a fitted automatic committee smaller: fewer members, one model per member, or one student.

A student learns the decisions of the committee (Hinton et al. 2015). An uncertain row is repeated for each
class, with its probability as weight. Importances of columns come from the members: the gains of splits in
trees, forests and boosters, and the coefficients of linear models on an encoded table. The encoded columns
have one scale, and the coefficients of the values of a category are added up.
"""

from __future__ import annotations

import copy
import datetime
import importlib.util
import itertools
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Self, TypeVar

import narwhals.stable.v2 as nw
import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from committee import running
from committee.assembling.committee import for_places
from committee.assembling.fitted_committee import Assembled
from committee.assembling.member_fits import Plan, fit_members
from committee.assembling.named_members import Member, check_kind
from committee.automatic.automatic_parameters import AUTO, AutomaticParameters, is_positive
from committee.automatic.compaction import bytes_of, members_within
from committee.automatic.portfolio import without_convergence_warnings
from committee.automatic.rule_choice import RuleChoice
from committee.boosting import GradientBoostingClassifier, GradientBoostingRegressor
from committee.combining.cost_rule import CostRule, costs_by_label
from committee.combining.metadata_routing import arguments
from committee.combining.rule import Rule
from committee.members.member_votes import Task
from committee.members.table_encoder import TableEncoder
from committee.members.training_set import TrainingSet
from committee.parameters import check_parameters, declared, is_integer
from committee.table import Column, Kind, Schema
from committee.table.input_types import ArrayLike, TableLike
from committee.table.schema import take_rows
from committee.task import Classification

Row = TypeVar("Row")
# Students ignore lower probabilities of a class.
LEAST_PROBABILITY = 1e-3
# If the members together exceed a limit, the next try allows at most this share of their cost.
LESS = 0.99
# The number of timed predictions. Their median counts, since some wait for other processes.
N_TIMES = 50
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
                raise ValueError(
                    f"{name}={limit} is too small for any member. The cheapest member needs "
                    f"{costs.min():.3g}, and its rule and the table need a little more. Set a higher limit, "
                    "or prune the result of refit_full, which has one model for each member."
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

    def refit_full(self, X: TableLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Return the committee with one model per member, fitted on all rows.

        It predicts several times faster than with a model per fold, and is about as good. A fit with
        `keep="decision"` ends with such fits already.

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
        honest = self._known_votes()
        training = TrainingSet.of(self._task_type, X, y, sample_weight, None)
        if honest.table not in ("", training.table) or not np.array_equal(training.y[honest.rows], honest.y):
            raise ValueError("X and y must be those of the fit. Got others.")
        weights = np.ones(training.n_rows) if training.weights is None else training.weights
        if not np.array_equal(weights[honest.rows], honest.weights):
            raise ValueError("sample_weight must be that of the fit, like X and y. Got another.")
        members = [Member(each.name, each.learner, each.columns) for each in self._fitted_members]
        plan = Plan(folds=[], refit=True, uses_bags=False, as_scores=False)
        kind = self._kind_of_runner()
        with (
            running.runner_of(kind, self.n_jobs) as run,
            running.Work("members", type(self).__name__, len(members), verbose=int(self.verbose)) as work,
            without_convergence_warnings(),
        ):
            fitted = fit_members(members, training, plan, run, on_error="raise", report=work.report)
        models = {each.member.name: each.models for each in fitted}
        whole = copy.copy(self)
        whole._fitted_members = [replace(each, models=models[each.name]) for each in self._fitted_members]
        return whole

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
        decision, native = self._decide(X), self._open(X).native
        task = self._task
        is_class_task = isinstance(task, Classification)
        if estimator is None:
            made: Any = GradientBoostingClassifier if is_class_task else GradientBoostingRegressor
            estimator = made(random_state=self.random_state)
        check_kind("estimator", estimator, is_class_task)
        if isinstance(task, Classification):
            return fit_to_probabilities(estimator, native, decision, task.classes)
        return clone(estimator).fit(native, decision[:, 0])

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
        n_columns = self.n_features_in_
        weights = getattr(self.rule_, "weights_", None)
        if weights is None or np.ndim(weights) != 1:
            weights = np.ones(len(self._fitted_members))
        found, found_weights = [], []
        for each, weight in zip(self._fitted_members, weights, strict=True):
            of_models = [importance_shares(model, n_columns) for model in each.models]
            shares = [share for share in of_models if share is not None]
            if each.columns is None and len(shares) == len(each.models):
                found.append(np.mean(shares, axis=0))
                found_weights.append(abs(weight))
        if not found:
            raise AttributeError(
                "No member has importances of columns. Use sklearn.inspection.permutation_importance."
            )
        total = np.average(found, axis=0, weights=found_weights if any(found_weights) else None)
        return total / (total.sum() or 1.0)

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


def fit_to_probabilities(
    student: BaseEstimator, X: TableLike, decision: np.ndarray, classes: np.ndarray
) -> BaseEstimator:
    """Fit a clone of a classifier to probabilities."""
    rows, codes = np.nonzero(decision >= LEAST_PROBABILITY)
    weights = decision[rows, codes]
    student = clone(student)
    given = arguments(student, "sample_weight", weights)
    if not any(name.endswith("sample_weight") for name in given):
        raise ValueError(
            f"{type(student).__name__} does not support sample_weight, which is needed to fit probabilities. "
            "Use another estimator."
        )
    return student.fit(take_rows(X, rows), classes[codes], **given)


def importance_shares(model: BaseEstimator, n_columns: int) -> np.ndarray | None:
    """Return the relative importances of the columns in one model.

    Parameters
    ----------
    model : estimator
        A fitted model.
    n_columns : int
        The columns of the table.

    Returns
    -------
    ndarray of shape (n_columns,), or None
        They sum to 1, or are all 0 if the model uses no column. None if the model has no importances.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from committee.assembling.named_members import encoded
    >>> model = encoded(LogisticRegression()).fit([[1, 0], [2, 0], [3, 0], [4, 0]], [0, 0, 1, 1])
    >>> importance_shares(model, 2).round(2)
    array([1., 0.])
    """
    has_own = hasattr(model, "feature_importances_")
    sizes = np.asarray(model.feature_importances_ if has_own else coefficient_sizes(model, n_columns))
    if sizes.shape != (n_columns,):
        return None
    total = sizes.sum()
    return sizes / total if total > 0 else np.zeros(n_columns)


def coefficient_sizes(model: BaseEstimator, n_columns: int) -> np.ndarray:
    """Return the sum of absolute coefficients of each column, averaged over classes; empty without any."""
    steps = [step for _, step in model.steps] if isinstance(model, Pipeline) else []
    if len(steps) != 2 or not isinstance(steps[0], TableEncoder):
        return np.empty(0)
    encoder, last = steps
    last = last.regressor_ if isinstance(last, TransformedTargetRegressor) else last
    if not hasattr(last, "coef_"):
        return np.empty(0)
    sizes = np.abs(np.atleast_2d(last.coef_)).mean(axis=0)
    widths = np.where(encoder.schema_.is_category, [len(codes) for codes in encoder.kept_], 1)
    columns = np.repeat(np.arange(len(widths)), widths)
    summed: np.ndarray = np.bincount(columns, sizes, minlength=n_columns)
    return summed


def usual_time(work: Callable[[Row], object], rows: list[Row]) -> float:
    """Return the median time of a function of a row in seconds. The rows are used in turn."""
    times = []
    for row in itertools.islice(itertools.cycle(rows), N_TIMES):
        began = time.perf_counter()
        work(row)
        times.append(time.perf_counter() - began)
    return float(np.median(times))


def some_row(schema: Schema) -> Any:
    """Make a row with the columns of a schema: a matrix, or a frame of the first library that is installed.

    Examples
    --------
    >>> from committee.table import Column, Kind
    >>> some_row(Schema((Column("x0", Kind.NUMBER), Column("x1", Kind.NUMBER)), named=False))
    array([[0., 0.]])
    """
    values = {column.name: some_value(column) for column in schema.columns}
    if not schema.named:
        dtype = np.float64 if all(isinstance(value, float) for value in values.values()) else object
        return np.array([list(values.values())], dtype=dtype)
    for library in ("pandas", "polars", "pyarrow"):
        if importlib.util.find_spec(library) is not None:
            return nw.from_dict(
                {name: [value] for name, value in values.items()}, backend=library
            ).to_native()
    raise ImportError("The fit was on a frame, and pandas, polars and pyarrow are not installed. Pass X.")


def some_value(column: Column) -> object:
    """Return a valid value of a column."""
    if column.kind is Kind.CATEGORY:
        return next(iter(column.categories), None)
    if column.kind is Kind.DATE:
        return datetime.datetime(1970, 1, 1)
    if column.kind is Kind.SPAN:
        return datetime.timedelta()
    return False if column.kind is Kind.BOOLEAN else 0.0
