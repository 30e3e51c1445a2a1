"""Members of a bagging that decide together, and go on with more; what it has learnt, for a file and back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from committee import running
from committee.combining.rule import Rule
from committee.learners.training import check_same_task
from committee.learners.voting import Tabular, is_plain
from committee.members.encoding import TableEncoder
from committee.members.kinds import is_member
from committee.members.seeing import asked
from committee.members.tasks import naming, numbered, results_in_order
from committee.members.votes import votes_of
from committee.sampling.bagging_parameters import BaggingParameters
from committee.sampling.bags import Bags
from committee.sampling.engine_bags import are_members_of
from committee.sampling.out_of_bag import OutOfBag, check_goes_on
from committee.sampling.plan import Learning
from committee.saving import Fields
from committee.saving.deciding import Decider, sums_votes
from committee.saving.errors import require
from committee.saving.models import TREES, check_forest, columns_asked
from committee.saving.together import PreparedSeat, RuleDecider
from committee.table.source import Source
from committee.task import Classification
from committee.votes.arrays import dtype_of

# Fewer rows are voted on before a thread has begun.
ROWS_FOR_THREADS = 2000


class KeptBags(BaggingParameters):
    """Members of the engine, which are one forest, or of other kinds, which are a list of estimators."""

    _members: Any
    _columns: list[np.ndarray] | None
    _importances: np.ndarray | None
    _has_missing: Any  # of the engine's members
    _bags: Bags
    _seed: int
    _out_of_bag: OutOfBag | None
    estimator_: Any

    def votes(self, X: Any) -> np.ndarray:
        """The vote of every member.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)

        Returns
        -------
        ndarray of shape (n_members, n_rows, n_outputs)
            The functions of `committee.rules` combine them.
        """
        check_is_fitted(self)
        if self._is_engine():
            table = self._read(X)
            return self._members.votes(list(table.columns), table.n_rows, self._threads(table.n_rows))
        return self._votes(self._open(X))

    def _is_engine(self) -> bool:
        return isinstance(self._members, TREES)

    def _n_members(self) -> int:
        return self._members.n_trees if self._is_engine() else len(self._members)

    def _keep_rule(self, rule: Rule | None, encoder: TableEncoder | None) -> None:
        """Take a fitted rule. Where votes are summed, trees of the engine decide by themselves."""
        self.__dict__.pop("_forest", None)
        self._matrix_width = -1
        if self._is_engine() and sums_votes(rule):
            self._forest = self._members
            self._matrix_width = self.schema_.n_columns if is_plain(self.schema_) else -1
        super()._keep_rule(rule, encoder)

    @property
    def nbytes(self) -> int:
        """The size of the members in memory, in bytes, if they are of the engine."""
        check_is_fitted(self)
        if not self._is_engine():
            raise AttributeError("Only members of the engine know their size.")
        return int(self._members.nbytes)

    def _seen_by(self, member: int) -> list[int] | None:
        """The columns that a member sees; None for all."""
        return None if self._columns is None else self._columns[member].tolist()

    def _columns_with(self, more: list[np.ndarray] | None, n_more: int) -> list[np.ndarray] | None:
        """The columns of the members that are there, and of more of them."""
        if self._columns is None and more is None:
            return None
        every = np.arange(self.n_features_in_, dtype=np.uint32)
        before = [every] * self._n_members() if self._columns is None else self._columns
        return [*before, *([every] * n_more if more is None else more)]

    def _check_goes_on(self, learning: Learning, bags: Bags, rule: Rule) -> None:
        """Raise if a fit cannot go on with these members: other rows, bags, kinds or rules."""
        training = learning.training
        check_same_task(training.task, self._task)
        if learning.is_engine != self._is_engine():
            raise ValueError("warm_start=True goes on with members of the same kind. Set it to False.")
        if training.table.n_rows != self._bags.n_rows:
            raise ValueError(
                f"X has {training.table.n_rows} rows, and the members of the fit before saw "
                f"{self._bags.n_rows}. With warm_start=True, pass the same rows."
            )
        if not bags.are_those(self._bags):
            raise ValueError(
                "warm_start=True goes on with the bags of the fit before, and these are others. Leave rows, "
                "weights, groups, bootstrap, max_samples and sampling as they were, or set it to False."
            )
        if self.oob_score or self.n_estimators == "auto":
            check_goes_on(self._out_of_bag, training.table.n_rows, False)
            self._check_judged_alike(rule)

    def _each_vote(self, source: Source) -> Iterator[np.ndarray]:
        """The votes of members that are not of the engine, one after the other."""

        def votes_of_member(i: int) -> np.ndarray:
            columns, member = self._seen_by(i), self._members[i]
            seen = source if columns is None else source.select(columns)
            with naming(numbered(i, member), "vote"):
                return votes_of(*asked(member, seen), self._task)

        if source.n_rows < ROWS_FOR_THREADS or self.runner == "serial":
            yield from map(votes_of_member, range(self._n_members()))
            return
        with running.runner("threads", self.n_jobs) as run:
            tasks = (
                run.submit(votes_of_member, i, name=f"member {i}, votes") for i in range(self._n_members())
            )
            yield from results_in_order(tasks, run)

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
        is_majority = self._rule == "majority"
        for votes in self._each_vote(source):
            if is_majority:
                total[np.arange(len(votes)), votes.argmax(axis=1)] += 1
            else:
                total += votes
        return total / self._n_members()

    def _scored(self) -> OutOfBag:
        check_is_fitted(self)
        if not self.oob_score:
            raise AttributeError("There are out-of-bag decisions only after a fit with oob_score=True.")
        return super()._scored()

    def _decider(self) -> Decider:
        if self._is_engine():
            return self._decider_of(self._members)
        self._check_prepared()
        members = self._members
        if not all(isinstance(member, Tabular) for member in members):
            raise ValueError(
                f"The members are {type(self.estimator_).__name__}, and only models of our own can be "
                "prepared. Use the committee itself."
            )
        seats = tuple(
            PreparedSeat((member.predictor(),), self._seen_by(i)) for i, member in enumerate(members)
        )
        return RuleDecider(seats, self.rule_, self._task)

    def _has_learnt(self) -> bool:
        return "_members" in self.__dict__

    def _learnt(self) -> dict[str, Any]:
        judged = self._out_of_bag
        return Tabular._learnt(self) | {
            "bagged": self._members,
            "columns": None if self._columns is None else [each.tolist() for each in self._columns],
            "seed": self._seed,
            "bags": vars(self._bags),
            "estimator": self.estimator_,
            "out_of_bag": None if judged is None else vars(judged),
            "importances": self._importances,
            "has_missing": self._has_missing,
            **self._learnt_rule(),
        }

    def _take_learnt(self, fields: Fields) -> None:
        Tabular._take_learnt(self, fields)
        members: Any = fields.take("bagged", object)
        self._members = members
        is_engine = self._is_engine()
        fields.require(is_engine or isinstance(members, list), "the members are neither trees nor a list")
        n_members, n_columns = self._n_members(), self.n_features_in_
        fields.require(n_members > 0, "there are no members")
        self._take_columns(fields, n_members)
        self._seed = fields.integer("seed", 0, 2**64 - 1)
        self._bags = Bags.take(fields.fields("bags"))
        self.estimator_ = fields.take("estimator", object)
        fields.require(is_member(self.estimator_), "the estimator is none")
        fields.require(are_members_of(self.estimator_, members), "the members are not of the estimator")
        n_outputs, judged = self._task.n_outputs, fields.optional_fields("out_of_bag")
        self._out_of_bag = None if judged is None else OutOfBag.take(judged, n_members, n_columns, n_outputs)
        importances = fields.optional_array("importances", np.float64, (n_members, n_columns))
        has_missing = fields.optional_array("has_missing", bool, (n_columns,))
        is_whole = (importances is not None and has_missing is not None) == is_engine
        fields.require(is_whole, "what is known of the columns is not that of the members")
        self._importances, self._has_missing = importances, has_missing
        fields.require("rule" in fields, "there is no rule")
        self._take_rule(fields, n_members, self._bags.n_rows)

    def _take_columns(self, fields: Fields, n_members: int) -> None:
        columns = fields.optional("columns", list)
        self._columns = None
        if columns is None:
            return
        fields.require(len(columns) == n_members, "there are not columns for each member")
        in_range = range(self.n_features_in_)
        for each in columns:
            are_columns = isinstance(each, list) and all(type(at) is int and at in in_range for at in each)
            fields.require(are_columns and each, "a column is none of the table")
            fields.require(sorted(set(each)) == each, "the columns of a member are not in their order")
        self._columns = [np.array(each, dtype=np.uint32) for each in columns]

    def _check_learnt(self) -> None:
        self._check_kept_rule(self._n_members())
        if self._is_engine():
            check_forest(self._members, self.schema_, self._task)
            require(self._members.is_mean, "The trees do not vote")
            if self._columns is not None:
                self._check_trees()
            return
        for i, member in enumerate(self._members):
            n_columns = self.n_features_in_ if self._columns is None else len(self._columns[i])
            known = getattr(member, "n_features_in_", n_columns)
            require(hasattr(member, "predict") and known == n_columns, "A member decides on other columns")
            if isinstance(self._task, Classification) and hasattr(member, "classes_"):
                are_known = np.isin(member.classes_, self._task.classes).all()
                require(are_known, "A member decides on other classes")

    def _check_trees(self) -> None:
        """Every tree asks about its own columns only."""
        assert self._columns is not None
        for i, columns in enumerate(self._columns):
            asked = columns_asked(self._members, i)
            require(np.isin(asked, columns).all(), "A tree asks about columns of others")

    def _known_scores(self) -> dict[str, float]:
        is_known = self._out_of_bag is not None and bool(self.oob_score)
        return {"out_of_bag": self.oob_score_} if is_known else {}
