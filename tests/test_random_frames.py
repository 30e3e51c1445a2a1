"""On random frames, a fit raises a one-line error or gives a model with finite predictions."""

import numpy as np
import pandas as pd
import pytest
from every_estimator import COMMITTEES, ESTIMATORS, EXPERTS, name_of
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.base import clone, is_classifier

numbers = st.floats(allow_nan=True, allow_infinity=True) | st.integers(-3, 3).map(float)
words = st.sampled_from(["", "a", "b", "Oslo", "ß", None])
mixed = numbers | words | st.booleans() | st.integers(-(10**20), 10**20) | st.dates()


@st.composite
def frames(draw):
    """Draw a frame of up to four columns of different types."""
    n_rows = draw(st.integers(1, 12))
    columns = {}
    for position in range(draw(st.integers(1, 4))):
        kind = draw(st.sampled_from([numbers, words, st.booleans(), st.integers(-5, 5), st.dates(), mixed]))
        values = pd.Series(draw(st.lists(kind, min_size=n_rows, max_size=n_rows)))
        columns[f"column {position}"] = values.astype("category") if draw(st.booleans()) else values
    return pd.DataFrame(columns)


@st.composite
def problems(draw):
    """Draw a frame, a target and weights."""
    X = draw(frames())
    targets = draw(
        st.sampled_from([st.integers(0, 2), st.floats(-1e308, 1e308), st.booleans(), words, mixed])
    )
    y = pd.Series(draw(st.lists(targets, min_size=len(X), max_size=len(X))))
    row_weights = st.integers(0, 3) | st.floats(0, 1e9)
    weights = draw(st.none() | st.lists(row_weights, min_size=len(X), max_size=len(X)))
    return X, y, weights


@pytest.mark.parametrize("estimator", ESTIMATORS + EXPERTS, ids=name_of)
@pytest.mark.filterwarnings("ignore")
@settings(max_examples=40)
@given(problem=problems())
def test_a_fit_works_or_raises_a_one_line_error(estimator, problem):
    check_fit(estimator, *problem)


# Committees are slow, because their fit consists of many fits.
@pytest.mark.parametrize("estimator", COMMITTEES, ids=name_of)
@pytest.mark.filterwarnings("ignore")
@settings(max_examples=8)
@example(problem=(pd.DataFrame({"constant": [1.0] * 4}), pd.Series([0, 1, 0, 1]), None))
@given(problem=problems())
def test_a_fit_of_a_committee_works_or_raises_a_one_line_error(estimator, problem):
    check_fit(estimator, *problem)


def check_fit(estimator, X, y, weights):
    model = clone(estimator)
    try:
        model.fit(X, y, sample_weight=weights)
    except (ValueError, TypeError) as error:
        assert str(error).strip()
        assert "\n" not in str(error).strip()
        return
    if is_classifier(model):
        votes = model.predict_proba(X)
        np.testing.assert_allclose(votes.sum(axis=1), 1, rtol=1e-9)
    else:
        votes = model.predict(X)
    assert np.isfinite(votes).all()
    assert len(model.predict(X)) == len(X)
