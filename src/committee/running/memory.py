"""How much memory this process may still take, and when it gives some back."""

from __future__ import annotations

import ctypes
import math
import os
import sys
from pathlib import Path

from committee.running.control_groups import CONTROL_GROUPS, OWN_GROUPS, folders_of, read

MEMORY = Path("/proc/meminfo")
# The option of glibc for pieces that are mapped one by one, and how many bytes such a piece has.
MMAP_THRESHOLD, LARGE_PIECE = -3, 2**22


def available_bytes() -> float:
    """The memory this process may still take: what the machine has and its control groups allow.

    Examples
    --------
    >>> available_bytes() > 0
    True
    """
    return min(machine_bytes(MEMORY), allowed_bytes(CONTROL_GROUPS, OWN_GROUPS))


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
