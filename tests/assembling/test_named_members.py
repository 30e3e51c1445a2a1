"""Members that a committee provides by name ignore the unit of y and can be saved."""

import sys

import numpy as np
import pytest

import committee
from committee import StackingRegressor, VotingRegressor

X = np.random.default_rng(0).normal(size=(120, 3))
Y = X[:, 0] - 2 * X[:, 1] + np.abs(X[:, 2])


@pytest.mark.parametrize("unit", [1e-4, 1e5])
@pytest.mark.parametrize("made", [VotingRegressor, StackingRegressor])
def test_the_unit_of_y_does_not_change_decisions(made, unit):
    given = made(random_state=0, n_jobs=1).fit(X, Y)
    scaled = made(random_state=0, n_jobs=1).fit(X, unit * Y)
    np.testing.assert_allclose(scaled.predict(X) / unit, given.predict(X), atol=0.02)


def test_default_members_for_numbers_are_saved_without_another_library(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "skops", None)
    model = StackingRegressor(random_state=0, n_jobs=1).fit(X, Y)
    model.save(tmp_path / "model.committee")
    loaded = committee.load(tmp_path / "model.committee")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
