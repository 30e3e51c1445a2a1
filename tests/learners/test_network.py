"""Networks: gradients, predictions, seeds, order of rows, threads and early stopping."""

import pickle
import threading

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import committee
from committee import NetworkClassifier, NetworkRegressor, _engine
from committee.learners.network_training import N_ROUNDS, in_order
from committee.running.deadline import ended_after, stopped_by
from committee.running.progress import receiving
from committee.saving.states import network_state
from committee.table import read
from committee.table.network_inputs import Inputs, learn_inputs

NONE = np.empty(0)
BOTH = pytest.mark.parametrize("network_type", [NetworkClassifier, NetworkRegressor])


def training(X, y, hidden, n_classes, n_members=1, folds=None):
    """Return a training of the engine on all rows."""
    numbers = NONE if n_classes else y
    return _engine.NetworkTraining(
        X.astype(np.float32),
        (y if n_classes else NONE).astype(np.int32),
        numbers.astype(np.float32),
        np.linspace(0.5, 1.5, len(X), dtype=np.float32),
        np.full(len(X), -1, dtype=np.int32) if folds is None else folds,
        hidden,
        np.zeros(max(1, n_classes), dtype=np.float32),
        n_members,
        n_classes > 0,
        10,
        0.0,
        0.0,
        0,
    )


def noisy(n_rows=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    return X, X[:, 0] * X[:, 1] + 0.1 * rng.normal(size=n_rows)


@pytest.mark.parametrize("n_classes", [0, 3])
@pytest.mark.parametrize("hidden", [[], [5], [6, 4]])
def test_gradients_are_those_of_finite_differences(n_classes, hidden):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 4)).astype(np.float32)
    y = rng.integers(0, 3, 20) if n_classes else rng.normal(size=20)
    learnt = training(X, y, hidden, n_classes)
    learnt.advance(np.full(20, 0.05), 0.0, 1)
    weights = np.linspace(0.5, 1.5, 20, dtype=np.float32)

    def loss(parameters):
        votes = _engine.network_decision(X, parameters, hidden, max(1, n_classes), n_classes > 0, 1)
        each = -np.log(votes[np.arange(20), y]) if n_classes else 0.5 * (votes[:, 0] - y) ** 2
        return (weights * each).mean()

    found = learnt.gradient(0, np.arange(20, dtype=np.uint32))
    expected = []
    for i in range(len(found)):
        high, low = learnt.parameters(), learnt.parameters()
        high[0, i] += 0.01
        low[0, i] -= 0.01
        expected.append((loss(high) - loss(low)) / (high[0, i] - low[0, i]))
    np.testing.assert_allclose(found, expected, rtol=0.02, atol=1e-3)


def test_a_row_is_scored_by_the_network_that_holds_it_out():
    X, y = noisy(40)
    folds = (np.arange(40) % 2).astype(np.int32)
    learnt = training(X, y, [8], 0, n_members=2, folds=folds)
    learnt.advance(np.full(50, 0.05), 0.0, 1)
    votes = [
        _engine.network_decision(X.astype(np.float32), one[None], [8], 1, False, 1)[:, 0]
        for one in learnt.parameters()
    ]
    weights = np.linspace(0.5, 1.5, 40)
    errors = np.where(folds == 0, votes[0], votes[1]) - y
    assert learnt.held_out_loss(1) == pytest.approx(np.average(errors**2, weights=weights), rel=1e-5)


def test_it_learns_exclusive_or_and_a_sine():
    corners = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    classifier = NetworkClassifier(random_state=0).fit(corners, [0, 1, 1, 0])
    assert list(classifier.predict(corners)) == [0, 1, 1, 0]
    X = np.random.default_rng(0).uniform(-3, 3, size=(400, 1))
    regressor = NetworkRegressor(random_state=0).fit(X, np.sin(2 * X[:, 0]))
    points = np.linspace(-2.5, 2.5, 50)[:, None]
    assert np.abs(regressor.predict(points) - np.sin(2 * points[:, 0])).max() < 0.15


def test_networks_learn_from_categories_and_missing_values():
    rng = np.random.default_rng(0)
    city = rng.choice(["Bonn", "Oslo", "Rome"], 400)
    size = np.where(rng.random(400) < 0.3, np.nan, rng.normal(size=400))
    y = 2.0 * (city == "Oslo") - 3.0 * np.isnan(size)
    frame = pd.DataFrame({"city": pd.Categorical(city), "size": size})
    assert NetworkRegressor(random_state=0).fit(frame, y).score(frame, y) > 0.99


def test_predictions_stay_in_the_range_of_the_training_targets():
    X, y = noisy()
    predictions = NetworkRegressor(random_state=0, max_steps=50).fit(X, y).predict(100 * X)
    assert y.min() <= predictions.min() <= predictions.max() <= y.max()


@BOTH
def test_the_seed_decides_and_threads_do_not(network_type):
    X, number = noisy()
    y = number > 0
    made = network_type(max_steps=60)
    predictions = [
        clone(made).set_params(random_state=seed, n_jobs=n_jobs).fit(X, y).predict(X).tobytes()
        for seed, n_jobs in ((0, 1), (0, 3), (1, 1))
    ]
    assert predictions[0] == predictions[1]
    if network_type is NetworkRegressor:
        assert predictions[0] != predictions[2]


