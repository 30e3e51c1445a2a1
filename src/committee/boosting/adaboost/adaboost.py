"""Implement the base class of the four AdaBoost estimators: parameters, fit and access to the members.

In: a table and a class or a number for each row. Out: members that are fitted one after the other, each with
more weight on the rows that the previous ones got wrong, and their votes. committee's own trees are grown in
the engine, with all rounds in one call. Other estimators are fitted by a runner, round by round. The two
implementations do not differ otherwise.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from committee import _engine
from committee.boosting.adaboost.early_stopping import (
    Curve,
    boost_while_better,
    first_members,
    held_out_rows,
    out_of_fold_errors,
    start,
    uninterrupted,
    validation_curve,
)
from committee.boosting.adaboost.engine_rounds import (
    EngineRounds,
    are_members_of,
    default_member,
    runs_in_engine,
)
from committee.boosting.adaboost.python_rounds import PythonRounds, RoundSettings, Run, each_vote
from committee.boosting.adaboost.weights import ROUNDING, Distribution, Scheme
from committee.boosting.gradient.additive_trees import Staged
from committee.boosting.gradient.training_rows import check_given, check_two_classes
from committee.combining.fixed_rules import one_hot
from committee.combining.metadata_routing import all_take_weights
from committee.learners import tree_parameters
from committee.learners.fit_session import CallbackSupportMixin, FitFrame, warn_of_no_more, with_callbacks
from committee.learners.fitted_members import Members, mean_importances
from committee.learners.training_data import (
    check_grows,
    check_same_rows,
    check_same_task,
    fit_table,
    read_resumed_table,
    training_of,
)
from committee.members.member_fit import importances_of
from committee.members.member_kinds import (
    MEMBER,
    check_engine_member,
    check_estimator,
    is_member,
    takes_codes,
    values_error,
)
from committee.members.member_view import native_table
from committee.parameters import (
    boolean,
    check_parameters,
    declared,
    either,
    integer,
    one_of,
    parameter,
    share,
)
from committee.running import n_threads, runner_of
from committee.saving import Fields
from committee.saving.model_parts import TREES
from committee.saving.states.adaboost_state import AdaBoostState, Weighing
from committee.saving.states.committee_states import votes_like
from committee.table import BinnedTable
from committee.table.binning import MAX_BINS
from committee.task import Classification, Regression, check_lengths, row_weights
from committee.votes.vote_arrays import labels_of


@declared
class AdaBoost(CallbackSupportMixin, Staged):
    """Base class of AdaBoost, which fits members one after the other and updates the weights of the rows.

    Attributes
    ----------
    estimator_ : estimator
        The unfitted member.
    estimators_ : sequence of estimators
        The members. Engine members become estimators on access.
    estimator_weights_, estimator_errors_ : ndarray of shape (n_members,)
        The weights of the members' votes, and their errors on the weighted training rows.
    validation_errors_ : ndarray or None
        The errors after each member on `X_val`, on the held-out rows or out of fold.
    row_weights_ : ndarray of shape (n_members, n_rows) or None
        The weights of the rows in each round, with `store_weights`.
    feature_importances_ : ndarray of shape (n_columns,)
        The importances of the members, averaged with the weights of their votes.
    schema_ : Schema
        The columns of the training table. Only exists for engine members.
    nbytes : int
        The size of the members in memory. Only exists for engine members.
    """

    _scheme_name: ClassVar[str]

    estimator: Any = parameter(
        None,
        MEMBER,
        "The member, cloned for every round. None uses a stump for two classes, a tree of depth "
        "1 + ceil(log2(n_classes)) for more classes and a tree of depth 3 for regression. The engine fits "
        "all rounds of `DecisionStump`, `DecisionTree`, `RandomTree` and `C45Classifier` members without "
        "`class_weight`. The runner fits other members one after the other, with weights of mean 1.",
        kw_only=False,
    )
    n_estimators: int = parameter(50, integer(1), "The largest number of members.")
    weighting: str = parameter(
        "reweight",
        one_of("reweight", "resample"),
        '"reweight" fits the member with the weights of the rows. "resample" fits it on as many rows as the '
        "table has, drawn with replacement in proportion to their weights; the draw does not depend on the "
        "order of the table. Use it for members without training error, such as full trees, because a "
        "perfect member ends the fit. Members whose `fit` accepts no `sample_weight`, or that "
        "contain such an estimator, are always resampled. If a member refuses drawn rows of a single class, "
        "scikit-learn's `DummyClassifier` replaces it.",
    )
    max_bins: int = parameter(
        255,
        integer(2, MAX_BINS),
        "The largest number of bins of a column of numbers, for engine members. Columns with more distinct "
        "values are binned by quantiles, others are split exactly. More than 255 bins take twice the memory.",
    )
    early_stopping: Any = parameter(
        False,
        either(boolean, one_of("out_of_fold")),
        "True stops when the error on `X_val`, or on held-out rows if `X_val` is not given, has not fallen "
        'for `n_iter_no_change` rounds, and keeps the members up to the lowest error. "out_of_fold" finds '
        "the number of members with the lowest error by 5-fold cross-validation, and then fits that number "
        "of members on all rows; the runner can process several folds in parallel. The error is the "
        "misclassification rate or the mean absolute error.",
    )
    validation_fraction: float = parameter(
        0.1,
        share(whole=False),
        "The share of the rows that early_stopping=True holds out if `X_val` is not given.",
    )
    n_iter_no_change: int = parameter(
        10, integer(1), "The number of rounds without a lower error after which early_stopping=True stops."
    )
    store_weights: bool = parameter(
        False, boolean, "Whether to store the weights of the rows in every round as `row_weights_`."
    )
    warm_start: bool = parameter(False, *tree_parameters.WARM_START)
    categorical_features: Any = parameter("from_dtype", *tree_parameters.CATEGORICAL_FEATURES)
    runner: Any = parameter("threads", *tree_parameters.RUNNER)
    n_jobs: int | None = parameter(None, *tree_parameters.N_JOBS)
    verbose: int = parameter(0, *tree_parameters.VERBOSE)
    random_state: Any = parameter(None, *tree_parameters.SEED)

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
    ) -> Self:
        """Fit the members one after the other.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            numpy, scipy sparse, pandas, polars or Arrow, or a `BinnedTable`. NaN and None are missing values.
            Members that are not fitted by the engine get it unchanged.
        y : array-like of shape (n_rows,)
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows in the first round. None gives every row the weight 1. A resumed fit ignores
            them, because its weights are those after the previous fit.
        X_val : table of shape (n_validation_rows, n_columns), default=None
            Validation rows for `validation_errors_` and for early_stopping=True.
        y_val : array-like of shape (n_validation_rows,), default=None
        sample_weight_val : array-like of shape (n_validation_rows,), default=None

        Returns
        -------
        self
        """
        check_parameters(self)
        given = X_val, y_val, sample_weight_val
        self._check_stopping(given)
        resumes = self.warm_start and "_distribution" in self.__dict__
        rounds = self._read_rounds(X, y, sample_weight, resumes)
        scheme = self._scheme(rounds.task)
        n_before = len(self.estimator_weights_) if resumes else 0
        if resumes and not self._has_rounds_left(n_before):
            return self
        seed = self._seed if resumes else tree_parameters.draw_seed(self.random_state)
        resamples = self.weighting == "resample" or not all_take_weights(rounds.member)
        n_more = int(self.n_estimators) - n_before
        settings = RoundSettings(scheme, resamples, seed, n_more, n_before, bool(self.store_weights))
        curve = None if X_val is None else validation_curve(rounds, scheme, given)
        name, folds = type(self).__name__, None
        if self.early_stopping == "out_of_fold":
            with runner_of(self.runner, self.n_jobs) as workers:
                folds = out_of_fold_errors(rounds.with_runner(workers), settings, name, self.verbose)
        frame = FitFrame(self, X, y, "member", int(self.n_estimators), n_before=n_before)
        # Members are fitted one after the other, so each may use all cores.
        with runner_of(self.runner, 1) as worker, frame.work:
            settings = replace(settings, progress=frame.hook)
            run, errors = self._make(rounds.with_runner(worker), settings, curve, folds, resumes)
        if resumes:
            before = Run(
                self._members,
                self.estimator_errors_,
                self.estimator_weights_,
                self.row_weights_,
                self._distribution,
                self._is_over,
                self._importances,
            )
            run = before.then(run, rounds.join)

        def keep() -> None:
            self._keep_run(rounds, run, settings, X)
            self.validation_errors_: np.ndarray | None = None if errors is None else np.array(errors)

        frame.end(run.interruption, len(run.votes), keep)
        warn_of_chance(scheme, run)
        return self

    @property
    def estimators_(self) -> Any:
        """The members, a sequence of fitted estimators. Engine members become estimators on access."""
        check_is_fitted(self)
        return Members(self, self._members) if self._is_engine() else self._members

    @property
    def feature_importances_(self) -> np.ndarray:
        """The importances of the members, averaged with the weights of their votes.

        They sum to 1, or are all 0. Members of other libraries must have `feature_importances_`.
        """
        check_is_fitted(self)
        if self._importances is None:
            by_member = np.array([importances_of(member, self.n_features_in_) for member in self._members])
        else:
            by_member = self._importances
        weights = np.abs(self.estimator_weights_)
        return mean_importances(by_member, weights if weights.any() else None)

    @property
    def nbytes(self) -> int:
        """The size of engine members in memory, in bytes."""
        if not self._is_engine():
            raise AttributeError("nbytes is only known for members that the engine fits.")
        return self._members.nbytes + (self._forest.nbytes if self._forest is not self._members else 0)

    def votes(self, X: Any) -> np.ndarray:
        """Compute the unweighted votes of each member.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)

        Returns
        -------
        ndarray of shape (n_members, n_rows, n_outputs)
            The functions of `committee.rules` can combine them, with `estimator_weights_` as weights.
        """
        if self._is_engine():
            table = self._read(X)
            votes = self._members.votes(list(table.columns), table.n_rows, self._threads(table.n_rows))
            is_crisp = self._scheme(self._task).is_crisp
            return one_hot(labels_of(votes), votes.shape[2]) if is_crisp else votes
        return np.array(list(self._each_vote(X)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.estimator is not None and not runs_in_engine(self.estimator):
            # Other members get X unchanged, so they determine which input is valid.
            tags.input_tags = get_tags(self.estimator).input_tags
        return tags

    def _check_stopping(self, given: tuple[Any, Any, Any]) -> None:
        is_given = any(value is not None for value in given)
        if is_given:
            check_given(*given)
        if self.warm_start and (self.early_stopping or is_given):
            raise ValueError(
                "warm_start=True keeps all members and uses no validation set. Set it to False, or set "
                "early_stopping=False and pass no X_val."
            )
        if self.early_stopping == "out_of_fold" and is_given:
            raise ValueError('early_stopping="out_of_fold" needs no X_val. Set it to True, or pass no X_val.')

    def _read_rounds(self, X: Any, y: Any, sample_weight: Any, resumes: bool) -> EngineRounds | PythonRounds:
        given = self.estimator
        if given is not None:
            check_estimator(given, are_classes=self._task_type is Classification)
        rounds: EngineRounds | PythonRounds
        if given is None or runs_in_engine(given):
            if given is not None:
                check_engine_member(given, "booster")
                check_accepts(given, X)
            table = (
                read_resumed_table(self, X)
                if resumes and self._is_engine()
                else fit_table(self, X, sample_weight)
            )
            training = training_of(self, table, y, sample_weight, None)
            member = default_member(training.task) if given is None else clone(given)
            rounds = EngineRounds(member, training, int(self.max_bins), n_threads(self.n_jobs)).binned()
        else:
            check_accepts(given, X)
            native = native_table(X)
            task, target = self._task_type.of(y)
            check_lengths(native.shape[0], target)
            rounds = PythonRounds(clone(given), native, task, target, row_weights(sample_weight, len(target)))
        seen = rounds.y if rounds.weights is None else rounds.y[rounds.weights > 0]
        check_two_classes(seen, rounds.task)
        if resumes:
            self._check_can_resume(rounds)
        return rounds

    def _check_can_resume(self, rounds: EngineRounds | PythonRounds) -> None:
        check_same_task(rounds.task, self._task)
        check_same_rows(rounds.n_rows, len(self._distribution.counts))
        if not are_members_of(rounds.member, self._members):
            raise ValueError("warm_start=True needs members of the same kind. Set it to False.")
        if self.store_weights and self.row_weights_ is None:
            raise ValueError("store_weights must be True from the first fit on. Set warm_start=False.")

    def _has_rounds_left(self, n_before: int) -> bool:
        check_grows(self.n_estimators, n_before, "members")
        if self._is_over:
            warnings.warn("A member has ended the run, so warm_start=True adds no members.", stacklevel=5)
        elif self.n_estimators == n_before:
            warn_of_no_more("members", stacklevel=6)
        return not self._is_over and self.n_estimators > n_before

    def _make(
        self,
        rounds: Any,
        settings: RoundSettings,
        curve: Curve | None,
        folds: np.ndarray | None,
        resumes: bool,
    ) -> tuple[Run, np.ndarray | list[float] | None]:
        """Boost, and return the run and the validation errors, if there are any."""
        if folds is not None:
            run = uninterrupted(rounds.boost(settings, start(rounds, settings.scheme)))
            return first_members(rounds, run, min(int(folds.argmin()) + 1, len(run.votes))), folds
        if self.early_stopping and curve is not None:
            return boost_while_better(rounds, settings, curve, int(self.n_iter_no_change)), curve.errors
        if self.early_stopping:
            return self._hold_out(rounds, settings)
        run = rounds.boost(settings, self._distribution if resumes else start(rounds, settings.scheme))
        if curve is None:
            return run, None
        curve.add(run)
        return run, curve.errors

    def _hold_out(self, rounds: Any, settings: RoundSettings) -> tuple[Run, list[float]]:
        is_held_out = held_out_rows(rounds, float(self.validation_fraction), settings.seed)
        curve = Curve.of_held_out(rounds, settings.scheme, is_held_out)
        run = boost_while_better(curve.rounds, settings, curve, int(self.n_iter_no_change))
        if run.weights is not None:
            all_weights = np.zeros((len(run.votes), rounds.n_rows))
            all_weights[:, ~is_held_out] = run.weights
            run = replace(run, weights=all_weights)
        return run, curve.errors

    def _keep_run(
        self, rounds: EngineRounds | PythonRounds, run: Run, settings: RoundSettings, X: Any
    ) -> None:
        """Set the fitted attributes. This is the last step, so that a failed fit changes nothing."""
        if isinstance(rounds, EngineRounds):
            assert rounds.codes is not None
            weighing = self._weighing(settings.scheme)
            forest = (
                run.members if weighing is None else _engine.weigh_votes(run.members, run.votes, *weighing)
            )
            self._keep(forest, rounds.training.table.schema, rounds.task, rounds.codes.has_missing)
            self._data = rounds.training.data
        else:
            # Delete attributes of a previous fit with engine members.
            for name in ("schema_", "_forest", "_has_missing", "_data"):
                self.__dict__.pop(name, None)
            validate_data(self, X, skip_check_array=True)
            self._matrix_width = -1
            self._keep_classes(rounds.task)
        self._seed, self._members, self._importances = settings.seed, run.members, run.importances
        self._is_over = run.is_over
        self.__dict__.pop("_distribution", None)
        if self.warm_start:
            self._distribution: Distribution = run.distribution
        self.estimator_ = rounds.member
        self.estimator_weights_, self.estimator_errors_ = run.votes, run.errors
        self.row_weights_ = run.weights

    def _each_vote(self, X: Any) -> Iterator[np.ndarray]:
        """Yield the votes of members that are not fitted by the engine, one member at a time."""
        native = native_table(X)
        validate_data(self, X, reset=False, skip_check_array=True)
        return each_vote(self._members, native, self._task, self._scheme(self._task))

    def _is_engine(self) -> bool:
        check_is_fitted(self)
        return isinstance(self._members, TREES)

    def _scheme(self, task: Classification | Regression) -> Scheme:
        n_classes = task.n_outputs if isinstance(task, Classification) else 0
        rate, loss = getattr(self, "learning_rate", 1.0), getattr(self, "loss", "linear")
        negative_votes = bool(getattr(self, "negative_votes", False))
        return Scheme(self._scheme_name, n_classes, float(rate), loss, negative_votes)

    def _weighing(self, scheme: Scheme) -> Weighing:
        """Return how votes are combined: whether they are crisp, the link and its scale; None for medians."""
        return None

    def _state(self) -> AdaBoostState:
        if self._is_engine():
            table: Any = self.schema_
        else:
            table = self.n_features_in_, getattr(self, "feature_names_in_", None)
        weighing = self._weighing(self._scheme(self._task))
        return AdaBoostState(self._task, self._members, self.estimator_weights_, weighing, True, table)

    def _learnt(self) -> dict[str, Any]:
        own: dict[str, Any] = {
            "seed": self._seed,
            "is_over": self._is_over,
            "estimator": self.estimator_,
            "estimator_errors": self.estimator_errors_,
            "row_weights": self.row_weights_,
            "validation_errors": self.validation_errors_,
            "distribution": vars(self._distribution) if "_distribution" in self.__dict__ else None,
        }
        if self._is_engine():
            own |= {"has_missing": self._has_missing, "importances": self._importances}
        return self._state().learnt() | own

    def _take_learnt(self, fields: Fields) -> None:
        state = AdaBoostState.take(fields, self._task_type)
        members, self._task, self.estimator_weights_ = state.members, state.task, state.weights
        n_members, is_engine = len(state.weights), isinstance(members, TREES)
        self._members = members
        is_same = state.weighing == self._weighing(self._scheme(self._task))
        fields.require(is_same or not state.is_weighing_known, "the votes are combined in another way")
        self._seed = fields.integer("seed", 0, 2**64 - 1)
        self._is_over = fields.take("is_over", bool)
        self.estimator_ = fields.take("estimator", object)
        fields.require(is_member(self.estimator_), "the estimator is not a member")
        is_kind = is_classifier if isinstance(self._task, Classification) else is_regressor
        fields.require(is_kind(self.estimator_), "the estimator is for another task")
        fields.require(are_members_of(self.estimator_, members), "the members are not of the estimator")
        self.estimator_errors_ = fields.array("estimator_errors", np.float64, (n_members,))
        self.row_weights_ = fields.optional_array("row_weights", np.float64, (n_members, None))
        self.validation_errors_ = fields.optional_array("validation_errors", np.float64, (None,))
        self._take_distribution(fields)
        if is_engine:
            schema = state.table
            has_missing = fields.array("has_missing", bool, (schema.n_columns,))
            self._importances = fields.array("importances", np.float64, (n_members, schema.n_columns))
            self._keep(state.weighed(), schema, self._task, has_missing)
            return
        n_columns, names = state.table
        for member in members:
            fields.require(votes_like(member, n_columns, self._task), "a member was fitted on another table")
        self.n_features_in_ = n_columns
        if names is not None:
            self.feature_names_in_ = names
        self._matrix_width, self._importances = -1, None
        self._keep_classes(self._task)

    def _take_distribution(self, fields: Fields) -> None:
        found = fields.optional_fields("distribution")
        if found is None:
            return
        counts = found.array("counts", np.uint32, (None,))
        n_mislabels = self._scheme(self._task).n_mislabels
        shape = (len(counts),) if n_mislabels is None else (len(counts), n_mislabels)
        units = found.array("units", np.float64, shape)
        found.require((units >= 0).all() and counts.any(), "the weights of the rows are not a distribution")
        found.finish()
        self._distribution = Distribution(counts, units)

    def _known_scores(self) -> dict[str, float]:
        errors = self.validation_errors_
        if errors is None or len(errors) < len(self.estimator_weights_):
            return {}
        return {"validation_error": float(errors[len(self.estimator_weights_) - 1])}


def check_accepts(member: Any, X: Any) -> None:
    """Raise if X is a `BinnedTable` and the member learns from values."""
    if isinstance(X, BinnedTable) and not (runs_in_engine(member) and takes_codes(member)):
        raise values_error(member)


def warn_of_chance(scheme: Scheme, run: Run) -> None:
    """Warn if the first member is no better than chance, so that it remains the only one."""
    chance = 1 - 1 / scheme.n_classes if scheme.name == "samme" else 0.5
    is_first = run.is_over and len(run.votes) == 1 and run.votes[0] > 0
    if is_first and run.errors[0] > chance * (1 - ROUNDING):
        warnings.warn(
            f"The first member is no better than chance (error {run.errors[0]:.3g}), so it is the only one. "
            "Use a stronger estimator.",
            stacklevel=5,
        )
