"""Test the content of charts and tables of comparisons, overlaps of names, and saved files."""

import itertools
import json
import sys
from dataclasses import replace

import numpy as np
import pytest
from demsar_table import AREAS, LEARNERS

from committee.charts.canvas import width_of
from committee.charts.style import ACCENT
from committee.evaluating import Comparison
from committee.reporting import (
    charts_of,
    comparison_matrix,
    critical_difference_diagram,
    p_value_table,
    pairwise_scatter,
    rank_boxes,
    rank_table,
    save_picture,
    score_table,
    time_against_error,
    time_against_rank,
    wins_table,
    write_report,
)
from committee.reporting.rank_charts import Diagram, levels_of
from committee.reporting.time_charts import labels_of, overlap


@pytest.fixture
def demsar():
    return Comparison.of(list(AREAS.values()), LEARNERS, AREAS, metric="auc", more_is_better=True)


@pytest.fixture
def ten():
    rng = np.random.default_rng(0)
    names = [f"learner_{place}" for place in range(10)]
    compared = Comparison.of(rng.normal(np.arange(10) / 9, 1, size=(40, 10)), names, metric="error")
    return replace(compared, fit_seconds=rng.lognormal(np.arange(10) / 3, size=(40, 10)))


def records(chart):
    """Return all records of a chart in one list."""
    spec = chart.to_dict()
    layers = [spec, *spec.get("layer", [])]
    return [each for layer in layers for each in layer.get("data", {}).get("values", [])] + [
        each for values in spec.get("datasets", {}).values() for each in values
    ]


def words(chart):
    return [each["text"] for each in records(chart) if "text" in each]


def test_the_diagram_shows_learners_ranks_and_the_critical_difference(demsar):
    found = words(critical_difference_diagram(demsar))
    assert set(LEARNERS) <= set(found)
    assert {"3.14", "2.00", "2.89", "1.96", "CD = 1.25"} <= set(found)


def test_the_diagram_of_pairs_has_no_critical_difference(demsar):
    found = words(critical_difference_diagram(demsar, test="wilcoxon_holm"))
    assert not any(text.startswith("CD") for text in found)


def test_names_in_the_diagram_do_not_overlap(ten):
    placed = [each for each in records(critical_difference_diagram(ten)) if "text" in each]
    names = [each for each in placed if each["text"].startswith("learner")]
    assert len({(each["x"], each["y"]) for each in names}) == 10
    for side in (min, max):
        heights = sorted(each["y"] for each in names if each["x"] == side(other["x"] for other in names))
        assert min(np.diff(heights)) >= 20


def test_a_clique_that_contradicts_the_ranks_is_a_broken_bar_with_dots():
    a = np.linspace(0.1, 0.4, 20)
    b = a + np.linspace(0.01, 0.02, 20)
    c = a + np.where(np.arange(20) % 4, 0.1, -0.5) * np.linspace(1, 1.2, 20)
    compared = Comparison.of(np.column_stack([a, b, c]), "abc")
    chart = critical_difference_diagram(compared, test="wilcoxon_holm")
    assert any("contradict the ranks" in text for text in words(chart))
    assert "strokeDash" in json.dumps(chart.to_dict())
    assert not any("contradict" in text for text in words(critical_difference_diagram(compared)))


def test_overlapping_bars_have_different_levels():
    spans = [(0, 10), (5, 15), (12, 20), (0, 30)]
    levels = levels_of(spans)
    for (first, level), (second, other) in itertools.combinations(zip(spans, levels, strict=True), 2):
        assert level != other or first[1] < second[0] or second[1] < first[0]


def test_bars_on_the_same_level_have_a_gap():
    assert levels_of([(0, 10), (20, 30), (24, 40)]) == [0, 1, 0]


@pytest.mark.parametrize("n_tables", [3, 4])
def test_the_bar_of_the_critical_difference_has_a_number_and_is_not_longer_than_the_axis(n_tables):
    compared = Comparison.of([[0.1, 0.2]] * n_tables, "ab")
    chart = critical_difference_diagram(compared)
    axis = [each for each in records(chart) if each.get("y") == each.get("y2") == 68]
    bar = [each for each in records(chart) if each.get("y") == each.get("y2") == 29]
    assert bar[0]["x2"] <= max(each["x2"] for each in axis)
    expected = "CD = 1.13, longer than the axis" if n_tables == 3 else "CD = 0.98"
    assert expected in words(chart)


