"""The table of the demonstration: it comes with scikit-learn, so it needs no network."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

SHARE_HELD_OUT = 4
TARGET = "diagnosis"
# Beside the time limit; the defaults of the committee.
SETTINGS: dict[str, Any] = {}


def demo_tables() -> tuple[Any, Any, str, str]:
    """Rows to learn from and rows to be judged on.

    Returns
    -------
    train, held_out : pyarrow.Table
    target : str
    about : str
        What the table is.

    Examples
    --------
    >>> train, held_out, target, _ = demo_tables()
    >>> train.num_rows, held_out.num_rows, target
    (426, 143, 'diagnosis')
    """
    from sklearn.datasets import load_breast_cancer

    bundled = load_breast_cancer()
    columns = {
        name.replace(" ", "_"): pa.array(np.ascontiguousarray(column))
        for name, column in zip(bundled.feature_names.tolist(), bundled.data.T, strict=True)
    }
    columns[TARGET] = pa.array(bundled.target_names[bundled.target].tolist())
    table = pa.table(columns)
    is_held_out = np.random.default_rng(0).permutation(table.num_rows) % SHARE_HELD_OUT == 0
    about = "The table: cells of breast tumours, measured in Wisconsin (Wolberg, Street, Mangasarian 1995)."
    return table.filter(pa.array(~is_held_out)), table.filter(pa.array(is_held_out)), TARGET, about
