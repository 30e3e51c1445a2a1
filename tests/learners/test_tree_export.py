"""Trees as text and as graphs."""

import datetime
import re

import numpy as np
import polars as pl
import pytest

from committee import C45Classifier, DecisionStumpClassifier, DecisionTreeClassifier
from committee.learners.tree_export import (
    TreeNode,
    any_of,
    format_number,
    threshold_conditions,
    to_graph,
    to_text,
)
from committee.table import Column, Kind


def leaf(condition, prediction="yes", weight=1.0, errors=0.0):
    return TreeNode(condition, prediction, weight, errors)


def split(condition, *children):
    return TreeNode(condition, "yes", 9.0, 4.0, children)


def test_text_indents_by_depth():
    root = split("", split("a <= 1", leaf("b = x"), leaf("b = y", "no", 3.25, 1.5)), leaf("a > 1", weight=5))
    assert to_text(root).splitlines() == [
        "a <= 1",
        "|   b = x: yes (1)",
        "|   b = y: no (3.25/1.5)",
        "a > 1: yes (5)",
    ]


def test_a_tree_of_one_leaf_is_its_prediction():
    assert to_text(leaf("", "no", 14, 5)) == ": no (14/5)"


def test_errors_by_rounding_are_not_written():
    assert to_text(leaf("", "no", 10.0, 1e-13)) == ": no (10)"


def test_graph_has_a_line_per_node_and_per_branch():
    lines = to_graph(split("", split("a <= 1", leaf("b = x"), leaf("b = y")), leaf("a > 1"))).splitlines()
    assert sum("->" in line for line in lines) == 4
    assert sum(line.endswith("style=rounded]") for line in lines) == 3
    assert '0 -> 1 [label="a <= 1"]' in lines
    assert '1 -> 3 [label="b = y"]' in lines
    assert '0 -> 4 [label="a > 1"]' in lines


def test_the_graph_escapes_special_characters_of_dot():
    graph = to_graph(split("", leaf('a = "\\N"\nb')))
    assert r'0 -> 1 [label="a = \"\\N\"\nb"]' in graph.splitlines()


def test_trees_deeper_than_the_stack_are_written():
    node = leaf("end")
    for _ in range(5000):
        node = split("on", node)
    assert to_text(node).count("\n") == 4999
    assert to_graph(node).count("->") == 5000


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.0, "0"),
        (-3.0, "-3"),
        (1e20, "1e+20"),
        (0.1 + 0.2, "0.3"),
        (np.float32(0.6), "0.6"),
        (np.inf, "inf"),
    ],
)
def test_numbers_are_short(number, text):
    assert format_number(number) == text


@pytest.mark.parametrize("values", [(100000.5, 100000.9), (20240101, 20240102), (1.0000001, 1.0000002)])
def test_written_thresholds_split_the_rows_exactly(values):
    for tree in (DecisionTreeClassifier(), C45Classifier(min_samples_leaf=1)):
        text = tree.fit(np.reshape(values, (2, 1)), [0, 1]).export_text()
        threshold = float(re.match(r"x0 <= (\S+): 0", text)[1])
        assert values[0] <= threshold < values[1]
        assert f"x0 > {threshold}" in text.replace("x0 > 20240101:", "x0 > 20240101.0:")


def test_thresholds_of_dates_are_dates():
    X = pl.DataFrame({"born": [datetime.date(2000, 6, 1), datetime.date(2000, 6, 2)]})
    text = DecisionTreeClassifier().fit(X, [0, 1]).export_text()
    assert text == "born <= 2000-06-01T12:00:00: 0 (1)\nborn > 2000-06-01T12:00:00: 1 (1)"
    X = pl.DataFrame({"lasts": [datetime.timedelta(hours=1), datetime.timedelta(days=2)]})
    assert "lasts <= 1 day, 0:30:00: 0" in DecisionTreeClassifier().fit(X, [0, 1]).export_text()
    assert threshold_conditions(Column("born", Kind.DATE), 1e300)[0] == "born <= 1e+300"


def test_conditions_name_the_column():
    age, city, smokes = (
        Column("age", Kind.NUMBER),
        Column("city", Kind.CATEGORY, ("Bonn", "Oslo")),
        Column("smokes", Kind.BOOLEAN),
    )
    assert threshold_conditions(age, 3) == ("age <= 3", "age > 3")
    assert threshold_conditions(smokes, 0) == ("smokes = False", "smokes = True")
    assert (any_of(city, ["Bonn"]), any_of(city, ["Bonn", "Oslo"])) == ("city = Bonn", "city in {Bonn, Oslo}")


@pytest.mark.parametrize(
    ("values", "y", "text"),
    [
        ([-np.inf, np.nan, 2.0], [0, 1, 1], "x0 <= -inf: 0 (1)\nx0 > -inf or missing: 1 (2)"),
        ([-np.inf, 1.0, 2.0], [0, 1, 1], "x0 <= -inf: 0 (1)\nx0 > -inf: 1 (2)"),
        ([np.nan, -np.inf, np.inf], [0, 1, 1], "x0 is missing: 0 (1)\nx0 is known: 1 (2)"),
    ],
)
def test_minus_infinity_is_not_missing(values, y, text):
    assert DecisionTreeClassifier().fit(np.reshape(values, (-1, 1)), y).export_text() == text


@pytest.mark.parametrize(
    ("tree", "y", "text"),
    [
        (DecisionStumpClassifier(), [0, 1, 2, 1], "x is missing: 2 (1)\nx = a: 0 (1)\nx = b: 1 (2)"),
        (DecisionTreeClassifier(), [1, 1, 2, 1], "x is missing: 2 (1)\nx is known: 1 (3)"),
    ],
)
def test_the_text_of_a_missing_category_is_missing(tree, y, text):
    assert tree.fit(pl.DataFrame({"x": ["a", "b", None, "b"]}), y).export_text() == text
