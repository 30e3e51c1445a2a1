"""Members that are on no list of ours, stored by skops: its bytes as an array of the file.

skops makes only types that it is told to trust, and runs no other code. It does not prove that their arrays
are sound, so every such member needs the caller's trust, by the names of its types. Nothing of it is opened
before the caller has given that. `require_trust` asks for it, for the boosters of other libraries too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from committee.saving.format.codec import Decoder, Encoder, Json, join
from committee.saving.format.file_errors import DamagedFile, UntrustedMember, require
from committee.saving.format.plain_values import with_keys
from committee.saving.saved_estimators import Described

MISSING = (
    "{path} is of a class that committee does not store itself but through skops, which is not installed. "
    "Install it: pip install 'committee[foreign]'."
)


# The tags of what other libraries make, and what stands beside the name of a class.
LIBRARIES = ("lightgbm", "xgboost", "catboost")
OF_A_LIBRARY = {"class", "parameters", "beside", "data"}


def write(estimator: object, encoder: Encoder, path: str) -> Json:
    """Let skops write an estimator, and read it back to see that it can."""
    skops = skops_io(path or type(estimator).__name__)
    try:
        data = skops.dumps(estimator)
        types = skops.get_untrusted_types(data=data)
        returned = skops.loads(data, trusted=types)
    except Exception as error:  # skops raises what the estimator's own methods raise
        raise TypeError(
            f"{path or type(estimator).__name__} is of a class that committee does not store itself, and "
            f"skops cannot store it: {error}"
        ) from error
    if type(returned) is not type(estimator):
        raise TypeError(f"skops makes a {type(returned).__name__} of {path or type(estimator).__name__}.")
    name = full_name(estimator)
    return {
        "skops": {
            "types": [name, *sorted(set(types) - {name})],
            "data": encoder.put(np.frombuffer(data, dtype=np.uint8), join(path, "skops")),
        }
    }


def read(written: Json, decoder: Decoder, path: str) -> object:
    """Let skops make an estimator of types that the caller trusts."""
    body = with_keys(written["skops"], {"types", "data"}, path)
    types, data = body["types"], decoder.take(body["data"], path)
    is_sound = isinstance(types, list) and types and all(isinstance(each, str) for each in types)
    require(is_sound and data.dtype == np.uint8 and data.ndim == 1, f"{path} is not what skops has written")
    if not decoder.builds:
        return Described(types[0], {}, {})
    require_trust(types, decoder.trusted, path, "by skops", decoder.described)
    skops = skops_io(path or "The model")
    content = data.tobytes()
    try:
        needed = skops.get_untrusted_types(data=content)
        require_trust(needed, decoder.trusted, path, "by skops", decoder.described)
        estimator = skops.loads(content, trusted=needed)
    except (DamagedFile, UntrustedMember, ImportError):
        raise
    except Exception as error:  # whatever goes wrong inside, the member cannot be made of these bytes
        raise DamagedFile(f"{path or 'The model'}: skops cannot read it ({error}).") from error
    require_trust([full_name(estimator)], decoder.trusted, path, "by skops", decoder.described)
    return estimator


def skops_io(path: str) -> Any:
    """The library, or one clear error."""
    try:
        import skops.io
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(MISSING.format(path=path)) from error
    return skops.io


def full_name(value: object) -> str:
    """The name of a value's type, with its module."""
    return f"{type(value).__module__}.{type(value).__qualname__}"


def require_trust(
    types: Iterable[str], trusted: Iterable[str], path: str, what: str, described: object = None
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
    committee.saving.format.file_errors.UntrustedMember: estimator is stored by skops: it is of a
    class that committee does not check itself. If you trust who
    wrote the file, load it with trusted=['sklearn', 'numpy.Own'].
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


def foreign_types(described: object) -> Iterator[str]:
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


def types_of_member(written: dict[str, object]) -> Iterator[str]:
    """What a tagged object needs if it is a member of another library; nothing if it is not."""
    if len(written) != 1:
        return
    ((tag, body),) = written.items()
    if tag in LIBRARIES and isinstance(body, dict) and body.keys() == OF_A_LIBRARY:
        yield tag
    elif tag == "skops" and isinstance(body, dict) and isinstance(body.get("types"), list):
        yield from (name for name in body["types"] if isinstance(name, str))
