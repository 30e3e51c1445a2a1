"""Draw bags: the rows of the training set of each member."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from committee import _engine
from committee.learners.training_data import Training
from committee.parameters import LARGEST_INTEGER, is_float
from committee.saving import Fields
from committee.table import BinnedTable
from committee.task import are_repetitions, row_weights


@dataclass(frozen=True, eq=False)
class Bags:
    """The settings by which the rows of members are drawn. Bags are not stored, but drawn again if needed.

    Units are rows, or groups of rows that are drawn together. Their order depends on their content and not on
    their position, so the order of the table changes no bag.

    Parameters
    ----------
    n_rows : int
    units : ndarray of uint32
        Rows or groups, stratum after stratum. Without replacement, a row of weight 2 occurs twice.
    ends, n_draws : ndarray of uint64 of shape (n_strata,)
        The end of each stratum in `units`, and the number of its units to draw.
    weights : ndarray of uint32 of shape (n_units,), or None
        Units are drawn in proportion to these. None draws all with the same probability.
    groups : ndarray of uint32 of shape (n_rows,), or None
        The group of each row, if groups are drawn.
    replaces : bool
        Whether units are drawn with replacement.
    keeps_weights : bool
        Whether a drawn row keeps its weight. False gives it the weight 1.

    Examples
    --------
    >>> from committee.table import bin_table
    >>> from committee.task import Classification
    >>> task, y = Classification.of(["a", "a", "a", "b"])
    >>> training = Training(bin_table([[1], [2], [3], [4]]), task, y, None)
    >>> bags = Bags.of(training, training.table, None, bootstrap=True, max_samples=1.0, sampling="balanced")
    >>> counts = bags.draw(seed=0, member=3)
    >>> counts[:3].sum(), counts[3]
    (np.uint64(1), np.uint32(1))
    """

    n_rows: int
    units: np.ndarray
    ends: np.ndarray
    n_draws: np.ndarray
    weights: np.ndarray | None
    groups: np.ndarray | None
    replaces: bool
    keeps_weights: bool

    @classmethod
    def of(
        cls,
        training: Training,
        binned: BinnedTable,
        groups: np.ndarray | None,
        *,
        bootstrap: bool,
        max_samples: int | float,
        sampling: str = "plain",
        repeats: np.ndarray | None = None,
        n_threads: int = 1,
    ) -> Self:
        """Return the bags of a fit. Raise if rows cannot be drawn with these settings.

        Parameters
        ----------
        training : Training
        binned : BinnedTable
        groups : ndarray of int of shape (n_rows,), or None
        bootstrap : bool
            Whether rows are drawn with replacement, in proportion to their weights.
        max_samples : int or float
            The number of units to draw, or the share of all.
        sampling : {"plain", "stratified", "balanced"}, default="plain"
            Whether each class is drawn separately: in proportion to its rows, or equally often.
        repeats : ndarray of shape (n_rows,), or None
            The number of repetitions of each row, if the weights of the rows are repetitions.
        n_threads : int, default=1
        """
        weights = training.weights
        units = training.rows_by_content(binned, n_threads)
        repeats = None if repeats is None or groups is not None else repeats.astype(np.int64)
        rows = units
        if groups is not None:
            _, first = np.unique(groups[units], return_index=True)
            rows = units[np.sort(first)]
        elif not bootstrap and repeats is not None:
            rows = np.repeat(units, repeats[units])
        strata, ends = np.zeros(len(rows), dtype=np.int32), np.array([len(rows)])
        if sampling != "plain":
            if groups is not None:
                check_pure_groups(groups[units], training.y[units])
            rows = rows[np.argsort(training.y[rows], kind="stable")]
            strata = training.y[rows]
            ends = np.bincount(strata, minlength=training.n_classes).cumsum()
        counts = np.diff(ends, prepend=0)
        if bootstrap and repeats is not None:
            counts = np.bincount(strata, weights=repeats[rows], minlength=len(ends)).astype(np.int64)
        what = "rows" if groups is None else "groups"
        drawn = draws_by_stratum(counts, max_samples, is_balanced=sampling == "balanced", what=what)
        if training.n_classes > 0 and groups is None:
            check_room(int(drawn.sum()), len(np.unique(training.y[units])), max_samples, what)
        is_weighted = bootstrap and groups is None and weights is not None
        fixed = None if training.fixed is None else training.fixed[rows]
        return cls(
            training.table.n_rows,
            np.ascontiguousarray(rows if groups is None else groups[rows], dtype=np.uint32),
            ends.astype(np.uint64),
            drawn.astype(np.uint64),
            np.ascontiguousarray(fixed) if is_weighted else None,
            None if groups is None else groups.astype(np.uint32),
            bootstrap,
            (groups is not None or not bootstrap) and weights_each_time(weights, repeats) is not None,
        )

    @classmethod
    def of_forest(cls, training: Training, binned: BinnedTable, n_draws: int, n_threads: int) -> Self:
        """Return bags of any number of rows, drawn with replacement in proportion to their weights."""
        units, fixed = training.rows_by_content(binned, n_threads), training.fixed
        weights = None if fixed is None else np.ascontiguousarray(fixed[units])
        ends, drawn = np.array([len(units)], dtype=np.uint64), np.array([n_draws], dtype=np.uint64)
        return cls(training.table.n_rows, units, ends, drawn, weights, None, True, False)

    @classmethod
    def of_all_rows(cls, training: Training) -> Self:
        """Return bags that contain all rows of positive weight."""
        n_rows, weights = training.table.n_rows, training.weights
        units = np.flatnonzero(np.ones(n_rows) if weights is None else weights).astype(np.uint32)
        total = np.array([len(units)], dtype=np.uint64)
        return cls(n_rows, units, total, total, None, None, False, False)

    @classmethod
    def take(cls, fields: Fields) -> Self:
        """Take bags from a saved file."""
        n_rows = fields.integer("n_rows", 1, 2**30)
        units = fields.array("units", np.uint32, (None,))
        ends = fields.array("ends", np.uint64, (None,))
        bags = cls(
            n_rows,
            units,
            ends,
            fields.array("n_draws", np.uint64, (len(ends),)),
            fields.optional_array("weights", np.uint32, (len(units),)),
            fields.optional_array("groups", np.uint32, (n_rows,)),
            fields.take("replaces", bool),
            fields.take("keeps_weights", bool),
        )
        fields.finish()
        try:
            bags.drawing()
        except ValueError as error:
            fields.require(False, str(error).removesuffix("."))
        return bags

    @property
    def total(self) -> int:
        """The number of units in a bag."""
        return int(self.n_draws.sum())

    @property
    def most_weight(self) -> int:
        """The largest total weight of the rows of a bag, in fixed point."""
        return 2**31 - 1 if self.keeps_weights or self.groups is not None else self.total

    @property
    def leaves_rows(self) -> bool:
        """Whether there may be rows outside of a bag."""
        return self.replaces or self.total < len(self.units)

    def drawing(self) -> _engine.Drawing:
        """Return the drawing as the engine takes it."""
        return _engine.Drawing(
            self.n_rows,
            self.units,
            self.ends,
            self.n_draws,
            self.weights,
            self.groups,
            self.replaces,
            self.keeps_weights,
        )

    def equals(self, other: Bags) -> bool:
        """Return whether all settings are equal to those of other bags."""
        return all(np.array_equal(value, vars(other)[name]) for name, value in vars(self).items())

    def draw(self, seed: int, member: int) -> np.ndarray:
        """Return how often the bag of a member contains each row, as uint32 of shape (n_rows,)."""
        return self.drawing().draw(seed, member)

    def rows(self, seed: int, member: int) -> np.ndarray:
        """Return the rows in the bag of a member, each as often as it was drawn."""
        return np.repeat(np.arange(self.n_rows), self.draw(seed, member))


@dataclass(frozen=True, eq=False)
class ForestBags:
    """The bags of the trees of a forest. A resumed fit may draw from other rows than the previous fit.

    Parameters
    ----------
    parts : tuple of (int, Bags)
        The bags of each fit, and the first tree that uses them. Files of old versions contain none.
    """

    parts: tuple[tuple[int, Bags], ...] = ()

    @classmethod
    def take(cls, fields: Fields, n_trees: int) -> Self:
        """Take the bags from a saved file. Files of old versions contain none."""
        parts = []
        for each in fields.take("bags", list) if "bags" in fields else []:
            fields.require(isinstance(each, dict), "a bag is not a dict")
            named = Fields(each, "bags.")
            parts.append((named.integer("first", 0, n_trees - 1), Bags.take(named.fields("bags"))))
            named.finish()
        firsts = [first for first, _ in parts]
        fields.require(not firsts or firsts[0] == 0, "the first tree has no bag")
        fields.require(sorted(set(firsts)) == firsts, "the bags are out of order")
        return cls(tuple(parts))

    def learnt(self) -> list[dict[str, Any]]:
        """Return the values to save."""
        return [{"first": first, "bags": vars(bags)} for first, bags in self.parts]

    def and_then(self, bags: Bags, first: int) -> Self:
        """Add the bags of the trees from a first one on."""
        if first > 0 and (not self.parts or bags.equals(self.parts[-1][1])):
            return self
        return type(self)((*self.parts, (first, bags)))

    def check_rows(self, bags: Bags) -> None:
        """Raise if further bags are drawn from other rows than those of the out-of-bag votes."""
        if not self.parts:
            return
        _, before = self.parts[-1]
        units, weights = (before.units, bags.units), (before.weights, bags.weights)
        if not (np.array_equal(*units) and np.array_equal(*weights)):  # type: ignore[arg-type]
            raise ValueError(
                "The out-of-bag votes of the previous fit are on other rows, or on rows of other weights. "
                "With warm_start=True, pass the same X, y and sample_weight, or set oob_score=False and a "
                "rule that does not learn."
            )

    def rows(self, seed: int, n_trees: int) -> list[np.ndarray]:
        """Return the rows in the bag of each tree, each as often as it was drawn."""
        if not self.parts:
            raise AttributeError("The file of this forest is of an old version without bags. Fit it again.")
        ends = [*(first for first, _ in self.parts[1:]), n_trees]
        return [
            bags.rows(seed, tree)
            for (first, bags), end in zip(self.parts, ends, strict=True)
            for tree in range(first, end)
        ]


def weights_each_time(weights: np.ndarray | None, repeats: np.ndarray | None) -> np.ndarray | None:
    """Return the weight of one repetition of each row, or None if all are 1.

    Examples
    --------
    >>> weights_each_time(np.array([2.0, 6.0, 0.0]), np.array([2, 3, 0]))
    array([1., 2., 0.])
    """
    if weights is None or repeats is None:
        return weights
    return None if np.array_equal(weights, repeats) else weights / np.maximum(repeats, 1)


def check_pure_groups(groups: np.ndarray, y: np.ndarray) -> None:
    """Raise if a group has rows of several classes, because then groups cannot be drawn by class."""
    classes_of = np.unique(np.column_stack([groups, y]), axis=0)[:, 0]
    if len(classes_of) > len(np.unique(groups)):
        raise ValueError(
            "Groups are drawn as a whole, and some have rows of several classes. Set sampling='plain', or "
            "pass groups of one class each."
        )


def check_room(n_drawn: int, n_classes: int, max_samples: int | float, what: str) -> None:
    """Raise if a bag is too small to hold all classes.

    Examples
    --------
    >>> check_room(2, 3, 0.1, "rows")
    Traceback (most recent call last):
    ValueError: max_samples=0.1 draws 2 rows, and there are 3 classes. Raise it.
    """
    if n_drawn < n_classes:
        raise ValueError(
            f"max_samples={max_samples} draws {n_drawn} {what}, and there are {n_classes} classes. Raise it."
        )


def draws_by_stratum(
    counts: np.ndarray, max_samples: int | float, *, is_balanced: bool, what: str
) -> np.ndarray:
    """Return the number of units to draw from each stratum.

    Parameters
    ----------
    counts : ndarray of int of shape (n_strata,)
        The number of units of each stratum. Empty strata are skipped.
    max_samples : int or float
        The number of units to draw from all strata together, or the share.
    is_balanced : bool
        Whether to draw the same number from each stratum, at most the size of the smallest.
    what : {"rows", "groups"}

    Returns
    -------
    ndarray of int of shape (n_strata,)

    Examples
    --------
    >>> draws_by_stratum(np.array([90, 0, 10]), 0.5, is_balanced=False, what="rows")
    array([45,  0,  5])
    >>> draws_by_stratum(np.array([90, 0, 10]), 1.0, is_balanced=True, what="rows")
    array([10,  0, 10])
    >>> draws_by_stratum(np.array([3, 2]), 9, is_balanced=False, what="rows")
    Traceback (most recent call last):
    ValueError: max_samples=9 is more than the 5 rows that can be drawn. Lower it, or pass a share in (0, 1].
    """
    is_there = counts > 0
    available = counts.sum()
    if is_balanced:
        counts = np.where(is_there, counts[is_there].min(), 0)
    most = counts.sum()
    total = max(1, int(max_samples * most)) if is_float(max_samples) else int(max_samples)
    if total > most:
        whose = "can be drawn" if most == available else "can be drawn in equal numbers per class"
        raise ValueError(
            f"max_samples={max_samples} is more than the {most} {what} that {whose}. Lower it, or pass a "
            "share in (0, 1]."
        )
    check_room(total, int(is_there.sum()), max_samples, what)
    # Rounding leaves some draws over. They go to the strata with the largest remainders.
    exact = total * (counts / most)
    drawn = np.where(is_there, np.maximum(1, np.floor(exact + 1e-9)), 0).astype(np.int64)
    while drawn.sum() < total:
        drawn[(exact - drawn).argmax()] += 1
    while drawn.sum() > total:
        drawn[np.where(drawn > 1, drawn - exact, -np.inf).argmax()] -= 1
    return drawn


def repeats_of(sample_weight: Any, n_rows: int) -> np.ndarray | None:
    """Return the weights of the rows if they are repetitions of rows, else None.

    Examples
    --------
    >>> repeats_of([2, 0, 1], 3), repeats_of([0.5, 0, 2], 3)
    (array([2., 0., 1.]), None)
    """
    weights = row_weights(sample_weight, n_rows)
    return weights if weights is not None and are_repetitions(weights) else None


def n_draws(
    weights: np.ndarray | None, repeats: np.ndarray | None, n_rows: int, max_samples: int | float | None
) -> int:
    """Return the number of rows that a tree draws.

    Parameters
    ----------
    weights : ndarray of shape (n_rows,) or None
        Only the number of positive weights matters.
    repeats : ndarray of shape (n_rows,) or None
        The number of repetitions of each row, if the weights are repetitions.
    n_rows : int
    max_samples : int, float or None
        A number of rows, or a share of the number that None draws.

    Returns
    -------
    int

    Examples
    --------
    >>> weights = np.array([2.0, 0.0, 1.0])
    >>> n_draws(weights, weights, 3, None), n_draws(weights, None, 3, None)
    (3, 2)
    >>> n_draws(None, None, 1000, 0.25), n_draws(None, None, 1000, 1.5)
    (250, 1500)
    """
    if max_samples is not None and not is_float(max_samples):
        return int(max_samples)
    there: Any = slice(None) if weights is None else weights > 0
    available = int((np.ones(n_rows) if repeats is None else repeats)[there].sum())
    drawn = available if max_samples is None else max_samples * available
    if drawn > LARGEST_INTEGER:
        raise ValueError(
            f"max_samples={max_samples} draws {drawn:.10g} rows, but the limit is {LARGEST_INTEGER}."
        )
    return max(1, int(drawn))
