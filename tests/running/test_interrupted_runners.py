"""Ctrl-C, and a killed caller: finished results are kept, and no thread, process or file remains."""

import itertools
import json
import linecache
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import runner_tasks

from committee.running import runner, worker_pool

TESTS = Path(__file__).parent.parent

# Two tasks end. The others would never end.
SCRIPT = """
import json, os, sys, threading, time
import numpy as np
import runner_tasks
from committee.running import runner, resources

def files():
    return len(os.listdir("/proc/self/fd"))

resources.usable_cores = lambda: 4
kind, folder = sys.argv[1:]
before, began, where = files(), None, None
try:
    with runner(kind, n_workers=None if kind == "serial" else 2) as run:
        shared = run.put(np.ones(100_000))
        tasks = [run.submit(runner_tasks.memory_of, shared, name=f"quick {i}") for i in range(2)]
        tasks += [run.submit(runner_tasks.report_and_wait, folder, name=f"slow {i}") for i in range(5)]
        for task in run.as_completed(tasks):
            task.result()
except KeyboardInterrupt:
    del run, shared
    print(json.dumps({
        "results": [task.result()[-1] for task in tasks if task.exception() is None],
        "errors": [str(task.exception()) for task in tasks if task.exception() is not None],
        "threads": threading.active_count(),
        "files": files() - before,
    }))
"""


@pytest.fixture
def script(tmp_path):
    def start(kind, text=SCRIPT):
        (tmp_path / "work").mkdir()
        environment = os.environ | {"PYTHONPATH": str(TESTS / "support"), "TMPDIR": str(tmp_path)}
        return subprocess.Popen(
            [sys.executable, "-c", text, kind, str(tmp_path / "work")],
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    started = []

    def start_and_keep(*args):
        started.append(start(*args))
        return started[-1]

    yield start_and_keep
    for process in started:
        process.kill()
        process.communicate()


def wait_until(holds, seconds=60.0):
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "It took too long."
        time.sleep(0.02)


def running(folder, n_tasks):
    """Wait until some tasks have begun, and return their processes."""
    wait_until(lambda: len(list(folder.glob("begun *"))) >= n_tasks)
    return {int(path.name.split()[1]) for path in folder.glob("begun *")}


def is_alive(process):
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


@pytest.mark.parametrize(("kind", "n_running"), [("serial", 1), ("threads", 2), ("processes", 2)])
def test_an_interruption_keeps_finished_results_and_leaves_nothing_behind(script, tmp_path, kind, n_running):
    shared_memory = set(os.listdir("/dev/shm"))
    process = script(kind)
    workers = running(tmp_path / "work", n_running)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    report = json.loads(output)
    assert report["results"] == [100_000.0, 100_000.0]
    assert len(report["errors"]) == 5
    assert all("did not" in error for error in report["errors"])
    assert (report["threads"], report["files"]) == (1, 0)
    assert not any(map(is_alive, workers))
    assert set(os.listdir("/dev/shm")) == shared_memory
    assert os.listdir(tmp_path) == ["work"]


def test_workers_end_when_their_caller_is_killed_and_no_file_remains(script, tmp_path):
    shared_memory = set(os.listdir("/dev/shm"))
    process = script("processes")
    workers = running(tmp_path / "work", 2)
    process.kill()
    wait_until(lambda: not any(map(is_alive, workers)))
    assert set(os.listdir("/dev/shm")) == shared_memory
    assert os.listdir(tmp_path) == ["work"]


class InterruptionAtLine:
    """A trace function that raises a KeyboardInterrupt at one of the lines that the pool executes.

    Lines with `with` are skipped: they are traced again just before the block is left, where Python handles
    no signal.
    """

    def __init__(self, number):
        self.n_left = number

    def __call__(self, frame, event, argument):
        if frame.f_code.co_filename != worker_pool.__file__:
            return None
        line = linecache.getline(worker_pool.__file__, frame.f_lineno)
        self.n_left -= event == "line" and not line.lstrip().startswith("with ")
        if self.n_left == 0:
            raise KeyboardInterrupt
        return self


def pool_threads():
    return [each for each in threading.enumerate() if each.name == "committee-runner"]


def test_an_interruption_at_any_line_of_submit_and_close_leaves_no_thread(tmp_path):
    assert pool_threads() == []
    for number in itertools.count(1):
        interruption = InterruptionAtLine(number)
        run = runner("threads", n_workers=1)
        sys.settrace(interruption)
        try:
            with run:
                run.submit(runner_tasks.wait_for, tmp_path / "never")
                run.submit(runner_tasks.doubled, 1)
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(None)
        del run
        wait_until(lambda: pool_threads() == [])
        if interruption.n_left > 0:
            break
    assert number > 40


LEFT_OPEN = """
import sys
import numpy as np
import runner_tasks
from committee.running import runner

run = runner(sys.argv[1])
shared = run.put(np.ones(1000))
print(run.submit(runner_tasks.memory_of, shared).result()[-1])
later = run.submit(runner_tasks.report_and_wait, sys.argv[2])
"""


@pytest.mark.parametrize("kind", ["serial", "threads", "processes"])
def test_a_script_that_closes_nothing_ends(script, kind, tmp_path):
    process = script(kind, LEFT_OPEN)
    output, _ = process.communicate(timeout=60)
    assert (output, process.returncode) == ("1000.0\n", 0)
    assert os.listdir(tmp_path) == ["work"]


UNGUARDED = """
import sys
from sklearn.base import BaseEstimator, ClassifierMixin
from committee.running import runner

class Constant(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        self.value_ = y[0]
        return self

def fit(member, y):
    return member.fit(None, y)

with runner(sys.argv[1]) as run:
    fitted = run.gather([run.submit(fit, Constant(), [i]) for i in range(3)])
print([member.value_ for member in fitted], type(fitted[0]) is Constant)
"""


@pytest.mark.parametrize("kind", ["serial", "threads", "processes"])
def test_members_that_a_script_defines_can_be_fitted(script, kind):
    output, _ = script(kind, UNGUARDED).communicate(timeout=60)
    assert output == "[0, 1, 2] True\n"
