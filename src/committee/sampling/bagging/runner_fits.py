"""Fit bagging of members of any kind: each task of a runner fits some members.

In: a batch, with the table as the user passes it. Out: `Made`. A task draws the bags of its members itself,
so its arguments are a few numbers. All tasks share the table.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np

from committee.combining.metadata_routing import accepts_weights, all_take_weights
from committee.members.member_fit import fit_member
from committee.members.member_tasks import failed_member, naming, numbered, results_in_order
from committee.members.member_view import voting_model
from committee.members.member_votes import Task as Target
from committee.members.member_votes import own_labels, votes_of
from committee.members.seeds import MEMBER, reseeded, seeds_of, stream
from committee.running import Runner, Task, runner
from committee.sampling.bagging.batch import Batch, Made, is_flat
from committee.sampling.bags import Bags
from committee.sampling.out_of_bag import Tally
from committee.table.schema import take_rows
from committee.table.source import Source, take_columns
from committee.task import Classification
from committee.votes.vote_arrays import dtype_of

# On fewer rows, members vote faster than threads start.
ROWS_FOR_THREADS = 2000
# The maximum number of members of a task. Progress is reported after each task.
MOST_IN_A_TASK = 8

# Rows, votes on them, and labels if they may differ from the highest votes.
Vote = tuple[np.ndarray, np.ndarray, np.ndarray | None]


@dataclass(frozen=True, eq=False)
class Shared:
    """The training data that all tasks share.

    Parameters
    ----------
    X : matrix or frame
    task : Classification or Regression
    y : ndarray of shape (n_rows,)
        Labels, or numbers.
    weights : ndarray of shape (n_rows,), or None
        The weight of one repetition of a row in a bag. None is 1.
    bags : Bags
    seed : int
    """

    X: Any
    task: Target
    y: np.ndarray
    weights: np.ndarray | None
    bags: Bags
    seed: int


def check_weights_reach(member: Any, weights: np.ndarray | None) -> None:
    """Raise if rows have weights and a member, or the estimator in it that predicts, takes none."""
    if weights is None:
        return
    if not accepts_weights(member):
        raise ValueError(
            f"{type(member).__name__} takes no sample_weight, and rows or classes have weights. Set "
            "bootstrap=True and pass no groups: then rows are drawn in proportion to them."
        )


def fit_members(batch: Batch, run: Runner) -> Made:
    """Fit the members of a batch."""
    check_weights_reach(batch.data.member, batch.weights)
    members: list[Any] = []
    votes: list[np.ndarray] = []
    labels: dict[int, np.ndarray] = {}
    n_done, tally = 0, Tally.of(batch.data.training, batch.before, batch.is_majority)
    interruption: BaseException | None = None
    try:
        with closing(fitted_in_order(batch, run)) as fitted:
            for model, cast in fitted:
                members.append(model)
                if batch.keeps_votes:
                    votes.append(on_all_rows(cast[:2], batch))
                    if cast[2] is not None:
                        labels[n_done] = np.zeros(batch.bags.n_rows, dtype=cast[2].dtype)
                        labels[n_done][cast[0]] = cast[2]
                # One assignment, so that an interruption leaves complete members.
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
        labels={place: codes for place, codes in labels.items() if place < n_done},
    )


def on_all_rows(cast: tuple[np.ndarray, np.ndarray], batch: Batch) -> np.ndarray:
    """Return votes on some rows as votes on all rows, with NaN for the others."""
    rows, votes = cast
    task = batch.data.training.task
    every: np.ndarray = np.full((batch.bags.n_rows, task.n_outputs), np.nan, dtype=dtype_of(task))
    every[rows] = votes
    return every


def fitted_in_order(batch: Batch, run: Runner) -> Generator[tuple[Any, Vote]]:
    """Yield the members in their order, with their votes if needed, while later ones are fitted."""
    task, y = batch.data.training.task, batch.data.training.y
    labels = task.classes[y] if isinstance(task, Classification) else y
    handle = run.put(Shared(batch.data.native, task, labels, batch.weights, batch.bags, batch.seed))
    step = int(np.clip((batch.last - batch.first) // (4 * run.n_workers), 1, MOST_IN_A_TASK))
    votes = batch.is_scored or batch.keeps_votes

    def submit(begin: int) -> Task:
        end = min(begin + step, batch.last)
        columns = None if batch.columns is None else batch.columns[begin - batch.first : end - batch.first]
        name = f"members {begin} to {end - 1}"
        return run.submit(fit_some, handle, batch.data.member, begin, end, columns, votes, name=name)

    tasks = map(submit, range(batch.first, batch.last, step))
    with closing(results_in_order(tasks, run)) as results:
        for some in results:
            yield from some


def fit_some(
    shared: Shared, member: Any, begin: int, end: int, columns: list[np.ndarray] | None, votes: bool
) -> list[tuple[Any, Vote]]:
    """Fit some members, and return them with their votes on the rows outside of their bags."""
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
    """Return advice for the error message of a member whose bag does not contain all classes."""
    drawn = shared.y[shared.bags.draw(shared.seed, number) > 0]
    if not isinstance(shared.task, Classification) or len(np.unique(drawn)) == shared.task.n_outputs:
        return ""
    return (
        " Its bag does not contain all classes: set a larger max_samples, or sampling='stratified' of "
        "BaggingClassifier."
    )


def fit_one(
    shared: Shared, member: Any, number: int, columns: list[int] | None, *, counts_weigh: bool, votes: bool
) -> tuple[Any, Vote]:
    """Return a clone fitted on its bag and, if needed, its votes and any labels on the rows outside."""
    counts = shared.bags.draw(shared.seed, number)
    rows, weights = bag_of(shared, counts, counts_weigh=counts_weigh)
    X = take_columns(shared.X, columns)
    is_all = len(rows) == len(counts) and counts.all()
    seen = X if is_all else take_rows(X, rows)
    are_classes = isinstance(shared.task, Classification)
    model = fit_member(member, seen, shared.y[rows], weights, are_classes=are_classes)
    outside = np.flatnonzero(counts == 0) if votes else np.empty(0, dtype=np.int64)
    if len(outside) == 0:
        return model, (outside, np.empty((0, shared.task.n_outputs)), None)
    unseen = take_rows(X, outside)
    labels = own_labels(member, model, unseen, shared.task)
    return model, (outside, votes_of(model, unseen, shared.task), labels)


def takes_counts(member: Any) -> bool:
    """Return whether a row that was drawn twice can be passed once, with the weight 2.

    It is passed twice if a part of the member takes no weights, or balances classes by the number of rows.
    """
    balances = any(
        value is not None and (name == "class_weight" or name.endswith("__class_weight"))
        for name, value in member.get_params(deep=True).items()
    )
    return not balances and all_take_weights(member)


def bag_of(shared: Shared, counts: np.ndarray, *, counts_weigh: bool) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the rows of a bag, and their weights unless all are 1."""
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
    task: Target,
    kind: str,
    n_jobs: int | None,
    *,
    is_crisp: bool,
) -> Iterator[np.ndarray]:
    """Yield the votes of fitted members, each on its own columns, one member after the other.

    With `is_crisp`, they vote for the class that they predict.
    """

    def votes_of_member(i: int) -> np.ndarray:
        seen = source if columns is None else source.select(columns[i].tolist())
        with naming(numbered(i, members[i]), "vote"):
            return votes_of(*voting_model(members[i], seen), task, is_crisp=is_crisp)

    if source.n_rows < ROWS_FOR_THREADS or kind == "serial":
        yield from map(votes_of_member, range(len(members)))
        return
    with runner(kind, n_jobs) as run:
        tasks = (run.submit(votes_of_member, i, name=f"member {i}, votes") for i in range(len(members)))
        yield from results_in_order(tasks, run)
