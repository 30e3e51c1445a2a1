"""Results have pictures, frames and HTML tables with their numbers."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from chart_data import parts_of, title_of, values_of, words_of

from committee import (
    DecisionTreeClassifier,
    decompose,
    error_curve,
    kappa_error,
    margins,
    pictures,
    score_interval,
)
from committee.assembling import Leaderboard, Standing
from committee.evaluating import Comparison, bagging_errors, no_free_lunch, polynomial_committee
from committee.reporting import save_picture

RNG = np.random.default_rng(0)
Y = RNG.integers(2, size=60)
LABELS = np.where(RNG.random((5, 60)) < 0.7, Y, 1 - Y)
T = RNG.normal(size=60)
NUMBERS = T + RNG.normal(size=(4, 60))
BOARD = Leaderboard(
    [
        Standing("committee", "mean", -0.4, low=-0.5, high=-0.3),
        Standing("member", "tree", -0.8, weight=0.5),
        Standing("baseline", "class_shares", -1.1),
    ],
    "neg_log_loss",
    60,
)
ERRORS = [[0.1, 0.2, 0.4], [0.3, 0.3, 0.5], [0.2, 0.1, 0.3]]
RESULTS = {
    "decomposition": decompose(NUMBERS, T),
    "leaderboard": BOARD,
    "comparison": Comparison.of(ERRORS, ["forest", "booster", "stump"], ["a", "b", "c"], metric="error"),
    "kappa_error": kappa_error(LABELS, Y),
    "error_curve": error_curve(LABELS, Y, random_state=0),
    "margins": margins(LABELS, Y),
    "interval": score_interval(Y, LABELS[0], random_state=0),
    "bagging_errors": bagging_errors(n_estimators=5, n_test_rows=50, random_state=0),
    "polynomial_committee": polynomial_committee(n_members=4, random_state=0),
    "no_free_lunch": no_free_lunch({"tree": DecisionTreeClassifier()}, n_columns=2, n_training_rows=2),
}


@pytest.mark.parametrize("result", RESULTS.values(), ids=RESULTS)
def test_every_result_has_a_picture_a_frame_and_a_table(result):
    assert result.plot().to_dict()["config"]["background"] == "white"
    table, other = result.to_frame("pandas"), result.to_frame("polars")
    assert isinstance(table, pd.DataFrame)
    assert isinstance(other, pl.DataFrame)
    assert table.columns.tolist() == other.columns
    assert len(other.columns) == len(set(other.columns)) > 0


def test_notebooks_show_what_is_printed():
    page = BOARD._repr_html_()
    assert page.startswith("<table><caption>Leaderboard</caption>")
    for line in repr(BOARD).splitlines()[1:]:
        assert f"<td>{line.split('  ')[0]}</td>" in page
    assert "-0.8" not in page
    compared = RESULTS["comparison"]
    assert "<tr><td>forest</td><td>1.500</td><td>0.2</td></tr>" in compared._repr_html_()
    assert "<tr><td>" not in Comparison.of(np.empty((0, 2)), ["a", "b"])._repr_html_()
    assert "<th>kappa</th>" in RESULTS["kappa_error"]._repr_html_()


def test_frames_have_the_numbers_of_the_results():
    np.testing.assert_array_equal(RESULTS["kappa_error"].to_frame()["kappa"], RESULTS["kappa_error"].kappa)
    np.testing.assert_array_equal(RESULTS["margins"].to_frame()["values"], margins(LABELS, Y))
    assert RESULTS["comparison"].to_frame()["stump"].tolist() == [0.4, 0.5, 0.3]
    assert BOARD.to_frame("polars")["name"].to_list() == ["mean", "tree", "class_shares"]
    one = RESULTS["decomposition"].to_frame("polars")
    assert one.height == 1
    assert one["e_av"][0] == RESULTS["decomposition"].e_av
    assert len(RESULTS["error_curve"].to_frame()) == 5


def test_curves_show_means_and_references():
    curve = RESULTS["error_curve"]
    chart = pictures.error_curves({"mean": curve}, references={"Bayes": 0.1})
    np.testing.assert_allclose([each["y"] for each in values_of(chart, "line")], curve.mean)
    assert values_of(chart, "rule") == [{"y": 0.1, "text": "Bayes"}]
    with pytest.raises(ValueError, match="must have the same metric"):
        pictures.error_curves({"a": curve, "b": error_curve(NUMBERS, T, random_state=0)})


def test_margins_are_drawn_as_their_cumulative_distribution():
    found = RESULTS["margins"]
    points = values_of(found.plot(), "line")
    at = {each["x"]: each["y"] for each in points}
    for value in np.unique(found.values):
        assert at[float(value)] == pytest.approx(np.mean(found.values <= value))


def test_a_kappa_error_diagram_has_a_point_for_each_pair():
    found = RESULTS["kappa_error"]
    points = values_of(found.plot(), "circle")
    np.testing.assert_array_equal([each["x"] for each in points], found.kappa)
    np.testing.assert_array_equal([each["y"] for each in points], found.error)


def test_bars_of_a_decomposition_end_at_its_errors():
    found = RESULTS["decomposition"]
    bars = {each["part"]: each for each in values_of(found.plot(), "bar")}
    assert bars["E_AV: members"]["high"] == found.e_av
    assert (bars["ambiguity"]["low"], bars["ambiguity"]["high"]) == (found.e_com, found.e_av)
    assert bars["E_COM: committee"]["high"] == found.e_com
    two = pictures.error_decomposition({"a": found, "b": found})
    assert {each["series"] for each in values_of(two, "bar")} == {"a", "b"}


def test_losses_of_a_leaderboard_are_positive():
    lines = values_of(BOARD.plot(), "circle")
    assert [each["value"] for each in lines] == [0.4, 0.8, 1.1]
    assert (lines[0]["low"], lines[0]["high"]) == (0.3, 0.5)
    assert title_of(BOARD.plot())[1] == "60 honest rows, with intervals of 95 %"


@pytest.mark.parametrize("form", ["svg", "png", "html"])
def test_pictures_are_written_without_a_network(tmp_path, form):
    place = save_picture(pictures.vote_table([[0, 1], [1, 1], [0, 1]], [0, 1]), tmp_path / f"votes.{form}")
    written = place.read_bytes()
    assert len(written) > 1000
    if form != "png":
        assert b"majority" in written
    if form == "html":
        assert b"cdn." not in written.replace(b"https://cdn.jsdelivr.net/npm/vega-datasets", b"")


def test_words_of_a_heat_map_have_no_overlap_with_its_names():
    assert "1.00" not in words_of(pictures.agreement(LABELS, Y))


def test_bagged_trees_have_two_curves_and_two_levels():
    found = RESULTS["bagging_errors"]
    drawn = values_of(found.plot(), "line")
    for name in ("consensus", "probability"):
        assert [each["y"] for each in drawn if each["series"] == name] == getattr(found, name).tolist()
    assert {each["y"] for each in values_of(found.plot(), "rule")} == {found.original, 0.2}
    assert {"original tree", "Bayes"} <= set(words_of(found.plot()))


def test_polynomials_are_drawn_with_their_mean_and_the_sine():
    found = RESULTS["polynomial_committee"]
    curves = [values for part, values in parts_of(found.plot()) if part["mark"]["type"] == "line"]
    expected = [*found.members, found.target, found.mean, found.target]
    for values, line in zip(curves, expected, strict=True):
        assert [each["y"] for each in values] == line.tolist()


def test_bars_count_the_target_functions_of_each_error():
    found = RESULTS["no_free_lunch"]
    drawn = values_of(found.plot(), "bar")
    assert sum(each["functions"] for each in drawn) == 16
    assert {each["error"]: each["functions"] for each in drawn} == {"0%": 4, "50%": 8, "100%": 4}
