"""How long the rest of a study may take, by what its cells have taken so far."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from committee.evaluating.cells import Cell


class Pace:
    """Guesses the seconds of cells: as another resample of the same, or by the size of the table.

    Parameters
    ----------
    sizes : dict of str to float
        The size of each table, in any unit that time grows with.

    Examples
    --------
    >>> pace = Pace({"small": 100, "large": 1000})
    >>> pace.add(Cell(0, "small", "rf"), 2.0)
    >>> pace.left({("rf", "small"): 1, ("rf", "large"): 1}, n_workers=2)
    11.0
    """

    def __init__(self, sizes: dict[str, float]) -> None:
        self._sizes = sizes
        # Sums and counts: of a learner on a table; of a learner; of all.
        self._of_pair: dict[tuple[str, str], list[float]] = defaultdict(lambda: [0.0, 0.0])
        self._of_learner: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
        self._of_all = [0.0, 0.0]

    def add(self, cell: Cell, seconds: float) -> None:
        """Tell how long a cell has taken."""
        size = self._sizes[cell.table]
        for sums, amount in (
            (self._of_pair[cell.learner, cell.table], 1.0),
            (self._of_learner[cell.learner], size),
            (self._of_all, size),
        ):
            sums[0] += seconds
            sums[1] += amount

    def seconds(self, learner: str, table: str) -> float | None:
        """What a learner may take on a resample of a table; None if nothing is known."""
        size = self._sizes[table]
        for sums, amount in (
            (self._of_pair.get((learner, table)), 1.0),
            (self._of_learner.get(learner), size),
            (self._of_all, size),
        ):
            if sums is not None and sums[1]:
                return sums[0] / sums[1] * amount
        return None

    def left(self, n_cells: Mapping[tuple[str, str], int], n_workers: int) -> float | None:
        """What so many cells of learners on tables may take with some workers; None if nothing is known."""
        total = 0.0
        for pair, count in n_cells.items():
            guess = self.seconds(*pair)
            if guess is None:
                return None
            total += count * guess
        return total / n_workers
