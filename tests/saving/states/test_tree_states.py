"""Packed trees of saved files: same bits, small, and without weights if an earlier version wrote them."""

from pathlib import Path

import numpy as np
import pytest
from every_estimator import ALL_ESTIMATORS, name_of
from model_hashes import tables
from safetensors.numpy import load_file
from sklearn.base import clone, is_classifier

import committee
from committee import _engine

ENGINE_TREES = (_engine.Forest, _engine.C45Forest, _engine.RotationForest, _engine.C45Tree)
OLD_MODELS = Path(__file__).parents[2] / "saved_models" / "version_1"
TREES = [
    each
    for each in ALL_ESTIMATORS
    if name_of(each).startswith(("Ada", "Bagging", "C45", "Dec", "Extra", "Gr", "Logit", "Random", "Rot"))
]


def arrays_of(trees):
    """Return the flat arrays of trees, which contain everything that the engine knows about them."""
    return _engine.forest_arrays(trees) if isinstance(trees, _engine.Forest) else trees.arrays()


def trees_in(model):
    return {name: each for name, each in vars(model).items() if isinstance(each, ENGINE_TREES)}


@pytest.mark.parametrize("table", ["mixed", "weighted"])
@pytest.mark.parametrize("estimator", TREES, ids=name_of)
def test_every_array_of_the_trees_is_loaded_as_it_was_saved(estimator, table, tmp_path):
    X, classes, numbers, weights = tables()[table]
    model = clone(estimator).fit(X, classes if is_classifier(estimator) else numbers, sample_weight=weights)
    model.save(tmp_path / "model")
    loaded = committee.load(tmp_path / "model")
    assert trees_in(model)
    for name, trees in trees_in(model).items():
        expected, found = arrays_of(trees), arrays_of(vars(loaded)[name])
        assert expected.keys() == found.keys()
        for array in expected:
            assert expected[array].dtype == found[array].dtype
            assert expected[array].tobytes() == found[array].tobytes()


@pytest.mark.parametrize("path", sorted(OLD_MODELS.glob("*Tree*.committee")), ids=lambda path: path.stem)
def test_trees_of_format_1_have_no_weights(path, tmp_path):
    model = committee.load(path)
    with pytest.raises(ValueError, match=r"has no training weights.*Fit the model again"):
        model._forest.node_weights(0)
    model.save(tmp_path / "again")
    with pytest.raises(ValueError, match="has no training weights"):
        committee.load(tmp_path / "again")._forest.node_weights(0)
    assert committee.verify(path).format_version == 1
    assert committee.verify(tmp_path / "again").format_version == 2


def test_a_node_of_a_full_tree_takes_less_than_half_of_its_word(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 200, (2000, 6)).astype(float)
    forest = committee.RandomForestClassifier(20, random_state=0).fit(X, rng.integers(0, 2, 2000))
    forest.save(tmp_path / "forest")
    words = _engine.forest_arrays(forest._forest)["nodes"]
    assert load_file(tmp_path / "forest")["forest"].nbytes < 0.5 * words.nbytes
