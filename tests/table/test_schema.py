"""Test `Schema` and `Table`: properties, comparison, pickling and matrices."""

import pickle

import numpy as np
import pytest

from committee.table import Column, Kind, Schema, Table

SCHEMA = Schema((Column("age", Kind.NUMBER), Column("city", Kind.CATEGORY, ("Bonn", "Oslo"))), named=True)


def test_a_schema_has_the_properties_that_the_engine_needs():
    assert SCHEMA.n_columns == 2
    assert SCHEMA.is_category.tolist() == [False, True]
    assert SCHEMA.n_categories.dtype == np.int32 and SCHEMA.n_categories.tolist() == [0, 2]


def test_a_schema_survives_pickling_without_its_cache():
    size = len(pickle.dumps(SCHEMA))
    assert SCHEMA.columns[1].codes == {"Bonn": 1, "Oslo": 2}
    assert len(pickle.dumps(SCHEMA)) == size
    assert pickle.loads(pickle.dumps(SCHEMA)) == SCHEMA


def test_equal_schemas_have_the_same_hash():
    twin = Schema((Column("age", Kind.NUMBER), Column("city", Kind.CATEGORY, ("Bonn", "Oslo"))), named=True)
    assert twin == SCHEMA and hash(twin) == hash(SCHEMA)


def test_a_schema_caches_comparisons_and_does_not_pickle_them():
    first, second = pickle.loads(pickle.dumps(SCHEMA)), pickle.loads(pickle.dumps(SCHEMA))
    size = len(pickle.dumps(first))
    assert first == second and first == second and first == SCHEMA and first == first
    assert first != Schema(SCHEMA.columns, named=False) and first != "a schema"
    assert first.changes(second) == first.changes(SCHEMA) == ()
    assert len(pickle.dumps(first)) == size


def test_schemas_with_other_names_cannot_be_compared_by_column():
    renamed = Schema((Column("years", Kind.NUMBER), SCHEMA.columns[1]), named=True)
    assert SCHEMA.changes(renamed) is None and SCHEMA.changes(SCHEMA.only([0])) is None


@pytest.mark.parametrize("is_joined", [True, False])
def test_rows_read_again_change_only_in_changed_columns(is_joined):
    fewer = Schema((SCHEMA.columns[0], Column("city", Kind.CATEGORY, ("Oslo",))), named=True)
    columns = np.array([31.0, 54.0]), np.array([2, 1], dtype=np.int32)
    table = Table(SCHEMA, columns, n_rows=2)
    if is_joined:
        table.as_matrix(slice(None))
    again = table.read_again(fewer, {1: np.array([1, 0], dtype=np.int32)})
    assert again.schema is fewer and again.columns[0] is columns[0]
    np.testing.assert_array_equal(again.as_matrix(slice(None)), [[31, 1], [54, 0]])
    np.testing.assert_array_equal(table.as_matrix(slice(None)), [[31, 2], [54, 1]])


@pytest.mark.parametrize("n_rows", [1, 7, 300])
def test_rows_are_converted_to_a_matrix_of_numbers_and_codes(n_rows):
    columns = np.arange(n_rows) % 2 == 0, np.arange(n_rows, dtype=np.int32), np.linspace(0, 1, n_rows)
    table = Table(Schema((Column("x0", Kind.BOOLEAN),) * 3, named=False), columns, n_rows)
    np.testing.assert_array_equal(table.as_matrix(slice(None)), np.column_stack(columns))
    np.testing.assert_array_equal(table.as_matrix(slice(3, 5)), np.column_stack(columns)[3:5])
    assert table.between(0, n_rows) is table
    assert table.between(0, 1).columns[1].tolist() == [0]
