"""Pictures of votes show the numbers of their formulas."""

import numpy as np
import pytest
from chart_data import title_of, values_of, words_of
from scipy.stats import binom

from committee import pictures

TRUTH = ["sun", "sun", "rain", "sun", "rain", "rain", "sun"]
WRONG_DAYS = [(0, 3), (1, 4), (2, 5), (3, 6), (0, 5)]


def forecasts():
    other = {"sun": "rain", "rain": "sun"}
    return [[other[day] if at in wrong else day for at, day in enumerate(TRUTH)] for wrong in WRONG_DAYS]


def test_shares_of_heads_are_running_means_of_zeros_and_ones():
    values = values_of(pictures.coin_tosses(200, p=0.7, n_series=3, random_state=1), "line")
    for name in ("series 1", "series 2", "series 3"):
        line = [(each["x"], each["x"] * each["y"]) for each in values if each["series"] == name]
        assert [n for n, _ in line] == list(range(1, 201))
        heads = np.array([total for _, total in line])
        steps = np.diff(heads, prepend=0.0)
        assert np.allclose(steps * (1 - steps), 0.0, atol=1e-9)
        assert 0.55 < heads[-1] / 200 < 0.85


def test_the_same_seed_gives_the_same_tosses():
    first, again, other = (pictures.coin_tosses(50, random_state=seed).to_dict() for seed in (0, 0, 1))
    assert first == again
    assert first != other


def test_the_accuracy_of_a_majority_is_the_tail_of_the_binomial_distribution():
    chart = pictures.majority_accuracy(0.6, 51, correlations=[0.0, 0.2])
    line = {each["x"]: each["y"] for each in values_of(chart, "line") if each["series"] == "0"}
    assert line.keys() == set(range(1, 52, 2))
    for n, accuracy in line.items():
        assert accuracy == pytest.approx(binom.sf(n // 2, n, 0.6), abs=1e-12)
    assert "0.9265" in title_of(chart)[1]
    correlated = [each["y"] for each in values_of(chart, "line") if each["series"] == "0.2"]
    assert max(correlated) < 0.7


def test_a_table_of_votes_marks_errors_and_shows_the_majority():
    chart = pictures.vote_table(forecasts(), TRUTH)
    words = words_of(chart)
    assert sum(word.endswith(" ×") for word in words) == 10
    assert words.count("71%") == 5
    assert words.count("100%") == 1
    assert title_of(chart)[0] == "The majority is right on 100% of the rows, its members on 71%"
    about = [each["about"] for each in values_of(chart, "rect")]
    assert "member 1, row 1: rain, wrong" in about
    assert "majority, row 1: sun" in about


def test_a_probability_outside_of_0_and_1_is_an_error():
    with pytest.raises(ValueError, match=r"p must be a number from 0 to 1\. Got 51\."):
        pictures.coin_tosses(10, p=51)
