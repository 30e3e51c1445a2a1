"""The folds of a table, drawn several times.

In: `cv`, and the table to split. Out: the folds of each repeat, drawn when they are asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self, overload

import numpy as np

from committee.members.lesson import Lesson
from committee.members.seeding import LARGEST_SEED
from committee.votes.folds import Fold, drawn_folds

LARGEST_SMALL = np.iinfo(np.int32).max
MOST_REPEATS = 16


class Repeats(Sequence[list[Fold]]):
    """Folds of the rows that count, in a random order, again and again.

    They take as much memory as some columns, so only those that were asked for last are kept.

    Parameters
    ----------
    n_folds : int
    lesson : Lesson
    seeds : ndarray of int
        One for each time.
    """

    def __init__(self, n_folds: int, lesson: Lesson, seeds: np.ndarray) -> None:
        self._n_asked, self._lesson, self._seeds = n_folds, lesson, seeds
        self._last: tuple[int, list[Fold]] | None = None

    @classmethod
    def drawn(cls, n_folds: int, lesson: Lesson, n_repeats: int, rng: np.random.Generator) -> Self:
        """So many repeats. What is drawn from the generator does not depend on how many."""
        return cls(n_folds, lesson, rng.integers(LARGEST_SEED, size=MOST_REPEATS)[:n_repeats])

    def first(self, n_repeats: int) -> Self:
        """The first so many of them."""
        return type(self)(self._n_asked, self._lesson, self._seeds[:n_repeats])

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
            self._last = None  # before the next ones are drawn
            lesson, rng = self._lesson, np.random.default_rng(self._seeds[number])
            # Folds are kept in as few bytes as their rows need.
            rows = lesson.rows.astype(np.int32) if lesson.n_rows <= LARGEST_SMALL else lesson.rows
            folds = drawn_folds(
                self._n_asked, rows, lesson.y, lesson.groups, rng, is_class_task=lesson.are_classes
            )
            self._last = number, folds
        return self._last[1]


def n_folds_of(repeats: Sequence[list[Fold]]) -> int:
    """How often each member is fitted: once if nothing is held out."""
    return max(1, len(repeats) * len(repeats[0]))
