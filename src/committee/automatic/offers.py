"""Smaller versions of a committee to choose from, with the size, the latency and the honest loss of each.

In: a committee, its smaller versions and their decisions on rows that no model was fitted on. Out: `Offers`,
which is printed as a table. The latency is measured on this machine, with single rows and the predictor of
the version.
"""

from __future__ import annotations

import copy
import datetime
import importlib.util
import itertools
import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

import narwhals.stable.v2 as nw
import numpy as np
from sklearn.base import BaseEstimator, clone

from committee.assembling.fit_record import FitRecord
from committee.assembling.leaderboard import SIGNIFICANT, Estimate, Leaderboard, honest_decision
from committee.automatic.compaction import bytes_of
from committee.combining.cost_rule import CostRule
from committee.combining.rule import Rule
from committee.combining.rule_registry import as_rule
from committee.members.member_votes import votes_of
from committee.members.training_set import TrainingSet
from committee.metrics.metric_table import Metric, shown
from committee.metrics.scoring import metric_of
from committee.parameters import one_of
from committee.printing import aligned, counted, size_of
from committee.table import Column, Kind, Schema
from committee.table.schema import PLAIN, take_rows
from committee.votes.folds import Fold

Row = TypeVar("Row")
AS_IT_IS = "as it is"
PRUNE, REFIT, DISTIL = METHODS = ("prune", "refit", "distil")
# The numbers of members to which committees are pruned, to choose from.
NUMBERS = (1, 2, 3, 5, 8, 13, 21)
# The significant digits of a score.
N_DIGITS = 4
# The number of timed predictions. Their median counts, since some wait for other processes.
N_TIMES = 50


@dataclass(frozen=True, eq=False)
class Offer:
    """A version of a committee.

    Parameters
    ----------
    method : {"as it is", "prune", "refit", "distil"}
    model : estimator
    n_members, n_models : int
        A student is one member with one model.
    n_bytes : int
        The size of the file, which contains no honest votes.
    seconds : float
        The median time of its predictor for one row, on this machine.
    has_predictor : bool, default=True
        False if a member needs the library that fitted it. Then the time is that of `predict`.
    score : float, default=None
        The honest score with scikit-learn's sign: higher is better. None if it is unknown.
    standard_errors : float, default=None
        By how many standard errors of the difference the committee as it is is better, compared row by row.
    """

    method: str
    model: Any = field(repr=False)
    n_members: int
    n_models: int
    n_bytes: int
    seconds: float
    has_predictor: bool = True
    score: float | None = None
    standard_errors: float | None = None

    @property
    def label(self) -> str:
        """What was done, with the number of members."""
        if self.method == DISTIL:
            return "distil to one booster"
        members = counted(self.n_members, "member")
        return {PRUNE: f"prune to {members}", REFIT: f"refit {members}"}.get(self.method, self.method)

    @property
    def verdict(self) -> str:
        """How the score compares with that of the committee as it is; empty if it is equal or unknown."""
        if not self.standard_errors:
            return ""
        if abs(self.standard_errors) < SIGNIFICANT:
            return "not significant"
        return "worse" if self.standard_errors > 0 else "better"


