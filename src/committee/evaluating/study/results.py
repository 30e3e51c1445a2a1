"""Compute the results of a study from its store: scores of cells, a tidy frame, and comparisons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from committee.evaluating.comparison import Comparison, listed
from committee.evaluating.study.cell import StudyCell, one_line
from committee.evaluating.study.store import Store, TableRecord
from committee.metrics.metric_table import METRICS, Metric, metric_named
from committee.metrics.metric_table import USUAL as USUAL_METRICS
from committee.metrics.row_losses import NoValueError
from committee.metrics.scoring import check_scoring, metric_of, name_of, task_of
from committee.votes.vote_arrays import as_shares

# The most tables that an error lists.
MOST_REASONS = 5
# The unit of scaled scores, by the power of the unit of y in which scores are measured.
UNITS = {0: "", 1: "deviations of y", 2: "variances of y"}
# The metrics of a study with `scoring=None`.
USUAL = {
    "classification": (
        "accuracy",
        "balanced_accuracy",
        "roc_auc_ovr_weighted",
        "neg_log_loss",
        "neg_brier_score",
    ),
    "regression": ("neg_root_mean_squared_error", "neg_mean_absolute_error"),
}


def metrics_for(scoring: Iterable[object] | None, table: TableRecord) -> list[Metric]:
    """Return the metrics that suit a table. Raise if two have the same name."""
    wanted = USUAL[table.task] if scoring is None else scoring
    found = [
        metric_of(each, table.n_outputs, classes_of(table))
        for each in wanted
        if why_unsuited(each, table) is None
    ]
    for name, number in Counter(each.name for each in found).items():
        if number > 1:
            raise ValueError(f"Two metrics are named {name!r}. Pass each once, and rename functions.")
    return found


def check_metrics(scoring: Iterable[object] | None, tables: Iterable[TableRecord]) -> None:
    """Raise if a metric is unknown, cannot score decisions, or suits none of the tables."""
    every = list(tables)
    for table in every:
        metrics_for(scoring, table)
        for each in scoring or ():
            if why_unsuited(each, table) is None:
                check_scoring(each, table.n_outputs, classes_of(table))
    for each in scoring or ():
        if every and all(why_unsuited(each, table) is not None for table in every):
            usual = ", ".join(
                name for task in sorted({table.task for table in every}) for name in USUAL[task]
            )
            raise ValueError(f"No table suits the metric {each!r}. Remove it, or use one of {usual}.")


def classes_of(table: TableRecord) -> np.ndarray | None:
    """Return the labels of a table's classes, or None for regression."""
    return None if table.classes is None else np.array(table.classes)


def names_of(scoring: Iterable[object] | None) -> list[str] | None:
    """Return the names of the metrics that have a name, or None if none has."""
    return [name for name in map(name_of, scoring or ()) if name is not None] or None


def is_for(scoring: object, task: str) -> bool:
    """Return whether a metric suits a task. Scorers and functions may suit any task."""
    return task_of(scoring) in (None, task)


def why_unsuited(scoring: object, table: TableRecord) -> str | None:
    """Return the reason for which a metric cannot score a table, or None if it can."""
    if not is_for(scoring, table.task):
        return f"its task is {table.task}"
    many = METRICS[scoring].of_many if isinstance(scoring, str) and scoring in METRICS else None
    if many is None or table.n_outputs <= 2:
        return None
    return f"it has {table.n_outputs} classes, for which there is {many!r}"


def scores_of(votes: np.ndarray, y: np.ndarray, metrics: Iterable[Metric]) -> list[tuple[str, float]]:
    """Return the scores of votes by each metric. They are NaN if a metric has no value for the votes."""
    decision = votes.astype(np.float64)
    if decision.shape[1] > 1:
        decision = as_shares(decision, 1e-6)
    weights = np.ones(len(y))
    found = []
    for metric in metrics:
        try:
            found.append((metric.name, float(metric.prepare(y, decision)(weights))))
        except NoValueError:
            found.append((metric.name, float("nan")))
        except Exception as error:
            raise ValueError(f"The metric {metric.name} fails. {one_line(error)}") from error
    return found


