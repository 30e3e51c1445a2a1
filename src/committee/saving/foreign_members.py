"""Store members of other libraries: boosters in their own formats, all other classes through skops.

In: an estimator of LightGBM, XGBoost or CatBoost, or of a class that is not on our own list. Out: bytes in
the format of its library, as an array of the file, and back. skops creates only trusted types and runs no
other code, but does not check their arrays. The readers of the boosters are written in C++ and were not made
for hostile files. So every such member needs the caller's trust, by the names of its types or of its library,
before any library opens its bytes.
"""

from __future__ import annotations

import importlib
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from committee.saving.format.codec import BOOSTER_LIBRARIES, READERS, Decoder, Encoder, Json, join
from committee.saving.format.file_errors import DamagedFile, UntrustedMember, require
from committee.saving.format.plain_values import with_keys
from committee.saving.saved_estimators import Described

Named = dict[str, Any]
# The key of the attributes that the bytes of the library do not hold, and all keys of a booster in a file.
ATTRIBUTES = "beside"
BOOSTER_KEYS = {"class", "parameters", ATTRIBUTES, "data"}


@dataclass(frozen=True)
class Library:
    """Define how one library stores its estimators.

    Parameters
    ----------
    classes : tuple of str
    is_fitted : str
        The method that returns whether an estimator is fitted.
    dump : callable
        Return a fitted estimator as bytes in the library's own format, and the attributes that these do not
        hold.
    load : callable
        Restore the fitted state of a new estimator from those bytes and attributes.
    """

    classes: tuple[str, ...]
    is_fitted: str
    dump: Callable[[Any], tuple[bytes, Named]]
    load: Callable[[Any, bytes, Named], None]


def write(estimator: Any, encoder: Encoder, path: str) -> Json:
    """Let the library write an estimator, or skops if the library has no format for its class."""
    name, cls = type(estimator).__module__.partition(".")[0], type(estimator).__name__
    library = LIBRARIES.get(name)
    if library is None or cls not in library.classes or own_class(name, cls) is not type(estimator):
        return write_with_skops(estimator, encoder, path)
    is_fitted = getattr(estimator, library.is_fitted)()
    data, attributes = library.dump(estimator) if is_fitted else (b"", {})
    return {
        name: {
            "class": cls,
            "parameters": encoder.named(estimator.get_params(deep=False), path),
            ATTRIBUTES: encoder.named(attributes, path),
            "data": encoder.put(np.frombuffer(data, dtype=np.uint8), join(path, name)),
        }
    }


def read_booster(written: Json, decoder: Decoder, path: str) -> object:
    """Let the library make an estimator if the caller trusts it."""
    ((name, body),) = written.items()
    library = LIBRARIES[name]
    body = with_keys(body, BOOSTER_KEYS, path)
    cls, data = body["class"], take_bytes(body["data"], decoder, path, name)
    require(cls in library.classes, f"{path}: there is no {cls!r} of {name}")
    parameters, attributes = decoder.named(body["parameters"], path), decoder.named(body[ATTRIBUTES], path)
    if not decoder.builds:
        return Described(f"{name}.{cls}", parameters, attributes if len(data) else None)
    require_trust([name], decoder.trusted, path, f"in the format of {name}", decoder.described)
    try:
        estimator = own_class(name, cls)(**parameters)
        if data:
            library.load(estimator, data, attributes)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(f"{path or 'The model'} is a {cls}. Install {name} to load it.") from error
    except Exception as error:  # each library has its own errors
        raise DamagedFile(f"{path or 'The model'}: {name} cannot read it ({error}).") from error
    return estimator


def own_class(library: str, name: str) -> Any:
    """Return a class of a library. The name is in our list."""
    return getattr(importlib.import_module(library), name)


def take_bytes(name: Json, decoder: Decoder, path: str, library: str) -> bytes:
    """Take the bytes of a library."""
    data = decoder.take(name, path)
    require(data.dtype == np.uint8 and data.ndim == 1, f"{path} was not written by {library}")
    return data.tobytes()


def write_with_skops(estimator: object, encoder: Encoder, path: str) -> Json:
    """Let skops write an estimator, and check that it can read it back."""
    place = path or type(estimator).__name__
    skops = skops_io(place)
    try:
        data = skops.dumps(estimator)
        types = skops.get_untrusted_types(data=data)
        returned = skops.loads(data, trusted=types)
    except Exception as error:  # skops raises the errors of the estimator's own methods
        raise TypeError(
            f"{place} is of a class that committee does not store itself, and skops cannot store it: {error}"
        ) from error
    if type(returned) is not type(estimator):
        raise TypeError(f"{place} cannot be saved: skops loads it as a {type(returned).__name__}.")
    name = full_name(estimator)
    return {
        "skops": {
            "types": [name, *sorted(set(types) - {name})],
            "data": encoder.put(np.frombuffer(data, dtype=np.uint8), join(path, "skops")),
        }
    }


def read_with_skops(written: Json, decoder: Decoder, path: str) -> object:
    """Let skops make an estimator of types that the caller trusts."""
    body = with_keys(written["skops"], {"types", "data"}, path)
    types, data = body["types"], take_bytes(body["data"], decoder, path, "skops")
    are_names = isinstance(types, list) and types and all(isinstance(each, str) for each in types)
    require(are_names, f"{path} was not written by skops")
    if not decoder.builds:
        return Described(types[0], {}, {})
    require_trust(types, decoder.trusted, path, "by skops", decoder.described)
    skops = skops_io(path or "The model")
    try:
        needed = skops.get_untrusted_types(data=data)
        require_trust(needed, decoder.trusted, path, "by skops", decoder.described)
        estimator = skops.loads(data, trusted=needed)
    except (DamagedFile, UntrustedMember, ImportError):
        raise
    except Exception as error:  # hostile bytes can raise any error
        raise DamagedFile(f"{path or 'The model'}: skops cannot read it ({error}).") from error
    require_trust([full_name(estimator)], decoder.trusted, path, "by skops", decoder.described)
    return estimator


