"""Test that every learner misclassifies one half of the unseen rows, over all target functions."""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from committee import C45Classifier, DecisionTreeClassifier, GradientBoostingClassifier, VotingClassifier
from committee.evaluating import no_free_lunch

LEARNERS = {
    "tree": DecisionTreeClassifier(random_state=0),
    "c45": C45Classifier(),
    "boosting": GradientBoostingClassifier(5, random_state=0),
    "neighbour": KNeighborsClassifier(1),
    "voting": VotingClassifier([("a", KNeighborsClassifier(1)), ("b", C45Classifier())]),
}


@pytest.mark.parametrize("n_training_rows", [1, 4, 7])
def test_every_learner_misses_one_half_of_the_unseen_rows(n_training_rows):
    found = no_free_lunch(LEARNERS, n_training_rows=n_training_rows, random_state=1)
    assert found.mean_errors.tolist() == [0.5] * len(LEARNERS)
    assert found.targets.shape == (256, 8)
    assert len(np.unique(found.targets, axis=0)) == 256


def test_errors_are_those_of_a_fit_to_each_function():
    found = no_free_lunch(LEARNERS, n_columns=2, n_training_rows=2, random_state=3)
    seen = found.is_training
    for learner, errors in zip(LEARNERS.values(), found.errors, strict=True):
        for target, error in zip(found.targets, errors, strict=True):
            if np.ptp(target[seen]):
                predicted = learner.fit(found.X[seen], target[seen]).predict(found.X[~seen])
            else:
                predicted = np.full(2, target[seen][0])
            assert error == (predicted != target[~seen]).mean()


def test_a_learner_wins_as_often_as_it_loses():
    found = no_free_lunch(LEARNERS, random_state=0)
    np.testing.assert_array_equal(found.wins, found.wins.T)
    assert found.wins.max() > 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_columns": 5}, r"n_columns must be an integer from 1 to 4\. Got 5"),
        ({"n_training_rows": 8}, r"n_training_rows must be an integer from 1 to 7.*Got 8"),
    ],
)
def test_sizes_that_cannot_be_enumerated_are_errors(settings, message):
    with pytest.raises(ValueError, match=message):
        no_free_lunch(LEARNERS, **settings)
