"""Average polynomials that are fitted to noisy samples of a sine, as in Bishop's committees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from committee.evaluating.error_decomposition import Decomposition, decompose
from committee.extensions import extension, picture
from committee.parameters import is_integer, is_number
from committee.printing import brief
from committee.table.input_types import RandomState
from committee.table.result_frame import Tabulated

SAMPLES = ("independent", "bootstrap")
N_POINTS = 200


@brief
@dataclass(frozen=True, eq=False)
class PolynomialCommittee(Tabulated):
    """A committee of polynomials, and the function that it estimates.

    Parameters
    ----------
    x, target : ndarray of shape (n_points,)
        Points from 0 to 1, and the sine at these points.
    members : ndarray of shape (n_members, n_points)
        The values of the members.
    bias : float
        The squared difference between the mean of the members and the sine, averaged over the points.
    variance : float
        The variance of the members, averaged over the points.
    errors : Decomposition
        The average error of the members `e_av`, the error of the committee `e_com`, its value for
        uncorrelated errors `limit`, and the `correlation` of the errors.
    """

    x: np.ndarray
    target: np.ndarray
    members: np.ndarray
    bias: float
    variance: float
    errors: Decomposition

    plot = extension(picture("polynomials"), extra="plot")

    @property
    def mean(self) -> np.ndarray:
        """The values of the committee, which are the means of its members."""
        return np.asarray(self.members.mean(axis=0))

    def _columns(self) -> dict[str, list[Any]]:
        """Return the points with the sine and the committee."""
        return {"x": self.x.tolist(), "target": self.target.tolist(), "committee": self.mean.tolist()}


def polynomial_committee(
    degree: int = 5,
    *,
    n_members: int = 100,
    n_rows: int = 25,
    noise: float = 0.3,
    samples: str = "independent",
    random_state: RandomState = None,
) -> PolynomialCommittee:
    """Fit polynomials to noisy samples of a sine, and average them.

    Polynomials of a high degree have a low bias and a high variance. If each is fitted to its own sample,
    their errors are nearly uncorrelated, and the error of the committee is about e_av / n_members. In
    practice there is one sample, from which each member gets a bootstrap sample. Then the errors are highly
    correlated, and averaging helps less.

    Parameters
    ----------
    degree : int, default=5
    n_members : int, default=100
    n_rows : int, default=25
        The number of rows of a sample, evenly spaced from 0 to 1.
    noise : float, default=0.3
        The standard deviation of the noise.
    samples : {"independent", "bootstrap"}, default="independent"
        Whether every member gets its own sample, or a bootstrap sample of the same sample.
    random_state : int, Generator or None, default=None

    Returns
    -------
    PolynomialCommittee
        With the values of the `members`, `bias`, `variance` and `errors`.

    References
    ----------
    C. M. Bishop, "Pattern recognition and machine learning", sections 3.2 and 14.2. Springer 2006.

    Examples
    --------
    >>> for samples in ("independent", "bootstrap"):
    ...     errors = polynomial_committee(samples=samples, random_state=0).errors
    ...     print(f"{errors.e_av:.4f} {errors.e_com:.4f} {errors.limit:.4f} {errors.correlation:.2f}")
    0.0191 0.0002 0.0002 -0.01
    0.1018 0.0287 0.0010 0.58
    """
    if not is_integer(degree) or not is_integer(n_rows) or not 0 <= degree < n_rows:
        raise ValueError(
            f"degree must be an integer from 0 to n_rows - 1. Got degree={degree!r} and n_rows={n_rows!r}."
        )
    if not is_integer(n_members) or n_members < 2:
        raise ValueError(f"n_members must be an integer >= 2. Got {n_members!r}.")
    if not is_number(noise) or noise < 0:
        raise ValueError(f"noise must be a number >= 0. Got {noise!r}.")
    if samples not in SAMPLES:
        raise ValueError(f'samples must be "independent" or "bootstrap". Got {samples!r}.')
    rng = np.random.default_rng(random_state)
    rows, x = np.linspace(0, 1, n_rows), np.linspace(0, 1, N_POINTS)
    one_sample = sine(rows) + rng.normal(0, noise, n_rows)
    members = []
    for _ in range(n_members):
        if samples == "bootstrap":
            drawn = rng.integers(n_rows, size=n_rows)
            members.append(fitted(rows[drawn], one_sample[drawn], degree)(x))
        else:
            members.append(fitted(rows, sine(rows) + rng.normal(0, noise, n_rows), degree)(x))
    votes, target = np.array(members), sine(x)
    bias = float(np.square(votes.mean(axis=0) - target).mean())
    return PolynomialCommittee(
        x, target, votes, bias, float(votes.var(axis=0).mean()), decompose(votes, target)
    )


def sine(x: np.ndarray) -> np.ndarray:
    """Return the function that the polynomials estimate."""
    return np.asarray(np.sin(2 * np.pi * x))


def fitted(x: np.ndarray, y: np.ndarray, degree: int) -> np.polynomial.Polynomial:
    """Fit a polynomial by least squares."""
    return np.polynomial.Polynomial.fit(x, y, min(degree, len(np.unique(x)) - 1), domain=[0, 1])
