"""Properties of every public estimator."""

import os
import pickle
import subprocess
import sys

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from every_estimator import (
    CLASSIFIERS,
    COMMITTEES,
    ESTIMATORS,
    EXPERTS,
    REGRESSORS,
    make,
    mixed_frame,
    name_of,
    needs_two_classes,
    target_for,
    votes_of,
)
from sklearn.base import clone, is_classifier
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

# The automatic committee warns of few rows.
pytestmark = pytest.mark.filterwarnings("ignore:The mean of the members decides:UserWarning")

WITH_COMMITTEES = ESTIMATORS + EXPERTS + COMMITTEES

every_estimator = pytest.mark.parametrize("estimator", ESTIMATORS + EXPERTS, ids=name_of)
# The order and repetition of training rows change the folds of committees. The tests of assembling check that
# they have no other effect.
with_committees = pytest.mark.parametrize("estimator", WITH_COMMITTEES, ids=name_of)
every_classifier = pytest.mark.parametrize(
    "estimator", [each for each in WITH_COMMITTEES if is_classifier(each)], ids=name_of
)


@parametrize_with_checks(WITH_COMMITTEES)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@with_committees
def test_scikit_learn_has_many_checks_for_it(estimator):
    assert len(list(estimator_checks_generator(estimator))) >= (62 if is_classifier(estimator) else 59)


@with_committees
def test_containers_agree(estimator):
    frame, signal = mixed_frame()
    y = target_for(estimator, signal)
    expected = votes_of(clone(estimator).fit(frame, y), frame)
    arrow = pa.Table.from_pandas(frame, preserve_index=False)
    for same in (pl.from_pandas(frame), arrow):
        fitted = clone(estimator).fit(same, y)
        np.testing.assert_array_equal(votes_of(fitted, same), expected)
        np.testing.assert_array_equal(votes_of(fitted, frame), expected)
        assert list(fitted.feature_names_in_) == list(frame.columns)


@with_committees
def test_a_frame_of_numbers_is_equivalent_to_its_matrix(estimator):
    frame, signal = mixed_frame()
    numbers = frame[["number", "count"]].astype(float)
    y = target_for(estimator, signal)
    expected = votes_of(clone(estimator).fit(numbers, y), numbers)
    matrix = numbers.to_numpy()
    fitted = clone(estimator).fit(matrix, y)
    assert not hasattr(fitted, "feature_names_in_")
    for same in (matrix, matrix.tolist(), np.asfortranarray(matrix), matrix.astype(object)):
        np.testing.assert_array_equal(votes_of(fitted, same), expected)


@with_committees
def test_columns_of_a_frame_may_come_in_another_order(estimator):
    frame, signal = mixed_frame()
    fitted = clone(estimator).fit(frame, target_for(estimator, signal))
    np.testing.assert_array_equal(votes_of(fitted, frame[frame.columns[::-1]]), votes_of(fitted, frame))


@with_committees
def test_rows_of_weight_zero_are_ignored(estimator):
    frame, signal = mixed_frame()
    y = target_for(estimator, signal)
    weights = np.arange(len(y)) % 3
    weighted = clone(estimator).fit(frame, y, sample_weight=weights)
    fewer = clone(estimator).fit(frame[weights > 0], y[weights > 0], sample_weight=weights[weights > 0])
    np.testing.assert_array_equal(votes_of(weighted, frame), votes_of(fewer, frame))


@every_estimator
def test_a_row_of_weight_two_is_equivalent_to_two_rows(estimator):
    frame, signal = mixed_frame()
    y = target_for(estimator, signal)
    repetitions = 1 + np.arange(len(y)) % 3
    weighted = clone(estimator).fit(frame, y, sample_weight=repetitions)
    repeated = clone(estimator).fit(frame.loc[frame.index.repeat(repetitions)], y.repeat(repetitions))
    # C4.5 adds up fractions of rows, which are not exact.
    np.testing.assert_allclose(votes_of(weighted, frame), votes_of(repeated, frame), rtol=1e-9, atol=1e-12)


@every_estimator
def test_the_order_of_training_rows_does_not_matter(estimator):
    frame, signal = mixed_frame()
    y = target_for(estimator, signal)
    order = np.random.default_rng(1).permutation(len(y))
    straight = clone(estimator).fit(frame, y)
    shuffled = clone(estimator).fit(frame.iloc[order], y[order])
    np.testing.assert_array_equal(votes_of(straight, frame), votes_of(shuffled, frame))


