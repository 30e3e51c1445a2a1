"""Declare the parameters of estimators, each once, with its allowed values and its description.

An estimator is a dataclass. Its signature, its checks and its documentation are made from the declarations,
and a subclass declares only what differs:

    max_depth: int | None = parameter(None, optional(integer(1)), "The maximum depth.")

`declared` makes the class, and `fit` calls `check_parameters` at its start.
"""

from __future__ import annotations

import dataclasses
import difflib
import functools
import inspect
import numbers
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Self, TypeVar, dataclass_transform

from committee.documentation import (
    attributes_of,
    parameter_entry,
    with_parameters,
    with_section,
    without_section,
)
from committee.other_names import ADVICE, PARAMETERS

Test = Callable[[Any], bool]
# The engine counts in 32 bits.
LARGEST_INTEGER = 2**31 - 1
DeclaredField = tuple[dataclasses.Field[Any], Mapping[str, Any]]
Estimator = TypeVar("Estimator")
Function = TypeVar("Function", bound=Callable[..., Any])
# The names of renamed parameters, old and new.
RENAMED = {"members": "estimators", "metric": "scoring", "metrics": "scoring", "run": "run_folder"}
# Removed parameters, with the values that they always have now.
REMOVED: dict[str, object] = {
    "bag_size": 0.5,
    "effective_rows": None,
    "fallback": "majority",
    "group_size": 50,
    "label_smoothing": 0.02,
    "max_cat_to_onehot": 4,
    "min_variance": 1e-4,
    "similarity": "euclidean",
    "smoothing": None,
    "tweedie_power": 1.5,
    "weight_decay": 0.0,
}
# numpydoc's order of the sections.
AFTER_ATTRIBUTES = ("See Also", "Notes", "References", "Examples")
AFTER_PARAMETERS = ("Attributes", *AFTER_ATTRIBUTES)


@dataclasses.dataclass(frozen=True)
class Constraint:
    """The values that a parameter may have.

    Parameters
    ----------
    words : str
        A description of the values for error messages and the documentation.
    test : callable, default=None
        Return whether a value is allowed. None allows any value, which is then checked where it is used.
    alternatives : tuple of str, default=()
        The descriptions of the alternatives, if there are several.
    """

    words: str
    test: Test | None = None
    alternatives: tuple[str, ...] = ()

    def __call__(self, value: Any) -> bool:
        """Return whether a value is allowed."""
        return self.test is None or self.test(value)


# The constraint of a parameter and its description.
Declaration = tuple[Constraint, str]


def parameter(default: Any, constraint: Constraint, meaning: str, *, kw_only: bool = True) -> Any:
    """Declare a parameter.

    Parameters
    ----------
    default : object
    constraint : Constraint
    meaning : str
        The description in the documentation.
    kw_only : bool, default=True
        Whether it must be passed by name.

    Returns
    -------
    dataclasses.Field
    """
    metadata = {"constraint": constraint, "meaning": meaning}
    return dataclasses.field(default=default, kw_only=kw_only, metadata=metadata)


@dataclass_transform(kw_only_default=True)
def declared(cls: type[Estimator]) -> type[Estimator]:
    """Turn a class with declared parameters into an estimator, and complete its documentation.

    A subclass may change the default of a parameter by an annotated assignment, which keeps the declaration.
    An assignment without an annotation would not change the default of a dataclass, so it is refused.
    """
    check_defaults(cls)
    made = dataclasses.dataclass(kw_only=True, eq=False, repr=False)(cls)
    made.__init__ = refusing_unknown_names(made.__init__)  # type: ignore[method-assign]
    if "fit" in vars(made):
        made.fit = refusing_unknown_names(made.fit)  # type: ignore[attr-defined]
    found = declarations(made)
    made._declarations = found  # type: ignore[attr-defined]
    made.__doc__ = documented(made, found)
    return made


