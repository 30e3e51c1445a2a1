"""Members are asked for their votes: each fit is a task of a runner, whose ballot is kept when it has ended.

In: members, the table and its folds, test rows. Out: ballots, one for each fit.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from committee import running
from committee.assembling.ballots import Ballot, Place
from committee.assembling.fitting import carry_out, fit_fold, fit_in_bags, has_bags, warn_of_dropped
from committee.assembling.members import Member
from committee.assembling.recipes import recipe_of
from committee.members.lesson import Lesson
from committee.members.seeding import seeded
from committee.members.votes import gives_scores, votes_of
from committee.table.source import take_columns
from committee.votes.arrays import dtype_of
from committee.votes.folds import Fold


def places_of(member: Member, n_folds: int, uses_bags: bool) -> list[Place]:
    """The ballots that a member has to cast: one for each fold, or one out of bag."""
    in_bags = uses_bags and has_bags(member.estimator)
    return [(member.name, None)] if in_bags else [(member.name, fold) for fold in range(n_folds)]


def ask(
    members: list[Member],
    wanted: list[list[Place]],
    lesson: Lesson,
    folds: list[Fold],
    X_test: Any,
    keep: Callable[[Ballot], None],
    *,
    runner: Any,
    n_jobs: int | None,
    on_error: str,
    verbose: int,
) -> None:
    """Fit members, and keep what each model votes.

    Parameters
    ----------
    members : list of Member
    wanted : list of list of (str, int or None)
        For each of them, the ballots that are not there yet.
    lesson : Lesson
    folds : list of (ndarray, ndarray)
    X_test : table or None
    keep : callable
        Called with every ballot when its fit has ended.
    runner, n_jobs, on_error, verbose : see `Bank.collect`
    """
    n_total = sum(map(len, wanted))
    with (
        running.runner_of(runner, n_jobs) as run,
        running.Work("folds", "Bank", n_total, verbose=int(verbose)) as work,
    ):
        shared = run.put((lesson, X_test))
        tasks, recipes = {}, {}
        for number, (member, places) in enumerate(zip(members, wanted, strict=True)):
            for _, fold in places:
                rows = (None, None) if fold is None else folds[fold]
                title = "all rows" if fold is None else f"fold {fold}"
                task = run.submit(
                    cast_ballot, shared, member, fold, *rows, name=f"member {member.name!r}, {title}"
                )
                tasks[task], recipes[task] = number, recipe_of(member)
        failures = carry_out(
            tasks,
            run,
            on_error=on_error,
            tell=work.tell,
            keep=lambda task: keep(replace(task.result(), recipe=recipes[task])),
        )
    warn_of_dropped(members, failures)


def cast_ballot(
    shared: tuple[Lesson, Any], member: Member, fold: int | None, train: Any, held_out: Any
) -> Ballot:
    """Fit a member, and let the model vote on the rows that it has not seen, and on the test rows."""
    lesson, X_test = shared
    estimator, columns = member.estimator, member.columns
    if fold is None:
        model, rows, votes = fit_in_bags(lesson, estimator, columns, False)
    else:
        model, rows, votes = fit_fold(lesson, estimator, columns, True, train, held_out, True)
    are_scores = lesson.are_classes and gives_scores(estimator)
    ballot = Ballot(member.name, fold, rows, votes, None, are_scores=are_scores)
    if X_test is None:
        return ballot
    test_votes = votes_of(model, take_columns(X_test, columns), lesson.task, as_scores=are_scores)
    return replace(ballot, test_votes=test_votes.astype(dtype_of(lesson.task)))


def seeded_by_name(member: Member, random_state: int) -> Member:
    """A member whose draws depend on its name and not on who else is asked."""
    words = np.frombuffer(hashlib.sha256(member.name.encode()).digest(), dtype="<u4")
    rng = np.random.default_rng([random_state, *map(int, words)])
    return replace(member, estimator=seeded(member.estimator, rng))
