"""The estimators that a file may hold: each by a written name, with how it is described and restored.

The first word of a name is the library that the class is of, and says which module knows it. No other class
is ever made, and no name of a file is looked up anywhere else.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any, Protocol

from committee.saving.codec import OTHER_WRITERS, Decoder, Encoder, Json
from committee.saving.errors import DamagedFile

# Each module has `name_of(estimator)` and `saved_named(name)`, both None for what is not on its list, and
# `knows(name)`, which makes no estimator.
MODULES = {"committee": "committee.saving.own", "sklearn": "committee.saving.scikit_learn"}


class Saved(Protocol):
    """How the estimators of a class are described and restored."""

    def describe(self, estimator: Any, encoder: Encoder, path: str) -> dict[str, Json]:
        """The estimator as {"parameters": {...}, "fitted": {...} or None}, both by name."""

    def restore(self, described: Described, path: str) -> Any:
        """Make the estimator, once all that is described is known to be sound; else raise `DamagedFile`."""


@dataclass(frozen=True, eq=False)
class Described:
    """An estimator as a file describes it, its values made but the estimator itself not.

    Parameters
    ----------
    name : str
        Of the registry.
    parameters : dict of str to object
    fitted : dict of str to object, or None
    """

    name: str
    parameters: dict[str, Any]
    fitted: dict[str, Any] | None


def write(estimator: Any, encoder: Encoder, path: str) -> Json:
    """Describe an estimator by the list that its class is on, or let another library describe it."""
    library = type(estimator).__module__.partition(".")[0]
    module = importlib.import_module(MODULES[library])
    name = module.name_of(estimator)
    if name is None:
        other: Json = importlib.import_module(OTHER_WRITERS).write(estimator, encoder, path)
        return other
    return {"estimator": name, **module.saved_named(name).describe(estimator, encoder, path)}


def read(written: Json, decoder: Decoder, path: str) -> Any:
    """Restore an estimator, or only look at its description if the decoder makes none."""
    name = written["estimator"]
    library = name.partition(".")[0] if isinstance(name, str) else ""
    module = importlib.import_module(MODULES[library]) if library in MODULES else None
    if module is None or not module.knows(name):
        raise DamagedFile(f"{path}: there is no estimator {name!r} in this committee.")
    fitted = written["fitted"]
    described = Described(
        name,
        decoder.named(written["parameters"], path),
        None if fitted is None else decoder.named(fitted, path),
    )
    if not decoder.builds:
        return described
    saved: Saved = module.saved_named(name)
    return saved.restore(described, path)
