"""The contract of all runners: where a task runs changes nothing but the time."""

import copy
import gc
import json
import os
import pickle
import signal
import threading
import time
import weakref

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import work
from committee import GradientBoostingClassifier, RandomForestClassifier
from committee.running import Runner, TaskError, WorkerDiedError, n_threads, receiving, runner, threads
from committee.running.progress import within
from committee.table import bin_table

# A runner that comes later joins the contract by its line here.
RUNNERS = {
    "serial": lambda: runner("serial"),
    "threads": lambda: runner("threads", n_workers=2),
    "processes": lambda: runner("processes", n_workers=2),
}
PARALLEL = [name for name in RUNNERS if name != "serial"]
IN_OTHER_PROCESSES = [name for name in RUNNERS if name not in ("serial", "threads")]


@pytest.fixture(scope="module")
def open_runners():
    """One runner of each kind for all tests that leave it as it was."""
    cores, threads.usable_cores = threads.usable_cores, lambda: 4
    runners = {name: make() for name, make in RUNNERS.items()}
    yield runners
    for each in runners.values():
        each.close()
    threads.usable_cores = cores


@pytest.fixture(params=RUNNERS)
def run(request, open_runners):
    return open_runners[request.param]


@pytest.fixture(params=PARALLEL)
def parallel(request, open_runners):
    return open_runners[request.param]


@pytest.fixture(params=IN_OTHER_PROCESSES)
def remote(request, open_runners):
    return open_runners[request.param]


@pytest.fixture(params=RUNNERS)
def fresh(request, monkeypatch):
    """A runner for a test that closes it."""
    monkeypatch.setattr(threads, "usable_cores", lambda: 4)
    with RUNNERS[request.param]() as own:
        yield own


# Results


def test_results_come_in_the_order_of_the_tasks(run):
    assert run.gather([run.submit(work.doubled, i) for i in range(20)]) == list(range(0, 40, 2))


def test_no_task_is_no_result(run):
    assert run.gather([]) == []
    assert list(run.as_completed([])) == []


def test_every_task_comes_back_once(run):
    tasks = [run.submit(work.doubled, i) for i in range(7)]
    assert sorted(task.result() for task in run.as_completed(tasks)) == list(range(0, 14, 2))
    assert sorted(task.result() for task in run.as_completed(tasks)) == list(range(0, 14, 2))


def test_tasks_that_end_first_come_first(parallel, tmp_path):
    slow = parallel.submit(work.wait_for, tmp_path / "go", name="slow")
    quick = parallel.submit(work.wait_then_touch, __file__, tmp_path / "go", name="quick")
    assert [task.name for task in parallel.as_completed([slow, quick])] == ["quick", "slow"]
    assert [task.name for task in parallel.as_completed([slow, quick])] == ["quick", "slow"]


def test_tasks_run_side_by_side(parallel, tmp_path):
    # Each waits for what only the other can do.
    first = parallel.submit(work.wait_then_touch, tmp_path / "a", tmp_path / "b")
    second = parallel.submit(work.wait_then_touch, __file__, tmp_path / "a")
    assert parallel.gather([first, second]) == [str(tmp_path / "b"), str(tmp_path / "a")]


def test_a_task_knows_its_name_and_its_index(run):
    first, second = run.submit(work.doubled, 1), run.submit(work.doubled, 1, name="member 3")
    assert (first.name, second.name, second.index - first.index) == ("doubled", "member 3", 1)


def test_large_results_come_back_whole_and_may_be_changed(run):
    votes = np.random.default_rng(0).random((3, 100_000, 2))
    result = run.submit(work.give_back, {"votes": votes, "order": np.asfortranarray(votes)}).result()
    np.testing.assert_array_equal(result["votes"], votes)
    np.testing.assert_array_equal(result["order"], votes)
    result["votes"] += 1.0


def test_keyword_arguments_reach_the_function(run):
    assert run.submit(sorted, [1, 3, 2], reverse=True, name="sorting").result() == [3, 2, 1]


