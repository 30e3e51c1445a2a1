"""The random tree, Weka's RandomTree: a full tree that looks at a few random columns at every node.

In: a table and a class or a number for each row. Out: a tree. At a node, columns are drawn until
`max_features` of them have been tried and one has a positive gain; where none has any, the node is a leaf.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from committee import _engine
from committee.learners.single import SingleTree
from committee.learners.training import Training
from committee.learners.tree_parameters import (
    ANY_SIZE,
    CATEGORICAL_FEATURES,
    CLASS_WEIGHT,
    MAX_DEPTH,
    MIN_SAMPLES_LEAF,
    MIN_SAMPLES_SPLIT,
    MIN_WEIGHT_FRACTION_LEAF,
    TREE_SEED,
    draw_seed,
    limits_of,
)
from committee.learners.voting import Classifies, Regresses
from committee.parameters import (
    declared,
    either,
    integer,
    one_of,
    parameter,
    share,
)
from committee.running import n_threads
from committee.saving import saved


@declared
class RandomTree(SingleTree):
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
    random_state: Any = parameter(None, *TREE_SEED)
    categorical_features: Any = parameter("from_dtype", *CATEGORICAL_FEATURES)
    max_features: int | float | str | None = parameter(
        "auto",
        'an integer >= 1, a float in (0, 1], "auto", "sqrt", "log2" or None',
        either(integer(1, ANY_SIZE), share(whole=True), one_of("auto", "sqrt", "log2", None)),
        'How many columns, drawn anew at every node, are tried for a split; "auto" is int(log2(n_columns) + '
        "1), a float is a share of all, None is all of them. If none of the drawn has a positive gain, "
        "others are tried.",
    )

    def _grow(self, training: Training) -> tuple[_engine.Forest, np.ndarray, np.ndarray]:
        grow = self._grow_parameters(training)
        grown, has_missing = training.grow_tree(grow, draw_seed(self.random_state), n_threads(None))
        return grown.forest, grown.importances[0], has_missing

    def _grow_parameters(self, training: Training) -> _engine.GrowParameters:
        grow = limits_of(self, training)
        grow.criterion = "entropy" if training.n_classes > 0 else "squared_error"
        grow.needs_gain = True
        return grow


@saved
@declared
class RandomTreeClassifier(Classifies, RandomTree):
    """A random tree for classes.

    A full tree that tries a few random columns at every node and takes the split of the highest gain of
    information.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> RandomTreeClassifier(random_state=0).fit(X, y).score(X, y)
    1.0
    """

    class_weight: Any = parameter(None, *CLASS_WEIGHT)


@saved
@declared
class RandomTreeRegressor(Regresses, RandomTree):
    """A random tree for numbers.

    A full tree that tries a few random columns at every node and takes the split that lowers the squared
    error most.

    Examples
    --------
    >>> tree = RandomTreeRegressor(random_state=0).fit([[1], [2], [8], [9]], [1.0, 1.0, 5.0, 6.0])
    >>> tree.predict([[0], [8.4]])
    array([1., 5.])
    """
