"""The estimators that a file may hold: each by a written name, with how it is described and restored.

Our own classes register themselves with `saved`. The parameters of one go through its constructor. It says
in `_learnt` what it has learnt, by name, and takes it back in `_take_learnt`, which checks all of it. The
classes of scikit-learn are on a list of their own (`scikit_learn`). No other class is ever made: a name in a
file that is neither registered nor on the list is refused.
"""

from __future__ import annotations

import importlib
import inspect
from dataclasses import dataclass
from types import FunctionType
from typing import Any, TypeVar

import committee
from committee.saving.format.codec import (
    READERS,
    SKOPS,
    WRITERS_BY_LIBRARY,
    Decoder,
    Encoder,
    Json,
)
from committee.saving.format.fields import Fields
from committee.saving.format.file_errors import DamagedFile, require
from committee.saving.format.old_spellings import respelt

PREFIX = "committee."
# Functions that may be the rule of an ensemble, with the names of the rules that they are.
RULE_FUNCTIONS: dict[object, str] = {}
SAVED: dict[str, type] = {}
SavedClass = TypeVar("SavedClass", bound=type)


def saved(cls: SavedClass) -> SavedClass:
    """Let files hold the estimators of a class, by its name: a decorator above `declared`."""
    SAVED[cls.__name__] = cls
    return cls


def class_named(name: str) -> type | None:
    """The saved class of a name in a file, None if there is none."""
    module = committee._module_of(name)
    if module is not None and name not in SAVED:
        # The class registers itself when it is imported.
        getattr(importlib.import_module(module), name)
    return SAVED.get(name)


@dataclass(frozen=True, eq=False)
class Described:
    """An estimator as a file describes it, its values made but the estimator itself not.

    Parameters
    ----------
    name : str
        With its library before it.
    parameters : dict of str to object
    fitted : dict of str to object, or None
    """

    name: str
    parameters: dict[str, object]
    fitted: dict[str, object] | None


@dataclass(frozen=True)
class RemovedParameter:
    """A parameter that older files name, and that is a constant now.

    Parameters
    ----------
    value : object
        The constant.
    only_fit : bool, default=True
        Whether only a fit depends on it. Then a fitted model answers as before, whatever the file says.
    """

    value: Json
    only_fit: bool = True

    def check(self, name: str, value: object, described: Described) -> None:
        """Raise if a file asks for something that the constant does not do."""
        if value == self.value or (self.only_fit and described.fitted is not None):
            return
        raise ValueError(
            f"{described.name} was saved with {name}={value!r}. The parameter was removed, and its value is "
            f"{self.value!r} now. Fit the model again."
        )


REMOVED = {
    "bag_size": RemovedParameter(0.5),
    "effective_rows": RemovedParameter(None),
    "fallback": RemovedParameter("majority", only_fit=False),
    "group_size": RemovedParameter(50),
    "label_smoothing": RemovedParameter(0.02),
    "max_cat_to_onehot": RemovedParameter(4),
    "min_variance": RemovedParameter(1e-4),
    "similarity": RemovedParameter("euclidean", only_fit=False),
    "smoothing": RemovedParameter(None),
    "tweedie_power": RemovedParameter(1.5),
    "weight_decay": RemovedParameter(0.0),
}


def write(estimator: Any, encoder: Encoder, path: str) -> Json:
    """Describe an estimator of our own or of scikit-learn's list, or let another library describe it."""
    cls = type(estimator)
    if SAVED.get(cls.__name__) is cls:
        return {"estimator": PREFIX + cls.__name__, **describe(estimator, encoder, path)}
    listed = scikit_learn()
    name = listed.name_of(estimator) if cls.__module__.startswith("sklearn.") else None
    if name is None:
        return importlib.import_module(SKOPS).write(estimator, encoder, path)
    return {"estimator": name, **listed.LISTED[name].describe(estimator, encoder, path)}


def read(written: Json, decoder: Decoder, path: str) -> Any:
    """Restore an estimator, or only look at its description if the decoder makes none."""
    name = written["estimator"]
    require(isinstance(name, str), f"{path}: there is no estimator {name!r}")
    is_own = name.startswith(PREFIX)
    is_known = committee._module_of(name.removeprefix(PREFIX)) if is_own else name in scikit_learn().LISTED
    require(is_known, f"{path}: there is no estimator {name!r} in this committee")
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
    """Return the list of scikit-learn's classes, which most predictors need not wait for."""
    return importlib.import_module("committee.saving.scikit_learn")


def describe(estimator: Any, encoder: Encoder, path: str) -> dict[str, Json]:
    """The parameters of one of our own estimators as they are, and what it has learnt."""
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
    """Make one of our own estimators. Parameters that are not in the file, which is older, have defaults."""
    cls = class_named(described.name.removeprefix(PREFIX))
    if cls is None:
        raise DamagedFile(f"{path}: there is no estimator {described.name!r} in this committee.")
    known = inspect.signature(cls).parameters
    parameters = dict(respelt(described.parameters, known))
    for name in [name for name in REMOVED if name in parameters and name not in known]:
        REMOVED[name].check(name, parameters.pop(name), described)
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
