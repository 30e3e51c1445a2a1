"""How `make_column_selector` rests in a file: it is no estimator, and has three parameters all the same."""

from __future__ import annotations

import functools
import importlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from committee.saving.codec import Encoder, Json
from committee.saving.errors import DamagedFile
from committee.saving.registry import Described

PARAMETERS = {"pattern", "dtype_include", "dtype_exclude"}
# Types that stand for many dtypes have no dtype of their own.
ABSTRACT: dict[str, type] = {
    f"numpy.{each.__name__}": each
    for each in (
        np.number,
        np.integer,
        np.signedinteger,
        np.unsignedinteger,
        np.inexact,
        np.floating,
        np.generic,
    )
}
NAMES: dict[type, str] = {each: name for name, each in ABSTRACT.items()}


@dataclass(frozen=True)
class Selector:
    """The line of `make_column_selector` on the list."""

    public_name: str = "sklearn.compose.make_column_selector"

    @functools.cached_property
    def cls(self) -> type[Any]:
        """The class."""
        found: type[Any] = importlib.import_module("sklearn.compose").make_column_selector
        return found

    def describe(self, selector: Any, encoder: Encoder, path: str) -> dict[str, Json]:
        """Its parameters; types of numpy that stand for many by name."""
        named = {name: named_types(getattr(selector, name)) for name in sorted(PARAMETERS)}
        return {"parameters": encoder.named(named, path), "fitted": None}

    def restore(self, described: Described, path: str) -> Any:
        """Make the selector."""
        found = {name: types_named(value) for name, value in described.parameters.items()}
        pattern = found.get("pattern")
        is_sound = found.keys() == PARAMETERS and described.fitted is None
        if not is_sound or not (pattern is None or isinstance(pattern, str)):
            raise DamagedFile(f"{path}: a column selector has a pattern and two lists of dtypes.")
        return self.cls(**found)


def named_types(value: Any) -> Any:
    """Types of numpy that stand for many as their names, in lists too; all else as it is."""
    if isinstance(value, list | tuple):
        return [named_types(each) for each in value]
    return NAMES.get(value, value) if isinstance(value, type) else value


def types_named(value: Any) -> Any:
    """The types that `named_types` has named."""
    if isinstance(value, list):
        return [types_named(each) for each in value]
    return ABSTRACT.get(value, value) if isinstance(value, str) else value


SELECTOR = Selector()
