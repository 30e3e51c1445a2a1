"""Pruning: the members that lower the loss most, for what may be spent on them.

In: honest votes, and what each member costs: seconds for a row, or bytes. Out: the members that stay.
"""

from __future__ import annotations

import datetime
import importlib.util
import itertools
import pickle
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from committee.combining.naming import rule_named
from committee.saving import save
from committee.table import Column, Kind, Schema
from committee.votes.honest import HonestVotes

# So many rows are timed, and the median counts: some have waited for something else.
N_TIMES = 50
# A row that comes after other work takes so much longer than one that comes after another.
BETWEEN_ROWS = 1.4


def affordable(honest: HonestVotes, costs: np.ndarray, most: float, scoring: Any) -> list[int]:
    """Members, chosen one after the other, that cost no more than may be spent.

    Parameters
    ----------
    honest : HonestVotes
    costs : ndarray of shape (n_members,)
    most : float
        What they may cost together.
    scoring : str, scorer, callable or None
        What is maximised; see `GreedyRule`.

    Returns
    -------
    list of int
        The next is always the one with which greedy selection reaches the lowest loss, and nobody joins who
        does not lower it. In the order of the members; empty if nobody is cheap enough.

    Examples
    --------
    >>> votes = np.array([[[0.9, 0.1], [0.2, 0.8]], [[0.8, 0.2], [0.3, 0.7]], [[0.4, 0.6], [0.5, 0.5]]])
    >>> honest = HonestVotes.of(votes, [0, 1])
    >>> affordable(honest, np.array([5.0, 1.0, 1.0]), 2.0, None)
    [1]
    """
    chosen: list[int] = []
    loss = np.inf
    while True:
        left = most - costs[chosen].sum()
        others = [place for place in np.flatnonzero(costs <= left).tolist() if place not in chosen]
        losses = [greedy_loss(honest, [*chosen, place], scoring) for place in others]
        if not losses or min(losses) >= loss:
            return sorted(chosen)
        loss = min(losses)
        chosen.append(others[int(np.argmin(losses))])


def greedy_loss(honest: HonestVotes, places: list[int], scoring: Any) -> float:
    """The loss that greedy selection reaches with some members."""
    rule: Any = rule_named("greedy").set_params(scoring=scoring)
    honest.of_members(sorted(places)).teach(rule)
    return float(rule.losses_[0])


def usual_time(work: Callable[[Any], object], rows: list[Any]) -> float:
    """How many seconds some work takes for a row, by several rows in turn."""
    times = []
    for row in itertools.islice(itertools.cycle(rows), N_TIMES):
        began = time.perf_counter()
        work(row)
        times.append(time.perf_counter() - began)
    return float(np.median(times))


def bytes_of(model: Any) -> int:
    """How large the file of a model is, or its pickle if it cannot rest in a file of ours."""
    with tempfile.TemporaryDirectory(prefix="committee-") as folder:
        path = Path(folder, "model.committee")
        try:
            save(model, path)
        except (TypeError, ValueError, ImportError):
            return len(pickle.dumps(model, protocol=5))
        return path.stat().st_size


def some_row(schema: Schema) -> Any:
    """A row such as a schema tells: a matrix, or a frame of the first library of frames that is there.

    Examples
    --------
    >>> from committee.table import Column, Kind
    >>> some_row(Schema((Column("x0", Kind.NUMBER), Column("x1", Kind.NUMBER)), named=False))
    array([[0., 0.]])
    """
    values = {column.name: some_value(column) for column in schema.columns}
    if not schema.named:
        dtype = np.float64 if all(isinstance(value, float) for value in values.values()) else object
        return np.array([list(values.values())], dtype=dtype)
    for library in ("pandas", "polars", "pyarrow"):
        if importlib.util.find_spec(library) is not None:
            return nw.from_dict(
                {name: [value] for name, value in values.items()}, backend=library
            ).to_native()
    raise ImportError("The fit saw a frame, and pandas, polars and pyarrow are not there. Pass X.")


def some_value(column: Column) -> Any:
    """A value that a column may have."""
    if column.kind is Kind.CATEGORY:
        return next(iter(column.categories), None)
    if column.kind is Kind.DATE:
        return datetime.datetime(1970, 1, 1)
    if column.kind is Kind.SPAN:
        return datetime.timedelta()
    return False if column.kind is Kind.BOOLEAN else 0.0
