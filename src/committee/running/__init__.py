"""Where work runs: how many threads the engine may take."""

from committee.running.threads import n_threads

__all__ = ["n_threads"]
