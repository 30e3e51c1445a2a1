"""What is in a saved model, and what can be named: plain values, for people and programs."""

from __future__ import annotations

import copy
import os
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from committee.assembling.leaderboard import name_of
from committee.automatic.portfolio import NAMED_ONLY, CANDIDATES, Size, library_of
from committee.automatic.rule_choice import sampled
from committee.combining.rule_registry import TRAINED, as_rule
from committee.files import BadTable
from committee.saving import Summary, verify
from committee.table import Column, Kind
from committee.table.input_types import TableLike

MOST_CLASSES = 50


def describe(model: Any, path: str | os.PathLike[str]) -> dict[str, object]:
    """What a model is, as plain values.

    Parameters
    ----------
    model : estimator
        Fitted, of ours.
    path : str or path
        Its file.

    Returns
    -------
    dict
    """
    found = summarise(verify(path))
    found["columns"] = [describe_column(column) for column in model.schema_.columns]
    if hasattr(model, "classes_"):
        found["n_classes"] = len(model.classes_)
        found["classes"] = model.classes_.tolist()[:MOST_CLASSES]
    if hasattr(model, "rule_"):
        found["rule"] = None if model.rule_ is None else title_of(model.rule_)
        found["rule_parameters"] = {} if model.rule_ is None else plain_parameters(model.rule_)
    if hasattr(model, "named_estimators_"):
        weights = getattr(model, "weights_", None)
        weights = None if weights is None or getattr(weights, "ndim", 0) != 1 else weights.tolist()
        found["members"] = [
            {"name": name, **describe_member(member), "weight": None if weights is None else weights[place]}
            for place, (name, member) in enumerate(model.named_estimators_.items())
        ]
    found["parameters"] = plain_parameters(model)
    return found


def plain_parameters(model: Any) -> dict[str, object]:
    """The parameters of an estimator or a rule, as plain values or as they print."""
    return {
        name: value if isinstance(value, bool | int | float | str | None) else one_line(value)
        for name, value in model.get_params(deep=False).items()
    }


def summarise(summary: Summary) -> dict[str, Any]:
    """What a file says of itself, as plain values."""
    found = asdict(summary)
    origin = found.pop("origin")
    return found | {
        "target": None if origin is None else origin["target"],
        "left_out": [] if origin is None else list(origin["left_out"]),
    }


def describe_column(column: Column) -> dict[str, object]:
    """A column of a schema."""
    found: dict[str, object] = {"name": column.name, "kind": column.kind.value}
    if column.kind is Kind.CATEGORY:
        found["n_categories"] = len(column.categories)
    return found


def describe_member(member: object) -> dict[str, object]:
    """A member: its class, or that of its fold models, and of what is in a pipeline."""
    models = member if isinstance(member, list) else [member]
    last = models[0].steps[-1][1] if hasattr(models[0], "steps") else models[0]
    return {"estimator": type(last).__name__, "n_models": len(models)}


def one_line(value: object) -> str:
    """How a value prints, in one line."""
    return " ".join(repr(value).split())


def standings(
    model: Any,
    scoring: str | None,
    rules: Sequence[object] | None,
    X: TableLike | None = None,
    n_votes: int | None = None,
) -> dict[str, object]:
    """The leaderboard of a committee, as plain values.

    Parameters
    ----------
    model : committee
    scoring : str or None
        The name of a metric; None is that of the committee.
    rules : list of rules, or None
        None is all that can decide here.
    X : table, default=None
        That of the fit, for rules that look at the rows.
    n_votes : int, default=None
        How many votes it is judged by, about, if that has to be quick; None is all.

    Returns
    -------
    dict
        With scores by scikit-learn's sign, the best first.
    """
    if not hasattr(model, "leaderboard"):
        raise BadTable(f"{type(model).__name__} is no committee: it has no members to compare.")
    for rule in rules or ():
        if X is None and as_rule(rule)._looks_at_X():
            raise BadTable(
                f"The rule {name_of(rule)!r} looks at the rows, which are not in the file of a model. "
                "Leave it out, or let it decide in a fit: that judges it."
            )
    judged = model if n_votes is None else with_fewer_votes(model, n_votes)
    # Rows are encoded for those alone that look at them.
    looks = rules is None or any(as_rule(rule)._looks_at_X() for rule in rules)
    board = judged.leaderboard(rules, X=X if looks else None, scoring=scoring)
    named = {name_of(rule): title_of(rule) for rule in [*decided(model), *(rules or ())]}
    return {
        "scoring": board.scoring,
        "rule": title_of(model.rule_),
        "n_judged": len(judged.honest_rows_),
        "standings": [
            {
                "kind": each.kind,
                "name": named.get(each.name, each.name),
                "score": each.score,
            }
            for each in board
        ],
    }


def with_fewer_votes(model: Any, n_votes: int) -> Any:
    """A committee with honest votes on fewer rows, for a quick look at who is good: some of each class."""
    smaller = copy.copy(model)
    smaller._honest = sampled(model._known_votes(), n_votes)
    return smaller


def libraries_of(model: Any) -> list[str]:
    """The other libraries whose boosters are in a committee: who loads it must trust them."""
    found = {library_of(member.models[0]) for member in model._fitted_members}
    return sorted(library for library in found if library is not None)


def decided(model: Any) -> list[object]:
    """The rule that decides in a committee, to be judged."""
    return [] if model.rule_ is None else [model.rule_]


def title_of(rule: Any) -> str:
    """The name of a rule, if it has one; else that of its class.

    Examples
    --------
    >>> from committee.rules import AccuracyWeightedRule, CAWPERule
    >>> title_of(CAWPERule(alpha=3)), title_of(AccuracyWeightedRule(of="labels"))
    ('cawpe', 'weighted_majority')
    """
    if rule is None or isinstance(rule, str):
        return str(rule)
    for name, (cls, parameters) in TRAINED.items():
        if cls == type(rule).__name__ and parameters.items() <= rule.get_params().items():
            return name
    return str(getattr(rule, "rule", type(rule).__name__))


def member_lines() -> dict[str, str]:
    """The members that can be named, with a line for each: the estimator that votes.

    Examples
    --------
    >>> member_lines()["c45"]
    'C45Classifier(), classification only'
    """
    found = {}
    for candidate in CANDIDATES.values():
        made = candidate.make(Size(candidate.tasks[0], 1000, 10, 2))
        only = "" if len(candidate.tasks) > 1 else f", {candidate.tasks[0]} only"
        found[candidate.name] = one_line(made.steps[-1][1] if hasattr(made, "steps") else made) + only
    return found | {name: f"The boosting of {name}, if that is installed; never auto" for name in NAMED_ONLY}