@with_committees
def test_the_prediction_of_a_row_does_not_depend_on_other_rows(estimator):
    frame, signal = mixed_frame()
    fitted = clone(estimator).fit(frame, target_for(estimator, signal))
    together = votes_of(fitted, frame)
    order = np.random.default_rng(1).permutation(len(frame))
    np.testing.assert_array_equal(votes_of(fitted, frame.iloc[order]), together[order])
    twice = frame.loc[frame.index.repeat(2)]
    np.testing.assert_array_equal(votes_of(fitted, twice), together.repeat(2, axis=0))
    # Members of other libraries may compute the products of a single row in another order.
    tolerance = 1e-12 if estimator in COMMITTEES else 0
    for row in range(5):
        alone = votes_of(fitted, frame[row : row + 1])[0]
        np.testing.assert_allclose(alone, together[row], rtol=tolerance)


@pytest.mark.parametrize(
    "estimator",
    [each for each in ESTIMATORS if not name_of(each).startswith(("Extra", "Network", "Rotation"))],
    ids=name_of,
)
def test_a_monotone_change_of_a_column_changes_nothing(estimator):
    frame, signal = mixed_frame()
    y = target_for(estimator, signal)
    changed = frame.assign(count=2.0 ** frame["count"])
    straight, bent = clone(estimator).fit(frame, y), clone(estimator).fit(changed, y)
    np.testing.assert_array_equal(votes_of(straight, frame), votes_of(bent, changed))


@with_committees
def test_pickled_estimators_predict_the_same(estimator):
    frame, signal = mixed_frame()
    fitted = clone(estimator).fit(frame, target_for(estimator, signal))
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(votes_of(again, frame), votes_of(fitted, frame))


@with_committees
def test_an_unseen_category_is_missing(estimator):
    frame, signal = mixed_frame()
    fitted = clone(estimator).fit(frame, target_for(estimator, signal))
    unseen, missing = frame[:5].assign(city="Wien"), frame[:5].assign(city=None)
    np.testing.assert_array_equal(votes_of(fitted, unseen), votes_of(fitted, missing))


@every_classifier
def test_probabilities_sum_to_one_and_the_highest_is_predicted(estimator):
    frame, signal = mixed_frame()
    y = np.digitize(signal, np.quantile(signal, [0.3, 0.6]))
    fitted = clone(estimator).fit(frame, y)
    probabilities = fitted.predict_proba(frame)
    assert probabilities.shape == (len(frame), 3)
    assert (probabilities >= 0).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_array_equal(fitted.predict(frame), fitted.classes_[probabilities.argmax(axis=1)])


@every_classifier
def test_labels_may_be_text_booleans_or_numbers(estimator):
    X = [[1.0], [2.0], [8.0], [9.0]] * 5
    for low, high in (("a", "b"), (False, True), (-1, 7)):
        fitted = clone(estimator).fit(X, [low, low, high, high] * 5)
        assert list(fitted.classes_) == [low, high]
        assert list(fitted.predict([[0.0], [9.0]])) == [low, high]


@every_estimator
def test_one_row_one_class_and_constant_columns_give_constant_predictions(estimator):
    if needs_two_classes(estimator):
        with pytest.raises(ValueError, match="y has one class, 3, and boosting needs two"):
            clone(estimator).fit([[1.0, 2.0]], [3])
    else:
        one_row = clone(estimator).fit([[1.0, 2.0]], [3])
        assert one_row.predict([[5.0, 5.0]])[0] == 3
        one_class = clone(estimator).fit([[1.0], [2.0], [3.0]], [7, 7, 7])
        assert list(one_class.predict([[0.0], [9.0]])) == [7, 7]
    constant = clone(estimator).fit([[1.0, np.nan]] * 6, [0, 1, 1, 1, 1, 1])
    predictions = constant.predict([[1.0, np.nan], [9.0, 9.0]])
    assert predictions[0] == predictions[1]


@pytest.mark.parametrize(
    "estimator", [each for each in WITH_COMMITTEES if hasattr(each, "n_jobs")], ids=name_of
)
def test_any_number_of_threads_gives_the_same_bits(estimator):
    frame, signal = mixed_frame(n_rows=400)
    y = target_for(estimator, signal)
    votes = [votes_of(clone(estimator).set_params(n_jobs=n).fit(frame, y), frame) for n in (1, 2, 3)]
    assert votes[0].tobytes() == votes[1].tobytes() == votes[2].tobytes()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_process_can_fit_and_predict():
    script = """
import os
from committee import RandomForestClassifier
X, y = [[i % 7, i % 3] for i in range(300)], [i % 2 for i in range(300)]
forest = RandomForestClassifier(20, random_state=0, n_jobs=2).fit(X, y)
before = forest.predict_proba(X)
child = os.fork()
if child == 0:
    again = RandomForestClassifier(20, random_state=0, n_jobs=2).fit(X, y)
    os._exit(0 if (again.predict_proba(X) == before).all() else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", script], check=True, timeout=60)


def test_every_task_has_estimators():
    assert len(CLASSIFIERS) >= 5
    assert len(REGRESSORS) >= 5
    assert make(type(CLASSIFIERS[0])) is not CLASSIFIERS[0]
