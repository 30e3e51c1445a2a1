"""How much memory the fits of a member take, and who is left out because it is too much.

In: members, the size of the table and a limit. Out: the members that stay. What is predicted is rough: rows
are copied for every fold, foreign members see a matrix of float64, networks one of all their inputs, and a
forest is as large as its leaves.
"""

from __future__ import annotations

import warnings
from typing import Any

from sklearn.pipeline import Pipeline

from committee import running
from committee.assembling.members import Member
from committee.automatic.candidates import Size
from committee.learners.network import Network
from committee.learners.network_rows import bytes_of_inputs
from committee.sampling.growing import Forest
from committee.sampling.plan import MOST_MEMBERS

BYTES_OF_NUMBER = 8
# The rows of a fold, the matrix that is made of them, and what is computed from it.
N_COPIES = 3
# A leaf has a node above it, of a word each, and a float for each output.
BYTES_OF_LEAF, BYTES_OF_OUTPUT = 16, 4


def within_memory(
    members: list[Member], size: Size, limit: float | None, n_models: int, n_workers: int
) -> list[Member]:
    """The members whose fits take no more memory than there is; each of the others is told of in a warning.

    Parameters
    ----------
    members : list of Member
    size : Size
    limit : float or None
        Bytes, beside the table. None is what is free.
    n_models : int
        How many models of a member are kept.
    n_workers : int
        How many are fitted at the same time.

    Returns
    -------
    list of Member
    """
    most = running.available_bytes() if limit is None else float(limit)
    kept, taken = [], 0.0
    for member in members:
        at_once, for_ever = bytes_of_fit(size, member.estimator), bytes_of_model(size, member.estimator)
        needed = n_workers * at_once + n_models * for_ever
        if taken + needed <= most:
            taken += n_models * for_ever
            kept.append(member)
        else:
            warnings.warn(
                f"Member {member.name!r} is left out: its fits take about {written(needed)}, and there are "
                f"{written(most - taken)}.",
                RuntimeWarning,
                stacklevel=4,
            )
    if not kept:
        raise ValueError(
            f"memory_limit={limit} is too little for any member. Set a higher one, or pass fewer rows."
        )
    return kept


def bytes_of_fit(size: Size, estimator: Any) -> float:
    """What one fit takes beside the model."""
    n_columns = size.n_encoded if isinstance(estimator, Pipeline) else size.n_columns or size.n_encoded
    n_bytes = N_COPIES * BYTES_OF_NUMBER * size.n_rows * n_columns
    if isinstance(estimator, Network):
        n_bytes += bytes_of_inputs(size.n_rows, n_columns, size.n_encoded, estimator.n_bins)
    return n_bytes


def bytes_of_model(size: Size, estimator: Any) -> float:
    """What a model takes that is as large as its table: a forest."""
    if not isinstance(estimator, Forest):
        return 0.0
    n_trees = MOST_MEMBERS if isinstance(estimator.n_estimators, str) else estimator.n_estimators
    n_leaves = size.n_rows / estimator.min_samples_leaf if estimator.min_samples_leaf >= 1 else size.n_rows
    return n_trees * n_leaves * (BYTES_OF_LEAF + BYTES_OF_OUTPUT * size.n_outputs)


def written(n_bytes: float) -> str:
    """A number of bytes for people.

    Examples
    --------
    >>> written(3_200_000_000), written(15_000)
    ('3.2 GB', '15 kB')
    """
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= factor:
            return f"{n_bytes / factor:.2g} {unit}"
    return f"{n_bytes:.0f} bytes"
