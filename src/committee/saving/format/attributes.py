"""What the fitted attributes of an estimator may be: a line for each, with its dtype, shape and range.

    {"classes_": labels("classes"), "coef_": floats("decisions", "features")}

In: a value. Out: nothing, or `Wrong`, which says what the value is and what it should be. A kind is a
function of the value and of the sizes so far. A size with a name stands for the same number wherever it is
written: the first attribute that has it decides, and those after it must agree. Three sizes follow from the
number of classes (`DERIVED`).
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Hashable, Mapping
from types import NoneType
from typing import Any

import numpy as np

Sizes = dict[str, int]
Kind = Callable[[object, Sizes], None]
# A name, a number, or None for any number.
Size = str | int | None

# Products of five such numbers are finite, so a changed weight cannot make a sound model overflow.
LARGEST = 1e60
SMALLEST = 1e-60
DERIVED: Mapping[str, Callable[[int], int]] = {
    # A linear classifier decides by one number for two classes, else by one for each class.
    "decisions": lambda n_classes: 1 if n_classes == 2 else n_classes,
    "pairs": lambda n_classes: n_classes * (n_classes - 1) // 2,
    "other classes": lambda n_classes: n_classes - 1,
}


class Wrong(ValueError):  # noqa: N818 - it says what a value is
    """What is wrong with a value, as the end of a sentence that begins with its name."""


def floats(
    *shape: Size, low: float = -LARGEST, high: float = LARGEST, missing: bool = False, of: str = ""
) -> Kind:
    """Return the kind of an array of float32 or float64.

    Parameters
    ----------
    *shape : str or int
    low, high : float
        The smallest and the largest number.
    missing : bool, default=False
        Whether NaN may be among them.
    of : str, default=""
        Which dtype it must be; empty for either.

    Examples
    --------
    >>> sizes = {"features": 3}
    >>> floats("outputs", "features")(np.zeros((2, 3)), sizes)
    >>> sizes
    {'features': 3, 'outputs': 2}
    >>> floats("outputs")(np.zeros(5), sizes)
    Traceback (most recent call last):
    committee.saving.format.attributes.Wrong: has shape (5,) instead of (2,)
    """

    def check(value: object, sizes: Sizes) -> None:
        array = checked_array(value, shape, sizes, "f")
        if array.dtype.itemsize not in (4, 8) or (of and array.dtype != of):
            raise Wrong(f"holds {array.dtype} instead of {of or 'float32 or float64'}")
        check_range(array[~np.isnan(array)] if missing else array, low, high)

    return check


def positive(*shape: Size) -> Kind:
    """Return the kind of an array of numbers that something is divided by."""
    return floats(*shape, low=SMALLEST)


def shares(*shape: Size) -> Kind:
    """Return the kind of an array of probabilities."""
    return floats(*shape, low=0.0, high=1.0)


def integers(*shape: Size, low: int = 0, below: str | int = 2**63, of: str = "") -> Kind:
    """Return the kind of an array of integers from `low` up to, and without, a number or a size."""

    def check(value: object, sizes: Sizes) -> None:
        array = checked_array(value, shape, sizes, "iu")
        if of and array.dtype != of:
            raise Wrong(f"holds {array.dtype} instead of {of}")
        check_range(array, low, size_of(below, sizes) - 1)

    return check


def array_of(kinds: str, *shape: Size) -> Kind:
    """Return the kind of an array whose dtype is of one of some kinds, each a letter of numpy."""

    def check(value: object, sizes: Sizes) -> None:
        checked_array(value, shape, sizes, kinds)

    return check


def booleans(*shape: Size) -> Kind:
    """Return the kind of an array of True and False."""
    return array_of("b", *shape)


def labels(size: Size = "classes") -> Kind:
    """Return the kind of an array of classes: all different, in ascending order."""

    def check(value: object, sizes: Sizes) -> None:
        array = checked_array(value, (size,), sizes, "biufUO")
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise Wrong("holds a class that is not finite")
        try:
            is_ascending = bool((array[:-1] < array[1:]).all())
        except TypeError as error:
            raise Wrong("holds classes that cannot be compared") from error
        if not is_ascending:
            raise Wrong("holds classes that are not in ascending order")

    return check


def number(low: float = -LARGEST, high: float = LARGEST) -> Kind:
    """Return the kind of a number in a range."""
    return scalar_of(numbers.Real, "a number", low, high)


def integer(low: int = 0, high: float = 2**63 - 1) -> Kind:
    """Return the kind of an integer in a range."""
    return scalar_of(numbers.Integral, "an integer", low, high)


def scalar_of(kind: Any, name: str, low: float, high: float) -> Kind:
    """Return the kind of a number of an abstract type in a range."""

    def check(value: Any, sizes: Sizes) -> None:
        if isinstance(value, bool | np.bool_) or not isinstance(value, kind):
            raise Wrong(f"is {described(value)} instead of {name}")
        if not low <= value <= high:
            raise Wrong(f"is {value!r} instead of {name} from {low:g} to {high:g}")

    return check


def count(size: str) -> Kind:
    """Return the kind of an integer that says how large a size is."""

    def check(value: Any, sizes: Sizes) -> None:
        integer()(value, sizes)
        if not agrees(size, int(value), sizes):
            raise Wrong(f"is {value} instead of {size_of(size, sizes)}")

    return check


def one_of(*choices: object) -> Kind:
    """Return the kind of a value that is one of some words, None, True or False."""

    def check(value: object, sizes: Sizes) -> None:
        if not any(type(value) is type(choice) and value == choice for choice in choices):
            allowed = ", ".join(map(repr, choices))
            raise Wrong(f"is {described(value)} instead of one of {allowed}")

    return check


def instance_of(name: str, *types: type) -> Kind:
    """Return the kind of an instance of some types, which errors call by a name."""

    def check(value: object, sizes: Sizes) -> None:
        if not isinstance(value, types):
            raise Wrong(f"is {described(value)} instead of {name}")

    return check


boolean = instance_of("True or False", bool, np.bool_)
text = instance_of("a string", str)
# What may stand in a table: None, a number, NaN too, or a string.
SCALARS = NoneType, bool, int, float, str, np.generic
scalar = instance_of("a number or a string", *SCALARS)


def anything(value: object, sizes: Sizes) -> None:
    """Accept anything: it describes the fit, and no method reads it."""


def either(*kinds: Kind) -> Kind:
    """Return the kind of what is of one of some kinds; an error says what is wrong by the first that fits.

    Examples
    --------
    >>> sizes = {"features": 2}
    >>> coefficients = either(floats("features"), floats("outputs", "features"))
    >>> coefficients(np.zeros((4, 2)), sizes)
    >>> sizes
    {'features': 2, 'outputs': 4}
    """

    def check(value: object, sizes: Sizes) -> None:
        faults = []
        for kind in kinds:
            tried = dict(sizes)
            try:
                kind(value, tried)
            except Wrong as fault:
                faults.append(fault)
            else:
                return sizes.update(tried)
        # "is a list instead of an array" says less than "has shape (3,) instead of (4,)".
        raise next((fault for fault in faults if not str(fault).startswith("is ")), faults[0])

    return check


def optional(kind: Kind) -> Kind:
    """Return the kind of what is None or of a kind."""
    return lambda value, sizes: None if value is None else kind(value, sizes)


def list_of(kind: Kind, size: Size = None) -> Kind:
    """Return the kind of a list whose items are of one kind."""

    def check(value: object, sizes: Sizes) -> None:
        if not isinstance(value, list):
            raise Wrong(f"is {described(value)} instead of a list")
        if not agrees(size, len(value), sizes):
            raise Wrong(f"has {len(value)} items instead of {known(size, sizes)}")
        for i, item in enumerate(value):
            check_named(f"[{i}]", kind, item, sizes)

    return check


def tuple_of(*kinds: Kind) -> Kind:
    """Return the kind of a tuple with an item of each kind."""

    def check(value: object, sizes: Sizes) -> None:
        if not isinstance(value, tuple) or len(value) != len(kinds):
            raise Wrong(f"is {described(value)} instead of a tuple of {len(kinds)}")
        for i, (kind, item) in enumerate(zip(kinds, value, strict=True)):
            check_named(f"[{i}]", kind, item, sizes)

    return check


def dict_of(key: Kind, kind: Kind) -> Kind:
    """Return the kind of a dict whose keys and values are of one kind each."""

    def check(value: object, sizes: Sizes) -> None:
        if not isinstance(value, dict):
            raise Wrong(f"is {described(value)} instead of a dict")
        for name, item in value.items():
            key(name, sizes)
            check_named(f"[{name!r}]", kind, item, sizes)

    return check


def checked_array(value: object, shape: tuple[Size, ...], sizes: Sizes, kinds: str) -> np.ndarray:
    """Return an array whose dtype is of one of some kinds and which has a shape."""
    if not isinstance(value, np.ndarray):
        raise Wrong(f"is {described(value)} instead of an array")
    if value.dtype.kind not in kinds:
        raise Wrong(f"holds {value.dtype}")
    for each in value.flat if value.dtype.kind == "O" else ():
        if not isinstance(each, Hashable):
            raise Wrong(f"holds {described(each)}, which is not a value of a table")
    check_shape(value.shape, shape, sizes)
    return value


def check_shape(found: tuple[int, ...], shape: tuple[Size, ...], sizes: Sizes) -> None:
    """Check a shape, and let it decide the sizes that are not known yet."""
    if len(found) != len(shape) or not all(
        agrees(size, n, sizes) for size, n in zip(shape, found, strict=True)
    ):
        expected = ", ".join(str(known(size, sizes)) for size in shape)
        raise Wrong(f"has shape {found} instead of ({expected}{',' * (len(shape) == 1)})")


def check_range(value: np.ndarray, low: float, high: float) -> None:
    """Check that all numbers of an array are finite and in a range."""
    if value.size == 0:
        return
    # As numbers of Python: a bound would become infinite in single precision.
    least, most = value.min().item(), value.max().item()
    if not (low <= least and most <= high):  # NaN is in no range
        raise Wrong(f"holds {least if not low <= least else most}, which is not from {low:g} to {high:g}")


def agrees(size: Size, n: int, sizes: Sizes) -> bool:
    """Return whether a size is a number; a size that is not known yet becomes that number."""
    if size is None:
        return True
    if isinstance(size, str) and size not in DERIVED:
        return sizes.setdefault(size, n) == n
    return size_of(size, sizes) == n


def size_of(size: str | int, sizes: Sizes) -> int:
    """Return the number that a size stands for."""
    if isinstance(size, int):
        return size
    return DERIVED[size](sizes["classes"]) if size in DERIVED else sizes[size]


def known(size: Size, sizes: Sizes) -> str | int:
    """Return the number that a size stands for, or its name if that is not known yet."""
    try:
        return "any" if size is None else size_of(size, sizes)
    except KeyError:
        return str(size)


def check_all(kinds: Mapping[str, Kind], values: Mapping[str, object], sizes: Sizes) -> None:
    """Check named values by their kinds, in the order of the kinds."""
    for name, kind in kinds.items():
        if name not in values:
            raise Wrong(f"{name} is missing")
        check_named(name, kind, values[name], sizes)


def check_named(name: str, kind: Kind, value: object, sizes: Sizes) -> None:
    """Check a value; an error begins with its name.

    Examples
    --------
    >>> check_named("coefs_", list_of(floats(None)), [np.zeros(2), None], {})
    Traceback (most recent call last):
    committee.saving.format.attributes.Wrong: coefs_[1] is None instead of an array
    """
    try:
        kind(value, sizes)
    except Wrong as fault:
        raise Wrong(f"{name}{fault}" if str(fault).startswith("[") else f"{name} {fault}") from fault


def described(value: object) -> str:
    """Return a value in the words of an error: short values as they are, others by their type."""
    if isinstance(value, SCALARS):
        shown = repr(value)
        return shown if len(shown) <= 40 else f"{shown[:37]}..."
    return f"a {type(value).__name__}"
