"""Recipes distinguish members by what they compute, whatever the names of their functions."""

import os
import subprocess
import sys
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import stats
from scipy.sparse import csr_array
from scipy.stats import loguniform, randint, rv_discrete, rv_histogram
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import RandomizedSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from committee.assembling import Bank
from committee.assembling.bank.recipe import recipe_of, written_out
from committee.assembling.named_members import Member

X, Y = load_iris(return_X_y=True)


def test_functions_and_classes_with_equal_names_have_different_recipes():
    def own(function):
        return recipe_of(Member("own", FunctionTransformer(function)))

    first = own(lambda x: x + 1)
    assert first == own(lambda x: x + 1)
    assert first != own(lambda x: x + 2)

    def with_default(k):
        def own_columns(x, k=k, *, last=k):
            return x[:, :k]

        return own_columns

    def around(k):
        return lambda x: x[:, :k]

    class Called:
        def __init__(self, k):
            self.k = k

        def __call__(self, x):
            return x[:, : self.k]

        first = __call__

    for made in (
        with_default,
        around,
        Called,
        lambda k: Called(k).first,
        lambda k: partial(around, k=k),
        lambda k: {"k": around(k)},
        np.random.RandomState,
        np.random.default_rng,
    ):
        assert own(made(1)) == own(made(1))
        assert own(made(1)) != own(made(4))
    another = type("GaussianNB", (GaussianNB,), {"__module__": "elsewhere"})
    assert recipe_of(Member("bayes", GaussianNB())) != recipe_of(Member("bayes", another()))
    with pytest.raises(ValueError, match=r"Member 'own' has a parameter that cannot be written as text. "):
        own(each for each in ())


@pytest.mark.parametrize(
    "made",
    [
        pd.Series,
        lambda values: pd.Series(np.zeros(1000), index=values),
        lambda values: pd.DataFrame({"a": values, "b": 0.0}),
        lambda values: pd.DataFrame(np.zeros((2, 1000)), columns=values),
        lambda values: pd.Index(values),
        lambda values: pl.Series(values),
        lambda values: pl.DataFrame({"a": values}),
        lambda values: pa.table({"a": values}),
        lambda values: pa.array(values),
        lambda values: csr_array(values[None]),
    ],
)
def test_tables_with_different_values_have_different_recipes(made):
    values = np.arange(1000.0)
    other = values.copy()
    other[500] = -7.0
    assert written_out(made(values)) == written_out(made(values.copy()))
    assert written_out(made(values)) != written_out(made(other))


def test_tables_with_different_names_or_types_have_different_recipes():
    frame = pd.DataFrame({"a": [1, 2]})
    others = (frame.rename(columns={"a": "b"}), frame.astype("float32"), frame.set_axis([5, 6]), frame["a"])
    assert len({written_out(each) for each in (frame, *others)}) == 5


def test_a_distribution_of_a_search_is_written_by_its_numbers_not_its_random_state():
    values = ([1, 2], [0.5, 0.5]), ([1, 2], [0.25, 0.75])
    for made, one, other in (
        (lambda high: loguniform(1e-3, high), 10.0, 20.0),
        (lambda high: randint(1, high=high), 5, 6),
        (lambda each: rv_discrete(values=each), *values),
        (lambda rows: rv_histogram(np.histogram(rows))(), [1.0, 2.0], [1.0, 3.0]),
        (lambda name: getattr(stats, name)(1, 2), "loguniform", "uniform"),
    ):
        texts = []
        for value in (one, one, other):
            np.random.rand()
            texts.append(written_out(clone(RandomizedSearchCV(GaussianNB(), {"a": made(value)}))))
        assert texts[0] == texts[1] != texts[2]


def test_functions_of_libraries_are_written_by_name():
    found = [np.nan_to_num, np.clip, np.linalg.norm, np.where]
    assert [*map(written_out, found)] == [
        "numpy.nan_to_num",
        "numpy.clip",
        "numpy.linalg.norm",
        "numpy.where",
    ]
    with pytest.raises(ValueError, match="Only its address in memory identifies a builtin_function"):
        written_out("text".upper)


RECIPE = """
from numpy import nan_to_num
from scipy.stats import loguniform
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import RandomizedSearchCV
from committee.assembling.bank.recipe import written_out
def near(x):
    return x[:, :N_COLUMNS]
def own(x):
    return near(x) if x[0] in {"alpha", "beta", "gamma", "delta"} else own(x)
search = clone(RandomizedSearchCV(LogisticRegression(), {"C": loguniform(1e-3, 1e3)}))
for N_COLUMNS in (1, 4):
    print(written_out((own, {"alpha", "beta", "gamma", "delta"}, search, nan_to_num)))
"""


def test_a_recipe_is_the_same_in_every_process_and_contains_module_constants():
    def printed(seed):
        command = [sys.executable, "-c", RECIPE]
        environment = os.environ | {"PYTHONHASHSEED": seed}
        return subprocess.run(command, env=environment, capture_output=True, check=True, text=True).stdout

    first, second = printed("1").splitlines()
    assert first != second
    assert printed("2").splitlines() == [first, second]


def test_votes_of_a_function_with_other_captured_values_are_not_reused():
    def first(k):
        return make_pipeline(FunctionTransformer(lambda x: x[:, :k]), GaussianNB())

    bank = Bank(X, Y, cv=3)
    bank.collect([("first", first(1))], runner="serial")
    bank.collect([("first", first(1))], runner="serial")
    with pytest.raises(ValueError, match="There are votes of another member 'first', made by another recipe"):
        bank.collect([("first", first(4))], runner="serial")


def test_frozen_estimators_fitted_on_other_rows_have_different_recipes():
    first, same, other = (FrozenEstimator(PCA(2).fit(rows)) for rows in (X, X, X[::3]))
    assert written_out(first) == written_out(same) != written_out(other)
