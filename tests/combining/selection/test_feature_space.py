"""Test the standardisation of columns for searches of neighbours."""

import warnings

import numpy as np
import pytest

from committee.combining.selection.feature_space import Space
from committee.rules import DynamicRule, RegionRule

RNG = np.random.default_rng(0)
X, NEW = RNG.normal(size=(60, 2)), RNG.normal(size=(20, 2))
Y = RNG.integers(0, 2, 60)
VOTES, NEW_VOTES = RNG.dirichlet([1, 1], (3, 60)), RNG.dirichlet([1, 1], (3, 20))


def test_points_have_the_mean_0_and_the_standard_deviation_1():
    weights = RNG.integers(1, 4, 60).astype(float)
    points = Space.of(3 + 5 * X, weights).points(3 + 5 * X)
    np.testing.assert_allclose(np.average(points, axis=0, weights=weights), 0, atol=1e-12)
    np.testing.assert_allclose(np.average(points**2, axis=0, weights=weights), 1)


@pytest.mark.parametrize("power", [1000, 60, -60, -1000])
@pytest.mark.parametrize("rule", [DynamicRule(), RegionRule(n_regions=3, min_rows=2, random_state=0)])
def test_decisions_do_not_depend_on_the_scale_of_columns(rule, power):
    expected = rule.fit(VOTES, Y, X).combine(NEW_VOTES, NEW)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = rule.fit(VOTES, Y, np.ldexp(X, power))
        np.testing.assert_array_equal(fitted.combine(NEW_VOTES, np.ldexp(NEW, power)), expected)
