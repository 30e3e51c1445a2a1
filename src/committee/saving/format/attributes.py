"""Check the fitted attributes of an estimator: a table with the dtype, shape and range of each.

    {"classes_": labels("classes"), "coef_": floats("decisions", "features")}

In: a value. Out: nothing, or the error `Wrong` with the value and the expected kind. A kind is a function
that checks a value and gets the sizes that are known so far. A named size is the same number for all
attributes: the first attribute with the size sets it, and later attributes must agree. Three sizes follow
from the number of classes (`DERIVED`).
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

# Products of five numbers in this range are finite, so a changed weight cannot make a model overflow.
LARGEST = 1e60
SMALLEST = 1e-60
DERIVED: Mapping[str, Callable[[int], int]] = {
    # A linear classifier has one decision function for two classes, otherwise one for each class.
    "decisions": lambda n_classes: 1 if n_classes == 2 else n_classes,
    "pairs": lambda n_classes: n_classes * (n_classes - 1) // 2,
    "other classes": lambda n_classes: n_classes - 1,
}


class Wrong(ValueError):  # noqa: N818 - the message is the end of a sentence
    """A value that is not of the expected kind. The message follows the name of the value."""


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
        Whether to allow NaN.
    of : str, default=""
        The required dtype. Empty allows both.

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
    """Return the kind of an array of divisors."""
    return floats(*shape, low=SMALLEST)


def shares(*shape: Size) -> Kind:
    """Return the kind of an array of probabilities."""
    return floats(*shape, low=0.0, high=1.0)


def integers(*shape: Size, low: int = 0, below: str | int = 2**63, of: str = "") -> Kind:
    """Return the kind of an array of integers from `low` to below a number or a size."""

    def check(value: object, sizes: Sizes) -> None:
        array = checked_array(value, shape, sizes, "iu")
        if of and array.dtype != of:
            raise Wrong(f"holds {array.dtype} instead of {of}")
        check_range(array, low, size_of(below, sizes) - 1)

    return check


def array_of(kinds: str, *shape: Size) -> Kind:
    """Return the kind of an array whose dtype has one of numpy's kinds, such as "iu" for integers."""

    def check(value: object, sizes: Sizes) -> None:
        checked_array(value, shape, sizes, kinds)

    return check


def booleans(*shape: Size) -> Kind:
    """Return the kind of an array of True and False."""
    return array_of("b", *shape)


def labels(size: Size = "classes") -> Kind:
    """Return the kind of an array of different classes in ascending order."""

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
    """Return the kind of an integer that is a size."""

    def check(value: Any, sizes: Sizes) -> None:
        integer()(value, sizes)
        if not agrees(size, int(value), sizes):
            raise Wrong(f"is {value} instead of {size_of(size, sizes)}")

    return check


def one_of(*choices: object) -> Kind:
    """Return the kind of a value that is one of some texts, None, True or False."""

    def check(value: object, sizes: Sizes) -> None:
        if not any(type(value) is type(choice) and value == choice for choice in choices):
            allowed = ", ".join(map(repr, choices))
            raise Wrong(f"is {described(value)} instead of one of {allowed}")

    return check


def instance_of(name: str, *types: type) -> Kind:
    """Return the kind of an instance of some types. Errors contain the name."""

    def check(value: object, sizes: Sizes) -> None:
        if not isinstance(value, types):
            raise Wrong(f"is {described(value)} instead of {name}")

    return check


boolean = instance_of("True or False", bool, np.bool_)
text = instance_of("a string", str)
# The values of tables: None, numbers including NaN, and strings.
SCALARS = NoneType, bool, int, float, str, np.generic
scalar = instance_of("a number or a string", *SCALARS)


def anything(value: object, sizes: Sizes) -> None:
    """Accept any value, for an attribute that describes the fit and that no method reads."""


def either(*kinds: Kind) -> Kind:
    """Return the kind of a value that has one of some kinds.

    The error is that of the first kind whose container is right, otherwise that of the first kind.

    Examples
    --------
    >>> sizes = {"features": 2}
    >>> coefficients = either(floats("features"), floats("outputs", "features"))
    >>> coefficients(np.zeros((4, 2)), sizes)
    >>> sizes
    {'features': 2, 'outputs': 4}
    """

    def check(value: object, sizes: Sizes) -> None:
        errors = []
        for kind in kinds:
            tried = dict(sizes)
            try:
                kind(value, tried)
            except Wrong as error:
                errors.append(error)
            else:
                return sizes.update(tried)
        # "has shape (3,) instead of (4,)" helps more than "is a list instead of an array".
        raise next((error for error in errors if not str(error).startswith("is ")), errors[0])

    return check