@pytest.mark.parametrize(
    "estimator",
    [
        RandomForestClassifier(n_estimators=5, random_state=3),
        GradientBoostingClassifier(n_estimators=5, random_state=3),
        LogisticRegression(),
        DecisionTreeClassifier(random_state=3),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_fits_give_the_same_bits_on_every_runner(open_runners, estimator):
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(120, 4)), np.arange(120) % 3
    folds = [np.flatnonzero(np.arange(120) % 4 != fold) for fold in range(4)]
    here = [work.fold_votes(estimator, (X, y), rows) for rows in folds]
    for each in open_runners.values():
        shared = each.put((X, y))
        tasks = [each.submit(work.fold_votes, estimator, shared, rows) for rows in folds]
        for votes, expected in zip(each.gather(tasks), here, strict=True):
            np.testing.assert_array_equal(votes, expected)


# Shared values


@pytest.mark.parametrize("wrap", [lambda h: h, lambda h: [h], lambda h: {"a": (1, [h])}])
def test_a_handle_becomes_its_value_at_any_depth(run, wrap):
    value = np.arange(5)
    result = run.submit(work.give_back, wrap(run.put(value))).result()
    assert repr(result) == repr(wrap(value))


def test_a_handle_may_lie_in_a_value_that_is_shared(run):
    shared = run.put({"table": run.put(np.arange(3.0)), "names": ["a"]})
    gc.collect()
    assert run.submit(work.give_back, shared).result()["table"].tolist() == [0.0, 1.0, 2.0]


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
    result = run.submit(work.give_back, run.put(value)).result()
    assert type(result) is type(value)
    assert repr(result) == repr(value)


def test_a_binned_table_can_be_shared(run):
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"a": rng.normal(size=400), "b": pd.Categorical(rng.choice(["x", "y", None], 400))})
    y = rng.integers(0, 2, 400)
    forest = RandomForestClassifier(n_estimators=3, random_state=0)
    shared = run.put(bin_table(X))
    votes = run.submit(work.fit_and_vote, forest, shared, y, X).result()
    np.testing.assert_array_equal(votes, work.fit_and_vote(forest, bin_table(X), y, X))


def test_shared_arrays_are_not_to_be_written(run):
    numbers = np.arange(3.0)
    with pytest.raises(ValueError, match=r"'overwrite', failed.*read-only"):
        run.submit(work.overwrite, run.put(numbers)).result()
    numbers[0] = 5.0


def test_a_shared_array_is_mapped_and_not_copied(remote):
    array = np.ones((1000, 100))
    shared = remote.put(array)
    assert remote.submit(work.memory_of, shared).result() == ("mmap", False, False, 100_000.0)
    assert remote.submit(work.memory_of, array).result() == ("bytearray", False, True, 100_000.0)


def test_reading_a_shared_array_takes_no_memory_of_the_worker(remote):
    assert remote.submit(work.megabytes_to_read, remote.put(np.ones(8_000_000))).result() < 8
    assert remote.submit(work.megabytes_to_read, np.ones(10)).result() < 8


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
    assert remote.put(frame).spans[0][1] < 4000  # The pickle itself is small: all numbers lie beside it.


def test_a_shared_value_is_opened_once_for_each_worker(remote):
    shared = remote.put({"numbers": np.arange(3)})
    seen = remote.gather([remote.submit(work.identity, shared) for _ in range(20)])
    assert len(set(seen)) <= remote.n_workers


def test_a_shared_value_lives_as_long_as_a_task_needs_it(parallel, tmp_path):
    n_workers = parallel.n_workers
    blocked = [parallel.submit(work.wait_for, tmp_path / "go") for _ in range(n_workers)]
    waiting = parallel.submit(work.memory_of, parallel.put(np.ones(4)))
    gc.collect()
    (tmp_path / "go").touch()
    assert waiting.result()[-1] == 4.0
    parallel.gather(blocked)


def test_a_handle_of_a_closed_runner_is_refused_in_one_line(remote):
    with runner("processes", n_workers=1) as other:
        shared = other.put(np.ones(3))
    with pytest.raises(ValueError, match=r"'give_back', cannot be sent.*shared until its runner is closed"):
        remote.submit(work.give_back, shared)


def test_handles_work_in_another_runner(open_runners, run):
    for other in open_runners.values():
        assert run.submit(work.give_back, other.put([1, 2])).result() == [1, 2]


def test_files_lie_in_the_folder_for_temporary_files_where_shared_memory_is_short(
    remote, tmp_path, monkeypatch
):
    from committee.running import sharing

    monkeypatch.setattr(sharing, "SHARED_MEMORY", tmp_path / "nothing")
    assert remote.submit(work.give_back, remote.put([1, 2])).result() == [1, 2]


