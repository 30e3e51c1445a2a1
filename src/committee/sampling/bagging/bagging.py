"""What bagging and random subspaces share: their fit, and what can be asked of their members.

In: a table and a class or a number for each row. Out: members of one kind, each fitted on rows and columns of
its own, and a rule on their votes. Our own trees are grown by the engine, all in one call; other estimators
are fitted by a runner. Bags, columns and seeds are the same for both.
"""

from __future__ import annotations

import warnings
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
from committee.learners.fit_session import CallbackSupportMixin, FitFrame, warn_of_no_more, with_callbacks
from committee.learners.fitted_members import Members, mean_importances
from committee.learners.training_data import check_same_task, fit_table, read_resumed_table, training_of
from committee.learners.tree_parameters import CATEGORICAL_FEATURES, N_JOBS, RUNNER, VERBOSE, draw_seed
from committee.learners.voter import Tabular, is_plain
from committee.members.member_fit import importances_of
from committee.members.member_kinds import check_estimator, grows_in_engine, is_member, takes_codes
from committee.members.member_votes import check_judged
from committee.members.training_set import group_codes, in_order
from committee.metrics.scoring import metric_of
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
from committee.running import n_threads
from committee.sampling.bagging.batch import Batch, Learning, Made, columns_of_members, n_members_wanted
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
from committee.sampling.out_of_bag import OutOfBag, check_can_resume, check_metric, is_named, n_outputs_of
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
    """Members of one kind that differ because each sees other rows or other columns.

    Attributes
    ----------
    estimator_ : estimator
        A member that is not fitted.
    estimators_ : sequence of estimators
        The members. Those of the engine are made when they are asked for.
    estimators_features_ : list of ndarray of int
        The columns that each member sees.
    estimators_samples_ : list of ndarray of int
        The rows that each member sees, one as often as it was drawn; drawn again when they are asked for.
    estimator_weights_ : ndarray of shape (n_members,)
        What the vote of each member counts, if the rule is a fixed one or has weights.
    oob_score_ : float
        With `oob_score`.
    oob_curve_ : ndarray of shape (n_members,)
        With `oob_score` or `n_estimators="auto"`: the error of the mean of the votes (of their majority, if
        that is the rule) after every member: the misclassified share of the rows, or the mean squared error.
    oob_votes_ : ndarray of shape (n_members, n_rows, n_outputs)
        With `keep_votes`: the votes of every member on the rows that it has not seen; NaN elsewhere.
    feature_importances_ : ndarray of shape (n_columns,)
        The mean of the members' own, if they have such.
    """

    _default_member: ClassVar[type]

    estimator: Any = parameter(
        None,
        Constraint(
            "an estimator with fit and predict, or None", lambda value: value is None or is_member(value)
        ),
        "The member, cloned for each bag, every `random_state` of it drawn anew. None is a full tree. The "
        "engine grows `DecisionTree`, `RandomTree`, `DecisionStump` and `C45Classifier` members itself, in "
        "one call, from a table that is binned once, or sorted for C4.5; they know all classes and "
        "categories of the table. Others are fitted by the runner and see X as it is. Members that take "
        "`sample_weight`, as all inside them do, see the rows of a bag once, with weights; others, and "
        "pipelines, see them as often as they were drawn. Where a member refuses a bag of one class, "
        "scikit-learn's `DummyClassifier` votes for it.",
        kw_only=False,
    )
    n_estimators: int | str = parameter(
        10,
        either(integer(1), one_of("auto")),
        'The number of members. "auto" adds members, at most 1000, until the out-of-bag error is flat: its '
        "mean over the last 25 members is not half a percent below that over the 25 before.",
        kw_only=False,
    )
    max_samples: int | float = parameter(
        1.0,
        either(integer(1), share(whole=True)),
        "How many rows (or groups, if `fit` gets some) are drawn for each member; a float is a share of all "
        "that have a weight.",
    )
    max_features: int | float = parameter(
        1.0,
        either(integer(1), share(whole=True)),
        "How many columns are drawn for each member; a float is a share of all.",
    )
    bootstrap: bool = parameter(
        True,
        boolean,
        "Whether rows are drawn with replacement, in proportion to their weights, and then weigh 1. Integer "
        "weights whose mean over the rows that have some is below 4 are repetitions: a row of weight 2 is "
        "the row twice. False is pasting: every row, or every repetition of one, is as likely as any other, "
        "is drawn at most once and keeps its weight.",
    )
    bootstrap_features: bool = parameter(
        False,
        boolean,
        "Whether columns are drawn with replacement. A column that is drawn twice is there once.",
    )
    keep_votes: bool = parameter(
        False,
        boolean,
        "Whether to keep the votes of every member on the rows that it has not seen, for `oob_votes_` and "
        "`recombine`.",
    )
    warm_start: bool = parameter(
        False,
        boolean,
        "Whether `fit` adds members to those of the previous fit, up to `n_estimators`. The rows must be the "
        "same. A fit that is interrupted (Ctrl-C) keeps the members that are made, and the next one goes on; "
        "with False, it leaves the estimator as it was.",
    )
    categorical_features: Any = parameter("from_dtype", *CATEGORICAL_FEATURES)
    runner: Any = parameter("threads", *RUNNER)
    n_jobs: int | None = parameter(None, *N_JOBS)
    random_state: Any = parameter(
        None,
        RANDOM_STATE,
        "The seed of bags, columns and members. The same seed gives the same members on any number of "
        "threads and with any runner.",
    )
    verbose: int = parameter(0, *VERBOSE)

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Fit the members.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            numpy, scipy sparse, pandas, polars or Arrow. NaN and None are missing values. A member that is
            not of the engine gets it as it is (a sparse matrix as a dense one). The engine takes a
            `BinnedTable` too.
        y : array-like of shape (n_rows,)
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows. None gives every row the weight 1. See `bootstrap` for what they do; rows of
            weight 0 take no part.
        groups : array-like of shape (n_rows,), default=None
            Rows of one group are drawn together, all groups being as likely, and keep their weights. So a
            row is judged out of bag by members that have seen nothing of its group.

        Returns
        -------
        self
        """
        check_parameters(self)
        resumes = bool(self.warm_start) and self._has_learnt()
        learning = self._read_training(X, y, sample_weight, groups, resumes)
        seed = self._seed if resumes else draw_seed(self.random_state)
        rule = self._new_rule(seed)
        batch = self._batch(learning, rule, seed, self._n_members() if resumes else 0)
        if batch.last == batch.first:
            if not batch.is_auto:
                warn_of_no_more("members")
            self._score_again(learning.training)
            return self
        frame = FitFrame(self, X, y, "member", batch.last, n_before=batch.first, is_limit=batch.is_auto)
        with frame.work:
            made = self._make(replace(batch, progress=frame.hook), learning)
        frame.end(made.interruption, made.n_members, lambda: self._keep_made(made, batch, learning, rule))
        if self.oob_score and np.isnan(self.oob_curve_[-1]):
            message = "Every member has seen every row, so oob_score_ is NaN. Make more members."
            warnings.warn(message, stacklevel=3)
        return self

    @property
    def estimators_(self) -> Any:
        """The members: a sequence of fitted estimators, those of the engine made when they are asked for."""
        check_is_fitted(self)
        return Members(self, self._members) if self._is_engine() else self._members

    @property
    def estimators_features_(self) -> list[np.ndarray]:
        """The columns that each member sees."""
        check_is_fitted(self)
        if self._columns is None:
            return [np.arange(self.n_features_in_)] * self._n_members()
        return [columns.astype(np.int64) for columns in self._columns]

    @property
    def estimators_samples_(self) -> list[np.ndarray]:
        """The rows that each member sees, one as often as it was drawn."""
        check_is_fitted(self)
        return [self._bags.rows(self._seed, i) for i in range(self._n_members())]

    @property
    def estimator_weights_(self) -> np.ndarray:
        """What the vote of each member counts."""
        check_is_fitted(self)
        if isinstance(self.rule_, FixedRule) or self.rule_ is None:
            return shares_of(getattr(self.rule_, "weights", None), self._n_members())
        if not hasattr(self.rule_, "weights_"):
            raise AttributeError(f"{type(self.rule_).__name__} has no weight for each member.")
        return np.asarray(self.rule_.weights_)

    @property
    def feature_importances_(self) -> np.ndarray:
        """The mean of the members' own importances, if they have such; they sum to 1, or are all 0."""
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
        """The votes of every member on the rows that it has not seen; NaN elsewhere."""
        check_is_fitted(self)
        if self._votes_outside is None:
            raise AttributeError("The votes of members are kept only by a fit with keep_votes=True.")
        return self._votes_outside.votes

    def recombine(self, rule: Any, X: Any = None) -> Self:
        """The same members with another rule: none is fitted again.

        Parameters
        ----------
        rule : str, callable or Rule
            A name of `committee.rules`, a function of votes, or a rule. One that learns needs a fit with
            `keep_votes=True`.
        X : table, default=None
            The table of the fit, for a rule that looks at the rows.

        Returns
        -------
        estimator
            Of the same class, without an out-of-bag score.

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
            # Members that are not of the engine get what there is.
            own = get_tags(self.estimator).input_tags
            tags.input_tags.allow_nan = own.allow_nan
            tags.input_tags.string, tags.input_tags.categorical = own.string, own.categorical
        return tags

    def _read_training(self, X: Any, y: Any, sample_weight: Any, groups: Any, resumes: bool) -> Learning:
        """Read and check what the members learn from."""
        member = self._default_member() if self.estimator is None else clone(self.estimator)
        check_estimator(member, are_classes=self._task_type is Classification)
        is_engine = grows_in_engine(member)
        if isinstance(X, BinnedTable) and not takes_codes(member):
            raise TypeError(
                f"X is a BinnedTable, and {type(member).__name__} learns from values. Pass the table itself."
            )
        source = X if isinstance(X, BinnedTable) else open_source(X)
        table = read_resumed_table(self, source) if resumes else fit_table(self, source, sample_weight)
        training = training_of(self, table, y, sample_weight, getattr(self, "class_weight", None))
        if is_engine:
            check_tree(member, training.y)
        native = None if isinstance(source, BinnedTable) else in_order(source, table.schema).native
        codes, binned = group_codes(groups, table.n_rows), training.bin(n_threads(self.n_jobs))
        repeats = repeats_of(sample_weight, table.n_rows) if codes is None else None
        return Learning(member, is_engine, training, binned, native, codes, repeats)

    def _batch(self, learning: Learning, rule: Rule, seed: int, first: int) -> Batch:
        """What is to be done, checked before any work is."""
        training = learning.training
        curve = self._curve_before() if first > 0 else ()
        last = n_members_wanted(self.n_estimators, first, "members", curve)
        check_rule(rule, last, training.task)
        check_metric(self.oob_score, training.task)
        check_probabilities(rule, learning.member, training.task)
        if self.oob_score and is_open(training.task):
            check_decides_outside(rule, last, training.task)
        if is_named(self.oob_score):
            check_judged(learning.member, metric_of(self.oob_score, n_outputs_of(training.task)))
        self._check_classes_weigh(learning)
        columns = columns_of_members(
            training.table.schema.n_columns,
            self.max_features,
            replaces=bool(self.bootstrap_features),
            seed=seed,
            members=range(first, last),
        )
        bags = Bags.of(
            training,
            learning.binned,
            learning.groups,
            bootstrap=bool(self.bootstrap),
            max_samples=self.max_samples,
            sampling=getattr(self, "sampling", "plain"),
            repeats=learning.repeats,
            n_threads=n_threads(self.n_jobs),
        )
        if first > 0:
            self._check_can_resume(learning, bags, rule)
        is_scored = bool(self.oob_score) or self.n_estimators == "auto"
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
            learning.member,
            training,
            bags,
            weights_each_time(training.weights, learning.repeats) if bags.keeps_weights else None,
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

    def _check_classes_weigh(self, learning: Learning) -> None:
        sampling, weight = getattr(self, "sampling", "plain"), getattr(self, "class_weight", None)
        if sampling != "plain" and weight is not None and self.bootstrap and learning.groups is None:
            raise ValueError(
                f"class_weight says how often classes are drawn, and so does sampling={sampling!r}. Set one "
                "of them, or class_weight of the estimator."
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

    def _make(self, batch: Batch, learning: Learning) -> Made:
        if learning.is_engine:
            return grow_members(batch, learning.binned, n_threads(self.n_jobs))
        # A thread that nobody works beside gains nothing, and what it allocates, as the rows that a member
        # keeps, goes back to the system when it ends: to ask for that again is a third of a quick fit.
        is_alone = self.runner == "threads" and n_threads(self.n_jobs) == 1
        with running.runner_of("serial" if is_alone else self.runner, self.n_jobs) as run:
            return fit_members(batch, learning.native, run)

    def _keep_made(self, made: Made, batch: Batch, learning: Learning, rule: Rule) -> None:
        """Become a fitted estimator: the last step of a fit, so that one that fails changes nothing."""
        training, resumes = batch.training, batch.first > 0
        outside = None
        if made.votes is not None:
            outside = HonestVotes.of_bags(made.votes, training.y, training.weights, learning.groups)
        columns = None if batch.columns is None else batch.columns[: made.n_members]
        members, importances, has_missing = made.members, made.importances, made.has_missing
        if resumes:
            members = joined(self._members, members)
            columns = self._columns_with(columns, made.n_members)
            if outside is not None and self._votes_outside is not None:
                outside = outside.after(self._votes_outside)
            if importances is not None and has_missing is not None:
                importances = np.concatenate([self._importances, importances])
                has_missing = has_missing | self._has_missing
        ruling = Ruling.of(rule, training.task, outside, learning.native, is_scored=bool(self.oob_score))
        judged = None
        if made.out_of_bag is not None:
            judged = OutOfBag.of(made.out_of_bag, training, self.oob_score, ruling.decision)
        self._keep_task(training.table.schema, training.task)
        self._members: Any = members
        self._columns: list[np.ndarray] | None = columns
        self._importances: np.ndarray | None = importances
        self._bags, self._seed, self._data = batch.bags, batch.seed, training.data
        # Members that are not of the engine know nothing of missing values.
        self._has_missing: Any = has_missing
        self._out_of_bag = judged
        self.estimator_ = learning.member
        # A fit that goes on needs the votes of the members that are there.
        self._keep_ruling(ruling, keeps_votes=bool(self.keep_votes or self.warm_start))

    def _cast(self, X: Any) -> np.ndarray:
        if self._is_engine():
            table = self._read(X)
            return self._members.votes(list(table.columns), table.n_rows, self._threads(table.n_rows))
        return self._votes(self._open(X))

    def _is_engine(self) -> bool:
        return isinstance(self._members, TREES)

    def _n_members(self) -> int:
        return self._members.n_trees if self._is_engine() else len(self._members)

    def _keep_ruling(self, ruling: Ruling, *, keeps_votes: bool) -> None:
        """Take a fitted rule. Where votes are summed, trees of the engine decide by themselves."""
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
            raise AttributeError("Only members of the engine know their size.")
        return int(self._members.nbytes)

    def _columns_with(self, more: list[np.ndarray] | None, n_more: int) -> list[np.ndarray] | None:
        """The columns of the members that are there, and of more of them."""
        if self._columns is None and more is None:
            return None
        every = np.arange(self.n_features_in_, dtype=np.uint32)
        before = [every] * self._n_members() if self._columns is None else self._columns
        return [*before, *([every] * n_more if more is None else more)]

    def _check_can_resume(self, learning: Learning, bags: Bags, rule: Rule) -> None:
        """Raise if a fit cannot go on with these members: other rows, bags, kinds or rules."""
        training = learning.training
        check_same_task(training.task, self._task)
        if learning.is_engine != self._is_engine():
            raise ValueError("warm_start=True goes on with members of the same kind. Set it to False.")
        if training.table.n_rows != self._bags.n_rows:
            raise ValueError(
                f"X has {training.table.n_rows} rows, and the members of the previous fit saw "
                f"{self._bags.n_rows}. With warm_start=True, pass the same rows."
            )
        if not bags.are_those(self._bags):
            raise ValueError(
                "warm_start=True goes on with the bags of the previous fit, and these are others. Leave rows, "
                "weights, groups, bootstrap, max_samples and sampling as they were, or set it to False."
            )
        if self.oob_score or self.n_estimators == "auto":
            check_can_resume(self._out_of_bag, training.table.n_rows, False)
            self._check_same_sums(name_of_sum(rule))

    def _each_vote(self, source: Source) -> Iterator[np.ndarray]:
        runner = "serial" if self.runner == "serial" else "threads"
        return each_vote(self._members, self._columns, source, self._task, runner, self.n_jobs)

    def _votes(self, source: Source) -> np.ndarray:
        shape = (self._n_members(), source.n_rows, self._task.n_outputs)
        votes: np.ndarray = np.empty(shape, dtype=dtype_of(self._task))
        for i, cast in enumerate(self._each_vote(source)):
            votes[i] = cast
        return votes

    def _decide_table(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        if sums_votes(self.rule_) and not self._is_engine():
            return self._mean(self._open(X))
        return super()._decide_table(X)

    def _mean(self, source: Source) -> np.ndarray:
        total = np.zeros((source.n_rows, self._task.n_outputs))
        for votes in self._each_vote(source):
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
        return BaggingState(self.schema_, self._task, self._members, columns, kept)

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
        columns = state.columns
        self._columns = None if columns is None else [np.array(each, dtype=np.uint32) for each in columns]
        n_members, n_columns = self._n_members(), self.n_features_in_
        if not self._is_engine():
            for i, member in enumerate(self._members):
                n_seen = n_columns if columns is None else len(columns[i])
                fields.require(votes_like(member, n_seen, self._task), "a member votes on another table")
        self._seed = fields.integer("seed", 0, 2**64 - 1)
        self._bags = Bags.take(fields.fields("bags"))
        self.estimator_ = fields.take("estimator", object)
        fields.require(is_member(self.estimator_), "the estimator is none")
        are_its = are_members_of(self.estimator_, self._members)
        fields.require(are_its, "the members are not of the estimator")
        importances = fields.optional_array("importances", np.float64, (n_members, n_columns))
        has_missing = fields.optional_array("has_missing", bool, (n_columns,))
        is_whole = (importances is not None and has_missing is not None) == self._is_engine()
        fields.require(is_whole, "what is known of the columns is not that of the members")
        self._importances, self._has_missing = importances, has_missing
        self._take_ruling(state.kept, fields, n_members, self._bags.n_rows)

    def _known_scores(self) -> dict[str, float]:
        return super()._known_scores() if self.oob_score else {}


def joined(first: Any, second: Any) -> Any:
    """The members of two fits."""
    return first + second if isinstance(first, list) else _engine.append_trees(first, second)
