"""The classes of scikit-learn that people use as members: they are stored by lists of ours and need no trust.

A name in a file is a line of this list or it is refused: no class is looked up by what a file says. Every
other class of scikit-learn is stored through skops and needs the caller's trust.
"""

from __future__ import annotations

from typing import Any

from committee.saving.scikit_learn.bayes import BAYES
from committee.saving.scikit_learn.encoders import ENCODERS
from committee.saving.scikit_learn.linear_models import LINEAR
from committee.saving.scikit_learn.listed import Listed
from committee.saving.scikit_learn.machines import MACHINES
from committee.saving.scikit_learn.pipelines import COMPOSED
from committee.saving.scikit_learn.scalers import SCALERS
from committee.saving.scikit_learn.splitters import SPLITTERS, Splitter

LINES: tuple[Listed | Splitter, ...] = (
    *LINEAR, *MACHINES, *BAYES, *SCALERS, *ENCODERS, *COMPOSED, *SPLITTERS
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