def refusing_unknown_names(function: Function) -> Function:
    """Make a function or a constructor explain an unknown argument: its new name, its value, or all names.

    Examples
    --------
    >>> from committee import CommitteeClassifier, GradientBoostingRegressor
    >>> CommitteeClassifier(members=["forest"])
    Traceback (most recent call last):
    TypeError: CommitteeClassifier has no parameter 'members'. It is now called 'estimators'.
    >>> GradientBoostingRegressor(tweedie_power=1.2)
    Traceback (most recent call last):
    TypeError: GradientBoostingRegressor has no parameter 'tweedie_power'. It was removed, and is always 1.5.
    >>> GradientBoostingRegressor(num_leaves=8)
    Traceback (most recent call last):
    TypeError: GradientBoostingRegressor has no parameter 'num_leaves'. It is called 'max_leaf_nodes' here.
    """
    parameters = inspect.signature(function).parameters
    if any(each.kind is each.VAR_KEYWORD for each in parameters.values()):
        return function
    known = [name for name in parameters if name != "self"]

    @functools.wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        for name in [name for name in named if name not in known]:
            title = function.__name__
            if "self" in parameters:
                cls = type(arguments[0]).__name__
                title = cls if title == "__init__" else f"{cls}.{title}"
            raise TypeError(f"{title} has no parameter {name!r}. {hint_for(name, known)}")
        return function(*arguments, **named)

    return call  # type: ignore[return-value]


def hint_for(name: str, known: Sequence[str]) -> str:
    """Return what to write instead of an unknown parameter.

    Examples
    --------
    >>> hint_for("num_leaves", ["max_leaf_nodes"]), hint_for("eval_set", ["X", "y"])
    ("It is called 'max_leaf_nodes' here.", 'Pass X_val and y_val to fit.')
    >>> hint_for("max_dept", ["max_depth"]), hint_for("colour", ["max_depth"])
    ("Did you mean 'max_depth'?", 'It has max_depth.')
    """
    if name in REMOVED:
        return f"It was removed, and is always {REMOVED[name]!r}."
    if RENAMED.get(name) in known:
        return f"It is now called {RENAMED[name]!r}."
    ours = next((each for each in PARAMETERS.get(name, ()) if each in known), None)
    if ours is not None:
        return f"It is called {ours!r} here."
    if name in ADVICE:
        return ADVICE[name]
    nearest = nearest_name(name, known)
    return f"It has {', '.join(known)}." if nearest is None else f"Did you mean {nearest!r}?"


def check_defaults(cls: type[Any]) -> None:
    """Raise if a class assigns to a parameter of its ancestors without a type annotation.

    Examples
    --------
    >>> from committee import DecisionTreeClassifier
    >>> @declared
    ... class Shallow(DecisionTreeClassifier):
    ...     max_depth = 3
    Traceback (most recent call last):
    TypeError: Shallow.max_depth is a parameter. Without a type annotation, this has no effect. Add the type.
    """
    inherited = [getattr(base, "__dataclass_fields__", {}) for base in cls.__bases__]
    for name in vars(cls).keys() - inspect.get_annotations(cls).keys():
        if any(name in fields and fields[name].metadata for fields in inherited):
            raise TypeError(
                f"{cls.__name__}.{name} is a parameter. Without a type annotation, this has no effect. "
                "Add the type."
            )


def documented(cls: type[Any], declared_fields: list[DeclaredField]) -> str:
    """Return the docstring of a class with its parameters and the attributes of all its ancestors."""
    entries = [entry_of(each) for each in declared_fields]
    own = without_section(inspect.cleandoc(cls.__doc__ or ""), "Attributes")
    if entries:
        own = with_section(own, "Parameters", entries, before=AFTER_PARAMETERS)
    return with_section(own, "Attributes", attributes_of(cls), before=AFTER_ATTRIBUTES)


def entry_of(declared_field: DeclaredField) -> str:
    """Return the numpydoc entry of a declared parameter."""
    field, declaration = declared_field
    return parameter_entry(field.name, declaration["constraint"].words, field.default, declaration["meaning"])


def taking_parameters_of(cls: type[Any]) -> Callable[[Function], Function]:
    """Make a decorator that adds the parameters of a class to a function with `**parameters`.

    They are added to the signature and to the documentation.

    Examples
    --------
    >>> from committee import DecisionStumpRegressor
    >>> @taking_parameters_of(DecisionStumpRegressor)
    ... def stump(*, depth=1, **parameters):
    ...     '''Fit a stump.
    ...
    ...     Parameters
    ...     ----------
    ...     depth : int, default=1
    ...     '''
    >>> list(inspect.signature(stump).parameters)[:2]
    ['depth', 'categorical_features']
    """

    def decorate(function: Function) -> Function:
        signature = inspect.signature(function)
        own = [each for each in signature.parameters.values() if each.kind is not each.VAR_KEYWORD]
        taken = [
            inspect.Parameter(
                field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=field.type
            )
            for field, _ in cls._declarations
        ]
        function.__signature__ = signature.replace(parameters=[*own, *taken])  # type: ignore[attr-defined]
        entries = {each[0].name: entry_of(each) for each in cls._declarations}
        return with_parameters(entries)(function)

    return decorate


