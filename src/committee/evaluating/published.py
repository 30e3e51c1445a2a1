"""Results that others have published, as more columns of a comparison.

In: a CSV file with a row for each data set and a column for each learner, as `cawpe_uci121_ACC.csv`: the
first column names the data sets. Out: scores by our metrics.
"""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

# How the ends of file names call metrics, which of ours they are, and how one becomes the other.
METRICS: Mapping[str, tuple[str, Callable[[float], float]]] = {
    "ACC": ("error", lambda accuracy: 1.0 - accuracy),
    "BALACC": ("balanced_error", lambda accuracy: 1.0 - accuracy),
    "AUROC": ("auc", float),
    "NLL": ("log_loss", lambda bits: bits * math.log(2)),
}


@dataclass(frozen=True, eq=False)
class Published:
    """Means of learners over resamples, as a paper tells them.

    Parameters
    ----------
    metric : str
    learners : tuple of str
        With what tells them from ours.
    scores : dict of str to ndarray of shape (n_learners,)
        By the name of the table; NaN where the paper has none.
    """

    metric: str
    learners: tuple[str, ...]
    scores: Mapping[str, np.ndarray]


def read_published(
    path: str | os.PathLike[str],
    *,
    metric: str | None = None,
    learners: Iterable[str] | None = None,
    names: Mapping[str, str] | None = None,
    mark: str = "paper",
) -> Published:
    r"""Read published results.

    Parameters
    ----------
    path : str or path
        A CSV file. The first column names the data sets, and each other one is a learner.
    metric : str, default=None
        What the numbers are, as our metrics count: "error", "auc", "rmse". None tells by the end of the name
        of the file: `_ACC` and `_BALACC` are accuracies, of which errors are made, `_AUROC` is "auc", and
        `_NLL` is bits, of which "log_loss" is made.
    learners : iterable of str, default=None
        Columns of the file. None takes all.
    names : mapping of str to str, default=None
        From our names of tables to those of the file, where they differ. Tables that it does not have keep
        theirs.
    mark : str, default="paper"
        What stands behind the names of the learners.

    Returns
    -------
    Published

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "results_ACC.csv")
    >>> _ = path.write_text("dataset,RotF,C4.5\niris,0.95,0.9\n")
    >>> found = read_published(path, learners=["RotF"])
    >>> found.metric, found.learners, found.scores["iris"].round(2)
    ('error', ('RotF (paper)',), array([0.05]))
    """
    path = Path(path)
    named, change = metric_of_file(path, metric)
    with path.open(newline="", encoding="utf-8-sig") as file:
        lines = list(csv.reader(file))
    if not lines:
        raise ValueError(f"{path} has no header: the names of learners, after that of the data sets.")
    header, *rows = lines
    known = [name for name in header[1:] if name]
    wanted = known if learners is None else list(learners)
    for name in wanted:
        if name not in known:
            raise ValueError(f"{path} has no column {name!r}. It has {', '.join(known)}.")
        if known.count(name) > 1:
            raise ValueError(f"{path} has two columns {name!r}. Give one of them another name.")
    places = [header.index(name) for name in wanted]
    found = {}
    for line, row in enumerate(rows, start=2):
        if not any(row):
            continue
        try:
            found[row[0]] = np.array([change(float(row[at])) if row[at] else math.nan for at in places])
        except (ValueError, IndexError) as error:
            raise ValueError(f"{path}, line {line}: there is no number for each learner.") from error
    theirs = dict(names or {})
    # One data set of the file may have several names here.
    ours = {name: found[other] for name, other in theirs.items() if other in found}
    scores = {name: each for name, each in found.items() if name not in theirs} | ours
    return Published(named, tuple(f"{name} ({mark})" for name in wanted), scores)


def metric_of_file(path: Path, metric: str | None) -> tuple[str, Callable[[float], float]]:
    """What the numbers of a file are, and what makes them ours."""
    if metric is not None:
        return metric, float
    ending = path.stem.rpartition("_")[2]
    if ending not in METRICS:
        raise ValueError(
            f"The name of {path} ends with none of {', '.join('_' + each for each in METRICS)}, so its "
            "metric is not known. Pass metric, such as metric='error'."
        )
    return METRICS[ending]
