"""Describe the decisions of a committee on honest votes, and the columns of the fit, as aggregates.

In: honest votes, the decisions of a rule that was fitted on other rows, and columns as `read` returns them.
Out: a `FitSummary` of counts, quantiles and sorted samples. It contains no row, label or identifier, so a
file can hold it: for intervals, sets, other thresholds, and reports without data.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Self

import numpy as np

from committee.combining.cost_rule import CostRule
from committee.combining.rule import Rule
from committee.metrics.row_losses import log_losses, squared_errors
from committee.printing import brief
from committee.running.resources import one_blas_thread
from committee.saving import Fields
from committee.table.schema import Kind, Schema, Table
from committee.votes.honest_votes import HonestVotes
from committee.votes.vote_arrays import labels_of

# The most conformity scores, classes with counts by probability, cells of the confusion matrix, and columns
# with quantiles. Files of usual committees grow by less than 30 kB, and those of large ones by 100 kB.
MOST_SCORES, MOST_CLASSES, MOST_CELLS, MOST_COLUMNS = 2000, 100, 1500, 200
# The bounds of the bins of probabilities. For two classes they are all thresholds that are counted.
COARSE = np.array([0.01, *np.arange(1, 20) / 20, 0.99])
TAIL = np.array([0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005])
FINE = np.array([*TAIL, *np.arange(1, 100) / 100, *(1 - TAIL[::-1])])
# The levels of the quantiles of columns, and of residuals in each bin of predictions.
LEVELS = np.array([0.01, *np.arange(1, 20) / 20, 0.99])
RESIDUAL_LEVELS = np.array([0.05, 0.25, 0.5, 0.75, 0.95])
# The most bins of predictions, and the least rows of a bin.
MOST_BINS, LEAST_ROWS = 20, 10
# Values of columns are scored if they have enough rows, in columns of few values. The most values in all, and
# the number of conformity scores of each.
LEAST_OF_VALUE, MOST_SCORED_VALUES, MOST_VALUES_IN_ALL, N_OF_VALUE = 30, 12, 64, 32
# The least rows of a table that are looked at if it has more cells than this.
LEAST_LOOKED_AT, MOST_CELLS_LOOKED_AT = 1000, 1_000_000
# The most frequent categories of a column that are counted, and the number of bins for its association.
MOST_VALUES, N_BINS = 20, 10


@brief
@dataclass(frozen=True, eq=False)
class ClassDecisions:
    """Counts of the decisions for classes.

    Parameters
    ----------
    codes : ndarray of int32 of shape (n_described,)
        The classes with counts by probability: the second of two classes, or up to 100 most frequent ones.
    edges : ndarray of shape (n_edges,)
        The bounds of the bins. A probability equal to a bound is in the bin above.
    counts : ndarray of float32 of shape (n_described, 2, n_edges + 1)
        The weight of the rows of other classes, and of the class, by the probability of the class.
    sums : ndarray of float32 of shape (n_described, n_edges + 1)
        The weighted sums of these probabilities.
    cells : ndarray of int32 of shape (n_cells, 2)
        True and predicted classes, the most frequent pairs first.
    cell_counts : ndarray of float32 of shape (n_cells,)
        The weight of the rows of each pair.
    """

    codes: np.ndarray
    edges: np.ndarray
    counts: np.ndarray
    sums: np.ndarray
    cells: np.ndarray
    cell_counts: np.ndarray

    @classmethod
    def of(cls, decision: np.ndarray, chosen: np.ndarray, y: np.ndarray, weights: np.ndarray) -> Self:
        """Count decisions.

        Parameters
        ----------
        decision : ndarray of shape (n_rows, n_classes)
        chosen : ndarray of int of shape (n_rows,)
            The predicted classes. Costs may make them differ from those of the highest probability.
        y : ndarray of int of shape (n_rows,)
        weights : ndarray of shape (n_rows,)
        """
        n_classes = decision.shape[1]
        edges, codes = FINE, np.array([1], dtype=np.int32)
        if n_classes > 2:
            totals = np.bincount(y, weights, n_classes)
            edges = COARSE
            codes = np.sort(np.argsort(-totals, kind="stable")[:MOST_CLASSES]).astype(np.int32)
        n_bins = len(edges) + 1
        counts = np.empty((len(codes), 2, n_bins), dtype=np.float32)
        sums = np.empty((len(codes), n_bins), dtype=np.float32)
        for place, code in enumerate(codes):
            shares = decision[:, code]
            bins = np.searchsorted(edges, shares, side="right")
            both = np.bincount(bins + n_bins * (y == code), weights, 2 * n_bins)
            counts[place] = both.reshape(2, n_bins)
            sums[place] = np.bincount(bins, weights * shares, n_bins)
        pairs, which = np.unique(y * n_classes + chosen, return_inverse=True)
        totals = np.bincount(which, weights, len(pairs))
        order = np.argsort(-totals, kind="stable")[:MOST_CELLS]
        cells = np.column_stack(np.divmod(pairs[order], n_classes)).astype(np.int32)
        return cls(codes, edges, counts, sums, cells, totals[order].astype(np.float32))

    def confusion(self, n_classes: int) -> np.ndarray:
        """Return the weight of the rows of each true class (row) for each predicted class (column)."""
        found = np.zeros((n_classes, n_classes))
        found[self.cells[:, 0], self.cells[:, 1]] = self.cell_counts
        return found

    def at_threshold(self, threshold: float) -> tuple[float, np.ndarray]:
        """Return the confusion matrix of two classes for another threshold.

        Parameters
        ----------
        threshold : float
            The probability from which on the second class is predicted.

        Returns
        -------
        threshold : float
            The nearest threshold with counts.
        confusion : ndarray of shape (2, 2)
        """
        nearest = int(np.abs(self.edges - threshold).argmin())
        below, above = np.split(self.counts[0].astype(np.float64), [nearest + 1], axis=1)
        return float(self.edges[nearest]), np.column_stack([below.sum(axis=1), above.sum(axis=1)])

    def with_threshold(self, threshold: float) -> Self:
        """Return the counts of decisions with another threshold, or with the nearest one that is counted."""
        _, confusion = self.at_threshold(threshold)
        cells = np.argwhere(confusion > 0).astype(np.int32)
        return replace(self, cells=cells, cell_counts=confusion[confusion > 0].astype(np.float32))

    def calibration(self, code: int) -> np.ndarray:
        """Return the mean probability, the share of rows of the class, and the weight, of each bin with rows.

        Parameters
        ----------
        code : int
            The number of a class in `codes`.

        Returns
        -------
        ndarray of shape (n_bins, 3)
        """
        place = self.codes.tolist().index(code)
        others, of_class = self.counts[place].astype(np.float64)
        weights = others + of_class
        known = weights > 0
        sums = self.sums[place][known].astype(np.float64)
        return np.column_stack([sums / weights[known], of_class[known] / weights[known], weights[known]])

    @classmethod
    def take(cls, given: Fields, n_classes: int) -> Self:
        """Read counts from the values of a file."""
        codes = given.array("codes", np.int32, (None,))
        edges = given.array("edges", np.float64, (None,))
        n_bins = len(edges) + 1
        counts = given.array("counts", np.float32, (len(codes), 2, n_bins))
        sums = given.array("sums", np.float32, (len(codes), n_bins))
        cells = given.array("cells", np.int32, (None, 2))
        cell_counts = given.array("cell_counts", np.float32, (len(cells),))
        given.finish()
        known = all(((each >= 0) & (each < n_classes)).all() for each in (codes, cells))
        given.require(known and (np.diff(edges) > 0).all(), "a class or a bin does not exist")
        return cls(codes, edges, counts, sums, cells, cell_counts)


@brief
@dataclass(frozen=True, eq=False)
class NumberDecisions:
    """Residuals by the predicted number, where a residual is the true minus the predicted number.

    Parameters
    ----------
    edges : ndarray of shape (n_edges,)
        The bounds of the bins of predictions: quantiles, which are rounded.
    counts : ndarray of float32 of shape (n_edges + 1,)
        The weight of the rows of each bin.
    residuals : ndarray of float32 of shape (n_edges + 1, 5)
        The quantiles of the residuals of each bin at 0.05, 0.25, 0.5, 0.75 and 0.95. NaN without any row.
    """

    edges: np.ndarray
    counts: np.ndarray
    residuals: np.ndarray

    @classmethod
    def of(cls, predicted: np.ndarray, residuals: np.ndarray, weights: np.ndarray) -> Self:
        """Count predictions, and compute the quantiles of their residuals."""
        n_bins = int(np.clip(len(predicted) // LEAST_ROWS, 1, MOST_BINS))
        edges = np.unique(rounded(np.quantile(predicted, np.arange(1, n_bins) / n_bins)))
        bins = np.searchsorted(edges, predicted, side="right")
        found = np.full((len(edges) + 1, len(RESIDUAL_LEVELS)), np.nan, dtype=np.float32)
        for place in np.unique(bins):
            found[place] = single(np.quantile(residuals[bins == place], RESIDUAL_LEVELS))
        return cls(edges, np.bincount(bins, weights, len(edges) + 1).astype(np.float32), found)

    @classmethod
    def take(cls, given: Fields) -> Self:
        """Read residuals from the values of a file."""
        edges = given.array("edges", np.float64, (None,))
        counts = given.array("counts", np.float32, (len(edges) + 1,))
        shape = len(counts), len(RESIDUAL_LEVELS)
        residuals = given.array("residuals", np.float32, shape, finite=False)
        given.finish()
        return cls(edges, counts, residuals)


@brief
@dataclass(frozen=True, eq=False)
class ValueScores:
    """Scores of the rows with a value of a column, for subgroups of rows.

    Parameters
    ----------
    columns, codes : ndarray of int32 of shape (n_values,)
        The column of each value, and its category counted from 1; for booleans, 1 is False and 2 is True.
    weights, losses : ndarray of float32 of shape (n_values,)
        The weight of the rows, and their mean log loss or squared error.
    conformity : ndarray of float32 of shape (n_values, 32, 2)
        The scores of `DecisionSummary.conformity` at equal steps of the sorted rows. Rows may be repeated.
    """

    columns: np.ndarray
    codes: np.ndarray
    weights: np.ndarray
    losses: np.ndarray
    conformity: np.ndarray

    @classmethod
    def of(cls, table: Table, honest: HonestVotes, decision: np.ndarray) -> Self:
        """Score the values of categories and booleans that have enough rows.

        Parameters
        ----------
        table : Table
            The rows of the honest votes.
        honest : HonestVotes
        decision : ndarray of shape (n_rows, n_outputs)
        """
        is_used = (honest.weights > 0) & np.isfinite(decision).all(axis=1)
        scores, order = conformity_of(honest, decision)
        losses = (log_losses if honest.are_classes else squared_errors)(decision[None], honest.y)[0]
        found: list[tuple[int, int, float, float, np.ndarray]] = []
        for place, column in enumerate(table.schema.columns):
            if column.kind not in (Kind.CATEGORY, Kind.BOOLEAN):
                continue
            values = np.asarray(table.columns[place], dtype=np.float64) + (column.kind is Kind.BOOLEAN)
            known = np.unique(values[is_used & (values >= 1)])
            if len(known) > MOST_SCORED_VALUES:
                continue
            for value in known:
                rows = order[(is_used & (values == value))[order]]
                if len(rows) < LEAST_OF_VALUE or len(found) == MOST_VALUES_IN_ALL:
                    continue
                steps = np.linspace(0, len(rows) - 1, N_OF_VALUE).round().astype(int)
                weights = honest.weights[rows]
                loss = float(weights @ losses[rows] / weights.sum())
                found.append((place, int(value), float(weights.sum()), loss, scores[rows[steps]]))
        columns, codes, weights, means, samples = zip(*found, strict=True) if found else ((),) * 5
        return cls(
            np.array(columns, dtype=np.int32),
            np.array(codes, dtype=np.int32),
            np.array(weights, dtype=np.float32),
            single(np.array(means)),
            single(np.array(samples)).reshape(-1, N_OF_VALUE, 2),
        )

    @classmethod
    def take(cls, given: Fields) -> Self:
        """Read scores from the values of a file."""
        columns = given.array("columns", np.int32, (None,))
        n_values = len(columns)
        codes = given.array("codes", np.int32, (n_values,))
        weights, losses = (given.array(name, np.float32, (n_values,)) for name in ("weights", "losses"))
        conformity = given.array("conformity", np.float32, (n_values, N_OF_VALUE, 2))
        given.finish()
        return cls(columns, codes, weights, losses, conformity)


@brief
@dataclass(frozen=True, eq=False)
class DecisionSummary:
    """What is known about the decisions of a committee on rows that its members were not fitted on.

    Parameters
    ----------
    n_rows, n_units : int
        The number of rows of positive weight, and of their groups; without groups, of rows.
    conformity : ndarray of float32 of shape (n_scores, 2)
        Up to 2,000 rows at equal steps in sorted order. For classes: the sum of the probabilities that are
        higher than that of the true class, and the probability of the true class; sorted by their sum, the
        adaptive conformity score. For numbers: the residual, and the standard deviation of the members'
        votes; sorted by the residual.
    weights : ndarray of float32 of shape (n_scores,), or None
        The weight of each score, such that a group counts as one row. None if all are equal.
    agreement : ndarray of float32 of shape (n_members, n_members)
        For classes, Cohen's kappa of the labels of each pair of members; for numbers, the correlation of
        their errors.
    by_class : ClassDecisions or None
    by_number : NumberDecisions or None
    by_value : ValueScores or None
        None unless the committee is automatic.
    """

    n_rows: int
    n_units: int
    conformity: np.ndarray
    weights: np.ndarray | None
    agreement: np.ndarray
    by_class: ClassDecisions | None = None
    by_number: NumberDecisions | None = None
    by_value: ValueScores | None = None

    @classmethod
    def of(
        cls, honest: HonestVotes, decision: np.ndarray, rule: Rule, by_value: ValueScores | None = None
    ) -> Self | None:
        """Summarise decisions.

        Parameters
        ----------
        honest : HonestVotes
        decision : ndarray of shape (n_rows, n_outputs)
            The decision of the rule on each row, fitted on other rows, by `decision_of_rule`.
        rule : Rule
            The rule of the committee. Its costs determine the predicted classes.
        by_value : ValueScores or None, default=None

        Returns
        -------
        DecisionSummary, or None if no row has a weight and a decision
        """
        used = np.flatnonzero((honest.weights > 0) & np.isfinite(decision).all(axis=1))
        if len(used) == 0:
            return None
        known, decision = honest.on(used), decision[used]
        y, weights = known.y.astype(np.int64 if known.are_classes else np.float64), known.weights
        by_class, by_number = None, None
        scores, order = conformity_of(known, decision)
        if known.are_classes:
            with one_blas_thread():
                agreement = kappas(labels_of(known.votes), weights, known.n_outputs)
            chosen = rule.shift(decision) if isinstance(rule, CostRule) else decision
            by_class = ClassDecisions.of(decision, chosen.argmax(axis=1), y, weights)
        else:
            with one_blas_thread():
                agreement = correlations(known.votes[:, :, 0].astype(np.float64) - y, weights)
            by_number = NumberDecisions.of(decision[:, 0], scores[:, 0], weights)
        n_units = len(used)
        if known.groups is not None:
            _, group_of = np.unique(known.groups, return_inverse=True)
            totals = np.bincount(group_of, weights)
            weights, n_units = weights / totals[group_of], len(totals)
        steps = np.linspace(0, len(order) - 1, min(len(order), MOST_SCORES)).round().astype(int)
        kept = order[steps]
        equal = (weights == weights[0]).all()
        return cls(
            len(used),
            n_units,
            single(scores[kept]),
            None if equal else weights[kept].astype(np.float32),
            agreement.astype(np.float32),
            by_class,
            by_number,
            by_value,
        )

    @classmethod
    def take(cls, given: Fields, n_members: int, n_outputs: int) -> Self:
        """Read a summary from the values of a file."""
        n_rows, n_units = (given.integer(name, 1, 2**62) for name in ("n_rows", "n_units"))
        conformity = given.array("conformity", np.float32, (None, 2))
        weights = given.optional_array("weights", np.float32, (len(conformity),))
        agreement = given.array("agreement", np.float32, (n_members, n_members), finite=False)
        by_class, by_number, by_value = (
            given.optional_fields(name) for name in ("by_class", "by_number", "by_value")
        )
        given.require((by_class is None) == (n_outputs == 1) != (by_number is None), "the task is another")
        given.finish()
        return cls(
            n_rows,
            n_units,
            conformity,
            weights,
            agreement,
            None if by_class is None else ClassDecisions.take(by_class, n_outputs),
            None if by_number is None else NumberDecisions.take(by_number),
            None if by_value is None else ValueScores.take(by_value),
        )


@brief
@dataclass(frozen=True, eq=False)
class ColumnSummary:
    """The values of a column, as aggregates of at most 10,000 rows.

    Parameters
    ----------
    name : str
    kind : str
        "number", "category", "boolean", "date" or "span".
    missing : float
        The share of missing values.
    association : float
        The share of the variance of the target, or of the Gini impurity of its classes, that ten bins of the
        column or its most frequent categories explain.
    quantiles : ndarray of shape (21,), or None
        The quantiles at 0.01, 0.05, 0.1, ..., 0.95 and 0.99, rounded to about a thousandth of their range.
        None for categories, and beyond 200 columns for those with the least association.
    frequent : dict of str to int
        The counts of up to 20 most frequent categories that occur more than once.
    """

    name: str
    kind: str
    missing: float
    association: float
    quantiles: np.ndarray | None
    frequent: Mapping[str, int]


@brief
@dataclass(frozen=True, eq=False)
class TableSummary:
    """The columns of the table of a fit. The names and the categories are those of its schema.

    Parameters
    ----------
    n_rows : int
        The number of rows that were looked at.
    missing, association : ndarray of float32 of shape (n_columns,)
    with_quantiles, with_counts : ndarray of int32 of shape (n_columns_of_numbers,) and (n_categories,)
        The columns that are described, of which there are at most 200: numbers and categories.
    quantiles : ndarray of float32 of shape (n_columns_of_numbers, 21)
        NaN for columns without values.
    codes, counts : ndarray of int32 of shape (n_categories, 20)
        The most frequent categories, counted from 1, and how often each occurs. 0 where there is none.
    """

    n_rows: int
    missing: np.ndarray
    association: np.ndarray
    with_quantiles: np.ndarray
    with_counts: np.ndarray
    quantiles: np.ndarray
    codes: np.ndarray
    counts: np.ndarray

    @classmethod
    def of(cls, table: Table, y: np.ndarray, n_classes: int) -> Self:
        """Summarise columns.

        Parameters
        ----------
        table : Table
            Rows of the training table in random order. Of wide tables, only the first ones are looked at.
        y : ndarray of shape (n_rows,)
            Their class codes, or numbers.
        n_classes : int
            1 for numbers.
        """
        n_columns = table.schema.n_columns
        n_rows = min(table.n_rows, max(LEAST_LOOKED_AT, MOST_CELLS_LOOKED_AT // n_columns))
        table = Table(table.schema, [np.asarray(each)[:n_rows] for each in table.columns], n_rows)
        y = y[:n_rows]
        missing, association = np.zeros(n_columns, np.float32), np.zeros(n_columns, np.float32)
        for place, (values, is_code) in enumerate(zip(table.columns, table.schema.is_category, strict=True)):
            is_missing = values == 0 if is_code else np.isnan(np.asarray(values, dtype=np.float64))
            missing[place] = is_missing.mean()
            association[place] = explained(bins_of(values, is_code), y, n_classes)
        described = np.sort(np.argsort(-association, kind="stable")[:MOST_COLUMNS]).astype(np.int32)
        is_category = table.schema.is_category[described]
        with_quantiles, with_counts = described[~is_category], described[is_category]
        quantiles = np.full((len(with_quantiles), len(LEVELS)), np.nan, np.float32)
        for row, place in enumerate(with_quantiles):
            if missing[place] < 1:
                numbers = np.asarray(table.columns[place], dtype=np.float64)
                quantiles[row] = single(rounded(np.nanquantile(numbers, LEVELS, method="inverted_cdf")))
        codes, counts = np.zeros((2, len(with_counts), MOST_VALUES), np.int32)
        for row, place in enumerate(with_counts):
            totals = np.bincount(table.columns[place], minlength=1)
            totals[0] = 0
            frequent = np.argsort(-totals, kind="stable")[:MOST_VALUES]
            frequent = frequent[totals[frequent] > 1]
            codes[row, : len(frequent)], counts[row, : len(frequent)] = frequent, totals[frequent]
        return cls(table.n_rows, missing, association, with_quantiles, with_counts, quantiles, codes, counts)

    def columns(self, schema: Schema) -> list[ColumnSummary]:
        """Return the summary of each column, with the names of its schema."""
        quantiles_of = dict(zip(self.with_quantiles.tolist(), self.quantiles, strict=True))
        rows = zip(self.codes.tolist(), self.counts.tolist(), strict=True)
        counts_of = dict(zip(self.with_counts.tolist(), rows, strict=True))
        found = []
        for place, column in enumerate(schema.columns):
            pairs = zip(*counts_of.get(place, ((), ())), strict=True)
            frequent = {str(column.categories[code - 1]): count for code, count in pairs if code}
            shares = float(self.missing[place]), float(self.association[place])
            quantiles = quantiles_of.get(place)
            found.append(ColumnSummary(column.name, column.kind.value, *shares, quantiles, frequent))
        return found

    @classmethod
    def take(cls, given: Fields, schema: Schema) -> Self:
        """Read a summary from the values of a file."""
        n_rows, n_columns = given.integer("n_rows", 1, 2**62), schema.n_columns
        missing, association = (
            given.array(name, np.float32, (n_columns,)) for name in ("missing", "association")
        )
        with_quantiles, with_counts = (
            given.array(name, np.int32, (None,)) for name in ("with_quantiles", "with_counts")
        )
        shape = len(with_quantiles), len(LEVELS)
        quantiles = given.array("quantiles", np.float32, shape, finite=False)
        codes, counts = (
            given.array(name, np.int32, (len(with_counts), MOST_VALUES)) for name in ("codes", "counts")
        )
        given.finish()
        for places in (with_quantiles, with_counts):
            given.require(((places >= 0) & (places < n_columns)).all(), "a column does not exist")
        most = schema.n_categories[with_counts][:, None]
        given.require(((codes >= 0) & (codes <= most)).all(), "a category does not exist")
        return cls(n_rows, missing, association, with_quantiles, with_counts, quantiles, codes, counts)


@brief
@dataclass(frozen=True, eq=False)
class FitSummary:
    """Aggregates of the rows of a fit, for intervals, sets, other thresholds and reports without data.

    Parameters
    ----------
    schema : Schema
    table : TableSummary or None
        None unless the committee is automatic.
    decisions : DecisionSummary or None
        None without honest votes.
    """

    schema: Schema = field(repr=False)
    table: TableSummary | None = None
    decisions: DecisionSummary | None = None

    @property
    def columns(self) -> list[ColumnSummary]:
        """The summary of each column; empty unless the committee is automatic."""
        return [] if self.table is None else self.table.columns(self.schema)

    def fields(self) -> dict[str, object]:
        """Return the values for `take`."""
        return {"table": plain(self.table), "decisions": plain(self.decisions)}

    @classmethod
    def take(cls, given: Fields, schema: Schema, n_members: int, n_outputs: int) -> Self:
        """Read a summary from the values of a file."""
        table, decisions = (given.optional_fields(name) for name in ("table", "decisions"))
        given.finish()
        return cls(
            schema,
            None if table is None else TableSummary.take(table, schema),
            None if decisions is None else DecisionSummary.take(decisions, n_members, n_outputs),
        )


def plain(summary: object) -> object:
    """Return the fields of a summary as nested dicts, with arrays unchanged."""
    parts = DecisionSummary | ClassDecisions | NumberDecisions | ValueScores | TableSummary
    if not isinstance(summary, parts):
        return summary
    return {each.name: plain(getattr(summary, each.name)) for each in fields(summary)}


def conformity_of(honest: HonestVotes, decision: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the two scores of each row that `DecisionSummary.conformity` describes, and their order."""
    if honest.are_classes:
        scores = adaptive_scores(decision, honest.y)
        return scores, np.argsort(scores.sum(axis=1), kind="stable")
    residuals = honest.y - decision[:, 0]
    spread = honest.votes[:, :, 0].std(axis=0, dtype=np.float64)
    return np.column_stack([residuals, spread]), np.argsort(residuals, kind="stable")


