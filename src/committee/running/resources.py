"""The cores and the memory that this process may use: the limits of machine, control groups and runner.

In: the `n_jobs` of an estimator. Out: a number of threads. The engine uses fewer threads for little work.

A runner gives each of its tasks a number of threads. In the task, `n_threads` returns at most this number,
and the same limit applies to BLAS, to OpenMP, and to joblib, which scikit-learn's estimators use. A process
gets the limit from its environment when it starts. A thread gets it from a context variable, and from the
settings that threadpoolctl and joblib have for each thread.
"""

from __future__ import annotations

import ctypes
import functools
import math
import os
import resource
import sys
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

TASK_THREADS: ContextVar[int | None] = ContextVar("task_threads", default=None)

CONTROL_GROUPS = Path("/sys/fs/cgroup")
OWN_GROUPS = Path("/proc/self/cgroup")
MEMORY, STATUS, RESET_PEAK = map(Path, ("/proc/meminfo", "/proc/self/status", "/proc/self/clear_refs"))
# The option of glibc to map large pieces of memory separately, and the smallest size of such pieces.
MMAP_THRESHOLD, LARGE_PIECE = -3, 2**22
NO_QUOTA = 2**31
# Each thread needs memory, and no machine has as many cores.
MOST_THREADS = 1024


def n_threads(n_jobs: int | None) -> int:
    """Return the number of threads for a value of `n_jobs`.

    Parameters
    ----------
    n_jobs : int or None
        None and -1 mean all cores that this process may use: its affinity, the quota of its control group and
        the environment variable OMP_NUM_THREADS limit them. -2 means one fewer, and so on.

    Returns
    -------
    int
        At least 1 and at most 1024; in a task of a runner, at most the runner's `threads_per_worker`.

    Examples
    --------
    >>> n_threads(3)
    3
    """
    if n_jobs == 0:
        raise ValueError("n_jobs must be an integer other than 0, or None. Got 0.")
    cores = allowed_cores()
    if n_jobs is None:
        return cores
    if n_jobs < 0:
        return max(1, cores + 1 + int(n_jobs))
    return min(int(n_jobs), MOST_THREADS if TASK_THREADS.get() is None else cores)


def share_cores(n_workers: int | None) -> tuple[int, int]:
    """Divide the cores among workers.

    Parameters
    ----------
    n_workers : int or None
        The number of workers, at most one per core. None and -1 mean all cores, -2 one fewer, and so on.

    Returns
    -------
    tuple of (int, int)
        The number of workers, and the number of threads that each of them may use.

    Examples
    --------
    >>> n_workers, threads_per_worker = share_cores(None)
    >>> n_workers == allowed_cores(), threads_per_worker
    (True, 1)
    """
    is_integer = hasattr(n_workers, "__index__") and not isinstance(n_workers, bool)
    if n_workers is not None and (not is_integer or n_workers == 0):
        raise ValueError(f"n_workers must be an integer other than 0, or None. Got {n_workers!r}.")
    cores = allowed_cores()
    workers = min(cores, n_threads(n_workers))
    return workers, cores // workers


def allowed_cores() -> int:
    """Return the number of cores that the caller may use: those of its task, or else those of the process."""
    task_threads = TASK_THREADS.get()
    return usable_cores() if task_threads is None else min(task_threads, usable_cores())


def usable_cores() -> int:
    """Return the number of cores that this process may use, at least one."""
    # Only Linux has an affinity.
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    limit = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    if limit.isdecimal() and int(limit) > 0:
        cores = min(cores, int(limit))
    return max(1, min(cores, quota(CONTROL_GROUPS, OWN_GROUPS)))


@functools.cache
def quota(groups: Path, own_groups: Path) -> int:
    """Return the cores that the control groups allow, rounded up; `NO_QUOTA` without a quota."""
    return min(map(quota_of_folder, folders_of("cpu", groups, own_groups)))


def quota_of_folder(folder: Path) -> int:
    """Return the cores that one control group allows, of version 2 (cpu.max) or 1 (cpu.cfs_*)."""
    words = read(folder / "cpu.max").split()
    if not words:
        words = [read(folder / f"cpu.cfs_{name}_us").strip() for name in ("quota", "period")]
    if not all(word.isdecimal() and int(word) > 0 for word in words):
        return NO_QUOTA
    return math.ceil(int(words[0]) / int(words[1]))


def available_bytes() -> float:
    """Return the free memory for this process, by the machine and its control groups.

    Examples
    --------
    >>> available_bytes() > 0
    True
    """
    return min(machine_bytes(MEMORY), allowed_bytes(CONTROL_GROUPS, OWN_GROUPS))


class PeakMemory:
    """The memory that this process allocates from now on.

    Examples
    --------
    >>> memory = PeakMemory()
    >>> text = bytes(10**8)
    >>> del text
    >>> memory.growth() <= memory.peak()
    True
    """

    def __init__(self) -> None:
        # Linux resets the peak on request. On other systems, only a higher peak is visible.
        with suppress(OSError):
            RESET_PEAK.write_text("5")
        self._before = resident_bytes("VmRSS")

    def peak(self) -> float:
        """Return the largest number of bytes that were allocated at the same time."""
        return max(0.0, resident_bytes("VmHWM") - self._before)

    def growth(self) -> float:
        """Return the number of bytes that are still allocated."""
        return max(0.0, resident_bytes("VmRSS") - self._before)


def resident_bytes(name: str) -> float:
    """Return the current (VmRSS) or the peak (VmHWM) memory of this process. Only Linux has the current."""
    for line in read(STATUS).splitlines():
        if line.startswith(name):
            return float(line.split()[1]) * 1024
    highest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(highest) * (1 if sys.platform == "darwin" else 1024)


