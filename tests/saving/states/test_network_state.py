"""Networks in half precision: the same predictions within 0.001, and half the space."""

import numpy as np
import pytest
from safetensors.numpy import load_file
from sklearn.datasets import load_breast_cancer, load_diabetes

import committee
from committee.learners.network import half_precision

CANCER, DIABETES = load_breast_cancer(return_X_y=True), load_diabetes(return_X_y=True)


def fitted(network_type):
    X, y = CANCER if network_type is committee.NetworkClassifier else DIABETES
    return network_type(n_estimators=2, max_steps=200, random_state=0).fit(X, y), X, y


@pytest.mark.parametrize("network_type", [committee.NetworkClassifier, committee.NetworkRegressor])
def test_rounded_networks_give_nearly_the_same_predictions_in_half_the_space(network_type, tmp_path):
    network, X, y = fitted(network_type)
    before = network._decide(X)
    rounded = half_precision(network, X)
    assert rounded is not network
    np.testing.assert_array_equal(network._decide(X), before)
    unit = 1.0 if network_type is committee.NetworkClassifier else y.std()
    change = np.abs(rounded._decide(X) - before).max()
    assert 0 < change <= 1e-3 * unit
    for name, model in (("whole", network), ("half", rounded)):
        model.save(tmp_path / name)
    sizes = [load_file(tmp_path / name)["parameters"].nbytes for name in ("whole", "half")]
    assert sizes[0] == 2 * sizes[1] == network.nbytes
    loaded = committee.load(tmp_path / "half")
    np.testing.assert_array_equal(loaded._decide(X), rounded._decide(X))
    assert loaded._network.parameters.dtype == np.float32
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "half").read_bytes()


def test_a_network_whose_predictions_would_change_stays_the_same():
    network, X, _ = fitted(committee.NetworkRegressor)
    # The outputs of the two networks nearly cancel, and numbers above 2048 are rounded to even ones.
    network._network.parameters[:, -1] += (2049.0, -2048.9)
    assert half_precision(network, X) is network
