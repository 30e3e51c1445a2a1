"""Leaks: members that know rows which they should not have seen, by how much better they do on them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from committee.assembling.ballots import Ballot
from committee.assembling.poll import Poll
from committee.combining.losses import square_sums
from committee.task import Classification

# A loss on test rows that is higher by so many standard errors, and by such a share, is not chance.
N_STANDARD_ERRORS, SHARE = 5.0, 0.1
# The standard error of fewer rows is itself so much a matter of chance that honest members were suspected.
FEWEST_ROWS = 10


@dataclass(frozen=True)
class Leak:
    """A member that does implausibly well on the rows that its models have not seen.

    Parameters
    ----------
    member : str
    honest_loss, test_loss : float
        The mean loss of its models on the rows held out, and on the test rows.
    n_standard_errors : float
        Of their difference.

    Examples
    --------
    >>> print(Leak("tree", 0.1, 0.4, 12.0))
    Member 'tree' may know the rows that it votes on: its models' loss is 0.1 on rows held out and 0.4 on test
    rows, 12 standard errors more. Look for a column or a step that was made with y.
    """

    member: str
    honest_loss: float
    test_loss: float
    n_standard_errors: float

    def __str__(self) -> str:
        return (
            f"Member {self.member!r} may know the rows that it votes on: its models' loss is "
            f"{self.honest_loss:.3g} on rows held out and {self.test_loss:.3g} on test rows, "
            f"{self.n_standard_errors:.0f} standard errors more. Look for a column or a step that was made "
            "with y."
        )


def leak_of(
    member: str,
    ballots: Iterable[Ballot],
    poll: Poll,
    as_votes: Callable[[np.ndarray, np.ndarray | None], np.ndarray],
) -> Leak | None:
    """Compare the losses of a member's models on rows held out and on test rows.

    Parameters
    ----------
    member : str
    ballots : iterable of Ballot
        All of the member.
    poll : Poll
    as_votes : callable
        What makes votes of what the ballots hold, which may be scores, on rows of the table or, if these are
        None, on test rows.

    Returns
    -------
    Leak or None
        None if there is no leak, or nothing to measure it by.
    """
    are_known = poll.y_test is not None
    if not are_known and not isinstance(poll.task, Classification):
        return None
    total, counts = np.zeros(poll.n_rows), np.zeros(poll.n_rows)
    on_test, n_models = np.zeros(poll.n_test_rows), 0
    for ballot in ballots:
        if ballot.test_votes is None:
            return None
        total[ballot.rows] += losses(
            as_votes(ballot.votes, ballot.rows), poll.y[ballot.rows] if are_known else None
        )
        counts[ballot.rows] += 1
        on_test += losses(as_votes(ballot.test_votes, None), poll.y_test)
        n_models += 1
    voted = counts > 0
    if min(voted.sum(), poll.n_test_rows) < FEWEST_ROWS:
        return None
    weights = np.ones(voted.sum()) if poll.weights is None else poll.weights[voted]
    honest_loss, honest_error = mean_and_error(total[voted] / counts[voted], weights)
    test_loss, test_error = mean_and_error(on_test / n_models, np.ones(len(on_test)))
    error = float(np.hypot(honest_error, test_error))
    difference = test_loss - honest_loss
    if difference <= N_STANDARD_ERRORS * error or difference <= SHARE * test_loss:
        return None
    return Leak(member, honest_loss, test_loss, difference / error if error else float("inf"))


def losses(votes: np.ndarray, y: np.ndarray | None) -> np.ndarray:
    """The loss of votes on each row: of Brier, squared, or, without answers, what the highest lacks to 1."""
    if y is None:
        return 1.0 - votes.max(axis=1).astype(np.float64)
    return square_sums(votes[None].astype(np.float64), y)[0]


def mean_and_error(values: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    """The weighted mean and its standard error.

    Examples
    --------
    >>> mean_and_error(np.array([1.0, 3.0]), np.array([1.0, 1.0]))
    (2.0, 1.0)
    """
    mean = float(np.average(values, weights=weights))
    spread = np.sqrt(np.square(weights * (values - mean)).sum() * len(values) / (len(values) - 1))
    return mean, float(spread / weights.sum())