def skops_io(place: str) -> Any:
    """Import skops, or raise an error that names the extra."""
    try:
        import skops.io
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"{place} is of a class that committee does not store itself but through skops, which is not "
            "installed. Install it: pip install 'committee[foreign]'."
        ) from error
    return skops.io


def full_name(value: object) -> str:
    """Return the name of a value's type, with its module."""
    return f"{type(value).__module__}.{type(value).__qualname__}"


def require_trust(
    types: Iterable[str], trusted: Iterable[str], path: str, how: str, described: object = None
) -> None:
    """Raise unless the caller trusts some types. The error lists all types that the file needs.

    Parameters
    ----------
    types : iterable of str
        Full names of types, or of libraries.
    trusted : iterable of str
        The full names of types, modules and libraries that the caller trusts.
    path : str
        The path of the member, for the message.
    how : str
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
        f"{path or 'The model'} is stored {how}: it is of a class that committee does not check itself. "
        f"If you trust who wrote the file, load it with trusted={[*given, *further]!r}."
    )


def is_trusted(name: str, trusted: Iterable[str]) -> bool:
    """Return whether a type, or a module or library that contains it, is trusted."""
    return any(name == each or name.startswith(f"{each}.") for each in trusted)


def foreign_types(described: object) -> Iterator[str]:
    """Yield the types and libraries that a description needs from other libraries, in its order.

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
    """Yield the types that a tagged object needs if it is a member of another library."""
    if len(written) != 1:
        return
    ((tag, body),) = written.items()
    if tag in BOOSTER_LIBRARIES and isinstance(body, dict) and body.keys() == BOOSTER_KEYS:
        yield tag
    elif tag == "skops" and isinstance(body, dict) and isinstance(body.get("types"), list):
        yield from (name for name in body["types"] if isinstance(name, str))


# The attributes of LightGBM's estimators that its booster does not hold.
LIGHTGBM_ATTRIBUTES = (
    "_best_iteration", "_classes", "_evals_result", "_fitted_with_feature_names", "_le", "_n_classes",
    "_n_features", "_n_features_in", "_objective", "_other_params", "fitted_",
)  # fmt: skip


def dump_lightgbm(estimator: Any) -> tuple[bytes, Named]:
    """Return all trees as text."""
    attributes = {name: getattr(estimator, name) for name in LIGHTGBM_ATTRIBUTES if hasattr(estimator, name)}
    if callable(estimator.objective):
        raise TypeError("objective is a function, and a saved file holds no code. Set it to a name.")
    attributes["_evals_result"] = plain_dicts(attributes.get("_evals_result"))
    attributes["_best_score"] = plain_dicts(estimator.best_score_)
    return estimator.booster_.model_to_string(num_iteration=-1).encode(), attributes


def load_lightgbm(estimator: Any, data: bytes, attributes: Named) -> None:
    """Restore the trees from text, and the other attributes."""
    booster = importlib.import_module("lightgbm").Booster(model_str=data.decode())
    booster.best_iteration = attributes["_best_iteration"]
    for name in (*LIGHTGBM_ATTRIBUTES, "_best_score"):
        if name in attributes:
            setattr(estimator, name, attributes[name])
    if attributes.get("_classes") is not None:
        codes = attributes["_le"].transform(attributes["_classes"])
        estimator._class_map = dict(zip(attributes["_classes"], codes, strict=True))
    estimator._Booster = booster


def plain_dicts(value: object) -> object:
    """Replace dicts of other classes by plain dicts."""
    return {key: plain_dicts(each) for key, each in value.items()} if isinstance(value, dict) else value


def dump_xgboost(estimator: Any) -> tuple[bytes, Named]:
    """Return the booster as universal binary JSON."""
    return bytes(estimator.get_booster().save_raw("ubj")), {}


def load_xgboost(estimator: Any, data: bytes, attributes: Named) -> None:
    """Restore the booster from universal binary JSON, and keep the parameters."""
    parameters = estimator.get_params()
    estimator.load_model(bytearray(data))
    estimator.set_params(**parameters)


def dump_catboost(estimator: Any) -> tuple[bytes, Named]:
    """Return the model in CatBoost's binary format. CatBoost writes it to files only."""
    with tempfile.TemporaryDirectory() as folder:
        estimator.save_model(str(Path(folder, "model.cbm")), format="cbm")
        return Path(folder, "model.cbm").read_bytes(), {"_n_features_in": estimator.n_features_in_}


def load_catboost(estimator: Any, data: bytes, attributes: Named) -> None:
    """Restore the model, and the number of columns, which CatBoost's format does not hold."""
    estimator.load_model(blob=data)
    estimator._n_features_in = attributes["_n_features_in"]


LIBRARIES = {
    "lightgbm": Library(
        ("LGBMClassifier", "LGBMRegressor", "LGBMRanker"),
        "__sklearn_is_fitted__",
        dump_lightgbm,
        load_lightgbm,
    ),
    "xgboost": Library(
        ("XGBClassifier", "XGBRegressor", "XGBRanker", "XGBRFClassifier", "XGBRFRegressor"),
        "__sklearn_is_fitted__",
        dump_xgboost,
        load_xgboost,
    ),
    "catboost": Library(
        ("CatBoostClassifier", "CatBoostRegressor", "CatBoostRanker"),
        "is_fitted",
        dump_catboost,
        load_catboost,
    ),
}
READERS |= {"skops": read_with_skops, **dict.fromkeys(LIBRARIES, read_booster)}
