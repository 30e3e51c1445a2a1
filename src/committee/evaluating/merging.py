"""Two stores become one: what one of them knows more is added, and what contradicts is refused."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from committee.evaluating.cells import Cell, Outcome
from committee.evaluating.store import Store

# What must be the same in both.
SETTINGS = ("test_size", "cv")


def merge(store: Store, other: Store) -> int:
    """Add what another store has to a store.

    Parameters
    ----------
    store, other : Store
        The other stays as it is. Nothing is added if the two contradict each other.

    Returns
    -------
    int
        How many finished cells were added.
    """
    conflict = next(conflicts(store, other), None)
    if conflict is not None:
        raise ValueError(f"{other.place} cannot be merged into {store.place}: {conflict}")
    for name in SETTINGS:
        store.set_fact(name, other.fact(name))
    for (name, task), recipe in other.recipes().items():
        store.add_learner(name, task, recipe)
    tables = other.tables()
    for table in tables.values():
        store.add_table(table)
    for name, resample in other.ask("SELECT table_name, resample FROM splits"):
        is_test = other.split(name, resample, tables[name].n_rows)
        assert is_test is not None
        store.add_split(name, resample, is_test)
    here, failed = store.finished(), store.failures()
    scores: dict[Cell, list[tuple[str, float]]] = {}
    for (cell, metric), score in other.scores().items():
        scores.setdefault(cell, []).append((metric, score))
    n_added = 0
    for cell, seconds in other.finished().items():
        if cell in here:
            continue
        table = tables[cell.table]
        votes, honest = (other.votes(cell, part, table) for part in ("test", "honest"))
        store.keep(cell, Outcome(votes, honest, *seconds), scores.get(cell, []), table.dtype)
        n_added += 1
    for cell, (error, trace) in other.failures().items():
        if cell not in here and cell not in failed:
            store.keep(cell, Outcome(error=error, trace=trace), [], tables[cell.table].dtype)
    return n_added


def conflicts(store: Store, other: Store) -> Iterator[str]:
    """What contradicts, a line for each."""
    for name in SETTINGS:
        ours, theirs = store.fact(name), other.fact(name)
        if ours is not None and theirs is not None and ours != theirs:
            yield f"{name} is {theirs[0]} there, and {ours[0]} here."
    recipes = store.recipes()
    for (name, task), recipe in other.recipes().items():
        known = recipes.get((name, task), recipe)
        if known != recipe:
            yield f"learner {name!r} is {recipe} there, and {known} here."
    tables, others = store.tables(), other.tables()
    for name, table in others.items():
        if name in tables and tables[name].fingerprint != table.fingerprint:
            yield f"table {name!r} is another one there."
    for name, resample in other.ask("SELECT table_name, resample FROM splits"):
        n_rows = others[name].n_rows
        if not are_same(*(each.split(name, resample, n_rows) for each in (store, other))):
            yield f"resample {resample} of table {name!r} judges on other rows there."
    for cell in store.finished().keys() & other.finished().keys():
        for part in ("test", "honest"):
            if not are_same(*(each.votes(cell, part, others[cell.table]) for each in (store, other))):
                yield f"{cell} has other votes there."


def are_same(known: np.ndarray | None, found: np.ndarray | None) -> bool:
    """Whether two arrays do not contradict each other: one of them may be missing."""
    return known is None or found is None or np.array_equal(known, found, equal_nan=known.dtype.kind == "f")
