"""Store the parameters and the listed fitted attributes of scikit-learn's estimators.

In: an estimator. Out: its parameters and listed attributes, and back. An attribute that is not on the list is
an error when an estimator is saved, so none is lost without notice. When an estimator is loaded, every
attribute is checked against the list and the other attributes. scikit-learn checks the parameters itself,
except numbers that may overflow and values inside lists.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from committee.saving.format.attributes import (
    Kind,
    Sizes,
    Wrong,
    array_of,
    boolean,
    check_all,
    count,
    described,
    dict_of,
    either,
    integer,
    one_of,
    optional,
    text,
)
from committee.saving.format.codec import Encoder, Json
from committee.saving.format.file_errors import DamagedFile
from committee.saving.saved_estimators import Described

Named = dict[str, Any]
Check = Callable[[Named, Named, Sizes], None]

# The fitted attributes of every estimator.
COLUMNS: Mapping[str, Kind] = {
    "n_features_in_": count("features"), "feature_names_in_": array_of("biufUOmM", "features")
}  # fmt: skip
# Attributes that can be set before a fit: the output container of a transformer, and metadata requests.
OUTPUT, REQUESTS = "_sklearn_output_config", "_metadata_request"
SETTINGS: Mapping[str, Kind] = {
    OUTPUT: dict_of(one_of("transform"), one_of("default", "pandas", "polars")),
    REQUESTS: dict_of(text, dict_of(text, optional(either(boolean, text)))),
}
# Callbacks belong to a fit, not to the model.
NOT_SAVED = ("_skl_callbacks",)
# More threads than this gain nothing, and a file must not start a million of them.
MOST_JOBS = 1024
COMMON_PARAMETERS: Mapping[str, Kind] = {"n_jobs": optional(integer(-MOST_JOBS, MOST_JOBS))}


def set_attributes(estimator: object, fitted: Named) -> None:
    """Restore the fitted state of an estimator by setting attributes only."""
    for name, value in fitted.items():
        setattr(estimator, name, value)


@dataclass(frozen=True, eq=False)
class Listed:
    """The saved parameters and attributes of a class of scikit-learn.

    Parameters
    ----------
    public_name : str
        The name in the file: the class with its public module.
    attributes : dict of str to Kind
        The attributes of every fitted estimator, in the order of the checks.
    optional : dict of str to Kind
        Attributes that depend on the parameters or on the version of scikit-learn.
    parameters : dict of str to Kind
        Parameters that methods of a fitted estimator read, if scikit-learn accepts unsafe values for them.
    functions : tuple of str
        Parameters that are functions of numpy on one array, such as `numpy.log1p`. Their names are stored.
    not_saved : tuple of str
        Attributes that only further training needs, or that can be computed from the others.
    checks : tuple of callable
        Each raises `Wrong` if attributes and parameters do not fit each other.
    shorten : callable
        Return the attributes to save, from the attributes of an estimator.
    complete : callable
        Restore the fitted state of an estimator from the saved attributes.
    """

    public_name: str
    attributes: Mapping[str, Kind] = field(default_factory=dict)
    optional: Mapping[str, Kind] = field(default_factory=dict)
    parameters: Mapping[str, Kind] = field(default_factory=dict)
    functions: tuple[str, ...] = ()
    not_saved: tuple[str, ...] = ()
    checks: tuple[Check, ...] = ()
    shorten: Callable[[Any, Named], Named] = lambda estimator, fitted: fitted
    complete: Callable[[Any, Named], None] = set_attributes

    @property
    def name(self) -> str:
        """The name of the class."""
        return self.public_name.rpartition(".")[2]

    @functools.cached_property
    def cls(self) -> Any:
        """The class, None if the installed scikit-learn does not have it."""
        return getattr(importlib.import_module(self.public_name.rpartition(".")[0]), self.name, None)

    @functools.cached_property
    def kinds(self) -> dict[str, Kind]:
        """The kinds of all attributes that an estimator can have."""
        return {**COLUMNS, **self.attributes, **self.optional, **SETTINGS}

    def describe(self, estimator: Any, encoder: Encoder, path: str) -> dict[str, Json]:
        """Write the parameters and the listed attributes. Raise if `restore` would refuse them."""
        parameters = estimator.get_params(deep=False)
        unfitted = vars(new(type(estimator), parameters)).keys()
        skipped = {*unfitted, *self.not_saved, *NOT_SAVED}
        state = {name: value for name, value in vars(estimator).items() if name not in skipped}
        if unknown := sorted(state.keys() - self.kinds.keys()):
            raise TypeError(
                f"{path or self.name} has the attribute {unknown[0]}, which is not on the list of saved "
                f"attributes of {self.name}. Delete it before saving."
            )
        settings = {name: state.pop(name) for name in SETTINGS if name in state}
        if REQUESTS in settings:
            settings[REQUESTS] = requests_of(estimator)
        fitted = settings | (self.shorten(estimator, state) if state else {})
        named = {
            name: name_of_function(name, value) if name in self.functions else value
            for name, value in parameters.items()
        }
        written = encoder.named(named, path)
        try:
            self.check(estimator, parameters, fitted)
        except ValueError as error:
            raise ValueError(f"{path or self.name} cannot be saved: {error}.") from error
        return {"parameters": written, "fitted": encoder.named(fitted, path) if fitted else None}

    def restore(self, described: Described, path: str) -> Any:
        """Make the estimator. Raise `DamagedFile` unless all checks pass."""
        if self.cls is None:
            raise DamagedFile(f"{path or self.name}: the installed scikit-learn has no {self.public_name}.")
        fitted = described.fitted or {}
        try:
            parameters = self.known_parameters(described.parameters)
            estimator = new(self.cls, parameters)
            self.check(estimator, parameters, fitted)
            learnt = {name: value for name, value in fitted.items() if name not in SETTINGS}
            if learnt:
                self.complete(estimator, learnt)
            set_attributes(estimator, {OUTPUT: fitted[OUTPUT]} if OUTPUT in fitted else {})
            set_requests(estimator, fitted.get(REQUESTS))
        except (ValueError, TypeError, AttributeError) as error:
            reason = (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
            raise DamagedFile(f"{path or self.name}: {reason}.") from error
        return estimator

    def known_parameters(self, parameters: Named) -> Named:
        """Return a value for each parameter of the installed class. Replace names by functions of numpy."""
        signature = inspect.signature(self.cls).parameters
        found = {name: each.default for name, each in signature.items() if each.default is not each.empty}
        for name, value in parameters.items():
            if name in signature:
                found[name] = function_named(name, value) if name in self.functions else value
            elif not (isinstance(value, str) and value == "deprecated"):
                raise Wrong(f"the installed scikit-learn's {self.name} has no parameter {described(name)}")
        if missing := [name for name in signature if name not in found]:
            raise Wrong(f"{missing[0]} is missing")
        return found

    def check(self, estimator: Any, parameters: Named, fitted: Mapping[str, object]) -> None:
        """Raise ValueError unless all attributes and parameters are valid and fit each other."""
        if unknown := sorted(fitted.keys() - self.kinds.keys()):
            raise Wrong(f"{described(unknown[0])} is not on the list of its attributes")
        is_fitted = bool(fitted.keys() - SETTINGS.keys())
        sizes: Sizes = {}
        present = self.kinds.keys() & (fitted.keys() | (self.attributes.keys() if is_fitted else set()))
        check_all({name: kind for name, kind in self.kinds.items() if name in present}, fitted, sizes)
        checked = {**COMMON_PARAMETERS, **self.parameters}
        check_all({name: checked[name] for name in checked if name in parameters}, parameters, sizes)
        names = fitted.get("feature_names_in_")
        if isinstance(names, np.ndarray) and not all(isinstance(each, str) for each in names):
            raise Wrong("feature_names_in_ holds something other than names")
        if hasattr(estimator, "_parameter_constraints"):
            estimator._validate_params()
        for check in self.checks if is_fitted else ():
            check(dict(fitted), parameters, sizes)


class ListedSplitter(Listed):
    """The saved parameters of a splitter, such as the `cv` of a committee."""

    def describe(self, estimator: Any, encoder: Encoder, path: str) -> dict[str, Json]:
        """Write the parameters. Repeated splitters store some of them in `cvargs`."""
        kept = vars(estimator) | getattr(estimator, "cvargs", {})
        parameters = {name: kept[name] for name in inspect.signature(self.cls).parameters}
        return {"parameters": encoder.named(parameters, path), "fitted": None}


def name_of_function(name: str, function: Any) -> str | None:
    """Return the name of a parameter's function. Raise unless it is a function of numpy on one array."""
    if function is None:
        return None
    called = getattr(function, "__name__", type(function).__name__)
    if not is_ufunc(function) or getattr(np, called, None) is not function:
        raise ValueError(
            f"{name} is a function ({called}), and a saved file holds no code. Set it to a function of numpy "
            "on one array, or write a transformer class that calls the function."
        )
    return str(called)


