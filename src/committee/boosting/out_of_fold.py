"""How many rounds to do, found on rows that the rounds have not seen.

In: the rows of a fit, cut into folds, and for each fold the loss on it after every round of learning from the
others. Out: the number of rounds at which the mean of the losses is lowest.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from committee.boosting.boosted import Steps
from committee.boosting.rows import Rows
from committee.votes.folds import N_FOLDS, spare_folds

# So many validated rows tell well enough when to stop; small tables validate all folds to come close.
ENOUGH_ROWS = 1000
# More than two classes take a tree each in every round: some of the folds must do, unless rows are few.
FOLDS_OF_MANY_CLASSES, FEW_ROWS = 3, 150
# Fewer rows than this tell nothing.
FEWEST_ROWS = 10
# Where nothing can be told: the rounds of other libraries.
USUAL_ROUNDS = 100
# The search takes steps up to so many times as large as the fit, and as many times fewer.
STRIDE = 4.0
# Trees for all classes each go in a direction of their own, and large steps would go astray.
MULTI_OUTPUT_STRIDE = 2.0
LARGEST_RATE = 0.4
# Large steps overfit sooner than small ones, which may go on for so many times as long, and for longer where
# rows are many. Measured by benchmarks/boosting_defaults.py.
ENDURANCE, ENDURANCE_OF_MANY, MANY_ROWS = 1.2, 1.5, 20_000
# The loss falls fast if the last quarter of the rounds left no more than this share of it.
LEFT_BY_QUARTER = 0.9
# Fewer rounds than the first become more and smaller ones, down to a share of what they were; more rounds
# than the second become fewer and larger ones.
FEW_ROUNDS, LEAST_SHARE = 100, 0.25
MOST_ROUNDS = 200
# The search goes further if the loss falls fast.
MOST_FALLING = 400
# A round of one tree for all classes does less than one of a tree for each: so many times as many are tried.
MULTI_OUTPUT_ROUNDS = 4


def fold_rows(rows: Rows, copies: np.ndarray, n_classes: int, seed: int) -> Iterator[tuple[Rows, Rows]]:
    """Rows to learn from and rows to validate by, for as many of five folds as are needed.

    Every fold has its share of every class, and all copies of its rows. The first row of each class, by
    chance, is never held out.
    """
    n_rows = len(rows.y)
    first = np.flatnonzero(np.diff(copies, prepend=-1))
    folds = spare_folds(rows.y[first] if n_classes else np.zeros(len(first), dtype=np.int32), seed)
    n_spare = int(np.count_nonzero(folds >= 0))
    if n_spare < FEWEST_ROWS:
        return
    folds = folds[copies]
    n_needed = int(np.ceil(ENOUGH_ROWS * N_FOLDS / n_spare))
    most = FOLDS_OF_MANY_CLASSES if n_classes > 2 and n_rows > FEW_ROWS else N_FOLDS
    for fold in range(min(n_needed, most)):
        yield rows.take(np.flatnonzero(folds != fold)), rows.take(np.flatnonzero(folds == fold))


def stride_of(learning_rate: float, most: float = STRIDE) -> float:
    """How many times larger the steps of the search are.

    Examples
    --------
    >>> stride_of(0.05), stride_of(0.2), stride_of(1.0)
    (4.0, 2.0, 1.0)
    """
    return max(1.0, min(most, LARGEST_RATE / learning_rate))


def falls_on(losses: np.ndarray, n_rounds: int) -> bool:
    """Whether a loss was not stopped, and went on to fall fast.

    Examples
    --------
    >>> falls_on(np.geomspace(1, 0.1, 9), 8), falls_on(np.array([1, 0.2, 0.11, 0.1, 0.1]), 4)
    (True, False)
    """
    return len(losses) == n_rounds + 1 and bool(losses[-1] < LEFT_BY_QUARTER * losses[-1 - n_rounds // 4])


def paced(steps: Steps, factor: int = 1) -> Steps:
    """Go as far in smaller steps if there are few, and in larger ones if there are many.

    What is few and what is many is multiplied by a factor.

    Examples
    --------
    >>> paced(Steps(50, 0.1)), paced(Steps(150, 0.1))
    (Steps(n_rounds=100, learning_rate=0.05), Steps(n_rounds=150, learning_rate=0.1))
    >>> paced(Steps(400, 0.1))
    Steps(n_rounds=200, learning_rate=0.2)
    """
    n_rounds, rate = steps
    share = max(min(1.0, n_rounds / (factor * FEW_ROUNDS)), LEAST_SHARE, n_rounds / (factor * MOST_ROUNDS))
    return Steps(round(n_rounds / share), rate * share)


def endurance_of(n_rows: int) -> float:
    """How many times as long small steps go on as large ones."""
    return ENDURANCE if n_rows <= MANY_ROWS else ENDURANCE_OF_MANY


def best_rounds(losses: list[np.ndarray], weights: list[float]) -> int:
    """The number of rounds at which the mean loss of the folds is lowest.

    Parameters
    ----------
    losses : list of ndarray of shape (n_rounds + 1,)
        The loss of each fold before the first round and after each. One that was stopped stays as it was.
    weights : list of float
        The weight of the rows of each fold.

    Examples
    --------
    >>> best_rounds([np.array([0.7, 0.5, 0.6]), np.array([0.7, 0.6, 0.4, 0.3])], [1.0, 1.0])
    3
    """
    length = max(map(len, losses))
    padded = [np.pad(each, (0, length - len(each)), mode="edge") for each in losses]
    return int(np.argmin(np.average(padded, axis=0, weights=weights)))
