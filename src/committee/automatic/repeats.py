"""Repeated folds of the rows, in which the members of an automatic committee are fitted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self, overload

import numpy as np

from committee.members.seeds import LARGEST_SEED
from committee.members.training_set import TrainingSet
from committee.votes.folds import Fold, drawn_folds

LARGEST_SMALL = np.iinfo(np.int32).max
MOST_REPEATS = 16
# If there is time left, folds are repeated this often, and more often in tables of few rows. After the first
# repeats, only members with weight continue: about as many models in all as without more repeats.
REPEATS_IN_TIME, MANY_REPEATS_IN_TIME, ROWS_TO_REPEAT = 4, MOST_REPEATS, 50_000


class Repeats(Sequence[list[Fold]]):
    """Repeated random folds of the rows with weight.

    The folds of a repeat take as much memory as a few columns, so only the last used ones are kept.

    Parameters
    ----------
    n_folds : int
    training : TrainingSet
    seeds : ndarray of int
        The seed of each repeat.
    """

    def __init__(self, n_folds: int, training: TrainingSet, seeds: np.ndarray) -> None:
        self._n_folds, self._training, self._seeds = n_folds, training, seeds
        self._last: tuple[int, list[Fold]] | None = None

    @classmethod
    def drawn(cls, n_folds: int, training: TrainingSet, n_repeats: int, rng: np.random.Generator) -> Self:
        """Draw repeats. The numbers that the generator draws do not depend on n_repeats."""
        return cls(n_folds, training, rng.integers(LARGEST_SEED, size=MOST_REPEATS)[:n_repeats])

    def first(self, n_repeats: int) -> Self:
        """Return the first repeats."""
        return type(self)(self._n_folds, self._training, self._seeds[:n_repeats])

    def __len__(self) -> int:
        return len(self._seeds)

    @overload
    def __getitem__(self, number: int) -> list[Fold]: ...

    @overload
    def __getitem__(self, number: slice) -> list[list[Fold]]: ...

    def __getitem__(self, number: int | slice) -> list[Fold] | list[list[Fold]]:
        if isinstance(number, slice):
            return [self[each] for each in range(*number.indices(len(self)))]
        if self._last is None or self._last[0] != number:
            self._last = None  # free its memory before the next folds are drawn
            training, rng = self._training, np.random.default_rng(self._seeds[number])
            # The folds of a table with fewer than 2^31 rows are kept in half of the memory.
            rows = training.rows.astype(np.int32) if training.n_rows <= LARGEST_SMALL else training.rows
            folds = drawn_folds(
                self._n_folds, rows, training.y, training.groups, rng, is_class_task=training.are_classes
            )
            self._last = number, folds
        return self._last[1]


def n_folds_of(repeats: Sequence[list[Fold]]) -> int:
    """Return the number of fits of each member, which is one if no rows are held out."""
    return max(1, len(repeats) * len(repeats[0]))


def most_repeats(training: TrainingSet) -> int:
    """Return the maximum number of repeats of the folds."""
    return MANY_REPEATS_IN_TIME if len(training.rows) <= ROWS_TO_REPEAT else REPEATS_IN_TIME
