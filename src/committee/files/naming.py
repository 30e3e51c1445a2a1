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
    >>> require_columns(["prize", "age"], ["size", "price"], "train.csv")
    Traceback (most recent call last):
    committee.files.errors.BadTable: There are no columns 'prize', 'age' in train.csv. It has size, price.
    """
    known, asked = set(names), list(wanted)
    missing = [name for name in asked if name not in known]
    # A column that has its place is not the one that is missing.
    others = [name for name in names if name not in set(asked)] or list(names)
    if len(missing) == 1:
        raise BadTable(f"There is no column {missing[0]!r} in {where}. {suggestion(missing[0], others)}")
    if missing:
        raise BadTable(f"There are no columns {some(list(map(repr, missing)))} in {where}. {it_has(others)}")


def suggestion(name: str, names: Sequence[str]) -> str:
    """The name that is most like another, or all names."""
    nearest = nearest_name(name, names)
    if nearest is not None:
        return f"Did you mean {nearest!r}?"
    return it_has(names)


def it_has(names: Sequence[str]) -> str:
    """What columns there are."""
    return f"It has {some(names)}."


def some(names: Sequence[str]) -> str:
    """Names for a message, not too many of them."""
    rest = len(names) - MOST_SHOWN
    return ", ".join(names[:MOST_SHOWN]) + (f" and {rest} more" if rest > 0 else "")
