"""The schema: a value that can be compared, pickled and asked about its columns."""

import pickle

import numpy as np

from committee.table import Column, Kind, Schema

SCHEMA = Schema((Column("age", Kind.NUMBER), Column("city", Kind.CATEGORY, ("Bonn", "Oslo"))), named=True)


def test_a_schema_tells_what_the_engine_needs_to_know():
    assert SCHEMA.n_columns == 2
    assert SCHEMA.is_category.tolist() == [False, True]
    assert SCHEMA.n_categories.dtype == np.int32 and SCHEMA.n_categories.tolist() == [0, 2]


def test_a_schema_survives_pickling_without_its_cache():
    size = len(pickle.dumps(SCHEMA))
    assert SCHEMA.columns[1].codes == {"Bonn": 1, "Oslo": 2}
    assert len(pickle.dumps(SCHEMA)) == size
    assert pickle.loads(pickle.dumps(SCHEMA)) == SCHEMA


def test_equal_schemas_have_one_hash():
    twin = Schema((Column("age", Kind.NUMBER), Column("city", Kind.CATEGORY, ("Bonn", "Oslo"))), named=True)
    assert twin == SCHEMA and hash(twin) == hash(SCHEMA)
