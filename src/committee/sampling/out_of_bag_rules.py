"""Fit rules on out-of-bag votes, and compute their out-of-bag decisions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from committee.combining.rule import Rule, check_rule
from committee.learners.training_data import Training
from committee.members.member_votes import Task
from committee.members.table_encoder import TableEncoder, new_encoder
from committee.members.training_set import in_order
from committee.sampling.bagging.outside_votes import check_decides_outside, decided_by_voters, votes_outside
from committee.saving.predictors.deciders import sums_votes
from committee.table.source import open_source
from committee.task import Classification
from committee.votes.folds import folds_by_content
from committee.votes.honest_votes import HonestVotes


@dataclass(frozen=True, eq=False)
class Ruling:
    """A fitted rule, with its out-of-bag decision.

    Parameters
    ----------
    rule : Rule, or None
        None if y has one class.
    encoder : TableEncoder, or None
        The encoder of the rows, if the rule looks at them.
    votes : HonestVotes, or None
        The out-of-bag votes, if they are needed.
    decision : ndarray of shape (n_rows, n_outputs), or None
        The out-of-bag decision. None if it is the sum of the votes, or is not needed.
    """

    rule: Rule | None
    encoder: TableEncoder | None = None
    votes: HonestVotes | None = None
    decision: np.ndarray | None = None

    @classmethod
    def of(cls, rule: Rule, task: Task, votes: HonestVotes | None, native: Any, *, is_scored: bool) -> Self:
        """Fit a rule, and compute its out-of-bag decision if it will be scored."""
        if isinstance(task, Classification) and task.n_outputs == 1:
            return cls(None, votes=votes)
        encoder, matrix = encoded_for(rule, votes, native)
        if not rule.needs_fit:
            decision = None
            if is_scored and votes is not None and not sums_votes(rule):
                decision = decided_by_voters(rule, votes.seen_by(rule).votes)
            return cls(rule, encoder, votes, decision)
        if votes is None:
            raise ValueError(
                f"{type(rule).__name__} learns from out-of-bag votes, and none were kept. Fit with "
                "keep_votes=True."
            )
        honest = replace(votes.seen_by(rule), X=matrix, classes=task.classes).filled()
        weighty = np.flatnonzero(honest.weights)
        if len(weighty) == 0:
            raise ValueError(
                f"Every bag contains every row (n_samples={votes.n_rows}), so there are no out-of-bag votes "
                "for the rule to learn from. Fit more members, or set rule='mean'."
            )
        decision = decided_out_of_bag(rule, honest, votes.n_rows) if is_scored else None
        return cls(honest.on(weighty).fit_rule(rule), encoder, votes, decision)


def decided_out_of_bag(rule: Rule, honest: HonestVotes, n_rows: int) -> np.ndarray:
    """Return the decision of a rule on each row, after a fit on the rows of the other folds.

    It is NaN for rows without votes, and if there are no other rows with votes.
    """
    assert honest.has_voted is not None
    folds = folds_by_content(honest.votes, honest.has_voted, honest.y, honest.weights, honest.groups)
    decision = np.full((n_rows, honest.n_outputs), np.nan)
    decision[honest.rows] = honest.decide_out_of_fold(partial(clone, rule), folds)
    return decision


def encoded_for(
    rule: Rule, outside: HonestVotes | None, native: Any
) -> tuple[TableEncoder | None, np.ndarray | None]:
    """Return an encoder for a rule that uses the columns of X, and the encoded rows; else None and None."""
    if not rule._looks_at_X():
        return None, None
    if native is None:
        raise ValueError(f"{type(rule).__name__} uses the columns of X. Pass X, the table of the fit.")
    weights = None if outside is None else outside.weights
    encoder = new_encoder().fit(native, sample_weight=weights)
    return encoder, encoder.transform(native)


def is_open(task: Task) -> bool:
    """Return whether there is something to decide: a number, or one of several classes."""
    return not isinstance(task, Classification) or task.n_outputs > 1


def learns(rule: Rule, task: Task) -> bool:
    """Return whether a rule must be fitted before it decides on a task."""
    return rule.needs_fit and is_open(task)


def needs_votes(rule: Rule, task: Task, *, is_scored: bool) -> bool:
    """Return whether a rule or its score needs the votes of every member on the rows outside of its bag."""
    return learns(rule, task) or (is_scored and not sums_votes(rule))


def check_rule_of_trees(rule: Rule, task: Task, n_trees: int, forest: Any) -> None:
    """Raise if a rule cannot combine the votes of the trees of a forest, or cannot learn from them."""
    check_rule(rule, n_trees, task)
    if forest.oob_score and is_open(task):
        check_decides_outside(rule, n_trees, task)
    if learns(rule, task) and not forest.bootstrap:
        raise ValueError(
            f"rule={forest.rule!r} learns from out-of-bag votes, and every tree sees all rows. Set "
            "bootstrap=True, or rule='mean'."
        )


def fit_rule_on_trees(
    rule: Rule,
    forest: Any,
    training: Training,
    X: Any,
    outside_of: Callable[[int], np.ndarray],
    n_threads: int,
    *,
    is_scored: bool,
    before: HonestVotes | None = None,
) -> Ruling:
    """Fit a rule on the votes of trees on rows outside of their bags, added to those of the previous fit.

    `outside_of` returns a mask of the rows outside of the bag of a tree.
    """
    votes, native = None, None
    if rule._looks_at_X():
        native = in_order(open_source(X), training.table.schema).native
    if needs_votes(rule, training.task, is_scored=is_scored):
        cast = votes_outside(training, forest, outside_of, n_threads)
        votes = HonestVotes.of_bags(cast, training.y, training.weights)
        votes = votes if before is None else votes.after(before)
    return Ruling.of(rule, training.task, votes, native, is_scored=is_scored)
