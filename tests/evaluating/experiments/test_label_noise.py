"""Test wrong labels: how many there are, who gets them, and that test rows keep the right ones."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.neighbors import KNeighborsClassifier

from committee.evaluating import flip_labels, label_noise_study


@pytest.mark.parametrize("share", [0, 0.1, 0.25, 1])
@pytest.mark.parametrize("labels", [np.array(["no", "yes"]), np.array([3, 5, 9])])
def test_the_share_of_wrong_labels_is_exact(share, labels):
    y = labels[np.arange(200) % len(labels)]
    wrong = flip_labels(y, share, random_state=0)
    assert (wrong != y).mean() == share
    assert wrong.dtype == y.dtype
    assert set(wrong) <= set(labels)


def test_other_classes_are_drawn_equally_often():
    wrong = flip_labels(
        np.zeros(30_000, dtype=int) + (np.arange(30_000) == 0) + 2 * (np.arange(30_000) == 1), 1, 0
    )
    assert np.bincount(wrong) / len(wrong) == pytest.approx([0, 0.5, 0.5], abs=0.01)


@pytest.mark.parametrize("share", [-0.1, 1.1, "0.1", None])
def test_a_share_outside_its_range_is_an_error(share):
    with pytest.raises(ValueError, match="share must be a number from 0 to 1"):
        flip_labels([0, 1], share)


def test_only_training_labels_are_wrong():
    """Every row occurs twice, so a nearest neighbour repeats the wrong labels of training rows."""
    X, y = load_iris(return_X_y=True)
    X, y = np.repeat(X, 2, axis=0), np.repeat(y, 2)
    study = label_noise_study(
        {"neighbour": KNeighborsClassifier(1), "same": KNeighborsClassifier(1)},
        {"iris": (X, y)},
        shares=[0, 0.25],
        resamples=1,
        cv=None,
    ).run()
    compared = study.compare("accuracy")
    scores = dict(zip(compared.learners, compared.scores[0], strict=True))
    assert scores["neighbour, 25% wrong labels"] == scores["same, 25% wrong labels"]
    assert 0.6 < scores["neighbour, 25% wrong labels"] < 0.85
    assert scores["neighbour"] > 0.95
