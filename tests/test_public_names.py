"""The public names of `committee` are listed, sorted and documented."""

import importlib.metadata
import inspect
import re
from types import ModuleType

import pytest

import committee
from committee.other_names import ADVICE, CLASSES, PARAMETERS

PLACES = (committee, committee.rules, committee.diversity, committee.pictures)
NAMED = [(name, getattr(place, name)) for place in PLACES for name in place.__all__]
DOCUMENTED = {f"{thing.__module__}.{name}": thing for name, thing in NAMED if callable(thing)}


def test_all_is_the_sorted_list_of_public_names():
    values = {name: getattr(committee, name) for name in committee.__all__}
    assert committee.__all__ == sorted(values) == dir(committee)
    reachable = {name for name, value in vars(committee).items() if not isinstance(value, ModuleType)}
    public = {name for name in reachable if not name.startswith("_")}
    assert public - {"Any", "TYPE_CHECKING"} <= values.keys()


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'RandomJungle'"):
        _ = committee.RandomJungle


def test_the_version_is_that_of_the_installed_package():
    assert committee.__version__ == importlib.metadata.version("committee")


def test_the_error_of_a_removed_name_shows_its_replacement():
    with pytest.raises(AttributeError, match=r"bootstrap_interval was removed\. Use scipy\.stats\.bootstrap"):
        _ = committee.bootstrap_interval


@pytest.mark.parametrize(
    "thing",
    [
        each
        for each in DOCUMENTED.values()
        if "scoring" in inspect.signature(each).parameters and each is not committee.fit
    ],
)
def test_an_old_name_of_a_parameter_is_an_error_that_shows_the_new_one(thing):
    with pytest.raises(TypeError, match=r"'metric'\. It is now called 'scoring'\.$"):
        thing(metric="accuracy")


def test_a_removed_parameter_is_an_error_that_shows_its_value():
    with pytest.raises(TypeError, match=r"'label_smoothing'\. It was removed, and is always 0\.02\.$"):
        committee.NetworkClassifier(label_smoothing=0.1)


@pytest.mark.parametrize("module", [committee.rules, committee.diversity])
def test_modules_of_functions_list_their_sorted_names(module):
    assert module.__all__ == sorted(set(module.__all__))
    public = {name for name in vars(module) if not name.startswith("_")}
    assert public == set(module.__all__)


@pytest.mark.parametrize("thing", DOCUMENTED.values(), ids=DOCUMENTED)
def test_every_public_name_documents_all_its_parameters_and_shows_an_example(thing):
    documentation = inspect.getdoc(thing) or ""
    assert re.search(r"^Examples\n-{8}\n(.*\n)*?>>> ", documentation, re.MULTILINE), "no example"

    parameters = list(inspect.signature(thing).parameters)
    section = re.search(r"^Parameters\n-{10}\n((?:(?!\w+\n-{3}).*\n?)*)", documentation, re.MULTILINE)
    documented = re.findall(r"^(\w[\w, ]*?) : ", section[1] if section else "", re.MULTILINE)
    assert [each for names in documented for each in names.split(", ")] == parameters


@pytest.mark.parametrize(
    ("call", "hint"),
    [
        (lambda: committee.RandomForrestClassifier, "Did you mean 'RandomForestClassifier'?"),
        (lambda: committee.LGBMClassifier, "Use GradientBoostingClassifier."),
        (lambda: committee.DecisionTreeClassifier(criterion="ginni").fit([[1]], [1]), "Did you mean 'gini'?"),
        (lambda: committee.GradientBoostingClassifier(num_leaves=9), "It is called 'max_leaf_nodes' here."),
        (lambda: committee.HistGradientBoostingRegressor(n_trees=9), "It is called 'max_iter' here."),
        (lambda: committee.RandomForestClassifier(max_dept=9), "Did you mean 'max_depth'?"),
        (
            lambda: committee.GradientBoostingRegressor().fit([[1]], [1], eval_set=[]),
            "Pass X_val and y_val to fit.",
        ),
        (
            lambda: committee.DecisionTreeRegressor().fit([[1]], [1], check_input=False),
            "X is always checked.",
        ),
    ],
)
def test_an_error_about_an_unknown_name_says_what_is_meant(call, hint):
    with pytest.raises((AttributeError, TypeError, ValueError), match=f"{re.escape(hint)}$"):
        call()


def test_hints_name_parameters_and_classes_of_committee():
    parameters = {name for thing in DOCUMENTED.values() for name in inspect.signature(thing).parameters}
    assert {ours for names in PARAMETERS.values() for ours in names} <= parameters
    assert not set(CLASSES) & set(committee.__all__)
    assert not set(ADVICE) & set(PARAMETERS)
