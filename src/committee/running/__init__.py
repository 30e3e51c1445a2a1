"""Where work runs: runners and their tasks, how many threads and how much memory, how far long work is."""

from committee.running.deadline import stopped_by
from committee.running.local_runners import runner, runner_of
from committee.running.progress import Event, Work, receiving
from committee.running.resources import available_bytes, n_threads
from committee.running.runner import Runner, Task, TaskError, WorkerDiedError
from committee.running.shared_values import Handle

__all__ = [
    "Event",
    "Handle",
    "Runner",
    "Task",
    "TaskError",
    "Work",
    "WorkerDiedError",
    "available_bytes",
    "n_threads",
    "receiving",
    "runner",
    "runner_of",
    "stopped_by",
]
