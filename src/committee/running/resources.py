"""What this process may use: cores and memory, as the machine, its control groups and its runner allow.

In: the `n_jobs` of an estimator. Out: a number of threads. The engine itself takes no more of them than it
has work for.

A runner gives each of its tasks a number of threads. Inside the task `n_threads` answers no more than that,
and the same limit holds for BLAS, for OpenMP, and for joblib, which scikit-learn's estimators use. A process
gets it by its environment when it starts. A thread gets it by a context variable, and by what threadpoolctl
and joblib can set for a thread.
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
# The option of glibc for pieces that are mapped one by one, and how many bytes such a piece has.
MMAP_THRESHOLD, LARGE_PIECE = -3, 2**22
NO_QUOTA = 2**31
# Every thread has memory of its own, and no machine has as many cores.
MOST_THREADS = 1024


def n_threads(n_jobs: int | None) -> int:
    """The number of threads that `n_jobs` asks for.

    Parameters
    ----------
    n_jobs : int or None
        None and -1 are all cores that this process may use: its affinity, the quota of its control group and
        the environment variable OMP_NUM_THREADS limit them. -2 is one fewer, and so on; there is always one,
        and there are never more than 1024.

    Returns
    -------
    int
        Inside a task of a runner it is at most the runner's `threads_per_worker`, whatever is asked for.

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
    """How many workers there will be, and how many threads each of them may use.

    Parameters
    ----------
    n_workers : int or None
        None and -1 are as many as there are cores, -2 is one fewer, and so on. There are never more than
        cores.

    Returns
    -------
    tuple of (int, int)

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
    """The cores that the caller may use: those of the process, and inside a task those of the task."""
    task_threads = TASK_THREADS.get()
    return usable_cores() if task_threads is None else min(task_threads, usable_cores())


def usable_cores() -> int:
    """The cores that this process may use, at least one."""
    # The affinity is Linux's; os.cpu_count tells what other systems know.
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    asked = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    if asked.isdecimal() and int(asked) > 0:
        cores = min(cores, int(asked))
    return max(1, min(cores, quota(CONTROL_GROUPS, OWN_GROUPS)))


@functools.cache
def quota(groups: Path, own_groups: Path) -> int:
    """The cores that the process's control groups allow, rounded up; a large number if they set no quota."""
    return min(map(quota_of_folder, folders_of("cpu", groups, own_groups)))


def quota_of_folder(folder: Path) -> int:
    """The cores that one control group allows, of version 2 (cpu.max) or 1 (cpu.cfs_*)."""
    words = read(folder / "cpu.max").split()
    if not words:
        words = [read(folder / f"cpu.cfs_{name}_us").strip() for name in ("quota", "period")]
    if not all(word.isdecimal() and int(word) > 0 for word in words):
        return NO_QUOTA
    return math.ceil(int(words[0]) / int(words[1]))


def available_bytes() -> float:
    """The memory this process may still take: what the machine has and its control groups allow.

    Examples
    --------
    >>> available_bytes() > 0
    True
    """
    return min(machine_bytes(MEMORY), allowed_bytes(CONTROL_GROUPS, OWN_GROUPS))


class PeakMemory:
    """The memory of this process from now on: what it takes at most, and what it keeps.

    Examples
    --------
    >>> memory = PeakMemory()
    >>> text = bytes(10**8)
    >>> del text
    >>> memory.growth() <= memory.peak()
    True
    """

    def __init__(self) -> None:
        # Linux forgets the peak so far when it is told to; elsewhere only a higher peak is seen.
        with suppress(OSError):
            RESET_PEAK.write_text("5")
        self._before = resident_bytes("VmRSS")

    def peak(self) -> float:
        """The bytes that were taken at most."""
        return max(0.0, resident_bytes("VmHWM") - self._before)

    def growth(self) -> float:
        """The bytes that are still taken."""
        return max(0.0, resident_bytes("VmRSS") - self._before)


def resident_bytes(name: str) -> float:
    """The memory of this process now, VmRSS, or at most, VmHWM; the latter for both where Linux is not."""
    for line in read(STATUS).splitlines():
        if line.startswith(name):
            return float(line.split()[1]) * 1024
    highest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(highest) * (1 if sys.platform == "darwin" else 1024)


def give_back_at_once() -> None:
    """Let this process give large pieces of memory back to the system as soon as they are free.

    glibc keeps a piece of up to 32 MB for later, once one like it was freed: of a large table, several copies
    of every column. It is a setting of the whole process, so it is for programs, not for a library. Other C
    libraries stay as they are.
    """
    set_option = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if set_option is not None:
        set_option(MMAP_THRESHOLD, LARGE_PIECE)


def machine_bytes(memory: Path) -> float:
    """The free memory of the machine, or all it has where that is not told; infinity if nothing is."""
    for line in read(memory).splitlines():
        name, _, amount = line.partition(":")
        if name == "MemAvailable":
            return float(amount.split()[0]) * 1024
    if "SC_PHYS_PAGES" in getattr(os, "sysconf_names", {}):
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    return math.inf


def allowed_bytes(groups: Path, own_groups: Path) -> float:
    """What the process's control groups leave; infinity if they set no limit."""
    return min(map(bytes_of_folder, folders_of("memory", groups, own_groups)))


def bytes_of_folder(folder: Path) -> float:
    """What one control group leaves, of version 2 (memory.max) or 1 (memory.limit_in_bytes)."""
    for limit_name, used_name in (
        ("memory.max", "memory.current"),
        ("memory.limit_in_bytes", "memory.usage_in_bytes"),
    ):
        limit, used = read(folder / limit_name).strip(), read(folder / used_name).strip()
        if limit.isdecimal() and used.isdecimal():
            return max(0.0, float(limit) - float(used))
    return math.inf


def folders_of(controller: str, groups: Path, own_groups: Path) -> list[Path]:
    """The folders of the groups that the process is in, of one controller ("cpu", "memory") and of all.

    Parameters
    ----------
    controller : str
    groups : Path
        Where the control groups are mounted. In a container, the process's own group may be mounted there.
    own_groups : Path
        The file that names the groups of the process.

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
    """The text of a small file; nothing if it cannot be read."""
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
        self._held: AbstractContextManager[object] | None = None

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
        self._libraries: ThreadpoolController | None = None
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


@functools.lru_cache(maxsize=2)
def _libraries(kind: str, n_modules: int) -> ThreadpoolController:
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
