"""Values that a runner shares with its tasks."""

import gc

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import runner_tasks

from committee import RandomForestClassifier
from committee.running import runner, shared_values
from committee.table import bin_table


@pytest.mark.parametrize("wrap", [lambda h: h, lambda h: [h], lambda h: {"a": (1, [h])}])
def test_a_handle_becomes_its_value_at_any_depth(run, wrap):
    value = np.arange(5)
    result = run.submit(runner_tasks.give_back, wrap(run.put(value))).result()
    assert repr(result) == repr(wrap(value))


def test_a_shared_value_may_contain_a_handle(run):
    shared = run.put({"table": run.put(np.arange(3.0)), "names": ["a"]})
    gc.collect()
    assert run.submit(runner_tasks.give_back, shared).result()["table"].tolist() == [0.0, 1.0, 2.0]


@pytest.mark.parametrize(
    "value",
    [
        np.arange(6.0).reshape(2, 3),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.array(["a", None, 3], dtype=object),
        np.zeros((0, 3)),
        pd.DataFrame({"age": [31, 54], "city": pd.Categorical(["Ulm", "Bern"]), "name": ["Ann", "Bo"]}),
        pl.DataFrame({"age": [31, None], "city": ["Ulm", "Bern"]}, schema_overrides={"city": pl.Categorical}),
        pa.table({"age": [31, None], "city": ["Ulm", "Bern"]}),
        {"rows": [1, 2], "nothing": None},
    ],
    ids=lambda value: type(value).__name__,
)
def test_any_table_can_be_shared(run, value):
    result = run.submit(runner_tasks.give_back, run.put(value)).result()
    assert type(result) is type(value)
    assert repr(result) == repr(value)


def test_a_binned_table_can_be_shared(run):
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"a": rng.normal(size=400), "b": pd.Categorical(rng.choice(["x", "y", None], 400))})
    y = rng.integers(0, 2, 400)
    forest = RandomForestClassifier(n_estimators=3, random_state=0)
    shared = run.put(bin_table(X))
    votes = run.submit(runner_tasks.fit_and_vote, forest, shared, y, X).result()
    np.testing.assert_array_equal(votes, runner_tasks.fit_and_vote(forest, bin_table(X), y, X))


def test_shared_arrays_are_read_only(run):
    numbers = np.arange(3.0)
    with pytest.raises(ValueError, match=r"'overwrite', failed.*read-only"):
        run.submit(runner_tasks.overwrite, run.put(numbers)).result()
    numbers[0] = 5.0


def test_a_shared_array_is_mapped_and_not_copied(remote):
    array = np.ones((1000, 100))
    shared = remote.put(array)
    assert remote.submit(runner_tasks.memory_of, shared).result() == ("mmap", False, False, 100_000.0)
    assert remote.submit(runner_tasks.memory_of, array).result() == ("bytearray", False, True, 100_000.0)


def test_reading_a_shared_array_allocates_no_memory(remote):
    assert remote.submit(runner_tasks.megabytes_to_read, remote.put(np.ones(8_000_000))).result() < 8
    assert remote.submit(runner_tasks.megabytes_to_read, np.ones(10)).result() < 8


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame(np.ones((100_000, 4))),
        pl.DataFrame(np.ones((100_000, 4))),
        pa.table({"a": np.ones(100_000)}),
    ],
    ids=lambda frame: type(frame).__module__.split(".")[0],
)
def test_the_columns_of_a_frame_are_mapped(remote, frame):
    # The pickle itself is small, because all numbers are next to it.
    assert remote.put(frame).spans[0][1] < 4000


def test_a_shared_value_is_opened_once_for_each_worker(remote):
    shared = remote.put({"numbers": np.arange(3)})
    seen = remote.gather([remote.submit(runner_tasks.identity, shared) for _ in range(20)])
    assert len(set(seen)) <= remote.n_workers


def test_a_shared_value_exists_as_long_as_a_task_needs_it(parallel, tmp_path):
    n_workers = parallel.n_workers
    blocked = [parallel.submit(runner_tasks.wait_for, tmp_path / "go") for _ in range(n_workers)]
    waiting = parallel.submit(runner_tasks.memory_of, parallel.put(np.ones(4)))
    gc.collect()
    (tmp_path / "go").touch()
    assert waiting.result()[-1] == 4.0
    parallel.gather(blocked)


def test_a_handle_of_a_closed_runner_is_refused_in_one_line(remote):
    with runner("processes", n_workers=1) as other:
        shared = other.put(np.ones(3))
    with pytest.raises(ValueError, match=r"'give_back', cannot be sent.*Put it into a runner that is open.$"):
        remote.submit(runner_tasks.give_back, shared)


def test_handles_work_in_another_runner(open_runners, run):
    for other in open_runners.values():
        assert run.submit(runner_tasks.give_back, other.put([1, 2])).result() == [1, 2]


def test_without_shared_memory_files_are_in_the_temporary_folder(remote, tmp_path, monkeypatch):
    monkeypatch.setattr(shared_values, "SHARED_MEMORY", tmp_path / "nothing")
    assert remote.submit(runner_tasks.give_back, remote.put([1, 2])).result() == [1, 2]


def test_a_full_disk_is_reported_in_one_line(remote, tmp_path, monkeypatch):
    monkeypatch.setattr(shared_values, "SHARED_MEMORY", tmp_path / "nothing")
    monkeypatch.setattr(shared_values.tempfile, "tempdir", str(tmp_path / "gone"))
    with pytest.raises(OSError, match=r"1 MB to share with the workers do not fit in .*gone: .* set TMPDIR"):
        remote.put(np.ones(100_000))
