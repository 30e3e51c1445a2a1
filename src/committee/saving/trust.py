"""What the caller of `load` lets other libraries make of a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from committee.saving.errors import UntrustedMember

# The tags of what other libraries make, and what stands beside the name of a class.
LIBRARIES = ("lightgbm", "xgboost", "catboost")
OF_A_LIBRARY = {"class", "parameters", "beside", "data"}


def require_trust(
    types: Iterable[str], trusted: Iterable[str], path: str, what: str, described: Any = None
) -> None:
    """Raise unless the caller trusts some types. The error lists all types that the file needs.

    Parameters
    ----------
    types : iterable of str
        Full names of types, or of libraries.
    trusted : iterable of str
        What the caller trusts: full names of types, or of the modules and libraries that they are in.
    path : str
        Where the member stands, for the message.
    what : str
        How the member is stored, for the message.
    described : JSON, default=None
        The whole model, which may need further types.

    Examples
    --------
    >>> require_trust(["sklearn.tree._tree.Tree"], ["sklearn"], "", "by skops")
    >>> whole = [{"skops": {"types": ["sklearn.svm.SVC", "numpy.Own"], "data": "a"}}]
    >>> require_trust(["numpy.Own"], ["sklearn"], "estimator", "by skops", whole)
    Traceback (most recent call last):
    committee.saving.errors.UntrustedMember: estimator is stored by skops: it is of a class that committee
    does not check itself. If you trust who wrote the file, load it with trusted=['sklearn', 'numpy.Own'].
    """
    trusted, types = tuple(trusted), tuple(types)
    if all(is_trusted(name, trusted) for name in types):
        return
    needed = dict.fromkeys([*foreign_types(described), *types])
    given = [each for each in trusted if any(is_trusted(name, (each,)) for name in needed)]
    further = [name for name in needed if not is_trusted(name, trusted)]
    raise UntrustedMember(
        f"{path or 'The model'} is stored {what}: it is of a class that committee does not check itself. "
        f"If you trust who wrote the file, load it with trusted={[*given, *further]!r}."
    )


def is_trusted(name: str, trusted: Iterable[str]) -> bool:
    """Whether a type, or a module or library that it is in, is among some."""
    return any(name == each or name.startswith(f"{each}.") for each in trusted)


def foreign_types(described: Any) -> Iterator[str]:
    """The types and libraries that a description says other libraries make, in its order.

    Examples
    --------
    >>> list(foreign_types({"tuple": [1, {"skops": {"types": ["sklearn.svm.SVC"], "data": "a"}}]}))
    ['sklearn.svm.SVC']
    """
    left = [described]
    while left:
        each = left.pop()
        if isinstance(each, list):
            left.extend(reversed(each))
        elif isinstance(each, dict):
            left.extend(reversed(list(each.values())))
            yield from types_of_member(each)


def types_of_member(written: dict[str, Any]) -> Iterator[str]:
    """What a tagged object needs if it is a member of another library; nothing if it is not."""
    if len(written) != 1:
        return
    ((tag, body),) = written.items()
    if tag in LIBRARIES and isinstance(body, dict) and body.keys() == OF_A_LIBRARY:
        yield tag
    elif tag == "skops" and isinstance(body, dict) and isinstance(body.get("types"), list):
        yield from (name for name in body["types"] if isinstance(name, str))
