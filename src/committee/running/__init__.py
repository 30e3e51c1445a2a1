"""Where work runs: how many threads the engine may take, how much memory there is, how far a fit is."""

from committee.running.memory import available_bytes
from committee.running.progress import Progress
from committee.running.threads import n_threads

__all__ = ["Progress", "available_bytes", "n_threads"]