def optional(kind: Kind) -> Kind:
    """Return the kind of a value that is None or of a kind."""
    return lambda value, sizes: None if value is None else kind(value, sizes)


def list_of(kind: Kind, size: Size = None) -> Kind:
    """Return the kind of a list of items of one kind."""

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
    """Return the kind of a dict with keys of one kind and values of another."""

    def check(value: object, sizes: Sizes) -> None:
        if not isinstance(value, dict):
            raise Wrong(f"is {described(value)} instead of a dict")
        for name, item in value.items():
            key(name, sizes)
            check_named(f"[{name!r}]", kind, item, sizes)

    return check


def sparse(*shape: Size, of: str = "") -> Kind:
    """Return the kind of a sparse matrix of finite numbers by rows, whose indices are in order."""

    def check(value: Any, sizes: Sizes) -> None:
        if getattr(value, "format", "") != "csr" or value.ndim != 2 or value.dtype.kind != "f":
            raise Wrong(f"is {described(value)} instead of a sparse matrix of floats by rows")
        if of and value.dtype != of:
            raise Wrong(f"holds {value.dtype} instead of {of}")
        check_shape(value.shape, shape, sizes)
        check_range(value.data, -LARGEST, LARGEST)
        is_first = np.zeros(value.nnz + 1, dtype=bool)
        is_first[value.indptr] = True
        if not (is_first[1:-1] | (np.diff(value.indices) > 0)).all():
            raise Wrong("has columns that are not in order")

    return check


def checked_array(value: object, shape: tuple[Size, ...], sizes: Sizes, kinds: str) -> np.ndarray:
    """Return an array with a dtype of one of some kinds, and with a shape."""
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
    """Check a shape, and set the sizes that are not known yet."""
    if len(found) != len(shape) or not all(
        agrees(size, n, sizes) for size, n in zip(shape, found, strict=True)
    ):
        expected = ", ".join(str(known(size, sizes)) for size in shape)
        raise Wrong(f"has shape {found} instead of ({expected}{',' * (len(shape) == 1)})")


def check_range(value: np.ndarray, low: float, high: float) -> None:
    """Check that all numbers of an array are finite and in a range."""
    if value.size == 0:
        return
    # Python's numbers have double precision. In single precision, a bound would become infinite.
    least, most = value.min().item(), value.max().item()
    if not (low <= least and most <= high):  # NaN is outside every range
        raise Wrong(f"holds {least if not low <= least else most}, which is not from {low:g} to {high:g}")


def agrees(size: Size, n: int, sizes: Sizes) -> bool:
    """Return whether a size is equal to a number. Set a size that is not known yet."""
    if size is None:
        return True
    if isinstance(size, str) and size not in DERIVED:
        return sizes.setdefault(size, n) == n
    return size_of(size, sizes) == n


def size_of(size: str | int, sizes: Sizes) -> int:
    """Return the number of a size."""
    if isinstance(size, int):
        return size
    return DERIVED[size](sizes["classes"]) if size in DERIVED else sizes[size]


def known(size: Size, sizes: Sizes) -> str | int:
    """Return the number of a size, or its name if the number is not known yet."""
    try:
        return "any" if size is None else size_of(size, sizes)
    except KeyError:
        return str(size)


def check_all(kinds: Mapping[str, Kind], values: Mapping[str, object], sizes: Sizes) -> None:
    """Check named values in the order of their kinds."""
    for name, kind in kinds.items():
        if name not in values:
            raise Wrong(f"{name} is missing")
        check_named(name, kind, values[name], sizes)


def check_named(name: str, kind: Kind, value: object, sizes: Sizes) -> None:
    """Check a value. An error begins with its name.

    Examples
    --------
    >>> check_named("coefs_", list_of(floats(None)), [np.zeros(2), None], {})
    Traceback (most recent call last):
    committee.saving.format.attributes.Wrong: coefs_[1] is None instead of an array
    """
    try:
        kind(value, sizes)
    except Wrong as error:
        raise Wrong(f"{name}{error}" if str(error).startswith("[") else f"{name} {error}") from error


def described(value: object) -> str:
    """Return a short value as its repr, and any other value as its type, for an error message."""
    if isinstance(value, SCALARS):
        shown = repr(value)
        return shown if len(shown) <= 40 else f"{shown[:37]}..."
    return f"a {type(value).__name__}"
