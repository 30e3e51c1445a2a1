"""Replace categories by target statistics, for columns with many categories."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from committee.table.schema import Column, Kind, Schema, Table


@dataclass(frozen=True, eq=False)
class TargetStatistics:
    """Target statistics that replace the categories of new rows.

    Parameters
    ----------
    by_column : dict of int to ndarray of shape (n_categories + 1, n_statistics)
        For each replaced column, the statistics of each category. The first row is for missing values.
    """

    by_column: dict[int, np.ndarray]

    def encode(self, table: Table) -> Table:
        """Replace the categories of new rows."""
        return self.replace(table, self._of_rows(table))

    def columns(self, table: Table) -> list[np.ndarray]:
        """Return the columns of `encode` only, because a schema takes longer than a row."""
        return replaced(table, self._of_rows(table))

    def replace(self, table: Table, statistics: dict[int, np.ndarray]) -> Table:
        """Replace columns of categories by columns of statistics, at the same positions."""
        return Table(self.schema(table.schema), tuple(replaced(table, statistics)), table.n_rows)

    def _of_rows(self, table: Table) -> dict[int, np.ndarray]:
        return {column: values[table.columns[column]] for column, values in self.by_column.items()}

    def schema(self, schema: Schema) -> Schema:
        """Return the schema of an encoded table."""
        columns = schema.columns
        encoded = [
            Column(columns[source].name, Kind.NUMBER) if source in self.by_column else columns[source]
            for source in self.sources(schema.n_columns).tolist()
        ]
        return Schema(tuple(encoded), schema.named)

    def sources(self, n_columns: int) -> np.ndarray:
        """Return the source column of each column of an encoded table."""
        widths = np.ones(n_columns, dtype=np.int64)
        for column, values in self.by_column.items():
            widths[column] = values.shape[1]
        return np.repeat(np.arange(n_columns), widths)


def replaced(table: Table, statistics: dict[int, np.ndarray]) -> list[np.ndarray]:
    """Return the columns of a table with statistics, of shape (n_rows, n_statistics), at some positions."""
    columns: list[np.ndarray] = []
    for position, column in enumerate(table.columns):
        if position in statistics:
            columns += map(np.ascontiguousarray, statistics[position].T)
        else:
            columns.append(column)
    return columns
