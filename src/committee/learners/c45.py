"""Fit C4.5, Quinlan's decision tree, as Weka's J48 does.

In: a table and the classes of its rows. Out: a tree whose nodes split on one column each, by a threshold or
with one branch per category. The engine grows and prunes the tree and predicts. This module checks the
arguments and writes the tree as text.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from committee import _engine
from committee.learners.training_data import training_of
from committee.learners.tree_export import TreeNode, any_of, threshold_conditions, to_graph, to_text
from committee.learners.tree_parameters import CATEGORICAL_FEATURES, CLASS_WEIGHT
from committee.learners.voter import Classifies, Tabular
from committee.parameters import (
    RANDOM_STATE,
    boolean,
    check_parameters,
    declared,
    integer,
    number,
    one_of,
    parameter,
)
from committee.saving import Fields
from committee.saving.states.c45_state import C45Decider, C45State
from committee.table import Kind, Schema, forget_weightless, read
from committee.task import Classification, Regression, row_weights
from committee.votes.folds import one_in

Task = Classification | Regression


@declared
class C45Classifier(Classifies, Tabular):
    """The C4.5 decision tree.

    A node splits on the column of the highest gain ratio among those of at least average gain: numbers at a
    threshold, categories with one branch each. A row with a missing value follows all branches, with
    fractions of its weight, in training and in prediction. The grown tree is pruned. The trees are equal to
    those of J48 in Weka 3.6.

    Notes
    -----
    Ties are resolved in favor of the first column, the lowest threshold, the first class and the last of the
    largest branches. The order of the rows changes nothing. A row of weight 2 is the same as two rows, so
    weights should be around 1: `min_samples_leaf` and the pruning count them. Only "reduced_error" holds out
    whole rows, whatever their weights. A category that was not seen in training counts as missing. A tree has
    at most 500 levels.

    Differences from J48: thresholds are compared without its tolerance of 1e-6. Values closer than its 1e-5
    can be split in columns whose range is below 0.01. A `min_samples_leaf` above 25 applies to thresholds
    too.

    References
    ----------
    J. R. Quinlan, C4.5: Programs for Machine Learning, 1993.
    J. R. Quinlan, Improved use of continuous attributes in C4.5, JAIR 4, 1996.

    Attributes
    ----------
    tree_ : C45Tree
        The engine's tree.
    feature_importances_ : ndarray of shape (n_columns,)
        The entropy that the splits on each column remove, weighted by rows. They sum to 1, or are all 0.
    nbytes : int
        The size of the tree in memory.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> tree = C45Classifier().fit(X, y)
    >>> print(tree.export_text())
    petal width (cm) <= 0.6: 0 (50)
    petal width (cm) > 0.6
    |   petal width (cm) <= 1.7
    |   |   petal length (cm) <= 4.9: 1 (48/1)
    |   |   petal length (cm) > 4.9
    |   |   |   petal width (cm) <= 1.5: 2 (3)
    |   |   |   petal width (cm) > 1.5: 1 (3/1)
    |   petal width (cm) > 1.7: 2 (46/1)
    """

    pruning: str | None = parameter(
        "pessimistic",
        one_of("pessimistic", "reduced_error", None),
        '"pessimistic" replaces a subtree by a leaf if an upper limit of its error, estimated from the '
        'training rows, is not better. "reduced_error" holds out a part of the rows and replaces a subtree '
        "if that causes no more errors on them. None only replaces subtrees that make no fewer errors on the "
        "training rows than a leaf.",
    )
    confidence_factor: float = parameter(
        0.25,
        number(0, 0.5, closed="right"),
        "The confidence of pessimistic pruning. Smaller values prune more.",
    )
    subtree_raising: bool = parameter(
        True,
        boolean,
        "Whether pessimistic pruning may also replace a node by its largest branch.",
    )
    reduced_error_folds: int = parameter(
        3, integer(2), "Reduced-error pruning holds out one row in this many."
    )
    min_samples_leaf: int = parameter(
        2,
        integer(1),
        "At least two branches of every split have this weight. A threshold also leaves on each side a tenth "
        "of the rows divided by the number of classes, or 25 if that is less.",
    )
    categorical_features: Any = parameter("from_dtype", *CATEGORICAL_FEATURES)
    class_weight: Any = parameter(None, *CLASS_WEIGHT)
    random_state: Any = parameter(
        None,
        RANDOM_STATE,
        "The seed of the rows that reduced-error pruning holds out. Nothing else is random.",
    )

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> C45Classifier:
        """Grow and prune the tree.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            NaN and None are missing values.
        y : array-like of shape (n_rows,)
            The classes.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows. None gives every row the weight 1.

        Returns
        -------
        C45Classifier
            Itself.

        Examples
        --------
        >>> C45Classifier().fit([[1.0], [2.0], [8.0], [9.0]], ["low", "low", "high", "high"]).get_n_leaves()
        2
        """
        check_parameters(self)
        table = read(X, categorical_features=self.categorical_features)
        table = forget_weightless(table, row_weights(sample_weight, table.n_rows))
        training = training_of(self, table, y, sample_weight, self.class_weight)
        schema, codes, weights = table.schema, training.y, training.weights
        if weights is None:
            weights = np.ones(table.n_rows)
        held_out = None
        if self.pruning == "reduced_error":
            rows = training.rows_by_content(training.bin(1), 1)
            n_folds = self.reduced_error_folds
            if len(rows) < n_folds:
                raise ValueError(
                    f"reduced_error_folds must be at most the number of rows, {len(rows)}. Got {n_folds}."
                )
            held_out = one_in(n_folds, rows, codes, check_random_state(self.random_state)).astype(np.uint8)
        tree = _engine.C45Tree.grow(
            table.as_float64(),
            branches_by_column(schema),
            codes,
            training.n_classes,
            weights,
            self._settings(),
            held_out,
        )
        self._data = training.data
        return self._keep_tree(tree, schema, training.task)

    @property
    def nbytes(self) -> int:
        """The size of the tree in memory, in bytes."""
        check_is_fitted(self)
        return self.tree_.nbytes

    def get_n_leaves(self) -> int:
        """Return the number of leaves. The branch of a category without training rows is a leaf, as in J48.

        Examples
        --------
        >>> C45Classifier().fit([[1.0], [2.0]], ["a", "a"]).get_n_leaves()
        1
        """
        check_is_fitted(self)
        return self.tree_.n_leaves

    def get_depth(self) -> int:
        """Return the number of splits on the longest path from the root to a leaf.

        Examples
        --------
        >>> C45Classifier().fit([[1.0], [2.0]], ["a", "a"]).get_depth()
        0
        """
        check_is_fitted(self)
        return int(self.tree_.depths().max())

    @property
    def feature_importances_(self) -> np.ndarray:
        """The entropy that the splits on each column remove, weighted by rows. Sums to 1, or is all 0."""
        check_is_fitted(self)
        arrays = self.tree_.arrays()
        bits = weighted_entropy(arrays["distribution"])
        gains = np.zeros(self.n_features_in_)
        for node in np.flatnonzero(arrays["column"] >= 0).tolist():
            children = branches_of(arrays, node)
            gains[arrays["column"][node]] += bits[node] - bits[children[children >= 0]].sum()
        total = gains.sum()
        return gains / total if total > 0 else gains

    def export_text(self) -> str:
        """Return the tree as indented text, in the layout of J48.

        Examples
        --------
        >>> tree = C45Classifier().fit([[1.0], [2.0], [8.0], [9.0]], ["low", "low", "high", "high"])
        >>> print(tree.export_text())
        x0 <= 2: low (2)
        x0 > 2: high (2)
        """
        return to_text(self._in_words())

    def export_graph(self) -> str:
        """Return the tree as a graph in Graphviz's DOT language.

        Examples
        --------
        >>> tree = C45Classifier().fit([[1.0], [2.0], [8.0], [9.0]], ["low", "low", "high", "high"])
        >>> print(tree.export_graph().splitlines()[-2])
        0 -> 2 [label="x0 > 2"]
        """
        return to_graph(self._in_words())

    def _decide(self, X: Any) -> np.ndarray:
        """Return the shares of the classes in the leaf of each row, averaged if a value is missing."""
        table = self._read(X)
        return C45Decider(self.tree_).decide(table, 1)

    def _keep_tree(self, tree: _engine.C45Tree, schema: Schema, task: Task) -> Self:
        """Store the fitted state."""
        self._keep_task(schema, task)
        self.tree_ = tree
        return self

    def _keep_member(
        self, ensemble: Any, trees: _engine.C45Forest, position: int, columns: np.ndarray | None
    ) -> Self:
        """Become a tree of an ensemble, on some columns or all."""
        schema = ensemble.schema_ if columns is None else ensemble.schema_.only(columns)
        return self._keep_tree(trees.tree(position, columns), schema, ensemble._task)

    def _settings(self) -> _engine.C45Settings:
        """Return the parameters as the engine takes them. For ensembles, the engine itself holds rows out."""
        settings = _engine.C45Settings()
        settings.pruning = self.pruning
        settings.confidence = float(self.confidence_factor)
        settings.subtree_raising = bool(self.subtree_raising)
        settings.min_leaf_weight = float(self.min_samples_leaf)
        settings.n_folds = int(self.reduced_error_folds)
        return settings

    def _state(self) -> C45State:
        return C45State(self.schema_, self._task, self.tree_)

    def _take_learnt(self, fields: Fields) -> None:
        state = C45State.take(fields, Classification)
        self._keep_tree(state.tree, state.schema, state.task)

    def _in_words(self) -> TreeNode:
        check_is_fitted(self)
        arrays = self.tree_.arrays()
        nodes: dict[int, TreeNode] = {}
        # Children have higher numbers than their parents.
        for place in reversed(range(self.tree_.n_nodes)):
            node = self._leaf_in_words(arrays["distribution"][place])
            empty = replace(node, weight=0.0, errors=0.0)
            children = tuple(
                replace(nodes.pop(child, empty), condition=condition)
                for child, condition in zip(
                    branches_of(arrays, place).tolist(), self._conditions(arrays, place), strict=True
                )
            )
            nodes[place] = replace(node, children=children)
        return nodes[0]

    def _leaf_in_words(self, counts: np.ndarray) -> TreeNode:
        weight = float(counts.sum())
        majority = int(np.argmax(counts))
        return TreeNode(
            condition="",
            prediction=str(self.classes_[majority]),
            weight=weight,
            errors=weight - float(counts[majority]),
        )

    def _conditions(self, arrays: dict[str, np.ndarray], node: int) -> list[str]:
        j = arrays["column"][node]
        if j < 0:
            return []
        column = self.schema_.columns[j]
        if column.kind is Kind.CATEGORY:
            return [any_of(column, [category]) for category in column.categories]
        return list(threshold_conditions(column, arrays["threshold"][node]))


def branches_by_column(schema: Schema) -> np.ndarray:
    """Return the number of branches of a split on each column, -1 for columns of numbers.

    Examples
    --------
    >>> branches_by_column(read([[31, "Bonn"], [54, "Oslo"]]).schema)
    array([-1,  2], dtype=int32)
    """
    return np.where(schema.is_category, schema.n_categories, -1).astype(np.int32)


def branches_of(arrays: dict[str, np.ndarray], node: int) -> np.ndarray:
    """Return the children on the branches of a node, -1 for branches without training rows."""
    column = arrays["column"][node]
    if column < 0:
        return arrays["branch"][:0]
    n_categories = arrays["n_categories"][column]
    first = arrays["first_branch"][node]
    return arrays["branch"][first : first + (n_categories if n_categories >= 0 else 2)]


def weighted_entropy(counts: np.ndarray) -> np.ndarray:
    """Return the entropy in bits of each row of counts, times its sum."""
    shares = counts / counts.sum(axis=1, keepdims=True)
    return -(counts * np.log2(np.where(shares > 0, shares, 1.0))).sum(axis=1)
