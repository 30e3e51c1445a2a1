"""The stubs of the engine match its bindings, and a misspelt parameter is an immediate error."""

import ast
import gc
import weakref
from pathlib import Path

import numpy as np
import pytest

from committee import _engine, running
from committee.table import bin_table

STUBS = ast.parse((Path(running.__file__).parents[1] / "_engine.pyi").read_text())
CLASSES = {node.name: node for node in STUBS.body if isinstance(node, ast.ClassDef)}
FUNCTIONS = {node.name for node in STUBS.body if isinstance(node, ast.FunctionDef)}


def names_in(stub):
    """Return the attributes and methods of a class in the stubs."""
    named = {node.target.id for node in stub.body if isinstance(node, ast.AnnAssign)}
    return named | {node.name for node in stub.body if isinstance(node, ast.FunctionDef)}


def is_public(name):
    return not name.startswith("_")


def test_the_stubs_contain_all_bound_names():
    bound = {name for name in vars(_engine) if is_public(name)}
    assert bound == CLASSES.keys() | FUNCTIONS


@pytest.mark.parametrize("name", CLASSES)
def test_the_stub_of_a_class_contains_all_its_attributes(name):
    bound = set(filter(is_public, vars(getattr(_engine, name))))
    assert set(filter(is_public, names_in(CLASSES[name]))) == bound


@pytest.mark.parametrize("made", ["ForestParameters", "BoostParameters", "AdaBoostParameters", "C45Settings"])
def test_a_misspelt_parameter_is_an_error(made):
    with pytest.raises(AttributeError):
        getattr(_engine, made)().n_treees = 3


def test_the_type_of_a_parameter_is_checked():
    parameters = _engine.GrowParameters()
    with pytest.raises(TypeError):
        parameters.max_depth = "three"
    with pytest.raises(ValueError, match="Unknown criterion 'gin'"):
        parameters.criterion = "gin"
    parameters.criterion = "log_loss"
    assert parameters.criterion == "entropy"


class Stop(KeyboardInterrupt):
    """An exception of a user's hook."""


def test_the_result_of_an_interrupted_call_is_freed_although_its_exception_refers_to_it():
    def hook(_):
        raise Stop

    parameters = _engine.ForestParameters()
    parameters.n_trees = 3
    codes, y = bin_table(np.arange(8.0)[:, np.newaxis]).codes, np.arange(8, dtype=np.int32) % 2
    grown = _engine.grow_forest(codes, y, 2, None, 8, parameters, None, None, [], hook, 1)
    assert isinstance(grown.interruption, Stop)
    grown.interruption.args = (grown,)
    watched = weakref.ref(grown.interruption)
    del grown
    gc.collect()
    assert watched() is None