class Results:
    """The scores of the finished cells of a store, either stored or computed from their votes.

    Parameters
    ----------
    store : Store
    scoring : sequence or None
    """

    def __init__(self, store: Store, scoring: Sequence[object] | None) -> None:
        self.store, self.scoring = store, scoring
        self.tables = store.tables()
        self.finished = store.finished()
        self._masks: dict[tuple[str, int], np.ndarray] = {}
        self._of_table: dict[str, list[StudyCell]] = {name: [] for name in self.tables}
        for cell in self.finished:
            self._of_table[cell.table].append(cell)

    def test_rows(self, cell: StudyCell) -> np.ndarray:
        """Return the mask of the test rows of a cell."""
        place = cell.table, cell.resample
        if place not in self._masks:
            found = self.store.split(*place, self.tables[cell.table].n_rows)
            assert found is not None
            self._masks[place] = found
        return self._masks[place]

    def scores(self, scoring: Sequence[object] | None = None) -> dict[tuple[StudyCell, str], float]:
        """Return the scores of all finished cells. Compute and store missing scores.

        Scores of functions are not stored, because another function may have the same name.
        """
        wanted = self.scoring if scoring is None else scoring
        kept = self.store.scores()
        found, fresh = {}, []
        for cell in self.finished:
            table = self.tables[cell.table]
            of_table = metrics_for(wanted, table)
            missing = [each for each in of_table if not (each.is_named and (cell, each.name) in kept)]
            scores = {each.name: kept[cell, each.name] for each in of_table if each not in missing}
            if missing:
                votes = self.store.votes(cell, "test", table)
                assert votes is not None
                scores |= scores_of(votes, table.y[self.test_rows(cell)], missing)
                fresh += [(cell, each.name, scores[each.name]) for each in missing if each.is_named]
            found.update({(cell, each.name): scores[each.name] for each in of_table})
        if fresh:
            self.store.add_scores(fresh)
        return found

    def columns(self) -> dict[str, list[object]]:
        """Return columns with a row for each finished cell and metric."""
        names = ("learner", "table", "task", "resample", "scoring", "score", "fit_seconds", "predict_seconds")
        rows = [
            (
                *(cell.learner, cell.table, self.tables[cell.table].task, cell.resample, metric, score),
                *self.finished[cell][:2],
            )
            for (cell, metric), score in sorted(self.scores().items())
        ]
        return {name: [row[place] for row in rows] for place, name in enumerate(names)}

    def compare(self, scoring: object, learners: Sequence[str] | None) -> Comparison:
        """Compare learners by one metric on the tables that all of them have finished."""
        if scoring is None:
            scoring = self._default_metric()
        if isinstance(scoring, str):
            metric_named(scoring)  # raises for an unknown name
        tables = {name: table for name, table in self.tables.items() if is_for(scoring, table.task)}
        tasks = {table.task for table in tables.values()}
        if len(tasks) != 1:
            raise ValueError(
                f"{scoring!r} may be for classes or for numbers, and the study has both. Use one of "
                f"{', '.join(name for usual in USUAL_METRICS.values() for name in usual)}."
                if tasks
                else f"No table suits the metric {scoring!r}."
            )
        (task,) = tasks
        known = metric_of(scoring, 1 if task == "regression" else 2)
        names = self._learners(task, learners)
        if not names:
            raise ValueError(
                f"There is nothing to compare by {known.name!r}: no cell of a table for this metric has "
                "finished. Run the study."
            )
        found = self.scores([scoring])
        unsuited = {name: why_unsuited(scoring, table) for name, table in tables.items()}
        cells = {name: [] if unsuited[name] else self._shared_cells(name, names) for name in tables}
        runs = {
            name: np.array([[found[cell, known.name] for cell in row] for row in rows]).reshape(
                -1, len(names)
            )
            for name, rows in cells.items()
        }
        reasons = {name: unsuited[name] or self._why_not(name, names, each) for name, each in runs.items()}
        used = [name for name, why in reasons.items() if why is None]
        if not used:
            why = "; ".join(f"{name}: {reason}" for name, reason in list(reasons.items())[:MOST_REASONS])
            more = len(reasons) - MOST_REASONS
            raise ValueError(
                f"No table is left to compare by {known.name!r}. {why}"
                + (f"; and {more} more." if more > 0 else ".")
            )
        means = [runs[name].mean(axis=0) for name in used]
        fit_seconds = [
            np.mean([[self.finished[cell][0] for cell in row] for row in cells[name]], 0) for name in used
        ]
        masks = [self.test_rows(cells[name][0][0]) for name in used]
        shape = len(used), len(names)
        return Comparison(
            known.plain,
            known.sign == 1,
            tuple(names),
            tuple(used),
            known.read(np.array(means).reshape(shape)),
            tuple(known.read(runs[name]) for name in used),
            tuple(float(is_test.sum() / (~is_test).sum()) for is_test in masks),
            np.array(fit_seconds).reshape(shape),
            {name: why for name, why in reasons.items() if why is not None},
            tuple(float(tables[name].y.std() ** known.power) or 1.0 for name in used if known.power),
            UNITS[known.power],
            known.name if known.is_named else None,
        )

    def tasks(self, learners: Sequence[str] | None) -> set[str]:
        """Return the tasks of the finished cells of some learners, or the tasks of all tables."""
        every = {table.task for table in self.tables.values()}
        found: dict[str, set[str]] = {}
        for cell in self.finished:
            found.setdefault(cell.learner, set()).add(self.tables[cell.table].task)
        if learners is None:
            return set().union(*found.values()) or every
        return every.intersection(*(found.get(name, set()) for name in learners)) or every

    def _default_metric(self) -> object:
        """Return the first metric of the study, if there is only one task."""
        if self.scoring is not None:
            return self.scoring[0]
        tasks = {table.task for table in self.tables.values()}
        if len(tasks) > 1:
            raise ValueError(
                "The study has tables of both tasks. Pass scoring, the name of a metric such as 'accuracy'."
            )
        return USUAL[next(iter(tasks), "classification")][0]

    def _learners(self, task: str, learners: Sequence[str] | None) -> list[str]:
        """Return the learners to compare, by default all of a task."""
        voted = {cell.learner for cell in self.finished if self.tables[cell.table].task == task}
        known = [name for name, of_task in self.store.recipes() if of_task == task and name in voted]
        if learners is None:
            return known
        for name in learners:
            if name not in known:
                raise ValueError(f"No learner {name!r} has votes. There are {', '.join(known)}.")
        if not learners or len(set(learners)) < len(learners):
            raise ValueError(f"learners must be names without repetition, or None. Got {learners!r}.")
        return list(learners)

    def _shared_cells(self, table: str, learners: list[str]) -> list[list[StudyCell]]:
        """Return the cells of each resample that all learners have finished."""
        numbers = sorted({cell.resample for cell in self._of_table[table]})
        rows = [[StudyCell(number, table, learner) for learner in learners] for number in numbers]
        return [row for row in rows if all(cell in self.finished for cell in row)]

    def _why_not(self, table: str, learners: list[str], scores: np.ndarray) -> str | None:
        """Return the reason for which a table is left out of a comparison, or None if it is compared."""
        if len(scores) == 0:
            done = {cell.learner for cell in self._of_table[table]}
            missing = [name for name in learners if name not in done]
            return f"not finished by {listed(missing)}" if missing else "no resample that all have finished"
        return "the metric has no value on it" if np.isnan(scores).any() else None
