"""How many threads a call of the engine takes.

In: the `n_jobs` of an estimator. Out: a number of threads. The engine itself takes no more of them than it
has work for.
"""

from __future__ import annotations

import functools
import math
import os
from pathlib import Path

CONTROL_GROUPS = Path("/sys/fs/cgroup")
OWN_GROUPS = Path("/proc/self/cgroup")
NO_QUOTA = 2**31


def n_threads(n_jobs: int | None) -> int:
    """The number of threads that `n_jobs` asks for.

    Parameters
    ----------
    n_jobs : int or None
        None and -1 are all cores that this process may use: its affinity, the quota of its control group and
        the environment variable OMP_NUM_THREADS limit them. -2 is one fewer, and so on; there is always one.

    Returns
    -------
    int

    Examples
    --------
    >>> n_threads(3)
    3
    """
    if n_jobs == 0:
        raise ValueError("n_jobs must be an integer other than 0, or None. Got 0.")
    if n_jobs is None:
        return usable_cores()
    return int(n_jobs) if n_jobs > 0 else max(1, usable_cores() + 1 + int(n_jobs))


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
    folders = [groups, groups / "cpu"]
    for line in read(own_groups).splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers in ("", "cpu", "cpu,cpuacct"):
            own = (groups / "cpu" if controllers else groups) / path.lstrip("/")
            folders += [own, *(parent for parent in own.parents if parent.is_relative_to(groups))]
    return min(map(quota_of_folder, folders))


def quota_of_folder(folder: Path) -> int:
    """The cores that one control group allows, of version 2 (cpu.max) or 1 (cpu.cfs_*)."""
    words = read(folder / "cpu.max").split()
    if not words:
        words = [read(folder / f"cpu.cfs_{name}_us").strip() for name in ("quota", "period")]
    if not all(word.isdecimal() and int(word) > 0 for word in words):
        return NO_QUOTA
    return math.ceil(int(words[0]) / int(words[1]))


def read(path: Path) -> str:
    """The text of a small file; nothing if it cannot be read."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""
