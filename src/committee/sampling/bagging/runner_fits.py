"""Bagging of members of any kind: tasks of a runner, each of which fits some of them.

In: a batch, and the table as the user has it. Out: `Made`. A task draws the bags of its members itself, so
what goes to it is a few numbers, and the table is shared by all.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from committee.combining.metadata_routing import all_take_weights, reaches, request
from committee.members.member_fit import fit_member
from committee.members.member_tasks import failed_member, naming, numbered, results_in_order
from committee.members.member_view import asked
from committee.members.member_votes import Task as Answering
from committee.members.member_votes import votes_of
from committee.members.seeds import MEMBER, reseeded, seeds_of, stream
from committee.running import Runner, Task, runner
from committee.sampling.bagging.batch import Batch, Made, is_flat
from committee.sampling.bags import Bags
from committee.sampling.out_of_bag import Tally
from committee.table.schema import take_rows
from committee.table.source import Source, take_columns
from committee.task import Classification
from committee.votes.vote_arrays import dtype_of

# On fewer rows, members have voted before a thread has begun.
ROWS_FOR_THREADS = 2000
# Members that a task fits at most, so that progress is told now and then.
MOST_IN_A_TASK = 8

Vote = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True, eq=False)
class Shared:
    """What all members of a bagging learn from.

    Parameters
    ----------
    X : matrix or frame
    task : Classification or Regression
    answers : ndarray of shape (n_rows,)
        Labels, or numbers: what members see of y.
    weights : ndarray of shape (n_rows,), or None
        What a row weighs each time that it stands in a bag; None for 1.
    bags : Bags
    seed : int
    """

    X: Any
    task: Answering
    answers: np.ndarray
    weights: np.ndarray | None
    bags: Bags
    seed: int

    @classmethod
    def of(cls, batch: Batch, X: Any) -> Shared:
        """What the members of a batch learn from."""
        task, y = batch.training.task, batch.training.y
        answers = task.classes[y] if isinstance(task, Classification) else y
        return cls(X, task, answers, batch.weights, batch.bags, batch.seed)


def check_weights_reach(member: Any, shared: Shared) -> None:
    """Raise if rows have weights and a member, or the one in it that answers, takes none."""
    if shared.weights is None:
        return
    # Weights are to go to a clone that is asked to take them.
    asked = clone(member)
    request(asked, "sample_weight")
    if not reaches(asked, "sample_weight"):
        raise ValueError(
            f"{type(member).__name__} takes no sample_weight, and rows or classes have weights. Set "
            "bootstrap=True and pass no groups: then rows are drawn in proportion to them."
        )


def fit_members(batch: Batch, X: Any, run: Runner) -> Made:
    """Fit the members of a batch."""
    shared = Shared.of(batch, X)
    check_weights_reach(batch.member, shared)
    members: list[Any] = []
    votes: list[np.ndarray] = []
    n_done, tally = 0, Tally.of(batch.training, batch.before, batch.is_majority)
    interruption: BaseException | None = None
    try:
        with closing(fitted_in_order(batch, shared, run)) as fitted:
            for model, cast in fitted:
                members.append(model)
                if batch.keeps_votes:
                    votes.append(on_all_rows(cast, batch))
                # All at once: an interruption leaves whole members.
                n_done, tally = n_done + 1, tally.and_then(*cast) if batch.is_scored else tally
                is_stopped = batch.progress is not None and batch.progress(n_done)
                if is_stopped or (batch.is_auto and is_flat(tally.curve)):
                    break
    except KeyboardInterrupt as error:
        interruption = error
    return Made(
        members[:n_done],
        tally.votes if batch.is_scored else None,
        np.array(votes[:n_done]) if batch.keeps_votes and n_done > 0 else None,
        interruption=interruption,
    )


def on_all_rows(cast: Vote, batch: Batch) -> np.ndarray:
    """Votes on some rows as votes on all of them: NaN on the others."""
    rows, votes = cast
    task = batch.training.task
    every: np.ndarray = np.full((batch.bags.n_rows, task.n_outputs), np.nan, dtype=dtype_of(task))
    every[rows] = votes
    return every


def fitted_in_order(batch: Batch, shared: Shared, run: Runner) -> Generator[tuple[Any, Vote]]:
    """The members in their order, each with its votes if any are wanted, while later ones are fitted."""
    n_members = batch.last - batch.first
    step = int(np.clip(n_members // (4 * run.n_workers), 1, MOST_IN_A_TASK))
    handle = run.put(shared)
    votes, seen = batch.is_scored or batch.keeps_votes, batch.columns

    def submit(begin: int) -> Task:
        end = min(begin + step, batch.last)
        columns = None if seen is None else seen[begin - batch.first : end - batch.first]
        name = f"members {begin} to {end - 1}"
        return run.submit(fit_some, handle, batch.member, begin, end, columns, votes, name=name)

    tasks = map(submit, range(batch.first, batch.last, step))
    with closing(results_in_order(tasks, run)) as results:
        for some in results:
            yield from some


def fit_some(
    shared: Shared, member: Any, begin: int, end: int, columns: list[np.ndarray] | None, votes: bool
) -> list[tuple[Any, Vote]]:
    """Fit some members, and let them vote on the rows outside of their bags."""
    done = []
    counts_weigh, has_seeds = takes_counts(member), bool(seeds_of(member))
    for number in range(begin, end):
        seen = None if columns is None else columns[number - begin].tolist()
        try:
            own = reseeded(member, stream(shared.seed, number, MEMBER)) if has_seeds else member
            done.append(fit_one(shared, own, number, seen, counts_weigh=counts_weigh, votes=votes))
        except Exception as error:
            who = numbered(number, member)
            raise failed_member(who, "be fitted", error, way_out(shared, number)) from error
    return done


def way_out(shared: Shared, number: int) -> str:
    """What may help a member whose bag lacks a class."""
    drawn = shared.answers[shared.bags.draw(shared.seed, number) > 0]
    if not isinstance(shared.task, Classification) or len(np.unique(drawn)) == shared.task.n_outputs:
        return ""
    return " Its bag lacks a class: set a larger max_samples, or sampling='stratified' of BaggingClassifier."


def fit_one(
    shared: Shared, member: Any, number: int, columns: list[int] | None, *, counts_weigh: bool, votes: bool
) -> tuple[Any, Vote]:
    """A clone fitted on its bag and, if they are wanted, the rows outside of it and its votes on them."""
    counts = shared.bags.draw(shared.seed, number)
    rows, weights = bag_of(shared, counts, counts_weigh=counts_weigh)
    X = take_columns(shared.X, columns)
    is_all = len(rows) == len(counts) and counts.all()
    seen = X if is_all else take_rows(X, rows)
    are_classes = isinstance(shared.task, Classification)
    model = fit_member(member, seen, shared.answers[rows], weights, are_classes=are_classes)
    outside = np.flatnonzero(counts == 0) if votes else np.empty(0, dtype=np.int64)
    if len(outside) == 0:
        return model, (outside, np.empty((0, shared.task.n_outputs)))
    return model, (outside, votes_of(model, take_rows(X, outside), shared.task))


def takes_counts(member: Any) -> bool:
    """Whether a row that was drawn twice may come once, with the weight 2.

    Those that a member is made of need not all take weights, and who balances classes counts rows, so they
    see it twice.
    """
    balances = any(
        value is not None and (name == "class_weight" or name.endswith("__class_weight"))
        for name, value in member.get_params(deep=True).items()
    )
    return not balances and all_take_weights(member)


def bag_of(shared: Shared, counts: np.ndarray, *, counts_weigh: bool) -> tuple[np.ndarray, np.ndarray | None]:
    """The rows of a bag, and their weights if there are any to tell."""
    rows = np.flatnonzero(counts)
    if shared.weights is not None:
        rows = rows[shared.weights[rows] > 0]
    weights = None if shared.weights is None else shared.weights[rows]
    if counts_weigh:
        weights = counts[rows] * (1.0 if weights is None else weights)
        return rows, None if (weights == 1).all() else weights
    times = counts[rows]
    return np.repeat(rows, times), None if weights is None else np.repeat(weights, times)


def each_vote(
    members: Sequence[Any],
    columns: Sequence[np.ndarray] | None,
    source: Source,
    task: Answering,
    kind: str,
    n_jobs: int | None,
) -> Iterator[np.ndarray]:
    """The votes of fitted members on the columns that each sees, one member after the other."""

    def votes_of_member(i: int) -> np.ndarray:
        seen = source if columns is None else source.select(columns[i].tolist())
        with naming(numbered(i, members[i]), "vote"):
            return votes_of(*asked(members[i], seen), task)

    if source.n_rows < ROWS_FOR_THREADS or kind == "serial":
        yield from map(votes_of_member, range(len(members)))
        return
    with runner(kind, n_jobs) as run:
        tasks = (run.submit(votes_of_member, i, name=f"member {i}, votes") for i in range(len(members)))
        yield from results_in_order(tasks, run)
