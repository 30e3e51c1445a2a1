"""Fit CART, random trees and stumps, which the engine grows from the codes of a table.

In: a table and a class or a number for each row. Out: a tree whose nodes split on one column each: numbers at
a threshold, categories into two sets. Missing values go to the better side. In a stump, they have their own
branch.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from committee import _engine
from committee.learners import tree_parameters
from committee.learners.single_tree import SingleTree, importances_of
from committee.learners.training_data import Training, read_training
from committee.learners.tree_export import TreeNode
from committee.learners.voter import Classifies, Regresses
from committee.parameters import check_parameters, declared, either, integer, one_of, parameter, share
from committee.running import n_threads


@declared
class LimitedTree(SingleTree):
    """The base of CART and the random tree: a tree with limits of its depth and its nodes.

    Attributes
    ----------
    max_features_ : int
        The number of columns tried at a node.
    """

    max_depth: int | None = parameter(None, *tree_parameters.MAX_DEPTH)
    min_samples_split: int | float = parameter(2, *tree_parameters.MIN_SAMPLES_SPLIT)
    min_samples_leaf: int | float = parameter(1, *tree_parameters.MIN_SAMPLES_LEAF)
    min_weight_fraction_leaf: float = parameter(0.0, *tree_parameters.MIN_WEIGHT_FRACTION_LEAF)
    random_state: Any = parameter(None, *tree_parameters.SEED)
    categorical_features: Any = parameter("from_dtype", *tree_parameters.CATEGORICAL_FEATURES)

    def _grow_parameters(self, training: Training) -> _engine.GrowParameters:
        raise NotImplementedError

    def _grow_whole(self, training: Training) -> tuple[_engine.GrownForest, np.ndarray]:
        grow = self._grow_parameters(training)
        return training.grow_tree(grow, tree_parameters.draw_seed(self.random_state), n_threads(None))

    def _grow(self, training: Training) -> tuple[_engine.Forest, np.ndarray, np.ndarray]:
        grown, has_missing = self._grow_whole(training)
        return grown.forest, grown.importances[0], has_missing


@declared
class DecisionTree(LimitedTree):
    """The base of the classifier and the regressor of CART."""

    max_features: int | float | str | None = parameter(None, *tree_parameters.MAX_FEATURES)
    max_leaf_nodes: int | None = parameter(None, *tree_parameters.MAX_LEAF_NODES)
    min_impurity_decrease: float = parameter(0.0, *tree_parameters.MIN_IMPURITY_DECREASE)
    ccp_alpha: float = parameter(0.0, *tree_parameters.CCP_ALPHA)
    monotonic_cst: Any = parameter(None, *tree_parameters.MONOTONIC_CST)
    splitter: str = parameter(
        "best",
        one_of("best", "random"),
        '"best" takes the best threshold of a column, "random" draws one, as extra-trees do.',
    )

    def cost_complexity_pruning_path(self, X: Any, y: Any, sample_weight: Any = None) -> Bunch:
        """Return the steps of minimal cost-complexity pruning as `ccp_alpha` grows.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
        y : array-like of shape (n_rows,)
        sample_weight : array-like of shape (n_rows,), default=None

        Returns
        -------
        Bunch
            `ccp_alphas`, at each of which a subtree is pruned, and the `impurities` of the remaining leaves.

        Examples
        --------
        >>> tree = DecisionTreeRegressor()
        >>> tree.cost_complexity_pruning_path([[1], [2], [9]], [0.0, 1.0, 5.0]).ccp_alphas.round(2)
        array([0.  , 0.17, 4.5 ])
        """
        check_parameters(self)
        grown, _ = self._grow_whole(read_training(self, X, y, sample_weight))
        alphas, impurities = _engine.pruning_path(grown.forest)
        return Bunch(ccp_alphas=alphas, impurities=impurities)

    def _grow_parameters(self, training: Training) -> _engine.GrowParameters:
        grow = tree_parameters.cart_parameters_of(self, training)
        grow.random_thresholds = self.splitter == "random"
        return grow

    def _grow(self, training: Training) -> tuple[_engine.Forest, np.ndarray, np.ndarray]:
        if self.ccp_alpha == 0:
            return super()._grow(training)
        grown, has_missing = self._grow_whole(training)
        forest = _engine.prune_tree(grown.forest, float(self.ccp_alpha))
        importances = importances_of(_engine.describe_tree(forest, 0), training.table.schema.n_columns)
        return forest, importances, has_missing


@declared
class DecisionTreeClassifier(Classifies, DecisionTree):
    """A decision tree for classes (CART).

    Splits are exact for columns of up to 65,535 distinct values. Ties between splits are resolved in favor of
    the first column and the lowest threshold.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> tree = DecisionTreeClassifier(max_depth=2).fit(X, y)
    >>> tree.get_n_leaves(), round(tree.score(X, y), 2)
    (3, 0.96)
    """

    criterion: str = parameter("gini", *tree_parameters.CLASS_CRITERION)
    class_weight: Any = parameter(None, *tree_parameters.CLASS_WEIGHT)


@declared
class DecisionTreeRegressor(Regresses, DecisionTree):
    """A decision tree for numbers (CART).

    Splits are exact for columns of up to 65,535 distinct values. Ties between splits are resolved in favor of
    the first column and the lowest threshold.

    Examples
    --------
    >>> tree = DecisionTreeRegressor(max_depth=1).fit([[1], [2], [8], [9]], [1.0, 2.0, 5.0, 6.0])
    >>> tree.predict([[0], [10]])
    array([1.5, 5.5])
    """

    criterion: str = parameter("squared_error", *tree_parameters.NUMBER_CRITERION)


@declared
class ExtraTreeClassifier(DecisionTreeClassifier):
    """An extremely randomised tree for classes: few columns at each node, one random threshold for each.

    `ExtraTreesClassifier` is a forest of such trees. A single one is useful as a member of other ensembles.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> ExtraTreeClassifier(random_state=0).fit(X, y).score(X, y)
    1.0
    """

    splitter: str = "random"
    max_features: int | float | str | None = "sqrt"


@declared
class ExtraTreeRegressor(DecisionTreeRegressor):
    """An extremely randomised tree for numbers: one random threshold for each column at each node.

    `ExtraTreesRegressor` is a forest of such trees. A single one is useful as a member of other ensembles.

    Examples
    --------
    >>> tree = ExtraTreeRegressor(random_state=0).fit([[1], [2], [8], [9]], [1.0, 1.0, 5.0, 6.0])
    >>> tree.predict([[0], [9.4]])
    array([1., 6.])
    """

    splitter: str = "random"
    max_features: int | float | str | None = 1.0


@declared
class RandomTree(LimitedTree):
    """The base of the classifier and the regressor of random trees (Weka's RandomTree).

    At a node, columns are drawn until `max_features` of them have been tried and one has a positive gain. If
    no column has a positive gain, the node is a leaf.
    """

    max_features: int | float | str | None = parameter(
        "auto",
        either(integer(1, tree_parameters.ANY_SIZE), share(whole=True), one_of("auto", "sqrt", "log2", None)),
        'The number of columns that are drawn at every node and tried for a split. "auto" is '
        "int(log2(n_columns) + 1), a float is a share of all columns, None is all. If no drawn column has a "
        "positive gain, others are tried.",
    )
    categories: str = parameter(
        "multiway",
        one_of("multiway", "binary"),
        'How a column of categories is split. "multiway", as in Weka, gives each category a branch; missing '
        "values that occur in the node are one more. Categories without rows in the node go to the heaviest "
        'branch. "binary" finds the best two sets of categories.',
    )

    def _grow_parameters(self, training: Training) -> _engine.GrowParameters:
        grow = tree_parameters.limits_of(self, training)
        grow.criterion = "entropy" if training.n_classes > 0 else "squared_error"
        grow.needs_gain, grow.branches = True, self.categories == "multiway"
        return grow

    def _further_branches(self, nodes: _engine.TreeNodes) -> np.ndarray:
        # The engine stores branches as a chain of nodes, each of which sends one category left. After the
        # last one, the column is not split again.
        found = super()._further_branches(nodes)
        if self.categories == "multiway":
            inner = np.flatnonzero(nodes.left >= 0)
            right, columns = nodes.right[inner], nodes.column[inner]
            is_same = (nodes.left[right] >= 0) & (nodes.column[right] == columns)
            found[right] = is_same & self.schema_.is_category[columns]
        return found


@declared
class RandomTreeClassifier(Classifies, RandomTree):
    """A random tree for classes.

    An unpruned tree that tries a few random columns at every node and takes the split of the highest
    information gain.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> RandomTreeClassifier(random_state=0).fit(X, y).score(X, y)
    1.0
    """

    class_weight: Any = parameter(None, *tree_parameters.CLASS_WEIGHT)


@declared
class RandomTreeRegressor(Regresses, RandomTree):
    """A random tree for numbers.

    An unpruned tree that tries a few random columns at every node and takes the split that lowers the squared
    error most.

    Examples
    --------
    >>> tree = RandomTreeRegressor(random_state=0).fit([[1], [2], [8], [9]], [1.0, 1.0, 5.0, 6.0])
    >>> tree.predict([[0], [8.4]])
    array([1., 5.])
    """


@declared
class DecisionStump(SingleTree):
    """The base of the classifier and the regressor of stumps (Iba and Langley 1992): trees of one split.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_columns,)
        1 for the column of the split. All 0 if there is no split.
    """

    categorical_features: Any = parameter("from_dtype", *tree_parameters.CATEGORICAL_FEATURES)

    def _grow(self, training: Training) -> tuple[_engine.Forest, np.ndarray, np.ndarray]:
        binned = training.bin(n_threads(None))
        stump = _engine.grow_stump(
            binned.codes,
            training.y,
            training.n_classes,
            training.fixed,
            training.total_weight,
            training.weight_unit,
            getattr(self, "criterion", "squared_error"),
        )
        column = _engine.describe_tree(stump, 0).column[0]
        importances = np.zeros(binned.schema.n_columns)
        if column >= 0:
            importances[column] = 1.0
        return stump, importances, binned.has_missing

    def get_depth(self) -> int:
        """Return 1, or 0 if there is no split."""
        return min(super().get_depth(), 1)

    def _in_words(self) -> TreeNode:
        root = super()._in_words()
        # The engine splits off missing values first. They are the third branch of the one split.
        branches = (child.children or (child,) for child in root.children)
        return replace(root, children=tuple(itertools.chain.from_iterable(branches)))


@declared
class DecisionStumpClassifier(Classifies, DecisionStump):
    """One split of one column, for classes.

    A row with a missing value gets the classes of the training rows with a missing value, or of all training
    rows if no value was missing.

    Examples
    --------
    >>> stump = DecisionStumpClassifier().fit([[1.0], [2.0], [8.0], [9.0]], ["low", "low", "high", "high"])
    >>> stump.predict([[0.0], [10.0]])
    array(['low', 'high'], dtype='<U4')
    """

    criterion: str = parameter(
        "entropy",
        one_of("entropy", "error"),
        "The measure that the split lowers: the entropy of the classes, or the weight of the misclassified "
        "rows.",
    )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags


@declared
class DecisionStumpRegressor(Regresses, DecisionStump):
    """One split of one column, for numbers: the one that lowers the squared error most.

    A row with a missing value gets the mean of the training rows with a missing value, or of all training
    rows if no value was missing.

    Examples
    --------
    >>> stump = DecisionStumpRegressor().fit([[1.0], [2.0], [8.0], [9.0]], [1.0, 2.0, 5.0, 6.0])
    >>> stump.predict([[0.0], [10.0], [np.nan]])
    array([1.5, 5.5, 3.5])
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        return tags