def test_each_side_of_the_diagram_is_as_wide_as_its_names():
    long = "a learner with long name"
    first, second = (
        critical_difference_diagram(Comparison.of([[0.1, 0.2]] * 9, names)).to_dict()
        for names in ([long, "b"], [long, long.upper()])
    )
    assert second["width"] - first["width"] == pytest.approx(width_of(long) - width_of("b"))


def test_a_subtitle_without_a_title_becomes_the_title(demsar):
    assert "14 tables" in critical_difference_diagram(demsar).to_dict()["title"]["text"]
    assert "14 tables" in critical_difference_diagram(demsar, title="C4.5").to_dict()["title"]["subtitle"]


def test_labels_of_points_do_not_overlap():
    rng = np.random.default_rng(0)
    points = [(float(x), float(y)) for x, y in rng.uniform((120, 60), (480, 320), size=(10, 2))]
    names = [f"learner_{place}" for place in range(10)]
    boxes = []
    for (align, x, y), name in zip(labels_of(points, names), names, strict=True):
        start = x - {"left": 0, "center": width_of(name) / 2, "right": width_of(name)}[align]
        boxes.append((start, y - 8, start + width_of(name), y + 8))
    assert all(overlap(*pair) == 0 for pair in itertools.combinations(boxes, 2))


def test_the_scatter_counts_wins_and_has_a_point_for_each_table(demsar):
    chart = pairwise_scatter(demsar, "C4.5", "C4.5+m")
    assert {"C4.5 is better: 2", "C4.5+m is better: 10"} <= set(words(chart))
    assert sum("table" in each for each in records(chart)) == 14


def test_boxes_are_sorted_by_average_rank(demsar):
    spec = json.dumps(rank_boxes(demsar).to_dict())
    assert json.dumps(["C4.5+m+cf", "C4.5+m", "C4.5+cf", "C4.5"]) in spec


def test_the_matrix_shows_the_wins_and_p_value_of_each_pair(demsar):
    found = words(comparison_matrix(demsar))
    assert "2 / 2 / 10" in found and "10 / 2 / 2" in found
    assert sum(text.startswith("p ") for text in found) == 12


def test_charts_of_times_skip_learners_with_unknown_times(ten):
    seconds = ten.fit_seconds.copy()
    seconds[:, 3] = np.nan
    found = words(time_against_error(replace(ten, fit_seconds=seconds)))
    assert "learner_2" in found and "learner_3" not in found
    with pytest.raises(ValueError, match="The fit times of these learners are unknown"):
        time_against_error(replace(ten, fit_seconds=None))


def test_times_are_drawn_against_mean_scores_or_ranks(ten):
    assert "mean error (less is better)" in words(time_against_error(ten))
    assert "average rank by error (less is better)" in words(time_against_rank(ten))
    tooltips = [each["about"] for each in records(time_against_error(ten)) if each.get("about")]
    assert any(each.endswith(f"mean error {ten.scores[:, 2].mean():.4g}") for each in tooltips)


@pytest.mark.parametrize(("more_is_better", "n_unbeaten"), [(True, 3), (False, 1)])
def test_unbeaten_learners_depend_on_whether_more_is_better(more_is_better, n_unbeaten):
    compared = Comparison.of([[0.7, 0.8, 0.9]] * 2, "abc", metric="auc", more_is_better=more_is_better)
    layers = time_against_error(replace(compared, fit_seconds=np.array([[1.0, 2.0, 3.0]] * 2))).to_dict()
    dots = [each for each in layers["layer"] if each["mark"]["type"] == "point"]
    unbeaten = next(each for each in dots if each["mark"]["color"] == ACCENT)
    assert len(unbeaten["data"]["values"]) == n_unbeaten


def test_numbers_at_the_time_axis_do_not_overlap_over_many_powers_of_ten(ten):
    wide = replace(ten, fit_seconds=np.tile(np.logspace(-2, 4, 10), (40, 1)))
    floor = [each for each in records(time_against_error(wide)) if each.get("y") == 364 and "text" in each]
    places = sorted((each["x"], width_of(each["text"])) for each in floor)
    assert len(places) == 7
    assert all(b[0] - a[0] > (a[1] + b[1]) / 2 for a, b in itertools.pairwise(places))


