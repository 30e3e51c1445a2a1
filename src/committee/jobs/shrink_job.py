"""Make smaller versions of a committee, with the rows of a table in a file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from committee.automatic.automatic_committee import AutomaticCommittee
from committee.automatic.offers import METHODS, Offers
from committee.files import AS_FOUND, BadTable, CSVForm, column_names
from committee.files.opened_file import open_file
from committee.jobs.model_table import ExpectedTable, table_for
from committee.jobs.training_table import complete, present, with_answers


def shrink(
    model: Any,
    place: str | None = None,
    *,
    target: str | None = None,
    methods: Sequence[str] = METHODS,
    max_members: int | None = None,
    ignore_extra: bool = False,
    form: CSVForm = AS_FOUND,
) -> Offers:
    """Make smaller versions of a committee, and measure each.

    Parameters
    ----------
    model : CommitteeClassifier or CommitteeRegressor
    place : str, default=None
        The table of the fit, or new rows. Groups and weights are in the same columns as in the fit.
    target : str, default=None
        The target column. None is the target of the fit, if the table contains it.
    methods : sequence of str
    max_members : int, default=None
        See `CommitteeClassifier.shrink`.
    ignore_extra : bool, default=False
    form : CSVForm

    Returns
    -------
    Offers
    """
    if not isinstance(model, AutomaticCommittee):
        raise BadTable(
            f"The model is a {type(model).__name__}, and only committees of `committee fit` can be shrunk."
        )
    given: dict[str, Any] = {"methods": methods, "max_members": max_members}
    if place is None:
        return model.shrink(**given)
    expected = ExpectedTable.of(model)
    # A pipe can be read only once, so it is opened once for both readings.
    with open_file(place) as file:
        names, roles = column_names(file, form), {}
        if expected.origin is not None:
            target = target or next((name for name in names if name == expected.origin.target), None)
            roles = {"groups": expected.origin.groups, "sample_weight": expected.origin.weights}
        special = {role: name for role, name in roles.items() if target is not None and name in names}
        read = table_for(
            expected,
            file,
            target=target,
            special=list(special.values()),
            ignore_extra=ignore_extra,
            form=form,
        )
    if target is None:
        return model.shrink(read.X, **given)
    X, y, _ = with_answers(read.X, read.answers, target, read.name)
    is_answered = present(read.answers)
    for role, name in special.items():
        what = "groups" if role == "groups" else "weights"
        given[role] = complete(read.special[name].filter(is_answered), name, what)
    return model.shrink(X, y, **given)
