"""Take the fitted values of an estimator from a file by name, and check their types."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np

from committee.saving.format.file_errors import require

Value = TypeVar("Value")


class Fields:
    """Named values of a file, which are taken one by one. A value that is never taken is an error.

    Parameters
    ----------
    values : dict of str to object
    path : str, default=""
        The path of the values, for error messages.

    Examples
    --------
    >>> fields = Fields({"seed": 3, "importances": np.array([0.5, 0.5])})
    >>> fields.integer("seed", 0, 9), fields.array("importances", np.float64, (2,))
    (3, array([0.5, 0.5]))
    >>> fields.take("schema", dict)
    Traceback (most recent call last):
    committee.saving.format.file_errors.DamagedFile: schema is missing.
    """

    def __init__(self, values: Mapping[str, object], path: str = "") -> None:
        self.values, self.path = dict(values), path

    def __contains__(self, name: str) -> bool:
        return name in self.values

    def take(self, name: str, kind: type[Value]) -> Value:
        """Take an instance of a type."""
        require(name in self.values, f"{self._where(name)} is missing")
        value: Any = self.values.pop(name)
        # bool is a subclass of int.
        fits = isinstance(value, kind) and (kind is bool or not isinstance(value, bool) or kind is object)
        require(fits, f"{self._where(name)} is a {type(value).__name__} and not a {kind.__name__}")
        return value

    def optional(self, name: str, kind: type[Value]) -> Value | None:
        """Take a value of a type, or None."""
        return None if self._takes_none(name) else self.take(name, kind)

    def integer(self, name: str, lowest: int, highest: int) -> int:
        """Take an integer in a range."""
        value = self.take(name, int)
        require(lowest <= value <= highest, f"{self._where(name)} is {value}, not in [{lowest}, {highest}]")
        return value

    def positive(self, name: str) -> float:
        """Take a finite number above 0."""
        value = self.take(name, float)
        require(0 < value < math.inf, f"{self._where(name)} is {value}, not a finite number > 0")
        return value

    def array(
        self, name: str, dtype: type | np.dtype | None, shape: tuple[int | None, ...], *, finite: bool = True
    ) -> np.ndarray:
        """Take an array with a dtype and a shape. None in the shape allows any length."""
        array = self.take(name, np.ndarray)
        require(array.dtype == dtype, f"{self._where(name)} is of dtype {array.dtype}, not {np.dtype(dtype)}")
        fits = len(array.shape) == len(shape) and all(
            expected is None or length == expected
            for length, expected in zip(array.shape, shape, strict=True)
        )
        require(fits, f"{self._where(name)} is of shape {array.shape}, not {shape}")
        is_sound = not finite or array.dtype.kind != "f" or bool(np.isfinite(array).all())
        require(is_sound, f"{self._where(name)} holds a value that is not a finite number")
        return array

    def optional_array(
        self, name: str, dtype: type | np.dtype | None, shape: tuple[int | None, ...], *, finite: bool = True
    ) -> np.ndarray | None:
        """Take an array as `array` does, or None."""
        return None if self._takes_none(name) else self.array(name, dtype, shape, finite=finite)

    def fields(self, name: str) -> Fields:
        """Take named values that are nested in these."""
        values = self.take(name, dict)
        are_names = all(isinstance(key, str) for key in values)
        require(are_names, f"{self._where(name)} has names that are not text")
        return Fields(values, self._where(name))

    def optional_fields(self, name: str) -> Fields | None:
        """Take named values that are nested in these, or None."""
        return None if self._takes_none(name) else self.fields(name)

    def require(self, condition: object, error: str) -> None:
        """Raise `DamagedFile` with the path of the values unless a condition is true."""
        require(condition, f"{self.path}: {error}" if self.path else error)

    def finish(self) -> None:
        """Raise if a value was not taken."""
        self.require(not self.values, f"unknown fields {sorted(self.values)}")

    def _takes_none(self, name: str) -> bool:
        """Take a value if it is None, and return whether it was."""
        return self.values.get(name, self) is None and self.values.pop(name) is None

    def _where(self, name: str) -> str:
        return f"{self.path}__{name}" if self.path else name
