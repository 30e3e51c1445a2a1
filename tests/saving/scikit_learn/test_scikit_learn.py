"""Estimators of scikit-learn on our list are stored without trust, and come back as they were."""

import pytest
from scikit_learn_cases import CASES, FIRST, answers, fitted, is_same, takes_weights, title

from committee.saving import load, save
from committee.saving.scikit_learn import LISTED, SPLITTERS


def there_and_back(estimator, tmp_path):
    save(estimator, tmp_path / "model")
    return load(tmp_path / "model")


def parameters_of(estimator):
    """The parameters, in words."""
    return repr(sorted(estimator.get_params().items()))


@pytest.mark.parametrize("estimator, table, target", CASES, ids=title)
def test_a_loaded_estimator_answers_as_the_saved_one(estimator, table, target, tmp_path):
    estimator, rows = fitted(estimator, table, target)
    loaded = there_and_back(estimator, tmp_path)
    assert type(loaded) is type(estimator)
    assert is_same(answers(estimator, rows, target), answers(loaded, rows, target))
    assert parameters_of(loaded) == parameters_of(estimator)


@pytest.mark.parametrize("estimator, table, target", FIRST, ids=title)
def test_names_of_columns_and_weights_of_rows_make_no_difference(estimator, table, target, tmp_path):
    estimator, rows = fitted(estimator, table, target, named=True, weighted=takes_weights(estimator))
    loaded = there_and_back(estimator, tmp_path)
    assert is_same(answers(estimator, rows, target), answers(loaded, rows, target))


@pytest.mark.parametrize("estimator, table, target", FIRST, ids=title)
def test_an_estimator_that_is_not_fitted_can_be_fitted_after_loading(estimator, table, target, tmp_path):
    loaded = there_and_back(estimator, tmp_path)
    assert parameters_of(loaded) == parameters_of(estimator)
    fitted(loaded, table, target)


def test_every_class_on_the_list_has_a_case():
    tried = {type(estimator).__name__ for estimator, *_ in CASES}
    inside = {"LabelBinarizer", "LabelEncoder"}
    # See test_splitters.py.
    assert {name.rpartition(".")[2] for name in LISTED} == tried | inside | set(SPLITTERS)
