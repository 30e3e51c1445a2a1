"""Where work runs: runners and their tasks, how many threads and how much memory, how far long work is."""

from committee.running.choosing import runner, runner_of
from committee.running.memory import available_bytes
from committee.running.progress import Event, Work, receiving
from committee.running.runner import Runner
from committee.running.sharing import Handle
from committee.running.stopping import stopped_by
from committee.running.tasks import Task, TaskError, WorkerDiedError
from committee.running.threads import n_threads

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
