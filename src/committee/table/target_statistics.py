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
        return self.replace(
            table, {column: values[table.columns[column]] for column, values in self.by_column.items()}
        )

    def replace(self, table: Table, statistics: dict[int, np.ndarray]) -> Table:
        """Replace columns of categories by columns of statistics, at the same positions."""
        columns: list[np.ndarray] = []
        for position, column in enumerate(table.columns):
            if position in statistics:
                columns += map(np.ascontiguousarray, statistics[position].T)
            else:
                columns.append(column)
        return Table(self.schema(table.schema), tuple(columns), table.n_rows)

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
