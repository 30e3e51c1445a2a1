"""Where work runs: runners and their tasks, how many threads and how much memory, how far a fit is."""

from committee.running.choosing import runner
from committee.running.memory import available_bytes
from committee.running.progress import Progress
from committee.running.runner import Runner
from committee.running.sharing import Handle
from committee.running.tasks import Task, TaskError, WorkerDiedError
from committee.running.threads import n_threads

__all__ = [
    "Handle",
    "Progress",
    "Runner",
    "Task",
    "TaskError",
    "WorkerDiedError",
    "available_bytes",
    "n_threads",
    "runner",
]
