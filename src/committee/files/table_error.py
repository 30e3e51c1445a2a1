"""Define the error for a table that cannot be read, and list names in its message."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from committee.parameters import nearest_name

MOST_SHOWN = 8


class BadTable(ValueError):  # noqa: N818 - the name describes the file
    """An error for a file without a table, or without the expected columns. The message is one line.

    Examples
    --------
    >>> raise BadTable("train.csv is empty.")
    Traceback (most recent call last):
    committee.files.table_error.BadTable: train.csv is empty.
    """


class MissingColumns(BadTable):
    """An error for a table without some columns.

    Parameters
    ----------
    message : str
    similar : dict of str to str, default=None
        A column that may be meant, for missing columns with a similar name.
    """

    def __init__(self, message: str, similar: dict[str, str] | None = None) -> None:
        super().__init__(message)
        self.similar = similar or {}


def suggestion(name: str, names: Sequence[str]) -> str:
    """Suggest the most similar name, or list the names."""
    nearest = nearest_name(name, names)
    return f"It has {some(names)}." if nearest is None else f"Did you mean {nearest!r}?"


def some(names: Iterable[str]) -> str:
    """List names for a message, at most eight of them."""
    names = list(names)
    rest = len(names) - MOST_SHOWN
    return ", ".join(names[:MOST_SHOWN]) + (f" and {rest} more" if rest > 0 else "")
