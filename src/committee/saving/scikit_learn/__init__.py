"""The classes of scikit-learn that people use as members: they are stored by lists of ours and need no trust.

A name in a file is a line of this list or it is refused: no class is looked up by what a file says. Every
other class of scikit-learn is stored through skops and needs the caller's trust.
"""

from __future__ import annotations

import numpy as np

from committee.saving.format.attributes import boolean, either, instance_of, integer, optional
from committee.saving.scikit_learn.listed_estimators import Listed, Splitter
from committee.saving.scikit_learn.supervised import MODELS
from committee.saving.scikit_learn.transformers import TRANSFORMERS

SPLITTERS = ("KFold", "StratifiedKFold", "GroupKFold", "RepeatedKFold", "RepeatedStratifiedKFold")
SPLITTING = {
    "n_splits": integer(2),
    "n_repeats": integer(1),
    "shuffle": boolean,
    "random_state": optional(either(integer(), instance_of("a random state", np.random.RandomState))),
}
LINES: tuple[Listed, ...] = (
    *MODELS,
    *TRANSFORMERS,
    *(Splitter(f"sklearn.model_selection.{name}", parameters=SPLITTING) for name in SPLITTERS),
)
LISTED = {each.public_name: each for each in LINES}
BY_CLASS_NAME = {each.name: each for each in LINES}


def name_of(estimator: object) -> str | None:
    """Return the name of an estimator's class on the list, None if it is not there.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.ensemble import IsolationForest
    >>> name_of(LogisticRegression()), name_of(IsolationForest())
    ('sklearn.linear_model.LogisticRegression', None)
    """
    line = BY_CLASS_NAME.get(type(estimator).__name__)
    return line.public_name if line is not None and line.cls is type(estimator) else None
