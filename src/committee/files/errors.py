"""The error for a table that cannot be read, and the check that columns are there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from committee.parameters import nearest_name

MOST_SHOWN = 8


class BadTable(ValueError):  # noqa: N818 - it says what the file is
    """A file that holds no table, or not the one that was asked for. The message is one line.

    Examples
    --------
    >>> raise BadTable("train.csv is empty.")
    Traceback (most recent call last):
    committee.files.errors.BadTable: train.csv is empty.
    """


def require_columns(wanted: Iterable[str], names: Sequence[str], where: str) -> None:
    """Raise unless columns are there; the error suggests the name that is most like the missing one.

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
    # A column that was found is not the one that a missing name means.
    others = [name for name in names if name not in set(asked)] or list(names)
    if len(missing) == 1:
        raise BadTable(f"There is no column {missing[0]!r} in {where}. {suggestion(missing[0], others)}")
    if missing:
        raise BadTable(f"There are no columns {some(map(repr, missing))} in {where}. It has {some(others)}.")


def suggestion(name: str, names: Sequence[str]) -> str:
    """Suggest the name that is most like another, or list all names."""
    nearest = nearest_name(name, names)
    return f"It has {some(names)}." if nearest is None else f"Did you mean {nearest!r}?"


def some(names: Iterable[str]) -> str:
    """List names for a message, at most eight of them."""
    names = list(names)
    rest = len(names) - MOST_SHOWN
    return ", ".join(names[:MOST_SHOWN]) + (f" and {rest} more" if rest > 0 else "")
