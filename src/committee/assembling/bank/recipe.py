"""Recipes: texts that identify members and are the same in every process.

In: a member. Out: the names of its classes, all their parameters and its columns. Members that would be
fitted differently have different recipes. A recipe contains the code of a function and the values that the
function uses, the state of a random number generator, and a checksum of the pickle of a frozen estimator.
"""

from __future__ import annotations

import hashlib
import pickle
import sys
from collections.abc import Iterable, Iterator
from functools import partial
from types import CodeType, FunctionType, MethodType, ModuleType

import numpy as np
from sklearn.frozen import FrozenEstimator

from committee.assembling.named_members import Member


def recipe_of(member: Member) -> str:
    """Return the recipe of a member: its classes, all their parameters and its columns.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> recipe_of(Member("bayes", GaussianNB(), [0, 2]))
    'sklearn.naive_bayes.GaussianNB(priors=None, var_smoothing=1e-09) on [0, 2]'
    """
    try:
        text = written_out(member.estimator)
    except ValueError as error:
        raise ValueError(
            f"Member {member.name!r} has a parameter that cannot be written as text. {error}"
        ) from error
    return text + (f" on {member.columns}" if member.columns is not None else "")


def written_out(value: object, above: tuple[object, ...] = ()) -> str:
    """Write a parameter as text that is the same in every process.

    Parameters
    ----------
    value : object
    above : tuple, default=()
        The functions and objects around the value, to stop at cycles.

    Returns
    -------
    str

    Examples
    --------
    >>> written_out({"b": {2, 1}, "a": (None, "x")})
    "{'a': [None, 'x'], 'b': {1, 2}}"
    """
    if any(value is each for each in above):
        return "itself"
    within = (*above, value)

    def several(values: Iterable[object]) -> list[str]:
        return [written_out(each, within) for each in values]

    if isinstance(value, type | ModuleType):
        return repr(value) if isinstance(value, type) else value.__name__
    if isinstance(value, FrozenEstimator):
        return f"frozen:{digest(pickle.dumps(value.estimator).hex())}"
    if hasattr(value, "get_params"):
        return named_parts(value, value.get_params(deep=False), within)
    if isinstance(value, list | tuple):
        return f"[{', '.join(several(value))}]"
    if isinstance(value, set | frozenset):
        return f"{{{', '.join(sorted(several(value)))}}}"
    if isinstance(value, dict):
        pairs = zip(several(value), several(value.values()), strict=True)
        return f"{{{', '.join(sorted(f'{name}: {each}' for name, each in pairs))}}}"
    if isinstance(value, np.ndarray):
        return f"array({written_out(value.tolist(), within)})"
    if isinstance(value, np.random.RandomState):
        return f"RandomState:{digest(written_out(value.get_state(legacy=False), within))}"
    if isinstance(value, np.random.Generator):
        return f"Generator:{digest(written_out(value.bit_generator.state, within))}"
    if isinstance(value, partial):
        return f"partial({', '.join(several((value.func, value.args, value.keywords)))})"
    if isinstance(value, MethodType):
        return f"{written_out(value.__self__, within)}.{written_out(value.__func__, within)}"
    if isinstance(value, FunctionType):
        return f"{value.__module__}.{value.__qualname__}:{digest(' '.join(function_parts(value, within)))}"
    if isinstance(value, CodeType):
        return f"{value.co_code.hex()} {value.co_names} {several(value.co_consts)}"
    held = held_values(value)
    if held:
        return f"{type(value).__module__}.{type(value).__qualname__}:{digest(written_out(held, within))}"
    kind = type(value)
    if kind.__repr__ is object.__repr__ and isinstance(kept := value.__getstate__(), dict):
        names = kept.keys() - ignored_attributes(value)
        return named_parts(value, {name: kept[name] for name in names}, within)
    text = repr(value)
    if " at 0x" not in text:
        return text
    if (name := public_name(value)) is None:
        raise ValueError(
            f"Only its address in memory identifies a {kind.__name__}. Give its class a __repr__, or use "
            "another value."
        )
    return name


def ignored_attributes(value: object) -> set[str]:
    """Return the attributes of an object that are not part of its text.

    A distribution contains a copy of numpy's global generator, but searches draw from another generator.
    """
    return {"__doc__", "_random_state"} if hasattr(value, "rvs") else set()


def public_name(value: object) -> str | None:
    """Return the qualified name of a value if it is an attribute of its module, else None.

    Examples
    --------
    >>> public_name(np.nan_to_num), public_name("a".upper)
    ('numpy.nan_to_num', None)
    """
    module, path = getattr(value, "__module__", None) or "", getattr(value, "__qualname__", "")
    found: object = sys.modules.get(module)
    for name in path.split("."):
        found = getattr(found, name, None)
    return f"{module}.{path}" if found is value else None


def held_values(value: object) -> list[object]:
    """Return the contents of a data frame, series or sparse matrix; an empty list for other values.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> held_values(csr_array([[0, 7]]))
    [(1, 2), [0], [1], [7]]
    """
    if hasattr(value, "to_pylist"):  # Arrow
        return [str(getattr(value, "schema", "")), value.to_pylist()]
    if hasattr(value, "to_numpy"):  # pandas and polars
        known = [getattr(value, name, None) for name in ("name", "index", "columns", "dtype", "dtypes")]
        return [*known, value.to_numpy()]
    if hasattr(value, "tocoo"):  # scipy
        found = value.tocoo()
        return [found.shape, *(part.tolist() for part in (found.row, found.col, found.data))]
    return []


def named_parts(value: object, parts: dict[str, object], within: tuple[object, ...]) -> str:
    """Write an object as its class and named values."""
    held = ", ".join(f"{name}={written_out(each, within)}" for name, each in sorted(parts.items()))
    return f"{type(value).__module__}.{type(value).__qualname__}({held})"


def function_parts(function: FunctionType, within: tuple[object, ...]) -> Iterator[str]:
    """Yield the code of a function and the values that it uses.

    The values are its defaults, its closure, and the constants and functions of its module that it uses.
    Mutable globals, such as lists, are ignored.
    """
    for part in (function.__code__, function.__defaults__, function.__kwdefaults__):
        yield written_out(part, within)
    for cell in function.__closure__ or ():
        yield written_out(cell.cell_contents, within)
    for name in sorted(names_in(function.__code__) & function.__globals__.keys()):
        known = function.__globals__[name]
        is_near = isinstance(known, FunctionType) and known.__module__ == function.__module__
        if is_near or isinstance(known, int | float | complex | str | bytes | tuple | np.ndarray):
            yield f"{name} = {written_out(known, within)}"


def names_in(code: CodeType) -> set[str]:
    """Return the names of globals and attributes in the code of a function."""
    inner = (names_in(each) for each in code.co_consts if isinstance(each, CodeType))
    return set(code.co_names).union(*inner)


def digest(text: str) -> str:
    """Return a short checksum of a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]
