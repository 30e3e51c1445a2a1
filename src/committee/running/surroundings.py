"""What holds inside of a task: the caller's settings, and no more threads than its share of the cores.

scikit-learn keeps its configuration for each thread, and Python the filters of warnings for each process: one
that makes a warning an error, or ignores it, must do so in a task too.

A runner gives each of its tasks a number of threads. Inside the task `n_threads` answers no more than that,
and the same limit holds for BLAS, for OpenMP, and for joblib, which scikit-learn's estimators use. A process
gets it by its environment when it starts. A thread gets it by a context variable, and by what threadpoolctl
and joblib can set for a thread.
"""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Any

Configuration = dict[str, Any] | None
Filters = list[tuple[Any, ...]]


def configuration() -> Configuration:
    """scikit-learn's configuration in this thread; None if it is not loaded, and so not changed."""
    sklearn = sys.modules.get("sklearn")
    return None if sklearn is None else sklearn.get_config()


@contextmanager
def configured(configuration: Configuration) -> Iterator[None]:
    """Let scikit-learn have a configuration for a while."""
    if configuration is None:
        yield
        return
    import sklearn

    with sklearn.config_context(**configuration):
        yield


def warning_filters() -> Filters:
    """The filters of warnings of this process."""
    return list(warnings.filters)


def filter_warnings(filters: Filters) -> None:
    """Let this process have some filters of warnings."""
    warnings.resetwarnings()
    for action, message, category, module, line in reversed(filters):
        warnings.filterwarnings(action, _text(message), category, _text(module), line)


def _text(pattern: Any) -> str:
    return "" if pattern is None else getattr(pattern, "pattern", pattern)


TASK_THREADS: ContextVar[int | None] = ContextVar("task_threads", default=None)

VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMBA_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "POLARS_MAX_THREADS",
    "RAYON_NUM_THREADS",
    "LOKY_MAX_CPU_COUNT",
)


def environment_of(n_threads: int) -> dict[str, str]:
    """The environment variables that hold a new process to some threads."""
    return dict.fromkeys(VARIABLES, str(n_threads))


class BlasLimit:
    """Holds BLAS in this process to some threads while tasks run in threads of it.

    BLAS libraries mostly have one setting for the whole process. threadpoolctl lets one thread change it and
    give it back, so both are done by the thread that submits tasks and waits for them, and not by those that
    run them.

    Parameters
    ----------
    n_threads : int
    """

    def __init__(self, n_threads: int) -> None:
        self.n_threads = n_threads
        self._lock = threading.Lock()
        self._n_tasks = 0
        self._held: Any = None

    def begin(self) -> None:
        """Tell that there is one more task."""
        with self._lock:
            self._n_tasks += 1
            if self._held is None:
                self._held = _libraries("blas", len(sys.modules)).limit(limits=self.n_threads).__enter__()

    def end(self, task: object) -> None:
        """Tell that a task has ended."""
        with self._lock:
            self._n_tasks -= 1

    def release(self) -> None:
        """Give the setting back, if all tasks have ended."""
        with self._lock:
            if self._held is not None and self._n_tasks == 0:
                self._held.__exit__(None, None, None)
                self._held = None


class ThreadLimit:
    """Holds what is set for each thread, OpenMP and joblib, to some threads.

    Parameters
    ----------
    n_threads : int
    """

    def __init__(self, n_threads: int) -> None:
        self.n_threads = n_threads
        self._libraries: Any = None
        self._knows_joblib = False

    def hold_openmp(self) -> None:
        """Hold the OpenMP libraries that have been loaded since the last call."""
        libraries = _libraries("openmp", len(sys.modules))
        if libraries is not self._libraries:
            libraries.limit(limits=self.n_threads)
            self._libraries = libraries

    def hold_joblib(self) -> None:
        """Hold joblib, once there is joblib."""
        if not self._knows_joblib and "joblib" in sys.modules:
            _hold_joblib(self.n_threads)
            self._knows_joblib = True


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold BLAS to one thread within the block: small matrices gain nothing by more, and wait for them."""
    with _libraries("blas", len(sys.modules)).limit(limits=1):
        yield


@lru_cache(maxsize=2)
def _libraries(kind: str, n_modules: int) -> Any:
    """The libraries of a kind that are loaded: looked for again when modules have been imported."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api=kind)


def _hold_joblib(n_threads: int) -> None:
    """Let joblib use threads in this thread, and no more than some, whatever `n_jobs` says."""
    from joblib import parallel_config
    from joblib.parallel import ThreadingBackend

    class Held(ThreadingBackend):
        def effective_n_jobs(self, n_jobs: int) -> int:
            return min(n_threads, super().effective_n_jobs(n_jobs))

    # Outside of a `with` it holds for as long as the thread lives.
    parallel_config(backend=Held() if n_threads > 1 else "sequential", n_jobs=n_threads)
