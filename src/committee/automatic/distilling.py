"""Distilling: one estimator that learns what a whole committee decides (Hinton et al. 2015).

In: the decisions of a committee on some rows. Out: a fitted estimator. A row of which the committee is not
sure is learnt once for each class, with the probability as its weight.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from committee.boosting import GradientBoostingClassifier, GradientBoostingRegressor
from committee.members.seeing import take_rows
from committee.members.weighing import weight_arguments

# A class of a lower probability is not learnt.
LEAST_PROBABILITY = 1e-3


def new_student(are_classes: bool, random_state: Any) -> Any:
    """Who learns, if nobody is named."""
    made: Any = GradientBoostingClassifier if are_classes else GradientBoostingRegressor
    return made(random_state=random_state)


def taught_classes(student: Any, X: Any, decision: np.ndarray, classes: np.ndarray) -> Any:
    """A classifier that has learnt probabilities."""
    rows, codes = np.nonzero(decision >= LEAST_PROBABILITY)
    weights = decision[rows, codes]
    student = clone(student)
    arguments = weight_arguments(student, weights)
    if not any(name.endswith("sample_weight") for name in arguments):
        raise ValueError(
            f"{type(student).__name__} takes no sample_weight, and probabilities are learnt as weights. Use "
            "another estimator."
        )
    return student.fit(take_rows(X, rows), classes[codes], **arguments)


def taught_numbers(student: Any, X: Any, decision: np.ndarray) -> Any:
    """A regressor that has learnt numbers."""
    return clone(student).fit(X, decision[:, 0])
