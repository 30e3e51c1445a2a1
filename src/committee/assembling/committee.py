"""The one body of all committees: members, honest votes and a rule.

`fit` seats the members (`fitting`) and makes honest votes of the rows that folds hold out, if the rule learns
from them; the rule is then fitted. What a committee of one kind adds is its rule.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import narwhals.stable.v2 as nw
import numpy as np
from sklearn.base import TransformerMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from committee import running
from committee.assembling.calibrating import Calibration
from committee.assembling.committee_parameters import CommitteeParameters
from committee.assembling.encoding import new_encoder
from committee.assembling.fitting import Plan, Seated, honest_mean, n_fits, seat, take_prefit
from committee.assembling.folds import Fold, folds_of
from committee.assembling.kept import KeptCommittee
from committee.assembling.leaderboard import Leaderboard, leaderboard_of
from committee.assembling.lesson import Lesson
from committee.assembling.members import LARGEST_SEED, Member, members_of, seeded
from committee.assembling.named import NamedMembers
from committee.assembling.seats import Seat
from committee.assembling.votes import HonestVotes, dtype_of, gives_scores
from committee.boosting.python_rounds import take_rows
from committee.combining import as_rule
from committee.combining.rule import Rule
from committee.parameters import (
    check_parameters,
    declared,
    is_integer,
)
from committee.table.matching import is_reordered
from committee.table.source import open_source
from committee.task import Classification

# The folds of a rule that needs honest votes where none are asked for.
N_FOLDS = 5


@declared
class Committee(CommitteeParameters, TransformerMixin, NamedMembers, KeptCommittee):
    """Members of any kind, and a rule that decides by their votes.

    Attributes
    ----------
    estimators_ : list of estimators
        The fitted members; with `refit=False` the list of its fold models for each.
    named_estimators_ : dict of str to estimator
        The same by name.
    rule_ : Rule
        The fitted rule; None if y has one class.
    weights_ : ndarray
        The weights of the members, if the rule has such.
    honest_votes_ : ndarray of shape (n_members, n_honest_rows, n_outputs)
        The votes that the rule has learnt from, if there are any.
    honest_rows_ : ndarray of int of shape (n_honest_rows,)
        The training rows that they are on.
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Fit the members and the rule.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            numpy, scipy sparse, pandas, polars or Arrow. Members get it as it is, sparse matrices dense.
        y : array-like of shape (n_rows,)
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows, for the members that take them and for the rule. Rows of weight 0 take no
            part.
        groups : array-like of shape (n_rows,), default=None
            Rows of one group are held out together, if `cv` is an integer or a splitter that takes groups.

        Returns
        -------
        self
        """
        check_parameters(self)
        lesson = Lesson.of(self._task_type, X, y, sample_weight, groups)
        members = members_of(self.estimators, self.columns, lesson.schema, lesson.are_classes)
        rng = np.random.default_rng(check_random_state(self.random_state).randint(LARGEST_SEED))
        rule = seeded(self._new_rule(), rng)
        if lesson.is_open:
            check_rule(rule, len(members), lesson)
        if isinstance(self.cv, str):
            seated = take_prefit(members, lesson, self.calibrate is not None)
        else:
            members = [replace(each, estimator=seeded(each.estimator, rng)) for each in members]
            seated = self._seat(members, lesson, self._folds(lesson, rule))
        honest = honest_of(seated, lesson)
        calibrations = self._calibrations(seated, honest)
        encoder = None
        if lesson.is_open and rule._looks_at_X():
            encoder = new_encoder().fit(lesson.X, sample_weight=lesson.weights)
        if honest is not None:
            matrix = None if encoder is None else encoder.transform(take_rows(lesson.X, honest.rows))
            rule.fit(honest.votes, honest.y, matrix, honest.weights)
        self._keep_task(lesson.schema, lesson.task)
        self._seats = [
            Seat(each.member.name, each.models, each.member.columns, calibration)
            for each, calibration in zip(seated, calibrations, strict=True)
        ]
        self._honest, self._encoder = honest, encoder
        self.rule_ = rule if lesson.is_open else None
        return self

    def votes(self, X: Any) -> np.ndarray:
        """The vote of every member.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)

        Returns
        -------
        ndarray of shape (n_members, n_rows, n_outputs)
            Float32 for classes, in the order of `classes_`; float64 for numbers.
        """
        return self._votes(self._native(X))

    def transform(self, X: Any) -> np.ndarray:
        """The votes of all members side by side.

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

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The names of the columns of `transform`.

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
            names = [f"{seat.name}_{label}" for seat in self._seats for label in self._task.classes]
        else:
            names = [seat.name for seat in self._seats]
        return np.array(names, dtype=object)

    def recombine(self, rule: Any, X: Any = None) -> Any:
        """The committee with another rule: no member is fitted again.

        Parameters
        ----------
        rule : str, callable or Rule
            A name of `committee.rules`, a function of votes, or a rule.
        X : table, default=None
            The table of the fit, for a rule that looks at the rows.

        Returns
        -------
        VotingClassifier or VotingRegressor
            With the same members, and the rule fitted on the same honest votes.
        """
        from committee.assembling.voting import VotingClassifier, VotingRegressor

        check_is_fitted(self)
        made: Any = VotingClassifier if self._task_type is Classification else VotingRegressor
        shared = made().get_params(deep=False).keys() & self.get_params(deep=False).keys()
        another = made(**{name: getattr(self, name) for name in shared - {"rule", "weights"}})
        another.rule = rule
        check_parameters(another)
        another.__dict__.update(
            {name: value for name, value in vars(self).items() if name in LEARNT or name.endswith("_")}
        )
        if self.rule_ is not None:
            another._fit_rule(clone(as_rule(rule)), X)
        return another

    def leaderboard(self, rules: Any = None, *, X: Any = None, scoring: str | None = None) -> Leaderboard:
        """Judge every member and every rule by honest votes.

        A rule that learns is cross-validated on the honest votes, in five folds that keep groups together:
        no rule is judged by votes that it has learnt from.

        Parameters
        ----------
        rules : iterable of rules, default=None
            Names, functions or rules. None is every rule by name that can decide here; those that look at
            the rows are among them if X is given.
        X : table, default=None
            The table of the fit.
        scoring : str, default=None
            A name of scikit-learn's scorers. None is accuracy, or R2 for numbers.

        Returns
        -------
        Leaderboard
            The best first: a sequence with `kind`, `name` and `score`.
        """
        honest = self._known_votes()
        matrix = None
        if X is not None:
            native = self._native(X)
            matrix = new_encoder().fit(native).transform(take_rows(native, check_rows(native, honest)))
        return leaderboard_of(honest, [seat.name for seat in self._seats], rules, matrix, scoring)

    @property
    def estimators_(self) -> list[Any]:
        """The fitted members; with `refit=False`, the fold models of each."""
        check_is_fitted(self)
        return [seat.models[0] if len(seat.models) == 1 else seat.models for seat in self._seats]

    @property
    def named_estimators_(self) -> dict[str, Any]:
        """The fitted members by name."""
        return dict(zip([seat.name for seat in self._seats], self.estimators_, strict=True))

    @property
    def weights_(self) -> np.ndarray:
        """The weights of the members, if the rule has such."""
        check_is_fitted(self)
        weights = getattr(self.rule_, "weights_", None)
        if weights is None:
            raise AttributeError(f"{type(self.rule_).__name__} has no weights for members.")
        return np.asarray(weights)

    @property
    def honest_votes_(self) -> np.ndarray:
        """The votes that the rule has learnt from."""
        return self._known_votes().votes

    @property
    def honest_rows_(self) -> np.ndarray:
        """The training rows that `honest_votes_` are on."""
        return self._known_votes().rows

    def _new_rule(self) -> Rule:
        """The rule of this committee, not fitted."""
        raise NotImplementedError

    def _folds(self, lesson: Lesson, rule: Rule) -> list[Fold]:
        cv = N_FOLDS if self.cv is None and rule.needs_fit else self.cv
        if cv is None or not lesson.is_open:
            return []
        return folds_of(
            cv, lesson.X, lesson.y, lesson.groups, lesson.weights, is_class_task=lesson.are_classes
        )

    def _seat(self, members: list[Member], lesson: Lesson, folds: list[Fold]) -> list[Seated]:
        uses_bags = bool(self.out_of_bag) and (is_integer(self.cv) or self.cv is None)
        plan = Plan(folds, bool(self.refit), uses_bags and lesson.groups is None, self.calibrate is not None)
        is_named = isinstance(self.runner, str) and self.runner != "serial"
        what, n_total = "folds" if folds else "members", n_fits(members, lesson, plan)
        with (
            running.runner(self.runner, self.n_jobs if is_named else None) as run,
            running.Work(what, type(self).__name__, n_total, verbose=int(self.verbose)) as work,
        ):
            return seat(members, lesson, plan, run, on_error=self.on_error, work=work)

    def _calibrations(self, seated: list[Seated], honest: HonestVotes | None) -> list[Calibration | None]:
        """The calibration of each member that votes by scores; its honest scores become votes."""
        found: list[Calibration | None] = [None] * len(seated)
        if honest is None or self.calibrate is None or self._task_type is not Classification:
            return found
        for place, each in enumerate(seated):
            if gives_scores(each.models[0]):
                made = Calibration.of(self.calibrate, honest.votes[place], honest.y, honest.weights)
                honest.votes[place] = made.votes(honest.votes[place].astype(np.float64))
                found[place] = made
        return found

    def _fit_rule(self, rule: Rule, X: Any) -> None:
        """Take another rule, fitted on the honest votes."""
        self._encoder, matrix, honest = None, None, self._honest
        if rule.needs_fit:
            honest = self._known_votes()
        if rule._looks_at_X():
            if X is None:
                raise ValueError(f"{type(rule).__name__} looks at the rows. Pass X, the table of the fit.")
            native = self._native(X)
            self._encoder = new_encoder().fit(native)
            matrix = self._encoder.transform(take_rows(native, check_rows(native, self._known_votes())))
        if honest is not None:
            rule.fit(honest.votes, honest.y, matrix, honest.weights)
        self.rule_ = rule

    def _known_votes(self) -> HonestVotes:
        check_is_fitted(self)
        if self._honest is None:
            raise ValueError(
                "The members were fitted without honest votes. Fit with cv=5 to have some."
                if self.rule_ is not None
                else "y had one class, so there is nothing to decide."
            )
        return self._honest

    def _native(self, X: Any) -> Any:
        """A table as members take it, if it has the columns of the fit."""
        source = open_source(X)
        self._read(source)
        if is_reordered(source, self.schema_):
            return nw.from_native(source.native, eager_only=True)[list(self.schema_.names)].to_native()
        return source.native

    def _votes(self, native: Any) -> np.ndarray:
        n_rows = native.shape[0]
        votes = np.empty((len(self._seats), n_rows, self._task.n_outputs), dtype=dtype_of(self._task))
        for place, each in enumerate(self._seats):
            votes[place] = each.votes(native, self._task)
        return votes

    def _decide(self, X: Any) -> np.ndarray:
        """The decision for each row, of shape (n_rows, n_outputs)."""
        check_is_fitted(self)
        native = self._native(X)
        if self.rule_ is None:
            return np.ones((native.shape[0], 1))
        matrix = None if self._encoder is None else self._encoder.transform(native)
        return self.rule_.combine(self._votes(native), matrix)


