"""The main function of a worker process, which executes calls one after the other until the caller has ended.

In: messages with the keys of the shared values that are still needed, whether the caller receives progress
events, the caller's settings (see `worker_pool`) and a call. Out: progress events, then a result or an error.
"""

from __future__ import annotations

import os
import signal
import threading
import traceback
from queue import SimpleQueue
from typing import IO

from committee.running import messages
from committee.running.messages import Frame
from committee.running.progress import Event, receiving
from committee.running.resources import TASK_THREADS, ThreadLimit
from committee.running.runner import Configuration
from committee.running.shared_values import keep_only
from committee.running.worker_pool import configured, filter_warnings


def main() -> None:
    """Execute the calls that arrive on stdin. The answers go to the original stdout."""
    # The caller handles Ctrl-C and ends this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests, answers = _take_pipes()
    caller, inbox = Caller(answers), Inbox(requests)
    while (message := inbox.next()) is not None:
        answer = caller.answer(message)
        inbox.is_busy = False
        caller.write(answer)
    requests.close()
    answers.close()


def _take_pipes() -> tuple[IO[bytes], IO[bytes]]:
    """Return the two pipes to the caller; stdin becomes empty, and stdout becomes a copy of stderr."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return requests, answers


class Inbox:
    """The messages of the caller, read in a thread, which notices the end of the caller during a task."""

    def __init__(self, requests: IO[bytes]) -> None:
        self.is_busy = False
        self._messages: SimpleQueue[list[Frame] | None] = SimpleQueue()
        threading.Thread(target=self._read, args=[requests], daemon=True).start()

    def next(self) -> list[Frame] | None:
        """Return the next message; None if the caller has ended."""
        return self._messages.get()

    def _read(self, requests: IO[bytes]) -> None:
        try:
            while True:
                message = messages.read(requests)
                self.is_busy = True
                self._messages.put(message)
        except (EOFError, OSError):
            if self.is_busy:
                os._exit(1)
            self._messages.put(None)


class Caller:
    """The caller of the process: its settings and the pipe to it."""

    def __init__(self, answers: IO[bytes]) -> None:
        self.answers, self.lock = answers, threading.Lock()
        self.limit = ThreadLimit(int(os.environ["OMP_NUM_THREADS"]))
        TASK_THREADS.set(self.limit.n_threads)
        self.settings: Frame = b""
        self.configuration: Configuration = None

    def answer(self, message: list[Frame]) -> list[Frame]:
        """Execute the call of a message and return the answer."""
        try:
            result = self._call(*message)
        except BaseException as error:
            return _failed(error)
        try:
            return [b"result", *messages.dumps(result)]
        except Exception as error:
            return _failed(_like(error, f"The return value cannot be sent back: {error}"))

    def write(self, message: list[Frame]) -> None:
        """Send a message to the caller. Several threads of a task may report progress."""
        with self.lock:
            messages.write(self.answers, message)

    def _report(self, event: Event) -> None:
        self.write([b"event", *messages.dumps(event)])

    def _call(self, needed: Frame, settings: Frame, *call: Frame) -> object:
        keys, has_receiver = messages.loads([needed])
        keep_only(keys)
        if settings != self.settings:
            self.configuration, filters = messages.loads([settings])
            filter_warnings(filters)
            self.settings = settings
        function, args, kwargs = messages.loads(call)
        self.limit.hold_joblib()
        with configured(self.configuration), receiving(self._report if has_receiver else None):
            return function(*args, **kwargs)


def _failed(error: BaseException) -> list[Frame]:
    message = f"{type(error).__name__}: {error}"
    trace = "".join(traceback.format_exception(error)).rstrip()
    try:
        frames = messages.dumps((error, message, trace))
        # Some errors can be pickled but not unpickled.
        messages.loads(frames)
    except Exception:
        frames = messages.dumps((None, message, trace))
    return [b"error", *frames]


def _like(error: Exception, message: str) -> Exception:
    try:
        return type(error)(message)
    except Exception:
        return TypeError(message)
