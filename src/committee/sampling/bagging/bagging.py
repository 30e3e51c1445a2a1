"""Fit bagging and random subspaces, and give access to their members.

In: a table and a class or a number for each row. Out: members of one kind, each fitted on other rows and
columns, and a rule that combines their votes. The engine grows our own trees in one call. A runner fits other
estimators. Bags, columns and seeds are the same for both.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from committee import _engine, running
from committee.combining.fixed_rules import one_hot
from committee.combining.rule import FixedRule, Rule, check_rule
from committee.learners import tree_parameters
from committee.learners.fit_session import CallbackSupportMixin, FitFrame, warn_of_no_more, with_callbacks
from committee.learners.fitted_members import Members, mean_importances
from committee.learners.training_data import (
    check_same_rows,
    check_same_task,
    fit_table,
    read_resumed_table,
    training_of,
)
from committee.learners.voter import Tabular, is_plain
from committee.members.member_fit import importances_of
from committee.members.member_kinds import (
    MEMBER,
    check_estimator,
    grows_in_engine,
    is_member,
    takes_codes,
    values_error,
)
from committee.members.member_votes import check_scored_by, has_own_labels
from committee.members.training_set import group_codes, in_order
from committee.metrics.scoring import metric_of
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
from committee.running import n_threads
from committee.sampling.bagging.batch import Batch, Made, MemberTraining, columns_of_members, n_members_wanted
from committee.sampling.bagging.engine_fits import are_members_of, check_tree, grow_members
from committee.sampling.bagging.outside_votes import (
    check_decides_outside,
    check_probabilities,
    check_values,
    votes_before,
)
from committee.sampling.bagging.runner_fits import each_vote, fit_members
from committee.sampling.bags import Bags, repeats_of, weights_each_time
from committee.sampling.ensemble import Ensemble
from committee.sampling.out_of_bag import (
    OutOfBag,
    check_can_resume,
    check_metric,
    is_named,
    n_outputs_of,
    warn_if_all_rows_seen,
)
from committee.sampling.out_of_bag_rules import Ruling, is_open, learns, needs_votes
from committee.saving import Fields
from committee.saving.model_parts import TREES
from committee.saving.predictors.deciders import name_of_sum, sums_votes
from committee.saving.states.committee_states import BaggingState, votes_like
from committee.table import BinnedTable
from committee.table.source import Source, open_source
from committee.task import Classification
from committee.votes.honest_votes import HonestVotes
from committee.votes.vote_arrays import dtype_of, shares_of


@declared
class Bagging(CallbackSupportMixin, Ensemble):
    """Members of one kind that are fitted on different rows or columns.

    Attributes
    ----------
    estimator_ : estimator
        An unfitted member.
    estimators_ : sequence of estimators
        The members. Those of the engine are created when they are accessed.
    estimators_features_ : list of ndarray of int
        The columns of each member.
    estimators_samples_ : list of ndarray of int
        The rows in the bag of each member, each as often as it was drawn. They are drawn again when they are
        accessed.
    estimator_weights_ : ndarray of shape (n_members,)
        The weight of the vote of each member, if the rule is a fixed one or has weights.
    oob_score_ : float
        With `oob_score`.
    oob_curve_ : ndarray of shape (n_members,)
        With `oob_score` or `n_estimators="auto"`: the error of the mean of the votes (of their majority, if
        that is the rule) after every member: the misclassified share of the rows, or the mean squared error.
    oob_votes_ : ndarray of shape (n_members, n_rows, n_outputs)
        With `keep_votes`: the votes of every member on the rows outside of its bag, NaN for other rows.
    feature_importances_ : ndarray of shape (n_columns,)
        The mean of the members' importances, if they have importances.
    """

    _default_member: ClassVar[type]

    estimator: Any = parameter(
        None,
        MEMBER,
        "The member, cloned for each bag with new random states. None is an unpruned tree. The engine grows "
        "`DecisionTree`, `RandomTree`, `DecisionStump` and `C45Classifier` members in one call, from a table "
        "that is binned once, or sorted once for C4.5. They use all classes and categories of the table. The "
        "runner fits other members on the unchanged X. Members that take `sample_weight`, in all their "
        "parts, get the rows of a bag once, with weights. Others, and pipelines, get them as often as they "
        "were drawn. If a member raises on a bag of one class, scikit-learn's `DummyClassifier` replaces it.",
        kw_only=False,
    )
    n_estimators: int | str = parameter(
        10,
        either(integer(1), one_of("auto")),
        'The number of members. "auto" adds members, at most 1000, until the out-of-bag error is flat: its '
        "mean over the last 25 members is less than half a percent below the mean over the 25 before.",
        kw_only=False,
    )
    max_samples: int | float = parameter(
        1.0,
        either(integer(1), share(whole=True)),
        "The number of rows (or groups, if `fit` gets some) to draw for each member. A float is a share of "
        "those of positive weight.",
    )
    max_features: int | float = parameter(
        1.0,
        either(integer(1), share(whole=True)),
        "The number of columns to draw for each member. A float is a share of all.",
    )
    bootstrap: bool = parameter(
        True,
        boolean,
        "Whether rows are drawn with replacement, in proportion to their weights. Drawn rows have the weight "
        "1. Integer weights whose mean over the positive ones is below 4 are repetitions: a row of weight 2 "
        "is the row twice. False is pasting: every row, or every repetition of a row, is drawn at most once "
        "with the same probability and keeps its weight.",
    )
    bootstrap_features: bool = parameter(
        False,
        boolean,
        "Whether columns are drawn with replacement. A column that is drawn twice is used once.",
    )
    keep_votes: bool = parameter(
        False,
        boolean,
        "Whether to store the votes of every member on the rows outside of its bag, for `oob_votes_` and "
        "`recombine`.",
    )
    warm_start: bool = parameter(False, *tree_parameters.WARM_START)
    categorical_features: Any = parameter("from_dtype", *tree_parameters.CATEGORICAL_FEATURES)
    runner: Any = parameter("threads", *tree_parameters.RUNNER)
    n_jobs: int | None = parameter(None, *tree_parameters.N_JOBS)
    random_state: Any = parameter(None, *tree_parameters.SEED)
    verbose: int = parameter(0, *tree_parameters.VERBOSE)

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Fit the members.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            numpy, scipy sparse, pandas, polars or Arrow. NaN and None are missing values. Members that the
            engine does not grow get it unchanged (a sparse matrix as a dense one). The engine takes a
            `BinnedTable` too.
        y : array-like of shape (n_rows,)
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows. None gives every row the weight 1. See `bootstrap` for their effect. Rows of
            weight 0 are ignored.
        groups : array-like of shape (n_rows,), default=None
            Rows of one group are drawn together, and keep their weights. All groups have the same
            probability. So the out-of-bag votes on a row come from members without any row of its group.

        Returns
        -------
        self
        """
        check_parameters(self)
        resumes = bool(self.warm_start) and self._has_learnt()
        data = self._read_training(X, y, sample_weight, groups, resumes)
        seed = self._seed if resumes else tree_parameters.draw_seed(self.random_state)
        rule = self._new_rule(seed)
        batch = self._batch(data, rule, seed, self._n_members() if resumes else 0)
        if batch.last == batch.first:
            if not batch.is_auto:
                warn_of_no_more("members")
            self._score_again(data.training)
            return self
        frame = FitFrame(self, X, y, "member", batch.last, n_before=batch.first, is_limit=batch.is_auto)
        with frame.work:
            made = self._make(replace(batch, progress=frame.hook))
        frame.end(made.interruption, made.n_members, lambda: self._keep_made(made, batch, rule))
        warn_if_all_rows_seen(self._out_of_bag if self.oob_score else None)
        return self

    @property
    def estimators_(self) -> Any:
        """The members: a sequence of fitted estimators. Those of the engine are created on access."""
        check_is_fitted(self)
        return Members(self, self._members) if self._is_engine() else self._members

    @property
    def estimators_features_(self) -> list[np.ndarray]:
        """The columns of each member."""
        check_is_fitted(self)
        if self._columns is None:
            return [np.arange(self.n_features_in_)] * self._n_members()
        return [columns.astype(np.int64) for columns in self._columns]

    @property
    def estimators_samples_(self) -> list[np.ndarray]:
        """The rows in the bag of each member, each as often as it was drawn."""
        check_is_fitted(self)
        return [self._bags.rows(self._seed, i) for i in range(self._n_members())]

    @property
    def estimator_weights_(self) -> np.ndarray:
        """The weight of the vote of each member."""
        check_is_fitted(self)
        if isinstance(self.rule_, FixedRule) or self.rule_ is None:
            return shares_of(getattr(self.rule_, "weights", None), self._n_members())
        if not hasattr(self.rule_, "weights_"):
            raise AttributeError(f"{type(self.rule_).__name__} has no weight for each member.")
        return np.asarray(self.rule_.weights_)

    @property
    def feature_importances_(self) -> np.ndarray:
        """The mean of the members' importances, if they have importances. They sum to 1, or are all 0."""
        check_is_fitted(self)
        if self._importances is not None:
            by_member = self._importances
        else:
            by_member = np.zeros((self._n_members(), self.n_features_in_))
            for i, columns in enumerate(self.estimators_features_):
                by_member[i, columns] = importances_of(self._members[i], len(columns))
        return mean_importances(by_member)

    @property
    def oob_votes_(self) -> np.ndarray:
        """The votes of every member on the rows outside of its bag, NaN for other rows."""
        check_is_fitted(self)
        if self._votes_outside is None:
            raise AttributeError("Only a fit with keep_votes=True stores the votes of members.")
        return self._votes_outside.votes

    def recombine(self, rule: Any, X: Any = None) -> Self:
        """Return the same members with another rule, without fitting members again.

        Parameters
        ----------
        rule : str, callable or Rule
            A name of `committee.rules`, a function of votes, or a rule. A rule that learns needs a fit with
            `keep_votes=True`.
        X : table, default=None
            The table of the fit, for a rule that uses the columns of X.

        Returns
        -------
        estimator
            A fitted estimator of the same class, without an out-of-bag score.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from committee import BaggingClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> bagging = BaggingClassifier(n_estimators=20, keep_votes=True, random_state=0).fit(X, y)
        >>> bagging.recombine("stacking").predict(X[:2])
        array([0, 0])
        """
        check_is_fitted(self)
        another = clone(self).set_params(rule=rule)
        check_parameters(another)
        another.__dict__.update(
            {name: value for name, value in vars(self).items() if name not in self.get_params(deep=False)}
        )
        made = another._new_rule(self._seed)
        check_rule(made, self._n_members(), self._task)
        check_probabilities(made, self.estimator_, self._task)
        native = None if X is None else self._open(X).native
        if native is not None and native.shape[0] != self._bags.n_rows:
            raise ValueError(
                f"X has {native.shape[0]} rows, and the members were fitted on {self._bags.n_rows}. Pass the "
                "table of the fit."
            )
        ruling = Ruling.of(made, self._task, self._votes_outside, native, is_scored=False)
        another._keep_ruling(ruling, keeps_votes=True)
        another._out_of_bag = None
        return another

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.estimator is not None and not grows_in_engine(self.estimator):
            # Members that the engine does not grow get X unchanged.
            own = get_tags(self.estimator).input_tags
            tags.input_tags.allow_nan = own.allow_nan
            tags.input_tags.string, tags.input_tags.categorical = own.string, own.categorical
        return tags

    def _read_training(
        self, X: Any, y: Any, sample_weight: Any, groups: Any, resumes: bool
    ) -> MemberTraining:
        """Read and check the training data of the members."""
        member = self._default_member() if self.estimator is None else clone(self.estimator)
        check_estimator(member, are_classes=self._task_type is Classification)
        if isinstance(X, BinnedTable) and not takes_codes(member):
            raise values_error(member)
        source = X if isinstance(X, BinnedTable) else open_source(X)
        table = read_resumed_table(self, source) if resumes else fit_table(self, source, sample_weight)
        training = training_of(self, table, y, sample_weight, getattr(self, "class_weight", None))
        if grows_in_engine(member):
            check_tree(member, training.y)
        native = None if isinstance(source, BinnedTable) else in_order(source, table.schema).native
        codes, binned = group_codes(groups, table.n_rows), training.bin(n_threads(self.n_jobs))
        repeats = repeats_of(sample_weight, table.n_rows) if codes is None else None
        return MemberTraining(member, training, binned, native, codes, repeats)

    def _batch(self, data: MemberTraining, rule: Rule, seed: int, first: int) -> Batch:
        """Return the members to add, with all checks done before any work."""
        training = data.training
        curve = self._curve_before() if first > 0 else ()
        last = n_members_wanted(self.n_estimators, first, "members", curve)
        check_rule(rule, last, training.task)
        check_metric(self.oob_score, training.task)
        check_probabilities(rule, data.member, training.task)
        if self.oob_score and is_open(training.task):
            check_decides_outside(rule, last, training.task)
        if is_named(self.oob_score):
            check_scored_by(data.member, metric_of(self.oob_score, n_outputs_of(training.task)))
        self._check_classes_weigh(data)
        columns = columns_of_members(
            training.table.schema.n_columns,
            self.max_features,
            replaces=bool(self.bootstrap_features),
            seed=seed,
            members=range(first, last),
        )
        bags = Bags.of(
            training,
            data.binned,
            data.groups,
            bootstrap=bool(self.bootstrap),
            max_samples=self.max_samples,
            sampling=getattr(self, "sampling", "plain"),
            repeats=data.repeats,
            n_threads=n_threads(self.n_jobs),
        )
        is_scored = bool(self.oob_score) or self.n_estimators == "auto"
        if first > 0:
            self._check_can_resume(data, bags, name_of_sum(rule), is_scored)
        has_to_learn = learns(rule, training.task)
        needs = needs_votes(rule, training.task, is_scored=bool(self.oob_score))
        keeps_votes = bool(self.keep_votes) or needs
        if not bags.leaves_rows:
            self._check_all_rows(is_scored, has_to_learn)
        check_values(training.table, rule, keeps_votes)
        if first > 0 and keeps_votes:
            votes_before(self._votes_outside)
        before = self._out_of_bag if first > 0 and is_scored else None
        return Batch(
            data,
            bags,
            weights_each_time(training.weights, data.repeats) if bags.keeps_weights else None,
            columns,
            seed,
            first,
            last,
            is_auto=self.n_estimators == "auto",
            is_scored=is_scored,
            keeps_votes=keeps_votes,
            is_majority=name_of_sum(rule) == "majority",
            before=before,
        )

    def _check_classes_weigh(self, data: MemberTraining) -> None:
        sampling, weight = getattr(self, "sampling", "plain"), getattr(self, "class_weight", None)
        if sampling != "plain" and weight is not None and self.bootstrap and data.groups is None:
            raise ValueError(
                f"class_weight and sampling={sampling!r} both set how often classes are drawn. Set one of "
                "them, or class_weight of the estimator."
            )

    def _check_all_rows(self, is_scored: bool, learns: bool) -> None:
        if is_scored or self.keep_votes:
            raise ValueError(
                "Out of bag estimation only available if bootstrap=True, or max_samples < 1: every member "
                "sees all rows."
            )
        if learns:
            raise ValueError(
                f"rule={self.rule!r} learns from out-of-bag votes, and every member sees all rows. Set "
                "bootstrap=True or max_samples < 1, or rule='mean'."
            )

    def _make(self, batch: Batch) -> Made:
        if grows_in_engine(batch.data.member):
            return grow_members(batch, n_threads(self.n_jobs))
        # A single thread gains nothing over a serial runner, and its memory goes back to the system when it
        # ends: allocating that memory again takes a third of a quick fit.
        is_alone = self.runner == "threads" and n_threads(self.n_jobs) == 1
        with running.runner_of("serial" if is_alone else self.runner, self.n_jobs) as run:
            return fit_members(batch, run)

    def _keep_made(self, made: Made, batch: Batch, rule: Rule) -> None:
        """Store the results of a fit. This is the last step, so a failed fit changes nothing."""
        data, training, resumes = batch.data, batch.data.training, batch.first > 0
        outside = None
        if made.votes is not None:
            outside = HonestVotes.of_bags(made.votes, training.y, training.weights, data.groups, made.labels)
        columns = None if batch.columns is None else batch.columns[: made.n_members]
        members, importances, has_missing = made.members, made.importances, made.has_missing
        if resumes:
            is_list = isinstance(members, list)
            members = self._members + members if is_list else _engine.append_trees(self._members, members)
            columns = self._columns_with(columns, made.n_members)
            if outside is not None and self._votes_outside is not None:
                outside = outside.after(self._votes_outside)
            if importances is not None and has_missing is not None:
                importances = np.concatenate([self._importances, importances])
                has_missing = has_missing | self._has_missing
        ruling = Ruling.of(rule, training.task, outside, data.native, is_scored=bool(self.oob_score))
        out_of_bag = None
        if made.out_of_bag is not None:
            out_of_bag = OutOfBag.of(made.out_of_bag, training, self.oob_score, ruling.decision)
        self._keep_task(training.table.schema, training.task)
        self._members: Any = members
        self._columns: list[np.ndarray] | None = columns
        self._importances: np.ndarray | None = importances
        self._bags, self._seed, self._data = batch.bags, batch.seed, training.data
        # None for members that the engine does not grow.
        self._has_missing: Any = has_missing
        self._out_of_bag = out_of_bag
        self.estimator_ = data.member
        self._own_labels = training.n_classes > 0 and has_own_labels(data.member)
        # A resumed fit needs the votes of the existing members.
        self._keep_ruling(ruling, keeps_votes=bool(self.keep_votes or self.warm_start))

    def _cast(self, X: Any, *, as_labels: bool = False) -> np.ndarray:
        if self._is_engine():
            table = self._read(X)
            return self._members.votes(list(table.columns), table.n_rows, self._threads(table.n_rows))
        return self._votes(self._open(X), as_labels=as_labels)

    def _is_engine(self) -> bool:
        return isinstance(self._members, TREES)

    def _n_members(self) -> int:
        return self._members.n_trees if self._is_engine() else len(self._members)

    def _keep_ruling(self, ruling: Ruling, *, keeps_votes: bool) -> None:
        """Store a fitted rule. If it only sums votes, the engine decides for its own trees."""
        self.__dict__.pop("_forest", None)
        self._matrix_width = -1
        if self._is_engine() and sums_votes(ruling.rule):
            self._forest = self._members
            self._matrix_width = self.schema_.n_columns if is_plain(self.schema_) else -1
        super()._keep_ruling(ruling, keeps_votes=keeps_votes)

    @property
    def nbytes(self) -> int:
        """The size of the members in memory, in bytes, if they are of the engine."""
        check_is_fitted(self)
        if not self._is_engine():
            raise AttributeError("nbytes is only available for members that the engine grows.")
        return int(self._members.nbytes)

    def _columns_with(self, more: list[np.ndarray] | None, n_more: int) -> list[np.ndarray] | None:
        """Return the columns of the existing members and of new ones."""
        if self._columns is None and more is None:
            return None
        every = np.arange(self.n_features_in_, dtype=np.uint32)
        before = [every] * self._n_members() if self._columns is None else self._columns
        return [*before, *([every] * n_more if more is None else more)]

    def _check_can_resume(self, data: MemberTraining, bags: Bags, sum_rule: str, is_scored: bool) -> None:
        """Raise if the previous fit had other rows, bags, kinds of members or rules."""
        check_same_task(data.training.task, self._task)
        if grows_in_engine(data.member) != self._is_engine():
            raise ValueError("warm_start=True needs members of the same kind. Set it to False.")
        check_same_rows(bags.n_rows, self._bags.n_rows)
        if not bags.equals(self._bags):
            raise ValueError(
                "warm_start=True needs the bags of the previous fit, and these differ. Keep rows, weights, "
                "groups, bootstrap, max_samples and sampling unchanged, or set it to False."
            )
        if is_scored:
            check_can_resume(self._out_of_bag, bags.n_rows, False)
            self._check_same_sums(sum_rule)

    def _each_vote(self, source: Source, *, as_labels: bool) -> Iterator[np.ndarray]:
        runner = "serial" if self.runner == "serial" else "threads"
        is_crisp = as_labels and self._own_labels
        return each_vote(
            self._members, self._columns, source, self._task, runner, self.n_jobs, is_crisp=is_crisp
        )

    def _votes(self, source: Source, *, as_labels: bool = False) -> np.ndarray:
        shape = (self._n_members(), source.n_rows, self._task.n_outputs)
        votes: np.ndarray = np.empty(shape, dtype=dtype_of(self._task))
        for i, cast in enumerate(self._each_vote(source, as_labels=as_labels)):
            votes[i] = cast
        return votes

    def _decide_table(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        if sums_votes(self.rule_) and not self._is_engine():
            return self._mean(self._open(X))
        return super()._decide_table(X)

    def _mean(self, source: Source) -> np.ndarray:
        total = np.zeros((source.n_rows, self._task.n_outputs))
        for votes in self._each_vote(source, as_labels=self._rule == "majority"):
            total += one_hot(votes.argmax(axis=1), votes.shape[1]) if self._rule == "majority" else votes
        return total / self._n_members()

    def _scored(self) -> OutOfBag:
        check_is_fitted(self)
        if not self.oob_score:
            raise AttributeError("There are out-of-bag decisions only after a fit with oob_score=True.")
        return super()._scored()

    def _state(self) -> BaggingState:
        kept = self._kept_rule()
        columns = None if self._columns is None else [each.tolist() for each in self._columns]
        return BaggingState(self.schema_, self._task, self._members, columns, kept, self._own_labels)

    def _has_learnt(self) -> bool:
        return "_members" in self.__dict__

    def _learnt(self) -> dict[str, Any]:
        return Tabular._learnt(self) | {
            "seed": self._seed,
            "bags": vars(self._bags),
            "estimator": self.estimator_,
            "importances": self._importances,
            "has_missing": self._has_missing,
            **self._learnt_ruling(),
        }

    def _take_learnt(self, fields: Fields) -> None:
        state = BaggingState.take(fields, self._task_type)
        self._keep_task(state.schema, state.task)
        self._members = state.members
        self._own_labels = state.own_labels
        columns = state.columns
        self._columns = None if columns is None else [np.array(each, dtype=np.uint32) for each in columns]
        n_members, n_columns = self._n_members(), self.n_features_in_
        if not self._is_engine():
            for i, member in enumerate(self._members):
                n_seen = n_columns if columns is None else len(columns[i])
                fields.require(votes_like(member, n_seen, self._task), "a member was fitted on another table")
        self._seed = fields.integer("seed", 0, 2**64 - 1)
        self._bags = Bags.take(fields.fields("bags"))
        self.estimator_ = fields.take("estimator", object)
        fields.require(is_member(self.estimator_), "the estimator is not an estimator")
        are_its = are_members_of(self.estimator_, self._members)
        fields.require(are_its, "the members are not of the estimator")
        importances = fields.optional_array("importances", np.float64, (n_members, n_columns))
        has_missing = fields.optional_array("has_missing", bool, (n_columns,))
        is_whole = (importances is not None and has_missing is not None) == self._is_engine()
        fields.require(is_whole, "importances and missing values do not fit the members")
        self._importances, self._has_missing = importances, has_missing
        self._take_ruling(state.kept, fields, n_members, self._bags.n_rows)

    def _known_scores(self) -> dict[str, float]:
        return super()._known_scores() if self.oob_score else {}
