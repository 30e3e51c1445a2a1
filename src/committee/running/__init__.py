"""Run tasks, limit their threads and memory, and report the progress of long work."""

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
