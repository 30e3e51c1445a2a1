"""Functions that may stand in a file: those of numpy and scikit-learn on a list, by name."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from committee.saving.attributes import Wrong, described


class Written(Protocol):
    """Functions that a parameter may be, and their names."""

    @property
    def advice(self) -> str:
        """What to set the parameter to instead of another function."""

    def name_of(self, function: Any) -> str | None:
        """The name of a function, None if it is not on the list."""

    def named(self, name: str) -> Any:
        """The function of a name; raises `Wrong` if there is none."""


@dataclass(frozen=True)
class Functions:
    """Some functions of a module.

    Parameters
    ----------
    module : str
    names : tuple of str
    """

    module: str
    names: tuple[str, ...]

    @property
    def advice(self) -> str:
        """What to set the parameter to instead of another function."""
        return f"Set it to one of {', '.join(self.names)} of {self.module}"

    def name_of(self, function: Any) -> str | None:
        """The name of a function, None if it is not on the list."""
        module = importlib.import_module(self.module)
        return next((name for name in self.names if getattr(module, name, None) is function), None)

    def named(self, name: str) -> Any:
        """The function of a name."""
        if name not in self.names:
            raise Wrong(f"is {described(name)} instead of one of {', '.join(self.names)}")
        return getattr(importlib.import_module(self.module), name)


class Ufuncs:
    """The functions of numpy that take an array and return one of the same shape, such as `numpy.log1p`."""

    advice = "Set it to a function of numpy on one array, or put the function into a class of your own"

    def name_of(self, function: Any) -> str | None:
        """The name of a function, None if it is none of them."""
        name = getattr(function, "__name__", "")
        return name if is_ufunc(function) and getattr(np, name, None) is function else None

    def named(self, name: str) -> Any:
        """The function of a name."""
        function = getattr(np, name, None) if name.isidentifier() and not name.startswith("_") else None
        if not is_ufunc(function):
            raise Wrong(f"is {described(name)}, which is no function of numpy on one array")
        return function


def is_ufunc(function: Any) -> bool:
    """Whether a value is a function of numpy on one array."""
    return isinstance(function, np.ufunc) and function.nin == function.nout == 1
