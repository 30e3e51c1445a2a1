"""Score the predictions of a model on a table with the target."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from committee.combining.cost_rule import costs_by_label
from committee.evaluating.resampling.confidence_intervals import Draws, interval_of
from committee.evaluating.vote_scores import score, score_interval
from committee.files import AS_FOUND, BadTable, CSVForm
from committee.jobs.model_table import ExpectedTable, table_for
from committee.jobs.training_table import with_answers
from committee.jobs.unseen_values import UnseenValues
from committee.metrics.metric_table import METRICS
from committee.metrics.row_losses import NoValueError
from committee.table.input_types import TableLike
from committee.table.source import open_source
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
    share_of_fit : float or None, default=None
        The estimated share of the training rows that are in the table, if it is known. Scores on such rows
        are too good.
    intervals : dict of str to (float, float), default=None
        The interval of 95 % of each score, by the bootstrap over rows, if requested.
    confusion : Confusion or None, default=None
        The predicted and the true classes, if requested.
    unseen : tuple of UnseenValues
        The columns with values that the fit has not seen.
    mean_cost : float or None, default=None
        The mean cost of a prediction, if the model has costs of errors.
    cost_interval : (float, float), default=None
        The interval of 95 % of the mean cost, if requested.
    """

    target: str
    n_rows: int
    n_dropped: int
    scores: dict[str, float]
    share_of_fit: float | None = None
    intervals: dict[str, tuple[float, float]] | None = None
    confusion: Confusion | None = None
    unseen: tuple[UnseenValues, ...] = ()
    mean_cost: float | None = None
    cost_interval: tuple[float, float] | None = None


def evaluate(
    model: Any,
    place: object,
    *,
    target: str | None = None,
    scoring: str | None = None,
    intervals: bool = False,
    confusion: bool = False,
    renamed: Mapping[str, str] | None = None,
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
    intervals : bool, default=False
        Whether to estimate the intervals of the scores.
    confusion : bool, default=False
        Whether to count the true and the predicted classes.
    renamed : mapping of str to str, default=None
        The names in this table of columns that have another name than in the training table.
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
    expected = ExpectedTable.of(model)
    read = table_for(expected, place, target=target, renamed=renamed, ignore_extra=ignore_extra, form=form)
    X, y, n_dropped = with_answers(read.X, read.answers, target, read.name)
    if isinstance(model._task, Classification):
        unseen = sorted({str(label) for label in set(y.tolist()) - set(model.classes_.tolist())})
        if unseen:
            raise BadTable(f"The target {target!r} has {unseen[0]!r}, which is not a class of the model.")
    decision = decision_of(model, X)
    costs = costs_of_rows(model, decision, y)
    scores = scores_of(model, decision, y, scoring)
    return Evaluation(
        target,
        len(y),
        n_dropped,
        scores,
        share_of_fit(model, X, y),
        intervals_of(model, decision, y, list(scores)) if intervals else None,
        Confusion.of(model, decision, y) if confusion else None,
        read.unseen,
        None if costs is None else float(costs.mean()),
        None if costs is None or not intervals else interval_of_mean(costs),
    )


def decision_of(model: Any, X: TableLike) -> np.ndarray:
    """Return the probabilities of the classes, or the predicted numbers."""
    is_class_task = isinstance(model._task, Classification)
    return np.asarray(model.predict_proba(X) if is_class_task else model.predict(X))


def share_of_fit(model: Any, X: TableLike, y: np.ndarray) -> float | None:
    """Estimate the share of the training rows that are in a table with targets; None if it is unknown."""
    record = getattr(model, "_record", None)
    if record is None:
        return None
    table = model._read(open_source(X))
    is_class_task = isinstance(model._task, Classification)
    target = np.searchsorted(model.classes_, y) if is_class_task else np.asarray(y, dtype=np.float64)
    share: float | None = record.share_in([*table.columns, target], table.n_rows)
    return share


def intervals_of(
    model: Any, decision: np.ndarray, y: np.ndarray, names: list[str]
) -> dict[str, tuple[float, float]]:
    """Return the interval of 95 % of each score. The same rows give the same interval."""
    classes = getattr(model, "classes_", None)
    found = {
        name: score_interval(y, decision, scoring=name, classes=classes, random_state=0) for name in names
    }
    return {name: (float(each.low), float(each.high)) for name, each in found.items()}


def costs_of_rows(model: Any, decision: np.ndarray, y: np.ndarray) -> np.ndarray | None:
    """Return the cost of the prediction of each row; None if the model has no costs of errors."""
    if getattr(model, "costs", None) is None:
        return None
    costs = costs_by_label(model.costs, None, model.classes_)
    assert costs is not None
    found: np.ndarray = costs[np.searchsorted(model.classes_, y), decision.argmax(axis=1)]
    return found


def interval_of_mean(values: np.ndarray) -> tuple[float, float]:
    """Return the interval of 95 % of a mean, by the bootstrap over rows."""
    draws = Draws.of(np.ones(len(values)), 0)
    found = interval_of(
        lambda weights: float(values @ weights / weights.sum()),
        draws,
        kind="percentile",
        level=0.95,
        n_draws=1000,
    )
    return float(found.low), float(found.high)


@dataclass(frozen=True)
class Confusion:
    """The predicted and the true classes of a table.

    Parameters
    ----------
    classes : tuple
    counts : tuple of tuple of int
        The number of rows of each true class, in the order of `classes`, for each predicted class.
    """

    classes: tuple[object, ...]
    counts: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, model: Any, decision: np.ndarray, y: np.ndarray) -> Confusion:
        """Count the classes that a model with probabilities predicts."""
        if not isinstance(model._task, Classification):
            raise BadTable("The model predicts numbers, which have no classes to confuse. Omit --confusion.")
        n_classes = len(model.classes_)
        counts = np.zeros((n_classes, n_classes), dtype=np.int64)
        np.add.at(counts, (np.searchsorted(model.classes_, y), decision.argmax(axis=1)), 1)
        return cls(tuple(model.classes_.tolist()), tuple(map(tuple, counts.tolist())))

    def of_classes(self) -> list[dict[str, object]]:
        """Return the rows, recall, precision and F1 of each class. A ratio without any row is None.

        Examples
        --------
        >>> Confusion(("a", "b"), ((3, 1), (0, 0))).of_classes()[1]
        {'class': 'b', 'n_rows': 0, 'recall': None, 'precision': 0.0, 'f1': 0.0}
        """
        counts = np.array(self.counts)
        hits, true, predicted = counts.diagonal(), counts.sum(axis=1), counts.sum(axis=0)

        def ratio(part: int, whole: int) -> float | None:
            return float(part / whole) if whole else None

        return [
            {
                "class": label,
                "n_rows": int(true[k]),
                "recall": ratio(hits[k], true[k]),
                "precision": ratio(hits[k], predicted[k]),
                "f1": ratio(2 * hits[k], true[k] + predicted[k]),
            }
            for k, label in enumerate(self.classes)
        ]


def scores_of(
    model: Any, decision: np.ndarray, y: np.ndarray, scoring: str | None = None
) -> dict[str, float]:
    """Return the scores of the decisions of a fitted model on rows with a target.

    Parameters
    ----------
    model : estimator
    decision : ndarray
        See `decision_of`.
    y : ndarray of shape (n_rows,)
    scoring : str, default=None
        The name of a metric. None is the default metrics of the task.

    Returns
    -------
    dict of str to float
        The scores by scikit-learn's names. More is better.
    """
    if not isinstance(model._task, Classification):
        wanted, classes = USUAL["regression"], None
    else:
        wanted, classes = USUAL["classification"], model.classes_
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
