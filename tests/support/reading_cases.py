"""Helper functions for tests that read tables."""

import numpy as np

from committee.table import read


def kinds(table):
    return [column.kind for column in table.schema.columns]


def only_column(X, **parameters):
    table = read(X, **parameters)
    (column,), (values,) = table.schema.columns, table.columns
    return column, values


def objects(*values):
    array = np.empty((len(values), 1), dtype=object)
    array[:, 0] = values
    return array