@pytest.mark.parametrize(("form", "begin"), [("svg", b"<svg"), ("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_a_chart_is_saved_in_every_format(demsar, tmp_path, form, begin):
    path = save_picture(critical_difference_diagram(demsar, title="C4.5"), tmp_path / f"ranks.{form}")
    assert path.read_bytes().startswith(begin)


def test_an_interactive_page_works_offline(demsar, tmp_path):
    text = save_picture(rank_boxes(demsar), tmp_path / "boxes.html").read_text(encoding="utf-8")
    assert "vegaEmbed" in text and "<script src=" not in text


def test_an_unknown_format_raises(demsar, tmp_path):
    with pytest.raises(ValueError, match="can be saved as svg, png, pdf, html"):
        save_picture(rank_boxes(demsar), tmp_path / "ranks.bmp")


def test_a_notebook_shows_charts_without_vl_convert(demsar, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    chart = rank_boxes(demsar)
    assert "vegaEmbed" in chart._repr_mimebundle_()["text/html"]
    with pytest.raises(ImportError, match=r"needs vl-convert-python\. Install committee\[report\]"):
        save_picture(chart, tmp_path / "boxes.svg")
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(ImportError, match=r"need altair\. Install committee\[plot\]"):
        rank_boxes(demsar)


def test_tables_are_written_as_markdown_or_latex(demsar):
    assert score_table(demsar).splitlines()[-1] == "| average rank | 3.143 | 2.000 | 2.893 | 1.964 |"
    latex = score_table(demsar, "latex")
    assert latex.startswith(r"\begin{tabular}{lrrrr}") and latex.endswith(r"\end{tabular}")
    assert r"adult (sample) & 0.7630 & 0.7680 & 0.7710 & \textbf{0.7980} \\" in latex
    assert rank_table(demsar).splitlines()[2].startswith("| C4.5+m+cf | 1.964 |")
    assert "| C4.5 |  | 2 / 2 / 10 |" in wins_table(demsar)
    assert p_value_table(demsar.nemenyi(0.1)).count("**") == 8
    with pytest.raises(ValueError, match="form must be one of markdown, latex"):
        rank_table(demsar, "html")


def test_special_characters_of_latex_are_escaped():
    compared = Comparison.of([[0.1, 0.2]], ["a_b", "50%"], ["x&y"])
    assert r"x\&y & \textbf{0.1000} & 0.2000 \\" in score_table(compared, "latex")
    assert r"a\_b & 50\%" in score_table(compared, "latex")


def test_the_report_contains_all_charts_tables_and_a_page(demsar, tmp_path):
    report = write_report([demsar], tmp_path, formats=["svg"])
    assert all(path.exists() for path in report.files)
    page = report.page.read_text(encoding="utf-8")
    for name in charts_of(demsar):
        assert f"auc_{name}.svg" in page and (tmp_path / f"auc_{name}.svg").exists()
    assert "chi-square 9.28" in page and "= 3.69" in page
    assert (tmp_path / "auc.tex").read_text(encoding="utf-8").count(r"\begin{tabular}") == 4


def test_the_report_of_one_table_contains_no_comparison(tmp_path):
    report = write_report([Comparison.of([[0.1, 0.2]], "ab")], tmp_path, formats=["svg"])
    assert "Too few tables" in report.page.read_text(encoding="utf-8")


def test_many_learners_have_bars_for_the_best_few_only():
    rng = np.random.default_rng(0)
    names = [f"learner {i}" for i in range(18)]
    many = Comparison.of(rng.normal(size=(40, 18)) + np.linspace(0, 3, 18), names)
    few = many.only(names[:12])
    texts = [json.dumps(critical_difference_diagram(each).to_dict()) for each in (many, few)]
    assert ["bars of the best 5 only" in text for text in texts] == [True, False]
    assert len(texts[0]) < len(json.dumps(Diagram(many.mean_ranks, many.nemenyi()).chart("", "").to_dict()))
