"""A shallow tree whose leaves are regions, as plain arrays.

Node 0 is the root. A node with children asks whether a column is at most a threshold, and sends a row to its
first child if so, to the second if not; the others are leaves. Regions are the leaves in the order of their
nodes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.tree import DecisionTreeRegressor


@dataclass(frozen=True, eq=False)
class RegionTree:
    """The nodes of a tree.

    Parameters
    ----------
    columns : ndarray of int64 of shape (n_nodes,)
        0 for leaves.
    thresholds : ndarray of shape (n_nodes,)
        0 for leaves.
    children : ndarray of int64 of shape (n_nodes, 2)
        0 for leaves: no node has the root as a child.
    """

    columns: np.ndarray
    thresholds: np.ndarray
    children: np.ndarray

    @classmethod
    def of(cls, tree: DecisionTreeRegressor) -> RegionTree:
        """The nodes of a tree of scikit-learn."""
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
        """Whether every way down ends in a leaf, and all columns are there."""
        is_leaf = self.children[:, 0] == 0
        onward = self.children > np.arange(len(self.children))[:, None]
        is_within = self.children < len(self.children)
        return bool(
            ((onward & is_within).all(axis=1) | (is_leaf & (self.children[:, 1] == 0))).all()
            and (self.columns < n_columns).all()
        )

    def region(self, points: np.ndarray) -> np.ndarray:
        """The region of each point.

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
        # In the precision in which scikit-learn has found the thresholds.
        values = points.astype(np.float32)
        while not is_leaf[nodes].all():
            goes_second = values[rows, self.columns[nodes]] > self.thresholds[nodes]
            below = self.children[nodes, goes_second.astype(np.int64)]
            nodes = np.where(is_leaf[nodes], nodes, below)
        return regions[nodes]
