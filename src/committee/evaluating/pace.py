"""How long the rest of a study may take, by what its cells have taken so far."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

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
    >>> pace.left([Cell(1, "small", "rf"), Cell(0, "large", "rf")], n_workers=2)
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

    def seconds(self, cell: Cell) -> float | None:
        """What a cell may take; None if nothing is known."""
        size = self._sizes[cell.table]
        for sums, amount in (
            (self._of_pair.get((cell.learner, cell.table)), 1.0),
            (self._of_learner.get(cell.learner), size),
            (self._of_all, size),
        ):
            if sums is not None and sums[1]:
                return sums[0] / sums[1] * amount
        return None

    def left(self, cells: Iterable[Cell], n_workers: int) -> float | None:
        """What cells may take that are run by some workers; None if nothing is known."""
        guesses = [self.seconds(cell) for cell in cells]
        if not guesses or guesses[0] is None:
            return None
        return sum(each for each in guesses if each is not None) / n_workers
