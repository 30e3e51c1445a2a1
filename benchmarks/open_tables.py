"""Read the open tables of benchmarks, which are not part of the project.

The folder of `--data`, or of the environment variable COMMITTEE_TABLES, is described in
`boosting_defaults.py`.
"""

import argparse
import os
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

LEAST_ROWS_OF_CLASS = 10


class TablesParser(argparse.ArgumentParser):
    """A parser of a command line with the folder of the tables, as `--data`."""

    def __init__(self, page):
        super().__init__(description=page.splitlines()[0])
        self.add_argument(
            "--data", type=Path, default=os.environ.get("COMMITTEE_TABLES"), help="folder with manifest.csv"
        )

    def parse_args(self, *given):
        """Parse the command line. Stop unless the folder of the tables exists."""
        arguments = super().parse_args(*given)
        if arguments.data is None or not (Path(arguments.data) / "manifest.csv").exists():
            self.error(
                "the tables are not part of the project: pass --data FOLDER or set COMMITTEE_TABLES to a "
                "folder with manifest.csv, which boosting_defaults.py describes."
            )
        return arguments


def manifest(folder):
    """Return the list of the open tables."""
    tables = pd.read_csv(Path(folder) / "manifest.csv", index_col="name")
    return tables[tables.list == "open"]


def table(folder, name, about, most_rows):
    """Return X and y of a table: codes of the classes that are not rare, or numbers."""
    frame = pd.read_parquet(Path(folder) / f"{name}.parquet")
    if about.task == "classification":
        labels = frame[about.target].astype(str)
        frame = frame[labels.map(labels.value_counts()) >= LEAST_ROWS_OF_CLASS]
        y = np.unique(frame[about.target].astype(str), return_inverse=True)[1]
    else:
        y = frame[about.target].to_numpy(dtype=np.float64)
    X = frame.drop(columns=about.target).reset_index(drop=True)
    # Some peers reject some names of columns.
    X = X.set_axis([f"column {i}" for i in range(X.shape[1])], axis=1)
    text = [name for name in X if not pd.api.types.is_numeric_dtype(X[name].dtype)]
    X = X.astype(dict.fromkeys(text, "category"))
    if len(y) > most_rows:
        rows = np.random.default_rng(0).choice(len(y), most_rows, replace=False)
        X, y = X.iloc[rows].reset_index(drop=True), y[rows]
    return X, y


def split(X, y, task, seed):
    """Split a table into two thirds for training and one third for testing."""
    strata = y if task == "classification" else None
    return train_test_split(X, y, test_size=1 / 3, random_state=seed, stratify=strata)
