"""Describe the result of a fit in sentences.

They say how good the committee is, which members decide, how long the fit took and what was left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from committee.assembling.fit_record import FitRecord, SkippedMember
from committee.assembling.leaderboard import Leaderboard, Standing
from committee.printing import counted, duration, some

# The most members that a sentence lists, and the least weight that is listed.
MOST_LISTED, LEAST_WEIGHT = 6, 0.0005


def sentences(record: FitRecord, rule: str) -> list[str]:
    """Describe a fit, a sentence or two for each question.

    Parameters
    ----------
    record : FitRecord
    rule : str
        The name of the rule.

    Returns
    -------
    list of str
    """
    board = record.leaderboard
    found = []
    if board is not None and board.committee is not None:
        found.append(quality(board, board.committee))
        if board.members:
            found.append(against_best_member(board, board.members[0]))
    found.append(deciding(rule, [] if board is None else board.members))
    n_members = "" if board is None else f"{counted(len(board.members), 'member')} in "
    found.append(f"Fitted {n_members}{counted(record.n_folds, 'fold')} in {duration(record.seconds)}.")
    return found + left_out(record.skipped)


def quality(board: Leaderboard, own: Standing) -> str:
    """Compare the score of the committee with that of the baseline."""
    interval = board.interval(own)
    sure = f" (95 % interval {interval})" if interval else ""
    name = board.metric[0].upper() + board.metric[1:]
    text = f"{name} {board.number(own.score)}{sure} on rows that the members were not fitted on."
    if board.baseline is not None:
        always = f"Predicting the {board.baseline.title} for every row gives"
        text += f" {always} {board.number(board.baseline.score)}."
    return text


def against_best_member(board: Leaderboard, best: Standing) -> str:
    """Compare the committee with its best member.

    Examples
    --------
    >>> own, best = Standing("committee", "mean", -0.5), Standing("member", "c45", -0.4, standard_errors=-0.7)
    >>> against_best_member(Leaderboard([own, best], "neg_log_loss"), best)
    'The best single member, c45, has 0.4000. The difference is not significant (0.7 standard errors).'
    """
    text = f"The best single member, {best.label}, has {board.number(best.score)}."
    if best.standard_errors is None:
        return text
    size = f"{abs(best.standard_errors):.1f} standard errors"
    if not best.is_significant:
        return f"{text} The difference is not significant ({size})."
    which = "committee" if best.standard_errors > 0 else "member"
    return f"{text} The {which} is better by {size}."


def deciding(rule: str, members: Sequence[Standing]) -> str:
    """List the members that decide, with their weights."""
    if not members:
        return f"Rule: {rule}."
    if any(each.weight is None for each in members):
        return f"Rule {rule} decides. It has no fixed weights for the members."
    heavy = sorted(
        (each for each in members if abs(each.weight or 0.0) >= LEAST_WEIGHT),
        key=lambda each: -abs(each.weight or 0.0),
    )
    listed = some([f"{each.label} {each.weight:.2f}" for each in heavy], MOST_LISTED, "; ")
    n_light = len(members) - len(heavy)
    rest = (
        f" {counted(n_light, 'other member')} {'has' if n_light == 1 else 'have'} no weight."
        if n_light
        else ""
    )
    return f"Rule {rule} decides, with the weights: {listed}.{rest}"


def left_out(members: Iterable[SkippedMember]) -> list[str]:
    """List the members that were skipped, a sentence for each reason.

    Examples
    --------
    >>> reason = "no time was left"
    >>> left_out([SkippedMember("c45", "C4.5 tree", reason), SkippedMember("mine", "", reason)])
    ['Left out because no time was left: C4.5 tree; mine.']
    """
    by_reason: dict[str, list[str]] = {}
    for each in members:
        by_reason.setdefault(each.reason, []).append(each.title or each.name)
    return [
        f"Left out because {reason}: {some(names, MOST_LISTED, '; ')}." for reason, names in by_reason.items()
    ]
