"""Compare our classes with those of the same names in scikit-learn.

Each parameter, value, default, method and fitted attribute exists in ours, or the page
`docs/coming_from_scikit_learn.md` says what to use instead.
"""

import inspect
import re
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import pytest
import sklearn.ensemble
import sklearn.tree
from every_estimator import make
from sklearn.base import is_classifier
from sklearn.datasets import load_diabetes, load_iris
from sklearn.utils._param_validation import StrOptions

import committee

PAGE = Path(__file__).parents[1] / "docs" / "coming_from_scikit_learn.md"
THEIRS = {
    name: getattr(library, name)
    for library in (sklearn.tree, sklearn.ensemble)
    for name in library.__all__
    if inspect.isclass(getattr(library, name)) and not name.startswith("Base")
}
SHARED = [name for name in THEIRS if name in committee.__all__]
# Some attributes are only computed with these parameters.
WITH_PARAMETERS = {"oob_score": True, "bootstrap": True}
# The methods whose arguments are compared.
METHODS = [
    "fit",
    "predict",
    "predict_proba",
    "predict_log_proba",
    "apply",
    "decision_path",
    "score",
    "transform",
]


def listed():
    """Return the rows of the tables: the pattern of the class, the kind, and the name in scikit-learn."""
    rows, patterns = [], []
    for line in PAGE.read_text().splitlines():
        if line.startswith("## "):
            patterns = re.findall(r"`([\w*]+)`", line)
        found = re.match(
            r"\| (class|parameter|default|value|argument|method|attribute)s? \| (.+?) \| .+ \|$", line
        )
        if found:
            rows += [
                (pattern, found[1], name)
                for pattern in patterns
                for name in re.findall(r"`([^`]+)`", found[2])
            ]
    return rows


LISTED = listed()


def parameters_of(thing):
    return inspect.signature(thing).parameters


def hidden(names):
    """Leave out what only Python or metadata routing uses."""
    return {
        name for name in names if not name.startswith("_") and not name.startswith("set_") and name != "self"
    }


@cache
def fitted(name):
    """Return a fitted estimator of a class, with out-of-bag scores if they exist."""
    cls = getattr(committee, name)
    X, y = (load_iris if name.endswith("Classifier") else load_diabetes)(return_X_y=True, as_frame=True)
    more = {key: value for key, value in WITH_PARAMETERS.items() if key in parameters_of(cls)}
    return make(cls, **more).fit(X, y)


def fitted_attributes(name):
    """Return the fitted attributes that scikit-learn documents or computes on access."""
    cls = THEIRS[name]
    section = re.search(
        r"^Attributes\n-+\n((?:.*\n)*?)(?:\w[\w ]*\n-{3,})", inspect.getdoc(cls) or "", re.MULTILINE
    )
    documented = re.findall(r"^(\w+_)\b", section[1], re.MULTILINE)
    computed = [each for each in dir(cls) if each.endswith("_") and not each.startswith("_")]
    return {*documented, *computed}


def missing(name):
    """Return what our class of a name does not have, as (kind, name)."""
    theirs, ours = THEIRS[name], getattr(committee, name)
    their_parameters, our_parameters = parameters_of(theirs), parameters_of(ours)
    constraints = {field.name: declaration["constraint"] for field, declaration in ours._declarations}
    for parameter, declared in their_parameters.items():
        if parameter not in our_parameters:
            yield "parameter", parameter
            continue
        default = our_parameters[parameter].default
        if declared.default is not inspect.Parameter.empty and declared.default != default:
            yield "default", f"{parameter}={declared.default!r}"
        for option in options_of(theirs, parameter):
            if not constraints[parameter](option):
                yield "value", f'{parameter}="{option}"'
    for method in METHODS:
        if hasattr(theirs, method) and hasattr(ours, method):
            wanted = hidden(parameters_of(getattr(theirs, method)))
            yield from (
                ("argument", f"{method}({argument}=)")
                for argument in sorted(wanted - set(parameters_of(getattr(ours, method))))
            )
    methods = {each for each in hidden(dir(theirs)) if inspect.isfunction(getattr(theirs, each, None))}
    yield from (("method", each) for each in sorted(methods) if not hasattr(ours, each))
    model = fitted(name)
    yield from (("attribute", each) for each in sorted(fitted_attributes(name)) if not hasattr(model, each))


def options_of(cls, parameter):
    """Return the texts that a parameter of scikit-learn may be."""
    constraints = getattr(cls, "_parameter_constraints", {}).get(parameter, [])
    if not isinstance(constraints, list):
        return []
    options = set().union(*(each.options for each in constraints if isinstance(each, StrOptions)))
    return sorted(option for option in options if isinstance(option, str))


def test_every_class_exists_or_is_listed():
    absent = {("*", "class", name) for name in THEIRS if name not in committee.__all__}
    assert absent == {row for row in LISTED if row[1] == "class"}


@pytest.mark.parametrize("name", SHARED)
def test_the_page_lists_exactly_what_a_class_does_not_have(name):
    shown = {(kind, each) for pattern, kind, each in LISTED if kind != "class" and fnmatch(name, pattern)}
    assert set(missing(name)) == shown


@pytest.mark.parametrize("name", SHARED)
def test_an_unsupported_parameter_is_an_error_that_names_the_way_out(name):
    for kind, parameter in missing(name):
        if kind == "parameter":
            with pytest.raises(TypeError, match=rf"^{name} has no parameter '{parameter}'\. (?!It has)"):
                getattr(committee, name)(**{parameter: None})


@pytest.mark.parametrize("name", SHARED)
def test_a_class_is_of_the_same_kind(name):
    ours, theirs = make(getattr(committee, name)), make(THEIRS[name])
    assert is_classifier(ours) == is_classifier(theirs)


def test_classes_that_do_not_exist_name_an_alternative():
    for _, _, name in [row for row in LISTED if row[1] == "class"]:
        with pytest.raises(AttributeError, match=rf"no attribute '{name}'. Use \w+"):
            getattr(committee, name)
