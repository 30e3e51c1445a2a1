"""The file of a model contains the target and the other settings of `committee.fit`."""

import pytest

import committee
from committee.saving import DamagedFile, Origin, origin_of
from committee.saving.format.container import read_container, write_container

ORIGIN = Origin(
    "y",
    ("id", "note"),
    ",",
    {"cost": "$#"},
    ("unknown",),
    ("age",),
    {"age": (18.0, 90.5), "cost": (-1.0, 0.0)},
    "patient",
    "weight",
)


@pytest.fixture
def path(tmp_path):
    tree = committee.DecisionTreeClassifier().fit([[1], [2], [8], [9]], [0, 0, 1, 1])
    tree._origin = ORIGIN
    tree.save(tmp_path / "tree.committee")
    return tmp_path / "tree.committee"


def test_the_origin_of_a_model_is_saved(path):
    assert committee.load(path)._origin == ORIGIN
    assert committee.verify(path).origin == ORIGIN
    assert origin_of(path) == ORIGIN


@pytest.mark.parametrize(
    ("separators", "separator"),
    [
        ({}, None),
        ({"price": ","}, ","),
        ({"price": ",", "size": ","}, ","),
        ({"price": ",", "size": "."}, None),
    ],
)
def test_equal_decimal_separators_of_columns_in_an_older_origin_are_that_of_the_file(
    path, separators, separator
):
    description, arrays = read_container(path)
    for decimals in ({"decimals": separators}, {}) if separator is None else ({"decimals": separators},):
        origin = {"target": "y", "left_out": ["id"], **decimals}
        write_container(path, description | {"origin": origin}, arrays)
        assert committee.load(path)._origin == Origin("y", ("id",), separator)


def test_a_model_without_an_origin_is_saved_without_one(tmp_path):
    tree = committee.DecisionTreeClassifier().fit([[1], [2]], [0, 1])
    tree.save(tmp_path / "tree.committee")
    assert committee.load(tmp_path / "tree.committee")._origin is None
    assert committee.verify(tmp_path / "tree.committee").origin is None


@pytest.mark.parametrize(
    "wrong",
    [
        "y",
        [],
        {"target": "y"},
        {"target": 1, "left_out": []},
        {"target": "y", "left_out": [1]},
        {"target": "y", "left_out": [], "decimals": {"price": "'"}},
        {"target": "y", "left_out": [], "decimals": [","]},
        {"target": "y", "left_out": [], "decimal": ";"},
        {"target": "y", "left_out": [], "formats": {"cost": 1}},
        {"target": "y", "left_out": [], "missing": [None]},
        {"target": "y", "left_out": [], "coerced": "age"},
        {"target": "y", "left_out": [], "ranges": {"age": [1]}},
        {"target": "y", "left_out": [], "ranges": {"age": [1, "9"]}},
    ],
)
def test_an_invalid_origin_is_refused(path, wrong):
    description, arrays = read_container(path)
    write_container(path, description | {"origin": wrong}, arrays)
    for read in (committee.load, committee.verify):
        with pytest.raises(DamagedFile, match="origin"):
            read(path)
