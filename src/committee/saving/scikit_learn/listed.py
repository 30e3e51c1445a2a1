"""How an estimator of scikit-learn is stored: its parameters, and what it has learnt, from a written list.

In: an estimator. Out: its parameters and the attributes on its list, and back. An attribute is kept only if
it is on the list, and believed only if it is what the list says, together with all others. So nothing is lost
in silence when an estimator is saved, and nothing is made up when it is loaded.
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

from committee.saving.attributes import (
    MOST_JOBS,
    Kind,
    Sizes,
    Wrong,
    boolean,
    count,
    described,
    dict_of,
    either,
    integer,
    nothing,
    number,
    one_of,
    sentence,
    text,
    values,
)
from committee.saving.codec import Encoder, Json
from committee.saving.errors import DamagedFile
from committee.saving.estimators import Described

Named = dict[str, Any]

# What every estimator may have learnt of the table.
COLUMNS: Mapping[str, Kind] = {"n_features_in_": count("features"), "feature_names_in_": values("features")}
# What may be set before a fit: how a transformer returns tables, and who asks for which metadata.
OUTPUT, REQUESTS = "_sklearn_output_config", "_metadata_request"
SETTINGS: Mapping[str, Kind] = {
    OUTPUT: dict_of(one_of("transform"), one_of("default", "pandas", "polars")),
    REQUESTS: dict_of(text, dict_of(text, either(nothing, boolean, text))),
}
# Callbacks watch a fit; they are not of the model.
LEFT_OUT = ("_skl_callbacks",)
# Parameters that methods of a fitted estimator read, whatever its class.
EVERYWHERE: Mapping[str, Kind] = {
    "n_jobs": either(nothing, integer(-MOST_JOBS, MOST_JOBS)),
    "verbose": either(boolean, number()),
    "copy": boolean,
}


def set_attributes(estimator: Any, fitted: Named) -> None:
    """Make an estimator a fitted one: the attributes are all that there is to it."""
    for name, value in fitted.items():
        setattr(estimator, name, value)


def agree(fitted: Named, parameters: Named, sizes: Sizes) -> None:
    """The kinds say all that there is to check."""


def as_they_are(estimator: Any, fitted: Named) -> Named:
    """Attributes are written as they are."""
    return fitted


@dataclass(frozen=True, eq=False)
class Listed:
    """What a class of scikit-learn keeps.

    Parameters
    ----------
    module, name : str
        Where everyone imports the class from.
    attributes : dict of str to Kind
        What every fitted estimator has, in the order in which it is checked.
    optional : dict of str to Kind
        What it has with some parameters or in some versions of scikit-learn.
    parameters : dict of str to Kind
        Those that methods of a fitted estimator read: the constructor takes anything.
    functions : tuple of str
        Parameters that are functions of numpy on one array, such as `numpy.log1p`, stored by their names.
    left_out : tuple of str
        What only more training needs, or what follows from the rest.
    check : callable
        Raises `Wrong` if attributes and parameters do not fit each other.
    shorten : callable
        The attributes as they are written, from those of an estimator.
    complete : callable
        Makes an estimator a fitted one of the attributes that were written.
    """

    module: str
    name: str
    attributes: Mapping[str, Kind] = field(default_factory=dict)
    optional: Mapping[str, Kind] = field(default_factory=dict)
    parameters: Mapping[str, Kind] = field(default_factory=dict)
    functions: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    check: Callable[[Named, Named, Sizes], None] = agree
    shorten: Callable[[Any, Named], Named] = as_they_are
    complete: Callable[[Any, Named], None] = set_attributes

    @property
    def public_name(self) -> str:
        """The name in the file."""
        return f"{self.module}.{self.name}"

    @functools.cached_property
    def cls(self) -> type[Any] | None:
        """The class, None if the installed scikit-learn has none. Its name is ours, not that of a file."""
        found: type[Any] | None = getattr(importlib.import_module(self.module), self.name, None)
        return found

    def describe(self, estimator: Any, encoder: Encoder, path: str) -> dict[str, Json]:
        """The parameters and the attributes on the list. What could not be loaded again is not written."""
        parameters = estimator.get_params(deep=False)
        at_birth = vars(new(type(estimator), parameters)).keys()
        state = {
            name: value
            for name, value in vars(estimator).items()
            if name not in at_birth and name not in self.left_out and name not in LEFT_OUT
        }
        if unknown := sorted(state.keys() - self.kinds.keys()):
            raise TypeError(
                f"{path or self.name} has the attribute {unknown[0]}, which is not on the list of what a "
                f"{self.name} keeps. Delete it before saving."
            )
        settings = {name: state.pop(name) for name in SETTINGS if name in state}
        if REQUESTS in settings:
            settings[REQUESTS] = requests_of(estimator)
        fitted = settings | (self.shorten(estimator, state) if state else {})
        try:
            self.check_all(parameters, fitted)
            named = {name: self.named_function(name, value) for name, value in parameters.items()}
        except Wrong as fault:
            raise ValueError(f"{path or self.name} cannot be saved: {fault}.") from fault
        return {
            "parameters": encoder.named(named, path),
            "fitted": encoder.named(fitted, path) if fitted else None,
        }

    def restore(self, described: Described, path: str) -> Any:
        """Make the estimator, after all checks."""
        if self.cls is None:
            raise DamagedFile(f"{path or self.name}: the installed scikit-learn has no {self.public_name}.")
        fitted = described.fitted or {}
        try:
            parameters = self.known_parameters(described.parameters)
            self.check_all(parameters, fitted)
            estimator = new(self.cls, parameters)
            learnt = {name: value for name, value in fitted.items() if name not in SETTINGS}
            if learnt:
                self.complete(estimator, learnt)
            set_attributes(estimator, {OUTPUT: fitted[OUTPUT]} if OUTPUT in fitted else {})
            ask(estimator, fitted.get(REQUESTS, {}))
        except (ValueError, TypeError, AttributeError) as fault:
            reason = (str(fault).splitlines() or [type(fault).__name__])[0].rstrip(".")
            raise DamagedFile(f"{path or self.name}: {reason}.") from fault
        return estimator

    @functools.cached_property
    def kinds(self) -> dict[str, Kind]:
        """All attributes that there may be."""
        return {**COLUMNS, **self.attributes, **self.optional, **SETTINGS}

    def known_parameters(self, parameters: Named) -> Named:
        """All parameters of the installed version of the class, functions found by their names."""
        assert self.cls is not None
        signature = inspect.signature(self.cls).parameters
        found = {name: each.default for name, each in signature.items() if each.default is not each.empty}
        for name, value in parameters.items():
            is_function = name in self.functions and value is not None
            if name in signature:
                found[name] = self.function_named(name, value) if is_function else value
            elif not (isinstance(value, str) and value == "deprecated"):
                raise Wrong(f"the installed scikit-learn's {self.name} has no parameter {described(name)}")
        if missing := [name for name in signature if name not in found]:
            raise Wrong(f"{missing[0]} is missing")
        return found

    def named_function(self, name: str, value: Any) -> Any:
        """A parameter as it is written: a function by its name."""
        if name not in self.functions or value is None:
            return value
        called = getattr(value, "__name__", type(value).__name__)
        if not is_ufunc(value) or getattr(np, called, None) is not value:
            raise Wrong(
                f"{name} is a function ({called}), and a saved file holds no code. Set it to a function of "
                "numpy on one array, or put the function into a class of your own"
            )
        return called

    def function_named(self, name: str, value: Any) -> Any:
        """The function that a parameter was."""
        is_name = isinstance(value, str) and value.isidentifier() and not value.startswith("_")
        function = getattr(np, value, None) if is_name else None
        if not is_ufunc(function):
            raise Wrong(
                f"{name} is {described(value)} instead of the name of a function of numpy on one array"
            )
        return function

    def check_all(self, parameters: Named, fitted: Named) -> None:
        """Raise `Wrong` if anything is not what it may be."""
        if unknown := sorted(fitted.keys() - self.kinds.keys()):
            raise Wrong(f"{described(unknown[0])} is not on the list of its attributes")
        is_fitted = bool(fitted.keys() - SETTINGS.keys())
        if missing := [name for name in self.attributes if is_fitted and name not in fitted]:
            raise Wrong(f"{missing[0]} is missing")
        sizes: Sizes = {}
        demanded = {**EVERYWHERE, **self.parameters}
        for kinds, found in ((self.kinds, fitted), (demanded, parameters)):
            for name, kind in kinds.items():
                if name in found:
                    check_one(name, kind, found[name], sizes)
        names = fitted.get("feature_names_in_")
        if names is not None and not all(isinstance(each, str) for each in names):
            raise Wrong("feature_names_in_ holds something other than names")
        if is_fitted:
            self.check(fitted, parameters, sizes)


def is_ufunc(value: Any) -> bool:
    """Whether a value is a function of numpy on one array."""
    return isinstance(value, np.ufunc) and value.nin == value.nout == 1


def new(cls: type[Any], parameters: Named) -> Any:
    """An estimator as its constructor makes it; that its class is old was told to who chose it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return cls(**parameters)


