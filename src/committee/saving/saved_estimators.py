"""Describe and restore the estimators of a file, each by a registered name.

Our own classes are registered when they are defined. Their constructors get the parameters, `_learnt` returns
the fitted state by name, and `_take_learnt` checks and restores it. The package `scikit_learn` lists the
classes of scikit-learn. A file with any other name is refused, so no other class is ever made.
"""

from __future__ import annotations

import importlib
import inspect
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import committee
from committee.parameters import REMOVED
from committee.saving.format.codec import FOREIGN, READERS, WRITERS_BY_LIBRARY, Decoder, Encoder, Json
from committee.saving.format.fields import Fields
from committee.saving.format.file_errors import DamagedFile, require
from committee.saving.format.old_spellings import OLD_BEHAVIOUR, respelt

PREFIX = "committee."
# Functions that can be the rule of an ensemble, with the names of these rules.
RULE_FUNCTIONS: dict[object, str] = {}
SAVED: dict[str, type] = {}


def register(cls: type) -> None:
    """Register a class that a file can name. `Saveable` calls this for each of its subclasses."""
    if cls.__module__.startswith(PREFIX) and committee._module_of(cls.__name__) is not None:
        SAVED[cls.__name__] = cls


def class_named(name: str) -> type | None:
    """Return the class that is registered by a name, None if there is none."""
    module = committee._module_of(name)
    if module is not None and name not in SAVED:
        # The class registers itself when it is imported.
        getattr(importlib.import_module(module), name)
    return SAVED.get(name)


@dataclass(frozen=True, eq=False)
class Described:
    """The description of an estimator in a file, with decoded values.

    Parameters
    ----------
    name : str
        The name of the class, with its library as a prefix.
    parameters : dict of str to object
    fitted : dict of str to object, or None
    """

    name: str
    parameters: dict[str, object]
    fitted: dict[str, object] | None


# The removed parameters that predictions depend on. The others change only a fit.
REMOVED_FROM_PREDICTIONS = ("fallback", "similarity")


def write(estimator: Any, encoder: Encoder, path: str) -> Json:
    """Describe an estimator of committee or a listed one of scikit-learn, or let its library write it."""
    cls = type(estimator)
    if SAVED.get(cls.__name__) is cls:
        return {"estimator": PREFIX + cls.__name__, **describe(estimator, encoder, path)}
    listed = scikit_learn()
    name = listed.name_of(estimator) if cls.__module__.startswith("sklearn.") else None
    if name is None:
        return importlib.import_module(FOREIGN).write(estimator, encoder, path)
    return {"estimator": name, **listed.LISTED[name].describe(estimator, encoder, path)}


def read(written: Json, decoder: Decoder, path: str) -> Any:
    """Restore an estimator, or return its description if the decoder makes no estimators."""
    name = written["estimator"]
    require(isinstance(name, str), f"{path}: there is no estimator {name!r}")
    is_own = name.startswith(PREFIX)
    is_known = committee._module_of(name.removeprefix(PREFIX)) if is_own else name in scikit_learn().LISTED
    require(is_known, f"{path}: there is no estimator {name!r} in this version of committee")
    fitted = written["fitted"]
    described = Described(
        name,
        decoder.named(written["parameters"], path),
        None if fitted is None else decoder.named(fitted, path),
    )
    if not decoder.builds:
        return described
    return restore(described, path) if is_own else scikit_learn().LISTED[name].restore(described, path)


def scikit_learn() -> Any:
    """Import the list of scikit-learn's classes. Most predictors start faster without it."""
    return importlib.import_module("committee.saving.scikit_learn")


def describe(estimator: Any, encoder: Encoder, path: str) -> dict[str, Json]:
    """Describe the parameters and the fitted state of one of our own estimators."""
    estimator._check_parameters()
    parameters = estimator.get_params(deep=False)
    if isinstance(parameters.get("rule"), FunctionType):
        parameters["rule"] = RULE_FUNCTIONS.get(parameters["rule"], parameters["rule"])
    learnt = estimator._learnt() if estimator._has_learnt() else None
    return {
        "parameters": encoder.named(parameters, path),
        "fitted": None if learnt is None else encoder.learnt(estimator, learnt, path),
    }


def restore(described: Described, path: str) -> Any:
    """Make one of our own estimators. Parameters that an older file does not have get their defaults."""
    cls = class_named(described.name.removeprefix(PREFIX))
    if cls is None:
        raise DamagedFile(f"{path}: there is no estimator {described.name!r} in this version of committee.")
    known = inspect.signature(cls).parameters
    parameters = {**OLD_BEHAVIOUR.get(cls.__name__, {}), **respelt(described.parameters, known)}
    for name in [name for name in REMOVED if name in parameters and name not in known]:
        value = parameters.pop(name)
        is_needed = described.fitted is None or name in REMOVED_FROM_PREDICTIONS
        if value != REMOVED[name] and is_needed:
            raise ValueError(
                f"{described.name} was saved with {name}={value!r}. The parameter was removed, and its value "
                f"is {REMOVED[name]!r} now. Fit the model again."
            )
    unknown = sorted(parameters.keys() - known.keys())
    require(not unknown, f"{described.name} has no parameters {unknown}")
    estimator = cls(**parameters)
    try:
        estimator._check_parameters()
    except ValueError as error:
        raise DamagedFile(f"{described.name}: {error}") from error
    if described.fitted is not None:
        fields = Fields(described.fitted, path)
        estimator._take_learnt(fields)
        fields.finish()
    return estimator


READERS["estimator"] = read
WRITERS_BY_LIBRARY |= {"committee": write, "sklearn": write}
