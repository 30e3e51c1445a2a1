"""Where work runs: how many threads the engine may take, and how much memory there is."""

from committee.running.memory import available_bytes
from committee.running.threads import n_threads

__all__ = ["available_bytes", "n_threads"]
