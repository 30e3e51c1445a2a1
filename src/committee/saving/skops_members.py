"""Members that are on no list of ours, stored by skops: its bytes as an array of the file.

skops makes only types that it is told to trust, and runs no other code. It does not prove that their arrays
are sound, so every such member needs the caller's trust, by the names of its types. Nothing of it is opened
before the caller has given that.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from committee.saving.codec import Decoder, Encoder, Json, join
from committee.saving.errors import DamagedFile, UntrustedMember, require
from committee.saving.estimators import Described
from committee.saving.plain import with_keys
from committee.saving.trust import require_trust

MISSING = (
    "{path} is of a class that committee does not store itself but through skops, which is not installed. "
    "Install it: pip install 'committee[foreign]'."
)


def write(estimator: Any, encoder: Encoder, path: str) -> Json:
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


def read(written: Json, decoder: Decoder, path: str) -> Any:
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


def full_name(value: Any) -> str:
    """The name of a value's type, with its module."""
    return f"{type(value).__module__}.{type(value).__qualname__}"
