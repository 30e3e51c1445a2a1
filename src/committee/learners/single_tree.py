"""Single trees that the engine grows: their leaves, paths, depth, importances and text."""

from __future__ import annotations

from collections.abc import Set
from typing import Any, Self

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from committee import _engine
from committee.learners.scikit_learn_trees import to_scikit_learn_tree
from committee.learners.training_data import Training, read_training
from committee.learners.tree_arrays import TreeArrays, tree_arrays
from committee.learners.tree_export import (
    TreeNode,
    any_of,
    format_number,
    threshold_conditions,
    to_graph,
    to_text,
)
from committee.learners.tree_parameters import columns_of
from committee.learners.voter import Voter
from committee.parameters import check_parameters, refusing_unknown_names
from committee.saving import Fields
from committee.task import Classification


class SingleTree(Voter):
    """A tree with access to its leaves and splits.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_columns,)
        How much the splits on each column lower the impurity. They sum to 1, or are all 0.
    nbytes : int
        The size of the tree in memory.
    tree_ : TreeArrays
        The nodes as read-only arrays, with the names of scikit-learn's `tree_`.
    """

    max_features_: int
    _importances: np.ndarray
    _weight_unit: float

    @refusing_unknown_names
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            numpy, scipy sparse, pandas, polars or Arrow, or a `BinnedTable`. NaN and None are missing values.
        y : array-like of shape (n_rows,)
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows. None gives every row the weight 1.

        Returns
        -------
        self
        """
        check_parameters(self)
        training = read_training(self, X, y, sample_weight)
        forest, importances, has_missing = self._grow(training)
        self._importances, self._weight_unit = importances, training.weight_unit
        self._data = training.data
        self._keep(forest, training.table.schema, training.task, has_missing)
        if hasattr(self, "max_features"):
            self.max_features_ = columns_of(self.max_features, self.n_features_in_)
        return self

    def _keep_member(
        self, ensemble: Any, trees: _engine.Forest, position: int, columns: np.ndarray | None
    ) -> Self:
        """Become a tree of an ensemble, on some columns or all. Its export shows no weights."""
        tree = _engine.take_trees(trees, position, position + 1)
        schema, has_missing = ensemble.schema_, ensemble._has_missing
        self._importances, self._weight_unit = ensemble._importances[position], np.nan
        if columns is not None:
            tree, schema = _engine.on_columns(tree, columns), schema.only(columns)
            has_missing, self._importances = has_missing[columns], self._importances[columns]
        if hasattr(self, "max_features"):
            self.max_features_ = columns_of(self.max_features, schema.n_columns)
        return self._keep(tree, schema, ensemble._task, has_missing)

    def _grow(self, training: Training) -> tuple[_engine.Forest, np.ndarray, np.ndarray]:
        """Return the tree, the importances of the columns, and which columns have missing values."""
        raise NotImplementedError

    def apply(self, X: Any) -> np.ndarray:
        """Return the leaf of each row.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)

        Returns
        -------
        ndarray of int of shape (n_rows,)
            Numbers of nodes.
        """
        table = self._read(X)
        leaves = self._forest.apply(list(table.columns), table.n_rows, self._threads(table.n_rows))
        return leaves[:, 0].astype(np.int64)

    def decision_path(self, X: Any) -> scipy.sparse.csr_matrix:
        """Return the nodes that each row passes.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)

        Returns
        -------
        csr_matrix of shape (n_rows, n_nodes)
            1 where the row passes the node.

        Examples
        --------
        >>> from committee import DecisionTreeRegressor
        >>> tree = DecisionTreeRegressor().fit([[1], [2], [9]], [0.0, 0.0, 5.0])
        >>> tree.decision_path([[0], [10]]).toarray()
        array([[1, 1, 0],
               [1, 0, 1]])
        """
        return paths_to_nodes(self._describe())[self.apply(X)]

    def get_n_leaves(self) -> int:
        """Return the number of leaves."""
        return int((self._describe().left < 0).sum())

    def get_depth(self) -> int:
        """Return the number of splits on the longest path from the root to a leaf."""
        nodes = self._describe()
        return int(depths_of(nodes, self._further_branches(nodes)).max())

    @property
    def tree_(self) -> TreeArrays:
        """The nodes as read-only arrays with the names of scikit-learn's `tree_`, made on access."""
        check_is_fitted(self)
        criterion = getattr(self, "criterion", None)
        return tree_arrays(self._forest, 0, criterion=criterion, weight_unit=self._weight_unit)

    def to_sklearn(self, X: Any = None) -> BaseEstimator:
        """Return the same tree as a fitted estimator of scikit-learn.

        `sklearn.tree.plot_tree` and other libraries that read trees of scikit-learn then work.
        scikit-learn rounds X to float32. The predictions are equal for values that float32 represents
        exactly, and for all others unless a threshold is between a value and its rounded value.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns), default=None
            Rows, usually those of the fit, that must keep their leaves although they are rounded. Thresholds
            move between the rounded values of the nearest rows. It is an error if rounding makes the values
            of two rows equal that a split separates.

        Returns
        -------
        sklearn.tree.DecisionTreeClassifier or DecisionTreeRegressor

        Examples
        --------
        >>> from committee import DecisionTreeRegressor
        >>> tree = DecisionTreeRegressor().fit([[1], [2], [9]], [0.0, 0.0, 5.0])
        >>> tree.to_sklearn().predict([[0], [10]])
        array([0., 5.])
        """
        check_is_fitted(self)
        return to_scikit_learn_tree(self, None if X is None else self._read(X))

    @property
    def feature_importances_(self) -> np.ndarray:
        """How much the splits on each column lower the impurity. They sum to 1, or are all 0."""
        check_is_fitted(self)
        total = self._importances.sum()
        return self._importances / total if total > 0 else self._importances

    def export_text(self) -> str:
        """Return the tree as indented text.

        A leaf shows its prediction, the weight of its training rows and, after a slash, the weight of those
        that it misclassifies. The leaves of a forest's members show only their prediction.

        Examples
        --------
        >>> from committee import DecisionTreeClassifier
        >>> tree = DecisionTreeClassifier(max_depth=1).fit([[1], [2], [8], [9]], [0, 0, 1, 1])
        >>> print(tree.export_text())
        x0 <= 5: 0 (2)
        x0 > 5: 1 (2)
        """
        return to_text(self._in_words())

    def export_graph(self) -> str:
        """Return the tree as a graph in Graphviz's DOT language."""
        return to_graph(self._in_words())

    def _learnt(self) -> dict[str, Any]:
        more = {"max_features": self.max_features_} if hasattr(self, "max_features_") else {}
        own = {"importances": self._importances, "weight_unit": float(self._weight_unit)}
        return super()._learnt() | own | more

    def _take_learnt(self, fields: Fields) -> None:
        super()._take_learnt(fields)
        fields.require(self._forest.n_trees == 1, "there must be one tree")
        self._importances = fields.array("importances", np.float64, (self.n_features_in_,))
        self._weight_unit = fields.take("weight_unit", float)
        if "max_features" in fields:
            self.max_features_ = fields.integer("max_features", 1, self.n_features_in_)

    def _describe(self) -> _engine.TreeNodes:
        check_is_fitted(self)
        return _engine.describe_tree(self._forest, 0)

    def _further_branches(self, nodes: _engine.TreeNodes) -> np.ndarray:
        """Return which nodes are not splits of their own, but further branches of the split of their parent.

        They are its right side.
        """
        return np.zeros(len(nodes.left), dtype=bool)

    def _in_words(self) -> TreeNode:
        nodes = self._describe()
        is_further = self._further_branches(nodes)
        conditions = {0: ""}
        # For each node, the categories of earlier branches of its split.
        taken: dict[int, frozenset[int]] = {}
        # For each node, the columns in which its rows may have missing values.
        missing = {0: frozenset(map(int, np.flatnonzero(self._has_missing)))}
        for node in map(int, np.flatnonzero(nodes.left >= 0)):
            column, left, right = (int(each[node]) for each in (nodes.column, nodes.left, nodes.right))
            may_miss = missing.pop(node)
            before = taken.pop(node, frozenset())
            conditions[left], conditions[right] = self._conditions(nodes, node, column in may_miss, before)
            if is_further[right]:
                taken[right] = before | set(_engine.left_categories(self._forest, 0, node))
            goes, stays = (right, left) if nodes.missing_right[node] else (left, right)
            missing[goes], missing[stays] = may_miss, may_miss - {column}
        described: dict[int, TreeNode] = {}
        # Children have higher numbers than their parents.
        for node in reversed(range(len(nodes.left))):
            children = [int(side[node]) for side in (nodes.left, nodes.right) if side[node] >= 0]
            below = tuple(map(described.pop, children))
            if children and is_further[children[1]]:
                below = (below[0], *below[1].children)
            described[node] = self._node_in_words(nodes, node, conditions[node], below)
        return described[0]

    def _conditions(
        self, nodes: _engine.TreeNodes, node: int, may_miss: bool, taken: Set[int]
    ) -> tuple[str, str]:
        column = self.schema_.columns[nodes.column[node]]
        threshold, missing_right = nodes.threshold[node], nodes.missing_right[node]
        only_missing = nodes.only_missing[node]
        if np.isnan(threshold):
            categories = _engine.left_categories(self._forest, 0, node)
            only_missing = len(categories) in (0, len(column.categories))
            on_left = {column.categories[code - 1] for code in {*categories, *taken}}
            left = any_of(column, [column.categories[code - 1] for code in categories])
            right = any_of(column, [category for category in column.categories if category not in on_left])
        else:
            left, right = threshold_conditions(column, threshold)
        if only_missing:
            missing, known = f"{column.name} is missing", f"{column.name} is known"
            return (known, missing) if missing_right else (missing, known)
        if not may_miss:
            return left, right
        return (left, f"{right} or missing") if missing_right else (f"{left} or missing", right)

    def _node_in_words(
        self, nodes: _engine.TreeNodes, node: int, condition: str, children: tuple[TreeNode, ...]
    ) -> TreeNode:
        value = nodes.value[node]
        # A member of a forest stores values and weights for its leaves only.
        weight = np.nan if nodes.weight is None else float(nodes.weight[node]) * self._weight_unit
        if np.isnan(value[0]):
            return TreeNode(condition, "", weight, children=children)
        if not isinstance(self._task, Classification):
            return TreeNode(condition, format_number(value[0]), weight, children=children)
        label = str(self._task.decode(value[np.newaxis])[0])
        return TreeNode(condition, label, weight, weight * (1 - value.max()), children)


