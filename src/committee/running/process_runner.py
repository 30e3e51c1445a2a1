"""Tasks in processes of their own, each with an interpreter and a lock of its own.

Every thread of the pool has one process at its service and speaks with it through pipes, a task at a time.
Why not an executor of loky's or of `concurrent.futures`: there, a process that dies takes down the pool and
all that runs in it, and nobody can tell which task it was. Here it is known, and no other task is touched.
What makes loky robust is kept: processes begin afresh instead of forking (after a fork, OpenMP hangs), the
main script is not run again (so scripts need no guard), and what the main script or a notebook defines is
sent by value.

A process leads a group of its own, so that Ctrl-C in the terminal reaches the caller alone, who ends the
whole group. It ends by itself when the caller is gone, even in the midst of a task. What a task prints goes
to stderr: stdout is the caller's.
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
import weakref
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from committee.running import messages
from committee.running.progress import RECEIVER, tell
from committee.running.resources import environment_of
from committee.running.runner import Task, TaskError, WorkerDiedError, failed, failure
from committee.running.shared_values import Mapped, NotShared, live_keys
from committee.running.worker_pool import Configuration, Order, PooledRunner, warning_filters

N_TRIES = 2
# What an idle process may take to end by itself.
SECONDS_TO_END = 0.5
# A death is mostly seen at once, and by then if the pipe stays open.
SECONDS_TO_NOTICE = 1

BEGIN = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from committee.running.worker_process import main
main()
"""


class ProcessRunner(PooledRunner):
    """Runs tasks in processes.

    Parameters
    ----------
    n_workers : int, default=None
        None and -1 are all cores that may be used, and there are never more.
    """

    def __init__(self, n_workers: int | None = None) -> None:
        super().__init__(n_workers, lambda n_threads: partial(_ProcessDesk, n_threads))
        self._surroundings: tuple[object, messages.Frame] = None, b""
        self._handles: weakref.WeakSet[Mapped] = weakref.WeakSet()

    def put(self, value: object) -> Mapped:
        """Write a value into a file that all processes map."""
        self._check_open()
        try:
            handle = Mapped(value)
        except OSError:
            raise
        except Exception as error:
            raise failed(
                f"A {type(value).__name__} cannot be shared with other processes: {error}", error
            ) from error
        self._handles.add(handle)
        return handle

    def submit(
        self, function: Callable[..., object], /, *args: object, name: str | None = None, **kwargs: object
    ) -> Task:
        """Let a function be called in a process."""
        task = self._task(function, name)
        order = Order(task, function, args, kwargs, self._context(name))
        try:
            order.sent.append(self._surroundings_frame(order.configuration))
            order.sent.extend(messages.dumps((function, args, kwargs)))
        except NotShared as error:
            raise failed(f"{task}, cannot be sent to another process: {error}", error) from error
        except Exception as error:
            raise failed(
                f"{task}, cannot be sent to another process: {error}. "
                "Give it what can be pickled, or use threads.",
                error,
            ) from error
        self._pool.add(order)
        return task

    def _surroundings_frame(self, configuration: Configuration) -> messages.Frame:
        """scikit-learn's configuration and the filters of warnings, pickled again if they have changed."""
        surroundings = configuration, warning_filters()
        if surroundings != self._surroundings[0]:
            (frame,) = messages.dumps(surroundings)
            self._surroundings = surroundings, frame
        return self._surroundings[1]

    def close(self) -> None:
        """End all that has not ended, and leave neither a thread nor a process nor a file behind."""
        super().close()
        if self._process == os.getpid():
            for handle in list(self._handles):
                handle.close()