def test_a_full_disk_is_told_in_one_line(remote, tmp_path, monkeypatch):
    from committee.running import sharing

    monkeypatch.setattr(sharing, "SHARED_MEMORY", tmp_path / "nothing")
    monkeypatch.setattr(sharing.tempfile, "tempdir", str(tmp_path / "gone"))
    with pytest.raises(
        OSError, match=r"1 MB to share with the workers found no place in .*gone: .* set TMPDIR"
    ):
        remote.put(np.ones(100_000))


# Failures


def test_an_error_comes_back_with_the_task_and_its_type(run):
    task = run.submit(work.fail, "one class only", name="member 3 (LogisticRegression), fold 2")
    with pytest.raises(ValueError, match="one class only") as caught:
        task.result()
    assert str(caught.value) == (
        f"Task {task.index}, 'member 3 (LogisticRegression), fold 2', failed. ValueError: one class only"
    )
    assert isinstance(caught.value, TaskError)
    assert type(caught.value.__cause__) is ValueError
    assert str(caught.value.__cause__) == "one class only"


def test_gather_raises_what_failed(run):
    with pytest.raises(ValueError, match="'bad', failed"):
        run.gather([run.submit(work.doubled, 1), run.submit(work.fail, "no", name="bad")])


def test_a_failure_hurts_no_other_task(run):
    tasks = [run.submit(work.fail, "no"), run.submit(work.doubled, 1)]
    assert [task.exception() is None for task in tasks] == [False, True]


@pytest.mark.parametrize(
    "error",
    [
        FileNotFoundError(2, "No such file", "votes.csv"),
        KeyError("city"),
        UnicodeDecodeError("utf-8", b"?", 0, 1, "invalid"),
        NotFittedError("Call fit first."),
        np.linalg.LinAlgError("Singular matrix"),
        json.JSONDecodeError("Expecting value", "?", 0),
        StopIteration(),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_of_any_type_can_be_caught_by_their_type(run, error):
    with pytest.raises(type(error)) as caught:
        run.submit(work.throw, error).result()
    told = f": {error}" if str(error) else "."
    assert str(caught.value).endswith(f"'throw', failed. {type(error).__name__}{told}")
    assert type(caught.value.__cause__) is type(error)


def test_an_error_of_many_is_told(run):
    with pytest.raises(TaskError, match="ExceptionGroup: two"):
        run.submit(work.throw, ExceptionGroup("two", [ValueError(1), ValueError(2)])).result()


def test_an_error_of_a_strange_type_is_told(run):
    with pytest.raises(TaskError, match=r"'fail_oddly', failed. OddError: this and that"):
        run.submit(work.fail_oddly).result()


def test_a_task_that_leaves_the_interpreter_fails(run):
    with pytest.raises(TaskError, match=r"'leave', failed. SystemExit: 3"):
        run.submit(work.leave).result()


def test_the_error_of_another_process_tells_where(remote):
    with pytest.raises(ValueError) as caught:
        remote.submit(work.fail, "no").result()
    assert "work.py" in caught.value.__cause__.__notes__[0]


def test_task_errors_can_be_pickled(run):
    error = run.submit(work.fail, "no", name="bad").exception()
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), type(again), str(again.__cause__)) == (str(error), type(error), "no")


def test_a_task_that_cannot_be_sent_is_named_at_once(remote):
    cannot = r"'member 3', cannot be sent to another process: cannot pickle 'TextIOWrapper' object"
    with open(os.devnull) as file, pytest.raises(TypeError, match=cannot):
        remote.submit(work.give_back, file, name="member 3")
    with pytest.raises(TypeError, match=r"cannot be shared with other processes: cannot pickle"):
        remote.put(threading.Lock())


def test_a_result_that_cannot_be_sent_is_named(remote):
    with pytest.raises(TaskError, match=r"'open_file', failed.*What it returns cannot be sent back"):
        remote.submit(work.open_file).result()


def test_functions_without_a_name_can_be_sent(run):
    factor = 3
    assert run.submit(lambda value: factor * value, 5).result() == 15


