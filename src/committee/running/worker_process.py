"""The other end of the pipes: a process that does tasks, one after the other, until the caller is gone.

In: messages with the keys of the shared values that are still needed, whether anybody hears of progress, the
caller's surroundings (see `worker_pool`) and a call. Out: events of progress, then a result or an error.
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
from committee.running.shared_values import keep_only
from committee.running.worker_pool import Configuration, configured, filter_warnings


def main() -> None:
    """Do tasks as they come from stdin. The answers go to what was stdout when the process began."""
    # The caller gets Ctrl-C and ends this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests, answers = _take_pipes()
    doer, inbox = _Doer(answers), _Inbox(requests)
    while (message := inbox.next()) is not None:
        answer = doer.answer(message)
        inbox.is_busy = False
        doer.write(answer)
    requests.close()
    answers.close()


def _take_pipes() -> tuple[IO[bytes], IO[bytes]]:
    """The two pipes to the caller; stdin becomes empty, and stdout goes where stderr goes."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return requests, answers


class _Inbox:
    """Reads messages in a thread, so that the end of the caller is seen in the midst of a task."""

    def __init__(self, requests: IO[bytes]) -> None:
        self.is_busy = False
        self._messages: SimpleQueue[list[Frame] | None] = SimpleQueue()
        threading.Thread(target=self._read, args=[requests], daemon=True).start()

    def next(self) -> list[Frame] | None:
        """The next message; None if the caller is gone."""
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


class _Doer:
    """Does what messages ask for."""

    def __init__(self, answers: IO[bytes]) -> None:
        self.answers, self.lock = answers, threading.Lock()
        self.limit = ThreadLimit(int(os.environ["OMP_NUM_THREADS"]))
        TASK_THREADS.set(self.limit.n_threads)
        self.surroundings: Frame = b""
        self.configuration: Configuration = None

    def answer(self, message: list[Frame]) -> list[Frame]:
        """The answer to a message."""
        try:
            result = self._call(*message)
        except BaseException as error:
            return _failed(error)
        try:
            return [b"result", *messages.dumps(result)]
        except Exception as error:
            return _failed(_like(error, f"What it returns cannot be sent back: {error}"))

    def write(self, message: list[Frame]) -> None:
        """Send a message to the caller. A task may have threads that tell of progress."""
        with self.lock:
            messages.write(self.answers, message)

    def _tell(self, event: Event) -> None:
        self.write([b"event", *messages.dumps(event)])

    def _call(self, needed: Frame, surroundings: Frame, *call: Frame) -> object:
        keys, is_heard = messages.loads([needed])
        keep_only(keys)
        if surroundings != self.surroundings:
            self.configuration, filters = messages.loads([surroundings])
            filter_warnings(filters)
            self.surroundings = surroundings
        function, args, kwargs = messages.loads(call)
        self.limit.hold_joblib()
        with configured(self.configuration), receiving(self._tell if is_heard else None):
            return function(*args, **kwargs)


def _failed(error: BaseException) -> list[Frame]:
    told = f"{type(error).__name__}: {error}"
    trace = "".join(traceback.format_exception(error)).rstrip()
    try:
        frames = messages.dumps((error, told, trace))
        # Some errors can be pickled but not made again.
        messages.loads(frames)
    except Exception:
        frames = messages.dumps((None, told, trace))
    return [b"error", *frames]


def _like(error: Exception, told: str) -> Exception:
    try:
        return type(error)(told)
    except Exception:
        return TypeError(told)