def function_named(name: str, value: object) -> object:
    """Return the function of numpy for a parameter, by its name."""
    is_name = isinstance(value, str) and value.isidentifier() and not value.startswith("_")
    function = getattr(np, str(value), None) if is_name else None
    if value is not None and not is_ufunc(function):
        raise Wrong(f"{name} is {described(value)} instead of the name of a function of numpy on one array")
    return function


def is_ufunc(value: object) -> bool:
    """Return whether a value is a function of numpy on one array."""
    return isinstance(value, np.ufunc) and value.nin == value.nout == 1


def new(cls: Any, parameters: Named) -> Any:
    """Make an estimator. Hide warnings of deprecated classes, which the user saw before."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return cls(**parameters)


def requests_of(estimator: Any) -> dict[str, dict[str, object]]:
    """Return the metadata requests of an estimator by method."""
    routing = estimator.get_metadata_routing()
    methods = [name[4:-8] for name in dir(estimator) if name.startswith("set_") and name.endswith("_request")]
    return {method: dict(getattr(routing, method).requests) for method in methods}


def set_requests(estimator: object, requests: Any) -> None:
    """Set the metadata requests of an estimator."""
    if requests:
        with importlib.import_module("sklearn").config_context(enable_metadata_routing=True):
            for method, requested in requests.items():
                getattr(estimator, f"set_{method}_request")(**requested)


def listed_estimator(public_name: str) -> Kind:
    """Return the kind of an estimator of a class on the list."""
    module, _, name = public_name.rpartition(".")

    def check(value: object, sizes: Sizes) -> None:
        if type(value).__name__ != name or type(value) is not getattr(importlib.import_module(module), name):
            raise Wrong(f"is {described(value)} instead of a {name}")

    return check