class _ProcessDesk:
    """Has orders done by a process of its own."""

    def __init__(self, n_threads: int) -> None:
        self.n_threads = n_threads
        self.worker: _Worker | None = None
        self.lock = threading.Lock()
        self.stopped = False

    def do(self, order: Order) -> object:
        """Ask the process; ask another one if it dies."""
        how = ""
        for _ in range(N_TRIES):
            worker = self._ready_worker(order.task)
            try:
                kind, *frames = worker.ask(order)
            except TaskError:
                worker.end()
                raise
            except (EOFError, OSError):
                how = worker.end()
            else:
                return _answer(order.task, bytes(kind), frames)
        raise WorkerDiedError(f"{order.task}, died with its process, and again when it was retried: {how}.")

    def stop(self) -> None:
        """End the process."""
        with self.lock:
            self.stopped = True
            if self.worker is not None:
                self.worker.kill()

    def close(self) -> None:
        """Let the process end."""
        if self.worker is not None:
            self.worker.close()

    def _ready_worker(self, task: Task) -> _Worker:
        with self.lock:
            if self.stopped:
                raise TaskError(f"{task}, did not end.")
            if self.worker is not None and not self.worker.is_alive():
                # It has died between two tasks.
                self.worker.end()
                self.worker = None
            if self.worker is None:
                self.worker = _Worker(self.n_threads)
            return self.worker


class _Worker:
    """A process, and the pipes to it and from it."""

    def __init__(self, n_threads: int) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", BEGIN, json.dumps(sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | environment_of(n_threads),
            start_new_session=True,
        )
        assert self.process.stdin is not None and isinstance(self.process.stdout, io.BufferedReader)
        # Nothing is buffered between the pipe and `_wait`.
        self.requests, self.answers = self.process.stdin, self.process.stdout.raw
        self.pipes = self.process.stdin, self.process.stdout

    def is_alive(self) -> bool:
        """Whether it could still answer."""
        if self.process.returncode is not None or not hasattr(os, "waitid"):
            return self.process.poll() is None
        # It is not cleared away yet, so that its group cannot become another's.
        return os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None

    def ask(self, order: Order) -> list[messages.Frame]:
        """Send an order, pass on what it tells of its progress, and wait for the answer."""
        is_heard = order.context.get(RECEIVER) is not None
        messages.write(self.requests, [*messages.dumps((live_keys(), is_heard)), *order.sent])
        while (message := self._next_message())[0] == b"event":
            try:
                order.context.run(tell, messages.loads(message[1:]))
            except BaseException as error:
                raise failure(order.task, error) from error
        return message

    def _next_message(self) -> list[messages.Frame]:
        """The next message. A process that dies may have forked others, which would keep the pipe open."""
        if hasattr(select, "poll"):
            poll = select.poll()
            poll.register(self.answers, select.POLLIN)
            while not poll.poll(1000 * SECONDS_TO_NOTICE):
                if not self.is_alive():
                    raise EOFError("The process is gone.")
        return messages.read(self.answers)

    def kill(self) -> None:
        """End the process, and all that it has begun, at once."""
        if self.process.returncode is None:
            with suppress(ProcessLookupError, PermissionError):
                if hasattr(os, "killpg"):
                    os.killpg(self.process.pid, signal.SIGKILL)
                else:
                    self.process.kill()

    def end(self) -> str:
        """Say how the process died, and clear away what it leaves."""
        self.kill()
        self._close_pipes()
        return _how(self.process.wait())

    def close(self) -> None:
        """Let the process end by itself, or end it."""
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


def _answer(task: Task, kind: bytes, frames: list[messages.Frame]) -> object:
    try:
        result = messages.loads(frames)
    except Exception as error:
        raise failed(f"{task}, gave a result that cannot be read here: {error}", error) from error
    if kind == b"result":
        return result
    cause, told, trace = result
    raised = TaskError(f"{task}, failed. {told}") if cause is None else failure(task, cause)
    (cause or raised).add_note(f"In its process:\n{trace}")
    raise raised


def _how(code: int) -> str:
    """How a process ended, by its exit code."""
    if code >= 0:
        return f"exit code {code}"
    name = signal.Signals(-code).name if -code in signal.valid_signals() else str(-code)
    memory = ", as the system does when memory runs out" if -code == getattr(signal, "SIGKILL", 9) else ""
    return f"killed by {name}{memory}"