def check_parameters(estimator: Any) -> None:
    """Raise if the value of a parameter is not allowed.

    Examples
    --------
    >>> from committee import DecisionTreeClassifier
    >>> check_parameters(DecisionTreeClassifier(max_depth=0))
    Traceback (most recent call last):
    ValueError: max_depth must be an integer >= 1 or None. Got 0.
    >>> check_parameters(DecisionTreeClassifier(splitter="randum"))
    Traceback (most recent call last):
    ValueError: splitter must be "best" or "random". Got 'randum'. Did you mean 'random'?
    """
    for field, declaration in estimator._declarations:
        value, constraint = getattr(estimator, field.name), declaration["constraint"]
        if not constraint(value):
            is_huge = is_integer(value) and value > LARGEST_INTEGER
            limit = f" Integers may go up to {LARGEST_INTEGER}." if is_huge else ""
            texts = [
                each.strip('"') for each in constraint.alternatives or (constraint.words,) if '"' in each
            ]
            nearest = nearest_name(value, texts) if isinstance(value, str) else None
            meant = "" if nearest is None else f" Did you mean {nearest!r}?"
            raise ValueError(f"{field.name} must be {constraint.words}.{limit} Got {value!r}.{meant}")


class Parametrised:
    """A replacement for the parameters of scikit-learn's `BaseEstimator` that does not import scikit-learn.

    Examples
    --------
    >>> from committee.rules import CAWPERule
    >>> CAWPERule().set_params(alpha=2)
    CAWPERule(alpha=2)
    """

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name.

        Parameters
        ----------
        deep : bool, default=True
            Whether to include the parameters of parameters.

        Returns
        -------
        dict of str to object
        """
        found = {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}
        if deep:
            for name, value in list(found.items()):
                if hasattr(value, "get_params") and not isinstance(value, type):
                    found |= {f"{name}__{key}": each for key, each in value.get_params().items()}
        return found

    def set_params(self, **params: Any) -> Self:
        """Set parameters, and parameters of parameters.

        Parameters
        ----------
        **params : dict
            `alpha=4` or `final_estimator__C=0.1`.

        Returns
        -------
        self
        """
        known = self.get_params(deep=False)
        for key, value in params.items():
            name, _, inner = key.partition("__")
            if name not in known:
                raise ValueError(
                    f"{type(self).__name__} has no parameter {name!r}. It has {', '.join(known) or 'none'}."
                )
            if inner:
                getattr(self, name).set_params(**{inner: value})
            else:
                setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self)).parameters
        changed = [
            f"{name}={value!r}"
            for name, value in self.get_params(deep=False).items()
            if repr(value) != repr(defaults[name].default)
        ]
        return f"{type(self).__name__}({', '.join(changed)})"


def declarations(cls: type[Any]) -> list[DeclaredField]:
    """Return the fields of an estimator with their nearest declarations, in the order of its signature."""
    fields = {field.name: field for field in dataclasses.fields(cls)}
    ancestors = [vars(ancestor).get("__dataclass_fields__", {}) for ancestor in cls.__mro__]
    found = []
    for name in inspect.signature(cls).parameters:
        nearest = next(owned[name] for owned in ancestors if name in owned and owned[name].metadata)
        found.append((fields[name], nearest.metadata))
    return found


def integer(lowest: int, highest: float = LARGEST_INTEGER) -> Constraint:
    """Allow integers from `lowest` to `highest`.

    Examples
    --------
    >>> integer(1).words, integer(2, 255).words
    ('an integer >= 1', 'an integer in [2, 255]')
    """
    words = f">= {lowest}" if highest >= LARGEST_INTEGER else f"in [{lowest}, {highest}]"
    return Constraint(f"an integer {words}", lambda value: is_integer(value) and lowest <= value <= highest)


def number(lowest: float, highest: float = sys.float_info.max, *, closed: str = "both") -> Constraint:
    """Allow finite numbers in an interval that is closed at "both" ends, at the "left", "right" or "neither".

    Examples
    --------
    >>> number(0).words, number(0, closed="neither").words, number(0, 1, closed="right").words
    ('a number >= 0', 'a number > 0', 'a number in (0, 1]')
    """
    has_lowest, has_highest = closed in ("both", "left"), closed in ("both", "right")
    if highest == sys.float_info.max:
        words = f"{'>=' if has_lowest else '>'} {lowest}"
    else:
        words = f"in {'[' if has_lowest else '('}{lowest}, {highest}{']' if has_highest else ')'}"

    def test(value: Any) -> bool:
        is_end = (value == lowest and not has_lowest) or (value == highest and not has_highest)
        return is_number(value) and lowest <= value <= highest and not is_end

    return Constraint(f"a number {words}", test)


def share(*, whole: bool) -> Constraint:
    """Allow floats above 0 and below 1, and 1.0 if `whole` is True."""
    words = "a float in (0, 1]" if whole else "a float in (0, 1)"
    return Constraint(words, lambda value: is_float(value) and (0 < value < 1 or (whole and value == 1)))


def one_of(*choices: str | None) -> Constraint:
    """Allow some strings, and None if it is among the choices.

    Examples
    --------
    >>> one_of("soft", "hard", None).words
    '"soft", "hard" or None'
    """
    quoted = [f'"{choice}"' if isinstance(choice, str) else "None" for choice in choices]
    return any_of(quoted, lambda value: (value is None or isinstance(value, str)) and value in choices)


def either(*constraints: Constraint) -> Constraint:
    """Allow the values of at least one of several constraints.

    Examples
    --------
    >>> either(integer(1), one_of("sqrt", "log2")).words
    'an integer >= 1, "sqrt" or "log2"'
    """
    alternatives = [words for each in constraints for words in each.alternatives or (each.words,)]
    return any_of(alternatives, lambda value: any(constraint(value) for constraint in constraints))


def optional(constraint: Constraint) -> Constraint:
    """Allow None and the values of a constraint."""
    return either(constraint, one_of(None))


def any_of(alternatives: Sequence[str], test: Test) -> Constraint:
    """Make a constraint with a description of its alternatives."""
    *others, last = alternatives
    words = f"{', '.join(others)} or {last}" if others else last
    return Constraint(words, test, tuple(alternatives))


def is_boolean(value: object) -> bool:
    """Return whether a value is a boolean of Python or numpy, without importing numpy."""
    numpy = sys.modules.get("numpy")
    return isinstance(value, bool) or (numpy is not None and isinstance(value, numpy.bool_))


def is_integer(value: object) -> bool:
    """Return whether a value is an integer and not a boolean."""
    return isinstance(value, numbers.Integral) and not is_boolean(value)


def is_float(value: object) -> bool:
    """Return whether a value is a real number of a type other than integers."""
    return isinstance(value, numbers.Real) and not isinstance(value, numbers.Integral)


def is_number(value: object) -> bool:
    """Return whether a value is a real number and not a boolean."""
    return is_integer(value) or is_float(value)


def is_mapping(value: object) -> bool:
    """Return whether a value is a mapping such as a dict."""
    return isinstance(value, Mapping)


boolean = any_of(("True", "False"), is_boolean)
RANDOM_STATE = Constraint("an integer, a RandomState or None")


def nearest_name(name: str, names: Iterable[str]) -> str | None:
    """Return the most similar name, or None if no name is similar.

    Examples
    --------
    >>> nearest_name("Prize", ["size", "price"]), nearest_name("x", ["size", "price"])
    ('price', None)
    """
    by_case = {each.casefold(): each for each in names}
    found = difflib.get_close_matches(name.casefold(), by_case, n=1)
    return by_case[found[0]] if found else None


def unknown_name(what: str, name: str, names: Iterable[str], *, where: str = "") -> ValueError:
    """Return the error for an unknown name, with the most similar name or all names.

    Examples
    --------
    >>> unknown_name("rule", "meen", ["mean", "median"])
    ValueError("There is no rule 'meen'. Did you mean 'mean'?")
    >>> unknown_name("rule", "coin", ["mean", "median"])
    ValueError("There is no rule 'coin'. There are mean, median.")
    """
    known = list(names)
    nearest = nearest_name(name, known)
    way_out = f"There are {', '.join(known)}." if nearest is None else f"Did you mean {nearest!r}?"
    return ValueError(f"There is no {what} {name!r}{where}. {way_out}")
