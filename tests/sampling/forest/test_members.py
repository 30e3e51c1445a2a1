"""The trees of a forest, and forests from corrupt arrays."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from committee import ExtraTreesRegressor, RandomForestClassifier, _engine

X = np.array([[1.0, 5.0], [2.0, 5.0], [8.0, 6.0], [9.0, 6.0]] * 5)
Y = np.array([0, 0, 1, 1] * 5)


@pytest.mark.parametrize("ccp_alpha", [0.0, 0.01])
def test_the_text_of_a_member_has_no_weights_and_no_missing_values(ccp_alpha):
    forest = RandomForestClassifier(3, max_features=None, ccp_alpha=ccp_alpha, random_state=0).fit(X, Y)
    assert forest.estimators_[0].export_text() == "x0 <= 5: 0\nx0 > 5: 1"
    assert "nan" not in forest.estimators_[0].export_graph()


def test_the_text_of_a_member_shows_the_side_of_missing_values():
    missing = X.copy()
    missing[::4, 0] = np.nan
    forest = RandomForestClassifier(3, max_features=None, random_state=0).fit(missing[:, :1], Y)
    assert "or missing" in forest.estimators_[0].export_text()
    forest = RandomForestClassifier(3, warm_start=True, random_state=0).fit(X[:, :1], Y)
    assert "or missing" not in forest.estimators_[0].export_text()
    forest.set_params(n_estimators=4).fit(missing[:, :1], Y)
    assert "or missing" in forest.estimators_[3].export_text()


def test_a_member_has_the_attributes_of_a_fitted_tree():
    member = RandomForestClassifier(3, random_state=0).fit(X, Y).estimators_[0]
    assert (member.max_features_, member.n_outputs_, member.n_classes_) == (1, 1, 2)


FORESTS = [
    RandomForestClassifier(3, random_state=0),
    RandomForestClassifier(2, random_state=0, ccp_alpha=0.01, categorical_features=[0]),
    ExtraTreesRegressor(2, random_state=0),
]


def forest_arrays(forest):
    return _engine.forest_arrays(clone(forest).fit(X, Y)._forest)


@pytest.mark.parametrize("forest", FORESTS)
def test_arrays_of_other_objects_are_refused(forest):
    good = forest_arrays(forest)
    _engine.forest_from_arrays(good)
    for name, array in good.items():
        wrong_type = np.float32 if array.dtype != np.float32 else np.int8
        broken = [
            {key: good[key] for key in good if key != name},
            {**good, name: array.astype(wrong_type)},
            {**good, name: "text"},
            {**good, name: None},
        ]
        if len(array):
            broken.append({**good, name: array[:-1]})
        for arrays in broken:
            with pytest.raises(ValueError, match="forest"):
                _engine.forest_from_arrays(arrays)


@given(st.data())
def test_flipped_values_are_refused_or_harmless(data):
    forest = data.draw(st.sampled_from(FORESTS))
    arrays = forest_arrays(forest)
    name = data.draw(st.sampled_from(sorted(each for each in arrays if len(arrays[each]))))
    changed = arrays[name].copy()
    as_bytes = changed.view(np.uint8)
    place = data.draw(st.integers(0, len(as_bytes) - 1))
    as_bytes[place] ^= data.draw(st.integers(1, 255))
    try:
        engine_forest = _engine.forest_from_arrays({**arrays, name: changed})
        votes = engine_forest.votes([X[:, 0].copy(), X[:, 1].copy()], len(X), 1)
    except (ValueError, TypeError):
        return
    assert votes.shape[:2] == (engine_forest.n_trees, len(X))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("nodes", 2**64 - 1),
        ("node_offsets", 2**63),
        ("values", np.nan),
        ("cut_offsets", 2**40),
        ("n_bins", 2**32 - 1),
        ("n_outputs", 2**63),
    ],
)
def test_offsets_outside_of_the_arrays_are_refused(name, value):
    arrays = forest_arrays(FORESTS[0])
    changed = arrays[name].copy()
    changed[-1 if name == "cut_offsets" else 0] = value
    with pytest.raises(ValueError):
        _engine.forest_from_arrays({**arrays, name: changed})
