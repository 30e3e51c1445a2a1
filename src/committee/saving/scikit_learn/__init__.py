"""List the classes of scikit-learn that are common as members. Committee stores them itself, without trust.

A class is never imported by a name from a file: a name that is not on this list is refused. Every other class
of scikit-learn is stored through skops and needs the caller's trust.
"""

from __future__ import annotations

import numpy as np

from committee.saving.format.attributes import boolean, either, instance_of, integer, optional
from committee.saving.scikit_learn.listed_estimators import Listed, ListedSplitter
from committee.saving.scikit_learn.supervised import MODELS
from committee.saving.scikit_learn.transformers import TRANSFORMERS

SPLITTERS = ("KFold", "StratifiedKFold", "GroupKFold", "RepeatedKFold", "RepeatedStratifiedKFold")
SPLITTING = {
    "n_splits": integer(2),
    "n_repeats": integer(1),
    "shuffle": boolean,
    "random_state": optional(either(integer(), instance_of("a random state", np.random.RandomState))),
}
ENTRIES: tuple[Listed, ...] = (
    *MODELS,
    *TRANSFORMERS,
    *(ListedSplitter(f"sklearn.model_selection.{name}", parameters=SPLITTING) for name in SPLITTERS),
)
LISTED = {each.public_name: each for each in ENTRIES}
BY_CLASS_NAME = {each.name: each for each in ENTRIES}


def name_of(estimator: object) -> str | None:
    """Return the name of an estimator's class on the list, None if it is not on the list.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.ensemble import IsolationForest
    >>> name_of(LogisticRegression()), name_of(IsolationForest())
    ('sklearn.linear_model.LogisticRegression', None)
    """
    entry = BY_CLASS_NAME.get(type(estimator).__name__)
    return entry.public_name if entry is not None and entry.cls is type(estimator) else None
