"""What theory says of a boosted committee: margins of rows, and bounds on the training error."""

from __future__ import annotations

import numpy as np


def margins_of(shares: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The margin of each row: the votes for its class less the most for another (Schapire et al. 1998).

    Parameters
    ----------
    shares : ndarray of shape (n_rows, n_classes)
        Shares of the votes.
    y : ndarray of int of shape (n_rows,)
        Numbers of the classes.

    Returns
    -------
    ndarray of shape (n_rows,)
        Between -1 and 1; positive where the decision is right.

    Examples
    --------
    >>> margins_of(np.array([[0.7, 0.2, 0.1], [0.7, 0.2, 0.1]]), np.array([0, 1])).round(1)
    array([ 0.5, -0.5])
    """
    rows = np.arange(len(y))
    others = shares.copy()
    others[rows, y] = -np.inf
    return shares[rows, y] - others.max(axis=1)


def error_bounds(errors: np.ndarray, votes: np.ndarray, n_mislabels: int = 1) -> np.ndarray:
    """The bound on the training error after each member: the mean exponential loss, a product over members.

    A misclassified row has an exponential loss of at least 1. The mean loss is the product, over the members,
    of (1 - error) exp(-vote / 2) + error exp(vote / 2), which is 2 sqrt(error (1 - error)) for the votes of
    M1 (Freund and Schapire 1997, theorems 6 and 11).

    Parameters
    ----------
    errors, votes : ndarray of shape (n_members,)
    n_mislabels : int, default=1
        The number of wrong labels of a row, if the errors are pseudo-losses (M2).

    Returns
    -------
    ndarray of shape (n_members,)

    Examples
    --------
    >>> error_bounds(np.array([0.2, 0.5]), np.log([4.0, 1.0])).round(2)
    array([0.8, 0.8])
    """
    # By logarithms, because a vote may be too large for its exponential; then the bound is infinite.
    with np.errstate(divide="ignore", over="ignore"):
        logarithms = np.logaddexp(np.log1p(-errors) - votes / 2, np.log(errors) + votes / 2)
        return n_mislabels * np.exp(np.cumsum(logarithms))
