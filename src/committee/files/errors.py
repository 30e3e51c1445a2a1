"""What is wrong with a table that was read from a file."""

from __future__ import annotations


class BadTable(ValueError):  # noqa: N818 - it says what the file is
    """A file that holds no table, or not the one that was asked for. The message is one line.

    Examples
    --------
    >>> raise BadTable("train.csv is empty.")
    Traceback (most recent call last):
    committee.files.errors.BadTable: train.csv is empty.
    """