def give_back_at_once() -> None:
    """Return large pieces of memory to the system as soon as they are free.

    glibc keeps freed pieces of up to 32 MB for later, which may be several copies of each column of a large
    table. The setting applies to the whole process, so only programs should call this. It affects only glibc.
    """
    set_option = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if set_option is not None:
        set_option(MMAP_THRESHOLD, LARGE_PIECE)


def machine_bytes(memory: Path) -> float:
    """Return the free memory of the machine, or else its whole memory, or else infinity."""
    for line in read(memory).splitlines():
        name, _, amount = line.partition(":")
        if name == "MemAvailable":
            return float(amount.split()[0]) * 1024
    if "SC_PHYS_PAGES" in getattr(os, "sysconf_names", {}):
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    return math.inf


def allowed_bytes(groups: Path, own_groups: Path) -> float:
    """Return the free memory within the limits of the control groups; infinity without a limit."""
    return min(map(bytes_of_folder, folders_of("memory", groups, own_groups)))


def bytes_of_folder(folder: Path) -> float:
    """Return the free memory of one control group, of version 2 (memory.max) or 1 (memory.limit_in_bytes)."""
    for limit_name, used_name in (
        ("memory.max", "memory.current"),
        ("memory.limit_in_bytes", "memory.usage_in_bytes"),
    ):
        limit, used = read(folder / limit_name).strip(), read(folder / used_name).strip()
        if limit.isdecimal() and used.isdecimal():
            return max(0.0, float(limit) - float(used))
    return math.inf


def folders_of(controller: str, groups: Path, own_groups: Path) -> list[Path]:
    """Return the folders of the control groups of the process, of one controller and of all controllers.

    Parameters
    ----------
    controller : {"cpu", "memory"}
    groups : Path
        The mount point of the control groups. In a container, it may be the group of the process itself.
    own_groups : Path
        The file with the names of the groups of the process.

    Returns
    -------
    list of Path
        Some may not exist.
    """
    folders = [groups, groups / controller]
    for line in read(own_groups).splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers == "" or controller in controllers.split(","):
            own = (groups / controller if controllers else groups) / path.lstrip("/")
            folders += [own, *(parent for parent in own.parents if parent.is_relative_to(groups))]
    return folders


def read(path: Path) -> str:
    """Return the text of a small file; an empty text if it cannot be read."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""


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
    """Return the environment variables that limit the threads of a new process."""
    return dict.fromkeys(VARIABLES, str(n_threads))


class BlasLimit:
    """A limit of the threads of BLAS in this process while tasks run in its threads.

    Most BLAS libraries have one setting for the whole process, and the thread that changes it with
    threadpoolctl must restore it. The thread that submits the tasks and waits for them does both.

    Parameters
    ----------
    n_threads : int
    """

    def __init__(self, n_threads: int) -> None:
        self.n_threads = n_threads
        self._lock = threading.Lock()
        self._n_tasks = 0
        self._limit: AbstractContextManager[object] | None = None

    def begin(self) -> None:
        """Count one more task, and set the limit."""
        with self._lock:
            self._n_tasks += 1
            if self._limit is None:
                self._limit = _libraries("blas", len(sys.modules)).limit(limits=self.n_threads).__enter__()

    def end(self, task: object) -> None:
        """Count one task less."""
        with self._lock:
            self._n_tasks -= 1

    def release(self) -> None:
        """Remove the limit if all tasks have ended."""
        with self._lock:
            if self._limit is not None and self._n_tasks == 0:
                self._limit.__exit__(None, None, None)
                self._limit = None


class ThreadLimit:
    """A limit of the threads of OpenMP and joblib, which have one setting for each thread.

    Parameters
    ----------
    n_threads : int
    """

    def __init__(self, n_threads: int) -> None:
        self.n_threads = n_threads
        self._libraries: ThreadpoolController | None = None
        self._limits_joblib = False

    def hold_openmp(self) -> None:
        """Limit the threads of OpenMP libraries that were loaded since the last call."""
        libraries = _libraries("openmp", len(sys.modules))
        if libraries is not self._libraries:
            libraries.limit(limits=self.n_threads)
            self._libraries = libraries

    def hold_joblib(self) -> None:
        """Limit joblib in this thread, if it is loaded, to `n_threads` threads for any `n_jobs`."""
        if self._limits_joblib or "joblib" not in sys.modules:
            return
        from joblib import parallel_config
        from joblib.parallel import ThreadingBackend

        class LimitedBackend(ThreadingBackend):
            def effective_n_jobs(self, n_jobs: int) -> int:
                return min(n_threads, super().effective_n_jobs(n_jobs))

        n_threads = self.n_threads
        # Without a `with` statement, the setting applies as long as the thread runs.
        parallel_config(backend=LimitedBackend() if n_threads > 1 else "sequential", n_jobs=n_threads)
        self._limits_joblib = True


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread within the block, because more threads slow small matrix products down."""
    with _libraries("blas", len(sys.modules)).limit(limits=1):
        yield


@functools.lru_cache(maxsize=2)
def _libraries(kind: str, n_modules: int) -> ThreadpoolController:
    """Return the loaded libraries of a kind; search again when modules have been imported."""
    from threadpoolctl import ThreadpoolController

    # The search calls Python from C, where the main thread would lose a KeyboardInterrupt.
    found: list[ThreadpoolController] = []
    search = threading.Thread(target=lambda: found.append(ThreadpoolController()))
    search.start()
    search.join()
    return found[0].select(user_api=kind)
