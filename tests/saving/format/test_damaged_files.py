"""Files that are damaged or edited raise one clear error and never become an estimator."""

import json

import numpy as np
import pandas as pd
import pytest
from edited_files import change, read_parts, write_parts
from safetensors.numpy import save_file

import committee
from committee import (
    AdaBoostM1Classifier,
    C45Classifier,
    DecisionTreeClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from committee.saving import DamagedFile
from committee.saving.format.container import digest

READERS = (committee.load, committee.verify, committee.predictor)
FRAME = pd.DataFrame({"age": [31.0, 54.0, 23.0, 70.0] * 5, "city": ["Oslo", "Bonn", "Oslo", "Rome"] * 5})
CLASSES, NUMBERS = ["young", "old", "young", "old"] * 5, np.arange(20.0)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "model.committee"
    RandomForestClassifier(3, random_state=0, oob_score=True).fit(FRAME, CLASSES).save(path)
    return path


def assert_damaged(path, message, readers=READERS):
    for read in readers:
        with pytest.raises(DamagedFile, match=message) as caught:
            read(path)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "content", [b"", b"x", b"\0" * 8, b"\xff" * 100, b"PK\x03\x04" + b"\0" * 50, b"{}" * 99]
)
def test_a_file_of_another_format_raises(path, content):
    path.write_bytes(content)
    assert_damaged(path, r"is not a file of committee, or is cut off \(")


@pytest.mark.parametrize("share", [0.01, 0.3, 0.7, 0.999])
def test_a_file_that_is_cut_off_raises(path, share):
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    assert_damaged(path, r"is not a file of committee, or is cut off \(")


@pytest.mark.parametrize(
    "dtype, shape, size",
    [
        ("F64", [2**63, 0], 0),
        ("F64", [2**62, 4], 0),
        ("F64", [-1], 8),
        ("F64", [1] * 100, 8),
        ("F64", [2], 8),
        ("BF16", [1], 2),
        ("F8_E4M3", [1], 1),
        ("C64", [1], 8),
        ("pickle", [1], 8),
    ],
)
def test_arrays_of_hostile_shapes_and_types_raise(path, dtype, shape, size):
    metadata, _, _ = read_parts(path)
    array = {"dtype": dtype, "shape": shape, "data_offsets": [0, size]}
    header = json.dumps({"__metadata__": metadata, "x": array}).encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header + b"\1" * size)
    assert_damaged(
        path, r"is not a file of committee, or is cut off \(|holds the array 'x' of dtype complex64"
    )


def test_bytes_after_the_end_raise(path):
    path.write_bytes(path.read_bytes() + b"\0")
    assert_damaged(path, r"is not a file of committee, or is cut off \(")


def test_a_file_of_another_library_raises(path):
    save_file({"weights": np.zeros(3)}, path)
    assert_damaged(path, "is a safetensors file that committee did not write")
    save_file({"weights": np.zeros(3)}, path, metadata={"format": "pt"})
    assert_damaged(path, "is a safetensors file that committee did not write")


def test_a_changed_bit_raises(path):
    content = bytearray(path.read_bytes())
    content[-20] ^= 4
    path.write_bytes(content)
    assert_damaged(path, "was changed: its checksum does not match")


def test_an_edited_description_raises(path):
    content = path.read_bytes()
    assert content.count(b"young") == 1
    path.write_bytes(content.replace(b"young", b"angry"))
    assert_damaged(path, "was changed: its checksum does not match")


@pytest.mark.parametrize("version, message", [("3", "format version 3, .* up to 2"), ("one", "no format")])
def test_a_later_or_invalid_version_raises(path, version, message):
    metadata, description, arrays = read_parts(path)
    write_parts(path, metadata | {"format_version": version}, description, arrays)
    assert_damaged(path, message)


@pytest.mark.parametrize(
    "text, message",
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("[1]", "not an object"),
        ('{"model": NaN}', "NaN"),
        ('{"model": 1, "model": 2}', "twice"),
        ("[" * 100_000, "too deep"),
        ('{"a":' * 100_000, "too deep"),
        ("9" * 5000, "not JSON"),
        ('{"model": null}', "does not have exactly"),
    ],
)
def test_an_invalid_description_raises(path, text, message):
    metadata, _, arrays = read_parts(path)
    write_parts(path, metadata, text, arrays)
    assert_damaged(path, message)


