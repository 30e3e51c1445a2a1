"""Tasks in other processes, each of which has its own interpreter and its own lock.

Each thread of the pool has one process, and communicates with it through pipes, one task at a time. In loky
and in `concurrent.futures`, a process that dies ends the pool and all tasks in it, and the failing task is
unknown. Here the failing task is known, and the others continue. The robust properties of loky are kept: a
process is started instead of forked (OpenMP hangs after a fork), it does not run the main script again (so
scripts need no guard), and definitions of the main script or a notebook are sent by value.

Each process leads its own process group, so Ctrl-C in the terminal reaches only the caller, which ends the
whole group. A process ends itself when its caller has ended, even during a task. Tasks print to stderr,
because stdout belongs to the caller.
"""

from __future__ import annotations

import io
import json
import os
import select
import signal
import subprocess
import sys
import threading
import warnings
from contextlib import suppress
from functools import partial

from committee.running import messages
from committee.running.progress import RECEIVER, forward
from committee.running.resources import environment_of
from committee.running.runner import Order, Task, TaskError, WorkerDiedError, failed, failure
from committee.running.shared_values import Key, MemoryMap, NotShared, close_file, live_keys
from committee.running.worker_pool import PooledRunner

N_TRIES = 2
# The time that an idle process gets to end itself.
SECONDS_TO_END = 0.5
# Most dead processes close their pipe. If another process keeps it open, the end is noticed after this time.
SECONDS_TO_NOTICE = 1

BEGIN = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from committee.running.worker_process import main
main()
"""


class ProcessRunner(PooledRunner):
    """A runner that runs tasks in processes.

    Parameters
    ----------
    n_workers : int, default=None
        The number of processes, at most one per core. None and -1 use all cores that this process may use.
    """

    def __init__(self, n_workers: int | None = None) -> None:
        super().__init__(n_workers, lambda n_threads: partial(ProcessExecutor, n_threads))
        self._settings: tuple[object, messages.Frame] = None, b""
        self._keys: list[Key] = []

    def put(self, value: object) -> MemoryMap:
        """Write a value into a file that all processes map."""
        self._check_open()
        try:
            handle = MemoryMap(value)
        except OSError:
            raise
        except Exception as error:
            raise failed(
                f"A {type(value).__name__} cannot be shared with other processes: {error}", error
            ) from error
        self._keys = [*set(self._keys).intersection(live_keys()), handle.key]
        return handle

    def _start(self, order: Order) -> None:
        try:
            order.sent.append(self._settings_frame(order))
            order.sent.extend(messages.dumps((order.function, order.args, order.kwargs)))
        except NotShared as error:
            raise failed(f"{order.task}, cannot be sent to another process: {error}", error) from error
        except Exception as error:
            raise failed(
                f"{order.task}, cannot be sent to another process: {error}. "
                "Pass arguments that can be pickled, or use threads.",
                error,
            ) from error
        self._add(order)

    def _settings_frame(self, order: Order) -> messages.Frame:
        """Pickle scikit-learn's configuration and the warning filters again if they have changed."""
        settings = order.configuration, list(warnings.filters)
        if settings != self._settings[0]:
            (frame,) = messages.dumps(settings)
            self._settings = settings, frame
        return self._settings[1]

    def close(self) -> None:
        """End all unfinished tasks, and release all threads, processes and files."""
        super().close()
        for key in self._keys:
            close_file(key)


