"""Columns by name, and what is said when there is none of that name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from committee.files.errors import BadTable
from committee.parameters import nearest_name

MOST_SHOWN = 8


def require_columns(wanted: Iterable[str], names: Sequence[str], where: str) -> None:
    """Raise unless columns are there; the error tells the name that is most like the one that was asked for.

    Parameters
    ----------
    wanted : iterable of str
    names : sequence of str
        The columns that are there.
    where : str
        What they are the columns of.

    Examples
    --------
    >>> require_columns(["prize"], ["size", "price"], "train.csv")
    Traceback (most recent call last):
    committee.files.errors.BadTable: There is no column 'prize' in train.csv. Did you mean 'price'?
    """
    known, asked = set(names), list(wanted)
    for name in asked:
        if name not in known:
            # A column that has its place is not the one that is missing.
            others = [other for other in names if other not in asked]
            raise BadTable(f"There is no column {name!r} in {where}. {suggestion(name, others or names)}")


def suggestion(name: str, names: Sequence[str]) -> str:
    """The name that is most like another, or all names."""
    nearest = nearest_name(name, names)
    if nearest is not None:
        return f"Did you mean {nearest!r}?"
    shown = ", ".join(names[:MOST_SHOWN])
    return f"It has {shown}{f' and {len(names) - MOST_SHOWN} more' if len(names) > MOST_SHOWN else ''}."
