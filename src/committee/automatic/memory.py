"""How much memory the fits of members take: who is left out because it is too much, and who has to wait.

In: members, the size of the table and a limit. Out: the members that stay, and which of their fits there is
room for side by side. What is predicted is rough: the rows of a fold are a copy, but for those who read a
large table where it lies; trees see a byte or two of each value, other members matrices of float64, and a
model has the most leaves or rows that it may keep.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sklearn.compose import TransformedTargetRegressor
from sklearn.pipeline import Pipeline

from committee import running
from committee.assembling.fitting import MANY_VALUES
from committee.assembling.members import Member
from committee.automatic.candidates import Size
from committee.boosting.gradient import GradientBoosting
from committee.boosting.out_of_fold import MOST_ROUNDS
from committee.learners import C45Classifier
from committee.learners.network import Network
from committee.learners.network_rows import bytes_of_inputs
from committee.learners.voting import Voter
from committee.sampling.growing import Forest
from committee.sampling.plan import MOST_MEMBERS
from committee.sampling.rotation import RotationForest

BYTES_OF_NUMBER = 8
# Of a member that the engine grows: the value in the rows of a fold and what it is binned to; the place of a
# row, its weight and its node; a score and what it is fitted to.
BYTES_OF_VALUE, BYTES_OF_ROW, BYTES_OF_SCORE = 12, 32, 16
# The same of a large table, whose values are read where they lie, while they are binned.
BYTES_OF_LARGE_VALUE = 4
# If every fit takes more than this, one at a time has all cores, and the memory of one is enough.
ALONE_BYTES = 2**27
# The rows of a fold, the matrix that is made of them, and what is computed from it; more where that is more.
N_COPIES, MORE_COPIES = 3, {"LinearDiscriminantAnalysis": 7, "C45Classifier": 5}
# Whose model is the rows themselves.
KEEPERS = ("KNeighborsClassifier", "KNeighborsRegressor", "SVC", "SVR")
# A leaf has a node above it, of a word each, and a float for each output.
BYTES_OF_LEAF, BYTES_OF_OUTPUT = 16, 4


@dataclass(frozen=True)
class Room:
    """The memory in which members are fitted side by side.

    Parameters
    ----------
    most : float
        Bytes that fits may take together.
    of_fit : dict from name to float
        What a fit of each member takes.
    """

    most: float
    of_fit: dict[str, float]

    @classmethod
    def of(cls, members: list[Member], size: Size, limit: float | None, n_models: int) -> Room:
        """The room for members all of whose models are kept; the parameters are those of `within_memory`."""
        kept = n_models * sum(bytes_of_model(size, each.estimator) for each in members)
        of_fit = {each.name: bytes_of_fit(size, each.estimator) for each in members}
        return cls(bytes_within(limit) - kept, of_fit)

    def has(self, name: str, others: Iterable[str]) -> bool:
        """Whether a fit may begin beside others. Alone it always may.

        Examples
        --------
        >>> room = Room(10.0, {"forest": 7.0, "bayes": 2.0})
        >>> room.has("bayes", ["forest"]), room.has("forest", ["forest"]), room.has("forest", [])
        (True, False, True)
        """
        taken = [self.of_fit[other] for other in others]
        return not taken or sum(taken) + self.of_fit[name] <= self.most

    def n_at_once(self, n_jobs: int | None) -> int | None:
        """How many fits may run side by side, if `n_jobs` leaves it open: one if each of them is large.

        Examples
        --------
        >>> Room(1e12, {"forest": 9e9, "bayes": 2e9}).n_at_once(None)
        1
        >>> Room(1e12, {"forest": 9e9, "bayes": 2e9}).n_at_once(4)
        4
        """
        return 1 if n_jobs is None and min(self.of_fit.values()) > ALONE_BYTES else n_jobs


def within_memory(members: list[Member], size: Size, limit: float | None, n_models: int) -> list[Member]:
    """The members whose fits take no more memory than there is; each of the others is told of in a warning.

    Parameters
    ----------
    members : list of Member
    size : Size
    limit : float or None
        Bytes, beside the table. None is what is free.
    n_models : int
        How many models of a member are kept.

    Returns
    -------
    list of Member
    """
    most = bytes_within(limit)
    kept, left_out, taken, largest = [], [], 0.0, 0.0
    for member in members:
        at_once, for_ever = bytes_of_fit(size, member.estimator), bytes_of_model(size, member.estimator)
        if taken + n_models * for_ever + max(largest, at_once) <= most:
            taken, largest = taken + n_models * for_ever, max(largest, at_once)
            kept.append(member)
        else:
            left_out.append((member.name, n_models * for_ever + at_once, most - taken))
    if not kept:
        least = written(min(needed for _, needed, _ in left_out))
        raise ValueError(
            f"There is memory for no member: beside the table there are {written(most)}, and the least that "
            f"one takes is {least}. Set a higher memory_limit, or pass fewer rows."
        )
    for name, needed, free in left_out:
        warnings.warn(
            f"Member {name!r} is left out: its fits take about {written(needed)}, and there are "
            f"{written(free)}.",
            RuntimeWarning,
            stacklevel=4,
        )
    return kept


def bytes_within(limit: float | None) -> float:
    """A limit, or what is free."""
    return running.available_bytes() if limit is None else float(limit)


def bytes_of_fit(size: Size, estimator: Any) -> float:
    """What one fit takes beside the model."""
    learner = learner_of(estimator)
    n_columns = size.n_encoded if isinstance(estimator, Pipeline) else size.n_columns or size.n_encoded
    if isinstance(estimator, Voter) and not isinstance(estimator, C45Classifier | Network):
        is_large = size.n_rows * n_columns >= MANY_VALUES
        of_value = BYTES_OF_LARGE_VALUE if is_large else BYTES_OF_VALUE
        return size.n_rows * (of_value * n_columns + BYTES_OF_ROW + BYTES_OF_SCORE * size.n_outputs)
    n_copies = MORE_COPIES.get(type(learner).__name__, N_COPIES)
    n_bytes = n_copies * BYTES_OF_NUMBER * size.n_rows * n_columns
    if isinstance(learner, Network):
        n_bytes += bytes_of_inputs(size.n_rows, n_columns, size.n_encoded, learner.n_bins)
    return n_bytes


def bytes_of_model(size: Size, estimator: Any) -> float:
    """The most that a model may take, of those that are not small whatever the table is."""
    learner = learner_of(estimator)
    if isinstance(learner, Forest | RotationForest):
        n_trees = MOST_MEMBERS if isinstance(learner.n_estimators, str) else learner.n_estimators
        n_leaves = size.n_rows / learner.min_samples_leaf if learner.min_samples_leaf >= 1 else size.n_rows
        return n_trees * n_leaves * (BYTES_OF_LEAF + BYTES_OF_OUTPUT * size.n_outputs)
    if isinstance(learner, GradientBoosting):
        n_rounds = MOST_ROUNDS if isinstance(learner.n_estimators, str) else learner.n_estimators
        n_leaves = min(learner.max_leaf_nodes or size.n_rows, size.n_rows)
        n_trees = n_rounds * (size.n_outputs if size.n_outputs > 2 else 1)
        return n_trees * n_leaves * (BYTES_OF_LEAF + BYTES_OF_OUTPUT)
    if type(learner).__name__ in KEEPERS:
        return float(BYTES_OF_NUMBER * size.n_rows * size.n_encoded)
    return 0.0


def learner_of(estimator: Any) -> Any:
    """Who learns: the last of a pipeline, and who is inside of what scales its target."""
    learner = estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator
    return learner.regressor if isinstance(learner, TransformedTargetRegressor) else learner


def written(n_bytes: float) -> str:
    """A number of bytes for people.

    Examples
    --------
    >>> written(3_200_000_000), written(115_000)
    ('3.2 GB', '115 kB')
    """
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= factor:
            return f"{n_bytes / factor:.{0 if n_bytes >= 10 * factor else 1}f} {unit}"
    return f"{n_bytes:.0f} bytes"
