"""Selection by region: X is partitioned, and the best member of each region decides there.

In: honest votes with their rows. Out: a member for each region. With clusters, this is clustering and
selection (Kuncheva 2000).
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from committee.combining.rule import Rule
from committee.combining.selection.feature_space import Space, as_matrix
from committee.metrics.metric_table import METRICS
from committee.metrics.scoring import learnt_by
from committee.parameters import RANDOM_STATE, Constraint, declared, integer, one_of, parameter
from committee.saving import DamagedFile
from committee.saving.format import attributes
from committee.table.input_types import RandomState, TableLike
from committee.table.nearest_rows import distances_between
from committee.votes.honest_votes import HonestVotes
from committee.votes.vote_arrays import are_classes, blocks_of, rescaled

if TYPE_CHECKING:
    from sklearn.tree import DecisionTreeRegressor

# Metrics that are means over rows.
OF_ROWS = [name for name, metric in METRICS.items() if metric.losses is not None]


@declared
class RegionRule(Rule):
    """Select the member with the lowest loss in each region of X, or the first of several.

    In regions with fewer than `min_rows` rows, the best member on all rows decides. X must be a matrix of
    numbers without missing values. Its columns are scaled to the standard deviation 1.

    Attributes
    ----------
    best_ : int
        The best member on all rows.
    members_ : ndarray of shape (n_regions,)
        The member that decides in each region.
    losses_ : ndarray of shape (n_regions, n_members)
        The loss of each member in each region. NaN in a region without rows.
    n_rows_ : ndarray of shape (n_regions,)
        The number of rows of the fit in each region.
    center_, spread_ : ndarray of shape (n_columns,)
        The shift and the scale of the columns.
    centroids_ : ndarray of shape (n_regions, n_columns)
        The centers of the clusters.
    columns_, thresholds_, children_ : ndarray of shape (n_nodes,) and (n_nodes, 2)
        The nodes of the tree. A row goes to the first child if the scaled column is at most the threshold.
        The children of leaves are 0. The leaves, in the order of their nodes, are the regions.

    References
    ----------
    L. I. Kuncheva (2000). Clustering-and-selection model for classifier combination. KES.

    Examples
    --------
    The first member is correct for negative values, and the second for positive values:

    >>> X = [[-3.0], [-2.0], [2.0], [3.0]]
    >>> votes = [[[0.9, 0.1]] * 4, [[0.2, 0.8]] * 4]
    >>> rule = RegionRule(n_regions=2, min_rows=1, random_state=0).fit(votes, [0, 0, 1, 1], X)
    >>> rule.combine([[[0.9, 0.1]] * 2, [[0.2, 0.8]] * 2], [[-2.5], [2.5]])
    array([[0.9, 0.1],
           [0.2, 0.8]])
    """

    needs_X: ClassVar[bool] = True
    tasks: ClassVar[tuple[str, ...]] = ("classification", "regression")

    kept: ClassVar[Mapping[str, attributes.Kind]] = {
        "center_": attributes.floats("columns"),
        "spread_": attributes.positive("columns"),
        "centroids_": attributes.floats(None, "columns"),
        "columns_": attributes.integers("nodes"),
        "thresholds_": attributes.floats("nodes"),
        "children_": attributes.integers("nodes", 2),
        "members_": attributes.integers("regions", below="members"),
        "losses_": attributes.floats("regions", "members", missing=True),
        "n_rows_": attributes.integers("regions"),
        "best_": attributes.integer(),
    }

    partition: str = parameter(
        "clusters",
        one_of("clusters", "tree"),
        "How to find the regions: by k-means, or by a shallow tree that splits where the members' losses "
        "differ.",
    )
    n_regions: int = parameter(8, integer(2), "The maximum number of regions.")
    min_rows: int = parameter(
        10,
        integer(1),
        "The minimum number of rows to select a member for a region. A row of weight 2 counts as two.",
    )
    scoring: str | None = parameter(
        None,
        Constraint(f"one of {', '.join(OF_ROWS)}, or None"),
        "The score to maximise. None is neg_log_loss for classification and neg_mean_squared_error for "
        "regression.",
    )
    random_state: RandomState = parameter(
        None, RANDOM_STATE, "The seed of the initial centers of the clusters."
    )

    def region(self, X: TableLike | None) -> np.ndarray:
        """Return the region of each row.

        Parameters
        ----------
        X : matrix of shape (n_rows, n_columns)

        Returns
        -------
        ndarray of int of shape (n_rows,)
        """
        self._check_fitted()
        return self._region(X)

    def _region(self, X: TableLike | None) -> np.ndarray:
        points = Space(self.center_, self.spread_).points(as_matrix(X))
        if len(points) == 0:
            return np.empty(0, dtype=np.intp)
        if self.partition == "tree":
            return self._tree().region(points)
        return distances_between(points, self.centroids_).argmin(axis=1)

    def _check_kind(self, n_members: int, n_outputs: int, is_weighted: bool) -> None:
        if learnt_by(self.scoring, n_outputs).losses is None:
            raise ValueError(
                f"scoring={self.scoring!r} is not based on losses of rows. Use one of {', '.join(OF_ROWS)}."
            )

    def _learn(self, honest: HonestVotes) -> None:
        metric = learnt_by(self.scoring, honest.n_outputs)
        losses_of = metric.learnt_losses
        assert losses_of is not None
        X = as_matrix(honest.X)
        # Rows are sorted, so that the initial centers do not depend on their order.
        rows = np.lexsort(X.T[::-1])
        rows = rows[honest.weights[rows] > 0]
        X = X[rows]
        weights = metric.weights(honest.y, honest.weights)[rows]
        row_losses = np.concatenate([losses_of(votes, y) for votes, y, _ in honest.blocks()], axis=1)
        losses = row_losses.T[rows]
        own = np.ones(losses.shape) if honest.has_voted is None else honest.has_voted.T[rows]
        space = Space.of(X, honest.weights[rows])
        self.center_, self.spread_ = space.center, space.spread
        repeats = honest.repeats[rows]
        self._divide(space.points(X), losses, own, honest.weights[rows], repeats)

        regions = self._region(X)
        n_regions = self._tree().n_regions if self.partition == "tree" else len(self.centroids_)
        total = np.zeros((n_regions, honest.n_members))
        size = np.zeros_like(total)
        np.add.at(total, regions, losses * own * weights[:, None])
        np.add.at(size, regions, own * weights[:, None])
        self.losses_ = mean_losses(total, size)
        self.n_rows_ = np.bincount(regions, repeats, n_regions).astype(np.int64)
        self.best_ = lowest_of(mean_losses(total.sum(axis=0), size.sum(axis=0)))
        own_best = np.array([lowest_of(losses) for losses in self.losses_])
        self.members_ = np.where(self.n_rows_ >= self.min_rows, own_best, self.best_)

    def _divide(
        self,
        points: np.ndarray,
        losses: np.ndarray,
        own: np.ndarray,
        weights: np.ndarray,
        repeats: np.ndarray,
    ) -> None:
        """Find the regions."""
        from sklearn.cluster import KMeans
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.tree import DecisionTreeRegressor
        from threadpoolctl import threadpool_limits

        self.centroids_ = np.empty((0, points.shape[1]))
        self.columns_, self.thresholds_ = np.empty(0, dtype=np.int64), np.empty(0)
        self.children_ = np.empty((0, 2), dtype=np.int64)
        if self.partition == "tree":
            # Only differences between members matter, so the mean loss of each row is subtracted.
            usual = (losses * own).sum(axis=1, keepdims=True) / own.sum(axis=1, keepdims=True).clip(1)
            relative = (losses - usual) * own
            tree = DecisionTreeRegressor(
                max_leaf_nodes=self.n_regions, min_samples_leaf=self.min_rows, random_state=self.random_state
            )
            # Rows are repeated, because the tree counts the rows of its leaves.
            each = np.repeat(np.arange(len(points)), repeats)
            found = RegionTree.of(tree.fit(points[each], relative[each], (weights / repeats)[each]))
            self.columns_, self.thresholds_, self.children_ = found.columns, found.thresholds, found.children
            return
        n_clusters = min(self.n_regions, len(np.unique(points, axis=0)))
        clusters = KMeans(n_clusters, n_init=3, random_state=self.random_state)
        # With several threads, the order of additions would not be deterministic.
        with threadpool_limits(1), warnings.catch_warnings():
            # Fewer distinct points than regions are allowed, because n_regions is a maximum.
            warnings.filterwarnings("ignore", "Number of distinct clusters", ConvergenceWarning)
            self.centroids_ = clusters.fit(points, sample_weight=weights).cluster_centers_

    def _check_learnt(self) -> None:
        """Raise if the attributes from a file do not fit together."""
        is_tree = self.partition == "tree"
        n_regions = self._tree().n_regions if is_tree else len(self.centroids_)
        is_sound = len(self.center_) > 0 and n_regions == len(self.members_) > 0
        if not is_sound or not (self._tree().is_sound(len(self.center_)) if is_tree else True):
            raise DamagedFile("The regions of a RegionRule do not fit together.")

    def _tree(self) -> RegionTree:
        return RegionTree(self.columns_, self.thresholds_, self.children_)

    def _combine(self, votes: np.ndarray, X: TableLike | None) -> np.ndarray:
        members = self.members_[self._region(X)]
        decision = np.empty(votes.shape[1:])
        for rows, block in blocks_of(votes):
            chosen = np.take_along_axis(block, members[rows][None, :, None], axis=0)[0]
            decision[rows] = rescaled(chosen) if are_classes(block) else chosen
        return decision


def mean_losses(total: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Divide losses by the weight of their rows. Return NaN where there are no rows."""
    return np.divide(total, size, out=np.full_like(total, np.nan), where=size > 0)


