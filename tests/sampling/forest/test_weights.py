"""Only the ratios of fractional weights matter, and they do not reduce the precision of the targets."""

import numpy as np
import pytest

from committee import RandomForestClassifier, RandomForestRegressor


@pytest.mark.parametrize("weight", [0.5, 0.3, 1000])
def test_equal_weights_do_not_change_trees(weight):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 4))
    y = (X[:, 0] + rng.normal(size=2000) > 0).astype(int)
    forest = RandomForestClassifier(3, bootstrap=False, random_state=0)
    expected = forest.fit(X, y).predict_proba(X + 0.1)
    found = forest.fit(X, y, np.full(2000, weight)).predict_proba(X + 0.1)
    np.testing.assert_array_equal(found, expected)


def test_rows_drawn_by_weight_keep_the_precision_of_their_targets():
    rng = np.random.default_rng(0)
    X = np.arange(500.0)[:, None]
    y = np.r_[np.arange(1, 500.0), 1e12]
    forest = RandomForestRegressor(1, random_state=0).fit(X, y, rng.uniform(0.5, 1.5, 500))
    seen = np.unique(forest.estimators_samples_[0])
    np.testing.assert_allclose(forest.predict(X[seen]), y[seen], rtol=1e-3)
