"""Estimators of LightGBM, XGBoost and CatBoost: each library's own format, its bytes as an array of the file.

Their readers are written in C++ and were not made for hostile files, so each needs the caller's trust, by the
name of the library. Nothing of it is opened before the caller has given that.
"""

from __future__ import annotations

import importlib
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from committee.saving.format.codec import Decoder, Encoder, Json, join
from committee.saving.format.file_errors import DamagedFile, require
from committee.saving.format.plain_values import with_keys
from committee.saving.other_libraries import skops_members
from committee.saving.other_libraries.skops_members import OF_A_LIBRARY, require_trust
from committee.saving.saved_estimators import Described

Named = dict[str, Any]


@dataclass(frozen=True)
class Library:
    """How one library stores its estimators.

    Parameters
    ----------
    classes : tuple of str
    is_fitted : callable
    dump : callable
        A fitted estimator -> bytes in the library's own format, and attributes that these do not hold.
    load : callable
        Makes a new estimator a fitted one of these two.
    """

    classes: tuple[str, ...]
    is_fitted: Callable[[Any], bool]
    dump: Callable[[Any], tuple[bytes, Named]]
    load: Callable[[Any, bytes, Named], None]


def write(estimator: Any, encoder: Encoder, path: str) -> Json:
    """Let the library write an estimator."""
    name, cls = type(estimator).__module__.partition(".")[0], type(estimator).__name__
    library = LIBRARIES[name]
    if cls not in library.classes or getattr(importlib.import_module(name), cls) is not type(estimator):
        return skops_members.write(estimator, encoder, path)
    data, beside = library.dump(estimator) if library.is_fitted(estimator) else (b"", {})
    return {
        name: {
            "class": cls,
            "parameters": encoder.named(estimator.get_params(deep=False), path),
            "beside": encoder.named(beside, path),
            "data": encoder.put(np.frombuffer(data, dtype=np.uint8), join(path, name)),
        }
    }


def read(written: Json, decoder: Decoder, path: str) -> object:
    """Let the library make an estimator, if the caller trusts it."""
    ((name, body),) = written.items()
    library = LIBRARIES[name]
    body = with_keys(body, OF_A_LIBRARY, path)
    cls, data = body["class"], decoder.take(body["data"], path)
    require(cls in library.classes, f"{path}: there is no {cls!r} of {name}")
    require(data.dtype == np.uint8 and data.ndim == 1, f"{path} is not what {name} has written")
    parameters, beside = decoder.named(body["parameters"], path), decoder.named(body["beside"], path)
    if not decoder.builds:
        return Described(f"{name}.{cls}", parameters, beside if len(data) else None)
    require_trust([name], decoder.trusted, path, f"in the format of {name}", decoder.described)
    try:
        estimator = getattr(importlib.import_module(name), cls)(**parameters)
        if len(data):
            library.load(estimator, data.tobytes(), beside)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(f"{path or 'The model'} is a {cls}. Install {name} to load it.") from error
    except Exception as error:  # each library has errors of its own
        raise DamagedFile(f"{path or 'The model'}: {name} cannot read it ({error}).") from error
    return estimator


# What the estimators of LightGBM have learnt beside their booster.
BESIDE_LIGHTGBM = (
    "_best_iteration", "_classes", "_evals_result", "_fitted_with_feature_names", "_le", "_n_classes",
    "_n_features", "_n_features_in", "_objective", "_other_params", "fitted_",
)  # fmt: skip


def dump_lightgbm(estimator: Any) -> tuple[bytes, Named]:
    """All trees as text."""
    beside = {name: getattr(estimator, name) for name in BESIDE_LIGHTGBM if hasattr(estimator, name)}
    if callable(estimator.objective):
        raise TypeError("objective is a function, and a saved file holds no code. Set it to a word.")
    beside["_evals_result"] = plain_dicts(beside.get("_evals_result"))
    beside["_best_score"] = plain_dicts(estimator.best_score_)
    return estimator.booster_.model_to_string(num_iteration=-1).encode(), beside


def load_lightgbm(estimator: Any, data: bytes, beside: Named) -> None:
    """The trees of text, and what they do not hold."""
    booster = importlib.import_module("lightgbm").Booster(model_str=data.decode())
    booster.best_iteration = beside["_best_iteration"]
    for name in (*BESIDE_LIGHTGBM, "_best_score"):
        if name in beside:
            setattr(estimator, name, beside[name])
    if beside.get("_classes") is not None:
        codes = beside["_le"].transform(beside["_classes"])
        estimator._class_map = dict(zip(beside["_classes"], codes, strict=True))
    estimator._Booster = booster


def plain_dicts(value: object) -> object:
    """Dicts of any kind as dicts."""
    return {key: plain_dicts(each) for key, each in value.items()} if isinstance(value, dict) else value


def dump_xgboost(estimator: Any) -> tuple[bytes, Named]:
    """The booster as universal binary JSON."""
    return bytes(estimator.get_booster().save_raw("ubj")), {}


def load_xgboost(estimator: Any, data: bytes, beside: Named) -> None:
    """The booster of universal binary JSON; parameters stay what they were."""
    parameters = estimator.get_params()
    estimator.load_model(bytearray(data))
    estimator.set_params(**parameters)


def dump_catboost(estimator: Any) -> tuple[bytes, Named]:
    """The model in CatBoost's binary format, which it writes to files only."""
    with tempfile.TemporaryDirectory() as folder:
        estimator.save_model(str(Path(folder, "model.cbm")), format="cbm")
        return Path(folder, "model.cbm").read_bytes(), {"_n_features_in": estimator.n_features_in_}


def load_catboost(estimator: Any, data: bytes, beside: Named) -> None:
    """The model of CatBoost's binary format, and how many columns it saw, which it forgets."""
    estimator.load_model(blob=data)
    estimator._n_features_in = beside["_n_features_in"]


LIBRARIES = {
    "lightgbm": Library(
        ("LGBMClassifier", "LGBMRegressor", "LGBMRanker"),
        lambda estimator: estimator.__sklearn_is_fitted__(),
        dump_lightgbm,
        load_lightgbm,
    ),
    "xgboost": Library(
        ("XGBClassifier", "XGBRegressor", "XGBRanker", "XGBRFClassifier", "XGBRFRegressor"),
        lambda estimator: estimator.__sklearn_is_fitted__(),
        dump_xgboost,
        load_xgboost,
    ),
    "catboost": Library(
        ("CatBoostClassifier", "CatBoostRegressor", "CatBoostRanker"),
        lambda estimator: estimator.is_fitted(),
        dump_catboost,
        load_catboost,
    ),
}
