"""Test the search for neighbours against scikit-learn, and against all distances if there are ties."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.neighbors import NearestNeighbors

from committee.rules import DynamicRule
from committee.table import nearest_rows
from committee.table.nearest_rows import Nearest


def some_points(n_points, n_columns, seed):
    """Draw points with a large variance along a few directions and a small one along all others."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_points, 3)) @ rng.normal(size=(3, n_columns)) + 0.3 * rng.normal(
        size=(n_points, n_columns)
    )


def by_all_distances(known, asked, n_neighbours):
    """Return the rows of the nearest points, sorted by distance and then by row."""
    squares = np.square(asked[:, None, :] - known[None, :, :]).sum(axis=2)
    rows = np.lexsort((np.broadcast_to(np.arange(len(known)), squares.shape), squares), axis=1)
    return rows[:, :n_neighbours]


@pytest.mark.parametrize("n_columns", [1, 2, 7, 8, 9, 30, 600])
@pytest.mark.parametrize("n_known", [9, 16, 500])
def test_neighbours_agree_with_scikit_learn(n_columns, n_known):
    known, asked = some_points(n_known, n_columns, 1), some_points(80, n_columns, 2)
    expected = NearestNeighbors(n_neighbors=7, algorithm="brute").fit(known).kneighbors(asked)
    distances, rows = Nearest(known).find(asked, 7)
    np.testing.assert_array_equal(rows, expected[1])
    np.testing.assert_allclose(distances, expected[0], rtol=1e-6)


def test_neighbours_of_known_points_agree_with_scikit_learn():
    known = some_points(300, 5, 3)
    expected = NearestNeighbors(n_neighbors=4).fit(known).kneighbors(return_distance=False)
    np.testing.assert_array_equal(Nearest(known).find_others(4)[1], expected)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 1000),
    n_known=st.integers(1, 60),
    n_columns=st.integers(1, 12),
    n_values=st.integers(1, 4),
)
def test_of_equally_near_points_the_lower_row_comes_first(seed, n_known, n_columns, n_values):
    rng = np.random.default_rng(seed)
    known = rng.integers(0, n_values, size=(n_known, n_columns)).astype(float)
    asked = rng.integers(0, n_values, size=(20, n_columns)).astype(float)
    n_neighbours = rng.integers(1, n_known + 1)
    distances, rows = Nearest(known).find(asked, n_neighbours)
    np.testing.assert_array_equal(rows, by_all_distances(known, asked, n_neighbours))
    np.testing.assert_array_equal(distances, np.linalg.norm(asked[:, None] - known[rows], axis=2))


def test_a_point_is_not_its_own_neighbour_even_among_equal_points():
    _, rows = Nearest(np.zeros((5, 2))).find_others(4)
    assert rows.tolist() == [[other for other in range(5) if other != row] for row in range(5)]


@pytest.mark.parametrize("unit", [1e-100, 1e-30, 1e30, 1e100])
def test_neighbours_do_not_depend_on_the_unit(unit):
    known, asked = some_points(200, 4, 4), some_points(30, 4, 5)
    plain = Nearest(known).find(asked, 3)[1]
    np.testing.assert_array_equal(Nearest(known * unit).find(asked * unit, 3)[1], plain)


def test_a_large_offset_does_not_change_neighbours():
    known, asked = some_points(200, 4, 4), some_points(30, 4, 5)
    known, asked = known + 2.0**30, asked + 2.0**30
    np.testing.assert_array_equal(Nearest(known).find(asked, 3)[1], by_all_distances(known, asked, 3))


def test_the_number_of_threads_does_not_change_neighbours(monkeypatch):
    known, asked = some_points(2000, 6, 6), some_points(1500, 6, 7)
    expected = Nearest(known).find(asked, 5)
    for count in (1, 2, 5):
        monkeypatch.setattr(nearest_rows, "n_threads", lambda _, count=count: count)
        np.testing.assert_array_equal(Nearest(known).find(asked, 5), expected)


def test_a_pickled_rule_finds_the_same_neighbours():
    known = some_points(60, 3, 8)
    votes = np.random.default_rng(0).dirichlet([1, 1, 1], size=(4, 60))
    rule = DynamicRule().fit(votes, np.arange(60) % 3, known)
    again = pickle.loads(pickle.dumps(rule))
    np.testing.assert_array_equal(again.combine(votes, known), rule.combine(votes, known))
