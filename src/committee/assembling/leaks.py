"""Find members that know the answers of rows that their models should not have seen."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from committee.assembling.ballots import Ballot
from committee.assembling.poll import Poll
from committee.metrics.losses import squared_errors
from committee.task import Classification

# A loss that is higher on test rows by this many standard errors, and by this share, is not chance.
N_STANDARD_ERRORS, SHARE = 5.0, 0.1
# With fewer rows the standard error itself is so uncertain that honest members were suspected.
FEWEST_ROWS = 10


def leak_of(
    member: str,
    ballots: Iterable[Ballot],
    poll: Poll,
    as_votes: Callable[[np.ndarray, np.ndarray | None], np.ndarray],
) -> str | None:
    """Return a warning if the models of a member do implausibly well on the rows held out.

    The models have seen neither the rows held out nor the test rows, so up to chance their mean loss is the
    same on both. It is the Brier score for classes and the squared error for numbers. Without the answers of
    the test rows it is how far the highest vote is from one: models are surer of rows that they know.

    Parameters
    ----------
    member : str
    ballots : iterable of Ballot
        All of the member.
    poll : Poll
    as_votes : callable
        Turns the content of a ballot, which may be scores, into votes on rows of the table or, if these are
        None, on test rows.

    Returns
    -------
    str or None
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
        votes = as_votes(ballot.votes, ballot.rows)
        total[ballot.rows] += losses(votes, poll.y[ballot.rows] if are_known else None)
        counts[ballot.rows] += 1
        on_test += losses(as_votes(ballot.test_votes, None), poll.y_test)
        n_models += 1
    voted = counts > 0
    if min(voted.sum(), poll.n_test_rows) < FEWEST_ROWS:
        return None
    weights = np.ones(voted.sum()) if poll.weights is None else poll.weights[voted]
    honest, honest_error = mean_and_error(total[voted] / counts[voted], weights)
    test, test_error = mean_and_error(on_test / n_models, np.ones(len(on_test)))
    difference, error = test - honest, float(np.hypot(honest_error, test_error))
    if difference <= N_STANDARD_ERRORS * error or difference <= SHARE * test:
        return None
    times = difference / error if error else float("inf")
    return (
        f"Member {member!r} may know the rows that it votes on: its models' loss is {honest:.3g} on rows "
        f"held out and {test:.3g} on test rows, {times:.0f} standard errors more. Look for a column or a "
        "step that was made with y."
    )


def losses(votes: np.ndarray, y: np.ndarray | None) -> np.ndarray:
    """Return the loss per row: Brier, squared error, or 1 - max probability if y is unknown."""
    if y is None:
        return 1.0 - votes.max(axis=1).astype(np.float64)
    return squared_errors(votes[None].astype(np.float64), y)[0]


def mean_and_error(values: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    """Return the weighted mean and its standard error.

    Examples
    --------
    >>> mean_and_error(np.array([1.0, 3.0]), np.array([1.0, 1.0]))
    (2.0, 1.0)
    """
    mean = float(np.average(values, weights=weights))
    spread = np.sqrt(np.square(weights * (values - mean)).sum() * len(values) / (len(values) - 1))
    return mean, float(spread / weights.sum())
