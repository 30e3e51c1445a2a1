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
from typing import Any

import numpy as np

Sizes = dict[str, int]
Kind = Callable[[Any, Sizes], None]
# A name, a number, or None for any number.
Size = str | int | None

# Products of five such numbers are finite, so a changed weight cannot make a sound model overflow.
LARGEST = 1e60
SMALLEST = 1e-60
# More threads than this gain nothing, and a file must not ask for a million.
MOST_JOBS = 1024
DERIVED: Mapping[str, Callable[[int], int]] = {
    # What a linear classifier decides by: one number for two classes, else one for each class.
    "decisions": lambda n_classes: 1 if n_classes == 2 else n_classes,
    "pairs": lambda n_classes: n_classes * (n_classes - 1) // 2,
    "other classes": lambda n_classes: n_classes - 1,
}


class Wrong(ValueError):  # noqa: N818 - it says what a value is
    """What is wrong with a value, as the end of a sentence that begins with its name."""


def floats(
    *shape: Size, low: float = -LARGEST, high: float = LARGEST, missing: bool = False, of: str = ""
) -> Kind:
    """An array of float32 or float64.

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
    committee.saving.attributes.Wrong: has shape (5,) instead of (2,)
    """

    def check(value: Any, sizes: Sizes) -> None:
        check_array(value, shape, sizes, "f")
        if value.dtype.itemsize not in (4, 8) or (of and value.dtype != of):
            raise Wrong(f"holds {value.dtype} instead of {of or 'float32 or float64'}")
        check_range(value[~np.isnan(value)] if missing else value, low, high)

    return check


def positive(*shape: Size) -> Kind:
    """An array of numbers that something is divided by."""
    return floats(*shape, low=SMALLEST)


def shares(*shape: Size) -> Kind:
    """An array of probabilities."""
    return floats(*shape, low=0.0, high=1.0)


def integers(*shape: Size, low: int = 0, below: str | int = 2**63, of: str = "") -> Kind:
    """An array of integers from `low` up to, and without, a number or a size."""

    def check(value: Any, sizes: Sizes) -> None:
        check_array(value, shape, sizes, "iu")
        if of and value.dtype != of:
            raise Wrong(f"holds {value.dtype} instead of {of}")
        check_range(value, low, size_of(below, sizes) - 1)

    return check


def booleans(*shape: Size) -> Kind:
    """An array of True and False."""
    return lambda value, sizes: check_array(value, shape, sizes, "b")


def labels(size: Size = "classes") -> Kind:
    """An array of classes: all different, in ascending order."""

    def check(value: Any, sizes: Sizes) -> None:
        check_array(value, (size,), sizes, "biufUO")
        if value.dtype.kind == "f" and not np.isfinite(value).all():
            raise Wrong("holds a class that is not finite")
        try:
            is_ascending = bool((value[:-1] < value[1:]).all())
        except TypeError as error:
            raise Wrong("holds classes that cannot be compared") from error
        if not is_ascending:
            raise Wrong("holds classes that are not in ascending order")

    return check


def values(*shape: Size) -> Kind:
    """An array of values as they occur in columns: numbers, strings, None."""
    return lambda value, sizes: check_array(value, shape, sizes, "biufUOmM")


def categories(value: Any, sizes: Sizes) -> None:
    """An array of the different values of a column; numbers and dates in ascending order, NaN last."""
    check_array(value, (None,), sizes, "biufUOmM")
    if value.dtype.kind in "UO":
        shown = [(type(each), repr(each)) for each in value.tolist()]
        if len(set(shown)) != len(shown):
            raise Wrong("holds one category twice")
        return
    known = value[~np.isnan(value)] if value.dtype.kind in "fmM" else value
    if (
        len(known) < len(value) - 1
        or not (known[:-1] < known[1:]).all()
        or (known != value[: len(known)]).any()
    ):
        raise Wrong("holds categories that are not in ascending order")


