"""Meta-learners that fit a weight for each member by least squares or log loss.

In: a matrix with a column of votes for each member. Out: a weight for each member, usually >= 0. All problems
are convex and are solved by non-negative least squares or in closed form, so the results are deterministic.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

# The largest distance of the log loss from its minimum.
TOLERANCE = 1e-10
N_STEPS = 200
SMALLEST = 1e-15
# Added to the squares, relative to them, so that members with equal votes have a solution.
RIDGE = 1e-12
# Members with smaller squared differences, relative to their squares, have equal votes.
SAME = 1e-24
# Penalties of shrunken weights, in units of the mean squared difference of members.
PENALTIES = np.logspace(-3, 3, 13)


def triangle_of(tables: Iterable[np.ndarray]) -> np.ndarray:
    """Return a small matrix T in place of a long table A, such that T w and A w have the same norm for any w.

    It is the triangular matrix of a QR decomposition, which is computed block by block.

    Parameters
    ----------
    tables : iterable of ndarray of shape (n_rows, n_columns)

    Examples
    --------
    >>> np.abs(triangle_of([np.array([[3.0]]), np.array([[4.0]])]))
    array([[5.]])
    """
    triangle: np.ndarray | None = None
    for table in tables:
        stacked = table if triangle is None else np.vstack([triangle, table])
        triangle = np.asarray(np.linalg.qr(stacked, mode="r"))
    assert triangle is not None
    return triangle


def nonnegative_weights(triangle: np.ndarray) -> np.ndarray:
    r"""Minimise :math:`\sum_i s_i (y_i - \sum_m w_m v_{im})^2` over :math:`w \ge 0` (Breiman 1996).

    Parameters
    ----------
    triangle : ndarray of shape (n_rows, n_members + 1)
        A column for each member and one for y, each row times the square root of its weight, or the triangle
        of this table.

    Returns
    -------
    ndarray of shape (n_members,)

    Examples
    --------
    >>> nonnegative_weights(np.array([[1.0, 1.0, 0.5], [2.0, 0.0, 1.0]])).round(6)
    array([0.5, 0. ])
    """
    return solved(triangle[:, :-1], triangle[:, -1])


def convex_weights(triangle: np.ndarray) -> np.ndarray:
    r"""Minimise the same error over weights that are not negative and sum to one.

    With :math:`r_{im} = v_{im} - y_i`, the error of convex weights is :math:`\|R w\|^2`. Its minimum has the
    direction of the minimum of :math:`\|R u\|^2 + (1 - \sum u)^2` over :math:`u \ge 0`, because for
    :math:`u = t w` and the best t, this is an increasing function of :math:`\|R w\|^2`.

    Examples
    --------
    >>> convex_weights(np.array([[0.0, 1.0, 0.25], [0.0, 1.0, 0.25]])).round(6)
    array([0.75, 0.25])
    """
    residuals = triangle[:, :-1] - triangle[:, -1:]
    # The unit is the error of the worst member, so that both terms have a similar size.
    unit = np.sqrt(np.square(residuals).sum(axis=0).max()) or 1.0
    system = np.vstack([residuals / unit, np.ones(residuals.shape[1])])
    return shares(solved(system, np.append(np.zeros(len(residuals)), 1.0)))


def shrunken_weights(triangle: np.ndarray, n_rows: int) -> np.ndarray:
    r"""Fit weights that sum to one by least squares, shrunk towards convex weights; some may be negative.

    Let :math:`d` be the decision of convex weights. Ridge regression predicts :math:`y - d` from the
    :math:`v_m - d`, with the penalty of the lowest error in generalised cross-validation (Golub, Heath and
    Wahba 1979). If this brings no improvement, the weights are nearly convex.

    Parameters
    ----------
    triangle : ndarray of shape (n_rows, n_members + 1)
    n_rows : int
        The number of rows of the table whose triangle is passed.

    Examples
    --------
    The second member is always twice as far off as the first, in the same direction:

    >>> votes = np.array([[1.0, 2.0], [3.0, 6.0], [2.0, 4.0], [5.0, 10.0]])
    >>> shrunken_weights(np.column_stack([votes, [0.1, 0.0, 0.1, 0.0]]), n_rows=4).round(1)
    array([ 2., -1.])
    """
    convex = convex_weights(triangle)
    decided = triangle[:, :-1] @ convex
    table, target = triangle[:, :-1] - decided[:, None], triangle[:, -1] - decided
    left, sizes, right = np.linalg.svd(table, full_matrices=False)
    unit = float(np.square(sizes).mean())
    if unit <= SAME * float(np.square(triangle).mean()):
        return convex
    along = left.T @ target
    left_over = float(target @ target) - float(along @ along)
    penalties = PENALTIES * unit
    kept = np.square(sizes) / (np.square(sizes) + penalties[:, None])
    squares = left_over + np.square((1 - kept) * along).sum(axis=1)
    errors = squares / np.square(np.maximum(1 - kept.sum(axis=1) / n_rows, SMALLEST))
    penalty = penalties[::-1][np.argmin(errors[::-1])]
    steps = right.T @ (sizes / (np.square(sizes) + penalty) * along)
    return np.asarray(convex * (1 - steps.sum()) + steps)


def likely_weights(votes: np.ndarray, weights: np.ndarray) -> np.ndarray:
    r"""Minimise the log loss :math:`-\sum_i s_i \log \sum_m w_m p_{im}` over weights that sum to one.

    This is Newton's method. With :math:`q = P w`, the second-order model of the loss and of the sum of the
    weights is the least-squares problem :math:`\|A w - 2 \sqrt s\|^2 / 2 + n \sum w`, :math:`A =
    \mathrm{diag}(\sqrt s / q) P`, over :math:`w \ge 0`. A step that does not lower the loss is replaced by a
    step of expectation maximisation, which always lowers it. The loss is within :math:`\max_m \sum_i s_i
    p_{im} / q_i / n - 1` of the minimum.

    Parameters
    ----------
    votes : ndarray of shape (n_rows, n_members)
        The votes of each member for the true class of each row.
    weights : ndarray of shape (n_rows,)

    Examples
    --------
    The first member is correct on two of three rows, and the second on the other one:

    >>> likely_weights(np.array([[0.9, 0.1], [0.9, 0.1], [0.1, 0.9]]), np.ones(3)).round(3)
    array([0.708, 0.292])
    """
    votes = np.maximum(votes, SMALLEST)
    total = weights.sum()
    found = np.full(votes.shape[1], 1 / votes.shape[1])
    for _ in range(N_STEPS):
        mixed = votes @ found
        pull = (weights / mixed) @ votes / total
        if pull.max() - 1 <= TOLERANCE:
            break
        loss = -(weights @ np.log(mixed)) / total
        newton = newton_step(votes, weights, mixed)
        between = (found + newton) / 2
        tried = [step for step in (newton, between) if -(weights @ np.log(votes @ step)) / total < loss]
        found = tried[0] if tried else shares(found * pull)
    return found


def newton_step(votes: np.ndarray, weights: np.ndarray, mixed: np.ndarray) -> np.ndarray:
    """Return the weights that minimise the second-order model around a mixture of votes."""
    root = np.sqrt(weights)
    scaled = votes * (root / mixed)[:, None]
    squares = scaled.T @ scaled
    squares[np.diag_indices_from(squares)] *= 1 + RIDGE
    squares[np.diag_indices_from(squares)] += RIDGE * squares.max()
    linear = 2 * (scaled.T @ root) - weights.sum()
    triangle = np.linalg.cholesky(squares).T
    return shares(solved(triangle, np.linalg.solve(triangle.T, linear)))


def solved(matrix: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Solve non-negative least squares."""
    from scipy.optimize import nnls

    return np.asarray(nnls(matrix, target, maxiter=max(100, 30 * matrix.shape[1]))[0])


def shares(weights: np.ndarray) -> np.ndarray:
    """Rescale weights to sum to one. Return equal weights if all are 0."""
    total = weights.sum()
    return weights / total if total > 0 else np.full(len(weights), 1 / len(weights))
