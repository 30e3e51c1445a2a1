"""scikit-learn's splitters are saved as the `cv` of a committee and load without trust."""

import numpy as np
import pytest
from sklearn import model_selection
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB

import committee
from committee import CommitteeClassifier, StackingClassifier
from committee.saving.format.file_errors import DamagedFile
from committee.saving.saved_estimators import Described
from committee.saving.scikit_learn import LISTED, SPLITTERS

X, Y = load_iris(return_X_y=True)
X, Y = X[::5], Y[::5]
GROUPS = np.arange(30) // 3
PARAMETERS = {
    "GroupKFold": {"n_splits": 3},
    "RepeatedKFold": {"n_splits": 3, "n_repeats": 2, "random_state": 0},
    "RepeatedStratifiedKFold": {"n_splits": 2, "n_repeats": 2, "random_state": 0},
    "StratifiedKFold": {"n_splits": 3, "shuffle": True, "random_state": np.random.RandomState(0)},
}


@pytest.mark.parametrize("name", SPLITTERS)
def test_a_loaded_splitter_splits_as_the_saved_one(name, tmp_path):
    splitter = getattr(model_selection, name)(**PARAMETERS.get(name, {}))
    path = tmp_path / "automatic.committee"
    CommitteeClassifier(cv=splitter).save(path)
    loaded = committee.load(path).cv
    assert type(loaded) is type(splitter)
    groups = GROUPS if "Group" in name else None
    expected = list(splitter.split(X, Y, groups))
    for (train, test), (known_train, known_test) in zip(loaded.split(X, Y, groups), expected, strict=True):
        np.testing.assert_array_equal(train, known_train)
        np.testing.assert_array_equal(test, known_test)


def test_a_fitted_committee_with_a_splitter_needs_no_trust(tmp_path):
    stacking = StackingClassifier([("bayes", GaussianNB())], cv=model_selection.KFold(3, shuffle=True))
    stacking.fit(X, Y).save(tmp_path / "stacking.committee")
    loaded = committee.load(tmp_path / "stacking.committee")
    np.testing.assert_array_equal(loaded.predict_proba(X), stacking.predict_proba(X))


def test_any_other_splitter_is_stored_through_skops_and_needs_trust(tmp_path):
    CommitteeClassifier(cv=model_selection.ShuffleSplit(2, random_state=0)).save(tmp_path / "automatic")
    with pytest.raises(
        committee.saving.UntrustedMember, match=r"sklearn\.model_selection\._split\.ShuffleSplit"
    ):
        committee.load(tmp_path / "automatic")
    loaded = committee.load(tmp_path / "automatic", trusted=["sklearn.model_selection"])
    assert loaded.cv.get_n_splits() == 2


@pytest.mark.parametrize(
    "parameters",
    [
        {"n_splits": 5, "shuffle": False, "random_state": None, "more": 1},
        {"n_splits": 5, "shuffle": "yes"},
        {"n_splits": 5, "shuffle": False, "random_state": "now"},
        {"n_splits": 1, "shuffle": False, "random_state": None},
    ],
)
def test_invalid_parameters_of_a_splitter_are_refused(parameters):
    listed = LISTED["sklearn.model_selection.KFold"]
    with pytest.raises(DamagedFile, match="cv"):
        listed.restore(Described(listed.public_name, parameters, None), "cv")