def number(low: float = -LARGEST, high: float = LARGEST) -> Kind:
    """A number."""

    def check(value: Any, sizes: Sizes) -> None:
        if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real):
            raise Wrong(f"is {described(value)} instead of a number")
        if not low <= float(value) <= high:
            raise Wrong(f"is {value!r} instead of a number from {low:g} to {high:g}")

    return check


def integer(low: int = 0, high: float = 2**63 - 1) -> Kind:
    """An integer."""

    def check(value: Any, sizes: Sizes) -> None:
        if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Integral):
            raise Wrong(f"is {described(value)} instead of an integer")
        if not low <= int(value) <= high:
            raise Wrong(f"is {value!r} instead of an integer from {low:g} to {high:g}")

    return check


def count(size: str) -> Kind:
    """An integer that says how large a size is."""

    def check(value: Any, sizes: Sizes) -> None:
        integer()(value, sizes)
        if not agrees(size, int(value), sizes):
            raise Wrong(f"is {value} instead of {size_of(size, sizes)}")

    return check


def one_of(*choices: Any) -> Kind:
    """One of some words, None, True or False."""

    def check(value: Any, sizes: Sizes) -> None:
        if not any(type(value) is type(choice) and value == choice for choice in choices):
            allowed = ", ".join(map(repr, choices))
            raise Wrong(f"is {described(value)} instead of one of {allowed}")

    return check


def boolean(value: Any, sizes: Sizes) -> None:
    """True or False."""
    if not isinstance(value, bool | np.bool_):
        raise Wrong(f"is {described(value)} instead of True or False")


def text(value: Any, sizes: Sizes) -> None:
    """A string."""
    if not isinstance(value, str):
        raise Wrong(f"is {described(value)} instead of a string")


def dtype(value: Any, sizes: Sizes) -> None:
    """A dtype of numpy."""
    if not isinstance(value, np.dtype):
        raise Wrong(f"is {described(value)} instead of a dtype")


def number_type(value: Any, sizes: Sizes) -> None:
    """None, or what numpy takes for a dtype of numbers."""
    try:
        kind = np.dtype(value).kind
    except (TypeError, ValueError) as error:
        raise Wrong(f"is {described(value)} instead of a type of numbers") from error
    if kind not in "biufO":
        raise Wrong(f"is {described(value)} instead of a type of numbers")


def scalar(value: Any, sizes: Sizes) -> None:
    """None, a number, NaN too, or a string: what may stand in a table."""
    if not (value is None or isinstance(value, bool | int | float | str | np.generic)):
        raise Wrong(f"is {described(value)} instead of a number or a string")


def nothing(value: Any, sizes: Sizes) -> None:
    """None."""
    if value is not None:
        raise Wrong(f"is {described(value)} instead of None")


def told(value: Any, sizes: Sizes) -> None:
    """Anything: it tells of the fit, and no method reads it."""


def either(*kinds: Kind) -> Kind:
    """What is of one of some kinds; if it is of none, the first fault of what it holds is told.

    Examples
    --------
    >>> sizes = {"features": 2}
    >>> coefficients = either(floats("features"), floats("outputs", "features"))
    >>> coefficients(np.zeros((4, 2)), sizes)
    >>> sizes
    {'features': 2, 'outputs': 4}
    """

    def check(value: Any, sizes: Sizes) -> None:
        faults = []
        for kind in kinds:
            tried = dict(sizes)
            try:
                kind(value, tried)
            except Wrong as fault:
                faults.append(fault)
                continue
            sizes.update(tried)
            return
        # "is a list instead of an array" says less than "has shape (3,) instead of (4,)".
        raise next((fault for fault in faults if not str(fault).startswith("is ")), faults[0])

    return check


def given(kind: Kind, **known: int) -> Kind:
    """What is of a kind, and decides some sizes."""

    def check(value: Any, sizes: Sizes) -> None:
        kind(value, sizes)
        for size, n in known.items():
            if not agrees(size, n, sizes):
                raise Wrong(f"tells of {n} {size} instead of {sizes[size]}")

    return check


def optional(kind: Kind) -> Kind:
    """None, or what is of a kind."""
    return lambda value, sizes: None if value is None else kind(value, sizes)


