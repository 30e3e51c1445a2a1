"""Reading of y, decoding of votes, and weights of rows and classes."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from sklearn.exceptions import DataConversionWarning

from committee.task import (
    Classification,
    Regression,
    check_lengths,
    class_weights,
    guessed_task,
    row_weights,
)


@pytest.mark.parametrize(
    "y",
    [
        ["b", "a", "b"],
        np.array(["b", "a", "b"], dtype=object),
        pd.Series(["b", "a", "b"]),
        pd.Series(["b", "a", "b"], dtype="category"),
        pl.Series(["b", "a", "b"]),
        pl.Series(["b", "a", "b"], dtype=pl.Categorical),
        pa.chunked_array([["b", "a"], ["b"]]),
        pa.chunked_array([pa.array(["b", "a", "b"]).dictionary_encode()]),
    ],
)
def test_labels_of_text_become_codes_of_sorted_classes(y):
    task, codes = Classification.of(y)
    assert task.classes.tolist() == ["a", "b"] and task.n_outputs == 2
    assert codes.dtype == np.int32 and codes.tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        ([3, 1, 3], [1, 3]),
        ([1.0, -1.0, 1.0], [-1.0, 1.0]),
        ([True, False, True], [False, True]),
        (np.array([3, 1, 3], dtype=object), [1, 3]),
        (np.array([True, False, True], dtype=object), [False, True]),
        (pd.Series([3, 1, 3], dtype="Int64"), [1, 3]),
    ],
)
def test_labels_of_numbers_and_booleans_become_codes(y, classes):
    task, codes = Classification.of(y)
    assert task.classes.tolist() == classes and codes.tolist() == [1, 0, 1]


def test_one_class_is_a_classification():
    task, codes = Classification.of(["a", "a"])
    assert task.n_outputs == 1 and codes.tolist() == [0, 0]


def test_the_label_with_the_largest_vote_wins_and_ties_go_to_the_first():
    task, _ = Classification.of(["a", "b", "c"])
    assert task.decode(np.array([[0.1, 0.2, 0.7], [0.4, 0.4, 0.2]])).tolist() == ["c", "a"]


@pytest.mark.parametrize("read_y", [Classification.of, Regression.of])
def test_a_column_vector_is_read_with_the_warning_of_scikit_learn(read_y):
    with pytest.warns(
        DataConversionWarning, match="A column-vector y was passed when a 1d array was expected"
    ):
        _, values = read_y(np.array([[1], [0]]))
    assert values.tolist() == [1, 0]
    with pytest.warns(DataConversionWarning):
        read_y(pl.DataFrame({"y": [1, 0]}))


@pytest.mark.parametrize("read_y", [Classification.of, Regression.of])
@pytest.mark.parametrize("y", [np.zeros((3, 2)), pd.DataFrame({"a": [1], "b": [2]})])
def test_more_than_one_target_is_an_error(read_y, y):
    with pytest.raises(
        ValueError, match=r"y should be a 1d array, got an array of shape \(\d, 2\) instead. Fit one"
    ):
        read_y(y)


@pytest.mark.parametrize("read_y", [Classification.of, Regression.of])
def test_no_target_is_an_error(read_y):
    with pytest.raises(ValueError, match="requires y to be passed, but the target y is None"):
        read_y(None)


@pytest.mark.parametrize(
    "y",
    [
        [1.0, np.nan],
        ["a", None],
        ["a", np.nan],
        (float("nan"), "a", "b"),
        np.array(["a", np.nan], dtype=object),
        pd.Series([1, None], dtype="Int64"),
        pd.Series(["a", pd.NA], dtype="string"),
        pl.Series(["a", None]),
        pl.Series([1, None]),
        pa.chunked_array([pa.array(["a", None]).dictionary_encode()]),
    ],
)
def test_a_missing_label_is_an_error(y):
    with pytest.raises(ValueError, match=r"Input y contains NaN\. Drop the rows without a target\."):
        Classification.of(y)


@pytest.mark.parametrize(
    "y", [[1.0, np.nan], [1.0, None], pl.Series([1.0, None]), pd.Series([1, None], dtype="Int64")]
)
def test_a_missing_number_is_an_error(y):
    with pytest.raises(ValueError, match=r"Input y contains NaN\. Drop the rows without a target\."):
        Regression.of(y)


@pytest.mark.parametrize("read_y", [Classification.of, Regression.of])
def test_an_infinite_target_is_an_error(read_y):
    with pytest.raises(
        ValueError, match=r"Input y contains infinity or a value too large for dtype\('float64'\)\."
    ):
        read_y([1.0, np.inf])


def test_continuous_labels_are_an_error():
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        Classification.of([0.5, 1.5])


@pytest.mark.parametrize("y", [np.array(["a", 1], dtype=object), ["a", 1], [[1], ["a"]]], ids=repr)
@pytest.mark.filterwarnings("ignore:A column-vector")
def test_labels_of_mixed_types_are_an_error(y):
    with pytest.raises(
        ValueError, match=r"Unknown label type: y mixes int, str. Make all labels text, or all numbers."
    ):
        Classification.of(y)


@pytest.mark.parametrize(
    "y", [[1, 2], [True, False], np.array([1, 2], dtype=object), pl.Series([1, 2]), [1.0, 1e308]]
)
def test_numbers_of_any_type_are_a_target(y):
    task, values = Regression.of(y)
    assert values.dtype == np.float64 and values.tolist() == list(map(float, y))
    assert task.n_outputs == 1


def test_text_is_not_a_target_of_a_regression():
    with pytest.raises(
        ValueError, match=r"y must be numbers \(could not convert .*\)\. Convert it, or use a classifier"
    ):
        Regression.of(["a", "b"])


def test_complex_numbers_are_not_a_target():
    with pytest.raises(ValueError, match="Complex data not supported"):
        Regression.of([1j])


def test_the_vote_of_a_regression_is_its_decision():
    assert Regression().decode(np.array([[1.5], [2.5]])).tolist() == [1.5, 2.5]


def test_different_lengths_raise_the_error_of_scikit_learn():
    check_lengths(2, [1, 2])
    with pytest.raises(
        ValueError, match=r"Found input variables with inconsistent numbers of samples: \[3, 2\]"
    ):
        check_lengths(3, np.array([1, 2]))


def test_missing_weights_remain_none():
    assert row_weights(None, 3) is None


@pytest.mark.parametrize(
    "weights", [[1, 2], pd.Series([1, 2]), pl.Series([1, 2]), np.array([1, 2], dtype="f4")]
)
def test_weights_of_any_container_become_float64(weights):
    checked = row_weights(weights, 2)
    assert checked.dtype == np.float64 and checked.tolist() == [1.0, 2.0]


def test_a_single_weight_applies_to_every_row():
    assert row_weights(0.5, 2).tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 1, 1], r"sample_weight.shape == \(3,\), expected \(2,\)!"),
        ([[1], [1]], "Sample weights must be 1D array or scalar, got 2D array."),
        ([1, -2], "sample_weight must be >= 0. Got -2.0."),
        ([0, 0], "sample_weight sets the weight of every row to zero. Pass a weight > 0 for at least one."),
        ([1, "two"], r"sample_weight must be numbers \(could not .*'two'\)\. Convert them\."),
        (10**400, "sample_weight must be numbers"),
        ([1, np.nan], "sample_weight must be finite. Got nan."),
        ([1, np.inf], "sample_weight must be finite. Got inf."),
        (0, "sample_weight sets the weight of every row to zero"),
    ],
)
def test_invalid_weights_are_an_error(weights, message):
    with pytest.raises(ValueError, match=message):
        row_weights(weights, 2)


TASK, CODES = Classification.of(["no", "yes", "no", "no"])


def test_without_class_weights_the_weights_of_rows_are_unchanged():
    weights = np.ones(4)
    assert class_weights(None, TASK, CODES, weights) is weights
    assert class_weights(None, TASK, CODES, None) is None


def test_class_weights_multiply_the_weights_of_the_rows():
    weights = np.array([1.0, 2.0, 3.0, 4.0])
    assert class_weights({"no": 2, "yes": 10}, TASK, CODES, weights).tolist() == [2, 20, 6, 8]
    assert weights.tolist() == [1, 2, 3, 4]


def test_a_class_without_a_weight_has_weight_one():
    assert class_weights({"yes": 10}, TASK, CODES, None).tolist() == [1, 10, 1, 1]


def test_balanced_classes_have_equal_sums():
    np.testing.assert_allclose(class_weights("balanced", TASK, CODES, None), [2 / 3, 2, 2 / 3, 2 / 3])


def test_the_error_of_a_class_weight_names_labels_that_y_does_not_have():
    with pytest.raises(ValueError, match=r"class_weight has the labels \['yess'\], which y does not have"):
        class_weights({"no": 1, "yess": 10}, TASK, CODES, None)


def test_a_fold_may_have_no_rows_of_a_class_with_a_weight():
    assert class_weights({"no": 1, "yes": 2, "maybe": 3}, TASK, CODES, None).tolist() == [1, 2, 1, 1]


@pytest.mark.parametrize(
    ("class_weight", "message"),
    [
        ({"yes": "many"}, "class_weight must be numbers .*'many'.*Convert them."),
        ({"yes": -1}, "class_weight must be >= 0. Got -1.0."),
        ({"yes": 0, "no": 0}, "class_weight sets the weight of every row to zero"),
    ],
)
def test_invalid_class_weights_are_an_error(class_weight, message):
    with pytest.raises(ValueError, match=message):
        class_weights(class_weight, TASK, CODES, None)


def test_reading_y_gives_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Classification.of(pa.chunked_array([["a"], ["b"]]))
        Regression.of(pd.Series([1, 2], dtype="Int64"))


def test_text_of_numpys_string_type_is_text():
    task, codes = Classification.of(np.array(["no", "yes", "no"], dtype=np.dtypes.StringDType()))
    assert task.classes.tolist() == ["no", "yes"] and codes.tolist() == [0, 1, 0]


@pytest.mark.parametrize("task", [Classification, Regression])
@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.array([1j, 2]), "^Complex data not supported: y is of dtype complex128. Take its real part.$"),
        (np.ma.masked_equal([1, 2], 2), "^Input y contains NaN. Drop the rows without a target.$"),
        (
            scipy.sparse.csr_array([[1], [0]]),
            r"^y is a csr_array. Make it an array: y.toarray\(\).ravel\(\).$",
        ),
    ],
    ids=["complex", "masked", "sparse"],
)
def test_invalid_targets_raise_a_one_line_error(task, y, message):
    with pytest.raises(ValueError, match=message):
        task.of(y)


def test_a_masked_target_without_missing_values_is_a_target():
    assert Regression.of(np.ma.masked_equal([1, 2], 3))[1].tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    "weights",
    [pd.to_datetime(["2020", "2021"]), pd.to_timedelta([1, 2], unit="D"), np.array([1j, 2]), [1j, 2]],
    ids=["moments", "spans", "complex", "a list"],
)
def test_weights_that_are_not_numbers_are_refused(weights):
    with pytest.raises(
        ValueError, match=r"^sample_weight must be numbers. Got \w+(\[\w+\])?. Convert them.$"
    ):
        row_weights(weights, 2)


@pytest.mark.parametrize(
    ("target", "task"),
    [
        (["a", "b"] * 30, "classification"),
        ([True, False] * 30, "classification"),
        ([0, 1] * 30, "classification"),
        ([0.0, 1.0] * 30, "classification"),
        (list(range(60)), "regression"),
        ([0.5 * (i % 4) for i in range(60)], "regression"),
        ([i % 20 for i in range(60)], "classification"),
        ([i % 21 for i in range(60)], "regression"),
        ([3, 7], "classification"),
        ([0, 1, 2] * 2, "regression"),
        ([0, 1, 2] * 3, "classification"),
    ],
)
def test_the_task_is_inferred_from_the_target(target, task):
    assert guessed_task(np.array(target)) == task