def adaptive_scores(decision: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the probability above that of the true class, and that of the true class.

    Of equal probabilities, that of the first class counts as higher.

    Examples
    --------
    >>> adaptive_scores(np.array([[0.5, 0.2, 0.3], [0.4, 0.4, 0.2]]), np.array([1, 1])).round(2)
    array([[0.8, 0.2],
           [0.4, 0.4]])
    """
    own = np.take_along_axis(decision, y[:, None], axis=1)
    is_higher = (decision > own) | ((decision == own) & (np.arange(decision.shape[1]) < y[:, None]))
    return np.column_stack([(decision * is_higher).sum(axis=1), own[:, 0]])


def kappas(labels: np.ndarray, weights: np.ndarray, n_classes: int) -> np.ndarray:
    """Return Cohen's kappa of each pair of members. It is NaN where both always predict the same class."""
    total = weights.sum()
    shares = np.array([np.bincount(each, weights, n_classes) for each in labels]) / total
    agreed = np.zeros((len(labels), len(labels)))
    for code in range(n_classes):
        is_class = (labels == code).astype(np.float64)
        agreed += (is_class * weights) @ is_class.T / total
    expected = shares @ shares.T
    found = np.divide(agreed - expected, 1 - expected, out=np.full_like(agreed, np.nan), where=expected < 1)
    np.fill_diagonal(found, 1.0)
    return found


def correlations(errors: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the weighted correlation of the errors of each pair of members. It is NaN without variance."""
    centred = errors - (errors @ weights / weights.sum())[:, None]
    products = (centred * weights) @ centred.T
    sizes = np.sqrt(products.diagonal())
    scale = np.outer(sizes, sizes)
    return np.divide(products, scale, out=np.full_like(products, np.nan), where=scale > 0)


def bins_of(values: np.ndarray, is_category: bool) -> np.ndarray:
    """Return the bin of each value: missing values, then frequent categories or quantiles, then the rest."""
    if is_category:
        totals = np.bincount(values, minlength=1)
        totals[0] = 0
        frequent = np.argsort(-totals, kind="stable")[:MOST_VALUES]
        place_of = np.full(len(totals), len(frequent) + 1)
        place_of[frequent] = np.arange(1, len(frequent) + 1)
        place_of[0] = 0
        return place_of[values]
    numbers = np.asarray(values, dtype=np.float64)
    known = ~np.isnan(numbers)
    found = np.zeros(len(numbers), dtype=np.intp)
    if known.any():
        levels = np.arange(1, N_BINS) / N_BINS
        edges = np.unique(np.quantile(numbers[known], levels, method="inverted_cdf"))
        found[known] = 1 + np.searchsorted(edges, numbers[known])
    return found


def explained(bins: np.ndarray, y: np.ndarray, n_classes: int) -> float:
    """Return the share of the variance or Gini impurity of y that bins explain.

    Examples
    --------
    >>> explained(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0]), 2)
    1.0
    >>> round(explained(np.array([0, 0, 1, 1]), np.array([1.0, 3.0, 2.0, 6.0]), 1), 3)
    0.286
    """
    sizes = np.bincount(bins)
    if n_classes > 1:
        both = np.bincount(bins * n_classes + y, minlength=len(sizes) * n_classes).reshape(-1, n_classes)
        total = len(y) - np.square(both.sum(axis=0)).sum() / len(y)
        within = len(y) - (np.square(both).sum(axis=1)[sizes > 0] / sizes[sizes > 0]).sum()
    else:
        centred = y - y.mean()
        total = centred @ centred
        within = total - (np.square(np.bincount(bins, centred))[sizes > 0] / sizes[sizes > 0]).sum()
    return float(1 - within / total) if total > 0 else 0.0


def single(values: np.ndarray) -> np.ndarray:
    """Return numbers as float32; larger ones become the largest.

    Examples
    --------
    >>> single(np.array([0.5, -1e308]))
    array([ 5.0000000e-01, -3.4028235e+38], dtype=float32)
    """
    largest = np.finfo(np.float32).max
    return np.clip(values, -largest, largest).astype(np.float32)


def rounded(quantiles: np.ndarray) -> np.ndarray:
    """Round quantiles to a thousandth of their range or less, so that they are not exact values of rows.

    Examples
    --------
    >>> rounded(np.array([1.234567, 5.0001, 9.876543]))
    array([1.235, 5.   , 9.877])
    """
    width = float(quantiles[-1] - quantiles[0]) if len(quantiles) else 0.0
    if not 0 < width < np.inf:
        return quantiles
    return np.round(quantiles, -int(np.floor(np.log10(width / 1000))))
