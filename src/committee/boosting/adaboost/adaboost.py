"""What the four AdaBoosts share: their parameters, their fit, and what can be asked of their members.

In: a table and a class or a number for each row. Out: members that were made one after the other, each for
what those before it got wrong, and their votes. Our own trees are made in the engine, all rounds in one call;
other estimators by a runner, round by round. Nothing else differs between the two.
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
    first_members,
    go_while_better,
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
from committee.learners.fit_session import CallbackSupportMixin, FitFrame, warn_of_no_more, with_callbacks
from committee.learners.fitted_members import Members, mean_importances
from committee.learners.training_data import check_same_task, fit_table, read_resumed_table, training_of
from committee.learners.tree_parameters import CATEGORICAL_FEATURES, N_JOBS, RUNNER, VERBOSE, draw_seed
from committee.members.member_fit import importances_of
from committee.members.member_kinds import check_engine_member, check_estimator, is_member, takes_codes
from committee.members.member_view import native_table
from committee.parameters import (
    RANDOM_STATE,
    Constraint,
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
    """Members made one after the other, each for the rows that those before it got wrong.

    Attributes
    ----------
    estimator_ : estimator
        A member that is not fitted.
    estimators_ : sequence of estimators
        The members. Those of the engine are made when they are asked for.
    estimator_weights_, estimator_errors_ : ndarray of shape (n_members,)
        The votes of the members, and their errors on the rows as each saw them.
    validation_errors_ : ndarray or None
        The errors on `X_val`, on the held-out rows or out of fold after each member.
    row_weights_ : ndarray of shape (n_members, n_rows) or None
        The weights of the rows in each round, with `store_weights`.
    feature_importances_ : ndarray of shape (n_columns,)
        The importances of the members, weighted by their votes.
    schema_ : Schema
        The columns of the training table, if the members are of the engine.
    nbytes : int
        The size of the members in memory, if they are of the engine.
    """

    _scheme_name: ClassVar[str]

    estimator: Any = parameter(
        None,
        Constraint(
            "an estimator with fit and predict, or None", lambda value: value is None or is_member(value)
        ),
        "The member, cloned for every round. None is a stump for two classes, a tree of depth 1 + "
        "ceil(log2(n_classes)) for more and one of depth 3 for numbers. The engine makes all rounds for "
        "`DecisionStump`, `DecisionTree`, `RandomTree` and `C45Classifier` members without `class_weight`; "
        "others are fitted by the runner, one after the other, with weights of a mean of 1.",
        kw_only=False,
    )
    n_estimators: int = parameter(50, integer(1), "The most members that are made.")
    weighting: str = parameter(
        "reweight",
        one_of("reweight", "resample"),
        '"reweight" gives the weights to the member. "resample" draws as many rows as there are, with '
        "replacement, in proportion to their weights, whatever the order of the table: for members that fit "
        "the weighted rows without error, "
        "such as full trees, which would end the run at once. A member that takes no `sample_weight` at its "
        "`fit`, or is made of one that takes none, is always resampled. Where a member refuses drawn rows of "
        "one class, scikit-learn's `DummyClassifier` votes for it.",
    )
    max_bins: int = parameter(
        255,
        integer(2, MAX_BINS),
        "How many bins a column of numbers may have, for members of the engine. Columns of no more distinct "
        "values are split exactly, others at quantiles. More than 255 take twice the memory.",
    )
    early_stopping: Any = parameter(
        False,
        either(boolean, one_of("out_of_fold")),
        "True stops when the error on `X_val`, or on held-out rows if it is not given, has not fallen for "
        '`n_iter_no_change` rounds, and keeps the members up to the lowest error. "out_of_fold" looks for '
        "the number of members of the lowest error in 5-fold cross-validation, and then makes as many from "
        "all rows; the runner takes several folds at a time. The error is the misclassified share or the "
        "mean absolute error.",
    )
    validation_fraction: float = parameter(
        0.1,
        share(whole=False),
        "The share of the rows that early_stopping=True holds out if there is no `X_val`.",
    )
    n_iter_no_change: int = parameter(
        10, integer(1), "How many rounds early_stopping=True waits for a lower error."
    )
    store_weights: bool = parameter(
        False, boolean, "Whether to keep the weights of the rows in every round, as `row_weights_`."
    )
    warm_start: bool = parameter(
        False,
        boolean,
        "Whether `fit` adds members to those of the previous fit, up to `n_estimators`. The rows must be "
        "the same, and their weights go on from where they were: `sample_weight` counts in the first fit. A "
        "fit that is interrupted (Ctrl-C) keeps the members that are made, and the next one goes on; with "
        "False, it leaves the estimator as it was.",
    )
    categorical_features: Any = parameter("from_dtype", *CATEGORICAL_FEATURES)
    runner: Any = parameter("threads", *RUNNER)
    n_jobs: int | None = parameter(None, *N_JOBS)
    verbose: int = parameter(0, *VERBOSE)
    random_state: Any = parameter(
        None,
        RANDOM_STATE,
        "The seed of drawn rows, held-out rows and members that draw. The same seed gives the same "
        "members on any number of threads and with any runner.",
    )

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
        """Make the members.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            numpy, scipy sparse, pandas, polars or Arrow, or a `BinnedTable`. NaN and None are missing values.
            A member that is not of the engine gets it as it is.
        y : array-like of shape (n_rows,)
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows in the first round. None gives every row the weight 1.
        X_val : table of shape (n_validation_rows, n_columns), default=None
            Rows on which `validation_errors_` are measured, and by which early_stopping=True stops.
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
        seed = self._seed if resumes else draw_seed(self.random_state)
        resamples = self.weighting == "resample" or not all_take_weights(rounds.member)
        n_more = int(self.n_estimators) - n_before
        settings = RoundSettings(scheme, resamples, seed, n_more, n_before, bool(self.store_weights))
        curve = None if X_val is None else validation_curve(rounds, scheme, given)
        name, folds = type(self).__name__, None
        if self.early_stopping == "out_of_fold":
            with runner_of(self.runner, self.n_jobs) as workers:
                folds = out_of_fold_errors(rounds.by(workers), settings, name, self.verbose)
        frame = FitFrame(self, X, y, "member", int(self.n_estimators), n_before=n_before)
        # Members follow one another, so each may use all cores.
        with runner_of(self.runner, 1) as worker, frame.work:
            settings = replace(settings, progress=frame.hook)
            run, errors = self._make(rounds.by(worker), settings, curve, folds, resumes)
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
        """The members: a sequence of fitted estimators, those of the engine made when they are asked for."""
        check_is_fitted(self)
        return Members(self, self._members) if self._is_engine() else self._members

    @property
    def feature_importances_(self) -> np.ndarray:
        """How much the members' splits on each column lower the impurity, weighted by the members' votes.

        They sum to 1, or are all 0. Members of other libraries must have `feature_importances_`.
        """
        check_is_fitted(self)
        if self._importances is None:
            by_member = np.array([importances_of(member, self.n_features_in_) for member in self._members])
        else:
            by_member = self._importances
        return mean_importances(by_member, self.estimator_weights_ if self.estimator_weights_.any() else None)

    @property
    def nbytes(self) -> int:
        """The size of the members in memory, in bytes, if they are of the engine."""
        if not self._is_engine():
            raise AttributeError("Only members of the engine know their size.")
        return self._members.nbytes + (self._forest.nbytes if self._forest is not self._members else 0)

    def votes(self, X: Any) -> np.ndarray:
        """The vote of every member, before it is weighed.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)

        Returns
        -------
        ndarray of shape (n_members, n_rows, n_outputs)
            The functions of `committee.rules` combine them, with `estimator_weights_` as weights.
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
            # Members that are not of the engine get what there is.
            tags.input_tags = get_tags(self.estimator).input_tags
        return tags

    def _check_stopping(self, given: tuple[Any, Any, Any]) -> None:
        is_given = any(value is not None for value in given)
        if is_given:
            check_given(*given)
        if self.warm_start and (self.early_stopping or is_given):
            raise ValueError(
                "warm_start=True goes on with all members and knows no validation set. Set it to False, or "
                "early_stopping to False and pass no X_val."
            )
        if self.early_stopping == "out_of_fold" and is_given:
            raise ValueError('early_stopping="out_of_fold" needs no X_val. Set it to True, or pass no X_val.')

    def _read_rounds(self, X: Any, y: Any, sample_weight: Any, resumes: bool) -> EngineRounds | PythonRounds:
        asked = self.estimator
        if asked is not None:
            check_estimator(asked, are_classes=self._task_type is Classification)
        rounds: EngineRounds | PythonRounds
        if asked is None or runs_in_engine(asked):
            if asked is not None:
                check_engine_member(asked, "booster")
                check_takes(asked, X)
            table = (
                read_resumed_table(self, X)
                if resumes and self._is_engine()
                else fit_table(self, X, sample_weight)
            )
            training = training_of(self, table, y, sample_weight, None)
            member = default_member(training.task) if asked is None else clone(asked)
            rounds = EngineRounds(member, training, int(self.max_bins), n_threads(self.n_jobs)).binned()
        else:
            check_takes(asked, X)
            native = native_table(X)
            task, target = self._task_type.of(y)
            check_lengths(native.shape[0], target)
            rounds = PythonRounds(clone(asked), native, task, target, row_weights(sample_weight, len(target)))
        seen = rounds.y if rounds.weights is None else rounds.y[rounds.weights > 0]
        check_two_classes(seen, rounds.task)
        if resumes:
            self._check_can_resume(rounds)
        return rounds

    def _check_can_resume(self, rounds: EngineRounds | PythonRounds) -> None:
        check_same_task(rounds.task, self._task)
        if len(self._distribution.counts) != rounds.n_rows:
            raise ValueError(
                f"X has {rounds.n_rows} rows, and the members of the previous fit saw "
                f"{len(self._distribution.counts)}. With warm_start=True, pass the same rows."
            )
        if not are_members_of(rounds.member, self._members):
            raise ValueError("warm_start=True goes on with members of the same kind. Set it to False.")
        if self.store_weights and self.row_weights_ is None:
            raise ValueError("store_weights must be True from the first fit on. Set warm_start=False.")

    def _has_rounds_left(self, n_before: int) -> bool:
        if self.n_estimators < n_before:
            raise ValueError(
                f"n_estimators={self.n_estimators} must be >= {n_before}, the number of members there are, "
                "with warm_start=True."
            )
        if self._is_over:
            warnings.warn("A member has ended the run, so warm_start=True adds none.", stacklevel=4)
        elif self.n_estimators == n_before:
            warn_of_no_more("members", stacklevel=5)
        return not self._is_over and self.n_estimators > n_before

    def _make(
        self,
        rounds: Any,
        settings: RoundSettings,
        curve: Curve | None,
        folds: np.ndarray | None,
        resumes: bool,
    ) -> tuple[Run, np.ndarray | list[float] | None]:
        """The run, and the validation errors if there are any: given for folds, or those of the curve."""
        if folds is not None:
            run = uninterrupted(rounds.go(settings, start(rounds, settings.scheme)))
            return first_members(rounds, run, min(int(folds.argmin()) + 1, len(run.votes))), folds
        if self.early_stopping and curve is not None:
            return go_while_better(rounds, settings, curve, int(self.n_iter_no_change)), curve.errors
        if self.early_stopping:
            return self._hold_out(rounds, settings)
        run = rounds.go(settings, self._distribution if resumes else start(rounds, settings.scheme))
        if curve is None:
            return run, None
        curve.add(run)
        return run, curve.errors

    def _hold_out(self, rounds: Any, settings: RoundSettings) -> tuple[Run, list[float]]:
        is_held_out = held_out_rows(rounds, float(self.validation_fraction), settings.seed)
        curve = Curve.of_held_out(rounds, settings.scheme, is_held_out)
        run = go_while_better(curve.rounds, settings, curve, int(self.n_iter_no_change))
        if run.weights is not None:
            all_weights = np.zeros((len(run.votes), rounds.n_rows))
            all_weights[:, ~is_held_out] = run.weights
            run = replace(run, weights=all_weights)
        return run, curve.errors

    def _keep_run(
        self, rounds: EngineRounds | PythonRounds, run: Run, settings: RoundSettings, X: Any
    ) -> None:
        """Become a fitted estimator: the last step of a fit, so that one that fails changes nothing."""
        if isinstance(rounds, EngineRounds):
            assert rounds.codes is not None
            weighing = self._weighing(settings.scheme)
            forest = (
                run.members if weighing is None else _engine.weigh_votes(run.members, run.votes, *weighing)
            )
            self._keep(forest, rounds.training.table.schema, rounds.task, rounds.codes.has_missing)
            self._data = rounds.training.data
        else:
            # What an earlier fit with members of the engine left is not this fit's.
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
        """The votes of members that are not of the engine, one member after the other."""
        native = native_table(X)
        validate_data(self, X, reset=False, skip_check_array=True)
        return each_vote(self._members, native, self._task, self._scheme(self._task))

    def _is_engine(self) -> bool:
        check_is_fitted(self)
        return isinstance(self._members, TREES)

    def _scheme(self, task: Classification | Regression) -> Scheme:
        n_classes = task.n_outputs if isinstance(task, Classification) else 0
        rate, loss = getattr(self, "learning_rate", 1.0), getattr(self, "loss", "linear")
        return Scheme(self._scheme_name, n_classes, float(rate), loss)

    def _weighing(self, scheme: Scheme) -> Weighing:
        """How the engine weighs votes: whether they are crisp, the link and its scale. None takes medians."""
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
        fields.require(is_same or not state.is_weighing_known, "votes are weighed in another way")
        self._seed = fields.integer("seed", 0, 2**64 - 1)
        self._is_over = fields.take("is_over", bool)
        self.estimator_ = fields.take("estimator", object)
        fields.require(is_member(self.estimator_), "the estimator is none")
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
            fields.require(votes_like(member, n_columns, self._task), "a member decides on another table")
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
        found.require((units >= 0).all() and counts.any(), "the weights of the rows are no distribution")
        found.finish()
        self._distribution = Distribution(counts, units)

    def _known_scores(self) -> dict[str, float]:
        errors = self.validation_errors_
        if errors is None or len(errors) < len(self.estimator_weights_):
            return {}
        return {"validation_error": float(errors[len(self.estimator_weights_) - 1])}


def check_takes(member: Any, X: Any) -> None:
    """Raise if X is in codes, and a member learns from values."""
    if isinstance(X, BinnedTable) and not (runs_in_engine(member) and takes_codes(member)):
        raise TypeError(
            f"X is a BinnedTable, and {type(member).__name__} learns from values. Pass the table itself."
        )


def warn_of_chance(scheme: Scheme, run: Run) -> None:
    """Tell that boosting did not work: the first member is no better than chance, and stays alone."""
    chance = 1 - 1 / scheme.n_classes if scheme.name == "samme" else 0.5
    if run.is_over and len(run.votes) == 1 and run.errors[0] > chance * (1 - ROUNDING):
        warnings.warn(
            f"The first member is no better than chance (error {run.errors[0]:.3g}), so it is the only one. "
            "Take a stronger estimator.",
            stacklevel=4,
        )
