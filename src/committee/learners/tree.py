"""CART, the decision tree of Breiman, Friedman, Olshen and Stone (1984).

In: a table and a class or a number for each row. Out: a tree whose nodes ask one question each about one
column: a number against a threshold, a category against a set. Missing values go where they fit best.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import Bunch

from committee import _engine
from committee.learners.single import SingleTree, importances_of
from committee.learners.training import Training, read_training
from committee.learners.tree_parameters import (
    CATEGORICAL_FEATURES,
    CCP_ALPHA,
    CLASS_CRITERION,
    CLASS_WEIGHT,
    MAX_DEPTH,
    MAX_FEATURES,
    MAX_LEAF_NODES,
    MIN_IMPURITY_DECREASE,
    MIN_SAMPLES_LEAF,
    MIN_SAMPLES_SPLIT,
    MIN_WEIGHT_FRACTION_LEAF,
    MONOTONIC_CST,
    NUMBER_CRITERION,
    TREE_SEED,
    cart_parameters_of,
    draw_seed,
)
from committee.learners.voting import Classifies, Regresses
from committee.parameters import check_parameters, declared, one_of, parameter
from committee.running import n_threads
from committee.saving import saved


@declared
class DecisionTree(SingleTree):
    """What the classifier and the regressor share.

    Attributes
    ----------
    max_features_ : int
        The number of columns tried at a node.
    """

    max_depth: int | None = parameter(None, *MAX_DEPTH)
    min_samples_split: int | float = parameter(2, *MIN_SAMPLES_SPLIT)
    min_samples_leaf: int | float = parameter(1, *MIN_SAMPLES_LEAF)
    min_weight_fraction_leaf: float = parameter(0.0, *MIN_WEIGHT_FRACTION_LEAF)
    max_features: int | float | str | None = parameter(None, *MAX_FEATURES)
    random_state: Any = parameter(None, *TREE_SEED)
    categorical_features: Any = parameter("from_dtype", *CATEGORICAL_FEATURES)
    max_leaf_nodes: int | None = parameter(None, *MAX_LEAF_NODES)
    min_impurity_decrease: float = parameter(0.0, *MIN_IMPURITY_DECREASE)
    ccp_alpha: float = parameter(0.0, *CCP_ALPHA)
    monotonic_cst: Any = parameter(None, *MONOTONIC_CST)
    splitter: str = parameter(
        "best",
        '"best" or "random"',
        one_of("best", "random"),
        '"best" takes the best threshold of a column, "random" draws one, as extra-trees do.',
    )

    def cost_complexity_pruning_path(self, X: Any, y: Any, sample_weight: Any = None) -> Bunch:
        """What minimal cost-complexity pruning leaves of the full tree as `ccp_alpha` grows.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
        y : array-like of shape (n_rows,)
        sample_weight : array-like of shape (n_rows,), default=None

        Returns
        -------
        Bunch
            `ccp_alphas`, at each of which a subtree is cut, and `impurities` of the leaves that are left.

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
        grow = cart_parameters_of(self, training)
        grow.random_thresholds = self.splitter == "random"
        return grow

    def _grow_whole(self, training: Training) -> tuple[_engine.GrownForest, np.ndarray]:
        grow = self._grow_parameters(training)
        return training.grow_tree(grow, draw_seed(self.random_state), n_threads(None))

    def _grow(self, training: Training) -> tuple[_engine.Forest, np.ndarray, np.ndarray]:
        grown, has_missing = self._grow_whole(training)
        if self.ccp_alpha == 0:
            return grown.forest, grown.importances[0], has_missing
        forest = _engine.prune_tree(grown.forest, float(self.ccp_alpha))
        importances = importances_of(_engine.describe_tree(forest, 0), training.table.schema.n_columns)
        return forest, importances, has_missing


@saved
@declared
class DecisionTreeClassifier(Classifies, DecisionTree):
    """A decision tree for classes (CART).

    Splits are exact for columns of up to 65,535 distinct values. Of equally good splits the first is taken:
    the first column, the lowest threshold.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> tree = DecisionTreeClassifier(max_depth=2).fit(X, y)
    >>> tree.get_n_leaves(), round(tree.score(X, y), 2)
    (3, 0.96)
    """

    criterion: str = parameter("gini", *CLASS_CRITERION)
    class_weight: Any = parameter(None, *CLASS_WEIGHT)


@saved
@declared
class DecisionTreeRegressor(Regresses, DecisionTree):
    """A decision tree for numbers (CART).

    Splits are exact for columns of up to 65,535 distinct values. Of equally good splits the first is taken:
    the first column, the lowest threshold.

    Examples
    --------
    >>> tree = DecisionTreeRegressor(max_depth=1).fit([[1], [2], [8], [9]], [1.0, 2.0, 5.0, 6.0])
    >>> tree.predict([[0], [10]])
    array([1.5, 5.5])
    """

    criterion: str = parameter("squared_error", *NUMBER_CRITERION)
