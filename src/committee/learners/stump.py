"""The decision stump (Iba and Langley 1992): one split of one column, missing values on their own branch.

In: a table and a class or a number for each row. Out: a tree of at most three leaves.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np

from committee import _engine
from committee.learners.export import TreeNode
from committee.learners.single import SingleTree
from committee.learners.training import Training
from committee.learners.tree_parameters import CATEGORICAL_FEATURES
from committee.learners.voting import Classifies, Regresses
from committee.parameters import declared, one_of, parameter
from committee.running import n_threads
from committee.saving import saved


@declared
class DecisionStump(SingleTree):
    """What the classifier and the regressor share.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_columns,)
        1 for the column of the split; all 0 if there is none.
    """

    categorical_features: Any = parameter("from_dtype", *CATEGORICAL_FEATURES)

    def _grow(self, training: Training) -> tuple[_engine.Forest, np.ndarray, np.ndarray]:
        binned = training.bin(n_threads(None))
        stump = _engine.grow_stump(
            binned.codes,
            training.y,
            training.n_classes,
            training.fixed,
            training.total_weight,
            getattr(self, "criterion", "squared_error"),
        )
        column = _engine.describe_tree(stump, 0).column[0]
        importances = np.zeros(binned.schema.n_columns)
        if column >= 0:
            importances[column] = 1.0
        return stump, importances, binned.has_missing

    def get_depth(self) -> int:
        """1, or 0 if there was nothing to split."""
        return min(super().get_depth(), 1)

    def _in_words(self) -> TreeNode:
        root = super()._in_words()
        # The engine asks for missing values first. They are the third branch of the one split.
        branches = (child.children or (child,) for child in root.children)
        return replace(root, children=tuple(itertools.chain.from_iterable(branches)))


@saved
@declared
class DecisionStumpClassifier(Classifies, DecisionStump):
    """One split of one column, for classes.

    A row whose value is missing gets the classes of the training rows whose value is missing, or those of all
    rows if there were none.

    Examples
    --------
    >>> stump = DecisionStumpClassifier().fit([[1.0], [2.0], [8.0], [9.0]], ["low", "low", "high", "high"])
    >>> stump.predict([[0.0], [10.0]])
    array(['low', 'high'], dtype='<U4')
    """

    criterion: str = parameter(
        "entropy",
        '"entropy" or "error"',
        one_of("entropy", "error"),
        "What the split should lower: the information that is needed to tell the class, or the weight of the "
        "misclassified rows.",
    )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags


@saved
@declared
class DecisionStumpRegressor(Regresses, DecisionStump):
    """One split of one column, for numbers: the one that lowers the squared error most.

    A row whose value is missing gets the mean of the training rows whose value is missing, or that of all
    rows if there were none.

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