def lowest_of(losses: np.ndarray) -> int:
    """Return the first member with the lowest loss. NaN is not a loss."""
    return int(np.where(np.isnan(losses), np.inf, losses).argmin())


@dataclass(frozen=True, eq=False)
class RegionTree:
    """A shallow tree whose leaves are regions, as plain arrays.

    Node 0 is the root. In a node with children, a row goes to the first child if its column is at most the
    threshold, and else to the second. The other nodes are leaves. Regions are the leaves in the order of
    their nodes.

    Parameters
    ----------
    columns : ndarray of int64 of shape (n_nodes,)
        0 for leaves.
    thresholds : ndarray of shape (n_nodes,)
        0 for leaves.
    children : ndarray of int64 of shape (n_nodes, 2)
        0 for leaves. The root is never a child.
    """

    columns: np.ndarray
    thresholds: np.ndarray
    children: np.ndarray

    @classmethod
    def of(cls, tree: DecisionTreeRegressor) -> RegionTree:
        """Copy the nodes of a tree of scikit-learn."""
        nodes = tree.tree_
        is_leaf = nodes.children_left < 0
        children = np.column_stack([nodes.children_left, nodes.children_right])
        return cls(
            np.where(is_leaf, 0, nodes.feature).astype(np.int64),
            np.where(is_leaf, 0.0, nodes.threshold),
            np.where(is_leaf[:, None], 0, children).astype(np.int64),
        )

    @property
    def n_regions(self) -> int:
        """The number of leaves."""
        return int((self.children[:, 0] == 0).sum())

    def is_sound(self, n_columns: int) -> bool:
        """Return whether every path ends in a leaf, and all columns exist."""
        is_leaf = self.children[:, 0] == 0
        onward = self.children > np.arange(len(self.children))[:, None]
        is_within = self.children < len(self.children)
        return bool(
            ((onward & is_within).all(axis=1) | (is_leaf & (self.children[:, 1] == 0))).all()
            and (self.columns < n_columns).all()
        )

    def region(self, points: np.ndarray) -> np.ndarray:
        """Return the region of each point.

        Examples
        --------
        >>> tree = RegionTree(np.array([1, 0, 0]), np.array([0.5, 0, 0]), np.array([[1, 2], [0, 0], [0, 0]]))
        >>> tree.region(np.array([[9.0, 0.0], [9.0, 1.0]]))
        array([0, 1])
        """
        is_leaf = self.children[:, 0] == 0
        regions = np.cumsum(is_leaf) - 1
        nodes = np.zeros(len(points), dtype=np.int64)
        rows = np.arange(len(points))
        # scikit-learn computes thresholds in float32, so rows are compared in this precision.
        values = points.astype(np.float32)
        while not is_leaf[nodes].all():
            goes_second = values[rows, self.columns[nodes]] > self.thresholds[nodes]
            below = self.children[nodes, goes_second.astype(np.int64)]
            nodes = np.where(is_leaf[nodes], nodes, below)
        return regions[nodes]