def paths_to_nodes(nodes: _engine.TreeNodes) -> scipy.sparse.csr_matrix:
    """Return a row for each node, with 1 for each node on the path from the root to it."""
    n_nodes = len(nodes.left)
    parents = parents_of(nodes)
    rows, passed = [np.arange(n_nodes)], [np.arange(n_nodes)]
    while len(rows[-1]):
        above_root = parents[passed[-1]]
        is_node = above_root >= 0
        rows.append(rows[-1][is_node])
        passed.append(above_root[is_node])
    row, column = np.concatenate(rows), np.concatenate(passed)
    ones = np.ones(len(row), dtype=np.int64)
    return scipy.sparse.csr_matrix((ones, (row, column)), shape=(n_nodes, n_nodes))


def depths_of(nodes: _engine.TreeNodes, is_further: np.ndarray) -> np.ndarray:
    """Return the depth of each node. Further branches of a split have the depth of their parent."""
    depths = np.zeros(len(nodes.left), dtype=np.int64)
    level = np.array([0])
    while len(level):
        inner = level[nodes.left[level] >= 0]
        for side in (nodes.left, nodes.right):
            depths[side[inner]] = depths[inner] + ~is_further[side[inner]]
        level = np.concatenate([nodes.left[inner], nodes.right[inner]])
    return depths


def parents_of(nodes: _engine.TreeNodes) -> np.ndarray:
    """Return the parent of each node, -1 for the root."""
    parents = np.full(len(nodes.left), -1, dtype=np.int64)
    inner = np.flatnonzero(nodes.left >= 0)
    parents[nodes.left[inner]] = inner
    parents[nodes.right[inner]] = inner
    return parents


def importances_of(nodes: _engine.TreeNodes, n_columns: int) -> np.ndarray:
    """Return how much the splits on each column lower the impurity, times the weight of their nodes."""
    assert nodes.impurity is not None and nodes.weight is not None
    weighted = nodes.impurity * nodes.weight
    inner = np.flatnonzero(nodes.left >= 0)
    gains = weighted[inner] - weighted[nodes.left[inner]] - weighted[nodes.right[inner]]
    importances = np.zeros(n_columns)
    np.add.at(importances, nodes.column[inner], gains)
    return importances
