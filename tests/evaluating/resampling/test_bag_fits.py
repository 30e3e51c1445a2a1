"""Test bootstrap variances: the formula of the lecture notes, drawn rows, containers and runners."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from committee import bootstrap_variance
from committee.evaluating.resampling.confidence_intervals import Draws
from committee.running import receiving, runner

rng = np.random.default_rng(0)
ROWS = rng.exponential(size=30)
TABLE = rng.normal(size=(30, 3))


def spread(rows):
    return rows.max() - rows.min()


def test_the_variance_follows_the_formula_of_the_lecture_notes():
    draws = Draws.of(np.ones(30), 5)
    drawn = [spread(ROWS[draws.rows(number)]) for number in range(40)]
    mean = sum(drawn) / 40
    expected = sum((each - mean) ** 2 for each in drawn) / (40 - 1)
    assert bootstrap_variance(spread, ROWS, 40, random_state=5) == pytest.approx(expected)


def test_the_variance_of_a_mean_is_the_variance_of_rows_divided_by_their_number():
    assert bootstrap_variance(np.mean, ROWS, 2000, random_state=0) == pytest.approx(ROWS.var() / 30, rel=0.1)


@settings(max_examples=20)
@given(st.integers(2, 60))
def test_the_share_of_distinct_rows_in_a_bootstrap_sample_equals_the_theoretical_one(n):
    draws = Draws.of(np.ones(n), 0)
    shares = [len(np.unique(draws.rows(number))) / n for number in range(100)]
    expected = 1 - (1 - 1 / n) ** n
    assert np.mean(shares) == pytest.approx(expected, abs=5 * np.std(shares) / 10 + 1e-9)


def test_a_bootstrap_sample_of_a_large_table_contains_63_percent_of_the_rows():
    shares = [len(np.unique(Draws.of(np.ones(50_000), seed).rows(0))) / 50_000 for seed in range(3)]
    np.testing.assert_allclose(shares, 0.632, atol=0.005)


def test_a_statistic_may_be_an_array():
    found = bootstrap_variance(lambda rows: rows.mean(axis=0), TABLE, 50, random_state=1)
    expected = [bootstrap_variance(np.mean, column, 50, random_state=1) for column in TABLE.T]
    np.testing.assert_allclose(found, expected)


def test_rows_of_several_tables_are_drawn_together():
    def slope(x, y):
        return np.polyfit(x, y, 1)[0]

    x, y = TABLE[:, 0], 3 * TABLE[:, 0] + 0.1 * TABLE[:, 1]
    # If rows of x and y were drawn separately, the slopes would be near 0.
    assert bootstrap_variance(slope, (x, y), 200, random_state=0) < 0.01


def test_the_variance_does_not_depend_on_the_container():
    expected = bootstrap_variance(np.mean, ROWS, 20, random_state=2)
    # The index of a series must not be used as positions.
    series = pd.Series(ROWS, index=np.arange(30)[::-1])
    for rows in (ROWS.tolist(), series, pl.Series(ROWS)):
        assert bootstrap_variance(lambda part: part.mean(), rows, 20, random_state=2) == pytest.approx(
            expected
        )
    frames = (pd.DataFrame({"x": ROWS}), pl.DataFrame({"x": ROWS}))
    for frame in frames:
        found = bootstrap_variance(lambda part: part["x"].mean(), frame, 20, random_state=2)
        assert found == pytest.approx(expected)
    matrix = sparse.csr_array(ROWS[:, None])
    assert bootstrap_variance(lambda part: part.mean(), matrix, 20, random_state=2) == pytest.approx(expected)


def test_the_variance_does_not_depend_on_the_runner_and_the_number_of_jobs():
    expected = bootstrap_variance(np.ptp, ROWS, 40, random_state=3, runner="serial")
    for options in ({"n_jobs": 1}, {"n_jobs": 2}, {"runner": "processes", "n_jobs": 2}):
        assert bootstrap_variance(np.ptp, ROWS, 40, random_state=3, **options) == expected
    with runner("threads", 2) as run:
        assert bootstrap_variance(np.ptp, ROWS, 40, random_state=3, runner=run) == expected


def test_progress_is_reported():
    events = []
    with receiving(events.append):
        bootstrap_variance(np.mean, ROWS, 40, random_state=0, n_jobs=1)
    assert [(event.what, event.n_done, event.n_total) for event in events] == [
        ("draws", 0, 40),
        ("draws", 16, 40),
        ("draws", 32, 40),
        ("draws", 40, 40),
        ("draws", 40, 40),
    ]


def test_jackknife_samples_of_many_rows_leave_out_groups():
    draws = Draws.of(np.ones(2500), 0)
    assert draws.n_left_out == 1000
    left = [draws.jackknife_weights(number).sum() for number in range(1000)]
    assert set(left) == {2497, 2498}
    assert sum(2500 - n_rows for n_rows in left) == 2500


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("mean", ROWS), "statistic must be a function of rows"),
        ((np.mean, []), "X must have at least one row"),
        ((np.mean, (ROWS, ROWS[:3])), "The tables of X must have the same number of rows"),
        ((np.mean, ROWS, 1), "B must be an integer >= 2. Got 1"),
        ((lambda rows: "many", ROWS, 4), "statistic must be numbers"),
        ((lambda rows: np.nan, ROWS, 4), "statistic must return finite numbers"),
        ((lambda rows: np.unique(rows), ROWS, 4), "statistic must return arrays of the same shape"),
    ],
)
def test_invalid_input_raises_an_error(arguments, message):
    with pytest.raises(ValueError, match=message):
        bootstrap_variance(*arguments)
