"""Describe saved models and the members that can be named, as plain values."""

from __future__ import annotations

import copy
import os
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from committee.assembling.leaderboard import name_of
from committee.automatic.portfolio import CANDIDATES, NAMED_ONLY, Size, library_of
from committee.automatic.rule_choice import sampled
from committee.combining.rule_registry import TRAINED, as_rule
from committee.files import BadTable
from committee.saving import Summary, verify
from committee.table import Column, Kind
from committee.table.input_types import TableLike

MOST_CLASSES = 50


def describe(model: Any, path: str | os.PathLike[str]) -> dict[str, object]:
    """Describe a model as plain values.

    Parameters
    ----------
    model : estimator
        A fitted estimator of this library.
    path : str or path
        The file of the model.

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
    """Return the parameters of an estimator or a rule. Objects are represented by their text."""
    return {
        name: value if isinstance(value, bool | int | float | str | None) else one_line(value)
        for name, value in model.get_params(deep=False).items()
    }


def summarise(summary: Summary) -> dict[str, Any]:
    """Return the summary of a file as plain values."""
    found = asdict(summary)
    origin = found.pop("origin")
    return found | {
        "target": None if origin is None else origin["target"],
        "left_out": [] if origin is None else list(origin["left_out"]),
    }


def describe_column(column: Column) -> dict[str, object]:
    """Describe a column of a schema."""
    found: dict[str, object] = {"name": column.name, "kind": column.kind.value}
    if column.kind is Kind.CATEGORY:
        found["n_categories"] = len(column.categories)
    return found


def describe_member(member: object) -> dict[str, object]:
    """Describe a member: the class of its models, or of the last step of a pipeline, and their number."""
    models = member if isinstance(member, list) else [member]
    last = models[0].steps[-1][1] if hasattr(models[0], "steps") else models[0]
    return {"estimator": type(last).__name__, "n_models": len(models)}


def one_line(value: object) -> str:
    """Return the representation of a value in one line."""
    return " ".join(repr(value).split())


def standings(
    model: Any,
    scoring: str | None,
    rules: Sequence[object] | None,
    X: TableLike | None = None,
    n_votes: int | None = None,
) -> dict[str, object]:
    """Return the leaderboard of a committee as plain values.

    Parameters
    ----------
    model : committee
    scoring : str or None
        The name of a metric. None is the metric of the committee.
    rules : list of rules, or None
        The rules to score. None is all rules that can decide.
    X : table, default=None
        The training table, for rules that use the columns of X.
    n_votes : int, default=None
        The approximate number of votes for the scores, to save time. None is all.

    Returns
    -------
    dict
        The scores have scikit-learn's sign, and the best is first.
    """
    if not hasattr(model, "leaderboard"):
        raise BadTable(f"{type(model).__name__} is not a committee: it has no members to compare.")
    for rule in rules or ():
        if X is None and as_rule(rule)._looks_at_X():
            raise BadTable(
                f"The rule {name_of(rule)!r} uses the columns of X, which a model file does not contain. "
                "Omit it, or pass it to a fit, which scores it."
            )
    scored = model if n_votes is None else with_fewer_votes(model, n_votes)
    # The rows are encoded only if a rule looks at them.
    looks = rules is None or any(as_rule(rule)._looks_at_X() for rule in rules)
    board = scored.leaderboard(rules, X=X if looks else None, scoring=scoring)
    named = {name_of(rule): title_of(rule) for rule in [*decided(model), *(rules or ())]}
    return {
        "scoring": board.scoring,
        "rule": title_of(model.rule_),
        "n_scored": len(scored.honest_rows_),
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
    """Return a committee with honest votes on fewer rows, but some of each class, for quick scores."""
    smaller = copy.copy(model)
    smaller._honest = sampled(model._known_votes(), n_votes)
    return smaller


def libraries_of(model: Any) -> list[str]:
    """Return the other libraries whose boosters are in a committee. Loading it requires trust in them."""
    found = {library_of(member.models[0]) for member in model._fitted_members}
    return sorted(library for library in found if library is not None)


def decided(model: Any) -> list[object]:
    """Return the rule that decides in a committee, in a list for `standings`."""
    return [] if model.rule_ is None else [model.rule_]


def title_of(rule: Any) -> str:
    """Return the name of a rule, or the name of its class.

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
    """Return the names of members, with the estimator that votes for each.

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
    return found | {
        name: f"Gradient boosting of {name}, if it is installed; not part of auto" for name in NAMED_ONLY
    }
