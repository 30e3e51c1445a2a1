"""From distinct values to the categories of a schema: their order, how many are kept, and which are seen."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable
from dataclasses import replace

import numpy as np

from committee.table.part import PartColumns
from committee.table.raw import Dictionary
from committee.table.schema import MAX_CATEGORIES, Column, Kind, Schema, Table


def settle_categories(dictionary: Dictionary) -> tuple[tuple[Hashable, ...], np.ndarray]:
    """Order the distinct values and number the rows accordingly.

    The order is the declared one, or else sorted; values that cannot be compared are sorted by how they
    print, so that the order of the rows never matters. Of more than 65,535 values, the most frequent are kept
    (of equally frequent ones, the first); the rows of the rest are missing.

    Returns
    -------
    categories : tuple
    codes : ndarray of int32 of shape (n_rows,)
        0 for missing, i for the i-th category.
    """
    values = dictionary.values
    order = np.arange(len(values)) if dictionary.declared else sorted_order(values)
    if len(values) > MAX_CATEGORIES:
        counts = np.bincount(dictionary.codes, minlength=len(values) + 1)[1:][order]
        most_frequent = np.argsort(-counts, kind="stable")[:MAX_CATEGORIES]
        order = order[np.sort(most_frequent)]
    new_codes = np.zeros(len(values) + 1, dtype=np.int32)
    new_codes[order + 1] = np.arange(1, len(order) + 1)
    return tuple(values[i] for i in order), new_codes[dictionary.codes]


def sorted_order(values: list[Hashable]) -> np.ndarray:
    """The positions of the values in sorted order."""
    try:
        order = sorted(range(len(values)), key=values.__getitem__)  # type: ignore[arg-type]
    except TypeError:
        order = sorted(range(len(values)), key=lambda i: (str(values[i]), type(values[i]).__name__))
    return np.array(order, dtype=np.int64)


def forget_unseen(table: Table, weights: np.ndarray | None) -> Table:
    """Leave out the categories that no row has, though they were declared, or none that weighs anything.

    Who learns from the rows learns nothing of them: they are missing, as all others that it has not seen.

    Examples
    --------
    >>> schema = Schema((Column("city", Kind.CATEGORY, ("Bonn", "Oslo", "Rome")),), named=True)
    >>> table = Table(schema, (np.array([1, 3, 0], dtype=np.int32),), n_rows=3)
    >>> seen = forget_unseen(table, None)
    >>> seen.schema.columns[0].categories, seen.columns[0]
    (('Bonn', 'Rome'), array([1, 2, 0], dtype=int32))
    >>> forget_unseen(table, np.array([0.0, 1.0, 1.0])).schema.columns[0].categories
    ('Rome',)
    """
    weighs = slice(None) if weights is None or weights.all() else weights > 0
    return with_categories(table, lambda codes, n: np.bincount(codes[weighs], minlength=n) > 0)


def forget_weightless(table: Table, weights: np.ndarray | None) -> Table:
    """Leave out the categories that only rows of weight 0 have. Those that no row has are declared, and stay.

    Examples
    --------
    >>> schema = Schema((Column("city", Kind.CATEGORY, ("Bonn", "Oslo", "Rome")),), named=True)
    >>> table = Table(schema, (np.array([1, 3, 0], dtype=np.int32),), n_rows=3)
    >>> forget_weightless(table, np.array([0.0, 1.0, 1.0])).schema.columns[0].categories
    ('Oslo', 'Rome')
    """
    if weights is None or weights.all():
        return table

    def stay(codes: np.ndarray, n: int) -> np.ndarray:
        n_rows, n_weighing = np.bincount(codes, minlength=n), np.bincount(codes[weights > 0], minlength=n)
        is_kept: np.ndarray = (n_weighing > 0) | (n_rows == 0)
        return is_kept

    return with_categories(table, stay)


def with_categories(table: Table, stay: Callable[[np.ndarray, int], np.ndarray]) -> Table:
    """The table with some of its categories: a boolean for each, by the codes of rows. Others are missing."""
    columns, found = list(table.schema.columns), dict[int, np.ndarray]()
    for position in np.flatnonzero(table.schema.is_category).tolist():
        column, codes = columns[position], table.columns[position]
        is_seen = stay(codes, len(column.categories) + 1)
        is_seen[0] = True
        if is_seen.all():
            continue
        categories = tuple(itertools.compress(column.categories, is_seen[1:]))
        columns[position] = Column(column.name, Kind.CATEGORY, categories, column.seconds_of)
        found[position] = np.where(is_seen, np.cumsum(is_seen) - 1, 0).astype(np.int32)[codes]
    if not found:
        return table
    schema = Schema(tuple(columns), table.schema.named)
    if isinstance(table.columns, PartColumns):
        return Table(schema, replace(table.columns, codes={**table.columns.codes, **found}), table.n_rows)
    kept = tuple(found.get(position, column) for position, column in enumerate(table.columns))
    return Table(schema, kept, table.n_rows)