# What a fit leaves beside attributes that end with an underscore.
LEARNT = ("_task", "_seats", "_honest", "_encoder")


def honest_of(seated: list[Seated], lesson: Lesson) -> HonestVotes | None:
    """The honest votes of members that have been fitted in folds, in bags or elsewhere."""
    if not lesson.is_open or not all(each.held_out for each in seated):
        return None
    votes, rows = honest_mean(seated, lesson)
    return HonestVotes(
        votes,
        lesson.y[rows],
        None if lesson.weights is None else lesson.weights[rows],
        None if lesson.groups is None else lesson.groups[rows],
        rows,
    )


def check_rule(rule: Rule, n_members: int, lesson: Lesson) -> None:
    """Raise for a rule that could not decide here, before members are fitted."""
    check_parameters(rule)
    task = "classification" if lesson.are_classes else "regression"
    if task not in rule.tasks:
        raise ValueError(f"{type(rule).__name__} is a rule for {rule.tasks[0]}. Use another for {task}.")
    if not rule.needs_fit:
        n_outputs = lesson.task.n_outputs
        rule.combine(np.full((n_members, 1, n_outputs), 1 / n_outputs))


def check_rows(native: Any, honest: HonestVotes) -> np.ndarray:
    """The rows of honest votes, if a table has them."""
    if native.shape[0] <= honest.rows.max():
        raise ValueError(
            f"X must be the table of the fit. It has {native.shape[0]} rows, and there are votes on row "
            f"{honest.rows.max()}."
        )
    return honest.rows