def test_a_closed_runner_is_told_in_one_line(fresh):
    task = fresh.submit(work.doubled, 2)
    assert task.result() == 4
    fresh.close()
    fresh.close()
    for use in (lambda: fresh.submit(work.doubled, 1), lambda: fresh.put(1), fresh.__enter__):
        with pytest.raises(RuntimeError, match=r"The runner is closed\. Make another"):
            use()
    assert task.result() == 4


def test_closing_ends_what_has_not_ended(fresh, tmp_path):
    tasks = [fresh.submit(work.wait_for, tmp_path / "never") for _ in range(5)]
    began = time.monotonic()
    fresh.close()
    assert time.monotonic() - began < 5
    for task in tasks:
        with pytest.raises(TaskError, match=r"did not (run|end): its runner was closed"):
            task.result()


def test_a_runner_of_another_process_is_refused(run, monkeypatch):
    monkeypatch.setattr(os, "getpid", lambda: -1)
    with pytest.raises(RuntimeError, match="belongs to another process"):
        run.submit(work.doubled, 1)


def test_a_task_does_not_wait_for_its_own_runner():
    with runner("threads", n_workers=1) as run:
        task = run.submit(lambda: run.submit(work.doubled, 1).result())
        with pytest.raises(RuntimeError, match="Make a runner inside the task"):
            task.result()


# Workers that die


@pytest.mark.parametrize(
    ("function", "args", "how"),
    [
        (work.die, (), "killed by SIGKILL, as the system does when memory runs out"),
        (work.die, (signal.SIGSEGV,), "killed by SIGSEGV"),
        (os._exit, (3,), "exit code 3"),
        (work.fork_and_die, (), "killed by SIGKILL, as the system does when memory runs out"),
    ],
)
def test_a_task_that_kills_its_worker_is_named(remote, function, args, how):
    task = remote.submit(function, *args, name="member 3")
    with pytest.raises(WorkerDiedError) as caught:
        task.result()
    assert str(caught.value) == (
        f"Task {task.index}, 'member 3', died with its process, and again when it was retried: {how}."
    )


def test_a_worker_that_dies_is_retried(remote, tmp_path):
    assert remote.submit(work.die_once, tmp_path).result() == 2


def test_a_worker_that_dies_between_tasks_is_replaced(remote):
    for _ in range(2):
        process, _ = remote.submit(work.place).result()
        os.kill(process, signal.SIGKILL)
        assert remote.submit(work.doubled, 4).result() == 8


def test_a_death_hurts_no_other_task(remote, tmp_path):
    slow = remote.submit(work.wait_for, tmp_path / "go")
    deadly = remote.submit(work.die)
    waiting = [remote.submit(work.record, tmp_path / "log", str(i)) for i in range(5)]
    assert isinstance(deadly.exception(), WorkerDiedError)
    assert remote.gather(waiting) == list("01234")
    (tmp_path / "go").touch()
    assert slow.result() == str(tmp_path / "go")
    assert sorted((tmp_path / "log").read_text().split()) == list("01234")


# Threads


def test_workers_times_threads_are_no_more_than_the_cores(open_runners):
    for name, each in open_runners.items():
        assert (each.n_workers, each.threads_per_worker) == ((1, 4) if name == "serial" else (2, 2))


@pytest.mark.parametrize("n_workers", [None, -1, 1, 2, 3, 64])
def test_more_workers_than_cores_are_not_made(monkeypatch, n_workers):
    monkeypatch.setattr(threads, "usable_cores", lambda: 4)
    for kind in ("threads", "processes"):
        with runner(kind, n_workers=n_workers) as run:
            assert run.n_workers * run.threads_per_worker <= 4


def test_whatever_takes_threads_in_a_task_takes_its_share(parallel):
    asked, of_libraries, of_joblib, most_of_joblib = parallel.submit(work.told_threads).result()
    assert asked == {None: 2, -1: 2, 1: 1, 64: 2}
    assert max(of_libraries, of_joblib, most_of_joblib) <= 2


def test_the_caller_gets_its_threads_back(monkeypatch):
    monkeypatch.setattr(threads, "usable_cores", lambda: 2)
    before = work.told_threads()
    with runner("threads", n_workers=2) as run:
        for _ in range(3):
            assert run.submit(work.told_threads).result()[1:] == (1, 1, 1)
    assert work.told_threads() == before
    assert n_threads(64) == 64


