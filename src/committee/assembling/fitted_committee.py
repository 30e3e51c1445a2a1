"""The fit and the methods of all committees.

In: members and a rule. Out: votes, decisions, a leaderboard, and copies with another rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from committee.assembling.fit_record import FitRecord
from committee.assembling.fit_summary import DecisionSummary, FitSummary
from committee.assembling.leaderboard import Leaderboard, decision_of_rule, leaderboard_of
from committee.assembling.member_fits import MemberFit
from committee.assembling.named_members import FittedMember
from committee.combining.rule import Rule, check_rule, differ
from committee.combining.rule_registry import as_rule
from committee.learners.fit_session import CallbackSupportMixin, TaskCalls, task_calls, with_callbacks
from committee.learners.voter import FittedModels, Tabular
from committee.members.member_tasks import results_in_order
from committee.members.member_view import look_at_rows
from committee.members.member_votes import has_own_labels
from committee.members.seeds import generator_of, seeded
from committee.members.table_encoder import TableEncoder, fitted_rule
from committee.members.training_set import TrainingSet, in_order
from committee.parameters import check_parameters
from committee.running import runner
from committee.saving import Fields
from committee.saving.model_file import fingerprint
from committee.saving.predictors.deciders import decided_by_fold, folds_of_rule, row_blocks
from committee.saving.predictors.score_votes import Calibration
from committee.saving.states.committee_states import CommitteeState, MemberState, votes_like
from committee.saving.states.state import KeptRule
from committee.table.input_types import ArrayLike, RandomState, TableLike
from committee.table.source import Source, open_source
from committee.task import Classification
from committee.votes.honest_votes import HonestVotes, kept_labels, take_labels
from committee.votes.vote_arrays import dtype_of

ONE_CLASS = "y had one class, so there is nothing to decide."
# The attributes of honest votes that a file contains.
KEPT_OF_HONEST = ("votes", "y", "weights", "groups", "rows", "X", "table", "split")
# The attributes of a fitted committee besides those that end with an underscore.
LEARNT = ("_task", "_fitted_members", "_honest", "_encoder", "_data", "_origin", "_record", "_summary")


class NoHonestVotesError(ValueError, AttributeError):
    """No member has voted on held-out rows. `hasattr(committee, "honest_votes_")` is then False."""


class Assembled(CallbackSupportMixin, TransformerMixin, Tabular):
    """A committee of members and a rule.

    Attributes
    ----------
    estimators_ : list of estimators
        The fitted members; with `refit=False`, the list of the fold models of each.
    named_estimators_ : dict of str to estimator
        The same by name.
    rule_ : Rule
        The fitted rule; None if y has one class.
    weights_ : ndarray
        The weights of the members, if the rule has weights.
    honest_votes_ : ndarray of shape (n_members, n_honest_rows, n_outputs)
        The votes that the rule was fitted on, if there are any.
    honest_rows_ : ndarray of int of shape (n_honest_rows,)
        The training rows of these votes.
    fit_summary_ : FitSummary
        Aggregates of these votes and of the columns, which files contain.
    """

    keep: str
    random_state: RandomState
    _fitted_members: list[FittedMember]
    _honest: HonestVotes | None
    _encoder: TableEncoder | None
    # Only automatic committees record their fit.
    _record: FitRecord | None = None
    _summary: FitSummary | None = None
    rule_: Rule | None

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
            numpy, scipy sparse, pandas, polars or Arrow. Members get it unchanged, but sparse matrices dense.
        y : array-like of shape (n_rows,)
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows, for the rule and the members that accept them. Rows of weight 0 are ignored.
        groups : array-like of shape (n_rows,), default=None
            Rows of one group are held out together, unless `cv` is a splitter that ignores groups.

        Returns
        -------
        self
        """
        check_parameters(self)
        read = partial(TrainingSet.of, self._task_type, X, y, sample_weight, groups)
        calls = self._fit_committee(read, partial(task_calls, self, X, y))
        if calls:
            calls.end(lambda: self.__dict__)
        return self

    def _fit_committee(
        self, read: Callable[[], TrainingSet], new_calls: Callable[[str, int], TaskCalls | None]
    ) -> TaskCalls | None:
        """Read the training set, fit the members and the rule, and return the calls of callbacks."""
        raise NotImplementedError

    def votes(self, X: TableLike) -> np.ndarray:
        """Return the vote of every member.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)

        Returns
        -------
        ndarray of shape (n_members, n_rows, n_outputs)
            Float32 for classes, in the order of `classes_`; float64 for numbers.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from committee import DecisionTreeClassifier, VotingClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> VotingClassifier([("stump", DecisionTreeClassifier(max_depth=1))]).fit(X, y).votes(X[-1:])
        array([[[0. , 0.5, 0.5]]], dtype=float32)
        """
        return self._votes(self._open(X))

    def transform(self, X: TableLike) -> np.ndarray:
        """Return the votes of all members side by side.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)

        Returns
        -------
        ndarray of float64 of shape (n_rows, n_members * n_outputs)
            The votes of the first member, those of the second and so on.
        """
        votes = self.votes(X).astype(np.float64)
        return votes.transpose(1, 0, 2).reshape(votes.shape[1], -1)

    def get_feature_names_out(self, input_features: object = None) -> np.ndarray:
        """Return the names of the columns of `transform`.

        Parameters
        ----------
        input_features : None
            Ignored.

        Returns
        -------
        ndarray of str
            The name of the member and, for classes, the class.
        """
        check_is_fitted(self)
        if isinstance(self._task, Classification):
            names = [
                f"{member.name}_{label}" for member in self._fitted_members for label in self._task.classes
            ]
        else:
            names = [member.name for member in self._fitted_members]
        return np.array(names, dtype=object)

    def recombine(self, rule: object, X: TableLike | None = None) -> Assembled:
        """Make a committee with another rule, without fitting members again.

        Parameters
        ----------
        rule : str, callable or Rule
            A name of `committee.rules`, a function of votes, or a rule.
        X : table, default=None
            The table of the fit, for a rule that uses the rows. Not needed if the rule of the fit used them.

        Returns
        -------
        estimator
            A committee with the same members, and the rule fitted on the same honest votes. With an integer
            `random_state` the result equals that of a fit with this rule.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from committee import DecisionTreeClassifier, VotingClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> members = [("stump", DecisionTreeClassifier(max_depth=1)), ("tree", DecisionTreeClassifier())]
        >>> voting = VotingClassifier(members, cv=5, random_state=0).fit(X, y)
        >>> voting.recombine("cawpe").rule_
        CAWPERule()
        """
        check_is_fitted(self)
        another = self._another(rule)
        another.__dict__.update(
            {name: value for name, value in vars(self).items() if name in LEARNT or name.endswith("_")}
        )
        if self.rule_ is not None:
            made = another._adjusted(seeded(as_rule(rule), generator_of(self.random_state)))
            is_weighted = self._honest is not None and differ(self._honest.weights)
            check_rule(made, len(self._fitted_members), self._task, is_weighted=is_weighted)
            another._fit_rule(made, X)
            another._forget_leaderboard()
        return another

    def selected(self, X: TableLike) -> tuple[np.ndarray, np.ndarray]:
        """Return which members decide on each row, and the competence of each.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)

        Returns
        -------
        shares : ndarray of shape (n_rows, n_members)
            The share of each member in the decision; rows sum to one.
        competence : ndarray of shape (n_rows, n_members)

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.naive_bayes import GaussianNB
        >>> from committee import DecisionTreeClassifier, VotingClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> members = [("bayes", GaussianNB()), ("stump", DecisionTreeClassifier(max_depth=1))]
        >>> VotingClassifier(members, rule="dynamic").fit(X, y).selected(X[100:101])[0]
        array([[1., 0.]])
        """
        check_is_fitted(self)
        rule: Any = self.rule_
        if rule is None:
            raise ValueError(ONE_CLASS)
        if not hasattr(rule, "selected"):
            raise ValueError(
                f"{type(rule).__name__} does not choose members row by row. Use recombine('dynamic')."
            )
        source = self._open(X)
        matrix = None if self._encoder is None else self._encoder.transform(source)
        votes = self._votes_by_fold(source, 1, as_labels=rule._reads_labels())[0]
        shares, competence = rule.selected(votes, matrix)
        return shares, competence

    def leaderboard(
        self, rules: Iterable[object] | None = None, *, X: TableLike | None = None, scoring: object = None
    ) -> Leaderboard:
        """Score every member and every rule on honest votes.

        A rule that needs a fit is cross-validated on the honest votes, in five folds that keep groups
        together. Intervals hold for the rows as a sample, or for their groups. A committee that was loaded
        without honest votes returns the leaderboard that was made at the end of its fit.

        Parameters
        ----------
        rules : iterable of rules, default=None
            Names, functions or rules. None is every named rule for the task.
            Rules that use the rows are included if the rule of the committee uses them, or X is passed.
        X : table, default=None
            The table of the fit.
        scoring : str, scorer or callable, default=None
            As for `score`. None is accuracy, or R2 for numbers. The automatic committee uses its `scoring`;
            if that is None, the negative log loss or the negative root mean squared error.

        Returns
        -------
        Leaderboard
            A sequence of standings with `kind`, `name`, `score` and what is known about them: first the
            committee, then members and rules from best to worst, then a baseline that uses no column: the
            shares of the classes, or the mean of the target.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from committee import DecisionTreeClassifier, VotingClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> members = [("stump", DecisionTreeClassifier(max_depth=1)), ("tree", DecisionTreeClassifier())]
        >>> voting = VotingClassifier(members, cv=5, random_state=0).fit(X, y)
        >>> [(each.kind, each.name) for each in voting.leaderboard([])]
        [('committee', 'mean'), ('member', 'tree'), ('member', 'stump'), ('baseline', 'class_shares')]
        """
        check_is_fitted(self)
        if self._honest is None and self._record is not None and self._record.leaderboard is not None:
            if not rules and X is None and scoring is None:
                return self._record.leaderboard
            raise NoHonestVotesError(
                "The honest votes of this committee were not stored, so only the leaderboard of its fit is "
                "known. Call leaderboard() without arguments."
            )
        honest = self._known_votes()
        scoring = self._usual_scoring() if scoring is None else scoring
        if X is not None:
            _, honest = look_at_rows(honest, self._table_of_fit(X))
        names = [member.name for member in self._fitted_members]
        board = leaderboard_of(honest, names, rules, scoring, self.random_state, self.rule_)
        board = board.described(self._known_of_members())
        return board if self._record is None else board.after(self._record.leaderboard)

    def _known_of_members(self) -> dict[str, dict[str, Any]]:
        """Return what leaderboards say about each member besides its score."""
        weights = np.asarray(getattr(self.rule_, "weights_", None))
        return {
            each.name: each.known() | {"weight": float(weights[place]) if weights.ndim == 1 else None}
            for place, each in enumerate(self._fitted_members)
        }

    def _known_record(self) -> FitRecord | None:
        """Return the record of the fit, with a new leaderboard if the rule or the members have changed."""
        record = self._record
        if record is None or record.leaderboard is not None or record.problem or self._honest is None:
            return record
        try:
            return replace(record, leaderboard=self.leaderboard([]))
        except ValueError as error:
            return replace(record, problem=" ".join(str(error).split()))

    def _forget_leaderboard(self) -> None:
        """Drop the scores and decisions of the fit, because the rule or the members have changed."""
        if self._record is not None:
            self._record = replace(self._record, leaderboard=None, problem="")
        if self._summary is not None:
            self._summary = replace(self._summary, decisions=None)

    def _usual_scoring(self) -> object:
        """Return the default scorer of `leaderboard`; None is accuracy, or R2."""
        return None

    @property
    def estimators_(self) -> list[BaseEstimator | list[BaseEstimator]]:
        """The fitted members; with `refit=False`, the fold models of each."""
        check_is_fitted(self)
        return [
            member.models[0] if len(member.models) == 1 else member.models for member in self._fitted_members
        ]

    @property
    def named_estimators_(self) -> dict[str, BaseEstimator | list[BaseEstimator]]:
        """The fitted members by name."""
        return dict(zip([member.name for member in self._fitted_members], self.estimators_, strict=True))

    @property
    def members_without_predictor_(self) -> list[str]:
        """The names of the members that need the library that fitted them.

        With such a member, `predictor` and `committee.predictor` raise. `committee.load` works.
        """
        check_is_fitted(self)
        models = FittedModels()
        return [member.name for member in self._fitted_members if not member.has_predictor(models)]

    @property
    def weights_(self) -> np.ndarray:
        """The weights of the members, if the rule has weights."""
        check_is_fitted(self)
        if self.rule_ is None:
            raise AttributeError(ONE_CLASS)
        weights = getattr(self.rule_, "weights_", None)
        if weights is None:
            raise AttributeError(f"{type(self.rule_).__name__} has no weights for members.")
        return np.asarray(weights)

    @property
    def honest_votes_(self) -> np.ndarray:
        """The votes that the rule was fitted on."""
        return self._known_votes().votes

    @property
    def honest_rows_(self) -> np.ndarray:
        """The training rows of `honest_votes_`."""
        return self._known_votes().rows

    @property
    def fit_summary_(self) -> FitSummary:
        """Aggregates of the honest votes and, if the committee is automatic, of the columns of its fit.

        Files contain them, so they are known after `load`, without any row of the fit: conformity scores, the
        confusion matrix, counts by probability or residuals by prediction, and the agreement of members.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from committee import DecisionTreeClassifier, VotingClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> members = [("stump", DecisionTreeClassifier(max_depth=1)), ("tree", DecisionTreeClassifier())]
        >>> voting = VotingClassifier(members, cv=5, random_state=0).fit(X, y)
        >>> voting.fit_summary_.decisions.by_class.confusion(3)
        array([[50.,  0.,  0.],
               [ 0., 48.,  2.],
               [ 0.,  3., 47.]])
        """
        check_is_fitted(self)
        found = self._summary or FitSummary(self.schema_)
        if found.decisions is None and self._honest is not None and self.rule_ is not None:
            with suppress(ValueError):  # some rules have too few rows for a decision on held-out rows
                decided = decision_of_rule(self.rule_, self._honest)
                found = replace(found, decisions=DecisionSummary.of(self._honest, decided, self.rule_))
            self._summary = found
        return found

    def _another(self, rule: object) -> Assembled:
        """Return an unfitted committee of the same parameters with another rule, all checked."""
        raise NotImplementedError

    def _adjusted(self, rule: Rule) -> Rule:
        """Adjust a rule to the parameters of this committee."""
        return rule

    def _keep_members(
        self, training: TrainingSet, fitted: list[MemberFit], calibrations: list[Calibration | None]
    ) -> None:
        """Store the fitted members and their calibrations."""
        self._keep_task(training.schema, training.task)
        self._data, self._summary = training.data, None
        self._fitted_members = [
            FittedMember(
                each.member.name,
                each.models,
                each.member.columns,
                calibration,
                each.member.title,
                each.seconds,
                training.are_classes and (calibration is not None or has_own_labels(each.member.estimator)),
            )
            for each, calibration in zip(fitted, calibrations, strict=True)
        ]

    def _fit_rule(self, rule: Rule, X: TableLike) -> None:
        """Fit a rule on the honest votes and use it."""
        if rule.needs_fit:
            self._known_votes()
        if not rule._looks_at_X():
            self._encoder = None
        elif X is not None:
            self._encoder, self._honest = look_at_rows(self._known_votes(), self._table_of_fit(X))
        elif self._encoder is None or self._known_votes().X is None:
            raise ValueError(f"{type(rule).__name__} uses the columns of X. Pass X, the table of the fit.")
        if self._honest is not None:
            self._honest.fit_rule(rule)
        self.rule_ = rule

    def _known_votes(self) -> HonestVotes:
        check_is_fitted(self)
        if self._honest is None:
            raise NoHonestVotesError(
                "There are no honest votes. The members were fitted without honest votes (pass cv=5), or the "
                "file was saved without them (fit with keep='all')."
                if self.rule_ is not None
                else ONE_CLASS
            )
        return self._honest

    def _open(self, X: TableLike) -> Source:
        """Open a table once for all members, and check its columns."""
        source = open_source(X)
        self._read(source)
        return in_order(source, self.schema_)

    def _table_of_fit(self, X: TableLike) -> TableLike:
        """Return the table of the fit in its original container; raise if it is another."""
        source = open_source(X)
        table = self._read(source)
        if self._known_votes().table not in ("", fingerprint(table.columns, table.n_rows)):
            raise ValueError("X must be the table of the fit, with its rows in their order. Got another.")
        return in_order(source, self.schema_).native

    def _votes(self, source: Source) -> np.ndarray:
        votes: np.ndarray = self._votes_by_fold(source, 1)[0]
        return votes

    def _votes_by_fold(self, source: Source, n_folds: int, *, as_labels: bool = False) -> np.ndarray:
        shape = (n_folds, len(self._fitted_members), source.n_rows, self._task.n_outputs)
        votes: np.ndarray = np.empty(shape, dtype=dtype_of(self._task))
        for place, each in enumerate(self._fitted_members):
            votes[:, place] = each.votes_by_fold(source, self._task, n_folds, as_labels=as_labels)
        return votes

    def _decide(self, X: TableLike) -> np.ndarray:
        """Return the decision for each row, of shape (n_rows, n_outputs)."""
        if not self._has_learnt():  # faster than check_is_fitted, which counts for single rows
            check_is_fitted(self)
        source = self._open(X)
        if self.rule_ is None:
            return np.ones((source.n_rows, 1))
        blocks = row_blocks(source.n_rows)
        if len(blocks) == 1 or source.rows is not None:
            return self._decide_block(source, self.rule_)
        with runner("threads", getattr(self, "n_jobs", None)) as run:
            tasks = (
                run.submit(self._decide_block, source.between(rows), self.rule_, name=f"rows {rows.start} on")
                for rows in blocks
            )
            return np.concatenate(list(results_in_order(tasks, run)))

    def _decide_block(self, source: Source, rule: Rule) -> np.ndarray:
        matrix = None if self._encoder is None else self._encoder.transform(source)
        n_folds = folds_of_rule(rule, [len(member.models) for member in self._fitted_members])
        votes = self._votes_by_fold(source, n_folds, as_labels=rule._reads_labels())
        return decided_by_fold(rule, votes, matrix)

    def _state(self) -> CommitteeState:
        fitted_members = [
            MemberState(
                member.name,
                member.models,
                member.columns,
                None if member.calibration is None else vars(member.calibration),
                member.title,
                member.fit_seconds,
                member.own_labels,
            )
            for member in self._fitted_members
        ]
        return CommitteeState(self.schema_, self._task, fitted_members, KeptRule(self.rule_, self._encoder))

    def _has_learnt(self) -> bool:
        return "_fitted_members" in self.__dict__

    def _learnt(self) -> dict[str, object]:
        honest = None
        if self._honest is not None and self.keep == "all":
            honest = {name: getattr(self._honest, name) for name in KEPT_OF_HONEST}
            # Files leave out weights and rows that a committee does not have.
            if (self._honest.weights == 1).all():
                honest["weights"] = None
            if self._honest.X is None:
                del honest["X"]
            honest |= kept_labels(self._honest)
        record = self._known_record()
        return super()._learnt() | {
            "honest": honest,
            "record": None if record is None else record.fields(),
            "summary": self.fit_summary_.fields(),
        }

    def _take_learnt(self, fields: Fields) -> None:
        state = CommitteeState.take(fields, self._task_type)
        self._keep_task(state.schema, state.task)
        self._fitted_members = [self._fitted_member_of(member, fields) for member in state.fitted_members]
        honest = fields.optional_fields("honest")
        # Older files have no record and no summary.
        record = fields.optional_fields("record") if "record" in fields else None
        self._record = None if record is None else FitRecord.take(record)
        summary = fields.optional_fields("summary") if "summary" in fields else None
        n_outputs, n_members = self._task.n_outputs, len(self._fitted_members)
        self._summary = (
            None if summary is None else FitSummary.take(summary, self.schema_, n_members, n_outputs)
        )
        self._honest = None if honest is None else self._take_honest(honest)
        self.rule_, self._encoder = fitted_rule(
            state.kept, len(self._fitted_members), self.n_features_in_, self._task
        )

    def _fitted_member_of(self, state: MemberState, fields: Fields) -> FittedMember:
        n_columns = self.n_features_in_ if state.columns is None else len(state.columns)
        for model in state.models:
            fits = votes_like(model, n_columns, self._task)
            fields.require(fits, f"the member {state.name!r} was fitted on another table")
        curve = state.calibration
        calibration = None if curve is None else Calibration.take(Fields(curve), self._task.n_outputs)
        return FittedMember(
            state.name,
            state.models,
            state.columns,
            calibration,
            state.title,
            state.fit_seconds,
            state.own_labels,
        )

    def _take_honest(self, fields: Fields) -> HonestVotes:
        shape = (len(self._fitted_members), None, self._task.n_outputs)
        votes = fields.array("votes", dtype_of(self._task), shape)
        n_rows = votes.shape[1]
        are_classes = isinstance(self._task, Classification)
        y = fields.array("y", np.int32 if are_classes else np.float64, (n_rows,))
        weights = fields.optional_array("weights", np.float64, (n_rows,))
        groups = fields.optional_array("groups", np.int64, (n_rows,))
        rows = fields.array("rows", np.int64, (n_rows,))
        X = fields.array("X", np.float64, (n_rows, None)) if "X" in fields else None
        # Older files have no fingerprints of tables and splits.
        labels = take_labels(fields, len(votes), n_rows, self._task)
        table, split = (fields.take(name, str) if name in fields else "" for name in ("table", "split"))
        fields.finish()
        if are_classes:
            fields.require((votes >= 0).all(), "a vote is negative")
            fields.require(((y >= 0) & (y < self._task.n_outputs)).all(), "y is of no class")
        fields.require(weights is None or (weights >= 0).all(), "a weight is negative")
        fields.require((rows >= 0).all() and (groups is None or (groups >= 0).all()), "a row is negative")
        weights = np.ones(n_rows) if weights is None else weights
        return HonestVotes(
            votes,
            y,
            weights,
            rows,
            groups,
            X,
            classes=self._task.classes,
            table=table,
            split=split,
            labels=labels,
        )