def check_one(name: str, kind: Kind, value: Any, sizes: Sizes) -> None:
    """Check one value; a fault names it."""
    try:
        kind(value, sizes)
    except Wrong as fault:
        raise Wrong(sentence(name, fault)) from fault


def requests_of(estimator: Any) -> dict[str, dict[str, Any]]:
    """Which metadata an estimator asks for, by method."""
    routing = estimator.get_metadata_routing()
    methods = [name[4:-8] for name in dir(estimator) if name.startswith("set_") and name.endswith("_request")]
    return {method: dict(getattr(routing, method).requests) for method in methods}


def ask(estimator: Any, requests: Any) -> None:
    """Let an estimator ask for metadata."""
    if not requests:
        return
    context = importlib.import_module("sklearn").config_context
    with context(enable_metadata_routing=True):
        for method, asked in requests.items():
            getattr(estimator, f"set_{method}_request")(**asked)


def listed_estimator(*public_names: str) -> Kind:
    """A fitted estimator of one of some classes on the list."""

    def check(value: Any, sizes: Sizes) -> None:
        if not any(is_one(value, name) for name in public_names):
            raise Wrong(f"is {described(value)} instead of a {public_names[0].rpartition('.')[2]}")

    return check


def is_one(value: Any, public_name: str) -> bool:
    """Whether a value is an estimator of a class that is imported from a place of scikit-learn."""
    module, _, name = public_name.rpartition(".")
    return type(value).__name__ == name and type(value) is getattr(importlib.import_module(module), name)