def list_of(kind: Kind, size: Size | None = None) -> Kind:
    """A list whose items are of one kind."""

    def check(value: Any, sizes: Sizes) -> None:
        if not isinstance(value, list):
            raise Wrong(f"is {described(value)} instead of a list")
        if size is not None and not agrees(size, len(value), sizes):
            raise Wrong(f"has {len(value)} items instead of {known(size, sizes)}")
        for i, item in enumerate(value):
            within(f"[{i}]", kind, item, sizes)

    return check


def tuple_of(*kinds: Kind) -> Kind:
    """A tuple with an item of each kind."""

    def check(value: Any, sizes: Sizes) -> None:
        if not isinstance(value, tuple) or len(value) != len(kinds):
            raise Wrong(f"is {described(value)} instead of a tuple of {len(kinds)}")
        for i, (kind, item) in enumerate(zip(kinds, value, strict=True)):
            within(f"[{i}]", kind, item, sizes)

    return check


def dict_of(key: Kind, kind: Kind) -> Kind:
    """A dict whose keys and values are of one kind each."""

    def check(value: Any, sizes: Sizes) -> None:
        if not isinstance(value, dict):
            raise Wrong(f"is {described(value)} instead of a dict")
        for name, item in value.items():
            key(name, sizes)
            within(f"[{name!r}]", kind, item, sizes)

    return check


def check_array(value: Any, shape: tuple[Size, ...], sizes: Sizes, kinds: str) -> None:
    """Check that a value is an array of a kind of dtype and of a shape."""
    if not isinstance(value, np.ndarray):
        raise Wrong(f"is {described(value)} instead of an array")
    if value.dtype.kind not in kinds:
        raise Wrong(f"holds {value.dtype}")
    for each in value.flat if value.dtype.kind == "O" else ():
        if not isinstance(each, Hashable):
            raise Wrong(f"holds {described(each)}, which is no value of a table")
    check_shape(value.shape, shape, sizes)


def check_shape(found: tuple[int, ...], shape: tuple[Size, ...], sizes: Sizes) -> None:
    """Check a shape, and let it decide the sizes that are not known yet."""
    if len(found) != len(shape) or not all(
        agrees(size, n, sizes) for size, n in zip(shape, found, strict=True)
    ):
        expected = ", ".join("any" if size is None else str(known(size, sizes)) for size in shape)
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
    """Whether a size is a number; a size that is not known yet becomes that number."""
    if size is None:
        return True
    if isinstance(size, str) and size not in DERIVED:
        return sizes.setdefault(size, n) == n
    return size_of(size, sizes) == n


def size_of(size: str | int, sizes: Sizes) -> int:
    """The number that a size stands for."""
    if isinstance(size, int):
        return size
    return DERIVED[size](sizes["classes"]) if size in DERIVED else sizes[size]


def known(size: str | int, sizes: Sizes) -> str | int:
    """The number that a size stands for, or its name if that is not known yet."""
    try:
        return size_of(size, sizes)
    except KeyError:
        return size


def within(name: str, kind: Kind, value: Any, sizes: Sizes) -> None:
    """Check a part of a value; a fault names the part."""
    try:
        kind(value, sizes)
    except Wrong as fault:
        raise Wrong(sentence(name, fault)) from fault


def sentence(name: str, fault: Wrong) -> str:
    """A fault after the name of what has it.

    Examples
    --------
    >>> sentence("coef_", Wrong("is 3 instead of an array")), sentence("coefs_", Wrong("[1] is None"))
    ('coef_ is 3 instead of an array', 'coefs_[1] is None')
    """
    return f"{name}{fault}" if str(fault).startswith("[") else f"{name} {fault}"


def described(value: Any) -> str:
    """A value in the words of an error: short values as they are, others by their type."""
    if value is None or isinstance(value, bool | int | float | str | np.generic):
        shown = repr(value)
        return shown if len(shown) <= 40 else f"{shown[:37]}..."
    return f"a {type(value).__name__}"