@pytest.mark.parametrize("kind", ["serial", "threads", "processes"])
def test_a_runner_in_a_task_has_the_cores_of_the_task(parallel, kind):
    n_workers, threads_per_worker, inside = parallel.submit(work.workers_inside, kind).result()
    assert n_workers * threads_per_worker <= 2
    assert inside <= threads_per_worker


# The surroundings of the caller


def test_context_variables_of_the_caller_are_seen_in_its_process(open_runners):
    token = work.told.set("something")
    tasks = [open_runners[name].submit(work.context) for name in ("serial", "threads")]
    work.told.reset(token)
    assert [task.result() for task in tasks] == ["something", "something"]


def test_the_configuration_of_scikit_learn_is_seen(run):
    with sklearn.config_context(assume_finite=True, enable_metadata_routing=True):
        config = run.submit(sklearn.get_config).result()
    assert (config["assume_finite"], config["enable_metadata_routing"]) == (True, True)
    assert run.submit(sklearn.get_config).result() == sklearn.get_config()


def test_warnings_are_errors_where_the_caller_says_so(run):
    with pytest.raises(UserWarning, match="It is late"):
        run.submit(work.warn).result()


def test_warnings_are_ignored_where_the_caller_says_so(run):
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert run.submit(work.warn).result() == "no error"


def test_what_a_task_tells_of_its_progress_reaches_the_caller(run):
    events = []
    with receiving(events.append), within("the committee"):
        tasks = [run.submit(work.work, name=f"member {i}") for i in range(2)]
    run.gather(tasks)
    for i in range(2):
        told = [event for event in events if event.within == ("the committee", f"member {i}")]
        assert [event.n_done for event in told] == [0, 1, 2, 2]
        assert (told[-1].what, told[-1].name, told[-1].is_over) == ("rounds", "Work", True)


def test_a_receiver_may_end_a_task(run):
    def refuse(event):
        raise ValueError("Enough.")

    with receiving(refuse):
        task = run.submit(work.work, name="member 3")
    with pytest.raises(ValueError, match=r"'member 3', failed. ValueError: Enough"):
        task.result()
    assert run.submit(work.doubled, 1).result() == 2


# The runner as a thing


def test_a_runner_is_used_as_it_is_and_left_open(run):
    with runner(run) as lent:
        assert (lent.n_workers, lent.threads_per_worker) == (run.n_workers, run.threads_per_worker)
        shared = lent.put([1])
        assert lent.gather([lent.submit(work.give_back, shared)]) == [[1]]
    assert run.submit(work.doubled, 1).result() == 2


def test_a_copy_is_the_runner_and_a_pickle_another_one(run):
    assert copy.deepcopy(run) is run
    with pickle.loads(pickle.dumps(run)) as other:
        assert type(other) is type(run)
        assert other.submit(work.doubled, 1).result() == 2


def test_a_runner_that_nobody_holds_leaves_nothing_behind(monkeypatch):
    for make in RUNNERS.values():
        run = make()
        process, _ = run.submit(work.place).result()
        before = threading.active_count()
        gone = weakref.ref(run)
        del run
        gc.collect()
        assert gone() is None
        assert threading.active_count() <= before
        if process != os.getpid():
            with pytest.raises(ProcessLookupError):
                os.kill(process, 0)


@pytest.mark.parametrize(
    ("kind", "n_workers", "message"),
    [
        ("dask", None, 'runner must be "serial", "threads", "processes" or a Runner. Got \'dask\'.'),
        (None, None, 'runner must be "serial", "threads", "processes" or a Runner. Got None.'),
        ("serial", 2, "n_workers must be 1 or None where tasks run one after the other. Got 2."),
        ("threads", 0, "n_workers must be an integer other than 0, or None. Got 0."),
        ("threads", 1.5, "n_workers must be an integer other than 0, or None. Got 1.5."),
    ],
)
def test_a_runner_that_cannot_be_made_is_told_in_one_line(kind, n_workers, message):
    with pytest.raises(ValueError) as caught:
        runner(kind, n_workers=n_workers)
    assert str(caught.value) == message


def test_a_runner_has_its_own_number_of_workers(run):
    assert isinstance(run, Runner)
    with pytest.raises(ValueError, match="made by its name"):
        runner(run, n_workers=2)
