"""Add the published means of a paper to the comparison of a study."""

from dataclasses import replace

import numpy as np
import pandas as pd


def with_published(compared, path, learners, names):
    """Add columns of published accuracies to a comparison by the accuracy.

    `path` is a CSV file with a row for each data set, named in its first column, and a column for each
    learner. `names` maps our names of tables to those of the file, where they differ. Tables that the paper
    does not have are left out.
    """
    theirs = pd.read_csv(path, index_col=0)[list(learners)]
    theirs = theirs.reindex([names.get(name, name) for name in compared.tables]).to_numpy()
    is_known = ~np.isnan(theirs).any(axis=1)
    unknown = np.full(len(learners), np.nan)
    tables = zip(compared.tables, is_known, strict=True)

    def kept(values):
        return tuple(value for value, known in zip(values, is_known, strict=True) if known)

    return replace(
        compared,
        learners=(*compared.learners, *(f"{name} (paper)" for name in learners)),
        tables=kept(compared.tables),
        scores=np.column_stack([compared.scores, theirs])[is_known],
        runs=tuple(np.column_stack([runs, np.tile(unknown, (len(runs), 1))]) for runs in kept(compared.runs)),
        test_ratios=kept(compared.test_ratios),
        fit_seconds=np.column_stack([compared.fit_seconds, np.tile(unknown, (len(theirs), 1))])[is_known],
        left_out={
            **compared.left_out,
            **{name: "not in the paper" for name, known in tables if not known},
        },
    )