@dataclass(frozen=True, repr=False)
class Offers(Sequence[Offer]):
    """The versions of a committee: first as it is, then smaller ones.

    They are printed as a table, which shows losses as positive numbers.

    Parameters
    ----------
    versions : tuple of Offer
    scoring : str
        The scikit-learn name of the metric.
    measured_on : str
        The rows of the scores; empty if there are no scores.
    notes : tuple of str
        Which methods need something that is missing.
    """

    versions: tuple[Offer, ...]
    scoring: str
    measured_on: str
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.versions)

    def __getitem__(self, index: Any) -> Any:
        return self.versions[index]

    def __repr__(self) -> str:
        header, rows = self.table()
        return "\n".join([aligned(header, rows, range(1, len(header))), *self.remarks()])

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Return the header and the rows as text, without columns that are empty."""
        metric = shown(self.scoring, 0.0)[0]
        columns = {
            "": [each.label for each in self],
            "members": [str(each.n_members) for each in self],
            "models": [str(each.n_models) for each in self],
            "size": [size_of(each.n_bytes) for each in self],
            "one row": [f"{1000 * each.seconds:.3g} ms" + "*" * (not each.has_predictor) for each in self],
            metric: [self.number(each.score) for each in self],
            "difference": [each.verdict for each in self],
        }
        kept = {title: texts for title, texts in columns.items() if any(texts)}
        return list(kept), [list(row) for row in zip(*kept.values(), strict=True)]

    def number(self, score: float | None) -> str:
        """Format a score in four digits, with losses as positive numbers; empty if it is unknown."""
        if score is None:
            return ""
        value = shown(self.scoring, score)[1]
        n_before = math.floor(math.log10(abs(value))) + 1 if 0 < abs(value) < math.inf else 0
        return f"{value:.{max(0, N_DIGITS - n_before)}f}"

    def remarks(self) -> Iterator[str]:
        """Yield how the columns were measured, and which methods need something."""
        yield "One row: the median time of committee.predictor for a row, measured on this machine."
        if not all(each.has_predictor for each in self):
            yield "*: of predict, because a member needs the library that fitted it."
        if self.measured_on:
            metric = shown(self.scoring, 0.0)[0]
            yield f"{metric[0].upper()}{metric[1:]}: measured on {self.measured_on}."
        yield from self.notes

    def best(
        self,
        method: str | None = None,
        *,
        max_members: int | None = None,
        max_latency: float | None = None,
        max_bytes: float | None = None,
    ) -> Offer:
        """Return the version with the lowest loss within limits.

        Parameters
        ----------
        method : {"prune", "refit", "distil"}, default=None
            None allows all, and the committee as it is.
        max_members : int, default=None
        max_latency : float, default=None
            The longest time for one row in seconds.
        max_bytes : float, default=None
            The largest size of the file.

        Returns
        -------
        Offer
            Of versions without a known loss, the smallest.

        Raises
        ------
        ValueError
            If no version is within the limits. The message describes the smallest.
        """
        if method not in (None, *METHODS):
            raise ValueError(f"method must be {one_of(*METHODS, None).words}. Got {method!r}.")
        found = [each for each in self if method in (None, each.method)]
        if not found:
            reasons = [note for note in self.notes if note.startswith(str(method))]
            raise ValueError(" ".join([f"There is no version to {method}.", *reasons]))
        within = [
            each
            for each in found
            if (max_members is None or each.n_members <= max_members)
            and (max_latency is None or each.seconds <= max_latency)
            and (max_bytes is None or each.n_bytes <= max_bytes)
        ]
        if not within:
            least = min(found, key=lambda each: each.n_bytes)
            what = (
                f"No version keeps the limits. The smallest, {least.label}, has {size_of(least.n_bytes)} and "
                f"takes {1000 * least.seconds:.3g} ms for a row. Set higher limits."
            )
            needs = [note for note in self.notes if "needs" in note]
            raise ValueError(" ".join([what, *needs]))
        return min(within, key=lambda each: (each.score is None, -(each.score or 0.0), each.n_bytes))


@dataclass(frozen=True, eq=False)
class Shrinking:
    """Make and measure the versions of a committee.

    Parameters
    ----------
    committee : CommitteeClassifier or CommitteeRegressor
        With honest votes for the rows of the training set, if there is one.
    X : table or None
        Rows for a student and for the latency.
    training : TrainingSet, default=None
        The rows of X with their targets, if these are known.
    is_of_fit : bool, default=False
        Whether these are the table of the fit. Otherwise the committee has not seen them.
    in_folds : list of (fold, committee), default=[]
        Folds of the table of the fit, and committees that are fitted on the other rows.
    """

    committee: Any
    X: Any
    training: TrainingSet | None = None
    is_of_fit: bool = False
    in_folds: Sequence[tuple[Fold, Any]] = ()

    def offers(self, methods: Sequence[str], max_members: int | None) -> Offers:
        """Make the versions by some methods, with 1, 2, 3, 5 and so on, or a given number of members."""
        whole, honest = self.committee, self.committee._honest
        notes = {method: note for method in methods if (note := self._missing_for(method))}
        first = None if honest is None else self._estimate(self._decision())
        found = [self._offer(AS_IT_IS, whole, first, first)]
        bases = [] if honest is None or set(methods) <= {DISTIL} else self._pruned(max_members)
        estimates = [self._estimate(honest_decision(rule_of(each), each._honest)) for each in bases]
        if PRUNE in methods:
            found += [self._offer(PRUNE, *each, first) for each in zip(bases, estimates, strict=True)]
        if first is not None and REFIT in methods and REFIT not in notes:
            if max_members is None or len(whole._fitted_members) <= max_members:
                bases, estimates = [whole, *bases], [first, *estimates]
            refitted = bases[0]._refitted(self.training)
            smaller = [with_models_of(refitted, each) for each in bases]
            found += [self._offer(REFIT, *each, first) for each in zip(smaller, estimates, strict=True)]
        if DISTIL in methods and DISTIL not in notes:
            student, decision = self._student()
            estimate = None if decision is None else self._estimate(decision)
            found.append(self._offer(DISTIL, student, estimate, first))
        board = self._board()
        if honest is None and board is not None and board.committee is not None:
            found[0] = replace(found[0], score=board.committee.score)
        return Offers(tuple(found), self.metric.name, self._rows(), tuple(notes.values()))

    @cached_property
    def metric(self) -> Metric:
        """The metric of the leaderboard of the committee."""
        task = self.committee._task
        return metric_of(self.committee._usual_scoring(), task.n_outputs, task.classes)

    def _board(self) -> Leaderboard | None:
        """Return the leaderboard of the fit. Older files have none."""
        record: FitRecord | None = self.committee._record
        return None if record is None else record.leaderboard

    def _rows(self) -> str:
        """Describe the rows of the scores."""
        known = self.committee._honest or self._board()
        if known is None:
            return ""
        n_rows = known.n_rows
        if self.training is not None and not self.is_of_fit:
            return f"the {n_rows} given rows"
        return f"{n_rows} rows of the fit, by models that were not fitted on them"

    def _missing_for(self, method: str) -> str:
        """Return what a method needs and does not have, or an empty string."""
        whole = self.committee
        if method == PRUNE and whole._honest is None:
            return (
                "prune needs votes for rows that the members were not fitted on, which this committee does "
                "not have. Pass the table of the fit or new rows, with the target, or fit with keep='all'."
            )
        if method == PRUNE and len(whole._fitted_members) == 1:
            return "prune changes nothing: there is one member."
        if method == REFIT and all(len(each.models) == 1 for each in whole._fitted_members):
            return "refit changes nothing: every member has one model."
        if method == REFIT and not self.is_of_fit:
            return "refit needs the table of the fit, with the target."
        if method == DISTIL and self.X is None:
            return "distil needs a table: that of the fit or new rows."
        return ""

    def _decision(self) -> np.ndarray:
        """Return an honest decision of the committee, without costs."""
        whole = self.committee
        if self.training is None or self.is_of_fit:
            return honest_decision(rule_of(whole), whole._honest)
        matrix = None if whole._encoder is None else whole._encoder.transform(self.X)
        decision: np.ndarray = rule_without_costs(whole).combine(whole._honest.votes, matrix)
        return decision

    def _pruned(self, max_members: int | None) -> list[Any]:
        """Return the committee with fewer and fewer members."""
        whole, X = self.committee, None if self.training is None else self.X
        numbers = NUMBERS if max_members is None else (max_members,)
        found = [
            whole.prune(X, max_members=number)
            for number in reversed(numbers)
            if number < len(whole._fitted_members)
        ]
        # Fewer members than the limit may be enough, so two limits can give the same committee.
        return list({len(each._fitted_members): each for each in found}.values())

    def _student(self) -> tuple[BaseEstimator, np.ndarray | None]:
        """Return a student of all rows and, if the targets are known, decisions of students of other rows.

        The committee has seen the rows of its fit. So the student of a fold learns from a committee that has
        not seen the fold either.
        """
        whole, training = self.committee, self.training
        if training is None:
            return whole.distil(self.X), None
        weights = np.ones(training.n_rows) if training.weights is None else training.weights
        folds: Iterable[tuple[Fold, Any]] = self.in_folds
        if not self.is_of_fit:
            teacher = copy.copy(whole)
            teacher.rule_ = rule_without_costs(whole)
            folds = ((fold, teacher) for fold in whole._honest.folds())
        decision = np.zeros((training.n_rows, whole._task.n_outputs))
        for (train, held_out), teacher in folds:
            student = teacher._student_of(take_rows(self.X, train), weights[train])
            decision[held_out] = votes_of(student, take_rows(self.X, held_out), whole._task, as_scores=False)
        rows = training.rows
        return whole._student_of(take_rows(self.X, rows), weights[rows]), decision[whole._honest.rows]

    def _estimate(self, decision: np.ndarray) -> Estimate:
        """Score a decision on the rows of the honest votes."""
        honest = self.committee._honest
        known = replace(honest.with_votes(honest.votes), groups=honest.groups)
        return Estimate.of(self.metric, known, decision)

    def _offer(self, method: str, model: Any, estimate: Estimate | None, first: Estimate | None) -> Offer:
        """Measure a version."""
        n_models = [1] if method == DISTIL else [len(each.models) for each in model._fitted_members]
        seconds, has_predictor = seconds_of_row(model, self.X)
        return Offer(
            method,
            model,
            len(n_models),
            sum(n_models),
            bytes_of(model),
            seconds,
            has_predictor,
            None if estimate is None else estimate.score,
            None if estimate is None or first is None else first.better_by(estimate),
        )


def rule_without_costs(committee: Any) -> Rule:
    """Return the fitted rule of a committee. Costs change decisions, and not the quality of probabilities."""
    rule: Rule = committee.rule_
    return rule.rule_ if isinstance(rule, CostRule) else rule


def rule_of(committee: Any) -> Rule:
    """Return the rule of a committee without costs, not fitted."""
    rule: Rule = committee.rule_
    unfitted: Rule = clone(as_rule(rule.rule) if isinstance(rule, CostRule) else rule)
    return unfitted


def with_models_of(refitted: Any, committee: Any) -> Any:
    """Return a committee with the models that its members have in another one."""
    members = {each.name: each for each in refitted._fitted_members}
    another = copy.copy(committee)
    another._fitted_members = [members[each.name] for each in committee._fitted_members]
    return another


def seconds_of_row(model: BaseEstimator, X: Any) -> tuple[float, bool]:
    """Measure the time for one row.

    Parameters
    ----------
    model : estimator
    X : table or None
        Its first rows are predicted in turn. None uses an artificial row.

    Returns
    -------
    seconds : float
        The median time.
    has_predictor : bool
        Whether a predictor was measured, or `predict` itself.
    """
    native = some_row(model.schema_) if X is None else X
    places = range(min(native.shape[0], N_TIMES))
    singles: list[Any] = [take_rows(native, slice(place, place + 1)) for place in places]
    try:
        predict = model.predictor().predict
    except ValueError:
        return usual_time(model.predict, singles), False
    return usual_time(predict, [row_of(each, model.schema_) for each in singles]), True


def row_of(X: Any, schema: Schema) -> Any:
    """Return a row as a predictor takes it: a matrix of numbers, or a mapping by column name."""
    if not isinstance(X, np.ndarray):
        return nw.from_native(X, eager_only=True).rows(named=True)[0]
    if all(column.kind in PLAIN for column in schema.columns):
        return X.astype(np.float64)
    return dict(zip(schema.names, X[0].tolist(), strict=True))


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
