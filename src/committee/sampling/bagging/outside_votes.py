"""Compute, check and save the votes of members on the rows outside of their bags."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import clone

from committee import _engine
from committee.combining.rule import FixedRule, Rule
from committee.learners.training_data import Training
from committee.members.member_votes import Task, check_gives_probabilities
from committee.saving import Fields
from committee.table import BinnedTable
from committee.task import Classification
from committee.votes.honest_votes import HonestVotes, kept_labels, take_labels
from committee.votes.vote_arrays import dtype_of

# The number of votes that are in memory at once: 64 MB.
NUMBERS_AT_ONCE = 2**23
# Rules that need probabilities, and not votes for one class only.
NEED_PROBABILITIES = ("product", "geometric_mean", "minimum", "maximum")


def take_votes_outside(fields: Fields, n_members: int, n_rows: int | None, task: Task) -> HonestVotes:
    """Take out-of-bag votes from a saved file, which may specify the number of rows elsewhere."""
    shape = (n_members, n_rows, task.n_outputs)
    votes = fields.array("votes", dtype_of(task), shape, finite=False)
    n_rows = votes.shape[1]
    are_classes = isinstance(task, Classification)
    y = fields.array("y", np.int32 if are_classes else np.float64, (n_rows,))
    weights = fields.optional_array("weights", np.float64, (n_rows,))
    # Older files have none.
    groups = fields.optional_array("groups", np.int64, (n_rows,)) if "groups" in fields else None
    labels = take_labels(fields, n_members, n_rows, task)
    fields.finish()
    fields.require(not np.isinf(votes).any(), "a vote is infinite")
    if are_classes:
        fields.require(not (votes < 0).any(), "a vote is negative")
        fields.require(((y >= 0) & (y < task.n_outputs)).all(), "y is of no class")
    fields.require(weights is None or (weights >= 0).all(), "a weight is negative")
    return HonestVotes.of_bags(votes, y, weights, groups, labels)


def kept_votes_outside(honest: HonestVotes) -> dict[str, Any]:
    """Return out-of-bag votes for a file, without weights if all are 1."""
    weights = None if (honest.weights == 1).all() else honest.weights
    return {
        "votes": honest.votes,
        "y": honest.y,
        "weights": weights,
        "groups": honest.groups,
        **kept_labels(honest),
    }


def decided_by_voters(rule: Rule, votes: np.ndarray) -> np.ndarray:
    """Return the decision of a rule that does not learn, from the members that have voted on each row.

    Parameters
    ----------
    rule : Rule
    votes : ndarray of shape (n_members, n_rows, n_outputs)
        NaN where a member has not voted.

    Returns
    -------
    ndarray of shape (n_rows, n_outputs)
        NaN for rows without a vote of positive weight.

    Examples
    --------
    >>> votes = np.array([[[1.0], [2.0]], [[np.nan], [3.0]], [[np.nan], [7.0]]])
    >>> decided_by_voters(FixedRule(rule="median"), votes)
    array([[1.],
           [3.]])
    """
    has_voted, weights = ~np.isnan(votes[:, :, 0]), getattr(rule, "weights", None)
    if weights is None:
        alike = has_voted.sum(axis=0)
    else:
        weights = np.asarray(weights)
        has_voted &= weights[:, np.newaxis] > 0
        alike = np.unique(np.packbits(has_voted, axis=0), axis=1, return_inverse=True)[1]
    decision = np.full(votes.shape[1:], np.nan)
    # One call decides all rows with the same number of votes, or, if members have weights, the same voters.
    for rows in rows_by(alike.ravel()):
        n_votes = has_voted[:, rows[0]].sum()
        members = np.argsort(~has_voted[:, rows], axis=0, kind="stable")[:n_votes]
        if weights is not None:
            rule = clone(rule).set_params(weights=weights[members[:, 0]])
        if n_votes > 0:
            decision[rows] = rule.combine(votes[members, rows])
    return decision


def rows_by(keys: np.ndarray) -> list[np.ndarray]:
    """Return the rows of each key.

    Examples
    --------
    >>> rows_by(np.array([7, 2, 7]))
    [array([1]), array([0, 2])]
    """
    order = keys.argsort(kind="stable")
    return np.split(order, np.flatnonzero(np.diff(keys[order])) + 1)


def votes_outside(
    training: Training, forest: Any, outside_of: Callable[[int], np.ndarray], n_threads: int
) -> np.ndarray:
    """Return the votes of trees on the rows that `outside_of` returns for each tree; NaN on other rows."""
    table, task = training.table, training.task
    assert not isinstance(table, BinnedTable)
    votes: np.ndarray = np.full((forest.n_trees, table.n_rows, task.n_outputs), np.nan, dtype=dtype_of(task))
    step = max(1, NUMBERS_AT_ONCE // (table.n_rows * task.n_outputs))
    for begin in range(0, forest.n_trees, step):
        trees = _engine.take_trees(forest, begin, min(begin + step, forest.n_trees))
        for i, cast in enumerate(trees.votes(list(table.columns), table.n_rows, n_threads), start=begin):
            outside = outside_of(i)
            votes[i, outside] = cast[outside]
    return votes


def check_values(table: Any, rule: Rule, keeps_votes: bool) -> None:
    """Raise if a rule needs votes on the rows of a table that has only codes."""
    if isinstance(table, BinnedTable) and (keeps_votes or rule._looks_at_X()):
        raise ValueError(
            "X is a BinnedTable, and the votes on its rows need the values. Pass the original table, or set "
            "rule='mean' (and keep_votes=False)."
        )


def check_decides_outside(rule: Rule, n_members: int, task: Task) -> None:
    """Raise if a function cannot combine the votes of a part of the members, as on out-of-bag rows.

    Examples
    --------
    >>> check_decides_outside(FixedRule(rule=lambda votes: votes[8]), 9, Classification.of([0, 1])[0])
    Traceback (most recent call last):
    ValueError: The rule cannot combine the votes of 3 of 9 members, as it must out of bag (index 8 is out \
of bounds for axis 0 with size 3). Set oob_score=False.
    """
    if rule.needs_fit or getattr(rule, "weights", None) is not None:
        return
    # About a third of the bags do not contain a given row.
    n_outside = max(1, n_members // 3)
    try:
        rule.combine(np.full((n_outside, 1, task.n_outputs), 1 / task.n_outputs))
    except Exception as error:
        raise ValueError(
            f"The rule cannot combine the votes of {n_outside} of {n_members} members, as it must out of "
            f"bag ({error}). Set oob_score=False."
        ) from error


def votes_before(before: HonestVotes | None) -> HonestVotes:
    """Return the votes of the fit that is resumed, if they were kept."""
    if before is None:
        raise ValueError(
            "The votes of the previous fit were not kept, and warm_start=True needs them. Set warm_start, "
            "rule and oob_score from the first fit on, or warm_start=False."
        )
    return before


def check_probabilities(rule: Rule, member: Any, task: Task) -> None:
    """Raise if a rule needs probabilities and a member returns none."""
    name = getattr(rule, "rule", None) if isinstance(rule, FixedRule) else None
    needs = name in NEED_PROBABILITIES or type(rule).__name__ == "LogPoolRule"
    if needs and isinstance(task, Classification):
        wanted = f"the rule {name or type(rule).__name__!r}"
        check_gives_probabilities(member, wanted, "Set rule='majority'")