class ProcessExecutor:
    """The executor of a pool thread that sends its orders to a process."""

    def __init__(self, n_threads: int) -> None:
        self.n_threads = n_threads
        self.worker: Worker | None = None
        self.lock = threading.Lock()
        self.stopped = False

    def execute(self, order: Order) -> object:
        """Send the order to the process; send it to another process if the first one dies."""
        death = ""
        for _ in range(N_TRIES):
            worker = self._ready_worker(order.task)
            try:
                kind, *frames = worker.request(order)
            except TaskError:
                worker.end()
                raise
            except (EOFError, OSError):
                death = worker.end()
            else:
                return _result(order.task, bytes(kind), frames)
        raise WorkerDiedError(f"{order.task}, died with its process, and again when it was retried: {death}.")

    def stop(self) -> None:
        """Kill the process."""
        with self.lock:
            self.stopped = True
            if self.worker is not None:
                self.worker.kill()

    def close(self) -> None:
        """Let the process end itself."""
        if self.worker is not None:
            self.worker.close()

    def _ready_worker(self, task: Task) -> Worker:
        with self.lock:
            if self.stopped:
                raise TaskError(f"{task}, did not end.")
            if self.worker is not None and not self.worker.is_alive():
                # The process has died between two tasks.
                self.worker.end()
                self.worker = None
            if self.worker is None:
                self.worker = Worker(self.n_threads)
            return self.worker


class Worker:
    """A process with its two pipes."""

    def __init__(self, n_threads: int) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", BEGIN, json.dumps(sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | environment_of(n_threads),
            start_new_session=True,
        )
        assert self.process.stdin is not None and isinstance(self.process.stdout, io.BufferedReader)
        # `_next_message` polls the pipe, so no buffer may hold a part of a message.
        self.requests, self.answers = self.process.stdin, self.process.stdout.raw
        self.pipes = self.process.stdin, self.process.stdout

    def is_alive(self) -> bool:
        """Return whether the process runs."""
        if self.process.returncode is not None or not hasattr(os, "waitid"):
            return self.process.poll() is None
        # WNOWAIT keeps the id of the process in use, so no other process group can get it.
        return os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None

    def request(self, order: Order) -> list[messages.Frame]:
        """Send an order, forward its progress events, and return the answer."""
        has_receiver = order.context.get(RECEIVER) is not None
        messages.write(self.requests, [*messages.dumps((live_keys(), has_receiver)), *order.sent])
        while (message := self._next_message())[0] == b"event":
            try:
                order.context.run(forward, messages.loads(message[1:]))
            except BaseException as error:
                raise failure(order.task, error) from error
        return message

    def _next_message(self) -> list[messages.Frame]:
        """Return the next message, or raise if the process died, even if its children keep the pipe open."""
        if hasattr(select, "poll"):
            poll = select.poll()
            poll.register(self.answers, select.POLLIN)
            while not poll.poll(1000 * SECONDS_TO_NOTICE):
                if not self.is_alive():
                    raise EOFError("The process is gone.")
        return messages.read(self.answers)

    def kill(self) -> None:
        """Kill the process and all processes that it has started."""
        if self.process.returncode is None:
            with suppress(ProcessLookupError, PermissionError):
                if hasattr(os, "killpg"):
                    os.killpg(self.process.pid, signal.SIGKILL)
                else:
                    self.process.kill()

    def end(self) -> str:
        """Kill the process, release its resources, and describe how it ended."""
        self.kill()
        self._close_pipes()
        return _cause_of_death(self.process.wait())

    def close(self) -> None:
        """Wait until the process ends itself, or kill it."""
        self._close_pipes()
        try:
            self.process.wait(SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            self.kill()
            self.process.wait()

    def _close_pipes(self) -> None:
        for pipe in self.pipes:
            with suppress(OSError):
                pipe.close()


def _result(task: Task, kind: bytes, frames: list[messages.Frame]) -> object:
    try:
        result = messages.loads(frames)
    except Exception as error:
        raise failed(f"{task}, returned a result that cannot be read here: {error}", error) from error
    if kind == b"result":
        return result
    cause, message, trace = result
    raised = TaskError(f"{task}, failed. {message}") if cause is None else failure(task, cause)
    (cause or raised).add_note(f"In its process:\n{trace}")
    raise raised


def _cause_of_death(code: int) -> str:
    """Describe how a process ended by its exit code."""
    if code >= 0:
        return f"exit code {code}"
    name = signal.Signals(-code).name if -code in signal.valid_signals() else str(-code)
    memory = ", as the system does when memory runs out" if -code == getattr(signal, "SIGKILL", 9) else ""
    return f"killed by {name}{memory}"
