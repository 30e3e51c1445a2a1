"""View a grown tree as arrays with the names of scikit-learn's `tree_`.

In: a tree of the engine. Out: `TreeArrays`, one array per attribute of the nodes. Trees of ensembles store
values and weights for their leaves only; those of inner nodes follow from them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse

from committee import _engine

# What scikit-learn stores for a leaf in the arrays of columns and thresholds, and in those of children.
UNDEFINED, NO_CHILD = -2, -1


@dataclass(frozen=True, eq=False)
class TreeArrays:
    """The nodes of a tree as read-only arrays, with the names of scikit-learn's `tree_`.

    A row goes to the left child if its value is at most the threshold. The threshold is infinite if the split
    only separates missing values, and NaN if it splits categories.

    Parameters
    ----------
    children_left, children_right : ndarray of int of shape (node_count,)
        -1 for a leaf.
    feature : ndarray of int of shape (node_count,)
        The column of the split, -2 for a leaf.
    threshold : ndarray of shape (node_count,)
        -2 for a leaf.
    missing_go_to_left : ndarray of uint8 of shape (node_count,)
    value : ndarray of shape (node_count, n_outputs, max_n_classes)
        Shares of the classes, numbers, or what a booster adds to its scores.
    impurity : ndarray of shape (node_count,)
        NaN for regression trees of ensembles, which do not store it.
    n_node_samples : ndarray of int of shape (node_count,)
        The number of training rows. For trees of ensembles, which do not store it, it is the rounded weight.
    weighted_n_node_samples : ndarray of shape (node_count,)
    n_features : int
    n_classes : ndarray of int of shape (n_outputs,)
        1 for numbers.
    left_categories : mapping of int to ndarray of int
        For each node that splits categories, the codes of those that go left, from 1 on.

    Examples
    --------
    >>> from committee import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier().fit([[1], [2], [8], [9]], [0, 0, 1, 1]).tree_
    >>> tree.children_left, tree.threshold, tree.value[:, 0]
    (array([ 1, -1, -1]), array([ 5., -2., -2.]), array([[0.5, 0.5],
           [1. , 0. ],
           [0. , 1. ]]))
    """

    children_left: np.ndarray
    children_right: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    missing_go_to_left: np.ndarray
    value: np.ndarray
    impurity: np.ndarray
    n_node_samples: np.ndarray
    weighted_n_node_samples: np.ndarray
    n_features: int
    n_classes: np.ndarray
    left_categories: Mapping[int, np.ndarray]

    def __post_init__(self) -> None:
        for array in vars(self).values():
            if isinstance(array, np.ndarray):
                array.flags.writeable = False

    @property
    def node_count(self) -> int:
        """The number of nodes."""
        return len(self.children_left)

    @property
    def n_leaves(self) -> int:
        """The number of leaves."""
        return self.node_count // 2 + 1

    @property
    def n_outputs(self) -> int:
        """The number of values of a node in regression, and 1 in classification."""
        return int(self.value.shape[1])

    @property
    def max_n_classes(self) -> int:
        """The number of classes, 1 in regression."""
        return int(self.value.shape[2])

    @cached_property
    def is_leaf(self) -> np.ndarray:
        """A boolean mask of the leaves."""
        mask: np.ndarray = self.children_left == NO_CHILD
        return mask

    @cached_property
    def max_depth(self) -> int:
        """The number of splits on the longest path from the root to a leaf."""
        return int(self.compute_node_depths().max()) - 1

    def compute_node_depths(self) -> np.ndarray:
        """Return the number of nodes on the path from the root to each node, which is 1 for the root."""
        depths = np.ones(self.node_count, dtype=np.int64)
        # Children have higher numbers than their parents.
        for node in np.flatnonzero(~self.is_leaf):
            depths[[self.children_left[node], self.children_right[node]]] = depths[node] + 1
        return depths

    def compute_feature_importances(self, normalize: bool = True) -> np.ndarray:
        """Return how much the splits on each column lower the impurity.

        Parameters
        ----------
        normalize : bool, default=True
            Whether they sum to 1.

        Returns
        -------
        ndarray of shape (n_features,)
        """
        if np.isnan(self.impurity).any():
            raise ValueError(
                "Regression trees of an ensemble do not store impurities. Use feature_importances_."
            )
        weighted = self.impurity * self.weighted_n_node_samples
        inner = np.flatnonzero(~self.is_leaf)
        gains = weighted[inner] - weighted[self.children_left[inner]] - weighted[self.children_right[inner]]
        importances = np.bincount(self.feature[inner], gains, self.n_features)
        total = importances.sum()
        if not normalize:
            return importances / self.weighted_n_node_samples[0]
        return importances / total if total > 0 else importances

    def apply(self, X: Any) -> np.ndarray:
        """Return the leaf of each row.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Numbers, with NaN for missing values.

        Returns
        -------
        ndarray of int of shape (n_rows,)
        """
        return self._path(X)[-1]

    def decision_path(self, X: Any) -> scipy.sparse.csr_matrix:
        """Return the nodes that each row passes: a matrix of shape (n_rows, node_count) with 1 where it does.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)

        Returns
        -------
        csr_matrix
        """
        path = np.array(self._path(X))
        # A row stays at its leaf.
        is_new = np.vstack([np.ones_like(path[:1], dtype=bool), path[1:] != path[:-1]])
        level, row = np.nonzero(is_new)
        shape = (path.shape[1], self.node_count)
        return scipy.sparse.csr_matrix((np.ones(len(row), dtype=np.int64), (row, path[level, row])), shape)

    def predict(self, X: Any) -> np.ndarray:
        """Return the value of the leaf of each row.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (n_rows, n_outputs, max_n_classes), without the second axis if n_outputs is 1
        """
        value: np.ndarray = self.value[self.apply(X)]
        return value[:, 0] if self.n_outputs == 1 else value

    def _path(self, X: Any) -> list[np.ndarray]:
        """Return the node of each row after each level of splits."""
        if self.left_categories:
            raise ValueError(
                "This tree splits categories, which are not numbers. Use the methods of its model."
            )
        matrix = np.asarray(X, dtype=np.float64)
        if matrix.ndim != 2 or matrix.shape[1] != self.n_features:
            raise ValueError(f"X must be a matrix of {self.n_features} columns. Got shape {matrix.shape}.")
        path = [np.zeros(len(matrix), dtype=np.int64)]
        for _ in range(self.max_depth):
            node = path[-1]
            values = matrix[np.arange(len(matrix)), np.maximum(self.feature[node], 0)]
            goes_left = np.where(
                np.isnan(values), self.missing_go_to_left[node], values <= self.threshold[node]
            )
            below = np.where(goes_left, self.children_left[node], self.children_right[node])
            path.append(np.where(self.is_leaf[node], node, below))
        return path


def tree_arrays(
    forest: _engine.Forest,
    tree: int,
    *,
    criterion: str | None = None,
    weight_unit: float = np.nan,
) -> TreeArrays:
    """View a tree of a forest.

    Parameters
    ----------
    forest : the engine's Forest
    tree : int
    criterion : str, default=None
        The impurity of classes, which is computed from their shares if the tree does not store it.
    weight_unit : float, default=nan
        The weight that an integer weight of one stands for, if the tree stores exact weights of all nodes.

    Returns
    -------
    TreeArrays
    """
    nodes = _engine.describe_tree(forest, tree)
    is_leaf = nodes.left < 0
    if nodes.weight is None or np.isnan(weight_unit):
        weights = forest.node_weights(tree)
    else:
        weights = nodes.weight * weight_unit
    value = nodes.value.copy()
    for node in np.flatnonzero(~is_leaf)[::-1]:
        if np.isnan(value[node, 0]):
            children = [nodes.left[node], nodes.right[node]]
            # A leaf that lost its rows to pruning has no weight.
            heavy = weights[children] if weights[children].any() else None
            value[node] = np.average(value[children], axis=0, weights=heavy)
    is_vote = forest.is_classifier and forest.is_mean
    if nodes.impurity is not None:
        impurity = nodes.impurity
    elif is_vote:
        impurity = impurity_of(value, criterion)
    else:
        impurity = np.full(len(value), np.nan)
    # scikit-learn separates missing values on the right of an infinite threshold.
    is_turned = nodes.threshold == -np.inf
    left = np.where(is_turned, nodes.right, nodes.left)
    right = np.where(is_turned, nodes.left, nodes.right)
    goes_left = ~is_leaf & ~(nodes.missing_right | is_turned)
    n_outputs = 1 if is_vote else value.shape[1]
    return TreeArrays(
        left.astype(np.int64),
        right.astype(np.int64),
        np.where(is_leaf, UNDEFINED, nodes.column).astype(np.int64),
        np.where(is_leaf, UNDEFINED, np.where(is_turned, np.inf, nodes.threshold)),
        goes_left.astype(np.uint8),
        np.ascontiguousarray(value.reshape(len(value), n_outputs, -1)),
        impurity,
        np.rint(weights).astype(np.int64) if nodes.n_rows is None else nodes.n_rows.astype(np.int64),
        np.asarray(weights, dtype=np.float64),
        forest.n_columns,
        np.full(n_outputs, value.shape[1] // n_outputs),
        {
            int(node): _engine.left_categories(forest, tree, int(node))
            for node in np.flatnonzero(~is_leaf & np.isnan(nodes.threshold))
        },
    )


def impurity_of(shares: np.ndarray, criterion: str | None) -> np.ndarray:
    """Return the impurity of shares of classes: the Gini index, the error, or else the entropy.

    Examples
    --------
    >>> shares = np.array([[0.5, 0.5], [1.0, 0.0]])
    >>> impurity_of(shares, "gini"), impurity_of(shares, "entropy"), impurity_of(shares, "error")
    (array([0.5, 0. ]), array([1., 0.]), array([0.5, 0. ]))
    """
    if criterion == "gini":
        return 1 - (shares**2).sum(axis=1)
    if criterion == "error":
        return 1 - shares.max(axis=1)
    return -(shares * np.log2(np.where(shares > 0, shares, 1))).sum(axis=1) + 0.0
