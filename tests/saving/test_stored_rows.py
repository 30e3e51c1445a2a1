"""A file names the parts that contain training rows, and no other part contains one."""

import warnings

import numpy as np
import pytest
from every_estimator import ALL_ESTIMATORS, make, members_for, name_of
from safetensors.numpy import load_file
from scikit_learn_cases import CASES, NUMBERS, Y
from sklearn.base import clone, is_classifier
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import Pipeline

import committee
from committee import VotingClassifier, VotingRegressor
from committee.automatic.portfolio import ORDERS, Size, named
from committee.saving.stored_rows import StoredRows, stored_rows

RNG = np.random.default_rng(11)
X = RNG.normal(size=(70, 3))
CODES = (X[:, 0] + RNG.normal(scale=0.5, size=70) > 0).astype(int)
NUMBER = X[:, 0] + RNG.normal(scale=0.3, size=70) + 10.0
SMALL = {"n_estimators": 3, "max_steps": 20, "random_state": 0}


def small(estimator):
    known = estimator.get_params()
    return estimator.set_params(
        **{name: SMALL[name.rpartition("__")[2]] for name in known if name.rpartition("__")[2] in SMALL}
    )


def members_of_portfolio():
    found = []
    for task, n_outputs in (("classification", 2), ("regression", 1)):
        size = Size(task, 70, 3, n_outputs, 3, task == "regression")
        for member in named(list(ORDERS[task]), size):
            found.append(pytest.param(member.name, small(member.estimator), task, id=f"{task}-{member.name}"))
    return found


def has_row(path, rows):
    """Return whether an array of a file contains one of some rows."""
    for array in load_file(path).values():
        if array.dtype.kind == "f" and array.ndim == 2 and array.shape[1] == rows.shape[1]:
            differences = np.abs(array[:, None] - rows[None]).max(axis=2)
            if (differences < 1e-6).any():
                return True
    return False


@pytest.mark.parametrize(("name", "estimator", "task"), members_of_portfolio())
def test_members_of_the_portfolio_are_named_if_they_store_rows(name, estimator, task, tmp_path):
    is_class_task = task == "classification"
    made, y = (VotingClassifier, CODES) if is_class_task else (VotingRegressor, NUMBER)
    tree = members_for(made)[0]
    voting = made([(name, estimator), tree], cv=None, rule="majority" if is_class_task else "mean").fit(X, y)
    voting.save(tmp_path / "model")
    fitted = voting.named_estimators_[name]
    rows = fitted[0].transform(X) if isinstance(fitted, Pipeline) else X
    assert stored_rows(tmp_path / "model") == StoredRows(
        (name,) if has_row(tmp_path / "model", rows) else (), ()
    )
    if "neighbours" in name or "svm" in name:
        assert stored_rows(tmp_path / "model").parts == (name,)


@pytest.mark.parametrize(
    ("estimator", "target"),
    [pytest.param(each, t, id=f"{name_of(each)}-{t}") for each, table, t in CASES if table == "numbers"],
)
@pytest.mark.filterwarnings("ignore")
def test_models_of_scikit_learn_are_named_if_they_store_rows(estimator, target, tmp_path):
    committee.save(clone(estimator).fit(NUMBERS, Y[target]), tmp_path / "model")
    assert bool(stored_rows(tmp_path / "model").parts) == has_row(tmp_path / "model", NUMBERS)


@pytest.mark.parametrize("estimator", ALL_ESTIMATORS, ids=name_of)
def test_models_of_committee_are_named_if_they_store_rows(estimator, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = clone(estimator).fit(X, CODES if is_classifier(estimator) else NUMBER)
    model.save(tmp_path / "model")
    looks_at_rows = "DynamicSelection" in name_of(estimator)
    assert stored_rows(tmp_path / "model") == StoredRows(("the rule",) if looks_at_rows else (), ())
    arrays = load_file(tmp_path / "model")
    targets = CODES if is_classifier(estimator) else NUMBER
    assert any(np.array_equal(each, targets) for each in arrays.values()) == looks_at_rows


def test_rows_in_other_parts_are_named(tmp_path):
    path = tmp_path / "model"
    near = [("near", KNeighborsClassifier()), ("tree", committee.DecisionTreeClassifier())]
    VotingClassifier(near, rule="cawpe", keep="all").fit(X, CODES).save(path)
    assert str(stored_rows(path)) == "in near, the honest votes"
    make(committee.RandomForestRegressor, keep_leaf_rows=True).fit(X, NUMBER).save(path)
    assert stored_rows(path).parts == ("the model",)
    bag = committee.BaggingRegressor(KNeighborsRegressor(), n_estimators=2).fit(X, NUMBER)
    VotingRegressor([("bag", bag)], cv="prefit").fit(X, NUMBER).save(path)
    assert stored_rows(path).parts == ("bag",)


def test_members_of_other_libraries_may_contain_rows(tmp_path):
    pytest.importorskip("skops")
    VotingClassifier([("process", GaussianProcessClassifier())]).fit(X, CODES).save(tmp_path / "model")
    assert str(stored_rows(tmp_path / "model")) == "perhaps in process"
