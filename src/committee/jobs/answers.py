"""Score the predictions of a model on a table with the target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from committee.files import AS_FOUND, BadTable, CSVForm
from committee.jobs.model_table import ExpectedTable, table_for
from committee.jobs.training_table import with_answers
from committee.jobs.unseen_values import UnseenValues
from committee.metrics.metric_table import METRICS
from committee.metrics.row_losses import NoValueError
from committee.table.input_types import TableLike
from committee.task import Classification

# The default metrics of `evaluate`.
USUAL = {
    "classification": ("accuracy", "balanced_accuracy", "neg_log_loss", "roc_auc"),
    "regression": ("neg_root_mean_squared_error", "neg_mean_absolute_error", "r2"),
}
# Metrics without a value for rows of a single class.
OF_SEVERAL_CLASSES = ("roc_auc", "balanced_accuracy")


@dataclass(frozen=True)
class Evaluation:
    """The scores of a model on a table.

    Parameters
    ----------
    target : str
    n_rows : int
        The number of rows with a target.
    n_dropped : int
        The number of rows without a target, which are left out.
    scores : dict of str to float
        The scores by scikit-learn's names. More is better.
    unseen : tuple of UnseenValues
        The columns with values that the fit has not seen.
    """

    target: str
    n_rows: int
    n_dropped: int
    scores: dict[str, float]
    unseen: tuple[UnseenValues, ...] = ()


def evaluate(
    model: Any,
    place: object,
    *,
    target: str | None = None,
    scoring: str | None = None,
    ignore_extra: bool = False,
    form: CSVForm = AS_FOUND,
) -> Evaluation:
    """Score a model on a table that contains the target.

    Parameters
    ----------
    model : estimator
    place : str or path
    target : str, default=None
        The target column. None is the target of the fit.
    scoring : str, default=None
        See `scores_of`.
    ignore_extra : bool, default=False
    form : CSVForm

    Returns
    -------
    Evaluation
    """
    if target is None:
        if model._origin is None:
            raise BadTable(
                "The model does not contain the name of its target. Specify the column with --target."
            )
        target = model._origin.target
    read = table_for(ExpectedTable.of(model), place, target=target, ignore_extra=ignore_extra, form=form)
    X, y, n_dropped = with_answers(read.X, read.answers, target, read.name)
    if isinstance(model._task, Classification):
        unseen = sorted({str(label) for label in set(y.tolist()) - set(model.classes_.tolist())})
        if unseen:
            raise BadTable(f"The target {target!r} has {unseen[0]!r}, which is not a class of the model.")
    return Evaluation(target, len(y), n_dropped, scores_of(model, X, y, scoring), read.unseen)


def scores_of(model: Any, X: TableLike, y: np.ndarray, scoring: str | None = None) -> dict[str, float]:
    """Return the scores of a fitted model on rows with a target.

    Parameters
    ----------
    model : estimator
    X : table
    y : ndarray of shape (n_rows,)
    scoring : str, default=None
        The name of a metric. None is the default metrics of the task.

    Returns
    -------
    dict of str to float
        The scores by scikit-learn's names. More is better.
    """
    from committee.evaluating.vote_scores import score

    if not isinstance(model._task, Classification):
        decision, wanted, classes = model.predict(X), USUAL["regression"], None
    else:
        decision, wanted, classes = model.predict_proba(X), USUAL["classification"], model.classes_
        if len(np.unique(y)) == 1:
            wanted = tuple(name for name in wanted if name not in OF_SEVERAL_CLASSES)
        if len(classes) > 2:
            wanted = tuple(METRICS[name].of_many or name for name in wanted)
    found = {}
    for name in wanted if scoring is None else (scoring,):
        try:
            found[name] = float(score(y, decision, scoring=name, classes=classes))
        except NoValueError as error:
            raise ValueError(f"The metric {name!r} has no value here: {error}") from error
        if np.isnan(found[name]):
            raise ValueError(f"The metric {name!r} has no value here: all rows are of one class.")
    return found
