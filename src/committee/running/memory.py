"""How much memory this process may still take."""

from __future__ import annotations

import math
import os
from pathlib import Path

from committee.running.control_groups import CONTROL_GROUPS, OWN_GROUPS, folders_of, read

MEMORY = Path("/proc/meminfo")


def available_bytes() -> float:
    """The memory this process may still take: what the machine has and its control groups allow.

    Examples
    --------
    >>> available_bytes() > 0
    True
    """
    return min(machine_bytes(MEMORY), allowed_bytes(CONTROL_GROUPS, OWN_GROUPS))


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
