"""Record a fit of an automatic committee: its leaderboard, its time, hashes of some rows, and aggregates."""

from __future__ import annotations

import datetime
import math
from dataclasses import replace
from typing import Any

import numpy as np

from committee.assembling.fit_record import FitRecord, SkippedMember
from committee.assembling.fit_summary import DecisionSummary, FitSummary, TableSummary, ValueScores
from committee.assembling.leaderboard import Leaderboard, decision_of_rule, leaderboard_of
from committee.assembling.named_members import FittedMember
from committee.automatic.limits import Clock
from committee.automatic.rule_choice import sampled, votes_in
from committee.members.training_set import TrainingSet
from committee.table.row_hashes import N_DRAWN, rare_rows, row_hashes
from committee.table.schema import take_rows
from committee.table.source import open_source
from committee.votes.honest_votes import HonestVotes

# The number of votes for the leaderboard after a fit with a time limit. It takes less than half a second.
QUICK_VOTES = 100_000


def recorded_fit(
    committee: Any,
    training: TrainingSet,
    honest: HonestVotes | None,
    everyone: list[FittedMember],
    n_folds: int,
    skipped: tuple[SkippedMember, ...],
    clock: Clock,
) -> tuple[FitRecord, FitSummary]:
    """Score the committee and all members, also those that it has dropped, and record the fit.

    Parameters
    ----------
    committee : CommitteeClassifier or CommitteeRegressor
        Fitted, with the members that stay.
    training : TrainingSet
    honest : HonestVotes or None
        The votes of all members.
    everyone : list of FittedMember
        All members.
    n_folds : int
        The number of folds of each repeat.
    skipped : tuple of SkippedMember
    clock : Clock
    """
    board: Leaderboard | None = None
    decisions: DecisionSummary | None = None
    problem = ""
    if honest is not None and committee._honest is not None:
        honest = replace(honest, X=committee._honest.X)
        scored = sampled(honest, votes_in(math.inf) if clock.limit is None else QUICK_VOTES)
        names = [each.name for each in everyone]
        places = [names.index(each.name) for each in committee._fitted_members]
        known = committee._known_of_members()
        has_weights = all(each["weight"] is not None for each in known.values())
        dropped = {"weight": 0.0 if has_weights else None, "n_models": 0}
        known = {each.name: each.known() | dropped for each in everyone} | known

        def score() -> tuple[Leaderboard, DecisionSummary | None]:
            scoring, seed, rule = committee._usual_scoring(), committee.random_state, committee.rule_
            decided, summary = None, None
            if rule is not None and (scored.X is not None or not rule._looks_at_X()):
                own = scored.of_members(places)
                decided = decision_of_rule(rule, own)
                some = np.sort(np.random.default_rng(0).permutation(own.n_rows)[:N_DRAWN])
                table = committee._read(open_source(take_rows(training.X, own.rows[some])))
                summary = DecisionSummary.of(
                    own, decided, rule, ValueScores.of(table, own.on(some), decided[some])
                )
            board = leaderboard_of(scored, names, [], scoring, seed, rule, places, decided)
            return board.described(known), summary

        try:
            board, decisions = clock.finish(score, lambda: (None, None), " while the leaderboard was made")
        except ValueError as error:
            # The committee is fitted, so this is not an error.
            problem = " ".join(str(error).split())
    date = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    rows = np.random.default_rng(0).permutation(training.n_rows)[:N_DRAWN]
    drawn = committee._read(open_source(take_rows(training.X, rows)))
    hashes = rare_rows(row_hashes([*drawn.columns, training.y[rows]], drawn.n_rows))
    table = TableSummary.of(drawn, training.y[rows], training.task.n_outputs)
    seconds = round(clock.elapsed(), 3)
    record = FitRecord(date, seconds, n_folds, skipped, board, problem, tuple(hashes.tolist()))
    return record, FitSummary(committee.schema_, table, decisions)
