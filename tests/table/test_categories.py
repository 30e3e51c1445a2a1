"""Test `keep_schema` and `predict_table`: attributes, errors and warnings as in scikit-learn."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import BaseEstimator

from committee.table import keep_schema, predict_table, read


class Forest(BaseEstimator):
    pass


def fitted(X):
    forest = Forest()
    keep_schema(forest, read(X).schema)
    return forest


FRAME = pd.DataFrame({"age": [31.0, 54.0], "size": [1.7, 1.8], "city": ["Oslo", "Bonn"]})


@pytest.mark.parametrize("X", [FRAME, pl.from_pandas(FRAME), pa.Table.from_pandas(FRAME)])
def test_fit_sets_the_attributes_of_scikit_learn(X):
    forest = fitted(X)
    assert forest.n_features_in_ == 3 and forest.schema_.names == ("age", "size", "city")
    assert forest.feature_names_in_.dtype == object and forest.feature_names_in_.tolist() == list(
        FRAME.columns
    )


def test_fit_on_a_matrix_sets_no_names_and_deletes_old_ones():
    forest = fitted(FRAME)
    keep_schema(forest, read([[1.0, 2.0]]).schema)
    assert forest.n_features_in_ == 2 and not hasattr(forest, "feature_names_in_")


def test_an_arrow_stream_is_read_only_once():
    forest = fitted(pa.Table.from_pandas(FRAME).to_reader())
    assert predict_table(forest, pa.Table.from_pandas(FRAME).to_reader()).n_rows == 2


def test_a_mix_of_text_and_numbers_as_names_is_an_error():
    with pytest.raises(
        TypeError, match="Feature names are only supported if all input features have string names"
    ):
        fitted(pd.DataFrame([[1, 2]], columns=["a", 0]))


def test_reordered_columns_are_read_by_name_without_a_warning():
    table = predict_table(fitted(FRAME), FRAME[["city", "size", "age"]])
    assert table.columns[0].tolist() == [31.0, 54.0]


def test_renamed_columns_are_an_error_in_one_line():
    message = (
        r"^The feature names should match those that were passed during fit\. Now missing: 'city'\. "
        r"Unseen then: 'town'\. Rename them, or fit again\.$"
    )
    with pytest.raises(ValueError, match=message):
        predict_table(fitted(FRAME), FRAME.rename(columns={"city": "town"}))


def test_missing_columns_are_an_error_in_one_line():
    with pytest.raises(ValueError, match=r"during fit\. Now missing: 'city'\. Rename them, or fit again\.$"):
        predict_table(fitted(FRAME), FRAME[["size", "age"]])


def test_a_matrix_after_a_frame_warns():
    with pytest.warns(
        UserWarning, match="X does not have valid feature names, but Forest was fitted with feature"
    ):
        table = predict_table(fitted(FRAME[["age", "size"]]), np.ones((1, 2)))
    assert table.n_rows == 1


def test_a_frame_after_a_matrix_warns():
    with pytest.warns(UserWarning, match="X has feature names, but Forest was fitted without feature names"):
        predict_table(fitted(np.ones((1, 2))), FRAME[["age", "size"]])


def test_another_number_of_columns_raises_the_error_of_scikit_learn():
    with pytest.raises(ValueError, match=r"X has 2 features, but Forest is expecting 3 features as input."):
        predict_table(fitted(np.ones((4, 3))), np.ones((4, 2)))


def test_a_matching_frame_does_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        predict_table(fitted(FRAME), FRAME)
