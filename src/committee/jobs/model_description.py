"""Describe saved models and the members that can be named, as plain values."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from committee.assembling.fit_summary import RESIDUAL_LEVELS, FitSummary
from committee.assembling.leaderboard import Leaderboard, name_of
from committee.automatic.portfolio import CANDIDATES, NAMED_ONLY, Size, library_of
from committee.combining.rule_registry import as_rule, title_of
from committee.files import BadTable
from committee.saving import Summary, verify
from committee.saving.stored_rows import stored_rows
from committee.table import Column, Kind

MOST_CLASSES = 50
# The attributes of `ValueScores` that are described.
VALUE_SCORES = ("columns", "codes", "weights", "losses")


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
    found["stored_rows"] = asdict(stored_rows(path))
    found["columns"] = [describe_column(column) for column in model.schema_.columns]
    if hasattr(model, "classes_"):
        found["n_classes"] = len(model.classes_)
        found["classes"] = model.classes_.tolist()[:MOST_CLASSES]
    if hasattr(model, "rule_"):
        found["rule"] = None if model.rule_ is None else title_of(model.rule_)
        found["rule_parameters"] = {} if model.rule_ is None else plain_parameters(model.rule_)
    if hasattr(model, "named_estimators_"):
        known = model._known_of_members()
        found["members"] = [
            {"name": name, **describe_member(member), **known[name]}
            for name, member in model.named_estimators_.items()
        ]
    importances = getattr(model, "feature_importances_", None)
    if importances is not None:
        shares = dict(zip(model.schema_.names, np.asarray(importances).tolist(), strict=True))
        found["importances"] = dict(sorted(shares.items(), key=lambda each: -each[1]))
    if hasattr(model, "rule_"):
        found["summary"] = describe_summary(model.fit_summary_, getattr(model, "classes_", None))
    record = getattr(model, "_record", None)
    if record is not None:
        board = record.leaderboard
        found["fit"] = {each: getattr(record, each) for each in ("date", "seconds", "n_folds", "skipped")}
        found["leaderboard"] = None if board is None else plain_board(board)
    found["parameters"] = plain_parameters(model)
    return found


def describe_summary(summary: FitSummary, classes: np.ndarray | None) -> dict[str, object]:
    """Describe the aggregates of a fit: what is stored, and the decisions on honest votes."""
    found: dict[str, object] = {"columns": [asdict(column) for column in summary.columns]}
    decisions = summary.decisions
    if decisions is None:
        return found
    found |= {"n_rows": decisions.n_rows, "n_scores": len(decisions.conformity)}
    if decisions.by_class is not None and classes is not None:
        found["n_edges"] = len(decisions.by_class.edges)
        if len(classes) <= MOST_CLASSES:
            found["confusion"] = decisions.by_class.confusion(len(classes)).tolist()
    if decisions.by_value is not None:
        columns, by_value = summary.schema.columns, decisions.by_value
        rows = zip(*(getattr(by_value, each).tolist() for each in VALUE_SCORES), strict=True)
        found["values"] = [
            {
                "column": columns[place].name,
                "value": value_of(columns[place], code),
                "n_rows": n,
                "loss": loss,
            }
            for place, code, n, loss in rows
        ]
    if decisions.by_number is not None:
        residuals = decisions.conformity[:, 0].astype(np.float64)
        found["residuals"] = np.quantile(residuals, RESIDUAL_LEVELS).tolist()
    return found


def value_of(column: Column, code: int) -> object:
    """Return a value of a column by its code in `ValueScores`."""
    return bool(code - 1) if column.kind is Kind.BOOLEAN else column.categories[code - 1]


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


def leaderboard_of(model: Any, scoring: str | None, rules: Sequence[object] | None) -> Leaderboard:
    """Return the leaderboard of a model from a file.

    Parameters
    ----------
    model : committee
    scoring : str or None
        The name of a metric. None is the metric of the committee.
    rules : list of rules, or None
        The rules to score. None is all rules that do not need the training table.

    Returns
    -------
    Leaderboard
    """
    if not hasattr(model, "leaderboard"):
        raise BadTable(f"{type(model).__name__} is not a committee: it has no members to compare.")
    for rule in rules or ():
        if as_rule(rule)._looks_at_X():
            raise BadTable(
                f"The rule {name_of(rule)!r} uses the columns of X, which a model file does not contain. "
                "Omit it, or pass it to a fit, which scores it."
            )
    if model._honest is None and (rules or scoring is not None):
        raise BadTable(
            "The file has no honest votes, so only the leaderboard of the fit is known. Omit --rule and "
            "--scoring, or fit with --keep all."
        )
    board: Leaderboard = model.leaderboard(rules, scoring=scoring)
    return board


def plain_board(board: Leaderboard) -> dict[str, object]:
    """Return a leaderboard as plain values. The scores have scikit-learn's sign."""
    standings = [asdict(each) | {"is_significant": each.is_significant} for each in board]
    return {"scoring": board.scoring, "n_scored": board.n_rows, "standings": standings}


def libraries_of(model: Any) -> list[str]:
    """Return the other libraries whose boosters are in a committee. Loading it requires trust in them."""
    found = {library_of(member.models[0]) for member in model._fitted_members}
    return sorted(library for library in found if library is not None)


@dataclass(frozen=True)
class MemberLine:
    """A member that can be named, for a list.

    Parameters
    ----------
    member : str
        The identifier.
    title : str
        The readable name.
    tasks : tuple of str
    settings : str
        The estimator with the parameters that are not the defaults.
    is_default : bool
        Whether `auto` contains the member.
    is_installed : bool
        Whether its library is installed.
    """

    member: str
    title: str
    tasks: tuple[str, ...]
    settings: str
    is_default: bool = True
    is_installed: bool = True


def member_lines() -> list[MemberLine]:
    """Return the members that can be named, with their settings.

    Examples
    --------
    >>> next(line for line in member_lines() if line.member == "c45").settings
    'C45Classifier()'
    """
    found = []
    for each in CANDIDATES.values():
        made = each.make(Size(each.tasks[0], 1000, 10, 2))
        settings = one_line(made.steps[-1][1] if hasattr(made, "steps") else made)
        found.append(MemberLine(each.name, each.title, each.tasks, settings))
    for each in NAMED_ONLY.values():
        is_installed = importlib.util.find_spec(each.name) is not None
        settings = f"the defaults of {each.name}"
        found.append(MemberLine(each.name, each.title, each.tasks, settings, False, is_installed))
    return found
