"""Find the parts of a model file that contain training rows.

Nearest neighbours, support vectors and rules that search for similar rows consist of training rows. Forests
with the rows of their leaves store the targets. Honest votes store the targets, weights and groups of their
rows. A file describes its models by the names of their attributes, so no model is loaded.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from committee.saving.format.container import metadata_of
from committee.saving.states.committee_states import MEMBERS

# The attributes that contain rows, by what they are called in a file; the values of other models are sums,
# means or thresholds. `tests/saving/test_stored_rows.py` compares them with the arrays of all models.
OF_ROWS = ("_fit_X", "support_vectors_", "points_", "leaf_rows", "honest")
# The key of the bytes of skops, whose attributes are not described.
OPAQUE = "skops"
RULE, HONEST_VOTES, MODEL = "the rule", "the honest votes", "the model"


@dataclass(frozen=True)
class StoredRows:
    """The parts of a file that contain training rows.

    Parameters
    ----------
    parts : tuple of str
        The names of members, "the rule", "the honest votes" or, if there are no members, "the model".
    unknown : tuple of str
        The parts that another library has stored, which may contain rows.
    """

    parts: tuple[str, ...]
    unknown: tuple[str, ...]

    def __str__(self) -> str:
        found = [f"in {', '.join(self.parts)}"] if self.parts else []
        found += [f"perhaps in {', '.join(self.unknown)}"] if self.unknown else []
        return "; ".join(found) or "none"


def stored_rows(path: str | os.PathLike[str]) -> StoredRows:
    """Return the parts of a file, which was checked before, that contain training rows.

    Examples
    --------
    >>> import tempfile
    >>> from committee import VotingClassifier
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> members = [("near", KNeighborsClassifier(1)), ("bayes", GaussianNB())]
    >>> voting = VotingClassifier(members).fit([[1], [2], [3], [4]], [0, 0, 1, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     voting.save(Path(folder, "voting.committee"))
    ...     print(stored_rows(Path(folder, "voting.committee")))
    in near
    """
    model = json.loads(metadata_of(Path(path))["description"])["model"]
    parts = dict(parts_of(model))
    has_rows = tuple(name for name, part in parts.items() if contains(part, OF_ROWS))
    return StoredRows(has_rows, tuple(name for name, part in parts.items() if contains(part, (OPAQUE,))))


def parts_of(model: dict[str, object]) -> Iterator[tuple[str, object]]:
    """Yield the parts of the description of a model with their names."""
    fitted = model.get("fitted")
    if not isinstance(fitted, dict) or MEMBERS not in fitted:
        yield MODEL, model
        return
    for member in fitted[MEMBERS]:
        values = dict(member["dict"])
        yield str(values["name"]), values["models"]
    yield RULE, fitted.get("rule")
    yield HONEST_VOTES, {"honest": fitted.get("honest")}


def contains(value: object, names: tuple[str, ...]) -> bool:
    """Return whether a description contains an attribute of some names that is neither None nor empty."""
    if isinstance(value, list):
        return any(contains(each, names) for each in value)
    if not isinstance(value, dict):
        return False
    # A dict of other keys than text is described by its pairs.
    pairs = [*value.items(), *(pair for pair in value.get("dict", ()) if isinstance(pair[0], str))]
    return any((name in names and bool(each)) or contains(each, names) for name, each in pairs)
