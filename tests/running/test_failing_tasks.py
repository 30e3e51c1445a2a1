"""Tasks that fail, cannot be sent or are ended by the runner, and workers that die."""

import json
import os
import pickle
import signal
import threading

import numpy as np
import pytest
import runner_tasks
from sklearn.exceptions import NotFittedError

from committee.running import TaskError, WorkerDiedError, runner


def test_an_error_names_the_task_and_keeps_its_type(run):
    task = run.submit(runner_tasks.fail, "one class only", name="member 3 (LogisticRegression), fold 2")
    with pytest.raises(ValueError, match="one class only") as caught:
        task.result()
    assert str(caught.value) == (
        f"Task {task.index}, 'member 3 (LogisticRegression), fold 2', failed. ValueError: one class only"
    )
    assert isinstance(caught.value, TaskError)
    assert type(caught.value.__cause__) is ValueError
    assert str(caught.value.__cause__) == "one class only"


def test_an_error_of_several_lines_becomes_one_line(run):
    with pytest.raises(ValueError, match=r"ValueError: Input X contains NaN\. See the docs\.$"):
        run.submit(runner_tasks.fail, "Input X contains NaN.\n  See the docs.").result()


def test_gather_raises_the_error_of_a_task(run):
    with pytest.raises(ValueError, match="'bad', failed"):
        run.gather([run.submit(runner_tasks.doubled, 1), run.submit(runner_tasks.fail, "no", name="bad")])


def test_a_failure_does_not_affect_other_tasks(run):
    tasks = [run.submit(runner_tasks.fail, "no"), run.submit(runner_tasks.doubled, 1)]
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
        run.submit(runner_tasks.throw, error).result()
    reason = f": {error}" if str(error) else "."
    assert str(caught.value).endswith(f"'throw', failed. {type(error).__name__}{reason}")
    assert type(caught.value.__cause__) is type(error)


def test_an_exception_group_is_reported(run):
    with pytest.raises(TaskError, match="ExceptionGroup: two"):
        run.submit(runner_tasks.throw, ExceptionGroup("two", [ValueError(1), ValueError(2)])).result()


def test_an_error_that_cannot_be_unpickled_is_reported(run):
    with pytest.raises(TaskError, match=r"'fail_oddly', failed. OddError: this and that"):
        run.submit(runner_tasks.fail_oddly).result()


def test_a_task_that_leaves_the_interpreter_fails(run):
    with pytest.raises(TaskError, match=r"'leave', failed. SystemExit: 3"):
        run.submit(runner_tasks.leave).result()


def test_the_error_of_another_process_includes_its_traceback(remote):
    with pytest.raises(ValueError) as caught:
        remote.submit(runner_tasks.fail, "no").result()
    assert "runner_tasks.py" in caught.value.__cause__.__notes__[0]


def test_task_errors_can_be_pickled(run):
    error = run.submit(runner_tasks.fail, "no", name="bad").exception()
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), type(again), str(again.__cause__)) == (str(error), type(error), "no")


def test_a_task_that_cannot_be_sent_is_named_at_once(remote):
    cannot = r"'member 3', cannot be sent to another process: cannot pickle 'TextIOWrapper' object"
    with open(os.devnull) as file, pytest.raises(TypeError, match=cannot):
        remote.submit(runner_tasks.give_back, file, name="member 3")
    with pytest.raises(TypeError, match=r"cannot be shared with other processes: cannot pickle"):
        remote.put(threading.Lock())


def test_a_result_that_cannot_be_sent_is_named(remote):
    with pytest.raises(TaskError, match=r"'open_file', failed.*The return value cannot be sent back"):
        remote.submit(runner_tasks.open_file).result()


def test_functions_without_a_name_can_be_sent(run):
    factor = 3
    assert run.submit(lambda value: factor * value, 5).result() == 15


def test_a_closed_runner_is_refused_in_one_line(fresh):
    task = fresh.submit(runner_tasks.doubled, 2)
    assert task.result() == 4
    fresh.close()
    fresh.close()
    for use in (lambda: fresh.submit(runner_tasks.doubled, 1), lambda: fresh.put(1), fresh.__enter__):
        with pytest.raises(RuntimeError, match=r"The runner is closed\. Make another"):
            use()
    assert task.result() == 4


def test_closing_ends_unfinished_tasks(fresh, tmp_path):
    tasks = [fresh.submit(runner_tasks.wait_for, tmp_path / "never") for _ in range(5)]
    fresh.close()
    for task in tasks:
        with pytest.raises(TaskError, match=r"did not (run|end): its runner was closed"):
            task.result()


def test_a_runner_of_another_process_is_refused(run, monkeypatch):
    monkeypatch.setattr(os, "getpid", lambda: -1)
    with pytest.raises(RuntimeError, match="belongs to another process"):
        run.submit(runner_tasks.doubled, 1)


def test_a_task_does_not_wait_for_its_own_runner():
    with runner("threads", n_workers=1) as run:
        task = run.submit(lambda: run.submit(runner_tasks.doubled, 1).result())
        with pytest.raises(RuntimeError, match="Make a runner inside the task"):
            task.result()


@pytest.mark.parametrize(
    ("function", "args", "how"),
    [
        (runner_tasks.die, (), "killed by SIGKILL, as the system does when memory runs out"),
        (runner_tasks.die, (signal.SIGSEGV,), "killed by SIGSEGV"),
        (os._exit, (3,), "exit code 3"),
        (runner_tasks.fork_and_die, (), "killed by SIGKILL, as the system does when memory runs out"),
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
    assert remote.submit(runner_tasks.die_once, tmp_path).result() == 2


def test_a_worker_that_dies_between_tasks_is_replaced(remote):
    for _ in range(2):
        process, _ = remote.submit(runner_tasks.place).result()
        os.kill(process, signal.SIGKILL)
        assert remote.submit(runner_tasks.doubled, 4).result() == 8


def test_a_death_does_not_affect_other_tasks(remote, tmp_path):
    slow = remote.submit(runner_tasks.wait_for, tmp_path / "go")
    deadly = remote.submit(runner_tasks.die)
    waiting = [remote.submit(runner_tasks.record, tmp_path / "log", str(i)) for i in range(5)]
    assert isinstance(deadly.exception(), WorkerDiedError)
    assert remote.gather(waiting) == list("01234")
    (tmp_path / "go").touch()
    assert slow.result() == str(tmp_path / "go")
    assert sorted((tmp_path / "log").read_text().split()) == list("01234")
