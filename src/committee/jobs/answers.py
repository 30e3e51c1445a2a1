"""Predict the rows of a table with a saved model, and score its predictions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from committee.evaluating.vote_scores import score
from committee.files import AS_FOUND, BadTable, CSVForm
from committee.jobs.training_table import table_for, with_answers
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


def predict(
    model: Any,
    place: object,
    *,
    proba: bool = False,
    votes: bool = False,
    ignore_extra: bool = False,
    form: CSVForm = AS_FOUND,
) -> pa.Table:
    """Return the predictions of a model for a table.

    Parameters
    ----------
    model : estimator
    place : str or path
    proba : bool, default=False
        Whether to add the probability of each class.
    votes : bool, default=False
        Whether to add the votes of the members.
    ignore_extra : bool, default=False
        Whether to ignore columns that were not in the training table.
    form : CSVForm

    Returns
    -------
    pyarrow.Table
        `prediction`, `probability_<class>`, `vote_<member>` or `vote_<member>_<class>`.
    """
    check_answers(model, proba=proba, votes=votes)
    X, _, _ = table_for(model, place, ignore_extra=ignore_extra, form=form)
    if not isinstance(model._task, Classification):
        columns = {"prediction": pa.array(model.predict(X))}
    else:
        decision = model.predict_proba(X)
        columns = {"prediction": pa.array(model._task.decode(decision).tolist())}
        if proba:
            columns |= {
                f"probability_{label}": pa.array(np.ascontiguousarray(column))
                for label, column in zip(model.classes_.tolist(), decision.T, strict=True)
            }
    if votes:
        names = [f"vote_{name}" for name in model.get_feature_names_out()]
        stack = model.transform(X)
        columns |= {
            name: pa.array(np.ascontiguousarray(column)) for name, column in zip(names, stack.T, strict=True)
        }
    return pa.table(columns)


def check_answers(model: Any, *, proba: bool, votes: bool) -> None:
    """Raise if a model has no probabilities or no votes, but they are wanted."""
    if proba and not isinstance(model._task, Classification):
        raise BadTable("The model predicts numbers, which have no probabilities. Omit --proba.")
    if votes and not hasattr(model, "get_feature_names_out"):
        raise BadTable(f"{type(model).__name__} has no members that vote. Omit --votes.")


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
    """

    target: str
    n_rows: int
    n_dropped: int
    scores: dict[str, float]


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
    X, answers, table = table_for(model, place, target=target, ignore_extra=ignore_extra, form=form)
    X, y, n_dropped = with_answers(X, answers, target, table.name)
    if isinstance(model._task, Classification):
        unseen = sorted({str(label) for label in set(y.tolist()) - set(model.classes_.tolist())})
        if unseen:
            raise BadTable(f"The target {target!r} has {unseen[0]!r}, which is not a class of the model.")
    return Evaluation(target, len(y), n_dropped, scores_of(model, X, y, scoring))


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
