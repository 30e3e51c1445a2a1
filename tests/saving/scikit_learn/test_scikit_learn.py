"""Listed estimators of scikit-learn load without trust and are unchanged."""

import pytest
from scikit_learn_cases import CASES, FIRST, fitted, is_same, results, takes_weights, title

from committee.saving import load, save
from committee.saving.scikit_learn import LISTED, SPLITTERS


def saved_and_loaded(estimator, tmp_path):
    save(estimator, tmp_path / "model")
    return load(tmp_path / "model")


def parameters_of(estimator):
    """Return the parameters as text."""
    return repr(sorted(estimator.get_params().items()))


@pytest.mark.parametrize("estimator, table, target", CASES, ids=title)
def test_a_loaded_estimator_returns_the_same_as_the_saved_one(estimator, table, target, tmp_path):
    estimator, rows = fitted(estimator, table, target)
    loaded = saved_and_loaded(estimator, tmp_path)
    assert type(loaded) is type(estimator)
    assert is_same(results(estimator, rows, target), results(loaded, rows, target))
    assert parameters_of(loaded) == parameters_of(estimator)


@pytest.mark.parametrize("estimator, table, target", FIRST, ids=title)
def test_estimators_with_column_names_and_row_weights_load_unchanged(estimator, table, target, tmp_path):
    estimator, rows = fitted(estimator, table, target, named=True, weighted=takes_weights(estimator))
    loaded = saved_and_loaded(estimator, tmp_path)
    assert is_same(results(estimator, rows, target), results(loaded, rows, target))


@pytest.mark.parametrize("estimator, table, target", FIRST, ids=title)
def test_an_estimator_that_is_not_fitted_can_be_fitted_after_loading(estimator, table, target, tmp_path):
    loaded = saved_and_loaded(estimator, tmp_path)
    assert parameters_of(loaded) == parameters_of(estimator)
    fitted(loaded, table, target)


def test_every_class_on_the_list_has_a_case():
    tried = {type(estimator).__name__ for estimator, *_ in CASES}
    parts = {"LabelBinarizer", "LabelEncoder"}
    # test_splitters.py tests the splitters.
    assert {name.rpartition(".")[2] for name in LISTED} == tried | parts | set(SPLITTERS)
