"""Run AdaBoost in Python for members of any kind. Each member is a task of a runner.

In: an estimator with scikit-learn's interface, the table in the container of the user, y and a distribution
over the rows. Out: a `Run` with members, errors, votes and the distribution for the next member.
`engine_rounds` does the same for committee's own trees. A round needs the previous one, so there is only one
task at a time, but the runs of several folds are parallel tasks.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from committee import _engine
from committee.boosting.adaboost.weights import Distribution, Scheme, reweigh, weigh
from committee.learners.training_data import Training
from committee.members.member_fit import fit_member
from committee.members.member_tasks import naming, numbered, result_of, results_in_order
from committee.members.member_view import column_names, native_table
from committee.members.member_votes import Task, votes_of
from committee.members.seeds import reseeded
from committee.running import Handle, Runner, runner
from committee.running.deadline import check
from committee.running.progress import side_by_side
from committee.table import read
from committee.table.schema import take_rows
from committee.task import Classification

# The largest distance from the range 0 to 1 that is attributed to rounding in 32 bits.
MOST_ROUNDING = 1e-6


@dataclass(frozen=True, eq=False)
class RoundSettings:
    """The settings of some rounds.

    Parameters
    ----------
    scheme : Scheme
    resamples : bool
        Whether members are fitted on rows drawn by weight instead of with weights.
    seed : int
    n_rounds : int
    first_round : int, default=0
        The number of completed rounds.
    keeps_weights : bool, default=False
    progress : callable, default=None
        Called with the number of completed rounds; the rounds end if it returns True.
    """

    scheme: Scheme
    resamples: bool
    seed: int
    n_rounds: int
    first_round: int = 0
    keeps_weights: bool = False
    progress: Callable[[int], object] | None = None


@dataclass(frozen=True, eq=False)
class Run:
    """The result of some rounds.

    Parameters
    ----------
    members : list of estimators, or the engine's Forest
    errors, votes : ndarray of shape (n_members,)
    weights : ndarray of shape (n_members, n_rows), or None
        The weights of the rows for each member.
    distribution : Distribution
        The distribution for the next member.
    is_over : bool
        Whether a perfect member, or one that is no better than chance, has ended the run.
    importances : ndarray of shape (n_members, n_columns), or None
    interruption : BaseException, or None
        The exception that interrupted the rounds. All members of the run are complete.
    """

    members: Any
    errors: np.ndarray
    votes: np.ndarray
    weights: np.ndarray | None
    distribution: Distribution
    is_over: bool
    importances: np.ndarray | None = None
    interruption: BaseException | None = None

    def then(self, more: Run, join: Callable[[Any, Any], Any]) -> Run:
        """Concatenate this run and its continuation."""

        def both(first: np.ndarray | None, second: np.ndarray | None) -> Any:
            return None if first is None or second is None else np.concatenate([first, second])

        return replace(
            more,
            members=join(self.members, more.members),
            errors=both(self.errors, more.errors),
            votes=both(self.votes, more.votes),
            weights=both(self.weights, more.weights),
            importances=both(self.importances, more.importances),
        )


@dataclass(frozen=True, eq=False)
class PythonRounds:
    """Boosting rounds whose members a runner fits one by one.

    Parameters
    ----------
    member : estimator
        Cloned for every round.
    X : table
        As `native_table` returns it.
    task : Classification or Regression
    y : ndarray of shape (n_rows,)
        Codes of classes, or numbers.
    weights : ndarray of shape (n_rows,), or None
    run : Runner, default=a serial runner

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> task, y = Classification.of(["a", "a", "b", "a"])
    >>> rounds = PythonRounds(GaussianNB(), np.array([[1.0], [2.0], [3.0], [9.0]]), task, y, None)
    >>> run = rounds.boost(RoundSettings(Scheme("m1", 2), False, 0, n_rounds=3), Distribution.start(None, 4))
    >>> len(run.members), run.is_over
    (1, True)
    """

    member: Any
    X: Any
    task: Task
    y: np.ndarray
    weights: np.ndarray | None
    run: Runner = field(default_factory=lambda: runner("serial"))

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.y)

    def boost(self, settings: RoundSettings, distribution: Distribution) -> Run:
        """Run rounds with the given settings."""
        members: list[Any] = []
        errors: list[float] = []
        votes: list[float] = []
        weights: list[np.ndarray] = []
        is_over, n_complete, scheme = False, 0, settings.scheme
        interruption = None
        try:
            for i in range(settings.n_rounds):
                check()
                member, cast = self._make(settings, settings.first_round + i, distribution)
                losses = scheme.losses(cast, self.y, distribution)
                outcome = weigh(distribution, losses)
                is_perfect = scheme.is_perfect(outcome)
                is_bad = not is_perfect and scheme.is_no_better_than_chance(outcome)
                if is_bad and settings.first_round + i > 0:
                    is_over = True
                    break
                is_last = is_perfect or is_bad
                vote = (
                    settings.scheme.last_vote(outcome, distribution)
                    if is_last
                    else settings.scheme.vote(outcome)
                )
                members.append(member)
                errors.append(outcome.error)
                votes.append(vote)
                if settings.keeps_weights:
                    weights.append(distribution.row_weights)
                following = distribution if is_last else reweigh(distribution, losses, vote)
                # One assignment, so that an interruption leaves only complete rounds.
                distribution, n_complete, is_over = following, i + 1, is_last
                if (settings.progress is not None and settings.progress(n_complete)) or is_over:
                    break
        except KeyboardInterrupt as error:
            interruption = error
        kept = (
            np.array(weights[:n_complete]).reshape(n_complete, self.n_rows)
            if settings.keeps_weights
            else None
        )
        return Run(
            members[:n_complete],
            np.array(errors[:n_complete]),
            np.array(votes[:n_complete]),
            kept,
            distribution,
            is_over,
            interruption=interruption,
        )

    def with_runner(self, run: Runner) -> PythonRounds:
        """Return the rounds with another runner."""
        return replace(self, run=run)

    def side_by_side(self, function: Callable[..., Any], calls: dict[str, tuple[Any, ...]]) -> Generator[Any]:
        """Call a function with these rounds and the arguments of each named call; yield results in order."""

        def submit(name: str) -> Any:
            with side_by_side():
                return self.run.submit(function, self._shared, *calls[name], name=name)

        return results_in_order(map(submit, calls), self.run)

    def on_rows(self, rows: np.ndarray) -> PythonRounds:
        """Return the rounds for some of the rows."""
        weights = None if self.weights is None else self.weights[rows]
        return replace(self, X=take_rows(self.X, rows), y=self.y[rows], weights=weights)

    def table_of(self, rows: np.ndarray) -> Any:
        """Select rows in the form that `votes` accepts."""
        return take_rows(self.X, rows)

    def read(self, X: Any) -> Any:
        """Read another table into the form that `votes` accepts."""
        X = native_table(X)
        if X.shape[1] != self.X.shape[1]:
            raise ValueError(f"It has {X.shape[1]} columns instead of {self.X.shape[1]}.")
        names, expected = column_names(X), column_names(self.X)
        if names is not None and expected is not None and names != expected:
            raise ValueError(f"Its columns are {names} instead of {expected}.")
        return X

    def votes(self, members: list[Any], X: Any, scheme: Scheme, first: int) -> np.ndarray:
        """Compute votes of shape (n_members, n_rows, n_outputs). Errors number members from `first`."""
        return np.array(list(each_vote(members, X, self.task, scheme, first)))

    def join(self, first: list[Any], second: list[Any]) -> list[Any]:
        """Concatenate the members of two runs."""
        return first + second

    def take(self, members: list[Any], n_members: int) -> list[Any]:
        """Return the first members."""
        return members[:n_members]

    def drawn_rows(self, seed: int, number: int, distribution: Distribution) -> np.ndarray:
        """Draw rows by weight for the member of a round; the engine would draw the same rows.

        Rows are drawn and returned in an order by content. So the member depends neither on the order of the
        table nor on whether a row has weight 2 or occurs twice.
        """
        order, fixed = self._by_content, distribution.fixed_weights
        order = order[fixed[order] > 0]
        one = np.array([len(order)], dtype=np.uint64)
        n_draws = np.array([distribution.n_draws], dtype=np.uint64)
        bag = _engine.Drawing(self.n_rows, order, one, n_draws, fixed[order], None, True, False)
        return np.repeat(order, bag.draw(seed, number)[order])

    @cached_property
    def _by_content(self) -> np.ndarray:
        """The rows of positive weight in an order by content."""
        training = Training(read(self.X), self.task, np.ascontiguousarray(self.y), self.weights)
        return training.rows_by_content(training.bin(1), 1)

    @cached_property
    def _shared(self) -> Handle:
        """These rounds as a shared value for tasks. Within a task, the runner is serial."""
        return self.run.put(self.with_runner(runner("serial")))

    def _make(
        self, settings: RoundSettings, number: int, distribution: Distribution
    ) -> tuple[Any, np.ndarray]:
        """Fit the member of a round in a task, and return it with its votes."""
        rows = self.drawn_rows(settings.seed, number, distribution) if settings.resamples else None
        silent = replace(settings, progress=None)
        task = self.run.submit(fit_and_vote, self._shared, silent, number, distribution, rows)
        return result_of(task, self.run, numbered(number, self.member))


def fit_and_vote(
    rounds: PythonRounds,
    settings: RoundSettings,
    number: int,
    distribution: Distribution,
    rows: np.ndarray | None,
) -> tuple[Any, np.ndarray]:
    """Fit the member of a round on drawn or weighted rows, and compute its votes on all rows."""
    # Each round has its own generator, so that a warm start gives the same members as a single fit.
    rng = np.random.default_rng([settings.seed, number])
    member = reseeded(rounds.member, rng)
    weights, is_drawn = None, rows is not None
    if rows is None:
        rows = np.flatnonzero(distribution.counts)
        weights = distribution.member_weights[rows]
    is_all = not is_drawn and len(rows) == rounds.n_rows
    X, y = rounds.X if is_all else take_rows(rounds.X, rows), rounds.y[rows]
    are_classes = isinstance(rounds.task, Classification)
    answers = rounds.task.classes[y] if isinstance(rounds.task, Classification) else y
    with naming(numbered(number, member), "be fitted"):
        model = fit_member(member, X, answers, weights, are_classes=are_classes)
    return model, rounds.votes([model], rounds.X, settings.scheme, number)[0]


def each_vote(members: list[Any], X: Any, task: Task, scheme: Scheme, first: int = 0) -> Iterator[np.ndarray]:
    """Yield the votes of each member. Errors name a member by its number, counted from `first`."""
    for number, member in enumerate(members, start=first):
        with naming(numbered(number, member), "vote"):
            is_m2 = scheme.name == "m2"
            votes = votes_of(member, X, task, is_crisp=scheme.is_crisp, as_plausibilities=is_m2)
            if is_m2:
                votes = plausible(votes)
        yield votes


def plausible(votes: np.ndarray) -> np.ndarray:
    """Clip plausibilities to the range 0 to 1; raise if one is outside by more than rounding.

    Examples
    --------
    >>> plausible(np.array([[0.0, 1.0 + 1e-9], [0.5, 0.7]]))
    array([[0. , 1. ],
           [0.5, 0.7]])
    >>> plausible(np.array([[0.0, 5.0]]))
    Traceback (most recent call last):
    ValueError: It gives a class the plausibility 5, which must be between 0 and 1.
    """
    bounded = votes.clip(0, 1)
    beyond = np.abs(votes - bounded)
    if beyond.size and beyond.max() > MOST_ROUNDING:
        worst = votes.flat[beyond.argmax()]
        raise ValueError(f"It gives a class the plausibility {worst:g}, which must be between 0 and 1.")
    return bounded