@pytest.mark.parametrize(
    "written, message",
    [
        (None, "no (estimator|model)"),
        ([], "no (estimator|model)"),
        ({"estimator": "os.system", "parameters": {}, "fitted": None}, r"there is no estimator 'os.system'"),
        ({"estimator": 3, "parameters": {}, "fitted": None}, "there is no estimator 3"),
        ({"estimator": "committee.load", "parameters": {}, "fitted": None}, "no estimator 'committee.load'"),
        ({"estimator": "sklearn.base.clone", "parameters": {}, "fitted": None}, "no estimator 'sklearn.base"),
        ({"pickle": "gASV"}, "no tag 'pickle'"),
        ({"tuple": 3}, "not a list"),
        ({"array": "nowhere"}, "there is no array 'nowhere'"),
        ({"array": ["x"]}, "there is no array"),
        ({"float": "1e999"}, "is not a float"),
        ({"dict": [[1, 2], [1, 3]]}, "the same key twice"),
        ({"dict": [[[1], 2]]}, "a key that is not hashable"),
        ({"strings": {"dtype": "<U99999999", "shape": [1], "values": ["a"]}}, "narrower"),
        ({"strings": {"dtype": "<U1", "shape": [2**40], "values": ["a"]}}, "shape"),
        ({"objects": {"shape": [-1], "values": []}}, "shape"),
        ({"dtype": "O,O"}, "not a dtype"),
        ({"scalar": ["<i2", 2**40]}, "not of dtype"),
        ({"type": "os.system"}, "is not a type"),
        ({"slice": [1]}, "not a slice"),
        ({"date": "yesterday"}, "is not a date"),
        ({"schema": {"columns": [], "named": True}}, "no columns"),
        ({"schema": {"columns": [["a", "number", [1]]], "named": True}}, "has categories but another kind"),
        ({"schema": {"columns": [["a", "category", [1, 1]]], "named": True}}, "the same category twice"),
        ({"classification": [1, 2]}, "no classes"),
        ({"forest": {}}, "This is not a forest"),
        ({"packed_forest": "nowhere"}, "there is no array 'nowhere'"),
        ({"c45_tree": {}}, "C4.5 tree"),
    ],
)
def test_an_invalid_model_raises(path, written, message):
    metadata, description, _ = read_parts(path)
    write_parts(path, metadata, description | {"model": written}, {})
    for read in (committee.load, committee.verify):
        with pytest.raises(DamagedFile, match=message):
            read(path)
    with pytest.raises(ValueError, match=f"{message}|is not an estimator"):
        committee.predictor(path)


def test_values_that_are_too_deep_raise(path):
    metadata, description, arrays = read_parts(path)
    deep = 1
    for _ in range(200):
        deep = [deep]
    write_parts(path, metadata, description | {"model": deep}, arrays)
    assert_damaged(path, "more than 64 levels deep")


def set_parameter(name, value):
    return lambda description, arrays: description["model"]["parameters"].update({name: value})


def set_fitted(name, value):
    return lambda description, arrays: description["model"]["fitted"].update({name: value})


def drop_fitted(name):
    return lambda description, arrays: description["model"]["fitted"].pop(name)


def set_array(name, array):
    return lambda description, arrays: arrays.update({name: array})


@pytest.mark.parametrize(
    "edit, message",
    [
        (set_parameter("max_depth", 0), "max_depth must be an integer >= 1"),
        (set_parameter("max_depth", {"tuple": []}), "max_depth must be an integer >= 1"),
        (set_parameter("__class__", 1), r"has no parameters \['__class__'\]"),
        (set_fitted("_rule", "mean"), r"unknown fields \['_rule'\]"),
        (drop_fitted("importances"), "importances is missing"),
        (set_fitted("seed", -1), "seed is -1"),
        (set_fitted("seed", True), "seed is a bool and not a int"),
        (set_fitted("importances", None), "importances is a NoneType"),
        (set_fitted("task", {"regression": {}}), "task is a Regression"),
        (set_array("importances", np.zeros((2, 2))), r"importances is of shape \(2, 2\)"),
        (set_array("importances", np.full((3, 2), np.nan)), "not a finite number"),
        (set_array("importances", np.zeros((3, 2), dtype=np.float32)), "importances is of dtype float32"),
        (set_array("out_of_bag__sums", np.zeros((20, 3))), r"out_of_bag__sums is of shape \(20, 3\)"),
        (set_array("has_missing", np.zeros(3, dtype=bool)), r"has_missing is of shape \(3,\)"),
        (set_array("more", np.zeros(3)), r"No value uses the arrays \['more'\]"),
    ],
)
def test_invalid_parameters_and_fitted_values_of_a_forest_raise(path, edit, message):
    def edit_without_old_array(description, arrays):
        edit(description, arrays)
        model = description["model"]["fitted"]
        if model.get("importances", {}) in (None, {}):
            arrays.pop("importances", None)

    change(path, edit_without_old_array)
    assert_damaged(path, message, [committee.load])


