"""The list of scikit-learn's classes that load without trust.

A name in a file is a line of this list or it is nothing: no class is looked up by what a file says.
"""

from __future__ import annotations

from typing import Any

from committee.saving.listed import Listed
from committee.saving.scikit_learn_bayes import BAYES
from committee.saving.scikit_learn_columns import COLUMN_WISE
from committee.saving.scikit_learn_composed import COMPOSED
from committee.saving.scikit_learn_encoders import ENCODERS
from committee.saving.scikit_learn_linear import LINEAR
from committee.saving.scikit_learn_machines import MACHINES
from committee.saving.selectors import SELECTOR, Selector
from committee.saving.splitters import SPLITTERS, Splitter

LINES: tuple[Listed | Selector | Splitter, ...] = (
    *LINEAR, *MACHINES, *BAYES, *COLUMN_WISE, *ENCODERS, *COMPOSED, *SPLITTERS, SELECTOR
)  # fmt: skip
LISTED = {each.public_name: each for each in LINES}
BY_CLASS_NAME = {name.rpartition(".")[2]: name for name in LISTED}


def name_of(estimator: Any) -> str | None:
    """The name of an estimator's class on the list, None if it is not there.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.ensemble import IsolationForest
    >>> name_of(LogisticRegression()), name_of(IsolationForest())
    ('sklearn.linear_model.LogisticRegression', None)
    """
    name = BY_CLASS_NAME.get(type(estimator).__name__)
    return name if name is not None and LISTED[name].cls is type(estimator) else None


def knows(name: str) -> bool:
    """Whether a name in a file is on the list."""
    return name in LISTED


def saved_named(name: str) -> Listed | Selector | Splitter | None:
    """The line of the list with a name, None if there is none."""
    return LISTED.get(name)
