"""How splitters of scikit-learn are stored, such as the `cv` of a committee: they have parameters only."""

from __future__ import annotations

import functools
import importlib
import inspect
from dataclasses import dataclass
from typing import Any

import numpy as np

from committee.saving.codec import Encoder, Json
from committee.saving.errors import DamagedFile
from committee.saving.estimators import Described

MODULE = "sklearn.model_selection"
NAMES = ("KFold", "StratifiedKFold", "GroupKFold", "RepeatedKFold", "RepeatedStratifiedKFold")
# Repeated splitters keep some of their parameters here, for the splitter that they repeat.
INNER = "cvargs"


@dataclass(frozen=True)
class Splitter:
    """The line of a splitter on the list.

    Parameters
    ----------
    name : str
    """

    name: str

    @property
    def public_name(self) -> str:
        """The name in the file."""
        return f"{MODULE}.{self.name}"

    @functools.cached_property
    def cls(self) -> type[Any]:
        """The class. Its name is ours, not that of a file."""
        found: type[Any] = getattr(importlib.import_module(MODULE), self.name)
        return found

    @functools.cached_property
    def parameters(self) -> tuple[str, ...]:
        """The names of its parameters."""
        return tuple(
            name
            for name, each in inspect.signature(self.cls).parameters.items()
            if each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
        )

    def describe(self, splitter: Any, encoder: Encoder, path: str) -> dict[str, Json]:
        """Its parameters."""
        kept = vars(splitter) | getattr(splitter, INNER, {})
        return {
            "parameters": encoder.named({name: kept[name] for name in self.parameters}, path),
            "fitted": None,
        }

    def restore(self, described: Described, path: str) -> Any:
        """Make the splitter."""
        found = described.parameters
        are_plain = all(
            value is None or isinstance(value, bool | int | np.random.RandomState) for value in found.values()
        )
        if not are_plain or found.keys() != set(self.parameters) or described.fitted is not None:
            raise DamagedFile(f"{path}: a {self.name} has {', '.join(self.parameters)}.")
        try:
            return self.cls(**found)
        except (ValueError, TypeError) as error:
            raise DamagedFile(f"{path}: {' '.join(str(error).split())}") from error


SPLITTERS = tuple(map(Splitter, NAMES))