def swap_task(description, arrays):
    description["model"]["fitted"]["task"] = {
        "classification": {"strings": {"dtype": "<U1", "shape": [3], "values": ["a", "b", "c"]}}
    }


def drop_column(description, arrays):
    description["model"]["fitted"]["schema"]["schema"]["columns"].pop()
    arrays["has_missing"] = arrays["has_missing"][:1]
    arrays["importances"] = np.ascontiguousarray(arrays["importances"][:, :1])


def add_category(description, arrays):
    description["model"]["fitted"]["schema"]["schema"]["columns"][1][2].append("Paris")


@pytest.mark.parametrize(
    "edit, message",
    [
        (swap_task, "The trees have another task"),
        (drop_column, "columns that are not those of the schema"),
        (add_category, "columns that are not those of the schema"),
        (set_array("forest", np.zeros(5, dtype=np.uint8)), "This is not a forest"),
        (set_array("forest", np.zeros(5)), "not a list of bytes"),
        (set_array("forest", np.zeros((5, 1), dtype=np.uint8)), "not a list of bytes"),
    ],
)
def test_trees_that_do_not_fit_the_schema_and_the_task_raise(path, edit, message):
    change(path, edit)
    fails_early = "not a" in message
    assert_damaged(path, message, READERS if fails_early else (committee.load,))
    if not fails_early:
        with pytest.raises(DamagedFile):
            committee.predictor(path)


def test_rows_of_leaves_out_of_range_raise(path):
    RandomForestRegressor(2, random_state=0, keep_leaf_rows=True).fit(FRAME, NUMBERS).save(path)
    change(path, lambda description, arrays: arrays["leaf_rows__0__1"].__iadd__(np.uint32(1000)))
    assert_damaged(path, ".", [committee.load])


def test_boosters_and_c45_trees_with_inconsistent_values_raise(path):
    GradientBoostingRegressor(4, random_state=0).fit(FRAME, NUMBERS).save(path)
    change(path, set_fitted("n_rounds", 3))
    assert_damaged(path, "the rounds have different numbers of trees", [committee.load])
    AdaBoostM1Classifier().fit(FRAME, CLASSES).save(path)
    change(path, set_fitted("weighing", {"tuple": [True, "softmax_of_shares", 1.0]}))
    assert_damaged(path, "combined in another way", [committee.load])
    C45Classifier().fit(FRAME, CLASSES).save(path)
    change(path, swap_task)
    assert_damaged(path, "predicts other classes", [committee.load, committee.predictor])


def test_invalid_booleans_raise(path):
    DecisionTreeClassifier().fit(FRAME, CLASSES).save(path)
    metadata, _, arrays = read_parts(path)
    arrays["has_missing"] = np.array([0, 7], dtype=np.uint8).view(bool)
    metadata["sha256"] = digest(metadata["description"], arrays)
    save_file(arrays, path, metadata=metadata)
    assert_damaged(path, "booleans that are neither true nor false")


def test_a_parameter_that_is_not_in_the_file_has_its_default(path):
    change(path, lambda description, arrays: description["model"]["parameters"].pop("oob_importances"))
    assert committee.load(path).oob_importances is False


def test_the_description_is_readable_json(path):
    metadata, description, _ = read_parts(path)
    assert json.loads(metadata["description"]) == description
    assert description["model"]["estimator"] == "committee.RandomForestClassifier"
    assert description["model"]["parameters"]["n_estimators"] == 3


def test_members_that_are_not_of_the_estimator_raise(path):
    AdaBoostM1Classifier().fit(FRAME, CLASSES).save(path)
    for written, message in (
        ("x", "the estimator is not a member"),
        ({"estimator": "committee.DecisionTreeRegressor", "parameters": {}, "fitted": None}, "another task"),
        ({"estimator": "committee.C45Classifier", "parameters": {}, "fitted": None}, "not of the estimator"),
    ):
        change(path, set_fitted("estimator", written))
        assert_damaged(path, message, [committee.load])


def test_boosted_trees_are_not_accepted_as_a_forest(path):
    GradientBoostingRegressor(3, random_state=0).fit(FRAME, NUMBERS).save(path)
    _, description, arrays = read_parts(path)
    boosted = description["model"]["fitted"]["forest"], arrays
    RandomForestRegressor(3, random_state=0).fit(FRAME, NUMBERS).save(path)

    def swap(description, arrays):
        description["model"]["fitted"]["forest"] = boosted[0]
        arrays["forest"] = boosted[1]["forest"]

    change(path, swap)
    assert_damaged(path, "the trees do not vote", [committee.load, committee.predictor])