@BOTH
def test_saving_and_pickling_change_no_bit(network_type, tmp_path):
    X, number = noisy()
    X[::7, 1] = np.nan
    fitted = network_type(max_steps=60, random_state=0).fit(X, number > 0)
    fitted.save(tmp_path / "network.committee")
    expected = fitted._decide(X)
    for same in (committee.load(tmp_path / "network.committee"), pickle.loads(pickle.dumps(fitted))):
        np.testing.assert_array_equal(same._decide(X), expected)
        assert same.n_steps_ == fitted.n_steps_
        np.testing.assert_array_equal(same.loss_curve_, fitted.loss_curve_)
    assert fitted.nbytes == 4 * fitted._network.parameters.size


def test_integer_weights_repeat_rows_and_others_are_kept():
    table, y = read([[1.0, None], [2.0, 3.0], [1.0, 5.0]]), np.array([0, 1, 0])
    counted, _, ones = in_order(table, y, np.array([3.0, 1.0, 0.0]))
    assert sorted(counted.columns[0]) == [1.0, 1.0, 1.0, 2.0]
    assert len(set(ones)) == 1
    weighed, _, weights = in_order(table, y, np.array([3.5, 7.0, 0.0]))
    assert dict(zip(weighed.columns[0], weights / weights.max(), strict=True)) == {1.0: 0.5, 2.0: 1.0}


def test_a_constant_column_has_no_inputs():
    table = read([[1.0, None, 2.0], [1.0, None, 3.0]])
    inputs = learn_inputs(table, np.ones(2), 8)
    assert inputs.n_inputs == 1
    np.testing.assert_allclose(inputs.encode(table), [[-0.949], [0.949]], rtol=1e-3)


def test_infinite_and_unseen_numbers_stay_in_bounds():
    table = read([[0.0], [1.0], [2.0], [5.0]])
    inputs = learn_inputs(table, np.ones(4), 2)
    far = inputs.encode(read([[1e300], [-1e300], [np.inf], [np.nan]]))
    assert np.abs(far).max() <= 3.0


def test_it_stops_when_the_time_is_up():
    X, y = noisy(3000)
    with ended_after(0.05):
        fitted = NetworkRegressor(max_steps=10**6, random_state=0).fit(X, y)
    assert 0 < fitted.n_steps_ < 10**6


def test_another_thread_can_stop_the_fit_which_leaves_the_estimator_unchanged():
    X, y = noisy(3000)
    event = threading.Event()
    event.set()
    fitted = NetworkRegressor(max_steps=10, random_state=0).fit(X, y)
    expected = fitted.predict(X)
    with stopped_by(event), pytest.raises(KeyboardInterrupt):
        fitted.set_params(max_steps=10**6).fit(X, y)
    np.testing.assert_array_equal(fitted.predict(X), expected)


def test_the_fit_reports_its_progress():
    X, y = noisy()
    events = []
    with receiving(events.append):
        NetworkRegressor(max_steps=60, random_state=0).fit(X, y)
    assert events[0].what == "rounds"
    assert events[0].n_total == N_ROUNDS
    assert events[-1].is_over
    assert events[-1].score < 0


@BOTH
def test_rows_are_encoded_and_decided_in_blocks(network_type, monkeypatch):
    X, y = noisy(200)
    target = y > 0 if network_type is NetworkClassifier else y
    network = network_type(hidden_layer_sizes=(8,), max_steps=20, random_state=0).fit(X, target)
    together = network._decide(X)
    sizes = []
    encode = Inputs.encode
    monkeypatch.setattr(
        Inputs,
        "encode",
        lambda self, table, n_threads: sizes.append(table.n_rows) or encode(self, table, n_threads),
    )
    monkeypatch.setattr(network_state, "NUMBERS_AT_ONCE", 64 * network._network.inputs.n_inputs)
    monkeypatch.setattr(network_state, "LEAST_AT_ONCE", 1)
    np.testing.assert_array_equal(network._decide(X), together)
    assert sizes == [64, 64, 64, 8]


def test_the_preparation_of_rows_can_be_stopped():
    X, y = noisy()
    table, event = read(X), threading.Event()
    event.set()
    with stopped_by(event):
        for prepare in (
            lambda: learn_inputs(table, np.ones(len(X)), 4),
            lambda: in_order(table, y, None),
        ):
            with pytest.raises(KeyboardInterrupt, match="from another thread"):
                prepare()


def test_a_single_network_trains_on_all_rows_and_takes_all_steps():
    X, y = noisy()
    fitted = NetworkRegressor(n_estimators=1, max_steps=45, random_state=0).fit(X, y)
    assert fitted.n_steps_ == 45
    assert len(fitted.loss_curve_) == 0


@pytest.mark.parametrize(
    "parameters, message",
    [
        ({"hidden_layer_sizes": 100}, "must be a tuple of integers from 1 to 65536. Got 100."),
        ({"hidden_layer_sizes": (0,)}, r"must be a tuple of integers from 1 to 65536. Got \(0,\)."),
        ({"dropout": 1.0}, r"dropout must be a number in \[0, 1\). Got 1.0."),
        ({"learning_rate": 0}, "learning_rate must be a number > 0. Got 0."),
        ({"batch_size": "small"}, "batch_size must be an integer >= 1 or \"auto\". Got 'small'."),
        ({"max_steps": 0}, 'max_steps must be an integer >= 1 or "auto". Got 0.'),
    ],
)
def test_bad_parameters_raise(parameters, message):
    with pytest.raises(ValueError, match=message):
        NetworkClassifier(**parameters).fit([[1.0], [2.0]], [0, 1])


def test_a_binned_table_raises():
    with pytest.raises(TypeError):
        NetworkRegressor().fit(committee.table.bin_table([[1.0], [2.0]]), [1.0, 2.0])
